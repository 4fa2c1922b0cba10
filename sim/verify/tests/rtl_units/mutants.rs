//! Planted bugs: the comparison that the other tests make must find each one.

use crate::bench::{Bench, Group, Request, machine};
use crate::operands::{mixture, operations};
use crate::skipped;
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
