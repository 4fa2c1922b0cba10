//! Responses of the L1 to the load/store unit.

use crate::clock::{Cycle, NEVER};
use crate::config::L1Parameters as Parameters;
use crate::memory::bounds::Bounds;
use wave_capture::{Capture, Misfit};

/// Kinds of responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub(crate) enum ResponseKind {
    /// The sectors of a load are available.
    Loaded,
    /// A store, or the result of an atomic that the L1 performed, has reached the L2.
    Stored,
    /// The old words of an atomic are available.
    AtomicOld,
    /// A dirty line has reached the L2. `owner` is the epoch in which the line became dirty.
    WrittenBack,
}

/// The response to an access. Its values went to the owner when they were served: see
/// [`L1::access`](super::L1::access).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub(crate) struct Response {
    /// Owner of the access.
    pub owner: u32,
    /// Kind of response.
    pub kind: ResponseKind,
}

/// A bounded queue of responses, each with the first cycle in which it may be taken.
#[derive(Debug, Clone, Capture)]
#[sound]
struct Queue {
    #[fixed]
    slots: Vec<(Cycle, Response)>,
    first: usize,
    length: usize,
    /// First cycle in which the oldest may be taken; [`NEVER`] if there is none.
    ready_at: Cycle,
}

impl Queue {
    fn new(capacity: usize) -> Queue {
        let empty = (NEVER, Response { owner: 0, kind: ResponseKind::Stored });
        Queue { slots: vec![empty; capacity], first: 0, length: 0, ready_at: NEVER }
    }

    fn sound(&self) -> Result<(), Misfit> {
        Misfit::in_range(self.first < self.slots.len().max(1), "first")?;
        Misfit::in_range(self.length <= self.slots.len(), "length")?;
        let ready_at = if self.length == 0 { NEVER } else { self.slots[self.first].0 };
        Misfit::agrees(self.ready_at == ready_at, "ready_at")
    }

    fn iter(&self) -> impl Iterator<Item = &(Cycle, Response)> {
        (0..self.length).map(|place| &self.slots[(self.first + place) % self.slots.len()])
    }

    #[inline]
    fn room(&self) -> usize {
        self.slots.len() - self.length
    }

    #[inline]
    fn push(&mut self, ready_at: Cycle, response: Response) {
        debug_assert!(self.room() > 0);
        let mut i = self.first + self.length;
        if i >= self.slots.len() {
            i -= self.slots.len();
        }
        self.slots[i] = (ready_at, response);
        if self.length == 0 {
            self.ready_at = ready_at;
        }
        self.length += 1;
    }

    #[inline]
    fn pop(&mut self) -> Response {
        debug_assert!(self.length > 0);
        let (_, response) = self.slots[self.first];
        self.first += 1;
        if self.first == self.slots.len() {
            self.first = 0;
        }
        self.length -= 1;
        self.ready_at = if self.length == 0 { NEVER } else { self.slots[self.first].0 };
        response
    }
}

/// All responses of an L1. `tag_banks` a cycle are taken.
#[derive(Debug, Clone, Capture)]
#[sound]
pub(super) struct Responses {
    /// Responses to hits, in order of access.
    hits: Queue,
    /// Responses that replies brought, in order of arrival.
    fills: Queue,
    /// The first cycle in which one may be taken.
    next: Cycle,
}

/// Responses to hits for which there is room beside one for each cycle of the hit latency: hits go on for so many
/// cycles in which replies answer first (M12).
const SPARE_HITS: u32 = 4;

/// Replies whose responses there is room for: that of one reply while those of the one before wait (M12).
const REPLIES: u32 = 2;

impl Responses {
    /// No responses yet.
    pub(super) fn new(l1: &Parameters) -> Responses {
        let hits = (l1.hit_latency_cycles * l1.tag_banks + SPARE_HITS) as usize;
        let fills = (REPLIES * l1.mshr_merges) as usize;
        Responses { hits: Queue::new(hits), fills: Queue::new(fills), next: NEVER }
    }

    fn sound(&self) -> Result<(), Misfit> {
        Misfit::agrees(self.next >= self.hits.ready_at.min(self.fills.ready_at), "next")
    }

    /// All that wait.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Response> {
        self.hits.iter().chain(self.fills.iter()).map(|(_, response)| response)
    }

    /// True if all are ready in a cycle that a run comes to, and name an epoch where they have one.
    pub(super) fn may_be_taken(&self, bounds: &Bounds) -> bool {
        let mut all = self.hits.iter().chain(self.fills.iter());
        let is_epoch =
            |response: &Response| response.kind != ResponseKind::WrittenBack || response.owner <= 1;
        bounds.may_plan(self.next) && all.all(|(at, response)| bounds.may_plan(*at) && is_epoch(response))
    }

    /// Responses to hits that can still be pushed.
    #[inline]
    pub(super) fn room_for_hits(&self) -> usize {
        self.hits.room()
    }

    /// Responses from replies that can still be pushed.
    #[inline]
    pub(super) fn room_for_fills(&self) -> usize {
        self.fills.room()
    }

    /// Adds the response to a hit. There must be room for it.
    #[inline]
    pub(super) fn push_hit(&mut self, ready_at: Cycle, owner: u32, kind: ResponseKind) {
        self.hits.push(ready_at, Response { owner, kind });
        self.next = self.next.min(ready_at);
    }

    /// Adds a response that a reply brought. There must be room for it.
    #[inline]
    pub(super) fn push_fill(&mut self, ready_at: Cycle, owner: u32, kind: ResponseKind) {
        self.fills.push(ready_at, Response { owner, kind });
        self.next = self.next.min(ready_at);
    }

    /// The first cycle in which one may be taken; [`NEVER`] if there is none.
    #[inline]
    pub(super) fn next(&self) -> Cycle {
        self.next
    }

    /// Takes a response of this cycle: the one that has been ready for longest, a reply's before a hit's. The flag is
    /// true for a hit. After the last one of a cycle the others are for the next.
    #[inline]
    pub(super) fn take(&mut self, now: Cycle, is_last: bool) -> Option<(Response, bool)> {
        if now < self.next {
            return None;
        }
        let of_hit = self.hits.ready_at < self.fills.ready_at;
        let response = if of_hit { self.hits.pop() } else { self.fills.pop() };
        self.next = self.hits.ready_at.min(self.fills.ready_at).max(now + u64::from(is_last));
        Some((response, of_hit))
    }

    pub(super) fn len(&self) -> usize {
        self.hits.length + self.fills.length
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
