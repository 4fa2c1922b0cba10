//! One scheduler of a core and the state that it does not share (rule P2).

use super::collector::{Banks, Collector, Collectors, Waiting};
use super::slot::{Slot, SlotMask};
use super::straight::Recent;
use super::write_ports::WritePorts;
use crate::clock::Cycle;
use crate::registry::{Plugged, WarpScheduler};
use crate::stats::SlotUse;
use wave_capture::Capture;

/// One scheduler of a core.
#[derive(Debug, Capture)]
pub(crate) struct Scheduler {
    /// Its wave slots.
    #[spec]
    pub slots: SlotMask,
    pub last_issued: Slot,
    /// Active set of the policy `two_level`.
    pub active_set: SlotMask,
    /// The policy of a plug-in.
    pub registered: Option<Plugged<dyn WarpScheduler>>,
    /// First cycle in which that policy may choose otherwise by itself; [`NEVER`](crate::clock::NEVER) if none.
    pub changes_at: Cycle,
    pub collectors: Collectors,
    pub banks: Banks,
    pub recent: Recent,
    /// Use to which empty issue slots are charged until the scheduler's state changes.
    pub waits_for: SlotUse,
    /// First cycle whose issue slots are not charged yet.
    pub charged_until: Cycle,
    /// Per unit, the first cycle in which it takes another instruction.
    #[fixed]
    pub unit_free_at: Vec<Cycle>,
    pub write_ports: WritePorts,
}

impl Scheduler {
    /// What the oldest instruction in the collectors waits for. `straight` is the number of collectors that
    /// [`Straight`](super::straight::Straight) occupies.
    pub(super) fn oldest_waits(&self, straight: usize, now: Cycle) -> Option<Waiting> {
        let first: Option<&Collector> = self.collectors.oldest();
        let waiting = first.map(|c| c.waiting);
        let Some(&(age, read)) = straight.checked_sub(1).map(|i| &self.recent[i]) else { return waiting };
        if first.is_some_and(|first| first.age < age) {
            return waiting;
        }
        Some(if read > now { Waiting::Banks(read) } else { Waiting::Unit(read + 1) })
    }
}
