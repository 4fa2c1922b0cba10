//! Random kernels: threads of several waves with different values, each with results in memory.

use crate::machine::{Outcome, Size, compiled, execute, interpret, listing, preset};
use cranelift_entity::EntityRef;
use wave_compile::Options;
use wave_compile::ir::random::{self, Shape};
use wave_compile::ir::{
    Access, Binary, Constant, Convert, Data, DataId, Function, FunctionId, Instruction, Memory, MemoryId,
    Module, Operation, Place, Signature, Space, Terminator, Type, Value,
};
use wave_compile::lower::Inline;
use wave_isa::Special;
use wave_machine::config::Config;
use wave_testing::environment;

/// Bytes of memory for the results of a thread, behind those that random functions access.
const RESULT_BYTES: u32 = 32;
/// Where the segment lies that is copied by `memory_init`: in the third page.
pub(crate) const SEGMENT: u32 = 0x2_0000;
/// Where results begin: the second page.
const RESULTS: u32 = 0x1_0000;

/// The module with a kernel as its first function, that calls what was the first one: its parameters differ from
/// thread to thread, and its results go to memory.
fn kernel(mut module: Module, seed: u64) -> Module {
    let callee = module.functions[FunctionId::new(0)].clone();
    // Numbers of functions in calls are those of before, so the callee gets a new one and calls stay right.
    let id = module.functions.push(callee.clone());
    let signature = Signature { parameters: vec![Type::I32, Type::I32], results: Vec::new() };
    let mut kernel = Function::new(Some("kernel".to_owned()), signature, Place(1));
    let parameters = kernel.blocks[kernel.entry()].parameters.clone();
    let mut emit = |operation: Operation, ty: Option<Type>| -> Option<Value> {
        let result = ty.map(|ty| kernel.value(ty));
        let entry = kernel.entry();
        let instruction = Instruction { operation, results: result.into_iter().collect(), at: Place(2) };
        kernel.blocks[entry].instructions.push(instruction);
        result
    };
    let mut one = |operation: Operation, ty: Type| emit(operation, Some(ty)).unwrap();
    let [group, size, lane] = [Special::WorkgroupIdX, Special::WorkgroupSizeX, Special::ThreadIdX]
        .map(|special| one(Operation::Special(special), Type::I32));
    let first = one(Operation::Binary(Binary::Mul, [group, size]), Type::I32);
    let thread = one(Operation::Binary(Binary::Add, [first, lane]), Type::I32);
    let mut arguments = Vec::new();
    let mut mixed = parameters[0];
    for (number, &ty) in callee.signature.parameters.iter().enumerate() {
        let factor =
            Constant::I32((seed as u32 | 1).wrapping_mul(0x9E37_79B9).wrapping_add(number as u32 * 2));
        let factor = one(Operation::Constant(factor), Type::I32);
        let product = one(Operation::Binary(Binary::Mul, [thread, factor]), Type::I32);
        mixed = one(Operation::Binary(Binary::Xor, [product, mixed]), Type::I32);
        let small = one(Operation::Binary(Binary::And, [thread, parameters[1]]), Type::I32);
        let argument = match ty {
            Type::I32 => mixed,
            Type::I64 => {
                let wide = one(Operation::Convert(Convert::ExtendS, mixed), Type::I64);
                let more = one(Operation::Convert(Convert::ExtendU, product), Type::I64);
                one(Operation::Binary(Binary::Mul, [wide, more]), Type::I64)
            }
            Type::F32 => one(Operation::Convert(Convert::F32S, small), Type::F32),
            Type::F64 if number % 2 == 0 => one(Operation::Convert(Convert::F64S, small), Type::F64),
            Type::F64 => {
                let wide = one(Operation::Convert(Convert::ExtendS, mixed), Type::I64);
                let more = one(Operation::Convert(Convert::ExtendU, product), Type::I64);
                let bits = one(Operation::Binary(Binary::Mul, [wide, more]), Type::I64);
                one(Operation::Convert(Convert::Reinterpret, bits), Type::F64)
            }
            Type::Bool => {
                let zero = one(Operation::Constant(Constant::I32(0)), Type::I32);
                one(Operation::Compare(wave_compile::ir::Compare::Ne, [small, zero]), Type::Bool)
            }
        };
        arguments.push(argument);
    }
    let bytes = one(Operation::Constant(Constant::I32(RESULT_BYTES)), Type::I32);
    let base = one(Operation::Binary(Binary::Mul, [thread, bytes]), Type::I32);
    let results: Vec<Value> = callee.signature.results.iter().map(|&ty| kernel.value(ty)).collect();
    let entry = kernel.entry();
    let call =
        Instruction { operation: Operation::Call(id, arguments), results: results.clone(), at: Place(3) };
    kernel.blocks[entry].instructions.push(call);
    for (number, &value) in results.iter().enumerate() {
        let mut value = value;
        let mut ty = kernel.values[value];
        if ty == Type::Bool {
            let number = kernel.value(Type::I32);
            let operation = Operation::Convert(Convert::BoolToI32, value);
            kernel.blocks[entry].instructions.push(Instruction {
                operation,
                results: vec![number],
                at: Place(4),
            });
            (value, ty) = (number, Type::I32);
        }
        let offset = RESULTS + 8 * number as u32;
        let access = Access { memory: MemoryId::new(0), ty, bytes: ty.bytes(), signed: false, offset };
        let operation = Operation::Store(access, [base, value]);
        kernel.blocks[entry].instructions.push(Instruction { operation, results: Vec::new(), at: Place(5) });
    }
    kernel.blocks[entry].terminator = Terminator::Return(Vec::new());
    module.functions[FunctionId::new(0)] = kernel;
    if module.memories.is_empty() {
        module.memories.push(Memory::new(Space::Device, 2, Some(2)));
    }
    module.memories[MemoryId::new(0)] = Memory::new(Space::Device, 3, Some(3));
    if let Some(data) = module.data.get(DataId::new(1)) {
        let bytes = data.bytes.clone();
        module.data.push(Data { bytes, at_start: Some((MemoryId::new(0), SEGMENT)) });
    }
    module
}

/// Compares runs of random kernels of a shape on a machine. Memory that all threads write is left out unless each
/// thread has a part to itself.
fn hold(shape: Shape, seeds: std::ops::Range<u64>, config: &str, size: Size) {
    hold_with(shape, seeds, config, size, &Options::default());
}

/// As [`hold`], with options. All kernels have to be compiled.
fn hold_with(shape: Shape, seeds: std::ops::Range<u64>, config: &str, size: Size, options: &Options) {
    let config = preset(config);
    let factor = environment::count("WAVE_SIM_RANDOM_KERNELS", 1);
    let (mut same, mut trapped, mut functions, mut spilled) = (0, 0, 0, 0);
    // More of them are behind those that are always there.
    let count = (seeds.end - seeds.start) * factor;
    for seed in seeds.start..seeds.start + count {
        let module = kernel(random::module(seed, &shape), seed);
        wave_compile::ir::verify::verify(&module).unwrap_or_else(|error| panic!("seed {seed}: {error:?}"));
        let compiled =
            compiled(&module, &config, options).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert!(compiled.statistics.registers <= options.registers, "{:?}", compiled.statistics);
        assert!(compiled.statistics.nesting <= options.nesting, "{:?}", compiled.statistics);
        functions += compiled.statistics.functions;
        spilled += u32::from(compiled.program.kernels[0].private.is_some());
        for arguments in [[5, 63], [0x8000_0001, 3]] {
            let arguments = arguments.map(Constant::I32);
            let Some(expected) = interpret(&module, &arguments, size, config.core.wave_width) else {
                continue;
            };
            let found = execute(&module, &compiled, &arguments, size, &config);
            if !agree(&expected, &found, size) {
                explain(&module, &arguments, (size, options), &config, seed);
            }
            if expected.0.is_none() { same += 1 } else { trapped += 1 }
        }
    }
    println!("{same} the same, {trapped} trapped, {functions} functions, {spilled} with private memory");
    assert!(same > count / 4, "{same} the same, {trapped} trapped");
}

/// True if two runs did the same.
fn agree(expected: &Outcome, found: &Outcome, size: Size) -> bool {
    match (expected.0, found.0) {
        (None, None) => expected.1 == found.1,
        // Of several threads that trap, another may be first.
        (Some(one), Some(other)) => one == other || size.threads * size.workgroups > 1,
        _ => false,
    }
}

/// Fails with a smaller module that shows the difference.
fn explain(module: &Module, arguments: &[Constant], run: (Size, &Options), config: &Config, seed: u64) {
    let (size, options) = run;
    let differs = |module: &Module| {
        let Ok(compiled) = compiled(module, config, options) else { return false };
        let Some(expected) = interpret(module, arguments, size, config.core.wave_width) else { return false };
        !agree(&expected, &execute(module, &compiled, arguments, size, config), size)
    };
    let smaller = random::shrink(module, differs);
    let compiled = compiled(&smaller, config, options).expect("it was compiled before");
    let expected = interpret(&smaller, arguments, size, config.core.wave_width).expect("it ended before");
    let found = execute(&smaller, &compiled, arguments, size, config);
    let place = (0..expected.1.len()).find(|&place| expected.1[place] != found.1[place]);
    panic!(
        "seed {seed}, {arguments:?}: {:?} and {:?}, differ at {place:x?}\n{smaller}\n{}",
        expected.0,
        found.0,
        listing(&compiled)
    );
}

const PLAIN: Shape = Shape {
    size: 40,
    functions: 3,
    irreducible: false,
    memory: false,
    traps: false,
    floats: true,
    workgroup: false,
    kernel: true,
    doubles: false,
    recursion: false,
};

const SMALL: Size = Size { workgroups: 2, threads: 20 };

#[test]
fn values_and_control_flow() {
    hold(PLAIN, 0..150, "tiny", SMALL);
}

#[test]
fn loops_with_two_entries() {
    hold(Shape { irreducible: true, ..PLAIN }, 200..300, "tiny", SMALL);
}

const ALONE: Size = Size { workgroups: 1, threads: 1 };

#[test]
fn traps() {
    let shape = Shape { traps: true, size: 12, functions: 1, ..PLAIN };
    hold(shape, 400..550, "tiny", SMALL);
    // Of one thread it is known which trap it is.
    hold(shape, 550..600, "gpu", ALONE);
}

/// No call is inlined.
const CALLS: Inline = Inline { all: 0, small: 0, single: false };

fn with_calls() -> Options {
    Options { inline: CALLS, ..Options::default() }
}

#[test]
fn calls() {
    let shape = Shape { functions: 5, ..PLAIN };
    hold_with(shape, 1000..1080, "tiny", SMALL, &with_calls());
    hold_with(shape, 1100..1120, "mi300x", SMALL, &with_calls());
    let some = Inline { small: 60, ..CALLS };
    hold_with(shape, 1080..1100, "gpu", SMALL, &Options { inline: some, ..Options::default() });
    let traps = Shape { traps: true, size: 12, ..shape };
    hold_with(traps, 1200..1240, "gpu", ALONE, &with_calls());
    // More calls inside one another than the machine keeps.
    hold_with(Shape { functions: 16, size: 15, ..PLAIN }, 1240..1250, "gpu", SMALL, &with_calls());
}

#[test]
fn doubles() {
    let shape = Shape { doubles: true, size: 16, functions: 2, ..PLAIN };
    // By integers, and by instructions on pairs of registers.
    hold(shape, 1000..1040, "m-series", SMALL);
    hold(shape, 1100..1160, "tiny", SMALL);
    let trapping = Shape { traps: true, functions: 1, size: 10, ..shape };
    hold(trapping, 1200..1230, "m-series", SMALL);
    hold(trapping, 1300..1330, "tiny", SMALL);
}

#[test]
fn recursion() {
    let shape = Shape { recursion: true, functions: 4, size: 16, ..PLAIN };
    let options = Options { frame_bytes: 1 << 14, ..Options::default() };
    hold_with(shape, 1400..1440, "tiny", SMALL, &options);
    hold_with(shape, 1440..1450, "mi300x", SMALL, &Options { registers: 24, ..options.clone() });
    let options = Options { inline: CALLS, ..options };
    hold_with(shape, 1450..1470, "gpu", SMALL, &options);
    // Of one thread it is known which trap it is.
    hold_with(Shape { traps: true, size: 8, ..shape }, 1470..1500, "gpu", ALONE, &options);
}

#[test]
fn memory_of_one_thread() {
    let shape = Shape { memory: true, ..PLAIN };
    let alone = Size { workgroups: 1, threads: 1 };
    hold(shape, 1400..1480, "tiny", alone);
    hold(Shape { traps: true, ..shape }, 1500..1560, "tiny", alone);
    hold(Shape { doubles: true, size: 20, ..shape }, 1600..1640, "m-series", alone);
}

#[test]
fn few_registers() {
    for registers in [12, 20] {
        let options = Options { registers, ..Options::default() };
        hold_with(PLAIN, 940..990, "tiny", SMALL, &options);
        hold_with(PLAIN, 850..860, "mi300x", SMALL, &options);
    }
    let options = Options { registers: 32, ..with_calls() };
    hold_with(PLAIN, 870..900, "tiny", Size { workgroups: 3, threads: 70 }, &options);
}

#[test]
fn little_nesting() {
    for nesting in [8, 9, 12] {
        let options = Options { nesting, ..Options::default() };
        hold_with(PLAIN, 1300..1320, "tiny", SMALL, &options);
    }
    hold_with(PLAIN, 1320..1340, "tiny", SMALL, &Options { nesting: 20, ..with_calls() });
}

#[test]
fn workgroups() {
    let shape = Shape { memory: true, workgroup: true, ..PLAIN };
    // Whole waves: what a shuffle gets from a lane without a thread is undefined.
    hold(shape, 600..700, "tiny", Size { workgroups: 1, threads: 24 });
    hold(shape, 700..760, "gpu", Size { workgroups: 1, threads: 96 });
    hold(shape, 760..800, "mi300x", Size { workgroups: 1, threads: 128 });
}

/// A bound on the time of the compiler: code of some thousand instructions takes seconds at most, also unoptimised.
#[test]
fn a_large_kernel() {
    let shape = Shape { size: 3000, functions: 1, memory: true, workgroup: true, ..PLAIN };
    let module = kernel(random::module(5, &shape), 5);
    let start = std::time::Instant::now();
    let compiled =
        compiled(&module, &preset("tiny"), &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    println!("{:?} in {:?}", compiled.statistics, start.elapsed());
    assert!(compiled.statistics.instructions > 1000, "{:?}", compiled.statistics);
    assert!(start.elapsed().as_secs() < 30, "{:?} in {:?}", compiled.statistics, start.elapsed());
}
