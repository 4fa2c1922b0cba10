//! Load/store unit of a core. One queue of wave instructions is processed in order: address generation and local memory
//! passes, and a cycle later the L1 accesses. Results return in the order of their completion.

pub(crate) mod coalesce;
mod flat;
mod instruction;
pub(crate) mod local;
mod pattern;
mod plausible;
mod shape;

use super::collector::{Collector, Operands};
use super::context::Contexts;
use super::latches::Accesses;
use super::place::Place;
use super::probe::{Event, EventKind, LineAccess, LocalAccess, MemoryEvent, Probe};
use super::release::Epoch;
use super::retire::Retirement;
use super::shared::Shared;
use super::slot::{InFlight, Slot};
use super::uop::MicroOp;
use crate::alu::FRAGMENT_ROWS;
use crate::clock::{Cycle, NEVER};
use crate::config::Config;

use crate::memory::{Access, L1, Operation, Reject, Response, ResponseKind};
use crate::registry::Requester;
use coalesce::Payload;
pub(crate) use instruction::MemoryInstruction;
use instruction::Owner;
use local::LocalMemory;
pub(super) use plausible::Around;
pub(crate) use shape::Shapes;
use std::collections::VecDeque;
use wave_capture::Capture;
use wave_isa::program::fault::Fault;
use wave_isa::table::{AccessKind, AtomicOp, MemoryOp, Space};
use wave_isa::{MAX_WAVE_WIDTH, Op};

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
    /// The latch before the L1: the instruction whose next line it is tried to access.
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
        let rest = (0..self.instructions.len() as u16).filter(move |index| !self.is_listed(*index));
        let rest = rest.map(move |index| (of(&index).in_flight(), lines(&index)));
        queued.chain(local).chain(returns).chain(rest)
    }

    /// True if an instruction's place is free, or stands in a list.
    fn is_listed(&self, index: u16) -> bool {
        self.free.contains(&index)
            || self.queue.contains(&index)
            || self.returns.contains(&index)
            || self.local_results.iter().any(|(_, other)| *other == index)
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

    /// The cycle in which the next result of local memory arrives.
    #[inline]
    pub(crate) fn next_local_result(&self) -> Cycle {
        self.local_result_at
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
        if tries { from } else { head.min(self.local_result_at) }
    }

    /// True if the instruction in the latch needs a pending entry and none is free.
    #[inline]
    fn lacks_entry(&self, index: u16) -> bool {
        let sending = &self.instructions[usize::from(index)];
        sending.returns && sending.next_line == 0 && self.pending == self.pending_entries
    }
}

/// The stage of the load/store unit, and of the results that it gets.
pub(super) struct LoadStore<'c> {
    pub lsu: &'c mut Lsu,
    pub l1: &'c mut L1,
    pub local: &'c mut LocalMemory,
    pub retirement: Retirement<'c>,
    /// Back to dispatch: the queue has room for one more instruction.
    pub queue_room: &'c mut Accesses,
}

impl LoadStore<'_> {
    /// Takes the results of local memory and the L1. Write-back has worked already in this cycle, so they are written in
    /// the next at the earliest (W2).
    #[inline]
    pub(super) fn receive<P: Probe>(&mut self, now: Cycle, contexts: &Contexts, probe: &mut P) {
        if self.lsu.local_result_at <= now {
            self.receive_local(now, contexts, probe);
        }
        if let Some(response) = self.l1.take_response(now) {
            self.receive_response(response);
        }
    }

    fn receive_local<P: Probe>(&mut self, now: Cycle, contexts: &Contexts, probe: &mut P) {
        while let Some(&(at, index)) = self.lsu.local_results.front() {
            self.lsu.local_result_at = at;
            if at > now {
                return;
            }
            self.lsu.local_results.pop_front();
            let instruction = &self.lsu.instructions[usize::from(index)];
            if instruction.returns {
                self.lsu.returns.push_back(index);
            } else {
                // A tile goes to its fragment, which has its own write path, so it retires here.
                let retired = instruction.in_flight();
                self.lsu.free.push(index);
                self.retirement.retire_access(now, retired, contexts, probe);
            }
        }
        self.lsu.local_result_at = NEVER;
    }

    fn receive_response(&mut self, response: Response) {
        let owner = Owner(response.owner);
        if let Some(epoch) = acknowledges(response) {
            self.retirement.shared.waves.releases.acknowledge(epoch);
        } else if !owner.has(Owner::POSTED) {
            let instruction = &mut self.lsu.instructions[owner.instruction()];
            instruction.outstanding -= 1;
            if instruction.outstanding == 0 && instruction.next_line == instruction.lines.len() {
                self.lsu.pending -= 1;
                self.lsu.returns.push_back(owner.instruction() as u16);
            }
        }
    }

    /// Tries the access in the latch before the L1 (L6). True if it has tried one.
    #[inline]
    pub(super) fn try_latch<P: Probe>(&mut self, now: Cycle, contexts: &Contexts, probe: &mut P) -> bool {
        let Some(index) = self.lsu.sending.filter(|_| !self.l1.is_blocked()) else { return false };
        self.access_l1(now, index, contexts, probe);
        true
    }

    /// Works on the head of the queue (L1).
    ///
    /// # Errors
    /// An access outside its memory, or a misaligned atomic.
    #[inline]
    pub(super) fn tick<P: Probe>(
        &mut self,
        now: Cycle,
        contexts: &Contexts,
        probe: &mut P,
    ) -> Result<(), Box<Fault>> {
        let Some(&index) = self.lsu.queue.front() else { return Ok(()) };
        if self.lsu.head == Head::Idle {
            let lsu = &mut *self.lsu;
            if lsu.instructions[usize::from(index)].returns {
                if lsu.returning == lsu.return_entries {
                    // A return entry is freed when a load's last row is written.
                    return Ok(());
                }
                lsu.returning += 1;
            }
            self.start_access(now, index, contexts, probe)?;
        }
        match self.lsu.head {
            Head::Local(ends) if ends == now => {
                self.perform_local(now, index, contexts, probe);
                self.finish_head(now);
            }
            Head::Device if self.lsu.sending.is_none() => {
                self.lsu.sending = Some(index);
                let instruction = &self.lsu.instructions[usize::from(index)];
                if instruction.next_line + 1 == instruction.lines.len() {
                    self.finish_head(now);
                }
            }
            Head::Local(_) | Head::Device | Head::Idle => {}
        }
        Ok(())
    }

    fn finish_head(&mut self, now: Cycle) {
        self.lsu.queue.pop_front();
        self.lsu.head = Head::Idle;
        self.lsu.shrunk_at = now;
        // The queue has room for one more instruction.
        self.queue_room.have_room(now + 1);
    }

    /// Address generation for the instruction that has become the head.
    fn start_access<P: Probe>(
        &mut self,
        now: Cycle,
        index: u16,
        contexts: &Contexts,
        probe: &mut P,
    ) -> Result<(), Box<Fault>> {
        let lsu = &mut *self.lsu;
        let Shared { spec, waves, account, .. } = &mut *self.retirement.shared;
        let instruction = &mut lsu.instructions[usize::from(index)];
        let context = waves.waves[instruction.slot].context;
        let size = match instruction.memory.space {
            Space::Local => u64::from(contexts.of(context).launch().local_memory_bytes),
            Space::Device => lsu.device_bytes,
        };
        let shape = match instruction.locate(&mut lsu.shapes, size, spec.width) {
            Ok(shape) => shape,
            Err((lanes, kind)) => {
                let (slot, word) = (instruction.slot, instruction.word);
                return Err(self.retirement.shared.fault(now, slot, word, lanes, contexts, kind));
            }
        };
        let memory = instruction.memory;
        probe.tell(EventKind::Access, || {
            let (addresses, behind) = instruction.inputs.split_at(spec.width);
            let sent = match memory.kind {
                AccessKind::Load | AccessKind::Tile => 0,
                AccessKind::Store => usize::from(memory.bytes).div_ceil(4),
                AccessKind::Atomic(AtomicOp::Cas) => 2,
                AccessKind::Atomic(_) => 1,
            };
            Event::Access(MemoryEvent {
                cycle: now,
                core: spec.index,
                slot: instruction.slot,
                sequence: instruction.sequence,
                word: instruction.word,
                memory,
                writes: match memory.kind {
                    AccessKind::Load => false,
                    AccessKind::Store | AccessKind::Atomic(_) => true,
                    AccessKind::Tile => contexts.op(context, instruction.word).inst.op == Op::MmaStoreC,
                },
                scope: instruction.scope,
                mask: instruction.mask,
                addresses,
                strides: &behind[..spec.width],
                sent: &behind[..sent * spec.width],
                rows: instruction.rows(),
            })
        });
        if memory.space == Space::Local {
            let local = &mut *self.local;
            let (bank_bytes, width) = (local.bank_bytes(), spec.width);
            let mut count = || {
                let mut lanes = [0; MAX_WAVE_WIDTH];
                let passes = |row| local.passes(instruction.row_addresses(row, width, &mut lanes), memory);
                (0..instruction.rows()).map(passes).sum()
            };
            let passes = match shape {
                Some(shape) => shape.passes(instruction.base(), bank_bytes, count),
                None => count(),
            };
            lsu.head = Head::Local(now + Cycle::from(passes) - 1);
            account.counters.local_accesses += 1;
            account.counters.local_passes += u64::from(passes);
            let access = LocalAccess { core: spec.index, word: instruction.word, passes };
            probe.tell(EventKind::LocalAccess, || Event::LocalAccess(access));
            return Ok(());
        }
        match memory.kind {
            AccessKind::Load | AccessKind::Tile => account.counters.device_loads += 1,
            AccessKind::Store => account.counters.device_stores += 1,
            AccessKind::Atomic(_) => account.counters.device_atomics += 1,
        }
        let geometry = (lsu.line_bytes, lsu.sector_bytes);
        match shape {
            Some(shape) => shape.find_lines(instruction, spec.width, geometry),
            None => instruction.find_lines(spec.width, geometry),
        }
        instruction.next_line = 0;
        instruction.outstanding = 0;
        lsu.head = Head::Device;
        Ok(())
    }

    /// Tries the L1 access in the latch (L6).
    fn access_l1<P: Probe>(&mut self, now: Cycle, index: u16, contexts: &Contexts, probe: &mut P) {
        let lsu = &mut *self.lsu;
        let Shared { spec, waves, account, .. } = &mut *self.retirement.shared;
        let width = spec.width;
        let instruction = &mut lsu.instructions[usize::from(index)];
        let first = instruction.next_line == 0;
        if instruction.returns && first && lsu.pending == lsu.pending_entries {
            return;
        }
        if !P::ON && instruction.memory.kind == AccessKind::Store && self.l1.refuses_stores() {
            return self.l1.refuse(now, Reject::Outgoing);
        }
        let line_bytes = lsu.line_bytes;
        let line = instruction.lines[instruction.next_line];
        let epoch = waves.releases.open();
        let owner = Owner::new(index, instruction.next_line, instruction, epoch);
        let (kind, payload) = (instruction.memory.kind, &mut lsu.payload);
        if !lsu.payload_ready && matches!(kind, AccessKind::Store | AccessKind::Atomic(_)) {
            instruction.payload(&line, line_bytes, width, payload);
            lsu.payload_ready = true;
        }
        let operation = match kind {
            AccessKind::Load | AccessKind::Tile => Operation::Load { sectors: line.sectors },
            AccessKind::Store => Operation::Store { byte_mask: payload.byte_mask, data: &payload.data },
            AccessKind::Atomic(op) => Operation::Atomic {
                op,
                scope: instruction.scope,
                byte_mask: payload.byte_mask,
                data: &payload.data,
                swap: payload.swap,
            },
        };
        let hint = instruction.memory.hint;
        let by = Requester::wave(spec.index as u16, instruction.slot, instruction.word);
        let (line, owner_bits, epoch) = (u64::from(line.address), owner.0, epoch as u8);
        let access = Access { operation, hint, line, by, owner: owner_bits, epoch };
        let before =
            probe.wants(EventKind::LineAccess).then(|| (*self.l1.counters(), self.l1.loses(&access)));
        let result = self.l1.access(now, &access, &mut |_, values| {
            if instruction.returns {
                instruction.take_line(owner.line(), line_bytes, values, width);
            }
        });
        if let Some((before, lost)) = before {
            let counted = &self.l1.counters().since(&before);
            let (core, word) = (spec.index, instruction.word);
            let tried = LineAccess { cycle: now, core, word, access: &access, lost, counted };
            probe.tell(EventKind::LineAccess, || Event::LineAccess(tried));
        }
        let Ok(on_the_way) = result else { return };
        lsu.payload_ready = false;
        lsu.sending = None;
        account.counters.line_accesses += 1;
        if on_the_way && owner.has(Owner::POSTED | Owner::CORE_SCOPE) {
            waves.releases.store();
        }
        if instruction.returns {
            lsu.pending += u32::from(first);
            instruction.outstanding += 1;
        }
        instruction.next_line += 1;
        if instruction.next_line < instruction.lines.len() {
            return;
        }
        if !instruction.returns {
            let retired = instruction.in_flight();
            lsu.free.push(index);
            self.retirement.retire_access(now, retired, contexts, probe);
        }
    }

    /// The last pass of a local access: moves the values and schedules the result.
    fn perform_local<P: Probe>(&mut self, now: Cycle, index: u16, contexts: &Contexts, probe: &mut P) {
        let lsu = &mut *self.lsu;
        let Retirement { shared, file, .. } = &mut self.retirement;
        let instruction = &mut lsu.instructions[usize::from(index)];
        let workgroup = shared.waves.waves[instruction.slot].workgroup;
        let bytes = self.local.part_mut(workgroup);
        let width = shared.spec.width;
        let op = shared.waves.op(instruction.slot, instruction.word, contexts);
        let fragment = match instruction.fragment_of(op) {
            None => &mut [],
            Some((kind, index)) => {
                let at = shared.spec.fragment_at(instruction.slot, kind, index as u8);
                let rows = &mut file.fragments[at..][..FRAGMENT_ROWS * width];
                if file.journal.is_kept() && op.inst.op != Op::MmaStoreC {
                    let it = instruction.in_flight();
                    file.journal.overwrites_fragment(it, at, rows);
                    file.journal.is_written(it, now + lsu.local_latency);
                }
                rows
            }
        };
        if !instruction.forgotten {
            instruction.perform_and_keep(op, bytes, fragment, width);
        }
        if instruction.yields(op) {
            if lsu.local_results.is_empty() {
                lsu.local_result_at = now + lsu.local_latency;
            }
            lsu.local_results.push_back((now + lsu.local_latency, index));
        } else {
            let retired = instruction.in_flight();
            lsu.free.push(index);
            self.retirement.retire_access(now, retired, contexts, probe);
        }
    }
}
