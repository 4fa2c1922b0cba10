//! Words of instructions and descriptors, and the container.

use super::{Entry as Start, ShaderText};
use crate::pica::instruction::{Address, Destination, Instruction, Join, Register, Source, Test, Vector};
use crate::pica::opcode::{Op, ROWS, Shape};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Most descriptors, and most of those that `mad` reaches.
const MOST: usize = 128;
const MOST_OF_MAD: usize = 32;

/// Too many different descriptors: which instruction has the first that finds no place, and of how many it is one.
pub(super) struct Full {
    pub(super) instruction: usize,
    pub(super) most: usize,
}

/// Words of code and of descriptors. Descriptors that are equal are one; those of `mad` come first.
pub(super) fn words(instructions: &[Instruction]) -> Result<(Vec<u32>, Vec<u32>), Full> {
    let mut descriptors = Vec::new();
    let mut numbers = HashMap::new();
    for of_mad in [true, false] {
        for (number, instruction) in instructions.iter().enumerate() {
            let is_mad = matches!(instruction, Instruction::Vector(vector) if vector.op == Op::Mad);
            let Some(descriptor) = descriptor(instruction).filter(|_| is_mad == of_mad) else { continue };
            let most = if of_mad { MOST_OF_MAD } else { MOST };
            if let Entry::Vacant(free) = numbers.entry(descriptor) {
                if descriptors.len() == most {
                    return Err(Full { instruction: number, most });
                }
                free.insert(descriptors.len() as u32);
                descriptors.push(descriptor);
            }
        }
    }
    let number =
        |instruction: &Instruction| descriptor(instruction).map_or(0, |descriptor| numbers[&descriptor]);
    let code = instructions.iter().map(|instruction| word(instruction) | number(instruction));
    Ok((code.collect(), descriptors))
}

/// The descriptor that an instruction needs.
fn descriptor(instruction: &Instruction) -> Option<u32> {
    let (mask, sources) = match instruction {
        Instruction::Vector(vector) => (vector.mask, &vector.sources[..]),
        Instruction::Compare(_, sources) => ([true; 4], &sources[..]),
        _ => return None,
    };
    let mut descriptor = 0;
    for (enabled, bit) in mask.into_iter().zip([3, 2, 1, 0]) {
        descriptor |= u32::from(enabled) << bit;
    }
    for place in 0..3 {
        let part = sources.get(place).map_or(0x1B << 1, |source| {
            let selectors = source.swizzle.iter().fold(0, |all, &one| all << 2 | u32::from(one));
            selectors << 1 | u32::from(source.negated)
        });
        descriptor |= part << (4 + 9 * place);
    }
    Some(descriptor)
}

fn register(source: &Source) -> u32 {
    match source.register {
        Register::Input(number) => number.into(),
        Register::Temporary(number) => 0x10 + u32::from(number),
        Register::Uniform(number) => 0x20 + u32::from(number),
    }
}

fn address(source: &Source) -> u32 {
    match source.address {
        None => 0,
        Some(Address::X) => 1,
        Some(Address::Y) => 2,
        Some(Address::Loop) => 3,
    }
}

/// The opcode with this meaning and shape.
fn code(op: Op, shape: Shape) -> u32 {
    let row = ROWS.iter().find(|row| (row.op, row.shape) == (op, shape));
    u32::from(row.expect("every instruction has an opcode").code) << 26
}

/// The opcode of a test and its operand.
fn decided(op: Op, test: &Test) -> u32 {
    match *test {
        Test::Boolean(number, _) => code(op, Shape::RegionBoolean) | u32::from(number) << 22,
        Test::Flags(join, [x, y]) => {
            let place = Join::ALL.iter().position(|&one| one == join).unwrap_or(0) as u32;
            let shape = if op == Op::Break { Shape::Flags } else { Shape::RegionFlags };
            code(op, shape) | place << 22 | u32::from(x) << 25 | u32::from(y) << 24
        }
    }
}

/// A word without its descriptor.
fn word(instruction: &Instruction) -> u32 {
    let words = |start: u16, count: u8| u32::from(start) << 10 | u32::from(count);
    match instruction {
        Instruction::Vector(vector) => vector_word(vector),
        Instruction::Compare(relations, [first, second]) => {
            let [x, y] = relations.map(|relation| relation as u32);
            let sources = address(first) << 19 | register(first) << 12 | register(second) << 7;
            code(Op::Cmp, Shape::Compare) | x << 24 | y << 21 | sources
        }
        Instruction::Nop => code(Op::Nop, Shape::Plain),
        Instruction::End => code(Op::End, Shape::Plain),
        Instruction::Break(None) => code(Op::Break, Shape::Plain),
        Instruction::Break(Some(test)) => decided(Op::Break, test),
        Instruction::Call(None, region) => code(Op::Call, Shape::Region) | words(region.start, region.count),
        Instruction::Call(Some(test), region) => decided(Op::Call, test) | words(region.start, region.count),
        Instruction::If(test, region) => decided(Op::If, test) | words(region.start, region.count),
        Instruction::Loop(uniform, last) => {
            code(Op::Loop, Shape::Loop) | words(*last, 0) | u32::from(*uniform) << 22
        }
        Instruction::Jump(test, target) => {
            let is_false = matches!(test, Test::Boolean(_, false));
            decided(Op::Jump, test) | words(*target, is_false.into())
        }
    }
}

fn vector_word(vector: &Vector) -> u32 {
    let destination = match vector.destination {
        Destination::Output(number) => u32::from(number),
        Destination::Temporary(number) => 0x10 + u32::from(number),
    };
    let shape = match (vector.sources.len(), vector.inverted) {
        (1, _) => Shape::One,
        (2, false) => Shape::Two,
        (2, true) => Shape::TwoInverted,
        (_, false) => Shape::Three,
        (_, true) => Shape::ThreeInverted,
    };
    let code = code(vector.op, shape);
    let sources = &vector.sources;
    match (&sources[..], vector.inverted) {
        ([a, b, c], inverted) => {
            let (places, wide) = if inverted { ([17, 12, 5], c) } else { ([17, 10, 5], b) };
            let sources = register(a) << places[0] | register(b) << places[1] | register(c) << places[2];
            code | destination << 24 | address(wide) << 22 | sources
        }
        ([a, b], true) => code | destination << 21 | address(b) << 19 | register(a) << 14 | register(b) << 7,
        ([a, b], false) => code | destination << 21 | address(a) << 19 | register(a) << 12 | register(b) << 7,
        _ => code | destination << 21 | address(&sources[0]) << 19 | register(&sources[0]) << 12,
    }
}

/// The number of the 24-bit format that is nearest.
pub(super) fn to_f24(value: f32) -> u32 {
    let bits = value.to_bits();
    let (sign, magnitude) = (bits >> 31 << 23, bits & 0x7FFF_FFFF);
    if value.is_nan() {
        return 0x7F_8000;
    }
    let rounded = (magnitude + 0x3F + (magnitude >> 7 & 1)) >> 7;
    // The exponent counts from 64 less.
    let first = (127 - 62) << 16;
    sign | match rounded.checked_sub(first - (1 << 16)) {
        Some(rest) if rounded >= first => rest.min(0x7F << 16),
        _ => 0,
    }
}

/// The file: `DVLB`, `DVLP`, then each `DVLE`.
pub(super) fn container(code: &[u32], descriptors: &[u32], shaders: &[(ShaderText, Start)]) -> Vec<u8> {
    let mut program = Vec::new();
    let header = 0x28;
    let words = [
        u32::from_le_bytes(*b"DVLP"),
        0x1002,
        header,
        code.len() as u32,
        header + 4 * code.len() as u32,
        descriptors.len() as u32,
        0,
        0,
        0,
        0,
    ];
    program.extend(words.into_iter().chain(code.iter().copied()).flat_map(u32::to_le_bytes));
    for descriptor in descriptors {
        program.extend(descriptor.to_le_bytes());
        program.extend(0xFu32.to_le_bytes());
    }
    let mut file = b"DVLB".to_vec();
    file.extend((shaders.len() as u32).to_le_bytes());
    let start = file.len() + 4 * shaders.len() + program.len();
    let mut sections = Vec::new();
    for (shader, entry) in shaders {
        file.extend(((start + sections.len()) as u32).to_le_bytes());
        sections.extend(section(shader, *entry));
    }
    file.extend(program);
    file.extend(sections);
    file
}

/// The bit of each register that is named.
fn bits(registers: impl Iterator<Item = u16>) -> u16 {
    registers.filter(|&register| register < 16).fold(0, |all, register| all | 1 << register)
}

fn section(shader: &ShaderText, entry: Start) -> Vec<u8> {
    let mut symbols = Vec::new();
    let mut symbol = |name: &str| {
        let at = symbols.len() as u32;
        symbols.extend(name.as_bytes());
        symbols.push(0);
        at
    };
    let mut constants = Vec::new();
    for (&(kind, register), values) in &shader.constants {
        constants.extend(kind.to_le_bytes());
        constants.extend(register.to_le_bytes());
        constants.extend(values.iter().flat_map(|word| word.to_le_bytes()));
    }
    let mut labels = Vec::new();
    labels.extend(
        [0, u32::from(entry.start), u32::from(entry.end), symbol(&shader.name)]
            .iter()
            .flat_map(|word| word.to_le_bytes()),
    );
    let mut outputs = Vec::new();
    for &(kind, register, mask) in &shader.outputs {
        outputs.extend([kind, register, mask, 0].iter().flat_map(|half| half.to_le_bytes()));
    }
    let mut names = Vec::new();
    for (name, first, last) in &shader.names {
        names.extend(symbol(name).to_le_bytes());
        names.extend(first.to_le_bytes());
        names.extend(last.to_le_bytes());
    }
    let mut section = b"DVLE".to_vec();
    section.extend(0x1002u16.to_le_bytes());
    section.extend([0, 0]);
    section.extend(u32::from(entry.start).to_le_bytes());
    section.extend(u32::from(entry.end).to_le_bytes());
    section.extend(bits(shader.names.iter().map(|&(_, first, _)| first)).to_le_bytes());
    section.extend(bits(shader.outputs.iter().map(|&(_, register, _)| register)).to_le_bytes());
    section.extend([0; 4]);
    let mut at = 0x40u32;
    let tables = [(&constants, 20), (&labels, 16), (&outputs, 8), (&names, 8)];
    for (table, bytes) in tables {
        section.extend(at.to_le_bytes());
        section.extend((table.len() as u32 / bytes).to_le_bytes());
        at += table.len() as u32;
    }
    section.extend(at.to_le_bytes());
    symbols.resize(symbols.len().next_multiple_of(4), 0);
    section.extend((symbols.len() as u32).to_le_bytes());
    for part in [constants, labels, outputs, names, symbols] {
        section.extend(part);
    }
    section
}
