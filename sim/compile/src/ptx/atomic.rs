//! Atomic accesses. Those that the machine has not are loops that try a change until nobody else has made one; those of
//! 64 bits happen under a lock, so that they are atomic for one another.

use super::Wrong;
use super::layout::LOCKS;
use super::memory::{Addressed, scope};
use super::spaces::space_of;
use super::translate::{Done, Translator};
use super::tree::Statement;
use super::types::{Kind, PtxType};
use crate::emit::to;
use crate::ir::{Binary, Compare, MemoryId, Operation, Order, Target, Terminator, Type, Value};
use wave_isa::Scope;
use wave_isa::table::AtomicOp;

const OPERATIONS: [&str; 11] = ["add", "sub", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"];

impl<'a> Translator<'a> {
    pub(super) fn atomic(&mut self, s: &'a Statement) -> Done {
        let ty = s.types[0];
        let Some(name) = s.one_of(&OPERATIONS) else {
            return Err(Wrong::new(
                s.at.clone(),
                format!("`{}` needs an operation, such as .add", s.row.name),
            ));
        };
        let is_right = match name {
            "and" | "or" | "xor" => ty.kind == Kind::Bits && ty.bits >= 32,
            "exch" => ty.kind == Kind::Bits && ty.bits >= 32,
            "cas" => ty.kind == Kind::Bits,
            "inc" | "dec" => ty == PtxType::U32,
            "add" => ty.is_float() || ty.kind != Kind::Bits && ty.bits >= 32,
            _ => ty.is_integer() && ty.kind != Kind::Bits && ty.bits >= 32,
        };
        if !is_right {
            let message = format!("`{}.{name}.{}` is not taken", s.row.name, ty.name());
            return Err(Wrong::new(s.at.clone(), message));
        }
        let scope = scope(s).unwrap_or(Scope::Device);
        let has_result = s.row.name == "atom";
        let first = usize::from(has_result);
        let addressed = self.address(&s.operands[first], space_of(s))?;
        if matches!(addressed, Addressed::Words(..)) {
            return Err(Wrong::new(s.at.clone(), "an atomic access to a parameter is not taken"));
        }
        let count = s.operands.len() - first - 1;
        if count != if name == "cas" { 2 } else { 1 } {
            let message =
                format!("`{}.{name}` takes {} values", s.row.name, if name == "cas" { 2 } else { 1 });
            return Err(Wrong::new(s.at.clone(), message));
        }
        let mut operands = Vec::new();
        for operand in &s.operands[first + 1..] {
            operands.push(self.read(operand, ty)?);
        }
        if s.has("release") || s.has("acq_rel") {
            self.e.effect(Operation::Fence(Order::Release, scope));
        }
        let results = self.in_each(addressed, &[ty.ir()], &mut |this, memory, base, offset| {
            if memory == this.ids.private {
                return Ok(vec![this.plain_change(name, ty, memory, base, offset, &operands)]);
            }
            Ok(vec![match ty.bits {
                64 => this.locked_change(name, ty, (memory, base, offset), &operands, scope),
                bits => this.change(name, ty, (memory, base, offset, bits / 8), &operands, scope),
            }])
        })?;
        if s.has("acquire") || s.has("acq_rel") {
            self.e.effect(Operation::Fence(Order::Acquire, scope));
        }
        if has_result { self.write(&s.operands[0], results[0], ty) } else { Ok(()) }
    }

    /// The bits of a value.
    fn word(&mut self, value: Value) -> Value {
        match self.e.ty(value) {
            Type::F32 | Type::F64 => self.e.reinterpret(value),
            _ => value,
        }
    }

    /// A change of a word, or of 16 bits.
    fn change(
        &mut self,
        name: &str,
        ty: PtxType,
        (memory, base, offset, bytes): (MemoryId, Value, u32, u32),
        operands: &[Value],
        scope: Scope,
    ) -> Value {
        let access = self.access(memory, Type::I32, bytes, false, offset);
        let direct = match name {
            "add" if ty.is_integer() => Some(AtomicOp::Add),
            "sub" => Some(AtomicOp::Sub),
            "min" if !ty.is_signed() => Some(AtomicOp::Min),
            "max" if !ty.is_signed() => Some(AtomicOp::Max),
            "and" => Some(AtomicOp::And),
            "or" => Some(AtomicOp::Or),
            "xor" => Some(AtomicOp::Xor),
            "exch" => Some(AtomicOp::Exchange),
            _ => None,
        };
        let value = if let Some(operation) = direct {
            let operand = self.word(operands[0]);
            self.e.emit(Operation::Atomic(operation, access, scope, [base, operand]), Type::I32)
        } else if name == "cas" {
            let [mut expected, mut new] = [operands[0], operands[1]];
            if bytes < 4 {
                [expected, new] = [expected, new].map(|value| self.extended(value, PtxType::U16));
            }
            self.e.emit(Operation::CompareExchange(access, scope, [base, expected, new]), Type::I32)
        } else {
            // Tries what follows from the value seen last, until memory still had that.
            let first = self.e.load(access, base);
            let header = self.e.new_block(&[Type::I32]);
            self.e.jump(header, vec![first]);
            self.e.block = header;
            let old = self.e.parameter(header, 0);
            let seen = if ty.ir() == Type::F32 { self.e.reinterpret(old) } else { old };
            let new = self.changed(name, ty, seen, operands);
            let new = self.word(new);
            let operation = Operation::CompareExchange(access, scope, [base, old, new]);
            let got = self.e.emit(operation, Type::I32);
            let is_done = self.e.compare(Compare::Eq, got, old);
            let out = self.e.new_block(&[]);
            let again = Target { block: header, arguments: vec![got] };
            self.e.end(Terminator::Branch(is_done, [to(out), again]));
            self.e.block = out;
            old
        };
        if ty.ir() == Type::F32 { self.e.reinterpret(value) } else { value }
    }

    /// What memory holds after a change.
    fn changed(&mut self, name: &str, ty: PtxType, old: Value, operands: &[Value]) -> Value {
        let operand = operands[0];
        let binary = match (name, ty.kind) {
            ("add", Kind::Float) => Binary::FAdd,
            ("add", _) => Binary::Add,
            ("sub", _) => Binary::Sub,
            ("min", Kind::Signed) => Binary::MinS,
            ("max", Kind::Signed) => Binary::MaxS,
            ("min", _) => Binary::MinU,
            ("max", _) => Binary::MaxU,
            ("and", _) => Binary::And,
            ("or", _) => Binary::Or,
            ("xor", _) => Binary::Xor,
            ("inc", _) => {
                let more = self.e.with(Binary::Add, old, 1);
                let is_last = self.e.compare(Compare::GeU, old, operand);
                let zero = self.e.i32(0);
                return self.e.select(is_last, zero, more);
            }
            ("dec", _) => {
                let less = self.e.with(Binary::Sub, old, 1);
                let is_zero = self.e.compare_with(Compare::Eq, old, 0);
                let is_above = self.e.compare(Compare::GtU, old, operand);
                let wraps = self.e.binary(Binary::Or, is_zero, is_above);
                return self.e.select(wraps, operand, less);
            }
            ("cas", _) => {
                let is_expected = self.e.compare(Compare::Eq, old, operand);
                return self.e.select(is_expected, operands[1], old);
            }
            _ => return operand,
        };
        self.e.binary(binary, old, operand)
    }

    /// A change of memory that nobody else sees.
    fn plain_change(
        &mut self,
        name: &str,
        ty: PtxType,
        memory: MemoryId,
        base: Value,
        offset: u32,
        operands: &[Value],
    ) -> Value {
        let access = self.access(memory, ty.ir(), ty.bytes(), false, offset);
        let old = self.e.load(access, base);
        let new = self.changed(name, ty, old, operands);
        self.e.effect(Operation::Store(access, [base, new]));
        old
    }

    /// A change of 64 bits: one thread after another takes the lock of the address, changes memory and gives it back.
    fn locked_change(
        &mut self,
        name: &str,
        ty: PtxType,
        (memory, base, offset): (MemoryId, Value, u32),
        operands: &[Value],
        scope: Scope,
    ) -> Value {
        let locks = self.device.locks.expect("the layout has locks where an access needs some");
        let address = self.e.with(Binary::Add, base, u64::from(offset));
        let number = self.e.with(Binary::ShrU, address, 1);
        let lock = self.e.with(Binary::And, number, u64::from((LOCKS - 1) * 4));
        let lock_access = self.access(self.ids.device, Type::I32, 4, false, locks);
        let fences = scope.max(Scope::Device);
        let [header, inside, join] =
            [self.e.new_block(&[]), self.e.new_block(&[]), self.e.new_block(&[Type::Bool, ty.ir()])];
        let out = self.e.new_block(&[]);
        self.e.jump(header, Vec::new());
        self.e.block = header;
        let [free, held] = [0, 1].map(|bits| self.e.i32(bits));
        let operation = Operation::CompareExchange(lock_access, fences, [lock, free, held]);
        let before = self.e.emit(operation, Type::I32);
        let is_mine = self.e.compare(Compare::Eq, before, free);
        let (no, nothing) = (self.e.bool(false), self.e.zero(ty.ir()));
        self.e.branch(is_mine, to(inside), Target { block: join, arguments: vec![no, nothing] });
        self.e.effect(Operation::Fence(Order::Acquire, fences));
        let access = self.access(memory, ty.ir(), 8, false, offset);
        let old = self.e.load(access, base);
        let new = self.changed(name, ty, old, operands);
        self.e.effect(Operation::Store(access, [base, new]));
        self.e.effect(Operation::Fence(Order::Release, fences));
        let operation = Operation::Atomic(AtomicOp::Exchange, lock_access, fences, [lock, free]);
        self.e.emit(operation, Type::I32);
        let yes = self.e.bool(true);
        self.e.jump(join, vec![yes, old]);
        self.e.block = join;
        let [is_done, result] = [0, 1].map(|number| self.e.parameter(join, number));
        self.e.end(Terminator::Branch(is_done, [to(out), to(header)]));
        self.e.block = out;
        result
    }

    pub(super) fn fence(&mut self, s: &Statement) -> Done {
        let Some(scope) = scope(s) else {
            return Err(Wrong::new(
                s.at.clone(),
                format!("`{}` needs a scope, such as .gl or .gpu", s.row.name),
            ));
        };
        let order = match s.one_of(&["acquire", "release"]) {
            Some("acquire") => Order::Acquire,
            Some(_) => Order::Release,
            None => Order::AcquireRelease,
        };
        self.e.effect(Operation::Fence(order, scope));
        Ok(())
    }

    /// A barrier of the whole workgroup. Its number does not count, as all threads come to each.
    pub(super) fn barrier(&mut self, s: &Statement) -> Done {
        if s.operands.len() > 1 {
            return self.refused(
                &s.operands[1].at,
                "a barrier for a part of the workgroup is not taken",
                "use `bar.sync` without a number of threads: a barrier is one of the whole workgroup",
            );
        }
        if !s.has("sync") {
            return Err(Wrong::new(s.at.clone(), format!("`{}` needs .sync", s.row.name)));
        }
        self.e.effect(Operation::Barrier);
        Ok(())
    }

    /// Lanes of a wave go together: what they have stored is made visible to one another.
    pub(super) fn warp_barrier(&mut self, _s: &Statement) -> Done {
        self.needs_warps = true;
        self.e.effect(Operation::Fence(Order::AcquireRelease, Scope::Wave));
        Ok(())
    }
}
