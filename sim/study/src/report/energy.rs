//! Energy and area: by block, over time, by instruction.

use super::chart::{Chart, Column, Series, Style, bar, scroll};
use super::facts::Facts;
use super::windows::Window;
use crate::summary::energy::joules;
use maud::{Markup, html};
use wave_observe::energy::{Activity, Block, Energy, Lines, Model, Prices};
use wave_observe::numbers::{percent, short};

/// Most instructions in the table.
const LISTED: usize = 20;

/// Blocks that are drawn together, with name and CSS class.
const GROUPS: [(&str, &str, &[Block]); 6] = [
    ("leakage", "limit", &[Block::Leakage]),
    ("front end, registers, pipeline", "issued", &[Block::FrontEnd, Block::Registers, Block::Pipeline]),
    (
        "execution units",
        "good",
        &[Block::Integer, Block::F16, Block::F32, Block::F64, Block::Special, Block::WaveOps, Block::Matrix],
    ),
    ("local memory and L1", "l1", &[Block::Local, Block::L1]),
    ("interconnect and L2", "l2", &[Block::Interconnect, Block::L2]),
    ("memory", "dram", &[Block::L3, Block::Controllers, Block::Dram]),
];

/// The section.
pub(super) fn section(facts: &Facts<'_>) -> Markup {
    let prices = Prices::built_in();
    let model = Model::new(facts.config, prices);
    let total = Activity::from(&facts.report);
    let energy = model.energy(&total);
    let (least, most) = energy.bounds_joules();
    let lines = Lines::of(&model, (facts.config, facts.program), &total, facts.gathered.profiles());
    html! {
        p {
            "In " (facts.period()) " the machine takes about " strong { (joules(energy.total_joules())) } ", which is "
            (short(energy.watts())) " W on average. The uncertainties of the prices alone allow " (joules(least)) " to "
            (joules(most)) ". These are what was counted times published energies at " (prices.node_nm)
            " nm; its area is then about " (short(model.area.total_mm2())) " mm². The page on energy in the book has the rules \
             and the sources."
        }
        (blocks(facts, &energy))
        (over_time(facts, &model))
        (instructions(facts, &lines, energy.total_joules()))
    }
}

fn blocks(facts: &Facts<'_>, energy: &Energy) -> Markup {
    let total = energy.total_joules();
    let largest = energy.blocks().map(|(_, joules)| joules).fold(0.0, f64::max);
    html! {
        (scroll("Energy by block", html! { table {
            caption { "Energy by block, in " (facts.period()) }
            thead { tr { th scope="col" { "block" } th scope="col" { "energy" } th scope="col" { "share" } } }
            tbody { @for (name, of_block) in energy.blocks().filter(|&(_, joules)| joules > 0.0) { tr {
                th scope="row" { (name) }
                td.number { (joules(of_block)) }
                td.number { (percent(of_block / total)) (bar(of_block / largest, "issued")) }
            } } }
        } }))
    }
}

/// The energy of a window.
fn of_window(model: &Model, window: &Window) -> Energy {
    let counts = &window.counts;
    model.energy(&Activity {
        cycles: window.to - window.from,
        core: counts.core,
        l1: counts.l1,
        memory: counts.memory,
    })
}

fn over_time(facts: &Facts<'_>, model: &Model) -> Markup {
    let windows: Vec<Energy> = facts.windows.iter().map(|window| of_window(model, window)).collect();
    let watts = |energy: &Energy, blocks: &[Block]| -> f64 {
        let joules: f64 = blocks.iter().map(|&block| energy.block(block)).sum();
        if energy.seconds() > 0.0 { joules / energy.seconds() } else { 0.0 }
    };
    let top = windows.iter().map(Energy::watts).fold(0.0, f64::max);
    let top = if top > 0.0 { top } else { 1.0 };
    let chart = Chart {
        id: "power",
        title: "Power",
        caption: "Power by block, averaged over each window.".to_owned(),
        windows: &facts.windows,
        top,
        labels: (0..=4).map(|i| format!("{} W", short(top * f64::from(i) / 4.0))).collect(),
        series: GROUPS
            .iter()
            .map(|&(name, class, blocks)| Series {
                name,
                class,
                style: Style::Area,
                values: windows.iter().map(|energy| Some(watts(energy, blocks))).collect(),
            })
            .collect(),
        columns: GROUPS
            .iter()
            .map(|&(name, _, blocks)| Column {
                name: format!("{name}, W"),
                values: windows.iter().map(|energy| short(watts(energy, blocks))).collect(),
            })
            .collect(),
        tall: false,
        marks: &facts.gathered.begins,
    };
    chart.draw()
}

fn instructions(facts: &Facts<'_>, lines: &Lines, total: f64) -> Markup {
    let dearest = lines.dearest();
    let largest = dearest.first().map_or(1.0, |line| line.joules());
    let others: f64 = dearest.iter().skip(LISTED).map(|line| line.joules()).sum();
    html! {
        p {
            "An instruction is charged with what it does in the core, and with its part of what the memory side takes, by the \
             sectors, stores and atomics that leave the L1."
        }
        (scroll("Energy by instruction", html! { table {
            caption { "The instructions that take most, in " (facts.period()) }
            thead { tr {
                th scope="col" { "instruction" } th scope="col" { "in the core" } th scope="col" { "on the memory side" }
                th scope="col" { "share" }
            } }
            tbody {
                @for line in dearest.iter().take(LISTED) { tr {
                    th scope="row" {
                        @match facts.instruction(line.kernel, line.word) {
                            Some(i) => a href={ "#" (i.anchor()) } { code { (i.text) } },
                            None => { "word " (line.word) }
                        }
                    }
                    td.number { (joules(line.core_joules)) }
                    td.number { (joules(line.memory_joules)) }
                    td.number { (percent(line.joules() / total)) (bar(line.joules() / largest, "issued")) }
                } }
                @if dearest.len() > LISTED { tr {
                    th scope="row" { (dearest.len() - LISTED) " others" }
                    td {} td {} td.number { (percent(others / total)) }
                } }
                tr {
                    th scope="row" { "no instruction: leakage, standby, refresh, fetch" }
                    td {} td {} td.number { (percent(lines.rest_joules / total)) }
                }
            }
        } }))
    }
}
