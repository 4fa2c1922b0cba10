//! The columns of each stream of events.

/// A stream of events, with columns of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Instructions that issue or are squashed.
    Issue,
    /// Instructions that retire.
    Retire,
    /// Accesses of memory instructions: a row for each lane that takes part, of a tile a row for each of its rows.
    Memory,
    /// Accesses that the L1 has taken: a row for each line of a memory instruction.
    Line,
    /// Accesses that the slices of the L2 have taken.
    L2,
}

impl Stream {
    /// All streams.
    pub const ALL: [Stream; 5] = [Stream::Issue, Stream::Retire, Stream::Memory, Stream::Line, Stream::L2];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Stream::Issue => "issue",
            Stream::Retire => "retire",
            Stream::Memory => "memory",
            Stream::Line => "line",
            Stream::L2 => "l2",
        }
    }
}

/// Rows of one stream, in the order of cycles and cores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Their stream.
    pub stream: Stream,
    /// Number of the launch, the first being 1.
    pub launch: usize,
    /// The columns, by name. All have as many values.
    pub columns: Vec<(&'static str, Column)>,
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the types say it")]
pub enum Column {
    Bool(Vec<bool>),
    U8(Vec<u8>),
    U32(Vec<u32>),
    U64(Vec<u64>),
}

impl Column {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Column::Bool(values) => values.len(),
            Column::U8(values) => values.len(),
            Column::U32(values) => values.len(),
            Column::U64(values) => values.len(),
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

macro_rules! column_of {
    ($($variant:ident($type:ty),)*) => {$(
        impl From<Vec<$type>> for Column {
            fn from(values: Vec<$type>) -> Column {
                Column::$variant(values)
            }
        }
    )*};
}
column_of!(Bool(bool), U8(u8), U32(u32), U64(u64),);

macro_rules! tables {
    ($($(#[$doc:meta])* $table:ident { $($column:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(super) struct $table {
            $($column: Vec<$type>,)*
        }

        impl $table {
            #[allow(clippy::too_many_arguments, reason = "a row has as many values as the table has columns")]
            pub(super) fn push(&mut self, $($column: $type),*) {
                $(self.$column.push($column);)*
            }

            pub(super) fn len(&self) -> usize {
                self.cycle.len()
            }

            /// The columns, which are empty then.
            pub(super) fn take(&mut self) -> Vec<(&'static str, Column)> {
                vec![$((stringify!($column), Column::from(std::mem::take(&mut self.$column))),)*]
            }
        }
    )*};
}

tables! {
    /// [`Stream::Issue`].
    Issues {
        cycle: u64, core: u32, slot: u32, workgroup: u32, wave: u32, sequence: u64, pc: u32, active: u64, mask: u64,
        squashed: bool,
    }
    /// [`Stream::Retire`].
    Retirements {
        cycle: u64, core: u32, slot: u32, workgroup: u32, wave: u32, sequence: u64, pc: u32,
    }
    /// [`Stream::Memory`].
    Memory {
        cycle: u64, core: u32, slot: u32, workgroup: u32, wave: u32, sequence: u64, pc: u32, instruction: u64, lane: u8,
        address: u32, bytes: u8, writes: bool, atomic: bool, local: bool,
    }
    /// [`Stream::Line`].
    Lines {
        cycle: u64, core: u32, slot: u32, workgroup: u32, wave: u32, pc: u32, line: u64, writes: bool, atomic: bool,
        outcome: u8,
    }
    /// [`Stream::L2`].
    SliceAccesses {
        cycle: u64, core: u32, slice: u32, line: u64, sectors: u8, code: bool, writes: bool, atomic: bool, outcome: u8,
    }
}
