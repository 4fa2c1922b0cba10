//! Why an instruction waits: the same words in traces, reports, statistics and for observers.

use super::collector::Waiting;
use super::report::WaitsFor;
use crate::stats::SlotUse;

/// Declares [`Wait`], with the code of each reason in traces and its name.
macro_rules! waits {
    ($($(#[doc = $doc:literal])+ $variant:ident = $code:literal, $text:literal;)*) => {
        /// Why the next instruction of a wave has not issued, or why one that has does not leave its collector.
        /// traces/format.md defines each. In the issue stage, the first reason in this order that applies counts.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, wave_capture::Capture)]
        #[repr(u8)]
        pub enum Wait { $($(#[doc = $doc])+ $variant = $code,)* }

        impl Wait {
            /// Every reason, in the order of the codes.
            pub const ALL: &'static [Wait] = &[$(Wait::$variant,)*];

            /// The reason with this code.
            pub fn from_code(code: u8) -> Option<Wait> {
                match code { $($code => Some(Wait::$variant),)* _ => None }
            }

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Wait::$variant => $text,)* }
            }

            /// The reason with this name.
            pub fn from_name(name: &str) -> Option<Wait> {
                match name { $($text => Some(Wait::$variant),)* _ => None }
            }
        }
    };
}

waits! {
    /// At a barrier.
    Barrier = 1, "barrier";
    /// In the shadow of a control or synchronisation instruction.
    Branch = 2, "branch";
    /// Waits for its words.
    Fetch = 3, "fetch";
    /// Waits for the operand reads of an earlier instruction.
    Operand = 4, "operand";
    /// Waits for a load or atomic.
    Memory = 5, "memory";
    /// Waits for an execution unit's result.
    Scoreboard = 6, "scoreboard";
    /// Waits for the accesses that a fence, wait or barrier covers, or for those before its fault.
    Fence = 7, "fence";
    /// Waits for a collector.
    Collector = 8, "collector";
    /// Waits for its scheduler's choice.
    Turn = 9, "turn";
    /// In its collector, for its unit.
    Unit = 10, "unit";
    /// In its collector, for a write port.
    WritePort = 11, "write_port";
    /// In its collector, for the load/store unit.
    Lsu = 12, "lsu";
}

impl Wait {
    /// Number of reasons in the issue stage: the first ones.
    pub const AT_ISSUE: usize = 9;

    /// Place in [`Wait::ALL`].
    pub fn index(self) -> usize {
        self as usize - 1
    }

    /// The use of issue slots that is closest to it.
    pub fn slot_use(self) -> SlotUse {
        match self {
            Wait::Barrier => SlotUse::Barrier,
            Wait::Branch => SlotUse::Branch,
            Wait::Fetch => SlotUse::Fetch,
            Wait::Operand | Wait::Collector => SlotUse::Operand,
            Wait::Memory => SlotUse::Memory,
            Wait::Scoreboard => SlotUse::Scoreboard,
            Wait::Fence => SlotUse::Fence,
            Wait::Turn => SlotUse::WaveLimit,
            Wait::Unit | Wait::WritePort => SlotUse::Unit,
            Wait::Lsu => SlotUse::Lsu,
        }
    }
}

impl Waiting {
    /// Why, in one word.
    pub fn why(self) -> Wait {
        match self {
            Waiting::Banks(_) => Wait::Operand,
            Waiting::Unit(_) => Wait::Unit,
            Waiting::WritePort(_) => Wait::WritePort,
            Waiting::Lsu => Wait::Lsu,
        }
    }
}

impl WaitsFor {
    /// Why, in one word; `None` if all lanes have halted and only instructions in flight are left.
    pub fn why(&self) -> Option<Wait> {
        Some(match self {
            WaitsFor::Flights(_) => return None,
            WaitsFor::Barrier(_) => Wait::Barrier,
            WaitsFor::Operands => Wait::Operand,
            WaitsFor::Fetch => Wait::Fetch,
            WaitsFor::Accesses { .. } => Wait::Fence,
            WaitsFor::Result { memory: true } => Wait::Memory,
            WaitsFor::Result { memory: false } => Wait::Scoreboard,
            WaitsFor::Turn => Wait::Turn,
        })
    }
}
