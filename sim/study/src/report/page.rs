//! The HTML page: head, sections, embedded style and script.

use super::baseline::{self, Baseline};
use super::facts::Facts;
use super::findings::{empty, findings};
use super::policy::policy;
use super::{
    Gathered, diagram, energy, instructions, launches, memory, over_time, parameters, pipeline, roofline,
    settings, traffic,
};
use crate::launch::Verification;
use crate::results::Measured;
use crate::sensitivity::Sensitivity;
use crate::summary::{Outcome, Run, statistics, untimed};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use wave_isa::program::Program;
use wave_machine::config::{Config, config_hash};
use wave_machine::stats::SlotUse;
use wave_observe::figures;
use wave_observe::limits::signs::signs;
use wave_observe::numbers::{integer, percent, short};

pub(crate) const STYLE: &str = include_str!("assets/report.css");
const SCRIPT: &str = include_str!("assets/report.js");

/// What a report shows beside the run.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    /// An earlier run of the kernel.
    pub baseline: Option<Baseline>,
    /// What each parameter of the machine is worth to it.
    pub sensitivity: Option<Sensitivity>,
}

/// The report of a run as HTML.
pub fn page(config: &Config, program: &Program, run: &Run, gathered: &Gathered, beside: &Beside) -> String {
    let facts = Facts::new(config, program, run, gathered);
    let baseline = beside.baseline.as_ref().map(|baseline| {
        ("baseline", "Beside the baseline", baseline::section(&facts, baseline, Measured::of(config, run)))
    });
    let parameters = beside.sensitivity.as_ref().map(|sensitivity| {
        ("parameters", "What parameters are worth", parameters::section(&facts, sensitivity))
    });
    let mut sections: Vec<(&str, &str, Markup)> = vec![
        ("limits", "What limits it", limits(&facts)),
        ("launches", "Launches", launches::section(&facts)),
        ("time", "Over time", html! { (over_time::issue_slots(&facts)) (over_time::uses(&facts)) }),
        ("instructions", "Instructions", instructions::section(&facts)),
        ("busy", "How busy each part was", over_time::busy(&facts)),
        ("roofline", "Roofline", roofline::section(&facts)),
        ("memory", "Caches and memory", memory::section(&facts)),
        ("traffic", "Traffic and misses", traffic::section(&facts)),
        ("occupancy", "Occupancy", over_time::occupancy(&facts)),
        ("energy", "Energy", energy::section(&facts)),
        ("pipeline", "Pipeline", pipeline::section(&facts)),
        ("machine", "The machine", diagram::section(&facts)),
        ("configuration", "Configuration", settings::section(&facts)),
        ("statistics", "Statistics", statistics_section(&facts)),
    ];
    sections.splice(1..1, baseline.into_iter().chain(parameters));
    let title = format!("{} on {}", run.name, config.name);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(policy(STYLE, SCRIPT));
                title { (title) ": wave-sim report" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the report" }
                header {
                    p.kind { "wave-sim report" }
                    h1 { (title) }
                    (verdict(&facts))
                    (key_figures(&facts))
                }
                nav aria-label="Sections" { ul {
                    @for (id, title, _) in &sections { li { a href={ "#" (id) } { (title) } } }
                } }
                main id="main" tabindex="-1" {
                    @for (id, title, content) in &sections {
                        section id=(id) aria-labelledby={ (id) "-h" } { h2 id={ (id) "-h" } { (title) } (content) }
                    }
                }
                footer {
                    p {
                        "Written by wave-sim " (env!("CARGO_PKG_VERSION")) " for " code { (config.name) } ", configuration "
                        code { (config_hash(config)) } ". The same run gives the same file."
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}

/// Summary in words: outcome, duration, and where the time went.
fn verdict(facts: &Facts<'_>) -> Markup {
    let report = &facts.report;
    let (class, result) = match &facts.run.outcome {
        Outcome::Ended(Verification::Nothing) => {
            ("fine", "The run ended; nothing was expected of its results.".to_owned())
        }
        Outcome::Ended(Verification::Passed { compared }) => (
            "fine",
            match compared {
                1 => "The run ended, and its results are right: 1 value agrees.".to_owned(),
                n => format!("The run ended, and its results are right: {} values agree.", integer(*n)),
            },
        ),
        Outcome::Ended(Verification::Failed { compared, wrong, .. }) => (
            "wrong",
            format!(
                "The run ended, and its results are wrong: {} of {} values.",
                integer(*wrong),
                integer(*compared)
            ),
        ),
        Outcome::Fault(why) => ("wrong", format!("The run did not end: a fault. {}", why.message)),
        Outcome::Stopped(why) => ("wrong", format!("The run did not end. {}", why.message)),
        Outcome::Skipped(why) => ("wrong", why.clone()),
        Outcome::Refused(_) => ("wrong", "The run could not be started.".to_owned()),
    };
    let top = facts.limits.limiters.first();
    let broken = !matches!(facts.run.outcome, Outcome::Ended(_));
    let scope = &facts.gathered.scope;
    let in_all = facts.run.total().map(|total| total.cycles);
    html! {
        p.verdict.(class) { (result.lines().next().unwrap_or("")) }
        @if result.lines().nth(1).is_some() { pre tabindex="0" { (result.lines().skip(1).collect::<Vec<_>>().join("\n")) } }
        @if !scope.is_whole() { p.scope {
            "This report is about " strong { (facts.period()) }
            @if let Some(reason) = scope.reason() { ", " (reason) }
            @if let (Some(cycles), false) = (in_all, broken) { "; the kernels took " (integer(cycles)) " in all" }
            ". Everything on this page is counted in these cycles alone, but for what says otherwise."
        } }
        @for what in untimed::in_front(facts.run) { p.scope {
            "Without timing, and in no figure on this page: " (what) "."
        } }
        @if scope.of_waves { p.scope { "The pipeline view shows the waves that were chosen. All figures are those of all waves: they share what is counted." } }
        p {
            @if !scope.is_whole() { "These are" }
            @else if broken { "Up to where this report goes, it took" }
            @else { "It took" }
            " " strong { (integer(report.cycles)) " cycles" } (figures::of_which_release(report, integer)) " (" (short(facts.microseconds(report.cycles))) " µs at "
            (integer(facts.config.core_clock_mhz.into())) " MHz)"
            @if facts.gathered.watch.launches > 1 { " in " (integer(facts.gathered.watch.launches)) " launches" }
            ". In " strong { (percent(facts.share(SlotUse::Issued))) } " of the issue slots an instruction issued"
            @if let Some(top) = top { "; what limits it most is " strong { (facts.limits.title(top, facts.config)) } }
            "."
        }
    }
}

fn key_figures(facts: &Facts<'_>) -> Markup {
    let total = facts.total();
    let report = &facts.report;
    let mut cycles = format!("{} µs", short(facts.microseconds(report.cycles)));
    if let Some(share) = figures::release_share(report) {
        cycles += &format!(", {} of it release", percent(share));
    }
    let figures = [
        ("cycles", integer(report.cycles), cycles),
        ("wave instructions", integer(report.core.wave_instructions), "that took effect".to_owned()),
        (
            "IPC",
            format!("{:.3}", figures::IPC.of(&total)),
            format!("of at most {}", short(facts.issue_peak())),
        ),
        ("issue slots used", percent(facts.share(SlotUse::Issued)), "that issue".to_owned()),
        ("lanes", percent(figures::SIMD_EFFICIENCY.of(&total) / 100.0), "that take part".to_owned()),
        ("occupancy", percent(figures::OCCUPANCY.of(&total) / 100.0), "of the wave slots".to_owned()),
        ("DRAM", percent(facts.dram_busy()), "of the time in use".to_owned()),
    ];
    html! { dl.figures { @for (name, value, note) in figures { div { dt { (name) } dd { (value) small { (note) } } } } } }
}

fn limits(facts: &Facts<'_>) -> Markup {
    let limits = &facts.limits;
    html! {
        @if let Some(remark) = limits.remark() {
            p { (remark) }
            @for text in empty(facts) { p { (text) } }
        }
        @let unfilled = facts.unfilled();
        @let signs = signs(facts.config, &facts.report, &facts.instructions, unfilled.as_deref());
        @if !signs.is_empty() {
            h3 { "What stands out" }
            ul.signs { @for sign in &signs { li {
                (sign.text)
                @if !sign.instructions.is_empty() {
                    ul { @for (i, text) in &sign.instructions { li { a href={ "#" (i.anchor()) } { (text) } } } }
                }
            } } }
            h3 { "What costs most" }
        }
        @if limits.limiters.is_empty() { p { "No cause stands out." } }
        ol.findings { @for finding in findings(facts) { li.(finding.limiter.cause.slot_use().name()) {
            @let limiter = finding.limiter;
            h3 { (limits.title(limiter, facts.config)) }
            p { (limiter.meaning()) }
            @if !finding.instructions.is_empty() {
                ul { @for (anchor, text) in &finding.instructions { li { a href={ "#" (anchor) } { (text) } } } }
            }
            @for text in &finding.evidence { p { (text) } }
            p { (limiter.advice()) }
            @if let (Some(flags), Some(predicted)) = (limiter.flags(), limiter.predicted()) {
                p { "In the machine: " code { (flags) } " " (predicted) "." }
            } @else {
                p { "In the machine: no single parameter is known to help." }
            }
            @if !finding.sections.is_empty() {
                p.look { "See "
                    @for (i, (id, title)) in finding.sections.iter().enumerate() {
                        @if i > 0 { ", " } a href={ "#" (id) } { (title) }
                    }
                }
            }
        } } }
        @if let Some(device) = limits.device_memory(facts.config) { p { (device) } }
        p {
            "Cycles are those that schedulers with waves wait for a cause. The saving of a change of the machine is an "
            @if facts.gathered.scope.is_whole() {
                "estimate; " code { "wave-sim explain" } " with the same kernel and the same flags says the same, makes each \
                 change, and runs the kernel again."
            } @else {
                "estimate for " (facts.period()) " alone; " code { "wave-sim explain" } " looks at the whole run, makes each change, and runs \
                 the kernel again."
            }
        }
    }
}

/// Every statistic.
fn statistics_section(facts: &Facts<'_>) -> Markup {
    let total = facts.total();
    // Next to the figures of a part of the run, those of the whole run.
    let whole = facts.run.total().filter(|_| !facts.gathered.scope.is_whole());
    let in_all = whole.as_ref().map(|report| figures::Total { config: facts.config, report });
    let values = statistics::values(&facts.report);
    let values_in_all: Vec<_> = whole.iter().flat_map(statistics::values).collect();
    html! {
        details.data {
            summary { "Every statistic" }
            div.scroll tabindex="0" role="region" aria-label="Every statistic" { table.statistics {
                caption {
                    @if whole.is_some() { "Every statistic, of " (facts.period()) " and of the whole run" }
                    @else { "Every statistic, over all launches, as --stats prints them" }
                }
                thead { tr {
                    th scope="col" { "name" } th scope="col" { "value" }
                    @if whole.is_some() { th scope="col" { "whole run" } }
                    th scope="col" { "unit" } th scope="col" { "meaning" }
                } }
                tbody {
                    @for figure in &figures::FIGURES { tr {
                        th scope="row" { code { (figure.declared.name) } }
                        td.number { (format!("{:.*}", figure.digits, figure.of(&total))) }
                        @if let Some(in_all) = &in_all { td.number { (format!("{:.*}", figure.digits, figure.of(in_all))) } }
                        td { (figure.declared.unit) } td { (figure.declared.doc) }
                    } }
                    @for (i, (declared, value)) in values.iter().enumerate() { tr {
                        th scope="row" { code { (declared.name) } } td.number { (value) }
                        @if let Some((_, value)) = values_in_all.get(i) { td.number { (value) } }
                        td { (declared.unit) } td { (declared.doc) }
                    } }
                }
            } }
        }
    }
}
