//! The account of a run: where its cycles went, cause by cause, and what no change can go below. docs/explain.md
//! gives the formulas with these names.

use super::profile::Profile;
use crate::config::Config;
use crate::core::probe::IssueStall;
use crate::gpu::KernelReport;
use crate::isa::ExecClass;
use crate::stats::SlotUse;

/// A run that was watched.
#[derive(Debug, Clone, Copy)]
pub struct Observed<'a> {
    /// The machine.
    pub config: &'a Config,
    /// The launches added up.
    pub report: &'a KernelReport,
    /// How many they were.
    pub launches: u64,
    /// What the observer saw.
    pub profile: &'a Profile,
}

/// Something that serves one thing after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// Issue slots of the schedulers.
    Issue,
    /// A unit, by its place in the configuration.
    Unit(usize),
    /// Banks of local memory.
    LocalBanks,
    /// The access port of the L1s.
    L1,
    /// The ports into the slices.
    RequestPorts,
    /// The ports into the cores.
    ReplyPorts,
    /// The slices.
    L2,
    /// The memory channels.
    Dram,
}

/// Of an average device access of a wave, from execution to retirement: cycles that each part takes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Latency {
    /// All of it, as measured.
    pub total: f64,
    /// Hits in the L1, and its part in misses.
    pub l1: f64,
    /// Further line accesses of the same instruction.
    pub lines: f64,
    /// Rejections by the L1 for want of an MSHR.
    pub mshrs: f64,
    /// The same for want of room at the line.
    pub merges: f64,
    /// The same for want of room towards the interconnect.
    pub outgoing: f64,
    /// Wires to the L2 and back.
    pub wires: f64,
    /// Waiting for the ports into the slices, and into the cores.
    pub ports: f64,
    /// Hit latency of the L2.
    pub l2: f64,
    /// Waiting at the slices.
    pub l2_queue: f64,
    /// Timings of the memory device.
    pub dram: f64,
    /// Waiting for a memory channel.
    pub dram_queue: f64,
}

/// The account.
#[derive(Debug, Clone)]
pub struct Account {
    /// Cycles.
    pub cycles: f64,
    /// Cycles by issue-slot use as a scheduler with waves sees them: without *empty* they add up to `cycles`.
    pub uses: [f64; SlotUse::COUNT],
    /// What barriers hand on: each cycle saved elsewhere saves so many.
    pub barrier_factor: f64,
    /// Busy cycles of each resource, over its instances.
    pub bounds: Vec<(Resource, f64)>,
    /// The average device access.
    pub latency: Latency,
    /// Cycles of an average access to local memory.
    pub local_latency: f64,
}

/// Load beyond which a queue is taken as full.
const FULL: f64 = 0.98;

impl Observed<'_> {
    /// Number of cores.
    pub fn cores(&self) -> f64 {
        f64::from(self.config.cores)
    }

    /// Number of schedulers of the machine.
    pub fn schedulers(&self) -> f64 {
        self.cores() * f64::from(self.config.core.schedulers)
    }

    /// Part of the scheduler cycles without a wave.
    pub fn idle(&self) -> f64 {
        let all: u64 = self.report.slots.iter().sum();
        let empty = self.report.slots[SlotUse::Empty as usize];
        (empty as f64 / all.max(1) as f64).min(0.999)
    }

    /// Cores that have waves, on average.
    pub fn active_cores(&self) -> f64 {
        let cycles = self.report.cycles.max(1) as f64;
        (self.profile.totals.active as f64 / cycles).clamp(0.1, self.cores())
    }

    /// Cycles of the core in a memory clock.
    pub fn core_cycles_a_clock(&self) -> f64 {
        f64::from(self.config.core_clock_mhz) / f64::from(self.config.dram.clock_mhz)
    }

    /// Makes the account.
    pub fn account(&self) -> Account {
        let cycles = self.report.cycles as f64;
        let slots = self.schedulers() * f64::from(self.config.core.issue.width);
        let raw = |u: SlotUse| self.report.slots[u as usize] as f64 / slots;
        let scale = 1.0 / (1.0 - self.idle());
        let mut uses = [0.0; SlotUse::COUNT];
        for &u in SlotUse::ALL.iter().filter(|&&u| u != SlotUse::Empty) {
            uses[u as usize] = raw(u) * scale;
        }
        let barrier = uses[SlotUse::Barrier as usize];
        let local = self.profile.totals.latency[ExecClass::LocalMemory as usize];
        let bounds = self.bounds();
        let latency = self.latency(&bounds, cycles);
        Account {
            cycles,
            uses,
            barrier_factor: cycles / (cycles - barrier).max(cycles / 4.0),
            bounds,
            latency,
            local_latency: local.1 as f64 / local.0.max(1) as f64,
        }
    }

    /// Cycles that an instruction of a class holds its unit.
    pub fn hold(&self, unit: usize, class: usize) -> f64 {
        let unit = &self.config.core.units[unit];
        let groups = self.config.core.wave_width.div_ceil(unit.lanes);
        let passes = unit.classes.iter().find(|c| c.class as usize == class).map_or(0, |c| c.passes);
        f64::from(groups * passes)
    }

    fn bounds(&self) -> Vec<(Resource, f64)> {
        let (report, config) = (self.report, self.config);
        let (network, l2, dram) = (&report.memory.interconnect, &report.memory.l2, &report.memory.dram);
        // Of the cores and schedulers, only those that have waves can be busy.
        let cores = self.active_cores();
        let schedulers = self.schedulers() * (1.0 - self.idle());
        let slots = schedulers * f64::from(config.core.issue.width);
        let issued = report.slots[SlotUse::Issued as usize] + report.slots[SlotUse::Squashed as usize];
        let slices = f64::from(config.l2.slices);
        // A packet holds the ports at both of its ends.
        let ports = |busy: u64| busy as f64 / cores.min(slices);
        let mut bounds = vec![
            (Resource::Issue, issued as f64 / slots),
            (Resource::LocalBanks, report.core.local_passes as f64 / cores),
            (Resource::L1, report.core.line_accesses as f64 / cores),
            (Resource::RequestPorts, ports(network.request_port_busy_cycles)),
            (Resource::ReplyPorts, ports(network.reply_port_busy_cycles)),
            (Resource::L2, (l2.reads + l2.writes + l2.atomics) as f64 / slices),
        ];
        let executed = &self.profile.totals.executed;
        for (n, unit) in config.core.units.iter().enumerate() {
            let busy = |class: usize| executed[class] as f64 * self.hold(n, class);
            let busy: f64 = unit.classes.iter().map(|c| busy(c.class as usize)).sum();
            bounds.push((Resource::Unit(n), busy / schedulers));
        }
        let d = &config.dram;
        let channels = f64::from(d.channels);
        let activates = dram.activates as f64 / channels;
        let clocks = (dram.data_bus_busy_clocks as f64 / channels)
            .max(activates * f64::from(d.t_rrd_s).max(f64::from(d.t_faw) / 4.0))
            .max(activates * f64::from(d.t_rc) / f64::from(d.banks))
            + dram.refreshes as f64 / channels * f64::from(d.t_rfc);
        // Refreshes that came while nothing was asked for cost nothing.
        let busy = clocks * self.core_cycles_a_clock();
        bounds.push((Resource::Dram, busy));
        bounds.iter_mut().for_each(|(_, busy)| *busy = busy.min(report.cycles as f64));
        bounds
    }

    fn latency(&self, bounds: &[(Resource, f64)], cycles: f64) -> Latency {
        let (report, config) = (self.report, self.config);
        let (count, sum) = self.profile.totals.latency[ExecClass::DeviceMemory as usize];
        if count == 0 {
            return Latency::default();
        }
        let total = sum as f64 / count as f64;
        let (core, l1, l2, dram) = (&report.core, &report.l1, &report.memory.l2, &report.memory.dram);
        let instructions = (core.device_loads + core.device_stores + core.device_atomics).max(1) as f64;
        let lines = core.line_accesses as f64 / instructions;
        let part = |n: u64, of: u64| n as f64 / of.max(1) as f64;
        let looked_up =
            l1.hits + l1.mshr_hits + l1.sector_misses + l1.misses + l1.uncached_loads + l1.remote_atomics;
        let hits = part(l1.hits, looked_up);
        // An instruction waits for the slowest of its accesses.
        let missing = 1.0 - hits.powf(lines);
        let misses = lines * (1.0 - hits);
        let asked = l2.hits + l2.mshr_hits + l2.sector_misses + l2.misses;
        let l2_hits = part(l2.hits, asked);
        let to_memory = missing * (1.0 - l2_hits.powf(misses.max(1.0)));
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
            dram: to_memory * clocks * self.core_cycles_a_clock(),
            ..Latency::default()
        };
        // What is left is waiting: as the L1 counts it, and the rest where the load is, by (rho / (1 - rho))² times the service.
        let mut waiting = total - latency.l1 - latency.lines - latency.wires - latency.l2 - latency.dram;
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
            // What waits in one queue is not in the others: it gathers before the busiest.
            queue(busy / cycles).powi(2)
        };
        let network = &report.memory.interconnect;
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

/// Waiting of a server with this load, in services.
pub fn queue(load: f64) -> f64 {
    let load = load.clamp(0.0, FULL);
    load / (1.0 - load)
}

impl Latency {
    /// Scales the parts so that they add up to the whole.
    fn shrink(&mut self, total: f64) {
        let sum = (self.l1 + self.lines + self.wires + self.l2 + self.dram).max(1e-9);
        for part in [&mut self.l1, &mut self.lines, &mut self.wires, &mut self.l2, &mut self.dram] {
            *part *= total / sum;
        }
    }
}

impl Account {
    /// Cycles that a scheduler with waves spends on a use.
    pub fn of(&self, slot_use: SlotUse) -> f64 {
        self.uses[slot_use as usize]
    }

    /// Busy cycles of a resource.
    pub fn busy(&self, resource: Resource) -> f64 {
        self.bounds.iter().find(|(r, _)| *r == resource).map_or(0.0, |(_, busy)| *busy)
    }

    /// The most that can be saved where these resources become twice as fast: the busiest of all is still needed.
    pub fn most(&self, eased: &[Resource]) -> f64 {
        let after = |&(r, busy): &(Resource, f64)| if eased.contains(&r) { busy / 2.0 } else { busy };
        (self.cycles - self.bounds.iter().map(after).fold(0.0, f64::max)).max(0.0)
    }

    /// Cycles spent on waiting for device memory: for values, and for a fence or barrier that waits for accesses.
    pub fn device(&self, observed: &Observed<'_>) -> f64 {
        let hazards = &observed.profile.totals.hazards;
        let (local, device) =
            (hazards[ExecClass::LocalMemory as usize], hazards[ExecClass::DeviceMemory as usize]);
        let share = device as f64 / (local + device).max(1) as f64;
        let has_device = self.latency.total > 0.0;
        self.of(SlotUse::Memory) * share + if has_device { self.of(SlotUse::Fence) } else { 0.0 }
    }

    /// Cycles spent on waiting for values of local memory.
    pub fn local(&self, observed: &Observed<'_>) -> f64 {
        let hazards = &observed.profile.totals.hazards;
        let (local, device) =
            (hazards[ExecClass::LocalMemory as usize], hazards[ExecClass::DeviceMemory as usize]);
        self.of(SlotUse::Memory) * (local as f64 / (local + device).max(1) as f64)
    }

    /// Part of the wave cycles of these reasons that is of this one.
    pub fn share(&self, observed: &Observed<'_>, one: IssueStall, of: &[IssueStall]) -> f64 {
        let stalls = &observed.profile.totals.stalls;
        let sum: u64 = of.iter().map(|&s| stalls[s as usize]).sum();
        stalls[one as usize] as f64 / sum.max(1) as f64
    }
}
