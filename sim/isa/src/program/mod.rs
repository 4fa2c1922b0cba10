//! Programs: kernels in memory, and the tools around them (assembler, disassembler, WBIN, checks).

mod argument;
pub mod asm;
mod binding;
pub mod check;
pub mod dis;
pub mod fault;
mod format;
pub(crate) mod launch;
mod link;
mod load;
mod module;
mod output;
pub mod structure;
pub mod wbin;

use crate::Op;
use crate::table::Space;
use std::ops::Range;
use structure::{Slot, Structure};

pub use argument::{Argument, ArgumentError};
pub use asm::assemble;
pub use binding::Binding;
pub use dis::{Listing, disassemble, disassemble_inst, listing};
pub use fault::{Fault, FaultKind};
pub use launch::Launch;
pub use link::relocate;
pub use load::{from_bytes, load, load_with_warnings, not_text, read_file};
pub use module::{Module, Parameter, ParameterType, Pointer, PrivateMemory};
pub use output::{Output, Printed};

/// An assembled or loaded program: one code section and the kernels in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// The code section, in words. Offsets in calls and kernel ranges count from its start.
    pub code: Vec<u32>,
    /// Kernels in file order.
    pub kernels: Vec<Kernel>,
    /// Source of the words, if they come from a text.
    pub source: Option<SourceMap>,
    /// What a compiler says of it, if one made it.
    pub module: Option<Module>,
}

/// One kernel of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// Name; empty if the file gives none.
    pub name: String,
    /// General registers that a lane has, 1 to 256.
    pub registers: u32,
    /// Local memory of a workgroup, bytes.
    pub local_memory_bytes: u32,
    /// Default threads of a workgroup (x, y, z); 0 if the launch has to give them.
    pub workgroup_size: [u32; 3],
    /// Its words in the code section.
    pub code: Range<u32>,
    /// Its parameters, whose values are the arguments of a launch in order; `None` if nothing says how many there are.
    pub parameters: Option<Vec<Parameter>>,
    /// Device memory that a launch has to bring for its own use.
    pub private: Option<PrivateMemory>,
    /// Buffers that a launch has to bring, in the order of their groups and numbers.
    pub bindings: Vec<Binding>,
}

/// Source lines of the code words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceMap {
    /// Path as the user gave it.
    pub file: String,
    /// The whole text.
    pub text: String,
    /// 1-based line of each code word; 0 where there is none.
    pub lines: Vec<u32>,
}

impl SourceMap {
    /// The line number and its text for a code word.
    pub fn line_of_word(&self, word: u32) -> Option<(u32, &str)> {
        let line = *self.lines.get(word as usize)?;
        let text = self.text.lines().nth(line.checked_sub(1)? as usize)?;
        Some((line, text))
    }
}

/// Local memory of a workgroup whose kernel uses some and states none, in bytes: as in the reference emulator.
pub(crate) const UNSTATED_LOCAL_MEMORY: u32 = 16_384;

impl Program {
    /// Local memory that a workgroup of a kernel of this program gets where a launch does not say: what the kernel
    /// states, or [`UNSTATED_LOCAL_MEMORY`] if it states none and has an instruction that uses it.
    pub fn local_memory_needed(&self, kernel: &Kernel) -> u32 {
        let words = &self.code[kernel.code.start as usize..kernel.code.end as usize];
        let uses =
            |slot: &Slot| slot.op().and_then(Op::memory).is_some_and(|access| access.space == Space::Local);
        match kernel.local_memory_bytes {
            0 if Structure::scan(words).slots.iter().any(uses) => UNSTATED_LOCAL_MEMORY,
            stated => stated,
        }
    }

    /// Index of the kernel with this name.
    pub fn kernel_named(&self, name: &str) -> Option<usize> {
        named(self.kernels.iter().map(|kernel| kernel.name.as_str()), name)
    }
}

/// Which of some names a user means: the same one, or the only one that a C++ compiler has made of it.
pub fn named<'a>(names: impl Iterator<Item = &'a str> + Clone, wanted: &str) -> Option<usize> {
    if let Some(place) = names.clone().position(|name| name == wanted) {
        return Some(place);
    }
    let mut found = names.enumerate().filter(|(_, name)| unmangled(name) == Some(wanted));
    found.next().filter(|_| found.next().is_none()).map(|(place, _)| place)
}

/// The name of a function in the source: the function's own name, if no C++ compiler has made it.
pub fn source_name(name: &str) -> &str {
    unmangled(name).unwrap_or(name)
}

/// The name of a function in the source, from that which a C++ compiler has made of it and of its types. `None` for other
/// names, and for functions in namespaces.
fn unmangled(name: &str) -> Option<&str> {
    // Functions that only their file knows have an L.
    let rest = name.strip_prefix("_ZL").or_else(|| name.strip_prefix("_Z"))?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = rest[..digits].parse().ok()?;
    rest[digits..].get(..length)
}
