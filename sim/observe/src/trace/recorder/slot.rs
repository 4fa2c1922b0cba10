//! The instructions of a wave slot that have not retired.

use crate::trace::record::{DestinationKind, MemoryKind, PerStage, Record, STAGES, Stage, Stall, Wait};
use std::collections::VecDeque;
use wave_capture::Capture;
use wave_isa::Op;
use wave_isa::operand::Role;
use wave_machine::clock::Cycle;
use wave_machine::core::probe::Issued;

/// An instruction in flight.
#[derive(Debug, Capture)]
pub(super) struct Flight {
    /// The record's sequence number, kept here so that a search need not touch the records.
    pub(super) sequence: u64,
    /// Reason for which it waits in its collector, and since when.
    pub(super) waits: Option<(Wait, Cycle)>,
    /// Cycles of the stages after issue. They are copied to the record when the instruction retires.
    stages: [Cycle; BEHIND_ISSUE],
    record: Box<Record>,
}

/// Place of the first stage after issue in a record.
const BEHIND: usize = PerStage::<Cycle>::place(Stage::Operands);
/// Number of stages after issue.
const BEHIND_ISSUE: usize = STAGES.len() - BEHIND;

impl Flight {
    pub(super) fn new(record: Box<Record>) -> Flight {
        Flight { sequence: record.sequence, waits: None, stages: [0; BEHIND_ISSUE], record }
    }

    /// The record, without the cycles of the stages after issue.
    pub(super) fn record(&mut self) -> &mut Record {
        &mut self.record
    }

    /// The instruction reaches a stage after issue.
    pub(super) fn reaches(&mut self, stage: Stage, cycle: Cycle) {
        self.stages[PerStage::<Cycle>::place(stage) - BEHIND] = cycle;
        if stage == Stage::Execute
            && let Some((reason, from)) = self.waits.take()
        {
            self.record.stalls.push(Stall { reason, from, to: cycle });
        }
    }

    /// The instruction waits in its collector from this cycle on.
    pub(super) fn waits_for(&mut self, reason: Wait, cycle: Cycle) {
        if let Some((before, from)) = self.waits {
            if before == reason {
                return;
            }
            self.record.stalls.push(Stall { reason: before, from, to: cycle });
        }
        self.waits = Some((reason, cycle));
    }

    /// Returns the completed record.
    pub(super) fn land(self) -> Box<Record> {
        let mut record = self.record;
        record.stages.0[BEHIND..].copy_from_slice(&self.stages);
        record
    }
}

/// A wave slot of a core.
#[derive(Debug, Capture)]
pub(super) struct SlotState {
    /// Workgroup of its wave, as a position in the grid.
    pub(super) workgroup: [u32; 3],
    /// Index of the wave in its workgroup.
    pub(super) wave: u32,
    /// The last two requests: first word, cycle.
    pub(super) requests: [(u32, Cycle); 2],
    /// Decoded instructions: word, cycle of request, cycle of decode.
    pub(super) decoded: VecDeque<(u32, Cycle, Cycle)>,
    /// The cycle in which an instruction last issued that redirects or ends the wave. It acts a cycle later, so what is
    /// requested and decoded in this cycle is dropped then.
    pub(super) left: Option<Cycle>,
    /// Reason for which the next instruction does not issue, and since when.
    pub(super) stalled: Option<(Wait, Cycle)>,
    /// Periods for which it has waited so far.
    pub(super) stalls: Vec<Stall>,
    /// Instructions that have issued and not retired.
    pub(super) flight: Vec<Flight>,
}

impl SlotState {
    pub(super) fn new() -> SlotState {
        SlotState {
            workgroup: [0; 3],
            wave: 0,
            requests: [(0, Cycle::MAX); 2],
            decoded: VecDeque::new(),
            left: None,
            stalled: None,
            stalls: Vec::new(),
            flight: Vec::new(),
        }
    }

    /// Code for the wave was requested in `cycle`, from `word` on.
    pub(super) fn fetch(&mut self, word: u32, cycle: Cycle) {
        if self.left != Some(cycle) {
            self.requests = [(word, cycle), self.requests[0]];
        }
    }

    /// An instruction has entered the buffer.
    pub(super) fn decode(&mut self, word: u32, cycle: Cycle) {
        if self.left != Some(cycle) {
            // An instruction whose first word ended its group came with the previous request.
            let [(first, latest), (_, before)] = self.requests;
            self.decoded.push_back((word, if word < first { before } else { latest }, cycle));
        }
    }

    /// The instruction that issues in `cycle` sends the wave elsewhere, or ends it.
    pub(super) fn leave(&mut self, cycle: Cycle) {
        self.decoded.clear();
        self.left = Some(cycle);
    }

    /// The earliest cycle in any record that is still to come.
    pub(super) fn oldest(&self) -> Cycle {
        let [(_, a), (_, b)] = self.requests;
        let decoded = self.decoded.front().map(|&(_, fetch, _)| fetch);
        let stall = self.stalls.first().map(|stall| stall.from).or(self.stalled.map(|(_, from)| from));
        let flight = self.flight.iter().map(|flight| began(&flight.record)).min();
        [decoded, stall, flight].into_iter().flatten().fold(a.min(b), Cycle::min)
    }

    /// The oldest decoded instruction issues: opens its record.
    pub(super) fn issue(&mut self, mut record: Box<Record>, word: u32, cycle: Cycle) {
        (record.workgroup, record.wave) = (self.workgroup, self.wave);
        record.stages[Stage::Issue] = cycle;
        let decoded = self.decoded.pop_front();
        debug_assert_eq!(decoded.map(|(at, ..)| at), Some(word), "an instruction issues as it was decoded");
        if let Some((_, fetch, decode)) = decoded {
            record.stages[Stage::Fetch] = fetch;
            record.stages[Stage::Decode] = decode;
        }
        if let Some((reason, from)) = self.stalled.take()
            && from < cycle
        {
            self.stalls.push(Stall { reason, from, to: cycle });
        }
        std::mem::swap(&mut record.stalls, &mut self.stalls);
        self.flight.push(Flight::new(record));
    }

    pub(super) fn in_flight(&mut self, sequence: u64) -> Option<&mut Flight> {
        self.flight.iter_mut().rev().find(|flight| flight.sequence == sequence)
    }
}

/// The earliest cycle in a record.
pub(super) fn began(record: &Record) -> Cycle {
    let stages = record.stages.0.iter().copied().filter(|&at| at != 0);
    let stall = record.stalls.first().map(|stall| stall.from);
    stages.chain(stall).fold(Cycle::MAX, Cycle::min)
}

/// The record, as far as it is known, of an instruction that has not retired when the run ends in `cycle`.
///
/// Operands and execution in this cycle do not count: the cycle is the first one that was not simulated or, at a fault
/// of the load/store unit, one in which the stages in front of that unit have not had their turn.
pub(super) fn still_open(mut record: Box<Record>, waits: Option<(Wait, Cycle)>, cycle: Cycle) -> Box<Record> {
    if let Some((reason, from)) = waits {
        record.stalls.push(Stall { reason, from, to: Cycle::MAX });
    }
    record.stalls.retain(|stall| stall.from <= cycle);
    record.stalls.iter_mut().for_each(|stall| stall.to = stall.to.min(cycle + 1));
    for (stage, end) in [(Stage::Operands, cycle), (Stage::Execute, cycle), (Stage::WriteBack, cycle + 1)] {
        let at = &mut record.stages[stage];
        *at = if *at < end { *at } else { 0 };
    }
    let Record { values, addresses, strides, sent, .. } = record.as_mut();
    [values, addresses, strides, sent].into_iter().for_each(Vec::clear);
    record.memory = MemoryKind::None;
    (record.device, record.bytes) = (false, 0);
    (record.cycle, record.open) = (cycle, true);
    record
}

/// Kind and index of the destination of an instruction.
pub(super) fn destination(issued: &Issued<'_>) -> (DestinationKind, u8) {
    let (op, inst) = (issued.op, &issued.op.inst);
    if op.rows.destination_rows > 0 {
        return (DestinationKind::Registers, op.rows.destination);
    }
    if op.predicate_write != 0 {
        return (DestinationKind::Predicate, inst.rd);
    }
    // A tile store has its fragment as a source, so it is no destination.
    let written = inst.op.info().operands.iter().find_map(|operand| match operand.role {
        Role::FragA if inst.op == Op::MmaLoadA => Some(DestinationKind::FragmentA),
        Role::FragB if inst.op == Op::MmaLoadB => Some(DestinationKind::FragmentB),
        Role::FragC if inst.op == Op::MmaCompute => Some(DestinationKind::FragmentC),
        _ => None,
    });
    match written {
        Some(DestinationKind::FragmentC) => (DestinationKind::FragmentC, inst.rs2),
        Some(kind) => (kind, inst.rd),
        None => (DestinationKind::None, 0),
    }
}
