//! The engine of the time as the judge: its answers are stored beside this file.
//!
//! `scripts/wasm2015_oracle.sh` fetches the engine, writes the modules, and stores the answers again.

use super::cases::{self, Call, Case, SCRATCH};
use super::operators::{OTHERS, SIMPLE};
use super::simulated::{NoLaunch, Simulator, missing};
use super::trees;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use wave_compile::ir::interpret::{Instance, Limits};
use wave_compile::ir::{Constant, Exported, FunctionId, MemoryId, Module, Trap, Type, verify};
use wave_compile::lower::instance::Ended;
use wave_compile::wasm2015::decode;

/// Random modules of which answers are stored.
const STORED_TREES: u64 = 250;

/// What a call ends in: the result, or a trap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    None,
    Bits(Type, u64),
    Trap(&'static str),
}

/// The messages of the engine for traps, and a word for each. It has one message for a float out of range and for NaN.
fn trap_word(trap: Trap) -> &'static str {
    match trap {
        Trap::Unreachable => "unreachable",
        Trap::MemoryOutOfBounds => "bounds",
        Trap::DivideByZero => "zero",
        Trap::IntegerOverflow | Trap::InvalidConversion => "range",
        Trap::UndefinedElement | Trap::UninitialisedElement => "element",
        Trap::SignatureMismatch => "signature",
        _ => "other",
    }
}

/// An answer as it is stored: any NaN is one word.
fn text(answer: &Answer) -> String {
    match *answer {
        Answer::None => "v".to_owned(),
        Answer::Trap(word) => format!("!{word}"),
        Answer::Bits(Type::F32, bits) if f32::from_bits(bits as u32).is_nan() => "nan".to_owned(),
        Answer::Bits(Type::F64, bits) if f64::from_bits(bits).is_nan() => "nan".to_owned(),
        Answer::Bits(_, bits) => format!("{bits:x}"),
    }
}

/// FNV-1a of memory behind what wrappers use.
fn hash(memory: &[u8]) -> String {
    let bytes = memory.iter().skip(SCRATCH);
    format!(
        "{:x}",
        bytes.fold(0x811c_9dc5_u32, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    )
}

fn result_of(call: &Call, memory: &[u8]) -> Answer {
    let Some(ty) = call.result else { return Answer::None };
    let bytes: [u8; 8] = memory[..8].try_into().expect("8 bytes");
    let bits = u64::from_le_bytes(bytes);
    Answer::Bits(ty, if ty.bytes() == 4 { bits & 0xffff_ffff } else { bits })
}

fn decoded(case: &Case) -> Module {
    let decoded = decode(&case.bytes).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    verify::verify(&decoded.module)
        .unwrap_or_else(|error| panic!("{}: {error}\n{}", case.name, decoded.module));
    assert!(wave_compile::wasm2015::is_wasm2015(&case.bytes), "{}", case.name);
    decoded.module
}

fn export(module: &Module, name: &str) -> FunctionId {
    let found = module.exports.iter().find_map(|(export, exported)| match exported {
        Exported::Function(function) if export == name => Some(*function),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no export {name}"))
}

fn constants(words: &[u32]) -> Vec<Constant> {
    words.iter().map(|&word| Constant::I32(word)).collect()
}

/// The answers of the interpreter, and the hash of memory behind them.
pub(crate) fn interpreted(case: &Case) -> Vec<String> {
    let instance =
        Instance::new(Arc::new(decoded(case))).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let limits = Limits { fuel: 100_000, ..Limits::default() };
    let memory = || {
        let memory = instance.memory(MemoryId::from_u32(0));
        memory.read(0, memory.bytes()).expect("all of it")
    };
    let mut answers: Vec<String> = Vec::new();
    for call in &case.calls {
        let function = export(instance.module(), &call.export);
        answers.push(text(&match instance.call(function, &constants(&call.words), &limits) {
            Ok(_) => result_of(call, &memory()),
            Err(trapped) => Answer::Trap(trap_word(trapped.trap)),
        }));
    }
    answers.push(format!("#{}", hash(&memory())));
    answers
}

/// Why there was no launch.
pub(crate) fn no_launch(error: &NoLaunch) -> String {
    match error {
        NoLaunch::Compile(error) => missing(error),
        NoLaunch::Wrong(what) => what.clone(),
    }
}

/// The answers of the simulator to the calls that are taken: every one where `every` is 1.
pub(crate) fn simulated(case: &Case, every: usize, launches: &mut u64) -> Vec<(usize, String)> {
    let module = decoded(case);
    let mut simulator = Simulator::of(&module).unwrap_or_else(|trap| panic!("{}: {trap:?}", case.name));
    let mut answers = Vec::new();
    for (number, call) in case.calls.iter().enumerate().filter(|(number, _)| number % every == 0) {
        let function = export(&module, &call.export);
        let words = constants(&call.words);
        let neighbours = constants(&case.calls[(number + 1) % case.calls.len()].words);
        let neighbours = if neighbours.len() == words.len() { neighbours } else { words.clone() };
        let ended = simulator.launch(&module, function, [&words, &neighbours]);
        let [(ended, _), _] =
            ended.unwrap_or_else(|error| panic!("{}, call {number}: {}", case.name, no_launch(&error)));
        let memory = simulator.states()[0].memories.values().next().expect("it has memory");
        answers.push((
            number,
            text(&match ended {
                Ended::Returned => result_of(call, memory),
                Ended::Trapped(trap, _) => Answer::Trap(trap_word(trap)),
                Ended::Not => panic!("{}, call {number}: it has not ended", case.name),
            }),
        ));
    }
    *launches += simulator.launches;
    answers
}

/// The stored answers, by the names of cases.
fn stored() -> HashMap<String, String> {
    serde_json::from_str(include_str!("answers.json")).expect("the file is JSON")
}

/// Where engine and WebAssembly disagree: our answer, if that of the engine is to be another one.
///
/// The engine of the time took the second of two equal operands for minimum and maximum, so zeros of unlike sign give
/// the second.
fn by_webassembly(case: &Case, call: &Call) -> Option<String> {
    let is_min = case.name.ends_with(".min");
    if !is_min && !case.name.ends_with(".max") {
        return None;
    }
    let (sign, operands) = match call.words[..] {
        [a, b] => (1 << 31, [u64::from(a), u64::from(b)]),
        [a, b, c, d] => (1 << 63, [u64::from(a) | u64::from(b) << 32, u64::from(c) | u64::from(d) << 32]),
        _ => return None,
    };
    let are_zeros = operands[0] != operands[1] && operands.iter().all(|bits| bits & !sign == 0);
    are_zeros.then(|| format!("{:x}", if is_min { sign } else { 0u64 }))
}

/// A disagreement of the engine with WebAssembly.
struct Disagreement {
    case: String,
    call: String,
    engine: String,
    ours: String,
}

/// Compares answers with those of the engine. Answers are ours, with the numbers of the calls.
fn compare(
    case: &Case,
    ours: &[(usize, String)],
    engine: &str,
    disagreements: &mut Vec<Disagreement>,
    failures: &mut Vec<String>,
) -> usize {
    let engine: Vec<&str> = engine.split(' ').collect();
    if engine.len() != case.calls.len() + 1 {
        failures.push(format!(
            "{}: {} answers of the engine, {} calls",
            case.name,
            engine.len(),
            case.calls.len()
        ));
        return 0;
    }
    for (number, ours) in ours {
        let theirs = engine[*number];
        let call = case.calls.get(*number);
        let expected = call.and_then(|call| by_webassembly(case, call));
        if let (Some(expected), Some(call)) = (&expected, call)
            && expected != theirs
        {
            disagreements.push(Disagreement {
                case: case.name.clone(),
                call: format!("{:x?}", call.words),
                engine: theirs.to_owned(),
                ours: ours.clone(),
            });
        }
        if ours != expected.as_deref().unwrap_or(theirs) {
            let words = call.map_or(String::new(), |call| format!("{} {:x?}", call.export, call.words));
            failures.push(format!("{}, call {number} {words}: {ours}, the engine {theirs}", case.name));
        }
    }
    ours.len()
}

fn check(failures: &[String]) {
    let first: Vec<&str> = failures.iter().take(30).map(String::as_str).collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), first.join("\n"));
}

fn trees() -> impl Iterator<Item = Case> {
    (0..STORED_TREES).map(trees::case)
}

/// Functions are those of the cases: what is called from outside, each once.
fn functions(cases: &[Case]) -> usize {
    let of = |case: &Case| case.calls.iter().map(|call| call.export.clone()).collect::<BTreeSet<_>>().len();
    cases.iter().map(of).sum()
}

#[test]
fn answers_are_those_of_the_engine() {
    let stored = stored();
    let (mut disagreements, mut failures) = (Vec::new(), Vec::new());
    let cases: Vec<Case> = cases::all().into_iter().chain(trees()).collect();
    let (mut assertions, mut used, mut traps) = (0, BTreeSet::<u8>::new(), BTreeMap::new());
    for case in &cases {
        let engine = stored.get(&case.name);
        let engine = engine
            .unwrap_or_else(|| panic!("no answers for `{}`: run scripts/wasm2015_oracle.sh", case.name));
        let ours: Vec<(usize, String)> = interpreted(case).into_iter().enumerate().collect();
        for (_, answer) in ours.iter().filter(|(_, answer)| answer.starts_with('!')) {
            *traps.entry(answer.clone()).or_insert(0) += 1;
        }
        assertions += compare(case, &ours, engine, &mut disagreements, &mut failures);
        used.extend(&case.used);
    }
    check(&failures);
    println!("{:20} {:30} {:>20} {:>20}", "engine disagrees", "arguments", "engine", "WebAssembly");
    for Disagreement { case, call, engine, ours } in &disagreements {
        println!("{case:20} {call:30} {engine:>20} {ours:>20}");
    }
    println!("traps: {traps:?}");
    let grow = super::encoder::opcode("grow_memory");
    // The engine does not grow memory; `grow_memory_as_the_text_says` has it.
    let wanted: BTreeSet<u8> = SIMPLE.iter().map(|row| row.1).chain(OTHERS.iter().map(|row| row.1)).collect();
    let missing: Vec<u8> =
        wanted.iter().copied().filter(|opcode| !used.contains(opcode) && *opcode != grow).collect();
    assert!(missing.is_empty(), "operators without a case: {missing:02x?}");
    assert!(disagreements.len() >= 4, "min and max of two types disagree");
    assert!(disagreements.iter().all(|one| one.case.contains("min") || one.case.contains("max")));
    assert!(
        functions(&cases) > 200 && assertions > 5000,
        "{} functions, {assertions} assertions",
        functions(&cases)
    );
    assert!(traps.len() >= 6 && traps.values().all(|&count| count >= 3), "{traps:?}");
    let operators = wanted.len();
    println!("table: wasm2015 | {}/{operators} | node 6.0.0 (V8 5.0) | {assertions}", used.len() + 1);
    println!("{} functions in {} modules", functions(&cases), cases.len());
}

/// A part of the calls as lanes of waves: every function, of operators each 16th call.
#[test]
fn answers_of_lanes_are_those_of_the_engine() {
    let stored = stored();
    let (mut disagreements, mut failures, mut assertions, mut launches) = (Vec::new(), Vec::new(), 0, 0);
    let cases: Vec<Case> = cases::all().into_iter().chain(trees().step_by(10)).collect();
    for case in &cases {
        // Calls change what is there; a case of one operator does not care which are left out.
        let every = if case.used.len() > 8 || case.calls.len() < 20 { 1 } else { 16 };
        let ours = simulated(case, every, &mut launches);
        assertions += compare(case, &ours, &stored[&case.name], &mut disagreements, &mut failures);
    }
    check(&failures);
    println!("{assertions} answers of lanes, {launches} launches, {} modules", cases.len());
    assert!(assertions > 1000);
}

/// All calls as lanes of waves. `cargo test -p wave-compile --test wasm2015 -- --ignored all_answers_of_lanes`
#[test]
#[ignore = "takes minutes"]
fn all_answers_of_lanes_are_those_of_the_engine() {
    let stored = stored();
    let (mut disagreements, mut failures, mut assertions, mut launches) = (Vec::new(), Vec::new(), 0, 0);
    for case in cases::all().into_iter().chain(trees()) {
        let ours = simulated(&case, 1, &mut launches);
        assertions += compare(&case, &ours, &stored[&case.name], &mut disagreements, &mut failures);
    }
    check(&failures);
    println!("{assertions} answers of lanes, {launches} launches");
}

/// Random modules that the script asks the engine about, beside those that are stored.
fn campaign_trees() -> u64 {
    std::env::var("WASM2015_TREES").ok().and_then(|text| text.parse().ok()).unwrap_or(STORED_TREES)
}

fn folder() -> String {
    std::env::var("WASM2015_FOLDER").expect("scripts/wasm2015_oracle.sh says where")
}

/// Writes modules and calls for the engine.
#[test]
#[ignore = "scripts/wasm2015_oracle.sh runs it"]
fn write_modules() {
    let folder = folder();
    let mut calls = Vec::new();
    for (number, case) in cases::all().into_iter().chain((0..campaign_trees()).map(trees::case)).enumerate() {
        let file = format!("{number}.wasm2015");
        std::fs::write(Path::new(&folder).join(&file), &case.bytes).expect("the folder is there");
        let call = |call: &Call| {
            let kind = call.result.map_or("", |ty| ty.name());
            serde_json::json!([call.export, call.words, kind])
        };
        let all: Vec<_> = case.calls.iter().map(call).collect();
        calls.push(serde_json::json!({ "name": case.name, "file": file, "calls": all }));
    }
    let text = serde_json::to_string(&calls).expect("it is JSON");
    std::fs::write(Path::new(&folder).join("calls.json"), text).expect("the folder is there");
}

/// Compares all that the engine has answered in the script's folder, and writes what is stored.
#[test]
#[ignore = "scripts/wasm2015_oracle.sh runs it"]
fn compare_campaign() {
    let text =
        std::fs::read_to_string(Path::new(&folder()).join("answers.json")).expect("the engine wrote it");
    let answers: HashMap<String, String> = serde_json::from_str(&text).expect("it is JSON");
    let (mut disagreements, mut failures, mut assertions) = (Vec::new(), Vec::new(), 0);
    let mut kept = String::from("{\n");
    let count = campaign_trees();
    for case in cases::all().into_iter().chain((0..count.max(STORED_TREES)).map(trees::case)) {
        let engine = answers.get(&case.name).unwrap_or_else(|| panic!("no answers for `{}`", case.name));
        let is_kept = case
            .name
            .strip_prefix("tree ")
            .is_none_or(|seed| seed.parse().is_ok_and(|seed: u64| seed < STORED_TREES));
        if is_kept {
            let comma = if kept.len() > 2 { ",\n" } else { "" };
            write!(kept, "{comma}{}: {}", serde_json::json!(case.name), serde_json::json!(engine))
                .expect("a string");
        }
        let ours: Vec<(usize, String)> = interpreted(&case).into_iter().enumerate().collect();
        assertions += compare(&case, &ours, engine, &mut disagreements, &mut failures);
    }
    kept.push_str("\n}\n");
    std::fs::write(Path::new(&folder()).join("kept.json"), kept).expect("the folder is there");
    println!("{assertions} answers, {} disagreements of min and max", disagreements.len());
    check(&failures);
}
