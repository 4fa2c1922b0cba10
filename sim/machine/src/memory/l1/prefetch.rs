//! Prefetches into an L1 (M34): lines that are requested before an access asks for them.

use super::mshr::MshrId;
use super::{Access, L1, ReferenceKind, Request};
use crate::clock::{Cycle, NEVER};
use crate::config::{Config, Prefetch};
use crate::memory::bounds::Bounds;
use crate::memory::geometry::LineGeometry;
use crate::memory::replacement::CachePlace;
use crate::memory::tags::Frame;
use crate::registry::{L1Event, L1EventKind, L1Outcome, Maker, PlugIn, Plugged, Prefetcher, Requester};
use std::collections::VecDeque;
use wave_capture::{Capture, Misfit};
use wave_isa::table::CacheHint;

/// The choice of lines.
#[derive(Debug, Capture)]
enum Policy {
    /// A miss asks for the line behind its own.
    NextLine,
    /// A plug-in.
    Registered(Plugged<dyn Prefetcher>),
}

#[derive(Debug, Capture)]
pub(super) struct Prefetching {
    policy: Policy,
    /// Byte addresses of the lines that wait to be requested.
    queue: VecDeque<u64>,
    #[spec]
    entries: usize,
    /// Bytes of device memory.
    #[spec]
    memory_bytes: u64,
    /// First cycle in which the oldest may be requested; [`NEVER`] if there is none.
    next_at: Cycle,
    /// The cycle of the last access: the tags serve one line a cycle.
    accessed_at: Cycle,
    /// Per frame: its line was prefetched, and no access has used it.
    #[fixed]
    unused: Vec<bool>,
    /// Addresses that a plug-in asks for within a call.
    #[scratch]
    asked: Vec<u64>,
}

impl Prefetching {
    /// The prefetcher that a configuration chooses, for a cache with so many sets.
    pub(super) fn new(config: &Config, place: &CachePlace<'_>, sets: usize) -> Option<Box<Prefetching>> {
        let (l1, ways) = (&config.core.l1, config.core.l1.ways as usize);
        let policy = match l1.prefetcher {
            Prefetch::None => return None,
            Prefetch::NextLine => Policy::NextLine,
            Prefetch::PlugIn(chosen) => {
                let plug_in = chosen.plug_in();
                let Maker::Prefetcher(make) = &plug_in.maker else {
                    unreachable!("a configuration chooses among the plug-ins of a role");
                };
                Policy::Registered(Plugged::new(plug_in, || make(&place.setup(plug_in, sets, ways))))
            }
        };
        Some(Box::new(Prefetching {
            policy,
            queue: VecDeque::new(),
            entries: l1.prefetch_entries as usize,
            memory_bytes: config.device_memory_bytes,
            next_at: NEVER,
            accessed_at: NEVER,
            unused: vec![false; sets * ways],
            asked: Vec::new(),
        }))
    }

    /// An access was accepted. Returns how many lines were asked for in vain.
    pub(super) fn observe(&mut self, event: &L1Event, geometry: LineGeometry) -> u64 {
        let bytes = geometry.line_bytes() as u64;
        self.accessed_at = event.now;
        match &mut self.policy {
            Policy::NextLine => {
                if event.kind == L1EventKind::Access(L1Outcome::Miss) {
                    self.asked.push(event.reference.line + bytes);
                }
            }
            Policy::Registered(prefetcher) => {
                prefetcher.tell(|prefetcher| prefetcher.observe(event, &mut self.asked));
            }
        }
        let mut dropped = 0;
        for address in self.asked.drain(..) {
            let line = address / bytes * bytes;
            if line >= self.memory_bytes || self.queue.len() == self.entries || self.queue.contains(&line) {
                dropped += 1;
                continue;
            }
            self.queue.push_back(line);
            self.next_at = self.next_at.min(event.now + 1);
        }
        dropped
    }

    /// A line has come into a frame.
    pub(super) fn installed(&mut self, frame: Frame, is_prefetch: bool) {
        self.unused[frame.index()] = is_prefetch;
    }

    /// A line leaves a frame. True if it was prefetched in vain.
    pub(super) fn left(&mut self, frame: Frame, line: u64) -> bool {
        let unused = std::mem::take(&mut self.unused[frame.index()]);
        if unused {
            self.settle(line, false, false);
        }
        unused
    }

    /// All lines may have left. Returns how many were prefetched in vain.
    pub(super) fn drop_all(&mut self) -> u64 {
        let unused = self.unused.iter().filter(|&&unused| unused).count();
        self.unused.fill(false);
        unused as u64
    }

    fn settle(&mut self, line: u64, was_used: bool, is_late: bool) {
        if let Policy::Registered(prefetcher) = &mut self.policy {
            prefetcher.tell(|prefetcher| prefetcher.settled(line, was_used, is_late));
        }
    }

    pub(super) fn plug_in_counters(&self) -> Option<(&'static PlugIn, Vec<u64>)> {
        let Policy::Registered(prefetcher) = &self.policy else { return None };
        Some((prefetcher.plug_in, prefetcher.ask(|prefetcher| prefetcher.counters())))
    }

    /// Refuses what cannot wait in a cycle.
    pub(super) fn check(&self, bounds: &Bounds) -> Result<(), Misfit> {
        let bytes = bounds.geometry.line_bytes() as u64;
        let may_wait = |line: &u64| line.is_multiple_of(bytes) && *line < self.memory_bytes;
        let queue = self.queue.len() <= self.entries && self.queue.iter().all(may_wait);
        Misfit::in_range(queue, "queue")?;
        Misfit::in_range(bounds.may_plan(self.next_at), "next_at")?;
        Misfit::agrees((self.next_at == NEVER) == self.queue.is_empty(), "next_at")
    }
}

impl L1 {
    /// States the size of device memory, outside of which nothing is prefetched.
    pub(crate) fn set_memory_bytes(&mut self, bytes: u64) {
        if let Some(prefetching) = &mut self.prefetching {
            prefetching.memory_bytes = bytes;
        }
    }

    /// First cycle in which a line may be prefetched; [`NEVER`] if none waits.
    #[inline]
    pub(crate) fn prefetches_from(&self) -> Cycle {
        self.prefetching.as_ref().map_or(NEVER, |prefetching| prefetching.next_at)
    }

    /// Requests the oldest line that waits to be prefetched. True if it left the queue.
    pub(super) fn tick_prefetch(&mut self, now: Cycle) -> bool {
        let Some(prefetching) = &mut self.prefetching else { return false };
        let Some(&address) = prefetching.queue.front() else { return false };
        prefetching.next_at = now + 1;
        if prefetching.accessed_at == now {
            return false;
        }
        let line = self.spec.geometry.number(address);
        let is_there = self.tags.find(line.0, line).is_some() || self.mshrs.view(line).is_some();
        // The last MSHR is for accesses.
        if !is_there && (self.mshrs.free() < 2 || self.outgoing_room() == 0) {
            return false;
        }
        if let Some(prefetching) = &mut self.prefetching {
            prefetching.queue.pop_front();
            if prefetching.queue.is_empty() {
                prefetching.next_at = NEVER;
            }
        }
        if is_there {
            self.counters.prefetch_dropped += 1;
            return true;
        }
        self.counters.prefetches += 1;
        let id = self.mshrs.allocate(line, true);
        let sectors = ((1u32 << self.spec.geometry.sectors()) - 1) as u8;
        let mshr = &mut self.mshrs[id];
        (mshr.outstanding, mshr.present) = (sectors, false);
        (mshr.by, mshr.kind) = (Requester::core(self.spec.core), ReferenceKind::Prefetch);
        let values = self.no_values();
        self.send(now, Request { values, ..Request::read(id.tag(), address, sectors, CacheHint::Cached) });
        true
    }

    /// An access uses the line of a frame.
    #[inline]
    pub(super) fn use_prefetched(&mut self, frame: Frame, line: u64) {
        if let Some(prefetching) = &mut self.prefetching
            && std::mem::take(&mut prefetching.unused[frame.index()])
        {
            self.counters.prefetch_hits += 1;
            prefetching.settle(line, true, false);
        }
    }

    /// An access waits for a line under prefetch: the line now comes for it.
    pub(super) fn wait_for_prefetch(&mut self, id: MshrId, access: &Access) {
        (self.mshrs[id].by, self.mshrs[id].kind) = (access.by, access.reference().kind);
        self.counters.prefetch_late += 1;
        if let Some(prefetching) = &mut self.prefetching {
            prefetching.settle(access.line, true, true);
        }
    }
}
