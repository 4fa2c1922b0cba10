//! Random shaders, bit by bit against the interpreter of the documentation.

use crate::generate::{Case, PLAIN, Shape, arithmetic, case};
use crate::machine::{Outputs, documented, interpreted, simulated};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use wave_compile::encoding::Fault;
use wave_compile::ir::verify::verify;
use wave_compile::pica::{Decoded, Float, PicaOptions, decode_code};
use wave_machine::config;
use wave_testing::environment;

/// What became of shaders.
#[derive(Debug, Default)]
struct Tally {
    same: u64,
    refused: u64,
    endless: u64,
    /// Components that were compared, and those of them that are none of 0, 1, infinity, NaN.
    components: u64,
    plain: u64,
    /// Instructions of shaders that were compared, by their opcode.
    opcodes: BTreeMap<u32, u64>,
}

impl Tally {
    fn add(&mut self, case: &Case, decoded: &Decoded, outputs: &[Outputs]) {
        self.same += 1;
        let registers = decoded.kernels[0].parameters.iter().filter_map(|name| name.strip_prefix('o'));
        let registers: Vec<usize> = registers.map(|number| number.parse().expect("a number")).collect();
        for &bits in outputs.iter().flat_map(|outputs| registers.iter().flat_map(|&number| &outputs[number]))
        {
            self.components += 1;
            let magnitude = bits & 0x7FFF_FFFF;
            self.plain += u64::from(!matches!(magnitude, 0 | 0x3F80_0000 | 0x7F80_0000 | 0x7FC0_0000));
        }
        for word in &case.code {
            let code = word >> 26;
            let code = if code >= 0x30 { code & 0x38 } else { code };
            *self.opcodes.entry(code).or_default() += 1;
        }
    }
}

fn decoded(case: &Case, options: &PicaOptions, tally: &mut Tally) -> Option<Decoded> {
    match decode_code(&case.code, &case.descriptors, case.entry, options) {
        Ok(decoded) => {
            verify(&decoded.module).unwrap_or_else(|error| panic!("{error}\n{}", decoded.listing.text()));
            Some(decoded)
        }
        Err(error) => {
            assert!(error.offset.is_some(), "{error}");
            // What random jumps bring about.
            let expected = error.fault == Fault::Refused
                || error.message.contains("goes on to word")
                || error.message.contains("a break stands in no loop");
            assert!(expected, "{error}");
            tally.refused += 1;
            None
        }
    }
}

fn check(case: &Case, options: &PicaOptions, tally: &mut Tally, seed: u64) {
    let Some(decoded) = decoded(case, options, tally) else { return };
    let Some(expected) = documented(case, options.float, options.early) else {
        tally.endless += 1;
        return;
    };
    let found = interpreted(&decoded, case).expect("it ended there");
    compare(case, &decoded, &expected, &found, seed);
    tally.add(case, &decoded, &expected);
}

fn compare(case: &Case, decoded: &Decoded, expected: &[Outputs], found: &[Outputs], seed: u64) {
    for (vertex, (expected, found)) in expected.iter().zip(found).enumerate() {
        for register in 0..16 {
            let (expected, found) = (expected[register], found[register]);
            assert!(
                expected == found,
                "seed {seed}: vertex {vertex}, o{register}: {expected:x?}, found {found:x?}\n{}\nentry {}",
                decoded.listing.text(),
                case.entry
            );
        }
    }
}

fn hold(shape: Shape, float: Float, seeds: std::ops::Range<u64>) -> Tally {
    let factor = environment::count("WAVE_SIM_RANDOM_KERNELS", 1);
    let options = PicaOptions { float, early: shape.early };
    let mut tally = Tally::default();
    for seed in seeds.start..seeds.start + (seeds.end - seeds.start) * factor {
        check(&case(seed, shape), &options, &mut tally, seed);
    }
    println!(
        "{} the same, {} refused, {} endless, {} of {} components plain",
        tally.same, tally.refused, tally.endless, tally.plain, tally.components
    );
    assert!(tally.same > (seeds.end - seeds.start) / 2, "{tally:?}");
    assert!(tally.plain > tally.components / 4, "{tally:?}");
    tally
}

const SHORT: Shape = Shape { statements: 3, depth: 0, procedures: 0, ..PLAIN };
const JUMPS: Shape = Shape { jumps: true, ..PLAIN };
const EARLY: Shape = Shape { early: true, ..PLAIN };

/// Opcodes that a vertex shader has.
const OPCODES: usize = 38;

#[test]
fn random_shaders_give_what_the_documentation_says() {
    let mut opcodes = BTreeMap::new();
    let mut assertions = 0;
    for (shape, float, count) in [
        (SHORT, Float::F24, 1500),
        (PLAIN, Float::F24, 1000),
        (JUMPS, Float::F24, 1000),
        (SHORT, Float::F32, 800),
        (PLAIN, Float::F32, 500),
        (JUMPS, Float::F32, 500),
    ] {
        let tally = hold(shape, float, 0..count);
        assertions += tally.components;
        for (code, times) in tally.opcodes {
            *opcodes.entry(code).or_insert(0) += times;
        }
    }
    println!("{opcodes:x?}");
    println!(
        "table: PICA200 | {}/{OPCODES} | interpreter of the documentation | {assertions}",
        opcodes.len()
    );
    assert_eq!(opcodes.len(), OPCODES, "{opcodes:x?}");
    assert!(opcodes.values().all(|&times| times > 20), "{opcodes:x?}");
}

#[test]
fn shaders_of_the_early_text_give_what_it_says() {
    hold(EARLY, Float::F24, 0..400);
    hold(EARLY, Float::F32, 0..400);
}

/// Words changed at random, as far as they still make a shader.
#[test]
fn changed_words_give_what_the_documentation_says() {
    let mut tally = Tally::default();
    let options = PicaOptions::default();
    for seed in 0..4000 {
        let mut case = case(seed, Shape { statements: 4, ..JUMPS });
        let mut random = Pcg64::seed_from_u64(seed);
        for _ in 0..random.random_range(1..4) {
            let word = random.random_range(0..case.code.len());
            case.code[word] ^= 1 << random.random_range(0..32);
        }
        let result = decode_code(&case.code, &case.descriptors, case.entry, &options);
        if result.is_ok() {
            check(&case, &options, &mut tally, seed);
        }
    }
    println!("{} the same, {} endless", tally.same, tally.endless);
    assert!(tally.same > 500, "{tally:?}");
}

#[test]
fn shaders_on_the_simulator_give_what_the_documentation_says() {
    let config = config::load("wave32").or_else(|_| config::load("gpu")).expect("a preset");
    let mut tally = Tally::default();
    for (shape, float, count) in
        [(SHORT, Float::F24, 60), (PLAIN, Float::F24, 20), (JUMPS, Float::F24, 20), (PLAIN, Float::F32, 40)]
    {
        let options = PicaOptions { float, early: false };
        for seed in 10_000..10_000 + count {
            let case = case(seed, shape);
            let Some(decoded) = decoded(&case, &options, &mut tally) else { continue };
            let Some(expected) = documented(&case, float, false) else { continue };
            let Some(found) = simulated(&decoded, &case, &config) else {
                tally.refused += 1;
                continue;
            };
            compare(&case, &decoded, &expected, &found, seed);
            tally.add(&case, &decoded, &expected);
        }
    }
    println!("{} the same, {} refused", tally.same, tally.refused);
    assert!(tally.same > 80, "{tally:?}");
}

/// Sums, products and the like of many numbers, of which many lie halfway between two.
#[test]
fn arithmetic_gives_what_the_documentation_says() {
    let mut tally = Tally::default();
    for float in [Float::F24, Float::F32] {
        for seed in 0..150 {
            check(&arithmetic(seed), &PicaOptions { float, early: false }, &mut tally, seed);
        }
    }
    assert!(tally.same == 300 && tally.plain > tally.components / 4, "{tally:?}");
}
