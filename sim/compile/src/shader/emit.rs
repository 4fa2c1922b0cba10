//! Instructions of the representation, with what is known of their results: constants are folded at once, so that the
//! translator can follow a loop whose conditions are known, and upper bounds of indices make most checks needless.

use crate::ir::evaluate::{self, host_special_functions};
use crate::ir::{
    Access, Binary, Block, Compare, Constant, Convert, Function, Half, Instruction, Operation, Place, Target,
    Terminator, Trap, Type, Unary, Value, Wave,
};
use cranelift_entity::EntitySet;
use fnv::FnvHashMap;
use wave_isa::Special;

/// A function that is being made.
pub(super) struct Emitter {
    pub(super) function: Function,
    /// The block to which instructions go.
    pub(super) block: Block,
    /// The place that they get.
    pub(super) at: Place,
    /// Loads from memory to which nobody writes.
    pub(super) stable: EntitySet<Value>,
    /// Products may be fused with the sums that take them.
    contract: bool,
    known: FnvHashMap<Value, Constant>,
    /// Values that are computed in the entry, before all others.
    constants: FnvHashMap<Constant, Value>,
    specials: FnvHashMap<u8, Value>,
    /// Upper bounds of `i32` values, unsigned.
    bounds: FnvHashMap<Value, u32>,
    /// The factors of float products.
    products: FnvHashMap<Value, [Value; 2]>,
    /// Comparisons, and what they compare.
    comparisons: FnvHashMap<Value, (Compare, [Value; 2])>,
    /// The numbers in the halves of words.
    halves: FnvHashMap<Value, [Value; 2]>,
    /// The word that a number comes from, and in which half of it, the low one first, it is.
    in_word: FnvHashMap<Value, (Value, usize)>,
}

impl Emitter {
    /// Begins in a block behind the entry.
    pub(super) fn new(mut function: Function, contract: bool) -> Emitter {
        let block = function.block(&[]);
        let entry = function.entry();
        function.blocks[entry].terminator = Terminator::Jump(jump(block));
        Emitter {
            at: function.at,
            function,
            block,
            contract,
            stable: EntitySet::new(),
            known: FnvHashMap::default(),
            constants: FnvHashMap::default(),
            specials: FnvHashMap::default(),
            bounds: FnvHashMap::default(),
            products: FnvHashMap::default(),
            comparisons: FnvHashMap::default(),
            halves: FnvHashMap::default(),
            in_word: FnvHashMap::default(),
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

    /// Does what `make` emits before everything else: its operands must be values of the entry.
    pub(super) fn at_entry<T>(&mut self, make: impl FnOnce(&mut Emitter) -> T) -> T {
        let (block, at) = (self.block, self.at);
        (self.block, self.at) = (self.function.entry(), self.function.at);
        let made = make(self);
        (self.block, self.at) = (block, at);
        made
    }

    pub(super) fn constant(&mut self, constant: Constant) -> Value {
        if let Some(&value) = self.constants.get(&constant) {
            return value;
        }
        let value = self.function.value(constant.ty());
        let (entry, at) = (self.function.entry(), std::mem::replace(&mut self.at, self.function.at));
        self.push(entry, Operation::Constant(constant), vec![value]);
        self.at = at;
        self.constants.insert(constant, value);
        self.known.insert(value, constant);
        value
    }

    pub(super) fn i32(&mut self, bits: u32) -> Value {
        self.constant(Constant::I32(bits))
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

    pub(super) fn known_i32(&self, value: Value) -> Option<u32> {
        match self.known.get(&value) {
            Some(Constant::I32(bits)) => Some(*bits),
            _ => None,
        }
    }

    /// The greatest number that an `i32` may be, unsigned.
    pub(super) fn most(&self, value: Value) -> u32 {
        self.known_i32(value).or_else(|| self.bounds.get(&value).copied()).unwrap_or(u32::MAX)
    }

    /// States the greatest number that a value may be.
    pub(super) fn set_most(&mut self, value: Value, most: Option<u32>) {
        match most {
            Some(most) => self.bounds.insert(value, most),
            None => self.bounds.remove(&value),
        };
    }

    fn bounded(&mut self, value: Value, most: Option<u32>) -> Value {
        if let Some(most) = most.filter(|&most| most < u32::MAX) {
            self.bounds.insert(value, most);
        }
        value
    }

    pub(super) fn special(&mut self, special: Special, most: Option<u32>) -> Value {
        if let Some(&value) = self.specials.get(&(special as u8)) {
            return value;
        }
        let value = self.at_entry(|e| e.emit(Operation::Special(special), Type::I32));
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
        let most = matches!(unary, Unary::Clz | Unary::Ctz | Unary::Popcnt).then_some(32);
        self.bounded(value, most.filter(|_| ty == Type::I32))
    }

    pub(super) fn binary(&mut self, binary: Binary, a: Value, b: Value) -> Value {
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
            (Binary::FMul, Some(bits), _) if is_one(ty, bits) => return b,
            (Binary::FMul, _, Some(bits)) if is_one(ty, bits) => return a,
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
        if binary == Binary::FAdd
            && let Some(operands) = self.fused([a, b])
        {
            return self.fma(operands);
        }
        if binary == Binary::FDiv && ty == Type::F32 && self.known(a).is_some_and(|bits| is_one(ty, bits)) {
            // The same, and the operand is not needed.
            return self.unary(Unary::FRcp, b);
        }
        let value = self.emit(Operation::Binary(binary, [a, b]), ty);
        if binary == Binary::FMul {
            self.products.insert(value, [a, b]);
        }
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
    pub(super) fn with(&mut self, binary: Binary, a: Value, bits: u64) -> Value {
        let b = self.constant(Constant::from_bits(self.ty(a), bits));
        self.binary(binary, a, b)
    }

    pub(super) fn compare(&mut self, compare: Compare, a: Value, b: Value) -> Value {
        if let (Some(x), Some(y)) = (self.known(a), self.known(b)) {
            let truth = evaluate::compare(compare, self.ty(a), x, y);
            return self.bool(truth);
        }
        let truth = self.emit(Operation::Compare(compare, [a, b]), Type::Bool);
        self.comparisons.insert(truth, (compare, [a, b]));
        truth
    }

    /// What a truth value compares, if it comes from a comparison.
    pub(super) fn comparison(&self, truth: Value) -> Option<(Compare, [Value; 2])> {
        self.comparisons.get(&truth).copied()
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
        let most = (ty == Type::I32).then(|| self.most(a).max(self.most(b)));
        self.bounded(value, most)
    }

    pub(super) fn not(&mut self, a: Value) -> Value {
        self.unary(Unary::Not, a)
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
        self.bounded(value, (convert == Convert::BoolToI32).then_some(1))
    }

    /// The same bits as a number of the other kind.
    pub(super) fn reinterpret(&mut self, a: Value) -> Value {
        self.convert(Convert::Reinterpret, a)
    }

    pub(super) fn fma(&mut self, operands: [Value; 3]) -> Value {
        let ty = self.ty(operands[0]);
        if let [Some(a), Some(b), Some(c)] = operands.map(|value| self.known(value)) {
            let bits = evaluate::fma(ty, a, b, c);
            return self.constant(Constant::from_bits(ty, bits));
        }
        self.emit(Operation::Fma(operands), ty)
    }

    pub(super) fn half(&mut self, half: Half, operands: &[Value]) -> Value {
        let (_, ty) = half.types();
        let known: Option<Vec<u64>> = operands.iter().map(|&value| self.known(value)).collect();
        if let Some(known) = known {
            return self.constant(Constant::from_bits(ty, evaluate::half(half, &known)));
        }
        let fused = match half {
            Half::Add => Some(Half::Fma),
            Half::Add2 => Some(Half::Fma2),
            _ => None,
        };
        if let Some(fused) = fused
            && let Some(operands) = self.fused([operands[0], operands[1]])
        {
            return self.half(fused, &operands);
        }
        let value = self.emit(Operation::Half(half, operands.to_vec()), ty);
        if matches!(half, Half::Mul | Half::Mul2) {
            self.products.insert(value, [operands[0], operands[1]]);
        }
        let has_one = !matches!(half, Half::Add2 | Half::Mul2 | Half::Fma2 | Half::Widen);
        self.bounded(value, has_one.then_some(0xFFFF))
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

    pub(super) fn wave(&mut self, wave: Wave, operands: &[Value]) -> Value {
        let (_, ty) = wave.types();
        self.emit(Operation::Wave(wave, operands.to_vec()), ty)
    }

    pub(super) fn load(&mut self, access: Access, address: Value) -> Value {
        let value = self.emit(Operation::Load(access, address), access.ty);
        let narrow = access.ty == Type::I32 && !access.signed && access.bytes < 4;
        self.bounded(value, narrow.then(|| (1 << (8 * access.bytes)) - 1))
    }

    pub(super) fn store(&mut self, access: Access, address: Value, value: Value) {
        self.effect(Operation::Store(Access { signed: false, ..access }, [address, value]));
    }

    /// A new parameter of a block.
    pub(super) fn parameter(&mut self, block: Block, ty: Type) -> Value {
        let parameter = self.function.value(ty);
        self.function.blocks[block].parameters.push(parameter);
        parameter
    }

    /// A new block without parameters.
    pub(super) fn new_block(&mut self) -> Block {
        self.function.block(&[])
    }

    /// Ends the block.
    pub(super) fn end(&mut self, terminator: Terminator) {
        self.end_of(self.block, terminator);
    }

    /// Ends a block.
    pub(super) fn end_of(&mut self, block: Block, terminator: Terminator) {
        let body = &mut self.function.blocks[block];
        (body.terminator, body.at) = (terminator, self.at);
    }

    /// Traps where a truth value is true, and goes on else.
    pub(super) fn trap_if(&mut self, condition: Value, trap: Trap) {
        if self.known(condition) == Some(0) {
            return;
        }
        let [out, on] = [self.new_block(), self.new_block()];
        self.end(Terminator::Branch(condition, [out, on].map(jump)));
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

/// A jump without arguments.
pub(super) fn jump(block: Block) -> Target {
    Target { block, arguments: Vec::new() }
}
