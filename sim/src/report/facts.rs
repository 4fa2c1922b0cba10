//! What a report says, worked out from the counters once: totals, instructions, peaks of the machine, and how busy each
//! of its parts was.

use super::Gathered;
use super::windows::{Counts, Window};
use crate::config::Config;
use crate::gpu::KernelReport;
use crate::gpu::occupancy::Occupancy;
use crate::limits::Limits;
use crate::limits::account::{Observed, Resource};
use crate::limits::listing::{Instruction, listing};
use crate::observe::Run;
use crate::observe::figures::{Total, ratio};
use crate::observe::numbers::integer;
use crate::program::{Launch, Program};
use crate::stats::SlotUse;

/// How busy a part of the machine was.
#[derive(Debug, Clone)]
pub struct Busy {
    /// What it is.
    pub resource: Resource,
    /// What it is called.
    pub name: String,
    /// Part of the time, 0 to 1.
    pub share: f64,
    /// What was counted, in words.
    pub how: String,
}

/// Everything that a report is made from.
pub struct Facts<'a> {
    /// The machine.
    pub config: &'a Config,
    /// The kernels.
    pub program: &'a Program,
    /// What became of the run.
    pub run: &'a Run,
    /// What was gathered.
    pub gathered: &'a Gathered<'a>,
    /// The statistics: of all launches together, or as far as the last one came; of the scope of the report only.
    pub report: KernelReport,
    /// The windows.
    pub windows: Vec<Window>,
    /// What limits the run.
    pub limits: Limits,
    /// Every instruction of the kernels that ran.
    pub instructions: Vec<Instruction>,
    /// The launch to speak of: the longest.
    pub launch: Option<&'a Launch>,
}

impl<'a> Facts<'a> {
    /// Works them out.
    pub fn new(
        config: &'a Config,
        program: &'a Program,
        run: &'a Run,
        gathered: &'a Gathered<'a>,
    ) -> Facts<'a> {
        let within = run.steps.iter().skip(gathered.launches.start).take(gathered.launches.len());
        let longest = within.max_by_key(|step| step.report.cycles).map(|step| &step.launch);
        let launch = longest.or(gathered.broken_off.as_ref());
        let windows = gathered.windows.windows();
        let Counts { core, slots, l1, memory, .. } = gathered.windows.total();
        let occupancy = launch.and_then(|launch| Occupancy::of(config, launch).ok());
        let none = Occupancy {
            workgroups: 0,
            waves_per_workgroup: 0,
            slots_per_scheduler: 0,
            limiter: crate::gpu::occupancy::Limiter::Waves,
        };
        let slots_a_cycle = config.cores * config.core.schedulers * config.core.issue.width;
        let report = KernelReport {
            cycles: gathered.windows.cycles(),
            // Of a part of a run, those that are in it.
            release_cycles: slots[SlotUse::Release as usize] / u64::from(slots_a_cycle),
            core,
            slots,
            l1,
            memory,
            links: gathered.parts.links.clone(),
            occupancy: occupancy.unwrap_or(none),
            wave_slots: u64::from(config.cores) * u64::from(config.core.max_waves),
        };
        let instructions = listing(program, gathered.profiles());
        let limits = Limits::of(&Observed { config, report: &report, watch: &gathered.watch });
        Facts { config, program, run, gathered, report, windows, limits, instructions, launch }
    }

    /// The cycles that it is about, in words.
    pub fn period(&self) -> String {
        if self.gathered.scope.is_whole() {
            return "the whole run".to_owned();
        }
        let from = self.gathered.windows.origin();
        format!("cycles {} to {}", integer(from), integer(self.windows.last().map_or(from, |w| w.to - 1)))
    }

    /// For the figures of [`crate::observe::figures`].
    pub fn total(&self) -> Total<'_> {
        Total { config: self.config, report: &self.report }
    }

    /// Issue slots of the run.
    pub fn slots(&self) -> u64 {
        self.report.slots.iter().sum()
    }

    /// Part of the issue slots that a use has.
    pub fn share(&self, slot_use: SlotUse) -> f64 {
        ratio(self.report.slots[slot_use as usize], self.slots())
    }

    /// The instruction at a word of a kernel.
    pub fn instruction(&self, kernel: usize, word: u32) -> Option<&Instruction> {
        self.instructions.iter().find(|i| i.kernel == kernel && i.word == word)
    }

    /// Microseconds that so many core cycles take.
    pub fn microseconds(&self, cycles: u64) -> f64 {
        cycles as f64 / f64::from(self.config.core_clock_mhz)
    }

    /// Bytes a core cycle that the memory channels move at most.
    pub fn dram_peak(&self) -> f64 {
        let dram = &self.config.dram;
        let a_clock = f64::from(dram.channels * dram.bus_bits * dram.transfers_per_clock) / 8.0;
        a_clock * f64::from(dram.clock_mhz) / f64::from(self.config.core_clock_mhz)
    }

    /// Bytes a cycle that pass between cores and L2 one way at most: all ports of the side that has fewer.
    pub fn l2_peak(&self) -> f64 {
        let ports = self.config.cores.min(self.config.l2.slices);
        f64::from(ports * self.config.interconnect.port_bytes_per_cycle)
    }

    /// Bytes of lines a cycle that the L1s serve at most: one access each.
    pub fn l1_peak(&self) -> f64 {
        f64::from(self.config.cores * self.config.core.l1.line_bytes)
    }

    /// Wave instructions a cycle that the schedulers issue at most.
    pub fn issue_peak(&self) -> f64 {
        f64::from(self.config.cores * self.config.core.schedulers * self.config.core.issue.width)
    }

    /// How busy the parts of the machine were, in the order in which an instruction meets them.
    pub fn busy(&self) -> Vec<Busy> {
        let (config, report) = (self.config, &self.report);
        let (cores, slices) = (f64::from(config.cores), f64::from(config.l2.slices));
        let work = Observed { config, report, watch: &self.gathered.watch }.work(&report.memory);
        let mut parts = Vec::new();
        let mut add = |resource: Resource, name: String, number: f64, how: String| {
            let busy = work.iter().find(|(of, _)| *of == resource).map_or(0.0, |(_, busy)| *busy);
            let share = busy / (report.cycles.max(1) as f64 * number);
            parts.push(Busy { resource, name, share, how });
        };
        let how = "slots in which an instruction issued, or turned out to have no effect";
        add(Resource::Issue, "issue slots".into(), self.issue_peak(), how.into());
        for (n, unit) in config.core.units.iter().enumerate() {
            let classes: Vec<&str> = unit.classes.iter().map(|c| c.class.name()).collect();
            let how = format!("cycles that instructions held their entries; {}", classes.join(", "));
            let name = format!("{} units", unit.name);
            add(Resource::Unit(n), name, cores * f64::from(config.core.schedulers), how);
        }
        let channels = f64::from(config.dram.channels);
        for (resource, name, number, how) in [
            (Resource::LocalBanks, "local memory", cores, "cycles of passes over the banks"),
            (Resource::L1, "L1 ports", cores, "cycles in which the L1 accepted an access of a line"),
            (
                Resource::RequestPorts,
                "L2 request ports",
                slices,
                "cycles that packets to slices held the slices' ports",
            ),
            (Resource::L2, "L2 slices", slices, "cycles in which a slice took a request"),
            (
                Resource::ReplyPorts,
                "L2 reply ports",
                cores,
                "cycles that packets to cores held the cores' ports",
            ),
            (
                Resource::Links,
                "interconnect links",
                report.links.len().max(1) as f64,
                "cycles that links between routers were held",
            ),
            (Resource::Dram, "memory channels", channels, "memory clocks that bursts held the data buses"),
        ] {
            let there = match resource {
                Resource::LocalBanks => report.core.local_accesses > 0,
                Resource::Links => report.memory.interconnect.hops > 0,
                _ => true,
            };
            if there {
                add(resource, name.into(), number, how.into());
            }
        }
        parts
    }

    /// The part of the machine that is this resource.
    pub fn busy_of(&self, resource: Resource) -> Option<Busy> {
        self.busy().into_iter().find(|busy| busy.resource == resource)
    }

    /// Part of the time in which the data buses of the memory channels moved data.
    pub fn dram_busy(&self) -> f64 {
        self.busy_of(Resource::Dram).map_or(0.0, |busy| busy.share)
    }
}
