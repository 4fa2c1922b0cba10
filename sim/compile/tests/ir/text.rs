//! What is written and read again is the same module, and what is wrong has a place.

use super::module;
use wave_compile::ir::random::{self, Shape};
use wave_compile::ir::text::parse;
use wave_compile::ir::{
    Constant, Data, Elements, Exported, Function, FunctionId, Global, Module, Place, Signature, Space, Type,
};

/// A module with every item and operation.
const EVERYTHING: &str = r#"signature sig0 (i32) -> (i64)
signature sig1 () -> ()
memory mem0 device 1 to 16
memory mem1 local 1
memory mem2 device 4096 to 8192 pages 1
table tab0 4 to 10
table tab1 2
global g0 "stack \"pointer\"\u{a}" mutable i32 -5
global g1 f32 0xffa00001
global g2 f64 -0.0
global g3 i64 9223372036854775807
global g4 bool true
data data0 at mem0 16
    "text\00\ff\"\\"
data data1
elements elem0 at tab0 0 [f0, null]
elements elem1 []
export "sum é" f0
export "mem" mem0
export "tab" tab1
export "g" g0
start f1

function f0 "sum" (i32) -> (i64) @31 {
    undefined v1: bool
b0(v0: i32):
    v2: i32 = const.i32 -1 @40
    v3: f32 = const.f32 0x7f800001
    v4: f64 = const.f64 1e300
    v5: f32 = const.f32 inf
    v6: f32 = const.f32 -inf
    v7: f32 = const.f32 1e-45
    v8: i32 = load.i32.u8 mem0[v0 + 4]
    v9: i64 = load.i64.s32 mem0[v0]
    store.i64.u16 mem0[v0 + 4294967295], v9
    v10: i32 = atomic_add.i32 device mem0[v0], v8
    v11: i32 = atomic_exchange.i32.u8 workgroup mem1[v0], v8
    v12: i32 = compare_exchange.i32 system mem0[v0 + 8], v8, v0
    v13: bool = lt_s v0, v8
    v14: i32 = select v13, v0, v8
    v15: f32 = fma v3, v5, v6
    v16: i32 = memory_size mem0
    v17: i32 = memory_grow mem0, v0
    memory_fill mem0, v0, v8, v10
    memory_copy mem0, mem1, v0, v8, v10
    memory_init mem0, data1, v0, v8, v10
    data_drop data1
    table_copy tab0, tab1, v0, v8, v10
    table_init tab0, elem1, v0, v8, v10
    elements_drop elem1
    v18: i32 = global_get g0
    global_set g0, v18
    call f1()
    v19: i64 = call_indirect tab0[v8] sig0(v0)
    v20: i32 = special sr_lane_id
    v21: i32 = shuffle(v0, v8)
    v22: i64 = ballot(v13)
    barrier
    fence acq_rel workgroup
    v23: i64 = i64_extend_u v0
    v24: f64 = fneg v4
    v25: i64 = div_s v9, v19
    v26: i32 = reinterpret v3
    v29: i32 = function_reference f1
    v30: i32 = table_get tab0, v0
    table_set tab0, v0, v29
    v31: i32 = table_size tab0
    v32: i32 = table_grow tab0, v29, v0
    table_fill tab0, v0, v29, v8
    branch v13, b1(v0, v9), b2 @44
b1(v27: i32, v28: i64):
    switch v27, [b2, b1(v27, v28), b3]
b2:
    trap "integer divide by zero"
b3:
    jump b2
}

function f1 () -> () {
b0:
    return
}
"#;

#[test]
fn everything_reads_and_writes_as_it_stands() {
    let read = module(EVERYTHING);
    assert_eq!(read.to_string(), EVERYTHING);
    assert_eq!(read.globals.values().next().unwrap().name.as_deref(), Some("stack \"pointer\"\n"));
    assert_eq!(read.globals.values().nth(1).unwrap().initial, Constant::F32(0xFFA0_0001));
    let function = read.functions.values().next().unwrap();
    assert_eq!(function.at, Place(31));
    // A function alone has no number.
    assert!(function.to_string().starts_with("function \"sum\" (i32) -> (i64) @31 {\n"));
}

/// Also what the verifier refuses is written and read.
#[test]
fn modules_that_are_wrong_round_trip() {
    let wrong = [
        "function f0 () -> (i32) {\n}\n",
        "function f0 () -> () {\nb0:\n    v0: i32 = load.f64.s40 mem7[v0 + 1]\n    jump b9(v0)\n}\n",
        "function f0 () -> () {\nb0:\n    v0: i32, v1: bool = any()\n    v2: i32 = shuffle(v0, v1, v1)\n    return v0, v1\n}\n",
        "function f0 () -> () {\nb0:\n    v0: i32 = atomic_cas.bool wave mem0[v0], v0\n    switch v0, []\n}\n",
    ];
    for text in wrong {
        let read: Module = text.parse().unwrap_or_else(|error| panic!("{error}"));
        let again: Module = read.to_string().parse().unwrap();
        assert_eq!(read, again);
        assert_eq!(read.to_string().trim(), text.trim());
    }
}

#[test]
fn random_modules_round_trip() {
    for seed in 0..200 {
        let shape = Shape { irreducible: true, traps: true, workgroup: seed % 2 == 0, ..Shape::default() };
        let module = random::module(seed, &shape);
        let text = module.to_string();
        assert_eq!(text.parse::<Module>().unwrap_or_else(|error| panic!("{error}\n{text}")), module);
    }
}

/// Names and bytes of any kind.
#[test]
fn names_and_bytes_round_trip() {
    let mut module = Module::default();
    let name: String = (0..0x300u32).chain(0x2000..0x2100).filter_map(char::from_u32).collect();
    module.functions.push(Function::new(Some(name.clone()), Signature::default(), Place(u32::MAX)));
    module.globals.push(Global {
        name: Some(String::new()),
        initial: Constant::I64(1 << 63),
        is_mutable: false,
    });
    module.data.push(Data { bytes: (0..=255).cycle().take(700).collect(), at_start: None });
    module.elements.push(Elements { functions: vec![None; 3], at_start: None });
    module.exports.push((name, Exported::Function(FunctionId::from_u32(0))));
    for bits in
        [0x7FF0_0000_0000_0001, 0xFFF8_0000_0000_0000, 1, 0x8000_0000_0000_0000, 0x7FEF_FFFF_FFFF_FFFF]
    {
        module.globals.push(Global { name: None, initial: Constant::F64(bits), is_mutable: true });
        module.globals.push(Global { name: None, initial: Constant::F32(bits as u32), is_mutable: true });
    }
    assert_eq!(module.to_string().parse(), Ok(module));
}

#[test]
fn comments_and_line_breaks_are_blanks() {
    let text = "memory ; of\n mem0 local\r\n\t2 ; pages\nmemory mem1 private 3";
    let read: Module = text.parse().unwrap();
    let memories: Vec<_> = read.memories.values().map(|memory| (memory.space, memory.bytes())).collect();
    assert_eq!(memories, [(Space::Local, 2 << 16), (Space::Private, 48)]);
}

/// Line and column of an error, and what it says.
fn error(text: &str) -> (u32, u32, String) {
    let error = parse(text, "m.ir").expect_err(text);
    let place = error.place.expect("errors have places");
    (place.line, place.column, error.message)
}

#[test]
fn errors_have_places() {
    let body = |line: &str| format!("function f0 (i32) -> () {{\nb0(v0: i32):\n    {line}\n    return\n}}\n");
    for (text, line, column, message) in [
        ("memry mem0", 1, 1, "a module has no `memry`"),
        ("memory mem1 device 1", 1, 8, "the next is `mem0`: they are numbered in their order"),
        ("memory mem0 shared 1", 1, 13, "a memory is device, local or private, not `shared`"),
        ("memory mem0 device -1", 1, 20, "`-1` is not a number of pages, or is too large"),
        ("memory mem0 device", 1, 19, "expected a number of pages, found the end of the text"),
        ("global g0 i32 4294967296", 1, 15, "`4294967296` is no constant of type i32"),
        ("global g0 f32 nan", 1, 15, "`nan` is no constant of type f32"),
        ("global g0 i33 1", 1, 11, "no type is called `i33`"),
        ("export mem0", 1, 8, "expected a name in quotation marks, found `mem0`"),
        ("export \"x", 1, 8, "this string has no end on its line"),
        ("export \"\\u{110000}\" f0", 1, 9, "this is the number of no character"),
        ("data data0 \"ab\\x\"", 1, 15, "behind `\\` come `\"`, `\\`, `u{…}` or two hex digits"),
        ("export \"\\ff\" f0", 1, 8, "a name is text in UTF-8"),
        ("é", 1, 1, "nothing begins with `é`"),
        ("start f0 start f0", 1, 10, "the start is given twice"),
        (&body("v1: i32 = addd v0, v0"), 3, 15, "there is no operation `addd`"),
        (&body("v1: i32 = add v0 v0"), 3, 22, "expected `,`, found `v0`"),
        (&body("v1: i32 = add v0, v7"), 3, 23, "v7 is not defined in this function"),
        (
            &body("v4294967295: i32 = clz v0"),
            3,
            5,
            "expected an instruction, or how the block ends, found `:`",
        ),
        (&body("v0: i64 = i64_extend_s v0"), 3, 9, "v0 has the type i32 elsewhere"),
        (&body("v2: i32 = clz v0"), 1, 25, "v1 of this function is not defined"),
        (&body("v1: i32 = load mem0[v0]"), 3, 15, "the type of the value is missing, as in `load.i32`"),
        (&body("v1: i32 = load.i32.u9 mem0[v0]"), 3, 15, "memory holds `s8`, `u16` and the like, not `u9`"),
        (&body("fence acquire lane"), 3, 19, "there is no scope `lane`"),
        (&body("v1: i32 = special sr_lane"), 3, 23, "there is no special register `sr_lane`"),
        (&body("trap \"oops\""), 3, 10, "there is no trap `oops`"),
    ] {
        let found = error(text);
        if text.contains("v4294967295") {
            assert_eq!((found.0, found.1 >= 5), (3, true), "{found:?}");
            continue;
        }
        assert_eq!(found, (line, column, message.to_owned()), "{text}");
    }
}

/// However a text is cut or mixed up, reading it ends with a module or an error.
#[test]
fn no_text_stops_the_reader() {
    let characters: Vec<char> = EVERYTHING.chars().collect();
    for end in 0..characters.len() {
        let start = end.saturating_sub(400);
        let text: String = characters[..end].iter().collect();
        let _ = parse(&text, "cut");
        let text: String = characters[start..end].iter().collect();
        let _ = parse(&text, "middle");
        let text: String = [&characters[..start], &characters[end..]].concat().iter().collect();
        let _ = parse(&text, "hole");
        let mut changed = characters.clone();
        changed[end] = "(\"\\9v@-;".chars().nth(end % 8).unwrap();
        let _ = parse(&changed.iter().collect::<String>(), "changed");
    }
    assert_eq!(Type::F64.to_string(), "f64");
}
