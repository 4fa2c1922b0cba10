//! Recursion and indirect calls, in the interpreter and on the machine.

use crate::machine::{Size, compiled, execute, interpret, listing, preset};
use wave_compile::ir::{Constant, Module, Trap, text};
use wave_compile::lower::Inline;
use wave_compile::{Options, compile};

/// Threads give `f1` their number and store its result.
const KERNEL: &str = "memory mem0 device 1
signature sig0 (i32) -> (i32)
function f0 \"kernel\" (i32) -> () {
b0(limit: i32):
    lane: i32 = special sr_thread_id_x
    group: i32 = special sr_workgroup_id_x
    size: i32 = special sr_workgroup_size_x
    first: i32 = mul group, size
    thread: i32 = add first, lane
    start: i32 = rem_u thread, limit
    result: i32 = call f1(start)
    two: i32 = const.i32 2
    place: i32 = shl thread, two
    store.i32 mem0[place], result
    return
}
";

/// Fibonacci numbers.
const FIBONACCI: &str = "function f1 (i32) -> (i32) {
b0(n: i32):
    two: i32 = const.i32 2
    small: bool = lt_u n, two
    branch small, b1, b2
b1:
    return n
b2:
    one: i32 = const.i32 1
    before: i32 = sub n, one
    a: i32 = call f1(before)
    before.2: i32 = sub n, two
    b: i32 = call f1(before.2)
    sum: i32 = add a, b
    return sum
}
";

/// A call in a loop: the place behind it is inside.
const TREE: &str = "function f1 (i32) -> (i32) {
b0(n: i32):
    zero: i32 = const.i32 0
    jump b1(zero, n)
b1(i: i32, sum: i32):
    done: bool = ge_u i, n
    branch done, b4, b2
b2:
    one: i32 = const.i32 1
    next: i32 = add i, one
    odd: i32 = and i, one
    is.odd: bool = ne odd, zero
    branch is.odd, b1(next, sum), b3
b3:
    below: i32 = call f1(i)
    factor: i32 = const.i32 31
    product: i32 = mul sum, factor
    more: i32 = add product, below
    jump b1(next, more)
b4:
    return sum
}
";

/// Two functions with arguments and results of all types.
const MUTUAL: &str = "function f1 (i32) -> (i32) {
b0(n: i32):
    wide: i64 = i64_extend_u n
    float: f32 = f32_convert_u n
    yes: bool = eq n, n
    flag: bool, sum: i64, product: f32 = call f2(yes, n, wide, float)
    low: i32 = i32_wrap sum
    whole: i32 = i32_trunc_sat_s product
    bit: i32 = i32_bool flag
    all: i32 = add low, whole
    all.2: i32 = xor all, bit
    return all.2
}
function f2 (bool, i32, i64, f32) -> (bool, i64, f32) {
b0(flag: bool, n: i32, wide: i64, float: f32):
    zero: i32 = const.i32 0
    end: bool = eq n, zero
    branch end, b1, b2
b1:
    return flag, wide, float
b2:
    one: i32 = const.i32 1
    less: i32 = sub n, one
    other: bool = not flag
    product: f32, sum: i64 = call f3(float, wide, less, other)
    factor: i64 = const.i64 4294967311
    sum.2: i64 = mul sum, factor
    product.2: f32 = fadd product, float
    return other, sum.2, product.2
}
function f3 (f32, i64, i32, bool) -> (f32, i64) {
b0(float: f32, wide: i64, n: i32, flag: bool):
    half: f32 = const.f32 1.5
    more: f32 = fmul float, half
    again: bool, sum: i64, product: f32 = call f2(flag, n, wide, more)
    bit: i32 = i32_bool again
    bits: i64 = i64_extend_u bit
    sum.2: i64 = add sum, bits
    both: i64 = add sum.2, wide
    return product, both
}
";

fn read(texts: &[&str]) -> Module {
    let text = texts.concat();
    let module = text::parse(&text, "calls").unwrap_or_else(|error| panic!("{}", error.render(false)));
    wave_compile::ir::verify::verify(&module).unwrap_or_else(|error| panic!("{error:?}"));
    module
}

const NO_INLINE: Inline = Inline { all: 0, small: 0, single: false };

/// Runs on machines of several widths, and with few registers.
fn hold(module: &Module, limit: u32, size: Size) {
    for (machine, registers, inline) in
        [("tiny", 256, NO_INLINE), ("gpu", 256, Inline::default()), ("mi300x", 20, NO_INLINE)]
    {
        let config = preset(machine);
        let options = Options { registers, inline, frame_bytes: 4096, ..Options::default() };
        let compiled = compiled(module, &config, &options).unwrap_or_else(|error| panic!("{error}"));
        let arguments = [Constant::I32(limit)];
        let expected = interpret(module, &arguments, size, config.core.wave_width).expect("it ends");
        let found = execute(module, &compiled, &arguments, size, &config);
        assert_eq!(expected.0, found.0, "on {machine}\n{}", listing(&compiled));
        assert!(expected.1 == found.1, "on {machine}: memory differs\n{}", listing(&compiled));
    }
}

const SIZE: Size = Size { workgroups: 2, threads: 40 };

#[test]
fn recursion() {
    hold(&read(&[KERNEL, FIBONACCI]), 11, SIZE);
    hold(&read(&[KERNEL, TREE]), 9, SIZE);
    hold(&read(&[KERNEL, MUTUAL]), 13, SIZE);
}

#[test]
fn recursion_without_an_end_is_a_trap() {
    let endless = "function f1 (i32) -> (i32) {\nb0(n: i32):\n    n.2: i32 = call f1(n)\n    sum: i32 = add n, n.2\n    \
                   return sum\n}\n";
    let module = read(&[KERNEL, endless]);
    let config = preset("gpu");
    let compiled = compiled(&module, &config, &Options::default()).expect("it is supported");
    let found = execute(&module, &compiled, &[Constant::I32(7)], SIZE, &config);
    assert_eq!(found.0, Some(Trap::StackExhausted));
    // A frame is the argument and a state, 8 bytes; the first has a state only.
    let fits = |frame_bytes: u32| {
        let deep = "function f1 (i32) -> (i32) {\nb0(n: i32):\n    zero: i32 = const.i32 0\n    end: bool = eq n, zero\n    \
                    branch end, b1, b2\nb1:\n    return n\nb2:\n    one: i32 = const.i32 1\n    less: i32 = sub n, one\n    \
                    below: i32 = call f1(less)\n    sum: i32 = add below, n\n    return sum\n}\n";
        let module = read(&[KERNEL, deep]);
        let options = Options { frame_bytes, ..Options::default() };
        let compiled =
            compile(&module, cranelift_entity::EntityRef::new(0), &options).expect("it is supported");
        let size = Size { workgroups: 1, threads: 8 };
        execute(&module, &compiled, &[Constant::I32(8)], size, &config).0
    };
    assert_eq!([fits(64), fits(48)], [None, Some(Trap::StackExhausted)]);
}

#[test]
fn indirect_calls() {
    let table = "table tab0 6
elements elem0 at tab0 0 [f2, f3, null, f4]
function f1 (i32) -> (i32) {
b0(n: i32):
    factor: i32 = const.i32 3
    argument: i32 = mul n, factor
    result: i32 = call_indirect tab0[n] sig0(argument)
    sum: i32 = add result, n
    return sum
}
function f2 (i32) -> (i32) {
b0(n: i32):
    a: i32 = const.i32 100
    b: i32 = add n, a
    return b
}
function f3 (i32) -> (i32) {
b0(n: i32):
    a: i32 = const.i32 1000
    b: i32 = sub n, a
    return b
}
function f4 (f32) -> (i32) {
b0(n: f32):
    a: i32 = reinterpret n
    return a
}
";
    let module = read(&[KERNEL, table]);
    hold(&module, 2, SIZE);
    let config = preset("gpu");
    let compiled = compiled(&module, &config, &Options::default()).expect("it is supported");
    for (threads, trap) in [
        (2, None),
        (3, Some(Trap::UninitialisedElement)),
        // The end of the table is looked at first.
        (7, Some(Trap::UndefinedElement)),
    ] {
        let size = Size { workgroups: 1, threads };
        assert_eq!(execute(&module, &compiled, &[Constant::I32(99)], size, &config).0, trap);
    }
    for (place, trap) in [
        (2, Trap::UninitialisedElement),
        (3, Trap::SignatureMismatch),
        (4, Trap::UninitialisedElement),
        (5, Trap::UninitialisedElement),
        (6, Trap::UndefinedElement),
        (u32::MAX, Trap::UndefinedElement),
    ] {
        // The kernel calls with this place.
        let first = format!("start: i32 = const.i32 {}", place as i32);
        let kernel = KERNEL.replace("start: i32 = rem_u thread, limit", &first);
        let module = read(&[&kernel, table]);
        let config = preset("tiny");
        let compiled = self::compiled(&module, &config, &Options::default()).expect("it is supported");
        let found = execute(&module, &compiled, &[Constant::I32(1)], SIZE, &config);
        assert_eq!(found.0, Some(trap), "place {place}");
    }
}
