//! What several stages of a core share.

use super::account::Account;
use super::grid::Workgroup;
use super::latches::Shadows;
use super::probe::{Stage, StageEvent};
use super::slot::{InFlight, Slot};
use super::spec::Spec;
use super::wave::Waves;
use crate::clock::Cycle;
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
}

impl Shared {
    /// Starts a shadow: the wave does not issue from now on, and does not fetch from the next cycle on, until the branch
    /// latency has passed (B1).
    pub(super) fn start_shadow(&mut self, now: Cycle, slot: Slot, shadows: &mut Shadows) {
        self.waves.begin_shadow(slot);
        shadows.begin(slot, now + self.spec.branch_latency);
    }

    /// An instruction in flight reaches a stage.
    #[inline]
    pub(super) fn step_of(&self, cycle: Cycle, it: InFlight, stage: Stage) -> StageEvent {
        let InFlight { slot, sequence, word } = it;
        StageEvent { cycle, core: self.spec.index, slot, sequence, word, stage }
    }
}
