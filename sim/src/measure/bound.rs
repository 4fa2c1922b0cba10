//! What bounds the rate of a stream, and the figure that comes of it.

use super::kernel::Work;
use super::{Figure, Rule};
use crate::config::Config;
use crate::isa::ExecClass;

const PERCENT: f64 = 1.0;

/// What bounds a stream. The least of several counts.
#[derive(Debug, Clone)]
pub struct Bound {
    /// In the unit of the figure.
    pub rate: f64,
    /// What it is.
    pub by: String,
    /// 0 for the rate of a port, bank or bus; for what has to keep them busy, how many times as much it has to be
    /// able to give for them never to rest, as it is not spread evenly.
    pub slack: f64,
}

/// What is under way has to be so many times as much as the delay asks for.
pub const UNDER_WAY: f64 = 1.5;
/// A core has to be able to issue so many times as much as passes.
const ISSUED: f64 = 2.0;

impl Bound {
    /// The rate of a port, bank or bus.
    pub fn new(rate: f64, by: impl Into<String>) -> Bound {
        Bound { rate, by: by.into(), slack: 0.0 }
    }

    /// So much under way for so many cycles each (Little's law).
    pub fn in_flight(amount: f64, cycles: f64, by: impl Into<String>) -> Bound {
        Bound { rate: amount / cycles, by: by.into(), slack: UNDER_WAY }
    }

    /// True if it does not keep busy what has this rate.
    pub fn starves(&self, rate: f64) -> bool {
        self.rate < self.slack * rate
    }
}

/// The least of some bounds.
pub fn least(bounds: &[Bound]) -> f64 {
    bounds.iter().map(|bound| bound.rate).fold(f64::MAX, f64::min)
}

/// The figure of a stream under these bounds. It has to come within a percent of the least rate, unless what feeds it
/// has not much more to give than that, or `loosely` says why it need not; then it may not pass the bounds.
pub fn figure(
    what: String,
    measured: f64,
    unit: &'static str,
    bounds: &[Bound],
    loosely: Option<&str>,
) -> Figure {
    let rate = bounds.iter().filter(|b| b.slack == 0.0).map(|b| b.rate).fold(f64::MAX, f64::min);
    let starving = bounds.iter().filter(|b| b.starves(rate));
    let feed = starving.min_by(|a, b| a.rate.total_cmp(&b.rate));
    let bound = bounds.iter().min_by(|a, b| a.rate.total_cmp(&b.rate));
    let by = bound.map_or("", |b| &b.by);
    let why = loosely.or(feed.map(|feed| feed.by.as_str()).filter(|&feed| feed != by));
    Figure {
        what,
        measured,
        expected: bound.map(|b| b.rate),
        unit,
        rule: match feed.is_some() || loosely.is_some() {
            true => Rule::AtMost,
            false => Rule::WithinPercent(PERCENT),
        },
        off: 0,
        note: why.map_or(by.to_owned(), |why| format!("{by}; need not come near: {why}")),
    }
}

/// What so many cores can issue of a kernel whose memory instructions move `amount` each.
pub fn by_issue(config: &Config, cores: u32, work: &Work, amount: f64) -> Vec<Bound> {
    let core = &config.core;
    let all = f64::from(cores * core.schedulers) * amount;
    let bound = |per_cycle: u32, need: f64, by: &str| Bound {
        rate: all * f64::from(per_cycle) / need,
        by: by.to_owned(),
        slack: ISSUED,
    };
    let registers = &core.registers;
    let mut bounds = vec![
        bound(core.issue.width, work.instructions, "core.issue.width"),
        bound(core.fetch.words, work.words, "core.fetch.words"),
        bound(registers.banks, work.rows_read, "core.registers.banks"),
        bound(registers.collectors, work.collector_cycles, "core.registers.collectors"),
    ];
    if work.rows_written > 0.0 {
        bounds.push(bound(registers.write_ports, work.rows_written, "core.registers.write_ports"));
    }
    bounds
}

/// Cycles from the issue of an integer addition to that of an instruction that needs its sum (O1, X1, X2, I5).
pub fn addition(config: &Config) -> f64 {
    let core = &config.core;
    let timings =
        core.units.iter().flat_map(|unit| unit.classes.iter().map(move |class| (unit.lanes, class)));
    let cycles = timings
        .filter(|(_, class)| class.class == ExecClass::Int)
        .map(|(lanes, class)| 2 + class.latency_cycles + class.passes * core.wave_width.div_ceil(lanes) - 1);
    f64::from(cycles.min().unwrap_or(0))
}
