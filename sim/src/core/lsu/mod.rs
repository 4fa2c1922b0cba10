//! The load/store unit of a core: one queue of wave instructions, address generation, local memory passes
//! and L1 accesses in order, results in the order in which they are complete.

pub mod coalesce;
pub mod local;

use super::Core;
use super::collector::{Collector, OperandRows};
use super::probe::{MemoryEvent, Probe};
use super::release::Epoch;
use super::uop::{MAX_SOURCE_ROWS, MicroOp, MicroOps};
use super::wave::Slot;
use crate::clock::{Cycle, NEVER};
use crate::config::Config;
use crate::isa::table::{AccessKind, AtomicOp, MemoryOp, Space};
use crate::isa::{MMA_DIM, Op, Scope};
use crate::memory::{Access, Operation, ResponseKind};
use crate::program::fault::{Fault, FaultKind};
use coalesce::LineAccess;
use std::collections::VecDeque;

/// Destination rows of a load at most (u128).
const MAX_LOAD_ROWS: usize = 4;

/// Whom an L1 response is for, packed into the access's owner: instruction in bits 0 to 15, its line in
/// 16 to 22, epoch of a store in 24.
#[derive(Debug, Clone, Copy)]
struct Owner(u32);

impl Owner {
    /// An atomic that the L1 performs: its store to the L2 is acknowledged separately.
    const CORE_SCOPE: u32 = 1 << 23;
    /// The instruction returns nothing and has retired when the response comes.
    const POSTED: u32 = 1 << 25;

    fn new(index: u16, line: usize, instruction: &MemoryInstruction, epoch: Epoch) -> Owner {
        let posted = if instruction.returns { 0 } else { Owner::POSTED };
        let core_scope = if instruction.performed_by_l1() { Owner::CORE_SCOPE } else { 0 };
        Owner(u32::from(index) | (line as u32) << 16 | (epoch as u32) << 24 | posted | core_scope)
    }

    fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }

    fn instruction(self) -> usize {
        (self.0 & 0xFFFF) as usize
    }

    fn line(self) -> usize {
        (self.0 >> 16 & 0x7F) as usize
    }

    fn epoch(self) -> Epoch {
        (self.0 >> 24 & 1) as Epoch
    }
}

/// An instruction that has become visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retired {
    /// Wave slot.
    pub slot: Slot,
    /// Position in the wave's issue order.
    pub sequence: u64,
    /// Word of the kernel.
    pub word: u32,
}

/// One wave memory instruction, from its collector until it is performed and its result is written.
#[derive(Debug, Clone)]
pub struct MemoryInstruction {
    /// Wave slot.
    pub slot: Slot,
    sequence: u64,
    /// Word of the kernel.
    pub word: u32,
    /// Effective lanes.
    pub mask: u64,
    memory: MemoryOp,
    scope: Scope,
    returns: bool,
    fragment: u8,
    /// Source rows: the address row first.
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    lines: Vec<LineAccess>,
    next_line: usize,
    outstanding: u32,
}

impl MemoryInstruction {
    /// A row of the result.
    pub fn output_row(&self, row: u8, width: usize) -> &[u32] {
        &self.outputs[usize::from(row) * width..][..width]
    }

    /// How often a lane accesses memory: a tile is accessed row by row, anything else is one row.
    fn rows(&self) -> u32 {
        if self.memory.kind == AccessKind::Tile { MMA_DIM as u32 } else { 1 }
    }

    /// The addresses of a row, of the participating lanes with the lowest first.
    fn row_addresses(&self, row: u32, width: usize) -> impl Iterator<Item = u32> {
        let (bases, strides) = self.inputs.split_at(width);
        lanes_of(self.mask).map(move |lane| match row {
            0 => bases[lane],
            row => bases[lane].wrapping_add(row.wrapping_mul(strides[lane])),
        })
    }

    fn performed_by_l1(&self) -> bool {
        matches!(self.memory.kind, AccessKind::Atomic(_)) && self.scope <= Scope::Workgroup
    }

    /// Which instruction it is.
    pub fn retired(&self) -> Retired {
        Retired { slot: self.slot, sequence: self.sequence, word: self.word }
    }
}

/// What the head of the queue is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    /// There is none, or it has not started.
    Idle,
    /// Passes over the local memory banks, the last one in this cycle.
    Local(Cycle),
    /// L1 accesses, one a cycle.
    Device,
}

/// Load/store unit of a core.
#[derive(Debug, Clone)]
pub struct Lsu {
    instructions: Vec<MemoryInstruction>,
    free: Vec<u16>,
    queue: VecDeque<u16>,
    queue_entries: usize,
    head: Head,
    /// Device loads and returning atomics with accesses outstanding.
    pending: u32,
    pending_entries: u32,
    /// Local results on their way: (cycle, instruction).
    local_results: VecDeque<(Cycle, u16)>,
    /// Complete loads and the row of the first that is written next.
    returns: VecDeque<u16>,
    return_row: u8,
    local_latency: Cycle,
    line_bytes: u32,
    sector_bytes: u32,
    device_bytes: u64,
    width: usize,
}

impl Lsu {
    /// An empty unit. `device_bytes` is the size of device memory.
    pub fn new(config: &Config, device_bytes: u64) -> Lsu {
        let core = &config.core;
        Lsu {
            instructions: Vec::new(),
            free: Vec::new(),
            queue: VecDeque::with_capacity(core.lsu.queue_entries as usize),
            queue_entries: core.lsu.queue_entries as usize,
            head: Head::Idle,
            pending: 0,
            pending_entries: core.lsu.pending_entries,
            local_results: VecDeque::new(),
            returns: VecDeque::new(),
            return_row: 0,
            local_latency: Cycle::from(core.local.latency_cycles),
            line_bytes: core.l1.line_bytes,
            sector_bytes: core.l1.sector_bytes,
            device_bytes,
            width: core.wave_width as usize,
        }
    }

    /// Instructions in the queue.
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    /// True if the queue takes one more instruction.
    pub fn has_room(&self) -> bool {
        self.queue.len() < self.queue_entries
    }

    /// Takes an instruction from its collector, with its operand rows.
    pub fn accept(&mut self, collector: &Collector, op: &MicroOp, memory: MemoryOp, rows: &OperandRows) {
        let width = self.width;
        let index = self.free.pop().unwrap_or_else(|| {
            self.instructions.push(MemoryInstruction {
                slot: 0,
                sequence: 0,
                word: 0,
                mask: 0,
                memory,
                scope: Scope::Wave,
                returns: false,
                fragment: 0,
                inputs: vec![0; MAX_SOURCE_ROWS * width],
                outputs: vec![0; MAX_LOAD_ROWS * width],
                lines: Vec::with_capacity(2 * width),
                next_line: 0,
                outstanding: 0,
            });
            (self.instructions.len() - 1) as u16
        });
        let instruction = &mut self.instructions[usize::from(index)];
        instruction.slot = collector.slot;
        instruction.sequence = collector.sequence;
        instruction.word = collector.word;
        instruction.mask = collector.mask;
        instruction.memory = memory;
        instruction.scope = op.inst.scope;
        instruction.returns = op.destination_rows > 0;
        // The fragment of a tile is in the field that holds no register: rs2 of a store, rd of a load.
        instruction.fragment = if op.inst.op == Op::MmaStoreC { op.inst.rs2 } else { op.inst.rd };
        for (kept, row) in
            instruction.inputs.chunks_exact_mut(width).zip(&rows[..usize::from(op.source_rows)])
        {
            kept.copy_from_slice(row);
        }
        self.queue.push_back(index);
    }

    /// The oldest complete load and its next row.
    pub fn returning(&self) -> Option<(&MemoryInstruction, u8)> {
        self.returns.front().map(|&i| (&self.instructions[usize::from(i)], self.return_row))
    }

    /// The row from [`Lsu::returning`] is written; the instruction if it was the last of `rows`.
    pub fn row_written(&mut self, rows: u8) -> Option<Retired> {
        self.return_row += 1;
        if self.return_row < rows {
            return None;
        }
        self.return_row = 0;
        let index = self.returns.pop_front()?;
        self.free.push(index);
        Some(self.instructions[usize::from(index)].retired())
    }

    /// When the unit next does something by itself after `now`.
    pub fn next_event(&self, now: Cycle) -> Cycle {
        let local = self.local_results.front().map_or(NEVER, |&(at, _)| at);
        let head = match self.head {
            Head::Local(ends) => ends,
            // Refused, or out of pending entries: a response has to come first.
            Head::Device => NEVER,
            Head::Idle if self.queue.is_empty() => NEVER,
            Head::Idle => now + 1,
        };
        let returns = if self.returns.is_empty() { NEVER } else { now + 1 };
        local.min(head).min(returns)
    }

    /// The bounds and alignment check of an instruction. The lanes at fault and the fault of the lowest.
    fn check(&self, instruction: &MemoryInstruction, local_bytes: u32) -> Result<(), (u64, FaultKind)> {
        let memory = instruction.memory;
        let size = match memory.space {
            Space::Local => u64::from(local_bytes),
            Space::Device => self.device_bytes,
        };
        let bytes = u32::from(memory.bytes);
        let atomic = matches!(memory.kind, AccessKind::Atomic(_));
        let misaligned = |address: u32| atomic && !address.is_multiple_of(4);
        let outside = |address: u32| u64::from(address) + u64::from(bytes) > size;
        let rows = 0..instruction.rows();
        let well = |address| !misaligned(address) && !outside(address);
        // Nearly always all is well; who is at fault is found out only if not.
        if rows.clone().all(|row| instruction.row_addresses(row, self.width).all(well)) {
            return Ok(());
        }
        let mut first = None;
        let mut faulty = 0;
        for (place, lane) in lanes_of(instruction.mask).enumerate() {
            for row in rows.clone() {
                let Some(address) = instruction.row_addresses(row, self.width).nth(place) else { continue };
                let kind = if misaligned(address) {
                    FaultKind::MisalignedAtomic { space: memory.space, address }
                } else if outside(address) {
                    FaultKind::OutOfBounds { space: memory.space, address, bytes, size }
                } else {
                    continue;
                };
                first.get_or_insert(kind);
                faulty |= 1 << lane;
            }
        }
        first.map_or(Ok(()), |kind| Err((faulty, kind)))
    }
}

/// The lanes of a mask, lowest first.
pub fn lanes_of(mask: u64) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(lane)
    })
}

impl Core {
    /// Takes what local memory and the L1 have finished, before write-back of the same cycle.
    pub(super) fn receive_accesses<P: Probe>(&mut self, now: Cycle, ops: &MicroOps, probe: &mut P) {
        while let Some(&(at, index)) = self.lsu.local_results.front()
            && at <= now
        {
            self.lsu.local_results.pop_front();
            self.progress = true;
            let instruction = &self.lsu.instructions[usize::from(index)];
            if instruction.returns {
                self.lsu.returns.push_back(index);
            } else {
                // A tile goes to its fragment, which has a write path of its own.
                let retired = instruction.retired();
                self.lsu.free.push(index);
                self.retire_access(now, retired, ops, probe);
            }
        }
        let Some(response) = self.l1.response(now) else { return };
        self.progress = true;
        let owner = Owner(response.owner);
        let acknowledges = match response.kind {
            ResponseKind::Stored => Some(owner.epoch()),
            ResponseKind::AtomicOld if owner.has(Owner::POSTED) && !owner.has(Owner::CORE_SCOPE) => {
                Some(owner.epoch())
            }
            ResponseKind::WrittenBack => Some(response.owner as Epoch),
            ResponseKind::AtomicOld | ResponseKind::Loaded => None,
        };
        if let Some(epoch) = acknowledges {
            for slot in lanes_of(self.waves.releases.acknowledge(epoch)) {
                self.waves.refresh(slot, ops);
                self.touch(slot);
            }
        } else if !owner.has(Owner::POSTED) {
            let instruction = &mut self.lsu.instructions[owner.instruction()];
            let MemoryInstruction { memory, lines, inputs, outputs, .. } = instruction;
            let line = &lines[owner.line()];
            coalesce::take_line(
                *memory,
                line,
                self.lsu.line_bytes,
                response.data,
                inputs,
                outputs,
                self.width,
            );
            instruction.outstanding -= 1;
            if instruction.outstanding == 0 && instruction.next_line == instruction.lines.len() {
                self.lsu.pending -= 1;
                self.lsu.returns.push_back(owner.instruction() as u16);
            }
        }
        self.l1.pop_response(now);
    }

    /// The load/store unit's own stage: the head of its queue.
    ///
    /// # Errors
    /// An access outside its memory, or a misaligned atomic.
    pub(super) fn tick_lsu<P: Probe>(
        &mut self,
        now: Cycle,
        ops: &MicroOps,
        probe: &mut P,
    ) -> Result<(), Box<Fault>> {
        let Some(&index) = self.lsu.queue.front() else { return Ok(()) };
        if self.lsu.head == Head::Idle {
            self.start_access(now, index, ops, probe)?;
        }
        match self.lsu.head {
            Head::Local(ends) if ends == now => {
                self.perform_local(now, index, ops, probe);
                self.finish_head();
            }
            Head::Local(_) | Head::Idle => {}
            Head::Device if self.l1.is_blocked() => {}
            Head::Device => self.access_l1(now, index, ops, probe),
        }
        Ok(())
    }

    fn finish_head(&mut self) {
        self.lsu.queue.pop_front();
        self.lsu.head = Head::Idle;
        self.progress = true;
        // There is room for one more instruction.
        self.dispatch_at.fill(0);
    }

    /// Address generation for the instruction that has become the head.
    fn start_access<P: Probe>(
        &mut self,
        now: Cycle,
        index: u16,
        ops: &MicroOps,
        probe: &mut P,
    ) -> Result<(), Box<Fault>> {
        self.progress = true;
        let lsu = &mut self.lsu;
        let instruction = &lsu.instructions[usize::from(index)];
        if let Err((lanes, kind)) = lsu.check(instruction, self.shape.launch.local_memory_bytes) {
            let (slot, word) = (instruction.slot, instruction.word);
            return Err(self.fault(now, slot, word, lanes, ops, kind));
        }
        let memory = instruction.memory;
        if P::ON {
            let (addresses, behind) = instruction.inputs.split_at(self.width);
            let sent = match memory.kind {
                AccessKind::Load | AccessKind::Tile => 0,
                AccessKind::Store => usize::from(memory.bytes).div_ceil(4),
                AccessKind::Atomic(AtomicOp::Cas) => 2,
                AccessKind::Atomic(_) => 1,
            };
            probe.accesses(&MemoryEvent {
                core: self.index,
                slot: instruction.slot,
                sequence: instruction.sequence,
                word: instruction.word,
                memory,
                writes: match memory.kind {
                    AccessKind::Load => false,
                    AccessKind::Store | AccessKind::Atomic(_) => true,
                    AccessKind::Tile => ops.get(instruction.word).inst.op == Op::MmaStoreC,
                },
                scope: instruction.scope,
                mask: instruction.mask,
                addresses,
                strides: &behind[..self.width],
                sent: &behind[..sent * self.width],
                rows: instruction.rows(),
            });
        }
        if memory.space == Space::Local {
            let mut passes = 0;
            for row in 0..instruction.rows() {
                passes += self.local.passes(instruction.row_addresses(row, self.width), memory);
            }
            lsu.head = Head::Local(now + Cycle::from(passes) - 1);
            self.counters.local_accesses += 1;
            self.counters.local_passes += u64::from(passes);
            if P::ACCOUNT {
                probe.local_access(instruction.word, passes);
            }
            return Ok(());
        }
        match memory.kind {
            AccessKind::Load | AccessKind::Tile => self.counters.device_loads += 1,
            AccessKind::Store => self.counters.device_stores += 1,
            AccessKind::Atomic(_) => self.counters.device_atomics += 1,
        }
        let (line_bytes, sector_bytes) = (lsu.line_bytes, lsu.sector_bytes);
        let instruction = &mut lsu.instructions[usize::from(index)];
        let MemoryInstruction { inputs, lines, mask, .. } = instruction;
        coalesce::lines_of(memory, *mask, &inputs[..self.width], line_bytes, sector_bytes, lines);
        instruction.next_line = 0;
        instruction.outstanding = 0;
        lsu.head = Head::Device;
        Ok(())
    }

    /// Tries the next L1 access of the head.
    fn access_l1<P: Probe>(&mut self, now: Cycle, index: u16, ops: &MicroOps, probe: &mut P) {
        let lsu = &mut self.lsu;
        let instruction = &mut lsu.instructions[usize::from(index)];
        let first = instruction.next_line == 0;
        if instruction.returns && first && lsu.pending == lsu.pending_entries {
            return;
        }
        let line = instruction.lines[instruction.next_line];
        let epoch = self.waves.releases.open();
        let owner = Owner::new(index, instruction.next_line, instruction, epoch);
        let payload =
            coalesce::payload(instruction.memory, &line, lsu.line_bytes, &instruction.inputs, self.width);
        let operation = match instruction.memory.kind {
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
        let access =
            Access { operation, hint, line: u64::from(line.address), owner: owner.0, epoch: epoch as u8 };
        let before = P::ACCOUNT.then(|| *self.l1.counters());
        let result = self.l1.access(now, &access);
        if let Some(before) = before {
            probe.line_access(instruction.word, &self.l1.counters().since(&before));
        }
        let Ok(on_the_way) = result else { return };
        self.progress = true;
        self.counters.line_accesses += 1;
        if on_the_way && owner.has(Owner::POSTED | Owner::CORE_SCOPE) {
            self.waves.releases.store();
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
            let retired = instruction.retired();
            lsu.free.push(index);
            self.retire_access(now, retired, ops, probe);
        }
        self.finish_head();
    }
}
