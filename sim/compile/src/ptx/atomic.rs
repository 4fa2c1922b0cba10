//! Atomic accesses. Those that the machine has not are loops that try a change until nobody else has made one; those of
//! 64 bits happen under a lock, so that they are atomic for one another.
//!
//! Lanes of a wave that want one address would try in vain again and again, and hold up those of other waves. So they go
//! one after the other: in each round the lowest lane tries, with the lanes that want other addresses ([`Turn`]).

use super::Wrong;
use super::layout::LOCKS;
use super::memory::{Addressed, scope};
use super::spaces::space_of;
use super::translate::{Done, Translator};
use super::tree::{Operand, Statement};
use super::types::{Kind, PtxType};
use crate::emit::to;
use crate::ir::{
    Access, Binary, Compare, Convert, MemoryId, Operation, Order, Target, Terminator, Type, Unary, Value,
    Wave,
};
use wave_isa::table::AtomicOp;
use wave_isa::{Scope, Special};

/// Whose turn it is among the lanes of a wave that are in a loop.
struct Turn {
    /// The lowest lane.
    first: Value,
    /// This lane wants the address of the lowest one, and is another.
    waits: Value,
}

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

    /// Whose turn it is, if each lane that is here wants an address.
    fn turn(&mut self, address: Value) -> Turn {
        let yes = self.e.bool(true);
        let here = self.e.wave(Wave::Ballot, &[yes]);
        let first = self.e.unary(Unary::Ctz, here);
        let first = self.e.convert(Convert::Wrap, first);
        let wanted = self.e.wave(Wave::Shuffle, &[address, first]);
        let is_same = self.e.compare(Compare::Eq, address, wanted);
        let lane = self.e.special(Special::LaneId, Some(63));
        let is_other = self.e.compare(Compare::Ne, lane, first);
        Turn { first, waits: self.e.binary(Binary::And, is_same, is_other) }
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
            self.tried(name, ty, (access, base), operands, scope)
        };
        if ty.ir() == Type::F32 { self.e.reinterpret(value) } else { value }
    }

    /// Tries what follows from the value seen last, until memory still had that.
    fn tried(
        &mut self,
        name: &str,
        ty: PtxType,
        (access, base): (Access, Value),
        operands: &[Value],
        scope: Scope,
    ) -> Value {
        // What memory had, and what it has after the change, if that has come about.
        let attempt = |this: &mut Self, old: Value| {
            let seen = if ty.ir() == Type::F32 { this.e.reinterpret(old) } else { old };
            let new = this.changed(name, ty, seen, operands);
            let new = this.word(new);
            let operation = Operation::CompareExchange(access, scope, [base, old, new]);
            let got = this.e.emit(operation, Type::I32);
            let is_done = this.e.compare(Compare::Eq, got, old);
            (is_done, this.e.select(is_done, new, got))
        };
        let first = self.e.load(access, base);
        let [header, out] = [self.e.new_block(&[Type::I32]), self.e.new_block(&[Type::I32])];
        // Mostly nobody else wants the address.
        let (is_done, seen) = attempt(self, first);
        let ends = Target { block: out, arguments: vec![first] };
        self.e.end(Terminator::Branch(is_done, [ends, Target { block: header, arguments: vec![seen] }]));
        self.e.block = header;
        let old = self.e.parameter(header, 0);
        let turn = self.turn(base);
        let (tries, join) = (self.e.new_block(&[]), self.e.new_block(&[Type::Bool, Type::I32]));
        let no = self.e.bool(false);
        self.e.branch(turn.waits, Target { block: join, arguments: vec![no, old] }, to(tries));
        self.e.block = tries;
        let (is_done, seen) = attempt(self, old);
        self.e.jump(join, vec![is_done, seen]);
        self.e.block = join;
        let [is_done, seen] = [0, 1].map(|number| self.e.parameter(join, number));
        // The next lane goes on from what the lowest one has left.
        let left = self.e.wave(Wave::Shuffle, &[seen, turn.first]);
        let next = self.e.select(turn.waits, left, seen);
        let ends = Target { block: out, arguments: vec![old] };
        self.e.end(Terminator::Branch(is_done, [ends, Target { block: header, arguments: vec![next] }]));
        self.e.block = out;
        self.e.parameter(out, 0)
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
        let [header, tries, inside] = [0; 3].map(|_| self.e.new_block(&[]));
        let join = self.e.new_block(&[Type::Bool, ty.ir()]);
        let out = self.e.new_block(&[]);
        self.e.jump(header, Vec::new());
        self.e.block = header;
        let turn = self.turn(lock);
        let (no, nothing) = (self.e.bool(false), self.e.zero(ty.ir()));
        self.e.branch(turn.waits, Target { block: join, arguments: vec![no, nothing] }, to(tries));
        self.e.block = tries;
        let [free, held] = [0, 1].map(|bits| self.e.i32(bits));
        let operation = Operation::CompareExchange(lock_access, fences, [lock, free, held]);
        let before = self.e.emit(operation, Type::I32);
        let is_mine = self.e.compare(Compare::Eq, before, free);
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
        if let Some(threads) = s.operands.get(1) {
            self.names_whole_workgroup(threads)?;
        }
        if !s.has("sync") {
            return Err(Wrong::new(s.at.clone(), format!("`{}` needs .sync", s.row.name)));
        }
        self.e.effect(Operation::Barrier);
        Ok(())
    }

    /// A barrier may state its threads if they are those of the workgroup, which the entry states. Barriers of a part would need
    /// counters in memory and waves that poll them: no rule of WAVE says that a polling wave lets others go on.
    pub(super) fn names_whole_workgroup(&mut self, threads: &Operand) -> Done {
        let value = self.read(threads, PtxType::U32)?;
        let stated = self.graph.function(self.tree, 0).required_threads;
        let all = stated.map(|[x, y, z]| (u64::from(x) * u64::from(y) * u64::from(z)).next_multiple_of(32));
        if self.e.known(value).is_some_and(|value| Some(value) == all) {
            return Ok(());
        }
        self.refused(
            &threads.at,
            "a barrier for a part of the workgroup is not taken",
            "leave the number of threads out: a barrier is one of the whole workgroup; `.reqntid` tells that a number is all of \
             them",
        )
    }

    /// Lanes of a wave go together: what they have stored is made visible to one another.
    pub(super) fn warp_barrier(&mut self, _s: &Statement) -> Done {
        self.needs_warps = true;
        self.e.effect(Operation::Fence(Order::AcquireRelease, Scope::Wave));
        Ok(())
    }
}
