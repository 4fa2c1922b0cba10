//! The verifier accepts what is right, and says of what is wrong where it is.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use wave_compile::ir::random::{self, Shape};
use wave_compile::ir::verify::verify;
use wave_compile::ir::{Instruction, Module, Operation, Terminator, Type, Value};

/// What the verifier says of a text.
fn refused(text: &str) -> String {
    let module: Module = text.parse().unwrap_or_else(|error| panic!("{error}"));
    verify(&module).expect_err(text).to_string()
}

/// What it says of a function with memories, tables and the like around it.
fn refused_body(body: &str) -> String {
    let text = format!(
        "signature sig0 (i64) -> (i32)\nmemory mem0 device 1\nmemory mem1 local 1\nmemory mem2 private 1\ntable tab0 1\n\
         global g0 mutable i32 0\nglobal g1 i64 0\n\
         function f0 (i32, f32) -> () {{\nb0(v0: i32, v1: f32):\n{body}\n}}\nfunction f1 (i64) -> (i32) {{\nb0(v0: i64):\n trap \"unreachable\"\n}}"
    );
    refused(&text)
}

#[test]
fn what_is_wrong_in_a_function() {
    let f0 = "f0, b0, instruction";
    for (body, message) in [
        ("v2: i32 = add v0, v1 @7\nreturn", format!("{f0} 0, @7: operands: v1 is f32, not i32")),
        ("v2: f32 = add v1, v1\nreturn", format!("{f0} 0, add does not take f32")),
        ("v2: i64 = add v0, v0\nreturn", format!("{f0} 0, results: v2 is i64, not i32")),
        ("add v0, v0\nreturn", format!("{f0} 0, results: 1 are wanted, not 0")),
        ("v2: bool = eq v1, v1\nreturn", format!("{f0} 0, eq does not take f32")),
        ("v2: i32 = i32_wrap v0\nreturn", format!("{f0} 0, i32_wrap does not take i32")),
        ("v2: i32 = select v0, v0, v0\nreturn", format!("{f0} 0, condition: v0 is i32, not bool")),
        ("v2: i32 = fma v0, v0, v0\nreturn", format!("{f0} 0, fma does not take i32")),
        ("v2: i32 = load.i32 mem9[v0]\nreturn", format!("{f0} 0, mem9 does not exist")),
        ("v2: i32 = load.i32 mem0[v1]\nreturn", format!("{f0} 0, address: v1 is f32, not i32")),
        ("v2: i32 = load.i32.u64 mem0[v0]\nreturn", format!("{f0} 0, memory does not hold i32 in 8 bytes")),
        ("v2: i32 = load.i32.u24 mem0[v0]\nreturn", format!("{f0} 0, memory does not hold i32 in 3 bytes")),
        ("v2: f32 = load.f32.u16 mem0[v0]\nreturn", format!("{f0} 0, memory does not hold f32 in 2 bytes")),
        ("v2: bool = load.bool mem0[v0]\nreturn", format!("{f0} 0, memory does not hold bool in 1 bytes")),
        (
            "v2: i32 = load.i32.s32 mem0[v0]\nreturn",
            format!("{f0} 0, an access to all 4 bytes of i32 has no sign"),
        ),
        ("store.i32 mem0[v0], v1\nreturn", format!("{f0} 0, value stored: v1 is f32, not i32")),
        (
            "v2: f32 = atomic_add.f32 device mem0[v0], v1\nreturn",
            format!("{f0} 0, an atomic access is to an unsigned integer"),
        ),
        (
            "v2: i32 = atomic_cas.i32 device mem0[v0], v0\nreturn",
            format!("{f0} 0, a compare-and-swap is an instruction of its own, compare_exchange"),
        ),
        (
            "v2: i32 = memory_grow mem1, v0\nreturn",
            format!("{f0} 0, mem1 is local memory, which does not grow"),
        ),
        (
            "v2: i32 = atomic_add.i32 device mem2[v0], v0\nexit",
            format!("{f0} 0, mem2 is private memory, which has loads and stores and no other operations"),
        ),
        ("memory_fill mem0, v0, v1, v0\nreturn", format!("{f0} 0, operands: v1 is f32, not i32")),
        ("memory_init mem0, data0, v0, v0, v0\nreturn", format!("{f0} 0, data0 does not exist")),
        ("elements_drop elem0\nreturn", format!("{f0} 0, elem0 does not exist")),
        ("global_set g0, v1\nreturn", format!("{f0} 0, value: v1 is f32, not i32")),
        ("v2: i64 = const.i64 1\nglobal_set g1, v2\nreturn", format!("{f0} 1, g1 cannot be set")),
        ("v2: i32 = call f1(v0)\nreturn", format!("{f0} 0, arguments of f1: v0 is i32, not i64")),
        ("v2: i32 = call f2()\nreturn", format!("{f0} 0, f2 does not exist")),
        (
            "v2: i32 = call_indirect tab0[v1] sig0(v0)\nreturn",
            format!("{f0} 0, place in the table: v1 is f32, not i32"),
        ),
        ("v2: i32 = call_indirect tab0[v0] sig1()\nreturn", format!("{f0} 0, sig1 does not exist")),
        ("v2: i32 = shuffle(v0)\nreturn", format!("{f0} 0, operands of shuffle: 2 are wanted, not 1")),
        ("v2: f32 = special sr_lane_id\nreturn", format!("{f0} 0, results: v2 is f32, not i32")),
        ("return v0", format!("{f0} 0, values returned: 0 are wanted, not 1")),
        ("branch v0, b1, b1\nb1:\nreturn", format!("{f0} 0, condition: v0 is i32, not bool")),
        ("switch v0, []", format!("{f0} 0, the switch has no last target")),
        ("jump b0(v0, v1)", format!("{f0} 0, nothing jumps to the entry")),
        ("jump b1", format!("{f0} 0, b1 does not exist")),
        ("jump b1\nb1(v2: i32):\nreturn", format!("{f0} 0, arguments for b1: 1 are wanted, not 0")),
        ("jump b1(v1)\nb1(v2: i32):\nreturn", format!("{f0} 0, arguments for b1: v1 is f32, not i32")),
        (
            "v2: i32 = clz v3\nv3: i32 = clz v0\nreturn",
            format!("{f0} 0, control comes here without passing the definition of v3 in b0"),
        ),
        (
            "v2: i32 = clz v2\nreturn",
            format!("{f0} 0, control comes here without passing the definition of v2 in b0"),
        ),
        ("v2: i32 = clz v0\nv2: i32 = ctz v0\nreturn", format!("{f0} 1, v2 is defined twice")),
        (
            "v2: bool = ne v0, v0\nbranch v2, b1, b2\nb1:\nv3: i32 = clz v0\njump b2\nb2:\nv4: i32 = clz v3\nreturn",
            "f0, b2, instruction 0, control comes here without passing the definition of v3 in b1".to_owned(),
        ),
    ] {
        assert_eq!(refused_body(body), message, "{body}");
    }
}

#[test]
fn what_is_wrong_in_a_module() {
    for (text, message) in [
        ("memory mem0 device 65537", "mem0 has up to 65537 pages; an address reaches 65536"),
        ("memory mem0 device 2 to 1", "mem0 starts with 2, more than its limit 1"),
        ("table tab0 4294967296", "tab0 has 4294967296 places; an index reaches 4294967295"),
        ("data data0 at mem0 1", "mem0 does not exist"),
        (
            "memory mem0 local 1 data data0 at mem0 1",
            "data0 is copied at the start to mem0, which each workgroup has anew",
        ),
        ("elements elem0 [f1]", "elem0: f1 does not exist"),
        ("export \"a\" g0", "g0 does not exist"),
        ("global g0 i32 1 export \"a\" g0 export \"a\" g0", "`a` is exported twice"),
        ("start f0", "f0 does not exist"),
        (
            "start f0 function f0 (i32) -> () { b0(v0: i32): return }",
            "f0 runs at the start, so it has no parameters and no results",
        ),
        ("function f0 () -> () { }", "f0, the function has no block"),
        (
            "function f0 () -> () { undefined v0: i32 b0: return v0 }",
            "f0, b0, instruction 0, nothing defines v0",
        ),
        (
            "function f0 (i64) -> () { b0(v0: i32): return }",
            "f0, b0, parameters of the entry: v0 is i32, not i64",
        ),
    ] {
        assert_eq!(refused(text), message, "{text}");
    }
}

/// In a block that nothing reaches, values need only be defined somewhere.
#[test]
fn blocks_that_nothing_reaches_are_accepted() {
    super::module(
        "function f0 (i32) -> () { b0(v0: i32): return b1: v1: i32 = clz v2 jump b2 b2: v2: i32 = clz v1 jump b1 }",
    );
}

/// The dominators of a graph that has them by hand.
#[test]
fn dominators() {
    use wave_compile::ir::Block;
    use wave_compile::ir::dominance::Dominance;
    let module: Module = "function f0 (bool) -> () {
        b0(v0: bool): branch v0, b1, b2
        b1: jump b3
        b2: branch v0, b3, b4
        b3: branch v0, b4, b1
        b4: return
        b5: jump b4
    }"
    .parse()
    .unwrap();
    let function = module.functions.values().next().unwrap();
    let dominance = Dominance::new(function);
    let parents = [None, Some(0), Some(0), Some(0), Some(0), None];
    let blocks: Vec<Block> = function.blocks.keys().collect();
    for (number, &block) in blocks.iter().enumerate() {
        assert_eq!(dominance.parent(block), parents[number].map(|parent: usize| blocks[parent]));
        assert_eq!(dominance.is_reached(block), number != 5);
        for (other, &later) in blocks.iter().enumerate() {
            let wanted = number != 5 && other != 5 && (number == other || number == 0);
            assert_eq!(dominance.dominates(block, later), wanted, "{block} {later}");
        }
    }
}

/// What a mutation does to a module: the wrong type, a missing or doubled definition, a use before its definition, a
/// wrong number of arguments.
fn mutate(module: &mut Module, random: &mut Pcg64Mcg) -> bool {
    let ids: Vec<_> = module.functions.keys().collect();
    let id = ids[random.random_range(0..ids.len())];
    let function = &mut module.functions[id];
    let blocks: Vec<_> = function.blocks.keys().collect();
    let block = blocks[random.random_range(0..blocks.len())];
    let kind = random.random_range(0..6);
    let fresh = function.value(Type::I32);
    let body = &mut function.blocks[block];
    let count = body.instructions.len();
    match kind {
        // A use of what nothing defines.
        0 => {
            let used = body
                .instructions
                .iter_mut()
                .find_map(|one| one.operation.operands_mut().next().map(|value| *value = fresh));
            used.is_some()
        }
        // A definition twice.
        1 => {
            let doubled = body.instructions.iter().find(|one| !one.results.is_empty()).cloned();
            doubled.map(|one: Instruction| body.instructions.push(one)).is_some()
        }
        // A result of another type.
        2 => {
            let result = body.instructions.iter().find_map(|one| one.results.first().copied());
            result
                .map(|value: Value| {
                    let ty = function.values[value];
                    function.values[value] = if ty == Type::I32 { Type::F64 } else { Type::I32 };
                })
                .is_some()
        }
        // An argument too many.
        3 => {
            body.terminator
                .targets_mut()
                .first_mut()
                .map(|target| target.arguments.extend(body.parameters.first()))
                .is_some()
                && !body.parameters.is_empty()
        }
        // No definition where one was used: the first instruction whose result the next ones take.
        4 if count > 1 => {
            let at = (0..count - 1).find(|&at| {
                let results = &body.instructions[at].results;
                body.instructions[at + 1..]
                    .iter()
                    .any(|one| one.operation.operands().any(|value| results.contains(&value)))
            });
            at.map(|at| body.instructions.remove(at)).is_some()
        }
        // A return of too much.
        _ => {
            let end = matches!(body.terminator, Terminator::Return(_));
            if end {
                body.instructions.insert(
                    0,
                    Instruction {
                        operation: Operation::Constant(wave_compile::ir::Constant::I32(0)),
                        results: vec![fresh],
                        at: Default::default(),
                    },
                );
                if let Terminator::Return(values) = &mut body.terminator {
                    values.push(fresh);
                }
            }
            end
        }
    }
}

#[test]
fn random_modules_are_accepted_and_mutated_ones_refused() {
    let mut mutated = 0;
    for seed in 0..300 {
        let shape = Shape {
            kernel: false,
            doubles: true,
            recursion: false,
            irreducible: seed % 2 == 0,
            traps: seed % 3 == 0,
            workgroup: seed % 5 == 0,
            floats: seed % 7 != 0,
            memory: seed % 11 != 0,
            size: seed as u32 % 90,
            functions: seed as u32 % 4,
        };
        let module = random::module(seed, &shape);
        verify(&module).unwrap_or_else(|invalid| panic!("seed {seed}: {invalid}\n{module}"));
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        for _ in 0..5 {
            let mut changed = module.clone();
            if mutate(&mut changed, &mut random) {
                mutated += 1;
                assert!(verify(&changed).is_err(), "seed {seed}:\n{changed}");
            }
        }
    }
    assert!(mutated > 500, "{mutated}");
}
