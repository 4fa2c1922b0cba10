//! Texts that are nearly PTX: whatever they are, a message or a kernel, and never a panic.

use crate::random::seeds;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::path::Path;
use wave_compile::ir::verify::verify;
use wave_compile::ptx::{PtxOptions, decode};

/// The texts of the suite.
fn texts() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels/cuda");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of the suite")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "ptx"))
        .collect();
    files.sort();
    files.iter().map(|path| std::fs::read_to_string(path).expect("a text")).collect()
}

/// Words that change a meaning where they stand.
const WORDS: [&str; 24] = [
    "%r1",
    "%rd1",
    "%f1",
    "%p1",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ".u64",
    ".f32",
    ".pred",
    ".v4",
    ".shared",
    "0",
    "-1",
    "0xFFFFFFFFFFFFFFFF",
    "@%p1 ",
    "ret;",
    "call",
    "$L__BB0_1",
];

#[test]
fn no_text_makes_it_panic() {
    let texts = texts();
    let (mut taken, mut wrong) = (0, 0);
    for seed in seeds(0..8_000) {
        let mut random = Pcg64::seed_from_u64(seed);
        let mut text = texts[seed as usize % texts.len()].clone().into_bytes();
        for _ in 0..random.random_range(1..4) {
            let at = random.random_range(0..text.len());
            match random.random_range(0..5) {
                0 => text.truncate(at),
                1 => text[at] = random.random_range(32..127),
                2 => {
                    let word = WORDS[random.random_range(0..WORDS.len())].bytes();
                    let end = (at + random.random_range(0..4)).min(text.len());
                    text.splice(at..end, word);
                }
                3 => {
                    let end = (at + random.random_range(0..60)).min(text.len());
                    text.drain(at..end);
                }
                _ => {
                    let from = random.random_range(0..text.len());
                    let end = (from + random.random_range(0..60)).min(text.len());
                    let part = text[from..end].to_vec();
                    text.splice(at..at, part);
                }
            }
            if text.is_empty() {
                break;
            }
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        match decode(&text, "k.ptx", PtxOptions::default()) {
            Ok(decoded) => {
                taken += 1;
                verify(&decoded.module).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
            }
            Err(_) => wrong += 1,
        }
    }
    println!("{taken} damaged texts compile, {wrong} are refused");
    let many = (taken + wrong) / 20;
    assert!(taken > many && wrong > many, "{taken} taken, {wrong} wrong");
}
