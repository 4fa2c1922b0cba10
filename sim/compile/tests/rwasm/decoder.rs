//! What the decoder makes of single modules, and what it says of wrong ones.

use super::simulated::Simulator;
use super::words::{Module, Word, branch, drop_keep, i32_constant, wide, word};
use std::collections::BTreeSet;
use std::sync::Arc;
use wave_compile::ir::interpret::{Instance, Limits};
use wave_compile::ir::{Constant, Exported, FunctionId, MemoryId, Place, Trap, text, verify};
use wave_compile::lower::instance::Ended;
use wave_compile::rwasm::{Decoded, RwasmOptions, decode, is_bare, is_container};
use wave_compile::{Options, compile};

/// Opcodes that no module of version 1 of the conformance suite has; each is in a test of this target.
pub(crate) const ELSEWHERE: [&str; 25] = [
    "ConsumeFuel",
    "ReturnCallInternal",
    "ReturnCall",
    "ReturnCallIndirect",
    "Call",
    "MemoryFill",
    "MemoryCopy",
    "TableSize",
    "TableFill",
    "TableSet",
    "TableCopy",
    "RefFunc",
    "I32Extend8S",
    "I32Extend16S",
    "I64Extend8S",
    "I64Extend16S",
    "I64Extend32S",
    "I32TruncSatF32S",
    "I32TruncSatF32U",
    "I32TruncSatF64S",
    "I32TruncSatF64U",
    "I64TruncSatF32S",
    "I64TruncSatF32U",
    "I64TruncSatF64S",
    "I64TruncSatF64U",
];

/// A file with these functions and an entry point that does nothing.
pub(crate) fn module(functions: &[&[Word]]) -> Module {
    let mut functions: Vec<Vec<Word>> = functions.iter().map(|words| words.to_vec()).collect();
    functions.push(vec![drop_keep("Return", 0, 0)]);
    Module { functions, ..Module::default() }
}

pub(crate) fn decoded(bytes: &[u8]) -> Decoded {
    let decoded = decode(bytes, &RwasmOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    verify::verify(&decoded.module).unwrap_or_else(|error| panic!("{error}"));
    decoded
}

/// The start, then calls of functions one after the other, in the interpreter and on the simulator.
fn run(module: &Module, calls: &[(u32, &[u64])]) -> Vec<Result<Vec<u64>, Trap>> {
    let module = decoded(&module.bytes()).module;
    let instance = Instance::new(Arc::new(module.clone())).expect("it starts");
    let mut simulator = Simulator::of(&module).expect("no segments");
    let start = module.start.expect("a container has a start");
    let Ok([(Ended::Returned, _), _]) = simulator.launch(&module, start, [&[], &[]]) else {
        panic!("it starts")
    };
    let mut all = Vec::new();
    for &(function, arguments) in calls {
        let function = FunctionId::from_u32(function);
        let arguments: Vec<Constant> = arguments.iter().map(|&bits| Constant::I64(bits)).collect();
        let result = instance.call(function, &arguments, &Limits::default());
        let bits = |results: Vec<Constant>| results.into_iter().map(Constant::bits).collect::<Vec<_>>();
        let result = result.map(bits).map_err(|trapped| trapped.trap);
        let Ok([(ended, results), _]) = simulator.launch(&module, function, [&arguments; 2].map(|a| &a[..]))
        else {
            panic!("the call ends")
        };
        let simulated = match ended {
            Ended::Returned => Ok(bits(results)),
            Ended::Trapped(trap, _) => Err(trap),
            Ended::Not => panic!("the call has not ended"),
        };
        assert_eq!(simulated, result, "{function} of {arguments:x?}");
        all.push(result);
    }
    all
}

pub(crate) fn get(depth: u32) -> Word {
    word("LocalGet", depth)
}

pub(crate) fn i32_const(value: u32) -> Word {
    word("I32Const", value)
}

#[test]
fn the_contents_say_what_a_file_is() {
    let bytes = module(&[]).bytes();
    assert!(is_container(&bytes) && !is_bare(&bytes));
    let bare: Vec<u8> = [i32_const(100), drop_keep("Return", 0, 1)].concat();
    assert!(is_bare(&bare) && !is_container(&bare));
    for (at, byte) in [(0, 0xC6), (5, 1), (8, 1)] {
        let mut other = bare.clone();
        other[at] = byte;
        assert!(!is_bare(&other), "{other:02x?}");
    }
    assert!(!is_bare(&bare[..17]) && !is_bare(&[]));
    // It has no start, and its result is that of function 0.
    let module = decoded(&bare).module;
    assert_eq!(module.start, None);
    let instance = Instance::new(Arc::new(module)).expect("nothing runs");
    let results = instance.call(FunctionId::from_u32(0), &[], &Limits::default());
    assert_eq!(results, Ok(vec![Constant::I64(100)]));
}

#[test]
fn functions_are_exported_by_number_and_the_last_runs_at_the_start() {
    let mut file = module(&[&[get(1), get(3), word("I64Sub", 0), drop_keep("Return", 2, 1)]]);
    file.functions[1] =
        vec![wide("I64Const", 7), word("GlobalSet", 2), wide("I64Const", 9), drop_keep("Return", 0, 0)];
    let module = decoded(&file.bytes()).module;
    let names: Vec<&str> = module.exports.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["0", "1"]);
    assert!(matches!(module.exports[1].1, Exported::Function(id) if id.as_u32() == 1));
    let function = &module.functions[FunctionId::from_u32(0)];
    assert_eq!(function.name.as_deref(), Some("function 0"));
    assert_eq!((function.signature.parameters.len(), function.signature.results.len()), (2, 1));
    // Nobody takes the cell that the entry point leaves.
    assert_eq!(module.functions[FunctionId::from_u32(1)].signature.results.len(), 0);
    assert_eq!(module.globals.len(), 3);
    let instance = Instance::new(Arc::new(module)).expect("it starts");
    assert_eq!(instance.global(wave_compile::ir::GlobalId::from_u32(2)).get(), Constant::I64(7));
    assert_eq!(run(&file, &[(0, &[10, 4])]), [Ok(vec![4u64.wrapping_sub(10)])]);
}

/// Sign extensions and saturating truncations: operand, operator, result.
#[test]
fn conversions_of_later_proposals() {
    let minus = |bits: u64| bits.wrapping_neg();
    let f32_of = |value: f32| u64::from(value.to_bits());
    for (name, operand, wanted) in [
        ("I32Extend8S", 0x1_0000_0080, 0xFFFF_FF80),
        ("I32Extend16S", 0x8000, 0xFFFF_8000),
        ("I64Extend8S", 0x80, minus(0x80)),
        ("I64Extend16S", 0x1_8000, minus(0x8000)),
        ("I64Extend32S", 0x8000_0000, minus(0x8000_0000)),
        ("I32TruncSatF32S", f32_of(-1.5), 0xFFFF_FFFF),
        ("I32TruncSatF32U", f32_of(-1.5), 0),
        ("I32TruncSatF64S", 1e10f64.to_bits(), 0x7FFF_FFFF),
        ("I32TruncSatF64U", 3e9f64.to_bits(), 3_000_000_000),
        ("I64TruncSatF32S", f32_of(-2.5), minus(2)),
        ("I64TruncSatF32U", f32_of(-2.5), 0),
        ("I64TruncSatF64S", (-1e30f64).to_bits(), 1 << 63),
        ("I64TruncSatF64U", 1e30f64.to_bits(), u64::MAX),
    ] {
        let file = module(&[&[get(1), word(name, 0), drop_keep("Return", 1, 1)]]);
        assert_eq!(run(&file, &[(0, &[operand])]), [Ok(vec![wanted])], "{name}");
    }
}

#[test]
fn memory_is_filled_and_copied() {
    let mut file = module(&[&[
        i32_const(8),
        get(2),
        i32_const(5),
        word("MemoryFill", 0),
        i32_const(10),
        i32_const(8),
        i32_const(2),
        word("MemoryCopy", 0),
        i32_const(0),
        word("I64Load", 8),
        drop_keep("Return", 1, 1),
    ]]);
    file.functions[1] = vec![i32_const(1), word("MemoryGrow", 0), word("Drop", 0), drop_keep("Return", 0, 0)];
    assert_eq!(run(&file, &[(0, &[0x1AB])]), [Ok(vec![0xAB_ABAB_ABAB])]);
    let module = decoded(&file.bytes()).module;
    let memory = &module.memories[MemoryId::from_u32(0)];
    assert_eq!((memory.pages, memory.most_pages), (0, Some(1024)));
}

/// A module with a table of functions: 0 adds 1 to a cell, 1 doubles it, both with signature 5; 2 has signature 6.
/// 3 calls the place of its second parameter with the first, as signature 5.
fn with_table(more: &[&[Word]]) -> Module {
    let check = |signature| word("SignatureCheck", signature);
    let mut functions: Vec<&[Word]> = vec![];
    let add = [check(5), get(1), i32_const(1), word("I32Add", 0), drop_keep("Return", 1, 1)];
    let double = [check(5), get(1), get(2), word("I32Add", 0), drop_keep("Return", 1, 1)];
    let other = [check(6), get(1), drop_keep("Return", 1, 1)];
    let call =
        [check(7), get(2), get(2), word("CallIndirect", 5), word("TableGet", 0), drop_keep("Return", 2, 1)];
    functions.extend([&add[..], &double, &other, &call]);
    functions.extend(more);
    let mut module = module(&functions);
    module.elements = vec![1, u32::MAX, 2];
    let last = module.functions.len() - 1;
    // Four places: double, none, other, none.
    module.functions[last] = vec![
        i32_const(0),
        wide("I64Const", 4),
        word("TableGrow", 0),
        word("Drop", 0),
        i32_const(0),
        wide("I64Const", 0),
        wide("I64Const", 3),
        word("TableInit", 1),
        word("TableGet", 0),
        word("ElemDrop", 1),
        drop_keep("Return", 0, 0),
    ];
    module
}

#[test]
fn calls_through_tables_check_place_function_and_signature() {
    let file = with_table(&[]);
    let wanted = [
        Ok(vec![42]),
        Err(Trap::UninitialisedElement),
        Err(Trap::SignatureMismatch),
        Err(Trap::UninitialisedElement),
        Err(Trap::UndefinedElement),
        Err(Trap::UndefinedElement),
    ];
    let calls: Vec<[u64; 2]> = [0, 1, 2, 3, 4, 0xFFFF_FFFF].iter().map(|&place| [21, place]).collect();
    let calls: Vec<(u32, &[u64])> = calls.iter().map(|call| (3, &call[..])).collect();
    assert_eq!(run(&file, &calls), wanted);
}

#[test]
fn references_are_read_written_and_grown() {
    let place = |name| [get(1), word(name, 0), drop_keep("Return", 1, 1)];
    let size = [word("TableSize", 0), drop_keep("Return", 0, 1)];
    // Grows by a number with the reference to function 0; fills two places; sets a place from another; copies one.
    let grow = [word("RefFunc", 0), get(2), word("TableGrow", 0), drop_keep("Return", 1, 1)];
    let fill = [get(1), word("RefFunc", 0), i32_const(2), word("TableFill", 0), drop_keep("Return", 1, 0)];
    let set = [get(2), get(2), word("TableGet", 0), word("TableSet", 0), drop_keep("Return", 2, 0)];
    let copy =
        [get(2), get(2), i32_const(1), word("TableCopy", 0), word("TableGet", 0), drop_keep("Return", 2, 0)];
    let forge = [get(2), get(2), word("TableSet", 0), drop_keep("Return", 2, 0)];
    let [cell, all] = [place("TableGet"), place("TableGet")];
    let file = with_table(&[&cell, &size, &grow, &fill, &set, &copy, &forge, &all]);
    // A reference is no number that means anything outside, but none is 0, and one function has one.
    let results = run(
        &file,
        &[
            (4, &[1]),
            (5, &[]),
            (6, &[3]),
            (5, &[]),
            (3, &[21, 4]),
            (3, &[21, 6]),
            (4, &[7]),
            (7, &[0]),
            (3, &[21, 0]),
            (3, &[21, 1]),
            (3, &[21, 2]),
            (8, &[3, 2]),
            (3, &[21, 3]),
            (8, &[3, 1]),
            (3, &[21, 3]),
            (9, &[3, 0]),
            (3, &[20, 3]),
            (7, &[6]),
            (8, &[7, 0]),
            (9, &[0, 7]),
            (6, &[2000]),
            (6, &[0]),
            (10, &[0, 0]),
            (3, &[1, 0]),
            (10, &[0, 77]),
            (6, &[1017]),
            (6, &[1]),
        ],
    );
    use Trap::{SignatureMismatch, TableOutOfBounds, UndefinedElement, UninitialisedElement};
    let one = |bits: u64| Ok(vec![bits]);
    let wanted = [
        one(0),
        one(4),
        one(4),
        one(7),
        one(22),
        one(22),
        Err(TableOutOfBounds),
        Ok(vec![]),
        one(22),
        one(22),
        Err(SignatureMismatch),
        Ok(vec![]),
        Err(SignatureMismatch),
        Ok(vec![]),
        one(22),
        Ok(vec![]),
        one(21),
        Err(TableOutOfBounds),
        Err(TableOutOfBounds),
        Err(TableOutOfBounds),
        one(0xFFFF_FFFF),
        one(7),
        Ok(vec![]),
        Err(UninitialisedElement),
        Err(UndefinedElement),
        one(7),
        one(0xFFFF_FFFF),
    ];
    assert_eq!(results, wanted);
}

#[test]
fn tail_calls_return_what_their_callee_does() {
    let internal =
        [get(1), get(3), word("I32Sub", 0), word("ReturnCallInternal", 0), drop_keep("Return", 2, 1)];
    let indirect = [
        word("SignatureCheck", 9),
        get(2),
        get(2),
        word("ReturnCallIndirect", 5),
        drop_keep("Return", 2, 1),
        word("TableGet", 0),
    ];
    let file = with_table(&[&internal, &indirect]);
    let wanted = [Ok(vec![6]), Ok(vec![18]), Err(Trap::SignatureMismatch)];
    assert_eq!(run(&file, &[(4, &[4, 9]), (5, &[9, 0]), (5, &[9, 2])]), wanted);
}

/// What comes behind a call that never returns is not looked at, and its parameters are those that it uses.
#[test]
fn functions_that_do_not_return() {
    let stops = [get(1), word("GlobalSet", 0), word("Unreachable", 0)];
    let forever = [get(2), word("CallInternal", 1), word("Drop", 0), word("Drop", 0)];
    let calls =
        [get(1), word("CallInternal", 0), word("Drop", 0), word("Drop", 0), word("Drop", 0), branch("Br", 0)];
    // Its callee takes a cell, and it has none but its parameters.
    let hands_on = [word("CallInternal", 0)];
    let file = module(&[&stops, &forever, &calls, &hands_on]);
    let decoded = decoded(&file.bytes());
    let parameters =
        |number: u32| decoded.module.functions[FunctionId::from_u32(number)].signature.parameters.len();
    assert_eq!([0, 1, 2, 3].map(parameters), [1, 2, 1, 1]);
    assert_eq!(run(&file, &[(0, &[3]), (2, &[4])]), [Err(Trap::Unreachable), Err(Trap::Unreachable)]);
    assert!(decoded.listing.text().contains("function 0: 1 cells, does not return"));
}

/// Conditions look at all 64 bits; addresses and other `i32` at the low half.
#[test]
fn cells_have_64_bits_and_integers_of_32_the_low_half() {
    let select = [i32_const(1), i32_const(2), get(3), word("Select", 0), drop_keep("Return", 1, 1)];
    let branches = [
        get(1),
        branch("BrIfEqz", 3),
        i32_const(5),
        drop_keep("Return", 1, 1),
        i32_const(6),
        drop_keep("Return", 1, 1),
    ];
    let zero = [get(1), word("I32Eqz", 0), drop_keep("Return", 1, 1)];
    let extend =
        [get(1), word("I64ExtendI32S", 0), get(2), word("I64ExtendI32U", 0), drop_keep("Return", 1, 2)];
    let file = module(&[&select, &branches, &zero, &extend]);
    let high = 1 << 32;
    let calls: &[(u32, &[u64])] =
        &[(0, &[high]), (0, &[0]), (1, &[high]), (1, &[0]), (2, &[high]), (3, &[high | 0x8000_0000])];
    let wanted = [vec![1], vec![2], vec![5], vec![6], vec![1], vec![0xFFFF_FFFF_8000_0000, 0x8000_0000]];
    assert_eq!(run(&file, calls), wanted.map(Ok));
}

/// The compiler of rWasm extends a constant of 32 bits by its sign; the low half is the number, in a container and in a
/// stream of instructions.
#[test]
fn constants_of_32_bits_may_have_their_sign_in_the_upper_half() {
    let constants = [-1, i32::MIN, -100, 0, i32::MAX];
    for value in constants {
        let give = |constant: Word| [constant, drop_keep("Return", 0, 1)];
        let file = module(&[&give(i32_constant(value)), &give(i32_const(value as u32))]);
        let low = Ok(vec![u64::from(value as u32)]);
        assert_eq!(run(&file, &[(0, &[]), (1, &[])]), [low.clone(), low], "{value}");
        assert!(decoded(&file.bytes()).listing.text().contains(&format!("i32_const {value}\n")), "{value}");
        assert!(is_bare(&give(i32_constant(value)).concat()), "{value}");
    }
}

/// A segment that was dropped has no bytes, whatever others take from the same section.
#[test]
fn segments_are_dropped_one_by_one() {
    let init = |number| [get(3), get(3), get(3), word("MemoryInit", number), drop_keep("Return", 3, 0)];
    let drop = |number| [word("DataDrop", number), drop_keep("Return", 0, 0)];
    let load = [get(1), word("I32Load8U", 0), drop_keep("Return", 1, 1)];
    let mut file = module(&[&init(1), &init(2), &drop(1), &drop(0), &load]);
    file.memory = b"abcdef".to_vec();
    let last = file.functions.len() - 1;
    file.functions[last] =
        vec![i32_const(1), word("MemoryGrow", 0), word("Drop", 0), drop_keep("Return", 0, 0)];
    let outside = Err(Trap::MemoryOutOfBounds);
    let calls: &[(u32, &[u64])] = &[
        (0, &[0, 1, 2]),
        (4, &[0]),
        (4, &[1]),
        (0, &[0, 5, 2]),
        (2, &[]),
        (0, &[0, 0, 1]),
        (0, &[7, 0, 0]),
        (1, &[0, 3, 3]),
        (4, &[2]),
        (3, &[]),
        (1, &[0, 0, 1]),
        (1, &[0x10000, 0, 0]),
        (1, &[0x10001, 0, 0]),
    ];
    let wanted = [
        Ok(vec![]),
        Ok(vec![98]),
        Ok(vec![99]),
        outside.clone(),
        Ok(vec![]),
        outside.clone(),
        Ok(vec![]),
        Ok(vec![]),
        Ok(vec![102]),
        Ok(vec![]),
        outside.clone(),
        Ok(vec![]),
        outside,
    ];
    assert_eq!(run(&file, calls), wanted);
}

#[test]
fn the_listing_has_a_line_for_each_instruction() {
    let mut file = module(&[&[
        get(3),
        i32_const(u32::MAX),
        word("F32Const", 1.5f32.to_bits()),
        word("F32Const", 0x7FC0_0001),
        wide("F64Const", 0.1f64.to_bits()),
        wide("I64Const", u64::MAX),
        branch("Br", 3),
        word("I32TruncSatF32S", 0),
        word("I32Load8S", 12),
        branch("BrAdjust", -9),
        drop_keep("Return", 6, 0),
    ]]);
    file.memory = vec![1, 2];
    file.elements = vec![1, u32::MAX];
    let decoded = decoded(&file.bytes());
    let wanted = "function 0: 3 cells, does not return\n  0000  local_get 3\n  0001  i32_const -1\n  \
        0002  f32_const 1.5\n  0003  f32_const nan:0x7fc00001\n  0004  f64_const 0.1\n  0005  i64_const -1\n  \
        0006  br 0009\n  0007  i32_trunc_sat_f32_s\n  0008  i32_load8_s 12\n  0009  br_adjust 0000\n  \
        0010  return drop 6 keep 0\nfunction 1: the entry point\n  0000  return drop 0 keep 0\n\
        memory: 2 bytes\n  0000  01 02\nelements: 1 null\n";
    assert_eq!(decoded.listing.text(), wanted);
    assert_eq!(decoded.listing.line(Place(24)), Some(2));
    assert_eq!(decoded.listing.line(Place(24 + 9 * 9)), Some(11));
    let function = &decoded.module.functions[FunctionId::from_u32(0)];
    assert_eq!(function.at, Place(24));
}

/// Operations on tables are for instances; a kernel is refused with the name of the operation.
#[test]
fn kernels_with_references_are_refused_by_name() {
    let mut seen = BTreeSet::new();
    for (line, name) in [
        ("v1: i32 = function_reference f0", "function_reference"),
        ("v1: i32 = table_get tab0, v0", "table_get"),
        ("table_set tab0, v0, v0", "table_set"),
        ("v1: i32 = table_size tab0", "table_size"),
        ("v1: i32 = table_grow tab0, v0, v0", "table_grow"),
        ("table_fill tab0, v0, v0, v0", "table_fill"),
    ] {
        let ir = format!(
            "memory mem0 device 1\ntable tab0 1\nfunction f0 (i32) -> () {{\nb0(v0: i32):\n    {line}\n    {}return\n}}\n",
            if line.starts_with('v') { "store.i32 mem0[v0], v1\n    " } else { "" }
        );
        let module = text::parse(&ir, "test.ir").unwrap_or_else(|error| panic!("{error:?}"));
        verify::verify(&module).unwrap_or_else(|error| panic!("{error}"));
        let error =
            compile(&module, FunctionId::from_u32(0), &Options::default()).expect_err("it is refused");
        assert!(error.to_string().contains(&format!("`{name}`")), "{error}");
        seen.insert(name);
    }
    assert_eq!(seen.len(), 6);
}

/// The modules of these tests are made of words by name; each opcode that the suite lacks is named in one of them, and once in the list.
#[test]
fn opcodes_that_the_suite_lacks_are_tested_here() {
    let text = [include_str!("decoder.rs"), include_str!("wrong.rs"), include_str!("bodies.rs")].concat();
    for name in ELSEWHERE {
        let quoted = format!("\"{name}\"");
        assert!(text.matches(&quoted).count() > 1, "no test of {name}");
    }
}
