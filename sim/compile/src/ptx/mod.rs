//! Kernels in PTX, the virtual instruction set of NVIDIA's GPUs: what compilers of CUDA, Triton and OpenCL write.
//!
//! The text becomes a [tree](tree), whose instructions are rows of a [table]. Each entry becomes a function of the
//! representation, with the functions that it calls in the place of the calls ([`graph`]): registers become values
//! ([`translate`]). Addresses have 64 bits in PTX and 32 here: their low halves are taken where memory is accessed, and what
//! only the high halves need goes as unused. An entry that has something that is not taken is refused alone.

mod atomic;
mod bits;
mod calls;
mod compare;
mod convert;
mod emit;
mod float;
mod fragment;
mod functions;
mod graph;
mod instruction;
mod integer;
mod layout;
mod lexer;
mod library;
mod lines;
mod matrix;
mod memory;
mod operand;
mod parse;
mod scope;
mod spaces;
mod statement;
mod table;
#[cfg(test)]
mod tests;
mod translate;
mod tree;
mod types;
mod variables;
mod wave;

use crate::encoding::Listing;
use crate::ir::{self, Constant, Data, Exported, Global, Place, Space};
use crate::wasm::{ExportedKernel, SourceMap};
use layout::DeviceLayout;
use lexer::Span;
use translate::Memories;
use tree::Tree;
use wave_isa::diagnostic::{self, Diagnostic};

/// Threads of a warp: lanes of the waves that operations of a warp need.
pub const WARP_THREADS: u32 = 32;

/// What is wrong with a text, or not taken, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    at: Span,
    message: String,
    hint: Option<String>,
}

impl Wrong {
    fn new(at: Span, message: impl Into<String>) -> Wrong {
        Wrong { at, message: message.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> Wrong {
        self.maybe_hint(Some(hint.into()))
    }

    fn maybe_hint(self, hint: Option<String>) -> Wrong {
        Wrong { hint, ..self }
    }

    fn diagnostic(self, text: &str, file: &str) -> Diagnostic {
        let length = text.get(self.at.clone()).map_or(1, |marked| marked.chars().count());
        // What is wrong with the device library stands after the text.
        let place = diagnostic::Place::at_offset(file, text, self.at.start.min(text.len()), length);
        let error = Diagnostic::error(self.message).at(place);
        self.hint.into_iter().fold(error, Diagnostic::hint)
    }
}

/// How PTX is decoded.
#[derive(Debug, Clone, Copy)]
pub struct PtxOptions {
    /// The address of the first variable in device memory.
    pub first_variable: u32,
}

impl Default for PtxOptions {
    /// No variable lies at address 0, which is no address in C.
    fn default() -> PtxOptions {
        PtxOptions { first_variable: 1024 }
    }
}

/// The value of a parameter of an entry, as hosts hand it over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PtxParameter {
    /// Its bytes. In the registers of a launch they take whole words.
    pub bytes: u32,
    /// Their alignment in a buffer of all values.
    pub alignment: u32,
    /// The memory that it points to, where the text says so: that of OpenCL C does.
    pub points_to: Option<PtxSpace>,
    /// The alignment of that memory; 0 if the text does not say.
    pub points_to_alignment: u32,
}

/// Memory that a parameter of a kernel points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PtxSpace {
    /// Device memory.
    Global,
    /// Device memory that nobody writes.
    Const,
    /// Memory of the workgroup.
    Shared,
}

/// An entry that can run.
#[derive(Debug, Clone)]
pub struct PtxKernel {
    /// Its name, its function and its workgroup memory.
    pub kernel: ExportedKernel,
    /// Names of its arguments.
    pub parameters: Vec<String>,
    /// Its parameters as the text declares them: a structure is one.
    pub declared: Vec<PtxParameter>,
    /// It is right with waves of [`WARP_THREADS`] lanes only.
    pub needs_warps: bool,
    /// The kernel multiplies matrices by the arithmetic of its lanes: its cycles are not those of a tensor unit.
    pub multiplies_matrices: bool,
}

/// A module that has been translated.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// Its entries are the exports.
    pub module: ir::Module,
    /// They, in the order of the text.
    pub kernels: Vec<PtxKernel>,
    /// Entries that are not taken, and why.
    pub refused: Vec<(String, Diagnostic)>,
    /// Variables in device memory: name, address, bytes.
    pub variables: Vec<(String, u32, u64)>,
    /// The text, with the lines of its instructions; `None` if no user has written or seen it.
    pub listing: Option<Listing>,
    /// Lines of the source that the text was compiled of.
    pub lines: SourceMap,
}

/// Translates a module. A place of the result is a byte of the text, counted from 1.
///
/// # Errors
/// What is wrong with the text. An entry with something that is not taken is in [`Decoded::refused`].
pub fn decode(text: &str, file: &str, options: PtxOptions) -> Result<Decoded, Diagnostic> {
    let located = |wrong: Wrong, text: &str, _: &SourceMap| wrong.diagnostic(text, file);
    let mut decoded = decode_with(text, file, options, &located)?;
    // Each line is a place: that of its first byte.
    let starts = text.match_indices('\n').map(|(newline, _)| newline + 1);
    let places = [0].into_iter().chain(starts).map(|start| (Place(start as u32 + 1), start));
    decoded.listing = Some(Listing::of_text(text, places));
    Ok(decoded)
}

/// [`decode`] of what a compiler made of a source, which nobody sees: messages name the line of the source.
///
/// # Errors
/// As [`decode`].
pub fn decode_compiled(text: &str, file: &str, options: PtxOptions) -> Result<Decoded, Diagnostic> {
    let located = |wrong: Wrong, _: &str, lines: &SourceMap| {
        let line = lines
            .lines(Place(wrong.at.start as u32 + 1))
            .last()
            .map(|line| (line.file.to_owned(), line.line));
        let at = line.map_or_else(|| file.to_owned(), |(file, line)| format!("{file}:{line}"));
        let error = Diagnostic::error(format!("{at}: {}", wrong.message));
        wrong.hint.into_iter().fold(error, Diagnostic::hint)
    };
    decode_with(text, file, options, &located)
}

/// Says where something is wrong.
type Locate<'a> = dyn Fn(Wrong, &str, &SourceMap) -> Diagnostic + 'a;

fn decode_with(
    text: &str,
    file: &str,
    options: PtxOptions,
    locate: &Locate<'_>,
) -> Result<Decoded, Diagnostic> {
    let without_lines = |wrong: Wrong| locate(wrong, text, &SourceMap::default());
    let mut tree = parse::parse(text).map_err(without_lines)?;
    let needed = library::needed(&tree);
    if !needed.is_empty() {
        let linked = format!("{text}\n{needed}");
        tree = parse::parse(&linked).map_err(without_lines)?;
        for function in &mut tree.functions {
            function.is_library = function.at.start >= text.len();
        }
    }
    let lines = lines::source_map(&tree);
    let located = |wrong: Wrong| locate(wrong, text, &lines);
    if !tree.functions.iter().any(|function| function.is_entry && function.body.is_some()) {
        return Err(Diagnostic::error(format!("`{file}` has no kernel: it defines no .entry"))
            .hint("in CUDA, mark a function __global__"));
    }
    let device = DeviceLayout::new(&tree, options.first_variable).map_err(located)?;
    let mut module = ir::Module::default();
    let memory = |space, pages| ir::Memory { space, page_bytes: 1, pages, most_pages: None };
    let ids = Memories {
        device: module.memories.push(memory(Space::Device, device.end)),
        local: module.memories.push(ir::Memory::new(Space::Local, 0, None)),
        private: module.memories.push(ir::Memory::new(Space::Private, 0, None)),
    };
    for (address, bytes) in &device.data {
        module.data.push(Data { bytes: bytes.clone(), at_start: Some((ids.device, *address)) });
    }
    if device.end > 0 {
        // Variables without contents belong to the code too.
        let global = Global { name: None, initial: Constant::I32(device.end as u32), is_mutable: false };
        let global = module.globals.push(global);
        module.exports.push(("__heap_base".to_owned(), Exported::Global(global)));
    }
    let variables = device.named(&tree);
    if let Some((_, address, _)) = variables.iter().find(|(name, ..)| name == library::OUTPUT) {
        let global = Global { name: None, initial: Constant::I32(*address), is_mutable: false };
        let global = module.globals.push(global);
        module.exports.push(("__wave_output".to_owned(), Exported::Global(global)));
    }
    let (mut kernels, mut refused) = (Vec::new(), Vec::new());
    let (mut shared, mut private) = (0u32, 0u32);
    for (number, function) in entries(&tree) {
        match translate::entry(&tree, number, &device, ids) {
            Ok(made) => {
                shared = shared.max(made.shared_bytes);
                private = private.max(made.private_bytes);
                let id = module.functions.push(made.function);
                module.exports.push((function.name.clone(), Exported::Function(id)));
                kernels.push(PtxKernel {
                    kernel: ExportedKernel {
                        name: function.name.clone(),
                        function: id,
                        local_memory_bytes: Some(made.shared_bytes),
                        workgroup_size: function.required_threads,
                    },
                    parameters: made.parameters,
                    declared: declared(function),
                    needs_warps: made.needs_warps,
                    multiplies_matrices: made.multiplies_matrices,
                });
            }
            Err(wrong) => refused.push((function.name.clone(), located(wrong))),
        }
    }
    let pages = u64::from(shared).div_ceil(Space::Local.page_bytes()).max(1);
    module.memories[ids.local] = ir::Memory::new(Space::Local, pages, Some(pages));
    let pages = u64::from(private).div_ceil(ir::PRIVATE_PAGE_BYTES);
    module.memories[ids.private] = ir::Memory::new(Space::Private, pages, Some(pages));
    Ok(Decoded { module, kernels, refused, variables, listing: None, lines })
}

/// The parameters of an entry.
fn declared(function: &tree::Function) -> Vec<PtxParameter> {
    let parameter = |formal: &tree::Formal| match formal {
        tree::Formal::Register(id) => {
            let bytes = function.registers[id.0 as usize].1.bytes();
            PtxParameter { bytes, alignment: bytes, points_to: None, points_to_alignment: 0 }
        }
        tree::Formal::Memory(own) => {
            let variable = &function.variables[*own];
            let pointee = variable.pointee.unwrap_or_default();
            let points_to = match pointee.space {
                Some(tree::StateSpace::Global) => Some(PtxSpace::Global),
                Some(tree::StateSpace::Const) => Some(PtxSpace::Const),
                Some(tree::StateSpace::Shared) => Some(PtxSpace::Shared),
                _ => None,
            };
            PtxParameter {
                bytes: variable.size() as u32,
                alignment: variable.alignment.max(1),
                points_to,
                points_to_alignment: pointee.alignment,
            }
        }
    };
    function.parameters.iter().map(parameter).collect()
}

/// The entries of a module.
fn entries(tree: &Tree) -> impl Iterator<Item = (usize, &tree::Function)> {
    tree.functions.iter().enumerate().filter(|(_, one)| one.is_entry && one.body.is_some())
}
