//! The register file of a core: general registers and matrix fragments. Predicates are in the waves.

use super::journal::Journal;
use super::spec::{CoreLaunch, Spec};
use super::write_ports::MAX_RESULT_ROWS;
use crate::alu::FRAGMENT_ROWS;
use wave_capture::Capture;
use wave_isa::MMA_FRAGMENTS;

/// The values in a core's registers.
#[derive(Debug, Capture)]
pub(crate) struct RegisterFile {
    /// Rows of as many words as a wave has lanes: register r of slot s is row s × registers of a wave + r.
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
    /// Registers for all usable slots of a core.
    pub(super) fn new(spec: &Spec, launch: &CoreLaunch) -> RegisterFile {
        let slots = spec.usable_slots.count_ones() as usize;
        let fragment_slots = if launch.uses_mma { slots } else { 0 };
        RegisterFile {
            registers: vec![0; slots * spec.rows_per_wave * spec.width],
            fragments: vec![0; fragment_slots * 3 * MMA_FRAGMENTS * FRAGMENT_ROWS * spec.width],
            result: vec![0; MAX_RESULT_ROWS * spec.width],
            journal: Journal::new(launch.keeps_journal),
        }
    }
}
