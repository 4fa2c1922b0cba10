//! Figures of a report, computed once from the counters: totals, instructions, peak rates of the machine, and
//! the utilization of each of its parts.

use super::Gathered;
use super::windows::{Counts, Window};
use crate::summary::Run;
use wave_isa::program::{Launch, Program};
use wave_machine::config::Config;
use wave_machine::gpu::KernelReport;
use wave_machine::gpu::occupancy::Occupancy;
use wave_machine::stats::SlotUse;
use wave_observe::figures::{Total, ratio, unfilled};
use wave_observe::limits::Limits;
use wave_observe::limits::account::{Observed, Resource};
use wave_observe::limits::listing::{Instruction, listing};
use wave_observe::numbers::integer;

/// Utilization of a part of the machine.
#[derive(Debug, Clone)]
pub(crate) struct Busy {
    /// The part.
    pub resource: Resource,
    /// Its name.
    pub name: String,
    /// Fraction of the time in use, 0 to 1.
    pub share: f64,
    /// What was counted, in words.
    pub how: String,
}

/// All figures that a report shows.
pub(crate) struct Facts<'a> {
    /// The machine.
    pub config: &'a Config,
    /// The kernels.
    pub program: &'a Program,
    /// Outcome of the run.
    pub run: &'a Run,
    /// What the collector gathered.
    pub gathered: &'a Gathered<'a>,
    /// Statistics of all launches together, restricted to the scope of the report. If a launch did not end,
    /// up to its last sample.
    pub report: KernelReport,
    /// Windows over time.
    pub windows: Vec<Window>,
    /// What limits the run.
    pub limits: Limits,
    /// Every instruction of the kernels that ran.
    pub instructions: Vec<Instruction>,
    /// The launch that the text refers to: the longest.
    pub launch: Option<&'a Launch>,
}

impl<'a> Facts<'a> {
    /// Computes the figures.
    pub(crate) fn new(
        config: &'a Config,
        program: &'a Program,
        run: &'a Run,
        gathered: &'a Gathered<'a>,
    ) -> Facts<'a> {
        let within = run.steps.iter().skip(gathered.launches.start).take(gathered.launches.len());
        let mut plug_ins = vec![0; wave_machine::registry::statistics().len()];
        for step in within.clone() {
            plug_ins
                .iter_mut()
                .zip(&step.report.plug_ins)
                .for_each(|(sum, value): (&mut u64, _)| *sum += value);
        }
        let longest = within.max_by_key(|step| step.report.cycles).map(|step| &step.launch);
        let launch = longest.or(gathered.broken_off.as_ref());
        let windows = gathered.windows.windows();
        let Counts { core, slots, l1, memory, .. } = gathered.windows.total();
        let occupancy = launch.and_then(|launch| Occupancy::of(config, launch).ok());
        let none = Occupancy {
            workgroups: 0,
            waves_per_workgroup: 0,
            slots_per_scheduler: 0,
            limiter: wave_machine::gpu::occupancy::Limiter::Waves,
        };
        let slots_a_cycle = config.cores * config.core.schedulers * config.core.issue.width;
        let report = KernelReport {
            cycles: gathered.windows.cycles(),
            // The releases within the scope, from their issue slots.
            release_cycles: slots[SlotUse::Release as usize] / u64::from(slots_a_cycle),
            core,
            slots,
            l1,
            memory,
            links: gathered.parts.links.clone(),
            plug_ins,
            occupancy: occupancy.unwrap_or(none),
            wave_slots: u64::from(config.cores) * u64::from(config.core.max_waves),
        };
        let instructions = listing(program, gathered.profiles());
        let limits = Limits::of(&Observed { config, report: &report, watch: &gathered.watch });
        Facts { config, program, run, gathered, report, windows, limits, instructions, launch }
    }

    /// The cycles that the report covers, in words.
    pub(crate) fn period(&self) -> String {
        if self.gathered.scope.is_whole() {
            return "the whole run".to_owned();
        }
        let from = self.gathered.windows.origin();
        format!("cycles {} to {}", integer(from), integer(self.windows.last().map_or(from, |w| w.to - 1)))
    }

    /// The launches of the report that leave cores without a workgroup, in words.
    pub(crate) fn unfilled(&self) -> Option<String> {
        let launches = &self.gathered.launches;
        let steps = self.run.steps.get(launches.clone()).unwrap_or(&[]);
        unfilled(steps, self.config.cores)
    }

    /// Input for the figures of [`wave_observe::figures`].
    pub(crate) fn total(&self) -> Total<'_> {
        Total { config: self.config, report: &self.report }
    }

    /// Issue slots of the run.
    pub(crate) fn slots(&self) -> u64 {
        self.report.slots.iter().sum()
    }

    /// Fraction of the issue slots with this use.
    pub(crate) fn share(&self, slot_use: SlotUse) -> f64 {
        ratio(self.report.slots[slot_use as usize], self.slots())
    }

    /// The instruction at a word of a kernel.
    pub(crate) fn instruction(&self, kernel: usize, word: u32) -> Option<&Instruction> {
        self.instructions.iter().find(|i| i.kernel == kernel && i.word == word)
    }

    /// Converts core cycles to microseconds.
    pub(crate) fn microseconds(&self, cycles: u64) -> f64 {
        cycles as f64 / f64::from(self.config.core_clock_mhz)
    }

    /// Peak bandwidth of all memory channels, in bytes per core cycle.
    pub(crate) fn dram_peak(&self) -> f64 {
        let dram = &self.config.dram;
        let a_clock = f64::from(dram.channels * dram.bus_bits * dram.transfers_per_clock) / 8.0;
        a_clock * f64::from(dram.clock_mhz) / f64::from(self.config.core_clock_mhz)
    }

    /// Peak bandwidth between cores and L2 in one direction, in bytes per cycle: all ports of the side with
    /// fewer ports.
    pub(crate) fn l2_peak(&self) -> f64 {
        let ports = self.config.cores.min(self.config.l2.slices);
        f64::from(ports * self.config.interconnect.port_bytes_per_cycle)
    }

    /// Peak bandwidth of the L3 in bytes per cycle: its banks.
    pub(crate) fn l3_peak(&self) -> f64 {
        f64::from(self.config.dram.channels * self.config.l3.bytes_per_cycle)
    }

    /// Peak bandwidth of the L1s in bytes per cycle: one line access per L1 and cycle.
    pub(crate) fn l1_peak(&self) -> f64 {
        f64::from(self.config.cores * self.config.core.l1.line_bytes)
    }

    /// Peak issue rate in wave instructions per cycle.
    pub(crate) fn issue_peak(&self) -> f64 {
        f64::from(self.config.cores * self.config.core.schedulers * self.config.core.issue.width)
    }

    /// Utilization of all parts of the machine, in the order in which an instruction reaches them.
    pub(crate) fn busy(&self) -> Vec<Busy> {
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
            (Resource::L3, "L3 banks", channels, "cycles in which the sectors of an access held a bank"),
            (Resource::Dram, "memory channels", channels, "memory clocks that bursts held the data buses"),
        ] {
            let there = match resource {
                Resource::LocalBanks => report.core.local_accesses > 0,
                Resource::Links => report.memory.interconnect.hops > 0,
                Resource::L3 => config.l3.is_there(),
                _ => true,
            };
            if there {
                add(resource, name.into(), number, how.into());
            }
        }
        parts
    }

    /// Utilization of the part that is this resource.
    pub(crate) fn busy_of(&self, resource: Resource) -> Option<Busy> {
        self.busy().into_iter().find(|busy| busy.resource == resource)
    }

    /// Fraction of the time in which the data buses of the memory channels moved data.
    pub(crate) fn dram_busy(&self) -> f64 {
        self.busy_of(Resource::Dram).map_or(0.0, |busy| busy.share)
    }
}
