//! Answers on their way to the load/store unit.

use super::Access;
use crate::clock::Cycle;
use crate::memory::message::{LineData, MAX_LINE_BYTES};

/// What a response says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseKind {
    /// A load's sectors.
    Loaded,
    /// A store, or the result of an atomic that the L1 performed, has reached the L2.
    Stored,
    /// An atomic's old words.
    AtomicOld,
    /// A line that was dirty has reached the L2; in place of the owner, the epoch in which it became so.
    WrittenBack,
}

/// The answer to an access.
#[derive(Debug, Clone, Copy)]
pub struct Response<'a> {
    /// Owner of the access.
    pub owner: u32,
    /// What it says.
    pub kind: ResponseKind,
    /// Byte address of the line.
    pub line: u64,
    /// Sectors of the access.
    pub sectors: u8,
    /// The sectors or old words in their places; other bytes mean nothing.
    pub data: &'a LineData,
}

/// A place in a queue of responses.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    ready_at: Cycle,
    owner: u32,
    kind: ResponseKind,
    sectors: u8,
    line: u64,
    pub(super) data: LineData,
}

impl Slot {
    /// Sets everything but the data.
    #[inline]
    pub(super) fn head(&mut self, ready_at: Cycle, kind: ResponseKind, owner: u32, line: u64, sectors: u8) {
        self.ready_at = ready_at;
        self.kind = kind;
        self.owner = owner;
        self.line = line;
        self.sectors = sectors;
    }

    /// The same for an access.
    #[inline]
    pub(super) fn fill(&mut self, ready_at: Cycle, kind: ResponseKind, access: &Access, sectors: u8) {
        self.head(ready_at, kind, access.owner, access.line, sectors);
    }

    /// The first cycle in which it may be taken.
    #[inline]
    pub(super) fn ready_at(&self) -> Cycle {
        self.ready_at
    }

    #[inline]
    pub(super) fn response(&self) -> Response<'_> {
        Response {
            owner: self.owner,
            kind: self.kind,
            line: self.line,
            sectors: self.sectors,
            data: &self.data,
        }
    }
}

/// A bounded queue whose entries are written in place.
#[derive(Debug, Clone)]
pub(super) struct ResponseQueue {
    slots: Vec<Slot>,
    first: usize,
    length: usize,
}

impl ResponseQueue {
    pub(super) fn new(capacity: usize) -> ResponseQueue {
        let empty = Slot {
            ready_at: 0,
            owner: 0,
            kind: ResponseKind::Stored,
            sectors: 0,
            line: 0,
            data: [0; MAX_LINE_BYTES],
        };
        ResponseQueue { slots: vec![empty; capacity], first: 0, length: 0 }
    }

    /// Entries that can still be pushed.
    #[inline]
    pub(super) fn room(&self) -> usize {
        self.slots.len() - self.length
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Adds an entry for the caller to fill in, if there is room.
    #[inline]
    pub(super) fn push(&mut self) -> Option<&mut Slot> {
        if self.room() == 0 {
            return None;
        }
        let i = (self.first + self.length) % self.slots.len();
        self.length += 1;
        Some(&mut self.slots[i])
    }

    /// The oldest entry.
    #[inline]
    pub(super) fn front(&self) -> Option<&Slot> {
        (self.length > 0).then(|| &self.slots[self.first])
    }

    /// Drops the oldest entry.
    #[inline]
    pub(super) fn pop(&mut self) {
        debug_assert!(self.length > 0);
        self.first = (self.first + 1) % self.slots.len();
        self.length -= 1;
    }
}
