//! Bounds on the rate of a stream, and the figure derived from them.

use super::kernel::Work;
use super::{Figure, Rule};
use wave_isa::ExecClass;
use wave_machine::config::Config;

const PERCENT: f64 = 1.0;

/// A bound on a stream. The lowest of several applies.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    /// Rate in the unit of the figure.
    pub rate: f64,
    /// The resource that sets it.
    pub by: String,
    /// 0 for the rate of a port, bank or bus. For a resource that has to keep one of those busy: the factor
    /// by which its rate must exceed theirs so that they never rest, because it is not spread evenly.
    pub slack: f64,
}

/// Factor by which accesses in flight must exceed delay × rate.
pub(crate) const UNDER_WAY: f64 = 1.5;
/// Factor by which a core's issue rate must exceed the rate.
const ISSUED: f64 = 2.0;

impl Bound {
    /// The rate of a port, bank or bus.
    pub(super) fn new(rate: f64, by: impl Into<String>) -> Bound {
        Bound { rate, by: by.into(), slack: 0.0 }
    }

    /// `amount` in flight for `cycles` cycles (Little's law).
    pub(super) fn in_flight(amount: f64, cycles: f64, by: impl Into<String>) -> Bound {
        Bound { rate: amount / cycles, by: by.into(), slack: UNDER_WAY }
    }

    /// True if it cannot keep a resource of this rate busy.
    pub(crate) fn starves(&self, rate: f64) -> bool {
        self.rate < self.slack * rate
    }
}

/// The lowest of some bounds.
pub(super) fn least(bounds: &[Bound]) -> f64 {
    bounds.iter().map(|bound| bound.rate).fold(f64::MAX, f64::min)
}

/// The figure of a stream under these bounds. It has to come within one percent of the lowest bound.
/// Otherwise it only must not exceed the bounds: if what feeds it has little more to give, or if `loosely`
/// says why.
pub(super) fn figure(
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

/// Bounds from what `cores` cores can issue of a kernel whose memory instructions move `amount` each.
pub(crate) fn by_issue(config: &Config, cores: u32, work: &Work, amount: f64) -> Vec<Bound> {
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

/// Cycles from the issue of an integer addition to the issue of an instruction that needs the sum (O1, X1,
/// X2, I5).
pub(super) fn addition(config: &Config) -> f64 {
    let core = &config.core;
    let timings =
        core.units.iter().flat_map(|unit| unit.classes.iter().map(move |class| (unit.lanes, class)));
    let cycles = timings
        .filter(|(_, class)| class.class == ExecClass::Int)
        .map(|(lanes, class)| 2 + class.latency_cycles + class.passes * core.wave_width.div_ceil(lanes) - 1);
    f64::from(cycles.min().unwrap_or(0))
}
