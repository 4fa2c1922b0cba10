//! Random kernels in PTX, typed and in tier C: integers and floats of all widths with their modifiers, branches, loops,
//! tables, calls, shared memory, barriers, atomics, operations of a warp.
//!
//! A kernel is right whatever the order of its threads: an atomic access whose result counts goes to a place of the thread,
//! one that several threads make is of one commutative operation a place; operations of a warp stand where all threads of
//! their mask come together. The bits of a NaN are never seen. So the memory afterwards has one right content.

mod control;
mod conversions;
mod matrices;
mod operations;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use std::fmt::Write as _;

/// Threads of a warp.
const WARP: u32 = 32;
/// Words of input for each thread.
const INPUT_WORDS: u32 = 16;
/// Bytes of output for each thread.
const OUTPUT_BYTES: u32 = 192;
/// Bytes that a thread has for itself, for atomic accesses.
const OWN_BYTES: u32 = 32;
/// Bytes of the matrix of a warp in shared memory.
const MATRIX_BYTES: u32 = 1536;
/// Words that all threads share, for atomic accesses without results: one for each operation.
const COMMON_WORDS: u32 = 16;

/// Registers of each type.
const COUNTS: [(Class, u32); 7] = [
    (Class::Half, 3),
    (Class::Word, 6),
    (Class::Wide, 4),
    (Class::Single, 5),
    (Class::Double, 3),
    (Class::Short, 3),
    (Class::Truth, 4),
];

/// What a register holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// 16 bits of an integer.
    Half,
    Word,
    Wide,
    Single,
    Double,
    /// A float of 16 bits.
    Short,
    Truth,
}

impl Class {
    /// The prefix of its registers, and their type.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Class::Half => ("%rs", "b16"),
            Class::Word => ("%r", "b32"),
            Class::Wide => ("%rd", "b64"),
            Class::Single => ("%f", "f32"),
            Class::Double => ("%fd", "f64"),
            Class::Short => ("%h", "b16"),
            Class::Truth => ("%p", "pred"),
        }
    }
}

/// A statement, or statements between others: what can be left out as a whole.
#[derive(Debug, Clone)]
pub enum Part {
    /// Lines that go together.
    Lines(Vec<String>),
    /// Lines before, what is between, lines after.
    Around(Vec<String>, Vec<Part>, Vec<String>),
}

/// A random kernel and a launch of it.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Statements between those that set up registers and those that store them.
    pub parts: Vec<Part>,
    /// Functions that it calls.
    functions: Vec<String>,
    /// CTAs.
    pub grid: u32,
    /// Threads of a CTA.
    pub threads: u32,
    /// Its memory at the start: input, output, places of threads, common places.
    pub memory: Vec<u8>,
    /// The number in the third parameter.
    pub scalar: u32,
}

/// The entry.
pub const ENTRY: &str = "k";

impl Kernel {
    /// The kernel of a seed.
    pub fn new(seed: u64) -> Kernel {
        let mut maker =
            Maker { random: Pcg32::seed_from_u64(seed), labels: 0, depth: 0, functions: Vec::new() };
        let threads = WARP * maker.random.random_range(1..=3);
        let grid = maker.random.random_range(1..=2);
        let count = maker.random.random_range(4..24);
        let parts = (0..count).map(|_| maker.part(true)).collect();
        let scalar = maker.random.random();
        let memory = maker.memory(grid * threads);
        Kernel { parts, functions: maker.functions, grid, threads, memory, scalar }
    }

    /// Bytes of shared memory of a launch: a place of 8 bytes for each thread, as many again, and a matrix for each warp.
    pub fn shared_bytes(&self) -> u32 {
        (16 + MATRIX_BYTES / WARP) * self.threads
    }

    /// Where the output, the places of threads and the common places begin in memory.
    fn places(&self) -> [u32; 3] {
        let threads = self.grid * self.threads;
        let output = threads * INPUT_WORDS * 4;
        let own = output + threads * OUTPUT_BYTES;
        [output, own, own + threads * OWN_BYTES]
    }

    /// Its text.
    pub fn text(&self) -> String {
        let [output, own, common] = self.places();
        let mut text = ".version 7.0\n.target sm_80\n.address_size 64\n\
                        .extern .shared .align 16 .b8 wave_local[];\n"
            .to_owned();
        for function in &self.functions {
            text += function;
        }
        text += ".visible .entry k(\n.param .u64 p_memory,\n.param .u32 p_scalar\n)\n{\n";
        for (class, count) in COUNTS {
            let (prefix, ty) = class.names();
            _ = writeln!(text, ".reg .{ty} {prefix}<{count}>;");
        }
        text += ".reg .b32 %t<8>;\n.reg .b64 %a<8>;\n.reg .f32 %ft<4>;\n.reg .f64 %fu<4>;\n.reg .b16 %s<4>;\n.reg .pred %q<4>;\n\
                 .reg .b32 %n<8>;\n.reg .b32 %m<8>;\n.reg .b32 %ma<8>;\n.reg .b32 %mb<8>;\n.reg .b32 %mc<8>;\n.reg .f64 %md<4>;\n";
        // %a0: memory, %a1: input of the thread, %a2: its place, %a3: common places, %a4: output. %t0: its number.
        text += "ld.param.u64 %a0, [p_memory];\ncvta.to.global.u64 %a0, %a0;\nld.param.u32 %t1, [p_scalar];\n\
                 mov.u32 %t2, %ctaid.x;\nmov.u32 %t3, %ntid.x;\nmov.u32 %t4, %tid.x;\nmad.lo.u32 %t0, %t2, %t3, %t4;\n";
        let mut at = |register: &str, bytes: u32, start: u32| {
            _ = writeln!(text, "mul.wide.u32 {register}, %t0, {bytes};");
            _ = writeln!(text, "add.u64 {register}, {register}, %a0;");
            _ = writeln!(text, "add.u64 {register}, {register}, {start};");
        };
        at("%a1", INPUT_WORDS * 4, 0);
        at("%a2", OWN_BYTES, own);
        at("%a4", OUTPUT_BYTES, output);
        _ = writeln!(text, "add.u64 %a3, %a0, {common};");
        text += &operations::beginning();
        for part in &self.parts {
            write_part(&mut text, part);
        }
        text += &operations::ending();
        text += "ret;\n}\n";
        text
    }

    /// Leaves out parts as long as the kernel stays wrong, as the test says.
    pub fn shrink(&mut self, is_wrong: &dyn Fn(&Kernel) -> bool) {
        let mut number = 0;
        while number < count(&self.parts) {
            let mut smaller = self.clone();
            let mut at = number;
            remove(&mut smaller.parts, &mut at);
            if is_wrong(&smaller) {
                *self = smaller;
            } else {
                number += 1;
            }
        }
    }
}

fn write_part(text: &mut String, part: &Part) {
    let mut lines = |lines: &[String]| lines.iter().for_each(|line| *text += &format!("{line}\n"));
    match part {
        Part::Lines(all) => lines(all),
        Part::Around(before, between, after) => {
            lines(before);
            between.iter().for_each(|part| write_part(text, part));
            after.iter().for_each(|line| *text += &format!("{line}\n"));
        }
    }
}

/// How many parts there are, those inside others too.
fn count(parts: &[Part]) -> usize {
    let inside = |part: &Part| match part {
        Part::Lines(_) => 0,
        Part::Around(_, between, _) => count(between),
    };
    parts.iter().map(|part| 1 + inside(part)).sum()
}

/// Removes the part of a number.
fn remove(parts: &mut Vec<Part>, number: &mut usize) -> bool {
    for at in 0..parts.len() {
        if *number == 0 {
            parts.remove(at);
            return true;
        }
        *number -= 1;
        if let Part::Around(_, between, _) = &mut parts[at]
            && remove(between, number)
        {
            return true;
        }
    }
    false
}

/// What makes a kernel.
struct Maker {
    random: Pcg32,
    labels: u32,
    /// Parts inside one another.
    depth: u32,
    functions: Vec<String>,
}

impl Maker {
    /// One of some.
    fn of<T: Copy>(&mut self, some: &[T]) -> T {
        some[self.random.random_range(0..some.len())]
    }

    fn chance(&mut self, of: f64) -> bool {
        self.random.random_bool(of)
    }

    fn below(&mut self, end: u32) -> u32 {
        self.random.random_range(0..end)
    }

    /// A register.
    fn register(&mut self, class: Class) -> String {
        let (_, count) = COUNTS[COUNTS.iter().position(|(of, _)| *of == class).expect("each has registers")];
        format!("{}{}", class.names().0, self.below(count))
    }

    /// A register or a number.
    fn source(&mut self, class: Class) -> String {
        if class == Class::Truth || class == Class::Short || self.chance(0.8) {
            return self.register(class);
        }
        let word: u32 = self.random.random();
        match class {
            Class::Single => format!("0f{:08X}", self.single()),
            Class::Double => format!("0d{:016X}", self.double()),
            Class::Half => format!("{}", self.of(&[0, 1, 2, 15, 16, 255, 256, 32767, -1, -32768])),
            _ if self.chance(0.5) => {
                self.of(&["0", "1", "-1", "2", "31", "32", "33", "63", "64", "255"]).to_owned()
            }
            Class::Word => format!("{}", word.cast_signed()),
            _ => format!("0x{:x}", u64::from(word) << self.below(33)),
        }
    }

    /// The bits of a float: numbers of all kinds.
    fn single(&mut self) -> u32 {
        match self.below(6) {
            0 => self.of(&[
                0,
                0x8000_0000,
                0x3F80_0000,
                0xBF80_0000,
                0x7F80_0000,
                0xFF80_0000,
                0x7FC0_0000,
                1,
                0x7F7F_FFFF,
                0x8000_0001,
                0x0080_0000,
                0x4F00_0000,
                0x3F00_0000,
            ]),
            1 => self.random.random(),
            2 => (self.below(4096) as f32 - 2048.0).to_bits(),
            3 => self.random.random::<u32>() & 0x807F_FFFF,
            _ => ((self.random.random::<f32>() - 0.5) * 16.0).to_bits(),
        }
    }

    fn double(&mut self) -> u64 {
        match self.below(5) {
            0 => self.of(&[
                0,
                1 << 63,
                0x3FF0_0000_0000_0000,
                0x7FF0_0000_0000_0000,
                0x7FF8_0000_0000_0000,
                1,
                0x0010_0000_0000_0000,
            ]),
            1 => self.random.random(),
            2 => (f64::from(self.below(1 << 20)) - 524_288.0).to_bits(),
            _ => ((self.random.random::<f64>() - 0.5) * 1e3).to_bits(),
        }
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    /// The memory at the start.
    fn memory(&mut self, threads: u32) -> Vec<u8> {
        let mut memory = Vec::new();
        for number in 0..threads * INPUT_WORDS {
            let word = match number % 4 {
                0 => self.single(),
                1 => self.of(&[0, 1, 2, 31, 32, 0x7FFF_FFFF, 0x8000_0000, u32::MAX, 0xFFFF, 0x8000]),
                2 => self.below(64),
                _ => self.random.random(),
            };
            memory.extend(word.to_le_bytes());
        }
        let rest = threads * (OUTPUT_BYTES + OWN_BYTES) + COMMON_WORDS * 8;
        memory.resize(memory.len() + rest as usize, 0);
        memory
    }
}
