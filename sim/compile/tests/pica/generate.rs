//! Random shaders: words of code and of descriptors, uniforms and vertices.

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use wave_verify::pica::Uniforms;

/// A shader, and what it runs on.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) code: Vec<u32>,
    pub(crate) descriptors: Vec<u32>,
    pub(crate) entry: u32,
    pub(crate) uniforms: Uniforms,
    /// Bits of the input registers of each vertex.
    pub(crate) vertices: Vec<[[u32; 4]; 16]>,
}

/// What a random shader has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Statements of a body, at most.
    pub(crate) statements: u32,
    /// Ifs and loops inside one another.
    pub(crate) depth: u32,
    pub(crate) procedures: u32,
    /// Jumps to words of the same procedure.
    pub(crate) jumps: bool,
    /// Only what the early text has.
    pub(crate) early: bool,
}

pub(crate) const PLAIN: Shape = Shape { statements: 6, depth: 2, procedures: 2, jumps: false, early: false };

/// Opcodes that compute, by the places of their sources. `cmp` is apart.
const TWO: &[u32] = &[0, 1, 2, 3, 4, 8, 9, 0xA, 0xC, 0xD];
const INVERTED: &[u32] = &[0x18, 0x19, 0x1A, 0x1B];
const ONE: &[u32] = &[5, 6, 7, 0xB, 0xE, 0xF, 0x12, 0x13, 0x13];
const EARLY_TWO: &[u32] = &[0, 1, 2, 8, 0xC, 0xD];
const EARLY_ONE: &[u32] = &[0xE, 0xF, 0x13];

/// A word whose descriptor has no number yet.
#[derive(Debug, Clone, Copy)]
struct Pending {
    word: u32,
    descriptor: Option<(u32, bool)>,
}

struct Writer<'a> {
    random: &'a mut Pcg64,
    shape: Shape,
    words: Vec<Pending>,
    /// Start and number of words of procedures.
    procedures: Vec<(u32, u32)>,
    /// Jumps whose target is not known.
    jumps: Vec<usize>,
    /// Relative addresses that are loaded.
    loops: u32,
}

/// A random shader.
pub(crate) fn case(seed: u64, shape: Shape) -> Case {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut writer = Writer {
        random: &mut random,
        shape,
        words: Vec::new(),
        procedures: Vec::new(),
        jumps: Vec::new(),
        loops: 0,
    };
    for _ in 0..shape.procedures {
        let start = writer.words.len();
        writer.body(shape.depth.min(1), false);
        writer.patch(start);
        writer.procedures.push((start as u32, (writer.words.len() - start) as u32));
    }
    let entry = writer.words.len();
    writer.fill();
    writer.body(shape.depth, false);
    writer.vector();
    for number in 0..4 {
        writer.output(number);
    }
    writer.patch(entry);
    let end = if shape.early && writer.random.random() { 0x21 } else { 0x22 };
    writer.push(end << 26);
    let words = writer.words;
    let (code, descriptors) = numbered(&words);
    let mut uniforms = Uniforms { floats: [[0; 4]; 96], integers: [[0; 3]; 4], booleans: random.random() };
    for register in &mut uniforms.floats {
        *register = [(); 4].map(|()| value(&mut random));
    }
    for [x, y, z] in &mut uniforms.integers {
        // Only 8 bits count.
        let more = if random.random_ratio(1, 4) { random.random::<u32>() << 8 } else { 0 };
        *x = random.random_range(0..4) | more;
        *y = random.random_range(0..256);
        *z = random.random_range(0..256) | more;
    }
    let vertices = (0..5).map(|_| [(); 16].map(|()| [(); 4].map(|()| value(&mut random)))).collect();
    Case { code, descriptors, entry: entry as u32, uniforms, vertices }
}

/// Numbers the descriptors as the assembler does: those of `mad` first, which reach 32 only, each once.
fn numbered(words: &[Pending]) -> (Vec<u32>, Vec<u32>) {
    let mut descriptors: Vec<u32> = Vec::new();
    let mut numbers = BTreeMap::new();
    for wants_mad in [true, false] {
        for (descriptor, is_mad) in words.iter().filter_map(|pending| pending.descriptor) {
            if is_mad == wants_mad {
                numbers.entry(descriptor).or_insert_with(|| {
                    descriptors.push(descriptor);
                    descriptors.len() as u32 - 1
                });
            }
        }
    }
    let code = words.iter().map(|pending| {
        let number = pending.descriptor.map_or(0, |(descriptor, _)| numbers[&descriptor]);
        pending.word | number
    });
    (code.collect(), descriptors)
}

/// Bits of a number of a buffer: many plain ones, and the special ones of both formats.
pub(crate) fn value(random: &mut Pcg64) -> u32 {
    const SPECIAL: &[u32] = &[
        0,
        0x3F80_0000,
        0x4000_0000,
        0x3F00_0000,
        0x7F80_0000,
        0x7FC0_0000,
        0x7F80_0001,
        0x7FFF_FFFF,
        1,
        0x7F_FFFF,
        0x80_0000,
        0x7F7F_FFFF,
        0x5F7F_FF80,
        0x5F7F_FFC0,
        0x5F7F_FFBF,
        0x5F80_0000,
        0x2080_0000,
        0x207F_FFC0,
        0x207F_FFBF,
        0x2080_0080,
        0x2100_0000,
        0x3F80_0040,
        0x3F80_00C0,
        0x42FF_FE00,
        0x4300_0000,
        0x4F00_0000,
    ];
    let sign = random.random::<u32>() & 0x8000_0000;
    sign | match random.random_range(0..20) {
        0 | 1 => SPECIAL[random.random_range(0..SPECIAL.len())],
        2 => random.random::<u32>() >> 1,
        3 => (random.random_range(0..16) as f32).to_bits(),
        // Near the ends of the 24-bit format.
        4 => (random.random_range(62..70) << 23) | random.random_range(0..1 << 23),
        5 => (random.random_range(186..193) << 23) | random.random_range(0..1 << 23),
        // Halfway between two numbers of the format.
        6 => 0x3F80_0040 + 0x80 * random.random_range(0..0x8000),
        _ => (random.random_range(122..132) << 23) | random.random_range(0..1 << 23),
    }
}

impl Writer<'_> {
    fn push(&mut self, word: u32) -> usize {
        self.words.push(Pending { word, descriptor: None });
        self.words.len() - 1
    }

    fn pick(&mut self, from: &[u32]) -> u32 {
        from[self.random.random_range(0..from.len())]
    }

    fn chance(&mut self, of: u32) -> bool {
        self.random.random_ratio(1, of)
    }

    /// Gives the jumps since `start` a target.
    fn patch(&mut self, start: usize) {
        let end = self.words.len();
        for jump in std::mem::take(&mut self.jumps) {
            let target = match self.random.random_range(0..12) {
                0 => self.random.random_range(start..=end),
                1 => self.random.random_range(0..=end),
                _ => self.random.random_range(jump + 1..=end),
            };
            self.words[jump].word |= (target as u32) << 10;
        }
    }

    fn body(&mut self, depth: u32, in_loop: bool) {
        for _ in 0..self.random.random_range(1..=self.shape.statements) {
            match self.random.random_range(0..20) {
                0 | 1 if depth > 0 => self.choice(depth, in_loop),
                2 if depth > 0 && !self.shape.early && self.loops < 2 => self.repeat(depth),
                3 if !self.procedures.is_empty() => self.call(),
                4 if in_loop && self.chance(2) => {
                    let word = if self.chance(3) { 0x20 << 26 } else { 0x23 << 26 | self.flags() };
                    self.push(word);
                }
                5 | 6 if self.shape.jumps => {
                    let word = if self.random.random() {
                        0x2C << 26 | self.flags()
                    } else {
                        0x2D << 26 | self.boolean() | self.random.random_range(0..2)
                    };
                    let jump = self.push(word);
                    self.jumps.push(jump);
                }
                7 if !self.shape.early => _ = self.push(0x21 << 26),
                8 if self.chance(6) => {
                    self.choice(0, in_loop);
                    self.push(0x22 << 26);
                }
                9 => self.compare(),
                10 => {
                    let number = self.random.random_range(0..6);
                    self.output(number);
                }
                _ => self.vector(),
            }
        }
    }

    /// A test of the flags. The wanted value of one that does not count is 0.
    fn flags(&mut self) -> u32 {
        let (join, x, y) =
            (self.random.random_range(0..4), self.random.random_range(0..2), self.random.random_range(0..2));
        join << 22 | if join == 3 { 0 } else { x << 25 } | if join == 2 { 0 } else { y << 24 }
    }

    fn boolean(&mut self) -> u32 {
        self.random.random_range(0..16) << 22
    }

    fn test(&mut self, by_flags: u32, by_boolean: u32) -> u32 {
        match self.random.random() {
            true => by_flags << 26 | self.flags(),
            false => by_boolean << 26 | self.boolean(),
        }
    }

    fn choice(&mut self, depth: u32, in_loop: bool) {
        let test = self.test(0x28, 0x27);
        let at = self.push(test);
        self.body(depth.saturating_sub(1), in_loop);
        let middle = self.words.len() as u32;
        if self.random.random() {
            self.body(depth.saturating_sub(1), in_loop);
        }
        let count = self.words.len() as u32 - middle;
        self.words[at].word |= middle << 10 | count.min(255);
    }

    fn repeat(&mut self, depth: u32) {
        let uniform = self.random.random_range(0..4);
        let at = self.push(0x29 << 26 | uniform << 22);
        self.loops += 1;
        self.body(depth - 1, true);
        self.loops -= 1;
        let last = self.words.len() as u32 - 1;
        self.words[at].word |= last << 10;
    }

    fn call(&mut self) {
        let word = match self.random.random_range(0..3) {
            0 => 0x24 << 26,
            1 if !self.shape.early => 0x25 << 26 | self.flags(),
            _ => 0x26 << 26 | self.boolean(),
        };
        let (start, count) = self.procedures[self.random.random_range(0..self.procedures.len())];
        if count < 256 {
            self.push(word | start << 10 | count);
        }
    }

    /// A register with 5 bits: an input or a temporary.
    fn narrow(&mut self) -> u32 {
        if self.chance(4) { self.random.random_range(0..16) } else { self.random.random_range(16..24) }
    }

    /// A register with 7 bits, and what is added to it.
    fn wide(&mut self) -> (u32, u32) {
        if self.chance(2) {
            return (self.narrow(), 0);
        }
        let few = self.random.random_range(32..56);
        let number = if self.chance(4) { self.random.random_range(32..128) } else { few };
        let address = if self.chance(4) { self.random.random_range(1..4) } else { 0 };
        (number, address)
    }

    /// A descriptor for so many sources; the parts of others are plain.
    fn descriptor(&mut self, sources: u32) -> u32 {
        let mask = if self.chance(2) { 15 } else { self.random.random_range(0..16) };
        let mut descriptor = mask;
        for place in 0..3 {
            let selectors = match place < sources && self.chance(2) {
                true => self.random.random_range(0..256),
                false => 0x1B,
            };
            let negated = u32::from(place < sources && self.chance(3));
            descriptor |= (selectors << 1 | negated) << (4 + 9 * place);
        }
        descriptor
    }

    fn destination(&mut self) -> u32 {
        if self.chance(6) { self.random.random_range(0..6) } else { self.random.random_range(16..24) }
    }

    fn compute(&mut self, word: u32, sources: u32, is_mad: bool) {
        let descriptor = self.descriptor(sources);
        // `mad` reaches 32 descriptors: it takes one of few.
        let descriptor = if is_mad { descriptor & 0x1F | PLAIN_PARTS & !0x1F } else { descriptor };
        self.words.push(Pending { word, descriptor: Some((descriptor, is_mad)) });
    }

    fn vector(&mut self) {
        let (two, one) = if self.shape.early { (EARLY_TWO, EARLY_ONE) } else { (TWO, ONE) };
        let destination = self.destination();
        match self.random.random_range(0..10) {
            0..=3 => {
                let ((first, address), second) = (self.wide(), self.narrow());
                let opcode = self.pick(two);
                self.compute(
                    opcode << 26 | destination << 21 | address << 19 | first << 12 | second << 7,
                    2,
                    false,
                );
            }
            4..=6 => {
                let (first, address) = self.wide();
                let opcode = self.pick(one);
                let destination = if opcode == 0x12 { 0 } else { destination };
                self.compute(opcode << 26 | destination << 21 | address << 19 | first << 12, 1, false);
            }
            _ if self.shape.early => self.compare(),
            7 => {
                let (first, (second, address)) = (self.narrow(), self.wide());
                let opcode = self.pick(INVERTED);
                self.compute(
                    opcode << 26 | destination << 21 | address << 19 | first << 14 | second << 7,
                    2,
                    false,
                );
            }
            form => {
                let (first, narrow, (wide, address)) = (self.narrow(), self.narrow(), self.wide());
                let word = match form {
                    8 => 7 << 29 | wide << 10 | narrow << 5,
                    _ => 6 << 29 | narrow << 12 | wide << 5,
                };
                self.compute(word | destination << 24 | address << 22 | first << 17, 3, true);
            }
        }
    }

    fn compare(&mut self) {
        let ((first, address), second) = (self.wide(), self.narrow());
        let [x, y] = [(); 2].map(|()| self.random.random_range(0..6));
        let descriptor = self.descriptor(2) | 15;
        let word = 0x17 << 27 | x << 24 | y << 21 | address << 19 | first << 12 | second << 7;
        self.words.push(Pending { word, descriptor: Some((descriptor, false)) });
    }

    /// All temporaries that are used get a value.
    fn fill(&mut self) {
        for number in 16..24 {
            let source = if self.chance(2) {
                self.random.random_range(0..16)
            } else {
                self.random.random_range(32..56)
            };
            self.words.push(Pending {
                word: 0x13 << 26 | number << 21 | source << 12,
                descriptor: Some((PLAIN_PARTS, false)),
            });
        }
    }

    /// A temporary goes to an output.
    fn output(&mut self, number: u32) {
        let source = self.random.random_range(16..24);
        self.words.push(Pending {
            word: 0x13 << 26 | number << 21 | source << 12,
            descriptor: Some((PLAIN_PARTS, false)),
        });
    }
}

/// A descriptor that writes all components and changes no source.
const PLAIN_PARTS: u32 = 0xF | (0x1B << 5) | (0x1B << 14) | (0x1B << 23);

/// A shader with every operation of arithmetic, for vertices whose numbers are those of the 24-bit format.
pub(crate) fn arithmetic(seed: u64) -> Case {
    let mut random = Pcg64::seed_from_u64(seed);
    let two = |opcode: u32, output: u32| opcode << 26 | output << 21 | 1 << 7;
    let one = |opcode: u32, output: u32| opcode << 26 | output << 21;
    let mad = 7 << 29 | 5 << 24 | 1 << 10 | 2 << 5;
    let mut case = case(seed, Shape { statements: 1, depth: 0, procedures: 0, jumps: false, early: false });
    case.code = vec![
        two(0, 0),
        two(8, 1),
        two(2, 2),
        two(1, 3),
        two(3, 4),
        mad,
        one(0xE, 6),
        one(0xF, 7),
        one(5, 8),
        one(6, 9),
        one(0xB, 10),
        two(0xC, 11),
        two(0xD, 12),
        two(9, 13),
        two(0xA, 14),
        one(7, 15),
        0x22 << 26,
    ];
    (case.entry, case.descriptors) = (0, vec![PLAIN_PARTS]);
    case.vertices = (0..48)
        .map(|_| {
            // Numbers that are near one another, so that sums and products lie between two of the format.
            let exponent = random.random_range(70..180);
            [(); 16].map(|()| {
                [(); 4].map(|()| {
                    let bits = random.random::<u32>() & 0x807F_FF80;
                    let few = if random.random_ratio(1, 4) { bits & !0x7_FF80 } else { bits };
                    few | (exponent + random.random_range(0..20)) << 23
                })
            })
        })
        .collect();
    case
}
