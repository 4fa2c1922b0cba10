//! Writes modules of the format.
//!
//! A file is a run of sections, each with a byte that says which; 0x06 ends them. Behind it lie names and data, which
//! sections name by their offset from the first byte of the file. Numbers are little-endian; counts and indices are
//! LEB128.
//!
//! | byte | section |
//! |---|---|
//! | 00 | memory: log2 of the bytes, of the most bytes, 1 if exported |
//! | 01 | signatures: count; each: parameter count u8, result u8 (0 none, 1 `i32`, 2 `i64`, 3 `f32`, 4 `f64`), parameters u8 |
//! | 02 | functions: count; each: flags u8, signature u16, name u32 (flag 1), four counts of variables u16 (flag 4), size u16 and body (not with flag 2: an import); flag 8: exported |
//! | 03 | global variables: count; each: name u32, memory type u8, 1 if exported |
//! | 04 | data: count; each: address u32, offset in the file u32, bytes u32, 1 if loaded |
//! | 05 | function table: count; function numbers u16 |
//! | 11 | passed over: size, bytes |
//!
//! A body is a run of expressions. An expression is an operator, its immediate operands, and its children.

use super::operators::{OTHERS, SIMPLE};
use std::collections::BTreeSet;
use wave_compile::ir::{Constant, Type};

/// An expression, or several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Expr {
    pub(crate) bytes: Vec<u8>,
    /// Numbers of its operators.
    pub(crate) used: BTreeSet<u8>,
}

/// A number in LEB128.
pub(crate) fn leb(mut number: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

/// The number of an operator.
pub(crate) fn opcode(name: &str) -> u8 {
    let others = OTHERS.iter().copied();
    let mut all = SIMPLE.iter().map(|&(name, opcode, _)| (name, opcode)).chain(others);
    all.find(|(other, _)| *other == name).unwrap_or_else(|| panic!("no operator {name}")).1
}

/// A type of the table of operators.
pub(crate) fn letter(letter: char) -> Type {
    match letter {
        'i' => Type::I32,
        'l' => Type::I64,
        'f' => Type::F32,
        _ => Type::F64,
    }
}

/// An operator with the bytes behind it and its children.
pub(crate) fn node(name: &str, immediate: &[u8], children: &[Expr]) -> Expr {
    let opcode = opcode(name);
    let mut expr = Expr { bytes: vec![opcode], used: BTreeSet::from([opcode]) };
    expr.bytes.extend(immediate);
    for child in children {
        expr.bytes.extend(&child.bytes);
        expr.used.extend(&child.used);
    }
    expr
}

/// An operator without immediate operands.
pub(crate) fn op(name: &str, children: &[Expr]) -> Expr {
    node(name, &[], children)
}

pub(crate) fn nop() -> Expr {
    op("nop", &[])
}

/// A constant: `i8.const` where it fits.
pub(crate) fn constant(constant: Constant) -> Expr {
    match constant {
        Constant::I32(value) => i32(value as i32),
        Constant::I64(value) => node("i64.const", &value.to_le_bytes(), &[]),
        Constant::F32(bits) => node("f32.const", &bits.to_le_bytes(), &[]),
        Constant::F64(bits) => node("f64.const", &bits.to_le_bytes(), &[]),
        Constant::Bool(_) => unreachable!("the format has no truth values"),
    }
}

pub(crate) fn i32(value: i32) -> Expr {
    match i8::try_from(value) {
        Ok(value) => node("i8.const", &value.to_le_bytes(), &[]),
        Err(_) => node("i32.const", &value.to_le_bytes(), &[]),
    }
}

pub(crate) fn i64(value: i64) -> Expr {
    node("i64.const", &value.to_le_bytes(), &[])
}

pub(crate) fn f32(value: f32) -> Expr {
    node("f32.const", &value.to_le_bytes(), &[])
}

pub(crate) fn get(local: u32) -> Expr {
    node("get_local", &leb(local), &[])
}

pub(crate) fn set(local: u32, value: Expr) -> Expr {
    node("set_local", &leb(local), &[value])
}

pub(crate) fn block(expressions: &[Expr]) -> Expr {
    node("block", &[u8::try_from(expressions.len()).expect("at most 255")], expressions)
}

/// Depth 0 is its head, depth 1 its end.
pub(crate) fn repeat(expressions: &[Expr]) -> Expr {
    node("loop", &[u8::try_from(expressions.len()).expect("at most 255")], expressions)
}

pub(crate) fn br(depth: u8, value: Expr) -> Expr {
    node("br", &[depth], &[value])
}

pub(crate) fn br_if(depth: u8, value: Expr, condition: Expr) -> Expr {
    node("br_if", &[depth], &[value, condition])
}

/// A target of a `tableswitch` that is a branch.
pub(crate) const BRANCH: u16 = 0x8000;

pub(crate) fn tableswitch(targets: &[u16], key: Expr, cases: &[Expr]) -> Expr {
    let counts = [cases.len() as u16, targets.len() as u16];
    let immediate: Vec<u8> = counts.iter().chain(targets).flat_map(|number| number.to_le_bytes()).collect();
    let children: Vec<Expr> = [key].into_iter().chain(cases.iter().cloned()).collect();
    node("tableswitch", &immediate, &children)
}

pub(crate) fn call(function: u32, arguments: &[Expr]) -> Expr {
    node("call_function", &leb(function), arguments)
}

pub(crate) fn call_indirect(signature: u32, place: Expr, arguments: &[Expr]) -> Expr {
    let children: Vec<Expr> = [place].into_iter().chain(arguments.iter().cloned()).collect();
    node("call_indirect", &leb(signature), &children)
}

/// The flags of an access, and its offset: bit 4 says that there is one, bit 7 that the access may be unaligned.
pub(crate) fn access(offset: u32, is_aligned: bool) -> Vec<u8> {
    let mut bytes = vec![if is_aligned { 0 } else { 0x80 }];
    if offset > 0 {
        bytes[0] |= 0x10;
        bytes.extend(leb(offset));
    }
    bytes
}

pub(crate) fn load(name: &str, offset: u32, address: Expr) -> Expr {
    node(name, &access(offset, true), &[address])
}

pub(crate) fn store(name: &str, offset: u32, address: Expr, value: Expr) -> Expr {
    node(name, &access(offset, true), &[address, value])
}

/// Flags of a function beside those for its name and its variables.
pub(crate) const IMPORT: u8 = 2;
pub(crate) const EXPORT: u8 = 8;

/// A function.
#[derive(Debug, Clone, Default)]
pub(crate) struct Function {
    pub(crate) name: Option<String>,
    /// [`IMPORT`] and [`EXPORT`].
    pub(crate) flags: u8,
    pub(crate) signature: u16,
    /// Numbers of variables: `i32`, `i64`, `f32`, `f64`.
    pub(crate) locals: [u16; 4],
    pub(crate) body: Vec<Expr>,
}

/// A data segment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Segment {
    pub(crate) address: u32,
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_loaded: bool,
}

/// A module.
#[derive(Debug, Clone, Default)]
pub(crate) struct Module {
    /// log2 of the bytes and of the most bytes, and whether it is exported.
    pub(crate) memory: Option<(u8, u8, bool)>,
    pub(crate) signatures: Vec<(Vec<Type>, Option<Type>)>,
    pub(crate) functions: Vec<Function>,
    /// Name, memory type, and whether it is exported.
    pub(crate) globals: Vec<(String, u8, bool)>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) table: Vec<u16>,
    /// The content of a section 0x11.
    pub(crate) passed: Option<Vec<u8>>,
}

/// The number of a type.
pub(crate) fn type_number(ty: Type) -> u8 {
    match ty {
        Type::I32 => 1,
        Type::I64 => 2,
        Type::F32 => 3,
        Type::F64 => 4,
        Type::Bool => unreachable!("the format has no truth values"),
    }
}

impl Module {
    /// The number of a signature, which is added if there is none like it.
    pub(crate) fn signature(&mut self, parameters: &[Type], result: Option<Type>) -> u16 {
        let wanted = (parameters.to_vec(), result);
        let found = self.signatures.iter().position(|signature| *signature == wanted);
        found.unwrap_or_else(|| {
            self.signatures.push(wanted);
            self.signatures.len() - 1
        }) as u16
    }

    /// Adds a function with a body, and gives its number.
    pub(crate) fn function(
        &mut self,
        name: &str,
        parameters: &[Type],
        result: Option<Type>,
        locals: [u16; 4],
        body: Vec<Expr>,
    ) -> u32 {
        let signature = self.signature(parameters, result);
        self.functions.push(Function { name: Some(name.to_owned()), flags: 0, signature, locals, body });
        self.functions.len() as u32 - 1
    }

    /// Numbers of its operators.
    pub(crate) fn used(&self) -> BTreeSet<u8> {
        let bodies = self.functions.iter().flat_map(|function| &function.body);
        bodies.flat_map(|expr| expr.used.iter().copied()).collect()
    }

    /// The bytes of the module.
    pub(crate) fn encode(&self) -> Vec<u8> {
        // Offsets are known when the length of the sections is, and that does not depend on them.
        let (sections, _) = self.sections(0);
        let (mut bytes, rest) = self.sections(sections.len() as u32);
        bytes.extend(rest);
        bytes
    }

    /// The sections, where what lies behind them begins at an offset; and what lies there.
    fn sections(&self, behind: u32) -> (Vec<u8>, Vec<u8>) {
        let (mut bytes, mut rest) = (Vec::new(), Vec::new());
        let place = |rest: &mut Vec<u8>, contents: &[u8]| {
            let at = behind + rest.len() as u32;
            rest.extend(contents);
            at.to_le_bytes()
        };
        let string = |rest: &mut Vec<u8>, name: &str| place(rest, &[name.as_bytes(), b"\0"].concat());
        if let Some((least, most, is_exported)) = self.memory {
            bytes.extend([0x00, least, most, is_exported.into()]);
        }
        if !self.segments.is_empty() {
            bytes.push(0x04);
            bytes.extend(leb(self.segments.len() as u32));
            for Segment { address, bytes: contents, is_loaded } in &self.segments {
                bytes.extend(address.to_le_bytes());
                bytes.extend(place(&mut rest, contents));
                bytes.extend((contents.len() as u32).to_le_bytes());
                bytes.push((*is_loaded).into());
            }
        }
        if !self.globals.is_empty() {
            bytes.push(0x03);
            bytes.extend(leb(self.globals.len() as u32));
            for (name, ty, is_exported) in &self.globals {
                bytes.extend(string(&mut rest, name));
                bytes.extend([*ty, (*is_exported).into()]);
            }
        }
        bytes.push(0x01);
        bytes.extend(leb(self.signatures.len() as u32));
        for (parameters, result) in &self.signatures {
            bytes.extend([parameters.len() as u8, result.map_or(0, type_number)]);
            bytes.extend(parameters.iter().map(|&ty| type_number(ty)));
        }
        if let Some(passed) = &self.passed {
            bytes.push(0x11);
            bytes.extend(leb(passed.len() as u32));
            bytes.extend(passed);
        }
        bytes.push(0x02);
        bytes.extend(leb(self.functions.len() as u32));
        for function in &self.functions {
            let has_locals = function.locals != [0; 4];
            let named = u8::from(function.name.is_some());
            bytes.push(function.flags | named | if has_locals { 4 } else { 0 });
            bytes.extend(function.signature.to_le_bytes());
            if let Some(name) = &function.name {
                bytes.extend(string(&mut rest, name));
            }
            if has_locals {
                bytes.extend(function.locals.iter().flat_map(|count| count.to_le_bytes()));
            }
            if function.flags & IMPORT == 0 {
                let body: Vec<u8> = function.body.iter().flat_map(|expr| expr.bytes.clone()).collect();
                bytes
                    .extend(u16::try_from(body.len()).expect("a body has at most 65535 bytes").to_le_bytes());
                bytes.extend(body);
            }
        }
        if !self.table.is_empty() {
            bytes.push(0x05);
            bytes.extend(leb(self.table.len() as u32));
            bytes.extend(self.table.iter().flat_map(|function| function.to_le_bytes()));
        }
        bytes.push(0x06);
        (bytes, rest)
    }
}
