//! The dispatcher: hands the workgroups of contexts to cores that have room.

use crate::clock::{Cycle, LinkRx, LinkTx, NEVER, exchange, may_plan};
use crate::config::{Config, Dispatch};
use crate::core::Core;
use crate::core::context::Contexts;
use crate::core::grid::{ContextId, Start, position};
use crate::core::view::CoreView;
use crate::memory::BitSet;
use crate::registry::{DispatchChoice, DispatchPolicy, DispatchSetup, Maker, PlugIn, Plugged};
use wave_capture::{Capture, Misfit, Reader, Writer};
use wave_isa::program::Launch;

/// The dispatcher's ends of its links to one core.
#[derive(Debug, Capture)]
pub(crate) struct CoreLinks {
    /// Workgroups to the core.
    pub starts: LinkTx<Start>,
    /// A message for each workgroup that has ended: its context.
    pub done: LinkRx<ContextId>,
}

/// The grid of a context, and how far the dispatcher has come with it.
#[derive(Debug, Capture)]
struct Queued {
    #[spec]
    context: ContextId,
    #[spec]
    grid: [u32; 3],
    /// Workgroups of the grid.
    #[spec]
    total: u64,
    /// The workgroup that is sent next.
    next: u64,
    /// Workgroups that have ended.
    finished: u64,
}

impl Queued {
    fn new(context: ContextId, launch: &Launch) -> Queued {
        let total = launch.grid.iter().fold(1, |total: u64, &n| total.saturating_mul(n.into()));
        Queued { context, grid: launch.grid, total, next: 0, finished: 0 }
    }

    /// True if some of its workgroups are still to be sent.
    fn has_more(&self) -> bool {
        self.next < self.total
    }
}

/// Takes the contexts of its queue one after the other. Sends the workgroups of each in order of their linear index
/// x + X·(y + Y·z), each to a core with a free workgroup slot that the policy picks (rule R1). A slot is free again when
/// the core's message has arrived (rule R3).
#[derive(Debug, Capture)]
#[sound]
pub(crate) struct Dispatcher {
    cores: Vec<CoreLinks>,
    #[fixed]
    free: Vec<u32>,
    /// Sum of `free`.
    free_slots: u64,
    /// The contexts of the run, in the order in which they came. [`Queued::context`] is the place in this list.
    #[fixed]
    queue: Vec<Queued>,
    /// Workgroups that have ended, but whose messages are on their way.
    announced: u64,
    turn: usize,
    #[spec]
    policy: Dispatch,
    /// The policy of a plug-in.
    registered: Option<Plugged<dyn DispatchPolicy>>,
    #[spec]
    per_cycle: u32,
    #[spec]
    launch_cycles: Cycle,
    /// The first cycle in which workgroups go to the cores.
    ready_at: Cycle,
    last_done: Cycle,
    /// Cycle in which the first message of a core arrives.
    next_message: Cycle,
    /// Cores with something to exchange since they were last taken.
    touched: BitSet,
}

/// The policy of a plug-in that a configuration chooses.
fn registered(config: &Config, grid: [u32; 3], resident: u32) -> Option<Plugged<dyn DispatchPolicy>> {
    let Dispatch::PlugIn(chosen) = config.dispatcher.policy else { return None };
    let plug_in = chosen.plug_in();
    let Maker::Dispatch(make) = &plug_in.maker else {
        unreachable!("a configuration chooses among the plug-ins of a role");
    };
    let cores = config.cores as usize;
    let setup = DispatchSetup { values: config.plugins.of(plug_in), cores, resident, grid };
    Some(Plugged::new(plug_in, || make(&setup)))
}

impl Dispatcher {
    /// A dispatcher with these links to its cores, and an empty queue.
    pub(crate) fn new(config: &Config, cores: Vec<CoreLinks>) -> Dispatcher {
        Dispatcher {
            free: vec![0; cores.len()],
            free_slots: 0,
            touched: BitSet::new(cores.len()),
            cores,
            queue: Vec::new(),
            announced: 0,
            turn: 0,
            policy: config.dispatcher.policy,
            registered: None,
            per_cycle: config.dispatcher.workgroups_per_cycle,
            launch_cycles: Cycle::from(config.dispatcher.launch_cycles),
            ready_at: 0,
            last_done: 0,
            next_message: NEVER,
        }
    }

    /// Begins a run of contexts. No message is on its way.
    pub(crate) fn begin(&mut self, config: &Config, contexts: &Contexts, start: Cycle) {
        let alone = contexts.alone();
        let resident = alone.occupancy.workgroups;
        self.queue = contexts.iter().map(|(id, context)| Queued::new(id, context.launch())).collect();
        self.free.fill(resident);
        self.free_slots = u64::from(resident) * self.cores.len() as u64;
        self.registered = registered(config, alone.launch().grid, resident);
        (self.announced, self.turn, self.last_done, self.next_message) = (0, 0, start, NEVER);
        self.ready_at = start + self.launch_cycles;
    }

    /// Saves what is left of a run when it is over.
    pub(super) fn save_between_runs(&self, to: &mut Writer) {
        self.cores.iter().for_each(|links| links.save(to));
    }

    /// Puts back what [`save_between_runs`](Self::save_between_runs) has saved.
    ///
    /// # Errors
    /// If it does not fit.
    pub(super) fn restore_between_runs(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        self.cores.iter_mut().try_for_each(|links| links.restore(from))
    }

    /// True if no message is on its way to the cores or has come from them.
    pub(super) fn has_no_message(&self) -> bool {
        self.cores.iter().all(|links| !links.starts.has_sent() && links.done.is_empty())
    }

    fn sound(&self) -> Result<(), Misfit> {
        self.touched.check_below(self.cores.len(), "touched")?;
        Misfit::in_range(self.turn < self.cores.len(), "turn")?;
        let free = self.free.iter().map(|&free| u64::from(free)).sum::<u64>();
        Misfit::agrees(self.free_slots == free, "free_slots")?;
        let announced = self.cores.iter().map(|links| links.done.len() as u64).sum::<u64>();
        Misfit::agrees(self.announced == announced, "announced")?;
        let counts = |one: &Queued| one.next <= one.total && one.finished <= one.next;
        Misfit::in_range(self.queue.iter().all(counts), "next")
    }

    /// Refuses links whose two ends do not agree.
    pub(super) fn check_links<'c>(
        &self,
        cores: impl Iterator<Item = &'c Core>,
        now: Cycle,
    ) -> Result<(), Misfit> {
        for (core, links) in cores.zip(&self.cores) {
            Misfit::agrees(links.starts.agrees_with(&core.links.starts, now), "starts")?;
            Misfit::agrees(core.links.done.agrees_with(&links.done, now), "done")?;
            let starts = links.starts.entries().chain(core.links.starts.entries()).map(|start| start.context);
            let mut contexts = starts.chain(core.links.done.entries().chain(links.done.entries()).copied());
            Misfit::in_range(contexts.all(|context| usize::from(context) < self.queue.len()), "context")?;
        }
        Ok(())
    }

    /// Refuses links and counts that do not agree with the cores, each of which takes `resident` workgroups.
    pub(super) fn check<'c>(
        &self,
        cores: impl Iterator<Item = &'c Core> + Clone,
        resident: u32,
        now: Cycle,
    ) -> Result<(), Misfit> {
        Misfit::in_range(self.last_done <= now && may_plan(now, self.next_message), "last_done")?;
        Misfit::in_range(may_plan(now, self.ready_at), "ready_at")?;
        self.check_links(cores.clone(), now)?;
        let mut under_way = 0;
        for (core, (links, &free)) in cores.zip(self.cores.iter().zip(&self.free)) {
            let here = CoreView::of(core).workgroups_here().iter().sum::<usize>();
            let taken = here + links.starts.entries().count() + links.done.len();
            Misfit::agrees(taken + free as usize == resident as usize, "free")?;
            under_way += taken as u64;
        }
        Misfit::agrees(self.sent() - self.finished() == under_way, "finished")
    }

    /// Begins part-way, before the first cycle: so many workgroups have started, in order, and those that have not
    /// ended are in these cores.
    pub(crate) fn take_over(&mut self, started: u64, residents: impl Iterator<Item = usize>) {
        let alone = &mut self.queue[0];
        (alone.next, alone.finished) = (started, started);
        for core in residents {
            self.free[core] -= 1;
            self.free_slots -= 1;
            alone.finished -= 1;
        }
        self.turn = (started % self.cores.len() as u64) as usize;
    }

    /// Simulates cycles `from..to`.
    pub(crate) fn run(&mut self, from: Cycle, to: Cycle) {
        let mut now = self.next_event(from);
        while now < to {
            if self.next_message <= now {
                self.receive(now);
            }
            for _ in 0..self.per_cycle {
                if self.ready_at <= now && self.can_dispatch() {
                    self.dispatch_one(now);
                }
            }
            now = self.next_event(now + 1);
        }
    }

    /// Takes the messages that arrive in cycle `now`.
    fn receive(&mut self, now: Cycle) {
        self.next_message = NEVER;
        for (core, (links, free)) in self.cores.iter_mut().zip(&mut self.free).enumerate() {
            while let Some(context) = links.done.pop(now) {
                if let Some(policy) = &mut self.registered {
                    policy.tell(|policy| policy.ended(now, core));
                }
                *free += 1;
                self.free_slots += 1;
                self.queue[usize::from(context)].finished += 1;
                self.announced -= 1;
                self.last_done = now;
                self.touched.insert(core);
            }
            self.next_message = self.next_message.min(links.done.next_arrival().unwrap_or(NEVER));
        }
    }

    fn can_dispatch(&self) -> bool {
        self.free_slots > 0 && self.queue.iter().any(Queued::has_more)
    }

    fn dispatch_one(&mut self, now: Cycle) {
        let Some(place) = self.queue.iter().position(Queued::has_more) else { return };
        let core = self.pick(now, self.queue[place].next);
        let Queued { context, grid, next, .. } = &mut self.queue[place];
        let id = position(*next, *grid);
        *next += 1;
        self.cores[core].starts.push(now, Start { id, context: *context });
        self.touched.insert(core);
        self.free[core] -= 1;
        self.free_slots -= 1;
        self.turn = (core + 1) % self.cores.len();
    }

    /// The core that gets this workgroup of a grid. Some core has room.
    ///
    /// # Panics
    /// If a plug-in picks a core without room.
    fn pick(&mut self, now: Cycle, workgroup: u64) -> usize {
        let (turn, free) = (self.turn, &self.free);
        let last = (turn + free.len() - 1) % free.len();
        let in_turn = || (turn..free.len()).chain(0..turn);
        let next = || in_turn().find(|&core| free[core] > 0).unwrap_or(turn);
        match (self.policy, &mut self.registered) {
            // Of several the first.
            (Dispatch::LeastLoaded, _) => {
                in_turn().reduce(|a, b| if free[b] > free[a] { b } else { a }).unwrap_or(turn)
            }
            (Dispatch::Fill, _) if workgroup > 0 && free[last] > 0 => last,
            (Dispatch::PlugIn(_), Some(policy)) => policy.tell(|policy| {
                let core = policy.pick(&DispatchChoice { now, workgroup, free, last });
                assert!(free.get(core).is_some_and(|&free| free > 0), "core {core} has no room");
                core
            }),
            _ => next(),
        }
    }

    /// Values of the counters of the plug-in, if the policy is one's.
    pub(super) fn plug_in_counters(&self, add: &mut impl FnMut(&'static PlugIn, Vec<u64>)) {
        if let Some(policy) = &self.registered {
            add(policy.plug_in, policy.ask(|policy| policy.counters()));
        }
    }

    /// First cycle from `from` on in which there is something to do, as far as the dispatcher knows.
    pub(crate) fn next_event(&self, from: Cycle) -> Cycle {
        let sends = if self.can_dispatch() { self.ready_at } else { NEVER };
        sends.min(self.next_message).max(from)
    }

    /// True if every workgroup has ended.
    pub(crate) fn is_done(&self) -> bool {
        self.finished() == self.total()
    }

    /// True if every workgroup has ended, though messages may be on their way.
    pub(crate) fn is_ending(&self) -> bool {
        self.finished() + self.announced == self.total()
    }

    /// Workgroups sent so far.
    pub(crate) fn sent(&self) -> u64 {
        self.queue.iter().map(|one| one.next).sum()
    }

    /// The next workgroups of the context that is sent have run elsewhere, and have ended.
    pub(crate) fn pass(&mut self, workgroups: u64) {
        if let Some(one) = self.queue.iter_mut().find(|one| one.has_more()) {
            one.next += workgroups;
            one.finished += workgroups;
        }
    }

    /// Workgroups ended so far.
    pub(crate) fn finished(&self) -> u64 {
        self.queue.iter().map(|one| one.finished).sum()
    }

    /// Workgroups of all grids.
    pub(crate) fn total(&self) -> u64 {
        self.queue.iter().fold(0, |total, one| total.saturating_add(one.total))
    }

    /// The cycle in which the last message about an ended workgroup arrived.
    pub(crate) fn last_done(&self) -> Cycle {
        self.last_done
    }

    /// Takes a core with something to exchange.
    pub(crate) fn take_touched(&mut self) -> Option<usize> {
        self.touched.pop()
    }

    /// Exchanges workgroups, messages and credits between a core and the dispatcher; see [`exchange`].
    pub(crate) fn exchange(&mut self, core: usize, starts: &mut LinkRx<Start>, done: &mut LinkTx<ContextId>) {
        let links = &mut self.cores[core];
        let before = links.done.len();
        exchange(&mut links.starts, starts);
        exchange(done, &mut links.done);
        self.announced += (links.done.len() - before) as u64;
        self.next_message = self.next_message.min(links.done.next_arrival().unwrap_or(NEVER));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::link;

    /// The cores of workgroups that are sent one after the other to cores with so many free slots. The first is core 0.
    fn picks(policy: Dispatch, free: &[u32], workgroups: usize) -> Vec<usize> {
        let mut config = Config::example();
        config.dispatcher.policy = policy;
        let mut far_ends = Vec::new();
        let mut links = |_| {
            let (starts, at_core) = link(8, 1);
            let (from_core, done) = link(8, 1);
            far_ends.push((at_core, from_core));
            CoreLinks { starts, done }
        };
        let cores: Vec<CoreLinks> = free.iter().map(&mut links).collect();
        let mut dispatcher = Dispatcher::new(&config, cores);
        dispatcher.queue = [0, 1]
            .map(|context| Queued { context, grid: [100, 1, 1], total: 100, next: 0, finished: 0 })
            .into();
        dispatcher.free = free.to_vec();
        dispatcher.free_slots = free.iter().map(|&free| u64::from(free)).sum();
        let mut pick = |now| {
            let core = dispatcher.pick(now, dispatcher.sent());
            dispatcher.dispatch_one(now);
            core
        };
        (0..workgroups as u64).map(&mut pick).collect()
    }

    #[test]
    fn contexts_are_sent_one_after_the_other() {
        let config = Config::example();
        let (starts, mut at_core) = link(16, 1);
        let (_from_core, done) = link(16, 1);
        let mut dispatcher = Dispatcher::new(&config, vec![CoreLinks { starts, done }]);
        let queued = |context| Queued { context, grid: [2, 2, 1], total: 4, next: 0, finished: 0 };
        dispatcher.queue = vec![queued(0), queued(1)];
        (dispatcher.free[0], dispatcher.free_slots) = (7, 7);
        dispatcher.run(0, 10);
        assert_eq!((dispatcher.sent(), dispatcher.total(), dispatcher.is_done()), (7, 8, false));
        exchange(&mut dispatcher.cores[0].starts, &mut at_core);
        let sent: Vec<Start> = at_core.entries().copied().collect();
        let ids = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]];
        let first = ids.map(|id| Start { id, context: 0 });
        let second = ids.map(|id| Start { id, context: 1 });
        assert_eq!(sent, [&first[..], &second[..3]].concat());
        // What has run elsewhere is of the context that is sent.
        dispatcher.pass(1);
        assert_eq!(dispatcher.queue.iter().map(|one| one.finished).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn r1_each_policy_picks_its_core() {
        let free = [2, 0, 3, 1];
        assert_eq!(picks(Dispatch::RoundRobin, &free, 6), [0, 2, 3, 0, 2, 2]);
        assert_eq!(picks(Dispatch::LeastLoaded, &free, 6), [2, 0, 2, 3, 0, 2]);
        assert_eq!(picks(Dispatch::Fill, &free, 6), [0, 0, 2, 2, 2, 3]);
    }
}
