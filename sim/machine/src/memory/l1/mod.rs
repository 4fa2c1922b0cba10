//! The L1 data cache of a core: sectored and set-associative. It either writes through without allocating on
//! a write, or writes back.
//!
//! A line has at most one *current* miss, which later loads may join. An access that changes the line, or
//! that must see what another level holds, makes the miss *stale*: the miss still serves the accesses that
//! wait for it, but it installs nothing and no access joins it, so later loads ask again, behind the change.
//! Requests leave in the order of their accesses and stay in order per line all the way to the L2. Together
//! this keeps a core's accesses to a line in order (M19).

mod access;
mod check;
mod dirty;
mod execute;
mod fill;
mod frames;
mod mshr;
mod outgoing;
mod path;
mod plan;
mod prefetch;
mod responses;
mod state;
mod write_policy;

#[cfg(test)]
mod plan_tests;
#[cfg(test)]
mod prefetch_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod write_back_tests;

use super::geometry::{LineGeometry, LineNumber};
use super::message::{Request, RequestKind, Values};
use super::port::MemoryPort;
use super::replacement::CachePlace;
use super::tags::Tags;
use crate::clock::{Cycle, NEVER};
use crate::config::{Config, IssuePolicy, L1Parameters};
use crate::registry::{L1Event, L1EventKind, L1Outcome, PlugIn, Reference, ReferenceKind};
pub use access::{Access, L1Counters, Operation, Reject};
use dirty::Dirty;
use mshr::Mshrs;
use path::Path;
use plan::{Plan, View, plan};
use prefetch::Prefetching;
use responses::Responses;
pub(crate) use responses::{Response, ResponseKind};
pub(super) use state::FIELDS;
use std::collections::VecDeque;
use wave_capture::Capture;

/// What an L1 is made from: parameters, which the simulation only reads.
#[derive(Debug, Clone)]
struct Spec {
    geometry: LineGeometry,
    /// Index of the core.
    core: u16,
    hit_latency: Cycle,
    parameters: L1Parameters,
    /// Places in the queue of requests to the port.
    outgoing_capacity: usize,
}

/// The L1 of one core.
#[derive(Debug, Capture)]
#[sound]
pub struct L1 {
    #[spec]
    spec: Spec,
    tags: Tags,
    /// Valid sectors of each frame.
    #[fixed]
    valid: Vec<u8>,
    dirty: Dirty,
    /// Bytes of the frames.
    #[fixed]
    data: Vec<u8>,
    mshrs: Mshrs,
    /// Requests, each with the first cycle in which it may leave.
    outgoing: VecDeque<(Cycle, Request)>,
    /// Lower bound of the cycle in which the oldest request may leave; [`NEVER`] if there is none.
    leaves_from: Cycle,
    responses: Responses,
    /// The cycle in which the access that waits was first rejected.
    rejected_since: Option<Cycle>,
    /// Why the last access was rejected, as long as the reason holds.
    blocked: Option<Reject>,
    counters: L1Counters,
    /// The prefetcher and its queue.
    prefetching: Option<Box<Prefetching>>,
    /// The block of a plug-in between the L1 and its port.
    path: Option<Box<Path>>,
    /// Events that the warp schedulers of plug-ins have yet to hear of, if there are any schedulers.
    #[scratch]
    events: Option<Vec<L1Event>>,
    /// Values of replies, for the next requests, into which the boxes go as they are.
    #[allow(clippy::vec_box)]
    #[scratch]
    spare: Vec<Box<Values>>,
}

impl L1 {
    /// The empty cache of a core.
    pub fn new(config: &Config, core: u32) -> L1 {
        let geometry = LineGeometry::new(config);
        let l1 = &config.core.l1;
        let writes_back = l1.write_policy.writes_back();
        // An atomic that misses needs places for its read, for its write, and to write the line back.
        let least = if writes_back { 3 } else { 2 };
        let spec = Spec {
            geometry,
            core: core as u16,
            hit_latency: Cycle::from(l1.hit_latency_cycles),
            parameters: *l1,
            outgoing_capacity: (config.interconnect.queue_entries as usize).max(least),
        };
        let (plugins, line_bytes) = (&config.plugins, l1.line_bytes);
        let place = CachePlace { plugins, level: 1, index: core, line_bytes };
        let tags = Tags::new(l1.bytes, l1.ways, l1.replacement, &place).hashed_by(l1.set_hash);
        let frames = tags.frames();
        let listens = matches!(config.core.issue.policy, IssuePolicy::PlugIn(_));
        L1 {
            valid: vec![0; frames],
            dirty: Dirty::new(if writes_back { frames } else { 0 }),
            data: vec![0; frames * geometry.line_bytes()],
            tags,
            mshrs: Mshrs::new(l1.mshrs as usize, l1.mshr_merges as usize),
            outgoing: VecDeque::with_capacity(spec.outgoing_capacity),
            leaves_from: NEVER,
            responses: Responses::new(l1),
            rejected_since: None,
            blocked: None,
            counters: L1Counters::default(),
            prefetching: Prefetching::new(config, &place, frames / l1.ways as usize),
            path: Path::new(config, core),
            events: listens.then(Vec::new),
            spare: Vec::new(),
            spec,
        }
    }

    /// Counters of this L1.
    pub fn counters(&self) -> &L1Counters {
        &self.counters
    }

    /// MSHRs in use.
    pub(crate) fn mshrs_in_use(&self) -> usize {
        self.mshrs.in_use()
    }

    /// Takes an access, at most `tag_banks` a cycle. The response to a hit is ready `hit_latency_cycles` later; a
    /// request can leave from the next cycle on. An access gets one response. An atomic that the L1 performs
    /// and writes through gets two: the old words, and `Stored` when its result has reached the L2. A store
    /// that stays in the L1 gets none.
    ///
    /// The values of a hit go to `take` with the owner, as those of a miss do when they
    /// [arrive](Self::accept): the sectors of a load or the old words of an atomic, at their offsets in the
    /// line. Other bytes are meaningless. The owner may use the values from the response on.
    ///
    /// True if the core's open epoch has one more acknowledgement to wait for: `Stored`, the old words of an
    /// atomic that the L2 performs, or `WrittenBack` for a line that was clean.
    ///
    /// # Errors
    /// The reason of a rejection; the access has to be tried again.
    pub fn access(
        &mut self,
        now: Cycle,
        access: &Access,
        take: &mut impl FnMut(u32, &[u8]),
    ) -> Result<bool, Reject> {
        debug_assert!(access.owner < frames::WRITE_BACK, "the upper bits of a tag are not the owner's");
        let plan = self.plan(access);
        let result = plan.map(|plan| self.execute(now, access, plan, take));
        if let Ok(plan) = plan
            && (self.events.is_some() || self.prefetching.is_some())
        {
            self.tell_access(now, access, plan);
        }
        match result {
            Ok(_) => {
                self.blocked = None;
                if let Some(since) = self.rejected_since.take() {
                    self.counters.reservation_fail_cycles += now - since;
                }
            }
            Err(reason) => self.refuse(now, reason),
        }
        result
    }

    /// Tells plug-ins of an access that was executed.
    fn tell_access(&mut self, now: Cycle, access: &Access, plan: Plan) {
        let outcome = match plan {
            Plan::Hit(_) | Plan::Perform { .. } | Plan::Stay { replace: false, .. } => L1Outcome::Hit,
            Plan::Wait(wait) if wait.miss.is_some() && wait.request == 0 => L1Outcome::Joined,
            Plan::Wait(_) => L1Outcome::Miss,
            Plan::Pass { .. } | Plan::Stay { .. } => L1Outcome::Passed,
        };
        let event = L1Event { now, reference: access.reference(), kind: L1EventKind::Access(outcome) };
        if let Some(events) = &mut self.events {
            events.push(event);
        }
        if let Some(prefetching) = &mut self.prefetching {
            self.counters.prefetch_dropped += prefetching.observe(&event, self.spec.geometry);
        }
    }

    /// Events since the last call, for the warp schedulers of plug-ins.
    #[inline]
    pub(crate) fn events(&mut self) -> Option<&mut Vec<L1Event>> {
        self.events.as_mut().filter(|events| !events.is_empty())
    }

    /// Values of the counters of the plug-ins in this L1.
    pub(crate) fn plug_in_counters(&self, add: &mut impl FnMut(&'static PlugIn, Vec<u64>)) {
        let prefetcher = self.prefetching.as_ref().and_then(|prefetching| prefetching.plug_in_counters());
        let path = self.path.as_ref().map(|path| path.plug_in_counters());
        for (plug_in, values) in [self.tags.plug_in_counters(), prefetcher, path].into_iter().flatten() {
            add(plug_in, values);
        }
    }

    /// True if it refuses any store now, because the L2 has to get it and the queue to the interconnect is full. Such a
    /// store need not be looked at.
    #[inline]
    pub(crate) fn refuses_stores(&self) -> bool {
        self.outgoing_room() == 0 && !self.dirty.writes_back() && self.mshrs.pending_atomics() == 0
    }

    /// An access is rejected.
    pub(crate) fn refuse(&mut self, now: Cycle, reason: Reject) {
        self.blocked = Some(reason);
        if self.rejected_since.is_none() {
            self.rejected_since = Some(now);
            self.count_reject(reason);
        }
    }

    /// The plan of an access.
    #[inline]
    fn plan(&self, access: &Access) -> Result<Plan, Reject> {
        let line = self.spec.geometry.number(access.line);
        let sectors = || access.sectors(self.spec.geometry);
        let victim = |leaves| self.victim(line, leaves);
        plan(self.spec.parameters.write_policy, access, sectors, &self.view(line), victim)
    }

    /// Sectors of the line that the cache loses if it takes this access now: those that the access drops, and those on
    /// their way whose miss it makes stale. For observers.
    pub(crate) fn loses(&self, access: &Access) -> u8 {
        let (dropped, stale) = match self.plan(access) {
            Ok(Plan::Pass { drop: true, stale, .. }) => (access.sectors(self.spec.geometry), stale),
            Ok(Plan::Pass { stale, .. } | Plan::Perform { stale, .. } | Plan::Stay { stale, .. }) => {
                (0, stale)
            }
            Ok(Plan::Hit(_) | Plan::Wait(_)) | Err(_) => (0, None),
        };
        dropped | stale.map_or(0, |id| self.mshrs[id].outstanding)
    }

    /// What there is to see of a line and of the queues.
    #[inline]
    fn view(&self, line: LineNumber) -> View {
        let frame = self.tags.find(line.0, line);
        View {
            frame,
            valid: frame.map_or(0, |frame| self.valid[frame.index()]),
            dirty: frame.is_some_and(|frame| self.dirty.of(frame) != 0),
            miss: self.mshrs.view(line),
            free_mshr: self.mshrs.has_free(),
            places: self.outgoing_room(),
            room_for_hit: self.responses.room_for_hits() > 0,
        }
    }

    /// True if the last access was rejected and would be rejected again. An invalidation or a reply that
    /// brings sectors ends this; a shortage of MSHRs ends only with a reply that frees one. A shortage of
    /// room also ends with a request sent or a hit's response taken. A core that has nothing else to do may
    /// sleep until then.
    #[inline]
    pub fn is_blocked(&self) -> bool {
        self.blocked.is_some()
    }

    fn unblock(&mut self, reason: Reject) {
        if self.blocked == Some(reason) {
            self.blocked = None;
        }
    }

    fn count_reject(&mut self, reason: Reject) {
        let counters = &mut self.counters;
        counters.reservation_fails += 1;
        *match reason {
            Reject::Mshr => &mut counters.fails_mshr,
            Reject::Merge => &mut counters.fails_merge,
            Reject::Outgoing => &mut counters.fails_outgoing,
            Reject::Responses => &mut counters.fails_responses,
            Reject::Order => &mut counters.fails_order,
        } += 1;
    }

    /// Takes a response of this cycle, if there is one: the one that has been ready for longest, a reply's
    /// before a hit's (M12). After the last one of a cycle the others are for the next.
    #[inline]
    pub(crate) fn take_response(&mut self, now: Cycle, is_last: bool) -> Option<Response> {
        let (response, of_hit) = self.responses.take(now, is_last)?;
        if of_hit {
            self.unblock(Reject::Responses);
        }
        Some(response)
    }

    /// The first cycle in which a response can be taken; [`NEVER`] if there is none.
    #[inline]
    pub(crate) fn next_response(&self) -> Cycle {
        self.responses.next()
    }

    /// Lower bound of the cycle in which a request can leave; [`NEVER`] if there is none.
    #[inline]
    pub(crate) fn leaves_from(&self) -> Cycle {
        self.leaves_from
    }

    /// Begins a launch whose workgroups have so many bytes of local memory on this core: after an acquire (M32), and a
    /// unified L1 with the other ways (M10a).
    pub(crate) fn begin(&mut self, local_bytes: u32) {
        self.invalidate();
        self.tags.use_ways(self.spec.parameters.ways_beside(local_bytes));
    }

    /// An acquire of device scope: drops everything that the L2 has too (M18). Outstanding misses serve the
    /// accesses that wait for them and install nothing.
    pub fn invalidate(&mut self) {
        if let Some(path) = &mut self.path {
            path.invalidate();
        }
        if let Some(prefetching) = &mut self.prefetching {
            self.counters.prefetch_unused += prefetching.drop_all();
        }
        self.counters.invalidated_lines += u64::from(self.drop_clean());
        self.mshrs.retire_all();
        self.blocked = None;
        self.counters.invalidations += 1;
    }

    /// First cycle from `now` on in which a response can be taken, a request can leave or a line is written
    /// back; [`NEVER`] if that takes a reply or a credit. `closing` as for [`tick`](Self::tick).
    pub(crate) fn next_event(&self, now: Cycle, port: &MemoryPort, closing: u8) -> Cycle {
        if closing != 0 && self.outgoing_room() > 0 && self.to_write_back(closing).is_some() {
            return now;
        }
        let attached = self.prefetches_from().min(self.next_path_reply()).max(now);
        let response = self.responses.next().max(now).min(attached);
        if response == now || self.leaves_from == NEVER {
            return response;
        }
        response.min(port.next_ready(now.max(self.leaves_from)).unwrap_or(NEVER))
    }

    /// Why it did not take the last access, as long as the reason holds.
    pub fn rejects(&self) -> Option<Reject> {
        self.blocked
    }

    /// Byte addresses of the lines that it has requested and for which an access of such an owner waits.
    pub fn missing_lines(&self, is_owner: impl Fn(u32) -> bool) -> Vec<u64> {
        let lines = self.mshrs.lines_of(|waiter| is_owner(waiter.owner));
        lines.into_iter().map(|line| self.spec.geometry.address(line)).collect()
    }

    /// True if nothing waits, is outstanding or is about to leave. Writes that the L2 has not acknowledged do
    /// not count; their owners keep track of them.
    pub fn is_idle(&self) -> bool {
        self.outgoing.is_empty() && self.responses.is_empty() && self.mshrs.is_idle()
    }
}
