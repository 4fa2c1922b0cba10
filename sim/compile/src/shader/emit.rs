//! Instructions of the representation, with what shaders allow: products are fused with sums, and halves of words are known.

use crate::emit::{self, to};
use crate::ir::{Access, Binary, Function, Half, Operation, Terminator, Trap, Type, Unary, Value};
use cranelift_entity::EntitySet;
use fnv::FnvHashMap;
use std::ops::{Deref, DerefMut};

/// A function that is being made.
pub(super) struct Emitter {
    base: emit::Emitter,
    /// Loads from memory to which nobody writes.
    pub(super) stable: EntitySet<Value>,
    /// Products may be fused with the sums that take them.
    contract: bool,
    /// The factors of float products.
    products: FnvHashMap<Value, [Value; 2]>,
    /// The numbers in the halves of words.
    halves: FnvHashMap<Value, [Value; 2]>,
    /// The word that a number comes from, and in which half of it, the low one first, it is.
    in_word: FnvHashMap<Value, (Value, usize)>,
}

impl Deref for Emitter {
    type Target = emit::Emitter;

    fn deref(&self) -> &emit::Emitter {
        &self.base
    }
}

impl DerefMut for Emitter {
    fn deref_mut(&mut self) -> &mut emit::Emitter {
        &mut self.base
    }
}

impl Emitter {
    /// The function that was made.
    pub(super) fn finish(self) -> Function {
        self.base.function
    }

    /// Begins in a block behind the entry.
    pub(super) fn new(mut function: Function, contract: bool) -> Emitter {
        let block = function.block(&[]);
        let entry = function.entry();
        function.blocks[entry].terminator = Terminator::Jump(to(block));
        let mut base = emit::Emitter::new(function);
        base.block = block;
        Emitter {
            base,
            contract,
            stable: EntitySet::new(),
            products: FnvHashMap::default(),
            halves: FnvHashMap::default(),
            in_word: FnvHashMap::default(),
        }
    }

    /// Does what `make` emits before everything else: its operands must be values of the entry.
    pub(super) fn at_entry<T>(&mut self, make: impl FnOnce(&mut Emitter) -> T) -> T {
        let (block, at) = (self.block, self.at);
        (self.base.block, self.base.at) = (self.base.function.entry(), self.base.function.at);
        let made = make(self);
        (self.base.block, self.base.at) = (block, at);
        made
    }

    pub(super) fn binary(&mut self, binary: Binary, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        let (x, y) = (self.known(a), self.known(b));
        let is_folded = x.is_some() && y.is_some();
        match binary {
            _ if is_folded => {}
            Binary::FMul if x.is_some_and(|bits| is_one(ty, bits)) => return b,
            Binary::FMul if y.is_some_and(|bits| is_one(ty, bits)) => return a,
            Binary::FAdd => {
                if let Some(operands) = self.fused([a, b]) {
                    return self.fma(operands);
                }
            }
            // The same, and the operand is not needed.
            Binary::FDiv if ty == Type::F32 && x.is_some_and(|bits| is_one(ty, bits)) => {
                return self.unary(Unary::FRcp, b);
            }
            _ => {}
        }
        let value = self.base.binary(binary, a, b);
        if binary == Binary::FMul && !is_folded {
            self.products.insert(value, [a, b]);
        }
        value
    }

    pub(super) fn half(&mut self, half: Half, operands: &[Value]) -> Value {
        let is_folded = operands.iter().all(|&value| self.known(value).is_some());
        let fused = match half {
            Half::Add => Some(Half::Fma),
            Half::Add2 => Some(Half::Fma2),
            _ => None,
        };
        if let Some(fused) = fused.filter(|_| !is_folded)
            && let Some(operands) = self.fused([operands[0], operands[1]])
        {
            return self.half(fused, &operands);
        }
        let value = self.base.half(half, operands);
        if matches!(half, Half::Mul | Half::Mul2) && !is_folded {
            self.products.insert(value, [operands[0], operands[1]]);
        }
        value
    }

    /// The operands of a product and a sum in one, for the sum of two values, if that is allowed and one is a product.
    fn fused(&self, [a, b]: [Value; 2]) -> Option<[Value; 3]> {
        if !self.contract {
            return None;
        }
        let product = |one, other| self.products.get(&one).map(|&[x, y]| [x, y, other]);
        product(a, b).or_else(|| product(b, a))
    }

    /// True if a word of these numbers costs little: it is known, they are its halves, or they are the same.
    pub(super) fn is_pair(&self, [low, high]: [Value; 2]) -> bool {
        let is_known = self.known(low).is_some() && self.known(high).is_some();
        is_known || low == high || self.word([low, high]).is_some()
    }

    /// The word whose halves these numbers are.
    fn word(&self, [low, high]: [Value; 2]) -> Option<Value> {
        match (self.in_word.get(&low), self.in_word.get(&high)) {
            (Some(&(word, 0)), Some(&(other, 1))) if word == other => Some(word),
            _ => None,
        }
    }

    /// Two numbers of 16 bits as a word. The high half of `low` is 0.
    pub(super) fn pack(&mut self, [low, high]: [Value; 2]) -> Value {
        if let Some(word) = self.word([low, high]) {
            return word;
        }
        if low == high {
            return self.with(Binary::Mul, low, 0x1_0001);
        }
        let up = self.with(Binary::Shl, high, 16);
        let word = self.binary(Binary::Or, up, low);
        self.halves.insert(word, [low, high]);
        word
    }

    /// The two numbers of 16 bits in a word.
    pub(super) fn unpack(&mut self, word: Value) -> [Value; 2] {
        if let Some(&halves) = self.halves.get(&word) {
            return halves;
        }
        let halves = [self.with(Binary::And, word, 0xFFFF), self.with(Binary::ShrU, word, 16)];
        for (number, half) in halves.into_iter().enumerate() {
            if self.known(half).is_none() {
                self.in_word.insert(half, (word, number));
            }
        }
        halves
    }

    pub(super) fn store(&mut self, access: Access, address: Value, value: Value) {
        self.effect(Operation::Store(Access { signed: false, ..access }, [address, value]));
    }

    /// Traps where a truth value is true, and goes on else.
    pub(super) fn trap_if(&mut self, condition: Value, trap: Trap) {
        if self.known(condition) == Some(0) {
            return;
        }
        let [out, on] = [self.new_block(&[]), self.new_block(&[])];
        self.end(Terminator::Branch(condition, [out, on].map(to)));
        self.end_of(out, Terminator::Trap(trap));
        self.block = on;
    }
}

/// True for the bits of the number 1.
fn is_one(ty: Type, bits: u64) -> bool {
    match ty {
        Type::F32 => bits == u64::from(1f32.to_bits()),
        _ => ty == Type::F64 && bits == 1f64.to_bits(),
    }
}
