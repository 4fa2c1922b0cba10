//! Releases of device and system scope: a fence waits until the L2 has acknowledged every store that its core
//! made before it (rule B6).
//!
//! Happens-before is transitive, so a release covers what the fence's wave has observed, not only what it
//! wrote: all stores of the core that the L2 has not acknowledged when the fence is reached. Two counters
//! suffice. Each store joins one of two epochs. A *round* closes the open epoch and opens the other, which is
//! empty; the round ends when the closed epoch has no store left. A fence that is reached during a round
//! waits for the next one, so later stores delay a fence by at most one round.
//!
//! A release of system scope then asks every L2 slice to write its dirty lines to memory and waits for the
//! last answer. Fences that come this far while such a request runs share the next one.

use super::probe::{Probe, send};
use super::slot::{Slot, SlotMask};
use crate::clock::Cycle;
use crate::memory::{MemoryPort, Request};
use wave_capture::{Capture, Misfit};

/// One of the two epochs.
pub(crate) type Epoch = usize;

/// Stores on their way to the L2, and the fences that wait for them.
#[derive(Debug, Clone, Default, Capture)]
#[sound]
pub(crate) struct Releases {
    /// Per epoch, what the L2 has not acknowledged: stores, and results of atomics that the L1 performed. In
    /// an L1 that writes back: the lines that they made dirty.
    pending: [u32; 2],
    /// The epoch that stores join.
    open: Epoch,
    /// Fences that wait for the closed epoch. A round runs while there is one.
    round: SlotMask,
    /// Fences that wait for the next round.
    next: SlotMask,
    /// Fences whose round is over, until they issue.
    granted: SlotMask,
    /// Slices of the L2.
    #[spec]
    slices: u32,
    /// Slices still to be asked for a release.
    to_ask: u32,
    /// Slices that have not answered.
    unanswered: u32,
    /// Fences that the running request to the L2 serves.
    asked: SlotMask,
    /// Fences that the next request will serve.
    to_be_asked: SlotMask,
    /// Fences whose request is answered, until they issue.
    answered: SlotMask,
    /// Fences that may issue in this cycle.
    passing: SlotMask,
}

impl Releases {
    /// Nothing on the way, for a machine with `slices` L2 slices.
    pub(crate) fn new(slices: u32) -> Releases {
        Releases { slices, ..Releases::default() }
    }

    fn sound(&self) -> Result<(), Misfit> {
        Misfit::in_range(self.open <= 1, "open")?;
        Misfit::in_range(self.pending.iter().all(|&stores| stores <= u32::MAX / 4), "pending")?;
        Misfit::in_range(self.to_ask <= self.unanswered && self.unanswered <= self.slices, "unanswered")
    }

    /// Refuses fences of other slots than these (bits), and counts that are not those of the requests on their way:
    /// `asking` releases of slices.
    /// `unacknowledged` are the stores on their way, by epoch.
    pub(crate) fn check(
        &self,
        slots: SlotMask,
        asking: usize,
        unacknowledged: [u32; 2],
    ) -> Result<(), Misfit> {
        Misfit::agrees(self.pending == unacknowledged, "pending")?;
        let masks =
            [self.round, self.next, self.granted, self.asked, self.to_be_asked, self.answered, self.passing];
        Misfit::in_range(masks.iter().all(|mask| mask & !slots == 0), "round")?;
        Misfit::agrees((self.unanswered - self.to_ask) as usize == asking, "unanswered")
    }

    /// The epoch that a store joins now. Its acknowledgement must carry the epoch.
    #[inline]
    pub(crate) fn open(&self) -> Epoch {
        self.open
    }

    /// Counts a store of the open epoch.
    #[inline]
    pub(crate) fn store(&mut self) {
        self.pending[self.open] += 1;
    }

    /// Counts an acknowledgement. Fences see it in the next cycle.
    #[inline]
    pub(crate) fn acknowledge(&mut self, epoch: Epoch) {
        self.pending[epoch] -= 1;
    }

    /// Bit e: epoch e is being closed. An L1 that writes back has to send its lines.
    #[inline]
    pub(crate) fn closing(&self) -> u8 {
        if self.round == 0 { 0 } else { 1 << (1 - self.open) }
    }

    /// Looks once a cycle at what has come until the end of the cycle before: ends rounds and requests to the L2, and
    /// begins those that the fences in `reached` need. `system`: those of system scope. Returns the fences that may
    /// issue.
    pub(crate) fn look(&mut self, reached: SlotMask, system: SlotMask) -> SlotMask {
        if self.round != 0 && self.pending[1 - self.open] == 0 {
            self.granted |= self.round;
            self.round = std::mem::take(&mut self.next);
            if self.round != 0 {
                self.open = 1 - self.open;
                // All stores made during the round may be acknowledged already.
                if self.pending[1 - self.open] == 0 {
                    self.granted |= std::mem::take(&mut self.round);
                }
            }
        }
        if self.to_ask == 0 && self.unanswered == 0 {
            self.answered |= std::mem::take(&mut self.asked);
        }
        let fences = reached & !(self.answered | self.asked | self.to_be_asked);
        let waiting = if self.stores() == 0 { 0 } else { fences & !self.granted };
        let ready = fences & !waiting;
        let new = waiting & !(self.round | self.next);
        if self.round != 0 {
            self.next |= new;
        } else if new != 0 {
            self.open = 1 - self.open;
            self.round = new;
        }
        self.to_be_asked |= ready & system;
        if self.asked == 0 && self.to_be_asked != 0 {
            self.asked = std::mem::take(&mut self.to_be_asked);
            (self.to_ask, self.unanswered) = (self.slices, self.slices);
        }
        self.passing = ready & !system | reached & self.answered;
        self.passing
    }

    /// True if a round has ended, or a request to the L2, and [`look`](Releases::look) has yet to see it.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        let round = self.round != 0 && self.pending[1 - self.open] == 0;
        round || self.asked != 0 && self.to_ask == 0 && self.unanswered == 0
    }

    /// True if the fence at the head of this wave may issue.
    #[inline]
    pub(crate) fn passes(&self, slot: Slot) -> bool {
        self.passing >> slot & 1 != 0
    }

    /// True if a slice is still to be asked.
    #[inline]
    pub(crate) fn wants_port(&self) -> bool {
        self.to_ask > 0
    }

    /// Asks one L2 slice for a release if one is still to be asked and the port is free.
    pub(super) fn ask<P: Probe>(
        &mut self,
        now: Cycle,
        line_bytes: u64,
        port: &mut MemoryPort,
        probe: &mut P,
    ) {
        if self.wants_port() && port.ready(now) {
            // Line s of device memory lies in slice s (M4).
            let request = Request::release(u64::from(self.take_slice()) * line_bytes);
            send(now, port, request, probe);
        }
    }

    /// Takes the slice to be asked now; slice 0 comes last.
    fn take_slice(&mut self) -> u32 {
        self.to_ask -= 1;
        self.to_ask
    }

    /// Counts a slice's answer. Fences see it in the next cycle.
    pub(crate) fn answer(&mut self) {
        self.unanswered -= 1;
    }

    /// Ends the grants of a fence that issues.
    #[inline]
    pub(crate) fn issue(&mut self, slot: Slot) {
        let others = !(1 << slot);
        self.granted &= others;
        self.answered &= others;
        self.passing &= others;
    }

    /// Stores, or dirty lines, that the L2 has not acknowledged.
    #[inline]
    pub(crate) fn stores(&self) -> u32 {
        self.pending[0] + self.pending[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(releases: &mut Releases) -> Epoch {
        releases.store();
        releases.open()
    }

    #[test]
    fn a_fence_waits_for_every_store_before_it_and_for_none_after() {
        let mut releases = Releases::default();
        assert_eq!(releases.look(1 << 3, 0), 1 << 3, "nothing to wait for");
        let before = store(&mut releases);
        assert_eq!(store(&mut releases), before);
        assert_eq!(releases.look(1 << 3, 0), 0);
        let after = store(&mut releases);
        releases.acknowledge(before);
        assert_eq!(releases.look(1 << 3, 0), 0);
        releases.acknowledge(before);
        assert_eq!(releases.look(1 << 3, 0), 1 << 3);
        assert_eq!(releases.look(1 << 3, 0), 1 << 3, "granted until it issues");
        releases.issue(3);
        assert_eq!(releases.look(1 << 3, 0), 0, "the next one waits for the store after the first");
        releases.acknowledge(after);
        assert_eq!(releases.look(1 << 3, 0), 1 << 3);
    }

    #[test]
    fn fences_that_are_reached_in_a_round_share_the_next() {
        let mut releases = Releases::default();
        let first = store(&mut releases);
        assert_eq!(releases.look(1, 0), 0);
        let second = store(&mut releases);
        assert_eq!(releases.look(0b111, 0), 0);
        let third = store(&mut releases);
        releases.acknowledge(first);
        assert_eq!(releases.look(0b111, 0), 1);
        releases.issue(0);
        // The round also waits for a store made after the two fences, because that store joined the same
        // epoch.
        releases.acknowledge(third);
        assert_eq!(releases.look(0b110, 0), 0);
        releases.acknowledge(second);
        assert_eq!(releases.look(0b110, 0), 0b110);
        assert_eq!(releases.stores(), 0);
    }

    #[test]
    fn fences_that_are_reached_together_share_a_round() {
        let mut releases = Releases::default();
        let first = store(&mut releases);
        assert_eq!(releases.look(0b11, 0), 0);
        store(&mut releases);
        releases.acknowledge(first);
        assert_eq!(releases.look(0b11, 0), 0b11);
    }

    #[test]
    fn a_release_of_the_system_asks_every_slice_after_its_round() {
        let mut releases = Releases::new(2);
        let first = store(&mut releases);
        assert_eq!((releases.look(1, 1), releases.wants_port()), (0, false));
        releases.acknowledge(first);
        // Its round is over, so it asks the L2.
        assert_eq!((releases.look(1, 1), releases.wants_port()), (0, true));
        assert_eq!((releases.take_slice(), releases.take_slice()), (1, 0));
        assert_eq!((releases.look(1, 1), releases.wants_port()), (0, false));
        releases.answer();
        // A fence that comes now needs a new request: the L2 may have begun before its stores arrived.
        assert_eq!(releases.look(0b10_0001, 0b10_0001), 0);
        releases.answer();
        assert_eq!((releases.look(0b10_0001, 0b10_0001), releases.wants_port()), (1, true));
        releases.issue(0);
        assert_eq!((releases.take_slice(), releases.take_slice()), (1, 0));
        releases.answer();
        releases.answer();
        assert_eq!(releases.look(0b10_0000, 0b10_0000), 0b10_0000);
    }

    #[test]
    fn a_next_round_that_has_nothing_to_wait_for_is_over_at_once() {
        let mut releases = Releases::default();
        let first = store(&mut releases);
        assert_eq!(releases.look(0b01, 0), 0);
        let second = store(&mut releases);
        assert_eq!(releases.look(0b11, 0), 0);
        releases.acknowledge(second);
        assert_eq!(releases.look(0b11, 0), 0);
        releases.acknowledge(first);
        assert_eq!(releases.look(0b11, 0), 0b11);
    }
}
