//! Random modules for tests: valid, of all types and operations, and sure to end.
//!
//! Control flow is made of pieces: choices, switches, loops with a counter and with exits over several levels, and on
//! demand loops with two entries. A function calls only functions with greater numbers, and few of them in a loop, so
//! that every run ends soon. The same seed and shape give the same module on any host.

mod build;
mod operations;
mod shrink;

pub use shrink::shrink;

use super::{
    Constant, Data, Elements, Exported, FunctionId, Global, Memory, Module, Signature, Space, Table, Type,
};
use build::Builder;
use cranelift_entity::EntityRef;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// All types.
const TYPES: [Type; 5] = [Type::Bool, Type::I32, Type::I64, Type::F32, Type::F64];

/// Most calls of a run where functions call one another in circles.
const MOST_CALLS: u32 = 12;

/// What a random module is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Pieces of a function: instructions, choices, loops. A smaller one makes a smaller module.
    pub size: u32,
    /// Functions, at least 1.
    pub functions: u32,
    /// With loops that have two entries.
    pub irreducible: bool,
    /// With accesses to memory.
    pub memory: bool,
    /// With what may trap: divisions and truncations of anything, addresses out of bounds.
    pub traps: bool,
    /// With `f32` and `f64`.
    pub floats: bool,
    /// With special registers, and wave operations, barriers and local memory where no thread has diverged: in the
    /// first function, outside of choices and loops. Each thread has a part of memory to itself then; there is room
    /// for one workgroup of 128 threads.
    pub workgroup: bool,
    /// Only what kernels are compiled from: without indirect calls, operations on tables, and atomic accesses of 64 bits.
    pub kernel: bool,
    /// With `f64` where there are floats.
    pub doubles: bool,
    /// Functions but the first call any functions but the first, also indirectly in kernels, so many times in all.
    pub recursion: bool,
}

impl Default for Shape {
    /// Three functions of 40 pieces with everything but traps, two entries and workgroups.
    fn default() -> Shape {
        Shape {
            size: 40,
            functions: 3,
            irreducible: false,
            memory: true,
            traps: false,
            floats: true,
            workgroup: false,
            kernel: false,
            doubles: true,
            recursion: false,
        }
    }
}

/// Makes a module. Function `fN` is exported under that name; `f0` is where a run begins.
pub fn module(seed: u64, shape: &Shape) -> Module {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut module = Module::default();
    let count = shape.functions.max(1);
    let signatures: Vec<Signature> = (0..count).map(|_| signature(&mut random, shape)).collect();
    if shape.memory {
        module.memories.push(Memory::new(Space::Device, 1, Some(2)));
        let bytes = (0..random.random_range(0..100)).map(|_| random.random()).collect();
        module
            .data
            .push(Data { bytes, at_start: Some((super::MemoryId::new(0), random.random_range(0..4096))) });
        let bytes = (0..16).map(|_| random.random()).collect();
        module.data.push(Data { bytes, at_start: None });
    }
    if shape.workgroup {
        module.memories.push(Memory::new(Space::Local, 1, Some(1)));
    }
    for &ty in types(shape) {
        let initial = constant(&mut random, ty);
        let name = random.random_bool(0.5).then(|| format!("variable of {ty}"));
        module.globals.push(Global { name, initial, is_mutable: true });
    }
    let initial = Constant::I32(random.random());
    module.globals.push(Global { name: None, initial, is_mutable: false });
    if shape.recursion {
        let name = Some("calls left".to_owned());
        module.globals.push(Global { name, initial: Constant::I32(MOST_CALLS), is_mutable: true });
    }
    // The last function calls nothing, so indirect calls of it end.
    let last = FunctionId::new(count as usize - 1);
    if count > 1 {
        module.tables.push(Table { places: 4, most_places: None });
        let mut functions = vec![Some(last), None, Some(last)];
        functions.extend(shape.recursion.then_some(Some(FunctionId::new(1))));
        module.elements.push(Elements { functions, at_start: Some((super::TableId::new(0), 0)) });
        module.signatures.push(signatures[last.index()].clone());
    }
    for number in 0..count as usize {
        let function = Builder::new(&mut random, shape, &module, &signatures, number).function();
        let id = module.functions.push(function);
        module.exports.push((format!("f{number}"), Exported::Function(id)));
    }
    module
}

/// Types that values of a module have.
fn types(shape: &Shape) -> &'static [Type] {
    match (shape.floats, shape.doubles) {
        (true, true) => &TYPES,
        (true, false) => &TYPES[..4],
        (false, _) => &TYPES[..3],
    }
}

fn signature(random: &mut Pcg64Mcg, shape: &Shape) -> Signature {
    let mut some = |least: usize, most: usize| {
        let count = random.random_range(least..=most);
        (0..count).map(|_| types(shape)[random.random_range(0..types(shape).len())]).collect()
    };
    Signature { parameters: some(0, 4), results: some(1, 3) }
}

/// Integers that operations treat in a way of their own.
const INTEGERS: [u64; 14] = [
    0,
    1,
    2,
    31,
    32,
    63,
    0xFF,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    0x7FFF_FFFF_FFFF_FFFF,
    0x8000_0000_0000_0000,
    // Just above a tie of `f32`; as an `f64` they are at it.
    0x8000_0080_0000_0001,
    0x4000_0040_0000_0001,
];

/// Bits of `f32` that operations treat in a way of their own: zeros, subnormals, limits of integers, infinities, NaNs.
const SINGLES: [u32; 14] = [
    0,
    0x8000_0000,
    1,
    0x007F_FFFF,
    0x3F00_0000,
    0x3F80_0000,
    0xBF80_0000,
    0x4F00_0000,
    0x4F80_0000,
    0x5F00_0000,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0xFFA1_2345,
];

/// A random constant of a type, often a special one.
pub fn constant(random: &mut Pcg64Mcg, ty: Type) -> Constant {
    let bits = match random.random_range(0..3) {
        0 => random.random::<u64>(),
        1 if ty.is_float() => {
            let single = SINGLES[random.random_range(0..SINGLES.len())];
            // The NaN with a payload, which a conversion would make canonical, is made from its parts.
            let payload = 0xFFF4_2468_ACE0_0000;
            let value = f64::from(f32::from_bits(single));
            match ty {
                Type::F64 if value.is_nan() => payload,
                Type::F64 => value.to_bits(),
                _ => single.into(),
            }
        }
        1 => INTEGERS[random.random_range(0..INTEGERS.len())],
        _ if ty.is_float() => {
            let value = f64::from(random.random_range(-1000..1000)) / 8.0;
            if ty == Type::F64 { value.to_bits() } else { (value as f32).to_bits().into() }
        }
        _ => (random.random_range(0..200u64)).wrapping_sub(100),
    };
    Constant::from_bits(ty, bits)
}

/// Random arguments for a function of a module.
pub fn arguments(seed: u64, module: &Module, function: FunctionId) -> Vec<Constant> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    module.functions[function].signature.parameters.iter().map(|&ty| constant(&mut random, ty)).collect()
}
