//! Where a wave stands, for an executor that takes it over.

use super::divergence::Divergence;
use super::uop::MicroOps;
use crate::clock::Cycle;
use wave_isa::PREDICATES;

/// A wave part-way that has not ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing<'a> {
    /// Its index in its workgroup.
    pub(crate) id: u32,
    /// Instructions that it has executed.
    pub(crate) issued: u64,
    /// Active mask, divergence stack and call stack.
    pub(crate) control: &'a Divergence,
    /// Lanes in which each predicate is true.
    pub(crate) predicates: [u64; PREDICATES],
    /// The word of the kernel that it executes next, or the barrier at which it waits.
    pub(crate) word: u32,
    /// It has executed the barrier at its word, and waits for the others of its workgroup.
    pub(crate) at_barrier: bool,
    /// Rows of as many words as a wave has lanes, one for each register.
    pub(crate) registers: &'a [u32],
    /// Matrix fragments by kind (A, B, C), fragment and element; empty if the kernel uses none.
    pub(crate) fragments: &'a [u32],
}

/// Where a resident wave of a core stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stand {
    /// Place of its workgroup among those of the machine; place p is in core p mod cores.
    pub(crate) place: usize,
    /// Its workgroup, and its index there.
    pub(crate) group: [u32; 3],
    pub(crate) wave: u32,
    /// The cycle in which it has started.
    pub(crate) since: Cycle,
    /// Instructions that it has issued.
    pub(crate) issued: u64,
    /// The word of the kernel that it issues next.
    pub(crate) word: u32,
    /// Its scheduler among those of the machine, and how many of the waves there are older.
    pub(crate) scheduler: usize,
    pub(crate) rank: usize,
}

impl Standing<'_> {
    /// The word that it issues next: a barrier at which it waits has issued.
    pub(super) fn next_word(&self, ops: &MicroOps) -> u32 {
        self.word + if self.at_barrier { ops.get(self.word).words } else { 0 }
    }
}
