//! The suite in WGSL: every launch file of its folder is there, and its results are right.

use std::collections::BTreeSet;
use wave_study::launch::{self, Size};
use wave_testing::golden::root;
use wave_testing::launches::verified;

#[test]
fn the_suite_has_every_launch_file_of_its_folder() {
    let folder = std::fs::read_dir(root().join("sim/kernels/wgsl")).expect("the folder of the shaders");
    let paths = folder.map(|entry| entry.expect("a file").path());
    let launches = paths.filter(|path| path.extension().is_some_and(|e| e == "ron"));
    let names: BTreeSet<String> = launches
        .map(|path| format!("wgsl/{}", path.file_stem().expect("a name").to_string_lossy()))
        .collect();
    assert_eq!(names, launch::wgsl_suite().map(str::to_owned).collect());
    assert!(names.len() >= 26);
}

#[test]
fn every_shader_is_right_for_every_wave_width() {
    let mut wrong = Vec::new();
    for name in launch::wgsl_suite() {
        for wave_width in [8, 16, 32, 64] {
            if let Err(what) = verified(name, Size::Small, wave_width) {
                wrong.push(format!("{name}, waves of {wave_width} lanes: {what}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The full sizes take minutes in a debug build: `cargo test --release -- --ignored`.
#[test]
#[ignore = "slow without optimisation"]
fn every_shader_is_right_in_its_full_size() {
    for name in launch::wgsl_suite() {
        verified(name, Size::Full, 32).unwrap_or_else(|what| panic!("{name}: {what}"));
    }
}

/// Reports and faults speak of the lines of the shader.
#[test]
fn lines_are_those_of_the_source() {
    let job = launch::load("wgsl/saxpy", Size::Small).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let source = job.program.source.as_ref().expect("it has lines");
    assert_eq!(source.file, "saxpy.wgsl");
    let text = |line: u32| source.text.lines().nth(line as usize - 1).unwrap_or_default();
    assert!(source.lines.iter().any(|&line| line > 0 && text(line).contains("y[")), "{:?}", source.lines);
}
