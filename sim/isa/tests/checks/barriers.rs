//! The uniformity analysis compared with execution: no barrier faults without an earlier message.

use crate::structured::{Kinds, Node, cases, lower, programs, run};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use wave_isa::diagnostic::{Diagnostic, Severity};
use wave_isa::program::check::{CheckOptions, check};
use wave_isa::program::{FaultKind, Launch, Program};
use wave_verify::reference::{Order, Stop};

/// Outcomes of the programs of one test run.
#[derive(Debug, Default)]
struct Count {
    faults: u32,
    /// Barriers reported as certainly wrong.
    certain: u32,
    /// Faults at exactly the wave and lanes that the message names.
    named: u32,
    /// Barriers in programs without a message about barriers.
    silent: u32,
    /// Programs that have a message about a barrier but do not fault.
    spared: u32,
}

/// Messages about the instruction at `pc`.
fn about(messages: &[Diagnostic], pc: u32) -> impl Iterator<Item = &Diagnostic> {
    let at = format!("pc {pc:#06x}, ");
    messages.iter().filter(move |d| d.message.contains(&at) && d.message.contains("barrier"))
}

/// Mask of the lanes in "reached by lanes 0 to 3, 6 of wave 1 without", and the wave.
fn claim(message: &str) -> Option<(u64, u32)> {
    let (_, rest) = message.split_once("is reached by ")?;
    let (lanes, rest) = rest.split_once(" of wave ")?;
    let wave = rest.split(' ').next()?.parse().ok()?;
    let lanes = lanes.trim_start_matches("lanes ").trim_start_matches("lane ");
    let mut mask = 0;
    for run in lanes.split(", ") {
        let run = run.replace(" and ", " to ");
        let (first, last) = run.split_once(" to ").unwrap_or((&run, &run));
        for lane in first.parse::<u32>().ok()?..=last.parse().ok()? {
            mask |= 1 << lane;
        }
    }
    Some((mask, wave))
}

/// The program with the barrier at `pc` replaced by a word that faults when it is reached.
fn trapped(program: &Program, pc: u32) -> Program {
    let mut program = program.clone();
    program.code[pc as usize / 4] = 0xFF00_0000;
    program
}

fn examine(
    program: &Program,
    launch: &Launch,
    options: &CheckOptions,
    count: &mut Count,
) -> Result<(), TestCaseError> {
    let report = check(program, 0, options);
    let messages = &report.diagnostics;
    // The only thing that the analysis does not follow, as the message says.
    let strands = messages.iter().any(|d| d.message.contains("`halt` in a function"));
    let mut faulted = false;
    for order in [Order::RoundRobin(u32::MAX), Order::RoundRobin(1)] {
        let outcome = run(program, launch, order);
        let Err(Stop::Fault(fault)) = &outcome else { continue };
        prop_assert_eq!(fault.kind, FaultKind::BarrierInDivergence);
        faulted = true;
        prop_assert!(strands || about(messages, fault.pc).count() == 1, "{}\n{:#?}", fault, messages);
        for message in about(messages, fault.pc) {
            if let Some((lanes, wave)) = claim(&message.message)
                && fault.wave == wave
            {
                prop_assert_eq!(fault.lanes, lanes, "{}", message);
                count.named += 1;
            }
        }
    }
    count.faults += u32::from(faulted);
    for barrier in messages.iter().filter(|d| d.severity == Severity::Error) {
        count.certain += 1;
        let pc = barrier.message.split("pc 0x").nth(1).and_then(|s| u32::from_str_radix(&s[..4], 16).ok());
        let reached = run(&trapped(program, pc.expect("a pc")), launch, Order::RoundRobin(u32::MAX)).is_err();
        prop_assert!(faulted || !reached, "no fault: {}", barrier);
    }
    if !messages.iter().any(|d| d.message.contains("barrier")) {
        count.silent += report.summary.barriers;
    } else if !faulted {
        count.spared += 1;
    }
    Ok(())
}

fn barriers(nodes: &[Node]) -> u32 {
    let inner = |node: &Node| match node {
        Node::Barrier => 1,
        Node::If { then, otherwise, .. } => barriers(then) + otherwise.as_ref().map_or(0, |o| barriers(o)),
        Node::Loop { body, .. } => barriers(body),
        _ => 0,
    };
    nodes.iter().map(inner).sum()
}

fn examine_many(cases: u32, halts: bool) -> Count {
    let mut count = Count::default();
    let mut runner = TestRunner::new_with_rng(
        Config {
            cases,
            failure_persistence: None,
            max_global_rejects: 1_000_000,
            max_local_rejects: 1_000_000,
            ..Config::default()
        },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let strategy = programs(Kinds { exchange: true, barriers: true, halts })
        .prop_filter("no barrier", |(bodies, _)| bodies.iter().any(|b| barriers(b) > 0));
    let count_cell = std::cell::RefCell::new(&mut count);
    let result = runner.run(&strategy, |(bodies, workgroup)| {
        let (program, launch) = lower(&bodies, workgroup);
        let machine = CheckOptions { wave_width: 8, ..CheckOptions::default() };
        let mut count = count_cell.borrow_mut();
        examine(&program, &launch, &machine.clone().for_launch(&launch), &mut count)?;
        // Without the launch the analysis knows less but must still miss nothing.
        examine(&program, &launch, &machine, &mut Count::default())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
    count
}

#[test]
fn no_barrier_faults_without_a_message() {
    let count = examine_many(cases(800), false);
    println!("{count:?}");
    assert!(count.faults > 100 && count.certain > 40 && count.named > 40 && count.silent > 500, "{count:?}");
}

#[test]
fn no_barrier_faults_without_a_message_where_lanes_end_early() {
    let count = examine_many(cases(500), true);
    println!("{count:?}");
    assert!(count.faults > 60 && count.silent > 300, "{count:?}");
}
