//! Traps that are recorded: the thread writes which one it was, and ends.

use crate::ir::{
    Access, Constant, Function, Instruction, MemoryId, Operation, Place, Terminator, Trap, Type,
};

/// Where a thread records its trap: a word in private memory, which holds 0 or 1 as long as there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traps {
    /// The private memory.
    pub memory: MemoryId,
    /// The address of the word.
    pub address: u32,
}

/// Bits of the word for the kind. It is never 0 or 1 there.
const KIND_BITS: u32 = 4;
/// What the first kind is.
const FIRST_KIND: u32 = 2;

impl Traps {
    /// The word for a trap: its kind in the low bits, its place above them.
    fn word(trap: Trap, place: Place) -> u32 {
        let kind = Trap::ALL.iter().position(|&other| other == trap).expect("all are listed");
        place.0.min(u32::MAX >> KIND_BITS) << KIND_BITS | (kind as u32 + FIRST_KIND)
    }

    /// The trap that a word stands for.
    pub fn of(word: u32) -> Option<(Trap, Place)> {
        let kind = (word & ((1 << KIND_BITS) - 1)).checked_sub(FIRST_KIND)?;
        Some((*Trap::ALL.get(kind as usize)?, Place(word >> KIND_BITS)))
    }
}

/// Ends every trap with a record and an exit.
pub(super) fn record(function: &mut Function, traps: Traps) {
    for block in function.blocks.keys().collect::<Vec<_>>() {
        let Terminator::Trap(trap) = function.blocks[block].terminator else { continue };
        let [zero, word] = [function.value(Type::I32), function.value(Type::I32)];
        let body = &mut function.blocks[block];
        let at = body.at;
        for (value, bits) in [(zero, 0), (word, Traps::word(trap, at))] {
            let operation = Operation::Constant(Constant::I32(bits));
            body.instructions.push(Instruction { operation, results: vec![value], at });
        }
        let access =
            Access { memory: traps.memory, ty: Type::I32, bytes: 4, signed: false, offset: traps.address };
        let operation = Operation::Store(access, [zero, word]);
        body.instructions.push(Instruction { operation, results: Vec::new(), at });
        body.terminator = Terminator::Exit;
    }
}
