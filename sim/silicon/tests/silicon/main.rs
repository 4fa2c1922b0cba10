//! Kernels on a device that stands for a GPU: launches, times, microbenchmarks, fits.

mod fits;
mod microbenchmarks;
mod sessions;

use wave_machine::config::{self, Config};

/// A machine with two cores of 32 lanes, on which kernels are short.
pub(crate) fn small(more: &[&str]) -> Config {
    let words = ["cores=2", "core.max_workgroup_size=256", "device_memory_bytes=1MiB"];
    let words: Vec<String> = words.iter().chain(more).map(|&word| word.to_owned()).collect();
    let config = config::load("gpu").expect("a preset").with(&words).expect("it can be");
    Config { set: Vec::new(), ..config }
}
