//! A memory instruction on a flat memory: moves the values of all its lanes at once. Local memory is one, and so is
//! device memory for the machine without timing.

use super::MemoryInstruction;
use super::pattern::{Side, copy_lanes, lanes_from};
use crate::alu::FRAGMENT_ROWS;
use crate::core::slot::lanes_of;
use crate::core::uop::MicroOp;
use wave_isa::table::{AccessKind, AtomicOp};
use wave_isa::{MMA_DIM, Op};

impl MemoryInstruction {
    /// The kind (A, B, C as 0, 1, 2) and index of the fragment of a tile instruction.
    pub(crate) fn fragment_of(&self, op: &MicroOp) -> Option<(usize, usize)> {
        let kind = match op.inst.op {
            Op::MmaLoadA => 0,
            Op::MmaLoadB => 1,
            Op::MmaStoreC => 2,
            _ => return None,
        };
        Some((kind, usize::from(self.fragment)))
    }

    /// True if it yields values: in the outputs, or for a tile in its fragment.
    pub(crate) fn yields(&self, op: &MicroOp) -> bool {
        match self.memory.kind {
            AccessKind::Load => true,
            AccessKind::Store => false,
            AccessKind::Atomic(_) => self.returns,
            AccessKind::Tile => op.inst.op != Op::MmaStoreC,
        }
    }

    /// Performs the access on `memory`, which has all of its bytes. The values that it yields go to the participating lanes
    /// of `rows`: for a tile those of its fragment. An atomic yields the old values whether it returns them or not.
    ///
    /// # Panics
    /// If the access is outside of the memory, which [`MemoryInstruction::check_addresses`] finds.
    #[inline]
    pub(crate) fn perform(&self, op: &MicroOp, memory: &mut [u8], rows: &mut [u32], width: usize) {
        match self.memory.kind {
            AccessKind::Load => load(self, memory, rows, width),
            AccessKind::Store => store(self, memory, width),
            AccessKind::Atomic(_) => atomic(self, memory, rows, width),
            AccessKind::Tile => tile(self, op.inst.op == Op::MmaStoreC, memory, rows, width),
        }
    }

    /// [`perform`](MemoryInstruction::perform) that keeps the values; a tile's go to `fragment`.
    pub(super) fn perform_and_keep(
        &mut self,
        op: &MicroOp,
        memory: &mut [u8],
        fragment: &mut [u32],
        width: usize,
    ) {
        if self.memory.kind == AccessKind::Tile {
            return self.perform(op, memory, fragment, width);
        }
        let mut outputs = std::mem::take(&mut self.outputs);
        self.perform(op, memory, &mut outputs, width);
        self.outputs = outputs;
    }

    /// The bytes of a line in which it, a compare-and-swap, finds what it compares with.
    pub(crate) fn swapped(&self, memory: &[u8], line: u32, line_bytes: u32, width: usize) -> u128 {
        let (addresses, operands) = self.inputs.split_at(width);
        let swaps = lanes_of(self.mask).filter(|&lane| {
            let at = addresses[lane];
            at.wrapping_sub(line) < line_bytes && memory[at as usize..][..4] == operands[lane].to_le_bytes()
        });
        swaps.fold(0, |bytes, lane| bytes | 0xF << (addresses[lane] - line))
    }

    /// Replaces `contents` by the bytes of `memory` that its lanes access, lane by lane.
    ///
    /// # Panics
    /// As [`MemoryInstruction::perform`].
    pub(crate) fn read_contents(&self, memory: &[u8], width: usize, contents: &mut Vec<u8>) {
        let bytes = usize::from(self.memory.bytes);
        contents.clear();
        self.addresses(width)
            .for_each(|address| contents.extend_from_slice(&memory[address as usize..][..bytes]));
    }

    /// True if `memory` holds what [`read_contents`](MemoryInstruction::read_contents) has read.
    pub(crate) fn has_contents(&self, memory: &[u8], width: usize, contents: &[u8]) -> bool {
        let values = contents.chunks_exact(usize::from(self.memory.bytes));
        self.addresses(width)
            .zip(values)
            .all(|(address, value)| memory[address as usize..].starts_with(value))
    }

    /// The addresses of its participating lanes, lowest lane first, row by row.
    pub(crate) fn addresses(&self, width: usize) -> impl Iterator<Item = u32> {
        let of_row = move |row| lanes_of(self.mask).map(move |lane| self.address(row, lane, width));
        (0..self.rows()).flat_map(of_row)
    }
}

fn load(instruction: &MemoryInstruction, memory: &[u8], rows: &mut [u32], width: usize) {
    let MemoryInstruction { mask, pattern, ref inputs, .. } = *instruction;
    let (addresses, bytes) = (&inputs[..width], instruction.memory.bytes);
    if bytes < 4 {
        let low = &mut rows[..width];
        return for_lanes(mask, |lane| {
            low[lane] = match bytes {
                2 => u16::from_le_bytes(*at(memory, addresses[lane])).into(),
                _ => memory[addresses[lane] as usize].into(),
            };
        });
    }
    let words = usize::from(bytes) / 4;
    // Lanes behind the first period get the values of that period.
    let period = if pattern.period > 0 { pattern.period as usize } else { width };
    let lanes = mask & lanes_from(0, period);
    copy_lanes((pattern, lanes), words, memory, |lane| addresses[lane] as usize, rows, width);
    if period < width {
        for row in rows.chunks_exact_mut(width).take(words) {
            let mut known = period;
            while known < width {
                row.copy_within(..known, known);
                known *= 2;
            }
        }
    }
}

fn store(instruction: &MemoryInstruction, memory: &mut [u8], width: usize) {
    let (addresses, values) = instruction.inputs.split_at(width);
    let MemoryInstruction { mask, pattern, .. } = *instruction;
    if pattern.joined != 0 && pattern.in_runs {
        let words = instruction.words();
        let mut rest = mask;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            let run = pattern.run(lane);
            rest &= !lanes_from(lane, run.lanes);
            // Where lanes write to one place, the highest wins.
            let after = lane + run.lanes;
            let lanes = if run.same { after - 1..after } else { lane..after };
            Side { words, width, lanes }.copy_to(values, &mut memory[addresses[lane] as usize..]);
        }
        return;
    }
    let (low, high) = values[..2 * width].split_at(width);
    match instruction.memory.bytes {
        4 => for_lanes(mask, |lane| *at_mut(memory, addresses[lane]) = low[lane].to_le_bytes()),
        8 => for_lanes(mask, |lane| {
            let value = u64::from(low[lane]) | u64::from(high[lane]) << 32;
            *at_mut(memory, addresses[lane]) = value.to_le_bytes();
        }),
        16 => for_lanes(mask, |lane| {
            let value: &mut [u8; 16] = at_mut(memory, addresses[lane]);
            for (word, row) in value.as_chunks_mut().0.iter_mut().zip(values.chunks_exact(width)) {
                *word = row[lane].to_le_bytes();
            }
        }),
        2 => for_lanes(mask, |lane| {
            *at_mut(memory, addresses[lane]) = (low[lane] as u16).to_le_bytes();
        }),
        _ => for_lanes(mask, |lane| memory[addresses[lane] as usize] = low[lane] as u8),
    }
}

/// Calls `act` for each lane of a mask, lowest first.
#[inline(always)]
fn for_lanes(mask: u64, act: impl FnMut(usize)) {
    if mask & mask.wrapping_add(1) == 0 {
        (0..mask.trailing_ones() as usize).for_each(act);
    } else {
        lanes_of(mask).for_each(act);
    }
}

/// Bytes of memory at an address that has passed the check.
#[inline(always)]
fn at<const N: usize>(memory: &[u8], address: u32) -> &[u8; N] {
    memory[address as usize..].first_chunk().expect("the address was checked")
}

/// [`at`] for writing.
#[inline(always)]
fn at_mut<const N: usize>(memory: &mut [u8], address: u32) -> &mut [u8; N] {
    memory[address as usize..].first_chunk_mut().expect("the address was checked")
}

fn atomic(instruction: &MemoryInstruction, memory: &mut [u8], rows: &mut [u32], width: usize) {
    let AccessKind::Atomic(op) = instruction.memory.kind else { return };
    let MemoryInstruction { mask, ref inputs, .. } = *instruction;
    let (addresses, operands) = inputs.split_at(width);
    let (operands, swaps) = operands[..2 * width].split_at(width);
    let old = &mut rows[..width];
    if op == AtomicOp::Add {
        // A loop of its own: addition is the most frequent atomic, and a lane takes only a few host
        // instructions.
        for lane in lanes_of(mask) {
            let word = at_mut(memory, addresses[lane]);
            old[lane] = u32::from_le_bytes(*word);
            *word = old[lane].wrapping_add(operands[lane]).to_le_bytes();
        }
        return;
    }
    for lane in lanes_of(mask) {
        let word = at_mut(memory, addresses[lane]);
        old[lane] = u32::from_le_bytes(*word);
        *word = op.apply(old[lane], operands[lane], swaps[lane]).to_le_bytes();
    }
}

/// Copies each lane's 4×4 tile between local memory and the rows of its fragment.
fn tile(instruction: &MemoryInstruction, store: bool, memory: &mut [u8], fragment: &mut [u32], width: usize) {
    let mut of_row = fragment.chunks_exact_mut(width);
    let mut rows: [_; FRAGMENT_ROWS] =
        std::array::from_fn(|_| of_row.next().expect("a row for each element"));
    let (rows, _) = rows.as_chunks_mut::<MMA_DIM>();
    // Where tiles overlap, the highest lane wins, so lane by lane.
    for lane in lanes_of(instruction.mask) {
        for (i, rows) in rows.iter_mut().enumerate() {
            let words: &mut [u8; 4 * MMA_DIM] = at_mut(memory, instruction.address(i as u32, lane, width));
            for (row, word) in rows.iter_mut().zip(words.as_chunks_mut::<4>().0) {
                if store {
                    *word = row[lane].to_le_bytes();
                } else {
                    row[lane] = u32::from_le_bytes(*word);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_tiles_overlap_the_highest_lane_wins() {
        const WIDTH: usize = 8;
        let mut instruction = MemoryInstruction::new(Op::MmaStoreC.memory().unwrap(), WIDTH);
        instruction.mask = 0b101;
        // Rows of 16 bytes, one behind the other; lane 2 begins at the second row of lane 0.
        for (lane, base) in [(0, 0), (2, 16)] {
            (instruction.inputs[lane], instruction.inputs[WIDTH + lane]) = (base, 16);
        }
        let mut fragment: Vec<u32> = (0..FRAGMENT_ROWS * WIDTH).map(|at| at as u32).collect();
        let mut memory = [0; 80];
        tile(&instruction, true, &mut memory, &mut fragment, WIDTH);
        let words = memory.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word) as usize);
        let of_lane_0 = (0..4).map(|element| element * WIDTH);
        let of_lane_2 = (0..16).map(|element| element * WIDTH + 2);
        assert!(words.eq(of_lane_0.chain(of_lane_2)));
    }
}
