//! From instructions on machine registers to a program.

use super::TrapPoint;
use super::code::{Code, FIELDS, Literal, Slot};
use crate::ir::{FunctionId, Place};
use cranelift_entity::SecondaryMap;
use wave_isa::{Inst, WORD_BYTES};

/// Code words, the place of each, and the instructions that trap.
#[derive(Default)]
pub(super) struct Encoded {
    pub(super) words: Vec<u32>,
    pub(super) places: Vec<Place>,
    pub(super) traps: Vec<TrapPoint>,
}

/// Encodes functions one behind the other. `spill_bytes` are those of a wave.
pub(super) fn encode(
    functions: &[(FunctionId, Vec<Code>)],
    spill_bytes: u32,
    bytes_per_wave: u32,
) -> Encoded {
    let mut encoded = Encoded::default();
    let mut starts: SecondaryMap<FunctionId, u32> = SecondaryMap::new();
    // Words with the offset of a function, and that.
    let mut calls: Vec<(usize, FunctionId)> = Vec::new();
    for (id, code) in functions {
        starts[*id] = encoded.words.len() as u32 * WORD_BYTES;
        for code in code {
            let imm = match code.literal {
                Some(Literal::BytesPerWave) => bytes_per_wave,
                Some(Literal::SpillBytesPerWave) => spill_bytes,
                None => code.imm,
            };
            let mut inst = Inst { guard: code.guard, scope: code.scope, imm, ..Inst::new(code.op) };
            for (field, slot) in FIELDS.into_iter().zip(code.fields) {
                if let Slot::Number(number) = slot {
                    inst.set_field(field, number);
                }
            }
            if let Some(trap) = code.trap {
                encoded.traps.push(TrapPoint { word: encoded.words.len() as u32, trap, place: code.at });
            }
            let count = inst.words() as usize;
            encoded.words.extend(&inst.encode()[..count]);
            encoded.places.extend(std::iter::repeat_n(code.at, count));
            if let Some(callee) = code.transfer.as_ref().and_then(|transfer| transfer.callee) {
                calls.push((encoded.words.len() - 1, callee));
            }
        }
    }
    for (word, callee) in calls {
        encoded.words[word] = starts[callee];
    }
    encoded
}
