//! Kernels from compute shaders: WGSL and SPIR-V.
//!
//! The crate `naga` parses and validates a shader. Its typed tree is translated onto the representation here: every value
//! becomes its scalars ([`layout`]), variables become values ([`places`]), calls are inlined and short loops unrolled
//! ([`control`]), because shaders have neither recursion nor pointers to functions. A buffer is an argument: its address, and its
//! length where the shader asks for it.

mod control;
mod counted;
mod disassembly;
mod emit;
mod entry;
mod expression;
mod hoist;
mod layout;
mod math;
mod math_scalar;
mod memory;
mod messages;
mod operators;
mod packing;
mod pairs;
mod places;
mod spirv;
mod switches;
mod uniform;
mod ways;

use crate::encoding::Listing;
use crate::ir::{self, Constant, FunctionId, MemoryId, Place, Space, Type, Value};
use crate::wasm::ExportedKernel;
use cranelift_entity::PrimaryMap;
use emit::Emitter;
use fnv::FnvHashMap;
use layout::Layout;
use messages::Shown;
use naga::back::pipeline_constants::process_overrides;
use naga::valid::{Capabilities, FunctionInfo, ModuleInfo, ValidationFlags, Validator};
use naga::{Expression, GlobalVariable, Handle, LocalVariable, Scalar, ShaderStage, TypeInner};
use operators::is_half;
use places::{Location, Pointer, RunTime, To, Variable};
use std::borrow::Cow;
use std::collections::BTreeSet;

use std::panic::AssertUnwindSafe;
use std::path::Path;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::guard::guarded;
use wave_isa::program::Binding;

/// What becomes of an index that is outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bounds {
    /// The last element is accessed, as WebGPU allows it.
    #[default]
    Clamp,
    /// The thread traps.
    Trap,
}

/// How shaders are compiled.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ShaderOptions {
    /// Values of pipeline constants, by name or by number.
    pub overrides: Vec<(String, f64)>,
    /// What becomes of an index that is outside.
    pub bounds: Bounds,
    /// A product and the sum that takes it are rounded one after the other, not once.
    pub separate_rounding: bool,
    /// Workgroup variables hold anything at the start, not zeros.
    pub undefined_workgroup: bool,
}

/// A compute entry point.
#[derive(Debug, Clone)]
pub struct ShaderKernel {
    /// Its name, its function, the size of its workgroups and their memory.
    pub kernel: ExportedKernel,
    /// The buffers that it accesses, in the order of their groups and numbers.
    pub bindings: Vec<Binding>,
    /// Names of its arguments.
    pub parameters: Vec<String>,
}

/// A shader that has been translated.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// Its compute entry points are the exports.
    pub module: ir::Module,
    /// They, in the order of the shader.
    pub kernels: Vec<ShaderKernel>,
    /// The source, if it is known.
    pub listing: Option<Listing>,
}

/// Translates a shader in WGSL. A place of the module is a byte of the text, counted from 1.
///
/// # Errors
/// What is wrong with it, or not taken, with its place in the text.
pub fn decode_wgsl(text: &str, file: &str, options: &ShaderOptions) -> Result<Decoded, Diagnostic> {
    let parsed = guarded(|| naga::front::wgsl::parse_str(&without_known(text)))
        .map_err(|_| messages::panicked(file))?
        .map_err(|error| messages::of_parser(&error, text, file))?;
    let decoded = translate(&parsed, Shown::Text(text), file, options)?;
    // Each line is a place: that of its first byte.
    let starts = text.match_indices('\n').map(|(newline, _)| newline + 1);
    let places = [0].into_iter().chain(starts).map(|start| (ir::Place(start as u32 + 1), start));
    Ok(Decoded { listing: Some(Listing::of_text(text, places)), ..decoded })
}

/// Translates a module of SPIR-V. A place of the module is a byte of the file, counted from 1.
///
/// # Errors
/// What is wrong with it, or not taken.
pub fn decode_spirv(bytes: &[u8], file: &str, options: &ShaderOptions) -> Result<Decoded, Diagnostic> {
    let settings = naga::front::spv::Options { adjust_coordinate_space: false, ..Default::default() };
    let stripped = spirv::strip(bytes, Path::new(file)).map_err(|spirv::Broken { what, byte }| {
        Diagnostic::error(format!("{file}, read as SPIR-V: there is {what}, at byte {byte:#x}"))
    })?;
    let parsed = guarded(|| naga::front::spv::parse_u8_slice(&stripped.bytes, &settings))
        .map_err(|_| messages::panicked(file))?
        .map_err(|error| Diagnostic::error(format!("{file}, read as SPIR-V: {}", messages::chain(&error))))?;
    let decoded = translate(&parsed, Shown::Words(&stripped), file, options)?;
    Ok(Decoded { listing: stripped.listing, ..decoded })
}

/// True for a module of SPIR-V, in either order of bytes.
pub fn is_spirv(bytes: &[u8]) -> bool {
    bytes.starts_with(&spirv::MAGIC.to_le_bytes()) || bytes.starts_with(&spirv::MAGIC.to_be_bytes())
}

/// The text without directives that name what naga takes in any case, but knows no directive for. All else keeps its place.
fn without_known(text: &str) -> Cow<'_, str> {
    const DIRECTIVE: &str = "enable subgroups;";
    match text.contains(DIRECTIVE) {
        true => Cow::Owned(text.replace(DIRECTIVE, &" ".repeat(DIRECTIVE.len()))),
        false => Cow::Borrowed(text),
    }
}

fn translate(
    parsed: &naga::Module,
    shown: Shown<'_>,
    file: &str,
    options: &ShaderOptions,
) -> Result<Decoded, Diagnostic> {
    let compute: Vec<_> =
        parsed.entry_points.iter().filter(|one| one.stage == ShaderStage::Compute).collect();
    if compute.is_empty() {
        return Err(messages::no_kernel(parsed, file));
    }
    // What the validator lets pass and is not taken, the translator refuses by its name.
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    validator.subgroup_stages(naga::valid::ShaderStages::COMPUTE);
    validator.subgroup_operations(naga::valid::SubgroupOperationSet::all());
    let info = guarded(AssertUnwindSafe(|| validator.validate(parsed).map_err(Box::new)))
        .map_err(|_| messages::panicked(file))?
        .map_err(|error| messages::of_validator(&error, shown, file))?;
    let constants = messages::pipeline_constants(parsed, &options.overrides, file)?;
    let (module, info) =
        guarded(AssertUnwindSafe(|| process_overrides(parsed, &info, None, &constants).map_err(Box::new)))
            .map_err(|_| messages::panicked(file))?
            .map_err(|error| messages::of_constants(&error, shown, file))?;
    let layout = Layout::new(&module);
    let mut decoded = Decoded { module: ir::Module::default(), kernels: Vec::new(), listing: None };
    let memories = Memories::new(&mut decoded.module);
    let mut private_bytes = 0;
    for (number, entry) in module.entry_points.iter().enumerate() {
        if entry.stage != ShaderStage::Compute {
            continue;
        }
        messages::resources(&module, info.get_entry_point(number), shown, file)?;
        // A variable that turns out to need memory gets it at the next attempt.
        let mut in_memory = BTreeSet::new();
        let made = loop {
            let translator = Translator {
                module: &module,
                info: &info,
                layout: &layout,
                options,
                e: Emitter::new(entry::function(&module, &info, number), !options.separate_rounding),
                memories: &decoded.module.memories,
                ids: memories,
                in_memory: &in_memory,
                slots: Vec::new(),
                begins_pair: Vec::new(),
                is_reached: true,
                globals: FnvHashMap::default(),
                buffer_bytes: FnvHashMap::default(),
                uniforms: FnvHashMap::default(),
                counter: None,
                facts: Vec::new(),
                lengths: FnvHashMap::default(),
                has_full_waves: entry.workgroup_size.iter().map(|&size| u64::from(size)).product::<u64>()
                    % wave_isa::MAX_WAVE_WIDTH as u64
                    == 0,
                is_left: false,
                depth: 0,
                statements: 0,
                private_bytes: 0,
                tables: Vec::new(),
            };
            match translator.kernel(number) {
                Ok(made) => break made,
                Err(Wrong::InMemory(variable)) => {
                    let is_new = in_memory.insert(variable);
                    assert!(is_new, "a variable in memory has no slots");
                }
                Err(Wrong::Parted { barrier, branch }) => {
                    return Err(messages::parted(barrier, branch, shown, file));
                }
                Err(Wrong::Refused { at, message, hint }) => {
                    let error = messages::located(message, at, shown, file);
                    return Err(hint.into_iter().fold(error, Diagnostic::hint));
                }
            }
        };
        private_bytes = private_bytes.max(made.private_bytes);
        made.add(&mut decoded, memories);
    }
    let pages = u64::from(private_bytes).div_ceil(ir::PRIVATE_PAGE_BYTES);
    decoded.module.memories[memories.private] = ir::Memory::new(Space::Private, pages, Some(pages));
    // Of device memory the module itself has its tables only.
    let ends = decoded
        .module
        .data
        .values()
        .filter_map(|data| Some(u64::from(data.at_start?.1) + data.bytes.len() as u64));
    let pages = ends.max().unwrap_or(0);
    decoded.module.memories[memories.device] =
        ir::Memory { space: Space::Device, page_bytes: 1, pages, most_pages: None };
    Ok(decoded)
}

/// The memories of every module that comes from a shader.
#[derive(Debug, Clone, Copy)]
struct Memories {
    device: MemoryId,
    local: MemoryId,
    private: MemoryId,
}

impl Memories {
    fn new(module: &mut ir::Module) -> Memories {
        let mut add = |space, pages| module.memories.push(ir::Memory::new(space, pages, None));
        Memories {
            device: add(Space::Device, 1),
            local: add(Space::Local, 0),
            private: add(Space::Private, 0),
        }
    }
}

/// Why a function is not translated.
#[derive(Debug)]
enum Wrong {
    /// This variable cannot be kept in slots.
    InMemory(Variable),
    /// Threads may come to this barrier apart, because of this branch.
    Parted { barrier: Place, branch: Place },
    /// Something is not taken.
    Refused { at: naga::Span, message: String, hint: Option<&'static str> },
}

impl Wrong {
    /// The same with what to do instead.
    fn with_hint(self, hint: &'static str) -> Wrong {
        match self {
            Wrong::Refused { at, message, .. } => Wrong::Refused { at, message, hint: Some(hint) },
            other => other,
        }
    }
}

/// The value of an expression.
#[derive(Debug, Clone)]
enum Evaluated {
    /// Its scalars.
    Values(Vec<Value>),
    /// It is a pointer.
    Pointer(Pointer),
}

/// A function under way.
struct Frame<'a> {
    function: &'a naga::Function,
    info: &'a FunctionInfo,
    arguments: Vec<Evaluated>,
    values: FnvHashMap<Handle<Expression>, Evaluated>,
    locals: FnvHashMap<Handle<LocalVariable>, Pointer>,
    around: Vec<ways::Around>,
    returns: Vec<ways::Way>,
}

impl<'a> Frame<'a> {
    fn new(function: &'a naga::Function, info: &'a FunctionInfo, arguments: Vec<Evaluated>) -> Frame<'a> {
        Frame {
            function,
            info,
            arguments,
            values: FnvHashMap::default(),
            locals: FnvHashMap::default(),
            around: Vec::new(),
            returns: Vec::new(),
        }
    }
}

/// An entry point under way, with the functions that it calls.
struct Translator<'a> {
    module: &'a naga::Module,
    info: &'a ModuleInfo,
    layout: &'a Layout<'a>,
    options: &'a ShaderOptions,
    e: Emitter,
    memories: &'a PrimaryMap<MemoryId, ir::Memory>,
    ids: Memories,
    /// Variables that lie in memory.
    in_memory: &'a BTreeSet<Variable>,
    /// Values of the slots now.
    slots: Vec<Value>,
    /// For each slot: it and the next one are binary16 numbers of one word.
    begins_pair: Vec<bool>,
    /// Control comes here.
    is_reached: bool,
    globals: FnvHashMap<Handle<GlobalVariable>, Pointer>,
    /// Lengths of buffers, by the number of the variable.
    buffer_bytes: FnvHashMap<usize, Value>,
    /// What was loaded from uniform buffers at the start: address, offset, type.
    uniforms: FnvHashMap<(Value, u32, Scalar), Vec<Value>>,
    /// A counter, and its greatest value behind the next `if`.
    counter: Option<(Value, u32)>,
    /// What conditions around the current statement say.
    facts: Vec<Fact>,
    /// Lengths of arrays: of a variable, from this byte on, with elements of so many bytes.
    lengths: FnvHashMap<(usize, u32, u32), RunTime>,
    /// All waves of a workgroup have all their lanes, whatever the machine.
    has_full_waves: bool,
    /// Some lanes may have returned.
    is_left: bool,
    /// Statements around the current one that lanes may have left; the entry point's own block is none.
    depth: u32,
    /// Statements so far.
    statements: u32,
    /// Bytes of private memory so far.
    private_bytes: u32,
    /// Arrays of constants: the places where their address is put in, and their bytes.
    tables: Vec<Table>,
}

/// What a condition says of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fact {
    /// It is at most this number, unsigned. The second is what was known before.
    AtMost(Value, u32),
    /// It is below this value, unsigned.
    Below(Value, Value),
}

/// An array of constants in device memory.
#[derive(Debug, Clone)]
struct Table {
    bytes: Vec<u8>,
    /// The constant that is its address.
    address: Value,
}

impl Translator<'_> {
    /// What is not taken, at the current place.
    fn refused(&self, what: impl std::fmt::Display) -> Wrong {
        let at = self.e.at.0.saturating_sub(1);
        self.refused_at(naga::Span::new(at, at + 1), what)
    }

    fn refused_at(&self, at: naga::Span, what: impl std::fmt::Display) -> Wrong {
        Wrong::Refused { at, message: format!("this shader uses {what}, which is not taken"), hint: None }
    }

    /// A pointer to a new variable with these values.
    fn variable(
        &mut self,
        variable: Variable,
        ty: Handle<naga::Type>,
        values: Vec<Value>,
    ) -> Result<Pointer, Wrong> {
        let inner = self.layout.inner(ty).clone();
        if !self.in_memory.contains(&variable) && values.len() <= MOST_SLOTS {
            let first = self.slots.len();
            self.slots.extend(values);
            let leaves = self.layout.leaves(&inner);
            self.begins_pair.extend(leaves.iter().map(|leaf| leaf.begins_word && is_half(leaf.scalar)));
            return Ok(Pointer { ty: inner, to: To::Slots { variable, first, index: None } });
        }
        let (bytes, _) = self.layout.size_of(ty);
        let pointer = Pointer { ty: inner, to: To::Memory(self.private(bytes)?) };
        self.store(&pointer, &values)?;
        Ok(pointer)
    }

    /// New private memory.
    fn private(&mut self, bytes: u32) -> Result<Location, Wrong> {
        /// Most bytes of a thread.
        const MOST: u32 = 1 << 28;
        let offset = self.private_bytes;
        if bytes > MOST - offset {
            return Err(self.refused(format!("more than {MOST} bytes of memory in each invocation")));
        }
        self.private_bytes = (offset + bytes).next_multiple_of(16);
        let base = self.e.i32(0);
        Ok(Location {
            memory: self.ids.private,
            base,
            offset,
            global: None,
            is_constant: false,
            is_stable: false,
        })
    }

    /// Where an array lies that is indexed by a number that is not known.
    fn table(&mut self, ty: &TypeInner, values: &[Value]) -> Result<Location, Wrong> {
        let leaves = self.layout.leaves(ty);
        let bytes = leaves.last().map_or(0, |leaf| leaf.offset + u32::from(leaf.scalar.width));
        let known: Option<Vec<u64>> = values.iter().map(|&value| self.e.known(value)).collect();
        let Some(known) = known else {
            let location = self.private(bytes)?;
            let pointer = Pointer { ty: ty.clone(), to: To::Memory(location) };
            self.store(&pointer, values)?;
            return Ok(location);
        };
        let mut contents = vec![0; bytes as usize];
        for (leaf, bits) in leaves.iter().zip(known) {
            let width = usize::from(leaf.scalar.width);
            contents[leaf.offset as usize..][..width].copy_from_slice(&bits.to_le_bytes()[..width]);
        }
        let same = self.tables.iter().find(|table| table.bytes == contents);
        let address = match same {
            Some(table) => table.address,
            None => {
                // Where it lies is known when all entry points are there.
                let address =
                    self.e.at_entry(|e| e.emit(ir::Operation::Constant(Constant::I32(0)), Type::I32));
                self.tables.push(Table { bytes: contents, address });
                address
            }
        };
        Ok(Location {
            memory: self.ids.device,
            base: address,
            offset: 0,
            global: None,
            is_constant: false,
            is_stable: true,
        })
    }
}

/// Most scalars of a variable that are kept in slots.
const MOST_SLOTS: usize = 256;

/// The kernels of one function.
fn exported(name: &str, function: FunctionId, size: [u32; 3], local_bytes: u32) -> ExportedKernel {
    ExportedKernel {
        name: name.to_owned(),
        function,
        local_memory_bytes: Some(local_bytes),
        workgroup_size: Some(size),
    }
}
