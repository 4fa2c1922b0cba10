//! A run for which the host lacks memory is refused in words, before anything is written.

use super::scratch::Scratch;
use std::process::{Command, Output};

/// A large machine, which the configuration allows.
const LARGE: &str = "--set cores=1024 --set l2.slice_bytes=8388608 --set l2.slices=256";

/// Runs the program with at most this much address space.
fn limited(scratch: &Scratch, kibibytes: u64, arguments: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_wave-sim");
    let script = format!("ulimit -v {kibibytes}; exec '{program}' {arguments}");
    Command::new("sh").args(["-c", &script]).current_dir(scratch.path(".")).output().unwrap()
}

#[test]
fn a_run_that_needs_more_than_the_limit_is_refused_and_one_that_fits_runs() {
    let scratch = Scratch::new();
    let fits = limited(&scratch, 4 << 20, "saxpy --config tiny --size small");
    assert_eq!(fits.status.code(), Some(0), "{}", String::from_utf8_lossy(&fits.stderr));
    let lacks = limited(&scratch, 1 << 20, &format!("saxpy --config gpu --size small {LARGE} --wvfi t.wvfi"));
    let error = String::from_utf8_lossy(&lacks.stderr);
    assert_eq!(lacks.status.code(), Some(2), "{error}");
    assert!(error.contains("error: the run needs about ") && error.contains("ulimit -v"), "{error}");
    assert!(!scratch.path("t.wvfi").exists() && !scratch.path("t.wvfi.partial").exists());
}

#[test]
fn a_sweep_lists_a_point_that_needs_too_much_as_invalid_and_runs_the_others() {
    let scratch = Scratch::new();
    let arguments = "sweep --config gpu --size small --set l2.slices=64 --set l2.slice_bytes=262144,67108864 --set \
                     cores=1,2 --jobs 1 saxpy";
    let swept = limited(&scratch, 3 << 20, arguments);
    let (out, error) = (String::from_utf8_lossy(&swept.stdout), String::from_utf8_lossy(&swept.stderr));
    assert!(!error.contains("died") && !error.contains("SIGABRT"), "{out}{error}");
    let table = String::from_utf8(scratch.read("sweep.csv")).unwrap();
    assert!(table.contains("invalid") && table.contains("the run needs about "), "{table}");
    assert!(table.contains("verified"), "{table}");
}
