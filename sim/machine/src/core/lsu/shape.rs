//! The shape of an instruction: its lane addresses relative to one another when it last ran. In most kernels
//! the shape repeats in other waves and in other iterations of a loop. One comparison then yields the runs,
//! the range of addresses, the lines touched and the passes over the banks of local memory.

use super::MemoryInstruction;
use super::coalesce::{self, LineAccess};
use super::pattern::Pattern;
use crate::core::slot::lanes_of;
use wave_isa::MMA_DIM;
use wave_isa::table::AccessKind;

/// The shapes of the memory instructions of a kernel.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shapes {
    /// Per word of the kernel, the index of its shape, or [`NONE`].
    of_word: Vec<u32>,
    shapes: Vec<Shape>,
}

/// Marks a word without a shape.
const NONE: u32 = u32::MAX;

impl Shapes {
    /// The shape of an instruction, if its addresses fit the known shape or a new shape was learnt from them.
    pub(super) fn of(&mut self, instruction: &MemoryInstruction, width: usize) -> Option<&mut Shape> {
        let word = instruction.word as usize;
        if word >= self.of_word.len() {
            self.of_word.resize(word + 1, NONE);
        }
        let place = &mut self.of_word[word];
        if *place == NONE {
            *place = self.shapes.len() as u32;
            self.shapes.push(Shape::default());
        }
        let shape = &mut self.shapes[*place as usize];
        if shape.fits(instruction, width) {
            shape.misfits = 0;
            return Some(shape);
        }
        // Learn only after 1, 2, 4, 8, … misfits in a row: addresses that always differ cost little.
        shape.misfits += 1;
        if !shape.misfits.is_power_of_two() {
            return None;
        }
        shape.learn(instruction, width);
        Some(shape)
    }
}

/// The lane addresses of an instruction relative to one another, and what follows from them.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    mask: u64,
    /// Per lane, its address less that of the lowest participating lane.
    relative: Vec<u32>,
    /// Per lane: all ones if it participates.
    care: Vec<u32>,
    /// For a tile, per lane: bytes from one row to the next.
    strides: Vec<u32>,
    /// Misfits in a row.
    misfits: u32,
    pattern: Pattern,
    /// The first byte and the byte behind the last, relative to the lowest lane's address.
    span: (i64, i64),
    /// Known passes over the banks: (offset of the lowest lane's address in its bank word, passes).
    passes: Option<(u32, u32)>,
    /// `relative_lines` is valid for this offset of the lowest lane's address in its line.
    lines: Option<u32>,
    /// All addresses have the same offset in their lines. Another offset gives the same lines with other
    /// sectors.
    columns: bool,
    relative_lines: Vec<LineAccess>,
}

impl Shape {
    fn fits(&self, instruction: &MemoryInstruction, width: usize) -> bool {
        if instruction.mask != self.mask {
            return false;
        }
        let (addresses, behind) = instruction.inputs.split_at(width);
        let base = instruction.base();
        // Branch-free, so that the compiler vectorises the comparison.
        let mut differ = 0;
        if self.mask == u64::MAX >> (64 - width) {
            let (addresses, rest) = addresses.as_chunks::<8>();
            let (relatives, relative_rest) = self.relative.as_chunks::<8>();
            let mut differs = [0; 8];
            for (addresses, relatives) in addresses.iter().zip(relatives) {
                for (lane, differ) in differs.iter_mut().enumerate() {
                    *differ |= addresses[lane].wrapping_sub(base) ^ relatives[lane];
                }
            }
            for (address, relative) in rest.iter().zip(relative_rest) {
                differ |= address.wrapping_sub(base) ^ relative;
            }
            differ = differs.iter().fold(differ, |all, differ| all | differ);
        } else {
            for ((address, relative), care) in addresses.iter().zip(&self.relative).zip(&self.care) {
                differ |= (address.wrapping_sub(base) ^ relative) & care;
            }
        }
        for ((stride, known), care) in behind.iter().zip(&self.strides).zip(&self.care) {
            differ |= (stride ^ known) & care;
        }
        differ == 0
    }

    fn learn(&mut self, instruction: &MemoryInstruction, width: usize) {
        let (addresses, behind) = instruction.inputs.split_at(width);
        let (memory, mask, base) = (instruction.memory, instruction.mask, instruction.base());
        self.mask = mask;
        self.relative.clear();
        self.relative.extend(addresses.iter().map(|address| address.wrapping_sub(base)));
        self.care.clear();
        self.care.extend((0..width).map(|lane| if mask >> lane & 1 == 1 { u32::MAX } else { 0 }));
        self.strides.clear();
        if memory.kind == AccessKind::Tile {
            self.strides.extend(&behind[..width]);
        }
        // Computed from relative addresses; [`pattern`](Shape::pattern) adds the alignment of the lowest
        // lane's address.
        self.pattern = Pattern::of(memory, mask, &self.relative);
        let (mut low, mut high) = (0, 0);
        for lane in lanes_of(mask) {
            let first = i64::from(self.relative[lane] as i32);
            let stride = self.strides.get(lane).map_or(0, |&stride| i64::from(stride as i32));
            let last = first + stride * (MMA_DIM as i64 - 1);
            low = low.min(first.min(last));
            high = high.max(first.max(last));
        }
        self.span = (low, high + i64::from(memory.bytes));
        self.passes = None;
        self.lines = None;
    }

    /// The pattern of an instruction that fits the shape.
    #[inline]
    pub(super) fn pattern(&self, instruction: &MemoryInstruction) -> Pattern {
        let aligned =
            self.pattern.aligned && instruction.base().is_multiple_of(instruction.memory.bytes.into());
        Pattern { aligned, ..self.pattern }
    }

    /// True if an instruction that fits stays within the `size` bytes of its memory and, if it is atomic,
    /// accesses aligned words.
    #[inline]
    pub(super) fn is_good(&self, instruction: &MemoryInstruction, size: u64) -> bool {
        let base = i64::from(instruction.base());
        let atomic = matches!(instruction.memory.kind, AccessKind::Atomic(_));
        base + self.span.0 >= 0
            && base + self.span.1 <= size as i64
            && (!atomic || instruction.pattern.aligned)
    }

    /// Passes over the banks of local memory or of the L1, whose words have `bank_bytes` bytes. `count` computes them if
    /// they are not known.
    #[inline]
    pub(super) fn passes(&mut self, base: u32, bank_bytes: u32, count: impl FnOnce() -> u32) -> u32 {
        // Moving all addresses by whole bank words moves all lanes by the same number of banks.
        let place = base & (bank_bytes - 1);
        match self.passes {
            Some((known, passes)) if known == place => passes,
            _ => {
                let passes = count();
                self.passes = Some((place, passes));
                passes
            }
        }
    }

    /// Finds the lines that an instruction touches; `geometry` is the bytes of a line and of a sector.
    pub(super) fn find_lines(
        &mut self,
        instruction: &mut MemoryInstruction,
        width: usize,
        geometry: (u32, u32),
    ) {
        let base = instruction.base();
        let place = base & (geometry.0 - 1);
        let start = base - place;
        let known = self.lines == Some(place);
        if known || self.lines.is_some() && self.columns && instruction.pattern.aligned {
            if !known {
                let last = place + u32::from(instruction.memory.bytes) - 1;
                let sectors = coalesce::sectors_between(place, last, geometry.1.trailing_zeros());
                self.relative_lines.iter_mut().for_each(|line| line.sectors = sectors);
                self.lines = Some(place);
            }
            instruction.lines.clear();
            let there = |line: &LineAccess| LineAccess { address: line.address.wrapping_add(start), ..*line };
            instruction.lines.extend(self.relative_lines.iter().map(there));
            return;
        }
        instruction.find_lines(width, geometry);
        self.lines = Some(place);
        let low = self.relative.iter().zip(&self.care).fold(0, |low, (relative, care)| low | relative & care);
        self.columns = low & (geometry.0 - 1) == 0 && instruction.pattern.aligned;
        self.relative_lines.clear();
        let here = |line: &LineAccess| LineAccess { address: line.address.wrapping_sub(start), ..*line };
        self.relative_lines.extend(instruction.lines.iter().map(here));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wave_isa::{Op, Scope};

    const WIDTH: usize = 8;

    fn instruction(op: Op, mask: u64, addresses: [u32; WIDTH]) -> MemoryInstruction {
        let mut inputs = addresses.to_vec();
        inputs.resize(4 * WIDTH, 0);
        MemoryInstruction {
            slot: 0,
            sequence: 0,
            word: 3,
            mask,
            memory: op.memory().unwrap(),
            scope: Scope::Wave,
            returns: true,
            fragment: 0,
            forgotten: false,
            inputs,
            outputs: vec![0; 4 * WIDTH],
            pattern: Pattern::default(),
            lines: Vec::new(),
            next_line: 0,
            group_end: 0,
            outstanding: 0,
            passes: 1,
        }
    }

    #[test]
    fn what_was_learnt_of_some_addresses_holds_for_those_that_lie_alike() {
        let ways: [fn(u32) -> u32; 4] =
            [|lane| 4 * lane, |lane| 128 * lane, |lane| 4 * (lane / 4), |lane| 36 * lane];
        for (way, mask) in ways.into_iter().flat_map(|way| [0xFF, 0b0110_1110].map(|mask| (way, mask))) {
            let mut shapes = Shapes::default();
            for base in [0x1000, 0x1040, 0x2040, 0x207C, 0x2082] {
                let addresses = std::array::from_fn(|lane| base + way(lane as u32));
                let mut found = instruction(Op::DeviceLoadU32, mask, addresses);
                let shape = shapes.of(&found, WIDTH).expect("they fit, or were looked at");
                found.pattern = shape.pattern(&found);
                let last = way(7 - u32::from(mask != 0xFF));
                let end = u64::from(base + last) + 4;
                assert!(shape.is_good(&found, end) && !shape.is_good(&found, end - 1));
                shape.find_lines(&mut found, WIDTH, (128, 32));
                let mut plain = instruction(Op::DeviceLoadU32, mask, addresses);
                plain.find_lines(WIDTH, (128, 32));
                assert_eq!(found.lines, plain.lines, "from {base:x}");
            }
            assert_eq!(shapes.shapes.len(), 1);
        }
    }

    #[test]
    fn passes_are_counted_anew_only_for_another_place_in_a_word() {
        let mut shapes = Shapes::default();
        let mut counted = 0;
        for base in [0, 4, 128, 130, 6] {
            let access =
                instruction(Op::LocalLoadU16, 0xFF, std::array::from_fn(|lane| base + 2 * lane as u32));
            let shape = shapes.of(&access, WIDTH).unwrap();
            shape.passes(access.base(), 4, || {
                counted += 1;
                1
            });
        }
        assert_eq!(counted, 2);
    }

    #[test]
    fn addresses_that_always_differ_are_looked_at_ever_less_often() {
        let mut shapes = Shapes::default();
        let looked = |seed: u32| {
            let addresses = std::array::from_fn(|lane| (lane as u32 + 1) * seed % 97 * 4);
            shapes.of(&instruction(Op::LocalLoadU32, 0xFF, addresses), WIDTH).is_some()
        };
        assert_eq!((2..66).map(looked).filter(|&looked| looked).count(), 7);
    }
}
