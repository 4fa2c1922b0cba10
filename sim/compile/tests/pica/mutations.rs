//! Wrong inputs: containers, words and text. Nothing panics, and nothing takes for ever.

use crate::generate::{PLAIN, Shape, case};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use std::time::{Duration, Instant};
use wave_compile::ir::verify::verify;
use wave_compile::pica::{Decoded, Float, PicaOptions, assemble, decode, decode_code};

/// Inputs of a campaign in the normal tests, and at length.
const FEW: u64 = 20_000;
const MANY: u64 = 1_000_000;
/// No input takes longer.
const LONGEST: Duration = Duration::from_secs(20);

/// Texts of random shaders.
fn texts() -> Vec<String> {
    let mut texts = vec![
        include_str!("../../../kernels/examples/knot.v.pica").to_owned(),
        ".constfa a[]\n.constfa (1,2,3,4)\n.end\n.fvec b[3], c\n.ivec i\n.bool f\n.in x\n.out y position.xy\n\
         .proc main\nmova a0.x, x\nmov y, a[a0.x+0]\nfor i\nbreakc cmp.x || !cmp.y\n.end\nend\n.end\n"
            .to_owned(),
    ];
    for seed in 0..60 {
        let shape = Shape { jumps: true, statements: 3, ..PLAIN };
        let case = case(seed, shape);
        let options = PicaOptions::default();
        let decoded = decode_code(&case.code, &case.descriptors, case.entry, &options);
        texts.extend(decoded.ok().map(|decoded| decoded.listing.text().to_owned()));
    }
    texts
}

fn options(random: &mut Pcg64) -> PicaOptions {
    let float = if random.random() { Float::F24 } else { Float::F32 };
    PicaOptions { float, early: random.random_ratio(1, 8) }
}

/// What is taken passes the verifier.
fn checked(decoded: Option<Decoded>) -> bool {
    let Some(decoded) = decoded else { return false };
    verify(&decoded.module).unwrap_or_else(|error| panic!("{error}\n{}", decoded.listing.text()));
    assert!(decoded.kernels.iter().all(|kernel| kernel.parameters.len() >= 2));
    true
}

fn change_bytes(bytes: &mut Vec<u8>, random: &mut Pcg64) {
    for _ in 0..random.random_range(1..6) {
        if bytes.is_empty() {
            return;
        }
        let at = random.random_range(0..bytes.len());
        match random.random_range(0..8) {
            0 => bytes.truncate(at),
            1 => bytes[at] = random.random(),
            2 => bytes[at] = [0, 1, 0x7F, 0x80, 0xFF][random.random_range(0..5)],
            3 => drop(bytes.remove(at)),
            4 => bytes.insert(at, random.random()),
            _ => bytes[at] ^= 1 << random.random_range(0..8),
        }
    }
}

fn change_text(text: &str, texts: &[String], random: &mut Pcg64) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..random.random_range(1..5) {
        let at = random.random_range(0..lines.len());
        match random.random_range(0..7) {
            0 if lines.len() > 1 => drop(lines.remove(at)),
            1 => {
                let other = &texts[random.random_range(0..texts.len())];
                let other: Vec<&str> = other.lines().collect();
                lines.insert(at, other[random.random_range(0..other.len())].to_owned());
            }
            2 => {
                let line = lines[at].clone();
                lines.insert(at, line);
            }
            3 => {
                let to = random.random_range(0..lines.len());
                lines.swap(at, to);
            }
            _ => {
                let mut line: Vec<char> = lines[at].chars().collect();
                let with = "rvcoixyzw0159.,[]()@!&|-+:;#\u{e9} \t";
                let with: Vec<char> = with.chars().collect();
                let place = random.random_range(0..line.len() + 1);
                let new = with[random.random_range(0..with.len())];
                match line.get_mut(place).filter(|_| random.random()) {
                    Some(old) => *old = new,
                    None => line.insert(place, new),
                }
                lines[at] = line.into_iter().collect();
            }
        }
    }
    lines.join("\n")
}

fn campaign(inputs: u64) {
    let texts = texts();
    let files: Vec<Vec<u8>> =
        texts.iter().map(|text| assemble(text, "a").unwrap_or_else(|errors| panic!("{errors:?}"))).collect();
    let (mut taken, mut assembled) = (0, 0);
    for seed in 0..inputs {
        let start = Instant::now();
        let mut random = Pcg64::seed_from_u64(seed);
        let options = options(&mut random);
        let at = random.random_range(0..texts.len());
        match seed % 3 {
            0 => {
                let mut file = files[at].clone();
                change_bytes(&mut file, &mut random);
                taken += u64::from(checked(decode(&file, &options).ok()));
            }
            1 => {
                let mut case = case(seed % 500, Shape { jumps: true, ..PLAIN });
                for _ in 0..random.random_range(1..5) {
                    let which = if random.random() { &mut case.code } else { &mut case.descriptors };
                    let at = random.random_range(0..which.len());
                    which[at] ^= 1 << random.random_range(0..32);
                }
                let decoded = decode_code(&case.code, &case.descriptors, case.entry, &options);
                taken += u64::from(checked(decoded.ok()));
            }
            _ => {
                let text = change_text(&texts[at], &texts, &mut random);
                match assemble(&text, "a") {
                    Ok(file) => {
                        assembled += 1;
                        taken += u64::from(checked(decode(&file, &options).ok()));
                    }
                    Err(errors) => {
                        assert!(!errors.is_empty() && errors.iter().all(|error| error.place.is_some()))
                    }
                }
            }
        }
        assert!(start.elapsed() < LONGEST, "seed {seed} takes {:?}", start.elapsed());
    }
    println!("{taken} of {inputs} taken, {assembled} texts assembled");
    assert!(taken > inputs / 8 && taken < inputs && assembled > inputs / 60, "{taken}, {assembled}");
}

#[test]
fn wrong_inputs_are_errors() {
    campaign(FEW);
}

#[test]
#[ignore = "takes minutes"]
fn many_wrong_inputs_are_errors() {
    campaign(MANY);
}
