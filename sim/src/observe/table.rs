//! The table of a suite.

use super::figures::{self, Total};
use super::{Outcome, Session};
use comfy_table::{CellAlignment, Table, presets};

/// One row a run: cycles, wave instructions, IPC, occupancy, top stall and what became of it.
pub fn table(session: &Session<'_>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["kernel", "cycles", "wave instructions", "IPC", "occupancy", "top stall", "result"]);
    for run in &session.runs {
        let mut row = vec![run.name.clone()];
        match run.total() {
            Some(report) => {
                let total = Total { config: session.config, report: &report };
                let stall = figures::top_stall(&report)
                    .map_or("none".into(), |(slot_use, share)| format!("{} {share:.1} %", slot_use.name()));
                row.extend([
                    report.cycles.to_string(),
                    report.core.wave_instructions.to_string(),
                    format!("{:.3}", figures::IPC.of(&total)),
                    format!("{:.1} %", figures::OCCUPANCY.of(&total)),
                    stall,
                ]);
            }
            None => row.extend(["-", "-", "-", "-", "-"].map(str::to_owned)),
        }
        row.push(match &run.outcome {
            Outcome::Skipped(why) => format!("skipped: {why}"),
            outcome => outcome.word().to_owned(),
        });
        table.add_row(row);
    }
    for column in 1..=4 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    if let Some(first) = table.column_mut(0) {
        first.set_padding((0, 1));
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}
