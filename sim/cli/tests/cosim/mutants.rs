//! Each bug planted in the RTL (`BUG(n)` in its sources) is found by the program that rtl-tests/README.md
//! names. One executable of the small core contains all bugs, and `+bug=n` enables one.

use crate::bench::{Case, SMALL_WAVES, executable, root};
use crate::campaign::{Mutants, Verdict};
use crate::rules;
use crate::suite::{broad_suite, illegal_suite, suite};
use std::path::Path;
use std::sync::LazyLock;
use wave_testing::{golden, planted};
use wave_verify::rtl::{self, Disagreement, Mode, Variant};

/// Bugs that need more waves than the small core has. On the full core, the program of a rule finds them
/// (`rules::the_program_of_each_rule_finds_its_bugs`).
const OF_MANY_WAVES: &[u32] = &[170];

/// Long and short random programs that look for a bug.
const RANDOM: (u64, u64) = (60, 400);

#[test]
fn the_list_has_every_bug_of_the_sources() {
    let found = planted::in_sources(&rtl::directory().join("rtl"));
    let listed: Vec<u32> = planted::CORE.iter().map(|&(number, _)| number).collect();
    assert_eq!(found, listed);
    assert!(OF_MANY_WAVES.iter().all(|&bug| rules::finds(bug)));
}

#[test]
#[ignore = "builds another executable, which takes minutes: --ignored"]
fn every_planted_bug_is_found() {
    let variant = Variant { bugs: true, waves: Some(SMALL_WAVES), ..Variant::default() };
    let Some(core) = executable(&variant) else { return };
    let cases = suite(&core, RANDOM.0, RANDOM.1);
    let mut table = "| bug | what it does | found by | cycle | at |\n|---|---|---|---|---|\n".to_owned();
    let (mut survivors, mut needed) = (Vec::new(), Vec::new());
    let bugs = planted::UNITS.iter().chain(planted::CORE);
    for &(number, what) in bugs.filter(|(number, _)| !OF_MANY_WAVES.contains(number)) {
        let argument = format!("+bug={number}");
        let differs = |(name, case): &(String, Case)| {
            match case.run_with(&core, Mode::Cycle, &[&argument]) {
                // Both sides have given up alike: that is no difference.
                Ok(_) | Err(Disagreement::Limit(_)) => None,
                Err(difference) => Some((name.clone(), difference)),
            }
        };
        let Some((programs, (name, why))) =
            (1..).zip(&cases).find_map(|(nth, case)| Some((nth, differs(case)?)))
        else {
            survivors.push(number);
            continue;
        };
        needed.push(programs);
        let (cycle, stage) = match why {
            Disagreement::Differs { cycle, stage, .. } => (cycle.to_string(), stage.to_owned()),
            Disagreement::Broken(what) => {
                let assertion =
                    what.lines().find_map(|line| line.split_once("Assertion failed in ")?.1.split_once(": "));
                let what = assertion.map(|(_, what)| format!("assertion: {what}"));
                (String::new(), what.unwrap_or("no sense in its records".to_owned()))
            }
            why => panic!("{number}, {name}: {why}"),
        };
        table += &format!("| {number} | {what} | {name} | {cycle} | {stage} |\n");
    }
    needed.sort_unstable();
    table += &format!(
        "\nOf {} programs, in this order, half of these bugs need at most {}, and the last one {}.\n",
        cases.len(),
        needed[needed.len() / 2],
        needed[needed.len() - 1]
    );
    println!("{table}");
    assert!(survivors.is_empty(), "bugs that nothing found: {survivors:?}");
    golden::check_part("rtl-tests/README.md", "planted bugs", &table);
}

/// Number of long and short random programs per mutant.
const CAMPAIGN: (u64, u64) = (4, 30);

/// Random programs of medium length that run before all others. Most mutants are found by one of them.
const BEFORE_OTHERS: usize = 4;

/// Fraction of the random programs that a mutant has met after the second round. The first round has the
/// medium ones, the third the longest.
const SECOND_ROUND: f64 = 0.6;

/// The last round has the illegal words. It applies to the decoding modules only.
const ILLEGAL_ROUND: usize = 4;
const DECODES: [&str; 2] = ["decode", "decoder"];

/// The programs of rounds 1 to 3.
fn random_rounds(original: &Path) -> [Vec<(String, Case)>; 3] {
    let (random, mut cases): (Vec<_>, Vec<_>) = suite(original, CAMPAIGN.0, CAMPAIGN.1)
        .into_iter()
        .partition(|(name, _)| name.starts_with("short random"));
    let middle = random.len() / 2;
    for (i, program) in random.into_iter().enumerate() {
        let before = (middle..middle + BEFORE_OTHERS).contains(&i);
        cases.insert(if before { 0 } else { cases.len() }, program);
    }
    let longest = cases.split_off((cases.len() as f64 * SECOND_ROUND) as usize);
    let others = cases.split_off(BEFORE_OTHERS);
    [cases, others, longest]
}

#[test]
#[ignore = "run by scripts/rtl_mutants.py, which makes the mutants"]
fn campaign() {
    let mutants = Mutants::made();
    let variant = Variant { waves: Some(SMALL_WAVES), ..Variant::default() };
    let Some(original) = executable(&variant) else { return };
    // Programs that reach most of the core in few cycles come first.
    let broad = LazyLock::new(|| broad_suite(&original));
    let random = LazyLock::new(|| random_rounds(&original));
    let illegal = LazyLock::new(|| illegal_suite(&original));
    let programs = |round| match round {
        0 => &*broad,
        ILLEGAL_ROUND => &*illegal,
        _ => &random[round - 1],
    };
    let model = mutants.model(rtl::wave_core(&rtl::directory(), &variant).expect("the sources"));
    let core = rtl::build(&model, &root().join("target/rtl")).unwrap_or_else(|error| panic!("{error}"));
    let meets = |module: &str, round| round != ILLEGAL_ROUND || DECODES.contains(&module);
    mutants.run(0..ILLEGAL_ROUND + 1, meets, |number, round| {
        let argument = format!("+mutant={number}");
        for (name, case) in programs(round) {
            let run = |mode| case.run_with(&core, mode, &[&argument]);
            if run(Mode::Cycle).is_ok() {
                continue;
            }
            // A mutant whose results are right differs in its cycles only.
            let how = match run(Mode::Architectural) {
                Ok(_) => "cycle",
                Err(Disagreement::Broken(_)) => "crash",
                Err(difference) if difference.to_string().contains("it gives up in cycle") => "time-out",
                Err(_) => "architectural",
            };
            return Verdict::Killed(how, name.clone());
        }
        Verdict::Survived
    });
}
