//! Makes retirement records (WVFI, `traces/format.md`) from the steps that another core reports.

use super::step::{self, ISSUE_FIELDS, SEQUENCES, Step};
use std::collections::{HashMap, VecDeque};
use std::io;
use wave_isa::table::{AccessKind, Space};
use wave_isa::{Inst, WORD_BYTES};
use wave_machine::clock::Cycle;
use wave_observe::trace::record::{DestinationKind, How, Launched, MemoryKind, Record, Stage};
use wave_observe::trace::rows::lanes;
use wave_observe::trace::{Sink, Window};

/// One wave slot.
#[derive(Debug, Default)]
struct SlotState {
    /// The last two requests: first word, cycle.
    requests: [Option<(u32, Cycle)>; 2],
    /// Decoded instructions: word, cycle of request, cycle of decode.
    decoded: VecDeque<(u32, Cycle, Cycle)>,
    /// Instructions of the wave that have issued.
    issued: u64,
    flight: Vec<Record>,
}

/// Makes retirement records from one core's steps, and hands those in a window to sinks.
///
/// Steps come cycle by cycle, sorted. Records have no stalls, because a core does not report why it waits.
pub struct Retirement<'s> {
    sinks: Vec<Box<dyn Sink + 's>>,
    window: Window,
    width: usize,
    launch: Launched,
    slots: HashMap<u32, SlotState>,
}

impl<'s> Retirement<'s> {
    /// For a launch on a core with waves of `width` lanes. Writes the launch to the sinks.
    ///
    /// # Errors
    /// If a sink cannot be written to.
    pub fn new(
        launch: Launched,
        width: usize,
        window: Window,
        mut sinks: Vec<Box<dyn Sink + 's>>,
    ) -> io::Result<Retirement<'s>> {
        sinks.iter_mut().try_for_each(|sink| sink.launch(&launch))?;
        Ok(Retirement { sinks, window, width, launch, slots: HashMap::new() })
    }

    /// Takes all steps of a cycle, sorted.
    ///
    /// # Errors
    /// If a sink cannot be written to.
    pub fn take(&mut self, steps: &[step::Record]) -> io::Result<()> {
        let mut retired = Vec::new();
        // In the order of stages a fetch comes before a decode, but within a cycle a core decodes first.
        let fetch = Step::Stage(Stage::Fetch);
        let early = steps.iter().filter(|step| step.step != fetch);
        for step in early.chain(steps.iter().filter(|step| step.step == fetch)) {
            // Packets are no steps of an instruction.
            if let Step::Stage(stage) = step.step {
                self.step(stage, step, &mut retired);
            }
        }
        retired.sort_unstable_by_key(Record::order);
        retired.iter().try_for_each(|record| self.put(record))
    }

    fn put(&mut self, record: &Record) -> io::Result<()> {
        match self.window.has(self.launch.grid, record) {
            true => self.sinks.iter_mut().try_for_each(|sink| sink.record(record)),
            false => Ok(()),
        }
    }

    /// Ends the run: writes the instructions still in flight and completes the sinks.
    ///
    /// # Errors
    /// If a sink cannot be written to.
    pub fn finish(mut self, how: How, cycle: Cycle, message: &str) -> io::Result<()> {
        let flights = self.slots.values_mut().flat_map(|slot| slot.flight.drain(..));
        let mut open: Vec<Record> = flights.map(|record| still_open(record, cycle)).collect();
        open.sort_unstable_by_key(Record::order);
        open.iter().try_for_each(|record| self.put(record))?;
        self.sinks.iter_mut().try_for_each(|sink| sink.end(how, cycle, message))
    }

    fn step(&mut self, stage: Stage, step: &step::Record, retired: &mut Vec<Record>) {
        let (cycle, word) = (step.cycle, step.word);
        let (base, width) = (self.launch.base, self.width);
        let slot = self.slots.entry(step.slot).or_default();
        match stage {
            Stage::Fetch => slot.requests = [Some((word, cycle)), slot.requests[0]],
            Stage::Decode => {
                // Words ascend, unless the wave was redirected, which empties the buffer.
                if slot.decoded.back().is_some_and(|&(last, ..)| word <= last) {
                    slot.decoded.clear();
                }
                let [latest, before] = slot.requests;
                let request = match (latest, before) {
                    // Its first word ended the previous group.
                    (Some((first, _)), Some((_, cycle))) if word < first => cycle,
                    (Some((_, cycle)), _) => cycle,
                    (None, _) => 0,
                };
                slot.decoded.push_back((word, request, cycle));
            }
            Stage::Issue => {
                let mut record = issue(step, base, slot.issued);
                while let Some((at, fetch, decode)) = slot.decoded.pop_front() {
                    if at == word {
                        record.stages[Stage::Fetch] = fetch;
                        record.stages[Stage::Decode] = decode;
                        break;
                    }
                }
                slot.issued += 1;
                if record.ends {
                    let flight = std::mem::take(&mut slot.flight);
                    *slot = SlotState { flight, ..SlotState::default() };
                }
                match step.fields.first() {
                    Some(0) => slot.flight.push(record),
                    _ => retired.push(record),
                }
            }
            Stage::Operands | Stage::Execute | Stage::WriteBack => {
                if let Some(record) = slot.in_flight(step) {
                    record.stages[stage] = cycle;
                }
            }
            Stage::Access => {
                if let Some(record) = slot.in_flight(step) {
                    access(record, &step.fields, width);
                }
            }
            Stage::Retire => {
                let place = slot.flight.iter().position(|record| same(record, step));
                if let Some(place) = place {
                    let mut record = slot.flight.remove(place);
                    retire(&mut record, step, width);
                    retired.push(record);
                }
            }
        }
    }
}

impl SlotState {
    fn in_flight(&mut self, step: &step::Record) -> Option<&mut Record> {
        self.flight.iter_mut().find(|record| same(record, step))
    }
}

fn same(record: &Record, step: &step::Record) -> bool {
    record.sequence % SEQUENCES == u64::from(step.sequence)
}

fn decoded(record: &Record) -> Option<Inst> {
    Inst::decode(&record.words[..usize::from(record.word_count)]).ok()
}

/// Opens a record: instruction `number` of its wave.
fn issue(step: &step::Record, base: u32, number: u64) -> Record {
    let mut fields = [0; ISSUE_FIELDS];
    for (field, &word) in fields.iter_mut().zip(&step.fields) {
        *field = word;
    }
    let [done, words, word0, word1, active, effective, wave, x, y, z, next, ends] = fields;
    let mut record = Record {
        cycle: step.cycle,
        slot: step.slot,
        workgroup: [x, y, z],
        wave,
        sequence: number,
        pc: base + step.word * WORD_BYTES,
        words: [word0, word1],
        word_count: words.min(2) as u8,
        active: active.into(),
        effective: effective.into(),
        next_pc: if ends != 0 { 0 } else { base + next * WORD_BYTES },
        ends: ends != 0,
        ..Record::default()
    };
    record.stages[Stage::Issue] = step.cycle;
    if done == 0
        && effective != 0
        && let Some(inst) = decoded(&record)
    {
        (record.destination, record.index) = match (inst.destination(1), inst.predicate_destination()) {
            (Some((register, _)), _) => (DestinationKind::Registers, register),
            (None, Some(predicate)) => (DestinationKind::Predicate, predicate),
            (None, None) => (DestinationKind::None, 0),
        };
    }
    record
}

/// Fills in the access of an instruction: its address row and the rows that it sends.
fn access(record: &mut Record, fields: &[u32], width: usize) {
    let Some(memory) = decoded(record).and_then(|inst| inst.op.memory()) else { return };
    record.memory = match memory.kind {
        AccessKind::Load | AccessKind::Tile => MemoryKind::Load,
        AccessKind::Store => MemoryKind::Store,
        AccessKind::Atomic(_) => MemoryKind::Atomic,
    };
    record.device = memory.space == Space::Device;
    record.bytes = memory.bytes;
    let (addresses, sent) = fields.split_at(width.min(fields.len()));
    record.addresses = addresses.to_vec();
    record.sent = sent.to_vec();
    if memory.kind == AccessKind::Store && memory.bytes < 4 {
        let kept = u32::MAX >> (32 - 8 * u32::from(memory.bytes));
        record.sent.iter_mut().for_each(|word| *word &= kept);
    }
}

fn retire(record: &mut Record, step: &step::Record, width: usize) {
    record.cycle = step.cycle;
    match record.destination {
        DestinationKind::Registers => record.values.clone_from(&step.fields),
        DestinationKind::Predicate => {
            record.values = vec![0; width];
            let held = step.fields.first().copied().unwrap_or(0);
            lanes(u64::from(held) & record.effective).for_each(|lane| record.values[lane] = 1);
            record.stages[Stage::WriteBack] = step.cycle;
        }
        _ => {}
    }
}

/// The record, as far as it is known, of an instruction that has not retired when the run ends in `cycle`.
fn still_open(record: Record, cycle: Cycle) -> Record {
    let (memory, device, bytes) = (MemoryKind::None, false, 0);
    let (addresses, sent) = (Vec::new(), Vec::new());
    Record { cycle, open: true, memory, device, bytes, addresses, sent, ..record }
}
