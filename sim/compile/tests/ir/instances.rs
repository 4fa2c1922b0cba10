//! The interpreter on instances: memory, tables, global variables, calls, traps, limits.

use super::module;
use Constant::{F32, I32, I64};
use std::sync::Arc;
use std::time::Instant;
use wave_compile::ir::interpret::{Instance, Limits, Linked, Trapped};
use wave_compile::ir::{Constant, Exported, FunctionId, GlobalId, MemoryId, Module, Place, TableId, Trap};

/// The function of an export.
fn function(module: &Module, name: &str) -> FunctionId {
    let found = module.exports.iter().find(|(export, _)| export == name);
    match found {
        Some((_, Exported::Function(id))) => *id,
        _ => panic!("no function {name}"),
    }
}

fn instance(text: &str) -> Instance {
    Instance::new(Arc::new(module(text))).unwrap()
}

/// Calls an exported function.
fn call(instance: &Instance, name: &str, arguments: &[Constant]) -> Result<Vec<Constant>, Trap> {
    let limits = Limits { fuel: 100_000_000, ..Limits::default() };
    instance.call(function(instance.module(), name), arguments, &limits).map_err(|trapped| trapped.trap)
}

#[test]
fn loops_and_calls() {
    let instance = instance(
        r#"export "factorial" f0 export "fibonacci" f1
        function f0 (i64) -> (i64) {
        b0(v0: i64): v1: i64 = const.i64 1 jump b1(v0, v1)
        b1(v2: i64, v3: i64):
            v4: i64 = const.i64 0 v5: bool = eq v2, v4 branch v5, b3(v3), b2
        b2: v6: i64 = mul v3, v2 v7: i64 = const.i64 1 v8: i64 = sub v2, v7 jump b1(v8, v6)
        b3(v9: i64): return v9
        }
        function f1 (i32) -> (i32, i32) {
        b0(v0: i32): v1: i32 = const.i32 0 v2: bool = eq v0, v1 v3: i32 = const.i32 1 branch v2, b1, b2
        b1: return v1, v3
        b2: v4: i32 = sub v0, v3 v5: i32, v6: i32 = call f1(v4) v7: i32 = add v5, v6 return v6, v7
        }"#,
    );
    assert_eq!(call(&instance, "factorial", &[I64(20)]), Ok(vec![I64(2_432_902_008_176_640_000)]));
    assert_eq!(call(&instance, "fibonacci", &[I32(30)]), Ok(vec![I32(832_040), I32(1_346_269)]));
    assert_eq!(call(&instance, "fibonacci", &[I32(9_999)]).map(|results| results.len()), Ok(2));
    assert_eq!(call(&instance, "fibonacci", &[I32(10_000)]), Err(Trap::StackExhausted));
    assert_eq!(call(&instance, "fibonacci", &[I32(u32::MAX)]), Err(Trap::StackExhausted));
    let limits = Limits { depth: 3, ..Limits::default() };
    let trapped = instance.call(function(instance.module(), "fibonacci"), &[I32(3)], &limits);
    assert_eq!(trapped.map_err(|trapped| trapped.trap), Err(Trap::StackExhausted));
}

/// A jump gives all parameters their values at once.
#[test]
fn arguments_of_a_jump_are_read_before_parameters_are_written() {
    let instance = instance(
        r#"export "swap" f0 function f0 (i32, i32, i32) -> (i32, i32) {
        b0(v0: i32, v1: i32, v2: i32): jump b1(v0, v1, v2)
        b1(v3: i32, v4: i32, v5: i32):
            v6: i32 = const.i32 1 v7: i32 = sub v5, v6 v8: bool = ne v5, v6 branch v8, b1(v4, v3, v7), b2
        b2: return v3, v4
        }"#,
    );
    assert_eq!(call(&instance, "swap", &[I32(1), I32(2), I32(2)]), Ok(vec![I32(2), I32(1)]));
    assert_eq!(call(&instance, "swap", &[I32(1), I32(2), I32(3)]), Ok(vec![I32(1), I32(2)]));
}

#[test]
fn switches_take_unsigned_numbers() {
    let instance = instance(
        r#"export "f" f0 function f0 (i32) -> (i32) {
        b0(v0: i32): v1: i32 = const.i32 10 v2: i32 = const.i32 20 v3: i32 = const.i32 30 switch v0, [b1(v1), b1(v2), b1(v3)]
        b1(v4: i32): return v4
        }"#,
    );
    for (number, wanted) in [(0, 10), (1, 20), (2, 30), (3, 30), (u32::MAX, 30)] {
        assert_eq!(call(&instance, "f", &[I32(number)]), Ok(vec![I32(wanted)]));
    }
}

const MEMORY: &str = r#"memory mem0 device 1 to 3 memory mem1 device 1
    data data0 at mem0 8 "\ff\80\03\04\05\06\07\88" data data1 "abcd"
    export "load" f0 export "store" f1 export "grow" f2 export "bulk" f3 export "init" f4 export "atomic" f5
    export "cas" f6 export "size" f7 export "min" f8
    function f0 (i32) -> (i32, i32, i32, i64, i64, f32, i64) {
    b0(v0: i32): v1: i32 = load.i32.s8 mem0[v0] v2: i32 = load.i32.u8 mem0[v0] v3: i32 = load.i32.s16 mem0[v0]
        v4: i64 = load.i64.s16 mem0[v0] v5: i64 = load.i64.u32 mem0[v0 + 4] v6: f32 = load.f32 mem0[v0 + 4]
        v7: i64 = load.i64 mem0[v0] return v1, v2, v3, v4, v5, v6, v7
    }
    function f1 (i32, i64) -> () {
    b0(v0: i32, v1: i64): store.i64.u16 mem0[v0 + 1], v1 return
    }
    function f2 (i32) -> (i32, i32) { b0(v0: i32): v1: i32 = memory_grow mem0, v0 v2: i32 = memory_size mem0 return v1, v2 }
    function f3 (i32, i32, i32) -> () {
    b0(v0: i32, v1: i32, v2: i32): memory_copy mem0, mem0, v0, v1, v2 memory_fill mem1, v0, v1, v2 return
    }
    function f4 (i32, i32, i32, i32) -> () {
    b0(v0: i32, v1: i32, v2: i32, v3: i32): memory_init mem0, data1, v0, v1, v2 v4: i32 = const.i32 0 v5: bool = ne v3, v4
        branch v5, b1, b2
    b1: data_drop data1 return
    b2: return
    }
    function f5 (i32, i32) -> (i32) { b0(v0: i32, v1: i32): v2: i32 = atomic_add.i32.u16 device mem0[v0 + 2], v1 return v2 }
    function f6 (i32, i32, i32) -> (i32) {
    b0(v0: i32, v1: i32, v2: i32): v3: i32 = compare_exchange.i32.u8 device mem0[v0], v1, v2 return v3
    }
    function f7 () -> (i32) { b0: v0: i32 = memory_size mem1 return v0 }
    function f8 (i32, i32) -> (i32) { b0(v0: i32, v1: i32): v2: i32 = atomic_min.i32.u16 wave mem0[v0], v1 return v2 }"#;

#[test]
fn memory_is_little_endian_extends_and_has_bounds() {
    let instance = instance(MEMORY);
    let memory = instance.memory(MemoryId::from_u32(0));
    let wanted = vec![
        I32(u32::MAX),
        I32(0xFF),
        I32(0xFFFF_80FF),
        I64(0xFFFF_FFFF_FFFF_80FF),
        I64(0x8807_0605),
        F32(0x8807_0605),
        I64(0x8807_0605_0403_80FF),
    ];
    assert_eq!(call(&instance, "load", &[I32(8)]), Ok(wanted));
    assert!(call(&instance, "load", &[I32(65528)]).is_ok());
    for address in [65529, 65536, u32::MAX] {
        assert_eq!(call(&instance, "load", &[I32(address)]), Err(Trap::MemoryOutOfBounds));
    }
    assert_eq!(call(&instance, "store", &[I32(99), I64(0x1122_3344)]), Ok(vec![]));
    assert_eq!(memory.read(99, 4), Ok(vec![0, 0x44, 0x33, 0]));
    // The offset does not wrap, and an access that is partly outside writes nothing.
    for address in [65534, 65535, u32::MAX] {
        assert_eq!(call(&instance, "store", &[I32(address), I64(u64::MAX)]), Err(Trap::MemoryOutOfBounds));
    }
    assert_eq!(memory.read(65535, 1), Ok(vec![0]));
    assert_eq!(memory.read(65535, 2), Err(Trap::MemoryOutOfBounds));
    assert_eq!(memory.read(u64::MAX, 2), Err(Trap::MemoryOutOfBounds));
}

#[test]
fn memory_grows_up_to_its_limit() {
    let instance = instance(MEMORY);
    for (pages, before, after) in
        [(0, 1, 1), (1, 1, 2), (2, u32::MAX, 2), (u32::MAX, u32::MAX, 2), (1, 2, 3), (1, u32::MAX, 3)]
    {
        assert_eq!(call(&instance, "grow", &[I32(pages)]), Ok(vec![I32(before), I32(after)]));
    }
    let wanted = vec![0xFF, 0x80];
    assert_eq!(instance.memory(MemoryId::from_u32(0)).read(8, 2), Ok(wanted));
    assert_eq!(call(&instance, "size", &[]), Ok(vec![I32(1)]));
}

#[test]
fn bulk_operations() {
    let instance = instance(MEMORY);
    let [first, second] = [0, 1].map(|number| instance.memory(MemoryId::from_u32(number)));
    // Overlapping: as if by a buffer between.
    assert_eq!(call(&instance, "bulk", &[I32(9), I32(8), I32(4)]), Ok(vec![]));
    assert_eq!(first.read(8, 6), Ok(vec![0xFF, 0xFF, 0x80, 3, 4, 6]));
    assert_eq!(second.read(8, 6), Ok(vec![0, 8, 8, 8, 8, 0]));
    assert_eq!(call(&instance, "bulk", &[I32(65536), I32(0), I32(0)]), Ok(vec![]));
    assert_eq!(call(&instance, "bulk", &[I32(65537), I32(0), I32(0)]), Err(Trap::MemoryOutOfBounds));
    assert_eq!(call(&instance, "bulk", &[I32(0), I32(65530), I32(7)]), Err(Trap::MemoryOutOfBounds));
    assert_eq!(call(&instance, "init", &[I32(0), I32(1), I32(3), I32(1)]), Ok(vec![]));
    assert_eq!(first.read(0, 4), Ok(b"bcd\0".to_vec()));
    // The segment is empty now.
    assert_eq!(call(&instance, "init", &[I32(0), I32(0), I32(1), I32(0)]), Err(Trap::MemoryOutOfBounds));
    assert_eq!(call(&instance, "init", &[I32(0), I32(0), I32(0), I32(0)]), Ok(vec![]));
}

#[test]
fn atomics_give_the_old_value_and_are_aligned() {
    let instance = instance(MEMORY);
    let memory = instance.memory(MemoryId::from_u32(0));
    assert_eq!(call(&instance, "atomic", &[I32(6), I32(0x1_FFFF)]), Ok(vec![I32(0x80FF)]));
    assert_eq!(memory.read(8, 3), Ok(vec![0xFE, 0x80, 3]));
    assert_eq!(call(&instance, "atomic", &[I32(7), I32(1)]), Err(Trap::Misaligned));
    assert_eq!(call(&instance, "atomic", &[I32(65534), I32(1)]), Err(Trap::MemoryOutOfBounds));
    assert_eq!(call(&instance, "cas", &[I32(8), I32(0xFE), I32(0x107)]), Ok(vec![I32(0xFE)]));
    assert_eq!(memory.read(8, 2), Ok(vec![7, 0x80]));
    // Only the bytes that memory holds count of an operand; minima are unsigned.
    assert_eq!(call(&instance, "min", &[I32(8), I32(0x1_0007)]), Ok(vec![I32(0x8007)]));
    assert_eq!(call(&instance, "min", &[I32(8), I32(0xFFFF)]), Ok(vec![I32(7)]));
    assert_eq!(memory.read(8, 2), Ok(vec![7, 0]));
    // The expected value is compared whole.
    assert_eq!(call(&instance, "cas", &[I32(8), I32(0x107), I32(1)]), Ok(vec![I32(7)]));
    assert_eq!(memory.read(8, 1), Ok(vec![7]));
}

const TABLES: &str = r#"signature sig0 () -> (i32) signature sig1 (i32) -> ()
    table tab0 6 global g0 mutable i32 0 global g1 mutable i32 100
    elements elem0 at tab0 1 [f0, null, f1] elements elem1 [f2, f0]
    export "call" f3 export "copy" f4 export "init" f5 start f6
    function f0 () -> (i32) { b0: v0: i32 = const.i32 7 return v0 }
    function f1 (i32) -> () { b0(v0: i32): return }
    function f2 () -> (i32) {
    b0: v0: i32 = global_get g0 v1: i32 = const.i32 1 v2: i32 = add v0, v1 global_set g0, v2 return v2
    }
    function f3 (i32) -> (i32) { b0(v0: i32): v1: i32 = call_indirect tab0[v0] sig0() return v1 }
    function f4 (i32, i32, i32) -> () { b0(v0: i32, v1: i32, v2: i32): table_copy tab0, tab0, v0, v1, v2 return }
    function f5 (i32, i32, i32) -> () {
    b0(v0: i32, v1: i32, v2: i32): table_init tab0, elem1, v0, v1, v2 elements_drop elem1 return
    }
    function f6 () -> () { b0: v0: i32 = const.i32 40 global_set g0, v0 return }"#;

#[test]
fn tables_and_indirect_calls() {
    let instance = instance(TABLES);
    let at = |place| call(&instance, "call", &[I32(place)]);
    assert_eq!(at(1), Ok(vec![I32(7)]));
    assert_eq!(at(0), Err(Trap::UninitialisedElement));
    assert_eq!(at(2), Err(Trap::UninitialisedElement));
    assert_eq!(at(3), Err(Trap::SignatureMismatch));
    assert_eq!(at(5), Err(Trap::UninitialisedElement));
    assert_eq!(at(6), Err(Trap::UndefinedElement));
    assert_eq!(at(u32::MAX), Err(Trap::UndefinedElement));
    assert_eq!(call(&instance, "copy", &[I32(2), I32(1), I32(3)]), Ok(vec![]));
    assert_eq!([at(1), at(2), at(4)], [Ok(vec![I32(7)]), Ok(vec![I32(7)]), Err(Trap::SignatureMismatch)]);
    assert_eq!(at(3), Err(Trap::UninitialisedElement));
    assert_eq!(call(&instance, "copy", &[I32(4), I32(0), I32(3)]), Err(Trap::TableOutOfBounds));
    assert_eq!(call(&instance, "init", &[I32(5), I32(0), I32(2)]), Err(Trap::TableOutOfBounds));
    assert_eq!(call(&instance, "init", &[I32(5), I32(0), I32(1)]), Ok(vec![]));
    // The start has set the variable.
    assert_eq!([at(5), at(5)], [Ok(vec![I32(41)]), Ok(vec![I32(42)])]);
    assert_eq!(instance.global(GlobalId::from_u32(0)).get(), I32(42));
    assert_eq!(call(&instance, "init", &[I32(0), I32(0), I32(1)]), Err(Trap::TableOutOfBounds));
    // Places that nothing fills cost nothing.
    let large = module("table tab0 4294967295 elements elem0 at tab0 4294967295 []");
    assert_eq!(
        Instance::new(Arc::new(large)).map(|instance| instance.table(TableId::from_u32(0)).places()),
        Ok(4_294_967_295)
    );
}

/// Memory, table, variable and functions of one instance in another.
#[test]
fn instances_share() {
    let one = instance(TABLES);
    let other = module(
        r#"signature sig0 () -> (i32) table tab0 1 global g0 mutable i32 0 global g1 mutable i32 5 memory mem0 device 1
        elements elem0 at tab0 4 [f2, f1] export "run" f0
        function f0 () -> (i32, i32) {
        b0: v0: i32 = call f1() v1: i32 = const.i32 4 v2: i32 = call_indirect tab0[v1] sig0() return v0, v2
        }
        function f1 () -> (i32) { b0: trap "unreachable" }
        function f2 () -> (i32) { b0: v0: i32 = global_get g1 return v0 }"#,
    );
    let global = one.global(GlobalId::from_u32(0));
    let linked = Linked {
        tables: vec![(TableId::from_u32(0), one.table(TableId::from_u32(0)).clone())],
        globals: vec![(GlobalId::from_u32(0), global.clone())],
        functions: vec![(FunctionId::from_u32(1), one.clone(), FunctionId::from_u32(2))],
        ..Linked::default()
    };
    let other = Instance::linked(Arc::new(other), linked, &Limits::default()).unwrap();
    assert_eq!(call(&other, "run", &[]), Ok(vec![I32(41), I32(5)]));
    assert_eq!(global.get(), I32(41));
    other.global(GlobalId::from_u32(0)).set(I32(9));
    // Its functions are now those of the table, each with the variables of its own instance.
    assert_eq!(call(&one, "call", &[I32(4)]), Ok(vec![I32(5)]));
    assert_eq!(call(&one, "call", &[I32(5)]), Ok(vec![I32(10)]));
    drop(other);
    assert_eq!(call(&one, "call", &[I32(4)]), Err(Trap::UninitialisedElement));
    assert_eq!(call(&one, "call", &[I32(5)]), Ok(vec![I32(11)]));
}

#[test]
fn traps_say_where() {
    let divides = Arc::new(module(
        r#"export "f" f0 start f1
        function f0 (i32, i32) -> (i32) {
        b0(v0: i32, v1: i32): v2: i32 = clz v0 @10
            v3: i32 = div_s v0, v1 @20
            return v3 @30
        }
        function f1 () -> () { b0: return }"#,
    ));
    let instance = Instance::new(Arc::clone(&divides)).unwrap();
    let function = FunctionId::from_u32(0);
    let run =
        |fuel, b| instance.call(function, &[I32(1 << 31), I32(b)], &Limits { fuel, ..Limits::default() });
    let trapped = |trap, place| Err(Trapped { trap, function: Some(function), place: Place(place) });
    assert_eq!(run(3, 0), trapped(Trap::DivideByZero, 20));
    assert_eq!(run(3, u32::MAX), trapped(Trap::IntegerOverflow, 20));
    assert_eq!(run(3, 1), Ok(vec![I32(1 << 31)]));
    assert_eq!(run(2, 1), trapped(Trap::OutOfFuel, 30));
    assert_eq!(run(0, 1), trapped(Trap::OutOfFuel, 10));
    assert_eq!(run(3, 0).unwrap_err().to_string(), "integer divide by zero in f0 at @20");
    for (text, trap) in [
        ("memory mem0 device 1 data data0 at mem0 65535 \"ab\"", Trap::MemoryOutOfBounds),
        ("memory mem0 device 0 data data0 at mem0 1", Trap::MemoryOutOfBounds),
        ("table tab0 1 elements elem0 at tab0 1 [null]", Trap::TableOutOfBounds),
    ] {
        let error = Instance::new(Arc::new(module(text))).map(drop).unwrap_err();
        assert_eq!((error.trap, error.function), (trap, None), "{text}");
    }
}

/// A thread alone is a workgroup of one thread.
#[test]
fn a_thread_alone() {
    let instance = instance(
        r#"export "f" f0 function f0 (i32) -> (i32, i32, i64, i32, i32) {
        b0(v0: i32): v1: i32 = special sr_wave_width barrier v2: i32 = reduce_add(v0) v3: bool = ne v0, v1
            v4: i64 = ballot(v3) v5: i32 = shuffle(v0, v1) v6: i32 = prefix_sum(v0) fence acquire device
            return v1, v2, v4, v5, v6
        }"#,
    );
    assert_eq!(call(&instance, "f", &[I32(5)]), Ok(vec![I32(1), I32(5), I64(1), I32(0), I32(0)]));
}

/// A loop of eight operations. `cargo test -p wave-compile --test ir speed -- --ignored --nocapture`
#[test]
#[ignore = "measures"]
fn speed() {
    let instance = instance(
        r#"memory mem0 device 1 export "f" f0 function f0 (i32) -> (i32) {
        b0(v0: i32): v1: i32 = const.i32 0 jump b1(v0, v1)
        b1(v2: i32, v3: i32): v4: i32 = const.i32 1 v5: i32 = sub v2, v4 v6: i32 = const.i32 1023 v7: i32 = and v2, v6
            store.i32 mem0[v7], v3 v8: i32 = load.i32 mem0[v7] v9: i32 = add v8, v5 v10: bool = ne v5, v1
            branch v10, b1(v5, v9), b2
        b2: return v3
        }"#,
    );
    let rounds = 2_000_000;
    let start = Instant::now();
    call(&instance, "f", &[I32(rounds)]).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    println!("{:.1} million operations a second", f64::from(rounds) * 9.0 / seconds / 1e6);
}

/// Private memory is zeros for each thread of a workgroup, and an exit ends a thread inside a function too.
#[test]
fn private_memory_and_exits() {
    let module = module(
        "memory mem0 private 1
memory mem1 device 1
function f0 (i32) -> (i32) {
b0(v0: i32):
    call f1(v0)
    v1: i32 = load.i32 mem0[v0]
    return v1
}
function f1 (i32) -> () {
b0(v0: i32):
    v1: i32 = load.i32 mem0[v0 + 4]
    v2: i32 = const.i32 7
    v3: i32 = add v1, v2
    store.i32 mem0[v0 + 4], v3
    store.i32 mem1[v0], v3
    v4: i32 = const.i32 4
    v5: bool = ge_u v0, v4
    branch v5, b1, b2
b1:
    exit
b2:
    return
}",
    );
    let instance = Instance::new(Arc::new(module)).unwrap();
    let call =
        |argument| instance.call(FunctionId::from_u32(0), &[Constant::I32(argument)], &Limits::default());
    assert_eq!(call(0), Ok(vec![Constant::I32(0)]));
    assert_eq!(call(0), Ok(vec![Constant::I32(0)]));
    assert_eq!(instance.memory(MemoryId::from_u32(1)).read(0, 4).unwrap(), [14, 0, 0, 0]);
    assert_eq!(call(4), Ok(Vec::new()));
}

/// References are numbers of functions that the module names; a table grows up to its limit.
#[test]
fn tables_hold_references_and_grow() {
    let instance = instance(
        r#"table tab0 1 to 3 elements elem0 [f0] signature sig0 () -> (i32)
        export "get" f1 export "set" f2 export "grow" f3 export "fill" f4 export "call" f5
        function f0 () -> (i32) { b0: v0: i32 = const.i32 7 return v0 }
        function f1 (i32) -> (i32) { b0(v0: i32): v1: i32 = table_get tab0, v0 return v1 }
        function f2 (i32, i32) -> () { b0(v0: i32, v1: i32): table_set tab0, v0, v1 return }
        function f3 (i32, i32) -> (i32, i32) {
        b0(v0: i32, v1: i32): v2: i32 = table_grow tab0, v0, v1 v3: i32 = table_size tab0 return v2, v3
        }
        function f4 (i32, i32, i32) -> () { b0(v0: i32, v1: i32, v2: i32): table_fill tab0, v0, v1, v2 return }
        function f5 (i32) -> (i32) { b0(v0: i32): v1: i32 = call_indirect tab0[v0] sig0() return v1 }"#,
    );
    let null = I32(u32::MAX);
    assert_eq!(call(&instance, "get", &[I32(0)]), Ok(vec![null]));
    assert_eq!(call(&instance, "get", &[I32(1)]), Err(Trap::TableOutOfBounds));
    assert_eq!(call(&instance, "grow", &[I32(0), I32(1)]), Ok(vec![I32(1), I32(2)]));
    assert_eq!(call(&instance, "get", &[I32(1)]), Ok(vec![I32(0)]));
    assert_eq!(call(&instance, "call", &[I32(1)]), Ok(vec![I32(7)]));
    assert_eq!(call(&instance, "call", &[I32(0)]), Err(Trap::UninitialisedElement));
    assert_eq!(call(&instance, "grow", &[null, I32(2)]), Ok(vec![null, I32(2)]));
    assert_eq!(call(&instance, "grow", &[null, I32(1)]), Ok(vec![I32(2), I32(3)]));
    assert_eq!(call(&instance, "grow", &[null, I32(u32::MAX)]), Ok(vec![null, I32(3)]));
    assert_eq!(call(&instance, "fill", &[I32(1), I32(0), I32(2)]), Ok(vec![]));
    assert_eq!(call(&instance, "call", &[I32(2)]), Ok(vec![I32(7)]));
    assert_eq!(call(&instance, "fill", &[I32(2), null, I32(2)]), Err(Trap::TableOutOfBounds));
    assert_eq!(call(&instance, "set", &[I32(2), null]), Ok(vec![]));
    assert_eq!(call(&instance, "get", &[I32(2)]), Ok(vec![null]));
    // Function 1 is there, but nothing refers to it; 99 is not.
    for reference in [1, 99] {
        assert_eq!(call(&instance, "set", &[I32(0), I32(reference)]), Err(Trap::UndefinedElement));
        assert_eq!(call(&instance, "grow", &[I32(reference), I32(0)]), Err(Trap::UndefinedElement));
    }
}
