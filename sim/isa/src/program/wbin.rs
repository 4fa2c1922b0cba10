//! The WBIN container (isa section 9): programs as bytes.

use super::asm::DEFAULT_REGISTERS;
use super::structure::Structure;
use super::{Kernel, Program};
use crate::diagnostic::Diagnostic;
use crate::{MAX_REGISTERS, Op, WORD_BYTES};
use std::ops::Range;

/// The first bytes of a container.
pub const MAGIC: &[u8] = b"WAVE";
/// Version of the container that is written. Others are read as this one, with a warning.
pub const VERSION: u16 = 1;
/// Bytes of the header.
const HEADER_BYTES: u32 = 32;
/// Bytes of a kernel's metadata.
const KERNEL_BYTES: u32 = 32;

/// Reads a container. `file` names it in messages. Kernels are put into the order of their code.
///
/// # Errors
/// The first error, with its byte offset in the file: a truncated or foreign header; a section that is
/// misaligned, outside of the file or overlaps another; metadata too short for its kernels; a
/// name outside of the symbols or not UTF-8; a kernel whose code is outside of the code section, misaligned
/// or overlaps another kernel's; more than 256 registers.
pub fn read(bytes: &[u8], file: &str) -> Result<Program, Diagnostic> {
    read_with_warnings(bytes, file).map(|(program, _)| program)
}

/// [`read`], with warnings about what this version of the container does not define and that was passed over: another
/// version, flags, metadata past the kernels. Bytes past the sections mean nothing and get no warning.
///
/// # Errors
/// Those of [`read`].
pub fn read_with_warnings(bytes: &[u8], file: &str) -> Result<(Program, Vec<Diagnostic>), Diagnostic> {
    let place = |offset: u64, message: &str| format!("`{file}` at byte {offset:#x}: {message}");
    let mut reader = Reader { bytes, passed_over: Vec::new() };
    match reader.program() {
        Ok(program) => {
            let passed_over = reader.passed_over.iter();
            let passed_over = passed_over.map(|(offset, what)| Diagnostic::warning(place(*offset, what)));
            let warnings = passed_over.chain(compare_and_swap(&program, file)).collect();
            Ok((program, warnings))
        }
        Err(error) => {
            let diagnostic = Diagnostic::error(place(error.offset, &error.message));
            Err(match error.hint {
                Some(hint) => diagnostic.hint(hint),
                None => diagnostic,
            })
        }
    }
}

/// A warning about atomic adds that have a third source register in their words. The reference assembler gives a compare
/// and swap the opcode of an add, and only this register tells them apart.
fn compare_and_swap(program: &Program, file: &str) -> Option<Diagnostic> {
    let adds = program.kernels.iter().flat_map(|kernel| {
        let words = &program.code[kernel.code.start as usize..kernel.code.end as usize];
        let slots = Structure::scan(words).slots.into_iter();
        let adds = slots.filter(|slot| matches!(slot.op(), Some(Op::AtomicAdd | Op::LocalAtomicAdd)));
        let third =
            adds.filter(|slot| words.get(slot.word as usize + 1).is_some_and(|word| word >> 16 & 0xFF != 0));
        third.map(|slot| (kernel, kernel.code.start + slot.word)).collect::<Vec<_>>()
    });
    let adds: Vec<_> = adds.collect();
    let (kernel, word) = adds.first()?;
    let others = match adds.len() - 1 {
        0 => String::new(),
        others => format!(", as {others} more of the file do"),
    };
    let (name, pc) = (&kernel.name, word * WORD_BYTES);
    let message = format!(
        "`{file}`, kernel `{name}`, pc {pc:#06x}: this atomic add names a third source register{others}, and adds"
    );
    let hint = "the reference assembler encodes compare and swap so: assemble the source with `wave-sim asm`";
    Some(Diagnostic::warning(message).hint(hint))
}

/// The container of a program: header, code, names, metadata. The source map is dropped, and a name ends at
/// its first null character.
pub fn write(program: &Program) -> Vec<u8> {
    let code_bytes = program.code.len() as u32 * WORD_BYTES;
    let symbol_offset = HEADER_BYTES + code_bytes;
    let mut symbols = Vec::new();
    let mut metadata = (program.kernels.len() as u32).to_le_bytes().to_vec();
    for kernel in &program.kernels {
        let name = kernel.name.split('\0').next().unwrap_or_default();
        let name_offset = if name.is_empty() { 0 } else { symbol_offset + symbols.len() as u32 };
        if !name.is_empty() {
            symbols.extend_from_slice(name.as_bytes());
            symbols.push(0);
        }
        let [x, y, z] = kernel.workgroup_size;
        let code = [kernel.code.start * WORD_BYTES, (kernel.code.end - kernel.code.start) * WORD_BYTES];
        for value in [name_offset, kernel.registers, kernel.local_memory_bytes, x, y, z, code[0], code[1]] {
            metadata.extend_from_slice(&value.to_le_bytes());
        }
    }
    let metadata_offset = symbol_offset + symbols.len() as u32;
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&0u16.to_le_bytes());
    let sections = [HEADER_BYTES, code_bytes, symbol_offset, symbols.len() as u32];
    for value in sections.into_iter().chain([metadata_offset, metadata.len() as u32]) {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    bytes.extend(program.code.iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend_from_slice(&symbols);
    bytes.extend_from_slice(&metadata);
    bytes
}

/// An error and its place.
struct ReadError {
    offset: u64,
    message: String,
    hint: Option<&'static str>,
}

fn error<T>(offset: impl Into<u64>, message: impl Into<String>) -> Result<T, ReadError> {
    Err(ReadError { offset: offset.into(), message: message.into(), hint: None })
}

/// A part of the file, in bytes from the file's start.
#[derive(Clone)]
struct Section {
    name: &'static str,
    /// Position of its offset in the header.
    field: u64,
    bytes: Range<u64>,
}

struct Reader<'a> {
    bytes: &'a [u8],
    /// What has no meaning here, with its offset.
    passed_over: Vec<(u64, String)>,
}

impl Reader<'_> {
    fn program(&mut self) -> Result<Program, ReadError> {
        self.header()?;
        let code = self.section("code", 8)?;
        let symbols = self.section("symbol", 16)?;
        let metadata = match self.u32(24) {
            // The reference assembler's --no-symbols counts the offset from its absent symbols on.
            0 if symbols.bytes.is_empty() => self.section_at("metadata", 24, code.bytes.end as u32)?,
            _ => self.section("metadata", 24)?,
        };
        no_overlap([&code, &symbols, &metadata])?;
        let code_bytes = code.bytes.end - code.bytes.start;
        if !code.bytes.start.is_multiple_of(u64::from(WORD_BYTES)) {
            return error(
                code.field,
                format!("the code section begins at byte {}, not at a word", code.bytes.start),
            );
        }
        if !code_bytes.is_multiple_of(u64::from(WORD_BYTES)) {
            return error(
                code.field + 4,
                format!("the code section has {code_bytes} bytes, not whole words"),
            );
        }
        let mut kernels = self.kernels(&symbols, &metadata, code_bytes)?;
        kernels.sort_by_key(|(_, kernel)| (kernel.code.start, kernel.code.end));
        for ((_, first), (offset, second)) in kernels.iter().zip(kernels.iter().skip(1)) {
            if second.code.start < first.code.end {
                let message =
                    format!("the code of kernel `{}` begins inside kernel `{}`", second.name, first.name);
                return error(*offset + 24, message);
            }
        }
        let start = code.bytes.start as usize;
        let words = self.bytes[start..start + code_bytes as usize].chunks_exact(4);
        let code = words.map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
        Ok(Program {
            code,
            kernels: kernels.into_iter().map(|(_, kernel)| kernel).collect(),
            source: None,
            module: None,
        })
    }

    fn header(&mut self) -> Result<(), ReadError> {
        let length = self.bytes.len();
        if !self.bytes.starts_with(MAGIC) {
            return Err(ReadError {
                offset: 0,
                message: "the file does not begin with the bytes WAVE".to_owned(),
                hint: Some("it is no WBIN container; assembly text has the extension .wave"),
            });
        }
        if length < HEADER_BYTES as usize {
            let message = format!("the file has {length} bytes, its header alone has {HEADER_BYTES}");
            return error(length as u64, message);
        }
        let (version, flags) = (self.u32(4) as u16, self.u32(4) >> 16);
        if version != VERSION {
            let what =
                format!("version {version} of the container is not known: it is read as version {VERSION}");
            self.passed_over.push((4, what));
        }
        if flags != 0 {
            self.passed_over
                .push((6, format!("flags are 0x{flags:04x}: none are defined, and they are ignored")));
        }
        Ok(())
    }

    /// The section whose offset and size are at byte `field` of the header.
    fn section(&self, name: &'static str, field: u64) -> Result<Section, ReadError> {
        self.section_at(name, field, self.u32(field as usize))
    }

    /// The same, from byte `offset` of the file on.
    fn section_at(&self, name: &'static str, field: u64, offset: u32) -> Result<Section, ReadError> {
        let size = self.u32(field as usize + 4);
        let bytes = u64::from(offset)..u64::from(offset) + u64::from(size);
        let length = self.bytes.len() as u64;
        if size > 0 && offset < HEADER_BYTES {
            return error(field, format!("the {name} section begins at byte {offset}, inside the header"));
        }
        if size > 0 && bytes.end > length {
            let message = format!(
                "the {name} section covers bytes {offset} to {}, but the file ends at {length}",
                bytes.end
            );
            return Err(ReadError { offset: field, message, hint: Some("the file may have been cut short") });
        }
        // The position of an empty section does not matter.
        Ok(Section { name, field, bytes: if size == 0 { 0..0 } else { bytes } })
    }

    /// All kernels, each with the offset of its metadata.
    fn kernels(
        &mut self,
        symbols: &Section,
        metadata: &Section,
        code_bytes: u64,
    ) -> Result<Vec<(u64, Kernel)>, ReadError> {
        let size = metadata.bytes.end - metadata.bytes.start;
        if size < 4 {
            return error(
                metadata.field + 4,
                format!("the metadata section has {size} bytes, too few for a count"),
            );
        }
        let count = u64::from(self.u32(metadata.bytes.start as usize));
        if count == 0 {
            return error(metadata.bytes.start, "the file has no kernel");
        }
        let expected = 4 + count * u64::from(KERNEL_BYTES);
        if size < expected {
            let message =
                format!("the metadata section has {size} bytes, but {count} kernels take {expected}");
            return error(metadata.bytes.start, message);
        }
        if size > expected {
            let what = format!("{} bytes of metadata past the kernels' are ignored", size - expected);
            self.passed_over.push((metadata.bytes.start + expected, what));
        }
        let offsets = (0..count).map(|i| metadata.bytes.start + 4 + i * u64::from(KERNEL_BYTES));
        offsets.map(|offset| Ok((offset, self.kernel(offset, symbols, code_bytes)?))).collect()
    }

    fn kernel(&self, offset: u64, symbols: &Section, code_bytes: u64) -> Result<Kernel, ReadError> {
        let field = |index: usize| self.u32(offset as usize + 4 * index);
        let name = self.name(offset, field(0), symbols)?;
        let registers = match field(1) {
            0 => DEFAULT_REGISTERS,
            registers => registers,
        };
        if registers > MAX_REGISTERS as u32 {
            return error(
                offset + 4,
                format!("kernel `{name}` has {registers} registers, more than {MAX_REGISTERS}"),
            );
        }
        let (start, size) = (field(6), field(7));
        for (value, what, at) in [(start, "begins at byte", 24), (size, "has the size", 28)] {
            if !value.is_multiple_of(WORD_BYTES) {
                return error(
                    offset + at,
                    format!("the code of kernel `{name}` {what} {value}, not whole words"),
                );
            }
        }
        let end = u64::from(start) + u64::from(size);
        if end > code_bytes {
            let message = format!(
                "kernel `{name}` covers bytes {start} to {end} of the code section, which has {code_bytes}"
            );
            return error(offset + 24, message);
        }
        Ok(Kernel {
            name,
            registers,
            local_memory_bytes: field(2),
            workgroup_size: [field(3), field(4), field(5)],
            code: start / WORD_BYTES..(end / u64::from(WORD_BYTES)) as u32,
            parameters: None,
            private: None,
            bindings: Vec::new(),
        })
    }

    /// The name at `name_offset` of the file, for the kernel whose metadata is at `offset`.
    fn name(&self, offset: u64, name_offset: u32, symbols: &Section) -> Result<String, ReadError> {
        if name_offset == 0 {
            return Ok(String::new());
        }
        if !symbols.bytes.contains(&u64::from(name_offset)) {
            return error(
                offset,
                format!("a kernel's name at byte {name_offset} is outside the symbol section"),
            );
        }
        let rest = &self.bytes[name_offset as usize..symbols.bytes.end as usize];
        let Some(length) = rest.iter().position(|&byte| byte == 0) else {
            return error(name_offset, "a kernel's name does not end within the symbol section");
        };
        match std::str::from_utf8(&rest[..length]) {
            Ok(name) => Ok(name.to_owned()),
            Err(e) => error(u64::from(name_offset) + e.valid_up_to() as u64, "a kernel's name is not UTF-8"),
        }
    }

    /// The little-endian word at `offset`, which must lie in the file.
    fn u32(&self, offset: usize) -> u32 {
        let bytes = &self.bytes[offset..offset + 4];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }
}

fn no_overlap(sections: [&Section; 3]) -> Result<(), ReadError> {
    for (i, first) in sections.iter().enumerate() {
        for second in &sections[i + 1..] {
            if first.bytes.start < second.bytes.end && second.bytes.start < first.bytes.end {
                let message = format!("the {} section overlaps the {} section", second.name, first.name);
                return error(second.field, message);
            }
        }
    }
    Ok(())
}
