//! Faults in records: their numbers, and what to call them.

use wave_isa::program::FaultKind;

/// What the faults are called, in the order of their numbers (`fault_e` of the RTL).
const NAMES: [&str; 8] = [
    "an illegal instruction",
    "an else, endif, break, continue or endloop without its if or loop",
    "too many nested ifs and loops",
    "too many nested calls",
    "a return with other ifs and loops open than at the call",
    "a barrier that only some of the live lanes reach",
    "an access outside its memory",
    "an atomic at an address that is no multiple of 4",
];

/// Number of a fault.
pub(super) fn number(kind: &FaultKind) -> u32 {
    match kind {
        FaultKind::IllegalInstruction(_) => 0,
        FaultKind::DivergenceUnderflow => 1,
        FaultKind::DivergenceOverflow { .. } => 2,
        FaultKind::CallOverflow { .. } => 3,
        FaultKind::ReturnDepth => 4,
        FaultKind::BarrierInDivergence => 5,
        FaultKind::OutOfBounds { .. } => 6,
        FaultKind::MisalignedAtomic { .. } => 7,
    }
}

/// What a fault with this number is called.
pub(super) fn name(number: u32) -> String {
    match NAMES.get(number as usize) {
        Some(name) => (*name).to_owned(),
        None => format!("a fault of kind {number}, which the simulator does not have"),
    }
}

/// True if the load/store unit finds the fault, and issue does not.
pub(super) fn is_of_access(number: u32) -> bool {
    matches!(number, 6 | 7)
}
