//! The interpreter computes the same before and after the passes, on random modules.

use super::*;
use crate::ir::interpret::{Instance, Limits};
use crate::ir::random::{self, Shape};
use crate::ir::verify::verify;
use crate::ir::{Constant, MemoryId, Operation, Type};
use cranelift_entity::EntityRef;
use std::sync::Arc;

/// Results of a call of the first function, or the trap, and the memory behind it.
type Outcome = (Result<Vec<Constant>, crate::ir::Trap>, Vec<u8>);

fn run(module: &Module, arguments: &[Constant]) -> Outcome {
    let instance = Instance::new(Arc::new(module.clone())).expect("segments fit");
    let limits = Limits { fuel: 2_000_000, ..Limits::default() };
    let results = instance.call(FunctionId::new(0), arguments, &limits).map_err(|trapped| trapped.trap);
    let memory = instance.memory(MemoryId::new(0));
    (results, memory.read(0, memory.pages() * 65536).expect("all of it"))
}

/// Values with each `i64` and each `f64` as two `i32`.
fn halves(values: Vec<Constant>) -> Vec<Constant> {
    let halves = |value: Constant| match value {
        Constant::I64(bits) | Constant::F64(bits) => {
            vec![Constant::I32(bits as u32), Constant::I32((bits >> 32) as u32)]
        }
        other => vec![other],
    };
    values.into_iter().flat_map(halves).collect()
}

/// Runs modules of a shape before and after a pass over their first function.
fn hold(shape: Shape, count: u64, splits: bool, pass: impl Fn(&Module) -> Function) {
    let mut compared = 0;
    for seed in 0..count {
        let module = random::module(seed, &shape);
        let mut changed = module.clone();
        changed.functions[FunctionId::new(0)] = pass(&module);
        verify(&changed).unwrap_or_else(|error| panic!("seed {seed}: {error:?}\n{changed}"));
        for turn in 0..4 {
            let arguments = random::arguments(turn, &module, FunctionId::new(0));
            let before = run(&module, &arguments);
            // The passes move work, so a run that is out of fuel says nothing.
            if before.0 == Err(crate::ir::Trap::OutOfFuel) {
                continue;
            }
            let before = if splits { (before.0.map(halves), before.1) } else { before };
            let given = if splits { halves(arguments.clone()) } else { arguments.clone() };
            let after = run(&changed, &given);
            if before != after {
                let smaller = random::shrink(&module, |module| {
                    let mut changed = module.clone();
                    changed.functions[FunctionId::new(0)] = pass(module);
                    let before = run(module, &arguments);
                    let before = if splits { (before.0.map(halves), before.1) } else { before };
                    before.0 != Err(crate::ir::Trap::OutOfFuel) && before != run(&changed, &given)
                });
                let lowered = pass(&smaller);
                panic!("seed {seed}, {given:?}: {smaller}\nbecomes\n{lowered}");
            }
            assert_eq!(before.0, after.0, "seed {seed}, arguments {turn}\n{module}\n{changed}");
            assert!(before.1 == after.1, "memory, seed {seed}, arguments {turn}\n{module}\n{changed}");
            compared += 1;
        }
    }
    assert!(compared > count, "{compared} runs say something");
}

fn shapes() -> [Shape; 3] {
    let plain = Shape { size: 50, kernel: true, doubles: false, ..Shape::default() };
    [plain, Shape { traps: true, ..plain }, Shape { irreducible: true, ..plain }]
}

/// The first function after a pass over it with its calls inlined.
fn after(pass: impl Fn(&Module, &mut Function)) -> impl Fn(&Module) -> Function {
    move |module| {
        let mut function = inline::inline_all(module, FunctionId::new(0)).expect("no recursion");
        unused::drop_unreached(&mut function);
        pass(module, &mut function);
        function
    }
}

/// As [`after`], with calls of the library inlined too.
fn after_library(pass: impl Fn(&Module, &mut Function)) -> impl Fn(&Module) -> Function {
    move |module| {
        let module = runtime::with_library(module, FunctionId::new(0), &LowerOptions::default());
        after(&pass)(&module)
    }
}

#[test]
fn inlining_and_globals() {
    shapes().into_iter().for_each(|shape| {
        hold(shape, 150, false, after(|module, function| globals::to_values(module, function, &[])));
    });
}

#[test]
fn simplification() {
    shapes().into_iter().for_each(|shape| {
        hold(
            shape,
            150,
            false,
            after(|module, function| {
                globals::to_values(module, function, &[]);
                clean(function);
            }),
        );
    });
}

#[test]
fn checks_and_routines() {
    shapes().into_iter().for_each(|shape| {
        hold(
            shape,
            150,
            false,
            after(|_, function| {
                checks::explicit(function, |_| true);
                divide::expand(function);
                convert64::expand(function);
            }),
        );
    });
}

#[test]
fn halves_of_i64() {
    for mut shape in shapes() {
        shape.traps = false;
        hold(
            shape,
            150,
            true,
            after_library(|module, function| {
                globals::to_values(module, function, &[]);
                divide::expand(function);
                convert64::expand(function);
                wide::split(module, function).expect("all can be split");
            }),
        );
    }
}

#[test]
fn switches_and_loops_with_two_entries() {
    shapes().into_iter().for_each(|shape| {
        hold(
            shape,
            150,
            false,
            after(|_, function| {
                switches::to_branches(function);
                irreducible::make_reducible(function);
                assert_eq!(Graph::new(function).irreducible, None);
            }),
        );
    });
}

#[test]
fn all_of_it() {
    shapes().into_iter().for_each(|shape| {
        hold(shape, 200, true, |module| {
            let function =
                lower(module, FunctionId::new(0), &LowerOptions::default()).expect("it is supported");
            assert_eq!(Graph::new(&function).irreducible, None);
            assert!(!function.values.values().any(|&ty| ty == Type::F64));
            function
        });
    });
}

#[test]
fn all_of_it_with_f64() {
    for mut shape in shapes() {
        (shape.doubles, shape.size) = (true, 30);
        for f64_instructions in [false, true] {
            hold(shape, 80, true, |module| {
                let options = LowerOptions { f64_instructions, ..LowerOptions::default() };
                let function = lower(module, FunctionId::new(0), &options).expect("it is supported");
                assert!(!function.values.values().any(|&ty| ty == Type::F64));
                let is_double = |one: &crate::ir::Instruction| matches!(one.operation, Operation::Double(..));
                let any = function.blocks.values().flat_map(|body| &body.instructions).any(is_double);
                assert!(f64_instructions || !any);
                function
            });
        }
    }
}
