//! What a program brings beside its code if a compiler made it: data, types of arguments, private memory, where code
//! comes from.

use super::{Launch, Output, Program};
use crate::WORD_BYTES;
use crate::diagnostic::Diagnostic;
use std::fmt;
use std::ops::Range;

/// A program that was made from a module of another format.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Module {
    /// Path of the module, as the user gave it.
    pub file: String,
    /// What device memory holds at the start: address and bytes. The segments come in this order, a later one over those
    /// before it.
    pub data: Vec<(u32, Vec<u8>)>,
    /// End of what the module has in device memory, bytes. Buffers go behind it.
    pub data_end: u64,
    /// Device memory that belongs to the code: constants and static variables. No buffer may meet it.
    pub own: Vec<Range<u64>>,
    /// Byte of the module that each code word comes from; 0 where there is none.
    pub offsets: Vec<u32>,
    /// The function that code comes from: the first word of a run, and its name.
    pub functions: Vec<(u32, String)>,
    /// Instructions that fault to say that the module traps: the word, and the reason of the trap.
    pub traps: Vec<(u32, String)>,
    /// Where threads leave what they print.
    pub output: Output,
    /// Kernels that are right with waves of one width only: the number of the kernel, and the lanes.
    pub wave_widths: Vec<(usize, u32)>,
}

impl Module {
    /// Writes what device memory holds at the start.
    ///
    /// # Errors
    /// The number of bytes that it needs, if the memory has fewer.
    pub fn place_data(&self, memory: &mut [u8]) -> Result<(), u64> {
        if self.data_end > memory.len() as u64 {
            return Err(self.data_end);
        }
        for (address, bytes) in &self.data {
            memory[*address as usize..][..bytes.len()].copy_from_slice(bytes);
        }
        Ok(())
    }

    /// The function of the module that a code word comes from.
    pub fn function_of_word(&self, word: u32) -> Option<&str> {
        let after = self.functions.partition_point(|&(first, _)| first <= word);
        self.functions[..after].last().map(|(_, name)| name.as_str())
    }

    /// The lanes of a wave that a kernel needs, if it is right with one width only.
    pub fn wave_width(&self, kernel: usize) -> Option<u32> {
        self.wave_widths.iter().find(|(number, _)| *number == kernel).map(|&(_, lanes)| lanes)
    }

    /// The trap that the instruction at a code word stands for.
    pub fn trap_of_word(&self, word: u32) -> Option<&str> {
        let place = self.traps.binary_search_by_key(&word, |&(word, _)| word).ok()?;
        Some(&self.traps[place].1)
    }

    /// The byte of the module that a code word comes from.
    pub fn offset_of_word(&self, word: u32) -> Option<u32> {
        self.offsets.get(word as usize).copied().filter(|&offset| offset != 0)
    }
}

/// Type of an argument of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterType {
    /// A 32-bit integer, or an address.
    I32,
    /// A 64-bit integer: two registers, low word first.
    I64,
    /// An IEEE 754 binary32.
    F32,
    /// An IEEE 754 binary64: two registers, low word first.
    F64,
}

impl ParameterType {
    /// Every one.
    pub const ALL: [ParameterType; 4] =
        [ParameterType::I32, ParameterType::I64, ParameterType::F32, ParameterType::F64];

    /// Registers that it takes.
    pub const fn registers(self) -> usize {
        match self {
            ParameterType::I32 | ParameterType::F32 => 1,
            ParameterType::I64 | ParameterType::F64 => 2,
        }
    }
}

impl fmt::Display for ParameterType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ParameterType::I32 => "i32",
            ParameterType::I64 => "i64",
            ParameterType::F32 => "f32",
            ParameterType::F64 => "f64",
        })
    }
}

/// A parameter of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, if the module says one.
    pub name: Option<String>,
    /// Its type.
    pub ty: ParameterType,
    /// What the kernel does with the memory behind it, if it is an address for certain.
    pub pointer: Option<Pointer>,
}

/// What a kernel does with the memory that a pointer points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pointer {
    /// Only loads.
    Read,
    /// Stores or atomics, and perhaps loads.
    Written,
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} {name}", self.ty),
            None => write!(f, "{}", self.ty),
        }
    }
}

/// Device memory that a launch has to bring for the kernel's own use: stacks, spilled registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrivateMemory {
    /// The register that holds its address at the start.
    pub register: u8,
    /// Bytes of each wave of the grid. Wave w of workgroup g has number `g * waves of a workgroup + w`.
    pub bytes_per_wave: u32,
}

impl Launch {
    /// Gives the kernel its private memory, at the top of a device memory of `bytes` bytes. Gives the address where it
    /// begins, if the kernel has any.
    ///
    /// # Errors
    /// If it does not fit above byte `used`, and if the kernel needs waves of another width.
    pub fn place_private(
        &mut self,
        program: &Program,
        wave_width: u32,
        bytes: u64,
        used: u64,
    ) -> Result<Option<u32>, Diagnostic> {
        let kernel = &program.kernels[self.kernel];
        let needed = program.module.as_ref().and_then(|module| module.wave_width(self.kernel));
        if let Some(lanes) = needed.filter(|&lanes| lanes != wave_width) {
            let message = format!(
                "kernel `{}` has operations of a warp of {lanes} threads, and waves of this machine have {wave_width} lanes",
                kernel.name
            );
            return Err(
                Diagnostic::error(message).hint(format!("choose a machine with core.wave_width = {lanes}"))
            );
        }
        let Some(private) = kernel.private else { return Ok(None) };
        let waves = self.workgroups().saturating_mul(self.waves_per_workgroup(wave_width));
        let needed = waves.saturating_mul(private.bytes_per_wave.into());
        let start = bytes.min(1 << 32).checked_sub(needed).map(|start| start & !(ALIGNMENT_BYTES - 1));
        let Some(start) = start.filter(|&start| start >= used) else {
            let message = format!(
                "kernel `{}` needs {needed} bytes of private memory for its stacks ({waves} waves of {} bytes each), and \
                 {} of device memory are free",
                kernel.name,
                private.bytes_per_wave,
                bytes.saturating_sub(used)
            );
            return Err(Diagnostic::error(message).hint(
                "launch fewer threads, lower --stack-bytes or --instance-memory, or raise --device-memory",
            ));
        };
        // It is below 2^32: device memory has no higher address.
        let start = start as u32;
        self.initial_registers.retain(|&(register, _)| register != private.register);
        self.initial_registers.push((private.register, start));
        Ok(Some(start))
    }
}

/// Private memory starts at a multiple of this: of every cache line.
const ALIGNMENT_BYTES: u64 = 256;

impl Program {
    /// Where the instruction at a byte offset of the code comes from, in words: the function of the module, and the byte
    /// of the module if no source line is known.
    pub fn module_place(&self, pc: u32) -> Option<String> {
        let module = self.module.as_ref()?;
        let word = pc / WORD_BYTES;
        let has_line = self.source.as_ref().is_some_and(|source| source.line_of_word(word).is_some());
        let function = module.function_of_word(word).map(|name| format!("function `{name}`"));
        let byte = module.offset_of_word(word).filter(|_| !has_line);
        let byte = byte.map(|offset| format!("byte 0x{offset:x} of {}", module.file));
        let parts: Vec<String> = function.into_iter().chain(byte).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}
