//! The examples in Rust and AssemblyScript: the modules that are checked in run, and so do those built now.

use std::path::{Path, PathBuf};
use std::process::Command;
use wave_study::launch::Size;
use wave_testing::golden::root;
use wave_testing::launches::verified;

/// Language, launch file without its extension.
const EXAMPLES: [(&str, &str); 2] = [("rust", "sum"), ("assemblyscript", "collatz")];

fn folder(language: &str) -> PathBuf {
    root().join("sim/kernels/examples").join(language)
}

fn runs(launch: &Path) {
    for wave_width in [8, 32, 64] {
        if let Err(wrong) = verified(&launch.display().to_string(), Size::Small, wave_width) {
            panic!("{}, waves of {wave_width} lanes: {wrong}", launch.display());
        }
    }
}

#[test]
fn the_modules_that_are_checked_in_run() {
    for (language, name) in EXAMPLES {
        runs(&folder(language).join(format!("{name}.ron")));
    }
}

/// True if the tools of a language are here. Nothing is fetched for a test.
fn is_there(language: &str) -> bool {
    let output = match language {
        "rust" => Command::new("rustc")
            .args(["--print", "target-libdir", "--target", "wasm32-unknown-unknown"])
            .output(),
        _ => Command::new("npx")
            .args(["--offline", "--no", "--package", "assemblyscript@0.28.20", "asc", "--version"])
            .output(),
    };
    match (language, output) {
        ("rust", Ok(output)) => Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir(),
        (_, Ok(output)) => output.status.success(),
        (_, Err(_)) => false,
    }
}

#[test]
fn the_sources_build_and_run() {
    for (language, name) in EXAMPLES {
        if !is_there(language) {
            eprintln!("skipped: the compiler for {language} is not here");
            continue;
        }
        let into = tempfile::tempdir().expect("a folder");
        let built =
            Command::new(root().join("scripts/build-examples.sh")).arg(language).arg(into.path()).output();
        let built = built.expect("the script runs");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let launch = into.path().join(format!("{name}.ron"));
        std::fs::copy(folder(language).join(format!("{name}.ron")), &launch).expect("it can be copied");
        runs(&launch);
    }
}
