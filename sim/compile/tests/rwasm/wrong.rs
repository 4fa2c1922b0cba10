//! What the decoder says of wrong modules.

use super::decoder::{decoded, get, i32_const, module};
use super::words::{Module, Word, branch, drop_keep, wide, word};
use std::sync::Arc;
use wave_compile::encoding::{Error, Fault};
use wave_compile::ir::interpret::{Instance, Limits};
use wave_compile::ir::{Constant, FunctionId, Trap, verify};
use wave_compile::rwasm::{RwasmOptions, decode};

fn error(module: &Module) -> Error {
    decode(&module.bytes(), &RwasmOptions::default()).expect_err("it is wrong")
}

/// The error of a module with one function beside the entry point: its message, and the number of its instruction.
fn error_in(words: &[Word]) -> (String, u64) {
    let error = error(&module(&[words]));
    assert_eq!(error.function.as_deref(), Some("0"), "{error}");
    let offset = error.offset.expect("errors have a place") - 24;
    (error.message, offset / 9)
}

#[test]
fn wrong_containers_have_a_place() {
    let right = module(&[]).bytes();
    let changed = |at: usize, byte: u8| {
        let mut bytes = right.clone();
        bytes[at] = byte;
        let error = decode(&bytes, &RwasmOptions::default()).expect_err("it is wrong");
        (error.message, error.offset)
    };
    let expect = |at, byte, message: &str, offset| {
        assert_eq!(changed(at, byte), (message.to_owned(), Some(offset)));
    };
    expect(2, 2, "version 2 is not taken, only version 1", 2);
    expect(3, 2, "the section of code has the number 1, not 2", 3);
    expect(13, 1, "the section of functions has the number 3, not 1", 13);
    expect(23, 1, "a zero ends the sizes of sections", 23);
    expect(24, 0xC6, "there is no opcode 0xc6: they go up to 0xc5", 24);
    expect(33, 2, "the functions have 2 instructions, and the code 1", 33);
    expect(14, 8, "the file ends where the section of functions is expected: 8 bytes, and 4 are left", 33);
    let mut longer = right.clone();
    longer.push(0);
    let error = decode(&longer, &RwasmOptions::default()).expect_err("it is wrong");
    assert_eq!(
        (error.offset, error.message.as_str()),
        (Some(37), "the file goes on behind its last section")
    );
    for length in 0..right.len() {
        let error = decode(&right[..length], &RwasmOptions::default()).expect_err("it is wrong");
        assert!(error.offset.is_some_and(|offset| offset <= length as u64), "{error}");
    }
    let mut elements = module(&[]);
    elements.elements = vec![0, u32::MAX, 1];
    let error = self::error(&elements);
    assert_eq!((error.message.as_str(), error.offset), ("there is no function 1: there are 1", Some(45)));
    let empty = Module { functions: vec![vec![], vec![drop_keep("Return", 0, 0)]], ..Module::default() };
    assert_eq!(self::error(&empty).message, "function 0 has no instructions");
    let none = Module::default();
    assert_eq!(self::error(&none).message, "there is no function: the last one is the entry point");
}

#[test]
fn wrong_code_has_a_place() {
    let ret = drop_keep("Return", 0, 0);
    let mut padded = word("Drop", 0);
    padded[3] = 1;
    let cases: &[(&[Word], &str, u64)] = &[
        (&[i32_const(1)], "control runs past the last instruction of the function", 0),
        (
            &[branch("Br", 2), ret],
            "a branch by 2 from instruction 0 leads to no instruction of the function",
            0,
        ),
        (
            &[branch("Br", -1), ret],
            "a branch by -1 from instruction 0 leads to no instruction of the function",
            0,
        ),
        (
            &[branch("BrAdjust", 1), ret],
            "a branch by 1 from instruction 0 leads to no instruction of the function",
            0,
        ),
        (&[branch("BrAdjust", 0)], "br_adjust needs return behind it, not the end of the function", 0),
        (&[word("CallIndirect", 0), ret], "call_indirect needs table_get behind it, not return", 1),
        (&[word("BrTable", 0), ret], "a branch table of 0 targets in a function of 2 instructions", 0),
        (&[word("BrTable", 1), ret, word("Drop", 0)], "br_table needs return behind it, not drop", 2),
        (
            &[word("BrTable", 1), word("Drop", 0), ret],
            "br_table needs br or br_adjust or return behind it, not drop",
            1,
        ),
        // The words of all targets belong to the table.
        (
            &[i32_const(0), word("BrTable", 2), ret, ret, ret, ret, branch("Br", -1)],
            "a branch by -1 from instruction 6 leads to no instruction of the function",
            6,
        ),
        (&[get(0), ret], "local_get: cells are counted from 1, the one on top", 0),
        (&[word("CallInternal", 2), ret], "call_internal: there is no function 2: there may be 2", 0),
        (&[word("RefFunc", 2), ret], "ref_func: there is no function 2: there may be 2", 0),
        (
            &[word("GlobalGet", 65536), ret],
            "global_get: there is no global variable 65536: there may be 65536",
            0,
        ),
        (&[word("TableSize", 1024), ret], "table_size: there is no table 1024: there may be 1024", 0),
        (
            &[i32_const(0), word("SignatureCheck", 0), ret],
            "a check of the signature comes first in its function, and once",
            1,
        ),
        (&[i32_const(0), ret], "the function returns with 1 cells that are none of its results", 1),
        (
            &[get(1), branch("BrIfEqz", 2), i32_const(0), drop_keep("Return", 1, 1)],
            "instruction 3 is reached with 0 cells and with 1",
            3,
        ),
        (&[get(2), drop_keep("Return", 1, 1)], "a cell below the 1 parameters of the function", 0),
        (&[get(5000), ret], "a cell 5000 below the beginning of the function", 0),
        (&[i32_const(0), drop_keep("Return", 5000, 1)], "a cell 5000 below the beginning of the function", 1),
    ];
    for (words, message, at) in cases {
        let (has, place) = error_in(words);
        // The two paths to an instruction may be found in either order.
        let turned = "instruction 3 is reached with 1 cells and with 0";
        assert!(has == *message || has == turned, "{has}, not {message}");
        assert_eq!(place, *at, "{message}");
    }
    let error = self::error(&module(&[&[padded, ret]]));
    assert_eq!(
        (error.message.as_str(), error.offset),
        ("bytes after the operand of drop are not zero", Some(25))
    );
    for (name, bits, filled) in [
        ("I32Const", 1 << 32, "zero, nor its sign"),
        ("I32Const", 0xFFFF_FFFF_7FFF_FFFF, "zero, nor its sign"),
        ("I32Const", 0xFFFF_FFFE_8000_0000, "zero, nor its sign"),
        ("F32Const", 0xFFFF_FFFF_8000_0000, "zero"),
        ("LocalGet", 0xFFFF_FFFF_FFFF_FFFF, "zero"),
        ("Br", 0xFFFF_FFFF_FFFF_FFFF, "zero"),
    ] {
        let error = self::error(&module(&[&[wide(name, bits), ret]]));
        let (start, end) = ("bytes after the operand of ", format!(" are not {filled}"));
        assert!(error.message.starts_with(start) && error.message.ends_with(&end), "{error}");
        assert_eq!(error.offset, Some(24 + 5), "{name} {bits:#x}");
    }
    let two = [get(1), drop_keep("ReturnIfNez", 0, 0), drop_keep("Return", 0, 1)];
    let (message, place) = error_in(&two);
    assert!(message.starts_with("the function takes ") && place > 0, "{message}");
    // The entry point has no parameters.
    let entry = Module { functions: vec![vec![word("Drop", 0), ret]], ..Module::default() };
    assert_eq!(self::error(&entry).message, "a cell below the 0 parameters of the function");
    let entry =
        Module { functions: vec![vec![word("Drop", 0), word("Unreachable", 0)]], ..Module::default() };
    assert!(self::error(&entry).message.starts_with("the entry point uses cells below its beginning"));
}

/// Functions with the same signature take and give the same, also where one of them does not say so.
#[test]
fn functions_of_one_signature_agree() {
    let one = [word("SignatureCheck", 3), drop_keep("Return", 2, 0)];
    let other = [word("SignatureCheck", 3), drop_keep("Return", 1, 0)];
    let silent = [word("SignatureCheck", 3), word("Unreachable", 0)];
    assert!(
        self::error(&module(&[&one, &other])).message.contains("or in a function with the same signature")
    );
    let module = decoded(&module(&[&one, &silent]).bytes()).module;
    assert_eq!(module.functions[FunctionId::from_u32(1)].signature.parameters.len(), 2);
}

#[test]
fn host_functions_are_refused_by_number() {
    for (words, what) in [
        (vec![word("Call", 12), drop_keep("Return", 0, 0)], "the host function 12 (call)"),
        (vec![word("ReturnCall", 3), drop_keep("Return", 0, 0)], "the host function 3 (return_call)"),
    ] {
        let error = self::error(&module(&[&words]));
        assert_eq!(error.fault, Fault::Refused);
        assert_eq!(error.message, format!("this module uses {what}, which is not taken"));
        assert_eq!(error.offset, Some(24));
        assert!(error.hint.is_some_and(|hint| hint.contains("--imports trap")));
    }
}

/// What comes behind a call of a host function is not looked at, and other functions do what they do.
#[test]
fn calls_of_host_functions_may_trap() {
    let wrapper = [word("ConsumeFuel", 1), word("Call", 12), drop_keep("Return", 0, 0)];
    let caller = [get(1), word("CallInternal", 0), word("Drop", 0), word("Drop", 0), word("Drop", 0)];
    let tail = [word("ReturnCall", 3), drop_keep("Return", 0, 0)];
    let right = [get(1), i32_const(1), word("I32Add", 0), drop_keep("Return", 1, 1)];
    let options = RwasmOptions { host_calls_trap: true, ..RwasmOptions::default() };
    let file = module(&[&wrapper, &caller, &tail, &right]);
    let decoded = decode(&file.bytes(), &options).unwrap_or_else(|error| panic!("{error}"));
    verify::verify(&decoded.module).unwrap_or_else(|error| panic!("{error}"));
    let instance = Instance::new(Arc::new(decoded.module)).expect("it starts");
    let call = |number: u32, arguments: &[u64]| {
        let arguments: Vec<Constant> = arguments.iter().map(|&bits| Constant::I64(bits)).collect();
        let called = instance.call(FunctionId::from_u32(number), &arguments, &Limits::default());
        called.map_err(|trapped| (trapped.trap, decoded.listing.line(trapped.place)))
    };
    assert_eq!(call(0, &[]), Err((Trap::UnknownImport, Some(3))));
    assert_eq!(call(1, &[7]), Err((Trap::UnknownImport, Some(3))));
    assert_eq!(call(2, &[]), Err((Trap::UnknownImport, Some(12))));
    assert_eq!(call(3, &[7]), Ok(vec![Constant::I64(8)]));
}
