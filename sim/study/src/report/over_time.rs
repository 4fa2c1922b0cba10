//! Issue slots and waves over time, and the utilization of each part of the machine.

use super::chart::{Chart, Column, Series, Style, bar, scroll};
use super::facts::Facts;
use maud::{Markup, html};
use wave_machine::gpu::occupancy::limits;
use wave_machine::stats::SlotUse;
use wave_observe::figures::{self, ratio};
use wave_observe::numbers::{integer, percent, short};

/// Stacking order of the uses: useful work at the bottom, slots without a wave near the top, the release
/// above all.
pub(crate) const STACK: [SlotUse; SlotUse::COUNT] = [
    SlotUse::Issued,
    SlotUse::Squashed,
    SlotUse::Unit,
    SlotUse::Operand,
    SlotUse::Lsu,
    SlotUse::Scoreboard,
    SlotUse::Memory,
    SlotUse::Fence,
    SlotUse::Barrier,
    SlotUse::Branch,
    SlotUse::Fetch,
    SlotUse::WaveLimit,
    SlotUse::Empty,
    SlotUse::Release,
];

/// Chart of issue slots by use.
pub(crate) fn issue_slots(facts: &Facts<'_>) -> Markup {
    let windows = &facts.windows;
    let used: Vec<SlotUse> = STACK.into_iter().filter(|&u| facts.report.slots[u as usize] > 0).collect();
    let series = used.iter().map(|&slot_use| Series {
        name: slot_use.name(),
        class: slot_use.name(),
        style: Style::Area,
        values: windows
            .iter()
            .map(|w| Some(ratio(w.counts.slots[slot_use as usize], w.counts.slots.iter().sum())))
            .collect(),
    });
    let columns = STACK.iter().map(|&slot_use| Column {
        name: slot_use.name().to_owned(),
        values: windows.iter().map(|w| w.counts.slots[slot_use as usize].to_string()).collect(),
    });
    let per_cycle = facts.issue_peak();
    let caption = format!(
        "What each of the {per_cycle} issue slots of a cycle was used for, or what kept it from being used. Every slot \
         is charged to exactly one."
    );
    Chart {
        series: series.collect(),
        columns: columns.collect(),
        tall: true,
        ..Chart::of_parts(facts, "issue-slots", "Issue slots", caption)
    }
    .draw()
}

/// Table of the uses with their meaning and their shares.
pub(super) fn uses(facts: &Facts<'_>) -> Markup {
    let total = facts.slots();
    html! {
        (scroll("Issue slots by use", html! { table.uses {
            caption { "Issue slots of " (facts.period()) ", by use" }
            thead { tr {
                th scope="col" { "use" } th scope="col" { "slots" } th scope="col" { "share" }
                th scope="col" { "what it means" }
            } }
            tbody { @for slot_use in STACK {
                @let slots = facts.report.slots[slot_use as usize];
                @if slots > 0 { tr data-use=(slot_use.name()) {
                    th scope="row" { span.swatch.(slot_use.name()) {} (slot_use.name()) }
                    td.number { (slots) }
                    td.number { (percent(ratio(slots, total))) (bar(ratio(slots, total), slot_use.name())) }
                    td { (slot_use.declared().doc) }
                } }
            } }
        } }))
    }
}

/// Resident waves over time, and what limits their number.
pub(super) fn occupancy(facts: &Facts<'_>) -> Markup {
    let (config, windows) = (facts.config, &facts.windows);
    let o = &facts.report.occupancy;
    let slots = f64::from(config.core.max_waves);
    let room = f64::from(o.workgroups * o.waves_per_workgroup);
    let resident = |w: &super::windows::Window| {
        let cycles = (w.to - w.from) * u64::from(config.cores);
        ratio(w.counts.core.resident_wave_cycles, cycles)
    };
    let values: Vec<f64> = windows.iter().map(resident).collect();
    let chart = Chart {
        id: "waves",
        title: "Waves of a core",
        caption: format!(
            "Waves that are resident in a core, averaged over the {} cores; the line is what there is room for, the top \
             the wave slots.",
            config.cores
        ),
        windows,
        top: slots,
        labels: (0..=4).map(|i| short_count(slots * f64::from(i) / 4.0)).collect(),
        series: vec![
            Series {
                name: "resident waves",
                class: "waves",
                style: Style::Area,
                values: values.iter().map(|&v| Some(v)).collect(),
            },
            Series {
                name: "room",
                class: "limit",
                style: Style::Line,
                values: vec![Some(room); windows.len()],
            },
        ],
        columns: vec![
            Column {
                name: "resident waves of a core".into(),
                values: values.iter().map(|&v| short(v)).collect(),
            },
            Column {
                name: "wave cycles".into(),
                values: windows.iter().map(|w| w.counts.core.resident_wave_cycles.to_string()).collect(),
            },
        ],
        tall: false,
        marks: &facts.gathered.begins,
    };
    let average = figures::OCCUPANCY.of(&facts.total()) / 100.0;
    html! {
        p {
            "On average " strong { (percent(average)) } " of the " (integer(facts.report.wave_slots))
            " wave slots of the machine hold a wave."
            @if let Some(launch) = facts.launch {
                " A workgroup of " (integer(launch.threads())) " threads is "
                (wave_observe::numbers::counted(o.waves_per_workgroup.into(), "wave")) " of " (config.core.wave_width)
                " lanes; a core has room for " (wave_observe::numbers::counted(o.workgroups.into(), "workgroup"))
                ", limited by " strong { (o.limiter) } "."
            }
        }
        (chart.draw())
        @if let Some(launch) = facts.launch { (limits_of(facts, launch)) }
    }
}

fn short_count(n: f64) -> String {
    if n.fract() == 0.0 { format!("{n:.0}") } else { format!("{n:.1}") }
}

fn limits_of(facts: &Facts<'_>, launch: &wave_isa::program::Launch) -> Markup {
    let limits = limits(facts.config, launch);
    let most = limits.iter().map(|&(_, n)| n).filter(|&n| n != u32::MAX).max().unwrap_or(1).max(1);
    let o = &facts.report.occupancy;
    html! {
        (scroll("Workgroups by resource", html! { table.limits {
            caption { "Workgroups that fit on a core, by each resource alone" }
            thead { tr { th scope="col" { "resource" } th scope="col" { "workgroups" } th scope="col" { "beside the most" } } }
            tbody { @for (limiter, workgroups) in limits {
                tr {
                    th scope="row" { (limiter) @if limiter == o.limiter { " (the limit)" } }
                    @if workgroups == u32::MAX { td.number { "any" } td { (bar(1.0, "room")) } }
                    @else { td.number { (workgroups) } td { (bar(f64::from(workgroups) / f64::from(most), "room")) } }
                }
            } }
        } }))
    }
}

/// Utilization of each part of the machine.
pub(super) fn busy(facts: &Facts<'_>) -> Markup {
    html! {
        p { "A part that is in use nearly all the time has no room for more: it is what the kernel runs against. If none \
             is, the kernel waits for something else, and the issue slots say what." }
        (scroll("Parts of the machine", html! { table.busy {
            caption { "Part of the time in which each part of the machine was in use, over all cores, slices and channels" }
            thead { tr { th scope="col" { "part" } th scope="col" { "in use" } th scope="col" { "what was counted" } } }
            tbody { @for busy in facts.busy() {
                tr {
                    th scope="row" { (busy.name) }
                    td.number { (percent(busy.share)) (bar(busy.share, if busy.share >= 0.7 { "full" } else { "room" })) }
                    td { (busy.how) }
                }
            } }
        } }))
    }
}
