//! Measurements of a machine's memory hierarchy with generated kernels, next to the expectation from its
//! configuration.
//!
//! Each measurement generates kernels, runs them on the whole machine and returns [`Figure`]s: a measured
//! value and the value expected by the formulas of docs/measure.md. [`expected`] and [`channel`] compute the
//! latter from the configuration alone, without the code of the memory hierarchy.

mod atomics;
mod bandwidth;
mod bound;
pub(crate) mod channel;
mod dram;
pub(crate) mod expected;
pub(crate) mod kernel;
mod latency;
pub(crate) mod plot;
pub mod text;
mod within_core;

#[cfg(test)]
mod tests;

pub(crate) use latency::successors;
use plot::Plot;
use serde::ser::{Serialize, SerializeStruct, Serializer};
use std::sync::atomic::AtomicBool;
use wave_machine::config::Config;
use wave_machine::gpu;

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Topic {
    /// Load-to-use latency against footprint.
    Latency,
    /// Streaming bandwidth of each level.
    Bandwidth,
    /// Throughput of atomics in each scope.
    Atomics,
    /// Row hits and bandwidth of memory under several patterns and policies.
    Dram,
}

impl Topic {
    /// Every topic, in the order of a report.
    pub const ALL: [Topic; 4] = [Topic::Latency, Topic::Bandwidth, Topic::Atomics, Topic::Dram];

    /// Its name on the command line and in the file names of its plots.
    pub const fn name(self) -> &'static str {
        match self {
            Topic::Latency => "latency",
            Topic::Bandwidth => "bandwidth",
            Topic::Atomics => "atomics",
            Topic::Dram => "dram",
        }
    }

    /// Most runs of the machine, for a progress bar.
    pub fn steps(self, config: &Config) -> usize {
        match self {
            Topic::Latency => latency::footprints(config).len(),
            Topic::Bandwidth => bandwidth::steps(config),
            Topic::Atomics => atomics::steps(config),
            Topic::Dram => dram::STEPS,
        }
    }

    /// Measures it. `progress` is told of each run that starts, and how far it is.
    ///
    /// # Errors
    /// The reason why a kernel did not run to its end.
    pub fn measure(self, config: &Config, progress: &mut dyn Listener) -> Result<Section, String> {
        match self {
            Topic::Latency => latency::measure(config, progress),
            Topic::Bandwidth => bandwidth::measure(config, progress),
            Topic::Atomics => atomics::measure(config, progress),
            Topic::Dram => dram::measure(config, progress),
        }
    }
}

/// Receives the progress of a measurement.
pub trait Listener {
    /// A run of the machine starts.
    fn starts(&mut self, what: &str);
    /// Progress of the current run.
    fn shows(&mut self, now: gpu::Progress);
    /// Ends the measurement with an error once it is true.
    fn stop(&self) -> Option<&'static AtomicBool> {
        None
    }
}

/// Ignores the progress.
impl Listener for () {
    fn starts(&mut self, _: &str) {}
    fn shows(&mut self, _: gpu::Progress) {}
}

/// Required relation between a figure and its expected value.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Equal, access by access.
    Exact,
    /// Within this many percent of the expected value.
    WithinPercent(f64),
    /// An upper bound that need not be reached.
    AtMost,
    /// None: no formula gives an expectation.
    Shown,
}

/// One measured value.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What was measured.
    pub what: String,
    /// The value.
    pub measured: f64,
    /// The expected value; absent if the rule is [`Rule::Shown`].
    pub expected: Option<f64>,
    /// Unit of both.
    pub unit: &'static str,
    /// The rule of comparison.
    pub rule: Rule,
    /// Number of accesses whose own value differs from the expected one.
    pub off: u64,
    /// Source of the expected value, or a remark.
    pub note: String,
}

impl Figure {
    /// True if the rule holds.
    pub fn holds(&self) -> bool {
        let Some(expected) = self.expected else { return true };
        let apart = (self.measured - expected).abs();
        self.off == 0
            && match self.rule {
                Rule::Exact => apart < 1e-9 * expected.abs().max(1.0),
                Rule::WithinPercent(percent) => apart <= expected * percent / 100.0,
                // A rate over a finite time is off by one instruction at its ends.
                Rule::AtMost => self.measured <= expected * 1.01,
                Rule::Shown => true,
            }
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_struct("Figure", 8)?;
        map.serialize_field("what", &self.what)?;
        map.serialize_field("measured", &self.measured)?;
        map.serialize_field("expected", &self.expected)?;
        map.serialize_field("unit", self.unit)?;
        map.serialize_field("rule", &self.rule)?;
        map.serialize_field("off", &self.off)?;
        map.serialize_field("as_expected", &self.holds())?;
        map.serialize_field("note", &self.note)?;
        map.end()
    }
}

/// One topic's figures and plots.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Section {
    /// What was measured.
    pub topic: Topic,
    /// The figures, in the order of the report.
    pub figures: Vec<Figure>,
    /// The plots; not part of the JSON.
    #[serde(skip)]
    pub plots: Vec<Plot>,
}

impl Section {
    /// True if every figure is as expected.
    pub fn holds(&self) -> bool {
        self.figures.iter().all(Figure::holds)
    }
}
