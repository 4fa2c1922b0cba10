//! Random modules: typed expression trees with control flow, that end.
//!
//! What texts leave open does not show: bits of a NaN are made canonical where they could be seen, and a minimum or
//! maximum goes through an addition of 0, behind which zeros have one sign.

use super::cases::{Call, Case, interesting, module, words, wrap};
use super::encoder::{
    BRANCH, Expr, Module, access, block, br, br_if, call, call_indirect, constant, get, i32, leb, letter,
    node, nop, op, repeat, set, tableswitch,
};
use super::operators::SIMPLE;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use wave_compile::ir::{Constant, Type};

const TYPES: [Type; 4] = [Type::I32, Type::I64, Type::F32, Type::F64];
/// Variables of each type that expressions use.
const VARIABLES: u16 = 3;
/// Variables that count how often loops are run, in front of the others.
const COUNTERS: u32 = 6;
/// Most rounds of a loop.
const ROUNDS: i32 = 3;
/// Deepest nesting of loops.
const LOOPS: u32 = 2;
/// Bytes of a body at most; calls multiply what a function does.
const MOST_BYTES: usize = 1500;

struct Tree<'a> {
    random: &'a mut Pcg64,
    module: &'a Module,
    parameters: Vec<Type>,
    result: Option<Type>,
    /// Labels, the innermost last: the type that they take, or none.
    labels: Vec<Option<Type>>,
    /// Labels that a branch must not name: heads of loops, because those count, and ends that take one value.
    heads: Vec<bool>,
    counters: u32,
    loops: u32,
    /// Nodes that may still be made.
    budget: i32,
    is_leaf: bool,
}

/// The number of the first variable of a type, behind parameters and counters.
fn first(parameters: usize, ty: Type) -> u32 {
    let before = TYPES.iter().position(|&other| other == ty).expect("a type of the format") as u32;
    // Counters are `i32` and come first; one more of each type is for values that are looked at twice.
    parameters as u32 + COUNTERS + before * u32::from(VARIABLES + 1)
}

impl Tree<'_> {
    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.random.random_range(0..all.len())]
    }

    fn chance(&mut self, one_in: u32) -> bool {
        self.random.random_range(0..one_in) == 0
    }

    fn ty(&mut self) -> Type {
        self.one_of(&TYPES)
    }

    /// A variable or parameter of a type.
    fn variable(&mut self, ty: Type) -> u32 {
        let mut all: Vec<u32> = (0..)
            .zip(&self.parameters)
            .filter(|(_, other)| **other == ty)
            .map(|(number, _)| number)
            .collect();
        let first = first(self.parameters.len(), ty);
        all.extend(first..first + u32::from(VARIABLES));
        self.one_of(&all)
    }

    fn leaf(&mut self, ty: Type) -> Expr {
        if self.chance(2) {
            return get(self.variable(ty));
        }
        let values = interesting(ty);
        let bits = if self.chance(3) { self.random.random() } else { self.one_of(&values) };
        match Constant::from_bits(ty, bits) {
            Constant::F32(bits) if f32::from_bits(bits).is_nan() => constant(Constant::F32(0x4049_0fdb)),
            Constant::F64(bits) if f64::from_bits(bits).is_nan() => {
                constant(Constant::F64(0x4005_bf0a_8b14_5769))
            }
            constant_ => constant(constant_),
        }
    }

    /// A float of which bits may be looked at: 0 in place of a NaN.
    fn not_nan(&mut self, ty: Type) -> Expr {
        let own = first(self.parameters.len(), ty) + u32::from(VARIABLES);
        self.labels.push(None);
        self.heads.push(true);
        let value = set(own, self.ending(ty));
        self.labels.pop();
        self.heads.pop();
        let zero = constant(Constant::zero(ty));
        let is_nan = op(&format!("{ty}.ne"), &[get(own), get(own)]);
        block(&[value, op("select", &[zero, get(own), is_nan])])
    }

    /// An address that is mostly inside memory and behind what wrappers use.
    fn address(&mut self) -> Expr {
        let value = self.value(Type::I32);
        if self.chance(40) {
            return value;
        }
        op("i32.add", &[op("i32.and", &[value, i32(0x3ff)]), i32(64)])
    }

    fn offset(&mut self) -> Vec<u8> {
        let offset = if self.chance(3) { self.random.random_range(0..2000) } else { 0 };
        access(offset, self.random.random())
    }

    /// An operator of the table that gives a type.
    fn simple(&mut self, ty: Type) -> Expr {
        let gives = |types: &str| {
            types.split_once(':').is_some_and(|(_, result)| result.chars().map(letter).eq([ty]))
        };
        let all: Vec<_> = SIMPLE.iter().filter(|(_, _, types)| gives(types)).collect();
        let (name, opcode, types) = *self.one_of(&all);
        let operands: Vec<Type> = types.chars().take_while(|&letter| letter != ':').map(letter).collect();
        let mut children: Vec<Expr> = Vec::new();
        for (number, &ty) in operands.iter().enumerate() {
            let is_address = opcode < 0x40 && number == 0;
            let shows_bits =
                name.contains("reinterpret") || name.contains("store") || name.contains("copysign");
            // A conversion of any float traps nearly always.
            let converts = ty.is_float() && name.starts_with('i') && name.contains("convert");
            children.push(match () {
                () if is_address => self.address(),
                () if shows_bits && ty.is_float() => self.not_nan(ty),
                () if converts && !self.chance(20) => {
                    op(&format!("{ty}.sconverti32"), &[self.value(Type::I32)])
                }
                () => self.value(ty),
            });
        }
        if opcode < 0x40 {
            return node(name, &self.offset(), &children);
        }
        let divides = name.contains("div_") || name.contains("rem_");
        if divides && !self.chance(20) {
            // An odd divisor that is not -1.
            let (bits, mask) = match ty {
                Type::I32 => (Constant::I32(1), Constant::I32(0x7fff_ffff)),
                _ => (Constant::I64(1), Constant::I64(i64::MAX as u64)),
            };
            let divisor = op(&format!("{ty}.ior"), &[children[1].clone(), constant(bits)]);
            children[1] = op(&format!("{ty}.and"), &[divisor, constant(mask)]);
        }
        let value = op(name, &children);
        match name.ends_with(".min") || name.ends_with(".max") {
            true => op(&format!("{ty}.add"), &[value, constant(Constant::zero(ty))]),
            false => value,
        }
    }

    /// A branch out, with what the label takes. It may stand where any type is wanted.
    fn leave(&mut self) -> Option<Expr> {
        if self.chance(4) {
            let value = self.result.map(|ty| self.value(ty));
            return Some(op("return", value.as_slice()));
        }
        let targets: Vec<usize> = (0..self.labels.len()).filter(|&label| !self.heads[label]).collect();
        if targets.is_empty() {
            return None;
        }
        let label = self.one_of(&targets);
        let depth = u8::try_from(self.labels.len() - 1 - label).ok()?;
        let value = self.given(self.labels[label]);
        Some(br(depth, value))
    }

    /// A value of an operator that has one even where its operands have none. The engine wants that in some places.
    fn ending(&mut self, ty: Type) -> Expr {
        self.budget -= 1;
        if self.budget <= 0 { self.leaf(ty) } else { self.simple(ty) }
    }

    /// What a label takes: a value of its type, or anything.
    fn given(&mut self, taken: Option<Type>) -> Expr {
        match taken {
            Some(ty) => self.value(ty),
            None if self.random.random() => nop(),
            None => self.statement(),
        }
    }

    /// Expressions inside a construct, the last of which gives what the label takes.
    fn inside(&mut self, taken: Option<Type>, is_head: bool) -> Vec<Expr> {
        self.labels.push(taken);
        self.heads.push(is_head);
        let mut all: Vec<Expr> = (0..self.random.random_range(0..3)).map(|_| self.statement()).collect();
        all.push(self.given(taken));
        self.labels.pop();
        self.heads.pop();
        all
    }

    fn block(&mut self, taken: Option<Type>) -> Expr {
        let inside = self.inside(taken, false);
        block(&inside)
    }

    /// A loop that ends: it counts its rounds.
    fn repeat(&mut self, taken: Option<Type>) -> Expr {
        let counter = self.parameters.len() as u32 + self.counters;
        self.counters += 1;
        self.loops += 1;
        self.labels.push(taken);
        self.heads.push(false);
        let mut inside = self.inside(None, true);
        let next = set(counter, op("i32.add", &[get(counter), i32(1)]));
        let rounds = self.random.random_range(1..=ROUNDS);
        inside.push(br_if(0, nop(), op("i32.lt_s", &[next, i32(rounds)])));
        inside.push(set(counter, i32(0)));
        let value = self.given_in_loop(taken);
        inside.push(value);
        self.labels.pop();
        self.heads.pop();
        self.loops -= 1;
        repeat(&inside)
    }

    /// As [`given`](Tree::given), where the head of a loop is the innermost label.
    fn given_in_loop(&mut self, taken: Option<Type>) -> Expr {
        self.labels.push(None);
        self.heads.push(true);
        let value = self.given(taken);
        self.labels.pop();
        self.heads.pop();
        value
    }

    fn switch(&mut self, taken: Option<Type>) -> Expr {
        let key = op("i32.and", &[self.value(Type::I32), i32(7)]);
        let count = self.random.random_range(0..4u16);
        self.labels.push(taken);
        self.heads.push(false);
        let mut outside: Vec<u16> = Vec::new();
        for label in 0..self.labels.len() {
            if self.labels[label].is_none() && !self.heads[label] {
                outside.push(BRANCH | (self.labels.len() - 1 - label) as u16);
            }
        }
        let cases: Vec<Expr> = (0..count)
            .map(|case| match case + 1 == count {
                true => self.given(taken),
                false => self.statement(),
            })
            .collect();
        self.labels.pop();
        self.heads.pop();
        let mut targets: Vec<u16> = (0..count).chain(outside).collect();
        if targets.is_empty() {
            // Nothing can be named: there is no case, and the switch gives a value.
            return self.block(taken);
        }
        // Without a case the value has to come from somewhere else.
        if count == 0 && taken.is_some() {
            targets.truncate(3);
            let (first, last) = (tableswitch(&targets, key, &[]), self.given(taken));
            return op("if_else", &[self.value(Type::I32), first, last]);
        }
        let wanted = self.random.random_range(1..7);
        let chosen: Vec<u16> = (0..wanted).map(|_| self.one_of(&targets)).collect();
        tableswitch(&chosen, key, &cases)
    }

    /// A call of a function with a smaller number, which gives a type or nothing.
    fn call(&mut self, wanted: Option<Type>) -> Option<Expr> {
        if self.loops > 0 || !self.is_leaf {
            return None;
        }
        let gives = |signature: u16| self.module.signatures[usize::from(signature)].1 == wanted;
        let functions = self.module.functions.iter().enumerate();
        let all: Vec<usize> =
            functions.filter(|(_, function)| gives(function.signature)).map(|(number, _)| number).collect();
        if all.is_empty() {
            return None;
        }
        let number = self.one_of(&all);
        let signature = self.module.functions[number].signature;
        let parameters = self.module.signatures[usize::from(signature)].0.clone();
        if self.chance(2) {
            // Never a function behind it, so that calls end.
            let place = match self.random.random_range(0..20) {
                0 => op("i32.ior", &[self.value(Type::I32), i32(64)]),
                1 => i32(self.random.random_range(0..self.module.functions.len()) as i32),
                _ => i32(number as i32),
            };
            let arguments: Vec<Expr> = parameters.iter().map(|&ty| self.value(ty)).collect();
            return Some(call_indirect(signature.into(), place, &arguments));
        }
        let arguments: Vec<Expr> = parameters.iter().map(|&ty| self.value(ty)).collect();
        Some(call(number as u32, &arguments))
    }

    /// An expression that gives a type, or never ends.
    fn value(&mut self, ty: Type) -> Expr {
        self.budget -= 1;
        if self.budget <= 0 {
            return self.leaf(ty);
        }
        match self.random.random_range(0..40) {
            0..6 => self.leaf(ty),
            6..9 => {
                let local = self.variable(ty);
                set(local, self.ending(ty))
            }
            9..12 => self.block(Some(ty)),
            12..14 if self.loops < LOOPS && self.counters < COUNTERS => self.repeat(Some(ty)),
            14..16 => self.switch(Some(ty)),
            16..19 => op("if_else", &[self.value(Type::I32), self.value(ty), self.value(ty)]),
            19..21 => {
                let first = self.ending(ty);
                op("select", &[first, self.value(ty), self.value(Type::I32)])
            }
            21 => self.leave().unwrap_or_else(|| self.leaf(ty)),
            22..25 => self.call(Some(ty)).unwrap_or_else(|| self.leaf(ty)),
            25 if ty == Type::I32 => op("memory_size", &[]),
            26..29 => {
                // Global variables are one of each type, in the order of the types.
                let number = leb(TYPES.iter().position(|&other| other == ty).unwrap_or(0) as u32);
                match self.random.random() {
                    true => node("load_global", &number, &[]),
                    false => node("store_global", &number, &[self.ending(ty)]),
                }
            }
            _ => self.simple(ty),
        }
    }

    /// An expression of any type, or of none.
    fn statement(&mut self) -> Expr {
        self.budget -= 1;
        if self.budget <= 0 {
            return nop();
        }
        match self.random.random_range(0..20) {
            0..5 => {
                let ty = self.ty();
                let local = self.variable(ty);
                set(local, self.ending(ty))
            }
            5..7 => self.block(None),
            7..9 if self.loops < LOOPS && self.counters < COUNTERS => self.repeat(None),
            9 => self.switch(None),
            10..12 => op("if", &[self.value(Type::I32), self.statement()]),
            12 => op("if_else", &[self.value(Type::I32), self.statement(), self.statement()]),
            13 => {
                let targets: Vec<usize> =
                    (0..self.labels.len()).filter(|&label| !self.heads[label]).collect();
                if targets.is_empty() {
                    return nop();
                }
                let label = self.one_of(&targets);
                let value = self.given(self.labels[label]);
                br_if((self.labels.len() - 1 - label) as u8, value, self.value(Type::I32))
            }
            14 => match self.leave() {
                Some(leave) => op("if", &[self.value(Type::I32), leave]),
                None => nop(),
            },
            15 => self.call(None).unwrap_or_else(nop),
            16 => op("if", &[op("i32.eq", &[self.value(Type::I32), i32(77)]), op("unreachable", &[])]),
            _ => {
                let ty = self.ty();
                self.value(ty)
            }
        }
    }
}

/// A module of this seed: functions that call those before them, each called from outside several times.
pub(crate) fn case(seed: u64) -> Case {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut made = module();
    made.globals =
        [("a", 4), ("b", 6), ("c", 8), ("d", 9)].map(|(name, ty)| (name.to_owned(), ty, false)).to_vec();
    let count = random.random_range(2..5);
    let mut functions = Vec::new();
    for number in 0..count {
        let parameters: Vec<Type> =
            (0..random.random_range(0..4)).map(|_| TYPES[random.random_range(0..4)]).collect();
        let result = (!random.random_range(0..8).eq(&0)).then(|| TYPES[random.random_range(0..4)]);
        let expression = loop {
            let budget = random.random_range(10..70);
            let mut tree = Tree {
                random: &mut random,
                module: &made,
                parameters: parameters.clone(),
                result,
                labels: Vec::new(),
                heads: Vec::new(),
                counters: 0,
                loops: 0,
                budget,
                is_leaf: number > 0,
            };
            let mut body: Vec<Expr> = (0..2).map(|_| tree.statement()).collect();
            body.push(match result {
                Some(ty) => tree.value(ty),
                None => tree.statement(),
            });
            if body.iter().map(|expr| expr.bytes.len()).sum::<usize>() < MOST_BYTES {
                break body;
            }
        };
        let own = VARIABLES + 1;
        let locals = [own + COUNTERS as u16, own, own, own];
        functions.push(made.function(&format!("f{number}"), &parameters, result, locals, expression));
    }
    made.table = (0..count as u16).collect();
    let mut calls = Vec::new();
    for &function in &functions {
        let entry = made.functions[function as usize].clone();
        let (parameters, result) = made.signatures[usize::from(entry.signature)].clone();
        wrap(&mut made, function);
        for _ in 0..3 {
            let arguments: Vec<Constant> = parameters
                .iter()
                .map(|&ty| {
                    let values = interesting(ty);
                    let bits = match random.random() {
                        true => values[random.random_range(0..values.len())],
                        false => random.random(),
                    };
                    match Constant::from_bits(ty, bits) {
                        Constant::F32(bits) if f32::from_bits(bits).is_nan() => Constant::F32(0),
                        Constant::F64(bits) if f64::from_bits(bits).is_nan() => Constant::F64(0),
                        constant => constant,
                    }
                })
                .collect();
            let export = format!("{}!", entry.name.clone().expect("it has a name"));
            calls.push(Call { export, words: words(&arguments), result });
        }
    }
    Case { name: format!("tree {seed}"), bytes: made.encode(), used: made.used(), calls }
}
