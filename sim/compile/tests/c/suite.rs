//! The suite in C: its modules are those that clang makes, and its results are right.

use crate::clang;
use std::collections::BTreeSet;
use wave_compile::c::{self, CompileOptions};
use wave_study::launch::{self, Job, Size};
use wave_testing::golden::root;
use wave_testing::launches::verified;

/// Programs that are there in assembly too.
pub(crate) const NINE: [&str; 9] =
    ["sgemm", "saxpy", "stencil2d", "nbody", "mandelbrot", "spmv", "histogram", "crc32", "softmax"];

/// The modules that are checked in are of this clang.
const CLANG: &str = "clang version 14.0.";

/// A program of a suite: as it is in the executable, or with `WAVE_SIM_C_FILES` from its files, compiled now.
pub(crate) fn job(name: &str, size: Size) -> Job {
    let name = match std::env::var("WAVE_SIM_C_FILES") {
        Ok(_) => root().join(format!("sim/kernels/{name}.ron")).display().to_string(),
        Err(_) => name.to_owned(),
    };
    launch::load(&name, size).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(|error| error.render(false)).collect::<Vec<_>>().join("\n"))
    })
}

/// `scripts/build-c-suite.sh` writes them.
#[test]
fn the_modules_are_those_that_clang_makes() {
    if !clang() {
        return;
    }
    let options = CompileOptions::default();
    let version = c::version(&options).expect("it is there");
    if !version.contains(CLANG) {
        eprintln!("skipped: the modules are of {CLANG}, and there is {version}");
        return;
    }
    let folder = root().join("sim/kernels/c");
    // Debugging information names the sources without the place of this folder.
    let map = format!("-ffile-prefix-map={}/=", folder.display());
    let options = CompileOptions { flags: vec![map, "-Wall".to_owned()], sinks: true, ..options };
    for name in launch::c_suite() {
        let name = name.strip_prefix("c/").expect("it is in C");
        let built = c::compile(&folder.join(format!("{name}.c")), &options);
        let built = built.unwrap_or_else(|error| panic!("{}", error.render(false)));
        assert!(built.warnings.is_empty(), "{:?}", built.warnings);
        let path = folder.join(format!("{name}.wasm"));
        if std::env::var("UPDATE").is_ok_and(|value| value == "1") {
            std::fs::write(&path, &built.wasm).expect("it can be written");
        }
        let there = std::fs::read(&path).unwrap_or_default();
        assert!(there == built.wasm, "{name}.wasm is not what clang makes: scripts/build-c-suite.sh");
    }
}

#[test]
fn the_suite_has_every_launch_file_of_its_folder() {
    let folder = std::fs::read_dir(root().join("sim/kernels/c")).expect("the folder of the programs");
    let paths = folder.map(|entry| entry.expect("a file").path());
    let launches = paths.filter(|path| path.extension().is_some_and(|e| e == "ron"));
    let names: BTreeSet<String> =
        launches.map(|path| format!("c/{}", path.file_stem().expect("a name").to_string_lossy())).collect();
    assert_eq!(names, launch::c_suite().map(str::to_owned).collect());
    assert!(names.len() >= 12);
}

#[test]
fn every_program_is_right_for_every_wave_width() {
    let mut wrong = Vec::new();
    for name in launch::c_suite() {
        for wave_width in [8, 16, 32, 64] {
            if let Err(what) = verified(name, Size::Small, wave_width) {
                wrong.push(format!("{name}, waves of {wave_width} lanes: {what}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Reports and faults speak of the C lines: every instruction of the inner loop of a kernel has one.
#[test]
fn lines_are_those_of_the_source() {
    let job = job("c/saxpy", Size::Small);
    let source = job.program.source.as_ref().expect("it has lines");
    assert_eq!(source.file.rsplit('/').next(), Some("saxpy.c"));
    let text = |line: u32| source.text.lines().nth(line as usize - 1).unwrap_or_default();
    let fused = source.lines.iter().filter(|&&line| line > 0 && text(line).contains("fmaf")).count();
    assert!(fused >= 4, "{:?}", source.lines);
}
