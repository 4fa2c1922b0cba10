//! Runs a kernel in the interpreter and on the machine.

use cranelift_entity::EntityRef;
use std::sync::Arc;
use wave_compile::ir::interpret::{Fault, Instance, Launch, Limits, Workgroup};
use wave_compile::ir::{Constant, DataId, FunctionId, MemoryId, Module, PAGE_BYTES, Trap};
use wave_compile::{Compiled, Options, compile};
use wave_machine::config::{self, Config};
use wave_machine::functional::{self, ExecutionError};

/// Workgroups and threads of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) workgroups: u32,
    pub(crate) threads: u32,
}

/// The trap that ended a run, and device memory behind it.
pub(crate) type Outcome = (Option<Trap>, Vec<u8>);

/// A preset machine.
pub(crate) fn preset(name: &str) -> Config {
    config::load(name).expect("a preset")
}

/// Runs one workgroup after the other in the interpreter. `None` if it takes too long.
pub(crate) fn interpret(
    module: &Module,
    arguments: &[Constant],
    size: Size,
    wave_width: u32,
) -> Option<Outcome> {
    let instance = Instance::new(Arc::new(module.clone())).expect("segments fit");
    let limits = Limits { fuel: 300_000, ..Limits::default() };
    let mut trap = None;
    for workgroup in 0..size.workgroups {
        let launch = Launch {
            function: FunctionId::new(0),
            arguments: arguments.to_vec(),
            workgroup_size: [size.threads, 1, 1],
            workgroup_id: [workgroup, 0, 0],
            grid_size: [size.workgroups, 1, 1],
            wave_width,
        };
        match Workgroup::new(&instance, &launch, &limits).and_then(|mut workgroup| workgroup.run()) {
            Ok(_) => {}
            Err(Fault::Trapped { trapped, .. }) if trapped.trap == Trap::OutOfFuel => return None,
            Err(Fault::Trapped { trapped, .. }) => {
                trap = Some(trapped.trap);
                break;
            }
            Err(fault) => panic!("{fault}"),
        }
    }
    let memory = instance.memory(MemoryId::new(0));
    Some((trap, memory.read(0, memory.pages() * PAGE_BYTES).expect("all of it")))
}

/// Device memory at the start of a run: the segments, as the instance copies them.
fn initial(module: &Module) -> Vec<u8> {
    let instance = Instance::new(Arc::new(module.clone())).expect("segments fit");
    let memory = instance.memory(MemoryId::new(0));
    memory.read(0, memory.pages() * PAGE_BYTES).expect("all of it")
}

/// Words of arguments, as a launch has them.
fn words(arguments: &[Constant]) -> Vec<u32> {
    let words = |constant: &Constant| match *constant {
        Constant::I64(bits) | Constant::F64(bits) => vec![bits as u32, (bits >> 32) as u32],
        constant => vec![constant.bits() as u32],
    };
    arguments.iter().flat_map(words).collect()
}

/// Compiles the first function for a machine.
pub(crate) fn compiled(
    module: &Module,
    config: &Config,
    options: &Options,
) -> Result<Compiled, wave_compile::CompileError> {
    let options = Options {
        f64_instructions: config.capabilities.f64,
        // Where tests put the one segment that is not copied at the start.
        data: vec![(DataId::new(1), crate::random::SEGMENT)],
        local_memory_bytes: (module.memories.len() > 1).then_some(4096),
        ..options.clone()
    };
    compile(module, FunctionId::new(0), &options)
}

/// Runs a compiled kernel on a machine.
pub(crate) fn execute(
    module: &Module,
    compiled: &Compiled,
    arguments: &[Constant],
    size: Size,
    config: &Config,
) -> Outcome {
    let mut memory = initial(module);
    let program = &compiled.program;
    let mut launch = wave_isa::program::Launch::of(program, 0, [size.workgroups, 1, 1]);
    launch.workgroup = [size.threads, 1, 1];
    let numbered = words(arguments).into_iter().enumerate();
    launch.initial_registers = numbered.map(|(number, word)| (number as u8, word)).collect();
    let own_bytes = memory.len();
    if let Some(private) = program.kernels[0].private {
        let waves = size.workgroups * size.threads.div_ceil(config.core.wave_width);
        launch.initial_registers.push((private.register, own_bytes as u32));
        // What nobody has written is not 0.
        memory.resize(own_bytes + (waves * private.bytes_per_wave) as usize, 0xA5);
    }
    let limits = functional::Limits { max_instructions: Some(20_000_000), ..functional::Limits::default() };
    let ended = functional::run(config, program, &launch, &mut memory, &limits, &mut |_| {});
    memory.truncate(own_bytes);
    match ended {
        Ok(_) => (None, memory),
        Err(ExecutionError::Fault(fault)) => {
            let point = compiled.trap_at(fault.pc);
            let trap = point.map(|point| point.trap).unwrap_or_else(|| match fault.kind {
                wave_isa::program::FaultKind::OutOfBounds { .. } => Trap::MemoryOutOfBounds,
                wave_isa::program::FaultKind::MisalignedAtomic { .. } => Trap::Misaligned,
                other => panic!("{other:?} at {:#x}\n{}", fault.pc, listing(compiled)),
            });
            (Some(trap), memory)
        }
        Err(error) => panic!("{error:?}\n{}", listing(compiled)),
    }
}

/// The assembly text.
pub(crate) fn listing(compiled: &Compiled) -> String {
    wave_isa::program::disassemble(&compiled.program)
}
