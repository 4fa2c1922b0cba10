//! Modules with calls, which the engine of the time and the decoder have to answer alike.
//!
//! The engine cannot pass an `i64` to a host, nor every pattern of bits. So each function is called through a wrapper
//! that takes words and leaves the result at address 0.

mod constructs;
mod values;

use super::encoder::{
    EXPORT, Expr, Function, Module, Segment, block, call, get, i32, i64, letter, node, op, set, store,
};
use super::operators::SIMPLE;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use std::collections::BTreeSet;
use wave_compile::ir::{Constant, Type};

/// A call of an exported wrapper.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) export: String,
    /// Arguments: a word for a type of 32 bits, two for the others, the low one first.
    pub(crate) words: Vec<u32>,
    /// The type of what is at address 0 behind it.
    pub(crate) result: Option<Type>,
}

/// A module with calls. Its instance lives from the first call to the last.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) used: BTreeSet<u8>,
    pub(crate) calls: Vec<Call>,
}

/// Bytes of memory that wrappers use: the result, and what is kept free behind it.
pub(crate) const SCRATCH: usize = 16;

/// Adds a wrapper of a function, which is exported under the name of the function and `!`.
pub(crate) fn wrap(module: &mut Module, function: u32) {
    let Function { name, signature, .. } = module.functions[function as usize].clone();
    let (parameters, result) = module.signatures[usize::from(signature)].clone();
    let mut words = 0;
    let arguments: Vec<Expr> = parameters
        .iter()
        .map(|ty| {
            let mut word = || {
                words += 1;
                get(words - 1)
            };
            let low = word();
            if ty.bytes() == 4 {
                return if *ty == Type::I32 { low } else { op("f32.reinterpreti32", &[low]) };
            }
            let high = op("i64.shl", &[op("i64.uconverti32", &[word()]), i64(32)]);
            let wide = op("i64.ior", &[op("i64.uconverti32", &[low]), high]);
            if *ty == Type::I64 { wide } else { op("f64.reinterpreti64", &[wide]) }
        })
        .collect();
    let called = call(function, &arguments);
    let body = match result {
        Some(ty) => store(&format!("{ty}.store"), 0, i32(0), called),
        None => called,
    };
    let name = format!("{}!", name.expect("it has a name"));
    let wrapper = module.function(&name, &vec![Type::I32; words as usize], None, [0; 4], vec![body]);
    module.functions[wrapper as usize].flags |= EXPORT;
}

/// Arguments as words.
pub(crate) fn words(arguments: &[Constant]) -> Vec<u32> {
    let of = |constant: &Constant| match constant.ty().bytes() {
        4 => vec![constant.bits() as u32],
        _ => vec![constant.bits() as u32, (constant.bits() >> 32) as u32],
    };
    arguments.iter().flat_map(of).collect()
}

/// A module with 4 KiB of memory.
pub(crate) fn module() -> Module {
    Module { memory: Some((12, 12, true)), ..Module::default() }
}

/// Integers and floats at bounds, as bits.
pub(crate) fn interesting(ty: Type) -> Vec<u64> {
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        -0.99,
        1e-40,
        3.0e9,
        2147483648.0,
        -2147483648.0,
        -2147483649.0,
        4294967296.0,
        9.2e18,
        9223372036854775808.0,
        -9223372036854775808.0,
        18446744073709551616.0,
        1e30,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    match ty {
        Type::I64 => {
            let mut all: Vec<u64> = vec![0, 1, u64::MAX, 2, 31, 63, 64, 65, 1 << 31, 1 << 32, 1 << 53];
            all.extend([i64::MAX as u64, i64::MIN as u64, 0xdead_beef_1234_5678, (1 << 53) + 1, 0xffff_ffff]);
            all
        }
        Type::F32 => {
            let more = [1, 0x007f_ffff, 0x0080_0000, 0x7f7f_ffff, 0x4eff_ffff, 0x4f7f_ffff, 0x5f7f_ffff];
            floats.iter().map(|&float| u64::from((float as f32).to_bits())).chain(more).collect()
        }
        Type::F64 => {
            let more = [
                1,
                0x7fef_ffff_ffff_ffff,
                0x41df_ffff_ffc0_0000,
                0x41df_ffff_ffff_ffff,
                0x3810_0000_0000_0001,
            ];
            floats.iter().map(|float| float.to_bits()).chain(more).collect()
        }
        _ => {
            [0, 1, -1, 2, 7, 31, 32, 33, 0x80, 0x7fff, 0xffff, i32::MAX, i32::MIN, 0x1234_5678, -559_038_737]
                .map(|value: i32| u64::from(value as u32))
                .to_vec()
        }
    }
}

/// Arguments for an operator: values at bounds, and random ones.
fn arguments(types: &[Type], random: &mut Pcg64) -> Vec<Vec<Constant>> {
    let of = |ty: Type| interesting(ty).into_iter().map(move |bits| Constant::from_bits(ty, bits));
    let mut all: Vec<Vec<Constant>> = match *types {
        [ty] => of(ty).map(|one| vec![one]).collect(),
        [first, second] => {
            let (first, second): (Vec<_>, Vec<_>) = (of(first).collect(), of(second).collect());
            let pairs = first.iter().flat_map(|&a| second.iter().map(move |&b| vec![a, b]));
            let pairs: Vec<_> = pairs.collect();
            // All values with themselves, zeros with one another, and a part of the others.
            let is_taken = |pair: &[Constant]| {
                let is_zero =
                    |value: Constant| value.bits() << 1 & u64::MAX >> (64 - 8 * value.ty().bytes()) == 0;
                pair[0] == pair[1]
                    || is_zero(pair[1]) && pair[0].bits() < 2
                    || pair.iter().all(|&one| is_zero(one))
            };
            let mut kept: Vec<_> = pairs.iter().filter(|pair| is_taken(pair)).cloned().collect();
            kept.extend((0..30).map(|_| pairs[random.random_range(0..pairs.len())].clone()));
            kept
        }
        _ => unreachable!("operators take one or two"),
    };
    let of_bits = |ty: Type, random: &mut Pcg64| Constant::from_bits(ty, random.random());
    all.extend((0..10).map(|_| types.iter().map(|&ty| of_bits(ty, random)).collect()));
    all
}

/// A case for each operator that computes.
fn computing() -> Vec<Case> {
    let operators = SIMPLE.iter().filter(|(_, opcode, _)| *opcode >= 0x40);
    let of = |&(name, opcode, types): &(&str, u8, &str)| {
        let (operands, result) = types.split_once(':').expect("a colon");
        let operands: Vec<Type> = operands.chars().map(letter).collect();
        let result = result.chars().next().map(letter);
        let mut module = module();
        let children: Vec<Expr> = (0..operands.len() as u32).map(get).collect();
        let function = module.function("f", &operands, result, [0; 4], vec![op(name, &children)]);
        wrap(&mut module, function);
        let mut random = Pcg64::seed_from_u64(opcode.into());
        let calls = arguments(&operands, &mut random);
        let call =
            |arguments: Vec<Constant>| Call { export: "f!".to_owned(), words: words(&arguments), result };
        let (bytes, used) = (module.encode(), module.used());
        Case { name: name.to_owned(), bytes, used, calls: calls.into_iter().map(call).collect() }
    };
    operators.map(of).collect()
}

/// A case for each load and each store: several addresses, offsets, aligned or not.
fn accessing() -> Vec<Case> {
    let operators = SIMPLE.iter().filter(|(_, opcode, _)| *opcode < 0x40);
    let of = |&(name, opcode, types): &(&str, u8, &str)| {
        let (operands, result) = types.split_once(':').expect("a colon");
        let operands: Vec<Type> = operands.chars().map(letter).collect();
        let result = result.chars().next().map(letter);
        let mut module = module();
        let bytes: Vec<u8> = (0..=255).map(|byte: u8| byte.wrapping_mul(73) ^ 0x5a).collect();
        module.segments.push(Segment { address: 64, bytes: bytes.clone(), is_loaded: true });
        module.segments.push(Segment { address: 4096 - 32, bytes: bytes[..32].to_vec(), is_loaded: true });
        let children: Vec<Expr> = (0..operands.len() as u32).map(get).collect();
        for (function, offset, aligned) in
            [("f", 0, true), ("g", 5, false), ("h", 4000, true), ("k", u32::MAX, true)]
        {
            let body = node(name, &super::encoder::access(offset, aligned), &children);
            let function = module.function(function, &operands, result, [0; 4], vec![body]);
            wrap(&mut module, function);
        }
        let mut random = Pcg64::seed_from_u64(opcode.into());
        let mut calls = Vec::new();
        for (export, addresses) in [
            ("f!", &[64, 65, 66, 71, 100, 4088, 4092, 4095, 4096, -1, i32::MIN][..]),
            ("g!", &[64, 67, 4083, 4087, 4090, 4091, -5, -1]),
            ("h!", &[64, 80, 88, 92, 94, 95, 96, -4000, -3999]),
            ("k!", &[0, 1, 2, -1]),
        ] {
            for &address in addresses {
                let mut all = vec![Constant::I32(address as u32)];
                all.extend(operands[1..].iter().map(|&ty| match ty.is_float() {
                    // No NaN: its bits in memory are not what is compared.
                    true => Constant::from_bits(ty, random.random::<u64>() & 0xbfbf_ffff_bfbf_ffff),
                    false => Constant::from_bits(ty, random.random()),
                }));
                calls.push(Call { export: export.to_owned(), words: words(&all), result });
            }
        }
        Case { name: name.to_owned(), bytes: module.encode(), used: module.used(), calls }
    };
    operators.map(of).collect()
}

/// Cases that are written by hand.
#[derive(Default)]
struct Cases {
    all: Vec<Case>,
}

/// Arguments of functions of two `i32`.
const PAIRS: &[[i32; 2]] = &[[0, 0], [1, 0], [0, 1], [5, 3], [-1, 7], [2, 2], [3, 9], [100, -2]];

impl Cases {
    /// A function of two `i32`, with two variables of each type, and what it calls before it.
    fn with(&mut self, name: &str, mut module: Module, result: Option<Type>, body: Vec<Expr>) {
        let parameters = [Type::I32; 2];
        let function = module.function("f", &parameters, result, [2, 2, 2, 2], body);
        wrap(&mut module, function);
        let call = |pair: &[i32; 2]| Call {
            export: "f!".to_owned(),
            words: pair.map(|word| word as u32).to_vec(),
            result,
        };
        let (bytes, used) = (module.encode(), module.used());
        self.all.push(Case { name: name.to_owned(), bytes, used, calls: PAIRS.iter().map(call).collect() });
    }

    fn i32(&mut self, name: &str, body: &[Expr]) {
        self.with(name, module(), Some(Type::I32), body.to_vec());
    }

    fn none(&mut self, name: &str, body: &[Expr]) {
        self.with(name, module(), None, body.to_vec());
    }
}

fn add(a: Expr, b: Expr) -> Expr {
    op("i32.add", &[a, b])
}

/// Notes that something is evaluated: 10 * variable + digit. The value is the last operand.
fn trace(digit: i32, value: Expr) -> Expr {
    let noted = set(2, add(op("i32.mul", &[get(2), i32(10)]), i32(digit)));
    block(&[noted, value])
}

/// The variable that [`trace`] writes.
fn traced() -> Expr {
    get(2)
}

/// All cases, each of another name.
pub(crate) fn all() -> Vec<Case> {
    let mut cases = Cases::default();
    constructs::constructs(&mut cases);
    constructs::branches(&mut cases);
    values::values(&mut cases);
    values::globals(&mut cases);
    values::calls(&mut cases);
    let mut all = computing();
    all.extend(accessing());
    all.extend(cases.all);
    let names: BTreeSet<&str> = all.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), all.len(), "each case has a name of its own");
    all
}
