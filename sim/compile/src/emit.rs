//! Instructions of the representation, with what is known of their results: constants are folded at once, and upper bounds
//! of integers make checks needless. Translators of other formats make their functions with it.

use crate::ir::evaluate::{self, host_special_functions};
use crate::ir::{
    Access, Binary, Block, Compare, Constant, Convert, Function, Half, Instruction, Operation, Place, Target,
    Terminator, Type, Unary, Value, Wave,
};
use fnv::FnvHashMap;
use wave_isa::Special;

/// A function that is being made.
pub(crate) struct Emitter {
    pub(crate) function: Function,
    /// The block to which instructions go.
    pub(crate) block: Block,
    /// The place that they get.
    pub(crate) at: Place,
    known: FnvHashMap<Value, Constant>,
    /// Values that are computed in the entry, before all others.
    constants: FnvHashMap<Constant, Value>,
    specials: FnvHashMap<u8, Value>,
    /// Upper bounds of `i32` values, unsigned.
    bounds: FnvHashMap<Value, u32>,
    /// Comparisons, and what they compare.
    comparisons: FnvHashMap<Value, (Compare, [Value; 2])>,
}

impl Emitter {
    /// Begins in the entry.
    pub(crate) fn new(function: Function) -> Emitter {
        Emitter {
            block: function.entry(),
            at: function.at,
            function,
            known: FnvHashMap::default(),
            constants: FnvHashMap::default(),
            specials: FnvHashMap::default(),
            bounds: FnvHashMap::default(),
            comparisons: FnvHashMap::default(),
        }
    }

    pub(crate) fn ty(&self, value: Value) -> Type {
        self.function.values[value]
    }

    fn push(&mut self, block: Block, operation: Operation, results: Vec<Value>) {
        let instruction = Instruction { operation, results, at: self.at };
        self.function.blocks[block].instructions.push(instruction);
    }

    /// Adds an instruction without a result.
    pub(crate) fn effect(&mut self, operation: Operation) {
        self.push(self.block, operation, Vec::new());
    }

    /// Adds an instruction with a result.
    pub(crate) fn emit(&mut self, operation: Operation, ty: Type) -> Value {
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

    pub(crate) fn constant(&mut self, constant: Constant) -> Value {
        if let Some(&value) = self.constants.get(&constant) {
            return value;
        }
        let value = self.in_entry(Operation::Constant(constant), constant.ty());
        self.constants.insert(constant, value);
        self.known.insert(value, constant);
        value
    }

    pub(crate) fn i32(&mut self, bits: u32) -> Value {
        self.constant(Constant::I32(bits))
    }

    pub(crate) fn i64(&mut self, bits: u64) -> Value {
        self.constant(Constant::I64(bits))
    }

    pub(crate) fn f32(&mut self, number: f32) -> Value {
        self.constant(Constant::F32(number.to_bits()))
    }

    pub(crate) fn bool(&mut self, truth: bool) -> Value {
        self.constant(Constant::Bool(truth))
    }

    pub(crate) fn zero(&mut self, ty: Type) -> Value {
        self.constant(Constant::zero(ty))
    }

    /// The bits of a value, if they are known.
    pub(crate) fn known(&self, value: Value) -> Option<u64> {
        self.known.get(&value).map(|constant| constant.bits())
    }

    pub(crate) fn known_i32(&self, value: Value) -> Option<u32> {
        match self.known.get(&value) {
            Some(Constant::I32(bits)) => Some(*bits),
            _ => None,
        }
    }

    /// The greatest number that an `i32` may be, unsigned.
    pub(crate) fn most(&self, value: Value) -> u32 {
        self.known_i32(value).or_else(|| self.bounds.get(&value).copied()).unwrap_or(u32::MAX)
    }

    /// States the greatest number that a value may be, or that it may be any.
    pub(crate) fn set_most(&mut self, value: Value, most: Option<u32>) {
        match most {
            Some(most) => self.bounds.insert(value, most),
            None => self.bounds.remove(&value),
        };
    }

    /// A value that is at most this number, if there is a bound.
    pub(crate) fn bounded(&mut self, value: Value, most: Option<u32>) -> Value {
        if let Some(most) = most.filter(|&most| most < u32::MAX) {
            self.bounds.insert(value, most);
        }
        value
    }

    pub(crate) fn special(&mut self, special: Special, most: Option<u32>) -> Value {
        if let Some(&value) = self.specials.get(&(special as u8)) {
            return value;
        }
        let value = self.in_entry(Operation::Special(special), Type::I32);
        self.specials.insert(special as u8, value);
        self.bounded(value, most)
    }

    pub(crate) fn unary(&mut self, unary: Unary, a: Value) -> Value {
        let ty = self.ty(a);
        let is_special = matches!(unary, Unary::FSin | Unary::FCos | Unary::FExp2 | Unary::FLog2);
        if let Some(a) = self.known(a).filter(|_| !is_special) {
            let bits = evaluate::unary(unary, ty, a, host_special_functions);
            return self.constant(Constant::from_bits(ty, bits));
        }
        let value = self.emit(Operation::Unary(unary, a), ty);
        let most = matches!(unary, Unary::Clz | Unary::Ctz | Unary::Popcnt).then_some(32);
        self.bounded(value, most.filter(|_| ty == Type::I32))
    }

    pub(crate) fn binary(&mut self, binary: Binary, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        if let (Some(x), Some(y)) = (self.known(a), self.known(b))
            && let Ok(bits) = evaluate::binary(binary, ty, x, y)
        {
            return self.constant(Constant::from_bits(ty, bits));
        }
        match (binary, self.known(a), self.known(b)) {
            (Binary::Add | Binary::Or | Binary::Xor, Some(0), _) => return b,
            (
                Binary::Add
                | Binary::Sub
                | Binary::Or
                | Binary::Xor
                | Binary::Shl
                | Binary::ShrU
                | Binary::ShrS,
                _,
                Some(0),
            ) => return a,
            (Binary::Mul, Some(1), _) => return b,
            (Binary::Mul, _, Some(1)) => return a,
            (Binary::And, Some(1), _) if ty == Type::Bool => return b,
            (Binary::And, _, Some(1)) if ty == Type::Bool => return a,
            (Binary::Mul | Binary::And, _, Some(0)) | (Binary::Mul | Binary::And, Some(0), _) => {
                return self.zero(ty);
            }
            _ => {}
        }
        if binary == Binary::And
            && let Some(mask) = self.known_i32(b)
            && mask.trailing_ones() + mask.leading_zeros() == 32
            && self.most(a) <= mask
        {
            return a;
        }
        let value = self.emit(Operation::Binary(binary, [a, b]), ty);
        if ty != Type::I32 {
            return value;
        }
        let (x, y) = (self.most(a), self.most(b));
        let of_shift = self.known_i32(b).map(|amount| amount & 31);
        let most = match binary {
            Binary::Add => x.checked_add(y),
            Binary::Mul => x.checked_mul(y),
            Binary::And | Binary::MinU => Some(x.min(y)),
            Binary::MaxU => Some(x.max(y)),
            Binary::Or | Binary::Xor => u32::MAX.checked_shr((x | y).leading_zeros()),
            Binary::RemU | Binary::TotalRemU => Some(x.min(y.saturating_sub(1))),
            Binary::DivU | Binary::TotalDivU => Some(self.known_i32(b).map_or(x, |d| x / d.max(1))),
            Binary::ShrU => of_shift.map(|amount| x >> amount),
            Binary::Shl => of_shift.and_then(|amount| x.checked_mul(1 << amount)),
            // Of numbers without a sign these are the same.
            Binary::MinS if x.max(y) < 1 << 31 => Some(x.min(y)),
            Binary::MaxS if x.max(y) < 1 << 31 => Some(x.max(y)),
            Binary::TotalRemS if x.max(y) < 1 << 31 => Some(x.min(y.saturating_sub(1))),
            Binary::TotalDivS if x.max(y) < 1 << 31 => Some(self.known_i32(b).map_or(x, |d| x / d.max(1))),
            _ => None,
        };
        self.bounded(value, most)
    }

    /// A binary operation with a constant.
    pub(crate) fn with(&mut self, binary: Binary, a: Value, bits: u64) -> Value {
        let b = self.constant(Constant::from_bits(self.ty(a), bits));
        self.binary(binary, a, b)
    }

    pub(crate) fn compare(&mut self, compare: Compare, a: Value, b: Value) -> Value {
        if let (Some(x), Some(y)) = (self.known(a), self.known(b)) {
            let truth = evaluate::compare(compare, self.ty(a), x, y);
            return self.bool(truth);
        }
        let truth = self.emit(Operation::Compare(compare, [a, b]), Type::Bool);
        self.comparisons.insert(truth, (compare, [a, b]));
        truth
    }

    /// What a truth value compares, if it comes from a comparison.
    pub(crate) fn comparison(&self, truth: Value) -> Option<(Compare, [Value; 2])> {
        self.comparisons.get(&truth).copied()
    }

    /// A comparison with a constant.
    pub(crate) fn compare_with(&mut self, compare: Compare, a: Value, bits: u64) -> Value {
        let b = self.constant(Constant::from_bits(self.ty(a), bits));
        self.compare(compare, a, b)
    }

    pub(crate) fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        match self.known(condition) {
            Some(0) => return b,
            Some(_) => return a,
            None if a == b => return a,
            None => {}
        }
        let ty = self.ty(a);
        let value = self.emit(Operation::Select([condition, a, b]), ty);
        let most = (ty == Type::I32).then(|| self.most(a).max(self.most(b)));
        self.bounded(value, most)
    }

    pub(crate) fn not(&mut self, a: Value) -> Value {
        self.unary(Unary::Not, a)
    }

    /// The bits of an integer flipped.
    pub(crate) fn complement(&mut self, a: Value) -> Value {
        self.with(Binary::Xor, a, u64::MAX)
    }

    pub(crate) fn negate(&mut self, a: Value) -> Value {
        let zero = self.zero(self.ty(a));
        self.binary(Binary::Sub, zero, a)
    }

    pub(crate) fn convert(&mut self, convert: Convert, a: Value) -> Value {
        let from = self.ty(a);
        let to = convert.result(from).expect("a conversion of a type that it takes");
        if let Some(bits) = self.known(a)
            && let Ok(bits) = evaluate::convert(convert, from, bits)
        {
            return self.constant(Constant::from_bits(to, bits));
        }
        let value = self.emit(Operation::Convert(convert, a), to);
        self.bounded(value, (convert == Convert::BoolToI32).then_some(1))
    }

    /// The same bits as a number of the other kind.
    pub(crate) fn reinterpret(&mut self, a: Value) -> Value {
        self.convert(Convert::Reinterpret, a)
    }

    pub(crate) fn fma(&mut self, operands: [Value; 3]) -> Value {
        let ty = self.ty(operands[0]);
        if let [Some(a), Some(b), Some(c)] = operands.map(|value| self.known(value)) {
            let bits = evaluate::fma(ty, a, b, c);
            return self.constant(Constant::from_bits(ty, bits));
        }
        self.emit(Operation::Fma(operands), ty)
    }

    pub(crate) fn half(&mut self, half: Half, operands: &[Value]) -> Value {
        let (_, ty) = half.types();
        let known: Option<Vec<u64>> = operands.iter().map(|&value| self.known(value)).collect();
        if let Some(known) = known {
            return self.constant(Constant::from_bits(ty, evaluate::half(half, &known)));
        }
        let value = self.emit(Operation::Half(half, operands.to_vec()), ty);
        let has_one = !matches!(half, Half::Add2 | Half::Mul2 | Half::Fma2 | Half::Widen);
        self.bounded(value, has_one.then_some(0xFFFF))
    }

    pub(crate) fn wave(&mut self, wave: Wave, operands: &[Value]) -> Value {
        let (_, ty) = wave.types();
        self.emit(Operation::Wave(wave, operands.to_vec()), ty)
    }

    pub(crate) fn load(&mut self, access: Access, address: Value) -> Value {
        let value = self.emit(Operation::Load(access, address), access.ty);
        let narrow = access.ty == Type::I32 && !access.signed && access.bytes < 4;
        self.bounded(value, narrow.then(|| (1 << (8 * access.bytes)) - 1))
    }

    /// The low and the high word of an `i64`.
    pub(crate) fn halves(&mut self, a: Value) -> [Value; 2] {
        let low = self.convert(Convert::Wrap, a);
        let high = self.with(Binary::ShrU, a, 32);
        [low, self.convert(Convert::Wrap, high)]
    }

    /// The `i64` of a low and a high word.
    pub(crate) fn whole(&mut self, [low, high]: [Value; 2]) -> Value {
        let low = self.convert(Convert::ExtendU, low);
        let high = self.convert(Convert::ExtendU, high);
        let high = self.with(Binary::Shl, high, 32);
        self.binary(Binary::Or, high, low)
    }

    pub(crate) fn new_block(&mut self, parameters: &[Type]) -> Block {
        self.function.block(parameters)
    }

    /// The parameter of this number of a block.
    pub(crate) fn parameter(&self, block: Block, number: usize) -> Value {
        self.function.blocks[block].parameters[number]
    }

    /// A further parameter of a block.
    pub(crate) fn new_parameter(&mut self, block: Block, ty: Type) -> Value {
        let value = self.function.value(ty);
        self.function.blocks[block].parameters.push(value);
        value
    }

    /// Ends the block.
    pub(crate) fn end(&mut self, terminator: Terminator) {
        self.end_of(self.block, terminator);
    }

    /// Ends a block.
    pub(crate) fn end_of(&mut self, block: Block, terminator: Terminator) {
        let body = &mut self.function.blocks[block];
        (body.terminator, body.at) = (terminator, self.at);
    }

    /// Ends the block with a branch, and goes on in the block where the condition is true.
    pub(crate) fn branch(&mut self, condition: Value, yes: Target, no: Target) {
        let block = yes.block;
        self.end(Terminator::Branch(condition, [yes, no]));
        self.block = block;
    }

    /// Ends the block with a jump, and goes on in another block.
    pub(crate) fn jump(&mut self, to: Block, arguments: Vec<Value>) {
        self.end(Terminator::Jump(Target { block: to, arguments }));
    }
}

/// A jump without arguments.
pub(crate) fn to(block: Block) -> Target {
    Target { block, arguments: Vec::new() }
}
