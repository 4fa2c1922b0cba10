//! Decoder of PICA200 vertex shaders: the container `.shbin`, or words of code and of descriptors.
//!
//! A thread of the kernel is a vertex. Attributes come from buffers of `f32`, outputs go to buffers; uniforms come from
//! one buffer, but those whose values the shader has itself. `docs/pica200.md` says what each instruction does, to the
//! bit; [`assemble`] makes a container of text, and [`Decoded::listing`] is text that it takes.

pub(crate) mod asm;
mod container;
mod emit;
mod float;
mod graph;
mod instruction;
mod opcode;
mod translate;
mod vector;

pub use asm::{assemble, decode_text};

use crate::encoding::{Error, Fault, Listing};
use crate::ir::{Exported, FunctionId, Memory, Module, Space};
use container::{Container, Section};
use instruction::Instruction;
use std::collections::BTreeSet;
use translate::Shader;

/// How numbers are held and rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Float {
    /// 1 bit of sign, 7 of exponent, 16 of fraction: what the hardware has.
    #[default]
    F24,
    /// binary32: what interpreters use.
    F32,
}

/// How a shader is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PicaOptions {
    /// The format of numbers.
    pub float: Float,
    /// The opcodes and meanings of the early text, where they differ from those known today.
    pub early: bool,
}

/// A kernel of a module: a shader with its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PicaKernel {
    /// The name under which it is exported.
    pub name: String,
    /// Its function.
    pub function: FunctionId,
    /// Names of its parameters, in order: `count`, `uniforms`, then the inputs and the outputs that it uses.
    pub parameters: Vec<String>,
    /// Output registers and what the file says that they are.
    pub outputs: Vec<(u8, String)>,
    /// Names that the file has for registers: the first and the last of each. Inputs begin at 0x00, `c0` is 0x10, `i0`
    /// 0x70, `b0` 0x78.
    pub names: Vec<(String, u16, u16)>,
}

/// A module, and its text.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// The module. Its exported functions are the kernels; its memory is device memory, of which it has nothing itself.
    pub module: Module,
    /// The shaders in their assembly.
    pub listing: Listing,
    /// The kernels, in the order of the file.
    pub kernels: Vec<PicaKernel>,
}

/// True if the bytes are a container.
pub fn is_shbin(bytes: &[u8]) -> bool {
    bytes.starts_with(b"DVLB")
}

/// Decodes a container.
///
/// # Errors
/// Whatever is wrong with it, with its byte.
pub fn decode(bytes: &[u8], options: &PicaOptions) -> Result<Decoded, Error> {
    make(container::read(bytes)?, options)
}

/// Decodes words of code and of descriptors: a shader that begins at the word `entry`. Its bytes are those of the code.
///
/// # Errors
/// Whatever is wrong with it, with its byte.
pub fn decode_code(
    code_words: &[u32],
    descriptor_words: &[u32],
    entry: u32,
    options: &PicaOptions,
) -> Result<Decoded, Error> {
    let (words, descriptors) = (code_words.len(), descriptor_words.len());
    if words > 4096 || descriptors > 128 {
        let message =
            format!("{words} words of code and {descriptors} descriptors: at most 4096 and 128 are taken");
        return Err(Error::new(Fault::Invalid, message));
    }
    if entry as usize >= words {
        return Err(Error::new(Fault::Invalid, format!("the entry is word {entry}, and there are {words}")));
    }
    let section = Section { entry: entry as u16, ..Section::default() };
    let (code, descriptors) = (code_words.to_vec(), descriptor_words.to_vec());
    make(Container { code_offset: 0, code, descriptors, sections: vec![section] }, options)
}

/// The module of what a file holds.
fn make(container: Container, options: &PicaOptions) -> Result<Decoded, Error> {
    let read = |(word, &bits): (usize, &u32)| {
        let instruction = Instruction::read(bits, &container.descriptors, options.early);
        instruction.map_err(|error| error.at(container.code_offset + 4 * word as u64))
    };
    let code = container.code.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
    if container.sections.is_empty() {
        return Err(Error::new(Fault::Invalid, "the file has no shader").at(4));
    }
    let mut module = Module::default();
    module.memories.push(Memory::new(Space::Device, 0, None));
    let mut kernels: Vec<PicaKernel> = Vec::new();
    let mut taken = BTreeSet::new();
    for section in &container.sections {
        let name = unused_name(section.name.as_deref().unwrap_or("main"), &mut taken);
        let shader = Shader {
            code: &code,
            entry: section.entry,
            constants: &section.constants,
            start: container.code_offset,
            early: options.early,
        };
        let located = |mut error: Error| {
            error.function.get_or_insert_with(|| name.clone());
            error.at(section.offset)
        };
        let (function, parameters) = translate::translate(&shader, &name, options.float).map_err(located)?;
        let function = module.functions.push(function);
        module.exports.push((name.clone(), Exported::Function(function)));
        let (outputs, names) = (section.outputs.clone(), section.names.clone());
        kernels.push(PicaKernel { name, function, parameters, outputs, names });
    }
    let listing = asm::listing(&container, &code, &kernels);
    Ok(Decoded { module, listing, kernels })
}

/// A name, with a number behind it if there is one already.
fn unused_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = (1..).map(|number| format!("{name}{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let name = names.find(|name| !taken.contains(name)).expect("there are endless numbers");
    taken.insert(name.clone());
    name
}
