//! Reports of runs without timing: what only timing gives is left out.

use super::text::{head, launch_line, line, of_verification};
use super::{Run, Session, UntimedPart, UntimedStep};
use std::fmt::Write;
use wave_machine::config::Config;
use wave_machine::functional::Report;
use wave_machine::stats::{CoreCounters, Declared};
use wave_observe::figures::{SIMD_EFFICIENCY, simd_efficiency};
use wave_observe::numbers::{counted, integer};

/// The sum of launches without timing; `None` if there are none.
pub fn total(steps: &[UntimedStep]) -> Option<Report> {
    let (first, rest) = steps.split_first()?;
    let mut total = first.report.clone();
    rest.iter().for_each(|step| total.counters += &step.report.counters);
    Some(total)
}

/// The figures that have a meaning without timing, with their digits in text.
pub fn figures(report: &Report, config: &Config) -> Vec<(Declared, usize, f64)> {
    let lanes = simd_efficiency(&report.counters, config);
    vec![(SIMD_EFFICIENCY.declared, SIMD_EFFICIENCY.digits, lanes)]
}

/// The report of a run none of whose launches has timing.
pub fn report(run: &Run, config: &Config) -> String {
    let mut text = head(&run.name, config, ", without timing");
    match run.untimed.as_slice() {
        [] => {}
        [step] => line(&mut text, "launch", &launch_line(&step.kernel, &step.launch)),
        steps => line(&mut text, "launches", &format!("{}, one after the other", steps.len())),
    }
    if let Some(Report { counters }) = total(&run.untimed) {
        counts(&mut text, &counters, config);
    }
    line(&mut text, "result", &of_verification(&run.outcome));
    text
}

fn counts(text: &mut String, counters: &CoreCounters, config: &Config) {
    line(text, "instructions", &instructions(counters));
    let lanes = simd_efficiency(counters, config);
    line(text, "lanes", &format!("{lanes:.1} % of {} take part", config.core.wave_width));
    if counters.local_accesses > 0 {
        line(text, "local memory", &counted(counters.local_accesses, "wave instruction"));
    }
    let CoreCounters { device_loads, device_stores, device_atomics, .. } = *counters;
    if device_loads + device_stores + device_atomics > 0 {
        let accesses = [(device_loads, "load"), (device_stores, "store"), (device_atomics, "atomic")]
            .map(|(n, what)| counted(n, what));
        line(text, "device memory", &accesses.join(", "));
    }
}

/// Wave and lane instructions, as every report has them.
pub(super) fn instructions(counters: &CoreCounters) -> String {
    format!(
        "{}, {} squashed; {}",
        counted(counters.wave_instructions, "wave instruction"),
        integer(counters.squashed_instructions),
        counted(counters.lane_instructions, "lane instruction")
    )
}

/// What ran without timing in front of the launches with timing, each in a phrase.
pub fn in_front(run: &Run) -> Vec<String> {
    let instructions = |counters: &CoreCounters| counted(counters.wave_instructions, "wave instruction");
    let launches = total(&run.untimed).map(|Report { counters }| {
        let launches = match run.untimed.len() {
            1 => "launch 1".to_owned(),
            last => format!("launches 1 to {last}"),
        };
        let all = run.untimed.len() + run.steps.len();
        format!("{launches} of {all}: {}", instructions(&counters))
    });
    let part = run.part.as_ref().map(|UntimedPart { nominal_cycles, resident: (resident, grid), report }| {
        let counters = &report.counters;
        format!(
            "launch {} up to nominal cycle {nominal_cycles}: {}, {} of {} ended, {resident} under way",
            run.untimed.len() + 1,
            instructions(counters),
            counters.workgroups,
            counted(*grid, "workgroup"),
        )
    });
    launches.into_iter().chain(part).collect()
}

/// The lines of a report on what ran without timing in front of the launches with timing; empty if there is nothing.
pub(super) fn ahead(run: &Run) -> String {
    let mut text = String::new();
    for what in in_front(run) {
        line(&mut text, "no timing", &format!("{what}, in no figure below"));
    }
    text
}

/// Every statistic that has a meaning without timing, one per line.
pub fn statistics(report: &Report, config: &Config) -> String {
    let figures =
        figures(report, config).into_iter().map(|(d, digits, value)| (d, format!("{value:.digits$}")));
    let counters = report.values().into_iter().map(|(d, value)| (d, value.to_string()));
    super::text::listed(figures.chain(counters), &report.counters)
}

/// The last line of a text report: the sum of the runs as `key=value`, for scripts.
pub(super) fn perf_line(session: &Session<'_>) -> String {
    let totals: Vec<Report> = session.runs.iter().filter_map(|run| total(&run.untimed)).collect();
    let instructions: u64 = totals.iter().map(|total| total.counters.wave_instructions).sum();
    let mut text = String::new();
    _ = writeln!(text, "PERF: kernels={} wave_instructions={instructions}", totals.len());
    text
}
