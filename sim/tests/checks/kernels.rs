//! The project's own kernels.

use crate::golden;
use wave_sim::launch::{self, Size};
use wave_sim::program::check::{CheckOptions, check};
use wave_sim::program::load;

#[test]
fn the_suite_passes_without_a_message() {
    let folder = golden::root().join("sim/kernels");
    let entries = std::fs::read_dir(&folder).expect("the folder of the kernels");
    let paths = entries.filter_map(|e| Some(e.ok()?.path()));
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
    assert!(kernels >= 16, "only {kernels} kernels in {}", folder.display());
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
