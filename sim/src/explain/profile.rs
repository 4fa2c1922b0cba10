//! The observer of a run that is to be explained: what each wave waited for, and what kind of instruction kept it.

use super::shadow::Shadows;
use crate::clock::Cycle;
use crate::config::Config;
use crate::core::collector::Waiting;
use crate::core::probe::{Event, Going, IssueStall, Issued, MemoryEvent, Probe, Results, Stage};
use crate::core::uop::{Kind, MicroOp};
use crate::core::wave::SlotMask;
use crate::isa::{ExecClass, Scope, WORD_BYTES};

/// Number of classes of instructions.
const CLASSES: usize = ExecClass::ALL.len();

/// Sums of a run that no counter of the machine has.
#[derive(Debug, Clone)]
pub struct Totals {
    /// Instructions that entered a unit or the load/store unit, by class.
    pub executed: [u64; CLASSES],
    /// Wave cycles by the reason for which the next instruction had not issued, indexed by [`IssueStall`].
    pub stalls: [u64; IssueStall::COUNT],
    /// Of those with a hazard, by the class of the instruction whose result came last.
    pub hazards: [u64; CLASSES],
    /// Cycles that instructions waited in their collector for a busy unit, by class.
    pub unit_waits: [u64; CLASSES],
    /// The same for a write port.
    pub port_waits: u64,
    /// The same for room in the load/store unit, by class.
    pub lsu_waits: [u64; CLASSES],
    /// Instructions that returned values, by class, and the cycles from their execution to retirement.
    pub latency: [(u64, u64); CLASSES],
    /// Core cycles in which a core had waves.
    pub active: u64,
    /// Scheduler cycles in which a wave was ready and another one issued.
    pub passed_over: u64,
}

/// An instruction on its way.
#[derive(Debug, Clone, Copy)]
struct Flight {
    sequence: u64,
    class: ExecClass,
    first: u8,
    rows: u8,
    predicates: u8,
    fragments: bool,
    executed: Cycle,
    waits: Option<(Waiting, Cycle)>,
}

/// Where writers of predicates and fragments are noted, behind the registers.
const PREDICATES: usize = 256;
const FRAGMENTS: usize = PREDICATES + 8;

/// A wave slot.
#[derive(Debug, Clone)]
struct SlotState {
    stalled: Option<(IssueStall, Cycle)>,
    /// Cycles that the next instruction has waited for a hazard.
    hazard: u64,
    flights: Vec<Flight>,
    /// The last that wrote each register, predicate (behind the registers) and fragments (behind these): when and what.
    writers: Box<[(Cycle, ExecClass); FRAGMENTS + 1]>,
}

impl SlotState {
    fn new() -> SlotState {
        SlotState {
            stalled: None,
            hazard: 0,
            flights: Vec::new(),
            writers: Box::new([(0, ExecClass::Int); FRAGMENTS + 1]),
        }
    }

    /// The class of the instruction that wrote last what this one reads or writes.
    fn last_writer(&self, op: &MicroOp) -> ExecClass {
        let sources = op.sources[..usize::from(op.source_rows)].iter().map(|&r| usize::from(r));
        let written = (0..usize::from(op.destination_rows)).map(|row| usize::from(op.destination) + row);
        let predicates = (0..8).filter(|p| op.predicate_hazards >> p & 1 != 0).map(|p| PREDICATES + p);
        let fragments = (op.fragment_hazards != 0).then_some(FRAGMENTS);
        let all = sources.chain(written).chain(predicates).chain(fragments);
        all.map(|at| self.writers[at]).max_by_key(|(at, _)| *at).map_or(ExecClass::Int, |(_, class)| class)
    }
}

/// What was last reported of a core.
#[derive(Debug, Clone)]
struct CoreState {
    slots: Vec<SlotState>,
    masks: [SlotMask; IssueStall::COUNT],
    since: Cycle,
    /// Some wave has issued since then.
    issued: bool,
}

/// The observer.
#[derive(Debug)]
pub struct Profile {
    cores: Vec<CoreState>,
    /// Wave slots of each scheduler.
    schedulers: Vec<SlotMask>,
    /// Words of the kernels that were issued.
    code: Vec<bool>,
    /// What has been summed up.
    pub totals: Totals,
    /// Caches of twice the size beside those of the machine.
    pub shadows: Shadows,
}

/// Reasons, as [`IssueStall`] numbers them.
const REASONS: [IssueStall; IssueStall::COUNT] = [
    IssueStall::Barrier,
    IssueStall::Branch,
    IssueStall::Fetch,
    IssueStall::Operand,
    IssueStall::Memory,
    IssueStall::Scoreboard,
    IssueStall::Fence,
    IssueStall::Collector,
    IssueStall::Turn,
];

impl Profile {
    /// For runs on this machine.
    pub fn new(config: &Config) -> Profile {
        let (slots, schedulers) = (config.core.max_waves as usize, config.core.schedulers as usize);
        let core = CoreState {
            slots: vec![SlotState::new(); slots],
            masks: [0; IssueStall::COUNT],
            since: 0,
            issued: false,
        };
        let of = |scheduler: usize| {
            (0..slots).filter(|slot| slot % schedulers == scheduler).fold(0, |mask, slot| mask | 1u64 << slot)
        };
        Profile {
            cores: vec![core; config.cores as usize],
            schedulers: (0..schedulers).map(of).collect(),
            code: Vec::new(),
            totals: Totals {
                executed: [0; CLASSES],
                stalls: [0; IssueStall::COUNT],
                hazards: [0; CLASSES],
                unit_waits: [0; CLASSES],
                port_waits: 0,
                lsu_waits: [0; CLASSES],
                latency: [(0, 0); CLASSES],
                active: 0,
                passed_over: 0,
            },
            shadows: Shadows::new(config),
        }
    }

    /// A launch begins: nothing is on its way, and the caches of the cores are empty.
    pub fn start(&mut self, cycle: Cycle) {
        for core in &mut self.cores {
            core.slots.fill(SlotState::new());
            core.masks = [0; IssueStall::COUNT];
            (core.since, core.issued) = (cycle, false);
        }
        self.shadows.invalidate_all();
    }

    /// Lines of so many bytes that the code took, and of twice as many.
    pub fn code_lines(&self, bytes: u32) -> (usize, usize) {
        let lines = |words: u32| self.code.chunks(words as usize).filter(|line| line.contains(&true)).count();
        (lines(bytes / WORD_BYTES), lines(2 * bytes / WORD_BYTES))
    }

    fn slot(&mut self, event: Event) -> &mut SlotState {
        &mut self.cores[event.core as usize].slots[event.slot]
    }
}

/// Closes the stall of a slot at `cycle`.
fn close(state: &mut SlotState, cycle: Cycle, stalls: &mut [u64; IssueStall::COUNT]) {
    let Some((reason, from)) = state.stalled.take() else { return };
    let cycles = cycle.saturating_sub(from);
    stalls[reason as usize] += cycles;
    if matches!(reason, IssueStall::Memory | IssueStall::Scoreboard) {
        state.hazard += cycles;
    }
}

impl Probe for Profile {
    const ON: bool = true;
    const STALLS: bool = true;

    fn step(&mut self, event: Event) {
        if event.stage != Stage::Execute {
            return;
        }
        let state = self.slot(event);
        let Some(flight) = state.flights.iter_mut().rfind(|f| f.sequence == event.sequence) else { return };
        flight.executed = event.cycle;
        let (class, waited) = (flight.class as usize, flight.waits.take());
        self.totals.executed[class] += 1;
        self.totals.waited(class, waited, event.cycle);
    }

    fn issued(&mut self, issued: &Issued<'_>) {
        let Event { core, slot, sequence, cycle, word, .. } = issued.event;
        let op = issued.op;
        let word = word as usize;
        self.code.resize(self.code.len().max(word + 1), false);
        self.code[word] = true;
        let CoreState { slots, issued: some, .. } = &mut self.cores[core as usize];
        *some = true;
        let state = &mut slots[slot];
        close(state, cycle, &mut self.totals.stalls);
        let waited = std::mem::take(&mut state.hazard);
        if waited > 0 {
            self.totals.hazards[state.last_writer(op) as usize] += waited;
        }
        if issued.mask == 0 {
            return;
        }
        if let Kind::Fence { acquire: true, .. } = op.kind
            && op.inst.scope >= Scope::Device
        {
            self.shadows.invalidate(core as usize);
        }
        if op.needs_collector() {
            state.flights.push(Flight {
                sequence,
                class: op.class,
                first: op.destination,
                rows: op.destination_rows,
                predicates: op.predicate_write,
                fragments: op.fragment_locks != 0,
                executed: cycle,
                waits: None,
            });
        }
    }

    fn goes_on(&mut self, going: &Going) {
        if going.next.is_none() {
            let state = self.slot(going.event);
            (state.stalled, state.hazard) = (None, 0);
        }
    }

    fn results(&mut self, results: &Results<'_>) {
        let event = results.event;
        let state = self.slot(event);
        let Some(at) = state.flights.iter().rposition(|f| f.sequence == event.sequence) else { return };
        let flight = state.flights.remove(at);
        let written = (event.cycle, flight.class);
        let (first, rows) = (usize::from(flight.first), usize::from(flight.rows));
        state.writers[first..first + rows].fill(written);
        for predicate in (0..8).filter(|p| flight.predicates >> p & 1 != 0) {
            state.writers[PREDICATES + predicate] = written;
        }
        if flight.fragments {
            state.writers[FRAGMENTS] = written;
        }
        if flight.rows > 0 || flight.fragments {
            let (count, cycles) = &mut self.totals.latency[flight.class as usize];
            *count += 1;
            *cycles += event.cycle - flight.executed;
        }
    }

    fn stalls(&mut self, core: u32, cycle: Cycle, waves: &[SlotMask; IssueStall::COUNT]) {
        let CoreState { slots, masks, since, issued } = &mut self.cores[core as usize];
        let lasted = cycle.saturating_sub(*since);
        if std::mem::take(issued) || masks.iter().any(|&waves| waves != 0) {
            self.totals.active += lasted;
        }
        let turn = masks[IssueStall::Turn as usize];
        if turn != 0 {
            let with_turn = self.schedulers.iter().filter(|&&slots| slots & turn != 0).count() as u64;
            self.totals.passed_over += with_turn * lasted;
        }
        *since = cycle;
        if masks == waves {
            return;
        }
        for (before, now) in masks.iter().zip(waves) {
            for slot in bits(before & !now) {
                close(&mut slots[slot], cycle, &mut self.totals.stalls);
            }
        }
        for ((before, now), reason) in masks.iter().zip(waves).zip(REASONS) {
            for slot in bits(now & !before) {
                slots[slot].stalled = Some((reason, cycle));
            }
        }
        *masks = *waves;
    }

    fn waits(&mut self, event: Event, why: Waiting) {
        let state = self.slot(event);
        let Some(flight) = state.flights.iter_mut().rfind(|f| f.sequence == event.sequence) else { return };
        if flight.waits.is_some_and(|(now, _)| same(now, why)) {
            return;
        }
        let (class, before) = (flight.class as usize, flight.waits.replace((why, event.cycle)));
        self.totals.waited(class, before, event.cycle);
    }

    fn accesses(&mut self, event: &MemoryEvent<'_>) {
        self.shadows.access(event);
    }
}

fn same(a: Waiting, b: Waiting) -> bool {
    std::mem::discriminant(&a) == std::mem::discriminant(&b)
}

/// The bits of a mask that are set.
fn bits(mask: SlotMask) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(bit)
    })
}

impl Totals {
    /// An instruction of this class has waited in its collector until `cycle`.
    fn waited(&mut self, class: usize, wait: Option<(Waiting, Cycle)>, cycle: Cycle) {
        let Some((why, from)) = wait else { return };
        let cycles = cycle.saturating_sub(from);
        match why {
            Waiting::Unit(_) => self.unit_waits[class] += cycles,
            Waiting::WritePort => self.port_waits += cycles,
            Waiting::Lsu => self.lsu_waits[class] += cycles,
            Waiting::Banks => {}
        }
    }
}
