//! The register file of a core: general registers and matrix fragments. Predicates are in the waves.

use super::context::Context;
use super::journal::Journal;
use super::spec::Spec;
use super::write_ports::MAX_RESULT_ROWS;
use crate::alu::FRAGMENT_ROWS;
use wave_capture::Capture;
use wave_isa::MMA_FRAGMENTS;

/// The values in a core's registers.
#[derive(Debug, Capture)]
pub(crate) struct RegisterFile {
    /// Rows of as many words as a wave has lanes. A wave names the first of its own.
    #[fixed]
    pub registers: Vec<u32>,
    /// Matrix fragments, indexed by slot, kind (A, B, C), fragment and element. Empty if the kernel uses none.
    #[fixed]
    pub fragments: Vec<u32>,
    /// Rows of the result being computed.
    #[scratch]
    pub result: Vec<u32>,
    /// What results overwrite before their time.
    pub journal: Journal,
}

impl RegisterFile {
    /// A file that no context has.
    pub(super) fn new(spec: &Spec) -> RegisterFile {
        RegisterFile {
            registers: Vec::new(),
            fragments: Vec::new(),
            result: vec![0; MAX_RESULT_ROWS * spec.width],
            journal: Journal::new(false),
        }
    }

    /// Divides the file among the wave slots that a context can use.
    pub(super) fn divide(&mut self, context: &Context, width: usize, keeps_journal: bool) {
        let slots = context.usable_slots.count_ones() as usize;
        let fragment_slots = if context.ops.uses_mma { slots } else { 0 };
        // New ones, so that pages of the host which no wave writes stay untouched.
        self.registers = vec![0; slots * context.rows_per_wave() * width];
        self.fragments = vec![0; fragment_slots * 3 * MMA_FRAGMENTS * FRAGMENT_ROWS * width];
        self.journal = Journal::new(keeps_journal);
    }
}
