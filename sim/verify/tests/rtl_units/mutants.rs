//! Planted bugs: the comparison that the other tests make must find each one.

use crate::bench::{Bench, Group, Request, machine};
use crate::campaign::{Mutants, Verdict};
use crate::operands::{mixture, operations};
use crate::{DIVISION, FLOATING_POINT, INTEGER, skipped};
use wave_isa::{ExecClass, Op};
use wave_machine::config::Config;
use wave_testing::planted;

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
    for &(bug, what) in planted::UNITS {
        match bench.run(bug, everything()) {
            Ok(_) => survivors.push(format!("{bug}: {what}")),
            Err(difference) => println!("{bug}, {what}: found by {}", difference.request.op.info().mnemonic),
        }
    }
    assert!(survivors.is_empty(), "not found: {survivors:#?}");
}

#[test]
fn the_list_has_every_bug_of_the_sources() {
    let found = planted::in_sources(&crate::bench::rtl_directory().join("rtl/units"));
    let listed: Vec<u32> = planted::UNITS.iter().map(|&(bug, _)| bug).collect();
    assert_eq!(found, listed);
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
