//! Random modules end, are the same for the same seed, hold everything, and become smaller.

use std::collections::BTreeSet;
use std::sync::Arc;
use wave_compile::ir::interpret::{Instance, Limits};
use wave_compile::ir::random::{self, Shape};
use wave_compile::ir::verify::verify;
use wave_compile::ir::{FunctionId, Module, Operation, Terminator, Trap};

const FUEL: u64 = 20_000_000;

fn shape(seed: u64) -> Shape {
    Shape { irreducible: true, traps: seed % 2 == 1, size: 20 + seed as u32 % 60, ..Shape::default() }
}

/// What a run of `f0` gives.
fn run(module: &Module, seed: u64) -> Result<Vec<wave_compile::ir::Constant>, Trap> {
    let first = FunctionId::from_u32(0);
    let instance = Instance::new(Arc::new(module.clone())).map_err(|trapped| trapped.trap)?;
    let arguments = random::arguments(seed, module, first);
    let limits = Limits { fuel: FUEL, ..Limits::default() };
    instance.call(first, &arguments, &limits).map_err(|trapped| trapped.trap)
}

#[test]
fn random_modules_end_in_the_same_way_each_time() {
    let mut traps = 0;
    for seed in 0..300 {
        let module = random::module(seed, &shape(seed));
        assert_eq!(module, random::module(seed, &shape(seed)));
        let result = run(&module, seed);
        assert_eq!(result, run(&module, seed));
        assert_ne!(result, Err(Trap::OutOfFuel), "seed {seed}");
        assert!(result.is_ok() || shape(seed).traps, "seed {seed}: {result:?}");
        traps += usize::from(result.is_err());
    }
    assert!((20..140).contains(&traps), "{traps} of 150 that may trap");
}

/// Every operation and every way to end a block occurs.
#[test]
fn random_modules_hold_everything() {
    let mut seen = BTreeSet::new();
    for seed in 0..400 {
        let module = random::module(seed, &Shape { workgroup: seed % 4 == 0, ..shape(seed) });
        for body in module.functions.values().flat_map(|function| function.blocks.values()) {
            for instruction in &body.instructions {
                let text = instruction.operation.to_string();
                seen.insert(text.split([' ', '.', '(']).next().unwrap_or_default().to_owned());
            }
            seen.insert(match body.terminator {
                Terminator::Jump(_) => "jump".to_owned(),
                Terminator::Branch(..) => "branch".to_owned(),
                Terminator::Switch(..) => "switch".to_owned(),
                Terminator::Return(_) => "return".to_owned(),
                Terminator::Exit => "exit".to_owned(),
                Terminator::Trap(trap) => trap.name().to_owned(),
            });
        }
    }
    // 18 unary without the special functions and 28 binary ones, 16 comparisons, 19 conversions, 15 of waves.
    for name in [
        "call",
        "call_indirect",
        "memory_copy",
        "memory_init",
        "barrier",
        "fence",
        "ballot",
        "select",
        "fma",
        "atomic_min",
        "compare_exchange",
        "i64_trunc_u",
        "fcopysign",
        "fge",
        "switch",
        "unreachable",
        "function_reference",
        "table_fill",
        "table_get",
        "table_grow",
        "table_set",
        "table_size",
    ] {
        assert!(seen.contains(name), "no {name} in {seen:?}");
    }
    assert!(seen.len() > 110, "{} of them: {seen:?}", seen.len());
}

/// A module that multiplies becomes little more than its multiplication.
#[test]
fn shrinking_keeps_the_failure_and_drops_the_rest() {
    let multiplies = |module: &Module| {
        let bodies = module.functions.values().flat_map(|function| function.blocks.values());
        let mut operations =
            bodies.flat_map(|body| &body.instructions).map(|instruction| &instruction.operation);
        operations.any(|operation| matches!(operation, Operation::Binary(wave_compile::ir::Binary::Mul, _)))
    };
    let size = |module: &Module| -> usize {
        let bodies = module.functions.values().flat_map(|function| function.blocks.values());
        bodies.map(|body| body.instructions.len()).sum()
    };
    let module = (0..).map(|seed| random::module(seed, &shape(seed))).find(multiplies).unwrap();
    let small = random::shrink(&module, multiplies);
    assert!(multiplies(&small));
    verify(&small).unwrap();
    assert!(
        size(&small) * 5 < size(&module) && size(&module) > 40,
        "from {} to {}:\n{small}",
        size(&module),
        size(&small)
    );
}

/// Thousands of modules of all shapes: valid, written and read, and run to their end.
#[test]
#[ignore = "minutes"]
fn random_modules_of_all_shapes() {
    for seed in 0..20_000 {
        let bit = |number: u32| seed >> number & 1 == 1;
        let shape = Shape {
            kernel: false,
            doubles: true,
            recursion: false,
            size: (seed % 301) as u32,
            functions: (seed % 6) as u32,
            irreducible: bit(0),
            memory: bit(1) || bit(2),
            traps: bit(3),
            floats: bit(4) || bit(5),
            workgroup: bit(6),
        };
        let module = random::module(seed, &shape);
        verify(&module).unwrap_or_else(|invalid| panic!("seed {seed}: {invalid}"));
        assert_eq!(module.to_string().parse().as_ref(), Ok(&module), "seed {seed}");
        let result = run(&module, seed);
        assert_ne!(result, Err(Trap::OutOfFuel), "seed {seed}");
        assert!(result.is_ok() || shape.traps, "seed {seed}: {result:?}");
    }
}
