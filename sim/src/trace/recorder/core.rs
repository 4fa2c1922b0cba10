//! What is known of one core's instructions, and the records that come of it.

use super::slot::{Flight, SlotState, began, destination};
use crate::clock::Cycle;
use crate::core::collector::Waiting;
use crate::core::probe::{Event, Going, IssueStall, Issued, MemoryEvent, Observer, Results, Stage};
use crate::core::wave::SlotMask;
use crate::isa::WORD_BYTES;
use crate::isa::table::{AccessKind, Space};
use crate::trace::binary::{fields, put_fields};
use crate::trace::record::{DestinationKind, Launched, MemoryKind, Record, StageField, Stall, StallReason};
use crate::trace::rows::{all, lanes, push_masked};
use crate::trace::sink::Window;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// What the records of all cores have in common.
#[derive(Debug, Clone)]
pub(super) struct Common {
    pub(super) launch: Launched,
    /// Lanes of a wave.
    pub(super) width: usize,
    pub(super) window: Window,
    /// Records are put into the binary form where they retire.
    pub(super) encodes: bool,
}

/// A record that waits for its turn.
#[derive(Debug)]
struct Retired {
    /// Cycle, slot and sequence number: [`Record::order`] within a core.
    order: (Cycle, u32, u64),
    form: Form,
}

/// The form of a record that waits.
#[derive(Debug)]
pub(super) enum Form {
    Record(Box<Record>),
    /// In the binary form, in these bytes of its core. So the storage of the record is used again while the cache has it.
    Encoded(Range<usize>),
}

/// One core.
#[derive(Debug)]
pub(super) struct CoreRecorder {
    pub(super) common: Arc<Common>,
    pub(super) slots: Vec<SlotState>,
    /// Waves by what keeps them, as last reported.
    stalled: [SlotMask; IssueStall::COUNT],
    /// What has retired, in order.
    retired: VecDeque<Retired>,
    pub(super) bytes: Vec<u8>,
    /// Records to be used again.
    #[allow(clippy::vec_box)]
    free: Vec<Box<Record>>,
}

/// Reasons of the issue stage, in the order of [`IssueStall`].
const ISSUE_REASONS: [StallReason; IssueStall::COUNT] = [
    StallReason::Barrier,
    StallReason::Branch,
    StallReason::Fetch,
    StallReason::Operand,
    StallReason::Memory,
    StallReason::Scoreboard,
    StallReason::Fence,
    StallReason::Collector,
    StallReason::Turn,
];

impl CoreRecorder {
    pub(super) fn new(common: Arc<Common>, slots: usize) -> CoreRecorder {
        CoreRecorder {
            common,
            slots: (0..slots).map(|_| SlotState::new()).collect(),
            stalled: [0; IssueStall::COUNT],
            retired: VecDeque::new(),
            bytes: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Opens a record.
    fn open(&mut self, issued: &Issued<'_>) -> Box<Record> {
        let Event { cycle, core, slot, sequence, word, .. } = issued.event;
        let Launched { base, code, .. } = &self.common.launch;
        let mut record = self.free.pop().unwrap_or_default();
        record.core = core;
        record.slot = slot as u32;
        record.workgroup = issued.workgroup;
        record.wave = issued.wave;
        record.sequence = sequence;
        record.pc = base + word * WORD_BYTES;
        let words = code.get(word as usize..).unwrap_or(&[]);
        let count = words.len().min(issued.op.words as usize);
        record.words[..count].copy_from_slice(&words[..count]);
        record.word_count = count as u8;
        (record.active, record.effective) = (issued.active, issued.mask);
        record.stages[StageField::Issue as usize] = cycle;
        if issued.mask != 0 {
            (record.destination, record.index) = destination(issued);
        }
        record
    }

    /// A record is complete.
    fn retire(&mut self, mut record: Box<Record>, cycle: Cycle) {
        record.cycle = cycle;
        self.add(record);
    }

    /// Keeps a record that has its cycle until its turn comes, if the window has it. One that retires behind the window's
    /// end stays: a fault may make it one that has not retired before.
    pub(super) fn add(&mut self, record: Box<Record>) {
        let Common { launch, width, window, encodes } = &*self.common;
        let wanted = record.cycle >= window.cycles.start
            && window.has_wave(launch.grid, record.workgroup, record.wave);
        if !wanted {
            return self.give_back(record);
        }
        let order = (record.cycle, record.slot, record.sequence);
        let form = if *encodes {
            let at = self.bytes.len();
            put_fields(&mut self.bytes, &record, all(*width));
            self.give_back(record);
            Form::Encoded(at..self.bytes.len())
        } else {
            Form::Record(record)
        };
        let mut at = self.retired.len();
        self.retired.push_back(Retired { order, form });
        // Those of a cycle come in the order of its work.
        while at > 0 && self.retired[at - 1].order > order {
            self.retired.swap(at - 1, at);
            at -= 1;
        }
    }

    /// The cycle in which the next record in order retires.
    #[inline]
    pub(super) fn next_retired(&self) -> Option<Cycle> {
        self.retired.front().map(|retired| retired.order.0)
    }

    /// Takes the next record in order if it retires in this cycle.
    #[inline]
    pub(super) fn take_retired(&mut self, cycle: Cycle) -> Option<Form> {
        if self.next_retired() != Some(cycle) {
            return None;
        }
        self.retired.pop_front().map(|retired| retired.form)
    }

    /// The records that wait and are not encoded.
    fn waiting(&self) -> impl Iterator<Item = &Record> {
        self.retired.iter().filter_map(|retired| match &retired.form {
            Form::Record(record) => Some(&**record),
            Form::Encoded(_) => None,
        })
    }

    /// Forgets the bytes of the encoded records that were taken.
    pub(super) fn forget_taken(&mut self) {
        // They lie in the order in which they retired, which within a cycle need not be theirs.
        let ranges = self.retired.iter_mut().filter_map(|retired| match &mut retired.form {
            Form::Encoded(range) => Some(range),
            Form::Record(_) => None,
        });
        let mut ranges: Vec<_> = ranges.collect();
        let Some(taken) = ranges.iter().map(|range| range.start).min() else { return self.bytes.clear() };
        self.bytes.drain(..taken);
        ranges.iter_mut().for_each(|range| **range = range.start - taken..range.end - taken);
    }

    /// Takes all that has retired, as records.
    #[allow(clippy::vec_box)]
    pub(super) fn take_all(&mut self) -> Vec<Box<Record>> {
        let (width, bytes) = (self.common.width, std::mem::take(&mut self.bytes));
        let records = self.retired.drain(..).map(|Retired { order: (cycle, ..), form }| match form {
            Form::Record(record) => record,
            Form::Encoded(range) => {
                let mut record = Box::new(Record { cycle, ..Record::default() });
                fields(&bytes[range], all(width), &mut record).expect("as it was encoded");
                record
            }
        });
        records.collect()
    }

    /// Takes back the storage of a record that nobody wants any more.
    pub(super) fn give_back(&mut self, mut record: Box<Record>) {
        record.clear();
        self.free.push(record);
    }

    /// The earliest cycle that a record still to come, or that waits and is not encoded, has.
    pub(super) fn oldest(&self) -> Cycle {
        let waiting = self.waiting().map(began);
        self.slots.iter().map(SlotState::oldest).chain(waiting).fold(Cycle::MAX, Cycle::min)
    }
}

impl Observer for CoreRecorder {
    fn wants_stalls(&self) -> bool {
        true
    }

    fn step(&mut self, event: Event) {
        let Event { cycle, word, sequence, .. } = event;
        let state = &mut self.slots[event.slot];
        let stage = match event.stage {
            Stage::Fetch => {
                state.requests = [(word, cycle), state.requests[0]];
                return;
            }
            Stage::Decode => {
                // An instruction whose first word was the last of its group came with the request before.
                let [(first, latest), (_, before)] = state.requests;
                state.decoded.push_back((word, if word < first { before } else { latest }, cycle));
                return;
            }
            Stage::Operands => StageField::Operands,
            Stage::Execute => StageField::Execute,
            Stage::WriteBack => StageField::WriteBack,
            // The results come with an event of their own.
            Stage::Issue | Stage::Retire => return,
        };
        let Some(flight) = state.in_flight(sequence) else { return };
        flight.reaches(stage, cycle);
        if stage == StageField::Execute
            && let Some((reason, from)) = flight.waits.take()
        {
            flight.record().stalls.push(Stall { reason, from, to: cycle });
        }
    }

    fn issued(&mut self, issued: &Issued<'_>) {
        let Event { cycle, word, .. } = issued.event;
        let mut record = self.open(issued);
        let state = &mut self.slots[issued.event.slot];
        let decoded = state.decoded.pop_front();
        debug_assert_eq!(decoded.map(|(at, ..)| at), Some(word), "an instruction issues as it was decoded");
        if let Some((_, fetch, decode)) = decoded {
            record.stages[StageField::Fetch as usize] = fetch;
            record.stages[StageField::Decode as usize] = decode;
        }
        if let Some((reason, from)) = state.stalled.take()
            && from < cycle
        {
            state.stalls.push(Stall { reason, from, to: cycle });
        }
        std::mem::swap(&mut record.stalls, &mut state.stalls);
        state.flight.push(Flight::new(record));
    }

    fn goes_on(&mut self, going: &Going) {
        let base = self.common.launch.base;
        let state = &mut self.slots[going.event.slot];
        if going.redirected || going.next.is_none() {
            state.decoded.clear();
        }
        if going.next.is_none() {
            state.requests = [(0, Cycle::MAX); 2];
        }
        let Some(flight) = state.flight.last_mut() else { return };
        let record = flight.record();
        match going.next {
            Some(word) => record.next_pc = base + word * WORD_BYTES,
            None => record.ends = true,
        }
        if going.done
            && let Some(flight) = state.flight.pop()
        {
            self.retire(flight.land(), going.event.cycle);
        }
    }

    fn accesses(&mut self, event: &MemoryEvent<'_>) {
        let width = self.common.width;
        let state = &mut self.slots[event.slot];
        let Some(flight) = state.in_flight(event.sequence) else { return };
        let record = flight.record();
        let memory = event.memory;
        record.memory = match memory.kind {
            AccessKind::Load => MemoryKind::Load,
            AccessKind::Store => MemoryKind::Store,
            AccessKind::Atomic(_) => MemoryKind::Atomic,
            AccessKind::Tile if event.writes => MemoryKind::TileStore,
            AccessKind::Tile => MemoryKind::TileLoad,
        };
        record.device = memory.space == Space::Device;
        record.bytes = memory.bytes;
        push_masked(&mut record.addresses, event.addresses, event.mask);
        if memory.kind == AccessKind::Tile {
            push_masked(&mut record.strides, event.strides, event.mask);
        }
        for row in event.sent.chunks_exact(width) {
            push_masked(&mut record.sent, row, event.mask);
        }
        if memory.kind == AccessKind::Store && memory.bytes < 4 {
            let kept = u32::MAX >> (32 - 8 * u32::from(memory.bytes));
            record.sent.iter_mut().for_each(|word| *word &= kept);
        }
    }

    fn results(&mut self, results: &Results<'_>) {
        let (event, width) = (results.event, self.common.width);
        let state = &mut self.slots[event.slot];
        let place = state.flight.iter().rposition(|flight| flight.sequence == event.sequence);
        let Some(place) = place else { return };
        let mut record = state.flight.remove(place).land();
        let mask = record.effective;
        match record.destination {
            DestinationKind::None if record.memory == MemoryKind::TileStore => {
                let rows = results.fragment.chunks_exact(width);
                rows.for_each(|row| push_masked(&mut record.sent, row, mask));
            }
            DestinationKind::None => {}
            DestinationKind::Registers => {
                let rows = results.registers.chunks_exact(width);
                rows.for_each(|row| push_masked(&mut record.values, row, mask));
            }
            DestinationKind::Predicate => {
                record.values.resize(width, 0);
                lanes(results.predicate & mask).for_each(|lane| record.values[lane] = 1);
            }
            DestinationKind::FragmentA | DestinationKind::FragmentB | DestinationKind::FragmentC => {
                let rows = results.fragment.chunks_exact(width);
                rows.for_each(|row| push_masked(&mut record.values, row, mask));
            }
        }
        let write_back = &mut record.stages[StageField::WriteBack as usize];
        *write_back = match record.destination {
            DestinationKind::None => 0,
            DestinationKind::Registers => *write_back,
            _ => event.cycle,
        };
        self.retire(record, event.cycle);
    }

    fn stalls(&mut self, _: u32, cycle: Cycle, waves: &[SlotMask; IssueStall::COUNT]) {
        let CoreRecorder { slots, stalled, .. } = self;
        if stalled == waves {
            return;
        }
        let changed = |(before, now): (&SlotMask, &SlotMask)| before ^ now;
        // All that end, before any that begin: a wave has one reason at a time.
        for (n, gone) in stalled.iter().zip(waves).map(changed).enumerate().filter(|&(_, waves)| waves != 0) {
            for slot in lanes(gone & stalled[n]) {
                let state = &mut slots[slot];
                // The stall of one that has issued is closed already.
                if let Some((reason, from)) = state.stalled.take() {
                    state.stalls.push(Stall { reason, from, to: cycle });
                }
            }
        }
        for (n, come) in stalled.iter().zip(waves).map(changed).enumerate().filter(|&(_, waves)| waves != 0) {
            for slot in lanes(come & waves[n]) {
                slots[slot].stalled = Some((ISSUE_REASONS[n], cycle));
            }
        }
        *stalled = *waves;
    }

    fn waits(&mut self, event: Event, why: Waiting) {
        let Event { cycle, sequence, .. } = event;
        let reason = match why {
            Waiting::Unit(_) => StallReason::Unit,
            Waiting::WritePort => StallReason::WritePort,
            Waiting::Lsu => StallReason::Lsu,
            Waiting::Banks => return,
        };
        let Some(flight) = self.slots[event.slot].in_flight(sequence) else { return };
        match flight.waits {
            Some((now, _)) if now == reason => {}
            before => {
                if let Some((reason, from)) = before {
                    flight.record().stalls.push(Stall { reason, from, to: cycle });
                }
                flight.waits = Some((reason, cycle));
            }
        }
    }
}
