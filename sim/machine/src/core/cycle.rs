//! A core, and the stages of a cycle in their order: consumers before producers, so a latch that is emptied in a cycle can be
//! filled in the same cycle (rule P1).

use super::account::Account;
use super::context::Contexts;
use super::decode::Decode;
use super::dispatch::Dispatch;
use super::fetch::{Fetch, FetchStage};
use super::grid::{ContextId, Start, Workgroup};
use super::issue::Issue;
use super::latches::Latches;
use super::lsu::local::LocalMemory;
use super::lsu::{LoadStore, Lsu};
use super::operand_read::OperandRead;
use super::probe::{Probe, tell_packet};
use super::registers::RegisterFile;
use super::reply::Receive;
use super::resolve::Resolve;
use super::retire::Retirement;
use super::scheduler::Scheduler;
use super::scheduling::{next_choice, tell_events};
use super::shared::Shared;
use super::spec::{CoreRun, Spec};
use super::wave::Waves;
use super::workgroup::{Arrival, Departure};
use super::writeback::WriteBack;
use crate::clock::{Cycle, LinkRx, LinkTx, NEVER};
use crate::config::Config;
use crate::memory::{L1, LineData, MemoryPort};
use wave_capture::{Capture, Misfit, Reader};
use wave_isa::program::Fault;

/// The core's ends of its links.
#[derive(Debug, Capture)]
pub struct Links {
    /// To and from the memory side.
    pub port: MemoryPort,
    /// Workgroups from the dispatcher.
    pub starts: LinkRx<Start>,
    /// One message to the dispatcher for each workgroup that has ended: its context.
    pub done: LinkTx<ContextId>,
}

/// One core of the machine.
#[derive(Debug, Capture)]
#[sound]
pub struct Core {
    pub(super) shared: Shared,
    pub(super) schedulers: Vec<Scheduler>,
    pub(super) latches: Latches,
    pub(super) fetch: Fetch,
    pub(super) file: RegisterFile,
    pub(super) lsu: Lsu,
    pub(super) local: LocalMemory,
    pub(super) l1: L1,
    /// Links to the dispatcher and the memory side.
    pub links: Links,
    /// First cycle in which a stage of the pipeline can act without a message. The load/store unit and the L1 are asked
    /// apart.
    pub(super) wake: Cycle,
    /// The last cycle that was simulated while the core was not idle.
    pub(super) last_activity: Cycle,
    /// Set at the end of a kernel: the L1 writes back all its dirty lines (M32).
    writes_back_all: bool,
}

impl Core {
    /// A core without a context.
    pub(crate) fn new(config: &Config, index: u32, l1: L1, links: Links) -> Core {
        let c = &config.core;
        let spec = Spec::new(config, index);
        let schedulers = c.schedulers as usize;
        Core {
            schedulers: (0..schedulers).map(|number| Scheduler::new(config, &spec, number, 0)).collect(),
            latches: Latches::new(schedulers, c.max_waves as usize, &spec.units),
            fetch: Fetch::new(config),
            file: RegisterFile::new(&spec),
            lsu: Lsu::new(config, 0),
            local: LocalMemory::new(config, 0, 0),
            l1,
            links,
            shared: Shared {
                waves: Waves::new(config),
                workgroups: vec![Workgroup::default(); c.max_workgroups as usize],
                account: Account::new(0),
                spec,
            },
            wake: NEVER,
            last_activity: 0,
            writes_back_all: false,
        }
    }

    /// Begins a run of contexts. The core is idle. Earlier runs are left in the L1, the port and the links only; the
    /// stages begin as when the core was made, with an empty instruction cache and after an acquire (M32).
    pub(crate) fn begin(&mut self, config: &Config, contexts: &Contexts, run: &CoreRun) {
        let Core { shared, schedulers, latches, fetch, file, lsu, local, l1, .. } = &mut *self;
        let CoreRun { start, device_bytes, keeps_journal, .. } = *run;
        let Shared { spec, waves, workgroups, account } = shared;
        let context = contexts.alone();
        spec.begin(run);
        waves.clear(config, context);
        workgroups.fill(Workgroup::default());
        *account = Account::new(start);
        for (number, scheduler) in schedulers.iter_mut().enumerate() {
            *scheduler = Scheduler::new(config, spec, number, start);
        }
        latches.clear(schedulers.len(), config.core.max_waves as usize);
        fetch.clear();
        file.divide(context, spec.width, keeps_journal);
        *lsu = Lsu::new(config, device_bytes);
        let (parts, launch) = (context.occupancy.workgroups as usize, context.launch());
        *local = LocalMemory::new(config, parts, launch.local_memory_bytes);
        l1.set_memory_bytes(device_bytes);
        // The last launch and the host may have written anything.
        l1.begin(launch.local_memory_bytes * context.occupancy.workgroups);
        (self.wake, self.last_activity, self.writes_back_all) = (NEVER, start, false);
    }

    /// Puts back what is left of a run when it is over: the L1 and the links.
    ///
    /// # Errors
    /// If it does not fit.
    pub(crate) fn restore_between_runs(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        self.l1.restore(from)?;
        self.links.restore(from)
    }

    /// Index of the core.
    pub fn index(&self) -> u32 {
        self.shared.spec.index
    }

    /// Instructions that have left an instruction buffer, squashed ones included.
    pub fn instructions(&self) -> u64 {
        self.shared.account.instructions
    }

    /// Simulates cycles `from..to`. Cycles in which nothing can happen are skipped. Returns the first cycle from `to` on
    /// in which it has something to do if no message comes.
    ///
    /// # Errors
    /// The first fault of a kernel in these cycles; the core must not be run again.
    // Never inlined, so that its machine code does not depend on the caller.
    #[inline(never)]
    pub(crate) fn run<P: Probe>(
        &mut self,
        from: Cycle,
        to: Cycle,
        contexts: &Contexts,
        probe: &mut P,
    ) -> Result<Cycle, Box<Fault>> {
        let mut now = self.next_visit(from);
        while now < to {
            let idle = self.is_idle();
            self.tick(now, contexts, probe)?;
            // Lines of code that no wave waits for may come to an idle core, also after the kernel's end.
            if !(idle && self.is_idle()) {
                self.last_activity = now;
            }
            now = self.next_visit(now + 1);
        }
        Ok(now)
    }

    /// The cycle to simulate next.
    fn next_visit(&self, from: Cycle) -> Cycle {
        if self.shared.spec.skip_idle { self.next_wake(from) } else { from }
    }

    /// Simulates one cycle. The calls are in the order of the stages, consumers first (rule P1). In many cycles only
    /// something between the load/store unit and the port moves; then the stages around that are left out.
    fn tick<P: Probe>(&mut self, now: Cycle, contexts: &Contexts, probe: &mut P) -> Result<(), Box<Fault>> {
        let Core { shared, schedulers, latches, fetch, file, lsu, local, l1, links, wake, .. } = self;
        let Latches { fetch_to_decode: groups, issued, read, execute_to_write_back: completions } = latches;
        if !shared.spec.skip_idle {
            // Visiting every cycle: look everywhere, to test that skipping changes nothing.
            shared.waves.look_again((1 << schedulers.len()) - 1);
            read.to_dispatch.all_by(0);
            read.to_lsu.have_room(0);
        }
        let begins = *wake <= now
            || !shared.spec.skip_idle
            || links.starts.next_arrival().is_some_and(|at| at <= now)
            || fetch.wants_port()
            || shared.waves.releases.wants_port();
        if begins {
            Arrival { shared, schedulers, file, local, starts: &mut links.starts }.tick(now, contexts);
            let departure = Departure { shared, schedulers, done: &mut links.done };
            let mut resolve = Resolve { departure, issued, fetch, groups, l1 };
            resolve.tick(now, contexts, probe);
            resolve.end_shadows(now);
            shared.waves.look_at_releases();
            // The instruction cache sends first: without code nothing moves.
            fetch.send_miss(now, &mut links.port, probe);
            let line_bytes = shared.spec.line_bytes;
            shared.waves.releases.ask(now, line_bytes, &mut links.port, probe);
            let retirement = Retirement { shared, file, to_resolve: &mut issued.to_resolve };
            WriteBack { retirement, schedulers, completions, lsu }.tick(now, contexts, probe);
        }
        if (Receive { shared, fetch, l1, lsu, port: &mut links.port }).tick(now) {
            tell_events(l1, shared, schedulers);
        }
        let retirement = Retirement { shared, file, to_resolve: &mut issued.to_resolve };
        let mut access = LoadStore { lsu, l1, local, retirement, queue_room: &mut read.to_lsu };
        if access.l1.next_response().min(access.lsu.next_result()) <= now {
            access.receive(now, contexts, probe);
        }
        if access.try_latch(now, contexts, probe) {
            tell_events(access.l1, access.retirement.shared, schedulers);
        }
        access.tick(now, contexts, probe)?;
        if begins || shared.waves.stale() != 0 || fetch.has_filled() {
            // Fetch does not see the shadows that begin by an issue in this cycle (F1).
            let shadow = shared.waves.shadow;
            Dispatch { shared, schedulers, file, issued, read, completions, lsu }.tick(now, contexts, probe);
            OperandRead { shared, schedulers, file, issued, read, completions }.tick(now, contexts, probe);
            Issue { shared, schedulers, file, latches: issued, completions }.tick(now, contexts, probe)?;
            Decode { shared, groups }.tick(now, contexts, probe);
            let mut stage = FetchStage { shared, schedulers, groups };
            let requested = fetch.tick(now, shadow, &mut stage, contexts, probe);
            self.wake = if requested { now + 1 } else { self.next_event(now) };
        } else {
            self.wake = self.wake.min(self.handed_on(now));
        }
        let closing = self.closing();
        if closing != 0 || self.l1.leaves_from() <= now || self.l1.prefetches_from() <= now {
            self.tick_l1(now, closing, probe);
        }
        Ok(())
    }

    /// True if the instruction cache or a release has something to send.
    #[inline]
    fn wants_port(&self) -> bool {
        self.fetch.wants_port() || self.shared.waves.releases.wants_port()
    }

    /// Lets the L1 send its oldest request.
    #[inline]
    fn tick_l1<P: Probe>(&mut self, now: Cycle, closing: u8, probe: &mut P) {
        let core = self.shared.spec.index;
        self.l1
            .tick(now, &mut self.links.port, closing, &mut |request| tell_packet(now, core, request, probe));
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

    /// First cycle after `now` in which a stage of the pipeline can act on what the load/store unit, the L1 and retirement
    /// hand it in this cycle.
    #[inline]
    fn handed_on(&self, now: Cycle) -> Cycle {
        let Latches { issued, read, .. } = &self.latches;
        if self.shared.waves.has_changed() || self.lsu.returns() || !issued.to_resolve.is_empty() {
            return now + 1;
        }
        read.to_lsu.at()
    }

    /// First cycle after `now` in which a stage of the pipeline can act without a message.
    fn next_event(&self, now: Cycle) -> Cycle {
        let Latches { fetch_to_decode: groups, issued, read, execute_to_write_back: completions } =
            &self.latches;
        if self.shared.waves.stale() != 0 || !issued.to_dispatch.is_empty() || read.settled != 0 {
            return now + 1;
        }
        let handed_on = self.handed_on(now);
        if handed_on <= now + 1 {
            return now + 1;
        }
        let departure = read.to_dispatch.first().min(issued.to_operands.first()).min(handed_on);
        departure
            .max(now + 1)
            .min(issued.shadows.next_end())
            .min(next_choice(&self.shared, &self.schedulers))
            .min(completions.next_due(now))
            .min(groups.next_arrival())
    }

    /// The next cycle in which the core has something to do; [`NEVER`] if only a message can wake it.
    pub(crate) fn next_wake(&self, from: Cycle) -> Cycle {
        if self.wake.min(self.l1.next_response()) <= from {
            return from;
        }
        self.wake.min(self.next_message(from))
    }

    /// True if it has sent messages or credits that are not carried across yet.
    pub(crate) fn has_sent(&self) -> bool {
        let Links { port, starts, done } = &self.links;
        port.has_sent() || done.has_sent() || starts.has_returned()
    }

    /// True if no wave is resident and no store is on its way to the L2. An L1 that writes back may hold
    /// dirty lines.
    pub fn is_idle(&self) -> bool {
        self.shared.waves.resident == 0 && self.shared.waves.releases.stores() == self.l1.dirty_lines()
    }

    /// Bit e: epoch e of the stores is being closed (B6).
    fn closing(&self) -> u8 {
        if self.writes_back_all { 3 } else { self.shared.waves.releases.closing() }
    }

    /// True if the L2 has acknowledged every store of this core.
    pub(crate) fn is_released(&self) -> bool {
        self.shared.waves.releases.stores() == 0
    }

    /// Simulates cycles `from..to` of an idle core whose L1 writes back its dirty lines, at the end of a
    /// kernel (M32).
    pub(crate) fn run_release<P: Probe>(
        &mut self,
        from: Cycle,
        to: Cycle,
        contexts: &Contexts,
        probe: &mut P,
    ) {
        self.writes_back_all = true;
        let mut now = self.next_message(from);
        while now < to {
            let released = self.is_released();
            let Core { shared, schedulers, latches, fetch, file, lsu, local, l1, links, .. } = &mut *self;
            if (Receive { shared, fetch, l1, lsu, port: &mut links.port }).tick(now) {
                tell_events(l1, shared, schedulers);
            }
            let retirement = Retirement { shared, file, to_resolve: &mut latches.issued.to_resolve };
            LoadStore { lsu, l1, local, retirement, queue_room: &mut latches.read.to_lsu }
                .receive(now, contexts, probe);
            let closing = self.closing();
            self.tick_l1(now, closing, probe);
            if !released {
                self.last_activity = now;
            }
            now = self.next_message(now + 1);
        }
    }

    /// The last cycle in which something happened that the end of a kernel waits for.
    pub(crate) fn last_activity(&self) -> Cycle {
        self.last_activity
    }

    /// Settles the accounts at `end`, the cycle after the kernel's last one. The core must be idle. Later cycles belong to
    /// the release.
    pub(crate) fn finish(&mut self, end: Cycle) {
        let Shared { account, spec, .. } = &mut self.shared;
        self.schedulers.iter_mut().for_each(|scheduler| account.finish(scheduler, end, spec.issue_width));
    }

    /// Settles the accounts at the cycle in which the next launch can start.
    pub(crate) fn close(&mut self, next_start: Cycle) {
        let Shared { account, spec, .. } = &mut self.shared;
        account.counters.cycles = next_start - account.start;
        self.schedulers
            .iter_mut()
            .for_each(|scheduler| account.settle(scheduler, next_start, spec.issue_width));
    }

    /// Gives its L1 the values of memory; see [`L1::refresh`].
    pub(crate) fn refresh_l1(&mut self, line: impl Fn(u64) -> LineData) {
        self.l1.refresh(line);
    }

    /// Its L1.
    pub fn l1(&self) -> &L1 {
        &self.l1
    }
}

/// All of a core that a run begins anew, as text and bytes.
#[cfg(test)]
pub(crate) fn stages_of(core: &Core) -> (String, Vec<u8>) {
    let mut to = wave_capture::Writer::default();
    let Core { shared, schedulers, latches, fetch, file, lsu, local, wake, last_activity, .. } = core;
    schedulers.save(&mut to);
    latches.save(&mut to);
    fetch.save(&mut to);
    file.save(&mut to);
    lsu.save(&mut to);
    local.save(&mut to);
    wake.save(&mut to);
    last_activity.save(&mut to);
    core.writes_back_all.save(&mut to);
    (format!("{shared:?}"), to.into_bytes())
}
