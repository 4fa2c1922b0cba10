//! What a run has measured, in the form in which runs are compared, tabulated and stored: of a run just made, or out of a
//! document that one wrote.

use crate::summary::{Data, Run, json};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::{Config, config_hash};
use wave_observe::energy::{Area, Energy, Prices};

/// A run of a kernel on a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Name of the kernel file or launch file.
    pub kernel: String,
    /// The machine.
    pub machine: Machine,
    /// One word, as in tables: `verified`, `ended`, `failed`, `skipped`, `refused`, `fault` or `stopped`.
    pub outcome: String,
    /// Why it did not end.
    pub message: Option<String>,
    /// The data of a launch file, if that is known.
    pub data: Option<Data>,
    /// Figures of all launches together, by name; also [`ENERGY`], [`POWER`] and [`AREA`] where there are prices.
    pub figures: IndexMap<String, f64>,
    /// Statistics of all launches together, by name.
    pub statistics: IndexMap<String, u64>,
}

/// The figure of the energy of a run, in joules.
pub const ENERGY: &str = "energy.joules";
/// The figure of the mean power of a run, in watts.
pub const POWER: &str = "energy.watts";
/// The figure of the area of the machine, in square millimetres.
pub const AREA: &str = "area.mm2";

/// The machine of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Name of the configuration.
    pub name: String,
    /// Hash of the resolved configuration.
    pub hash: String,
    /// Number of cores.
    pub cores: u32,
    /// Lanes of a wave.
    pub wave_width: u32,
    /// Clock of the cores in MHz.
    pub core_clock_mhz: u32,
    /// What the command line sets, such as `core.l1.mshrs=64`.
    #[serde(default)]
    pub set: Vec<String>,
}

impl Machine {
    /// The machine of a configuration.
    pub fn of(config: &Config) -> Machine {
        Machine {
            name: config.name.clone(),
            hash: config_hash(config),
            cores: config.cores,
            wave_width: config.core.wave_width,
            core_clock_mhz: config.core_clock_mhz,
            set: config.set.clone(),
        }
    }
}

/// A document of runs, as far as it is read.
#[derive(Serialize, Deserialize)]
struct Document {
    schema: u32,
    config: Machine,
    runs: Vec<RunOfDocument>,
    #[serde(skip_serializing)]
    area: Option<AreaOfDocument>,
}

#[derive(Serialize, Deserialize)]
struct RunOfDocument {
    name: String,
    outcome: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<Data>,
    total: Option<Numbers>,
    #[serde(skip_serializing)]
    energy: Option<EnergyOfDocument>,
}

#[derive(Deserialize)]
struct EnergyOfDocument {
    joules: f64,
    watts: f64,
}

#[derive(Deserialize)]
struct AreaOfDocument {
    mm2: f64,
}

#[derive(Serialize, Deserialize)]
struct Numbers {
    #[serde(default)]
    figures: IndexMap<String, f64>,
    #[serde(default)]
    statistics: IndexMap<String, u64>,
}

impl Measured {
    /// What a run has measured, with energy and area at the built-in prices.
    pub fn of(config: &Config, run: &Run) -> Measured {
        let prices = Prices::built_in();
        let (figures, statistics) = json::totals(run, config);
        let mut figures: IndexMap<String, f64> =
            figures.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        figures.insert(AREA.to_owned(), Area::of(config, prices).total_mm2());
        if let Some(report) = run.total() {
            let energy = Energy::of(config, &report, prices);
            figures.insert(ENERGY.to_owned(), energy.total_joules());
            figures.insert(POWER.to_owned(), energy.watts());
        }
        Measured {
            kernel: run.name.clone(),
            machine: Machine::of(config),
            outcome: run.outcome.word().to_owned(),
            message: json::message(run),
            data: run.data,
            figures,
            statistics: statistics.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        }
    }

    /// The runs of a document that `wave-sim --format json` wrote; `file` names it in messages.
    ///
    /// # Errors
    /// If it is no such document, or one of another version of the form.
    pub fn read(text: &str, file: &str) -> Result<Vec<Measured>, Diagnostic> {
        let hint = "wave-sim KERNEL --format json > FILE writes one";
        let document: Document = serde_json::from_str(text).map_err(|error| {
            Diagnostic::error(format!("`{file}` is no result of wave-sim: {error}")).hint(hint)
        })?;
        if document.schema != json::SCHEMA {
            let message = format!(
                "`{file}` has form {} of results, and this wave-sim reads {}",
                document.schema,
                json::SCHEMA
            );
            return Err(Diagnostic::error(message).hint("run the kernels again with this version"));
        }
        let run = |run: RunOfDocument| {
            let Numbers { mut figures, statistics } =
                run.total.unwrap_or(Numbers { figures: IndexMap::new(), statistics: IndexMap::new() });
            let area = document.area.as_ref().map(|area| (AREA, area.mm2));
            let energy = run.energy.map(|energy| [(ENERGY, energy.joules), (POWER, energy.watts)]);
            let more = area.into_iter().chain(energy.into_iter().flatten());
            figures.extend(more.map(|(name, value)| (name.to_owned(), value)));
            Measured {
                kernel: run.name,
                machine: document.config.clone(),
                outcome: run.outcome,
                message: run.message,
                data: run.data,
                figures,
                statistics,
            }
        };
        Ok(document.runs.into_iter().map(run).collect())
    }

    /// A document that [`Measured::read`] reads as this.
    pub fn document(&self) -> String {
        let total = Numbers { figures: self.figures.clone(), statistics: self.statistics.clone() };
        let run = RunOfDocument {
            name: self.kernel.clone(),
            outcome: self.outcome.clone(),
            message: self.message.clone(),
            data: self.data,
            total: Some(total),
            energy: None,
        };
        let document =
            Document { schema: json::SCHEMA, config: self.machine.clone(), runs: vec![run], area: None };
        // Numbers, strings and maps with string keys always serialise.
        serde_json::to_string(&document).unwrap_or_default() + "\n"
    }

    /// Cycles of all launches; `None` without timing, and for a run that did not end.
    pub fn cycles(&self) -> Option<u64> {
        let ended = matches!(self.outcome.as_str(), "verified" | "ended" | "failed");
        self.statistics.get("kernel.cycles").copied().filter(|_| ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = r#"{"schema": 1, "wave_sim": "0.1.0",
        "config": {"name": "gpu", "hash": "1", "cores": 2, "wave_width": 32, "core_clock_mhz": 1500, "set": []},
        "area": {"mm2": 80.5, "blocks": {}},
        "runs": [
            {"name": "a", "outcome": "ended", "launches": [], "energy": {"joules": 0.25, "watts": 7.5, "blocks": {}},
             "total": {"figures": {"figure.ipc": 1.5}, "statistics": {"kernel.cycles": 10, "core.cycles": 20}}},
            {"name": "b", "outcome": "stopped", "message": "stands still", "launches": [],
             "total": {"figures": {}, "statistics": {"kernel.cycles": 7}}}]}"#;

    #[test]
    fn a_document_is_read() {
        let runs = Measured::read(DOCUMENT, "a.json").unwrap();
        assert_eq!(runs.len(), 2);
        assert_eq!((runs[0].kernel.as_str(), runs[0].cycles(), runs[0].machine.cores), ("a", Some(10), 2));
        assert_eq!(runs[0].figures["figure.ipc"], 1.5);
        assert_eq!([ENERGY, POWER, AREA].map(|name| runs[0].figures[name]), [0.25, 7.5, 80.5]);
        assert_eq!(Measured::read(&runs[0].document(), "b.json"), Ok(vec![runs[0].clone()]));
        assert_eq!((runs[1].cycles(), runs[1].message.as_deref()), (None, Some("stands still")));
    }

    #[test]
    fn what_is_written_is_read_to_the_last_bit() {
        let mut run = Measured::read(DOCUMENT, "a.json").unwrap().remove(1);
        run.figures.insert("figure.ipc".to_owned(), 0.1 + 0.2);
        run.figures.insert("figure.x".to_owned(), f64::MIN_POSITIVE / 3.0);
        assert_eq!(Measured::read(&run.document(), "b.json").unwrap(), [run]);
    }

    #[test]
    fn other_files_are_errors() {
        let error = |text: &str| Measured::read(text, "a.json").unwrap_err().message;
        assert!(error("{}").contains("`a.json` is no result of wave-sim: missing field `schema`"));
        assert!(error(&DOCUMENT.replace(r#""schema": 1"#, r#""schema": 9"#)).contains("form 9"));
    }
}
