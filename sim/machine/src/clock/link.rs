//! A registered link between two blocks: bounded, in order, with the same latency in both directions.
//!
//! What is pushed in cycle t can be popped from cycle t + latency on. The credit of an entry popped in cycle
//! t can be used from t + latency on. Neither end can see the other sooner, so the two ends may be simulated
//! in any order, or on different threads, for up to `latency` cycles at a time. [`exchange`] then carries
//! across what was sent, at the boundary of such a quantum. This is invariant 5 of ARCHITECTURE.md.

use super::{Cycle, may_plan};
use std::collections::VecDeque;
use wave_capture::{Capture, Misfit};

/// Sending end of a link.
#[derive(Debug, Clone, Capture)]
#[sound]
pub struct LinkTx<T> {
    #[spec]
    latency: Cycle,
    #[spec]
    capacity: usize,
    credits: usize,
    sent: VecDeque<(Cycle, T)>,
    credits_on_the_way: VecDeque<Cycle>,
}

/// Receiving end of a link.
#[derive(Debug, Clone, Capture)]
#[sound]
pub struct LinkRx<T> {
    #[spec]
    latency: Cycle,
    #[spec]
    capacity: usize,
    arrivals: VecDeque<(Cycle, T)>,
    credits_returned: VecDeque<Cycle>,
}

/// Makes a link that holds at most `capacity` entries, counting those on the wire and at the receiver.
///
/// # Panics
/// If `capacity` or `latency` is 0: a registered link has at least one of each.
pub fn link<T>(capacity: usize, latency: Cycle) -> (LinkTx<T>, LinkRx<T>) {
    assert!(capacity > 0 && latency > 0, "a link has at least one entry and one cycle");
    (
        LinkTx {
            latency,
            capacity,
            credits: capacity,
            sent: VecDeque::with_capacity(capacity),
            credits_on_the_way: VecDeque::with_capacity(capacity),
        },
        LinkRx {
            latency,
            capacity,
            arrivals: VecDeque::with_capacity(capacity),
            credits_returned: VecDeque::with_capacity(capacity),
        },
    )
}

impl<T> LinkTx<T> {
    fn sound(&self) -> Result<(), Misfit> {
        let entries = self.sent.len() + self.credits_on_the_way.len();
        Misfit::in_range(self.credits <= self.capacity && self.credits + entries <= self.capacity, "credits")
    }

    /// Entries that are not carried across.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &T> {
        self.sent.iter().map(|(_, entry)| entry)
    }

    /// True if the other end has the rest of the entries and credits, and nothing comes later than it can.
    pub(crate) fn agrees_with(&self, rx: &LinkRx<T>, now: Cycle) -> bool {
        let sent = self.sent.iter().chain(&rx.arrivals).map(|&(at, _)| at);
        let mut cycles = sent.chain(self.credits_on_the_way.iter().chain(&rx.credits_returned).copied());
        let here = self.credits + self.sent.len() + self.credits_on_the_way.len();
        here + rx.arrivals.len() + rx.credits_returned.len() == self.capacity
            && cycles.all(|at| may_plan(now, at))
    }

    /// True if an entry can be pushed in this cycle.
    #[inline]
    pub fn ready(&mut self, now: Cycle) -> bool {
        while self.credits_on_the_way.front().is_some_and(|&at| at <= now) {
            self.credits_on_the_way.pop_front();
            self.credits += 1;
        }
        self.credits > 0
    }

    /// Sends an entry.
    ///
    /// # Panics
    /// If the link is not [`ready`](Self::ready): a push without room is a bug of the simulator.
    #[inline]
    pub fn push(&mut self, now: Cycle, entry: T) {
        self.push_departing(now, now, entry);
    }

    /// Sends an entry that departs in a later cycle, such as a packet with its last byte. It takes its credit
    /// now.
    ///
    /// # Panics
    /// If the link is not [`ready`](Self::ready).
    #[inline]
    pub(crate) fn push_departing(&mut self, now: Cycle, departs: Cycle, entry: T) {
        assert!(self.ready(now), "push into a link without room");
        self.credits -= 1;
        self.sent.push_back((departs + self.latency, entry));
    }

    /// True if entries wait to be carried across.
    #[inline]
    pub(crate) fn has_sent(&self) -> bool {
        !self.sent.is_empty()
    }

    /// The first cycle from `from` on in which a push could succeed, as far as this end knows.
    #[inline]
    pub(crate) fn next_ready(&self, from: Cycle) -> Option<Cycle> {
        if self.credits > 0 { Some(from) } else { self.credits_on_the_way.front().map(|&at| at.max(from)) }
    }
}

impl<T> LinkRx<T> {
    fn sound(&self) -> Result<(), Misfit> {
        Misfit::in_range(self.arrivals.len() + self.credits_returned.len() <= self.capacity, "arrivals")
    }

    /// Entries that have been carried across.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &T> {
        self.arrivals.iter().map(|(_, entry)| entry)
    }

    /// The oldest entry that has arrived.
    #[inline]
    pub fn peek(&self, now: Cycle) -> Option<&T> {
        match self.arrivals.front() {
            Some((at, entry)) if *at <= now => Some(entry),
            _ => None,
        }
    }

    /// Takes the oldest entry that has arrived.
    #[inline]
    pub fn pop(&mut self, now: Cycle) -> Option<T> {
        self.peek(now)?;
        self.credits_returned.push_back(now + self.latency);
        self.arrivals.pop_front().map(|(_, entry)| entry)
    }

    /// The cycle in which the oldest entry arrives; `None` if none is on its way.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Option<Cycle> {
        self.arrivals.front().map(|(at, _)| *at)
    }

    /// True if credits wait to be carried across.
    #[inline]
    pub(crate) fn has_returned(&self) -> bool {
        !self.credits_returned.is_empty()
    }

    /// Entries on their way or waiting, as far as this end knows.
    pub fn len(&self) -> usize {
        self.arrivals.len()
    }

    /// True if no entry is on its way or waiting, as far as this end knows.
    pub fn is_empty(&self) -> bool {
        self.arrivals.is_empty()
    }
}

/// Carries entries and credits across. Call it at least once in every `latency` cycles, between cycles, while
/// neither end runs.
#[inline]
pub fn exchange<T>(tx: &mut LinkTx<T>, rx: &mut LinkRx<T>) {
    carry(&mut tx.sent, &mut rx.arrivals);
    carry(&mut rx.credits_returned, &mut tx.credits_on_the_way);
}

/// Appends what was sent to what is there. The target is usually empty, and then nothing is copied.
#[inline]
fn carry<T>(sent: &mut VecDeque<T>, there: &mut VecDeque<T>) {
    if sent.is_empty() {
        return;
    }
    if there.is_empty() {
        std::mem::swap(sent, there);
    } else {
        there.append(sent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_arrives_after_exactly_the_latency() {
        let (mut tx, mut rx) = link(4, 3);
        tx.push(10, 'x');
        exchange(&mut tx, &mut rx);
        assert_eq!(rx.pop(12), None);
        assert_eq!(rx.pop(13), Some('x'));
    }

    #[test]
    fn a_credit_returns_after_exactly_the_latency() {
        let (mut tx, mut rx) = link(1, 3);
        tx.push(0, 'x');
        assert!(!tx.ready(100));
        exchange(&mut tx, &mut rx);
        assert_eq!(rx.pop(5), Some('x'));
        exchange(&mut tx, &mut rx);
        assert!(!tx.ready(7));
        assert_eq!(tx.next_ready(7), Some(8));
        assert!(tx.ready(8));
    }

    #[test]
    #[should_panic(expected = "without room")]
    fn a_push_without_room_stops_the_run() {
        let (mut tx, _rx) = link(1, 1);
        tx.push(0, 'x');
        tx.push(0, 'y');
    }
}
