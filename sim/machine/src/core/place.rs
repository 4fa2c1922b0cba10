//! Where an instruction is between its issue and its retirement.

use super::collector::Waiting;
use crate::clock::Cycle;
use crate::memory::Reject;

/// Where an instruction in flight is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In an operand collector, and what it waits for.
    Collector(Waiting),
    /// In an execution unit; it retires in this cycle.
    Unit(Cycle),
    /// In the queue of the load/store unit, behind so many others.
    Queue(usize),
    /// Its passes over the banks of local memory go on up to this cycle.
    LocalBanks(Cycle),
    /// Local memory brings its values in this cycle.
    LocalResult(Cycle),
    /// In device memory: of `lines` line accesses the L1 has taken `sent`, and has not answered `outstanding` of a
    /// load or returning atomic.
    Lines {
        /// Line accesses that the L1 has taken.
        sent: usize,
        /// Line accesses of the instruction.
        lines: usize,
        /// Taken and not answered.
        outstanding: u32,
        /// The load/store unit has as many loads outstanding as it can, so the next one does not go on.
        lacks_entry: bool,
        /// Why the L1 does not take the next one, if it does not.
        rejects: Option<Reject>,
    },
    /// Its lines have come, and its passes over the banks of the L1 go on up to this cycle.
    DataBanks(Cycle),
    /// Its values have come and wait to be written.
    Return,
}
