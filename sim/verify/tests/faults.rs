//! Programs of random words with one wave: the fault, or what the program leaves behind, is the same with timing on any
//! machine, without timing, and on the reference interpreter.
//!
//! `WAVE_SIM_PROGRAMS` multiplies the number of programs; `WAVE_SIM_SEED` sets the first seed. A failure names the seed
//! and prints the program, in which all that can be left out is a `nop`.

use wave_testing::environment;

use environment::{count, number};
use std::collections::BTreeMap;
use wave_isa::program::{Fault, FaultKind, Launch, Program, disassemble};
use wave_isa::{Inst, Op};
use wave_machine::config::{self, Config, DivergenceMode, IssuePolicy, WritePolicy};
use wave_machine::core::probe::{Event, EventKind, Observer, Wants};
use wave_machine::functional::Limits;
use wave_machine::gpu::{Machine as Gpu, RunError, RunOptions};
use wave_verify::compare::{Difference, Early, compare_within, execute, simulate};
use wave_verify::generate::{Case, words};
use wave_verify::reference::{Machine, Options};

/// Programs on each machine.
const PROGRAMS: u64 = 120;
/// Wave instructions and cycles after which a program counts as endless.
const INSTRUCTIONS: u64 = 2000;
const CYCLES: u64 = 400_000;

/// A machine on which faults of every kind are likely.
fn machine(name: &str, change: impl Fn(&mut Config)) -> Config {
    let mut config = config::load(name).expect("a preset");
    (config.core.divergence_depth, config.core.call_depth) = (3, 2);
    change(&mut config);
    config
}

/// Machines of one to a few cores, whose accesses and shadows take short or long.
fn machines() -> [(&'static str, Config); 6] {
    let slow = |config: &mut Config| {
        config.core.local.latency_cycles = 31;
        config.core.local.banks = 1;
        config.interconnect.latency_cycles = 50;
        config.core.lsu.queue_entries = 1;
        config.core.divergence = DivergenceMode::Jump;
    };
    let quick = |config: &mut Config| {
        config.core.branch_latency_cycles = 1;
        config.core.registers.collectors = 1;
        config.core.l1.write_policy = WritePolicy::WriteBack;
    };
    let many = |config: &mut Config| {
        config.core.schedulers = 2;
        config.core.issue.width = 2;
        config.core.issue.policy = IssuePolicy::TwoLevel;
        config.core.branch_latency_cycles = 7;
    };
    [
        ("tiny", machine("tiny", |_| {})),
        ("tiny, slow", machine("tiny", slow)),
        ("tiny, quick", machine("tiny", quick)),
        ("tiny, many", machine("tiny", many)),
        ("rtl", machine("rtl", |_| {})),
        ("gpu", machine("gpu", |_| {})),
    ]
}

/// Counts the faults that wait for accesses of their wave (rule I8).
#[derive(Default)]
struct Waiting(u64);

impl Observer for Waiting {
    fn wants(&self) -> Wants {
        Wants::of(&[EventKind::Going])
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::Going(going) = event {
            self.0 += u64::from(going.next.is_none() && !going.done);
        }
    }
}

/// Compares a program with timing, observed and not, and without timing, with the reference interpreter. Returns its
/// fault, and whether that had to wait for an access; `Err(None)` if it runs for ever.
fn check(
    config: &Config,
    case: &Case,
    every_cycle: bool,
) -> Result<(Option<Box<Fault>>, bool), Option<Difference>> {
    let (limits, machine) =
        (Options { max_instructions: INSTRUCTIONS, ..Options::default() }, Machine::of(config));
    let options = RunOptions { max_cycles: Some(CYCLES), every_cycle, ..RunOptions::UNBOUNDED };
    let mut waiting = Waiting::default();
    let against = |run: &mut Executor| {
        compare_within(&limits, &case.program, &case.launch, &machine, &case.memory, run)
            .map_err(|difference| (!matches!(difference, Difference::NoReference(_))).then_some(difference))
    };
    let fault = against(&mut |program, launch, memory| simulate(config, &options, program, launch, memory))?;
    against(&mut |program, launch, memory| execute(config, &Limits::default(), program, launch, memory))?;
    against(&mut |program, launch, memory| {
        let mut gpu = Gpu::new(config.clone(), program.clone(), std::mem::take(memory));
        match gpu.run(launch, &options, Some(&mut waiting), &mut |_| {}) {
            Ok(report) => {
                *memory = gpu.into_memory();
                Ok(report.core.wave_instructions)
            }
            Err(RunError::Fault(fault)) => Err(Early::Fault(fault)),
            Err(other) => Err(Early::Other(format!("{other:?}"))),
        }
    })?;
    Ok((fault, waiting.0 > 0))
}

/// A program that fails, with a `nop` for each word that can be left out.
fn smallest(case: &Case, fails: impl Fn(&Case) -> bool) -> Case {
    let nop = Inst::new(Op::Nop).encode()[0];
    let mut small = case.clone();
    for word in 0..small.program.code.len() {
        let before = std::mem::replace(&mut small.program.code[word], nop);
        if !fails(&small) {
            small.program.code[word] = before;
        }
    }
    small
}

/// What a fault is called in the counts.
fn kind(fault: &Fault) -> &'static str {
    match fault.kind {
        FaultKind::IllegalInstruction(_) => "illegal",
        FaultKind::OutOfBounds { .. } => "bounds",
        FaultKind::MisalignedAtomic { .. } => "misaligned",
        FaultKind::DivergenceUnderflow => "underflow",
        FaultKind::DivergenceOverflow { .. } => "overflow",
        FaultKind::CallOverflow { .. } => "call",
        FaultKind::ReturnDepth => "return",
        FaultKind::BarrierInDivergence => "barrier",
    }
}

/// Runs a launch of a program on a memory: instructions, or why it ended early.
type Executor<'a> = dyn FnMut(&Program, &Launch, &mut Vec<u8>) -> Result<u64, Early> + 'a;

#[test]
fn the_fault_of_random_words_is_the_same_on_every_machine() {
    let (mut met, mut waited, mut ended, mut endless) = (BTreeMap::new(), BTreeMap::new(), 0, 0);
    let first = number("WAVE_SIM_SEED", 0);
    for (place, (name, config)) in (0..).zip(machines()) {
        for seed in first..first + PROGRAMS * count("WAVE_SIM_PROGRAMS", 1) {
            let case = words(seed * 16 + place, config.core.wave_width);
            match check(&config, &case, seed % 4 == 3) {
                Ok((Some(fault), has_waited)) => {
                    *met.entry(kind(&fault)).or_insert(0) += 1;
                    *waited.entry(kind(&fault)).or_insert(0) += u64::from(has_waited);
                }
                Ok((None, _)) => ended += 1,
                Err(None) => endless += 1,
                Err(Some(difference)) => {
                    let small = smallest(&case, |case| matches!(check(&config, case, false), Err(Some(_))));
                    let again = check(&config, &small, false);
                    panic!("{name}, seed {seed}: {difference}\n{}{again:?}", disassemble(&small.program));
                }
            }
        }
    }
    println!(
        "faults {met:?}, that had to wait, or came first, {waited:?}; {ended} without, {endless} endless"
    );
    assert_eq!(met.len(), 8, "a kind of fault is not among {met:?}");
    // An access faults while the fault of a younger instruction waits for it; and faults at issue wait.
    for kind in ["bounds", "misaligned", "illegal", "underflow"] {
        assert!(waited[kind] > 0, "no fault waits with {kind}: {waited:?}");
    }
    assert!(ended > 0, "every program faults");
}

/// Of several waves, which race, the first in time faults: the same one with idle cycles skipped or visited, and on any
/// number of threads.
#[test]
fn the_first_fault_in_time_does_not_depend_on_how_it_is_simulated() {
    let config = machine("gpu", |_| {});
    let (mut faults, mut waves) = (0, BTreeMap::new());
    for seed in 0..60 {
        let mut case = words(seed, config.core.wave_width);
        (case.launch.grid, case.launch.workgroup) = ([5, 1, 1], [2 * config.core.wave_width, 1, 1]);
        let run = |every_cycle, threads| {
            let options =
                RunOptions { max_cycles: Some(20_000), every_cycle, threads, ..RunOptions::UNBOUNDED };
            simulate(&config, &options, &case.program, &case.launch, &mut case.memory.clone())
        };
        let alone = run(false, 1);
        if let Err(Early::Fault(fault)) = &alone {
            faults += 1;
            *waves.entry((fault.workgroup, fault.wave)).or_insert(0) += 1;
        }
        assert_eq!(run(true, 1), alone, "seed {seed}, every cycle");
        assert_eq!(run(false, 2), alone, "seed {seed}, two threads");
    }
    println!("{faults} faults, {waves:?}");
    assert!(faults > 20 && waves.len() > 1, "{faults} faults, {waves:?}");
}
