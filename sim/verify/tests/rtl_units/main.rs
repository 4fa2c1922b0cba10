//! The execution units in SystemVerilog (`rtl-tests/rtl/units`): every operation of the instruction set
//! except f64, matrices and memory. Bit for bit they give the results of `wave_machine::alu` and SoftFloat, in
//! the clock that `configs/rtl.ron` states.

mod bench;
mod mutants;
mod operands;
mod oracle;

use bench::{Bench, Group, machine};
use operands::{mixture, operations};
use std::process::Command;
use wave_isa::{ExecClass, Op};
use wave_verify::rtl;

/// Random lanes per operation.
const QUICK: usize = 100_000;
/// Random lanes per operation in the long campaign.
const LONG: usize = 10_000_000;

/// Prints a note and returns true if the user skips the tests that need Verilator.
fn skipped() -> bool {
    if rtl::skipped() {
        eprintln!("skipped: {} is set", rtl::SKIP_VARIABLE);
    }
    rtl::skipped()
}

fn check(group: Group, ops: &[Op], random: usize, seed: u64) {
    if skipped() {
        return;
    }
    assert!(!ops.is_empty());
    let bench = Bench::build(group, &machine(), false);
    match bench.run(0, mixture(ops, random, seed)) {
        Ok(answers) => assert!(answers * bench::LANES >= random * ops.len()),
        Err(difference) => panic!("{difference}"),
    }
}

const INTEGER: [ExecClass; 4] = [ExecClass::Int, ExecClass::IntMul, ExecClass::Convert, ExecClass::Wave];
const FLOATING_POINT: [ExecClass; 2] = [ExecClass::Fp32, ExecClass::Fp16];
const DIVISION: [ExecClass; 2] = [ExecClass::IntDiv, ExecClass::Fp32Div];

#[test]
fn integer_convert_and_wave_units_match() {
    check(Group::Integer, &operations(&INTEGER), QUICK, 1);
}

#[test]
fn floating_point_unit_matches() {
    check(Group::FloatingPoint, &operations(&FLOATING_POINT), QUICK, 2);
}

#[test]
fn division_units_match() {
    check(Group::Division, &operations(&DIVISION), QUICK, 3);
}

#[test]
fn special_function_unit_matches() {
    check(Group::Special, &operations(&[ExecClass::Sfu]), QUICK, 4);
}

#[test]
#[ignore = "ten million lanes an operation"]
fn long_campaign_of_the_adders() {
    use Op::*;
    check(Group::FloatingPoint, &[FAdd, FSub, FMul, Fma, FFract, HMa2, BMa2], LONG, 5);
}

#[test]
#[ignore = "ten million lanes an operation"]
fn long_campaign_of_division() {
    check(Group::Division, &[Op::FDiv, Op::FSqrt, Op::FRsqrt, Op::IDiv], LONG, 6);
}

#[test]
#[ignore = "ten million lanes an operation"]
fn long_campaign_of_special_functions() {
    check(Group::Special, &operations(&[ExecClass::Sfu]), LONG, 7);
}

/// Lints a unit with further arguments. Returns whether Verilator accepts it, and its messages.
fn lint(unit: &str, arguments: &[String]) -> (bool, String) {
    rtl::verilator_version().unwrap_or_else(|error| panic!("{error}"));
    let mut lint = Command::new("verilator");
    lint.args(["--lint-only", "-Wall", "--top-module", unit]).args(arguments);
    lint.args(bench::includes().iter().map(|path| format!("-I{}", path.display())));
    lint.args(bench::packages());
    lint.arg(bench::rtl_directory().join(format!("rtl/units/{unit}.sv")));
    let output = lint.output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Smallest legal value of each timing parameter.
const LEAST: &[(&str, &str, u32)] = &[
    ("unit_int", "LATENCY", 2),
    ("unit_int_mul", "LATENCY", 3),
    ("unit_convert", "LATENCY", 3),
    ("unit_wave", "LATENCY", 4),
    ("unit_fp", "LATENCY_FP32", 4),
    ("unit_fp", "LATENCY_FP16", 5),
    ("unit_int_div", "LATENCY", 34),
    ("unit_int_div", "PASSES", 33),
    ("unit_fp_div", "LATENCY", 30),
    ("unit_fp_div", "PASSES", 28),
    ("unit_sfu", "LATENCY", 6),
];

#[test]
fn verilator_has_no_warning_and_rejects_a_latency_below_the_stages() {
    if skipped() {
        return;
    }
    for &(unit, parameter, least) in LEAST {
        let with = |value: u32| lint(unit, &[format!("-G{parameter}={value}")]);
        assert_eq!(with(least), (true, String::new()), "{unit} with {parameter} = {least}");
        let (accepted, text) = with(least - 1);
        assert!(!accepted && text.contains("USERERROR"), "{unit} with {parameter} below {least}: {text}");
    }
}
