//! From a module to a WAVE program.
//!
//! Functions are lowered ([`crate::lower`]), structured ([`crate::structure`]), and their operations become instructions
//! on virtual registers, which get machine registers and are encoded. Called functions come before their callers, so
//! that a caller knows the registers of arguments and results, and which others a call changes.
//!
//! **Traps.** A trap is a store to the last byte addresses, which no device memory has all of: the machine faults
//! there. [`Compiled::traps`] says which trap the instruction at that word stands for, and where it comes from.

mod code;
mod emit;
mod exits;
mod flow;
mod liveness;
mod moves;
mod nesting;
mod private;
mod registers;
mod schedule;
mod select;

use crate::error::{CompileError, Reason};
use crate::ir::{Constant, DataId, FunctionId, GlobalId, Memory, Module, Operation, Place, Space, Trap};
use crate::lower::instance::{FRAME_BYTES, Instances};
use crate::lower::private::{Plan, Stack};
use crate::lower::{Inline, LowerOptions, Lowered, Traps, Unroll, lower, without_cycles};
use code::Conventions;
use cranelift_entity::SecondaryMap;
use nesting::Nesting;
use wave_isa::MAX_WAVE_WIDTH;
use wave_isa::program::{Kernel, PrivateMemory, Program};

/// How a kernel is compiled.
#[derive(Debug, Clone)]
pub struct Options {
    /// Name of the kernel; that of the function by default.
    pub name: Option<String>,
    /// Most general registers of a lane, 1 to 256.
    pub registers: u32,
    /// Most ifs and loops inside one another that the machine follows.
    pub nesting: u32,
    /// Default threads of a workgroup.
    pub workgroup_size: [u32; 3],
    /// Local memory of a workgroup, bytes; by default the pages of the module's local memory, if it has one.
    pub local_memory_bytes: Option<u32>,
    /// Values of global variables at the start of a thread, in place of those of the module.
    pub globals: Vec<(GlobalId, Constant)>,
    /// Threads of a wave for which private memory has room, a power of two: 64, so that the program is one for waves of
    /// any width, or as many as the waves of its only launch have.
    pub lanes: u32,
    /// A stack of each thread in device memory.
    pub stack: Option<Stack>,
    /// The machine has f64 instructions. Without them, f64 is computed by integers: the results are the same.
    pub f64_instructions: bool,
    /// Which calls are inlined.
    pub inline: Inline,
    /// Where traps are recorded; by default they are faults.
    pub traps: Option<Traps>,
    /// Private memory of a thread for the frames of recursion, bytes: of each cycle of functions that call one another.
    pub frame_bytes: u32,
    /// Which loops are unrolled.
    pub unroll: Unroll,
    /// Where data segments lie in device memory that are not copied at the start, but by `memory_init`: a launch has to
    /// put them there.
    pub data: Vec<(DataId, u32)>,
}

impl Options {
    /// Options for instances.
    pub fn of_instances(instances: &Instances) -> Options {
        Options { traps: Some(instances.traps()), frame_bytes: FRAME_BYTES, ..Options::default() }
    }
}

impl Default for Options {
    /// 256 registers, 32 levels, workgroups of a size that the launch gives.
    fn default() -> Options {
        Options {
            name: None,
            registers: 256,
            nesting: 32,
            workgroup_size: [0; 3],
            local_memory_bytes: None,
            globals: Vec::new(),
            lanes: MAX_WAVE_WIDTH as u32,
            stack: None,
            f64_instructions: false,
            inline: Inline::default(),
            traps: None,
            frame_bytes: 1024,
            unroll: Unroll::default(),
            data: Vec::new(),
        }
    }
}

/// What was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Instructions.
    pub instructions: u32,
    /// Code words.
    pub words: u32,
    /// General registers of a lane.
    pub registers: u32,
    /// Deepest nesting of ifs and loops.
    pub nesting: u32,
    /// Functions: the kernel, and those that it calls.
    pub functions: u32,
}

/// An instruction that traps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrapPoint {
    /// Its first word, counted from the start of the code.
    pub word: u32,
    /// The trap that its fault stands for.
    pub trap: Trap,
    /// Where it comes from.
    pub place: Place,
}

/// A compiled kernel.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The program, with one kernel.
    pub program: Program,
    /// Instructions that trap, in order.
    pub traps: Vec<TrapPoint>,
    /// Source place of each code word.
    pub places: Vec<Place>,
    /// How the memory is laid out that the kernel needs for its threads, if it needs any.
    pub private: Option<Plan>,
    /// What was made.
    pub statistics: Statistics,
}

impl Compiled {
    /// The trap that a fault at a byte offset of the code stands for.
    pub fn trap_at(&self, pc: u32) -> Option<&TrapPoint> {
        let found = self.traps.binary_search_by_key(&(pc / wave_isa::WORD_BYTES), |point| point.word);
        found.ok().map(|place| &self.traps[place])
    }
}

/// Compiles a function as a kernel: its parameters are the arguments of a launch, in order, an `i64` as two, low half
/// first; its results are dropped.
///
/// # Errors
/// What is not supported, and where. The module must be one that the verifier accepts.
pub fn compile(module: &Module, entry: FunctionId, options: &Options) -> Result<Compiled, CompileError> {
    let wrong = |place, reason| CompileError::new(module, entry, place, reason);
    for space in [Space::Device, Space::Local] {
        let mut of_space = module.memories.iter().filter(|(_, memory)| memory.space == space);
        if let Some((second, _)) = of_space.nth(1) {
            return Err(wrong(Place::default(), Reason::Memory(second)));
        }
    }
    let (module, entry) = without_cycles(module, entry, options.frame_bytes)?;
    let module = &*module;
    let with_device = with_device_memory(module, options);
    let module = with_device.as_ref().unwrap_or(module);
    let plan = Plan::new(module, 0, options.stack, options.lanes)
        .map_err(|bytes| wrong(Place::default(), Reason::Private(bytes, options.lanes)))?;
    let options_of_passes = LowerOptions {
        globals: options.globals.clone(),
        traps: options.traps,
        private: plan,
        f64_instructions: options.f64_instructions,
        inline: options.inline,
        data: options.data.clone(),
        unroll: options.unroll,
    };
    let lowered = lower(module, entry, &options_of_passes)?;
    let function = lowered.entry();
    let arguments = function.signature.parameters.len();
    let limit = options.registers.clamp(1, 256);
    // One is left for the address of private memory.
    if arguments >= limit as usize {
        return Err(wrong(function.at, Reason::Arguments(arguments, limit - 1)));
    }
    let uses_base = |id: &FunctionId| {
        let blocks = lowered.module.functions[*id].blocks.values();
        blocks.flat_map(|body| &body.instructions).any(|one| one.operation == Operation::PrivateBase)
    };
    let mut wish = Wish {
        registers: limit,
        nesting: SecondaryMap::with_default(options.nesting),
        base: None,
        lanes: options.lanes,
    };
    if options_of_passes.private.is_some() || lowered.order.iter().any(uses_base) {
        wish.base = Some(arguments as u8);
    }
    let mut is_cut_down = false;
    let made = loop {
        match functions(&lowered, &wish) {
            Ok(made) if made.nesting() <= options.nesting => break made,
            // Nesting adds up through calls, so that functions may have to have less of their own.
            Ok(made) if !is_cut_down => {
                is_cut_down = true;
                let budgets = nesting::budgets(&lowered.order, &made.nested, options.nesting);
                for &id in &lowered.order {
                    wish.nesting[id] = budgets[id].min(options.nesting);
                }
            }
            Ok(made) => return Err(wrong(function.at, Reason::Nesting(made.nesting(), options.nesting))),
            Err(Failed::PrivateBase) => wish.base = Some(arguments as u8),
            Err(Failed::Other(error)) => return Err(error),
        }
    };
    let Functions { mut functions, mut conventions, registers, .. } = made;
    // The kernel comes first.
    functions.reverse();
    let kernel = conventions[functions[0].0].take().expect("it was compiled last");
    let own_bytes = (kernel.spill_words * 4).next_multiple_of(16);
    let plan = options_of_passes.private.or_else(|| wish.base.map(|_| Plan::empty(options.lanes)));
    let plan = plan.map(|plan| plan.behind(own_bytes)).transpose();
    let plan = plan.map_err(|bytes| wrong(Place::default(), Reason::Private(bytes, options.lanes)))?;
    let bytes_per_wave = plan.as_ref().map_or(0, Plan::bytes_per_wave);
    let encoded = emit::encode(&functions, own_bytes * options.lanes, bytes_per_wave);
    let local = module.memories.values().find(|memory| memory.space == Space::Local);
    let local_bytes = local.map_or(0, Memory::bytes);
    let statistics = Statistics {
        instructions: functions.iter().map(|(_, code)| code.len() as u32).sum(),
        words: encoded.words.len() as u32,
        registers: registers.max(wish.base.map_or(0, |register| u32::from(register) + 1)),
        nesting: kernel.nesting,
        functions: functions.len() as u32,
    };
    let kernel = Kernel {
        name: options.name.clone().or_else(|| function.name.clone()).unwrap_or_else(|| entry.to_string()),
        registers: statistics.registers,
        local_memory_bytes: options
            .local_memory_bytes
            .unwrap_or(u32::try_from(local_bytes).unwrap_or(u32::MAX)),
        workgroup_size: options.workgroup_size,
        code: 0..encoded.words.len() as u32,
        parameters: None,
        private: wish.base.map(|register| PrivateMemory { register, bytes_per_wave }),
        bindings: Vec::new(),
    };
    let program = Program { code: encoded.words, kernels: vec![kernel], source: None, module: None };
    let (traps, places) = (encoded.traps, encoded.places);
    Ok(Compiled { program, traps, places, private: plan, statistics })
}

/// How functions are compiled.
#[derive(Debug, Clone)]
struct Wish {
    /// Most registers of a lane.
    registers: u32,
    /// Most nesting of each function, without that of those that it calls. A function with more becomes a flat loop.
    nesting: SecondaryMap<FunctionId, u32>,
    /// The register of the private base, if there is one.
    base: Option<u8>,
    /// Lanes for which private memory has room.
    lanes: u32,
}

/// Why there are no functions.
enum Failed {
    /// Values have to go to memory, and there is no private base.
    PrivateBase,
    /// What is not supported.
    Other(CompileError),
}

/// Functions as machine instructions.
struct Functions {
    functions: Vec<(FunctionId, Vec<code::Code>)>,
    conventions: Conventions,
    /// Registers of a lane.
    registers: u32,
    /// Nesting of each.
    nested: SecondaryMap<FunctionId, Nesting>,
}

impl Functions {
    /// Deepest nesting of ifs and loops, through calls too.
    fn nesting(&self) -> u32 {
        let kernel = self.functions.last().and_then(|(id, _)| self.conventions[*id].as_ref());
        kernel.expect("the kernel is compiled last").nesting
    }
}

/// Compiles each function, those that it calls before it.
fn functions(lowered: &Lowered, wish: &Wish) -> Result<Functions, Failed> {
    let arguments = lowered.entry().signature.parameters.len();
    let (mut functions, mut conventions) = (Vec::new(), Conventions::new());
    let mut registers = arguments as u32;
    let mut nested: SecondaryMap<FunctionId, Nesting> = SecondaryMap::new();
    for &id in &lowered.order {
        let function = &lowered.module.functions[id];
        let wrong = |place, reason| Failed::Other(CompileError::new(&lowered.module, id, place, reason));
        let is_kernel = lowered.order.last() == Some(&id);
        let known = select::Known {
            module: &lowered.module,
            conventions: &conventions,
            base_register: wish.base,
            lanes: wish.lanes,
        };
        let selected = select::select(known, function, is_kernel, wish.nesting[id]);
        let mut selected = selected.map_err(|(place, reason)| wrong(place, reason))?;
        nested[id] = Nesting::of(&selected.code);
        exits::free_copies(&mut selected);
        // Values that go to memory for the sake of the order cost more than it gives, and so do many more registers.
        let scheduled = schedule::MORE_ROWS.into_iter().find_map(|more_rows| {
            let mut scheduled = schedule::scheduled(&selected, wish.registers, more_rows)?;
            let assigned = registers::assign(&mut scheduled.selected, wish.registers).ok()?;
            let spills = scheduled.selected.spill_words != selected.spill_words;
            (!spills && assigned.0 <= scheduled.most_registers).then_some((scheduled.selected, assigned))
        });
        let assigned = match scheduled {
            Some((scheduled, assigned)) => {
                selected = scheduled;
                Ok(assigned)
            }
            None => registers::assign(&mut selected, wish.registers),
        };
        let (needed, convention) = assigned.map_err(|failed| match failed {
            registers::Failed::PrivateBase => Failed::PrivateBase,
            registers::Failed::Registers(needed) => {
                wrong(function.at, Reason::Registers { needed, limit: wish.registers })
            }
        })?;
        registers = registers.max(needed);
        conventions[id] = Some(convention);
        functions.push((id, selected.code));
    }
    Ok(Functions { functions, conventions, registers, nested })
}

/// The module with a device memory, if it needs one for the sake of private memory and has none.
fn with_device_memory(module: &Module, options: &Options) -> Option<Module> {
    let has = |space| module.memories.values().any(|memory| memory.space == space);
    let needs = (has(Space::Private) || options.stack.is_some()) && !has(Space::Device);
    needs.then(|| {
        let mut module = module.clone();
        module.memories.push(Memory::new(Space::Device, 0, None));
        module
    })
}
