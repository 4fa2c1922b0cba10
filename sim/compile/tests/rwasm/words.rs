//! Writes rWasm: instruction words and the container.

use super::opcodes::number;

/// An instruction word, without its container.
pub(crate) type Word = [u8; 9];

/// A word with an operand of 64 bits.
pub(crate) fn wide(name: &str, operand: u64) -> Word {
    let mut word = [0; 9];
    word[0] = number(name);
    word[1..].copy_from_slice(&operand.to_le_bytes());
    word
}

/// A word with an operand of 32 bits.
pub(crate) fn word(name: &str, operand: u32) -> Word {
    wide(name, operand.into())
}

/// A constant of 32 bits as the compiler of rWasm writes it: the upper half has its sign.
pub(crate) fn i32_constant(value: i32) -> Word {
    wide("I32Const", i64::from(value) as u64)
}

/// A branch by a number of instructions.
pub(crate) fn branch(name: &str, distance: i64) -> Word {
    word(name, distance as i32 as u32)
}

/// A word that keeps cells on top, and drops some under them.
pub(crate) fn drop_keep(name: &str, drop: u32, keep: u32) -> Word {
    wide(name, u64::from(drop) | u64::from(keep) << 32)
}

/// A module.
#[derive(Debug, Clone, Default)]
pub(crate) struct Module {
    pub(crate) functions: Vec<Vec<Word>>,
    pub(crate) memory: Vec<u8>,
    pub(crate) elements: Vec<u32>,
}

impl Module {
    /// Its container.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let code: Vec<u8> = self.functions.iter().flatten().flatten().copied().collect();
        let counts = self.functions.iter().flat_map(|words| (words.len() as u32).to_le_bytes()).collect();
        let elements = self.elements.iter().flat_map(|element| element.to_le_bytes()).collect();
        let sections = [code, self.memory.clone(), counts, elements];
        let mut bytes = vec![0xEF, 0x52, 1];
        for (id, section) in (1..).zip(&sections) {
            bytes.push(id);
            bytes.extend((section.len() as u32).to_le_bytes());
        }
        bytes.push(0);
        bytes.extend(sections.into_iter().flatten());
        bytes
    }
}
