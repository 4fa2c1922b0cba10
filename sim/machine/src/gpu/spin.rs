//! What waves do that make no progress: an observer of the cycles after a bound, for the report only.

use super::RunOptions;
use super::run::Run;
use super::team::Team;
use crate::clock::{Cycle, NEVER};
use crate::core::probe::{Event, EventKind, Issued, MemoryEvent, Observer, StageEvent, Wants, Watched};
use crate::core::uop::Kind;
use crate::memory::MemorySystem;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wave_capture::{Capture, Reader, Writer};
use wave_isa::table::{AccessKind, Space};

pub use crate::core::report::{Location, SpinReport};

#[derive(Debug, Default)]
struct Seen {
    words: BTreeSet<u32>,
    again: bool,
    reads: BTreeSet<(bool, u32)>,
    writes: BTreeSet<(bool, u32)>,
}

/// Cycles after a bound in which waves are watched for the report: some round trips to memory.
const WATCHED: Cycle = 4000;

/// The observer.
#[derive(Debug, Default)]
pub(crate) struct Spin {
    waves: BTreeMap<(u32, usize), Seen>,
}

impl Spin {
    /// What each wave did, ordered by core and slot.
    pub(crate) fn waves(self) -> Vec<SpinReport> {
        let one = |((core, slot), seen): ((u32, usize), Seen)| {
            let (first, last) = (*seen.words.first()?, *seen.words.last()?);
            Some(SpinReport {
                core,
                slot,
                again: seen.again,
                words: first..=last,
                reads: SpinReport::locations(seen.reads),
                writes: SpinReport::locations(seen.writes),
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

impl Run {
    /// What waves do in the next cycles. The run is then put back to where it is.
    pub(super) fn doing(&mut self, memory: &mut MemorySystem) -> Vec<SpinReport> {
        let mut here = Writer::default();
        self.save(&mut here);
        memory.save(&mut here);
        let options = self.spec.options;
        self.spec.options = RunOptions { max_cycles: None, max_instructions: None, stop: None, ..options };
        let (mut spin, contexts) = (Spin::default(), Arc::clone(&self.spec.contexts));
        let bounds = (self.now + WATCHED, NEVER);
        // However these cycles end, the run ends as it did.
        _ = Team::with(1, &contexts, |team| {
            self.run_part(memory, bounds, team, &mut Watched::by(&mut spin), &mut |_| {})
        });
        self.spec.options = options;
        let mut from = Reader::new(here.bytes());
        let restored = self.restore(&mut from).and_then(|()| memory.restore(&mut from));
        restored.expect("a run fits itself");
        spin.waves()
    }
}
