//! The launches of a run as rows.

use crate::columns::aligned;
use std::collections::HashMap;
use std::fmt::Write;
use wave_machine::config::Config;
use wave_machine::gpu::KernelReport;
use wave_observe::figures::{self, IPC, Step, Total};
use wave_observe::numbers::{counted, integer};

/// Most launches that have a row each. Of more, each kernel has one.
const MOST_ROWS: usize = 40;

/// A row for each launch, or for each kernel if there are too many.
pub fn rows(steps: &[Step], config: &Config) -> String {
    let each: Vec<(usize, &Step)> = (1..).zip(steps).collect();
    let by_kernel = steps.len() > MOST_ROWS;
    let mut rows = Vec::new();
    if by_kernel {
        rows.push(["launches", "kernel", "", "", "cycles", "IPC", "top stall"].map(str::to_owned).to_vec());
        let mut kernels: Vec<(&str, Vec<Step>)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for step in steps {
            let place = *places.entry(&step.kernel).or_insert_with(|| {
                kernels.push((&step.kernel, Vec::new()));
                kernels.len() - 1
            });
            kernels[place].1.push(step.clone());
        }
        for (kernel, launched) in kernels {
            let Some(report) = figures::sum(&launched) else { continue };
            let count = counted(launched.len() as u64, "launch");
            rows.push(row(&count, kernel, [String::new(), String::new()], &report, config));
        }
    } else {
        rows.push(
            ["launch", "kernel", "grid", "workgroup", "cycles", "IPC", "top stall"]
                .map(str::to_owned)
                .to_vec(),
        );
        for (number, step) in each {
            let sizes = [step.launch.grid, step.launch.workgroup].map(|[x, y, z]| format!("{x},{y},{z}"));
            rows.push(row(&number.to_string(), &step.kernel, sizes, &step.report, config));
        }
    }
    let mut text = String::new();
    for line in aligned(&rows, |column| column == 4 || column == 5) {
        _ = writeln!(text, "{line}");
    }
    text
}

fn row(
    first: &str,
    kernel: &str,
    [grid, workgroup]: [String; 2],
    report: &KernelReport,
    config: &Config,
) -> Vec<String> {
    let stall = figures::top_stall(report)
        .map_or_else(|| "none".to_owned(), |(slot_use, share)| format!("{} {share:.1} %", slot_use.name()));
    let ipc = IPC.of(&Total { config, report });
    vec![
        first.to_owned(),
        kernel.to_owned(),
        grid,
        workgroup,
        integer(report.cycles),
        format!("{ipc:.3}"),
        stall,
    ]
}
