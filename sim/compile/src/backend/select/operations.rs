//! Instructions for operations.

use super::joined::{Group, Part};
use super::{Code, Register, Selector, Slot};
use crate::error::Reason;
use crate::ir::evaluate::NAN_F32;
use crate::ir::{
    Access, Binary, Block, Convert, Double, Half, Operation, Order, Place, Space, Type, Unary, Value, Wave,
};
use wave_isa::table::AtomicOp;
use wave_isa::{Op, Scope};

impl Selector<'_> {
    /// Selects instructions for the instruction of this number.
    pub(super) fn instruction(&mut self, block: Block, number: usize) -> Result<(), (Place, Reason)> {
        let instruction = &self.function.blocks[block].instructions[number];
        self.at = instruction.at;
        let refused = |reason| Err((instruction.at, reason));
        let result = instruction.results.first().copied();
        let mut all = instruction.operation.operands().chain(instruction.results.iter().copied());
        if let Some(value) = all.find(|&value| matches!(self.function.values[value], Type::I64 | Type::F64)) {
            return refused(Reason::Type("the type", self.function.values[value]));
        }
        if let Some(result) = result
            && (self.fused.contains(result) || self.is_truth(result) && self.is_late(result))
        {
            return Ok(());
        }
        let is_unused = instruction.results.iter().all(|&value| self.uses[value] == 0);
        if is_unused && instruction.operation.is_pure() {
            return Ok(());
        }
        match self.joined.part(block, number) {
            Some(Part::Elsewhere) => return Ok(()),
            Some(Part::Whole(group)) => {
                let group = group.clone();
                self.wide_access(&instruction.operation, &group);
                return Ok(());
            }
            None => {}
        }
        match &instruction.operation {
            // They are made where they are taken.
            Operation::Constant(_) => {}
            Operation::Load(access, address) => {
                let (op, address) =
                    (memory_op(0x30, 0x38, self.space(*access), *access), self.address(*access, *address));
                let loaded = self.emit(op, &[address]);
                let value =
                    if access.signed { self.sign_extend(loaded, 32 - 8 * access.bytes) } else { loaded };
                self.set(result, value);
            }
            Operation::Store(access, [address, value]) => {
                let (op, address) =
                    (memory_op(0x31, 0x39, self.space(*access), *access), self.address(*access, *address));
                let value = self.value(*value);
                let slots = [address, value].map(Slot::Register);
                self.code.push(Code::with(op, &slots, self.at));
            }
            Operation::Atomic(operation, access, scope, [address, value]) => {
                self.atomic(*operation, *access, *scope, *address, &[*value], result)?;
            }
            Operation::CompareExchange(access, scope, [address, expected, new]) => {
                self.atomic(AtomicOp::Cas, *access, *scope, *address, &[*expected, *new], result)?;
            }
            Operation::MemorySize(memory) => {
                let memory = &self.module.memories[*memory];
                let register = self.constant(memory.pages.min(0xFFFF_FFFF / memory.page_bytes + 1) as u32);
                self.set(result, register);
            }
            Operation::MemoryGrow(..) => {
                let register = self.constant(u32::MAX);
                self.set(result, register);
            }
            Operation::PrivateBase => {
                let base = self.private_base();
                self.set(result, base);
            }
            Operation::Special(special) => {
                let to = self.register();
                let slots = [Slot::Register(to), Slot::Number(*special as u8)];
                self.code.push(Code::with(Op::MovSr, &slots, self.at));
                self.set(result, to);
            }
            Operation::Barrier => self.code.push(Code::new(Op::Barrier, self.at)),
            Operation::Fence(order, scope) => {
                let op = match order {
                    Order::Acquire => Op::FenceAcquire,
                    Order::Release => Op::FenceRelease,
                    Order::AcquireRelease => Op::FenceAcqRel,
                };
                self.code.push(Code { scope: *scope, ..Code::new(op, self.at) });
            }
            Operation::Wave(wave, values) => self.wave(*wave, values, &instruction.results),
            Operation::Unary(unary, a) => {
                let register = self.unary(*unary, *a, result);
                self.set(result, register);
            }
            Operation::Binary(binary, operands) => {
                let register = self.binary(*binary, *operands, result);
                self.set(result, register);
            }
            Operation::Convert(convert, a) => {
                let register = self.convert(*convert, *a);
                self.set(result, register);
            }
            Operation::Fma(operands) => {
                let operands = operands.map(|value| self.value(value));
                let register = self.emit(Op::Fma, &operands);
                self.set(result, register);
            }
            Operation::Double(double, operands) => self.double(*double, operands, &instruction.results),
            Operation::Half(half, operands) => {
                let operands: Vec<Register> = operands.iter().map(|&value| self.value(value)).collect();
                let register = self.emit(half_op(*half), &operands);
                self.set(result, register);
            }
            Operation::Select([condition, a, b]) => {
                let [a, b] = [*a, *b].map(|value| self.value(value));
                let condition = self.condition(*condition);
                let to = self.register();
                self.select_into(to, condition, a, b);
                self.set(result, to);
            }
            Operation::Call(callee, arguments) => self.call(*callee, arguments, &instruction.results),
            other => return refused(Reason::Operation(name(other))),
        }
        Ok(())
    }

    fn set(&mut self, value: Option<Value>, register: Register) {
        if let Some(value) = value {
            self.values[value] = Some(register);
            self.named.resize(self.registers.len(), 0);
            self.named[register.number as usize] += 1;
        }
    }

    /// An access of several words at once.
    fn wide_access(&mut self, operation: &Operation, group: &Group) {
        let (Operation::Load(access, _) | Operation::Store(access, _)) = operation else { return };
        let access = Access { bytes: group.bytes, offset: group.offset, ..*access };
        let space = self.space(access);
        let address = self.address(access, group.base);
        if matches!(operation, Operation::Load(..)) {
            let to = self.rows(group.values.len() as u8);
            self.emit_to(to, memory_op(0x30, 0x38, space, access), &[address]);
            for (row, &value) in (0..).zip(&group.values) {
                self.set(Some(value), Register { row, ..to });
            }
            return;
        }
        let values = self.in_a_row(&group.values);
        let slots = [address, values].map(Slot::Register);
        self.code.push(Code::with(memory_op(0x31, 0x39, space, access), &slots, self.at));
    }

    fn space(&self, access: Access) -> Space {
        self.module.memories[access.memory].space
    }

    /// The address in a register. A sum past the end of memory is outside it; one past 2^32 comes round, as device
    /// memory has addresses of 32 bits.
    fn address(&mut self, access: Access, address: Value) -> Register {
        let base = self.value(address);
        if access.offset == 0 {
            return base;
        }
        let offset = self.constant(access.offset);
        self.emit(Op::IAdd, &[base, offset])
    }

    fn atomic(
        &mut self,
        operation: AtomicOp,
        access: Access,
        scope: Scope,
        address: Value,
        values: &[Value],
        result: Option<Value>,
    ) -> Result<(), (Place, Reason)> {
        if access.bytes != 4 {
            return Err((self.at, Reason::AtomicWidth(access.bytes)));
        }
        let opcode = if self.space(access) == Space::Local { 0x3C } else { 0x3D };
        let modifier = AtomicOp::ALL.iter().position(|&other| other == operation).expect("all are listed");
        let op = Op::from_key(opcode, modifier as u8).expect("all are in the table");
        let address = self.address(access, address);
        let taken = result.filter(|&value| self.uses[value] > 0);
        let mut slots = vec![Slot::None];
        if let Some(result) = taken {
            let to = self.register();
            self.registers[to.number as usize].not_zero = true;
            self.values[result] = Some(to);
            slots[0] = Slot::Register(to);
        }
        slots.push(Slot::Register(address));
        slots.extend(values.iter().map(|&value| Slot::Register(self.value(value))).collect::<Vec<_>>());
        self.code.push(Code { scope, ..Code::with(op, &slots, self.at) });
        Ok(())
    }

    fn wave(&mut self, wave: Wave, values: &[Value], results: &[Value]) {
        if results.iter().all(|&value| self.uses[value] == 0) {
            return;
        }
        let modifier = Wave::ALL.iter().position(|&other| other == wave).expect("all are listed");
        let op = Op::from_key(0x3E, modifier as u8).expect("all are in the table");
        match wave {
            Wave::Ballot => {
                let predicate = self.positive(values[0]);
                // Waves of up to 32 lanes leave the second row as it is.
                let low = self.rows(2);
                let high = Register { row: 1, ..low };
                let takes_high = results.get(1).is_some_and(|&value| self.uses[value] > 0);
                if takes_high {
                    self.load_constant(high, 0);
                }
                let ballot = Code::with(op, &[Slot::Register(low), Slot::Number(predicate)], self.at);
                self.code.push(Code { keeps: takes_high, ..ballot });
                self.set(Some(results[0]), low);
                self.set(results.get(1).copied(), high);
            }
            Wave::Any | Wave::All => {
                let predicate = self.positive(values[0]);
                let found = self.predicates.free();
                self.code.push(Code::with(op, &[Slot::Number(found), Slot::Number(predicate)], self.at));
                let [one, zero] = [1, 0].map(|bits| self.constant(bits));
                let to = self.register();
                self.select_into(to, (found, false), one, zero);
                self.set(Some(results[0]), to);
            }
            _ => {
                let operands: Vec<Register> = values.iter().map(|&value| self.value(value)).collect();
                let register = self.emit(op, &operands);
                self.set(Some(results[0]), register);
            }
        }
    }

    /// An instruction on pairs of registers.
    fn double(&mut self, double: Double, operands: &[Value], results: &[Value]) {
        let op = match double {
            Double::Add => Op::DAdd,
            Double::Sub => Op::DSub,
            Double::Mul => Op::DMul,
            Double::Fma => Op::DMa,
            Double::Div => Op::DDiv,
            Double::Sqrt => Op::DSqrt,
            Double::Promote => Op::CvtF64F32,
            Double::Demote => Op::CvtF32F64,
        };
        let pairs: Vec<Register> = operands.chunks(2).map(|pair| self.in_a_row(pair)).collect();
        let to = self.rows(results.len() as u8);
        self.emit_to(to, op, &pairs);
        for (row, &result) in results.iter().enumerate() {
            self.set(Some(result), Register { row: row as u8, ..to });
        }
    }

    /// Values in a row of registers: where they are, if they are there in a row; else they are computed there, if
    /// nobody else takes them, or copied.
    fn in_a_row(&mut self, values: &[Value]) -> Register {
        let parts: Vec<Register> = values.iter().map(|&value| self.value(value)).collect();
        let first = parts[0];
        let follows = |(row, &part): (usize, &Register)| part == Register { row: row as u8, ..first };
        let is_whole = usize::from(self.registers[first.number as usize].rows) == values.len();
        if is_whole && parts.iter().enumerate().all(follows) {
            return first;
        }
        let to = self.rows(values.len() as u8);
        let mut written: Vec<usize> = Vec::new();
        for (row, (&part, &value)) in (0..).zip(parts.iter().zip(values)) {
            let place = Register { row, ..to };
            let defined = if self.uses[value] == 1 { self.only_definition(part) } else { None };
            let at = match defined {
                Some(at) => {
                    self.code[at].fields[0] = Slot::Register(place);
                    at
                }
                None => {
                    self.emit_to(place, Op::Mov, &[part]);
                    self.code.len() - 1
                }
            };
            written.push(at);
        }
        // The first instruction writes all of the register as far as it counts who needs it; the others keep that.
        let earliest = written.iter().copied().min();
        for at in written {
            self.code[at].keeps = Some(at) != earliest;
        }
        to
    }

    /// The instruction that computes a register, if nothing else writes or reads it, and it always runs where the code
    /// runs that comes next.
    fn only_definition(&self, register: Register) -> Option<usize> {
        let virtual_ = self.registers[register.number as usize];
        let is_plain =
            virtual_.rows == 1 && virtual_.fixed.is_none() && !virtual_.not_zero && !virtual_.is_variable;
        if !is_plain || self.named.get(register.number as usize) != Some(&1) {
            return None;
        }
        for (at, code) in self.code.iter().enumerate().rev() {
            if code.written() == Some(register) {
                let is_whole =
                    !code.guard.is_some() && !code.keeps && code.fields[0] == Slot::Register(register);
                return is_whole.then_some(at);
            }
            if code.is_structure() || code.leaves() || code.read().any(|read| read.number == register.number)
            {
                return None;
            }
        }
        None
    }

    /// The low bits of a register, moved up and back.
    fn sign_extend(&mut self, from: Register, bits: u32) -> Register {
        let amount = self.constant(bits);
        let up = self.emit(Op::Shl, &[from, amount]);
        self.emit(Op::Sar, &[up, amount])
    }

    fn unary(&mut self, unary: Unary, a: Value, _result: Option<Value>) -> Register {
        let a = self.value(a);
        let op = match unary {
            Unary::Popcnt => Op::BitCount,
            Unary::FNeg => Op::FNeg,
            Unary::FAbs => Op::FAbs,
            Unary::FCeil => Op::FCeil,
            Unary::FFloor => Op::FFloor,
            Unary::FTrunc => Op::FTrunc,
            Unary::FNearest => Op::FRound,
            Unary::FSqrt => Op::FSqrt,
            Unary::FSin => Op::FSin,
            Unary::FCos => Op::FCos,
            Unary::FExp2 => Op::FExp2,
            Unary::FLog2 => Op::FLog2,
            Unary::FRsqrt => Op::FRsqrt,
            Unary::FRcp => Op::FRcp,
            Unary::Reverse => Op::BitRev,
            Unary::Extend8 => return self.sign_extend(a, 24),
            Unary::Extend16 => return self.sign_extend(a, 16),
            Unary::Clz | Unary::Ctz => {
                let turned = if unary == Unary::Ctz { self.emit(Op::BitRev, &[a]) } else { a };
                // Of 0 it finds -1, the greatest unsigned number.
                let found = self.emit(Op::BitFind, &[turned]);
                let all = self.constant(32);
                return self.emit(Op::UMin, &[found, all]);
            }
            // Truth values are made where they are taken, and of i64 nothing is left.
            Unary::Not | Unary::Extend32 => return a,
        };
        self.emit(op, &[a])
    }

    fn binary(&mut self, binary: Binary, [a, b]: [Value; 2], result: Option<Value>) -> Register {
        if let Some(result) = result
            && self.is_truth(result)
            && binary != Binary::Xor
        {
            let to = self.register();
            self.number_into(to, result);
            return to;
        }
        if binary == Binary::Add
            && let Some((product, other)) =
                [(a, b), (b, a)].into_iter().find(|(one, _)| self.fused.contains(*one))
            && let Some(Operation::Binary(_, [x, y])) = self.operation(product)
        {
            let operands = [*x, *y, other].map(|value| self.value(value));
            return self.emit(Op::IMad, &operands);
        }
        let [a, b] = [a, b].map(|value| self.value(value));
        let op = match binary {
            Binary::Add => Op::IAdd,
            Binary::Sub => Op::ISub,
            Binary::Mul => Op::IMul,
            Binary::MulHigh => Op::IMulHi,
            // A divisor of 0 is replaced before.
            Binary::DivS | Binary::DivU | Binary::TotalDivS | Binary::TotalDivU => Op::IDiv,
            Binary::RemS | Binary::RemU | Binary::TotalRemS | Binary::TotalRemU => Op::IMod,
            Binary::And => Op::And,
            Binary::Or => Op::Or,
            Binary::Xor => Op::Xor,
            Binary::Shl => Op::Shl,
            Binary::ShrS => Op::Sar,
            Binary::ShrU => Op::Shr,
            Binary::MinS => Op::IMin,
            Binary::MaxS => Op::IMax,
            Binary::MinU => Op::UMin,
            Binary::MaxU => Op::UMax,
            Binary::FAdd => Op::FAdd,
            Binary::FSub => Op::FSub,
            Binary::FMul => Op::FMul,
            Binary::FDiv => Op::FDiv,
            Binary::FMinNumber => Op::FMin,
            Binary::FMaxNumber => Op::FMax,
            Binary::FMin | Binary::FMax => {
                let op = if binary == Binary::FMin { Op::FMin } else { Op::FMax };
                let number = self.emit(op, &[a, b]);
                let nan = self.constant(NAN_F32);
                let predicate = self.predicates.free();
                self.compare_into(predicate, Op::FCmpUnord, a, b);
                let to = self.register();
                self.select_into(to, (predicate, false), nan, number);
                return to;
            }
            Binary::FCopysign => {
                // The low 31 bits of the first, put into the second.
                let [zero, bits] = [0, 31].map(|bits| self.constant(bits));
                return self.emit(Op::Bfi, &[b, a, zero, bits]);
            }
            Binary::Rotl | Binary::Rotr => {
                let (up, down) = if binary == Binary::Rotl { (Op::Shl, Op::Shr) } else { (Op::Shr, Op::Shl) };
                // Shifts take the amount modulo 32.
                let back = self.emit(Op::INeg, &[b]);
                let parts = [self.emit(up, &[a, b]), self.emit(down, &[a, back])];
                return self.emit(Op::Or, &parts);
            }
        };
        self.emit(op, &[a, b])
    }

    fn convert(&mut self, convert: Convert, a: Value) -> Register {
        if convert == Convert::BoolToI32 {
            return self.as_number(a);
        }
        let a = self.value(a);
        let op = match convert {
            Convert::TruncSatI32S | Convert::TruncI32S => Op::CvtI32F32,
            Convert::TruncSatI32U | Convert::TruncI32U => Op::CvtU32F32,
            Convert::F32S => Op::CvtF32I32,
            Convert::F32U => Op::CvtF32U32,
            // The same bits; of the others nothing is left.
            _ => return a,
        };
        self.emit(op, &[a])
    }
}

const fn half_op(half: Half) -> Op {
    match half {
        Half::Add => Op::HAdd,
        Half::Sub => Op::HSub,
        Half::Mul => Op::HMul,
        Half::Fma => Op::HMa,
        Half::Add2 => Op::HAdd2,
        Half::Mul2 => Op::HMul2,
        Half::Fma2 => Op::HMa2,
        Half::Widen => Op::CvtF32F16,
        Half::Narrow => Op::CvtF16F32,
    }
}

/// The load or store of an access; the two spaces have opcodes of their own.
fn memory_op(local: u8, device: u8, space: Space, access: Access) -> Op {
    let opcode = if space == Space::Local { local } else { device };
    Op::from_key(opcode, access.bytes.trailing_zeros() as u8)
        .expect("widths of 1 to 8 bytes, and in device memory 16, are in the table")
}

/// Name of an operation that is not supported.
fn name(operation: &Operation) -> &'static str {
    match operation {
        Operation::MemoryFill(..) => "memory_fill",
        Operation::MemoryCopy(..) => "memory_copy",
        Operation::MemoryInit(..) => "memory_init",
        Operation::DataDrop(_) => "data_drop",
        Operation::TableCopy(..) => "table_copy",
        Operation::TableInit(..) => "table_init",
        Operation::ElementsDrop(_) => "elements_drop",
        Operation::FunctionReference(_) => "function_reference",
        Operation::TableGet(..) => "table_get",
        Operation::TableSet(..) => "table_set",
        Operation::TableSize(_) => "table_size",
        Operation::TableGrow(..) => "table_grow",
        Operation::TableFill(..) => "table_fill",
        Operation::CallIndirect(..) => "call_indirect",
        _ => "an operation",
    }
}
