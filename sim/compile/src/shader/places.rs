//! Where pointers lead, and loads and stores there.
//!
//! A variable of a function, or a private one, is a row of *slots*, one for each scalar, whose values the translator follows. If
//! it is indexed by a number that is not known and has many elements, it lies in private memory instead.

use super::emit::Emitter;
use super::layout::{Layout, Leaf, scalar_type};
use super::{Bounds, Fact, Translator, Wrong};
use crate::ir::{Access, Binary, Compare, Convert, MemoryId, Trap, Type, Value};
use naga::{ScalarKind, TypeInner};

/// A variable whose values may be in slots. Instances of a function that is called several times have one in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Variable {
    /// A private one of the module, by its number.
    Private(usize),
    /// Of a function, by its number, or of the entry point: its number there.
    Local(Option<usize>, usize),
}

/// Where a pointer leads.
#[derive(Debug, Clone)]
pub(super) struct Pointer {
    /// What is there.
    pub(super) ty: TypeInner,
    pub(super) to: To,
}

/// A place.
#[derive(Debug, Clone)]
pub(super) enum To {
    /// Slots of a variable, from this one on.
    Slots { variable: Variable, first: usize, index: Option<SlotIndex> },
    /// Memory.
    Memory(Location),
}

/// A component of a row of slots that is chosen by a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlotIndex {
    pub(super) index: Value,
    /// Components to choose from, and the slots from one to the next.
    pub(super) length: u32,
    pub(super) stride: usize,
}

/// A place in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Location {
    pub(super) memory: MemoryId,
    /// An `i32` address, and what is added to it.
    pub(super) base: Value,
    pub(super) offset: u32,
    /// Number of the global variable, if it is one.
    pub(super) global: Option<usize>,
    /// Nobody writes there while the kernel runs.
    pub(super) is_stable: bool,
    /// The address is the same in all threads too, and known at the start.
    pub(super) is_constant: bool,
}

/// Most components that are chosen among by selections; more lie in memory.
const MOST_SELECTED: u32 = 8;

/// Bytes of a truth value in memory.
const BOOL_BYTES: u32 = 1;

impl Translator<'_> {
    /// The component of this number of what a pointer leads to.
    pub(super) fn component(&mut self, pointer: &Pointer, number: u32) -> Pointer {
        let component = self.layout.component(&pointer.ty, number);
        let of_struct = matches!(pointer.ty, TypeInner::Struct { .. });
        let times = if of_struct { 1 } else { number };
        let to = match pointer.to.clone() {
            To::Slots { variable, first, index } => {
                To::Slots { variable, first: first + component.scalars * times as usize, index }
            }
            To::Memory(location) => To::Memory(Location {
                offset: location.offset.wrapping_add(component.bytes.wrapping_mul(times)),
                ..location
            }),
        };
        Pointer { ty: component.ty, to }
    }

    /// The component that an index chooses, which is checked.
    pub(super) fn element(&mut self, pointer: &Pointer, index: Value) -> Result<Pointer, Wrong> {
        let length = self.layout.length(&pointer.ty);
        if let (Some(number), Some(length)) = (self.e.known_i32(index), length) {
            let inside = number < length;
            if inside || self.options.bounds == Bounds::Clamp {
                return Ok(self.component(pointer, number.min(length.saturating_sub(1))));
            }
        }
        let component = self.layout.component(&pointer.ty, 0);
        let to = match pointer.to.clone() {
            To::Slots { variable, first, index: before } => {
                let length = length.expect("a variable of a function has a size");
                if before.is_some() || length > MOST_SELECTED {
                    return Err(Wrong::InMemory(variable));
                }
                let index = self.checked(index, Length::Known(length));
                let chosen = SlotIndex { index, length, stride: component.scalars };
                To::Slots { variable, first, index: Some(chosen) }
            }
            To::Memory(location) => {
                let length = match length {
                    Some(length) => Length::Known(length),
                    None => Length::RunTime(self.run_time_length(location, component.bytes)),
                };
                let index = self.checked(index, length);
                let distance = self.e.with(Binary::Mul, index, component.bytes.into());
                let base = self.e.binary(Binary::Add, distance, location.base);
                To::Memory(Location { base, is_constant: false, ..location })
            }
        };
        Ok(Pointer { ty: component.ty, to })
    }

    /// An index that is inside. One that is not gives the last element, or traps.
    pub(super) fn checked(&mut self, index: Value, length: Length) -> Value {
        let index = if self.e.ty(index) == Type::I64 { self.e.convert(Convert::Wrap, index) } else { index };
        if matches!(length, Length::Known(length) if self.e.most(index) < length) {
            return index;
        }
        if let Length::RunTime(RunTime { length, .. }) = length
            && self.facts.contains(&Fact::Below(index, length))
        {
            return index;
        }
        match (self.options.bounds, length) {
            (Bounds::Clamp, Length::Known(length)) => {
                self.e.with(Binary::MinU, index, length.saturating_sub(1).into())
            }
            (Bounds::Clamp, Length::RunTime(array)) => self.e.binary(Binary::MinU, index, array.last),
            (Bounds::Trap, length) => {
                let outside = match length {
                    Length::Known(length) => self.e.compare_with(Compare::GeU, index, length.into()),
                    Length::RunTime(array) => self.e.compare(Compare::GeU, index, array.length),
                };
                self.e.trap_if(outside, Trap::MemoryOutOfBounds);
                index
            }
        }
    }

    /// Loads what a pointer leads to.
    pub(super) fn load(&mut self, pointer: &Pointer) -> Result<Vec<Value>, Wrong> {
        match &pointer.to {
            &To::Slots { first, index, .. } => {
                let count = self.layout.count(&pointer.ty);
                Ok((first..first + count).map(|slot| self.slot(slot, index)).collect())
            }
            To::Memory(location) => {
                if let TypeInner::Atomic(scalar) = pointer.ty {
                    self.taken_atomic(scalar)?;
                    return Ok(vec![self.atomic_load(pointer, *location)]);
                }
                let leaves = self.checked_leaves(&pointer.ty)?;
                Ok(self.load_leaves(&leaves, *location))
            }
        }
    }

    fn slot(&mut self, slot: usize, index: Option<SlotIndex>) -> Value {
        let Some(SlotIndex { index, length, stride }) = index else { return self.slots[slot] };
        let at = |number: u32| slot + stride * number as usize;
        let mut value = self.slots[at(length - 1)];
        for number in (0..length - 1).rev() {
            let here = self.e.compare_with(Compare::Eq, index, number.into());
            value = self.e.select(here, self.slots[at(number)], value);
        }
        value
    }

    /// Stores a value where a pointer leads.
    pub(super) fn store(&mut self, pointer: &Pointer, values: &[Value]) -> Result<(), Wrong> {
        match &pointer.to {
            &To::Slots { first, index: None, .. } => {
                self.slots[first..first + values.len()].copy_from_slice(values);
            }
            &To::Slots { first, index: Some(SlotIndex { index, length, stride }), .. } => {
                for number in 0..length {
                    let here = self.e.compare_with(Compare::Eq, index, number.into());
                    for (slot, &value) in (first + stride * number as usize..).zip(values) {
                        self.slots[slot] = self.e.select(here, value, self.slots[slot]);
                    }
                }
            }
            To::Memory(location) => {
                if let TypeInner::Atomic(scalar) = pointer.ty {
                    self.taken_atomic(scalar)?;
                    self.atomic_store(pointer, *location, values[0]);
                    return Ok(());
                }
                let leaves = self.checked_leaves(&pointer.ty)?;
                store_leaves(&mut self.e, &leaves, *location, values);
            }
        }
        Ok(())
    }

    fn checked_leaves(&self, ty: &TypeInner) -> Result<Vec<Leaf>, Wrong> {
        self.check_size(ty)?;
        Ok(self.layout.leaves(ty))
    }

    /// An error for values of more scalars than the translator follows.
    pub(super) fn check_size(&self, ty: &TypeInner) -> Result<(), Wrong> {
        match self.layout.count(ty) {
            count if count > MOST_SCALARS => {
                Err(self.refused(format!("a value of {count} scalars, more than {MOST_SCALARS},")))
            }
            _ => Ok(()),
        }
    }

    fn load_leaves(&mut self, leaves: &[Leaf], location: Location) -> Vec<Value> {
        if !location.is_constant {
            return load_leaves(&mut self.e, leaves, location);
        }
        // What a uniform buffer holds is loaded once, at the start.
        let mut values = Vec::new();
        let mut rest = leaves;
        while let [leaf, ..] = rest {
            let count = if leaf.begins_word { 2 } else { 1 };
            let key = (location.base, location.offset + leaf.offset, leaf.scalar);
            let loaded = match self.uniforms.get(&key) {
                Some(loaded) => loaded.clone(),
                None => {
                    let loaded = self.e.at_entry(|e| load_leaves(e, &rest[..count], location));
                    self.uniforms.insert(key, loaded.clone());
                    loaded
                }
            };
            values.extend(loaded);
            rest = &rest[count..];
        }
        values
    }
}

/// How many elements there are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Length {
    Known(u32),
    /// The buffer says it.
    RunTime(RunTime),
}

/// The length of an array at the end of a buffer, and the number of its last element.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunTime {
    pub(super) length: Value,
    pub(super) last: Value,
}

/// Most scalars of a value: of an array that is copied whole, for instance.
const MOST_SCALARS: usize = 4096;

fn load_leaves(e: &mut Emitter, leaves: &[Leaf], location: Location) -> Vec<Value> {
    let mut loaded: Vec<Value> = Vec::with_capacity(leaves.len());
    while loaded.len() < leaves.len() {
        let leaf = leaves[loaded.len()];
        if leaf.begins_word {
            let word = load_from(e, access(location, leaf, 4), location);
            let halves = e.unpack(word);
            loaded.extend(halves.map(|half| extended(e, half, leaf)));
            continue;
        }
        let value = load_from(e, access(location, leaf, 0), location);
        let is_bool = leaf.scalar.kind == ScalarKind::Bool;
        loaded.push(if is_bool { e.compare_with(Compare::Ne, value, 0) } else { value });
    }
    loaded
}

fn store_leaves(e: &mut Emitter, leaves: &[Leaf], location: Location, values: &[Value]) {
    let mut number = 0;
    while let Some(&leaf) = leaves.get(number) {
        if leaf.begins_word {
            let low = e.with(Binary::And, values[number], 0xFFFF);
            let word = e.pack([low, values[number + 1]]);
            e.store(access(location, leaf, 4), location.base, word);
            number += 2;
            continue;
        }
        let is_bool = leaf.scalar.kind == ScalarKind::Bool;
        let value = if is_bool { e.convert(Convert::BoolToI32, values[number]) } else { values[number] };
        e.store(access(location, leaf, 0), location.base, value);
        number += 1;
    }
}

fn load_from(e: &mut Emitter, access: Access, location: Location) -> Value {
    let value = e.load(access, location.base);
    if location.is_stable {
        e.stable.insert(value);
    }
    value
}

/// A number of 16 bits with the high half that its type has.
fn extended(e: &mut Emitter, half: Value, leaf: Leaf) -> Value {
    if leaf.scalar.kind == ScalarKind::Sint { e.unary(crate::ir::Unary::Extend16, half) } else { half }
}

/// The access of a scalar, of `bytes` bytes or those that it has.
fn access(location: Location, leaf: Leaf, bytes: u32) -> Access {
    let own = if leaf.scalar.kind == ScalarKind::Bool { BOOL_BYTES } else { leaf.scalar.width.into() };
    let ty = match scalar_type(leaf.scalar) {
        Type::Bool => Type::I32,
        ty => ty,
    };
    Access {
        memory: location.memory,
        ty,
        bytes: if bytes == 0 { own } else { bytes },
        signed: leaf.scalar.kind == ScalarKind::Sint && own < 4 && bytes == 0,
        offset: location.offset.wrapping_add(leaf.offset),
    }
}

/// The access of an atomic.
pub(super) fn atomic_access(location: Location) -> Access {
    Access { memory: location.memory, ty: Type::I32, bytes: 4, signed: false, offset: location.offset }
}

/// The layout of a module's types, and the slots that a variable takes.
pub(super) fn zeros(e: &mut Emitter, layout: &Layout<'_>, ty: &TypeInner) -> Vec<Value> {
    layout.types(ty).into_iter().map(|ty| e.zero(ty)).collect()
}
