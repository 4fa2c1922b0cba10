//! The stages of the pipeline, by one name for observers, traces and the comparison with the RTL.

use wave_capture::Capture;

/// A step of an instruction through the pipeline. The order is the order of the stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Capture)]
pub enum Stage {
    /// Its words were requested from the instruction cache.
    Fetch,
    /// It entered the instruction buffer.
    Decode,
    /// It left the instruction buffer.
    Issue,
    /// Its last operand row was read.
    Operands,
    /// It entered its execution unit or the load/store unit.
    Execute,
    /// It became the head of the load/store unit. Observers are told this as [`super::probe::Event::Access`].
    Access,
    /// The first row of its result was written. For a unit's result it is reported at retirement, with this
    /// earlier cycle.
    WriteBack,
    /// It became architecturally visible; its last row was written or its access performed.
    Retire,
}

impl Stage {
    /// Position in the order in which the stages of a cycle work (rule P1): consumers first. If two stages
    /// differ in one cycle, the later one may be a consequence of the earlier.
    pub fn turn(self) -> usize {
        match self {
            Stage::WriteBack => 0,
            Stage::Retire => 1,
            Stage::Access => 2,
            Stage::Execute => 3,
            Stage::Operands => 4,
            Stage::Issue => 5,
            Stage::Decode => 6,
            Stage::Fetch => 7,
        }
    }

    /// Its name in files.
    pub const fn key(self) -> &'static str {
        match self {
            Stage::Fetch => "fetch",
            Stage::Decode => "decode",
            Stage::Issue => "issue",
            Stage::Operands => "operands",
            Stage::Execute => "execute",
            Stage::Access => "access",
            Stage::WriteBack => "write_back",
            Stage::Retire => "retire",
        }
    }

    /// Its name for readers.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Operands => "operand read",
            Stage::WriteBack => "write-back",
            other => other.key(),
        }
    }
}
