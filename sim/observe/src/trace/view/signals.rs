//! The signal tree of waveforms: occupancy of each core's stages, activity of each wave slot, and contents of
//! load/store units, caches, networks and memory channels.

use super::timeline::Timeline;
use super::waves::Waveform;
use crate::trace::Sink;
use crate::trace::record::{How, Launched, MemoryKind, Record, Stage};
use std::io;
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::core::account;
use wave_machine::memory::state::{self, Signal};

/// Signals of a core: the number of instructions between two steps, by name. docs/traces.md defines each.
const OF_CORE: [&str; 6] = ["fetching", "buffered", "collecting", "in_units", "in_lsu", "retiring"];
/// Signals of a wave slot and their widths.
const OF_SLOT: [(&str, u32); 5] = [("issue", 1), ("pc", 32), ("mask", 64), ("stall", 4), ("in_flight", 16)];
const COUNT_BITS: u32 = 16;

/// A change of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Add(i32),
    Set(u64),
}

/// Writes the tree to a waveform file.
pub struct Signals<F> {
    file: F,
    cores: usize,
    slots: usize,
    /// Signals of the state of one core.
    of_state: usize,
    timeline: Timeline<(usize, Change)>,
    values: Vec<u64>,
    /// Values in the file.
    written: Vec<u64>,
    changed: Vec<usize>,
    begun: bool,
    /// The last cycle written.
    last: Cycle,
}

/// The tree of a machine: cores, then networks, L2 and memory channels.
pub fn tree(config: &Config) -> Vec<Signal> {
    let signal = |path: &[&str], bits| Signal { path: path.iter().map(|&p| p.to_owned()).collect(), bits };
    let mut signals = Vec::new();
    for core in 0..config.cores {
        let core = format!("core{core}");
        signals.extend(OF_CORE.iter().map(|name| signal(&[&core, name], COUNT_BITS)));
        for slot in 0..config.core.max_waves {
            let slot = format!("slot{slot}");
            signals.extend(OF_SLOT.iter().map(|&(name, bits)| signal(&[&core, &slot, name], bits)));
        }
        signals.extend(account::signals(&core));
    }
    signals.extend(state::signals(config));
    signals
}

impl<F: Waveform> Signals<F> {
    /// Writes to a file that was opened with the [`tree`] of this machine.
    pub fn new(file: F, config: &Config) -> Signals<F> {
        let count = tree(config).len();
        Signals {
            file,
            cores: config.cores as usize,
            slots: config.core.max_waves as usize,
            of_state: account::signals("").len(),
            timeline: Timeline::default(),
            values: vec![0; count],
            written: vec![0; count],
            changed: Vec::new(),
            begun: false,
            last: 0,
        }
    }

    fn of_core(&self, core: u32, name: &str) -> usize {
        let place = OF_CORE.iter().position(|n| *n == name).expect("a signal of a core");
        core as usize * self.in_core() + place
    }

    /// Number of signals of a core.
    fn in_core(&self) -> usize {
        OF_CORE.len() + self.slots * OF_SLOT.len() + self.of_state
    }

    /// The signal of an index in the machine's state.
    fn of_state(&self, place: usize) -> usize {
        // Skips the signals that each core up to this one has in addition to its state.
        let own = self.in_core() - self.of_state;
        let cores = (place / self.of_state + 1).min(self.cores);
        place + cores * own
    }

    fn of_slot(&self, record: &Record, name: &str) -> usize {
        let place = OF_SLOT.iter().position(|(n, _)| *n == name).expect("a signal of a slot");
        self.of_core(record.core, OF_CORE[0]) + OF_CORE.len() + record.slot as usize * OF_SLOT.len() + place
    }

    /// Raises a signal by one from one cycle to another.
    fn count(&mut self, signal: usize, from: Cycle, to: Cycle) {
        if from != 0 && from < to {
            self.timeline.add(from, (signal, Change::Add(1)));
            self.timeline.add(to, (signal, Change::Add(-1)));
        }
    }

    fn flush_to(&mut self, before: Cycle) -> io::Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            self.file.time(0)?;
            for signal in 0..self.values.len() {
                self.file.change(signal, 0)?;
            }
        }
        let mut now = None;
        while let Some((cycle, (signal, change))) = self.timeline.next(before) {
            if now.is_some_and(|now| now != cycle) {
                self.write(now)?;
            }
            now = Some(cycle);
            let value = &mut self.values[signal];
            *value = match change {
                Change::Add(n) => value.wrapping_add_signed(n.into()),
                Change::Set(value) => value,
            };
            self.changed.push(signal);
        }
        self.write(now)
    }

    /// Writes the changes of a cycle.
    fn write(&mut self, cycle: Option<Cycle>) -> io::Result<()> {
        let mut timed = false;
        for signal in std::mem::take(&mut self.changed) {
            let value = self.values[signal];
            if self.written[signal] == value {
                continue;
            }
            if let (Some(cycle), false) = (cycle, timed) {
                self.file.time(cycle)?;
                self.last = cycle;
                timed = true;
            }
            self.file.change(signal, value)?;
            self.written[signal] = value;
        }
        Ok(())
    }
}

impl<F: Waveform + Send> Sink for Signals<F> {
    fn launch(&mut self, _: &Launched) -> io::Result<()> {
        Ok(())
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        let [fetch, decode, issue, _, execute, _] = record.stages.0;
        let after = if record.open { record.cycle + 1 } else { record.cycle };
        let or_now = |at: Cycle| if at == 0 { after } else { at };
        self.count(self.of_core(record.core, "fetching"), fetch, or_now(decode));
        self.count(self.of_core(record.core, "buffered"), decode, or_now(issue));
        if record.stage(Stage::Operands) != 0 {
            self.count(self.of_core(record.core, "collecting"), issue, or_now(execute));
        }
        let unit = if record.memory == MemoryKind::None { "in_units" } else { "in_lsu" };
        self.count(self.of_core(record.core, unit), execute, after);
        if !record.open {
            self.count(self.of_core(record.core, "retiring"), record.cycle, record.cycle + 1);
        }
        self.count(self.of_slot(record, "in_flight"), issue, after);
        self.count(self.of_slot(record, "issue"), issue, issue + 1);
        self.timeline.add(issue, (self.of_slot(record, "pc"), Change::Set(record.pc.into())));
        self.timeline.add(issue, (self.of_slot(record, "mask"), Change::Set(record.effective)));
        let stall = self.of_slot(record, "stall");
        for s in record.stalls.iter().filter(|s| s.to <= issue && s.from < s.to) {
            // A stall may begin in the cycle in which another ends. Adding and subtracting works in any
            // order.
            let code = i32::from(s.reason as u8);
            self.timeline.add(s.from, (stall, Change::Add(code)));
            self.timeline.add(s.to, (stall, Change::Add(-code)));
        }
        Ok(())
    }

    fn wants_state(&self) -> bool {
        true
    }

    fn state(&mut self, cycle: Cycle, signal: usize, value: u64) -> io::Result<()> {
        self.timeline.add(cycle, (self.of_state(signal), Change::Set(value)));
        Ok(())
    }

    fn is_in_order_of_time(&self) -> bool {
        true
    }

    fn advanced(&mut self, oldest: Cycle) -> io::Result<()> {
        self.flush_to(oldest)
    }

    fn end(&mut self, _: How, cycle: Cycle, _: &str) -> io::Result<()> {
        self.flush_to(Cycle::MAX)?;
        self.file.time((cycle + 2).max(self.last + 1))?;
        self.file.finish()
    }
}
