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
    /// True if it is no rate of a port, bank or bus but of what has to keep them busy.
    pub feeds: bool,
}

/// What keeps a port, bank or bus busy has to be able to do so much more than that for it never to rest, as
/// neither what is under way nor what a core issues is spread evenly.
pub const SLACK: f64 = 1.5;

impl Bound {
    /// The rate of a port, bank or bus.
    pub fn new(rate: f64, by: impl Into<String>) -> Bound {
        Bound { rate, by: by.into(), feeds: false }
    }

    /// The rate at which something else can keep them busy.
    pub fn feeding(rate: f64, by: impl Into<String>) -> Bound {
        Bound { rate, by: by.into(), feeds: true }
    }

    /// So much under way for so many cycles each (Little's law).
    pub fn in_flight(amount: f64, cycles: f64, by: impl Into<String>) -> Bound {
        Bound::feeding(amount / cycles, by)
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
    let least = |feeds: bool| {
        let kind = bounds.iter().filter(move |b| b.feeds == feeds);
        kind.min_by(|a, b| a.rate.total_cmp(&b.rate))
    };
    let feed = least(true).filter(|feed| least(false).is_none_or(|rate| feed.rate < SLACK * rate.rate));
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
    let bound = |per_cycle: u32, need: f64, by: &str| Bound::feeding(all * f64::from(per_cycle) / need, by);
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
