//! What can go wrong between here and a GPU.

use std::fmt;

/// Why something was not done.
#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    /// There is no driver: the names that were tried, and what the loader said of the last one.
    NoDriver {
        /// Names of the library.
        tried: Vec<&'static str>,
        /// What the loader said.
        why: String,
    },
    /// The driver lacks a function.
    OldDriver {
        /// Its name.
        function: &'static str,
    },
    /// The driver sees no GPU.
    NoGpu,
    /// There are fewer GPUs.
    NoSuchGpu {
        /// The number asked for.
        number: u32,
        /// How many there are.
        count: u32,
    },
    /// There is not so much memory left.
    OutOfMemory {
        /// Bytes asked for.
        bytes: u64,
    },
    /// The driver refuses the PTX.
    Refused {
        /// What its compiler says.
        log: String,
    },
    /// The launch is not one of this GPU.
    NoLaunch {
        /// Why.
        why: String,
    },
    /// The kernel has not ended in time. The GPU cannot be used any more.
    TimedOut {
        /// Seconds that it had.
        seconds: f64,
    },
    /// The watchdog of the driver has ended the kernel.
    Watchdog,
    /// The user has interrupted it while a kernel was on the GPU, which cannot be used any more.
    Interrupted,
    /// The kernel has faulted or trapped. The GPU cannot be used any more.
    Fault {
        /// The driver's name for it.
        name: String,
    },
    /// A call has failed.
    Failed {
        /// Function of the driver.
        function: &'static str,
        /// The driver's name of the error.
        name: String,
        /// The driver's words for it.
        words: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoDriver { tried, why } => {
                write!(
                    f,
                    "there is no driver of NVIDIA's GPUs here: no library {}: {why}",
                    tried.join(" or ")
                )
            }
            Error::OldDriver { function } => write!(f, "the driver of the GPU has no function {function}"),
            Error::NoGpu => f.write_str("the driver sees no GPU"),
            Error::NoSuchGpu { number, count } => {
                write!(f, "there is no GPU {number}: the driver sees {count}, and the first is 0")
            }
            Error::OutOfMemory { bytes } => write!(f, "the GPU has no {bytes} bytes of memory left"),
            Error::Refused { log } => write!(f, "the driver of the GPU refuses the PTX: {}", log.trim()),
            Error::NoLaunch { why } => write!(f, "the GPU cannot launch the kernel: {why}"),
            Error::TimedOut { seconds } => {
                write!(f, "the kernel has not ended on the GPU after {seconds} seconds")
            }
            Error::Watchdog => f.write_str("the watchdog of the GPU's driver has ended the kernel"),
            Error::Interrupted => f.write_str("interrupted while a kernel was on the GPU"),
            Error::Fault { name } => write!(f, "the kernel faulted on the GPU: {name}"),
            Error::Failed { function, name, words } => {
                write!(f, "{function} of the driver fails: {name}: {words}")
            }
        }
    }
}

impl std::error::Error for Error {}
