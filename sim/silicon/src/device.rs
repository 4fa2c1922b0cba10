//! What runs PTX: a GPU, or something that stands for one.

use std::time::Duration;
use wave_driver::{Call, Error, Gpu, Properties};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Launch, Program};
use wave_ptx::Arch;

/// Something that runs PTX as a driver's interface says it.
pub trait Device {
    /// What is known of it.
    fn properties(&self) -> &Properties;

    /// For what stands for a GPU: the name of the machine whose clock it has.
    fn rehearses(&self) -> Option<&str> {
        None
    }

    /// Loads PTX in place of what was loaded before. `program` is what it was made of; a GPU does not ask for it.
    ///
    /// # Errors
    /// It refuses the text.
    fn load(&mut self, text: &str, program: &Program) -> Result<(), Error>;

    /// Allocates memory, at a multiple of 256.
    ///
    /// # Errors
    /// There is not so much.
    fn allocate(&mut self, bytes: u64) -> Result<u64, Error>;

    /// Gives memory back.
    fn free(&mut self, address: u64);

    /// Copies bytes to it.
    ///
    /// # Errors
    /// The place is not allocated.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Error>;

    /// Copies bytes from it.
    ///
    /// # Errors
    /// The place is not allocated.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Error>;

    /// Sets bytes.
    ///
    /// # Errors
    /// The place is not allocated.
    fn fill(&mut self, address: u64, byte: u8, bytes: u64) -> Result<(), Error>;

    /// Reads bytes that are zeros. If they are more than the L2 holds, nothing else is in it then.
    ///
    /// # Errors
    /// The place is not allocated.
    fn evict(&mut self, address: u64, bytes: u64) -> Result<(), Error>;

    /// Words that outlive a fault, zeros at first; the address at which kernels reach them.
    ///
    /// # Errors
    /// There are none.
    fn mailbox(&mut self, words: usize) -> Result<u64, Error>;

    /// The words of the mailbox.
    fn mail(&self) -> Vec<u32>;

    /// Runs a kernel to its end, which stands for a launch of WAVE. Gives the milliseconds that it took, seen from the host.
    ///
    /// # Errors
    /// The launch is refused, the kernel faults or does not end.
    fn launch(&mut self, call: &Call<'_>, of: &Launch, stop: &dyn Fn() -> bool) -> Result<f64, Error>;
}

impl Device for Gpu {
    fn properties(&self) -> &Properties {
        Gpu::properties(self)
    }

    fn load(&mut self, text: &str, _: &Program) -> Result<(), Error> {
        Gpu::load(self, text)
    }

    fn allocate(&mut self, bytes: u64) -> Result<u64, Error> {
        Gpu::allocate(self, bytes)
    }

    fn free(&mut self, address: u64) {
        Gpu::free(self, address);
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        Gpu::write(self, address, bytes)
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        Gpu::read(self, address, bytes)
    }

    fn fill(&mut self, address: u64, byte: u8, bytes: u64) -> Result<(), Error> {
        Gpu::fill(self, address, byte, bytes)
    }

    fn evict(&mut self, address: u64, bytes: u64) -> Result<(), Error> {
        Gpu::evict(self, address, bytes)
    }

    fn mailbox(&mut self, words: usize) -> Result<u64, Error> {
        Gpu::mailbox(self, words)
    }

    fn mail(&self) -> Vec<u32> {
        Gpu::mail(self)
    }

    fn launch(&mut self, call: &Call<'_>, _: &Launch, stop: &dyn Fn() -> bool) -> Result<f64, Error> {
        Gpu::launch(self, call, stop)
    }
}

/// The target of the translation for a GPU: the newest that is not newer than it.
///
/// # Errors
/// The GPU is older than all targets.
pub fn arch(properties: &Properties) -> Result<Arch, Diagnostic> {
    let (major, minor) = properties.capability;
    let number = |arch: &Arch| arch.name.trim_start_matches("sm_").parse::<u32>().unwrap_or(u32::MAX);
    let fits = Arch::ALL.into_iter().filter(|arch| number(arch) <= 10 * major + minor);
    fits.max_by_key(number).ok_or_else(|| {
        let message = format!(
            "`{}` has compute capability {major}.{minor}, and the translation needs 8.0 or newer",
            properties.name
        );
        Diagnostic::error(message).hint("GPUs from Ampere (2020) on: --gpu N takes another one of this host")
    })
}

/// An error as a message with a hint. `limit`: the time that a kernel has.
pub fn diagnostic(error: &Error, limit: Duration) -> Diagnostic {
    let wrong = Diagnostic::error(error.to_string());
    match error {
        Error::NoDriver { .. } => wrong.hint(
            "install the driver of the GPU, or measure on a host that has one with --save FILE; \
             --rehearse CONFIG needs no GPU",
        ),
        Error::OldDriver { .. } => wrong.hint("a driver for CUDA 11.8 or newer has it"),
        Error::NoGpu => wrong.hint("CUDA_VISIBLE_DEVICES may hide it; --rehearse CONFIG needs no GPU"),
        Error::NoSuchGpu { .. } => wrong.hint("--gpu N names another one"),
        Error::OutOfMemory { .. } => {
            wrong.hint("end what else runs on the GPU, lower --device-memory, or use --size small")
        }
        Error::Refused { .. } => wrong.hint("a newer driver may take it; `wave-sim ptx` writes the PTX"),
        Error::NoLaunch { .. } => wrong.hint("`wave-sim check` says what the kernel needs"),
        Error::TimedOut { .. } => wrong.hint(format!(
            "the bound is --timeout {}; does the kernel end on the simulator?",
            limit.as_secs_f64()
        )),
        Error::Watchdog => wrong.hint("a GPU without a display has none; --size small takes less time"),
        Error::Fault { name } if name.contains("MISALIGNED") => {
            wrong.hint("--unaligned allows accesses at addresses that are no multiple of their size")
        }
        Error::Fault { .. } => wrong.hint("--check-bounds says where; so does the simulator"),
        Error::Interrupted | Error::Failed { .. } => wrong,
    }
}
