//! What is shown of a machine is what is so in that cycle, though the simulator computes some results ahead.
//!
//! A machine that skips idle cycles is stopped in random cycles. One that visits every cycle must show the same. The
//! registers and predicates of both are held against a log of what the pipeline says of each instruction when it
//! retires.

use super::{Work, machine, works};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use std::collections::HashMap;
use wave_machine::config::Config;
use wave_machine::core::probe::{Event, EventKind, Observer, Results, Stage, Wants};
use wave_machine::gpu::{Machine, RunOptions};
use wave_testing::environment;

/// Number of machines, and of stops of each program on them.
const MACHINES: u64 = 8;
const STOPS: usize = 8;

/// A wave slot of a core.
type Place = (u32, usize);

/// What a cycle changed in a wave slot.
enum Change {
    /// The first instruction of another wave issues.
    Begins,
    /// A register has this row from this cycle on.
    Register(u8, Vec<u32>),
    /// A register is written in this cycle or a later one, up to the next [`Change::Register`].
    Uncertain(u8),
    Predicate(usize, u64),
}

/// Changes with their cycles.
#[derive(Default)]
struct Log {
    changes: Vec<(u64, Place, Change)>,
    /// First row of the results of loads in flight.
    first_row: HashMap<(Place, u64), u64>,
    destinations: HashMap<(Place, u64), (u8, u8, Option<usize>)>,
    is_memory: HashMap<(Place, u64), bool>,
    width: usize,
}

impl Observer for Log {
    fn wants(&self) -> Wants {
        Wants::of(&[EventKind::Stage, EventKind::Issued, EventKind::Results])
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Issued(issued) => {
                let at = issued.event;
                let place = (at.core, at.slot);
                if at.sequence == 0 {
                    self.changes.push((at.cycle, place, Change::Begins));
                }
                let op = issued.op;
                let predicate =
                    (op.predicate_write != 0).then(|| op.predicate_write.trailing_zeros() as usize);
                let key = (place, at.sequence);
                self.destinations.insert(key, (op.rows.destination, op.rows.destination_rows, predicate));
                self.is_memory.insert(key, op.inst.op.memory().is_some());
            }
            Event::Stage(at) if at.stage == Stage::WriteBack => {
                self.first_row.insert(((at.core, at.slot), at.sequence), at.cycle);
            }
            Event::Results(results) => self.retires(results),
            _ => {}
        }
    }
}

impl Log {
    fn retires(&mut self, results: &Results<'_>) {
        let at = results.event;
        let place = (at.core, at.slot);
        let key = (place, at.sequence);
        let (first, rows, predicate) = self.destinations[&key];
        for (k, row) in results.registers.chunks_exact(self.width).enumerate() {
            let register = first + k as u8;
            let last = k + 1 == usize::from(rows);
            let written = match (self.is_memory[&key], self.first_row.get(&key)) {
                _ if last => at.cycle,
                (true, Some(&cycle)) if k == 0 => cycle,
                (true, Some(&cycle)) => {
                    self.changes.push((cycle, place, Change::Uncertain(register)));
                    at.cycle
                }
                _ => at.cycle + 1 - u64::from(rows) + k as u64,
            };
            self.changes.push((written, place, Change::Register(register, row.to_vec())));
        }
        if let Some(predicate) = predicate {
            self.changes.push((at.cycle, place, Change::Predicate(predicate, results.predicate)));
        }
    }
}

/// Holds the registers of all waves that have issued against the changes before this cycle. Returns how many.
fn check_registers(machine: &Machine, log: &Log, work: &Work, config: &Config) -> usize {
    let now = machine.now();
    let width = config.core.wave_width as usize;
    let mut checked = 0;
    for wave in machine.waves().into_iter().filter(|wave| wave.issued > 0) {
        let place = (wave.report.core, wave.report.slot);
        let registers = machine.registers(place.0, place.1);
        let mut rows: Vec<Option<Vec<u32>>> = Vec::new();
        let mut predicates = [0; 4];
        let mut changes: Vec<_> =
            log.changes.iter().filter(|(at, of, _)| *of == place && *at < now).collect();
        // Rows are logged when their instruction retires.
        changes.sort_by_key(|(at, ..)| *at);
        for (_, _, change) in changes {
            match change {
                Change::Begins => {
                    rows = vec![Some(vec![0; width]); registers.len() / width];
                    for &(register, value) in &work.launches[0].initial_registers {
                        rows[usize::from(register)] = Some(vec![value; width]);
                    }
                    predicates = [0; 4];
                }
                Change::Register(register, row) => rows[usize::from(*register)] = Some(row.clone()),
                Change::Uncertain(register) => rows[usize::from(*register)] = None,
                Change::Predicate(index, lanes) => predicates[*index] = *lanes,
            }
        }
        assert_eq!(
            machine.predicates(place.0, place.1),
            predicates,
            "predicates of {place:?} in cycle {now}"
        );
        for (register, (row, expected)) in registers.chunks_exact(width).zip(rows).enumerate() {
            if let Some(expected) = expected {
                assert_eq!(row, expected, "r{register} of {place:?} in cycle {now}");
                checked += 1;
            }
        }
    }
    checked
}

fn begun(config: &Config, work: &Work, options: &RunOptions) -> Option<Machine> {
    let mut machine = Machine::new(config.clone(), work.program.clone(), work.memory.clone());
    machine.begin(&work.launches[0], options).ok()?;
    Some(machine)
}

#[test]
fn what_is_shown_is_so_in_that_cycle() {
    let first = environment::number("WAVE_SIM_SEED", 0);
    let options = RunOptions { inspect: true, max_cycles: Some(20_000), ..RunOptions::UNBOUNDED };
    let mut checked = 0;
    for seed in first..first + environment::count("WAVE_SIM_MACHINES", MACHINES) {
        let mut random = Pcg32::seed_from_u64(seed);
        let drawn = machine(&mut random);
        let config = &drawn.config;
        for work in works(&drawn, &mut random) {
            let mut log = Log { width: config.core.wave_width as usize, ..Log::default() };
            let Some(mut logged) = begun(config, &work, &options) else { continue };
            _ = logged.advance(u64::MAX, Some(&mut log));
            let mut stops: Vec<u64> = (0..STOPS).map(|_| random.random_range(1..=logged.now())).collect();
            stops.sort_unstable();
            let (Some(mut quick), Some(mut slow)) = (
                begun(config, &work, &options),
                begun(config, &work, &RunOptions { every_cycle: true, ..options }),
            ) else {
                continue;
            };
            for stop in stops {
                let both = [quick.advance(stop, None), slow.advance(stop, None)];
                if !both.iter().all(|stop| stop.is_ok()) || !quick.is_running() {
                    break;
                }
                let told = format!("seed {seed}, {} in cycle {stop}\n{}", work.name, drawn.arguments());
                let waves = quick.waves();
                assert_eq!(waves, slow.waves(), "{told}");
                for wave in &waves {
                    let (core, slot) = (wave.report.core, wave.report.slot);
                    let of = |machine: &Machine| {
                        let fragments = machine.fragments(core, slot);
                        (machine.registers(core, slot), machine.predicates(core, slot), fragments)
                    };
                    assert!(of(&quick) == of(&slow), "registers of {core}:{slot}, {told}");
                    let local = quick.local_memory(core, slot) == slow.local_memory(core, slot);
                    assert!(local, "local memory of {core}:{slot}, {told}");
                }
                for core in 0..config.cores {
                    assert!(quick.l1_lines(core) == slow.l1_lines(core), "the L1 of core {core}, {told}");
                }
                for slice in 0..config.l2.slices as usize {
                    assert!(quick.l2_lines(slice) == slow.l2_lines(slice), "slice {slice}, {told}");
                }
                let differ = quick.queues().into_iter().zip(slow.queues()).position(|(a, b)| a != b);
                let name = differ.map(|place| quick.queue_names()[place].path.join("."));
                assert_eq!(name, None, "{told}");
                checked += check_registers(&quick, &log, &work, config);
            }
        }
    }
    println!("{checked} registers");
    assert!(checked > 10_000, "only {checked} registers were looked at");
}
