//! Kernels of whole programs, from the documents that `wave-sim run --format json` wrote.

use super::quantity::{KernelCounter, PublishedQuantity};
use crate::results::Machine;
use crate::summary::json::SCHEMA;
use serde::Deserialize;
use std::collections::BTreeMap;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::{Config, config_hash};

/// Device memory of programs, which is more than that of the suite, where nobody says how much.
const PROGRAM_MEMORY_BYTES: u64 = 1 << 30;

/// The machine on which programs run: with device memory for them, where nobody says how much.
pub fn machine_of_programs(mut config: Config) -> Config {
    if !config.set.iter().any(|set| set.starts_with("device_memory_bytes")) {
        config.device_memory_bytes = config.device_memory_bytes.max(PROGRAM_MEMORY_BYTES);
    }
    config
}

/// Bytes of a sector in a profiler's counters.
const SECTOR_BYTES: f64 = 32.0;

/// A document, as far as it is read.
#[derive(Deserialize)]
struct Document {
    schema: u32,
    config: Machine,
    runs: Vec<RunOfDocument>,
}

#[derive(Deserialize)]
struct RunOfDocument {
    outcome: String,
    #[serde(default)]
    launches: Vec<LaunchOfDocument>,
}

#[derive(Deserialize)]
struct LaunchOfDocument {
    kernel: String,
    statistics: BTreeMap<String, u64>,
}

/// The launches of one program.
#[derive(Debug)]
struct Launches {
    hash: String,
    /// Kernel and statistics of each.
    all: Vec<(String, BTreeMap<String, u64>)>,
}

/// Launches of programs that were run before, by the name of the program.
#[derive(Debug, Default)]
pub struct ProgramRuns {
    programs: BTreeMap<String, Launches>,
}

impl ProgramRuns {
    /// Adds the launches of a document. `file` is its name in messages.
    ///
    /// # Errors
    /// It is no document of launches with their timing.
    pub fn add(&mut self, program: &str, file: &str, text: &str) -> Result<(), Diagnostic> {
        let hint = "`wave-sim run --format json --output FILE -- PROGRAM` writes one";
        let wrong = |message: String| Diagnostic::error(message).hint(hint);
        let document: Document = serde_json::from_str(text)
            .map_err(|error| wrong(format!("`{file}` is no result of a program: {error}")))?;
        if document.schema != SCHEMA {
            return Err(wrong(format!("`{file}` has form {} of results, not {SCHEMA}", document.schema)));
        }
        if let Some(run) = document.runs.iter().find(|run| run.outcome != "ended") {
            return Err(wrong(format!("`{file}`: the program's outcome is `{}`", run.outcome)));
        }
        let launches = document.runs.into_iter().flat_map(|run| run.launches);
        let all: Vec<_> = launches.map(|launch| (launch.kernel, launch.statistics)).collect();
        if all.is_empty() {
            return Err(wrong(format!("`{file}` has no launch with its timing")));
        }
        self.programs.insert(program.to_owned(), Launches { hash: document.config.hash, all });
        Ok(())
    }

    /// True if the quantity is one of a program that was added.
    pub fn has(&self, quantity: &PublishedQuantity) -> bool {
        quantity.program().is_some_and(|program| self.programs.contains_key(program))
    }

    /// Refuses programs that ran on another machine.
    ///
    /// # Errors
    /// The first of them.
    pub fn check(&self, config: &Config) -> Result<(), Diagnostic> {
        let hash = config_hash(&machine_of_programs(config.clone()));
        let Some((program, other)) = self.programs.iter().find(|(_, launches)| launches.hash != hash) else {
            return Ok(());
        };
        let message = format!(
            "the run of `{program}` is not one of `{}`: its configuration is {}, and this is {hash}",
            config.name, other.hash
        );
        Err(Diagnostic::error(message).hint("run the programs with the same --config and --set"))
    }

    /// The mean over the launches of a kernel.
    ///
    /// # Errors
    /// The program has not launched the kernel.
    pub(super) fn value(
        &self,
        config: &Config,
        (program, kernel): (&str, &str),
        counter: KernelCounter,
    ) -> Result<f64, String> {
        let launches = self.programs.get(program).ok_or_else(|| format!("`{program}` was not run"))?;
        let of_kernel = launches.all.iter().filter(|(name, _)| name == kernel);
        let values: Vec<f64> = of_kernel
            .map(|(_, statistics)| {
                let of = |name: &str| statistics.get(name).copied().unwrap_or_default() as f64;
                match counter {
                    // A profiler counts from the first workgroup on.
                    KernelCounter::Cycles => of("kernel.cycles") - f64::from(config.dispatcher.launch_cycles),
                    KernelCounter::LocalAccesses => of("core.local_accesses"),
                    KernelCounter::L1Misses => of("l1.requested_sectors"),
                    KernelCounter::DramReads => of("dram.read_bytes") / SECTOR_BYTES,
                    KernelCounter::DramWrites => of("dram.written_bytes") / SECTOR_BYTES,
                }
            })
            .collect();
        if values.is_empty() {
            return Err(format!("`{program}` has not launched `{kernel}`"));
        }
        Ok(values.iter().sum::<f64>() / values.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wave_machine::config;

    fn document(config: &Config, outcome: &str) -> String {
        let hash = config_hash(&machine_of_programs(config.clone()));
        let launch = |cycles: u32| {
            format!(
                r#"{{"kernel": "k", "statistics": {{"kernel.cycles": {cycles}, "core.local_accesses": 3,
                    "l1.requested_sectors": 7, "dram.read_bytes": 640, "dram.written_bytes": 96}}}}"#
            )
        };
        format!(
            r#"{{"schema": {SCHEMA}, "config": {{"name": "v100", "hash": "{hash}", "cores": 80, "wave_width": 32,
                "core_clock_mhz": 1380}}, "runs": [{{"outcome": "{outcome}", "launches": [{}, {}]}}]}}"#,
            launch(5000),
            launch(6000)
        )
    }

    #[test]
    fn values_are_means_over_the_launches_of_a_kernel() {
        let config = config::load("v100").unwrap();
        let mut runs = ProgramRuns::default();
        runs.add("p", "p.json", &document(&config, "ended")).unwrap();
        runs.check(&config).unwrap();
        let value = |counter| runs.value(&config, ("p", "k"), counter);
        assert_eq!(value(KernelCounter::Cycles), Ok(5500.0 - f64::from(config.dispatcher.launch_cycles)));
        assert_eq!(value(KernelCounter::LocalAccesses), Ok(3.0));
        assert_eq!(value(KernelCounter::L1Misses), Ok(7.0));
        assert_eq!(value(KernelCounter::DramReads), Ok(20.0));
        assert_eq!(value(KernelCounter::DramWrites), Ok(3.0));
        let other = runs.value(&config, ("p", "other"), KernelCounter::Cycles);
        assert_eq!(other, Err("`p` has not launched `other`".to_owned()));
        let quantity = |program: &str| {
            PublishedQuantity::of("kernel_cycles", &format!("program={program} kernel=k")).unwrap()
        };
        assert!(runs.has(&quantity("p")) && !runs.has(&quantity("q")));
    }

    #[test]
    fn runs_of_other_machines_and_runs_that_failed_are_refused() {
        let [v100, a100] = ["v100", "a100"].map(|name| config::load(name).unwrap());
        let mut runs = ProgramRuns::default();
        let text = document(&a100, "ended");
        runs.add("p", "p.json", &text).unwrap();
        assert!(runs.check(&v100).unwrap_err().message.contains("the run of `p` is not one of `v100`"));
        let mut said = |text: &str| runs.add("p", "p.json", text).unwrap_err().message;
        assert_eq!(said(&document(&v100, "fault")), "`p.json`: the program's outcome is `fault`");
        assert!(said("{}").contains("`p.json` is no result of a program: missing field"));
        assert!(said(&text.replace("\"schema\": 1", "\"schema\": 9")).contains("form 9"));
        let (before, _) = text.split_once("\"launches\"").unwrap();
        assert!(said(&format!("{before}\"launches\": []}}]}}")).contains("no launch with its timing"));
    }
}
