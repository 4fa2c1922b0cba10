//! Every figure that a report derives, worked out a second time from the counters beside it.
//!
//! A line that this file does not know fails the test, so that a figure which is added later is worked out here too.

use super::scratch::Scratch;
use std::collections::{BTreeMap, BTreeSet};
use wave_machine::config::{self, Config};

const MACHINES: [(&str, &[&str]); 3] = [
    ("tiny", &[]),
    ("gpu", &["cores=3", "core.max_waves=32"]),
    ("gpu", &["interconnect.topology=mesh", "core_clock_mhz=1000"]),
];

const KERNELS: [&str; 5] = ["spmv", "sgemm", "histogram", "reduction", "c/quicksort"];

/// The counters that `--stats` lists.
struct Counters(BTreeMap<String, f64>);

impl Counters {
    fn of(report: &str) -> Counters {
        let row = |line: &str| {
            let mut words = line.split_whitespace();
            let name = words.next().filter(|name| name.contains('.'))?;
            Some((name.to_owned(), words.next()?.parse().ok()?))
        };
        let rows = report.lines().filter(|line| !line.starts_with(' ')).filter_map(row);
        Counters(rows.collect())
    }

    fn get(&self, name: &str) -> f64 {
        *self.0.get(name).unwrap_or_else(|| panic!("no {name}"))
    }

    fn sum(&self, group: &str, names: &[&str]) -> f64 {
        names.iter().map(|name| self.get(&format!("{group}.{name}"))).sum()
    }

    /// All issue slots.
    fn slots(&self) -> f64 {
        self.0.iter().filter(|(name, _)| name.starts_with("issue.")).map(|(_, value)| value).sum()
    }
}

fn quotient(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

/// A figure by its name.
fn figure(name: &str, c: &Counters, config: &Config) -> f64 {
    let (cores, width) = (f64::from(config.cores), f64::from(config.core.wave_width));
    let ipc = quotient(c.get("core.wave_instructions"), c.get("kernel.cycles"));
    match name {
        "figure.ipc" => ipc,
        "figure.ipc_per_core" => ipc / cores,
        "figure.simd_efficiency" => {
            100.0 * quotient(c.get("core.lane_instructions") / width, c.get("core.wave_instructions"))
        }
        "figure.occupancy" => {
            // The mean number of waves of a core, of those that it has room for.
            let waves = quotient(c.get("core.resident_wave_cycles"), c.get("core.cycles"));
            100.0 * waves / f64::from(config.core.max_waves)
        }
        "figure.issue_utilization" => 100.0 * quotient(c.get("issue.issued"), c.slots()),
        other => panic!("{other} is worked out nowhere else"),
    }
}

/// The numbers of a line of the report, in order, as its counters give them; `None` for a line without any.
fn numbers(line: &str, c: &Counters, config: &Config) -> Option<Vec<f64>> {
    let lookups = ["hits", "mshr_hits", "sector_misses", "misses"];
    let device = c.sum("core", &["device_loads", "device_stores", "device_atomics"]);
    let slots = f64::from(config.cores * config.core.max_waves);
    let hits = |cache: &str| 100.0 * quotient(c.get(&format!("{cache}.hits")), c.sum(cache, &lookups));
    Some(match line {
        "cycles" => vec![c.get("kernel.cycles"), c.get("kernel.release_cycles")],
        "instructions" => vec![
            c.get("core.wave_instructions"),
            c.get("core.squashed_instructions"),
            c.get("core.lane_instructions"),
        ],
        "IPC" => vec![figure("figure.ipc", c, config), figure("figure.ipc_per_core", c, config)],
        "lanes" => vec![figure("figure.simd_efficiency", c, config), config.core.wave_width.into()],
        "occupancy" => vec![figure("figure.occupancy", c, config), slots],
        "issue slots" => vec![c.slots()],
        "local memory" => vec![
            c.get("core.local_accesses"),
            quotient(c.get("core.local_passes"), c.get("core.local_accesses")),
        ],
        "device memory" => vec![device, quotient(c.get("core.line_accesses"), device)],
        "L1" => vec![hits("l1"), c.sum("l1", &lookups)],
        "L2" => vec![hits("l2"), c.sum("l2", &lookups)],
        "DRAM" => {
            let (read, written) = (c.get("dram.read_bytes"), c.get("dram.written_bytes"));
            let seconds = c.get("kernel.cycles") / (f64::from(config.core_clock_mhz) * 1e6);
            let rows = c.sum("dram", &["row_hits", "row_empties", "row_conflicts"]);
            vec![
                read,
                written,
                (read + written) / seconds / 1e9,
                100.0 * quotient(c.get("dram.row_hits"), rows),
            ]
        }
        "launch" | "launches" | "set" | "result" | "interconnect" => return None,
        other => panic!("the line `{other}` is worked out nowhere else"),
    })
}

/// The numbers of a text, each with half of its last digit: `9,176`, `35.4 KiB`.
fn shown(text: &str) -> Vec<(f64, f64)> {
    let words: Vec<&str> = text.split([' ', ';', '(', ')', ':']).filter(|word| !word.is_empty()).collect();
    let number = |(at, word): (usize, &&str)| {
        let digits = word.trim_end_matches(',').replace(',', "");
        let value: f64 = digits.parse().ok().filter(|_| digits.starts_with(|c: char| c.is_ascii_digit()))?;
        let fraction = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let unit = match words.get(at + 1).map(|unit| unit.trim_end_matches(',')) {
            Some("KiB") => 1024.0,
            Some("MiB") => 1024.0 * 1024.0,
            _ => 1.0,
        };
        Some((value * unit, 0.5000001 * unit * 0.1f64.powi(fraction as i32)))
    };
    words.iter().enumerate().filter_map(number).collect()
}

/// True if a number is as near to one of many digits as its own digits say.
fn agrees((value, half): (f64, f64), expected: f64) -> bool {
    (value - expected).abs() <= half
}

/// Workgroups of the launch that a report names.
fn workgroups(report: &str) -> f64 {
    let (_, rest) = report.split_once(" grid ").expect("one launch");
    let (grid, _) = rest.split_once(' ').unwrap();
    grid.split(',').map(|size| size.parse::<f64>().unwrap()).product()
}

#[test]
fn every_figure_agrees_with_its_counters() {
    let scratch = Scratch::new();
    let (mut figures, mut lines) = (BTreeSet::new(), BTreeSet::new());
    for (name, settings) in MACHINES {
        let words: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        let config = config::load(name).unwrap().with(&words).unwrap();
        let set: String = settings.iter().map(|setting| format!(" --set {setting}")).collect();
        for kernel in KERNELS {
            let report = scratch.out(&format!("{kernel} --size small --config {name}{set} --stats"));
            let c = Counters::of(&report);
            let place = format!("{kernel} on {name}{set}");
            for line in report.lines().filter(|line| line.starts_with("figure.")) {
                let mut words = line.split_whitespace();
                let (name, value) = (words.next().unwrap(), shown(words.next().unwrap()));
                let expected = figure(name, &c, &config);
                assert!(agrees(value[0], expected), "{place}: {line}: {expected}");
                figures.insert(name.to_owned());
            }
            for line in report.lines().skip(1).take_while(|line| line.starts_with("  ")) {
                if line.starts_with("               ") {
                    continue;
                }
                if let Some(row) = line.strip_prefix("    ") {
                    let (slots, share) = row.split_once(' ').unwrap();
                    let expected = 100.0 * quotient(c.get(&format!("issue.{slots}")), c.slots());
                    assert!(agrees(shown(share)[0], expected), "{place}: {line}: {expected}");
                    continue;
                }
                // A name that is longer than its column.
                let column = if line.starts_with("  device memory") { 15 } else { 14 };
                let (name, values) = line.split_at(column);
                let name = name.trim();
                let expected = match name {
                    "not filled" => {
                        let (groups, cores) = (workgroups(&report), f64::from(config.cores));
                        Some(vec![groups, cores, cores - groups])
                    }
                    _ => numbers(name, &c, &config),
                };
                let Some(expected) = expected else { continue };
                let values = shown(values);
                assert!(!values.is_empty(), "{place}: {line}");
                for (&value, expected) in values.iter().zip(expected) {
                    assert!(agrees(value, expected), "{place}: {line}: {} is {expected}", value.0);
                }
                lines.insert(name.to_owned());
            }
        }
    }
    assert_eq!(figures.len(), 5, "{figures:?}");
    assert_eq!(lines.len(), 12, "{lines:?}");
}

/// The energy of a run: its blocks, its sum, and what is divided by it.
#[test]
fn the_energy_of_a_run_adds_up() {
    let scratch = Scratch::new();
    for (name, settings) in MACHINES {
        let set: String = settings.iter().map(|setting| format!(" --set {setting}")).collect();
        let text = scratch.out(&format!("spmv --size small --config {name}{set} --energy --format json"));
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let run = &document["runs"][0];
        let number =
            |value: &serde_json::Value| value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
        let energy = &run["energy"];
        let blocks = energy["blocks"].as_object().unwrap();
        assert!(blocks.len() > 10);
        let joules: f64 = blocks.values().map(number).sum();
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        assert!(close(joules, number(&energy["joules"])), "{energy}");
        let cycles = number(&run["total"]["statistics"]["kernel.cycles"]);
        let seconds = cycles / (number(&document["config"]["core_clock_mhz"]) * 1e6);
        assert!(close(number(&energy["watts"]), joules / seconds), "{energy}");
    }
}
