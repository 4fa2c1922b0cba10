//! One core: wave slots, schedulers, execution units, load/store unit, L1.
//!
//! `Core::tick` runs the stages of a cycle, consumers before producers, so a latch that is emptied in a
//! cycle can be filled in the same cycle. docs/pipeline.md holds the timing rules; each rule names the file
//! here that implements it.

pub mod account;
pub mod collector;
mod dispatch;
pub mod divergence;
pub mod execute;
mod fault;
pub(crate) mod fetch;
pub(crate) mod handover;
pub(crate) mod issue;
mod journal;
mod latches;
pub(crate) mod lsu;
mod mix;
pub mod occupancy;
mod plausible;
pub mod probe;
mod registers;
pub(crate) mod release;
pub mod report;
mod resolve;
mod scheduling;
mod spec;
pub mod stage;
mod straight;
pub mod uop;
pub mod view;
pub mod wait;
pub mod wave;
pub(crate) mod workgroup;
pub(crate) mod writeback;

use crate::clock::{Cycle, LinkRx, LinkTx, NEVER};
use crate::config::Config;
use crate::memory::{L1, LineData, MemoryPort, ReplyKind, Request};
use crate::registry::{Plugged, WarpScheduler};
use crate::stats::SlotUse;
use account::Account;
use collector::{Banks, Collectors};
use execute::UnitTiming;
use fetch::{Fetch, ICACHE_TAG};
use latches::Latches;
use lsu::Lsu;
use lsu::local::LocalMemory;
use probe::{Probe, send, tell_packet};
use registers::RegisterFile;
use spec::Spec;
use straight::Recent;
use uop::MicroOps;
use wave::{Slot, SlotMask, Waves};
use wave_capture::Capture;
use wave_isa::program::Fault;
use workgroup::{Shape, Start, Workgroup};
use writeback::WritePorts;

/// One scheduler of a core and the state that it does not share.
#[derive(Debug, Capture)]
struct Scheduler {
    /// Its wave slots.
    #[spec]
    slots: SlotMask,
    last_issued: Slot,
    /// Active set of the policy `two_level`.
    active_set: SlotMask,
    /// The policy of a plug-in.
    registered: Option<Plugged<dyn WarpScheduler>>,
    /// First cycle in which that policy may choose otherwise by itself; [`NEVER`] if none.
    changes_at: Cycle,
    collectors: Collectors,
    banks: Banks,
    recent: Recent,
    /// Use to which empty issue slots are charged until the scheduler's state changes.
    waits_for: SlotUse,
    /// First cycle whose issue slots are not charged yet.
    charged_until: Cycle,
    /// Per unit, the first cycle in which it takes another instruction.
    #[fixed]
    unit_free_at: Vec<Cycle>,
    write_ports: WritePorts,
}

/// The core's ends of its links.
#[derive(Debug, Capture)]
pub struct Links {
    /// To and from the memory side.
    pub port: MemoryPort,
    /// Workgroups from the dispatcher.
    pub starts: LinkRx<Start>,
    /// One message to the dispatcher for each workgroup that has ended.
    pub done: LinkTx<()>,
}

/// One core of the machine.
#[derive(Debug, Capture)]
#[sound]
pub struct Core {
    #[spec]
    spec: Spec,
    waves: Waves,
    #[fixed]
    workgroups: Vec<Workgroup>,
    schedulers: Vec<Scheduler>,
    latches: Latches,
    fetch: Fetch,
    file: RegisterFile,
    lsu: Lsu,
    /// The scheduler that is asked first for the load/store unit (X4).
    lsu_turn: usize,
    local: LocalMemory,
    l1: L1,
    /// Links to the dispatcher and the memory side.
    pub links: Links,
    account: Account,
    activity: Activity,
    /// Set at the end of a kernel: the L1 writes back all its dirty lines (M32).
    writes_back_all: bool,
}

/// What the run loop of a core goes by to visit only cycles in which it can do something.
#[derive(Debug, Capture)]
struct Activity {
    /// The current cycle has changed something that a stage of the pipeline may see in this cycle or the next.
    progress: bool,
    /// The current cycle has changed something between the load/store unit and the port that no other stage sees.
    moved: bool,
    /// Bit s: scheduler s has to look for a wave to issue. Nothing has changed for the others since they last
    /// looked, so they would find none again, for the same reason.
    stale: u32,
    /// First cycle in which a stage of the pipeline can act without a message. The load/store unit and the L1 are asked
    /// apart.
    wake: Cycle,
    /// The last cycle in which some state changed.
    last_activity: Cycle,
}

/// What every core needs of a launch.
#[derive(Debug, Clone)]
pub struct CoreLaunch {
    /// Index of the kernel, for faults.
    pub kernel: usize,
    /// Workgroup shape.
    pub shape: Shape,
    /// Most resident workgroups.
    pub max_workgroups: usize,
    /// Wave slots of each scheduler for which there are registers.
    pub slots_per_scheduler: u32,
    /// Bytes of device memory.
    pub device_bytes: u64,
    /// True if the kernel uses matrix fragments.
    pub uses_mma: bool,
    /// True if registers are to be read as of a cycle.
    pub(crate) keeps_journal: bool,
}

impl Core {
    /// Bit of the tags of its instruction cache's requests.
    pub(crate) const ICACHE: u32 = ICACHE_TAG;

    /// A core without resident waves at cycle `start`.
    pub fn new(
        config: &Config,
        index: u32,
        launch: &CoreLaunch,
        mut l1: L1,
        links: Links,
        start: Cycle,
    ) -> Core {
        l1.set_memory_bytes(launch.device_bytes);
        let c = &config.core;
        let spec = Spec::new(config, index, launch);
        let schedulers = c.schedulers as usize;
        let horizon = UnitTiming::horizon(&spec.units);
        let slots = c.max_waves as usize;
        let slots_of =
            |s: usize| (0..slots).filter(|slot| slot % schedulers == s).fold(0, |m, slot| m | 1 << slot);
        Core {
            waves: Waves::new(config),
            workgroups: vec![Workgroup::default(); launch.max_workgroups],
            schedulers: (0..schedulers)
                .map(|s| Scheduler {
                    slots: slots_of(s),
                    last_issued: s,
                    active_set: 0,
                    registered: scheduling::registered(config, index, s as u32, slots_of(s)),
                    changes_at: NEVER,
                    collectors: Collectors::new(c.registers.collectors, spec.width),
                    banks: Banks::new(c.registers.banks),
                    recent: Recent::default(),
                    waits_for: SlotUse::Empty,
                    charged_until: start,
                    unit_free_at: vec![0; c.units.len()],
                    write_ports: WritePorts::new(c.registers.write_ports, horizon),
                })
                .collect(),
            latches: Latches::new(schedulers, slots, &spec.units),
            fetch: Fetch::new(config),
            file: RegisterFile::new(&spec, launch),
            lsu: Lsu::new(config, launch.device_bytes),
            lsu_turn: 0,
            local: LocalMemory::new(config, launch.max_workgroups, launch.shape.launch.local_memory_bytes),
            l1,
            links,
            account: Account::new(start),
            activity: Activity { progress: false, moved: false, stale: 0, wake: NEVER, last_activity: start },
            writes_back_all: false,
            spec,
        }
    }

    /// Index of the core.
    pub fn index(&self) -> u32 {
        self.spec.index
    }

    /// Instructions that have left an instruction buffer, squashed ones included.
    pub fn instructions(&self) -> u64 {
        self.account.instructions
    }

    /// Simulates cycles `from..to`. Cycles in which nothing can happen are skipped. Returns the first cycle from `to` on
    /// in which it has something to do if no message comes.
    ///
    /// # Errors
    /// The first fault of a kernel in these cycles; the core must not be run again.
    // Never inlined, so that its machine code does not depend on the caller.
    #[inline(never)]
    pub fn run<P: Probe>(
        &mut self,
        from: Cycle,
        to: Cycle,
        ops: &MicroOps,
        probe: &mut P,
    ) -> Result<Cycle, Box<Fault>> {
        let mut now = self.next_visit(from);
        while now < to {
            (self.activity.progress, self.activity.moved) = (false, false);
            let idle = self.is_idle();
            self.tick(now, ops, probe)?;
            // Lines of code that no wave waits for may come to an idle core, also after the kernel's end.
            if (self.activity.progress || self.activity.moved) && !(idle && self.is_idle()) {
                self.activity.last_activity = now;
            }
            now = self.next_visit(now + 1);
        }
        Ok(now)
    }

    /// The cycle to simulate next.
    fn next_visit(&self, from: Cycle) -> Cycle {
        if self.spec.skip_idle { self.next_wake(from) } else { from }
    }

    /// Simulates one cycle. The calls are in the order of the stages, consumers first (rule P1). In many cycles only
    /// something between the load/store unit and the port moves; then the stages around that are left out.
    fn tick<P: Probe>(&mut self, now: Cycle, ops: &MicroOps, probe: &mut P) -> Result<(), Box<Fault>> {
        if !self.spec.skip_idle {
            // Visiting every cycle: look everywhere, to test that skipping changes nothing.
            self.activity.stale = (1 << self.schedulers.len()) - 1;
            self.activity.wake = now;
            self.latches.operands_to_dispatch.all_by(0);
            self.latches.operands_to_lsu.have_room(0);
        }
        let begins = self.activity.wake <= now
            || self.links.starts.next_arrival().is_some_and(|at| at <= now)
            || self.wants_port();
        if begins {
            self.start_workgroups(now);
            self.resolve(now, ops, probe);
            self.end_shadows(now);
            self.look_at_releases();
            // The instruction cache sends first: without code nothing moves.
            self.activity.progress |= self.fetch.send_miss(now, &mut self.links.port, probe);
            self.activity.progress |= self.ask_for_release(now, probe);
            self.write_back(now, ops, probe);
        }
        self.receive_reply(now);
        if self.l1.next_response().min(self.lsu.next_local_result()) <= now {
            self.receive_accesses(now, ops, probe);
        }
        self.tick_lsu(now, ops, probe)?;
        if begins || self.activity.progress {
            // Fetch does not see the shadows that begin by an issue in this cycle (F1).
            let shadow = self.waves.shadow;
            self.dispatch(now, ops, probe);
            self.read_operands(now, ops, probe);
            self.issue(now, ops, probe)?;
            self.decode(now, ops, probe);
            self.fetch_groups(now, shadow, ops, probe);
            self.activity.wake = if self.activity.progress { now + 1 } else { self.next_event(now) };
        }
        let closing = self.closing();
        if closing != 0 || self.l1.leaves_from() <= now || self.l1.prefetches_from() <= now {
            self.activity.moved |= self.tick_l1(now, closing, probe);
        }
        Ok(())
    }

    /// True if the instruction cache or a release has something to send.
    #[inline]
    fn wants_port(&self) -> bool {
        self.fetch.wants_port() || self.waves.releases.wants_port()
    }

    /// Asks one L2 slice for a release if one is still to be asked and the port is free (B6).
    fn ask_for_release<P: Probe>(&mut self, now: Cycle, probe: &mut P) -> bool {
        let (releases, port) = (&mut self.waves.releases, &mut self.links.port);
        let asks = releases.wants_port() && port.ready(now);
        if asks {
            // Line s of device memory lies in slice s (M4).
            let request = Request::release(u64::from(releases.take_slice()) * self.spec.line_bytes);
            send(now, port, request, probe);
        }
        asks
    }

    /// Lets the L1 send its oldest request. True if the L1 did something.
    #[inline]
    fn tick_l1<P: Probe>(&mut self, now: Cycle, closing: u8, probe: &mut P) -> bool {
        let core = self.spec.index;
        self.l1
            .tick(now, &mut self.links.port, closing, &mut |request| tell_packet(now, core, request, probe))
    }

    /// Takes one reply of the memory side if one has arrived.
    #[inline]
    fn receive_reply(&mut self, now: Cycle) {
        if self.l1.next_path_reply() <= now && self.take_path_reply(now) {
            return;
        }
        if self.links.port.next_reply().is_some_and(|at| at <= now) {
            self.take_reply(now);
        }
    }

    /// Hands the L1 an answer of the block between it and the port. False if it has no room.
    fn take_path_reply(&mut self, now: Cycle) -> bool {
        let Some((at, reply)) = self.l1.take_path_reply() else { return false };
        let lsu = &mut self.lsu;
        if !self.l1.accept(now, &reply, &mut |owner, line| lsu.take_values(owner, line)) {
            self.l1.return_path_reply((at, reply));
            return false;
        }
        self.l1.recycle(reply);
        self.tell_schedulers();
        self.activity.moved = true;
        true
    }

    /// Hands the arrived reply to its receiver: the instruction cache, the releases or the L1.
    fn take_reply(&mut self, now: Cycle) {
        let Some(reply) = self.links.port.reply(now) else { return };
        let lsu = &mut self.lsu;
        if reply.tag & ICACHE_TAG != 0 {
            self.waves.fetching &= !self.fetch.filled(reply.tag);
            self.activity.progress = true;
        } else if reply.kind == ReplyKind::Released {
            self.waves.releases.answer();
            self.activity.progress = true;
        } else if !self.l1.accept(now, reply, &mut |owner, line| lsu.take_values(owner, line)) {
            return;
        }
        if let Some(reply) = self.links.port.pop_reply(now) {
            self.l1.recycle(reply);
        }
        self.tell_schedulers();
        self.activity.moved = true;
    }

    /// First cycle from `from` on in which a message arrives, or the load/store unit, the L1 or the port has something to
    /// do.
    fn next_message(&self, from: Cycle) -> Cycle {
        let port = &self.links.port;
        let lsu = self.lsu.next_event(from, self.l1.is_blocked());
        let next =
            lsu.min(self.l1.next_event(from, port, self.closing())).min(port.next_reply().unwrap_or(NEVER));
        if next <= from {
            return from;
        }
        let starts = self.links.starts.next_arrival().unwrap_or(NEVER);
        let code = if self.wants_port() { port.next_ready(from).unwrap_or(NEVER) } else { NEVER };
        next.min(starts).min(code).max(from)
    }

    /// First cycle after `now` in which a stage of the pipeline can act without a message.
    fn next_event(&self, now: Cycle) -> Cycle {
        let shadow = self.latches.shadows.front().map_or(NEVER, |&(ends, _)| ends);
        if !self.latches.issue_to_dispatch.is_empty() || self.lsu.returns() {
            return now + 1;
        }
        let departure = self
            .latches
            .operands_to_dispatch
            .first()
            .min(self.latches.issue_to_operands.first())
            .min(self.latches.operands_to_lsu.at())
            .max(now + 1);
        departure
            .min(shadow)
            .min(self.next_choice())
            .min(self.latches.execute_to_write_back.next_due(now))
            .min(self.fetch.next_event())
    }

    /// The next cycle in which the core has something to do; [`NEVER`] if only a message can wake it.
    pub(crate) fn next_wake(&self, from: Cycle) -> Cycle {
        if self.activity.wake.min(self.l1.next_response()) <= from {
            return from;
        }
        self.activity.wake.min(self.next_message(from))
    }

    /// True if it has sent messages or credits that are not carried across yet.
    pub(crate) fn has_sent(&self) -> bool {
        let Links { port, starts, done } = &self.links;
        port.has_sent() || done.has_sent() || starts.has_returned()
    }

    /// True if no wave is resident and no store is on its way to the L2. An L1 that writes back may hold
    /// dirty lines.
    pub fn is_idle(&self) -> bool {
        self.waves.resident == 0 && self.waves.releases.stores() == self.l1.dirty_lines()
    }

    /// Bit e: epoch e of the stores is being closed (B6).
    fn closing(&self) -> u8 {
        if self.writes_back_all { 3 } else { self.waves.releases.closing() }
    }

    /// True if the L2 has acknowledged every store of this core.
    pub(crate) fn is_released(&self) -> bool {
        self.waves.releases.stores() == 0
    }

    /// Simulates cycles `from..to` of an idle core whose L1 writes back its dirty lines, at the end of a
    /// kernel (M32).
    pub(crate) fn run_release<P: Probe>(&mut self, from: Cycle, to: Cycle, ops: &MicroOps, probe: &mut P) {
        self.writes_back_all = true;
        let mut now = self.next_message(from);
        while now < to {
            let released = self.is_released();
            self.receive_reply(now);
            self.receive_accesses(now, ops, probe);
            let closing = self.closing();
            self.tick_l1(now, closing, probe);
            if !released {
                self.activity.last_activity = now;
            }
            now = self.next_message(now + 1);
        }
    }

    /// The last cycle in which something happened that the end of a kernel waits for.
    pub(crate) fn last_activity(&self) -> Cycle {
        self.activity.last_activity
    }

    /// Visits every cycle instead of skipping those in which nothing can happen.
    pub(crate) fn visit_every_cycle(&mut self) {
        self.spec.skip_idle = false;
        self.spec.settles_early = false;
    }

    /// Gives its L1 the values of memory; see [`L1::refresh`].
    pub(crate) fn refresh_l1(&mut self, line: impl Fn(u64) -> LineData) {
        self.l1.refresh(line);
    }

    /// Its L1.
    pub fn l1(&self) -> &L1 {
        &self.l1
    }

    /// Returns the L1 and the port, for the next launch.
    pub(crate) fn into_parts(self) -> (L1, MemoryPort) {
        (self.l1, self.links.port)
    }
}
