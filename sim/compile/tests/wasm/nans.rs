//! Makes the NaNs canonical that a conversion between floats gives, in a module that a generator wrote.
//!
//! WebAssembly lets an engine choose the bits of such a NaN. The generator follows every operation on floats with code
//! that replaces a NaN by the canonical one, but not these conversions. This module adds the same code behind them, so
//! that two engines that choose differently can be compared bit by bit.

use wasmparser::{BinaryReader, FunctionBody, Operator, Parser, Payload, TypeRef};

/// The section of code.
const CODE: u8 = 10;
/// `f32` and `f64` as types of local variables.
const FLOATS: [u8; 2] = [0x7D, 0x7C];

/// The module with canonical NaNs. It has to be valid.
pub(crate) fn canonical(bytes: &[u8]) -> Vec<u8> {
    let parameters = parameters(bytes);
    let mut result = bytes[..8].to_vec();
    let mut reader = BinaryReader::new(bytes, 0);
    reader.read_bytes(8).expect("it has a header");
    while !reader.eof() {
        let id = reader.read_u8().expect("a section has a number");
        let content = reader.read_reader().expect("a section has its size");
        result.push(id);
        match id {
            CODE => delimited(&mut result, &code(content, &parameters)),
            _ => delimited(&mut result, &bytes[content.range().start as usize..content.range().end as usize]),
        }
    }
    result
}

/// Number of parameters of each function that the module has of its own.
fn parameters(bytes: &[u8]) -> Vec<u32> {
    let mut types = Vec::new();
    let mut functions = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.expect("the module is valid") {
            Payload::TypeSection(reader) => {
                for ty in reader.into_iter_err_on_gc_types() {
                    types.push(ty.expect("the module is valid").params().len() as u32);
                }
            }
            Payload::ImportSection(reader) => {
                let mut imports = reader.into_imports().map(|import| import.expect("the module is valid").ty);
                assert!(!imports.any(|ty| matches!(ty, TypeRef::Tag(_))));
            }
            Payload::FunctionSection(reader) => {
                functions
                    .extend(reader.into_iter().map(|ty| types[ty.expect("the module is valid") as usize]));
            }
            _ => {}
        }
    }
    functions
}

/// The content of the section of code.
fn code(mut reader: BinaryReader<'_>, parameters: &[u32]) -> Vec<u8> {
    let count = reader.read_var_u32().expect("it has a count");
    let mut result = Vec::new();
    number(&mut result, count);
    for &parameters in parameters {
        let content = reader.read_reader().expect("a body has its size");
        delimited(&mut result, &body(&FunctionBody::new(content), parameters));
    }
    result
}

/// A body, with two more local variables.
fn body(body: &FunctionBody<'_>, parameters: u32) -> Vec<u8> {
    let (mut groups, mut variables) = (Vec::new(), parameters);
    let mut locals = body.get_locals_reader().expect("the module is valid");
    let count = locals.get_count();
    let first = locals.original_position();
    for _ in 0..count {
        variables += locals.read().expect("the module is valid").0;
    }
    let mut bytes = body.get_binary_reader();
    let start = bytes.original_position();
    let all = bytes.read_bytes(bytes.bytes_remaining()).expect("all of it");
    let slice = |from: u64, to: u64| &all[(from - start) as usize..(to - start) as usize];
    number(&mut groups, count + 2);
    groups.extend_from_slice(slice(first, locals.original_position()));
    FLOATS.iter().for_each(|&float| groups.extend([1, float]));

    let mut operators = body.get_operators_reader().expect("the module is valid");
    while !operators.eof() {
        let from = operators.original_position();
        let operator = operators.read().expect("the module is valid");
        groups.extend_from_slice(slice(from, operators.original_position()));
        match operator {
            Operator::F32DemoteF64 => {
                let nan = 0x7FC0_0000_u32.to_le_bytes();
                replace(&mut groups, variables, 0x43, &nan, 0x5B);
            }
            Operator::F64PromoteF32 => {
                let nan = (0x7FF8_u64 << 48).to_le_bytes();
                replace(&mut groups, variables + 1, 0x44, &nan, 0x61);
            }
            _ => {}
        }
    }
    groups
}

/// Code that replaces a NaN on top of the stack: `local.tee`, the constant, `local.get` twice, the comparison, `select`.
fn replace(code: &mut Vec<u8>, variable: u32, constant: u8, nan: &[u8], equal: u8) {
    code.push(0x22);
    number(code, variable);
    code.push(constant);
    code.extend_from_slice(nan);
    for _ in 0..2 {
        code.push(0x20);
        number(code, variable);
    }
    code.extend([equal, 0x1B]);
}

/// Bytes behind their number.
fn delimited(result: &mut Vec<u8>, bytes: &[u8]) {
    number(result, bytes.len() as u32);
    result.extend_from_slice(bytes);
}

/// A number in LEB128.
fn number(result: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        result.push(number as u8 | 0x80);
        number >>= 7;
    }
    result.push(number as u8);
}
