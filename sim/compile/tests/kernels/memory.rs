//! Operations on memory in bulk, and atomic accesses of 8 and 16 bits, written by hand.

use crate::machine::{Size, compiled, execute, interpret, listing, preset};
use crate::random::SEGMENT;
use wave_compile::Options;
use wave_compile::ir::{Constant, Module, Trap, text};

fn read(text: &str) -> Module {
    let module = text::parse(text, "test").unwrap_or_else(|error| panic!("{}", error.render(false)));
    wave_compile::ir::verify::verify(&module).unwrap_or_else(|error| panic!("{error}\n{text}"));
    module
}

/// Runs a kernel on two machines and in the interpreter; gives the trap and memory.
fn hold(text: &str, arguments: &[u32], size: Size) -> (Option<Trap>, Vec<u8>) {
    let module = read(text);
    let arguments: Vec<Constant> = arguments.iter().map(|&word| Constant::I32(word)).collect();
    let mut last = None;
    for machine in ["tiny", "gpu"] {
        let config = preset(machine);
        let expected = interpret(&module, &arguments, size, config.core.wave_width).expect("it ends");
        let compiled =
            compiled(&module, &config, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        let found = execute(&module, &compiled, &arguments, size, &config);
        assert_eq!(expected.0, found.0, "{arguments:?} on {machine}\n{}", listing(&compiled));
        let differs = (0..expected.1.len()).find(|&place| expected.1[place] != found.1[place]);
        assert_eq!(differs, None, "{arguments:?} on {machine}\n{}", listing(&compiled));
        last = Some(found);
    }
    last.expect("there are machines")
}

/// The number of the thread in its workgroup, and a region of 64 bytes of its own.
const THREAD: &str = "    thread: i32 = special sr_thread_id_x
    c.64: i32 = const.i32 64
    region: i32 = mul thread, c.64
    c.3: i32 = const.i32 3
    c.2: i32 = const.i32 2
    c.4: i32 = const.i32 4
    x: i32 = and thread, c.3
    rest: i32 = shr_u thread, c.2
    y: i32 = and rest, c.3
    length: i32 = shr_u rest, c.2\n";

/// Threads for all places of two ends in their words and 16 lengths.
const ALL: Size = Size { workgroups: 1, threads: 256 };

#[test]
fn fills_of_all_lengths_and_places() {
    for (memory, threads) in [("mem0", 256), ("mem1", 60)] {
        let text = format!(
            "memory mem0 device 1\nmemory mem1 local 1\nfunction f0 \"kernel\" () -> () {{\nb0:\n{THREAD}    to: i32 = add region, x
    byte: i32 = add thread, c.64
    memory_fill {memory}, to, byte, length
    memory_copy mem0, {memory}, region, region, length
    return\n}}\n"
        );
        hold(&text, &[], Size { threads, ..ALL });
    }
}

#[test]
fn copies_of_all_lengths_and_places() {
    // Words that differ from thread to thread; then one range over the other, from below and from above.
    let text = format!(
        "memory mem0 device 1\nfunction f0 \"kernel\" (i32) -> () {{\nb0(apart: i32):\n{THREAD}    odd: i32 = const.i32 0x9E3779B9
    zero: i32 = const.i32 0
    jump b1(zero, thread)
b1(i: i32, number: i32):
    more: bool = lt_u i, c.64
    branch more, b2, b3
b2:
    number.1: i32 = mul number, odd
    number.2: i32 = add number.1, i
    at: i32 = add region, i
    store.i32 mem0[at], number.2
    i.1: i32 = add i, c.4
    jump b1(i.1, number.2)
b3:
    low: i32 = add region, x
    high: i32 = add low, apart
    high.1: i32 = add high, y
    memory_copy mem0, mem0, high.1, low, length
    memory_copy mem0, mem0, low, high.1, length
    return\n}}\n"
    );
    for apart in [0, 1, 4, 8, 20, 40] {
        hold(&text, &[apart], ALL);
    }
}

#[test]
fn ranges_out_of_bounds_trap_and_leave_memory_as_it_is() {
    let one = Size { workgroups: 1, threads: 1 };
    let text = |operation: &str| {
        format!(
            "memory mem0 device 3\nmemory mem1 local 1\ndata data0 at mem0 5 \"some bytes\"\ndata data1 \"0123456789abcdef\"
data data2 at mem0 {SEGMENT} \"0123456789abcdef\"
function f0 \"kernel\" (i32, i32, i32) -> () {{\nb0(to: i32, from: i32, length: i32):\n    {operation}\n    return\n}}\n"
        )
    };
    let end = 3 << 16;
    let mut traps = 0;
    for (to, from, length) in [
        (8, 5, 10),
        (end - 4, 5, 4),
        (end - 4, 5, 5),
        (end, 5, 1),
        (5, end - 3, 3),
        (5, end - 3, 4),
        (u32::MAX, 5, 1),
        (u32::MAX, 5, 2),
        (5, 5, u32::MAX),
        (5, u32::MAX, 7),
        (0, 0, 0),
        (7, 0, 16),
        (7, 1, 16),
        (7, 16, 0),
    ] {
        for operation in [
            "memory_fill mem0, to, from, length",
            "memory_copy mem0, mem0, to, from, length",
            "memory_copy mem1, mem0, to, from, length",
            "memory_init mem0, data1, to, from, length",
            "memory_init mem0, data0, to, from, length",
        ] {
            // Local memory of the test has fewer bytes on the machine.
            if operation.contains("mem1, mem0") && (4096..1 << 16).contains(&to) {
                continue;
            }
            let (trap, _) = hold(&text(operation), &[to, from, length], one);
            assert!(trap.is_none() || trap == Some(Trap::MemoryOutOfBounds), "{trap:?}");
            traps += u32::from(trap.is_some());
        }
    }
    assert!(traps > 20, "{traps}");
}

#[test]
fn segments_that_were_dropped_are_empty() {
    let text = format!(
        "memory mem0 device 3\ndata data0 at mem0 5 \"some bytes\"\ndata data1 \"0123456789abcdef\"
data data2 at mem0 {SEGMENT} \"0123456789abcdef\"
function f0 \"kernel\" (i32) -> () {{\nb0(dropped: i32):
    c.0: i32 = const.i32 0\n    c.4: i32 = const.i32 4\n    c.100: i32 = const.i32 100
    memory_init mem0, data1, c.100, c.4, c.4
    is: bool = ne dropped, c.0
    branch is, b1, b2
b1:
    data_drop data1
    jump b2
b2:
    memory_init mem0, data1, c.0, c.0, dropped
    memory_init mem0, data1, c.4, c.0, c.0
    return\n}}\n"
    );
    let one = Size { workgroups: 1, threads: 1 };
    let (trap, memory) = hold(&text, &[0], one);
    assert_eq!((trap, &memory[100..104]), (None, &b"4567"[..]));
    assert_eq!(hold(&text, &[3], one).0, Some(Trap::MemoryOutOfBounds));
}

#[test]
fn narrow_atomics_of_many_threads() {
    for bits in [8, 16] {
        for (operation, ty) in [
            ("atomic_add", "i32"),
            ("atomic_sub", "i64"),
            ("atomic_xor", "i32"),
            ("atomic_or", "i64"),
            ("atomic_and", "i32"),
            ("atomic_min", "i64"),
            ("atomic_max", "i32"),
        ] {
            // All threads at few bytes of some words; the old values differ from run to run and are not looked at.
            let wide = if ty == "i64" { "i64_extend_s" } else { "i32_bool" };
            let operand = if ty == "i64" {
                format!("    operand: i64 = {wide} factor\n")
            } else {
                "    operand: i32 = add factor, c.3\n".to_owned()
            };
            let text = format!(
                "memory mem0 device 1\ndata data0 at mem0 0 \"abcdefghijklmnop\"\nfunction f0 \"kernel\" () -> () {{\nb0:\n{THREAD}    at: i32 = mul x, c.2
    c.odd: i32 = const.i32 0x9E3779B1
    factor: i32 = mul thread, c.odd
{operand}    old: {ty} = {operation}.{ty}.u{bits} device mem0[at + 2], operand
    return\n}}\n"
            );
            hold(&text, &[], Size { workgroups: 2, threads: 64 });
        }
    }
}

#[test]
fn narrow_atomics_of_one_thread() {
    let one = Size { workgroups: 1, threads: 1 };
    for (ty, bits) in [("i32", 8), ("i32", 16), ("i64", 8), ("i64", 16)] {
        for operation in ["atomic_exchange", "atomic_add", "atomic_sub", "compare_exchange"] {
            let operands = if operation == "compare_exchange" { "first, second" } else { "second" };
            let extend = |name: &str, from: &str| match ty {
                "i64" => format!("    {name}: i64 = i64_extend_s {from}\n"),
                _ => format!("    {name}: i32 = or {from}, zero\n"),
            };
            let text = format!(
                "memory mem0 device 1\ndata data0 at mem0 0 \"abcdefghijklmnop\\ff\\fe\\fd\\80\"
function f0 \"kernel\" (i32, i32, i32) -> () {{\nb0(at: i32, a: i32, b: i32):\n    zero: i32 = const.i32 0
{}{}    old: {ty} = {operation}.{ty}.u{bits} device mem0[at + 1], {operands}
    store.{ty} mem0[zero + 64], old
    return\n}}\n",
                extend("first", "a"),
                extend("second", "b"),
            );
            for at in [0, 1, 2, 3, 15, 17, 0xFFFD, 0xFFFE] {
                for (a, b) in
                    [(u32::from(b'b'), 0x1234), (0xFD, u32::MAX), (0x80FD, 7), (u32::MAX, 9), (0x6463, 3)]
                {
                    hold(&text, &[at, a, b], one);
                }
            }
        }
    }
}
