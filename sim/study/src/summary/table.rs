//! The table of a suite. Each row can be printed as soon as its run has ended.

use super::{Outcome, Run};
use wave_machine::config::Config;
use wave_observe::figures::{self, Total, percent};

/// A table, with the width of its column of names.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    name: usize,
}

impl Table {
    /// A table for runs with these names.
    pub fn new<'a>(names: impl Iterator<Item = &'a str>) -> Table {
        Table { name: names.map(|name| name.chars().count()).chain(["kernel".len()]).max().unwrap_or(0) }
    }

    /// The line above the rows.
    pub fn header(&self) -> String {
        self.line([
            "kernel",
            "cycles",
            "release",
            "wave instructions",
            "IPC",
            "occupancy",
            "top stall",
            "result",
        ])
    }

    /// Row of a run: cycles, release cycles among them, wave instructions, IPC, occupancy, top stall,
    /// outcome.
    pub fn row(&self, run: &Run, config: &Config) -> String {
        let result = match &run.outcome {
            Outcome::Skipped(why) => format!("skipped: {why}"),
            outcome => outcome.word().to_owned(),
        };
        let Some(report) = run.total() else {
            return self.line([&run.name, "-", "-", "-", "-", "-", "-", &result]);
        };
        let total = Total { config, report: &report };
        let stall = figures::top_stall(&report)
            .map_or("none".into(), |(slot_use, share)| format!("{} {share:.1} %", slot_use.name()));
        self.line([
            &run.name,
            &report.cycles.to_string(),
            &format!("{:.1} %", percent(report.release_cycles, report.cycles)),
            &report.core.wave_instructions.to_string(),
            &format!("{:.3}", figures::IPC.of(&total)),
            &format!("{:.1} %", figures::OCCUPANCY.of(&total)),
            &stall,
            &result,
        ])
    }

    fn line(
        &self,
        [name, cycles, release, instructions, ipc, occupancy, stall, result]: [&str; 8],
    ) -> String {
        let width = self.name;
        format!(
            "{name:width$}  {cycles:>10}  {release:>7}  {instructions:>17}  {ipc:>7}  {occupancy:>9}  {stall:<18}  {result}\n"
        )
    }
}
