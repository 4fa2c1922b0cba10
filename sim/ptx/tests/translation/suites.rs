//! The kernels of all suites.

use wave_study::launch::{self, Job, Size};

/// Names of the kernels of every suite: WAVE assembly, C, WGSL.
pub(crate) fn names() -> Vec<&'static str> {
    let names: Vec<_> = launch::suite().chain(launch::c_suite()).chain(launch::wgsl_suite()).collect();
    for (folder, least) in [("", 60), ("c/", 10), ("wgsl/", 15)] {
        let count = names.iter().filter(|name| name.starts_with(folder)).count();
        assert!(count >= least, "{count} kernels in `{folder}`");
    }
    names
}

/// A kernel with its launches and data.
pub(crate) fn job(name: &str) -> Job {
    launch::load(name, Size::Small).unwrap_or_else(|errors| {
        panic!("{name}: {}", errors.iter().map(|error| error.render(false)).collect::<String>())
    })
}

/// All kernels of a program.
pub(crate) fn kernels(job: &Job) -> Vec<usize> {
    (0..job.program.kernels.len()).collect()
}
