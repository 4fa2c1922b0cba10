//! Random instructions.

use super::super::{
    Access, Binary, Compare, Convert, DataId, FunctionId, GlobalId, MemoryId, NULL_REFERENCE, Operation,
    Order, SignatureId, TableId, Type, Unary, Value, Wave,
};
use super::build::Builder;
use super::types;
use cranelift_entity::EntityRef;
use rand::RngExt;
use wave_isa::table::AtomicOp;
use wave_isa::{Scope, Special};

/// Addresses are below, but where anything may trap.
const ADDRESS_MASK: u32 = 0xFFF8;
/// Most that is added to an address. With the widest access it stays in one page.
const MOST_OFFSET: u32 = 1000;
/// Memory of each thread where threads must not disturb one another: of 128 threads in a page.
const BYTES_PER_THREAD: u32 = 512;

impl Builder<'_> {
    /// An instruction and what it needs.
    pub(super) fn operation(&mut self) {
        match self.random.random_range(0..100) {
            0..4 => {
                let globals = types(self.shape).len();
                let number = self.random.random_range(0..globals);
                let (global, ty) = (GlobalId::new(number), types(self.shape)[number]);
                if self.chance(50) {
                    self.emit(Operation::GlobalGet(global), ty);
                } else {
                    let value = self.pick(ty);
                    self.instruction(Operation::GlobalSet(global, value), &[]);
                }
            }
            4..20 if self.shape.memory => self.memory(),
            20..24 => self.call(),
            24..28 if self.shape.recursion => self.call(),
            24..34 if self.shape.workgroup => self.workgroup(),
            34..40 => {
                let ty = self.ty();
                let operands = [self.pick(Type::Bool), self.pick(ty), self.pick(ty)];
                self.emit(Operation::Select(operands), ty);
            }
            40..48 => {
                let ty = self.ty();
                self.unary(ty);
            }
            48..62 => {
                let from = self.ty();
                self.convert(from);
            }
            62..72 => {
                let compare = self.one_of(Compare::ALL);
                let taken = self.taken(|ty| compare.takes(ty));
                if let Some(ty) = taken {
                    let operands = [self.pick(ty), self.pick(ty)];
                    self.emit(Operation::Compare(compare, operands), Type::Bool);
                }
            }
            72..75 if self.shape.floats => {
                let ty = if self.shape.doubles { self.one_of(&[Type::F32, Type::F64]) } else { Type::F32 };
                let operands = [self.pick(ty), self.pick(ty), self.pick(ty)];
                self.emit(Operation::Fma(operands), ty);
            }
            _ => self.any_binary(),
        }
    }

    /// One of the types that an operation takes.
    fn taken(&mut self, takes: impl Fn(Type) -> bool) -> Option<Type> {
        let taken: Vec<Type> = types(self.shape).iter().copied().filter(|&ty| takes(ty)).collect();
        (!taken.is_empty()).then(|| self.one_of(&taken))
    }

    fn unary(&mut self, ty: Type) {
        // The special functions are not those of every host.
        let special = [Unary::FSin, Unary::FCos, Unary::FExp2, Unary::FLog2];
        let all = Unary::ALL.iter().copied().filter(|one| one.takes(ty) && !special.contains(one));
        let unary = self.one_of(&all.collect::<Vec<_>>());
        let value = self.pick(ty);
        self.emit(Operation::Unary(unary, value), ty);
    }

    fn any_binary(&mut self) {
        let binary = self.one_of(Binary::ALL);
        let Some(ty) = self.taken(|ty| binary.takes(ty)) else { return };
        let (a, mut b) = (self.pick(ty), self.pick(ty));
        if binary.traps() && !self.shape.traps {
            // 1, 3, … 127: neither 0 nor -1.
            let mask = self.emit(Operation::Constant(super::Constant::from_bits(ty, 0x7E)), ty);
            let one = self.emit(Operation::Constant(super::Constant::from_bits(ty, 1)), ty);
            b = self.binary(Binary::And, b, mask);
            b = self.binary(Binary::Or, b, one);
        }
        self.binary(binary, a, b);
    }

    fn convert(&mut self, from: Type) {
        let (floats, traps) = (self.shape.floats, self.shape.traps);
        let wanted = |one: &Convert| {
            let to = one.result(from);
            to.is_some_and(|to| types(self.shape).contains(&to) && (floats || !to.is_float()))
                && (traps || !one.traps())
        };
        let all: Vec<Convert> = Convert::ALL.iter().copied().filter(wanted).collect();
        let convert = self.one_of(&all);
        let value = self.pick(from);
        if let Some(to) = convert.result(from) {
            self.emit(Operation::Convert(convert, value), to);
        }
    }

    /// An address with room behind it for a small access.
    fn address(&mut self) -> Value {
        let value = self.pick(Type::I32);
        if self.shape.traps && self.chance(5) {
            if !self.shape.kernel {
                return value;
            }
            // In a kernel the sum of an address and an offset past 2^32 comes round; elsewhere it traps.
            let mask = self.integer(i32::MAX as u32);
            return self.binary(Binary::And, value, mask);
        }
        if self.shape.workgroup {
            return self.own_address(value);
        }
        let mask = self.integer(ADDRESS_MASK >> 1);
        self.binary(Binary::And, value, mask)
    }

    /// An address in the memory of this thread, which is one of up to 128.
    fn own_address(&mut self, value: Value) -> Value {
        let mask = self.integer(BYTES_PER_THREAD / 2 - 8);
        let inside = self.binary(Binary::And, value, mask);
        let thread = self.thread();
        let bytes = self.integer(BYTES_PER_THREAD);
        let base = self.binary(Binary::Mul, thread, bytes);
        self.binary(Binary::Add, base, inside)
    }

    /// The number of this thread in its workgroup.
    fn thread(&mut self) -> Value {
        let [wave, width, lane] = [Special::WaveId, Special::WaveWidth, Special::LaneId]
            .map(|special| self.emit(Operation::Special(special), Type::I32));
        let first = self.binary(Binary::Mul, wave, width);
        self.binary(Binary::Add, first, lane)
    }

    /// How to access memory as one of the types.
    fn access(&mut self) -> Access {
        let ty = self.taken(|ty| ty != Type::Bool).unwrap_or(Type::I32);
        let narrow = [1, 2, 4, 8].into_iter().filter(|&bytes| bytes <= ty.bytes());
        let bytes = if ty.is_float() { ty.bytes() } else { self.one_of(&narrow.collect::<Vec<_>>()) };
        let signed = bytes < ty.bytes() && self.chance(50);
        let most = if self.shape.workgroup { BYTES_PER_THREAD / 2 - 8 } else { MOST_OFFSET };
        let offset = if self.chance(50) { 0 } else { self.random.random_range(0..=most) };
        Access { memory: MemoryId::new(0), ty, bytes, signed, offset }
    }

    fn memory(&mut self) {
        let memory = MemoryId::new(0);
        match self.random.random_range(0..20) {
            0..9 => {
                let (access, address) = (self.access(), self.address());
                self.emit(Operation::Load(access, address), access.ty);
            }
            9..16 => {
                let (access, address) = (self.access(), self.address());
                let value = self.pick(access.ty);
                self.instruction(Operation::Store(Access { signed: false, ..access }, [address, value]), &[]);
            }
            16 => {
                self.emit(Operation::MemorySize(memory), Type::I32);
            }
            17 if !self.shape.workgroup || self.shape.kernel => {
                let kernel = self.shape.kernel;
                let operation = self.random.random_range(0..5 - 2 * u32::from(kernel));
                if operation == 4 {
                    return self.references();
                }
                let [to, from] = [self.address(), self.address()];
                // A kernel does not look where an empty range lies.
                let length = self.random.random_range(u32::from(kernel)..17);
                let length = self.integer(length);
                let operation = match operation {
                    0 => Operation::MemoryFill(memory, [to, from, length]),
                    1 => Operation::MemoryCopy([memory; 2], [to, from, length]),
                    2 => {
                        let zero = self.integer(0);
                        Operation::MemoryInit(memory, DataId::new(1), [to, zero, length])
                    }
                    _ => {
                        let zero = self.integer(0);
                        Operation::TableCopy([TableId::new(0); 2], [zero; 3])
                    }
                };
                if !matches!(operation, Operation::TableCopy(..)) || !self.module.tables.is_empty() {
                    self.instruction(operation, &[]);
                }
            }
            _ => self.atomic(),
        }
    }

    /// A table operation that reads or writes references, or the size.
    fn references(&mut self) {
        if self.module.tables.is_empty() {
            return;
        }
        let table = TableId::new(0);
        let last = FunctionId::new(self.signatures.len() - 1);
        let reference = match self.chance(50) {
            true => self.emit(Operation::FunctionReference(last), Type::I32),
            false => self.integer(NULL_REFERENCE),
        };
        // What is called is at 0 and 2, and stays there.
        let place = if self.chance(50) { 1 } else { 3 };
        let (place, count) = (self.integer(place), self.random.random_range(0..2));
        let count = self.integer(count);
        let (operation, results): (_, &[Type]) = match self.random.random_range(0..5) {
            0 => (Operation::TableSet(table, [place, reference]), &[]),
            1 => (Operation::TableFill(table, [place, reference, count]), &[]),
            2 => (Operation::TableGet(table, place), &[Type::I32]),
            3 => (Operation::TableSize(table), &[Type::I32]),
            _ => (Operation::TableGrow(table, [reference, count]), &[Type::I32]),
        };
        self.instruction(operation, results);
    }

    /// An atomic access, aligned.
    fn atomic(&mut self) {
        let ty = self.one_of(&[Type::I32, Type::I64]);
        let widths: &[u32] = if self.shape.kernel { &[1, 2, 4] } else { &[1, 2, 4, 8] };
        let bytes = self.one_of(widths).min(ty.bytes());
        let scope = self.one_of(Scope::ALL);
        let offset = 8 * self.random.random_range(0..4);
        let access = Access { memory: MemoryId::new(0), ty, bytes, signed: false, offset };
        let (value, mask) = (self.address(), self.integer(!7));
        let address = self.binary(Binary::And, value, mask);
        let [a, b] = [self.pick(ty), self.pick(ty)];
        let operation = if self.chance(20) {
            Operation::CompareExchange(access, scope, [address, a, b])
        } else {
            let all = &AtomicOp::ALL[..8];
            Operation::Atomic(self.one_of(all), access, scope, [address, a])
        };
        self.emit(operation, ty);
        if self.chance(20) {
            let order = self.one_of(Order::ALL);
            self.instruction(Operation::Fence(order, scope), &[]);
        }
    }

    /// A call of a function with a greater number, directly or through the table.
    pub(super) fn call(&mut self) {
        let recursion = self.shape.recursion;
        let later = if recursion { 1 } else { self.number + 1 }..self.signatures.len();
        if later.is_empty() || self.calls == 0 || self.loops.len() > 1 {
            return;
        }
        self.calls -= 1;
        let last = self.signatures.len() - 1;
        if self.chance(30) && (!self.shape.kernel || recursion) {
            let signature = self.signatures[last].clone();
            let arguments = self.picks(&signature.parameters);
            let place = if self.shape.traps {
                self.random.random_range(0..6)
            } else {
                2 * self.random.random_range(0..2)
            };
            let place = self.integer(place);
            let operation = Operation::CallIndirect(TableId::new(0), SignatureId::new(0), place, arguments);
            self.instruction(operation, &signature.results);
            return;
        }
        let callee = self.random.random_range(later);
        let signature = self.signatures[callee].clone();
        let arguments = self.picks(&signature.parameters);
        self.instruction(Operation::Call(FunctionId::new(callee), arguments), &signature.results);
    }

    /// What threads of a workgroup do together.
    fn workgroup(&mut self) {
        if self.number > 0 || self.nesting > 0 || self.chance(30) {
            // The others are those of a machine.
            let special = self.one_of(&Special::ALL[..=Special::NumWaves as usize]);
            self.emit(Operation::Special(special), Type::I32);
            return;
        }
        if self.chance(15) {
            self.neighbour();
            return;
        }
        let wave = self.one_of(Wave::ALL);
        let (operands, result) = wave.types();
        let mut values = self.picks(operands);
        if operands.len() == 2 {
            // A lane that is there, mostly.
            let mask = self.integer(7);
            values[1] = self.binary(Binary::And, values[1], mask);
        }
        self.emit(Operation::Wave(wave, values), result);
    }

    /// Takes a value from the thread before, through local memory.
    fn neighbour(&mut self) {
        let memory = MemoryId::new(self.module.memories.len() - 1);
        let access = Access { memory, ty: Type::I32, bytes: 4, signed: false, offset: 0 };
        let thread = self.thread();
        let (one, four) = (self.integer(1), self.integer(4));
        let after = self.binary(Binary::MaxU, thread, one);
        let before = self.binary(Binary::Sub, after, one);
        let [own, other] = [thread, before].map(|thread| self.binary(Binary::Mul, thread, four));
        let value = self.pick(Type::I32);
        self.instruction(Operation::Store(access, [own, value]), &[]);
        self.instruction(Operation::Barrier, &[]);
        self.emit(Operation::Load(access, other), Type::I32);
        self.instruction(Operation::Barrier, &[]);
    }
}
