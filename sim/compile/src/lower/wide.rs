//! An `i64` becomes two `i32`, the low and the high half.

use super::edit::{Editor, rewrite};
use super::order;
use crate::error::Reason;
use crate::ir::{
    Access, Binary, Compare, Convert, Function, FunctionId, Instruction, Module, Operation, Place, Type,
    Unary, Value, Wave,
};
use cranelift_entity::SecondaryMap;

/// Halves of a value: low, high.
type Halves = [Value; 2];

/// Splits every `i64` of a function, parameters of the function too.
///
/// # Errors
/// An operation on `i64` that cannot be split.
pub(super) fn split(_module: &Module, function: &mut Function) -> Result<(), (Place, Reason)> {
    let mut halves: SecondaryMap<Value, Option<Halves>> = SecondaryMap::new();
    let order = order(function);
    for block in function.blocks.keys().collect::<Vec<_>>() {
        let mut parameters = Vec::new();
        for value in std::mem::take(&mut function.blocks[block].parameters) {
            if function.values[value] == Type::I64 {
                let pair = [function.value(Type::I32), function.value(Type::I32)];
                halves[value] = Some(pair);
                parameters.extend(pair);
            } else {
                parameters.push(value);
            }
        }
        function.blocks[block].parameters = parameters;
    }
    let types = |types: &[Type]| -> Vec<Type> {
        types.iter().flat_map(|&ty| if ty == Type::I64 { vec![Type::I32; 2] } else { vec![ty] }).collect()
    };
    function.signature.parameters = types(&function.signature.parameters);
    function.signature.results = types(&function.signature.results);
    rewrite(function, &order, |editor, instruction| {
        let mut splitter = Splitter { editor, halves: &mut halves };
        splitter.instruction(instruction)
    })?;
    for body in function.blocks.values_mut() {
        let split = |values: &mut Vec<Value>| {
            let old = std::mem::take(values);
            let pieces = old.into_iter().flat_map(|value| halves[value].map_or(vec![value], Vec::from));
            values.extend(pieces);
        };
        if let crate::ir::Terminator::Return(values) = &mut body.terminator {
            split(values);
        }
        for target in body.terminator.targets_mut() {
            split(&mut target.arguments);
        }
    }
    Ok(())
}

struct Splitter<'a, 'b> {
    editor: &'a mut Editor<'b>,
    halves: &'a mut SecondaryMap<Value, Option<Halves>>,
}

impl Splitter<'_, '_> {
    fn of(&self, value: Value) -> Halves {
        self.halves[value].expect("an i64 is split where it is defined")
    }

    fn instruction(&mut self, instruction: Instruction) -> Result<(), (Place, Reason)> {
        let editor = &mut *self.editor;
        let at = instruction.at;
        let is_wide = |value: Value| editor.function.values[value] == Type::I64;
        let any = instruction.results.iter().copied().chain(instruction.operation.operands()).any(is_wide);
        if !any {
            editor.keep(instruction);
            return Ok(());
        }
        let result = instruction.results.first().copied();
        let pair = match instruction.operation {
            Operation::Constant(constant) => {
                let bits = constant.bits();
                [editor.i32(bits as u32), editor.i32((bits >> 32) as u32)]
            }
            Operation::Unary(unary, a) => self.unary(unary, a),
            Operation::Binary(binary, [a, b]) => self.binary(binary, a, b),
            Operation::Compare(compare, [a, b]) => {
                let value = self.compare(compare, a, b);
                self.editor.replaced.set(instruction.results[0], value);
                return Ok(());
            }
            Operation::Convert(Convert::Wrap, a) => {
                let [low, _] = self.of(a);
                self.editor.replaced.set(instruction.results[0], low);
                return Ok(());
            }
            Operation::Convert(Convert::ExtendU, a) => [a, editor.i32(0)],
            Operation::Convert(Convert::ExtendS, a) => [a, editor.with(Binary::ShrS, a, 31)],
            Operation::Convert(convert, a) => {
                // Between i64 and f32 there is none left.
                let other = if editor.ty(a).is_float() { editor.ty(a) } else { Type::F64 };
                return Err((at, Reason::Type(convert.name(), other)));
            }
            Operation::Select([condition, a, b]) => {
                let ([a_low, a_high], [b_low, b_high]) = (self.of(a), self.of(b));
                let low = self.editor.select(condition, a_low, b_low);
                [low, self.editor.select(condition, a_high, b_high)]
            }
            Operation::Load(access, address) => self.load(access, address),
            Operation::Store(access, [address, value]) => {
                self.store(access, address, value, at);
                return Ok(());
            }
            Operation::Atomic(_, access, ..) | Operation::CompareExchange(access, ..)
                if access.bytes != 4 =>
            {
                return Err((at, Reason::AtomicWidth(access.bytes)));
            }
            Operation::Atomic(operation, access, scope, [address, value]) => {
                let [low, _] = self.of(value);
                let access = Access { ty: Type::I32, ..access };
                let operation = Operation::Atomic(operation, access, scope, [address, low]);
                [self.editor.emit(operation, Type::I32), self.editor.i32(0)]
            }
            Operation::CompareExchange(access, scope, [address, expected, new]) => {
                return self.exchange(access, scope, [address, expected, new], result);
            }
            // The two halves of a ballot are two operations of the back end, which makes one of them.
            Operation::Wave(Wave::Ballot, values) => {
                let value = editor.function.value(Type::I32);
                let high = editor.function.value(Type::I32);
                let operation = Operation::Wave(Wave::Ballot, values);
                editor.keep(Instruction { operation, results: vec![value, high], at });
                [value, high]
            }
            Operation::Call(callee, arguments) => {
                self.call(callee, &arguments, &instruction.results);
                return Ok(());
            }
            operation => return Err((at, Reason::Operation(name(&operation)))),
        };
        if let Some(result) = result {
            self.halves[result] = Some(pair);
        }
        Ok(())
    }

    /// A call with `i64` among its arguments or results; the function is split too.
    fn call(&mut self, callee: FunctionId, arguments: &[Value], results: &[Value]) {
        let arguments = arguments.iter().flat_map(|&value| self.halves[value].map_or(vec![value], Vec::from));
        let operation = Operation::Call(callee, arguments.collect());
        let mut split = Vec::new();
        for &result in results {
            if self.editor.ty(result) == Type::I64 {
                let pair = [Type::I32; 2].map(|ty| self.editor.function.value(ty));
                self.halves[result] = Some(pair);
                split.extend(pair);
            } else {
                split.push(result);
            }
        }
        self.editor.keep(Instruction { operation, results: split, at: self.editor.at });
    }

    /// A compare-and-swap of a word, as an `i64`: whatever the high half of the expected value is, it must be 0.
    fn exchange(
        &mut self,
        access: Access,
        scope: wave_isa::Scope,
        [address, expected, new]: [Value; 3],
        result: Option<Value>,
    ) -> Result<(), (Place, Reason)> {
        let ([low, high], [new, _]) = (self.of(expected), self.of(new));
        let editor = &mut *self.editor;
        let access = Access { ty: Type::I32, ..access };
        // Where it cannot be equal, memory keeps what it has: the expected value is put back.
        let possible = editor.compare_with(Compare::Eq, high, 0);
        let new = editor.select(possible, new, low);
        let operation = Operation::CompareExchange(access, scope, [address, low, new]);
        let old = editor.emit(operation, Type::I32);
        let zero = editor.i32(0);
        if let Some(result) = result {
            self.halves[result] = Some([old, zero]);
        }
        Ok(())
    }

    fn load(&mut self, access: Access, address: Value) -> Halves {
        let editor = &mut *self.editor;
        let narrow = Access { ty: Type::I32, bytes: access.bytes.min(4), ..access };
        let narrow = Access { signed: access.signed && narrow.bytes < 4, ..narrow };
        let low = editor.emit(Operation::Load(narrow, address), Type::I32);
        let high = if access.bytes == 8 {
            let (access, address) = second(editor, narrow, address);
            editor.emit(Operation::Load(access, address), Type::I32)
        } else if access.signed {
            editor.with(Binary::ShrS, low, 31)
        } else {
            editor.i32(0)
        };
        [low, high]
    }

    fn store(&mut self, access: Access, address: Value, value: Value, at: Place) {
        let [low, high] = self.of(value);
        let editor = &mut *self.editor;
        let narrow = Access { ty: Type::I32, bytes: access.bytes.min(4), ..access };
        let store = |editor: &mut Editor, access, address, value| {
            let operation = Operation::Store(access, [address, value]);
            editor.keep(Instruction { operation, results: Vec::new(), at });
        };
        store(editor, narrow, address, low);
        if access.bytes == 8 {
            let (access, address) = second(editor, narrow, address);
            store(editor, access, address, high);
        }
    }

    fn unary(&mut self, unary: Unary, a: Value) -> Halves {
        let [low, high] = self.of(a);
        let editor = &mut *self.editor;
        match unary {
            Unary::Clz | Unary::Ctz => {
                let (first, second) = if unary == Unary::Clz { (high, low) } else { (low, high) };
                let none = editor.compare_with(Compare::Eq, first, 0);
                let near = editor.unary(unary, first);
                let far = editor.unary(unary, second);
                let far = editor.with(Binary::Add, far, 32);
                [editor.select(none, far, near), editor.i32(0)]
            }
            Unary::Popcnt => {
                let [a, b] = [low, high].map(|half| editor.unary(unary, half));
                [editor.binary(Binary::Add, a, b), editor.i32(0)]
            }
            Unary::Extend8 | Unary::Extend16 => {
                let low = editor.unary(unary, low);
                [low, editor.with(Binary::ShrS, low, 31)]
            }
            _ => [low, editor.with(Binary::ShrS, low, 31)],
        }
    }

    fn binary(&mut self, binary: Binary, a: Value, b: Value) -> Halves {
        let ([a_low, a_high], [b_low, b_high]) = (self.of(a), self.of(b));
        let editor = &mut *self.editor;
        match binary {
            Binary::And | Binary::Or | Binary::Xor => {
                [editor.binary(binary, a_low, b_low), editor.binary(binary, a_high, b_high)]
            }
            Binary::Add => {
                let low = editor.binary(Binary::Add, a_low, b_low);
                let carry = editor.compare(Compare::LtU, low, a_low);
                let carry = editor.convert(Convert::BoolToI32, carry);
                let high = editor.binary(Binary::Add, a_high, b_high);
                [low, editor.binary(Binary::Add, high, carry)]
            }
            Binary::Sub => {
                let low = editor.binary(Binary::Sub, a_low, b_low);
                let borrow = editor.compare(Compare::LtU, a_low, b_low);
                let borrow = editor.convert(Convert::BoolToI32, borrow);
                let high = editor.binary(Binary::Sub, a_high, b_high);
                [low, editor.binary(Binary::Sub, high, borrow)]
            }
            Binary::Mul => {
                let low = editor.binary(Binary::Mul, a_low, b_low);
                let high = editor.binary(Binary::MulHigh, a_low, b_low);
                let first = editor.binary(Binary::Mul, a_low, b_high);
                let second = editor.binary(Binary::Mul, a_high, b_low);
                let high = editor.binary(Binary::Add, high, first);
                [low, editor.binary(Binary::Add, high, second)]
            }
            Binary::Shl | Binary::ShrS | Binary::ShrU => shift(editor, binary, [a_low, a_high], b_low),
            Binary::Rotl | Binary::Rotr => {
                let zero = editor.i32(0);
                let back = editor.binary(Binary::Sub, zero, b_low);
                let (left, right) = if binary == Binary::Rotl { (b_low, back) } else { (back, b_low) };
                let [low, high] = shift(editor, Binary::Shl, [a_low, a_high], left);
                let [other_low, other_high] = shift(editor, Binary::ShrU, [a_low, a_high], right);
                [editor.binary(Binary::Or, low, other_low), editor.binary(Binary::Or, high, other_high)]
            }
            // Minima and maxima; divisions are gone by now.
            _ => {
                let compare = match binary {
                    Binary::MinS => Compare::LtS,
                    Binary::MinU => Compare::LtU,
                    Binary::MaxS => Compare::GtS,
                    _ => Compare::GtU,
                };
                let first = self.compare(compare, a, b);
                let editor = &mut *self.editor;
                let low = editor.select(first, a_low, b_low);
                [low, editor.select(first, a_high, b_high)]
            }
        }
    }

    fn compare(&mut self, compare: Compare, a: Value, b: Value) -> Value {
        let ([a_low, a_high], [b_low, b_high]) = (self.of(a), self.of(b));
        let editor = &mut *self.editor;
        // Halves decide: the high ones if they differ, with a sign if there is one; else the low ones without.
        let (strict, low) = match compare {
            Compare::Eq | Compare::Ne => {
                let low = editor.binary(Binary::Xor, a_low, b_low);
                let high = editor.binary(Binary::Xor, a_high, b_high);
                let any = editor.binary(Binary::Or, low, high);
                return editor.compare_with(compare, any, 0);
            }
            Compare::LtS => (Compare::LtS, Compare::LtU),
            Compare::LtU => (Compare::LtU, Compare::LtU),
            Compare::LeS => (Compare::LtS, Compare::LeU),
            Compare::LeU => (Compare::LtU, Compare::LeU),
            Compare::GtS => (Compare::GtS, Compare::GtU),
            Compare::GtU => (Compare::GtU, Compare::GtU),
            Compare::GeS => (Compare::GtS, Compare::GeU),
            _ => (Compare::GtU, Compare::GeU),
        };
        let same = editor.compare(Compare::Eq, a_high, b_high);
        let low = editor.compare(low, a_low, b_low);
        let same = editor.binary(Binary::And, same, low);
        let high = editor.compare(strict, a_high, b_high);
        editor.binary(Binary::Or, same, high)
    }
}

/// The access to the second word of a wide one.
fn second(editor: &mut Editor, access: Access, address: Value) -> (Access, Value) {
    match access.offset.checked_add(4) {
        Some(offset) => (Access { offset, ..access }, address),
        // No access so far up is inside a memory, so any address outside will do.
        None => (access, editor.i32(u32::MAX)),
    }
}

/// A shift by an amount modulo 64, which is in an `i32`.
fn shift(editor: &mut Editor, binary: Binary, [low, high]: Halves, amount: Value) -> Halves {
    let is_left = binary == Binary::Shl;
    // From `near` bits move into `far`.
    let (near, far) = if is_left { (low, high) } else { (high, low) };
    let back = if is_left { Binary::ShrU } else { Binary::Shl };
    let out = if is_left { Binary::Shl } else { Binary::ShrU };
    let known = editor.known_i32(amount).map(|amount| amount % 64);
    let filler = |editor: &mut Editor| match binary {
        Binary::ShrS => editor.with(Binary::ShrS, high, 31),
        _ => editor.i32(0),
    };
    let order = |near: Value, far: Value| if is_left { [near, far] } else { [far, near] };
    if let Some(amount) = known {
        return match amount {
            0 => [low, high],
            32.. => {
                let moved = editor.with(binary, near, u64::from(amount - 32));
                let filler = filler(editor);
                order(filler, moved)
            }
            _ => {
                let near_moved = editor.with(binary, near, amount.into());
                let kept = editor.with(out, far, amount.into());
                let crossing = editor.with(back, near, u64::from(32 - amount));
                let far_moved = editor.binary(Binary::Or, kept, crossing);
                order(near_moved, far_moved)
            }
        };
    }
    // Amounts count modulo 32 here. The crossing bits move by 32 - amount: by 1 and by 31 - amount.
    let near_moved = editor.binary(binary, near, amount);
    let kept = editor.binary(out, far, amount);
    let complement = editor.with(Binary::Xor, amount, u64::from(u32::MAX));
    let crossing = editor.with(back, near, 1);
    let crossing = editor.binary(back, crossing, complement);
    let far_moved = editor.binary(Binary::Or, kept, crossing);
    let bit = editor.with(Binary::And, amount, 32);
    let by_words = editor.compare_with(Compare::Ne, bit, 0);
    let filler = filler(editor);
    let new_near = editor.select(by_words, filler, near_moved);
    let new_far = editor.select(by_words, near_moved, far_moved);
    order(new_near, new_far)
}

/// Name of an operation, for a message.
fn name(operation: &Operation) -> &'static str {
    match operation {
        Operation::CallIndirect(..) => "call_indirect",
        _ => "an operation on i64",
    }
}
