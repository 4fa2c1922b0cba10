//! The table of a suite. Each row can be printed as soon as its run has ended.

use super::{Outcome, Run, untimed};
use wave_machine::config::Config;
use wave_observe::figures::{self, Total, percent};

/// A table, with the width of its column of names.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    name: usize,
    /// Its runs have no timing.
    untimed: bool,
}

impl Table {
    /// A table for runs with these names, with or without timing.
    pub fn new<'a>(names: impl Iterator<Item = &'a str>, untimed: bool) -> Table {
        Table {
            untimed,
            name: names.map(|name| name.chars().count()).chain(["kernel".len()]).max().unwrap_or(0),
        }
    }

    /// The line above the rows.
    pub fn header(&self) -> String {
        if self.untimed {
            return self.short_line(["kernel", "wave instructions", "lanes", "result"]);
        }
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

    /// Row of a run: cycles (`~` marks an estimate), release cycles among them, wave instructions, IPC, occupancy, top stall,
    /// outcome. Without timing: wave instructions, lanes that take part, outcome.
    pub fn row(&self, run: &Run, config: &Config) -> String {
        let result = match &run.outcome {
            Outcome::Skipped(why) => format!("skipped: {why}"),
            outcome => outcome.word().to_owned(),
        };
        if self.untimed {
            let Some(report) = untimed::total(&run.untimed) else {
                return self.short_line([&run.name, "-", "-", &result]);
            };
            let instructions = report.counters.wave_instructions.to_string();
            let lanes = format!("{:.1} %", figures::simd_efficiency(&report.counters, config));
            return self.short_line([&run.name, &instructions, &lanes, &result]);
        }
        let Some(report) = run.total() else {
            return self.line([&run.name, "-", "-", "-", "-", "-", "-", &result]);
        };
        let total = Total { config, report: &report };
        let stall = figures::top_stall(&report)
            .map_or("none".into(), |(slot_use, share)| format!("{} {share:.1} %", slot_use.name()));
        self.line([
            &run.name,
            &format!("{}{}", if run.is_estimated() { "~" } else { "" }, report.cycles),
            &format!("{:.1} %", percent(report.release_cycles, report.cycles)),
            &report.core.wave_instructions.to_string(),
            &format!("{:.3}", figures::IPC.of(&total)),
            &format!("{:.1} %", figures::OCCUPANCY.of(&total)),
            &stall,
            &result,
        ])
    }

    fn short_line(&self, [name, instructions, lanes, result]: [&str; 4]) -> String {
        let width = self.name;
        format!("{name:width$}  {instructions:>17}  {lanes:>7}  {result}\n")
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
