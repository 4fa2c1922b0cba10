//! What threads share: atomics, barriers, and the operations of a wave, which are those of a subgroup.

use super::operators::is_half;
use super::places::{Location, Pointer, To, atomic_access};
use super::{Frame, Translator, Wrong};
use crate::emit::to;
use crate::ir::{
    Binary, Block, Compare, Constant, Convert, Operation, Order, Space, Target, Terminator, Type, Unary,
    Value, Wave,
};
use naga::{
    AtomicFunction, Barrier, BinaryOperator, CollectiveOperation, Direction, Expression, GatherMode, Handle,
    Scalar, ScalarKind, SubgroupOperation, TypeInner,
};
use wave_isa::table::AtomicOp;
use wave_isa::{MAX_WAVE_WIDTH, Scope, Special};

impl<'a> Translator<'a> {
    /// The threads for which an access to memory is atomic.
    fn scope(&self, location: Location) -> Scope {
        match self.memories[location.memory].space {
            Space::Local => Scope::Workgroup,
            _ => Scope::Device,
        }
    }

    /// An error for atomics of another width than the machine has.
    pub(super) fn taken_atomic(&self, scalar: Scalar) -> Result<(), Wrong> {
        if scalar.width == 4 {
            return Ok(());
        }
        let hint = "the machine has atomics of 32 bits: two of them, or a lock, can stand for one of more";
        let what = format!("an atomic of {} bits", u32::from(scalar.width) * 8);
        Err(self.refused(what).with_hint(hint))
    }

    fn atomic_value(&mut self, scalar: Scalar, bits: Value) -> Value {
        if scalar.kind == ScalarKind::Float { self.e.reinterpret(bits) } else { bits }
    }

    /// Loads where other workgroups may store: a cache of this core may hold an old value, so the load is an operation that
    /// changes nothing.
    pub(super) fn atomic_load(&mut self, pointer: &Pointer, location: Location) -> Value {
        let TypeInner::Atomic(scalar) = pointer.ty else { unreachable!("it is an atomic") };
        let access = atomic_access(location);
        let bits = match self.scope(location) {
            Scope::Workgroup => self.e.load(access, location.base),
            scope => {
                let zero = self.e.i32(0);
                self.e.emit(Operation::Atomic(AtomicOp::Or, access, scope, [location.base, zero]), Type::I32)
            }
        };
        self.atomic_value(scalar, bits)
    }

    pub(super) fn atomic_store(&mut self, pointer: &Pointer, location: Location, value: Value) {
        let TypeInner::Atomic(scalar) = pointer.ty else { unreachable!("it is an atomic") };
        let bits = self.atomic_value(scalar, value);
        let access = atomic_access(location);
        match self.scope(location) {
            Scope::Workgroup => self.e.store(access, location.base, bits),
            scope => {
                let operation = Operation::Atomic(AtomicOp::Exchange, access, scope, [location.base, bits]);
                self.e.emit(operation, Type::I32);
            }
        }
    }

    /// An atomic function; gives the old value, and of a comparison whether it held.
    pub(super) fn atomic(
        &mut self,
        frame: &Frame<'a>,
        pointer: &Pointer,
        fun: &AtomicFunction,
        value: Handle<Expression>,
    ) -> Result<Vec<Value>, Wrong> {
        let (To::Memory(location), TypeInner::Atomic(scalar)) = (&pointer.to, &pointer.ty) else {
            unreachable!("the validator has seen an atomic in memory");
        };
        let (location, scalar) = (*location, *scalar);
        self.taken_atomic(scalar)?;
        let value = self.scalar(frame, value)?;
        let is_float = scalar.kind == ScalarKind::Float;
        let is_signed = scalar.kind == ScalarKind::Sint;
        let by_loop = match fun {
            AtomicFunction::Add if is_float => Some(Binary::FAdd),
            AtomicFunction::Subtract if is_float => Some(Binary::FSub),
            AtomicFunction::Min if is_float => Some(Binary::FMinNumber),
            AtomicFunction::Max if is_float => Some(Binary::FMaxNumber),
            AtomicFunction::Min if is_signed => Some(Binary::MinS),
            AtomicFunction::Max if is_signed => Some(Binary::MaxS),
            _ => None,
        };
        if let Some(binary) = by_loop {
            return Ok(vec![self.replaced(location, scalar, |this, old| this.e.binary(binary, old, value))]);
        }
        let (access, scope) = (atomic_access(location), self.scope(location));
        let bits = self.atomic_value(scalar, value);
        if let AtomicFunction::Exchange { compare: Some(expected) } = fun {
            let expected = self.scalar(frame, *expected)?;
            let expected = self.atomic_value(scalar, expected);
            let operation = Operation::CompareExchange(access, scope, [location.base, expected, bits]);
            let old = self.e.emit(operation, Type::I32);
            let held = self.e.compare(Compare::Eq, old, expected);
            return Ok(vec![self.atomic_value(scalar, old), held]);
        }
        let op = match fun {
            AtomicFunction::Add => AtomicOp::Add,
            AtomicFunction::Subtract => AtomicOp::Sub,
            AtomicFunction::And => AtomicOp::And,
            AtomicFunction::ExclusiveOr => AtomicOp::Xor,
            AtomicFunction::InclusiveOr => AtomicOp::Or,
            AtomicFunction::Min => AtomicOp::Min,
            AtomicFunction::Max => AtomicOp::Max,
            AtomicFunction::Exchange { .. } => AtomicOp::Exchange,
        };
        let old = self.e.emit(Operation::Atomic(op, access, scope, [location.base, bits]), Type::I32);
        Ok(vec![self.atomic_value(scalar, old)])
    }

    /// Replaces a value in memory by what is computed from it, again until nobody else has changed it; gives the old one.
    fn replaced(
        &mut self,
        location: Location,
        scalar: Scalar,
        compute: impl FnOnce(&mut Self, Value) -> Value,
    ) -> Value {
        let (access, scope) = (atomic_access(location), self.scope(location));
        let first = self.e.load(access, location.base);
        let header = self.e.function.block(&[Type::I32]);
        let old = self.e.function.blocks[header].parameters[0];
        self.e.end(Terminator::Jump(Target { block: header, arguments: vec![first] }));
        self.e.block = header;
        let number = self.atomic_value(scalar, old);
        let new = compute(self, number);
        let new = self.atomic_value(scalar, new);
        let found =
            self.e.emit(Operation::CompareExchange(access, scope, [location.base, old, new]), Type::I32);
        let held = self.e.compare(Compare::Eq, found, old);
        let out = self.e.new_block(&[]);
        let again = Target { block: header, arguments: vec![found] };
        self.e.end(Terminator::Branch(held, [to(out), again]));
        self.e.block = out;
        number
    }

    /// Waits for all threads of the workgroup. Stores to buffers are visible to the device then.
    pub(super) fn barrier(&mut self, barrier: Barrier) {
        if barrier.contains(Barrier::STORAGE) {
            self.e.effect(Operation::Fence(Order::Release, Scope::Device));
        }
        if barrier.intersects(Barrier::STORAGE | Barrier::WORK_GROUP) {
            self.e.effect(Operation::Barrier);
        } else {
            self.e.effect(Operation::Fence(Order::AcquireRelease, Scope::Wave));
        }
        if barrier.contains(Barrier::STORAGE) {
            self.e.effect(Operation::Fence(Order::Acquire, Scope::Device));
        }
    }

    /// Orders accesses without waiting for other threads.
    pub(super) fn memory_barrier(&mut self, barrier: Barrier) {
        let scope = match barrier {
            barrier if barrier.contains(Barrier::STORAGE) => Scope::Device,
            barrier if barrier.contains(Barrier::WORK_GROUP) => Scope::Workgroup,
            _ => Scope::Wave,
        };
        self.e.effect(Operation::Fence(Order::AcquireRelease, scope));
    }

    /// The bits of a truth value in all lanes, as four words.
    pub(super) fn ballot(&mut self, predicate: Value) -> Vec<Value> {
        let [low, high] = self.ballot_words(predicate);
        let zero = self.e.i32(0);
        vec![low, high, zero, zero]
    }

    fn ballot_words(&mut self, predicate: Value) -> [Value; 2] {
        let bits = self.e.wave(Wave::Ballot, &[predicate]);
        let low = self.e.convert(Convert::Wrap, bits);
        let high = self.e.with(Binary::ShrU, bits, 32);
        [low, self.e.convert(Convert::Wrap, high)]
    }

    fn lane(&mut self) -> Value {
        self.e.special(Special::LaneId, Some(63))
    }

    /// Values of other lanes.
    pub(super) fn gather(
        &mut self,
        frame: &Frame<'a>,
        mode: &GatherMode,
        argument: Handle<Expression>,
    ) -> Result<Vec<Value>, Wrong> {
        let values = self.values(frame, argument)?;
        let lane = self.lane();
        let (wave, other) = match *mode {
            GatherMode::BroadcastFirst => (Wave::Broadcast, lane),
            GatherMode::Broadcast(index) | GatherMode::Shuffle(index) => {
                (Wave::Shuffle, self.scalar(frame, index)?)
            }
            GatherMode::ShuffleDown(distance) => (Wave::ShuffleDown, self.scalar(frame, distance)?),
            GatherMode::ShuffleUp(distance) => (Wave::ShuffleUp, self.scalar(frame, distance)?),
            GatherMode::ShuffleXor(bits) => (Wave::ShuffleXor, self.scalar(frame, bits)?),
            GatherMode::QuadBroadcast(index) => {
                let index = self.scalar(frame, index)?;
                let first = self.e.with(Binary::And, lane, 0x3C);
                (Wave::Shuffle, self.e.binary(Binary::Or, first, index))
            }
            GatherMode::QuadSwap(direction) => {
                let bits = match direction {
                    Direction::X => 1,
                    Direction::Y => 2,
                    Direction::Diagonal => 3,
                };
                (Wave::ShuffleXor, self.e.i32(bits))
            }
        };
        Ok(values.into_iter().map(|value| self.of_lane(wave, value, other)).collect())
    }

    /// A value of any type from another lane.
    fn of_lane(&mut self, wave: Wave, value: Value, lane: Value) -> Value {
        match self.e.ty(value) {
            Type::I32 => self.e.wave(wave, &[value, lane]),
            Type::Bool => {
                let number = self.e.convert(Convert::BoolToI32, value);
                let number = self.e.wave(wave, &[number, lane]);
                self.e.compare_with(Compare::Ne, number, 0)
            }
            Type::F32 | Type::F64 => {
                let bits = self.e.reinterpret(value);
                let bits = self.of_lane(wave, bits, lane);
                self.e.reinterpret(bits)
            }
            Type::I64 => {
                let low = self.e.convert(Convert::Wrap, value);
                let high = self.e.with(Binary::ShrU, value, 32);
                let high = self.e.convert(Convert::Wrap, high);
                let halves = [low, high].map(|half| {
                    let half = self.e.wave(wave, &[half, lane]);
                    self.e.convert(Convert::ExtendU, half)
                });
                let up = self.e.with(Binary::Shl, halves[1], 32);
                self.e.binary(Binary::Or, up, halves[0])
            }
        }
    }

    /// A reduction or scan over the lanes that take part.
    pub(super) fn collective(
        &mut self,
        frame: &Frame<'a>,
        op: SubgroupOperation,
        collective: CollectiveOperation,
        argument: Handle<Expression>,
    ) -> Result<Vec<Value>, Wrong> {
        let scalar = super::operators::scalar_of(&self.ty(frame, argument));
        let values = self.values(frame, argument)?;
        Ok(values.into_iter().map(|value| self.collected(op, collective, scalar, value)).collect())
    }

    fn collected(
        &mut self,
        op: SubgroupOperation,
        collective: CollectiveOperation,
        scalar: Scalar,
        value: Value,
    ) -> Value {
        use CollectiveOperation::{ExclusiveScan, InclusiveScan, Reduce};
        use SubgroupOperation as O;
        let is_word = matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint) && scalar.width == 4;
        let is_signed = scalar.kind == ScalarKind::Sint;
        match (op, collective) {
            (O::All, _) => self.e.wave(Wave::All, &[value]),
            (O::Any, _) => self.e.wave(Wave::Any, &[value]),
            (O::Add, Reduce) if is_word => self.e.wave(Wave::ReduceAdd, &[value]),
            (O::Add, ExclusiveScan) if is_word => self.e.wave(Wave::PrefixSum, &[value]),
            (O::Add, InclusiveScan) if is_word => {
                let before = self.e.wave(Wave::PrefixSum, &[value]);
                self.e.binary(Binary::Add, before, value)
            }
            (O::And, Reduce) if is_word => self.e.wave(Wave::ReduceAnd, &[value]),
            (O::Or, Reduce) if is_word => self.e.wave(Wave::ReduceOr, &[value]),
            (O::Xor, Reduce) if is_word => self.e.wave(Wave::ReduceXor, &[value]),
            (O::Min | O::Max, Reduce) if is_word => {
                let wave = if op == O::Min { Wave::ReduceMin } else { Wave::ReduceMax };
                // With the sign bit turned, numbers with a sign have the order of those without.
                let turn = if is_signed { 1 << 31 } else { 0 };
                let turned = self.e.with(Binary::Xor, value, turn);
                let found = self.e.wave(wave, &[turned]);
                self.e.with(Binary::Xor, found, turn)
            }
            _ => self.stepwise(op, collective, scalar, value),
        }
    }

    /// A reduction or scan of any operation: in few steps if all lanes take part.
    fn stepwise(
        &mut self,
        op: SubgroupOperation,
        collective: CollectiveOperation,
        scalar: Scalar,
        value: Value,
    ) -> Value {
        if self.has_full_waves && self.depth == 0 && !self.is_left {
            return self.of_all_lanes(op, collective, scalar, value);
        }
        let truth = self.e.bool(true);
        let mask = self.ballot_words(truth);
        let [low, high] = mask.map(|word| self.e.unary(Unary::Popcnt, word));
        let active = self.e.binary(Binary::Add, low, high);
        let width = self.e.special(Special::WaveWidth, Some(MAX_WAVE_WIDTH as u32));
        let is_full = self.e.compare(Compare::Eq, active, width);
        let ty = self.e.ty(value);
        let join = self.e.new_block(&[ty]);
        let sides: [Block; 2] = [self.e.new_block(&[]), self.e.new_block(&[])];
        self.e.end(Terminator::Branch(is_full, sides.map(to)));
        for (number, side) in sides.into_iter().enumerate() {
            self.e.block = side;
            let result = match number {
                0 => self.of_all_lanes(op, collective, scalar, value),
                _ => self.of_some_lanes(op, collective, scalar, value, mask),
            };
            self.e.end(Terminator::Jump(Target { block: join, arguments: vec![result] }));
        }
        self.e.block = join;
        self.e.function.blocks[join].parameters[0]
    }

    /// A reduction or scan where all lanes take part: at each step with the lane twice as far away.
    fn of_all_lanes(
        &mut self,
        op: SubgroupOperation,
        collective: CollectiveOperation,
        scalar: Scalar,
        value: Value,
    ) -> Value {
        let lane = self.lane();
        let is_scan = collective != CollectiveOperation::Reduce;
        let sum = self.while_below_width(value, |this, sum, distance| {
            let wave = if is_scan { Wave::ShuffleUp } else { Wave::ShuffleXor };
            let other = this.of_lane(wave, sum, distance);
            let both = this.combined(op, scalar, other, sum);
            if !is_scan {
                return both;
            }
            let has_one = this.e.compare(Compare::GeU, lane, distance);
            this.e.select(has_one, both, sum)
        });
        if collective != CollectiveOperation::ExclusiveScan {
            return sum;
        }
        let one = self.e.i32(1);
        let other = self.of_lane(Wave::ShuffleUp, sum, one);
        let is_first = self.e.compare_with(Compare::Eq, lane, 0);
        let nothing = self.neutral(op, scalar, value);
        self.e.select(is_first, nothing, other)
    }

    /// Goes from a value to the next with the distances 1, 2, 4 and so on, below the number of lanes.
    fn while_below_width(
        &mut self,
        first: Value,
        step: impl FnOnce(&mut Self, Value, Value) -> Value,
    ) -> Value {
        let ty = self.e.ty(first);
        let header = self.e.new_block(&[ty, Type::I32]);
        let [value, distance] = self.e.function.blocks[header].parameters[..] else {
            unreachable!("it has two")
        };
        let one = self.e.i32(1);
        self.e.end(Terminator::Jump(Target { block: header, arguments: vec![first, one] }));
        self.e.block = header;
        let width = self.e.special(Special::WaveWidth, Some(MAX_WAVE_WIDTH as u32));
        let goes_on = self.e.compare(Compare::LtU, distance, width);
        let [body, out]: [Block; 2] = [self.e.new_block(&[]), self.e.new_block(&[])];
        self.e.end(Terminator::Branch(goes_on, [body, out].map(to)));
        self.e.block = body;
        let next = step(self, value, distance);
        let twice = self.e.with(Binary::Shl, distance, 1);
        self.e.end(Terminator::Jump(Target { block: header, arguments: vec![next, twice] }));
        self.e.block = out;
        value
    }

    /// The value that changes no other by an operation.
    fn neutral(&mut self, op: SubgroupOperation, scalar: Scalar, like: Value) -> Value {
        match op {
            SubgroupOperation::Mul => self.one(scalar),
            _ => {
                let ty = self.e.ty(like);
                self.e.zero(ty)
            }
        }
    }

    /// A reduction or scan over the lanes of a mask: each lane takes what the nearest lane before it has gathered, then what
    /// the one before those has, and so on, at each step twice as many.
    fn of_some_lanes(
        &mut self,
        op: SubgroupOperation,
        collective: CollectiveOperation,
        scalar: Scalar,
        value: Value,
        [low, high]: [Value; 2],
    ) -> Value {
        let lane = self.lane();
        let before = self.lane_before([low, high], lane);
        let ty = self.e.ty(value);
        let header = self.e.function.block(&[ty, Type::I32]);
        let [sum, from] = self.e.function.blocks[header].parameters[..] else { unreachable!("it has two") };
        self.e.end(Terminator::Jump(Target { block: header, arguments: vec![value, before] }));
        self.e.block = header;
        let has_one = self.e.compare_with(Compare::GeS, from, 0);
        let any = self.e.wave(Wave::Any, &[has_one]);
        let [body, out]: [Block; 2] = [self.e.new_block(&[]), self.e.new_block(&[])];
        self.e.end(Terminator::Branch(any, [to(body), to(out)]));
        self.e.block = body;
        let other = self.of_lane(Wave::Shuffle, sum, from);
        let both = self.combined(op, scalar, other, sum);
        let next_sum = self.e.select(has_one, both, sum);
        let farther = self.e.wave(Wave::Shuffle, &[from, from]);
        let next_from = self.e.select(has_one, farther, from);
        self.e.end(Terminator::Jump(Target { block: header, arguments: vec![next_sum, next_from] }));
        self.e.block = out;
        match collective {
            CollectiveOperation::InclusiveScan => sum,
            CollectiveOperation::ExclusiveScan => {
                let other = self.of_lane(Wave::Shuffle, sum, before);
                let is_first = self.e.compare_with(Compare::LtS, before, 0);
                let nothing = self.neutral(op, scalar, value);
                self.e.select(is_first, nothing, other)
            }
            CollectiveOperation::Reduce => {
                let last = self.last_lane([low, high]);
                self.of_lane(Wave::Shuffle, sum, last)
            }
        }
    }

    /// The highest lane of a mask; -1 for none.
    fn last_lane(&mut self, [low, high]: [Value; 2]) -> Value {
        let of = |this: &mut Self, word: Value, last: u32| {
            let zeros = this.e.unary(Unary::Clz, word);
            let last = this.e.i32(last);
            this.e.binary(Binary::Sub, last, zeros)
        };
        let (in_low, in_high) = (of(self, low, 31), of(self, high, 63));
        let none = self.e.compare_with(Compare::Eq, high, 0);
        self.e.select(none, in_low, in_high)
    }

    /// The highest lane of a mask before this one; -1 for none.
    fn lane_before(&mut self, [low, high]: [Value; 2], lane: Value) -> Value {
        let one = self.e.constant(Constant::I64(1));
        let wide = self.e.convert(Convert::ExtendU, lane);
        let bit = self.e.binary(Binary::Shl, one, wide);
        let below = self.e.binary(Binary::Sub, bit, one);
        let below_low = self.e.convert(Convert::Wrap, below);
        let below_high = self.e.with(Binary::ShrU, below, 32);
        let below_high = self.e.convert(Convert::Wrap, below_high);
        let words =
            [self.e.binary(Binary::And, low, below_low), self.e.binary(Binary::And, high, below_high)];
        self.last_lane(words)
    }

    fn combined(&mut self, op: SubgroupOperation, scalar: Scalar, a: Value, b: Value) -> Value {
        use SubgroupOperation as O;
        let least = |float, signed, unsigned| match scalar.kind {
            ScalarKind::Float => float,
            ScalarKind::Sint => signed,
            _ => unsigned,
        };
        match op {
            O::Add => self.arithmetic(BinaryOperator::Add, scalar, a, b),
            O::Mul => self.arithmetic(BinaryOperator::Multiply, scalar, a, b),
            O::And | O::All => self.e.binary(Binary::And, a, b),
            O::Or | O::Any => self.e.binary(Binary::Or, a, b),
            O::Xor => self.e.binary(Binary::Xor, a, b),
            O::Min | O::Max => {
                let binary = match op {
                    O::Min => least(Binary::FMinNumber, Binary::MinS, Binary::MinU),
                    _ => least(Binary::FMaxNumber, Binary::MaxS, Binary::MaxU),
                };
                match is_half(scalar) {
                    true => self.in_f32(&[a, b], |this, wide| this.e.binary(binary, wide[0], wide[1])),
                    false => self.e.binary(binary, a, b),
                }
            }
        }
    }
}
