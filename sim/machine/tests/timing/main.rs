//! A run settles much of an instruction's path in advance, skips idle cycles, and may distribute its cores over
//! threads. Runs that visit every cycle, and those with an observer that needs it, go stage by stage. These tests run
//! random machines with kernels of the suite and random programs in each of these ways. All statistics, the
//! memory and every fault must be the same, and so must stages that are told early.
//!
//! `WAVE_SIM_MACHINES` sets the number of machines and `WAVE_SIM_SEED` the first seed. A failure names both
//! for the failing machine.

mod damaged;
mod snapshots;
mod views;

use wave_testing::drawn;
use wave_testing::environment;

use drawn::Machine;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use wave_isa::program::{Launch, Program};
use wave_machine::config::Topology;
use wave_machine::core::probe::{Event, EventKind, Observer, Stage, Wants};
use wave_machine::gpu::{self, KernelReport, RunError, RunOptions};
use wave_study::launch::{self, Job, Size};
use wave_study::summary::statistics::values;
use wave_verify::generate::{Case, Options, grow};

/// Number of machines, and of programs and kernels on each.
const MACHINES: u64 = 14;
const PROGRAMS: u64 = 6;
const KERNELS: usize = 2;

/// Memory sizes that the suite needs.
const ROOM: &[&str] = &["device_memory_bytes=8388608", "core.local_memory_bytes=65536"];

/// What an observer wants to be told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Everything,
    /// Stages in their cycles.
    Stages,
    /// Stages as soon as they are known.
    StagesEarly,
}

/// Cycle, core, slot, place in the issue order of the wave.
type Reached = (u64, u32, usize, u64, Stage);

/// An observer that keeps only stages.
struct Watches {
    wanted: Wanted,
    stages: Vec<Reached>,
}

impl Observer for Watches {
    fn wants(&self) -> Wants {
        // The state would make every quantum one cycle.
        let all = Wants::OF_CORES.and(Wants::of(&[EventKind::Atomic, EventKind::Hop, EventKind::Release]));
        if self.wanted == Wanted::Everything { all } else { Wants::of(&[EventKind::Stage]) }
    }

    fn takes_stages_early(&self) -> bool {
        self.wanted == Wanted::StagesEarly
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::Stage(it) = event {
            self.stages.push((it.cycle, it.core, it.slot, it.sequence, it.stage));
        }
    }
}

/// A program and its launches.
struct Work {
    name: String,
    program: Program,
    launches: Vec<Launch>,
    memory: Vec<u8>,
}

/// Outcome of a run: a report or an error for each launch, device memory, and the cycle after it.
#[derive(PartialEq)]
struct Left {
    ended: Vec<Result<KernelReport, RunError>>,
    memory: Vec<u8>,
    now: u64,
}

/// A way to run a program.
struct Way {
    name: &'static str,
    watched: Option<Watches>,
    options: RunOptions,
}

fn ways(random: &mut Pcg32) -> Vec<Way> {
    let options = RunOptions { max_cycles: Some(3_000_000), ..RunOptions::UNBOUNDED };
    let every_cycle = RunOptions { every_cycle: true, ..options };
    let threads = random.random_range(2..=4);
    let watches = |wanted| Some(Watches { wanted, stages: Vec::new() });
    let wanted = [Wanted::Everything, Wanted::Stages, Wanted::StagesEarly][random.random_range(0..3)];
    // The stages that are told early are compared.
    let compared = if wanted == Wanted::StagesEarly { watches(Wanted::Stages) } else { None };
    vec![
        Way { name: "unwatched", watched: None, options },
        Way { name: "watched", watched: watches(wanted), options },
        Way { name: "every cycle", watched: compared, options: every_cycle },
        Way { name: "several threads", watched: None, options: RunOptions { threads, ..options } },
    ]
}

fn run(machine: &Machine, work: &Work, way: &mut Way) -> Left {
    let mut gpu = gpu::Machine::new(machine.config.clone(), work.program.clone(), work.memory.clone());
    let mut ended = Vec::new();
    for launch in &work.launches {
        let observer = way.watched.as_mut().map(|watches| watches as &mut dyn Observer);
        let end = gpu.run(launch, &way.options, observer, &mut |_| {});
        let failed = end.is_err();
        ended.push(end);
        if failed {
            break;
        }
    }
    Left { ended, now: gpu.now(), memory: gpu.into_memory() }
}

/// The first difference between two runs.
fn difference(one: &Left, other: &Left) -> Option<String> {
    for (launch, pair) in one.ended.iter().zip(&other.ended).enumerate() {
        match pair {
            (a, b) if a == b => {}
            (Ok(a), Ok(b)) => {
                let moved = values(a).into_iter().zip(values(b)).filter(|((_, a), (_, b))| a != b);
                let moved: Vec<_> = moved.map(|((d, a), (_, b))| format!("{} {a} and {b}", d.name)).collect();
                return Some(format!(
                    "launch {launch}: {}",
                    if moved.is_empty() { "links".into() } else { moved.join(", ") }
                ));
            }
            (a, b) => return Some(format!("launch {launch} ends otherwise: {a:?}\nand {b:?}")),
        }
    }
    let at = one.memory.iter().zip(&other.memory).position(|(a, b)| a != b);
    match at {
        Some(at) => Some(format!("memory at 0x{at:x}")),
        None => {
            (one != other).then(|| format!("the next launch would start in {} and {}", one.now, other.now))
        }
    }
}

/// The stages that an observer has been told, in order. In the cycle of a fault not every stage has had its turn.
fn stages(watches: &Watches, left: &Left) -> Vec<Reached> {
    let fault = left.ended.iter().find_map(|end| end.as_ref().err()).and_then(|error| match error {
        RunError::Fault(fault) => fault.cycle,
        _ => None,
    });
    let mut stages = watches.stages.clone();
    stages.retain(|&(cycle, ..)| fault.is_none_or(|fault| cycle < fault));
    stages.sort_unstable();
    stages
}

/// The machine of a seed.
fn machine(random: &mut Pcg32) -> Machine {
    let bases = ["tiny", "tiny", "rtl", "gpu"];
    loop {
        let base = bases[random.random_range(0..bases.len())];
        if let Some(machine) = drawn::machine(random, base, ROOM, &[drawn::memory, drawn::core]) {
            return machine;
        }
    }
}

fn of_suite(name: &'static str) -> Job {
    launch::load(name, Size::Small).unwrap_or_else(|errors| panic!("{name}: {}", errors[0]))
}

/// Kernels of the suite that this machine can run, and random programs.
fn works(machine: &Machine, random: &mut Pcg32) -> Vec<Work> {
    let config = &machine.config;
    let mut works = Vec::new();
    let suite: Vec<&'static str> = launch::suite().collect();
    while works.len() < KERNELS {
        let job = of_suite(suite[random.random_range(0..suite.len())]);
        let can = config.capabilities;
        if (job.requires.f64 && !can.f64) || (job.requires.mma && !can.mma) {
            continue;
        }
        let mut memory = job.memory;
        memory.resize(config.device_memory_bytes as usize, 0);
        works.push(Work { name: job.name, program: job.program, launches: job.steps, memory });
    }
    for _ in 0..PROGRAMS {
        let seed = random.random();
        let fault = random.random_ratio(1, 5);
        let options = Options { fault, pairs: random.random(), ..Options::of(config) };
        let Case { program, launch, memory } = grow(seed, &options).case();
        let name = format!("the random program of seed {seed} (fault: {fault})");
        works.push(Work { name, program, launches: vec![launch], memory });
    }
    works
}

#[derive(Debug, Default)]
struct Totals {
    machines: u64,
    /// Kernels and programs, each run in all ways.
    programs: u64,
    /// Those that fault.
    faults: u64,
    /// Those that do not fit the machine.
    refused: u64,
    /// Sums over the unobserved runs.
    cycles: u64,
    instructions: u64,
    /// Stages that were told early and compared.
    stages: u64,
}

impl Totals {
    fn add(&mut self, left: &Left) {
        self.programs += 1;
        for end in &left.ended {
            match end {
                Ok(report) => {
                    self.cycles += report.cycles + report.release_cycles;
                    self.instructions += report.core.wave_instructions;
                }
                Err(RunError::Fault(_)) => self.faults += 1,
                Err(RunError::Launch(_)) => self.refused += 1,
                Err(other) => panic!("it did not end: {other:?}"),
            }
        }
    }
}

/// Runs everything for one seed.
fn check(seed: u64, totals: &mut Totals) -> Result<(), String> {
    let mut random = Pcg32::seed_from_u64(seed);
    let machine = machine(&mut random);
    totals.machines += 1;
    for work in works(&machine, &mut random) {
        let mut ways = ways(&mut random);
        let expected = run(&machine, &work, &mut ways[0]);
        totals.add(&expected);
        for way in &mut ways[1..] {
            let found = run(&machine, &work, way);
            if let Some(difference) = difference(&expected, &found) {
                let (name, machine) = (&work.name, machine.arguments());
                return Err(format!("{name}, unwatched and {}: {difference}\n{machine}", way.name));
            }
        }
        if let [_, Way { watched: Some(early), .. }, Way { watched: Some(in_time), .. }, ..] = &ways[..] {
            let (early, in_time) = (stages(early, &expected), stages(in_time, &expected));
            totals.stages += in_time.len() as u64;
            if let Some((early, in_time)) =
                early.iter().zip(&in_time).find(|(early, in_time)| early != in_time)
            {
                return Err(format!(
                    "{}: stages {early:?} and {in_time:?}\n{}",
                    work.name,
                    machine.arguments()
                ));
            }
            if early.len() != in_time.len() {
                return Err(format!("{}: {} and {} stages", work.name, early.len(), in_time.len()));
            }
        }
    }
    Ok(())
}

#[test]
fn every_way_to_run_takes_the_same_time() {
    let first = environment::number("WAVE_SIM_SEED", 0);
    let mut totals = Totals::default();
    for seed in first..first + environment::count("WAVE_SIM_MACHINES", MACHINES) {
        if let Err(why) = check(seed, &mut totals) {
            panic!(
                "seed {seed}: {why}\n\
                 again: WAVE_SIM_SEED={seed} WAVE_SIM_MACHINES=1 cargo test --test timing"
            );
        }
    }
    println!("{totals:?}");
    // Most programs run, some fault, and none is short.
    assert!(totals.refused * 4 < totals.programs, "{totals:?}");
    assert!(
        totals.instructions > 500 * totals.machines && totals.cycles > 10_000 * totals.machines,
        "{totals:?}"
    );
    assert!(totals.stages > 500 * totals.machines || totals.machines < 10, "{totals:?}");
    assert!(totals.faults > 0 || totals.machines < 10, "{totals:?}");
}

/// The comparison detects a change of every part of an outcome.
#[test]
fn a_difference_is_seen() {
    let mut random = Pcg32::seed_from_u64(0);
    // A crossbar has no links that could differ.
    let machine = std::iter::repeat_with(|| machine(&mut random))
        .find(|machine| machine.config.interconnect.topology != Topology::Crossbar)
        .unwrap();
    let work = works(&machine, &mut random).swap_remove(0);
    let mut run = || run(&machine, &work, &mut ways(&mut random)[0]);
    let left = run();
    assert_eq!(difference(&left, &run()), None);
    type Change = fn(&mut Left);
    let changes: [(&str, Change); 5] = [
        ("kernel.cycles", |left| left.ended[0].as_mut().unwrap().cycles += 1),
        ("core.", |left| left.ended[0].as_mut().unwrap().core.wave_instructions += 1),
        ("links", |left| left.ended[0].as_mut().unwrap().links[0].packets += 1),
        ("memory at 0x7", |left| left.memory[7] ^= 1),
        ("next launch", |left| left.now += 1),
    ];
    for (name, change) in changes {
        let mut other = run();
        change(&mut other);
        assert!(difference(&left, &other).is_some_and(|said| said.contains(name)), "{name}");
    }
}
