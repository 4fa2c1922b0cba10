//! Replies that a slice has made and the network has not taken. The data stays in place; what the network
//! needs to know is kept apart.

use crate::clock::Cycle;
use crate::memory::message::{MAX_LINE_BYTES, Reply, ReplyKind};
use std::collections::VecDeque;
use wave_capture::Capture;

/// What the network needs to know of a reply.
#[derive(Debug, Clone, Copy, Capture)]
pub(in crate::memory) struct ReplyHead {
    /// First cycle in which it can go.
    pub(in crate::memory) ready: Cycle,
    /// The receiving core.
    pub(in crate::memory) core: u16,
    slot: u16,
}

/// Replies in the order in which they were made.
#[derive(Debug, Clone, Capture)]
pub(super) struct Replies {
    heads: VecDeque<ReplyHead>,
    /// Grows to the largest number of replies that ever waited.
    slots: Vec<Reply>,
    free: Vec<u16>,
    #[spec]
    capacity: usize,
}

impl Replies {
    /// Room for `capacity` replies.
    pub(super) fn new(capacity: usize) -> Replies {
        Replies { heads: VecDeque::with_capacity(capacity), slots: Vec::new(), free: Vec::new(), capacity }
    }

    pub(super) fn len(&self) -> usize {
        self.heads.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.heads.len() < self.capacity
    }

    #[inline]
    pub(super) fn heads(&self) -> &VecDeque<ReplyHead> {
        &self.heads
    }

    /// Adds a reply that can go from cycle `ready` on. The caller fills in its fields; its data
    /// is 0.
    #[inline]
    pub(super) fn push(&mut self, ready: Cycle, core: u16) -> &mut Reply {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[usize::from(slot)].data = [0; MAX_LINE_BYTES];
                slot
            }
            None => {
                let (kind, data) = (ReplyKind::Data, [0; MAX_LINE_BYTES]);
                self.slots.push(Reply { core, tag: 0, kind, line: 0, sectors: 0, data });
                (self.slots.len() - 1) as u16
            }
        };
        self.heads.push_back(ReplyHead { ready, core, slot });
        let reply = &mut self.slots[usize::from(slot)];
        reply.core = core;
        reply
    }

    /// Takes the reply at an index of [`heads`](Self::heads). It is valid until the next one is made.
    #[inline]
    pub(super) fn take(&mut self, place: usize) -> Option<&Reply> {
        let head = if place == 0 { self.heads.pop_front() } else { self.heads.remove(place) }?;
        self.free.push(head.slot);
        self.slots.get(usize::from(head.slot))
    }
}
