//! The project's own kernels.

use crate::golden;
use std::collections::BTreeSet;
use wave_isa::program::check::{CheckOptions, check};
use wave_isa::program::load;
use wave_study::launch::{self, Size};

#[test]
fn the_suite_passes_without_a_message() {
    let folder = golden::root().join("sim/kernels");
    let entries = std::fs::read_dir(&folder).expect("the folder of the kernels");
    let paths = entries.map(|entry| entry.expect("a file").path());
    let mut kernels = 0;
    for path in paths.filter(|path| path.extension().is_some_and(|e| e == "wave")) {
        let program = load(&path).unwrap_or_else(|errors| panic!("{}", errors[0]));
        for kernel in 0..program.kernels.len() {
            for wave_width in [8, 16, 32, 64] {
                let options = CheckOptions { wave_width, ..CheckOptions::default() };
                let messages = check(&program, kernel, &options).diagnostics;
                assert!(messages.is_empty(), "{wave_width} lanes: {}", messages[0]);
            }
            kernels += 1;
        }
    }
    assert!(kernels >= launch::suite().count(), "only {kernels} kernels in {}", folder.display());
}

/// Tests go through the suite: a kernel that it leaves out is one that they leave out.
#[test]
fn the_suite_has_every_launch_file_of_its_folder() {
    let folder = std::fs::read_dir(golden::root().join("sim/kernels")).expect("the folder of the kernels");
    let paths = folder.map(|entry| entry.expect("a file").path());
    let launches = paths.filter(|path| path.extension().is_some_and(|e| e == "ron"));
    let names: BTreeSet<String> =
        launches.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    assert!(!names.is_empty());
    assert_eq!(names, launch::suite().map(str::to_owned).collect());
}

#[test]
fn the_suite_passes_with_its_launches() {
    for name in launch::suite() {
        let job = launch::load(name, Size::Small).unwrap_or_else(|errors| panic!("{}", errors[0]));
        for step in &job.steps {
            let messages =
                check(&job.program, step.kernel, &CheckOptions::default().for_launch(step)).diagnostics;
            assert!(messages.is_empty(), "{name}: {}", messages[0]);
        }
    }
}
