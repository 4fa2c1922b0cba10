//! Makes the records of one core's instructions from its log.

use super::log::{Entry, Written};
use super::slot::{Flight, SlotState, began};
use crate::trace::binary::{fields, put_fields};
use crate::trace::record::{DestinationKind, Launched, MemoryKind, Record, Stage, Stall};
use crate::trace::rows::{all, lanes, push_rows};
use crate::trace::sink::Window;
use std::collections::VecDeque;
use std::ops::Range;
use wave_capture::Capture;
use wave_isa::WORD_BYTES;
use wave_machine::clock::Cycle;

/// What the makers of records of all cores share.
#[derive(Debug, Capture)]
pub(super) struct Common {
    pub(super) launch: Launched,
    /// Lanes of a wave.
    #[spec]
    pub(super) width: usize,
    #[spec]
    pub(super) window: Window,
    /// Records are encoded in the binary form as soon as they retire.
    #[spec]
    pub(super) encodes: bool,
}

/// A retired record that waits for its turn.
#[derive(Debug, Capture)]
struct Retired {
    /// Cycle, slot and sequence number: [`Record::order`] within a core.
    order: (Cycle, u32, u64),
    form: Form,
}

/// The form of a waiting record.
#[derive(Debug, Capture)]
pub(super) enum Form {
    Record(Box<Record>),
    /// Encoded in these bytes of its core. The storage of the record is then reused while it is in the
    /// processor's cache.
    Encoded(Range<usize>),
}

/// One core.
#[derive(Debug, Capture)]
pub(super) struct CoreRecorder {
    #[spec]
    core: u32,
    pub(super) slots: Vec<SlotState>,
    /// Retired records, in order.
    retired: VecDeque<Retired>,
    pub(super) bytes: Vec<u8>,
    /// Records for reuse.
    #[scratch]
    #[allow(clippy::vec_box)]
    free: Vec<Box<Record>>,
}

impl CoreRecorder {
    pub(super) fn new(core: u32, slots: usize) -> CoreRecorder {
        CoreRecorder {
            core,
            slots: (0..slots).map(|_| SlotState::new()).collect(),
            retired: VecDeque::new(),
            bytes: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Makes records from a log.
    pub(super) fn read(&mut self, written: &Written, common: &Common) {
        let width = common.width;
        let mut masks = &written.masks[..];
        let mut mask = || *masks.split_off_first().expect("the entry has one");
        let mut rest = &written.rows[..];
        let mut rows = |n: u8| rest.split_off(..usize::from(n) * width).expect("the entry has them");
        for &entry in &written.entries {
            match entry {
                Entry::Fetched { slot, word, cycle } => {
                    self.slots[usize::from(slot)].fetch(word, cycle);
                }
                Entry::Decoded { slot, word, cycle } => {
                    self.slots[usize::from(slot)].decode(word, cycle);
                }
                Entry::Wave { slot, wave, workgroup } => {
                    let state = &mut self.slots[usize::from(slot)];
                    (state.workgroup, state.wave) = (workgroup, wave);
                }
                Entry::Issued { slot, words, destination, index, word, cycle, sequence } => {
                    let mut record = self.free.pop().unwrap_or_default();
                    (record.core, record.slot, record.sequence) = (self.core, slot.into(), sequence);
                    let Launched { base, code, .. } = &common.launch;
                    record.pc = base + word * WORD_BYTES;
                    let code = code.get(word as usize..).unwrap_or(&[]);
                    let count = code.len().min(words.into());
                    record.words[..count].copy_from_slice(&code[..count]);
                    record.word_count = count as u8;
                    (record.active, record.effective) = (mask(), mask());
                    (record.destination, record.index) = (destination, index);
                    self.slots[usize::from(slot)].issue(record, word, cycle);
                }
                Entry::GoesOn { slot, redirected, done, next, cycle } => {
                    let state = &mut self.slots[usize::from(slot)];
                    if redirected || next.is_none() {
                        state.leave(cycle);
                    }
                    if next.is_none() {
                        state.requests = [(0, Cycle::MAX); 2];
                    }
                    let Some(flight) = state.flight.last_mut() else { continue };
                    let record = flight.record();
                    match next {
                        Some(word) => record.next_pc = common.launch.base + word * WORD_BYTES,
                        // What faults is not done, and ends the run and not the wave.
                        None => record.ends = done,
                    }
                    if done && let Some(flight) = state.flight.pop() {
                        self.retire(flight.land(), cycle, common);
                    }
                }
                Entry::Reached { slot, stage, cycle, sequence } => {
                    if let Some(flight) = self.in_flight(slot, sequence) {
                        flight.reaches(stage, cycle);
                    }
                }
                Entry::Waits { slot, reason, cycle, sequence } => {
                    if let Some(flight) = self.in_flight(slot, sequence) {
                        flight.waits_for(reason, cycle);
                    }
                }
                Entry::Accesses { slot, kind, device, bytes, sent, sequence } => {
                    let (addresses, strides) = (rows(1), rows(kind.is_tile().into()));
                    let sent = rows(sent);
                    if let Some(record) = self.in_flight(slot, sequence).map(Flight::record) {
                        (record.memory, record.device, record.bytes) = (kind, device, bytes);
                        let mask = record.effective;
                        push_rows(&mut record.addresses, addresses, width, mask);
                        push_rows(&mut record.strides, strides, width, mask);
                        push_rows(&mut record.sent, sent, width, mask);
                        if kind == MemoryKind::Store && bytes < 4 {
                            let kept = u32::MAX >> (32 - 8 * u32::from(bytes));
                            record.sent.iter_mut().for_each(|word| *word &= kept);
                        }
                    }
                }
                Entry::Results { slot, registers, fragment, cycle, sequence } => {
                    let (registers, fragment, predicate) = (rows(registers), rows(fragment), mask());
                    let state = &mut self.slots[usize::from(slot)];
                    let place = state.flight.iter().rposition(|flight| flight.sequence == sequence);
                    let Some(place) = place else { continue };
                    let mut record = state.flight.remove(place).land();
                    let mask = record.effective;
                    match record.destination {
                        DestinationKind::None if record.memory == MemoryKind::TileStore => {
                            push_rows(&mut record.sent, fragment, width, mask);
                        }
                        DestinationKind::None => {}
                        DestinationKind::Registers => push_rows(&mut record.values, registers, width, mask),
                        DestinationKind::Predicate => {
                            record.values.resize(width, 0);
                            lanes(predicate & mask).for_each(|lane| record.values[lane] = 1);
                        }
                        DestinationKind::FragmentA
                        | DestinationKind::FragmentB
                        | DestinationKind::FragmentC => {
                            push_rows(&mut record.values, fragment, width, mask);
                        }
                    }
                    let write_back = &mut record.stages[Stage::WriteBack];
                    *write_back = match record.destination {
                        DestinationKind::None => 0,
                        DestinationKind::Registers => *write_back,
                        _ => cycle,
                    };
                    self.retire(record, cycle, common);
                }
                Entry::Stalled { slot, reason, cycle } => {
                    let state = &mut self.slots[usize::from(slot)];
                    // The stall of an instruction that has issued is closed already.
                    if let Some((reason, from)) = state.stalled.take() {
                        state.stalls.push(Stall { reason, from, to: cycle });
                    }
                    state.stalled = reason.map(|reason| (reason, cycle));
                }
            }
        }
    }

    #[inline]
    fn in_flight(&mut self, slot: u8, sequence: u64) -> Option<&mut Flight> {
        self.slots[usize::from(slot)].in_flight(sequence)
    }

    /// Completes a record.
    fn retire(&mut self, mut record: Box<Record>, cycle: Cycle, common: &Common) {
        record.cycle = cycle;
        self.add(record, common);
    }

    /// Keeps a record whose cycle is known until its turn, if it is in the window. A record that retires
    /// after the window is kept too: a fault before that may make it one that has not retired.
    pub(super) fn add(&mut self, record: Box<Record>, common: &Common) {
        let Common { launch, width, window, encodes } = common;
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
        // Records of one cycle come in the order of the work, so each is sorted in.
        while at > 0 && self.retired[at - 1].order > order {
            self.retired.swap(at - 1, at);
            at -= 1;
        }
    }

    /// Cycle in which the next record in order retires.
    #[inline]
    pub(super) fn next_retired(&self) -> Option<Cycle> {
        self.retired.front().map(|retired| retired.order.0)
    }

    /// Takes the next record in order if it retires in cycle `cycle`.
    #[inline]
    pub(super) fn take_retired(&mut self, cycle: Cycle) -> Option<Form> {
        if self.next_retired() != Some(cycle) {
            return None;
        }
        self.retired.pop_front().map(|retired| retired.form)
    }

    /// The waiting records that are not encoded.
    fn waiting(&self) -> impl Iterator<Item = &Record> {
        self.retired.iter().filter_map(|retired| match &retired.form {
            Form::Record(record) => Some(&**record),
            Form::Encoded(_) => None,
        })
    }

    /// Drops the bytes of encoded records that were taken.
    pub(super) fn forget_taken(&mut self) {
        // The bytes lie in the order of retirement, which may differ from the order of the records within a
        // cycle.
        let ranges = self.retired.iter_mut().filter_map(|retired| match &mut retired.form {
            Form::Encoded(range) => Some(range),
            Form::Record(_) => None,
        });
        let mut ranges: Vec<_> = ranges.collect();
        let Some(taken) = ranges.iter().map(|range| range.start).min() else { return self.bytes.clear() };
        self.bytes.drain(..taken);
        ranges.iter_mut().for_each(|range| **range = range.start - taken..range.end - taken);
    }

    /// Takes all retired records, decoded.
    #[allow(clippy::vec_box)]
    pub(super) fn take_all(&mut self, width: usize) -> Vec<Box<Record>> {
        let bytes = std::mem::take(&mut self.bytes);
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

    /// Returns the storage of a record for reuse.
    pub(super) fn give_back(&mut self, mut record: Box<Record>) {
        record.clear();
        self.free.push(record);
    }

    /// The earliest cycle in any record that is still to come, or that waits and is not encoded.
    pub(super) fn oldest(&self) -> Cycle {
        let waiting = self.waiting().map(began);
        self.slots.iter().map(SlotState::oldest).chain(waiting).fold(Cycle::MAX, Cycle::min)
    }
}
