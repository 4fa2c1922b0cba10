//! Profile of a run by instruction: issue slots, causes of waiting, and the outcome of memory accesses.
//!
//! Every issue slot of a run is charged to one use, as in the statistics. It is also charged to one
//! instruction, or to none if no wave is responsible. The columns of the profile therefore add up to the
//! statistics.

use crate::figures::ratio;
use std::collections::BTreeMap;
use wave_isa::ExecClass;
use wave_isa::program::{Kernel, Launch, Program};
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::core::probe::{
    Charge, Going, Issued, LineAccess, LocalAccess, Results, Stage, StageEvent, Waits,
};
use wave_machine::core::slot::Slot;
use wave_machine::core::uop::{Kind, MicroOps, RegisterSet};
use wave_machine::core::wait::Wait;
use wave_machine::memory::L1Counters;
use wave_machine::stats::SlotUse;

/// Issue slots by use.
pub type Slots = [u64; SlotUse::COUNT];

/// Counts of the instruction at one word of a kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// Execution class; none if it never issued.
    pub class: Option<ExecClass>,
    /// Issue slots charged to it.
    pub slots: Slots,
    /// Participating lanes, summed over all issues.
    pub lanes: u64,
    /// Retired instances that passed through a collector.
    pub results: u64,
    /// Cycles from issue to retirement, summed over them.
    pub latency: u64,
    /// Longest of these latencies.
    pub longest: u64,
    /// Instances that returned registers or fragments.
    pub returns: u64,
    /// Cycles from execution to retirement, summed over them.
    pub service: u64,
    /// Cycles that it waited in its collector for its execution unit.
    pub(crate) unit_waits: u64,
    /// Cycles that it waited in its collector for a write port.
    pub(crate) port_waits: u64,
    /// Cycles from issue to the last operand row, summed. 1 per instance without bank conflicts.
    pub operand_cycles: u64,
    /// Instances that read their operands.
    pub operand_reads: u64,
    /// L1 counters of its accesses.
    pub l1: L1Counters,
    /// Local memory accesses.
    pub local_accesses: u64,
    /// Passes over the banks of local memory.
    pub local_passes: u64,
}

impl Line {
    /// Number of issues with at least one active lane.
    pub fn issues(&self) -> u64 {
        self.slots[SlotUse::Issued as usize]
    }

    /// Issue slots lost because of it.
    pub fn lost(&self) -> u64 {
        let used = self.issues() + self.slots[SlotUse::Squashed as usize];
        self.slots.iter().sum::<u64>() - used
    }

    /// Fraction of its collector waits (unit or write port) that were for the port.
    pub(crate) fn port_share(&self) -> f64 {
        ratio(self.port_waits, self.unit_waits + self.port_waits)
    }

    /// Ends a wait in its collector at `cycle`.
    fn waited(&mut self, wait: Option<(Wait, Cycle)>, cycle: Cycle) {
        let Some((why, from)) = wait else { return };
        match why {
            Wait::Unit => self.unit_waits += cycle - from,
            Wait::WritePort => self.port_waits += cycle - from,
            _ => {}
        }
    }

    /// Line accesses that the L1s accepted.
    pub fn line_accesses(&self) -> u64 {
        self.l1.loads + self.l1.stores + self.l1.atomics + self.l1.remote_atomics
    }
}

/// Profile of one kernel over all its launches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// Launches.
    pub launches: u64,
    /// By word of the kernel. The last entry is the end of the code.
    pub lines: Vec<Line>,
    /// Issue slots that no instruction is responsible for.
    pub nobody: Slots,
    /// Issue slots lost while one instruction waited for the result of another, by the words of consumer and
    /// producer.
    pub waits: BTreeMap<(u32, u32), u64>,
}

/// An instruction in flight whose result others may need.
#[derive(Debug, Clone)]
struct Flight {
    sequence: u64,
    word: u32,
    issue: Cycle,
    executed: Cycle,
    /// Current reason for waiting in the collector, and since when.
    waits: Option<(Wait, Cycle)>,
    memory: bool,
    returns: bool,
    writes: RegisterSet,
    predicates: u8,
    fragments: u32,
}

/// State of the wave in a slot.
#[derive(Debug, Clone, Default)]
struct Wave {
    /// Word of its next instruction.
    next: u32,
    flights: Vec<Flight>,
}

/// What a scheduler's slots are charged to until the next charge.
#[derive(Debug, Clone, Copy)]
struct Idle {
    until: Cycle,
    slot_use: SlotUse,
    word: Option<u32>,
    waits_for: Option<u32>,
}

/// Builds the profiles of a run from its events.
#[derive(Debug)]
pub struct Profiler {
    profiles: Vec<Profile>,
    kernel: usize,
    ops: Option<MicroOps>,
    issue_width: u64,
    waves_per_core: usize,
    schedulers: usize,
    waves: Vec<Wave>,
    idle: Vec<Idle>,
    /// Issue slots of each core by use.
    cores: Vec<Slots>,
}

impl Profile {
    fn of(kernel: &Kernel) -> Profile {
        Profile { lines: vec![Line::default(); kernel.code.len() + 1], ..Profile::default() }
    }
}

impl Profiler {
    /// A profiler for all kernels of a program.
    pub fn new(config: &Config, program: &Program) -> Profiler {
        let core = &config.core;
        Profiler {
            profiles: program.kernels.iter().map(Profile::of).collect(),
            kernel: 0,
            ops: None,
            issue_width: core.issue.width.into(),
            waves_per_core: core.max_waves as usize,
            schedulers: core.schedulers as usize,
            waves: Vec::new(),
            idle: Vec::new(),
            cores: vec![[0; SlotUse::COUNT]; config.cores as usize],
        }
    }

    /// Kernels are added to the program.
    pub fn extend(&mut self, program: &Program) {
        self.profiles.extend(program.kernels.iter().skip(self.profiles.len()).map(Profile::of));
    }

    /// Called when a launch begins in cycle `start`.
    pub fn start(&mut self, config: &Config, program: &Program, launch: &Launch, start: Cycle) {
        self.kernel = launch.kernel;
        self.profiles[self.kernel].launches += 1;
        let kernel = &program.kernels[launch.kernel];
        self.ops = Some(MicroOps::decode(program, kernel, launch.registers, config));
        self.waves = vec![Wave::default(); self.cores.len() * self.waves_per_core];
        let idle = Idle { until: start, slot_use: SlotUse::Empty, word: None, waits_for: None };
        self.idle = vec![idle; self.cores.len() * self.schedulers];
    }

    /// Charges all cycles before `cycle`, which every core has reached.
    pub fn settle(&mut self, cycle: Cycle) {
        for place in 0..self.idle.len() {
            let Idle { until, slot_use, word, waits_for } = self.idle[place];
            if until < cycle {
                self.charge(place, slot_use, word, waits_for, (cycle - until) * self.issue_width);
                self.idle[place].until = cycle;
            }
        }
    }

    /// Resets the counts. Instructions in flight stay, and so do the classes of lines.
    pub fn restart(&mut self, in_launch: bool) {
        for profile in &mut self.profiles {
            profile.launches = 0;
            profile.nobody = [0; SlotUse::COUNT];
            profile.waits.clear();
            for line in &mut profile.lines {
                *line = Line { class: line.class, ..Line::default() };
            }
        }
        self.profiles[self.kernel].launches = u64::from(in_launch);
        self.cores.fill([0; SlotUse::COUNT]);
    }

    /// Called when the kernel ends. All later cycles belong to its release.
    pub fn releases(&mut self, end: Cycle) {
        self.charge_until(end);
        self.idle.fill(Idle { until: end, slot_use: SlotUse::Release, word: None, waits_for: None });
    }

    /// Charges the cycles until `end`, at which the launch ended or was aborted.
    pub fn finish(&mut self, end: Cycle) {
        self.charge_until(end);
        self.idle.clear();
    }

    /// Charges the cycles until `end`. Schedulers that already looked for work after `end` found none; their
    /// charges are undone.
    fn charge_until(&mut self, end: Cycle) {
        for place in 0..self.idle.len() {
            let Idle { until, slot_use, word, waits_for } = self.idle[place];
            if until > end {
                let over = (until - end) * self.issue_width;
                self.profiles[self.kernel].nobody[SlotUse::Empty as usize] -= over;
                self.cores[place / self.schedulers][SlotUse::Empty as usize] -= over;
            } else {
                self.charge(place, slot_use, word, waits_for, (end - until) * self.issue_width);
            }
        }
    }

    /// Issue slots by use, over all instructions and kernels.
    pub fn charged(&self) -> Slots {
        let mut sum = [0; SlotUse::COUNT];
        for profile in &self.profiles {
            for slots in profile.lines.iter().map(|line| &line.slots).chain([&profile.nobody]) {
                sum.iter_mut().zip(slots).for_each(|(sum, n)| *sum += n);
            }
        }
        sum
    }

    /// Profile of each kernel.
    pub fn profiles(&self) -> &[Profile] {
        &self.profiles
    }

    /// The issue slots of each core by use.
    pub fn cores(&self) -> &[Slots] {
        &self.cores
    }

    fn charge(
        &mut self,
        place: usize,
        slot_use: SlotUse,
        word: Option<u32>,
        waits_for: Option<u32>,
        slots: u64,
    ) {
        if slots == 0 {
            return;
        }
        self.cores[place / self.schedulers][slot_use as usize] += slots;
        let profile = &mut self.profiles[self.kernel];
        match word {
            Some(word) => profile.lines[word as usize].slots[slot_use as usize] += slots,
            None => profile.nobody[slot_use as usize] += slots,
        }
        if let (Some(word), Some(producer)) = (word, waits_for) {
            *profile.waits.entry((word, producer)).or_default() += slots;
        }
    }

    fn wave(&mut self, core: u32, slot: Slot) -> &mut Wave {
        &mut self.waves[core as usize * self.waves_per_core + slot]
    }

    fn line(&mut self, word: u32) -> &mut Line {
        &mut self.profiles[self.kernel].lines[word as usize]
    }

    /// Charges an issue slot, see [`Charge`].
    pub fn charges(&mut self, charge: &Charge) {
        let place = charge.core as usize * self.schedulers + charge.scheduler;
        let Idle { until, slot_use, word, waits_for } = self.idle[place];
        if until < charge.cycle {
            self.charge(place, slot_use, word, waits_for, (charge.cycle - until) * self.issue_width);
        }
        let slot_use = charge.slot_use;
        let word = charge.word.or_else(|| charge.slot.map(|slot| self.wave(charge.core, slot).next));
        let waits_for = match (slot_use, charge.slot, word) {
            (SlotUse::Scoreboard | SlotUse::Memory, Some(slot), Some(word)) => {
                self.producer(charge.core, slot, word, slot_use == SlotUse::Memory)
            }
            _ => None,
        };
        self.charge(place, slot_use, word, waits_for, 1);
        self.idle[place] = Idle { until: charge.cycle + 1, slot_use, word, waits_for };
    }

    /// The oldest instruction in flight that the one at `word` has to wait for.
    fn producer(&self, core: u32, slot: Slot, word: u32, memory: bool) -> Option<u32> {
        let op = self.ops.as_ref()?.get(word);
        let flights = &self.waves[core as usize * self.waves_per_core + slot].flights;
        let awaited = |flight: &&Flight| {
            flight.memory == memory
                && (flight.writes.intersects(&op.hazards)
                    || flight.predicates & op.predicate_hazards != 0
                    || flight.fragments & op.fragment_hazards != 0)
        };
        flights.iter().find(awaited).map(|flight| flight.word)
    }

    /// Called when an instruction issues.
    pub fn issued(&mut self, issued: &Issued<'_>) {
        let &Issued { event, op, mask, .. } = issued;
        if op.kind == Kind::End {
            return;
        }
        let line = self.line(event.word);
        line.class = Some(op.class);
        line.lanes += u64::from(mask.count_ones());
        if mask != 0 && op.needs_collector() {
            self.wave(event.core, event.slot).flights.push(Flight {
                sequence: event.sequence,
                word: event.word,
                issue: event.cycle,
                executed: event.cycle,
                waits: None,
                returns: op.rows.destination_rows > 0 || op.fragment_locks != 0,
                memory: matches!(op.kind, Kind::Memory(_)),
                writes: op.writes,
                predicates: op.predicate_write,
                fragments: op.fragment_locks,
            });
        }
    }

    /// Called when a wave moves on after an instruction.
    pub fn goes_on(&mut self, going: &Going) {
        let wave = self.wave(going.event.core, going.event.slot);
        // The next wave of the slot starts at the first word of the kernel.
        wave.next = going.next.unwrap_or(0);
    }

    /// Called when an instruction reaches a stage.
    pub fn reaches(&mut self, event: &StageEvent) {
        if !matches!(event.stage, Stage::Operands | Stage::Execute) {
            return;
        }
        let flights = &mut self.wave(event.core, event.slot).flights;
        let Some(flight) = flights.iter_mut().find(|flight| flight.sequence == event.sequence) else {
            return;
        };
        if event.stage == Stage::Operands {
            let issue = flight.issue;
            let line = self.line(event.word);
            line.operand_reads += 1;
            line.operand_cycles += event.cycle - issue;
        } else {
            flight.executed = event.cycle;
            let waited = flight.waits.take();
            self.line(event.word).waited(waited, event.cycle);
        }
    }

    /// Called when an instruction starts to wait in its collector, with the reason.
    pub fn waits(&mut self, &Waits { event, why }: &Waits) {
        let flights = &mut self.wave(event.core, event.slot).flights;
        let Some(flight) = flights.iter_mut().find(|flight| flight.sequence == event.sequence) else {
            return;
        };
        let same = |(now, _)| std::mem::discriminant(&now) == std::mem::discriminant(&why);
        if flight.waits.is_some_and(same) {
            return;
        }
        let before = flight.waits.replace((why, event.cycle));
        self.line(event.word).waited(before, event.cycle);
    }

    /// Called when an instruction retires.
    pub fn results(&mut self, results: &Results<'_>) {
        let event = results.event;
        let flights = &mut self.wave(event.core, event.slot).flights;
        let Some(place) = flights.iter().position(|flight| flight.sequence == event.sequence) else { return };
        let flight = flights.remove(place);
        let took = event.cycle - flight.issue;
        let line = self.line(event.word);
        line.results += 1;
        line.latency += took;
        line.longest = line.longest.max(took);
        if flight.returns {
            line.returns += 1;
            line.service += event.cycle - flight.executed;
        }
    }

    /// Counts an attempted L1 access.
    pub(crate) fn line_access(&mut self, access: &LineAccess<'_>) {
        self.line(access.word).l1 += access.counted;
    }

    /// Counts a local memory access.
    pub(crate) fn local_access(&mut self, access: &LocalAccess) {
        let line = self.line(access.word);
        line.local_accesses += 1;
        line.local_passes += u64::from(access.passes);
    }
}
