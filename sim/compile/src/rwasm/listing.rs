//! A module as text.

use super::code::Code;
use super::container::Container;
use super::heights::{Arity, Shapes};
use super::opcode::{Opcode, Operand, Word};
use crate::encoding::Listing;

/// The listing of a file.
pub(super) fn listing(container: &Container, functions: &[Code<'_>], shapes: &Shapes) -> Listing {
    let mut listing = Listing::default();
    for code in functions {
        let (Arity { parameters, results }, returns) = shapes.of_function(code.number);
        let what = match (code.number + 1 == functions.len(), returns) {
            (true, _) => "the entry point".to_owned(),
            (false, true) => format!("{parameters} cells to {results}"),
            (false, false) => format!("{parameters} cells, does not return"),
        };
        listing.note(&format!("function {}: {what}", code.number));
        for (at, word) in code.words.iter().enumerate() {
            listing.instruction(word.place(), &format!("  {at:04}  {}", instruction(word, at)));
        }
    }
    if !container.memory.is_empty() {
        listing.note(&format!("memory: {} bytes", container.memory.len()));
        for (line, bytes) in container.memory.chunks(16).enumerate() {
            let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            listing.note(&format!("  {:04x}  {}", 16 * line, bytes.join(" ")));
        }
    }
    if !container.elements.is_empty() {
        let name = |element: &Option<u32>| element.map_or("null".to_owned(), |number| number.to_string());
        let elements: Vec<String> = container.elements.iter().map(name).collect();
        listing.note(&format!("elements: {}", elements.join(" ")));
    }
    listing
}

/// An instruction, which is the one of this number in its function.
fn instruction(word: &Word, at: usize) -> String {
    let name = word.opcode.name();
    match word.opcode.operand() {
        Operand::None => name,
        Operand::Word | Operand::Signed => match word.opcode {
            Opcode::I32Const => format!("{name} {}", word.word() as i32),
            Opcode::F32Const => format!("{name} {}", float(f32::from_bits(word.word()), word.word().into())),
            _ => format!("{name} {}", word.word()),
        },
        // The number of the instruction where it leads.
        Operand::Branch => format!("{name} {:04}", at as i64 + i64::from(word.branch())),
        Operand::DropKeep => {
            let (drop, keep) = word.drop_keep();
            format!("{name} drop {drop} keep {keep}")
        }
        Operand::Wide => match word.opcode {
            Opcode::F64Const => format!("{name} {}", float(f64::from_bits(word.wide()), word.wide())),
            _ => format!("{name} {}", word.wide() as i64),
        },
    }
}

/// A number, or the bits of what is none.
fn float(value: impl Into<f64> + std::fmt::Debug + Copy, bits: u64) -> String {
    if value.into().is_nan() { format!("nan:{bits:#x}") } else { format!("{value:?}") }
}
