//! Energy and area of a machine and a run, as text and JSON.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use wave_machine::config::Config;
use wave_machine::gpu::KernelReport;
use wave_observe::energy::{Activity, Area, Energy, Model, Prices};
use wave_observe::numbers::{percent, short, si};

/// Length of the longest bar in columns.
const BAR: f64 = 30.0;

/// Energy of a run and area of its machine, as lines behind a report.
pub fn report(report: &KernelReport, config: &Config, prices: &Prices) -> String {
    let model = Model::new(config, prices);
    let energy = model.energy(&Activity::from(report));
    let total = energy.total_joules();
    let (least, most) = energy.bounds_joules();
    let mut text = format!(
        "\n  energy       {} in {}: {}; between {} and {}, by the uncertainty of the prices\n",
        joules(total),
        seconds(energy.seconds()),
        watts(energy.watts()),
        joules(least),
        joules(most),
    );
    let blocks: Vec<(&str, f64)> = energy.blocks().filter(|&(_, joules)| joules > 0.0).collect();
    let largest = blocks.iter().map(|b| b.1).fold(0.0, f64::max);
    for (name, of_block) in blocks {
        let bar = "█".repeat((of_block / largest * BAR).round() as usize);
        let share = percent(of_block / total);
        let row = format!("    {name:<18} {:>9}  {share:>7} {bar}", joules(of_block));
        _ = writeln!(text, "{}", row.trim_end());
    }
    let each = |count: u64| if count == 0 { "-".to_owned() } else { joules(total / count as f64) };
    let core = &report.core;
    _ = writeln!(
        text,
        "    {} a wave instruction, {} a lane instruction",
        each(core.wave_instructions),
        each(core.lane_instructions)
    );
    text + &area_lines(&model.area, prices)
}

/// The area of a machine: what `wave-sim config area` prints.
pub fn area(config: &Config, prices: &Prices) -> String {
    let device = prices.device(&config.dram);
    format!(
        "{}: prices at {} nm, memory {}\n{}",
        config.name,
        prices.node_nm,
        device.device,
        area_lines(&Area::of(config, prices), prices)
    )
}

fn area_lines(area: &Area, prices: &Prices) -> String {
    let total = area.total_mm2();
    let (least, most) = area.bounds_mm2();
    let mut text = format!(
        "  area         {} at {} nm; between {} and {}\n",
        mm2(total),
        prices.node_nm,
        mm2(least),
        mm2(most)
    );
    for block in area.blocks().iter().filter(|block| block.mm2 > 0.0) {
        _ = writeln!(text, "    {:<18} {:>9}  {:>7}", block.name, mm2(block.mm2), percent(block.mm2 / total));
    }
    text
}

fn mm2(value: f64) -> String {
    format!("{} mm²", short(value))
}

fn watts(value: f64) -> String {
    si(value, "W")
}

fn seconds(value: f64) -> String {
    si(value, "s")
}

/// An energy for readers.
pub fn joules(value: f64) -> String {
    si(value, "J")
}

/// Energy in a JSON document.
#[derive(Debug, Serialize)]
pub(crate) struct EnergyJson {
    node_nm: f64,
    joules: f64,
    least_joules: f64,
    most_joules: f64,
    seconds: f64,
    watts: f64,
    blocks: BTreeMap<&'static str, f64>,
}

impl EnergyJson {
    pub(super) fn of(report: &KernelReport, config: &Config, prices: &Prices) -> EnergyJson {
        let energy = Energy::of(config, report, prices);
        let (least_joules, most_joules) = energy.bounds_joules();
        EnergyJson {
            node_nm: prices.node_nm,
            joules: energy.total_joules(),
            least_joules,
            most_joules,
            seconds: energy.seconds(),
            watts: energy.watts(),
            blocks: energy.blocks().collect(),
        }
    }
}

/// Area in a JSON document.
#[derive(Debug, Serialize)]
pub(crate) struct AreaJson {
    node_nm: f64,
    mm2: f64,
    least_mm2: f64,
    most_mm2: f64,
    blocks: BTreeMap<&'static str, f64>,
}

impl AreaJson {
    pub(super) fn of(config: &Config, prices: &Prices) -> AreaJson {
        let area = Area::of(config, prices);
        let (least_mm2, most_mm2) = area.bounds_mm2();
        AreaJson {
            node_nm: prices.node_nm,
            mm2: area.total_mm2(),
            least_mm2,
            most_mm2,
            blocks: area.blocks().iter().map(|block| (block.name, block.mm2)).collect(),
        }
    }
}
