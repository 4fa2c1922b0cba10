//! Executes the plans of accesses. Nothing can fail here: `plan.rs` has seen that there is room for everything.

use super::mshr::{MshrId, PendingAtomic, Waiter};
use super::plan::{Plan, Wait};
use super::write_policy::Write;
use super::{Access, L1, Operation, ReferenceKind, Request, ResponseKind};
use crate::clock::Cycle;
use crate::memory::geometry::copy_bytes;
use crate::memory::message::{LineData, MAX_LINE_BYTES, apply_atomic};
use crate::memory::tags::Frame;
use wave_isa::table::CacheHint;

impl L1 {
    /// Executes the plan of an access. True if the core's open epoch has one more acknowledgement to wait for.
    #[inline]
    pub(super) fn execute(
        &mut self,
        now: Cycle,
        access: &Access,
        plan: Plan,
        take: &mut impl FnMut(u32, &[u8]),
    ) -> bool {
        match plan {
            Plan::Hit(frame) => self.execute_hit(now, access, frame, take),
            Plan::Wait(wait) => self.execute_wait(now, access, wait),
            Plan::Perform { frame, to, write_back, stale } => {
                self.clean(now, write_back.then_some(frame));
                self.retire(stale);
                self.perform(now, access, frame, to, take)
            }
            Plan::Pass { frame, write_back, drop, stale } => {
                self.clean(now, frame.filter(|_| write_back));
                self.retire(stale);
                self.pass(now, access, frame, drop)
            }
            Plan::Stay { frame, replace, stale } => {
                self.retire(stale);
                self.stay(now, access, frame, replace)
            }
        }
    }

    /// Answers a load.
    #[inline]
    fn execute_hit(
        &mut self,
        now: Cycle,
        access: &Access,
        frame: Frame,
        take: &mut impl FnMut(u32, &[u8]),
    ) -> bool {
        self.counters.loads += 1;
        self.counters.hits += 1;
        self.responses.push_hit(now + self.spec.hit_latency, access.owner, ResponseKind::Loaded);
        take(access.owner, &self.data[self.place(frame)]);
        self.use_prefetched(frame, access.line);
        if access.hint != CacheHint::Streaming {
            self.tags.touch(frame, || access.reference());
        }
        false
    }

    /// Performs an atomic in a frame that has its sectors.
    fn perform(
        &mut self,
        now: Cycle,
        access: &Access,
        frame: Frame,
        to: Write,
        take: &mut impl FnMut(u32, &[u8]),
    ) -> bool {
        let Operation::Atomic { op, byte_mask, data, swap, .. } = access.operation else {
            unreachable!("a load hits, and a store stays or passes");
        };
        self.counters.atomics += 1;
        self.counters.hits += 1;
        self.responses.push_hit(now + self.spec.hit_latency, access.owner, ResponseKind::AtomicOld);
        self.use_prefetched(frame, access.line);
        let place = self.place(frame);
        let line = &mut self.data[place];
        let mut old = *data;
        let written = apply_atomic(op, byte_mask, &mut old, swap, line);
        take(access.owner, &old);
        self.tags.touch(frame, || access.reference());
        match to {
            Write::Line => self.soil(frame, written, access.epoch),
            Write::Both => {
                let mut result: LineData = [0; MAX_LINE_BYTES];
                copy_bytes(&mut result, line, written);
                let (owner, line, hint) = (access.owner, access.line, CacheHint::Cached);
                let values = self.values(written, &result, 0);
                self.send(now, Request::write(owner, line, values, hint, self.spec.geometry));
                true
            }
        }
    }

    /// Makes a load or an atomic wait for its line.
    #[inline]
    fn execute_wait(&mut self, now: Cycle, access: &Access, wait: Wait) -> bool {
        let owner = access.owner;
        match access.operation {
            Operation::Load { sectors } => {
                self.counters.loads += 1;
                let waiter = Waiter { owner, sectors, hint: access.hint, atomic: None };
                self.wait_for_line(now, access, wait, waiter, None);
                false
            }
            Operation::Atomic { op, byte_mask, data, swap, .. } => {
                self.counters.atomics += 1;
                self.clean(now, wait.frame.filter(|_| wait.write_back));
                let sectors = self.spec.geometry.sectors_of(byte_mask);
                let waiter = Waiter { owner, sectors, hint: CacheHint::Cached, atomic: None };
                let atomic = PendingAtomic { op, byte_mask, data: *data, swap };
                self.wait_for_line(now, access, wait, waiter, Some(&atomic));
                true
            }
            Operation::Store { .. } => unreachable!("a store waits for no line"),
        }
    }

    #[inline]
    fn wait_for_line(
        &mut self,
        now: Cycle,
        access: &Access,
        Wait { miss, frame, request, .. }: Wait,
        waiter: Waiter,
        atomic: Option<&PendingAtomic>,
    ) {
        let address = access.line;
        let valid = frame.map_or(0, |frame| self.valid[frame.index()]);
        match (miss, request) {
            (Some(_), 0) => self.counters.mshr_hits += 1,
            (None, _) if valid == 0 => self.counters.misses += 1,
            _ => self.counters.sector_misses += 1,
        }
        let id = miss.unwrap_or_else(|| {
            let id = self.mshrs.allocate(self.spec.geometry.number(address), true);
            let mshr = &mut self.mshrs[id];
            (mshr.present, mshr.by, mshr.kind) = (frame.is_some(), access.by, access.reference().kind);
            id
        });
        if self.mshrs[id].kind == ReferenceKind::Prefetch {
            self.wait_for_prefetch(id, access);
        }
        // Sectors that are valid now are kept for the waiter, even if the line leaves meanwhile (M13).
        if let Some(frame) = frame {
            let place = self.place(frame);
            let hold = waiter.sectors & valid & !self.mshrs[id].held;
            self.spec.geometry.copy_sectors(self.mshrs.data_mut(id), &self.data[place], hold);
            self.mshrs[id].held |= hold;
        }
        if request != 0 {
            self.mshrs[id].outstanding |= request;
            // Bytes of these sectors that are dirty now are newer than those that will come.
            if let Some(frame) = frame {
                let place = self.place(frame);
                let newer = self.dirty.of(frame) & self.spec.geometry.bytes_of(request);
                self.mshrs.keep(id, &self.data[place], newer);
            }
            let values = self.no_values();
            self.send(now, Request { values, ..Request::read(id.tag(), address, request, waiter.hint) });
        }
        self.mshrs.push(id, waiter, atomic);
        debug_assert!(self.mshrs[id].outstanding != 0, "a miss ends with its last sector");
    }

    /// Sends an access to the L2.
    fn pass(&mut self, now: Cycle, access: &Access, frame: Option<Frame>, drop: bool) -> bool {
        let Access { operation, hint, line, owner, .. } = *access;
        let geometry = self.spec.geometry;
        let (request, waits) = match operation {
            Operation::Load { sectors } => {
                let id = self.mshrs.allocate(geometry.number(line), false);
                self.mshrs[id].outstanding = sectors;
                self.mshrs.push(id, Waiter { owner, sectors, hint, atomic: None }, None);
                self.counters.loads += 1;
                self.counters.uncached_loads += 1;
                (Request { values: self.no_values(), ..Request::read(id.tag(), line, sectors, hint) }, false)
            }
            Operation::Store { byte_mask, data } => {
                self.counters.stores += 1;
                (Request::write(owner, line, self.values(byte_mask, data, 0), hint, geometry), true)
            }
            Operation::Atomic { op, byte_mask, data, swap, .. } => {
                self.counters.remote_atomics += 1;
                (Request::atomic(owner, line, op, self.values(byte_mask, data, swap), geometry), true)
            }
        };
        match (frame, operation) {
            (Some(frame), _) if drop => self.valid[frame.index()] &= !request.sectors,
            (Some(frame), Operation::Store { byte_mask, data }) => {
                self.update(frame, byte_mask, data);
                self.counters.store_hits += 1;
                if hint == CacheHint::Cached {
                    self.tags.touch(frame, || access.reference());
                }
            }
            _ => {}
        }
        self.send(now, request);
        waits
    }

    /// Puts what a store writes into its line, where it stays.
    #[inline]
    fn stay(&mut self, now: Cycle, access: &Access, frame: Frame, replace: bool) -> bool {
        let Operation::Store { byte_mask, data } = access.operation else {
            unreachable!("only a store stays");
        };
        self.counters.stores += 1;
        if replace {
            self.replace(now, frame, self.spec.geometry.number(access.line), &access.reference());
        } else {
            self.counters.store_hits += 1;
        }
        if access.hint == CacheHint::Cached {
            self.tags.touch(frame, || access.reference());
        } else if replace {
            self.tags.demote(frame);
        }
        self.update(frame, byte_mask, data);
        self.soil(frame, byte_mask, access.epoch)
    }

    /// Writes a frame back, if there is one.
    #[inline]
    fn clean(&mut self, now: Cycle, frame: Option<Frame>) {
        if let Some(frame) = frame {
            self.write_back(now, frame);
        }
    }

    /// Makes a miss stale, if there is one.
    #[inline]
    fn retire(&mut self, miss: Option<MshrId>) {
        if let Some(id) = miss {
            self.mshrs.retire(id);
        }
    }
}
