//! Private memory of threads in device memory.
//!
//! A kernel that needs it gets a hidden argument behind the others: an address in device memory. From there on each wave
//! has a region of [`Plan::bytes_per_wave`], in the order of their numbers; the number of a wave is the linear number of its
//! workgroup, times the waves of a workgroup, plus its own. A region has room for N lanes, a power of two: 64, so that the code
//! does not depend on the width of a wave, or as many as the waves of a launch that is known have threads. Word k of lane l lies
//! at `(k * N + l) * 4` of the region, so that the lanes of a wave access neighbouring words where their private addresses
//! are the same.
//!
//! So byte a of a lane lies at `lane_base + (a & !3) * N + (a & 3)`. First come the bytes of the back end, which knows
//! their number at its end only, then each private memory of the module. The operation `private_base` gives the address
//! behind those of the back end, whatever their number is. Behind them, one lane after the other, lie the stacks of C code, which are plain device
//! memory.

use super::edit::{Editor, Side, at_start, rewrite};
use super::order;
use super::residue::residues;
use crate::ir::{
    Access, Binary, Compare, Convert, Function, GlobalId, Instruction, MemoryId, Module, Operation, Space,
    Type, Unary, Value,
};
use cranelift_entity::SecondaryMap;
use wave_isa::Special;

/// Sizes are multiples of these bytes.
const UNIT: u32 = 16;

/// A stack of C code for each thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stack {
    /// The stack pointer: an `i32`, at the start the end of the stack.
    pub pointer: GlobalId,
    /// Bytes of the stack and the heap, a multiple of 16.
    pub bytes: u32,
    /// The variable that gets the address where they begin, for a heap below the stack: an `i32`.
    pub start: Option<GlobalId>,
}

/// What a thread has of its own in device memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Lanes for which the region of a wave has room: a power of two.
    pub lanes: u32,
    /// Bytes of the back end, for spills and the like: a multiple of 16.
    pub own_bytes: u32,
    /// Where each private memory of the module begins in private memory.
    pub memories: SecondaryMap<MemoryId, u32>,
    /// All bytes of private memory, those of the back end too: a multiple of 16.
    pub private_bytes: u32,
    /// The stack, if there is one.
    pub stack: Option<Stack>,
    /// The device memory that is accessed, if the module has private memory.
    device: Option<MemoryId>,
}

impl Plan {
    /// What a thread of a module needs, if it needs something. The module must have a device memory then. `Err` has the
    /// bytes of a lane, where a wave needs more than 32-bit addresses reach.
    pub fn new(
        module: &Module,
        own_bytes: u32,
        stack: Option<Stack>,
        lanes: u32,
    ) -> Result<Option<Plan>, u64> {
        let mut memories = SecondaryMap::new();
        let mut bytes = u64::from(own_bytes);
        for (id, memory) in module.memories.iter().filter(|(_, memory)| memory.space == Space::Private) {
            memories[id] = u32::try_from(bytes).map_err(|_| bytes)?;
            bytes += memory.bytes();
        }
        let all = bytes + stack.map_or(0, |stack| u64::from(stack.bytes));
        if all == 0 {
            return Ok(None);
        }
        if all > u64::from(u32::MAX / lanes) {
            return Err(all);
        }
        debug_assert!(all.is_multiple_of(UNIT.into()), "sizes are multiples of {UNIT}");
        let device = module.memories.iter().find(|(_, memory)| memory.space == Space::Device);
        let device = Some(device.expect("the caller adds one").0);
        Ok(Some(Plan { lanes, own_bytes, memories, private_bytes: bytes as u32, stack, device }))
    }

    /// The plan with so many bytes more, a multiple of 16, in front of all others. `Err` has the bytes of a lane, where a
    /// wave needs more than 32-bit addresses reach.
    pub(crate) fn behind(mut self, own_bytes: u32) -> Result<Plan, u64> {
        let all = u64::from(self.bytes_per_wave() / self.lanes) + u64::from(own_bytes);
        if all > u64::from(u32::MAX / self.lanes) {
            return Err(all);
        }
        self.own_bytes += own_bytes;
        self.private_bytes += own_bytes;
        self.memories.values_mut().for_each(|first| *first += own_bytes);
        Ok(self)
    }

    /// Bytes of the region of a wave.
    pub fn bytes_per_wave(&self) -> u32 {
        self.lanes * (self.private_bytes + self.stack.map_or(0, |stack| stack.bytes))
    }

    /// Where byte `address` of the private memory of a lane lies, as a distance from the region of its wave.
    pub fn distance(&self, lane: u32, address: u32) -> u32 {
        (address / 4) * self.stride() + 4 * lane + address % 4
    }

    /// Bytes from a word of a lane to its next.
    fn stride(&self) -> u32 {
        4 * self.lanes
    }

    /// A plan of private memory that is the back end's alone.
    pub(crate) fn empty(lanes: u32) -> Plan {
        Plan {
            lanes,
            own_bytes: 0,
            memories: SecondaryMap::new(),
            private_bytes: 0,
            stack: None,
            device: None,
        }
    }
}

/// Gives the stack pointer its value at the start of a thread. Global variables are still there.
pub(super) fn begin(function: &mut Function, plan: &Plan) {
    let Some(stack) = plan.stack else { return };
    at_start(function, |editor| {
        // The stack of this lane ends where that of the next one begins.
        let base = editor.emit(Operation::PrivateBase, Type::I32);
        let lane = editor.emit(Operation::Special(Special::LaneId), Type::I32);
        let below = editor.with(Binary::Mul, lane, stack.bytes.wrapping_sub(4).into());
        let stacks = u64::from(plan.private_bytes) * u64::from(plan.lanes) + u64::from(stack.bytes);
        let first = editor.with(Binary::Add, base, stacks);
        let end = editor.binary(Binary::Add, below, first);
        let set = Operation::GlobalSet(stack.pointer, end);
        editor.keep(Instruction { operation: set, results: Vec::new(), at: editor.at });
        if let Some(global) = stack.start {
            let start = editor.with(Binary::Sub, end, stack.bytes.into());
            let set = Operation::GlobalSet(global, start);
            editor.keep(Instruction { operation: set, results: Vec::new(), at: editor.at });
        }
    });
}

/// Replaces accesses to private memory by those to device memory. There may be accesses of 64 bits.
pub(super) fn lower(module: &Module, function: &mut Function, plan: &Plan) {
    let is_private = |memory: MemoryId| module.memories[memory].space == Space::Private;
    let accessed = |instruction: &Instruction| match &instruction.operation {
        Operation::Load(access, _) | Operation::Store(access, _) => is_private(access.memory),
        _ => false,
    };
    if !function.blocks.values().flat_map(|body| &body.instructions).any(accessed) {
        return;
    }
    let residues = residues(function);
    let lane_base = at_start(function, |editor| editor.emit(Operation::PrivateBase, Type::I32));
    let order = order(function);
    let done: Result<(), ()> = rewrite(function, &order, |editor, instruction| {
        match instruction.operation {
            Operation::Load(access, address) if is_private(access.memory) => {
                let at = Words::new(editor, plan, lane_base, access, address, residues[address].known());
                let value = load(editor, &at, access);
                editor.replaced.set(instruction.results[0], value);
            }
            Operation::Store(access, [address, value]) if is_private(access.memory) => {
                let at = Words::new(editor, plan, lane_base, access, address, residues[address].known());
                store(editor, &at, access, value);
            }
            _ => editor.keep(instruction),
        }
        Ok(())
    });
    done.expect("it refuses nothing");
}

/// Where an access begins.
#[derive(Debug, Clone, Copy)]
struct Words {
    device: MemoryId,
    lanes: u32,
    /// Device address as if the private one were a multiple of 4: `lane_base + a * lanes`.
    raw: Value,
    /// Added to that.
    offset: u32,
    low: Low,
}

/// The low two bits of a private address.
#[derive(Debug, Clone, Copy)]
enum Low {
    Known(u32),
    Unknown(Value),
}

impl Words {
    fn new(
        editor: &mut Editor,
        plan: &Plan,
        lane_base: Value,
        access: Access,
        address: Value,
        residue: Option<u32>,
    ) -> Words {
        let offset = access.offset.wrapping_add(plan.memories[access.memory]);
        let device = plan.device.expect("a module with private memory has one");
        let (lanes, doubled) = (plan.lanes, plan.lanes.trailing_zeros());
        if let Some(residue) = residue {
            let low = Low::Known(residue.wrapping_add(offset) & 3);
            let far = offset.wrapping_mul(lanes);
            if let Some(address) = editor.known_i32(address) {
                let offset = far.wrapping_add(address.wrapping_mul(lanes));
                return Words { device, lanes, raw: lane_base, offset, low };
            }
            let shifted = editor.with(Binary::Shl, address, doubled.into());
            let raw = editor.binary(Binary::Add, shifted, lane_base);
            return Words { device, lanes, raw, offset: far, low };
        }
        let address = if offset == 0 { address } else { editor.with(Binary::Add, address, offset.into()) };
        let low = editor.with(Binary::And, address, 3);
        let shifted = editor.with(Binary::Shl, address, doubled.into());
        let raw = editor.binary(Binary::Add, shifted, lane_base);
        Words { device, lanes, raw, offset: 0, low: Low::Unknown(low) }
    }

    /// The device address of the byte itself, with what has to be added to it.
    fn byte(&self, editor: &mut Editor) -> (Value, u32) {
        match self.low {
            // The address counts the lanes for each of the low bits, and 1 is right.
            Low::Known(low) => (self.raw, self.offset.wrapping_sub((self.lanes - 1) * low)),
            Low::Unknown(low) => {
                let less = editor.with(Binary::Mul, low, u64::from(0u32.wrapping_sub(self.lanes - 1)));
                (editor.binary(Binary::Add, less, self.raw), self.offset)
            }
        }
    }

    /// The device address of the word in which the access begins.
    fn word(&self, editor: &mut Editor) -> (Value, u32) {
        match self.low {
            Low::Known(low) => (self.raw, self.offset.wrapping_sub(self.lanes * low)),
            Low::Unknown(low) => {
                let less = editor.with(Binary::Shl, low, self.lanes.trailing_zeros().into());
                (editor.binary(Binary::Sub, self.raw, less), self.offset)
            }
        }
    }

    /// The number of bits below the access in its first word.
    fn shift(&self, editor: &mut Editor) -> Value {
        match self.low {
            Low::Known(low) => editor.i32(8 * low),
            Low::Unknown(low) => editor.with(Binary::Shl, low, 3),
        }
    }

    /// Makes the first side if all is in words of its own, or in one word; else the second. `first` is the lowest of
    /// the low bits with which it is not.
    fn choose(&self, editor: &mut Editor, first: u32, types: &[Type], sides: [Side<'_>; 2]) -> Vec<Value> {
        match self.low {
            Low::Known(low) => {
                let [inside, across] = sides;
                if low < first { inside(editor) } else { across(editor) }
            }
            Low::Unknown(low) => {
                let inside = editor.compare_with(Compare::LtU, low, first.into());
                editor.either(inside, types, sides)
            }
        }
    }

    /// The place so many words behind another one.
    fn behind(&self, (address, offset): (Value, u32), words: u32) -> (Value, u32) {
        (address, offset.wrapping_add(words * 4 * self.lanes))
    }

    fn load(&self, editor: &mut Editor, (address, offset): (Value, u32), bytes: u32) -> Value {
        let (address, offset) = self.reached(editor, address, offset);
        let access = Access { memory: self.device, ty: Type::I32, bytes, signed: false, offset };
        editor.emit(Operation::Load(access, address), Type::I32)
    }

    fn store(&self, editor: &mut Editor, (address, offset): (Value, u32), bytes: u32, value: Value) {
        let (address, offset) = self.reached(editor, address, offset);
        let access = Access { memory: self.device, ty: Type::I32, bytes, signed: false, offset };
        let operation = Operation::Store(access, [address, value]);
        editor.keep(Instruction { operation, results: Vec::new(), at: editor.at });
    }

    /// The offset of an access does not wrap; a negative one is added to the address.
    fn reached(&self, editor: &mut Editor, address: Value, offset: u32) -> (Value, u32) {
        if offset < 1 << 31 {
            return (address, offset);
        }
        (editor.with(Binary::Add, address, offset.into()), 0)
    }
}

fn load(editor: &mut Editor, at: &Words, access: Access) -> Value {
    if access.bytes == 8 {
        let halves = at.choose(
            editor,
            1,
            &[Type::I32; 2],
            [
                &mut |editor| {
                    let word = (at.raw, at.offset);
                    vec![at.load(editor, word, 4), at.load(editor, at.behind(word, 1), 4)]
                },
                &mut |editor| {
                    let word = at.word(editor);
                    let words = [0, 1, 2].map(|number| at.load(editor, at.behind(word, number), 4));
                    let shift = at.shift(editor);
                    vec![across(editor, words[0], words[1], shift), across(editor, words[1], words[2], shift)]
                },
            ],
        );
        let [low, high] = [0, 1].map(|half| editor.convert(Convert::ExtendU, halves[half]));
        let high = editor.with(Binary::Shl, high, 32);
        let value = editor.binary(Binary::Or, low, high);
        return if access.ty == Type::F64 { editor.convert(Convert::Reinterpret, value) } else { value };
    }
    let bits = match access.bytes {
        1 => {
            let byte = at.byte(editor);
            at.load(editor, byte, 1)
        }
        2 => at.choose(
            editor,
            3,
            &[Type::I32],
            [
                &mut |editor| {
                    let byte = at.byte(editor);
                    vec![at.load(editor, byte, 2)]
                },
                &mut |editor| {
                    let (byte, word) = (at.byte(editor), at.word(editor));
                    let [low, high] = [byte, at.behind(word, 1)].map(|place| at.load(editor, place, 1));
                    let high = editor.with(Binary::Shl, high, 8);
                    vec![editor.binary(Binary::Or, low, high)]
                },
            ],
        )[0],
        _ => at.choose(
            editor,
            1,
            &[Type::I32],
            [&mut |editor| vec![at.load(editor, (at.raw, at.offset), 4)], &mut |editor| {
                let word = at.word(editor);
                let [low, high] = [0, 1].map(|number| at.load(editor, at.behind(word, number), 4));
                let shift = at.shift(editor);
                vec![across(editor, low, high, shift)]
            }],
        )[0],
    };
    let bits = match (access.signed, access.bytes) {
        (true, 1) => editor.unary(Unary::Extend8, bits),
        (true, 2) => editor.unary(Unary::Extend16, bits),
        _ => bits,
    };
    match access.ty {
        Type::I64 if access.signed => editor.convert(Convert::ExtendS, bits),
        Type::I64 => editor.convert(Convert::ExtendU, bits),
        Type::F32 => editor.convert(Convert::Reinterpret, bits),
        _ => bits,
    }
}

/// A word that begins so many bits, 8 to 24, above the begin of `low`.
fn across(editor: &mut Editor, low: Value, high: Value, shift: Value) -> Value {
    let low = editor.binary(Binary::ShrU, low, shift);
    let back = rest(editor, shift);
    let high = editor.binary(Binary::Shl, high, back);
    editor.binary(Binary::Or, low, high)
}

/// The bits of a word that are left.
fn rest(editor: &mut Editor, shift: Value) -> Value {
    let all = editor.i32(32);
    editor.binary(Binary::Sub, all, shift)
}

fn store(editor: &mut Editor, at: &Words, access: Access, value: Value) {
    let bits = if access.ty.is_float() { editor.convert(Convert::Reinterpret, value) } else { value };
    let mut words = vec![bits];
    if editor.ty(bits) == Type::I64 {
        words = vec![editor.convert(Convert::Wrap, bits)];
        if access.bytes == 8 {
            let high = editor.with(Binary::ShrU, bits, 32);
            words.push(editor.convert(Convert::Wrap, high));
        }
    }
    match access.bytes {
        1 => {
            let byte = at.byte(editor);
            at.store(editor, byte, 1, words[0]);
        }
        2 => {
            let sides: [Side<'_>; 2] = [
                &mut |editor| {
                    let byte = at.byte(editor);
                    at.store(editor, byte, 2, words[0]);
                    Vec::new()
                },
                &mut |editor| {
                    let (byte, word) = (at.byte(editor), at.word(editor));
                    at.store(editor, byte, 1, words[0]);
                    let high = editor.with(Binary::ShrU, words[0], 8);
                    at.store(editor, at.behind(word, 1), 1, high);
                    Vec::new()
                },
            ];
            at.choose(editor, 3, &[], sides);
        }
        _ => {
            let sides: [Side<'_>; 2] = [
                &mut |editor| {
                    for (number, &word) in (0..).zip(&words) {
                        at.store(editor, at.behind((at.raw, at.offset), number), 4, word);
                    }
                    Vec::new()
                },
                &mut |editor| {
                    store_across(editor, at, &words);
                    Vec::new()
                },
            ];
            at.choose(editor, 1, &[], sides);
        }
    }
}

/// Stores words that begin inside a word: the first and the last one that they touch keep the rest of their bytes. The
/// thread is the only one to see them, so nobody else writes these.
fn store_across(editor: &mut Editor, at: &Words, words: &[Value]) {
    let word = at.word(editor);
    let shift = at.shift(editor);
    let back = rest(editor, shift);
    let ones = editor.i32(u32::MAX);
    // Bits of the first word that change are those of the last that stay.
    let upper = editor.binary(Binary::Shl, ones, shift);
    let lower = editor.binary(Binary::Xor, upper, ones);
    let last = words.len() as u32;
    for number in 0..=last {
        let place = at.behind(word, number);
        let mut bits = None;
        if number > 0 {
            bits = Some(editor.binary(Binary::ShrU, words[number as usize - 1], back));
        }
        if number < last {
            let above = editor.binary(Binary::Shl, words[number as usize], shift);
            bits = Some(bits.map_or(above, |below| editor.binary(Binary::Or, below, above)));
        }
        let mut bits = bits.expect("there is a word");
        if number == 0 || number == last {
            let old = at.load(editor, place, 4);
            let old = editor.binary(Binary::And, old, if number == 0 { lower } else { upper });
            bits = editor.binary(Binary::Or, bits, old);
        }
        at.store(editor, place, 4, bits);
    }
}
