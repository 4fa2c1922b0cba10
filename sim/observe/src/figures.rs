//! Figures for comparisons: ratios of counters, each declared once.

use crate::numbers::{self, counted};
use wave_isa::program::Launch;
use wave_machine::config::Config;
use wave_machine::gpu::KernelReport;
use wave_machine::stats::{CoreCounters, Declared, SlotUse};

/// A launch that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Name of the kernel.
    pub kernel: String,
    /// Launch parameters.
    pub launch: Launch,
    /// Its report.
    pub report: KernelReport,
}

/// The sum of several launches on one machine.
#[derive(Debug, Clone, Copy)]
pub struct Total<'a> {
    /// The machine.
    pub config: &'a Config,
    /// The summed reports. The occupancy is that of the first launch.
    pub report: &'a KernelReport,
}

/// A figure and its formula over the counters.
pub struct Figure {
    /// Name, unit and meaning.
    pub declared: Declared,
    /// Digits after the decimal point in text.
    pub digits: usize,
    value: fn(&Total<'_>) -> f64,
}

impl Figure {
    /// Its value.
    pub fn of(&self, total: &Total<'_>) -> f64 {
        (self.value)(total)
    }
}

const fn figure(
    name: &'static str,
    unit: &'static str,
    digits: usize,
    doc: &'static str,
    value: fn(&Total<'_>) -> f64,
) -> Figure {
    Figure { declared: Declared { name, unit, doc }, digits, value }
}

/// Wave instructions per cycle of the whole machine.
pub const IPC: Figure = figure(
    "figure.ipc",
    "wave instructions a cycle",
    3,
    "core.wave_instructions / kernel.cycles: wave instructions a cycle, over the whole machine.",
    |t| ratio(t.report.core.wave_instructions, t.report.cycles),
);

/// Wave instructions per cycle of one core.
pub const IPC_PER_CORE: Figure =
    figure("figure.ipc_per_core", "wave instructions a cycle", 3, "figure.ipc / cores.", |t| {
        IPC.of(t) / f64::from(t.config.cores)
    });

/// Share of lanes that participate.
pub const SIMD_EFFICIENCY: Figure = figure(
    "figure.simd_efficiency",
    "%",
    1,
    "core.lane_instructions / (core.wave_instructions × wave width): lanes that take part, of those of a wave.",
    |t| simd_efficiency(&t.report.core, t.config),
);

/// [`SIMD_EFFICIENCY`] of these counters.
pub fn simd_efficiency(core: &CoreCounters, config: &Config) -> f64 {
    percent(core.lane_instructions, core.wave_instructions * u64::from(config.core.wave_width))
}

/// Share of the wave slots in use.
pub const OCCUPANCY: Figure = figure(
    "figure.occupancy",
    "%",
    1,
    "core.resident_wave_cycles / (core.cycles × wave slots of a core): wave slots in use, over all cores and cycles.",
    |t| {
        let slots = u64::from(t.config.core.max_waves);
        percent(t.report.core.resident_wave_cycles, t.report.core.cycles * slots)
    },
);

/// Share of the issue slots that issue.
pub(crate) const ISSUE_UTILIZATION: Figure =
    figure("figure.issue_utilization", "%", 1, "issue.issued / all issue slots.", |t| {
        percent(t.report.slots[SlotUse::Issued as usize], t.report.slots.iter().sum())
    });

/// Every figure.
pub const FIGURES: [Figure; 5] = [IPC, IPC_PER_CORE, SIMD_EFFICIENCY, OCCUPANCY, ISSUE_UTILIZATION];

/// `a / b`, or 0 if b is 0.
pub fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

/// `a` in percent of `b`.
pub fn percent(a: u64, b: u64) -> f64 {
    100.0 * ratio(a, b)
}

/// The use with most issue slots among those in which nothing leaves an instruction buffer, and its share in
/// percent. `None` if every slot was used.
pub fn top_stall(report: &KernelReport) -> Option<(SlotUse, f64)> {
    let total = report.slots.iter().sum();
    let lost = SlotUse::ALL.iter().filter(|u| !matches!(u, SlotUse::Issued | SlotUse::Squashed));
    // Of equal uses the first.
    let top = lost
        .copied()
        .reduce(|a, b| if report.slots[b as usize] > report.slots[a as usize] { b } else { a })?;
    let slots = report.slots[top as usize];
    (slots > 0).then(|| (top, percent(slots, total)))
}

/// Fraction of the cycles below which a release gets no remark.
const LITTLE: f64 = 0.01;

/// Fraction of the cycles spent in the releases at the ends of launches, if large enough for a remark.
pub fn release_share(report: &KernelReport) -> Option<f64> {
    Some(ratio(report.release_cycles, report.cycles)).filter(|&share| share >= LITTLE)
}

/// Remark after a number of cycles: how many of them are the release. Empty if they are few. `number` formats
/// a number.
pub fn of_which_release(report: &KernelReport, number: fn(u64) -> String) -> String {
    release_share(report)
        .map_or_else(String::new, |_| format!(" (of which {} release)", number(report.release_cycles)))
}

/// The launches that leave cores without a workgroup, in words; `None` if there are none, or if they take less than half of
/// the cycles. A launch gives its first workgroups to one core after the other (rule R1), so it uses as many cores as it
/// has workgroups.
pub fn unfilled(steps: &[Step], cores: u32) -> Option<String> {
    let workgroups = |step: &Step| step.launch.grid.iter().map(|&size| u64::from(size)).product::<u64>();
    let small: Vec<&Step> = steps.iter().filter(|step| workgroups(step) < u64::from(cores)).collect();
    let of = |steps: &[&Step]| steps.iter().map(|step| step.report.cycles).sum::<u64>();
    let most = small.iter().map(|step| workgroups(step)).max()?;
    let share = ratio(of(&small), of(&steps.iter().collect::<Vec<_>>()));
    if share < 0.5 {
        return None;
    }
    let had = format!(
        "{} on {cores} cores: {} had none",
        counted(most, "workgroup"),
        counted(u64::from(cores) - most, "core")
    );
    Some(match (small.len(), steps.len()) {
        (1, 1) => had,
        (some, all) if some == all => format!("in each launch at most {had}"),
        (some, all) => {
            let share = numbers::percent(share);
            format!("{some} of {all} launches, which take {share} of the cycles, have at most {had}")
        }
    })
}

/// The sum of the reports of several launches; `None` if there are none.
pub fn sum(steps: &[Step]) -> Option<KernelReport> {
    let (first, rest) = steps.split_first()?;
    let mut total = first.report.clone();
    for step in rest {
        total.cycles += step.report.cycles;
        total.release_cycles += step.report.release_cycles;
        total.core += &step.report.core;
        total.l1 += &step.report.l1;
        total.memory += &step.report.memory;
        total.plug_ins.iter_mut().zip(&step.report.plug_ins).for_each(|(sum, value)| *sum += value);
        total.links.iter_mut().zip(&step.report.links).for_each(|(sum, link)| *sum += link);
        total.slots.iter_mut().zip(step.report.slots).for_each(|(sum, n)| *sum += n);
    }
    Some(total)
}
