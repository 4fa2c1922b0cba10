//! A wave's memory instruction in the load/store unit, and the check of its addresses.

use super::banks::Banks;
use super::coalesce::{self, LineAccess, Payload};
use super::pattern::Pattern;
use super::shape::{Shape, Shapes};
use crate::alu::MAX_SOURCE_ROWS;
use crate::core::release::Epoch;
use crate::core::slot::{InFlight, Slot, lanes_of};
use crate::core::uop::MicroOp;
use wave_capture::Capture;
use wave_isa::program::fault::FaultKind;
use wave_isa::table::{AccessKind, MemoryOp};
use wave_isa::{MAX_WAVE_WIDTH, MMA_DIM, Op, Scope};

/// Most destination rows of a load (u128).
pub(super) const MAX_LOAD_ROWS: usize = 4;

/// Receiver of an L1 response, packed into the access's owner: instruction in bits 0 to 15, line in 16 to 22,
/// epoch of a store in 24; bits 23 and 25 are flags.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner(pub(super) u32);

impl Owner {
    /// An atomic that the L1 performs: the L2 acknowledges its write separately.
    pub(super) const CORE_SCOPE: u32 = 1 << 23;
    /// The instruction returns no value and has retired when the response comes.
    pub(super) const POSTED: u32 = 1 << 25;

    pub(super) fn new(index: u16, line: usize, instruction: &MemoryInstruction, epoch: Epoch) -> Owner {
        let posted = if instruction.returns { 0 } else { Owner::POSTED };
        let core_scope = if instruction.performed_by_l1() { Owner::CORE_SCOPE } else { 0 };
        Owner(u32::from(index) | (line as u32) << 16 | (epoch as u32) << 24 | posted | core_scope)
    }

    pub(super) fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }

    pub(super) fn instruction(self) -> usize {
        (self.0 & 0xFFFF) as usize
    }

    pub(super) fn line(self) -> usize {
        (self.0 >> 16 & 0x7F) as usize
    }

    pub(super) fn epoch(self) -> Epoch {
        (self.0 >> 24 & 1) as Epoch
    }
}

/// A wave's memory instruction, from its collector until it is performed and its result written.
#[derive(Debug, Clone, Capture)]
pub(crate) struct MemoryInstruction {
    /// Wave slot.
    pub slot: Slot,
    pub(super) sequence: u64,
    /// Word of the kernel.
    pub word: u32,
    /// Effective lanes.
    pub mask: u64,
    pub(super) memory: MemoryOp,
    pub(super) scope: Scope,
    pub(super) returns: bool,
    pub(super) fragment: u8,
    /// Its wave has gone on elsewhere: it takes its time, but writes no register and no local memory.
    pub(crate) forgotten: bool,
    /// Source rows: the address row first.
    pub(super) inputs: Vec<u32>,
    pub(super) outputs: Vec<u32>,
    /// Pattern of its addresses, valid once it is the head of the queue.
    pub(super) pattern: Pattern,
    pub(super) lines: Vec<LineAccess>,
    pub(super) next_line: usize,
    /// The end of the lines that are in the latch before the L1.
    pub(super) group_end: usize,
    pub(super) outstanding: u32,
    /// Passes over the banks of the L1; 1 if these do not hold it up.
    pub(super) passes: u32,
}

impl MemoryInstruction {
    /// Room for an instruction of waves of `width` lanes. It accesses memory in the way of `memory` once it
    /// [began](MemoryInstruction::begin).
    pub(crate) fn new(memory: MemoryOp, width: usize) -> MemoryInstruction {
        MemoryInstruction {
            slot: 0,
            sequence: 0,
            word: 0,
            mask: 0,
            memory,
            scope: Scope::Wave,
            returns: false,
            fragment: 0,
            forgotten: false,
            inputs: vec![0; MAX_SOURCE_ROWS * width],
            outputs: vec![0; MAX_LOAD_ROWS * width],
            pattern: Pattern::default(),
            lines: Vec::with_capacity(2 * width),
            next_line: 0,
            group_end: 0,
            outstanding: 0,
            passes: 1,
        }
    }

    /// Begins the instruction at `word` in the lanes of `mask`, with its source rows of `width` lanes.
    #[inline]
    pub(crate) fn begin<'a>(
        &mut self,
        op: &MicroOp,
        memory: MemoryOp,
        (word, mask): (u32, u64),
        sources: impl Iterator<Item = &'a [u32]>,
        width: usize,
    ) {
        self.word = word;
        self.mask = mask;
        self.memory = memory;
        self.passes = 1;
        self.scope = op.inst.scope;
        self.returns = op.rows.destination_rows > 0;
        // The fragment of a tile is in the field that holds no register: rs2 of a store, rd of a load.
        self.fragment = if op.inst.op == Op::MmaStoreC { op.inst.rs2 } else { op.inst.rd };
        for (input, source) in self.inputs.chunks_exact_mut(width).zip(sources) {
            input.copy_from_slice(source);
        }
    }

    /// Finds the pattern of its addresses and checks them. `size` is the size in bytes of the memory that it
    /// accesses. Returns its shape, if it has the known one.
    ///
    /// # Errors
    /// The faulting lanes, and the fault of the lowest of them.
    #[inline]
    pub(super) fn locate<'s>(
        &mut self,
        shapes: &'s mut Shapes,
        size: u64,
        width: usize,
    ) -> Result<Option<&'s mut Shape>, (u64, FaultKind)> {
        let shape = shapes.of(self, width);
        self.pattern = shape.as_ref().map_or_else(Pattern::default, |shape| shape.pattern(self));
        if !shape.as_ref().is_some_and(|shape| shape.is_good(self, size)) {
            self.check(size, width)?;
        }
        Ok(shape)
    }

    /// [`locate`](MemoryInstruction::locate) for a memory without banks. With a `geometry`, the bytes of a line and of a
    /// sector, it finds the lines too.
    ///
    /// # Errors
    /// The faulting lanes, and the fault of the lowest of them.
    #[inline]
    pub(crate) fn check_addresses(
        &mut self,
        shapes: &mut Shapes,
        size: u64,
        width: usize,
        geometry: Option<(u32, u32)>,
    ) -> Result<(), (u64, FaultKind)> {
        match (self.locate(shapes, size, width)?, geometry) {
            (_, None) => {}
            (Some(shape), Some(geometry)) if !matches!(self.memory.kind, AccessKind::Atomic(_)) => {
                shape.find_lines(self, width, geometry);
            }
            (_, Some(geometry)) => self.find_lines(width, geometry),
        }
        Ok(())
    }

    /// The lines that were [found](MemoryInstruction::check_addresses), one after the other, with the bytes that its lanes
    /// touch.
    pub(crate) fn lines(&self, width: usize, line_bytes: u32) -> impl Iterator<Item = (u32, u128)> {
        let addresses = &self.inputs[..width];
        self.lines.iter().map(move |line| {
            (line.address, coalesce::bytes_of(self.memory, line, line_bytes, addresses, self.pattern))
        })
    }

    /// A row of the result.
    pub(crate) fn output_row(&self, row: u8, width: usize) -> &[u32] {
        &self.outputs[usize::from(row) * width..][..width]
    }

    /// Words of a lane's value, at least one.
    pub(super) fn words(&self) -> usize {
        usize::from(self.memory.bytes).div_ceil(4)
    }

    /// Rows that a lane accesses: 4 for a tile, which is accessed row by row, else 1.
    pub(super) fn rows(&self) -> u32 {
        if self.memory.kind == AccessKind::Tile { MMA_DIM as u32 } else { 1 }
    }

    /// The address of a lane in a row.
    #[inline]
    pub(super) fn address(&self, row: u32, lane: usize, width: usize) -> u32 {
        match row {
            0 => self.inputs[lane],
            row => self.inputs[lane].wrapping_add(row.wrapping_mul(self.inputs[width + lane])),
        }
    }

    /// The addresses of a row for the participating lanes, lowest lane first. They are gathered in `room`
    /// unless they are contiguous already.
    #[inline]
    pub(super) fn row_addresses<'a>(
        &'a self,
        row: u32,
        width: usize,
        room: &'a mut [u32; MAX_WAVE_WIDTH],
    ) -> &'a [u32] {
        if row == 0 && self.mask == u64::MAX >> (64 - width) {
            return &self.inputs[..width];
        }
        let mut count = 0;
        for lane in lanes_of(self.mask) {
            room[count] = self.address(row, lane, width);
            count += 1;
        }
        &room[..count]
    }

    pub(super) fn performed_by_l1(&self) -> bool {
        matches!(self.memory.kind, AccessKind::Atomic(_)) && self.scope <= Scope::Workgroup
    }

    /// Identity of the instruction.
    pub(crate) fn in_flight(&self) -> InFlight {
        InFlight { slot: self.slot, sequence: self.sequence, word: self.word }
    }

    /// Address of the lowest participating lane.
    #[inline]
    pub(super) fn base(&self) -> u32 {
        self.inputs[self.mask.trailing_zeros() as usize]
    }

    /// Finds the lines that it touches.
    pub(super) fn find_lines(&mut self, width: usize, geometry: (u32, u32)) {
        let MemoryInstruction { memory, mask, inputs, pattern, lines, .. } = self;
        coalesce::lines_of(*memory, *mask, &inputs[..width], *pattern, geometry, lines);
    }

    /// Passes over banks that it needs, of all its rows. `shape` is its shape, if it has a known one.
    pub(super) fn passes_over(&self, banks: &mut Banks, shape: Option<&mut Shape>, width: usize) -> u32 {
        let word_bytes = banks.word_bytes();
        let mut count = || {
            let mut lanes = [0; MAX_WAVE_WIDTH];
            let passes = |row| banks.passes(self.row_addresses(row, width, &mut lanes), self.memory);
            (0..self.rows()).map(passes).sum()
        };
        match shape {
            Some(shape) => shape.passes(self.base(), word_bytes, count),
            None => count(),
        }
    }

    /// Gathers what the access to a line sends.
    pub(super) fn payload(&self, line: &LineAccess, line_bytes: u32, width: usize, payload: &mut Payload) {
        coalesce::payload(self.memory, line, line_bytes, &self.inputs, self.pattern, width, payload);
    }

    /// Gives its lanes their bytes of one of its lines.
    pub(super) fn take_line(&mut self, line: usize, line_bytes: u32, data: &[u8], width: usize) {
        let MemoryInstruction { memory, inputs, pattern, outputs, lines, .. } = self;
        coalesce::take_line(*memory, &lines[line], line_bytes, data, inputs, *pattern, outputs, width);
    }

    /// Checks bounds and alignment. `size` is the size in bytes of the memory that it accesses. On an error:
    /// the faulting lanes, and the fault of the lowest of them.
    pub(super) fn check(&self, size: u64, width: usize) -> Result<(), (u64, FaultKind)> {
        let memory = self.memory;
        let bytes = u32::from(memory.bytes);
        let atomic = matches!(memory.kind, AccessKind::Atomic(_));
        let misaligned = |address: u32| atomic && !address.is_multiple_of(4);
        let outside = |address: u32| u64::from(address) + u64::from(bytes) > size;
        // Nearly every access is legal, so the faulting lanes are searched only if this check fails.
        let mut room = [0; MAX_WAVE_WIDTH];
        let well = |row| {
            let addresses = self.row_addresses(row, width, &mut room).iter();
            let (last, low) = addresses.fold((0, 0), |(last, low), &a| (a.max(last), low | a));
            !outside(last) && !misaligned(low)
        };
        if (0..self.rows()).all(well) {
            return Ok(());
        }
        let mut first = None;
        let mut faulty = 0;
        for row in 0..self.rows() {
            for (lane, &address) in lanes_of(self.mask).zip(self.row_addresses(row, width, &mut room)) {
                let kind = if misaligned(address) {
                    FaultKind::MisalignedAtomic { space: memory.space, address }
                } else if outside(address) {
                    FaultKind::OutOfBounds { space: memory.space, address, bytes, size }
                } else {
                    continue;
                };
                // Report the first faulty row of the lowest lane.
                if first.as_ref().is_none_or(|&(lowest, _)| lane < lowest) {
                    first = Some((lane, kind));
                }
                faulty |= 1 << lane;
            }
        }
        let first = first.map(|(_, kind)| kind);
        first.map_or(Ok(()), |kind| Err((faulty, kind)))
    }
}
