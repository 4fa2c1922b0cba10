//! Loads, stores, and addresses.

use super::Wrong;
use super::spaces::{PRIVATE, SHARED, Tags, bit, space_of};
use super::translate::{Done, Translator};
use super::tree::{Operand, OperandKind, StateSpace, Statement, VariableId};
use super::types::PtxType;
use crate::emit::to;
use crate::ir::{Access, Binary, Compare, Convert, MemoryId, Operation, Order, Type, Value};
use wave_isa::Scope;
use wave_isa::table::AtomicOp;

/// What an address in brackets is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Addressed {
    /// A byte of the words of a parameter: the first of them, and the byte.
    Words(u32, u32, u32),
    /// A memory, an address in it, and what is added to that.
    Memory(MemoryId, Value, u32),
    /// A generic address with its tag, what is added to it, and the tags that it may have.
    Generic(Value, u32, Tags),
}

/// What is done in a memory, at an address and so many bytes from it; it gives values.
pub(super) type InMemory<'f, 'a> =
    dyn FnMut(&mut Translator<'a>, MemoryId, Value, u32) -> Done<Vec<Value>> + 'f;

/// How strongly an access is ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Strength {
    /// Later or earlier accesses are ordered by it.
    pub(super) is_ordered: bool,
    /// Threads of other workgroups must see it, or it what they do.
    pub(super) is_shared: bool,
    pub(super) scope: Scope,
}

/// The scope that an instruction names.
pub(super) fn scope(s: &Statement) -> Option<Scope> {
    Some(match s.one_of(&["cta", "cluster", "gpu", "gl", "sys"])? {
        "cta" | "cluster" => Scope::Workgroup,
        "gpu" | "gl" => Scope::Device,
        _ => Scope::System,
    })
}

fn strength(s: &Statement) -> Strength {
    let is_ordered = s.has("acquire") || s.has("release");
    let is_strong = is_ordered || s.has("relaxed") || s.has("volatile") || s.has("mmio");
    let scope =
        scope(s).unwrap_or(if s.has("volatile") || s.has("mmio") { Scope::System } else { Scope::Device });
    Strength { is_ordered, is_shared: is_strong && scope >= Scope::Device, scope }
}

impl<'a> Translator<'a> {
    /// What the operand of an access to a space names.
    pub(super) fn address(&mut self, operand: &Operand, space: Option<StateSpace>) -> Done<Addressed> {
        let OperandKind::Address(base, offset) = &operand.kind else {
            return Err(Wrong::new(operand.at.clone(), "expected an address in brackets"));
        };
        if let OperandKind::Variable(id, _) = base.kind {
            return self.address_of(operand, id, *offset, space);
        }
        let is_wide = match base.kind {
            OperandKind::Register(id) => self.register(id).1.bits == 64,
            _ => true,
        };
        let address = self.read(base, if is_wide { PtxType::B64 } else { PtxType::B32 })?;
        let (address, offset) = if *offset >= 0 && *offset <= i64::from(i32::MAX) {
            (address, *offset as u32)
        } else {
            (self.e.with(Binary::Add, address, *offset as u64), 0)
        };
        let memory = match space {
            Some(StateSpace::Global | StateSpace::Const) => self.ids.device,
            Some(StateSpace::Shared) => self.ids.local,
            Some(StateSpace::Local | StateSpace::Param) => self.ids.private,
            None => {
                let tags = match base.kind {
                    OperandKind::Register(id) => self.spaces.of(self.variable(id)),
                    _ => bit(0),
                };
                let tags = if tags == 0 { bit(0) } else { tags };
                let one = |tag: u64, memory| (tags == bit(tag)).then_some(memory);
                let device = one(0, self.ids.device);
                let known = device.or(one(SHARED, self.ids.local)).or(one(PRIVATE, self.ids.private));
                match known {
                    Some(memory) => memory,
                    None if is_wide => return Ok(Addressed::Generic(address, offset, tags)),
                    None => {
                        return Err(Wrong::new(base.at.clone(), "a generic address has 64 bits"));
                    }
                }
            }
        };
        let narrow = if is_wide { self.e.convert(Convert::Wrap, address) } else { address };
        Ok(Addressed::Memory(memory, narrow, offset))
    }

    /// The address of a variable, and what is added to it.
    fn address_of(
        &mut self,
        operand: &Operand,
        id: VariableId,
        offset: i64,
        space: Option<StateSpace>,
    ) -> Done<Addressed> {
        let of = self.of_frame().function;
        let variable = match id {
            VariableId::Module(number) => &self.tree.variables[number],
            VariableId::Own(number) => &self.tree.functions[of].variables[number],
        };
        let is_device = |space| matches!(space, StateSpace::Global | StateSpace::Const);
        if let Some(space) = space
            && space != variable.space
            && !(is_device(space) && is_device(variable.space))
        {
            let message = format!("`{}` is not in the space that this access names", variable.name);
            return Err(Wrong::new(operand.at.clone(), message));
        }
        let is_inside = offset >= 0 && variable.bytes.is_none_or(|bytes| (offset as u64) < bytes.max(1));
        if !is_inside {
            let message = format!(
                "byte {offset} is outside of `{}`, which has {} bytes",
                variable.name,
                variable.size()
            );
            return Err(Wrong::new(operand.at.clone(), message));
        }
        if variable.space == StateSpace::Param {
            let VariableId::Own(own) = id else {
                return Err(Wrong::new(operand.at.clone(), "a parameter belongs to a function"));
            };
            let Some(&first) = self.of_frame().words.get(&own) else {
                return Err(Wrong::new(
                    operand.at.clone(),
                    format!("`{}` is no parameter here", variable.name),
                ));
            };
            return Ok(Addressed::Words(first, offset as u32, variable.size() as u32));
        }
        let Some(address) = self.places.address(of, id) else {
            return Err(Wrong::new(operand.at.clone(), format!("`{}` lies nowhere", variable.name)));
        };
        let memory = match variable.space {
            StateSpace::Shared => self.ids.local,
            StateSpace::Local => self.ids.private,
            _ => self.ids.device,
        };
        let base = self.e.i32(0);
        Ok(Addressed::Memory(memory, base, address.wrapping_add(offset as u32)))
    }

    /// Does something in each memory that a generic address may point to, and gives its results.
    pub(super) fn in_each(
        &mut self,
        addressed: Addressed,
        types: &[Type],
        each: &mut InMemory<'_, 'a>,
    ) -> Done<Vec<Value>> {
        let (address, offset, tags) = match addressed {
            Addressed::Memory(memory, base, offset) => return each(self, memory, base, offset),
            Addressed::Generic(address, offset, tags) => (address, offset, tags),
            Addressed::Words(..) => return Ok(Vec::new()),
        };
        let [low, high] = self.e.halves(address);
        let spaces = [(SHARED, self.ids.local), (PRIVATE, self.ids.private), (0, self.ids.device)];
        let spaces: Vec<_> = spaces.into_iter().filter(|(tag, _)| tags & bit(*tag) != 0).collect();
        let join = self.e.new_block(types);
        for (number, &(tag, memory)) in spaces.iter().enumerate() {
            if number + 1 == spaces.len() {
                let results = each(self, memory, low, offset)?;
                self.e.jump(join, results);
                break;
            }
            let is_there = self.e.compare_with(Compare::Eq, high, tag);
            let [here, other] = [self.e.new_block(&[]), self.e.new_block(&[])];
            self.e.branch(is_there, to(here), to(other));
            let results = each(self, memory, low, offset)?;
            self.e.jump(join, results);
            self.e.block = other;
        }
        self.e.block = join;
        Ok((0..types.len()).map(|number| self.e.parameter(join, number)).collect())
    }

    /// The operands of a vector access.
    fn elements<'s>(&self, s: &'s Statement, operand: &'s Operand) -> Done<&'s [Operand]> {
        let count = match s.one_of(&["v2", "v4", "v8"]) {
            Some("v2") => 2,
            Some("v4") => 4,
            Some(_) => 8,
            None => 1,
        };
        match &operand.kind {
            OperandKind::Vector(all) if all.len() == count => Ok(all),
            OperandKind::Vector(all) => {
                let message = format!("this vector has {} elements, and the access has {count}", all.len());
                Err(Wrong::new(operand.at.clone(), message))
            }
            _ if count == 1 => Ok(std::slice::from_ref(operand)),
            _ => Err(Wrong::new(
                operand.at.clone(),
                format!("expected a vector of {count} elements in braces"),
            )),
        }
    }

    pub(super) fn load(&mut self, s: &'a Statement) -> Done {
        let ty = s.types[0];
        let into = self.elements(s, &s.operands[0])?;
        let addressed = self.address(&s.operands[1], space_of(s))?;
        if let Addressed::Words(first, byte, bytes) = addressed {
            self.check_words(s, ty, byte, bytes, into.len())?;
            for (number, one) in into.iter().enumerate() {
                let value = self.get_words(first, byte + number as u32 * ty.bytes(), ty);
                self.write_extended(one, value, ty)?;
            }
            return Ok(());
        }
        let strength = strength(s);
        let types = vec![ty.ir(); into.len()];
        let count = into.len() as u32;
        let values = self.in_each(addressed, &types, &mut |this, memory, base, offset| {
            let is_global = memory == this.ids.device;
            if is_global && strength.is_shared {
                return Ok((0..count)
                    .map(|n| this.strong_load(ty, base, offset + n * ty.bytes(), strength.scope))
                    .collect());
            }
            Ok((0..count)
                .map(|n| {
                    let access = this.access(
                        memory,
                        ty.ir(),
                        ty.bytes(),
                        ty.is_signed() && ty.bits < 32,
                        offset + n * ty.bytes(),
                    );
                    this.e.load(access, base)
                })
                .collect())
        })?;
        if strength.is_ordered {
            self.e.effect(Operation::Fence(Order::Acquire, strength.scope));
        }
        into.iter().zip(values).try_for_each(|(one, value)| self.write_extended(one, value, ty))
    }

    /// Accesses to parameters are aligned and inside.
    fn check_words(&self, s: &Statement, ty: PtxType, byte: u32, bytes: u32, count: usize) -> Done {
        let end = u64::from(byte) + u64::from(ty.bytes()) * count as u64;
        if end > u64::from(bytes.next_multiple_of(4)) || !byte.is_multiple_of(ty.bytes().min(4)) {
            let message = format!(
                "{} bytes at byte {byte} are not inside of the parameter, which has {bytes}",
                ty.bytes()
            );
            return Err(Wrong::new(s.at.clone(), message));
        }
        Ok(())
    }

    /// A load from device memory that sees what other workgroups have stored: an atomic one of a word, and others after
    /// what the cache holds is given up.
    fn strong_load(&mut self, ty: PtxType, base: Value, offset: u32, scope: Scope) -> Value {
        if ty.bits == 32 {
            let access = self.access(self.ids.device, Type::I32, 4, false, offset);
            let zero = self.e.i32(0);
            let word = self.e.emit(Operation::Atomic(AtomicOp::Or, access, scope, [base, zero]), Type::I32);
            return if ty.ir() == Type::F32 { self.e.reinterpret(word) } else { word };
        }
        self.e.effect(Operation::Fence(Order::Acquire, scope));
        let access =
            self.access(self.ids.device, ty.ir(), ty.bytes(), ty.is_signed() && ty.bits < 32, offset);
        self.e.load(access, base)
    }

    pub(super) fn store(&mut self, s: &'a Statement) -> Done {
        let ty = s.types[0];
        let from = self.elements(s, &s.operands[1])?;
        let addressed = self.address(&s.operands[0], space_of(s))?;
        let mut values = Vec::new();
        for one in from {
            values.push(self.read_low(one, ty)?);
        }
        if let Addressed::Words(first, byte, bytes) = addressed {
            self.check_words(s, ty, byte, bytes, values.len())?;
            for (number, value) in values.into_iter().enumerate() {
                self.set_words(first, byte + number as u32 * ty.bytes(), value, ty);
            }
            return Ok(());
        }
        let strength = strength(s);
        if strength.is_ordered {
            self.e.effect(Operation::Fence(Order::Release, strength.scope));
        }
        self.in_each(addressed, &[], &mut |this, memory, base, offset| {
            let is_strong = memory == this.ids.device && strength.is_shared;
            for (number, &value) in values.iter().enumerate() {
                let offset = offset + number as u32 * ty.bytes();
                if is_strong && ty.bits == 32 {
                    let access = this.access(memory, Type::I32, 4, false, offset);
                    let word = if this.e.ty(value) == Type::F32 { this.e.reinterpret(value) } else { value };
                    let operation =
                        Operation::Atomic(AtomicOp::Exchange, access, strength.scope, [base, word]);
                    this.e.emit(operation, Type::I32);
                    continue;
                }
                let access: Access = this.access(memory, ty.ir(), ty.bytes(), false, offset);
                this.e.effect(Operation::Store(access, [base, value]));
            }
            if is_strong && ty.bits != 32 {
                this.e.effect(Operation::Fence(Order::Release, strength.scope));
            }
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// A copy from device memory to that of the workgroup: loads and stores at once. Bytes past those of the source are 0.
    pub(super) fn async_copy(&mut self, s: &'a Statement) -> Done {
        let into = self.address(&s.operands[0], Some(StateSpace::Shared))?;
        let from = self.address(&s.operands[1], Some(StateSpace::Global))?;
        let (Addressed::Memory(_, into, into_offset), Addressed::Memory(_, from, from_offset)) = (into, from)
        else {
            return Err(Wrong::new(s.at.clone(), "`cp.async` copies from .global to .shared"));
        };
        let size = self.read(&s.operands[2], PtxType::U32)?;
        let Some(size @ (4 | 8 | 16)) = self.e.known(size) else {
            return Err(Wrong::new(s.operands[2].at.clone(), "`cp.async` copies 4, 8 or 16 bytes"));
        };
        let source_bytes = match s.operands.get(3) {
            Some(operand) => Some(self.read(operand, PtxType::U32)?),
            None => None,
        };
        let copies_all = source_bytes.is_none_or(|bytes| self.e.known(bytes) == Some(size));
        if copies_all {
            let words = size as u32 / 4;
            let values: Vec<Value> = (0..words)
                .map(|word| {
                    let access = self.access(self.ids.device, Type::I32, 4, false, from_offset + 4 * word);
                    self.e.load(access, from)
                })
                .collect();
            for (word, value) in (0..words).zip(values) {
                let access = self.access(self.ids.local, Type::I32, 4, false, into_offset + 4 * word);
                self.e.effect(Operation::Store(access, [into, value]));
            }
            return Ok(());
        }
        // Which bytes there are is known at run time: usually all or none.
        let bytes = source_bytes.expect("a copy of a part has its size");
        for word in 0..size as u32 / 4 {
            let has_word = self.e.compare_with(Compare::GeU, bytes, u64::from(4 * word + 4));
            let [load, join] = [self.e.new_block(&[]), self.e.new_block(&[Type::I32])];
            let zero = self.e.i32(0);
            let skip = crate::ir::Target { block: join, arguments: vec![zero] };
            self.e.branch(has_word, to(load), skip);
            let access = self.access(self.ids.device, Type::I32, 4, false, from_offset + 4 * word);
            let value = self.e.load(access, from);
            self.e.jump(join, vec![value]);
            self.e.block = join;
            let value = self.e.parameter(join, 0);
            let access = self.access(self.ids.local, Type::I32, 4, false, into_offset + 4 * word);
            self.e.effect(Operation::Store(access, [into, value]));
        }
        Ok(())
    }

    /// From an address in a space to a generic one, or back.
    pub(super) fn convert_address(&mut self, s: &'a Statement) -> Done {
        let ty = s.types[0];
        if ty.bits != 64 {
            return Err(Wrong::new(s.at.clone(), "addresses have 64 bits: `cvta` takes .u64"));
        }
        let address = self.read(&s.operands[1], PtxType::B64)?;
        let tag = match space_of(s) {
            Some(StateSpace::Shared) => SHARED,
            Some(StateSpace::Local | StateSpace::Param) => PRIVATE,
            Some(StateSpace::Global | StateSpace::Const) => 0,
            None => return Err(Wrong::new(s.at.clone(), "`cvta` needs a state space, such as .global")),
        };
        let value = if tag == 0 {
            address
        } else {
            let low = self.e.with(Binary::And, address, 0xFFFF_FFFF);
            if s.has("to") { low } else { self.e.with(Binary::Or, low, tag << 32) }
        };
        self.write(&s.operands[0], value, PtxType::B64)
    }

    /// Whether a generic address points to a space.
    pub(super) fn is_space(&mut self, s: &'a Statement) -> Done {
        let address = self.read(&s.operands[1], PtxType::B64)?;
        let tag = match space_of(s) {
            Some(StateSpace::Shared) => SHARED,
            Some(StateSpace::Local | StateSpace::Param) => PRIVATE,
            Some(StateSpace::Global | StateSpace::Const) => 0,
            None => return Err(Wrong::new(s.at.clone(), "`isspacep` needs a state space, such as .global")),
        };
        let [_, high] = self.e.halves(address);
        let value = self.e.compare_with(Compare::Eq, high, tag);
        self.write(&s.operands[0], value, PtxType::PRED)
    }
}
