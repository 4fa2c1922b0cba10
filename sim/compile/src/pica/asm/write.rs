//! The listing: shaders as text that the assembler takes.

use crate::encoding::Listing;
use crate::pica::PicaKernel;
use crate::pica::container::Container;
use crate::pica::instruction::{Address, Destination, Instruction, Join, Register, Source, Test, Vector};
use crate::pica::opcode::{Op, ROWS, Shape};
use crate::pica::translate::place;
use std::fmt::Write as _;

/// Names of the relations of `cmp`, in the order of their codes.
pub(super) const RELATIONS: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];

const COMPONENTS: [char; 4] = ['x', 'y', 'z', 'w'];

/// The shaders of a file.
pub(in crate::pica) fn listing(
    container: &Container,
    code: &[Instruction],
    kernels: &[PicaKernel],
) -> Listing {
    let mut listing = Listing::default();
    for (section, kernel) in container.sections.iter().zip(kernels) {
        listing.note(&format!(".dvle {}", word_of(&kernel.name)));
        listing.note(&format!(".entry @{}", section.entry));
        let constants = &section.constants;
        for (number, bits) in &constants.floats {
            let values = bits.map(|bits| number_text(f32::from_bits(bits)));
            listing.note(&format!(".setf c{number}({})", values.join(", ")));
        }
        for (number, values) in constants.integers.iter().enumerate() {
            if let Some([x, y, z]) = values {
                listing.note(&format!(".seti i{number}({x}, {y}, {z}, 0)"));
            }
        }
        for (number, value) in constants.booleans.iter().enumerate() {
            if let Some(value) = value {
                listing.note(&format!(".setb b{number}({value})"));
            }
        }
        for (register, meaning) in &section.outputs {
            let (meaning, mask) = meaning.split_once('.').unwrap_or((meaning, "xyzw"));
            listing.note(&format!(".out - {meaning} o{register}.{mask}"));
        }
        for (name, first, last) in &section.names {
            listing.note(&format!("; {} is {first:#x} to {last:#x}", name.escape_debug()));
        }
    }
    for (number, instruction) in code.iter().enumerate() {
        let text = text(instruction);
        listing.instruction(place(container.code_offset, number), &format!("    {text:<44}; @{number}"));
    }
    listing
}

/// A name as a word of the text.
fn word_of(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let word: String = name.chars().map(plain).collect();
    if word.starts_with(|c: char| c.is_ascii_digit()) { format!("_{word}") } else { word }
}

/// A number so that it is read as the same.
fn number_text(value: f32) -> String {
    if value.is_nan() { "nan".to_owned() } else { value.to_string() }
}

/// An instruction.
pub(in crate::pica) fn text(instruction: &Instruction) -> String {
    let mut text = String::new();
    let out = &mut text;
    let written = match instruction {
        Instruction::Vector(vector) => return vector_text(vector),
        Instruction::Compare(relations, [first, second]) => {
            let names = relations.map(|relation| RELATIONS[relation as usize]);
            let (first, second) = (source(first), source(second));
            write!(out, "cmp {first}, {}, {}, {second}", names[0], names[1])
        }
        Instruction::Nop => write!(out, "nop"),
        Instruction::End => write!(out, "end"),
        Instruction::Break(None) => write!(out, "break"),
        Instruction::Break(Some(condition)) => write!(out, "breakc {}", test(condition)),
        Instruction::Call(None, region) => write!(out, "call @{}, {}", region.start, region.count),
        Instruction::Call(Some(condition), region) => {
            let letter = letter(condition);
            write!(out, "call{letter} {}, @{}, {}", test(condition), region.start, region.count)
        }
        Instruction::If(condition, region) => {
            let letter = letter(condition);
            write!(out, "if{letter} {}, @{}, {}", test(condition), region.start, region.count)
        }
        Instruction::Loop(uniform, last) => write!(out, "for i{uniform}, @{last}"),
        Instruction::Jump(condition, target) => {
            write!(out, "jmp{} {}, @{target}", letter(condition), test(condition))
        }
    };
    written.expect("a string takes all text");
    text
}

/// The letter behind the name of an instruction with a test.
fn letter(test: &Test) -> char {
    match test {
        Test::Flags(..) => 'c',
        Test::Boolean(..) => 'u',
    }
}

fn test(test: &Test) -> String {
    let not = |wanted: bool| if wanted { "" } else { "!" };
    match *test {
        Test::Boolean(number, wanted) => format!("{}b{number}", not(wanted)),
        Test::Flags(join, [x, y]) => {
            let (x_text, y_text) = (format!("{}cmp.x", not(x)), format!("{}cmp.y", not(y)));
            match join {
                Join::Or => format!("{x_text} || {y_text}"),
                Join::And => format!("{x_text} && {y_text}"),
                Join::X => x_text,
                Join::Y => y_text,
            }
        }
    }
}

fn vector_text(vector: &Vector) -> String {
    let is_form = |shape: Shape| matches!(shape, Shape::TwoInverted | Shape::ThreeInverted);
    let row = ROWS.iter().find(|row| row.op == vector.op && is_form(row.shape) == vector.inverted);
    let mut text = row.map_or("", |row| row.name).to_owned();
    let destination = match vector.destination {
        _ if vector.op == Op::Mova => "a0".to_owned(),
        Destination::Output(number) => format!("o{number}"),
        Destination::Temporary(number) => format!("r{number}"),
    };
    text.push_str(&format!(" {destination}"));
    if vector.mask != [true; 4] {
        let enabled = COMPONENTS.iter().zip(vector.mask).filter(|(_, enabled)| *enabled);
        let mask: String = enabled.map(|(component, _)| component).collect();
        text.push_str(&format!(".{}", if mask.is_empty() { "none" } else { &mask }));
    }
    for one in &vector.sources {
        text.push_str(", ");
        text.push_str(&source(one));
    }
    text
}

fn source(source: &Source) -> String {
    let mut text = if source.negated { "-".to_owned() } else { String::new() };
    let (letter, number) = match source.register {
        Register::Input(number) => ('v', number),
        Register::Temporary(number) => ('r', number),
        Register::Uniform(number) => ('c', number),
    };
    text.push_str(&format!("{letter}{number}"));
    text.push_str(match source.address {
        None => "",
        Some(Address::X) => "[a0.x]",
        Some(Address::Y) => "[a0.y]",
        Some(Address::Loop) => "[aL]",
    });
    if source.swizzle != [0, 1, 2, 3] {
        text.push('.');
        text.extend(source.swizzle.iter().map(|&component| COMPONENTS[usize::from(component)]));
    }
    text
}
