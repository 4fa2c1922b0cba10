//! Wave slots, and the instructions of a wave that are in flight: what every stage names.

use wave_capture::Capture;

/// A wave slot of a core, 0 to 63.
pub type Slot = usize;

/// One bit per wave slot.
pub type SlotMask = u64;

/// An instruction of a wave between its issue and its retirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub struct InFlight {
    /// Wave slot.
    pub slot: Slot,
    /// Position in the wave's issue order.
    pub sequence: u64,
    /// Word of the kernel.
    pub word: u32,
}

/// The lanes, or wave slots, of a mask, lowest first.
pub(crate) fn lanes_of(mask: u64) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(lane)
    })
}
