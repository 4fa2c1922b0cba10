//! Runs shaders: in the documentation's interpreter, in that of the representation, on the simulator.

use crate::generate::Case;
use cranelift_entity::EntityRef;
use std::sync::Arc;
use wave_compile::ir::interpret::{Fault, Instance, Launch, Limits, Workgroup};
use wave_compile::ir::{Constant, FunctionId, MemoryId, Module, Trap, Unary};
use wave_compile::pica::{Decoded, Float, PicaKernel};
use wave_compile::{Options, compile};
use wave_machine::alu::sfu::{fexp2, flog2};
use wave_machine::config::Config;
use wave_machine::functional;
use wave_verify::pica::{self, Format, Shader, Special, Stop, Uniforms};

/// Bits of the output registers.
pub(crate) type Outputs = [[u32; 4]; 16];

/// Bytes of a buffer, and what nobody has written.
const BUFFER: u32 = 0x400;
const UNWRITTEN: u8 = 0xA5;

/// The special functions of the simulated machine.
pub(crate) const SPECIAL: Special = Special { exp2: fexp2, log2: flog2 };

/// What the documentation says that each vertex gets; `None` if one takes too long.
pub(crate) fn documented(case: &Case, float: Float, early: bool) -> Option<Vec<Outputs>> {
    let shader = Shader { code: &case.code, descriptors: &case.descriptors, entry: case.entry, early };
    let format = match float {
        Float::F24 => Format::F24,
        Float::F32 => Format::F32,
    };
    let run = |inputs| match pica::run(shader, format, SPECIAL, &case.uniforms, inputs, 3_000) {
        Ok(outputs) => Some(outputs),
        Err(Stop::Steps) => None,
        Err(Stop::Wrong(what)) => panic!("{what}"),
    };
    case.vertices.iter().map(run).collect()
}

/// Device memory: uniforms at 0, then a buffer for each input and output of the kernel.
struct Layout {
    arguments: Vec<Constant>,
    memory: Vec<u8>,
}

fn layout(case: &Case, kernel: &PicaKernel) -> Layout {
    let mut memory = uniform_bytes(&case.uniforms);
    memory.resize(2 * BUFFER as usize, UNWRITTEN);
    let mut arguments = vec![Constant::I32(case.vertices.len() as u32), Constant::I32(0)];
    for name in &kernel.parameters[2..] {
        arguments.push(Constant::I32(memory.len() as u32));
        let mut buffer = Vec::new();
        if let Some(number) = name.strip_prefix('v') {
            let number: usize = number.parse().expect("a number");
            for vertex in &case.vertices {
                buffer.extend(vertex[number].iter().flat_map(|bits| bits.to_le_bytes()));
            }
        }
        buffer.resize(BUFFER as usize, UNWRITTEN);
        memory.extend(buffer);
    }
    Layout { arguments, memory }
}

/// Uniforms as a buffer.
pub(crate) fn uniform_bytes(uniforms: &Uniforms) -> Vec<u8> {
    let mut words: Vec<u32> = uniforms.floats.as_flattened().to_vec();
    words.extend(uniforms.integers.iter().flat_map(|&[x, y, z]| [x, y, z, 0]));
    words.push(uniforms.booleans);
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Reads the outputs behind a run, and that nothing was written for a vertex that is none.
fn outputs(case: &Case, kernel: &PicaKernel, layout: &Layout, memory: &[u8]) -> Vec<Outputs> {
    let mut all = vec![[[0; 4]; 16]; case.vertices.len()];
    for (name, argument) in kernel.parameters.iter().zip(&layout.arguments) {
        let start = argument.bits() as usize;
        let Some(number) = name.strip_prefix('o') else { continue };
        let number: usize = number.parse().expect("a number");
        let buffer = &memory[start..start + BUFFER as usize];
        let (written, rest) = buffer.split_at(16 * case.vertices.len());
        assert!(!rest.is_empty());
        assert!(rest.iter().all(|&byte| byte == UNWRITTEN), "{name}: a vertex that is none was written");
        for (outputs, register) in all.iter_mut().zip(written.chunks(16)) {
            for (component, bytes) in outputs[number].iter_mut().zip(register.chunks(4)) {
                *component = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
            }
        }
    }
    all
}

fn special(unary: Unary, bits: u32) -> u32 {
    match unary {
        Unary::FExp2 => fexp2(bits),
        _ => flog2(bits),
    }
}

/// Runs the first kernel in the interpreter, with more threads than vertices; `None` if it takes too long.
pub(crate) fn interpreted(decoded: &Decoded, case: &Case) -> Option<Vec<Outputs>> {
    let kernel = &decoded.kernels[0];
    let layout = layout(case, kernel);
    let mut module: Module = decoded.module.clone();
    module.memories[MemoryId::new(0)].pages = 1;
    let instance = Instance::new(Arc::new(module)).expect("there are no segments");
    let memory = instance.memory(MemoryId::new(0)).clone();
    memory.write(0, &layout.memory).expect("it fits");
    let limits = Limits { fuel: 2_000_000, special_functions: special, ..Limits::default() };
    let workgroups = case.vertices.len() as u32 / 4 + 1;
    for workgroup in 0..workgroups {
        let launch = Launch {
            function: kernel.function,
            arguments: layout.arguments.clone(),
            workgroup_size: [4, 1, 1],
            workgroup_id: [workgroup, 0, 0],
            grid_size: [workgroups, 1, 1],
            wave_width: 4,
        };
        match Workgroup::new(&instance, &launch, &limits).and_then(|mut workgroup| workgroup.run()) {
            Ok(_) => {}
            Err(Fault::Trapped { trapped, .. }) if trapped.trap == Trap::OutOfFuel => return None,
            Err(fault) => panic!("{fault}"),
        }
    }
    let bytes = memory.read(0, layout.memory.len() as u64).expect("all of it");
    Some(outputs(case, kernel, &layout, &bytes))
}

/// Compiles the first kernel and runs it on a machine, with more threads than vertices. `None` if it is not compiled.
pub(crate) fn simulated(decoded: &Decoded, case: &Case, config: &Config) -> Option<Vec<Outputs>> {
    let kernel = &decoded.kernels[0];
    let layout = layout(case, kernel);
    let compiled = compile(&decoded.module, FunctionId::new(0), &Options::default()).ok()?;
    let program = &compiled.program;
    let mut launch = wave_isa::program::Launch::of(program, 0, [1, 1, 1]);
    launch.workgroup = [case.vertices.len() as u32 + 3, 1, 1];
    let numbered = layout.arguments.iter().enumerate();
    launch.initial_registers =
        numbered.map(|(number, argument)| (number as u8, argument.bits() as u32)).collect();
    let mut memory = layout.memory.clone();
    if let Some(private) = program.kernels[0].private {
        launch.initial_registers.push((private.register, memory.len() as u32));
        memory.resize(memory.len() + 2 * private.bytes_per_wave as usize, UNWRITTEN);
    }
    let limits = functional::Limits { max_instructions: Some(20_000_000), ..functional::Limits::default() };
    if let Err(error) = functional::run(config, program, &launch, &mut memory, &limits, &mut |_| {}) {
        panic!("{error:?}\n{}", wave_isa::program::disassemble(program));
    }
    Some(outputs(case, kernel, &layout, &memory))
}
