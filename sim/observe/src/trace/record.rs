//! The contents of a trace, field by field as in `traces/format.md`.

use fnv::FnvHasher;
use std::hash::Hasher;
use std::ops::{Index, IndexMut};
use wave_capture::Capture;
use wave_isa::WORD_BYTES;
use wave_machine::clock::Cycle;
pub use wave_machine::core::stage::Stage;
pub use wave_machine::core::wait::Wait;

/// Declares an enum with a code for the binary form and a name for the text form.
macro_rules! coded {
    ($(#[$meta:meta])* $name:ident { $($(#[doc = $doc:literal])+ $variant:ident = $code:literal, $text:literal;)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Capture)]
        #[repr(u8)]
        pub enum $name { $($(#[doc = $doc])+ $variant = $code,)* }

        impl $name {
            /// Every value, in the order of the codes.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The value with this code.
            pub fn from_code(code: u8) -> Option<$name> {
                match code { $($code => Some($name::$variant),)* _ => None }
            }

            /// Its name in the text form.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The value with this name.
            pub fn from_name(name: &str) -> Option<$name> {
                match name { $($text => Some($name::$variant),)* _ => None }
            }
        }
    };
}

/// The stages whose cycles a record holds beside that of retirement, in the order of their fields.
pub const STAGES: [Stage; 6] =
    [Stage::Fetch, Stage::Decode, Stage::Issue, Stage::Operands, Stage::Execute, Stage::WriteBack];

/// A value for each of [`STAGES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Capture)]
pub struct PerStage<T>(pub [T; STAGES.len()]);

impl<T> PerStage<T> {
    /// The place of the value of a stage.
    ///
    /// # Panics
    /// If the stage is not one of [`STAGES`].
    #[inline]
    pub const fn place(stage: Stage) -> usize {
        match stage {
            Stage::Fetch => 0,
            Stage::Decode => 1,
            Stage::Issue => 2,
            Stage::Operands => 3,
            Stage::Execute => 4,
            Stage::WriteBack => 5,
            Stage::Access | Stage::Retire => panic!("a record has no field for this stage"),
        }
    }
}

impl<T> Index<Stage> for PerStage<T> {
    type Output = T;

    #[inline]
    fn index(&self, stage: Stage) -> &T {
        &self.0[PerStage::<T>::place(stage)]
    }
}

impl<T> IndexMut<Stage> for PerStage<T> {
    #[inline]
    fn index_mut(&mut self, stage: Stage) -> &mut T {
        &mut self.0[PerStage::<T>::place(stage)]
    }
}

coded! {
    /// What an instruction writes.
    DestinationKind {
        /// Nothing.
        None = 0, "none";
        /// General registers.
        Registers = 1, "r";
        /// A predicate.
        Predicate = 2, "p";
        /// An A fragment.
        FragmentA = 3, "a";
        /// A B fragment.
        FragmentB = 4, "b";
        /// A C fragment.
        FragmentC = 5, "c";
    }
}

coded! {
    /// Kind of memory access of an instruction.
    MemoryKind {
        /// None.
        None = 0, "none";
        /// Memory to registers.
        Load = 1, "load";
        /// Registers to memory.
        Store = 2, "store";
        /// Read-modify-write of a word.
        Atomic = 3, "atomic";
        /// A tile of local memory to a fragment.
        TileLoad = 4, "tile_load";
        /// A fragment to a tile of local memory.
        TileStore = 5, "tile_store";
    }
}

impl MemoryKind {
    /// True if lanes access rows of tiles, each with a stride.
    pub(crate) fn is_tile(self) -> bool {
        matches!(self, MemoryKind::TileLoad | MemoryKind::TileStore)
    }
}

coded! {
    /// How a run ended.
    How {
        /// Every workgroup has ended.
        Complete = 0, "complete";
        /// A kernel did something illegal.
        Fault = 1, "fault";
        /// Nothing happened any more, or a bound was reached.
        Stopped = 2, "stopped";
        /// The user interrupted it.
        Interrupted = 3, "interrupted";
    }
}

/// What a producer reports in addition to issue and retirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reports {
    /// Whether the cycle of each stage is reported; issue always is.
    pub stages: PerStage<bool>,
    /// Stalls.
    pub stalls: bool,
}

impl Reports {
    /// Everything.
    pub const ALL: Reports = Reports { stages: PerStage([true; STAGES.len()]), stalls: true };

    /// Names of the optional stages, in the order of their bits, then of the stalls.
    pub const NAMES: [&'static str; 6] = ["fetch", "decode", "operands", "execute", "write_back", "stalls"];

    /// The bits, in the order of [`Reports::NAMES`].
    pub fn bits(self) -> u8 {
        let [fetch, decode, _, operands, execute, write_back] = self.stages.0;
        [fetch, decode, operands, execute, write_back, self.stalls]
            .into_iter()
            .rev()
            .fold(0, |bits, on| bits << 1 | u8::from(on))
    }

    /// Decodes the bits; `None` if an unknown bit is set.
    pub fn from_bits(bits: u8) -> Option<Reports> {
        let has = |n: u8| bits >> n & 1 != 0;
        let stages = PerStage([has(0), has(1), true, has(2), has(3), has(4)]);
        (bits >> 6 == 0).then_some(Reports { stages, stalls: has(5) })
    }
}

/// The header of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Lanes of a wave, 1 to 64.
    pub wave_width: u32,
    /// Name of the configuration.
    pub config: String,
    /// Its hash.
    pub config_hash: u64,
    /// The program that wrote the file.
    pub producer: String,
    /// What the file reports.
    pub reports: Reports,
}

impl Header {
    /// The mask with every lane of a wave.
    pub fn all_lanes(&self) -> u64 {
        u64::MAX >> (64 - self.wave_width)
    }
}

/// A kernel that was launched.
#[derive(Debug, Clone, PartialEq, Eq, Default, Capture)]
pub struct Launched {
    /// Name.
    pub kernel: String,
    /// [`kernel_hash`] of its words.
    pub kernel_hash: u64,
    /// Workgroups, x, y, z.
    pub grid: [u32; 3],
    /// Threads of a workgroup, x, y, z.
    pub workgroup: [u32; 3],
    /// Registers of a lane.
    pub registers: u32,
    /// Bytes of a workgroup's local memory.
    pub local_memory: u32,
    /// The cycle in which it begins.
    pub start: Cycle,
    /// Byte offset of its first word in the code section.
    pub base: u32,
    /// Registers that start with a value.
    pub arguments: Vec<(u8, u32)>,
    /// Its words.
    pub code: Vec<u32>,
}

impl Launched {
    /// The words from a pc to the end of the kernel; none if the pc is outside of it.
    pub fn words_at(&self, pc: u32) -> &[u32] {
        let word = pc.checked_sub(self.base).map_or(usize::MAX, |offset| (offset / WORD_BYTES) as usize);
        self.code.get(word..).unwrap_or(&[])
    }
}

/// 64-bit FNV-1a hash (Fowler, Noll, Vo) of the bytes of code words, little-endian.
pub fn kernel_hash(code: &[u32]) -> u64 {
    let mut hasher = FnvHasher::default();
    code.iter().for_each(|word| hasher.write(&word.to_le_bytes()));
    hasher.finish()
}

/// A period in which an instruction waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub struct Stall {
    /// Why.
    pub reason: Wait,
    /// The first cycle.
    pub from: Cycle,
    /// The cycle after the last.
    pub to: Cycle,
}

/// One wave instruction. A row has a word for each lane of the wave; words of lanes that do not participate
/// are 0.
#[derive(Debug, Clone, PartialEq, Eq, Capture)]
pub struct Record {
    /// When it retires.
    pub cycle: Cycle,
    /// Core.
    pub core: u32,
    /// Wave slot of the core.
    pub slot: u32,
    /// The workgroup's position in the grid.
    pub workgroup: [u32; 3],
    /// The wave's index in its workgroup.
    pub wave: u32,
    /// Position in the wave's issue order.
    pub sequence: u64,
    /// Byte offset in the code section.
    pub pc: u32,
    /// Its words; those past `word_count` are 0.
    pub words: [u32; 2],
    /// 1 or 2; 0 for the end of the code.
    pub word_count: u8,
    /// Lanes active before it.
    pub active: u64,
    /// Lanes that participate.
    pub effective: u64,
    /// Byte offset of the wave's next instruction; 0 if there is none.
    pub next_pc: u32,
    /// The wave ends with it.
    pub ends: bool,
    /// The instruction has not retired.
    pub open: bool,
    /// Cycle of each stage; 0 where there is none.
    pub stages: PerStage<Cycle>,
    /// What it writes.
    pub destination: DestinationKind,
    /// Index of the register, predicate or fragment.
    pub index: u8,
    /// Rows of the destination.
    pub values: Vec<u32>,
    /// Kind of its memory access.
    pub memory: MemoryKind,
    /// The access is to device memory.
    pub device: bool,
    /// Bytes per lane.
    pub bytes: u8,
    /// Row of addresses; empty without an access.
    pub addresses: Vec<u32>,
    /// Row of strides; empty except for tiles.
    pub strides: Vec<u32>,
    /// Rows sent.
    pub sent: Vec<u32>,
    /// Periods in which it waited, in order.
    pub stalls: Vec<Stall>,
}

impl Default for Record {
    fn default() -> Record {
        Record {
            cycle: 0,
            core: 0,
            slot: 0,
            workgroup: [0; 3],
            wave: 0,
            sequence: 0,
            pc: 0,
            words: [0; 2],
            word_count: 0,
            active: 0,
            effective: 0,
            next_pc: 0,
            ends: false,
            open: false,
            stages: PerStage::default(),
            destination: DestinationKind::None,
            index: 0,
            values: Vec::new(),
            memory: MemoryKind::None,
            device: false,
            bytes: 0,
            addresses: Vec::new(),
            strides: Vec::new(),
            sent: Vec::new(),
            stalls: Vec::new(),
        }
    }
}

impl Record {
    /// Resets all fields but keeps the storage of the rows.
    pub fn clear(&mut self) {
        let Record { values, addresses, strides, sent, stalls, .. } = self;
        for rows in [values, addresses, strides, sent] {
            rows.clear();
        }
        stalls.clear();
        (self.cycle, self.core, self.slot, self.wave, self.sequence, self.pc) = (0, 0, 0, 0, 0, 0);
        (self.workgroup, self.words, self.word_count) = ([0; 3], [0; 2], 0);
        (self.active, self.effective, self.next_pc) = (0, 0, 0);
        (self.ends, self.open, self.device) = (false, false, false);
        self.stages = PerStage::default();
        (self.destination, self.index) = (DestinationKind::None, 0);
        (self.memory, self.bytes) = (MemoryKind::None, 0);
    }

    /// Cycle of a stage.
    pub fn stage(&self, stage: Stage) -> Cycle {
        self.stages[stage]
    }

    /// Byte offset of the instruction that follows it in the code.
    pub(crate) fn following_pc(&self) -> u32 {
        self.pc.wrapping_add(u32::from(self.word_count) * WORD_BYTES)
    }

    /// Checks that both forms can hold the record, for waves with these lanes.
    ///
    /// # Errors
    /// A description of what is inconsistent.
    pub fn check(&self, all_lanes: u64) -> Result<(), String> {
        let width = all_lanes.count_ones() as usize;
        let late = |&at: &Cycle| at > self.cycle;
        if self.stages.0.iter().any(late) || self.stalls.iter().any(|stall| late(&stall.from)) {
            return Err("a stage or stall lies behind the record's own cycle".into());
        }
        if self.ends && self.next_pc != 0 {
            return Err("the wave ends, and there is a next pc".into());
        }
        if self.destination == DestinationKind::None && (self.index != 0 || !self.values.is_empty()) {
            return Err("there are values without a destination".into());
        }
        let access = usize::from(self.memory != MemoryKind::None);
        let tile = usize::from(self.memory.is_tile());
        if self.addresses.len() != access * width || self.strides.len() != tile * width {
            return Err("the rows of addresses and strides are not those of the access".into());
        }
        if access == 0 && (self.device || self.bytes != 0 || !self.sent.is_empty()) {
            return Err("there is something of an access without one".into());
        }
        match self.values.len().max(self.sent.len()) / width {
            0..=255 => Ok(()),
            rows => Err(format!("{rows} rows, and there are 255 at most")),
        }
    }

    /// Sort key of the records of a file.
    pub fn order(&self) -> (Cycle, u32, u32, u64) {
        (self.cycle, self.core, self.slot, self.sequence)
    }
}

/// The end of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// How the run ended.
    pub how: How,
    /// Cycle of the end.
    pub cycle: Cycle,
    /// Records of the file.
    pub records: u64,
    /// Why it ended, in words.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_is_cleared_is_as_new() {
        // No `..` here, so that a new field fails to compile until the test covers it.
        let mut record = Record {
            cycle: 1,
            core: 2,
            slot: 3,
            workgroup: [4, 5, 6],
            wave: 7,
            sequence: 8,
            pc: 9,
            words: [10, 11],
            word_count: 2,
            active: 12,
            effective: 13,
            next_pc: 14,
            ends: true,
            open: true,
            stages: PerStage([15; STAGES.len()]),
            destination: DestinationKind::Predicate,
            index: 16,
            values: vec![17],
            memory: MemoryKind::Atomic,
            device: true,
            bytes: 18,
            addresses: vec![19],
            strides: vec![20],
            sent: vec![21],
            stalls: vec![Stall { reason: Wait::Turn, from: 22, to: 23 }],
        };
        record.clear();
        assert_eq!(record, Record::default());
    }
}
