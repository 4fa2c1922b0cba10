//! From instructions on machine registers to a program.

use super::TrapPoint;
use super::code::{FIELDS, Selected, Slot};
use crate::ir::Place;
use wave_isa::Inst;

/// The code words, the place of each, and the instructions that trap.
pub(super) fn encode(selected: &Selected) -> (Vec<u32>, Vec<Place>, Vec<TrapPoint>) {
    let (mut words, mut places, mut traps) = (Vec::new(), Vec::new(), Vec::new());
    for code in &selected.code {
        let mut inst = Inst { guard: code.guard, scope: code.scope, imm: code.imm, ..Inst::new(code.op) };
        for (field, slot) in FIELDS.into_iter().zip(code.fields) {
            if let Slot::Number(number) = slot {
                inst.set_field(field, number);
            }
        }
        if let Some(trap) = code.trap {
            traps.push(TrapPoint { word: words.len() as u32, trap, place: code.at });
        }
        let count = inst.words() as usize;
        words.extend(&inst.encode()[..count]);
        places.extend(std::iter::repeat_n(code.at, count));
    }
    (words, places, traps)
}
