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
        for core in self.cores.iter() {
            core.l1().save(to);
            core.links.save(to);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::NEVER;
    use crate::core::context::Context;
    use crate::core::cycle::stages_of;
    use crate::core::probe::Off;
    use crate::gpu::run::Run;
    use crate::gpu::{RunOptions, Stop};
    use wave_isa::program::{Launch, Program, assemble};

    /// Two kernels that differ in registers, local memory and code. They leave lines in the L1, rows in the registers and
    /// bytes in local memory.
    fn program() -> Program {
        let kernel = |name: &str, registers: u32, local: u32, loads: u32| {
            let head = format!(".kernel {name}\n.registers {registers}\n.workgroup_size 64, 1, 1\n");
            let local =
                format!(".local_memory {local}\nmov_sr r0, sr_thread_id_x\nmov_imm r1, 2\nshl r0, r0, r1\n");
            let load = "device_load_u32 r2, r0\nlocal_store_u32 r0, r2\nbarrier\n".repeat(loads as usize);
            format!("{head}{local}{load}device_store_u32 r0, r2\nhalt\n.end\n")
        };
        let text = kernel("first", 8, 256, 3) + &kernel("second", 13, 512, 1);
        assemble(&text, "two.wave").map_err(|errors| format!("{errors:?}")).expect("a program").0
    }

    /// A core that has run a launch begins the next one as a core that was just made: no launch depends on the one before
    /// but by what the machine keeps.
    #[test]
    fn a_core_that_has_run_begins_as_a_new_one() {
        let (config, program) = (Config::example(), program());
        let context =
            |kernel| Context::new(&config, &program, &Launch::of(&program, kernel, [9, 1, 1])).unwrap();
        let memory = || MemorySystem::new(&config, vec![0; 4096], &program.code);
        let (mut used_memory, ports) = memory();
        let blocks = Box::new(Blocks::new(&config, ports));
        let first = Contexts::of_one(context(0));
        let mut run = Run::new(&config, first, &RunOptions::UNBOUNDED, (&mut used_memory, blocks, 0));
        let stop = run.advance(&mut used_memory, NEVER, &mut Off, &mut |_| {});
        assert!(matches!(stop, Ok(Stop::Ended(_))), "{stop:?}");
        let (start, mut used) = (run.now(), run.into_blocks());
        let mut new = Blocks::new(&config, memory().1);
        let differ = |used: &Blocks, new: &Blocks| {
            let mut pairs = used.cores.iter().zip(new.cores.iter());
            pairs.position(|(used, new)| stages_of(used) != stages_of(new))
        };
        assert_eq!(differ(&used, &new), Some(0), "a launch leaves traces");
        // Between runs a machine is saved with what survives a launch, and with nothing else.
        let bytes = |blocks: &Blocks| {
            let mut to = Writer::default();
            blocks.save(&mut to);
            to.into_bytes()
        };
        let saved = bytes(&used);
        let mut restored = Blocks::new(&config, memory().1);
        assert!(bytes(&restored) != saved);
        restored.restore(&mut Reader::new(&saved)).unwrap();
        assert_eq!((bytes(&restored) == saved, differ(&used, &restored)), (true, Some(0)));
        let second = Contexts::of_one(context(1));
        let core_run = CoreRun { start, device_bytes: 4096, keeps_journal: false, every_cycle: false };
        used.begin(&config, &second, &core_run, 2);
        new.begin(&config, &second, &core_run, 1);
        restored.begin(&config, &second, &core_run, 1);
        assert_eq!((differ(&used, &new), differ(&used, &restored)), (None, None));
        assert!(bytes(&restored) == bytes(&used) && bytes(&new) != bytes(&used));
        // What the machine keeps, it keeps.
        let counted =
            |blocks: &Blocks| blocks.cores.iter().map(|core| core.l1().counters().misses).sum::<u64>();
        assert!(counted(&used) > 0 && counted(&new) == 0);
    }
}
