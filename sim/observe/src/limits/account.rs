//! The account of a run: how many cycles each cause took, and lower bounds that no change can beat.
//! docs/explain.md gives the formulas with these names.

use super::profile::Line;
use super::watch::Watch;
use std::collections::BTreeSet;
use wave_isa::{ExecClass, WORD_BYTES};
use wave_machine::config::Config;
use wave_machine::core::timing::UnitTiming;
use wave_machine::core::wait::Wait;
use wave_machine::gpu::KernelReport;
use wave_machine::memory::MemoryCounters;
use wave_machine::stats::SlotUse;

/// A run that has been watched.
#[derive(Debug, Clone, Copy)]
pub struct Observed<'a> {
    /// The machine.
    pub config: &'a Config,
    /// Counters of all launches together.
    pub report: &'a KernelReport,
    /// What the observer recorded.
    pub watch: &'a Watch<'a>,
}

/// A resource that serves one request at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// Issue slots.
    Issue,
    /// An execution unit, by its index in the configuration.
    Unit(usize),
    /// Banks of local memory.
    LocalBanks,
    /// Access ports of the L1s.
    L1,
    /// Ports into the L2 slices.
    RequestPorts,
    /// Ports into the cores.
    ReplyPorts,
    /// Links between routers.
    Links,
    /// L2 slices.
    L2,
    /// Banks of the L3.
    L3,
    /// Memory channels.
    Dram,
}

/// Mean latency of a device memory instruction from execution to retirement, in cycles, split into its parts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Latency {
    /// Measured total.
    pub total: f64,
    /// L1: hit latency, and the L1's part of a miss.
    pub l1: f64,
    /// Line accesses of the same instruction after the first.
    pub lines: f64,
    /// Rejections by the L1 because no MSHR was free.
    pub mshrs: f64,
    /// Rejections because the MSHR of the line had no free merge entry.
    pub merges: f64,
    /// Rejections because the queue to the interconnect was full.
    pub outgoing: f64,
    /// Interconnect latency to the L2 and back.
    pub wires: f64,
    /// Queueing at the ports into slices and cores.
    pub ports: f64,
    /// L2 hit latency.
    pub l2: f64,
    /// Queueing at the L2 slices.
    pub(crate) l2_queue: f64,
    /// L3 hit latency.
    pub l3: f64,
    /// Timing parameters of the memory device.
    pub dram: f64,
    /// Queueing at the memory channels.
    pub(crate) dram_queue: f64,
}

/// Parts of the wave cycles without a decoded instruction, which add up to 1: those of waiting for
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CodeWaits {
    /// a line of code, as long as it takes without anything in its way,
    pub line: f64,
    /// the first group behind a redirect,
    pub redirect: f64,
    /// groups from the instruction cache,
    pub group: f64,
    /// and, what is left, lines of code that queue with the data between core and memory.
    pub queue: f64,
}

/// Cycles of a run by cause. Unless stated otherwise, cycles are as a scheduler with waves sees them
/// (`Observed::cycles_of`).
#[derive(Debug, Clone)]
pub struct Account {
    /// Cycles in which kernels ran.
    pub cycles: f64,
    /// Cycles by issue-slot use. Without *empty* and *release* they add up to `cycles`.
    pub uses: [f64; SlotUse::COUNT],
    /// Cycles that each cycle saved elsewhere saves in all, because waits at barriers shrink with it.
    pub(crate) barrier_factor: f64,
    /// Busy cycles of each resource, averaged over its active instances.
    pub bounds: Vec<(Resource, f64)>,
    /// Cycles of waiting for results, by class of the producing instruction.
    pub results: [f64; CLASSES],
    /// Cycles of waiting for each execution unit.
    pub units: Vec<f64>,
    /// Cycles of waiting for register write ports.
    pub ports: f64,
    /// Cycles of waiting for the load/store unit, by class of the accesses that are blamed for the wait.
    pub lsu: [f64; CLASSES],
    /// Instructions that entered an execution unit or the load/store unit, by class.
    pub executed: [u64; CLASSES],
    /// Mean latency of a device memory instruction.
    pub latency: Latency,
    /// Mean latency of a local memory access in cycles, without the time behind device accesses in the
    /// load/store unit.
    pub local_latency: f64,
}

/// Number of instruction classes.
pub const CLASSES: usize = ExecClass::ALL.len();

/// Load above which a queue counts as full.
pub(crate) const FULL: f64 = 0.98;

impl Observed<'_> {
    /// Number of cores.
    pub fn cores(&self) -> f64 {
        f64::from(self.config.cores)
    }

    /// Number of schedulers of the machine.
    pub fn schedulers(&self) -> f64 {
        self.cores() * f64::from(self.config.core.schedulers)
    }

    /// Cycles in which kernels ran: what the account is of. The releases at their ends are a cause by themselves.
    pub fn cycles(&self) -> u64 {
        self.report.running_cycles()
    }

    /// Part of the scheduler cycles of these without a wave.
    pub fn idle(&self) -> f64 {
        let slots = &self.report.slots;
        let all = slots.iter().sum::<u64>() - slots[SlotUse::Release as usize];
        let empty = slots[SlotUse::Empty as usize];
        (empty as f64 / all.max(1) as f64).min(0.999)
    }

    /// Mean number of cores with waves.
    pub(crate) fn active_cores(&self) -> f64 {
        let cycles = self.cycles().max(1) as f64;
        (self.watch.stalls.active as f64 / cycles).clamp(0.1, self.cores())
    }

    /// Core cycles per memory clock.
    pub(crate) fn core_cycles_a_clock(&self) -> f64 {
        f64::from(self.config.core_clock_mhz) / f64::from(self.config.dram.clock_mhz)
    }

    /// Converts issue slots to cycles as a scheduler with waves sees them.
    pub fn cycles_of(&self, slots: f64) -> f64 {
        slots / (self.schedulers() * f64::from(self.config.core.issue.width) * (1.0 - self.idle()))
    }

    /// Memory-side counters without the releases at the ends of launches.
    fn memory(&self) -> MemoryCounters {
        self.report.memory.since(&self.watch.released)
    }

    fn lines(&self) -> impl Iterator<Item = &Line> {
        self.watch.profiler.profiles().iter().flat_map(|profile| &profile.lines)
    }

    /// Computes the account.
    pub fn account(&self) -> Account {
        let cycles = self.cycles() as f64;
        let mut uses = [0.0; SlotUse::COUNT];
        for &u in SlotUse::ALL.iter().filter(|&&u| !matches!(u, SlotUse::Empty | SlotUse::Release)) {
            uses[u as usize] = self.cycles_of(self.report.slots[u as usize] as f64);
        }
        let (mut units, mut ports, mut lsu) = (vec![0.0; self.config.core.units.len()], 0.0, [0.0; CLASSES]);
        let timing = UnitTiming::table(self.config);
        for (line, class) in self.lines().filter_map(|line| Some((line, line.class? as usize))) {
            lsu[class] += self.cycles_of(line.slots[SlotUse::Lsu as usize] as f64);
            let waited = self.cycles_of(line.slots[SlotUse::Unit as usize] as f64);
            let of_port = waited * line.port_share();
            ports += of_port;
            units[timing[class].unit] += waited - of_port;
        }
        let mut results = [0.0; CLASSES];
        for profile in self.watch.profiler.profiles() {
            for (&(_, producer), &slots) in &profile.waits {
                let Some(class) = profile.lines[producer as usize].class else { continue };
                results[class as usize] += self.cycles_of(slots as f64);
            }
        }
        let barrier = uses[SlotUse::Barrier as usize];
        let bounds = self.bounds();
        let latency = self.latency(&bounds, cycles);
        let (local, times) = self.service(ExecClass::LocalMemory);
        let mut local_latency = local as f64 / times.max(1) as f64;
        if latency.total > 0.0 {
            // The load/store unit works in order. Delay that the banks do not explain comes from device
            // accesses.
            let banks =
                bounds.iter().find(|(r, _)| *r == Resource::LocalBanks).map_or(0.0, |(_, busy)| *busy);
            let core = &self.report.core;
            let passes = core.local_passes as f64 / core.local_accesses.max(1) as f64;
            let own =
                f64::from(self.config.core.local.latency_cycles) + passes * (1.0 + queue(banks / cycles));
            let [local, device] = [ExecClass::LocalMemory as usize, ExecClass::DeviceMemory as usize];
            let behind = (lsu[local] - banks).max(0.0);
            let late = results[local] * (1.0 - own / local_latency.max(own));
            lsu[local] -= behind;
            results[local] -= late;
            lsu[device] += behind + late;
            local_latency = local_latency.min(own);
        }
        Account {
            cycles,
            uses,
            barrier_factor: cycles / (cycles - barrier).max(cycles / 4.0),
            bounds,
            results,
            units,
            ports,
            lsu,
            executed: self.executed(),
            latency,
            local_latency,
        }
    }

    /// Cycles that a line of code takes to come from the L2, and in the first launch from memory, where nothing is in its
    /// way: wires, L2, and the memory device.
    pub(crate) fn code_line_latency(&self) -> f64 {
        let (config, d) = (self.config, &self.config.dram);
        let clocks = f64::from(d.t_rcd + d.t_cl + d.burst_clocks());
        2.0 * f64::from(config.interconnect.latency_cycles)
            + f64::from(config.l2.hit_latency_cycles)
            + clocks * self.core_cycles_a_clock() * self.watch.cold_launches as f64
                / self.watch.launches.max(1) as f64
    }

    /// What waves without a decoded instruction waited for.
    pub fn code_waits(&self) -> CodeWaits {
        let (core, fetch) = (&self.report.core, &self.config.core.fetch);
        let waited = self.watch.stalls.waves[Wait::Fetch.index()].max(1) as f64;
        let line = (core.icache_misses as f64 * self.code_line_latency() / waited).min(1.0);
        let latency = f64::from(fetch.icache_latency_cycles);
        let redirect = (core.taken_redirects as f64 * (latency + 1.0) / waited).min(1.0 - line);
        // One fetch is sent per cycle and scheduler; the other waves queue for the arbiter.
        let turns = self.watch.stalls.active as f64 * f64::from(self.config.core.schedulers);
        let group = latency + queue(core.fetches as f64 / turns.max(1.0));
        let group = (core.fetches as f64 * group / waited).min(1.0 - line - redirect);
        CodeWaits { line, redirect, group, queue: 1.0 - line - redirect - group }
    }

    /// Number of instruction cache lines that the executed code occupies, with lines of this size and of
    /// twice this size.
    pub(crate) fn code_lines(&self, bytes: u32) -> (usize, usize) {
        let mut words = Vec::new();
        for (kernel, profile) in self.watch.program.kernels.iter().zip(self.watch.profiler.profiles()) {
            let issued = profile.lines.iter().enumerate().filter(|(_, line)| line.class.is_some());
            words.extend(issued.map(|(word, _)| kernel.code.start + word as u32));
        }
        let lines =
            |bytes: u32| words.iter().map(|word| word / (bytes / WORD_BYTES)).collect::<BTreeSet<_>>().len();
        (lines(bytes), lines(2 * bytes))
    }

    /// Sum of cycles from execution to retirement over the instructions of a class that return a value, and
    /// their number.
    fn service(&self, class: ExecClass) -> (u64, u64) {
        let of_class = self.lines().filter(|line| line.class == Some(class));
        of_class.fold((0, 0), |(cycles, times), line| (cycles + line.service, times + line.returns))
    }

    /// Instructions that entered an execution unit or the load/store unit, by class.
    fn executed(&self) -> [u64; CLASSES] {
        let mut executed = [0; CLASSES];
        for line in self.lines() {
            if let Some(class) = line.class {
                executed[class as usize] += line.issues();
            }
        }
        executed
    }

    /// Busy cycles of each resource, summed over all its instances. The memory side comes from `memory`. A
    /// memory channel counts as busy while its data bus is.
    pub fn work(&self, memory: &MemoryCounters) -> Vec<(Resource, f64)> {
        let core = &self.report.core;
        let (network, l2) = (&memory.interconnect, &memory.l2);
        let issued =
            self.report.slots[SlotUse::Issued as usize] + self.report.slots[SlotUse::Squashed as usize];
        let mut work = vec![
            (Resource::Issue, issued),
            (Resource::LocalBanks, core.local_passes),
            (Resource::L1, core.line_accesses),
            (Resource::RequestPorts, network.request_port_busy_cycles),
            (Resource::ReplyPorts, network.reply_port_busy_cycles),
            (Resource::Links, network.link_busy_cycles),
            (Resource::L2, l2.reads + l2.writes + l2.atomics),
            (Resource::L3, memory.l3.busy_cycles),
        ];
        let (timing, executed) = (UnitTiming::table(self.config), self.executed());
        for n in 0..self.config.core.units.len() {
            let held = |class: usize| {
                if timing[class].unit == n { executed[class] * timing[class].interval } else { 0 }
            };
            work.push((Resource::Unit(n), (0..CLASSES).map(held).sum()));
        }
        let mut work: Vec<_> = work.into_iter().map(|(resource, busy)| (resource, busy as f64)).collect();
        work.push((Resource::Dram, memory.dram.data_bus_busy_clocks as f64 * self.core_cycles_a_clock()));
        work
    }

    /// Busy cycles per resource, averaged over the instances that can be active: only cores and schedulers
    /// with waves.
    fn bounds(&self) -> Vec<(Resource, f64)> {
        let (config, memory) = (self.config, self.memory());
        let dram = &memory.dram;
        let cores = self.active_cores();
        let schedulers = self.schedulers() * (1.0 - self.idle());
        let slices = f64::from(config.l2.slices);
        let channels = f64::from(config.dram.channels);
        let mut bounds = self.work(&memory);
        for (resource, busy) in &mut bounds {
            *busy /= match resource {
                Resource::Issue => schedulers * f64::from(config.core.issue.width),
                Resource::Unit(_) => schedulers,
                Resource::LocalBanks | Resource::L1 => cores,
                // A packet occupies the ports at both of its ends.
                Resource::RequestPorts | Resource::ReplyPorts => cores.min(slices),
                Resource::Links => self.report.links.len().max(1) as f64,
                Resource::L2 => slices,
                Resource::L3 | Resource::Dram => channels,
            };
            if *resource == Resource::Dram {
                // Row activations have a maximum rate, and a refresh stops the channel.
                let d = &config.dram;
                let activates = dram.activates as f64 / channels;
                let clocks = (activates * f64::from(d.t_rrd_s).max(f64::from(d.t_faw) / 4.0))
                    .max(activates * f64::from(d.t_rc) / f64::from(d.banks));
                let refresh = dram.refreshes as f64 / channels * f64::from(d.t_rfc);
                *busy = busy.max(clocks * self.core_cycles_a_clock()) + refresh * self.core_cycles_a_clock();
            }
            *busy = busy.min(self.cycles() as f64);
        }
        bounds
    }

    fn latency(&self, bounds: &[(Resource, f64)], cycles: f64) -> Latency {
        let (report, config, memory) = (self.report, self.config, self.memory());
        let (sum, count) = self.service(ExecClass::DeviceMemory);
        if count == 0 {
            return Latency::default();
        }
        let total = sum as f64 / count as f64;
        let (core, l1, l2, dram) = (&report.core, &report.l1, &memory.l2, &memory.dram);
        let instructions = (core.device_loads + core.device_stores + core.device_atomics).max(1) as f64;
        let lines = core.line_accesses as f64 / instructions;
        let part = |n: u64, of: u64| n as f64 / of.max(1) as f64;
        let looked_up =
            l1.hits + l1.mshr_hits + l1.sector_misses + l1.misses + l1.uncached_loads + l1.remote_atomics;
        let hits = part(l1.hits, looked_up);
        // An instruction waits for its slowest access.
        let missing = 1.0 - hits.powf(lines);
        let misses = lines * (1.0 - hits);
        let asked = l2.hits + l2.mshr_hits + l2.sector_misses + l2.misses;
        let l2_hits = part(l2.hits, asked);
        let behind_l2 = missing * (1.0 - l2_hits.powf(misses.max(1.0)));
        let l3 = &memory.l3;
        let l3_hits = part(l3.hits, l3.reads + l3.writes);
        let to_memory = behind_l2 * (1.0 - l3_hits);
        let l3_latency = if config.l3.is_there() { f64::from(config.l3.hit_latency_cycles) } else { 0.0 };
        let d = &config.dram;
        let opened = dram.row_hits + dram.row_empties + dram.row_conflicts;
        let clocks = f64::from(d.t_cl + d.burst_clocks())
            + part(dram.row_empties, opened) * f64::from(d.t_rcd)
            + part(dram.row_conflicts, opened) * f64::from(d.t_rcd + d.t_rp);
        let mut latency = Latency {
            total,
            l1: (1.0 - missing) * f64::from(config.core.l1.hit_latency_cycles) + missing * 2.0,
            lines: (lines - 1.0).max(0.0),
            wires: missing * 2.0 * f64::from(config.interconnect.latency_cycles),
            l2: missing * f64::from(config.l2.hit_latency_cycles),
            l3: behind_l2 * l3_latency,
            dram: to_memory * clocks * self.core_cycles_a_clock(),
            ..Latency::default()
        };
        // The remainder is waiting. L1 rejections are measured; the rest is split in proportion to (rho / (1
        // - rho))² times the service time.
        let mut waiting = total - latency.l1 - latency.lines - latency.unloaded_behind_l1();
        if waiting <= 0.0 {
            latency.shrink(total);
            return latency;
        }
        let rejected = (l1.reservation_fail_cycles as f64 / instructions).min(waiting);
        let of_rejected = |n: u64| rejected * part(n, l1.reservation_fails);
        latency.mshrs = of_rejected(l1.fails_mshr);
        latency.merges = of_rejected(l1.fails_merge);
        latency.outgoing = of_rejected(l1.fails_outgoing);
        waiting -= latency.mshrs + latency.merges + latency.outgoing;
        let load = |resource: Resource| {
            let busy = bounds.iter().find(|(r, _)| *r == resource).map_or(0.0, |(_, busy)| *busy);
            // Squared, because an access that waits in one queue is absent from the others: they gather
            // before the busiest.
            queue(busy / cycles).powi(2)
        };
        let network = &memory.interconnect;
        let request = part(network.request_port_busy_cycles, network.requests);
        let reply = part(network.reply_port_busy_cycles, network.replies);
        let bursts = part(dram.reads + dram.writes, dram.requests);
        let burst = f64::from(d.burst_clocks().max(d.t_ccd_s)) * self.core_cycles_a_clock() * bursts;
        let weights = [
            load(Resource::L1),
            (load(Resource::RequestPorts) * request + load(Resource::ReplyPorts) * reply) * missing,
            load(Resource::L2) * missing,
            load(Resource::Dram) * burst * to_memory.max(0.05),
        ];
        let all: f64 = weights.iter().sum::<f64>().max(1e-9);
        let [lines, ports, l2_queue, dram_queue] = weights.map(|w| waiting * w / all);
        latency.lines += lines;
        (latency.ports, latency.l2_queue, latency.dram_queue) = (ports, l2_queue, dram_queue);
        latency
    }
}

/// Mean wait at a server with this load, in service times: load / (1 - load).
pub fn queue(load: f64) -> f64 {
    let load = load.clamp(0.0, FULL);
    load / (1.0 - load)
}

impl Latency {
    /// What is behind the L1, without queues.
    pub(crate) fn unloaded_behind_l1(&self) -> f64 {
        self.wires + self.l2 + self.l3 + self.dram
    }

    /// Scales the parts so that their sum is the total.
    fn shrink(&mut self, total: f64) {
        let sum = (self.l1 + self.lines + self.unloaded_behind_l1()).max(1e-9);
        let Latency { l1, lines, wires, l2, l3, dram, .. } = self;
        [l1, lines, wires, l2, l3, dram].into_iter().for_each(|part| *part *= total / sum);
    }
}

impl Account {
    /// Cycles of an issue-slot use.
    pub fn of(&self, slot_use: SlotUse) -> f64 {
        self.uses[slot_use as usize]
    }

    /// Busy cycles of a resource.
    pub fn busy(&self, resource: Resource) -> f64 {
        self.bounds.iter().find(|(r, _)| *r == resource).map_or(0.0, |(_, busy)| *busy)
    }

    /// Upper bound for the cycles saved if the `eased` resources become twice as fast: the busiest resource
    /// still needs its time.
    pub fn most(&self, eased: &[Resource]) -> f64 {
        let after = |&(r, busy): &(Resource, f64)| if eased.contains(&r) { busy / 2.0 } else { busy };
        (self.cycles - self.bounds.iter().map(after).fold(0.0, f64::max)).max(0.0)
    }

    /// Cycles of the run without the extra time that barriers add to other waits.
    pub(crate) fn passed_on(&self) -> f64 {
        self.cycles / self.barrier_factor
    }

    /// Cycles of waiting for results of this class.
    pub fn of_class(&self, class: ExecClass) -> f64 {
        self.results[class as usize]
    }

    /// Cycles of waiting for device memory: for values, and at a fence or barrier that waits for accesses.
    pub fn device(&self) -> f64 {
        let has_device = self.latency.total > 0.0;
        self.of_class(ExecClass::DeviceMemory) + if has_device { self.of(SlotUse::Fence) } else { 0.0 }
    }

    /// Cycles of waiting for local memory. Includes fences and barriers if the run has no device accesses.
    pub fn local(&self) -> f64 {
        let has_device = self.latency.total > 0.0;
        self.of_class(ExecClass::LocalMemory) + if has_device { 0.0 } else { self.of(SlotUse::Fence) }
    }

    /// Fraction of the wave cycles of the stall reasons `of` that have the reason `one`.
    pub fn share(&self, observed: &Observed<'_>, one: Wait, of: &[Wait]) -> f64 {
        let stalls = &observed.watch.stalls.waves;
        let sum: u64 = of.iter().map(|&s| stalls[s.index()]).sum();
        stalls[one.index()] as f64 / sum.max(1) as f64
    }
}
