//! Instructions of the representation, with what is known of their results.

use crate::ir::evaluate::{self, host_special_functions};
use crate::ir::{
    Access, Binary, Block, Compare, Constant, Convert, Function, Half, Instruction, Operation, Place, Target,
    Terminator, Type, Unary, Value, Wave,
};
use fnv::{FnvHashMap, FnvHashSet};
use wave_isa::Special;

/// A function that is being made.
pub(super) struct Emitter {
    pub(super) function: Function,
    /// The block to which instructions go.
    pub(super) block: Block,
    /// The place that they get.
    pub(super) at: Place,
    known: FnvHashMap<Value, Constant>,
    /// Values that are computed in the entry, before all others.
    constants: FnvHashMap<Constant, Value>,
    specials: FnvHashMap<u8, Value>,
    /// Upper bounds of `i32` values, unsigned.
    bounds: FnvHashMap<Value, u32>,
    /// Floats that are no subnormal numbers.
    pub(super) flushed: FnvHashSet<Value>,
}

impl Emitter {
    pub(super) fn new(function: Function) -> Emitter {
        Emitter {
            block: function.entry(),
            at: function.at,
            function,
            known: FnvHashMap::default(),
            constants: FnvHashMap::default(),
            specials: FnvHashMap::default(),
            bounds: FnvHashMap::default(),
            flushed: FnvHashSet::default(),
        }
    }

    pub(super) fn ty(&self, value: Value) -> Type {
        self.function.values[value]
    }

    fn push(&mut self, block: Block, operation: Operation, results: Vec<Value>) {
        let instruction = Instruction { operation, results, at: self.at };
        self.function.blocks[block].instructions.push(instruction);
    }

    /// Adds an instruction without a result.
    pub(super) fn effect(&mut self, operation: Operation) {
        self.push(self.block, operation, Vec::new());
    }

    /// Adds an instruction with a result.
    pub(super) fn emit(&mut self, operation: Operation, ty: Type) -> Value {
        let value = self.function.value(ty);
        self.push(self.block, operation, vec![value]);
        value
    }

    fn in_entry(&mut self, operation: Operation, ty: Type) -> Value {
        let value = self.function.value(ty);
        let (entry, at) = (self.function.entry(), std::mem::replace(&mut self.at, self.function.at));
        self.push(entry, operation, vec![value]);
        self.at = at;
        value
    }

    pub(super) fn constant(&mut self, constant: Constant) -> Value {
        if let Some(&value) = self.constants.get(&constant) {
            return value;
        }
        let value = self.in_entry(Operation::Constant(constant), constant.ty());
        self.constants.insert(constant, value);
        self.known.insert(value, constant);
        value
    }

    pub(super) fn i32(&mut self, bits: u32) -> Value {
        self.constant(Constant::I32(bits))
    }

    pub(super) fn i64(&mut self, bits: u64) -> Value {
        self.constant(Constant::I64(bits))
    }

    pub(super) fn f32(&mut self, number: f32) -> Value {
        self.constant(Constant::F32(number.to_bits()))
    }

    pub(super) fn bool(&mut self, truth: bool) -> Value {
        self.constant(Constant::Bool(truth))
    }

    pub(super) fn zero(&mut self, ty: Type) -> Value {
        self.constant(Constant::zero(ty))
    }

    /// The bits of a value, if they are known.
    pub(super) fn known(&self, value: Value) -> Option<u64> {
        self.known.get(&value).map(|constant| constant.bits())
    }

    /// The greatest number that an `i32` may be, unsigned.
    pub(super) fn most(&self, value: Value) -> u32 {
        let known = self.known(value).map(|bits| bits as u32);
        known.or_else(|| self.bounds.get(&value).copied()).unwrap_or(u32::MAX)
    }

    /// States the greatest number that a value may be.
    pub(super) fn bounded(&mut self, value: Value, most: u32) -> Value {
        if most < u32::MAX {
            self.bounds.insert(value, most);
        }
        value
    }

    pub(super) fn special(&mut self, special: Special, most: u32) -> Value {
        if let Some(&value) = self.specials.get(&(special as u8)) {
            return value;
        }
        let value = self.in_entry(Operation::Special(special), Type::I32);
        self.specials.insert(special as u8, value);
        self.bounded(value, most)
    }

    pub(super) fn unary(&mut self, unary: Unary, a: Value) -> Value {
        let ty = self.ty(a);
        let is_special = matches!(unary, Unary::FSin | Unary::FCos | Unary::FExp2 | Unary::FLog2);
        if let Some(a) = self.known(a).filter(|_| !is_special) {
            let bits = evaluate::unary(unary, ty, a, host_special_functions);
            return self.constant(Constant::from_bits(ty, bits));
        }
        let value = self.emit(Operation::Unary(unary, a), ty);
        if matches!(unary, Unary::Clz | Unary::Ctz | Unary::Popcnt) && ty == Type::I32 {
            return self.bounded(value, 32);
        }
        value
    }

    pub(super) fn binary(&mut self, binary: Binary, a: Value, b: Value) -> Value {
        use Binary::{Add, And, Mul, Or, Shl, ShrS, ShrU, Sub, Xor};
        let ty = self.ty(a);
        let (x, y) = (self.known(a), self.known(b));
        if let (Some(x), Some(y)) = (x, y)
            && let Ok(bits) = evaluate::binary(binary, ty, x, y)
        {
            return self.constant(Constant::from_bits(ty, bits));
        }
        match (binary, x, y) {
            (Add | Or | Xor, Some(0), _) => return b,
            (Add | Sub | Or | Xor | Shl | ShrU | ShrS, _, Some(0)) | (Mul, _, Some(1)) => return a,
            (And, _, Some(1)) if ty == Type::Bool => return a,
            (Mul | And, _, Some(0)) => return self.zero(ty),
            _ => {}
        }
        let (p, q) = if ty == Type::I32 { (self.most(a), self.most(b)) } else { (u32::MAX, u32::MAX) };
        if binary == And
            && ty == Type::I32
            && let Some(mask) = y.map(|y| y as u32)
            && mask.trailing_ones() + mask.leading_zeros() == 32
            && p <= mask
        {
            return a;
        }
        let value = self.emit(Operation::Binary(binary, [a, b]), ty);
        if ty != Type::I32 {
            return value;
        }
        let most = match binary {
            Add => p.checked_add(q),
            Mul => p.checked_mul(q),
            And | Binary::MinU => Some(p.min(q)),
            Binary::MaxU => Some(p.max(q)),
            Or | Xor => u32::MAX.checked_shr((p | q).leading_zeros()),
            ShrU => y.map(|amount| p >> (amount & 31)),
            Shl => y.and_then(|amount| p.checked_mul(1 << (amount & 31))),
            _ => None,
        };
        self.bounded(value, most.unwrap_or(u32::MAX))
    }

    /// A binary operation with a constant.
    pub(super) fn with(&mut self, binary: Binary, a: Value, bits: u64) -> Value {
        let b = self.constant(Constant::from_bits(self.ty(a), bits));
        self.binary(binary, a, b)
    }

    pub(super) fn compare(&mut self, compare: Compare, a: Value, b: Value) -> Value {
        if let (Some(x), Some(y)) = (self.known(a), self.known(b)) {
            let truth = evaluate::compare(compare, self.ty(a), x, y);
            return self.bool(truth);
        }
        self.emit(Operation::Compare(compare, [a, b]), Type::Bool)
    }

    /// A comparison with a constant.
    pub(super) fn compare_with(&mut self, compare: Compare, a: Value, bits: u64) -> Value {
        let b = self.constant(Constant::from_bits(self.ty(a), bits));
        self.compare(compare, a, b)
    }

    pub(super) fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        match self.known(condition) {
            Some(0) => return b,
            Some(_) => return a,
            None if a == b => return a,
            None => {}
        }
        let ty = self.ty(a);
        let value = self.emit(Operation::Select([condition, a, b]), ty);
        if self.flushed.contains(&a) && self.flushed.contains(&b) {
            self.flushed.insert(value);
        }
        let most = if ty == Type::I32 { self.most(a).max(self.most(b)) } else { u32::MAX };
        self.bounded(value, most)
    }

    pub(super) fn not(&mut self, a: Value) -> Value {
        self.unary(Unary::Not, a)
    }

    /// The bits of an integer flipped.
    pub(super) fn complement(&mut self, a: Value) -> Value {
        self.with(Binary::Xor, a, u64::MAX)
    }

    pub(super) fn negate(&mut self, a: Value) -> Value {
        let zero = self.zero(self.ty(a));
        self.binary(Binary::Sub, zero, a)
    }

    pub(super) fn convert(&mut self, convert: Convert, a: Value) -> Value {
        let from = self.ty(a);
        let to = convert.result(from).expect("a conversion of a type that it takes");
        if let Some(bits) = self.known(a)
            && let Ok(bits) = evaluate::convert(convert, from, bits)
        {
            return self.constant(Constant::from_bits(to, bits));
        }
        let value = self.emit(Operation::Convert(convert, a), to);
        let most = if convert == Convert::BoolToI32 { 1 } else { u32::MAX };
        self.bounded(value, most)
    }

    /// The same bits as a number of the other kind.
    pub(super) fn reinterpret(&mut self, a: Value) -> Value {
        self.convert(Convert::Reinterpret, a)
    }

    pub(super) fn fma(&mut self, operands: [Value; 3]) -> Value {
        let ty = self.ty(operands[0]);
        self.emit(Operation::Fma(operands), ty)
    }

    pub(super) fn half(&mut self, half: Half, operands: &[Value]) -> Value {
        let (_, ty) = half.types();
        let value = self.emit(Operation::Half(half, operands.to_vec()), ty);
        let has_one = !matches!(half, Half::Add2 | Half::Mul2 | Half::Fma2 | Half::Widen);
        self.bounded(value, if has_one { 0xFFFF } else { u32::MAX })
    }

    pub(super) fn wave(&mut self, wave: Wave, operands: &[Value]) -> Value {
        let (_, ty) = wave.types();
        self.emit(Operation::Wave(wave, operands.to_vec()), ty)
    }

    pub(super) fn load(&mut self, access: Access, address: Value) -> Value {
        let value = self.emit(Operation::Load(access, address), access.ty);
        let narrow = access.ty == Type::I32 && !access.signed && access.bytes < 4;
        self.bounded(value, if narrow { (1 << (8 * access.bytes)) - 1 } else { u32::MAX })
    }

    /// The low and the high word of an `i64`.
    pub(super) fn halves(&mut self, a: Value) -> [Value; 2] {
        let low = self.convert(Convert::Wrap, a);
        let high = self.with(Binary::ShrU, a, 32);
        [low, self.convert(Convert::Wrap, high)]
    }

    /// The `i64` of a low and a high word.
    pub(super) fn whole(&mut self, [low, high]: [Value; 2]) -> Value {
        let low = self.convert(Convert::ExtendU, low);
        let high = self.convert(Convert::ExtendU, high);
        let high = self.with(Binary::Shl, high, 32);
        self.binary(Binary::Or, high, low)
    }

    pub(super) fn new_block(&mut self, parameters: &[Type]) -> Block {
        self.function.block(parameters)
    }

    /// The parameter of this number of a block.
    pub(super) fn parameter(&self, block: Block, number: usize) -> Value {
        self.function.blocks[block].parameters[number]
    }

    /// A further parameter of a block.
    pub(super) fn new_parameter(&mut self, block: Block, ty: Type) -> Value {
        let value = self.function.value(ty);
        self.function.blocks[block].parameters.push(value);
        value
    }

    /// Ends the block.
    pub(super) fn end(&mut self, terminator: Terminator) {
        let body = &mut self.function.blocks[self.block];
        (body.terminator, body.at) = (terminator, self.at);
    }

    /// Ends the block with a branch, and goes on in the block where the condition is true.
    pub(super) fn branch(&mut self, condition: Value, yes: Target, no: Target) {
        let block = yes.block;
        self.end(Terminator::Branch(condition, [yes, no]));
        self.block = block;
    }

    /// Ends the block with a jump, and goes on in another block.
    pub(super) fn jump(&mut self, to: Block, arguments: Vec<Value>) {
        self.end(Terminator::Jump(Target { block: to, arguments }));
    }
}

/// A jump without arguments.
pub(super) fn to(block: Block) -> Target {
    Target { block, arguments: Vec::new() }
}
