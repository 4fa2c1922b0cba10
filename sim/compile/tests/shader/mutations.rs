//! Wrong inputs: texts of WGSL and words of SPIR-V. Nothing panics, and nothing takes for ever.

use crate::spirv::{bytes, written};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};
use wave_compile::ir::verify::verify;
use wave_compile::shader::{Bounds, Decoded, ShaderOptions, decode_spirv, decode_wgsl};
use wave_isa::diagnostic::Diagnostic;

/// Inputs of a campaign in the normal tests, and at length.
const FEW: u64 = 10_000;
const MANY: u64 = 1_000_000;
/// No input takes longer.
const LONGEST: Duration = Duration::from_secs(20);

/// Words of the language, some that it does not take, and numbers at the ends of their types.
const TOKENS: &str = "array atomic bool const continue continuing break if else default discard enable f16 f32 f64 i32 i64 u32 u64 \
     fn for let loop override private ptr function return storage read_write struct switch case true false uniform var \
     workgroup while vec2 vec3 vec4 mat2x2 mat3x3 mat4x4 texture_2d sampler immediate bitcast select min max clamp abs dot \
     cross normalize transpose determinant pack4x8snorm unpack2x16float frexp modf arrayLength atomicAdd \
     atomicCompareExchangeWeak workgroupBarrier storageBarrier workgroupUniformLoad subgroupAdd subgroupBallot \
     subgroupShuffle @compute @workgroup_size @group @binding @builtin @id @align @size @must_use ( ) [ ] { } < > << >> + - \
     * / % & && | || ^ ! ~ = == != <= >= += -= *= ++ -- , ; : . -> _ & 0 1 2 3 7 8 31 32 64 65 0u 1u 0i -1 4294967295u \
     2147483647 2147483648 0x80000000 0.0 1.0f 1e38f 1e-40 0.5h 1lu 2li 3.0lf 18446744073709551615lu x i id a b .x .xyz \
     .wzyx .r /* */ //";

/// Shaders to begin with: those of the suite and of the examples.
fn texts() -> Vec<String> {
    let kernels = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../kernels"));
    let mut files = Vec::new();
    for folder in ["wgsl", "examples"] {
        let entries = std::fs::read_dir(kernels.join(folder)).expect("kernels");
        files.extend(entries.map(|entry| entry.expect("a file").path()));
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "wgsl"));
    files.sort();
    let mut texts: Vec<String> =
        files.iter().map(|path| std::fs::read_to_string(path).expect("a text")).collect();
    assert!(texts.len() > 20, "{} shaders", texts.len());
    // Small ones have room for changes that are taken.
    for file in ["control", "memory", "sharing", "subgroups", "operators", "numeric", "matrices"] {
        texts.extend(crate::case::cases(file).into_iter().step_by(9).map(|case| case.wgsl));
    }
    texts
}

/// Modules to begin with: what naga makes of the texts, half of them with lines, and the example.
fn modules(texts: &[String]) -> Vec<Vec<u32>> {
    let example = include_bytes!("../../../kernels/examples/saxpy.spv");
    let (words, _) = example.as_chunks::<4>();
    let mut modules = vec![words.iter().map(|&word| u32::from_le_bytes(word)).collect()];
    modules.extend(texts.iter().enumerate().filter_map(|(number, text)| {
        let module = naga::front::wgsl::parse_str(text).ok()?;
        written(&module, (number % 2 == 0).then_some(text))
    }));
    assert!(modules.len() > 60, "{} modules", modules.len());
    modules
}

fn options(random: &mut Pcg64) -> ShaderOptions {
    ShaderOptions {
        bounds: if random.random_ratio(1, 4) { Bounds::Trap } else { Bounds::Clamp },
        separate_rounding: random.random(),
        undefined_workgroup: random.random_ratio(1, 4),
        ..ShaderOptions::default()
    }
}

/// What is taken passes the verifier; what is not has a message of one line.
fn is_taken(decoded: Result<Decoded, Diagnostic>, seed: u64) -> bool {
    match decoded {
        Ok(decoded) => {
            verify(&decoded.module).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            assert!(!decoded.kernels.is_empty());
            true
        }
        Err(error) => {
            assert!(
                !error.message.is_empty() && !error.message.contains('\n'),
                "seed {seed}: {}",
                error.message
            );
            false
        }
    }
}

/// The parts of a text: words, numbers, single characters.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (token, behind) = rest.split_at(end);
        tokens.push(token);
        rest = behind;
    }
    tokens
}

/// How many changes an input gets: mostly one.
fn changes(random: &mut Pcg64) -> u32 {
    if random.random_ratio(2, 3) { 1 } else { random.random_range(2..5) }
}

/// Parts of a text that may stand for one another.
#[derive(PartialEq, Eq)]
enum Kind {
    Name,
    Number,
    Operator,
    Other,
}

fn kind(part: &str) -> Kind {
    match part.chars().next() {
        Some(first) if first.is_numeric() => Kind::Number,
        Some(first) if first.is_alphabetic() => Kind::Name,
        Some(first) if "+-*/%&|^<>".contains(first) => Kind::Operator,
        _ => Kind::Other,
    }
}

fn change_text<'a>(text: &'a str, texts: &'a [String], random: &mut Pcg64) -> String {
    let words: Vec<&str> = TOKENS.split_whitespace().collect();
    let mut parts = tokens(text);
    for _ in 0..changes(random) {
        // What is no space.
        let places: Vec<usize> = (0..parts.len()).filter(|&at| !parts[at].trim().is_empty()).collect();
        if places.is_empty() {
            break;
        }
        let at = places[random.random_range(0..places.len())];
        let other = places[random.random_range(0..places.len())];
        match random.random_range(0..20) {
            0 => drop(parts.remove(at)),
            1 => parts.insert(at, parts[other]),
            2 => parts.swap(at, other),
            // A statement, or what looks like one, once more behind another one.
            3..=5 => {
                let end = |from: usize| {
                    parts[from..]
                        .iter()
                        .position(|&part| part == ";")
                        .map_or(parts.len(), |end| from + end + 1)
                };
                let (start, to) = (end(at), end(other));
                let statement = parts[start..end(start)].to_vec();
                parts.splice(to..to, statement);
            }
            6 => {
                let others = tokens(&texts[random.random_range(0..texts.len())]);
                let from = random.random_range(0..others.len());
                let count = random.random_range(1..12).min(others.len() - from);
                parts.splice(at..at, others[from..from + count].iter().copied());
            }
            7 | 8 => parts[at] = words[random.random_range(0..words.len())],
            // One of its own kind, from this text or the language.
            which => {
                let own = kind(parts[at]);
                let here = places.iter().map(|&place| parts[place]);
                let more = words.iter().copied().filter(|_| own != Kind::Name || which > 17);
                let like: Vec<&str> = here.chain(more).filter(|part| kind(part) == own).collect();
                if own != Kind::Other {
                    parts[at] = like[random.random_range(0..like.len())];
                }
            }
        }
    }
    parts.concat()
}

/// The places of instructions in a module.
fn instructions(words: &[u32]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 5;
    while let Some(&first) = words.get(at) {
        let end = at + (first >> 16).max(1) as usize;
        if end > words.len() {
            break;
        }
        found.push(at..end);
        at = end;
    }
    found
}

fn change_words(words: &mut Vec<u32>, random: &mut Pcg64) {
    for _ in 0..changes(random) {
        let places = instructions(words);
        if places.is_empty() {
            return;
        }
        let one = places[random.random_range(0..places.len())].clone();
        let other = places[random.random_range(0..places.len())].clone();
        let at = random.random_range(one.clone());
        match random.random_range(0..20) {
            0 => drop(words.drain(one)),
            1 => {
                let copy = words[one].to_vec();
                words.splice(other.start..other.start, copy);
            }
            2 => words[at] ^= 1 << random.random_range(0..32),
            3 => words[at] = [0, 1, 31, 32, 64, u32::MAX, 1 << 31][random.random_range(0..7)],
            // Another operation with as many operands.
            4 => words[one.start] = words[one.start] & 0xFFFF_0000 | random.random_range(0..400),
            5 => {
                let alike: Vec<usize> =
                    places.iter().filter(|place| place.len() == one.len()).map(|place| place.start).collect();
                words[one.start] = words[alike[random.random_range(0..alike.len())]];
            }
            6 => words.truncate(at),
            7 => words.insert(at, random.random_range(0..200)),
            8 => words[at] = words[at].wrapping_add(1),
            9 if one.len() > 1 && other.len() > 1 => {
                let from = random.random_range(other.start + 1..other.end);
                words[random.random_range(one.start + 1..one.end)] = words[from];
            }
            // The operand of an instruction with the same opcode, mostly the number of a value of the same type.
            _ if one.len() > 1 => {
                let is_alike = |place: &&Range<usize>| words[place.start] == words[one.start];
                let alike: Vec<usize> = places.iter().filter(is_alike).map(|place| place.start).collect();
                let from = alike[random.random_range(0..alike.len())];
                let operand = random.random_range(1..one.len());
                words[one.start + operand] = words[from + operand];
            }
            _ => {}
        }
    }
}

fn campaign(seeds: Range<u64>) {
    let inputs = seeds.end - seeds.start;
    let texts = texts();
    let modules = modules(&texts);
    let mut taken = [0, 0];
    let mut longest = (Duration::ZERO, 0);
    let mut total = [Duration::ZERO; 2];
    for seed in seeds {
        let mut random = Pcg64::seed_from_u64(seed);
        let options = options(&mut random);
        let which = (seed % 2) as usize;
        let start;
        let decoded = if which == 0 {
            let text = change_text(&texts[random.random_range(0..texts.len())], &texts, &mut random);
            start = Instant::now();
            decode_wgsl(&text, "a.wgsl", &options)
        } else {
            let mut words = modules[random.random_range(0..modules.len())].clone();
            change_words(&mut words, &mut random);
            start = Instant::now();
            decode_spirv(&bytes(&words), "a.spv", &options)
        };
        taken[which] += u64::from(is_taken(decoded, seed));
        longest = longest.max((start.elapsed(), seed));
        total[which] += start.elapsed();
        assert!(start.elapsed() < LONGEST, "seed {seed} takes {:?}", start.elapsed());
    }
    println!("{taken:?} of {inputs} taken in {total:?}, one in {longest:?}");
    // In a few inputs, chance has more to say than this.
    for taken in taken.into_iter().filter(|_| inputs >= FEW) {
        assert!(taken > inputs / 40 && taken < inputs / 2 - inputs / 40, "{taken} of {}", inputs / 2);
    }
}

#[test]
fn wrong_inputs_are_errors() {
    campaign(0..FEW);
}

#[test]
#[ignore = "takes an hour"]
fn many_wrong_inputs_are_errors() {
    campaign(match std::env::var("WAVE_SIM_SEEDS") {
        Err(_) => 0..MANY,
        Ok(text) => {
            let ends = text.split_once("..").expect("WAVE_SIM_SEEDS=FROM..TO");
            let number = |end: &str| end.parse().expect("a number");
            number(ends.0)..number(ends.1)
        }
    });
}
