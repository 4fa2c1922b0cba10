//! Waves that poll: they go round a loop that reads memory and changes nothing, until what they read changes.
//!
//! A wave is one when it comes back to the head of a loop with the same registers, predicates and masks, and has
//! written no byte on the way, its atomics included. What it does next depends on this state and on memory alone. So
//! while memory stays as it is, it goes round for ever, and it gets no turn until some wave has changed memory. If
//! every wave polls or waits at a barrier, and none of them has a change to see, then nothing can happen any more.

use super::turn::{Lanes, Memories, Pause, Watch};
use super::wave::{Doing, Wave};
use crate::core::divergence::Divergence;
use crate::core::report;
use wave_isa::PREDICATES;
use wave_isa::program::Fault;

/// Instructions for which a wave is looked at. A loop that polls may have half of them.
const LOOK: u64 = 256;
/// Most turns between two looks.
const MOST_PATIENCE: u32 = 8;

/// A wave at the head of a loop.
struct Head {
    word: u32,
    control: Divergence,
    predicates: [u64; PREDICATES],
    registers: Vec<u32>,
    changes: u64,
}

impl Head {
    fn of(wave: &Wave, changes: u64) -> Head {
        Head {
            word: wave.word,
            control: wave.control.clone(),
            predicates: wave.predicates,
            registers: wave.registers.clone(),
            changes,
        }
    }

    fn is(&self, wave: &Wave, changes: u64) -> bool {
        self.word == wave.word
            && self.changes == changes
            && self.predicates == wave.predicates
            && self.registers == wave.registers
            && self.control == wave.control
    }
}

/// A turn of a wave that shows whether it polls. If it does, the turn ends there. It stops in front of `word`.
///
/// # Errors
/// As [`Lanes::turn`].
pub(super) fn look(
    lanes: &mut Lanes,
    group: [u32; 3],
    wave: &mut Wave,
    memories: &mut Memories<'_>,
    most: u64,
    word: Option<u32>,
) -> Result<Pause, Box<Fault>> {
    let end = lanes.steps + most.min(LOOK);
    let mut watch = Watch::at(word);
    // The state is kept at the first, second, fourth, … time that the wave goes back, as in Brent's search for cycles.
    let (mut heads, mut kept) = (0_u32, None::<Head>);
    loop {
        let pause = lanes.turn::<true>(group, wave, memories, end - lanes.steps, &mut watch)?;
        if pause != Pause::Looped {
            wave.patience = match wave.patience.1 {
                turns if pause == Pause::Spent => (turns + 1, (2 * turns).min(MOST_PATIENCE)),
                _ => (1, 1),
            };
            return Ok(pause);
        }
        if kept.as_ref().is_some_and(|head| head.is(wave, lanes.changes)) && !watch.beyond {
            wave.doing = Doing::Polls(lanes.changes);
            // Once it is awake it may go on to poll.
            wave.patience = (0, 1);
            return Ok(Pause::Looped);
        }
        heads += 1;
        if heads.is_power_of_two() {
            watch.beyond = false;
            kept = Some(Head::of(wave, lanes.changes));
        }
    }
}

/// What a wave that polls does in a round of its loop; `None` if it does not come back to where it stands.
pub(super) fn round(
    lanes: &mut Lanes,
    group: [u32; 3],
    mut wave: Wave,
    memories: &mut Memories<'_>,
) -> Option<Watch> {
    let start = Head::of(&wave, lanes.changes);
    let mut watch = Watch { records: true, ..Watch::at(None) };
    let end = lanes.steps + LOOK;
    while lanes.turn::<true>(group, &mut wave, memories, end - lanes.steps, &mut watch) == Ok(Pause::Looped) {
        if start.is(&wave, lanes.changes) {
            return Some(watch);
        }
    }
    None
}

impl Watch {
    /// As a report has it, of the wave in this core and slot.
    pub(super) fn doing(self, core: u32, slot: usize) -> report::SpinReport {
        let words = self.words.0..=self.words.1;
        let (reads, writes) =
            (report::SpinReport::locations(self.reads), report::SpinReport::locations(self.writes));
        report::SpinReport { core, slot, again: true, words, reads, writes }
    }
}
