//! What the addresses of an instruction's lanes looked like when it last ran. In most kernels they lie to one another as they
//! did then, in other waves and other passes of a loop too: then one comparison tells where their runs are, what they span,
//! which lines they touch and how often the banks of local memory have to be passed.

use super::coalesce::{self, LineAccess};
use super::pattern::Pattern;
use super::{MemoryInstruction, lanes_of};
use crate::isa::MMA_DIM;
use crate::isa::table::AccessKind;

/// The shapes of the memory instructions of a kernel.
#[derive(Debug, Clone, Default)]
pub(super) struct Shapes {
    /// Of each word of the kernel, the place of its shape.
    of_word: Vec<u32>,
    shapes: Vec<Shape>,
}

/// Of a word without a shape.
const NONE: u32 = u32::MAX;

impl Shapes {
    /// The shape of an instruction, if its addresses lie as they did before or are worth being looked at.
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
        // Addresses that are different every time are not looked at every time.
        shape.misfits += 1;
        if !shape.misfits.is_power_of_two() {
            return None;
        }
        shape.learn(instruction, width);
        Some(shape)
    }
}

/// How the addresses of an instruction lay to one another.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    mask: u64,
    /// Of each lane, its address less that of the lowest lane that takes part.
    relative: Vec<u32>,
    /// All ones for lanes that take part.
    care: Vec<u32>,
    /// Of a tile, from each row of a lane to the next.
    strides: Vec<u32>,
    /// How often in succession the addresses lay otherwise.
    misfits: u32,
    pattern: Pattern,
    /// The first byte and the one behind the last, relative to the lowest lane's address.
    span: (i64, i64),
    /// Passes over the banks, for an address of the lowest lane in this place of a bank's word.
    passes: Option<(u32, u32)>,
    /// For an address of the lowest lane in this place of a line, the lines, relative to that one.
    lines: Option<u32>,
    /// All addresses are in one place of their lines: the lines are the same for another place, but for the sectors.
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
        // Without branches, so that several lanes are compared at a time.
        let mut differ = 0;
        if self.mask == u64::MAX >> (64 - width) {
            for (address, relative) in addresses.iter().zip(&self.relative) {
                differ |= address.wrapping_sub(base) ^ relative;
            }
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
        // Alignment is that of the lowest lane's address, of which this knows nothing.
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

    /// The pattern of an instruction that fits.
    #[inline]
    pub(super) fn pattern(&self, instruction: &MemoryInstruction) -> Pattern {
        let aligned =
            self.pattern.aligned && instruction.base().is_multiple_of(instruction.memory.bytes.into());
        Pattern { aligned, ..self.pattern }
    }

    /// True if an instruction that fits accesses only the `size` bytes of its memory, and atomics aligned words.
    #[inline]
    pub(super) fn is_good(&self, instruction: &MemoryInstruction, size: u64) -> bool {
        let base = i64::from(instruction.base());
        let atomic = matches!(instruction.memory.kind, AccessKind::Atomic(_));
        base + self.span.0 >= 0
            && base + self.span.1 <= size as i64
            && (!atomic || instruction.pattern.aligned)
    }

    /// Passes over the banks of local memory, whose words have so many bytes. `count` finds them out where they are not known.
    #[inline]
    pub(super) fn passes(&mut self, base: u32, bank_bytes: u32, count: impl FnOnce() -> u32) -> u32 {
        // An address some whole words further on is in another bank, but so is every other lane's.
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
    use crate::isa::{Op, Scope};

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
            inputs,
            outputs: vec![0; 4 * WIDTH],
            pattern: Pattern::default(),
            lines: Vec::new(),
            next_line: 0,
            outstanding: 0,
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
