//! The extension module of the Python package `wave_sim`: what the package, which is written in Python, calls.
//!
//! Simulations run without the lock of the interpreter (GIL). Ctrl-C and other signals with handlers in Python end them.

mod config;
mod cuda;
mod errors;
mod interrupt;
mod machine;
mod observer;
mod run;

use pyo3::prelude::*;

/// What the package `wave_sim` calls.
#[pymodule]
mod _wave_sim {
    use pyo3::prelude::*;
    use std::ffi::OsString;

    #[pymodule_export]
    use crate::config::Config;
    #[pymodule_export]
    use crate::cuda::ptx;
    #[pymodule_export]
    use crate::machine::Machine;
    #[pymodule_export]
    use crate::run::{Finished, run};

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "its name in Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Names of the kernel suite; `language` is `wave`, `c` or `wgsl`.
    #[pyfunction]
    fn suite(language: &str) -> Vec<&'static str> {
        match language {
            "c" => wave_study::launch::c_suite().collect(),
            "wgsl" => wave_study::launch::wgsl_suite().collect(),
            _ => wave_study::launch::suite().collect(),
        }
    }

    /// The command line in this process. `program` are the words that start it once more with an empty one.
    #[pyfunction]
    fn main(py: Python<'_>, program: Vec<OsString>, words: Vec<OsString>) -> u8 {
        py.detach(|| wave_sim::main_of(program, words))
    }
}
