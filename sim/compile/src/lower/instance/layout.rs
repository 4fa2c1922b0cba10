//! The context of an instance: where its parts are in private memory.

use super::InstanceOptions;
use super::reach::Reached;
use super::state::State;
use crate::ir::{
    Constant, DataId, ElementsId, FunctionId, GlobalId, MemoryId, Module, NULL_REFERENCE, PAGE_BYTES, Place,
    TableId, Trap, Type,
};
use crate::lower::Traps;
use crate::lower::private::Plan;
use std::collections::BTreeMap;

/// The private memory with the context.
pub(super) fn context() -> MemoryId {
    MemoryId::from_u32(0)
}
/// Where the word is that says how the call ended.
pub(super) const ENDED: u32 = 0;
/// What it is behind a call that has returned.
pub(super) const RETURNED: u32 = 1;
/// The first argument.
const FIRST: u32 = 8;
/// Most bytes of the contexts of a wave.
const MOST_BYTES: u64 = 1 << 32;

/// A memory or a table: where its parts are, and how large it is, in bytes or in places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    /// The word with its size. A table that does not grow has none.
    pub(super) size_at: u32,
    pub(super) base: u32,
    /// Size at the start of the module; it never has less.
    pub(super) least: u32,
    /// Size up to which it grows.
    pub(super) most: u32,
}

/// A segment, and the word with what is left of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) length_at: u32,
    pub(super) base: u32,
}

/// Two lists of words in the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct References {
    /// What a place of a table holds for a reference: at the reference and 1, so that the null comes first.
    pub(super) entries: u32,
    /// References in that list.
    pub(super) count: u32,
    /// The reference for what a place of a table holds.
    pub(super) numbers: u32,
}

/// What the list of entries has for a function that no table holds.
pub(super) const NO_ENTRY: u32 = u32::MAX;

/// Where everything is in the context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Bytes of the context.
    pub bytes: u32,
    pub(super) arguments: Vec<(Type, u32)>,
    pub(super) results: Vec<(Type, u32)>,
    pub(super) memories: BTreeMap<MemoryId, Size>,
    /// Mutable global variables.
    pub(super) globals: BTreeMap<GlobalId, u32>,
    /// Tables.
    pub(super) tables: BTreeMap<TableId, Size>,
    /// Where references are read or written: what tables hold for them, and the references for what tables hold.
    pub(super) references: Option<References>,
    pub(super) data: BTreeMap<DataId, Segment>,
    pub(super) elements: BTreeMap<ElementsId, Segment>,
    /// The functions of tables: a place holds the number in this list and 1, or 0.
    pub(super) in_tables: Vec<FunctionId>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It has not, or did not run.
    Not,
    /// It has returned its results.
    Returned,
    /// It trapped, at this place of its source.
    Trapped(Trap, Place),
}

/// Takes bytes one after the other.
struct Places(u64);

impl Places {
    fn take(&mut self, bytes: u64, unit: u64) -> u32 {
        let place = self.0.next_multiple_of(unit);
        self.0 = place.saturating_add(bytes);
        u32::try_from(place).unwrap_or(u32::MAX)
    }
}

impl Layout {
    /// The layout for a call. `Err` has the bytes if they are too many.
    pub(super) fn new(
        module: &Module,
        function: FunctionId,
        reached: &Reached,
        options: &InstanceOptions,
    ) -> Result<Layout, u64> {
        let mut to = Places(FIRST.into());
        let signature = &module.functions[function].signature;
        let mut values =
            |types: &[Type]| -> Vec<(Type, u32)> { types.iter().map(|&ty| (ty, to.take(8, 8))).collect() };
        let (arguments, results) = (values(&signature.parameters), values(&signature.results));
        let mut globals = BTreeMap::new();
        for (id, global) in module.globals.iter().filter(|(id, _)| reached.globals.contains(*id)) {
            if global.is_mutable {
                globals.insert(id, to.take(8, 8));
            }
        }
        let sizes: Vec<u32> = reached.memories.iter().map(|_| to.take(4, 4)).collect();
        let lengths: Vec<u32> = reached.data.iter().map(|_| to.take(4, 4)).collect();
        let element_lengths: Vec<u32> = reached.elements.iter().map(|_| to.take(4, 4)).collect();
        let references = reached.references.then(|| {
            let count = reached.in_tables.iter().max().map_or(1, |last| last.as_u32() + 2);
            let entries = to.take(4 * u64::from(count), 4);
            References { entries, count, numbers: to.take(4 * (reached.in_tables.len() as u64 + 1), 4) }
        });
        let tables = reached.tables.iter().map(|&id| {
            let table = &module.tables[id];
            let grows = reached.grown_tables.contains(&id);
            let most = if grows { table.most_places.unwrap_or(u64::MAX).min(options.most_places) } else { 0 };
            let most = most.max(table.places);
            let size_at = if most > table.places { to.take(4, 4) } else { 0 };
            let base = to.take(most.saturating_mul(4), 4);
            let [least, most] = [table.places, most].map(|size| u32::try_from(size).unwrap_or(u32::MAX));
            (id, Size { size_at, base, least, most })
        });
        let tables = tables.collect();
        let elements = reached.elements.iter().zip(element_lengths).map(|(&id, length_at)| {
            (id, Segment { length_at, base: to.take(4 * module.elements[id].functions.len() as u64, 4) })
        });
        let elements = elements.collect();
        let data = reached.data.iter().zip(lengths).map(|(&id, length_at)| {
            (id, Segment { length_at, base: to.take(module.data[id].bytes.len() as u64, 16) })
        });
        let data = data.collect();
        let memories = reached.memories.iter().zip(sizes).map(|(&id, size_at)| {
            let memory = &module.memories[id];
            let grows = reached.grown.contains(&id);
            let limit = if grows { options.most_pages.saturating_mul(PAGE_BYTES) } else { 0 };
            let least = memory.bytes();
            let most = memory.most_pages.unwrap_or(u64::MAX).saturating_mul(memory.page_bytes);
            let most = most.min(limit).max(least);
            let base = to.take(most, 16);
            let bytes = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
            (id, Size { size_at, base, least: bytes(least), most: bytes(most) })
        });
        let memories = memories.collect();
        let bytes = to.0.next_multiple_of(16);
        if bytes > MOST_BYTES / u64::from(options.lanes) {
            return Err(bytes);
        }
        let in_tables = reached.in_tables.clone();
        let bytes = bytes as u32;
        Ok(Layout {
            bytes,
            arguments,
            results,
            memories,
            globals,
            tables,
            references,
            data,
            elements,
            in_tables,
        })
    }

    /// What a place of a table holds for a function.
    pub(super) fn entry(&self, function: Option<FunctionId>) -> u32 {
        let place = function.and_then(|function| self.in_tables.iter().position(|&other| other == function));
        place.map_or(0, |place| place as u32 + 1)
    }

    /// Writes the context of a lane before a call. The private memory of the lane is all zeros.
    ///
    /// # Panics
    /// If the arguments are not those of the function, or a memory is larger than it may become.
    pub fn write(&self, module: &Module, state: &State, arguments: &[Constant], lane: &mut Lane) {
        let types: Vec<Type> = arguments.iter().map(|argument| argument.ty()).collect();
        assert!(types.iter().eq(self.arguments.iter().map(|(ty, _)| ty)), "the arguments of the function");
        for (argument, &(_, place)) in arguments.iter().zip(&self.arguments) {
            lane.set_wide(place, argument.bits());
        }
        for (&id, &place) in &self.globals {
            lane.set_wide(place, state.globals[id].bits());
        }
        for (&id, size) in &self.tables {
            let table = &state.tables[id];
            assert!(table.places <= size.most.into(), "{id} is larger than it may become");
            if size.least != size.most {
                lane.set(size.size_at, table.places as u32);
            }
            for (&at, &function) in &table.filled {
                lane.set(size.base + 4 * at as u32, self.entry(Some(function)));
            }
        }
        if let Some(references) = self.references {
            lane.set(references.numbers, NULL_REFERENCE);
            for number in 1..references.count {
                lane.set(references.entries + 4 * number, NO_ENTRY);
            }
            for (entry, function) in (1..).zip(&self.in_tables) {
                lane.set(references.numbers + 4 * entry, function.as_u32());
                lane.set(references.entries + 4 * (function.as_u32() + 1), entry);
            }
        }
        for (&id, segment) in &self.elements {
            if state.dropped_elements[id] {
                continue;
            }
            let functions = &module.elements[id].functions;
            lane.set(segment.length_at, functions.len() as u32);
            for (at, &function) in (0..).zip(functions) {
                lane.set(segment.base + 4 * at, self.entry(function));
            }
        }
        for (&id, segment) in self.data.iter().filter(|(id, _)| !state.dropped_data[**id]) {
            let bytes = &module.data[id].bytes;
            lane.set(segment.length_at, bytes.len() as u32);
            lane.write(segment.base, bytes);
        }
        for (&id, size) in &self.memories {
            let bytes = &state.memories[id];
            assert!(bytes.len() <= size.most as usize, "{id} is larger than it may become");
            lane.set(size.size_at, bytes.len() as u32);
            lane.write(size.base, bytes);
        }
    }

    /// Bytes up to which a memory grows, if the call can reach it.
    pub fn most_bytes(&self, id: MemoryId) -> Option<u64> {
        self.memories.get(&id).map(|size| size.most.into())
    }

    /// How the call of a lane ended.
    pub fn ended(&self, lane: &Lane) -> Ended {
        match lane.get(ENDED) {
            0 => Ended::Not,
            RETURNED => Ended::Returned,
            word => Traps::of(word).map_or(Ended::Not, |(trap, place)| Ended::Trapped(trap, place)),
        }
    }

    /// The results of a call that has returned.
    pub fn results(&self, lane: &Lane) -> Vec<Constant> {
        let result = |&(ty, place): &(Type, u32)| Constant::from_bits(ty, lane.get_wide(place));
        self.results.iter().map(result).collect()
    }

    /// The value of a mutable global variable, if the call can reach it.
    pub fn global(&self, module: &Module, id: GlobalId, lane: &Lane) -> Option<Constant> {
        let place = *self.globals.get(&id)?;
        Some(Constant::from_bits(module.globals[id].initial.ty(), lane.get_wide(place)))
    }

    /// Takes over what a call made of an instance.
    pub fn read(&self, state: &mut State, lane: &Lane) {
        for (&id, &place) in &self.globals {
            state.globals[id] = Constant::from_bits(state.globals[id].ty(), lane.get_wide(place));
        }
        for (&id, &Size { size_at, base, least, most }) in &self.tables {
            let places = if least == most { least } else { lane.get(size_at).min(most) };
            let table = &mut state.tables[id];
            table.places = places.into();
            let filled = &mut table.filled;
            // A function that this call cannot reach is no number here, and stays where nobody put another one.
            for at in 0..places {
                match lane.get(base + 4 * at) as usize {
                    0 => _ = filled.remove(&at.into()),
                    number => _ = filled.insert(at.into(), self.in_tables[number - 1]),
                }
            }
        }
        for (&id, segment) in &self.elements {
            state.dropped_elements[id] |= lane.get(segment.length_at) == 0;
        }
        for (&id, segment) in &self.data {
            state.dropped_data[id] |= lane.get(segment.length_at) == 0;
        }
        for (&id, size) in &self.memories {
            let bytes = &mut state.memories[id];
            bytes.resize((lane.get(size.size_at)).min(size.most) as usize, 0);
            lane.read(size.base, bytes);
        }
    }
}

/// The private memory of a lane, in an image of device memory.
#[derive(Debug)]
pub struct Lane<'a> {
    memory: &'a mut [u8],
    /// The region of its wave.
    region: usize,
    plan: &'a Plan,
    lane: u32,
    /// Where the context begins in private memory.
    base: u32,
}

impl<'a> Lane<'a> {
    /// Lane `lane` of the wave of this number in the launch, for a kernel with this plan. `start` is the hidden
    /// argument.
    ///
    /// # Panics
    /// If the image ends before the region of the wave does, and if the region has no room for the lane.
    pub fn new(memory: &'a mut [u8], plan: &'a Plan, start: u32, wave: u32, lane: u32) -> Lane<'a> {
        let bytes = plan.bytes_per_wave() as usize;
        let region = start as usize + bytes * wave as usize;
        assert!(region + bytes <= memory.len(), "the image has room for the wave");
        assert!(lane < plan.lanes, "the region has room for the lane");
        Lane { memory, region, plan, lane, base: plan.memories[context()] }
    }

    /// The bytes of the context, without those into which memories have not grown.
    pub fn context(&self, layout: &Layout) -> Vec<u8> {
        let mut all = Vec::new();
        let mut part = |base: u32, length: u32| {
            let mut bytes = vec![0; length as usize];
            self.read(base, &mut bytes);
            all.extend(bytes);
        };
        // Memories are the last part.
        part(0, layout.memories.values().map(|size| size.base).min().unwrap_or(layout.bytes));
        layout.memories.values().for_each(|size| part(size.base, self.get(size.size_at).min(size.most)));
        all
    }

    fn place(&self, address: u32) -> usize {
        self.region + self.plan.distance(self.lane, self.base + address) as usize
    }

    fn get(&self, address: u32) -> u32 {
        let place = self.place(address);
        let bytes = self.memory[place..place + 4].try_into().expect("4 bytes");
        u32::from_le_bytes(bytes)
    }

    fn set(&mut self, address: u32, word: u32) {
        let place = self.place(address);
        self.memory[place..place + 4].copy_from_slice(&word.to_le_bytes());
    }

    fn get_wide(&self, address: u32) -> u64 {
        u64::from(self.get(address)) | u64::from(self.get(address + 4)) << 32
    }

    fn set_wide(&mut self, address: u32, bits: u64) {
        self.set(address, bits as u32);
        self.set(address + 4, (bits >> 32) as u32);
    }

    /// Writes bytes from a multiple of 4 on, into zeros.
    fn write(&mut self, address: u32, bytes: &[u8]) {
        for (at, chunk) in (address..).step_by(4).zip(bytes.chunks(4)) {
            if chunk.iter().any(|&byte| byte != 0) {
                let mut word = [0; 4];
                word[..chunk.len()].copy_from_slice(chunk);
                self.set(at, u32::from_le_bytes(word));
            }
        }
    }

    /// Reads bytes from a multiple of 4 on.
    fn read(&self, address: u32, bytes: &mut [u8]) {
        for (at, chunk) in (address..).step_by(4).zip(bytes.chunks_mut(4)) {
            let word = self.get(at).to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }
}

/// The number of a function in tables, and how many of its signature there are from the first on.
pub(super) fn of_signature(
    module: &Module,
    in_tables: &[FunctionId],
    signature: &crate::ir::Signature,
) -> (u32, Vec<FunctionId>) {
    let has = |id: &FunctionId| module.functions[*id].signature == *signature;
    let first = in_tables.iter().position(has).unwrap_or(0);
    let functions = in_tables[first..].iter().copied().take_while(has).collect();
    (first as u32 + 1, functions)
}
