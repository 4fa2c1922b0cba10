//! What waves do that make no progress: an observer of the cycles after a bound, for the report only.

use crate::core::probe::{Event, EventKind, Issued, MemoryEvent, Observer, StageEvent, Wants};
use crate::core::uop::Kind;
use std::collections::{BTreeMap, BTreeSet};
use wave_isa::table::{AccessKind, Space};

pub use crate::core::report::{Doing, Location};

#[derive(Debug, Default)]
struct Seen {
    words: BTreeSet<u32>,
    again: bool,
    reads: BTreeSet<(bool, u32)>,
    writes: BTreeSet<(bool, u32)>,
}

/// The observer.
#[derive(Debug, Default)]
pub(crate) struct Spin {
    waves: BTreeMap<(u32, usize), Seen>,
}

impl Spin {
    /// What each wave did, ordered by core and slot.
    pub(crate) fn waves(self) -> Vec<Doing> {
        let one = |((core, slot), seen): ((u32, usize), Seen)| {
            let (first, last) = (*seen.words.first()?, *seen.words.last()?);
            Some(Doing {
                core,
                slot,
                again: seen.again,
                words: first..=last,
                reads: Doing::locations(seen.reads),
                writes: Doing::locations(seen.writes),
            })
        };
        self.waves.into_iter().filter_map(one).collect()
    }
}

impl Observer for Spin {
    fn wants(&self) -> Wants {
        Wants::of(&[EventKind::Issued, EventKind::Access])
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Issued(issued) => self.issued(issued),
            Event::Access(access) => self.accesses(access),
            _ => {}
        }
    }
}

impl Spin {
    fn issued(&mut self, issued: &Issued<'_>) {
        let StageEvent { core, slot, word, .. } = issued.event;
        if issued.op.kind == Kind::End {
            return;
        }
        let seen = self.waves.entry((core, slot)).or_default();
        seen.again |= !seen.words.insert(word);
    }

    fn accesses(&mut self, event: &MemoryEvent<'_>) {
        let local = event.memory.space == Space::Local;
        let (reads, writes) = match event.memory.kind {
            AccessKind::Load => (true, false),
            AccessKind::Store => (false, true),
            AccessKind::Atomic(_) => (true, true),
            AccessKind::Tile => (!event.writes, event.writes),
        };
        let seen = self.waves.entry((event.core, event.slot)).or_default();
        for (_, &address) in
            event.addresses.iter().enumerate().filter(|(lane, _)| event.mask >> lane & 1 != 0)
        {
            if reads {
                seen.reads.insert((local, address));
            }
            if writes {
                seen.writes.insert((local, address));
            }
        }
    }
}
