//! What the decoder makes of single modules, and what it says of wrong ones.

use super::cases::{module, wrap};
use super::encoder::{
    BRANCH, EXPORT, Expr, Function, IMPORT, Module, Segment, block, br, call, call_indirect, f32, get, i32,
    i64, load, nop, op, repeat, set, tableswitch,
};
use std::sync::Arc;
use wave_compile::encoding::{Error, Fault};
use wave_compile::ir::interpret::{Instance, Limits};
use wave_compile::ir::{Constant, Exported, FunctionId, MemoryId, Operation, Type, verify};
use wave_compile::wasm2015::{Decoded, decode, is_wasm2015};

const I: Type = Type::I32;

/// A module with one exported function.
fn with(body: Vec<Expr>) -> Module {
    let mut module = module();
    let function = module.function("f", &[I, I], Some(I), [0, 1, 0, 0], body);
    module.functions[function as usize].flags |= EXPORT;
    module
}

fn decoded(module: &Module) -> Decoded {
    let decoded = decode(&module.encode()).unwrap_or_else(|error| panic!("{error}"));
    verify::verify(&decoded.module).unwrap_or_else(|error| panic!("{error}"));
    decoded
}

fn error(bytes: &[u8]) -> Error {
    decode(bytes).expect_err("it is wrong")
}

/// What is wrong with a body, which a module has behind its sections up to it.
#[track_caller]
fn wrong(body: Vec<Expr>, what: &str) {
    let error = error(&with(body).encode());
    assert_eq!(error.fault, Fault::Invalid, "{error}");
    assert!(error.message.contains(what), "{error}");
    assert_eq!(error.function.as_deref(), Some("0 (`f`)"), "{error}");
    assert!(error.offset.is_some_and(|offset| offset > 8), "{error}");
}

#[test]
fn wrong_bodies_are_located() {
    let add = |a: Expr, b: Expr| op("i32.add", &[a, b]);
    wrong(vec![add(i32(1), f32(1.0))], "operand 1 of `i32.add` is i32, and the expression here is f32");
    wrong(
        vec![add(nop(), i32(1))],
        "operand 0 of `i32.add` is i32, and the expression here is without a value",
    );
    wrong(vec![op("return", &[i32(1)]), add(f32(1.0), i32(1))], "operand 0 of `i32.add`");
    wrong(vec![], "the function gives i32, and its last expression is without a value");
    wrong(vec![i32(1), nop()], "its last expression is without a value");
    wrong(vec![f32(1.0)], "its last expression is f32");
    wrong(vec![op("if", &[i32(1), i32(2)])], "without a value");
    wrong(vec![op("if_else", &[i32(1), i32(2), f32(1.0)])], "without a value");
    wrong(vec![op("if_else", &[f32(1.0), i32(2), i32(3)])], "operand 0 of `if_else`");
    wrong(vec![block(&[br(0, nop()), i32(1)])], "without a value");
    wrong(vec![br(0, i32(1))], "`br` names depth 0, and there are 0 constructs");
    wrong(vec![repeat(&[br(2, i32(1))])], "`br` names depth 2, and there are 2 constructs");
    wrong(vec![tableswitch(&[], i32(1), &[i32(1)])], "has a target at least");
    wrong(vec![tableswitch(&[1], i32(1), &[i32(1)])], "goes to case 1, and there are 1");
    wrong(vec![tableswitch(&[BRANCH | 1], i32(1), &[i32(1)])], "names depth 1, and there are 1");
    wrong(vec![tableswitch(&[0], i64(1), &[i32(1)])], "operand 0 of `tableswitch`");
    wrong(vec![tableswitch(&[BRANCH], i32(1), &[i32(1)])], "its last expression is without a value");
    wrong(vec![get(3)], "`get_local` names local variable 3, and there are 3");
    wrong(vec![set(2, i32(1))], "operand 0 of `set_local` is i64");
    wrong(vec![call(1, &[])], "`call_function` names function 1, and there are 1");
    wrong(vec![call(0, &[i32(1), i64(1)])], "operand 1 of `call_function`");
    wrong(vec![call_indirect(1, i32(0), &[])], "`call_indirect` names signature 1, and there are 1");
    wrong(vec![call_indirect(0, i64(0), &[i32(1), i32(1)])], "operand 0 of `call_indirect` is i32");
    wrong(vec![call_indirect(0, i32(0), &[i32(1), f32(1.0)])], "operand 2 of `call_indirect` is i32");
    wrong(vec![super::encoder::node("load_global", &[0], &[])], "names global variable 0, and there are 0");
    wrong(vec![op("select", &[i32(1), f32(1.0), i32(1)])], "operand 1 of `select` is i32");
    wrong(vec![op("select", &[nop(), i32(1), i32(1)])], "operand 0 of `select` is without a value");
    wrong(vec![op("return", &[f32(1.0)])], "operand 0 of `return`");
    wrong(vec![op("grow_memory", &[f32(1.0)])], "operand 0 of `grow_memory`");
    let raw = |bytes: &[u8]| vec![Expr { bytes: bytes.to_vec(), ..Expr::default() }];
    wrong(raw(&[0x3a]), "0x3a is no operator");
    wrong(raw(&[0x40, 0x09, 1]), "the body of the function ends inside `i32.add`");
    wrong(
        raw(&[0x0a, 1, 2]),
        "the body of the function ends where a constant is expected: 4 bytes, and 2 are left",
    );
    wrong(raw(&[0x2a, 0x01, 0x09, 0]), "flags of an access");
    wrong(raw(&[0x0e, 0x80, 0x80, 0x80, 0x80, 0x10]), "is more than 32 bits");
    let no_memory = Module { memory: None, ..with(vec![op("memory_size", &[])]) };
    assert!(error(&no_memory.encode()).message.contains("needs a memory"));
}

#[test]
fn the_place_of_an_error_is_that_of_the_expression() {
    let bytes = with(vec![op("i32.add", &[i32(1), f32(1.0)])]).encode();
    let found = error(&bytes).offset.expect("it has a place") as usize;
    assert_eq!(bytes[found], 0x0d, "the constant");
    assert_eq!(bytes[found - 3..found], [0x40, 0x09, 1]);
}

#[test]
fn wrong_sections_are_located() {
    let good = with(vec![i32(1)]);
    let wrong = |module: &Module, what: &str| {
        let bytes = module.encode();
        let error = error(&bytes);
        assert!(error.message.contains(what), "{error}");
        assert!(error.offset.is_some(), "{error}");
        is_wasm2015(&bytes)
    };
    assert!(!wrong(
        &Module { memory: Some((13, 12, false)), ..good.clone() },
        "memory has 2^13 to 2^12 bytes"
    ));
    assert!(!wrong(&Module { memory: Some((12, 32, false)), ..good.clone() }, "memory has"));
    let global = |ty| Module { globals: vec![("g".to_owned(), ty, true)], ..good.clone() };
    assert!(!wrong(&global(10), "memory types are 0 to 9"));
    assert!(decode(&global(9).encode()).is_ok());
    assert!(wrong(&Module { table: vec![0, 1], ..good.clone() }, "names function 1, and there are 1"));
    let segment = |address, is_loaded| {
        let segments = vec![Segment { address, bytes: b"abcd".to_vec(), is_loaded }];
        Module { segments, ..good.clone() }
    };
    assert!(wrong(&segment(4093, true), "ends at byte 4097 of a memory of 4096"));
    assert!(decode(&segment(4092, true).encode()).is_ok());
    assert!(decode(&segment(4093, false).encode()).is_ok());
    let mut signature = good.clone();
    signature.functions[0].signature = 1;
    assert!(wrong(&signature, "names signature 1, and there are 1"));
    let mut flags = good.clone();
    flags.functions[0].flags |= 0x10;
    assert!(!wrong(&flags, "flags of a function have four bits"));
    let mut twice = good.clone();
    twice.functions.push(twice.functions[0].clone());
    assert!(wrong(&twice, "`f` is exported twice"));
    let locals = |count: u16| {
        let mut many = good.clone();
        many.functions[0].locals = [count; 4];
        many
    };
    assert!(wrong(&locals(12_500), "more than 50000 local variables"));
    assert!(decode(&locals(12_499).encode()).is_ok());
    let mut unnamed = good.clone();
    unnamed.functions[0].name = Some("x".repeat(1001));
    assert!(wrong(&unnamed, "more than 1000 bytes"));
    unnamed.functions[0].name = Some("x".repeat(1000));
    assert!(decode(&unnamed.encode()).is_ok());
    let mut bytes = good.encode();
    *bytes.last_mut().expect("the zero behind the name") = b'x';
    assert!(error(&bytes).message.contains("does not end in the file"));
    let at = bytes.len() - 2;
    bytes[at..].copy_from_slice(&[0xff, 0]);
    assert!(error(&bytes).message.contains("is not UTF-8"));
}

#[test]
fn sections_have_an_order_and_come_once() {
    for (bytes, what) in [
        (&[][..], "a section or the end section"),
        (&[0x00, 12, 12, 0], "a section or the end section"),
        (&[0x00, 12, 12, 2, 0x06], "whether memory is exported is 0 or 1, not 2"),
        (&[0x00, 12, 12, 0, 0x00, 12, 12, 0, 0x06], "section 0x00 is there twice; the first is at byte 0x0"),
        (&[0x02, 0, 0x06], "the signatures have to come before the functions"),
        (&[0x01, 0, 0x05, 0, 0x06], "the functions have to come before the function table"),
        (&[0x01, 1, 0, 5, 0x06], "the type of a result is a type from 0 to 4, not 5"),
        (&[0x01, 1, 1, 0, 0, 0x06], "a parameter has a type from 1 to 4, not 0"),
        (&[0x07], "there is no section 0x07"),
        (&[0x11, 5, 0, 0x06], "the content of a section"),
        (&[0x01, 0x80, 0x80, 0x80, 0x80, 0x80, 0], "is more than 32 bits"),
        (&[0x01, 1, 0, 0, 0x02, 1, 6, 0, 0, 0x06], "an imported function has no local variables"),
        (
            &[0x04, 1, 0, 0, 0, 0, 200, 0, 0, 0, 1, 0, 0, 0, 0, 0x06],
            "a data segment is 1 bytes from byte 0xc8",
        ),
    ] {
        let error = error(bytes);
        assert!(error.message.contains(what), "{error}");
        assert!(!is_wasm2015(bytes), "{what}");
    }
    let twice = [0x11, 1, 0, 0x11, 0, 0x01, 1, 0, 0, 0x02, 1, 0, 0, 0, 1, 0, 0x00, 0x06, 0xff];
    assert!(
        is_wasm2015(&twice),
        "sections to be passed over may come twice; what is behind the end is not looked at"
    );
    assert_eq!(decode(&twice).expect("it is right").module.functions.len(), 1);
}

#[test]
fn other_formats_are_not_recognised() {
    for bytes in [
        &b"\0asm\x01\0\0\0"[..],
        b"(module)",
        b".kernel k\n",
        b"",
        b"\x06",
        b"\x01\x00\x06",
        b"\x11\x00\x06",
        b"\xef\x52\x01",
    ] {
        assert!(!is_wasm2015(bytes), "{bytes:?}");
    }
    assert!(is_wasm2015(&with(vec![i32(1)]).encode()));
}

fn imported(name: &str, parameters: &[Type], result: Option<Type>) -> Module {
    let mut module = module();
    let signature = module.signature(parameters, result);
    module.functions.push(Function {
        name: Some(name.to_owned()),
        flags: IMPORT,
        signature,
        ..Function::default()
    });
    module
}

#[test]
fn a_kernel_imports_functions_of_wave() {
    let mut kernel = imported("thread_id_x", &[], Some(I));
    let store = super::encoder::store("i32.store", 0, op("i32.shl", &[call(0, &[]), i32(2)]), get(0));
    let function = kernel.function("kernel", &[I], None, [0; 4], vec![store]);
    kernel.functions[function as usize].flags |= EXPORT;
    // A table and an export can have an imported function too.
    kernel.table = vec![0];
    kernel.functions[0].flags |= EXPORT;
    let decoded = decoded(&kernel);
    assert!(decoded.is_kernel);
    let functions: Vec<_> = decoded.module.functions.values().collect();
    assert_eq!(functions.len(), 2, "the kernel, and the imported one as a function");
    let is_special = |operation: &Operation| matches!(operation, Operation::Special(_));
    for function in functions {
        let mut all = function.blocks.values().flat_map(|block| &block.instructions);
        assert!(all.any(|instruction| is_special(&instruction.operation)));
        assert!(function.at.0 > 0);
    }
    let options = wave_compile::Options::default();
    wave_compile::compile(&decoded.module, FunctionId::from_u32(0), &options)
        .unwrap_or_else(|error| panic!("{error}"));
    let local = imported("local_load_i32", &[I], Some(I));
    assert!(decode(&local.encode()).is_ok_and(|decoded| decoded.module.memories.len() == 2));
    let bare = Module { memory: None, ..imported("atomic_add_device", &[I, I], Some(I)) };
    assert!(decode(&bare.encode()).is_ok_and(|decoded| decoded.module.memories.len() == 1));
    let error = |module: Module| error(&module.encode());
    let unknown = error(imported("thread_id", &[], Some(I)));
    assert_eq!(unknown.fault, Fault::Unlinkable);
    assert!(unknown.message.contains("`wave.thread_id`") && unknown.hint.is_some(), "{unknown}");
    let other = error(imported("thread_id_x", &[I], Some(I)));
    assert!(other.message.contains("(i32) -> (i32)"), "{other}");
    let mut unnamed = imported("", &[], Some(I));
    unnamed.functions[0].name = None;
    assert!(error(unnamed).message.contains("an imported function has a name"));
    assert!(!decode(&with(vec![i32(1)]).encode()).expect("it is right").is_kernel);
}

#[test]
fn exports_have_names_or_numbers() {
    let mut module = with(vec![i32(1)]);
    module.globals = vec![("shown".to_owned(), 6, true), ("hidden".to_owned(), 8, false)];
    module.functions.push(Function { name: None, flags: EXPORT, body: vec![i32(2)], ..Function::default() });
    let decoded = decoded(&module);
    let names: Vec<_> = decoded.module.exports.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["f", "1", "shown", "memory"]);
    module.functions[1].name = Some("memory".to_owned());
    let exports = decode(&module.encode()).expect("it is right").module.exports;
    assert!(exports.iter().all(|(_, exported)| !matches!(exported, Exported::Memory(_))));
    assert_eq!(exports.len(), 3, "the function goes first");
}

#[test]
fn grow_memory_as_the_text_says() {
    // Bytes; the size before, or -1 past the most of the memory section.
    let mut growing = Module { memory: Some((12, 14, true)), ..Module::default() };
    let function = growing.function("f", &[I], Some(I), [0; 4], vec![op("grow_memory", &[get(0)])]);
    growing.function("size", &[], Some(I), [0; 4], vec![op("memory_size", &[])]);
    growing.function("load", &[I], Some(I), [0; 4], vec![load("i32.load", 0, get(0))]);
    wrap(&mut growing, function);
    let instance = Instance::new(Arc::new(decoded(&growing).module)).expect("it starts");
    let call = |function: u32, argument: &[u32]| {
        let arguments: Vec<_> = argument.iter().map(|&word| Constant::I32(word)).collect();
        instance
            .call(FunctionId::from_u32(function), &arguments, &Limits::default())
            .ok()
            .map(|results| results[0].bits())
    };
    assert_eq!(call(2, &[4096]), None);
    for (bytes, before, size) in [
        (0, 4096, 4096),
        (4096, 4096, 8192),
        (8193, 0xffff_ffff, 8192),
        (1, 8192, 8193),
        (8191, 8193, 16384),
        (u32::MAX, 0xffff_ffff, 16384),
    ] {
        assert_eq!((call(0, &[bytes]), call(1, &[])), (Some(before), Some(size)), "{bytes}");
    }
    assert_eq!(call(2, &[16380]), Some(0));
    assert_eq!(call(2, &[16381]), None);
    assert_eq!(instance.memory(MemoryId::from_u32(0)).bytes(), 16384);
    // In lanes likewise.
    let module = decoded(&growing).module;
    let mut simulator = super::simulated::Simulator::of(&module).expect("it starts");
    for (bytes, before) in [(4096u32, 4096), (8193, 0xffff_ffff), (8192, 8192), (1, 0xffff_ffff)] {
        let arguments = [Constant::I32(bytes)];
        let calls = simulator.launch(&module, FunctionId::from_u32(0), [&arguments, &arguments]);
        let [(_, results), _] = calls.unwrap_or_else(|error| panic!("{}", super::oracle::no_launch(&error)));
        assert_eq!(results, [Constant::I32(before)], "{bytes}");
    }
}

#[test]
fn the_listing_has_a_line_for_each_operator() {
    let body = vec![
        set(2, i64(-7)),
        block(&[
            tableswitch(&[0, BRANCH], get(0), &[nop()]),
            load("i32.load16_u", 6, call(0, &[i32(-1), get(1)])),
        ]),
    ];
    let mut module = with(body);
    module.passed = Some(vec![1, 2]);
    module.table = vec![0];
    let decoded = decoded(&module);
    let lines: Vec<&str> = decoded.listing.text().lines().collect();
    let of = |line: &&str| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
    let operators: Vec<String> = lines.iter().filter(|line| line.starts_with("0x")).map(of).collect();
    assert_eq!(
        operators,
        [
            "set_local 2 i64",
            "i64.const -7",
            "block 2",
            "tableswitch case 0 br 0",
            "get_local 0 i32",
            "nop",
            "i32.load16_u offset 6",
            "call_function 0 `f`",
            "i8.const -1",
            "get_local 1 i32",
        ]
    );
    assert!(lines[0].starts_with("memory 4096 to 4096 bytes, exported"), "{}", lines[0]);
    assert!(
        decoded
            .listing
            .text()
            .contains("function 0 `f` signature 0 (i32, i32) -> i32, exported\n    locals 1 i64\n")
    );
    let depth = |name: &str| {
        let line = lines.iter().find(|line| line.contains(name)).expect("it is there");
        line.find(name).expect("it is there")
    };
    assert_eq!(depth("tableswitch") - depth("block"), 2);
    // Each instruction has a place of a line that has its operator.
    for function in decoded.module.functions.values() {
        for block in function.blocks.values() {
            for instruction in &block.instructions {
                let line = decoded.listing.line(instruction.at).expect("it has a line") as usize;
                let text = lines[line - 1];
                match instruction.operation {
                    Operation::Load(..) => assert!(text.contains("i32.load16_u"), "{text}"),
                    Operation::Call(..) => assert!(text.contains("call_function"), "{text}"),
                    Operation::Constant(Constant::I64(_)) => assert!(text.contains("i64.const"), "{text}"),
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn a_node_may_have_as_many_children_as_its_count_says() {
    let sums: Vec<Expr> = (0..255).map(|_| set(0, op("i32.add", &[get(0), i32(1)]))).collect();
    let cases: Vec<Expr> = (0..300).map(|_| set(1, op("i32.add", &[get(1), i32(1)]))).collect();
    let body = vec![block(&sums), tableswitch(&[7], i32(0), &cases), op("i32.mul", &[get(0), get(1)])];
    let instance = Instance::new(Arc::new(decoded(&with(body)).module)).expect("it starts");
    let result = instance.call(FunctionId::from_u32(0), &[Constant::I32(0); 2], &Limits::default());
    assert_eq!(result.ok(), Some(vec![Constant::I32(255 * 293)]));
}

#[test]
fn trees_may_be_as_deep_as_a_body_has_bytes() {
    let depth = 60_000;
    let bytes = [vec![0x5a; depth], vec![0x09, 1]].concat();
    let module = with(vec![Expr { bytes, ..Expr::default() }]);
    let decoded = decoded(&module);
    assert!(decoded.listing.text().len() < 200 * depth);
    let instance = Instance::new(Arc::new(decoded.module)).expect("it starts");
    let arguments = [Constant::I32(0); 2];
    let result = instance.call(FunctionId::from_u32(0), &arguments, &Limits::default());
    assert_eq!(result.ok(), Some(vec![Constant::I32(1)]));
    let blocks = [[0x01, 1].repeat(30_000), vec![0x09, 3]].concat();
    decode(&with(vec![Expr { bytes: blocks, ..Expr::default() }]).encode())
        .unwrap_or_else(|error| panic!("{error}"));
}
