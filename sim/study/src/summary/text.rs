//! The report of one run as text.

use super::links::{LinkUse, links};
use super::{Outcome, Run, Session, statistics, untimed};
use crate::sample::{Sampling, Why};
use std::fmt::Write;
use wave_isa::program::Launch;
use wave_machine::config::{Config, config_hash};
use wave_machine::gpu::KernelReport;
use wave_machine::stats::{CoreCounters, Declared, SlotUse};
use wave_observe::figures::Step;
use wave_observe::figures::{self, Total, percent, ratio};
use wave_observe::numbers::{bytes, counted, integer};

/// Most steps of a run that are listed one by one.
const LISTED_STEPS: usize = 12;

/// Length of the longest bar in columns.
const BAR: usize = 40;

/// A description of the machine: one line, and a second one if the command line sets parameters.
pub fn machine(config: &Config) -> String {
    let (name, hash) = (&config.name, config_hash(config));
    let cores = counted(config.cores.into(), "core");
    let mut text = format!("{name} (config {hash}): {cores} of {} lanes\n", config.core.wave_width);
    set(&mut text, config);
    text
}

fn set(text: &mut String, config: &Config) {
    if !config.set.is_empty() {
        line(text, "set", &config.set.join(" "));
    }
}

/// The first lines of a report: what ran, and on what. `how` is put behind the machine.
pub(super) fn head(name: &str, config: &Config, how: &str) -> String {
    let mut text = format!("{name} on {} (config {}){how}\n", config.name, config_hash(config));
    set(&mut text, config);
    text
}

/// The report of a run: launches, figures, uses of the issue slots, memory, result.
pub fn report(run: &Run, config: &Config) -> String {
    let mut text = head(&run.name, config, "");
    text += &untimed::ahead(run);
    match run.steps.as_slice() {
        [] => {}
        [step] => line(&mut text, "launch", &launch_line(&step.kernel, &step.launch)),
        steps => {
            line(&mut text, "launches", &format!("{}, one after the other", steps.len()));
            list_steps(&mut text, steps, config);
        }
    }
    text + &totals(run, config)
}

/// The report without the launches.
pub fn without_launches(run: &Run, config: &Config) -> String {
    head(&run.name, config, "") + &totals(run, config)
}

fn totals(run: &Run, config: &Config) -> String {
    let mut text = String::new();
    if let Some(report) = run.total() {
        figures(&mut text, &Total { config, report: &report }, run);
        slots(&mut text, &report);
        memory(&mut text, &report, config);
    }
    line(&mut text, "result", &of_verification(&run.outcome));
    text
}

/// How a run ended, with the values that are wrong.
pub(super) fn of_verification(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ended(verification) => verification.to_string().replace("\n  ", "\n               "),
        Outcome::Skipped(why) => format!("skipped: {why}"),
        outcome => format!("{}; see the message", outcome.word()),
    }
}

/// A line of a report.
pub(super) fn line(text: &mut String, name: &str, value: &str) {
    _ = writeln!(text, "  {name:<12} {value}");
}

/// A kernel and how it is launched.
pub(super) fn launch_line(kernel: &str, launch: &Launch) -> String {
    let [gx, gy, gz] = launch.grid;
    let [wx, wy, wz] = launch.workgroup;
    format!(
        "{kernel} grid {gx},{gy},{gz}  workgroup {wx},{wy},{wz}  registers {}  local memory {} bytes",
        launch.registers, launch.local_memory_bytes
    )
}

fn list_steps(text: &mut String, steps: &[Step], config: &Config) {
    let name = steps.iter().map(|s| s.kernel.chars().count()).max().unwrap_or(0);
    for step in steps.iter().take(LISTED_STEPS) {
        let ipc = figures::IPC.of(&Total { config, report: &step.report });
        let [x, y, z] = step.launch.grid;
        let grid = format!("{x},{y},{z}");
        _ = writeln!(
            text,
            "               {:name$}  grid {grid:<12} {:>10} cycles  IPC {ipc:.3}{}",
            step.kernel,
            integer(step.report.cycles),
            figures::of_which_release(&step.report, integer)
        );
    }
    if let Some(more) = steps.len().checked_sub(LISTED_STEPS).filter(|&n| n > 0) {
        _ = writeln!(text, "               … and {more} more");
    }
}

fn figures(text: &mut String, total: &Total<'_>, run: &Run) {
    let Total { config, report } = *total;
    let core = &report.core;
    let release = figures::of_which_release(report, integer);
    line(text, "cycles", &format!("{}{release}{}", integer(report.cycles), interval(run)));
    if let Some(sampling) = run.sampling() {
        line(text, "sampled", &sampled(&sampling));
    }
    line(text, "instructions", &untimed::instructions(core));
    let (ipc, per_core) = (figures::IPC.of(total), figures::IPC_PER_CORE.of(total));
    line(text, "IPC", &format!("{ipc:.3} wave instructions a cycle, {per_core:.3} a core"));
    let lanes = figures::SIMD_EFFICIENCY.of(total);
    line(text, "lanes", &format!("{lanes:.1} % of {} take part", config.core.wave_width));
    let occupancy = figures::OCCUPANCY.of(total);
    let mut limits = String::new();
    if run.steps.len() == 1 {
        let o = report.occupancy;
        _ = write!(
            limits,
            "; room for {} of {} in a core, limited by {}",
            counted(o.workgroups.into(), "workgroup"),
            counted(o.waves_per_workgroup.into(), "wave"),
            o.limiter
        );
    }
    let slots = integer(report.wave_slots);
    line(text, "occupancy", &format!("{occupancy:.1} % of {slots} wave slots{limits}"));
    if let Some(unfilled) = figures::unfilled(&run.steps, config.cores) {
        line(text, "not filled", &unfilled);
    }
}

/// The 95 % confidence interval of the cycles of a sampled run.
fn interval(run: &Run) -> String {
    let Some(Sampling { cycles, why: None, .. }) = run.sampling() else { return String::new() };
    format!(
        " ± {} ({:.1} %), estimated with 95 % confidence",
        integer(cycles.half_width().round() as u64),
        cycles.percent()
    )
}

/// What was sampled.
fn sampled(sampling: &Sampling) -> String {
    let windows = counted(sampling.windows as u64, "window");
    match sampling.why {
        None => format!(
            "{}{} of {} in detail, {:.1} % of the instructions, {windows}; {} simulated",
            launches(sampling),
            if sampling.leaps { "parts".to_owned() } else { sampling.workgroups.0.to_string() },
            counted(sampling.workgroups.1, "workgroup"),
            sampling.percent_simulated(),
            counted(sampling.simulated_cycles, "cycle"),
        ),
        Some(Why::Waits) => "nothing left out: workgroups wait for others".to_owned(),
        Some(Why::Atomics) => "nothing left out: it depends on the order of many atomics".to_owned(),
        Some(Why::Unsteady) => {
            format!("nothing left out: too short for how much its windows differ, {windows}")
        }
    }
}

/// How many launches were simulated, if some were left out as a whole.
fn launches(sampling: &Sampling) -> String {
    match sampling.launches {
        (simulated, all) if simulated < all => {
            format!("{simulated} of {} and ", counted(all as u64, "launch"))
        }
        _ => String::new(),
    }
}

/// The issue slots as bars. Uses without slots are left out.
fn slots(text: &mut String, report: &KernelReport) {
    let total: u64 = report.slots.iter().sum();
    line(text, "issue slots", &format!("{}, charged to", integer(total)));
    let most = report.slots.iter().copied().max().unwrap_or(0);
    for &slot_use in SlotUse::ALL {
        let slots = report.slots[slot_use as usize];
        if slots == 0 {
            continue;
        }
        let bar = (ratio(slots, most) * BAR as f64).round() as usize;
        let share = percent(slots, total);
        let row = format!("    {:<12} {share:>5.1} % {}", slot_use.name(), "█".repeat(bar));
        _ = writeln!(text, "{}", row.trim_end());
    }
}

fn memory(text: &mut String, report: &KernelReport, config: &Config) {
    let core = &report.core;
    if core.local_accesses > 0 {
        let passes = ratio(core.local_passes, core.local_accesses);
        let accesses = core.local_accesses;
        let accesses = counted(accesses, "wave instruction");
        line(text, "local memory", &format!("{accesses}, {passes:.2} passes each"));
    }
    let device = core.device_loads + core.device_stores + core.device_atomics;
    if device == 0 {
        return;
    }
    let accesses = ratio(core.line_accesses, device);
    let device = counted(device, "wave instruction");
    line(text, "device memory", &format!("{device}, {accesses:.2} line accesses each"));
    let (l1, l2, l3, dram) = (&report.l1, &report.memory.l2, &report.memory.l3, &report.memory.dram);
    let looked_up = l1.hits + l1.mshr_hits + l1.sector_misses + l1.misses;
    if looked_up > 0 {
        let hits = percent(l1.hits, looked_up);
        line(text, "L1", &format!("{hits:.1} % hits of {} loads and atomics", integer(looked_up)));
    }
    let links = links(report, config);
    if let Some(busiest) = links.iter().max_by_key(|link| link.busy_cycles) {
        let mean = links.iter().map(|link| link.utilization).sum::<f64>() / links.len() as f64;
        let LinkUse { network, link, utilization, .. } = busiest;
        let what =
            format!("{mean:.1} % of the links' time in use; most {utilization:.1} %, {network} {link}");
        line(text, "interconnect", &what);
    }
    let asked = l2.hits + l2.mshr_hits + l2.sector_misses + l2.misses;
    if asked > 0 {
        line(text, "L2", &format!("{:.1} % hits of {} requests", percent(l2.hits, asked), integer(asked)));
    }
    let asked = l3.reads + l3.writes;
    if asked > 0 {
        line(text, "L3", &format!("{:.1} % hits of {} lines", percent(l3.hits, asked), integer(asked)));
    }
    let moved = dram.read_bytes + dram.written_bytes;
    let gigabytes_a_second = ratio(moved, report.cycles) * f64::from(config.core_clock_mhz) / 1000.0;
    let opened = dram.row_hits + dram.row_empties + dram.row_conflicts;
    line(
        text,
        "DRAM",
        &format!(
            "{} read, {} written, {gigabytes_a_second:.1} GB/s; {:.1} % row hits",
            bytes(dram.read_bytes),
            bytes(dram.written_bytes),
            percent(dram.row_hits, opened)
        ),
    );
}

/// Every statistic of a report with its value and unit, one per line.
pub fn statistics(report: &KernelReport, config: &Config) -> String {
    let total = Total { config, report };
    let figures = figures::FIGURES.iter().map(|f| (f.declared, format!("{:.*}", f.digits, f.of(&total))));
    let counters = statistics::values(report).into_iter().map(|(d, v)| (d, v.to_string()));
    listed(figures.chain(counters), &report.core)
}

/// A listing of statistics, and the accesses as the reference emulator lists them.
pub(super) fn listed(rows: impl Iterator<Item = (Declared, String)>, core: &CoreCounters) -> String {
    let rows: Vec<_> = rows.collect();
    let name = rows.iter().map(|(d, _)| d.name.len()).max().unwrap_or(0);
    let value = rows.iter().map(|(_, v)| v.len()).max().unwrap_or(0);
    let row = |(d, v): (Declared, String)| format!("{:name$}  {v:>value$}  {}\n", d.name, d.unit);
    let accesses = [("Loads", core.device_loads), ("Stores", core.device_stores)];
    let accesses = accesses.map(|(name, n)| format!("  {:8}{n} wave instructions\n", format!("{name}:")));
    rows.into_iter().map(row).chain(["\nDevice memory:\n".to_owned()]).chain(accesses).collect()
}

/// The last line of a text report: the sum of the runs as `key=value`, for scripts.
pub fn perf_line(session: &Session<'_>) -> String {
    if session.untimed {
        return untimed::perf_line(session);
    }
    let totals: Vec<KernelReport> = session.runs.iter().filter_map(Run::total).collect();
    let cycles: u64 = totals.iter().map(|t| t.cycles).sum();
    let instructions: u64 = totals.iter().map(|t| t.core.wave_instructions).sum();
    let ipc = ratio(instructions, cycles);
    let kernels = totals.len();
    format!("PERF: kernels={kernels} cycles={cycles} wave_instructions={instructions} IPC={ipc:.3}\n")
}
