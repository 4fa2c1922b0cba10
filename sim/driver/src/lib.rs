//! The driver of NVIDIA's GPUs: the few functions of CUDA's driver API that running a kernel needs.
//!
//! The library is loaded when a [`Gpu`] is opened. Nothing of CUDA is there when this is compiled. This is the only crate with
//! `unsafe` code. What it offers is safe: it checks sizes, keeps the context current, and never touches a GPU again on which
//! a kernel has not ended.

mod error;
mod evict;
mod functions;
mod gpu;
mod memory;
mod properties;

pub use error::Error;
pub use evict::EVICT;
pub use gpu::{Call, Gpu};
pub use properties::Properties;

#[cfg(test)]
mod tests {
    use super::*;

    /// On a host without the driver this is what a user meets; on one with it, a GPU that does not exist.
    #[test]
    fn a_missing_driver_or_gpu_is_an_error_in_words() {
        match Gpu::open(1 << 20) {
            Err(error @ Error::NoDriver { .. }) => {
                let text = error.to_string();
                assert!(text.starts_with("there is no driver of NVIDIA's GPUs here: no library "), "{text}");
            }
            Err(Error::NoGpu | Error::NoSuchGpu { .. } | Error::OldDriver { .. } | Error::Failed { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
}
