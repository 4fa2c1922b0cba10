//! The cores of a machine and its dispatcher, joined by links. They live as long as the machine; a run has them while it
//! lasts.

use super::dispatcher::{CoreLinks, Dispatcher};
use super::team::{Cores, useful_threads};
use crate::clock::{Cycle, END_OF_TIME, link};
use crate::config::Config;
use crate::core::context::Contexts;
use crate::core::fetch::ICACHE_TAG;
use crate::core::{Core, CoreRun, Links};
use crate::memory::{L1, MemoryPort, MemorySystem};
use wave_capture::{Capture, Misfit, Reader, Writer};

/// The blocks that run the waves of contexts.
#[derive(Debug)]
pub(super) struct Blocks {
    pub cores: Cores,
    pub dispatcher: Dispatcher,
}

/// Between runs the blocks keep what docs/memory.md lets survive a launch: L1s, ports and links. Everything else begins
/// anew with the next run.
impl Capture for Blocks {
    fn save(&self, to: &mut Writer) {
        self.cores.iter().for_each(|core| core.save_between_runs(to));
        self.dispatcher.save_between_runs(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        self.cores.iter_mut().try_for_each(|core| core.restore_between_runs(from))?;
        self.dispatcher.restore_between_runs(from)
    }

    fn blank() -> Option<Self> {
        None
    }

    fn describe(to: &mut String) {
        to.push_str("Blocks{");
        L1::describe(to);
        Links::describe(to);
        CoreLinks::describe(to);
        to.push('}');
    }
}

impl Blocks {
    /// The blocks of a machine whose cores have these ports.
    pub(super) fn new(config: &Config, ports: Vec<MemoryPort>) -> Blocks {
        let latency = Cycle::from(config.dispatcher.latency_cycles);
        // The dispatcher sends no more than there are free slots, so these queues cannot fill up.
        let (resident, on_the_way) = (config.core.max_workgroups as usize, latency as usize);
        let mut core_links = Vec::with_capacity(ports.len());
        let core = |(port, index): (MemoryPort, u32)| {
            let (starts_tx, starts) = link(resident + on_the_way, latency);
            let (done, done_rx) = link(resident + 2 * on_the_way, latency);
            core_links.push(CoreLinks { starts: starts_tx, done: done_rx });
            Core::new(config, index, L1::new(config, index), Links { port, starts, done })
        };
        let cores: Vec<Core> = ports.into_iter().zip(0..).map(core).collect();
        Blocks { cores: Cores::new(cores, 1, 0), dispatcher: Dispatcher::new(config, core_links) }
    }

    /// Begins a run of contexts with so many threads.
    pub(super) fn begin(&mut self, config: &Config, contexts: &Contexts, run: &CoreRun, threads: usize) {
        self.cores.begin(useful_threads(threads, config.cores), run.start);
        self.cores.iter_mut().for_each(|core| core.begin(config, contexts, run));
        self.dispatcher.begin(config, contexts, run.start);
    }

    /// Refuses what a machine without a run cannot hold.
    pub(super) fn check(&self, config: &Config, memory: &MemorySystem, now: Cycle) -> Result<(), Misfit> {
        Misfit::in_range(now <= END_OF_TIME, "now")?;
        let bounds = memory.bounds(config, now);
        let packets = memory.check(&bounds, self.cores.iter().map(|core| &core.links.port));
        let packets = packets.map_err(|misfit| misfit.within("memory"))?;
        for (core, packets) in self.cores.iter().zip(packets) {
            packets.check(core.l1(), &bounds, ICACHE_TAG).map_err(|misfit| misfit.within("cores"))?;
        }
        self.dispatcher.check_links(self.cores.iter(), now).map_err(|misfit| misfit.within("dispatcher"))?;
        let is_empty = |links: &Links| links.starts.is_empty() && links.done.entries().next().is_none();
        let is_over = self.cores.iter().all(|core| is_empty(&core.links)) && self.dispatcher.has_no_message();
        Misfit::agrees(is_over, "dispatcher")
    }
}
