//! Load/store unit of a core. One queue of wave instructions is processed in order: address generation and local memory
//! passes, and a cycle later the L1 accesses. Results return in the order of their completion.

mod banked;
mod banks;
pub(crate) mod coalesce;
mod flat;
mod instruction;
pub(crate) mod local;
mod pattern;
mod plausible;
mod shape;
mod stage;
mod tag_banks;

use super::collector::{Collector, Operands};
use super::place::Place;
use super::release::Epoch;
use super::slot::{InFlight, Slot};
use super::uop::MicroOp;
use crate::clock::{Cycle, NEVER};
use crate::config::Config;

use crate::memory::{Reject, Response, ResponseKind};
use banked::BankedData;
use coalesce::Payload;
pub(crate) use instruction::MemoryInstruction;
use instruction::Owner;
pub(super) use plausible::Around;
pub(crate) use shape::Shapes;
pub(super) use stage::LoadStore;
use std::collections::VecDeque;
use tag_banks::TagBanks;
use wave_capture::Capture;
use wave_isa::table::MemoryOp;

/// What the head of the queue is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
enum Head {
    /// The queue is empty, or the head has not started.
    Idle,
    /// Passes over the local memory banks; the last is in this cycle.
    Local(Cycle),
    /// L1 accesses, which go to the latch before the L1 one by one.
    Device,
}

/// The epoch of which a response acknowledges a store, if it is one that a fence waits for.
#[inline]
fn acknowledges(response: Response) -> Option<Epoch> {
    let owner = Owner(response.owner);
    match response.kind {
        ResponseKind::Stored => Some(owner.epoch()),
        ResponseKind::AtomicOld if owner.has(Owner::POSTED) && !owner.has(Owner::CORE_SCOPE) => {
            Some(owner.epoch())
        }
        ResponseKind::WrittenBack => Some(response.owner as Epoch),
        ResponseKind::AtomicOld | ResponseKind::Loaded => None,
    }
}

/// Load/store unit of a core.
#[derive(Debug, Clone, Capture)]
pub(crate) struct Lsu {
    instructions: Vec<MemoryInstruction>,
    free: Vec<u16>,
    queue: VecDeque<u16>,
    #[spec]
    queue_entries: usize,
    head: Head,
    /// The latch before the L1: the instruction whose next lines are tried, up to its `group_end`.
    sending: Option<u16>,
    /// The cycle in which an instruction last left the queue.
    shrunk_at: Cycle,
    /// Pending entries taken: device loads and returning atomics with accesses outstanding.
    pending: u32,
    #[spec]
    pending_entries: u32,
    /// Return entries taken: loads and returning atomics from their start until their last row is written.
    returning: u32,
    #[spec]
    return_entries: u32,
    /// Local memory results on their way: (cycle of arrival, instruction).
    local_results: VecDeque<(Cycle, u16)>,
    /// Arrival of the first of them; [`NEVER`] if there is none.
    local_result_at: Cycle,
    /// Complete loads, oldest first, and the row of the first that is written next (W2).
    returns: VecDeque<u16>,
    return_row: u8,
    /// Payload of the access in the latch, kept while the access is refused.
    payload: Payload,
    payload_ready: bool,
    /// What was learnt of addresses. It saves the host time and changes no result, so it stays as it is when a state is
    /// put back.
    #[scratch]
    shapes: Shapes,
    /// The data of the L1, if they are in banks.
    banked: Option<BankedData>,
    #[spec]
    tag_banks: TagBanks,
    #[spec]
    local_latency: Cycle,
    #[spec]
    line_bytes: u32,
    #[spec]
    sector_bytes: u32,
    #[spec]
    device_bytes: u64,
    #[spec]
    width: usize,
}

impl Lsu {
    /// An empty unit. `device_bytes` is the size of device memory.
    pub(crate) fn new(config: &Config, device_bytes: u64) -> Lsu {
        let core = &config.core;
        Lsu {
            instructions: Vec::new(),
            free: Vec::new(),
            queue: VecDeque::with_capacity(core.lsu.queue_entries as usize),
            queue_entries: core.lsu.queue_entries as usize,
            head: Head::Idle,
            sending: None,
            shrunk_at: NEVER,
            pending: 0,
            pending_entries: core.lsu.pending_entries,
            returning: 0,
            return_entries: core.lsu.pending_entries + core.lsu.extra_return_entries,
            local_results: VecDeque::new(),
            local_result_at: NEVER,
            returns: VecDeque::new(),
            return_row: 0,
            payload: Payload::default(),
            payload_ready: false,
            shapes: Shapes::default(),
            banked: BankedData::new(&core.l1),
            tag_banks: TagBanks::new(&core.l1),
            local_latency: Cycle::from(core.local.latency_cycles),
            line_bytes: core.l1.line_bytes,
            sector_bytes: core.l1.sector_bytes,
            device_bytes,
            width: core.wave_width as usize,
        }
    }

    /// Instructions in the queue.
    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Device loads and returning atomics with accesses outstanding.
    pub(crate) fn pending(&self) -> u32 {
        self.pending
    }

    /// The instructions in the unit, and where they are. `rejects`: why the L1 does not take the next line access.
    pub(super) fn under_way(&self, rejects: Option<Reject>) -> impl Iterator<Item = (InFlight, Place)> {
        let of = |&index: &u16| &self.instructions[usize::from(index)];
        let lines = move |index: &u16| {
            let tried = self.sending == Some(*index);
            let (lines, outstanding) = (of(index).lines.len(), of(index).outstanding);
            Place::Lines {
                sent: of(index).next_line.min(lines),
                lines,
                outstanding,
                lacks_entry: tried && self.lacks_entry(*index),
                rejects: rejects.filter(|_| tried),
            }
        };
        let queued = self.queue.iter().enumerate().map(move |(place, index)| {
            let at = match self.head {
                Head::Local(ends) if place == 0 => Place::LocalBanks(ends),
                Head::Device if place == 0 => lines(index),
                _ => Place::Queue(place),
            };
            (of(index).in_flight(), at)
        });
        let local = self
            .local_results
            .iter()
            .map(move |(at, index)| (of(index).in_flight(), Place::LocalResult(*at)));
        let returns = self.returns.iter().map(move |index| (of(index).in_flight(), Place::Return));
        let reading = self.reading().map(move |(at, index)| (of(index).in_flight(), Place::DataBanks(*at)));
        let rest = (0..self.instructions.len() as u16).filter(move |index| !self.is_listed(*index));
        let rest = rest.map(move |index| (of(&index).in_flight(), lines(&index)));
        queued.chain(local).chain(reading).chain(returns).chain(rest)
    }

    /// True if an instruction's place is free, or stands in a list.
    fn is_listed(&self, index: u16) -> bool {
        self.free.contains(&index)
            || self.queue.contains(&index)
            || self.returns.contains(&index)
            || self.local_results.iter().chain(self.reading()).any(|(_, other)| *other == index)
    }

    /// Complete loads that read the banks of the L1: the cycle of the last pass, and the instruction.
    fn reading(&self) -> impl Iterator<Item = &(Cycle, u16)> {
        self.banked.iter().flat_map(BankedData::reading)
    }

    /// The index of an instruction in the unit.
    pub(super) fn index_of(&self, slot: Slot, sequence: u64) -> Option<usize> {
        let is_it = |it: &MemoryInstruction| it.slot == slot && it.sequence == sequence;
        (0..self.instructions.len())
            .find(|&index| is_it(&self.instructions[index]) && !self.free.contains(&(index as u16)))
    }

    /// True if the instruction of this index waits for the answer to an access of this owner.
    pub(super) fn is_owned_by(owner: u32, instruction: usize) -> bool {
        !Owner(owner).has(Owner::POSTED) && Owner(owner).instruction() == instruction
    }

    /// True if the queue takes one more instruction. The place of one that has left in this cycle is free from the next
    /// on (X4).
    pub(crate) fn has_room(&self, now: Cycle) -> bool {
        self.queue.len() + usize::from(self.shrinks(now)) < self.queue_entries
    }

    /// True if an instruction has left the queue in this cycle.
    pub(crate) fn shrinks(&self, now: Cycle) -> bool {
        self.shrunk_at == now
    }

    /// Takes an instruction from its collector, with its operand rows.
    pub(crate) fn accept(
        &mut self,
        collector: &Collector,
        op: &MicroOp,
        memory: MemoryOp,
        operands: Operands,
    ) {
        let width = self.width;
        let index = self.free.pop().unwrap_or_else(|| {
            self.instructions.push(MemoryInstruction::new(memory, width));
            (self.instructions.len() - 1) as u16
        });
        let instruction = &mut self.instructions[usize::from(index)];
        instruction.slot = collector.slot();
        instruction.sequence = collector.sequence;
        instruction.forgotten = collector.forgotten;
        let place = (collector.word, collector.mask);
        instruction.begin(op, memory, place, operands.iter(), width);
        self.queue.push_back(index);
    }

    /// The results of all instructions in the unit are of no account any more.
    pub(crate) fn forget(&mut self) {
        self.instructions.iter_mut().for_each(|instruction| instruction.forgotten = true);
    }

    /// The oldest complete load and its next row.
    pub(crate) fn returning(&self) -> Option<(&MemoryInstruction, u8)> {
        self.returns.front().map(|&i| (&self.instructions[usize::from(i)], self.return_row))
    }

    /// The row from [`Lsu::returning`] is written. Returns the instruction if it was the last of its `rows`.
    pub(crate) fn row_written(&mut self, rows: u8) -> Option<InFlight> {
        self.return_row += 1;
        if self.return_row < rows {
            return None;
        }
        self.return_row = 0;
        let index = self.returns.pop_front()?;
        self.returning -= 1;
        self.free.push(index);
        Some(self.instructions[usize::from(index)].in_flight())
    }

    /// Stores the values that an access of this owner brings. They stay invisible until its response.
    #[inline]
    pub(super) fn take_values(&mut self, owner: u32, line: &[u8]) {
        let owner = Owner(owner);
        if !owner.has(Owner::POSTED) {
            let instruction = &mut self.instructions[owner.instruction()];
            instruction.take_line(owner.line(), self.line_bytes, line, self.width);
        }
    }

    /// True if a complete load waits for write-back.
    #[inline]
    pub(crate) fn returns(&self) -> bool {
        !self.returns.is_empty()
    }

    /// The cycle in which the next result of local memory or of the banks of the L1 comes.
    #[inline]
    pub(crate) fn next_result(&self) -> Cycle {
        self.banked.as_ref().map_or(self.local_result_at, |banked| banked.next().min(self.local_result_at))
    }

    /// The first cycle from `from` on in which the unit acts by itself. `blocked`: the L1 does not take the access in the
    /// latch.
    #[inline]
    pub(crate) fn next_event(&self, from: Cycle, blocked: bool) -> Cycle {
        let head = match self.head {
            Head::Local(ends) => ends,
            Head::Idle if !self.queue.is_empty() => from,
            // It waits for the latch.
            Head::Idle | Head::Device => NEVER,
        };
        // What was refused or lacks a pending entry waits for a response.
        let tries = !blocked && self.sending.is_some_and(|index| !self.lacks_entry(index));
        if tries { from } else { head.min(self.next_result()) }
    }

    /// True if the instruction in the latch needs a pending entry and none is free.
    #[inline]
    fn lacks_entry(&self, index: u16) -> bool {
        let sending = &self.instructions[usize::from(index)];
        sending.returns && sending.next_line == 0 && self.pending == self.pending_entries
    }
}
