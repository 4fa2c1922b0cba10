//! A state that is damaged, and of which no check sum tells, is refused or runs: no panic, no endless loop, no allocation
//! without bound.
//!
//! Random machines are stopped in random cycles. Their states are put back with a changed bit, byte or number in many
//! places, most of them outside of the large arrays, and run on for some cycles. How they go on does not matter.
//! `WAVE_SIM_DAMAGES` sets how many states are damaged, `WAVE_SIM_SEED` the first seed.

use super::{Machine, machine, of_suite};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wave_capture::{Capture, Reader, Writer};
use wave_isa::guard::guarded;
use wave_isa::program::Program;
use wave_machine::gpu::{self, RunError, RunOptions, Snapshot, Stop};
use wave_testing::environment;
use wave_verify::generate::{Options, grow};

/// Damaged states, and how many of them there are of one machine in one cycle.
const DAMAGES: u64 = 600;
const OF_A_STATE: u64 = 75;
/// Cycles that a state runs on.
const CYCLES: u64 = 3000;
/// Places between which the fields of a state are told from one another.
const PLACES: usize = 160;
/// A run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);
/// Kernels that between them use every block of a machine.
const KERNELS: &[&str] = &["histogram", "transpose_padded", "reduction", "bfs", "sgemm", "scan"];

/// What became of the damaged states.
#[derive(Debug, Default)]
struct Became {
    refused: u64,
    ran: u64,
    /// A run met what the checks had not found: the place of the damage, and the message.
    stopped: BTreeMap<String, u64>,
}

/// A state of a machine, as bytes.
struct State {
    bytes: Vec<u8>,
    /// Where the blocks begin in it.
    start: usize,
    /// Where the bytes of device memory begin and end.
    memory: usize,
}

impl State {
    fn of(gpu: &gpu::Machine, memory: usize) -> State {
        let snapshot = gpu.snapshot();
        let mut to = Writer::default();
        snapshot.save(&mut to);
        let bytes = to.into_bytes();
        State { start: bytes.len() - snapshot.bytes(), bytes, memory }
    }

    /// Puts it back, as far as `length` bytes of the blocks go.
    fn restore(&self, gpu: &mut gpu::Machine, length: usize) -> Result<(), wave_capture::Misfit> {
        let mut bytes = self.bytes[..self.start + length].to_vec();
        bytes[self.start - 8..self.start].copy_from_slice(&(length as u64).to_le_bytes());
        put_back(gpu, &bytes)
    }

    /// Places of which the field differs from that of the next: parts of the state with small fields.
    fn lively(&self, gpu: &mut gpu::Machine) -> Vec<(usize, usize)> {
        let after = self.bytes.len() - self.start;
        let first = self.memory.min(after);
        let places: Vec<usize> = (0..=PLACES).map(|n| first + (after - first) * n / PLACES).collect();
        let field = |at: usize, gpu: &mut gpu::Machine| self.restore(gpu, at).err().map(|misfit| misfit.path);
        let fields: Vec<_> = places.iter().map(|&at| field(at, gpu)).collect();
        let pairs = places.windows(2).zip(fields.windows(2));
        pairs.filter(|(_, fields)| fields[0] != fields[1]).map(|(places, _)| (places[0], places[1])).collect()
    }
}

fn put_back(gpu: &mut gpu::Machine, bytes: &[u8]) -> Result<(), wave_capture::Misfit> {
    let mut snapshot = Snapshot::blank().expect("a snapshot has no specification");
    snapshot.restore(&mut Reader::new(bytes))?;
    gpu.restore_with(&snapshot, &RunOptions::UNBOUNDED)
}

/// Changes something at a place. Returns what it did.
fn damage(bytes: &mut [u8], at: usize, random: &mut Pcg32) -> String {
    match random.random_range(0..6) {
        0..3 => {
            let bit = random.random_range(0..8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at}")
        }
        3 => {
            bytes[at] = bytes[at].wrapping_add(random.random_range(1..=255));
            format!("byte {at}")
        }
        kind => {
            let number = if kind == 4 { 1u64 << 60 } else { u64::MAX };
            let end = bytes.len().min(at + 8);
            bytes[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
            format!("{number:#x} at byte {at}")
        }
    }
}

/// A program, launched on a machine and stopped in a random cycle; `None` if it ends before, or cannot run.
fn stopped(machine: &Machine, random: &mut Pcg32) -> Option<(gpu::Machine, Program, usize, String)> {
    let (name, program, launch, memory) = if random.random() {
        let job = of_suite(KERNELS[random.random_range(0..KERNELS.len())]);
        (job.name, job.program, job.steps.into_iter().next()?, job.memory)
    } else {
        let seed = random.random();
        let case = grow(seed, &Options::of(&machine.config)).case();
        (format!("random program {seed}"), case.program, case.launch, case.memory)
    };
    let bytes = memory.len();
    let mut gpu = gpu::Machine::new(machine.config.clone(), program.clone(), memory);
    gpu.begin(&launch, &RunOptions::UNBOUNDED).ok()?;
    let cycle = random.random_range(20..4000);
    matches!(gpu.advance(cycle, None), Ok(Stop::Cycle)).then_some((
        gpu,
        program,
        bytes,
        format!("{name} in cycle {cycle}"),
    ))
}

fn check(seed: u64, damages: u64, began: &AtomicU64, became: &mut Became) {
    let mut random = Pcg32::seed_from_u64(seed);
    let machine = machine(&mut random);
    let Some((gpu, program, memory, what)) = (0..20).find_map(|_| stopped(&machine, &mut random)) else {
        return;
    };
    let state = State::of(&gpu, memory);
    let fresh = || gpu::Machine::new(machine.config.clone(), program.clone(), vec![0; memory]);
    let mut other = fresh();
    if let Err(misfit) = put_back(&mut other, &state.bytes) {
        panic!(
            "seed {seed}, {what}: a state that is not damaged is refused: {misfit}\n{}",
            machine.arguments()
        );
    }
    let lively = state.lively(&mut other);
    for number in 0..damages {
        let at = match lively.len() {
            0 => state.start + random.random_range(0..state.bytes.len() - state.start),
            _ if number % 8 == 0 => random.random_range(0..state.bytes.len()),
            parts => {
                let (from, to) = lively[random.random_range(0..parts)];
                state.start + random.random_range(from..to)
            }
        };
        let mut bytes = state.bytes.clone();
        let done = damage(&mut bytes, at, &mut random);
        began.fetch_add(1, Ordering::Relaxed);
        let tried = guarded(std::panic::AssertUnwindSafe(|| {
            let mut other = fresh();
            put_back(&mut other, &bytes).ok()?;
            Some(other.advance(other.now() + CYCLES, None))
        }));
        let place = || {
            let path = state.restore(&mut fresh(), at.saturating_sub(state.start)).err();
            path.map_or_else(String::new, |misfit| misfit.path)
        };
        match tried {
            Err(panic) => {
                panic!("seed {seed}, {what}, {done}, of `{}`: {panic}\n{}", place(), machine.arguments())
            }
            Ok(None) => became.refused += 1,
            Ok(Some(Err(RunError::Launch(error)))) => {
                let place = place()
                    .split('.')
                    .filter(|part| part.parse::<u64>().is_err())
                    .collect::<Vec<_>>()
                    .join(".");
                *became
                    .stopped
                    .entry(format!("{place}: {}", error.message.split('(').skip(1).collect::<String>()))
                    .or_default() += 1;
            }
            Ok(Some(_)) => became.ran += 1,
        }
    }
}

#[test]
fn a_damaged_state_is_refused_or_runs() {
    let damages = environment::count("WAVE_SIM_DAMAGES", DAMAGES);
    let first = environment::number("WAVE_SIM_SEED", 1);
    let began = AtomicU64::new(0);
    let is_over = AtomicU64::new(0);
    let mut became = Became::default();
    std::thread::scope(|scope| {
        // A run that hangs cannot be stopped, so the process ends.
        scope.spawn(|| {
            let mut last = (0, std::time::Instant::now());
            while is_over.load(Ordering::Relaxed) == 0 {
                std::thread::sleep(Duration::from_millis(100));
                let now = began.load(Ordering::Relaxed);
                if now != last.0 {
                    last = (now, std::time::Instant::now());
                } else if last.1.elapsed() > PATIENCE {
                    eprintln!("damaged state {now} from seed {first} on hangs");
                    std::process::abort();
                }
            }
        });
        let checked = guarded(std::panic::AssertUnwindSafe(|| {
            for (seed, done) in (first..).zip((0..damages).step_by(OF_A_STATE as usize)) {
                check(seed, OF_A_STATE.min(damages - done), &began, &mut became);
            }
        }));
        is_over.store(1, Ordering::Relaxed);
        if let Err(message) = checked {
            panic!("{message}");
        }
    });
    let stopped: u64 = became.stopped.values().sum();
    println!("{} refused, {} ran, {stopped} stopped", became.refused, became.ran);
    became.stopped.iter().for_each(|(place, times)| println!("{times:6} {place}"));
    let all = became.refused + became.ran + stopped;
    assert!(became.refused > all / 10 && became.ran > all / 10, "{became:?}");
    // What a check does not find ends the run in words; there is little of it.
    assert!(stopped <= all / 50, "{stopped} of {all} damaged states were found in the run only");
}
