//! What was measured on a GPU, as a document.
//!
//! A document is also a result in the form that `wave-sim KERNEL --format json` writes, with the GPU as the machine, so that
//! whatever compares stored results takes it.

use crate::job::Times;
use crate::micro::{Shape, Topic};
use crate::spread::Spread;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};
use wave_driver::Properties;
use wave_isa::diagnostic::Diagnostic;
use wave_ptx::WAVE_WIDTH;
use wave_study::results::Machine;
use wave_study::summary::{Data, json};

/// In place of the hash of a configuration.
const NO_HASH: &str = "silicon";

/// What was measured on a GPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Form of the document, that of results.
    schema: u32,
    /// Version of the program.
    wave_sim: String,
    /// The GPU as a machine.
    pub config: Machine,
    /// What the driver knows of it.
    pub gpu: Gpu,
    /// Kernels with their data.
    pub runs: Vec<Run>,
    /// Microbenchmarks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub microbenchmarks: Option<Microbenchmarks>,
}

/// A GPU, as its driver describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    /// What the driver knows of it.
    #[serde(flatten)]
    pub properties: Properties,
    /// The day on which it was measured, as year-month-day; absent in a rehearsal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// For a rehearsal: the machine whose clock it had. Nothing was measured then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rehearsal_of: Option<String>,
}

/// A kernel with its data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Name of the launch file, or in the suite.
    pub name: String,
    /// One word, as for results.
    pub outcome: String,
    /// Why there are no times, or what is wrong with the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Data>,
    /// The cycles, where results have them.
    #[serde(default)]
    pub total: Option<Numbers>,
    /// The times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
    /// How many bytes of memory differ from those of the functional machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_apart: Option<u64>,
}

/// Figures and statistics, by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Numbers {
    /// None of a GPU.
    pub figures: IndexMap<String, f64>,
    /// `kernel.cycles`, the median.
    pub statistics: IndexMap<String, u64>,
}

/// Microbenchmarks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Microbenchmarks {
    /// What the kernels depend on.
    pub shape: Shape,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// A figure of a microbenchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it is about.
    pub topic: Topic,
    /// What it is.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Its values.
    pub value: Spread,
}

impl Run {
    /// A run with times.
    pub fn new(name: &str, outcome: &str, data: Option<Data>, times: Times) -> Run {
        let cycles = ("kernel.cycles".to_owned(), times.cycles.median.round() as u64);
        let total = Numbers { figures: IndexMap::new(), statistics: IndexMap::from([cycles]) };
        Run {
            name: name.to_owned(),
            outcome: outcome.to_owned(),
            message: None,
            data,
            total: Some(total),
            times: Some(times),
            bytes_apart: None,
        }
    }

    /// A run without times, and why.
    pub fn without(name: &str, outcome: &str, data: Option<Data>, why: String) -> Run {
        Run {
            name: name.to_owned(),
            outcome: outcome.to_owned(),
            message: Some(why),
            data,
            total: None,
            times: None,
            bytes_apart: None,
        }
    }
}

impl Document {
    /// A document without measurements. `rehearsal_of`: the machine of a rehearsal.
    pub fn new(properties: &Properties, rehearsal_of: Option<&str>) -> Document {
        let gpu = Gpu {
            properties: properties.clone(),
            date: rehearsal_of.is_none().then(today),
            rehearsal_of: rehearsal_of.map(str::to_owned),
        };
        Document {
            schema: json::SCHEMA,
            wave_sim: env!("CARGO_PKG_VERSION").to_owned(),
            config: Machine {
                name: properties.name.clone(),
                hash: NO_HASH.to_owned(),
                cores: properties.multiprocessors,
                wave_width: WAVE_WIDTH,
                core_clock_mhz: properties.clock_khz / 1000,
                set: Vec::new(),
            },
            gpu,
            runs: Vec::new(),
            microbenchmarks: None,
        }
    }

    /// Takes the clock that was measured, weighted by cycles, in place of the highest one.
    pub fn settle(&mut self) {
        let times = || self.runs.iter().filter_map(|run| run.times.as_ref());
        let of = |times: &Times| Some((times.cycles.median, times.cycles.median / times.clock_mhz?));
        let (cycles, time) =
            times().filter_map(of).fold((0.0, 0.0), |(a, b), (cycles, time)| (a + cycles, b + time));
        if time > 0.0 {
            self.config.core_clock_mhz = (cycles / time).round() as u32;
        }
    }

    /// The text of the document.
    pub fn text(&self) -> String {
        // Numbers, strings and maps with string keys always serialise.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads a document; `file` names it in messages.
    ///
    /// # Errors
    /// It is none, or one of another version of the form.
    pub fn read(text: &str, file: &str) -> Result<Document, Diagnostic> {
        let hint = "`wave-sim silicon … --save FILE` writes one, on a host with a GPU";
        let document: Document = serde_json::from_str(text).map_err(|error| {
            Diagnostic::error(format!("`{file}` is no measurement of a GPU: {error}")).hint(hint)
        })?;
        match document.schema == json::SCHEMA {
            true => Ok(document),
            false => {
                let message = format!(
                    "`{file}` has form {}, and this wave-sim reads {}",
                    document.schema,
                    json::SCHEMA
                );
                Err(Diagnostic::error(message).hint("measure again with this version"))
            }
        }
    }

    /// Which GPU and when, for headings.
    pub fn heading(&self) -> String {
        match (&self.gpu.rehearsal_of, &self.gpu.date) {
            (Some(of), _) => format!("no GPU: a rehearsal with the clock of the simulated {of}"),
            (None, Some(date)) => format!("{}, {date}", self.gpu.properties.name),
            (None, None) => self.gpu.properties.name.clone(),
        }
    }
}

/// The day, in Greenwich, as year-month-day.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date(seconds / 86_400)
}

/// The date so many days after 1970-01-01, in the Gregorian calendar.
fn date(mut days: u64) -> String {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(20_788), "2026-12-01");
    }
}
