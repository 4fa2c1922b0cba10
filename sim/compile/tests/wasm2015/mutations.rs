//! Wrong inputs: the decoder says what is wrong with them, and never panics.

use super::{cases, trees};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use wave_compile::ir::{Exported, verify};
use wave_compile::wasm2015::{decode, is_wasm2015};
use wave_compile::{Options, compile};

/// Inputs of a campaign in the normal tests, and at length.
const FEW: u64 = 20_000;
const MANY: u64 = 1_000_000;

/// Bytes that begin something, or are at a bound.
const BYTES: &[u8] = &[0x00, 0x01, 0x02, 0x06, 0x08, 0x0e, 0x12, 0x13, 0x14, 0x7f, 0x80, 0xff];

/// Changes some bytes, repeats or removes a piece, or cuts the end off.
fn mutate(bytes: &mut Vec<u8>, random: &mut Pcg64) {
    for _ in 0..random.random_range(1..3) {
        if bytes.is_empty() {
            return;
        }
        let at = random.random_range(0..bytes.len());
        let end = (at + random.random_range(1..12usize)).min(bytes.len());
        match random.random_range(0..8) {
            0 => bytes[at] ^= 1 << random.random_range(0..8),
            1 | 2 => bytes[at] = random.random(),
            3 => bytes[at] = BYTES[random.random_range(0..BYTES.len())],
            4 => bytes[at] = bytes[at].wrapping_add(1),
            5 => {
                let piece = bytes[at..end].to_vec();
                let to = random.random_range(0..=bytes.len() - piece.len());
                bytes[to..to + piece.len()].copy_from_slice(&piece);
            }
            6 => _ = bytes.drain(at..end),
            _ if random.random_range(0..10) == 0 => bytes.truncate(at),
            _ => bytes.insert(at, random.random()),
        }
    }
}

fn campaign(inputs: u64) {
    let mut corpus: Vec<Vec<u8>> = cases::all().into_iter().map(|case| case.bytes).collect();
    corpus.extend((0..200).map(|seed| trees::case(seed).bytes));
    let (mut taken, mut compiled, mut detected) = (0, 0, 0);
    for seed in 0..inputs {
        let mut random = Pcg64::seed_from_u64(seed);
        let mut input = corpus[random.random_range(0..corpus.len())].clone();
        if random.random_range(0..50) == 0 {
            input = (0..random.random_range(0..200)).map(|_| random.random()).collect();
        } else {
            mutate(&mut input, &mut random);
        }
        let result = std::panic::catch_unwind(|| {
            let is_one = is_wasm2015(&input);
            let decoded = match decode(&input) {
                Ok(decoded) => decoded,
                Err(error) => {
                    let at = error.offset.unwrap_or_else(|| panic!("no place: {error}"));
                    assert!(at <= input.len() as u64, "{error}");
                    return (is_one, false, false);
                }
            };
            assert!(is_one || decoded.module.functions.is_empty(), "what is decoded is recognised");
            verify::verify(&decoded.module).unwrap_or_else(|error| panic!("{error}\n{}", decoded.module));
            let function = decoded.module.exports.iter().find_map(|(_, exported)| match exported {
                Exported::Function(function) => Some(*function),
                _ => None,
            });
            let compiles = seed % 4 == 0
                && function
                    .is_some_and(|function| compile(&decoded.module, function, &Options::default()).is_ok());
            (is_one, true, compiles)
        });
        let Ok((is_one, is_taken, is_compiled)) = result else {
            panic!("seed {seed} panics: {input:02x?}");
        };
        detected += u64::from(is_one);
        taken += u64::from(is_taken);
        compiled += u64::from(is_compiled);
    }
    println!("{inputs} wrong inputs: {detected} recognised, {taken} taken, {compiled} compiled");
    assert!(
        taken > inputs / 10 && taken < inputs && compiled > inputs / 100,
        "changes do neither no nor all harm"
    );
}

#[test]
fn wrong_modules_do_not_panic() {
    campaign(FEW);
}

/// `cargo test --release -p wave-compile --test wasm2015 -- --ignored a_million --nocapture`
#[test]
#[ignore = "takes minutes"]
fn a_million_wrong_modules_do_not_panic() {
    campaign(MANY);
}
