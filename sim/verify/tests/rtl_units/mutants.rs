//! Planted bugs: the comparison that the other tests make must find each one.

use crate::bench::{Bench, Group, Request, machine};
use crate::campaign::{Mutants, Verdict};
use crate::operands::{mixture, operations};
use crate::{DIVISION, FLOATING_POINT, INTEGER, skipped};
use wave_isa::{ExecClass, Op};
use wave_machine::config::Config;

/// Number of each bug in the sources, and its effect.
const BUGS: &[(u32, &str)] = &[
    (1, "infinity less infinity is no NaN"),
    (2, "bits of the addend below the window are lost"),
    (3, "a difference of 0 has the product's sign"),
    (4, "subnormal results are normalized a bit too far"),
    (5, "ties round away from zero"),
    (6, "overflow gives the greatest number"),
    (7, "-0 compares below +0"),
    (8, "fround rounds ties away from zero"),
    (9, "a product of 0 is +0"),
    (10, "ffract gives 1 just below an integer"),
    (11, "bf16 results are truncated"),
    (12, "the choice between adder and comparator is a stage early"),
    (20, "signed compares are unsigned"),
    (21, "bitfind of 0 is 32"),
    (22, "half of a partial product is dropped"),
    (23, "conversion to i32 saturates to the wrong end"),
    (24, "broadcast asks lane 0 instead of the lowest that takes part"),
    (25, "a source lane outside the wave wraps"),
    (26, "wave_all looks at the operation behind it"),
    (27, "the prefix sum of lane 0 counts lane 0"),
    (30, "the remainder has the sign of the quotient"),
    (31, "division by 0 is not special"),
    (32, "the root of -0 is NaN"),
    (33, "the root is truncated"),
    (34, "0 / 0 is infinity"),
    (35, "the remainder of a quotient does not count for rounding"),
    (36, "quotients are announced a clock early"),
    (40, "the sine is even"),
    (41, "odd quadrants run forwards"),
    (42, "subnormal powers of two are not rounded as such"),
    (43, "groups of lanes behind the first take the operation of the port"),
];

/// Random lanes per operation.
const LANES: usize = 4000;

/// A machine whose latencies, passes and lanes all differ from rtl.ron, so that no parameter goes unused.
fn slower_machine() -> Config {
    let mut config = machine();
    for unit in &mut config.core.units {
        for class in &mut unit.classes {
            class.latency_cycles += 1 + class.class as u32 % 4;
            if class.passes > 1 {
                class.passes += 2;
            }
        }
        if unit.lanes < 8 {
            unit.lanes = 4;
        }
    }
    config
}

/// Operations of all units.
fn everything() -> impl Iterator<Item = Request> + Send {
    let has_unit = |op: &Op| has_unit(op.info().class);
    let ops: Vec<Op> = operations(ExecClass::ALL).into_iter().filter(has_unit).collect();
    mixture(&ops, LANES, 9)
}

/// True if the RTL has a unit for the class.
fn has_unit(class: ExecClass) -> bool {
    machine().core.units.iter().any(|unit| unit.classes.iter().any(|c| c.class == class))
}

#[test]
fn every_planted_bug_is_found() {
    if skipped() {
        return;
    }
    let bench = Bench::build(Group::All, &slower_machine(), true);
    if let Err(difference) = bench.run(0, everything()) {
        panic!("without a bug: {difference}");
    }
    let mut survivors = Vec::new();
    for &(bug, what) in BUGS {
        match bench.run(bug, everything()) {
            Ok(_) => survivors.push(format!("{bug}: {what}")),
            Err(difference) => println!("{bug}, {what}: found by {}", difference.request.op.info().mnemonic),
        }
    }
    assert!(survivors.is_empty(), "not found: {survivors:#?}");
}

#[test]
fn the_list_has_every_bug_of_the_sources() {
    let mut planted = Vec::new();
    for entry in std::fs::read_dir(crate::bench::rtl_directory().join("rtl/units")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for (at, start) in text.match_indices("`BUG(") {
            let number = text[at + start.len()..].split(')').next().unwrap();
            planted.push(number.parse::<u32>().unwrap());
        }
    }
    planted.sort();
    planted.dedup();
    let listed: Vec<u32> = BUGS.iter().map(|&(bug, _)| bug).collect();
    assert_eq!(planted, listed);
}

/// Random lanes per operation for each mutant.
const CAMPAIGN_LANES: usize = 20_000;

/// Runs the group of mutants that the environment names: `integer`, `floating`, `division` or `special`.
#[test]
#[ignore = "run by scripts/rtl_mutants.py, which makes the mutants"]
fn campaign() {
    let mutants = Mutants::made();
    let (group, classes) = match mutants.name().as_str() {
        "integer" => (Group::Integer, &INTEGER[..]),
        "floating" => (Group::FloatingPoint, &FLOATING_POINT[..]),
        "division" => (Group::Division, &DIVISION[..]),
        "special" => (Group::Special, &[ExecClass::Sfu][..]),
        other => panic!("no execution units are in the group {other}"),
    };
    let bench = Bench::build_as(group, &machine(), false, |model| mutants.model(model));
    let ops = operations(classes);
    let run = |argument: &str| bench.run_with(argument, mixture(&ops, CAMPAIGN_LANES, 10));
    mutants.run(
        1..2,
        |_, _| true,
        |number, _| match run(&format!("+mutant={number}")) {
            Ok(_) => Verdict::Survived,
            Err(difference) => {
                let how = if difference.what.starts_with("has no result") {
                    "time-out"
                } else if difference.what.starts_with("has its result after") {
                    "cycle"
                } else {
                    "architectural"
                };
                Verdict::Killed(how, difference.request.op.info().mnemonic.to_owned())
            }
        },
    );
}
