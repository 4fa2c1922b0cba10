//! Constants, variables, memory, global variables and calls.

use super::{Cases, add, module, trace, traced};
use crate::encoder::{
    Function, Module, Segment, call, call_indirect, f32, get, i32, i64, load, node, nop, op, set, store,
};
use wave_compile::ir::{Constant, Type};

pub(super) fn values(cases: &mut Cases) {
    let (a, b) = (|| get(0), || get(1));
    for value in [-128, 127, -1, 128, -129, i32::MIN, i32::MAX] {
        cases.i32(&format!("constant: {value}"), &[i32(value)]);
    }
    for (name, constant) in [
        ("i64", Constant::I64(0xfedc_ba98_7654_3210)),
        ("f32", Constant::F32(0x3eaa_aaab)),
        ("f64", Constant::F64(0x3fd5_5555_5555_5555)),
        ("f32 infinity", Constant::F32(0xff80_0000)),
        ("f64 denormal", Constant::F64(1)),
    ] {
        let name = format!("constant: {name}");
        cases.with(&name, module(), Some(constant.ty()), vec![crate::encoder::constant(constant)]);
    }
    for (local, ty) in
        [(2, Type::I32), (3, Type::I32), (4, Type::I64), (5, Type::I64), (6, Type::F32), (9, Type::F64)]
    {
        cases.with(&format!("local {local}: zero at entry"), module(), Some(ty), vec![get(local)]);
    }
    cases.i32("set_local: its value", &[add(set(2, a()), set(2, b()))]);
    cases.i32("set_local: order", &[add(get(0), set(0, b()))]);
    cases.i32("set_local: in one branch of two", &[op("if_else", &[b(), set(0, i32(5)), nop()]), a()]);
    cases.i32("set_local: inside an operand of itself", &[set(2, add(set(2, a()), get(2))), get(2)]);
    cases.i32(
        "operands: order",
        &[
            set(3, op("i32.sub", &[trace(1, a()), trace(2, b())])),
            add(op("i32.mul", &[traced(), i32(1000)]), get(3)),
        ],
    );
    for (name, ty, small) in [
        ("i32.store8", Type::I32, "i32.load8_u"),
        ("i32.store16", Type::I32, "i32.load16_s"),
        ("i64.store32", Type::I64, "i64.load32_s"),
    ] {
        let value = if ty == Type::I32 { i32(0x1234_89ab) } else { i64(0x1234_5678_9abc_def0) };
        cases.with(
            &format!("{name}: its value is the whole"),
            module(),
            Some(ty),
            vec![store(name, 40, i32(0), value.clone())],
        );
        cases.with(
            &format!("{name}: stores a part"),
            module(),
            Some(ty),
            vec![store(name, 40, i32(0), value), load(small, 40, i32(0))],
        );
    }
    cases.i32(
        "store: order of address and value",
        &[
            store("i32.store", 0, trace(1, i32(64)), trace(2, a())),
            add(op("i32.mul", &[load("i32.load", 64, i32(0)), i32(100)]), traced()),
        ],
    );
    cases.i32(
        "store: overlapping",
        &[
            store("i64.store", 0, i32(50), i64(-1)),
            store("i32.store16", 0, i32(53), a()),
            load("i32.load", 52, i32(0)),
        ],
    );
    for (log2, name) in [(12, "4 KiB"), (16, "64 KiB"), (9, "512 bytes"), (17, "128 KiB")] {
        let module = Module { memory: Some((log2, log2, true)), ..Module::default() };
        let last = i32((1 << log2) - 4);
        let body = vec![
            store("i32.store", 0, last.clone(), a()),
            op("if", &[b(), store("i32.store", 1, last.clone(), a())]),
            add(load("i32.load", 0, last), op("memory_size", &[])),
        ];
        cases.with(&format!("memory: {name}"), module, Some(Type::I32), body);
    }
    let mut with_data = module();
    with_data.segments = vec![
        Segment { address: 64, bytes: b"loaded at the start".to_vec(), is_loaded: true },
        Segment { address: 128, bytes: b"not loaded".to_vec(), is_loaded: false },
        Segment { address: 66, bytes: b"over".to_vec(), is_loaded: true },
        Segment { address: 4092, bytes: b"last".to_vec(), is_loaded: true },
    ];
    let body = [64, 68, 128, 4092].map(|address| load("i32.load", 0, i32(address)));
    let [first, second, third, last] = body;
    let sum = op("i32.xor", &[add(first, second), add(third, last)]);
    cases.with("data: loaded or not, one over another", with_data, Some(Type::I32), vec![sum]);
}

/// Bits that a global variable keeps.
pub(super) fn globals(cases: &mut Cases) {
    let types = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64"];
    for (number, name) in (0..).zip(types) {
        let ty = match number {
            0..=5 => Type::I32,
            6 | 7 => Type::I64,
            8 => Type::F32,
            _ => Type::F64,
        };
        let value = match ty {
            Type::I64 => i64(-0x1234_5678_9abc_def0),
            Type::F32 => op("f32.sconverti32", &[get(0)]),
            Type::F64 => op("f64.sconverti32", &[get(1)]),
            _ => op("i32.xor", &[get(0), i32(0x1234_89ab)]),
        };
        let module = |is_exported: bool| {
            let globals =
                vec![("first".to_owned(), number, is_exported), ("second".to_owned(), number, false)];
            Module { globals, ..module() }
        };
        let stored = node("store_global", &[1], &[value]);
        let loaded = |number: u8| node("load_global", &[number], &[]);
        cases.with(
            &format!("global {name}: stored, then loaded"),
            module(true),
            Some(ty),
            vec![stored.clone(), loaded(1)],
        );
        cases.with(
            &format!("global {name}: the value of a store"),
            module(false),
            Some(ty),
            vec![stored.clone()],
        );
        cases.with(
            &format!("global {name}: zero at the start, and kept"),
            module(false),
            Some(ty),
            vec![op("if", &[get(1), stored]), loaded(1)],
        );
    }
}

pub(super) fn calls(cases: &mut Cases) {
    const I: Type = Type::I32;
    let (a, b) = (|| get(0), || get(1));
    let mut with = module();
    with.function("sub", &[I, I], Some(I), [0; 4], vec![op("i32.sub", &[a(), b()])]);
    cases.with(
        "call: order of arguments",
        with.clone(),
        Some(I),
        vec![
            set(3, call(0, &[trace(1, a()), trace(2, b())])),
            add(op("i32.mul", &[traced(), i32(1000)]), get(3)),
        ],
    );
    let mut all = module();
    let mixed = [Type::F64, Type::I64, Type::F32, I];
    let body = op(
        "f64.add",
        &[get(0), op("f64.sub", &[op("f64.sconverti64", &[get(1)]), op("f64.convertf32", &[get(2)])])],
    );
    all.function("mixed", &mixed, Some(Type::F64), [0; 4], vec![op("select", &[body, get(0), get(3)])]);
    cases.with(
        "call: all types",
        all,
        Some(Type::F64),
        vec![call(0, &[op("f64.sconverti32", &[a()]), op("i64.sconverti32", &[b()]), f32(0.25), a()])],
    );
    let mut none = module();
    none.function("note", &[I], None, [0; 4], vec![store("i32.store", 0, i32(200), a())]);
    cases.with("call: without a result", none, Some(I), vec![call(0, &[b()]), load("i32.load", 0, i32(200))]);
    let mut recursive = module();
    let less = |n: i32| op("i32.sub", &[a(), i32(n)]);
    let fib =
        op("if_else", &[op("i32.lt_u", &[a(), i32(2)]), a(), add(call(0, &[less(1)]), call(0, &[less(2)]))]);
    recursive.function("fib", &[I], Some(I), [0; 4], vec![fib]);
    let small = || op("i32.and", &[a(), i32(7)]);
    cases.with("call: recursion", recursive, Some(I), vec![call(0, &[small()])]);
    let mut mutual = module();
    let other = |number: u32, at_zero: i32| {
        op("if_else", &[op("bool.not", &[a()]), i32(at_zero), call(number, &[less(1)])])
    };
    mutual.function("even", &[I], Some(I), [0; 4], vec![other(1, 1)]);
    mutual.function("odd", &[I], Some(I), [0; 4], vec![other(0, 0)]);
    cases.with("call: functions that call one another", mutual, Some(I), vec![call(0, &[small()])]);
    let mut table = with;
    table.function("add", &[I, I], Some(I), [0; 4], vec![add(a(), b())]);
    table.function("negative", &[I], Some(I), [0; 4], vec![op("i32.sub", &[i32(0), a()])]);
    table.table = vec![0, 1, 2, 1];
    cases.with("call_indirect", table.clone(), Some(I), vec![call_indirect(0, a(), &[i32(10), b()])]);
    cases.with(
        "call_indirect: another signature",
        table.clone(),
        Some(I),
        vec![call_indirect(1, a(), &[b()])],
    );
    cases.with(
        "call_indirect: order",
        table.clone(),
        Some(I),
        vec![
            set(
                3,
                call_indirect(0, trace(1, op("i32.and", &[a(), i32(1)])), &[trace(2, a()), trace(3, b())]),
            ),
            add(op("i32.mul", &[traced(), i32(1000)]), get(3)),
        ],
    );
    // The same types under another number are another signature.
    table.signatures.push((vec![I], Some(I)));
    let twin = table.signatures.len() as u16 - 1;
    let body = vec![op("i32.mul", &[a(), i32(3)])];
    table.functions.push(Function {
        name: Some("twin".to_owned()),
        signature: twin,
        body,
        ..Function::default()
    });
    table.table.push(table.functions.len() as u16 - 1);
    for (name, number) in [("first", 1), ("second", twin)] {
        let place = || add(a(), i32(2));
        let name = format!("call_indirect: equal signatures, the {name}");
        cases.with(&name, table.clone(), Some(I), vec![call_indirect(number.into(), place(), &[b()])]);
    }
    cases.with(
        "call_indirect: without a table",
        module(),
        Some(I),
        vec![op("if_else", &[b(), a(), call_indirect(0, a(), &[b(), b()])])],
    );
    let unnamed = Module { passed: Some(b"anything \x06".to_vec()), ..module() };
    cases.with("a section that is passed over", unnamed, Some(I), vec![add(a(), b())]);
}
