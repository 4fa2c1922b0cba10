//! The stage of the load/store unit: address generation, local memory passes, L1 accesses, and the results of both.

use super::instruction::Owner;
use super::local::LocalMemory;
use super::{Head, Lsu, acknowledges};
use crate::alu::FRAGMENT_ROWS;
use crate::clock::{Cycle, NEVER};
use crate::core::context::Contexts;
use crate::core::latches::Accesses;
use crate::core::probe::{Event, EventKind, LineAccess, LocalAccess, MemoryEvent, Probe};
use crate::core::retire::Retirement;
use crate::core::shared::Shared;
use crate::memory::{Access, L1, Operation, Reject, Response};
use crate::registry::Requester;
use wave_isa::Op;
use wave_isa::program::fault::Fault;
use wave_isa::table::{AccessKind, AtomicOp, Space};

/// The stage of the load/store unit, and of the results that it gets.
pub(in crate::core) struct LoadStore<'c> {
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
    pub(in crate::core) fn receive<P: Probe>(&mut self, now: Cycle, contexts: &Contexts, probe: &mut P) {
        if self.lsu.local_result_at <= now {
            self.receive_local(now, contexts, probe);
        }
        if let Some(banked) = &mut self.lsu.banked {
            while let Some(index) = banked.take(now) {
                self.lsu.returns.push_back(index);
            }
        }
        let most = self.lsu.tag_banks.count();
        for place in 1..=most {
            let is_last = place == most;
            let Some(response) = self.l1.take_response(now, is_last) else { break };
            self.receive_response(now, response);
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

    fn receive_response(&mut self, now: Cycle, response: Response) {
        let owner = Owner(response.owner);
        if let Some(epoch) = acknowledges(response) {
            self.retirement.shared.waves.releases.acknowledge(epoch);
        } else if !owner.has(Owner::POSTED) {
            let instruction = &mut self.lsu.instructions[owner.instruction()];
            instruction.outstanding -= 1;
            if instruction.outstanding == 0 && instruction.next_line == instruction.lines.len() {
                self.lsu.pending -= 1;
                let index = owner.instruction() as u16;
                let passes = instruction.passes;
                if !self.lsu.banked.as_mut().is_some_and(|banked| banked.holds_up(now, index, passes)) {
                    self.lsu.returns.push_back(index);
                }
            }
        }
    }

    /// Tries the accesses in the latch before the L1 (L6). True if it has tried one.
    #[inline]
    pub(in crate::core) fn try_latch<P: Probe>(
        &mut self,
        now: Cycle,
        contexts: &Contexts,
        probe: &mut P,
    ) -> bool {
        let Some(index) = self.lsu.sending.filter(|_| !self.l1.is_blocked()) else { return false };
        while self.access_l1(now, index, contexts, probe) && self.lsu.sending.is_some() {}
        true
    }

    /// Works on the head of the queue (L1).
    ///
    /// # Errors
    /// An access outside its memory, or a misaligned atomic.
    #[inline]
    pub(in crate::core) fn tick<P: Probe>(
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
                let instruction = &mut self.lsu.instructions[usize::from(index)];
                let (lines, next) = (&instruction.lines, instruction.next_line);
                instruction.group_end = self.lsu.tag_banks.group_end(lines, next);
                if instruction.group_end == instruction.lines.len() {
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
            let passes = instruction.passes_over(local.banks(), shape, spec.width);
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
        let mut shape = shape;
        match &mut shape {
            Some(shape) => shape.find_lines(instruction, spec.width, geometry),
            None => instruction.find_lines(spec.width, geometry),
        }
        lsu.tag_banks.arrange(&mut instruction.lines);
        if let (Some(banked), AccessKind::Load) = (&mut lsu.banked, memory.kind) {
            instruction.passes = instruction.passes_over(banked.banks(), shape, spec.width);
            account.counters.l1_passes += u64::from(instruction.passes);
        }
        (instruction.next_line, instruction.group_end) = (0, 0);
        instruction.outstanding = 0;
        lsu.head = Head::Device;
        Ok(())
    }

    /// Tries the next L1 access in the latch (L6). True if the L1 has taken it.
    fn access_l1<P: Probe>(&mut self, now: Cycle, index: u16, contexts: &Contexts, probe: &mut P) -> bool {
        let lsu = &mut *self.lsu;
        let Shared { spec, waves, account, .. } = &mut *self.retirement.shared;
        let width = spec.width;
        let instruction = &mut lsu.instructions[usize::from(index)];
        let first = instruction.next_line == 0;
        if instruction.returns && first && lsu.pending == lsu.pending_entries {
            return false;
        }
        if !P::ON && instruction.memory.kind == AccessKind::Store && self.l1.refuses_stores() {
            self.l1.refuse(now, Reject::Outgoing);
            return false;
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
        let Ok(on_the_way) = result else { return false };
        lsu.payload_ready = false;
        account.counters.line_accesses += 1;
        if on_the_way && owner.has(Owner::POSTED | Owner::CORE_SCOPE) {
            waves.releases.store();
        }
        if instruction.returns {
            lsu.pending += u32::from(first);
            instruction.outstanding += 1;
        }
        instruction.next_line += 1;
        let is_done = instruction.next_line == instruction.lines.len();
        if instruction.next_line == instruction.group_end {
            lsu.sending = None;
        }
        if is_done && !instruction.returns {
            let retired = instruction.in_flight();
            lsu.free.push(index);
            self.retirement.retire_access(now, retired, contexts, probe);
        }
        true
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
