//! What several stages of a core share.

use super::account::Account;
use super::grid::Workgroup;
use super::latches::Shadows;
use super::probe::{Stage, StageEvent};
use super::slot::{InFlight, Slot};
use super::spec::Spec;
use super::wave::Waves;
use crate::clock::{Cycle, NEVER};
use wave_capture::Capture;

/// The state of a core that its stages share: a stage is given this, its latches, and what its rules name beside them.
#[derive(Debug, Capture)]
pub(crate) struct Shared {
    #[spec]
    pub spec: Spec,
    /// The wave slots.
    pub waves: Waves,
    /// The workgroup slots.
    #[fixed]
    pub workgroups: Vec<Workgroup>,
    /// What the core counts.
    pub account: Account,
    /// What the run loop goes by.
    pub activity: Activity,
}

/// What the run loop of a core goes by to visit only cycles in which it can do something.
#[derive(Debug, Capture)]
pub(crate) struct Activity {
    /// The current cycle has changed something that a stage of the pipeline may see in this cycle or the next.
    pub progress: bool,
    /// The current cycle has changed something between the load/store unit and the port that no other stage sees.
    pub moved: bool,
    /// Bit s: scheduler s has to look for a wave to issue. Nothing has changed for the others since they last
    /// looked, so they would find none again, for the same reason.
    pub stale: u32,
    /// First cycle in which a stage of the pipeline can act without a message. The load/store unit and the L1 are asked
    /// apart.
    pub wake: Cycle,
    /// The last cycle in which some state changed.
    pub last_activity: Cycle,
}

impl Activity {
    /// Nothing has happened before the cycle `start`.
    pub(super) fn new(start: Cycle) -> Activity {
        Activity { progress: false, moved: false, stale: 0, wake: NEVER, last_activity: start }
    }
}

impl Shared {
    /// Makes the wave's scheduler look again: something about the wave has changed.
    #[inline]
    pub(super) fn touch(&mut self, slot: Slot) {
        self.activity.stale |= 1 << self.waves.waves[slot].scheduler;
    }

    /// Starts a shadow: the wave does not issue from now on, and does not fetch from the next cycle on, until the branch
    /// latency has passed (B1).
    pub(super) fn start_shadow(&mut self, now: Cycle, slot: Slot, shadows: &mut Shadows) {
        self.waves.shadow |= 1 << slot;
        self.touch(slot);
        shadows.begin(slot, now + self.spec.branch_latency);
    }

    /// An instruction in flight reaches a stage.
    #[inline]
    pub(super) fn step_of(&self, cycle: Cycle, it: InFlight, stage: Stage) -> StageEvent {
        let InFlight { slot, sequence, word } = it;
        StageEvent { cycle, core: self.spec.index, slot, sequence, word, stage }
    }
}
