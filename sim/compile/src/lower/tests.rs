//! The interpreter computes the same before and after the passes, on random modules.

use super::*;
use crate::ir::interpret::{Instance, Limits};
use crate::ir::random::{self, Shape};
use crate::ir::verify::verify;
use crate::ir::{Constant, Data, DataId, MemoryId, Operation, Type};
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

/// Where the segment of a random module lies that is not copied at the start.
const SEGMENT: u32 = 0xFF00;

/// The module with the bytes of that segment there.
fn with_segment(mut module: Module) -> Module {
    if let Some(data) = module.data.get(DataId::new(1)) {
        let bytes = data.bytes.clone();
        module.data.push(Data { bytes, at_start: Some((MemoryId::new(0), SEGMENT)) });
    }
    module
}

fn options() -> LowerOptions {
    LowerOptions { data: vec![(DataId::new(1), SEGMENT)], ..LowerOptions::default() }
}

/// Runs modules of a shape before and after a pass.
fn hold(shape: Shape, count: u64, splits: bool, pass: impl Fn(&Module) -> Module) {
    let mut compared = 0;
    for seed in 0..count {
        let module = with_segment(random::module(seed, &shape));
        let changed = pass(&module);
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
                    let changed = pass(module);
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

/// The module after a pass over its functions, with all calls inlined.
fn after(pass: impl Fn(&Module, &mut Function)) -> impl Fn(&Module) -> Module {
    move |module| {
        let mut module = module.clone();
        let mut order = calls::bottom_up(&module, FunctionId::new(0)).expect("no recursion");
        inline::inline_calls(&mut module, &mut order, INLINE[0]).expect("they are small");
        let mut function = module.functions[FunctionId::new(0)].clone();
        unused::drop_unreached(&mut function);
        pass(&module, &mut function);
        module.functions[FunctionId::new(0)] = function;
        module
    }
}

/// The module with its global variables as values.
fn without_globals(module: &Module, inline: Inline) -> Module {
    let mut module = module.clone();
    let mut order = calls::bottom_up(&module, FunctionId::new(0)).expect("no recursion");
    globals::to_values(&mut module, &order, &[]);
    inline::inline_calls(&mut module, &mut order, inline).expect("they are small");
    module
}

/// All calls inlined, some, and none.
const INLINE: [Inline; 3] = [
    Inline { all: u32::MAX, small: 0, single: false },
    Inline { all: 0, small: 60, single: false },
    Inline { all: 0, small: 0, single: false },
];

#[test]
fn inlining_and_globals() {
    for shape in shapes() {
        for inline in INLINE {
            hold(shape, 80, false, |module| without_globals(module, inline));
        }
    }
}

#[test]
fn simplification() {
    shapes().into_iter().for_each(|shape| {
        hold(shape, 150, false, |module| {
            let mut module = without_globals(module, INLINE[0]);
            clean(&mut module.functions[FunctionId::new(0)]);
            module
        });
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
        hold(shape, 150, true, |module| {
            let module =
                runtime::with_library(module, FunctionId::new(0), &options()).expect("it is supported");
            let mut module = without_globals(&module, INLINE[0]);
            let mut function = module.functions[FunctionId::new(0)].clone();
            unused::drop_unreached(&mut function);
            divide::expand(&mut function);
            convert64::expand(&mut function);
            wide::split(&module, &mut function).expect("all can be split");
            module.functions[FunctionId::new(0)] = function;
            module
        });
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
fn loops_with_several_rounds_at_once() {
    let unrolled = std::cell::Cell::new(0);
    for shape in shapes() {
        hold(shape, 150, false, |module| {
            let mut module = without_globals(module, INLINE[0]);
            let mut function = module.functions[FunctionId::new(0)].clone();
            clean(&mut function);
            let any = unroll::unroll(&module, &mut function, Unroll::Bounded);
            unrolled.set(unrolled.get() + u32::from(any));
            // Whatever follows from constants in each round.
            clean(&mut function);
            module.functions[FunctionId::new(0)] = function;
            module
        });
    }
    assert!(unrolled.get() > 100, "{} functions have loops that are unrolled", unrolled.get());
}

#[test]
fn all_of_it() {
    for shape in shapes() {
        for inline in INLINE {
            hold(shape, 100, true, |module| {
                let options = LowerOptions { inline, ..options() };
                let lowered = lower(module, FunctionId::new(0), &options).expect("it is supported");
                for &id in &lowered.order {
                    let function = &lowered.module.functions[id];
                    assert_eq!(Graph::new(function).irreducible, None);
                    assert!(!function.values.values().any(|&ty| ty == Type::F64));
                    let calls = calls::callees(function).count();
                    assert!(calls == 0 || inline != INLINE[0], "{id} has {calls} calls");
                }
                lowered.module
            });
        }
    }
}

#[test]
fn all_of_it_with_f64() {
    for mut shape in shapes() {
        (shape.doubles, shape.size) = (true, 30);
        for f64_instructions in [false, true] {
            hold(shape, 80, true, |module| {
                let options = LowerOptions { f64_instructions, ..options() };
                let lowered = lower(module, FunctionId::new(0), &options).expect("it is supported");
                let functions: Vec<_> =
                    lowered.order.iter().map(|&id| &lowered.module.functions[id]).collect();
                assert!(!functions.iter().flat_map(|one| one.values.values()).any(|&ty| ty == Type::F64));
                let is_double = |one: &crate::ir::Instruction| matches!(one.operation, Operation::Double(..));
                let blocks = functions.iter().flat_map(|function| function.blocks.values());
                let any = blocks.flat_map(|body| &body.instructions).any(is_double);
                assert!(f64_instructions || !any);
                lowered.module
            });
        }
    }
}
