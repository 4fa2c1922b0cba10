//! A module as a program of kernels: every function that it exports, or those that are asked for.
//!
//! Linear memory is device memory from address 0, so that a pointer is a device address. Data segments lie where the
//! linker put them. What the start function does, it does when the program is made.

use crate::backend::{self, Compiled, Options};
use crate::error::CompileError;
use crate::ir::interpret::{Instance, Limits, Linked};
use crate::ir::{
    Constant, DataId, Exported, FunctionId, GlobalId, MemoryId, Module, Operation, Place, Space, Type,
};
use crate::lower::Unroll;
use crate::lower::private::Stack;
use crate::lower::reached;
use crate::pointers::pointers;
use crate::ptx::WARP_THREADS;
use crate::source::{Source, SourceOptions};
use crate::wasm::ExportedKernel;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use wave_isa::WORD_BYTES;
use wave_isa::diagnostic::{Diagnostic, Severity};
use wave_isa::program::{self, Binding, Parameter, ParameterType, Pointer, Program, named, relocate};
use wave_isa::suggest::did_you_mean;

/// What the user asks for.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// How the file is read.
    pub source: SourceOptions,
    /// Names of the exports that become kernels; all functions if there is none.
    pub names: Vec<String>,
    /// Most general registers of a lane; 256 by default.
    pub registers: Option<u32>,
    /// Bytes of the stack of a thread, for modules that have a stack pointer; [`DEFAULT_STACK_BYTES`] by default.
    pub stack_bytes: Option<u32>,
    /// Bytes of the heap of a thread, for kernels that allocate memory; [`DEFAULT_HEAP_BYTES`] by default.
    pub heap_bytes: Option<u32>,
    /// The machine has f64 instructions, and the code may use them: it is faster, with the same results.
    pub f64_instructions: bool,
}

/// The program of a file, with warnings: assembly, WBIN, or the kernels of a module in another format.
///
/// # Errors
/// A file that cannot be read, and whatever is wrong with it.
pub fn load(path: &Path, settings: &Settings) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    from_bytes(path, &program::read_file(path)?, settings)
}

/// [`load`] of a file whose bytes are known. Its path tells the formats of text, and names it in messages.
///
/// # Errors
/// Whatever is wrong with it.
pub fn from_bytes(
    path: &Path,
    bytes: &[u8],
    settings: &Settings,
) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    match Source::read(path, bytes, &settings.source)? {
        Some(source) => program(&source, settings),
        None => program::from_bytes(bytes, &path.display().to_string()),
    }
}

/// Compiles kernels of a module. An export that cannot become a kernel is a warning if nobody asked for it and another
/// can.
///
/// # Errors
/// A name that the module does not export, and what is not supported.
pub fn program(source: &Source, settings: &Settings) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (chosen, mut refused) = chosen(source, &settings.names).map_err(|error| vec![error])?;
    let start = Start::of(source).map_err(|error| vec![error])?;
    let pointer = stack_pointer(&source.module);
    let heap = Heap::of(&source.module);
    let mut made = Made::default();
    let mut matrices = None;
    for kernel in chosen {
        let rounded = |bytes: Option<u32>, default: u32| {
            u32::try_from(u64::from(bytes.unwrap_or(default)).next_multiple_of(STACK_UNIT_BYTES))
                .unwrap_or(!(STACK_UNIT_BYTES as u32 - 1))
        };
        let heap = heap.filter(|heap| uses(&source.module, kernel.function, heap.start));
        let heap_bytes = heap.map_or(0, |_| rounded(settings.heap_bytes, DEFAULT_HEAP_BYTES));
        let bytes = rounded(settings.stack_bytes, DEFAULT_STACK_BYTES).saturating_add(heap_bytes);
        let pointer =
            pointer.filter(|&pointer| heap.is_some() || uses(&source.module, kernel.function, pointer));
        let mut globals = start.globals.clone();
        globals.extend(heap.map(|heap| (heap.bytes, Constant::I32(heap_bytes))));
        let options = Options {
            name: Some(kernel.name),
            registers: settings.registers.unwrap_or(Options::default().registers),
            workgroup_size: kernel.workgroup_size.unwrap_or_default(),
            local_memory_bytes: kernel.local_memory_bytes,
            globals,
            f64_instructions: settings.f64_instructions,
            stack: pointer.map(|pointer| Stack { pointer, bytes, start: heap.map(|heap| heap.start) }),
            data: start.segments.clone(),
            unroll: if source.is_ptx() { Unroll::Counted } else { Unroll::Bounded },
            ..Options::default()
        };
        match backend::compile(&source.module, kernel.function, &options) {
            Ok(compiled) => {
                made.add(&source.module, kernel.function, compiled);
                made.name_parameters(|number| source.parameter(kernel.function, number));
                made.point(pointers(&source.module, kernel.function, &start.own));
                made.bind(source.bindings(kernel.function));
                if source.needs_warps(kernel.function) {
                    made.need_width(WARP_THREADS);
                }
                if source.multiplies_matrices(kernel.function) && matrices.is_none() {
                    matrices = made.program.kernels.last().map(|kernel| kernel.name.clone());
                }
            }
            Err(error) => refused.push(located(source, &error)),
        }
    }
    if made.program.kernels.is_empty() || !settings.names.is_empty() && !refused.is_empty() {
        return Err(refused);
    }
    let refused = refused.into_iter().map(|error| Diagnostic { severity: Severity::Warning, ..error });
    let matrices = matrices.map(|name| emulated_matrices(&name));
    let warnings = source.warnings.iter().cloned().chain(refused).chain(matrices).collect();
    Ok((made.finish(source, start), warnings))
}

/// The remark on a kernel with matrix instructions of PTX.
fn emulated_matrices(kernel: &str) -> Diagnostic {
    Diagnostic::warning(format!(
        "`{kernel}` multiplies matrices by shuffles and arithmetic of its lanes: its cycles are not those of a tensor unit"
    ))
}

/// Bytes of the stack of a thread where nobody says.
pub const DEFAULT_STACK_BYTES: u32 = 1024;
/// Stacks are multiples of these bytes, as C expects of its stack pointer.
const STACK_UNIT_BYTES: u64 = 16;
/// Bytes of the heap of a thread where nobody says.
pub const DEFAULT_HEAP_BYTES: u32 = 4096;

/// The variables of a module with a heap for each thread, as the C library has them.
#[derive(Debug, Clone, Copy)]
struct Heap {
    /// Where the heap of the thread begins.
    start: GlobalId,
    /// Its bytes.
    bytes: GlobalId,
}

impl Heap {
    fn of(module: &Module) -> Option<Heap> {
        let variable = |name: &str| {
            let is_variable = |&id: &GlobalId| {
                module.globals[id].is_mutable && module.globals[id].initial.ty() == Type::I32
            };
            exported_global(module, name).filter(is_variable)
        };
        Some(Heap { start: variable("__wave_heap_start")?, bytes: variable("__wave_heap_bytes")? })
    }
}

/// The global variable that C and its like keep the end of the stack in.
fn stack_pointer(module: &Module) -> Option<GlobalId> {
    const NAME: &str = "__stack_pointer";
    let exported = exported_global(module, NAME);
    let named =
        || module.globals.iter().find(|(_, global)| global.name.as_deref() == Some(NAME)).map(|(id, _)| id);
    let is_pointer = |&id: &GlobalId| {
        let global = &module.globals[id];
        global.is_mutable && global.initial.ty() == Type::I32
    };
    exported.or_else(named).filter(is_pointer)
}

/// True if a function, or one that it may call, uses a global variable.
fn uses(module: &Module, entry: FunctionId, global: GlobalId) -> bool {
    let reached = reached(module, entry);
    let blocks = reached.iter().flat_map(|&id| module.functions[id].blocks.values());
    blocks.flat_map(|body| &body.instructions).any(|instruction| {
        matches!(instruction.operation,
            Operation::GlobalGet(used) | Operation::GlobalSet(used, _) if used == global)
    })
}

/// The kernels with these names, or all, and why those of them do not run that are not taken.
fn chosen(source: &Source, names: &[String]) -> Result<(Vec<ExportedKernel>, Vec<Diagnostic>), Diagnostic> {
    let kernels = source.kernels();
    let of_refused = || source.refused().iter().map(|(name, _)| name.as_str());
    if kernels.is_empty() && source.refused().is_empty() {
        return Err(Diagnostic::error(format!("`{}` has no kernel: it exports no function", source.file))
            .hint("a kernel is an exported function; in C, mark it KERNEL"));
    }
    let of_kernels = || kernels.iter().map(|kernel| kernel.name.as_str());
    let (mut chosen, mut refused) = (BTreeSet::new(), BTreeSet::new());
    for name in names {
        if let Some(kernel) = named(of_kernels(), name) {
            chosen.insert(kernel);
        } else if let Some(kernel) = named(of_refused(), name) {
            refused.insert(kernel);
        } else {
            let there: Vec<&str> = of_kernels().chain(of_refused()).collect();
            let near = did_you_mean(name, there.iter().copied());
            return Err(Diagnostic::error(format!("`{}` exports no function `{name}`", source.file))
                .hint(near.unwrap_or_else(|| format!("it exports {}", there.join(", ")))));
        }
    }
    let all = names.is_empty();
    let errors = source.refused().iter().enumerate().filter(|(number, _)| all || refused.contains(number));
    let errors = errors.map(|(_, (_, error))| error.clone()).collect();
    let kernels = kernels.into_iter().enumerate().filter(|(number, _)| all || chosen.contains(number));
    Ok((kernels.map(|(_, kernel)| kernel).collect(), errors))
}

/// The message about a function that is not compiled, with its source line or its byte.
pub(crate) fn located(source: &Source, error: &CompileError) -> Diagnostic {
    let place = match (source.line(error.place), error.place) {
        (Some(line), _) => format!(", at {line}"),
        (None, Place(0)) => String::new(),
        (None, Place(byte)) => format!(", at byte 0x{byte:x}"),
    };
    Diagnostic::error(format!("{}: {}, in function `{}`{place}", source.file, error.reason, error.function))
}

/// What there is when a kernel starts.
#[derive(Debug, Default)]
pub(crate) struct Start {
    /// Contents of device memory: address and bytes.
    data: Vec<(u32, Vec<u8>)>,
    /// End of what the module has in device memory, bytes.
    data_end: u64,
    /// Device memory that belongs to the code.
    own: Vec<Range<u64>>,
    /// Values of global variables, where the start function has set them.
    globals: Vec<(GlobalId, Constant)>,
    /// Where the segments lie that are not copied at the start.
    segments: Vec<(DataId, u32)>,
}

impl Start {
    fn of(source: &Source) -> Result<Start, Diagnostic> {
        let module = &source.module;
        let memory = module.memories.iter().find(|(_, memory)| memory.space == Space::Device);
        let bytes = memory.map_or(0, |(_, memory)| memory.bytes());
        let mut start = Start {
            data: Vec::new(),
            data_end: heap_base(module).unwrap_or(bytes),
            own: Vec::new(),
            globals: Vec::new(),
            segments: Vec::new(),
        };
        let segments = module.data.values().filter_map(|data| Some((data.at_start?, &data.bytes)));
        for ((of, address), contents) in segments {
            let end = u64::from(address) + contents.len() as u64;
            if module.memories[of].space != Space::Device {
                return Err(Diagnostic::error(format!(
                    "{}: local memory cannot have data at the start",
                    source.file
                )));
            }
            if end > bytes {
                let message =
                    format!("{}: a data segment ends at byte {end} of a memory of {bytes}", source.file);
                return Err(Diagnostic::error(message));
            }
            start.data.push((address, contents.clone()));
            start.data_end = start.data_end.max(end);
        }
        if module.start.is_some() {
            start.run(source, memory.map(|(memory, _)| memory))?;
        }
        start.place_segments(source)?;
        start.own = start.owned(module);
        Ok(start)
    }

    /// The device memory that belongs to the code. A linker says where its variables end, and those without contents lie
    /// between the segments and that end. Without a linker these are the segments alone: the rest of the memory of the
    /// module is free for buffers.
    fn owned(&self, module: &Module) -> Vec<Range<u64>> {
        // What a start function leaves is known in large pieces, and they are mostly zeros.
        let is_trimmed = module.start.is_some();
        let range = |(address, bytes): &(u32, Vec<u8>)| {
            let first = bytes.iter().position(|&byte| byte != 0).filter(|_| is_trimmed);
            let last = bytes.iter().rposition(|&byte| byte != 0).filter(|_| is_trimmed);
            let start = u64::from(*address);
            start + first.unwrap_or(0) as u64..start + last.map_or(bytes.len(), |last| last + 1) as u64
        };
        let mut all: Vec<Range<u64>> = self.data.iter().map(range).collect();
        if let Some(end) = heap_base(module) {
            let first = all.iter().map(|range| range.start).min();
            // Below its variables a linker may put a stack, which is not used: every thread has its own.
            let stack_end = stack_pointer(module).map(|pointer| module.globals[pointer].initial.bits());
            let start = first.unwrap_or_else(|| stack_end.filter(|&at| at < end).unwrap_or(LINKED_AT));
            all.push(start..end.max(start));
        }
        all.retain(|range| !range.is_empty());
        all.sort_by_key(|range| range.start);
        all.dedup_by(|next, range| {
            let meets = next.start <= range.end;
            if meets {
                range.end = range.end.max(next.end);
            }
            meets
        });
        all
    }

    /// Puts the segments that `memory_init` copies behind the other data.
    fn place_segments(&mut self, source: &Source) -> Result<(), Diagnostic> {
        let segments = source.module.data.iter().filter(|(_, data)| data.at_start.is_none());
        for (id, data) in segments.filter(|(_, data)| !data.bytes.is_empty()) {
            let address = self.data_end.next_multiple_of(16);
            self.data_end = address + data.bytes.len() as u64;
            let reached = u32::try_from(address).ok().filter(|_| self.data_end < 1 << 32);
            let Some(address) = reached else {
                let message =
                    format!("{}: its data segments end behind the last address of 32 bits", source.file);
                return Err(Diagnostic::error(message));
            };
            self.segments.push((id, address));
            self.data.push((address, data.bytes.clone()));
        }
        Ok(())
    }

    /// Does what the start function does: memory and global variables are as it leaves them.
    fn run(&mut self, source: &Source, memory: Option<MemoryId>) -> Result<(), Diagnostic> {
        let module = Arc::new(source.module.clone());
        let limits = Limits { fuel: MOST_AT_START, ..Limits::default() };
        let instance = Instance::linked(module, Linked::default(), &limits).map_err(|trapped| {
            Diagnostic::error(format!("{}: the start function traps: {trapped}", source.file))
                .hint("it runs when the kernel is made, without a machine")
        })?;
        if let Some(memory) = memory {
            let memory = instance.memory(memory);
            let bytes = memory.read(0, memory.bytes()).expect("all of it is inside");
            self.data = runs_of_data(&bytes);
        }
        let globals = source.module.globals.iter().filter(|(_, global)| global.is_mutable);
        self.globals = globals.map(|(id, _)| (id, instance.global(id).get())).collect();
        Ok(())
    }
}

/// The address from which on a linker places variables.
const LINKED_AT: u64 = 1024;

/// Most instructions of a start function.
const MOST_AT_START: u64 = 1_000_000_000;

/// Bytes that are not zero, in pieces of at most 4 KiB with their addresses.
fn runs_of_data(bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let pieces = bytes.chunks(4096).enumerate();
    let used = pieces.filter(|(_, piece)| piece.iter().any(|&byte| byte != 0));
    used.map(|(number, piece)| (number as u32 * 4096, piece.to_vec())).collect()
}

/// What the linker says is the end of the data: the exported constant `__heap_base`.
fn heap_base(module: &Module) -> Option<u64> {
    exported_global(module, "__heap_base").map(|global| module.globals[global].initial.bits())
}

/// The global variable that is exported under a name.
pub(crate) fn exported_global(module: &Module, name: &str) -> Option<GlobalId> {
    module.exports.iter().find_map(|(export, exported)| match exported {
        Exported::Global(global) if export == name => Some(*global),
        _ => None,
    })
}

/// Kernels of a module in one program.
#[derive(Debug, Default)]
pub(crate) struct Made {
    program: Program,
    module: program::Module,
    places: Vec<Place>,
}

impl Made {
    /// Adds a kernel behind the others.
    pub(crate) fn add(&mut self, module: &Module, function: FunctionId, compiled: Compiled) {
        let first = self.program.code.len() as u32;
        let mut code = compiled.program.code;
        relocate(&mut code, first * WORD_BYTES);
        self.program.code.extend(code);
        let parameters = &module.functions[function].signature.parameters;
        let parameters: Vec<Parameter> = parameters.iter().map(|&ty| parameter(ty)).collect();
        self.program.kernels.extend(compiled.program.kernels.into_iter().map(|mut kernel| {
            kernel.code = kernel.code.start + first..kernel.code.end + first;
            kernel.parameters = Some(parameters.clone());
            kernel
        }));
        let traps = compiled.traps.iter().map(|point| (point.word + first, point.trap.name().to_owned()));
        self.module.traps.extend(traps);
        self.places.extend(compiled.places);
    }

    /// Names the parameters of the last kernel.
    fn name_parameters<'a>(&mut self, name: impl Fn(usize) -> Option<&'a str>) {
        let parameters = self.program.kernels.last_mut().and_then(|kernel| kernel.parameters.as_mut());
        for (number, parameter) in parameters.into_iter().flatten().enumerate() {
            parameter.name = name(number).map(str::to_owned);
        }
    }

    /// Says which parameters of the last kernel are addresses.
    fn point(&mut self, pointers: Vec<Option<Pointer>>) {
        let parameters = self.program.kernels.last_mut().and_then(|kernel| kernel.parameters.as_mut());
        for (parameter, pointer) in parameters.into_iter().flatten().zip(pointers) {
            // One of 64 bits is an address by its low half.
            let is_integer = matches!(parameter.ty, ParameterType::I32 | ParameterType::I64);
            parameter.pointer = pointer.filter(|_| is_integer);
        }
    }

    /// Says that the last kernel needs waves of so many lanes.
    fn need_width(&mut self, lanes: u32) {
        if let Some(kernel) = self.program.kernels.len().checked_sub(1) {
            self.module.wave_widths.push((kernel, lanes));
        }
    }

    /// Says which buffers the last kernel accesses.
    fn bind(&mut self, bindings: &[Binding]) {
        if let Some(kernel) = self.program.kernels.last_mut() {
            kernel.bindings = bindings.to_vec();
        }
    }

    /// The program, with what there is when a kernel starts.
    pub(crate) fn finish(self, source: &Source, start: Start) -> Program {
        let Made { mut program, mut module, places } = self;
        module.file.clone_from(&source.file);
        module.offsets = places.iter().map(|place| place.0).collect();
        module.functions = functions(&source.module, &places);
        (module.data, module.data_end, module.own) = (start.data, start.data_end, start.own);
        module.output = output(&source.module);
        program.source = source.lines(&places);
        program.module = Some(module);
        program
    }
}

/// The places in device memory with what threads of a C program print and report.
fn output(module: &Module) -> program::Output {
    let address = |name: &str| {
        let global = &module.globals[exported_global(module, name)?];
        u32::try_from(global.initial.bits()).ok().filter(|_| !global.is_mutable)
    };
    program::Output { printed: address("__wave_output"), heap_full: address("__wave_heap_full") }
}

fn parameter(ty: Type) -> Parameter {
    let ty = match ty {
        Type::I64 => ParameterType::I64,
        Type::F32 => ParameterType::F32,
        Type::F64 => ParameterType::F64,
        Type::I32 | Type::Bool => ParameterType::I32,
    };
    Parameter { name: None, ty, pointer: None }
}

/// The functions that code comes from: the first word of each run, and its name. A place belongs to the last function
/// that begins before it.
fn functions(module: &Module, places: &[Place]) -> Vec<(u32, String)> {
    let mut starts: Vec<(Place, FunctionId)> =
        module.functions.iter().map(|(id, function)| (function.at, id)).collect();
    starts.sort_unstable();
    let of = |place: Place| {
        let before = starts.partition_point(|&(start, _)| start <= place);
        starts[..before].last().filter(|_| place != Place::default()).map(|&(_, id)| id)
    };
    let mut runs: Vec<(u32, String)> = Vec::new();
    let mut current = None;
    for (word, &place) in places.iter().enumerate() {
        let Some(id) = of(place).filter(|&id| Some(id) != current) else { continue };
        current = Some(id);
        let name = module.functions[id].name.clone().unwrap_or_else(|| id.to_string());
        runs.push((word as u32, name));
    }
    runs
}
