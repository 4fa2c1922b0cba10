//! Cycles that were simulated beside cycles that were measured.

use crate::spread::Spread;
use serde::Serialize;
use std::fmt::Write;
use wave_study::results::Machine;
use wave_study::summary::Data;
use wave_study::validate::statistics::{pearson, rank_correlation};

/// Cases that are named as the worst.
const WORST: usize = 5;

/// A kernel with its data on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// Name of the kernel.
    pub kernel: String,
    /// Its data.
    pub data: Option<Data>,
    /// Cycles on the GPU; `None` while they are open.
    pub measured: Option<Spread>,
    /// Cycles on the simulator.
    pub simulated: f64,
    /// What limits it on the simulator, in a few words.
    pub limit: String,
}

impl Point {
    /// Simulated over measured.
    pub fn ratio(&self) -> Option<f64> {
        let measured = self.measured?.median;
        (measured > 0.0).then(|| self.simulated / measured)
    }

    fn size(&self) -> String {
        self.data.map_or_else(String::new, |data| data.to_string().replacen("--size ", "", 1))
    }
}

/// Kernels on a GPU and on the simulator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Correlation {
    /// Which GPU, and when.
    pub gpu: String,
    /// The simulated machine.
    pub machine: Machine,
    /// The kernels.
    pub points: Vec<Point>,
    /// Kernels that are not compared, and why.
    pub left_out: Vec<(String, String)>,
}

/// Figures of a correlation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figures {
    /// Kernels that have both.
    pub count: usize,
    /// Mean of |simulated - measured| / measured, in percent.
    pub mape: f64,
    /// Geometric mean of simulated over measured.
    pub ratio: f64,
    /// Spearman's rank correlation: 1 if the order is the same. `None` for fewer than three kernels.
    pub spearman: Option<f64>,
    /// Pearson's correlation of the logarithms.
    pub pearson: Option<f64>,
}

impl Correlation {
    /// Kernels that have both numbers, with the two.
    pub fn pairs(&self) -> Vec<(&Point, f64, f64)> {
        let both = |point: &'_ Point| Some((point.measured?.median, point.simulated));
        let pairs = self.points.iter().filter_map(|point| both(point).map(|(m, s)| (point, m, s)));
        pairs.filter(|&(_, measured, simulated)| measured > 0.0 && simulated > 0.0).collect()
    }

    /// Its figures; `None` without a pair.
    pub fn figures(&self) -> Option<Figures> {
        let pairs = self.pairs();
        let count = pairs.len();
        if count == 0 {
            return None;
        }
        let mean = |of: &dyn Fn(f64, f64) -> f64| {
            pairs.iter().map(|&(_, m, s)| of(m, s)).sum::<f64>() / count as f64
        };
        let measured: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
        let simulated: Vec<f64> = pairs.iter().map(|pair| pair.2).collect();
        let logarithms = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<f64>>();
        Some(Figures {
            count,
            mape: 100.0 * mean(&|m, s| (s - m).abs() / m),
            ratio: mean(&|m, s| (s / m).ln()).exp(),
            spearman: rank_correlation(&measured, &simulated),
            pearson: pearson(&logarithms(&measured), &logarithms(&simulated)),
        })
    }

    /// The kernels that are furthest apart, the furthest first.
    pub fn worst(&self) -> Vec<&Point> {
        let mut pairs = self.pairs();
        let apart = |&(_, m, s): &(&Point, f64, f64)| (s / m).ln().abs();
        pairs.sort_by(|a, b| apart(b).total_cmp(&apart(a)));
        pairs.into_iter().take(WORST).map(|pair| pair.0).collect()
    }

    fn headings(&self) -> [String; 2] {
        let machine = &self.machine;
        let set = if machine.set.is_empty() { String::new() } else { format!("; {}", machine.set.join(" ")) };
        [
            format!("measured   {}", self.gpu),
            format!(
                "simulated  {} (config {}): {} cores of {} lanes, {} MHz{set}",
                machine.name, machine.hash, machine.cores, machine.wave_width, machine.core_clock_mhz
            ),
        ]
    }

    fn cells(&self) -> Vec<[String; 7]> {
        let cells = |point: &Point| {
            let of = |value: Option<f64>| value.map_or("open".to_owned(), |value| format!("{value:.0}"));
            [
                point.kernel.clone(),
                point.size(),
                of(point.measured.map(|measured| measured.median)),
                point.measured.map_or(String::new(), |measured| format!("± {:.1} %", measured.percent())),
                format!("{:.0}", point.simulated),
                point.ratio().map_or(String::new(), |ratio| format!("{ratio:.2}")),
                point.limit.clone(),
            ]
        };
        self.points.iter().map(cells).collect()
    }

    /// The last lines: figures, and the worst cases.
    fn summary(&self) -> Vec<String> {
        let Some(figures) = self.figures() else {
            return vec!["Nothing was measured: the column is open.".to_owned()];
        };
        let mut lines = vec![format!(
            "{} kernels: mean absolute error {:.1} %, simulated over measured {:.2} in the geometric mean",
            figures.count, figures.mape, figures.ratio
        )];
        if let (Some(spearman), Some(pearson)) = (figures.spearman, figures.pearson) {
            lines.push(format!(
                "rank correlation {spearman:.3} (Spearman), correlation of the logarithms {pearson:.3} (Pearson)"
            ));
        }
        for point in self.worst() {
            let ratio = point.ratio().unwrap_or(1.0);
            let how = if ratio > 1.0 { "too slow" } else { "too fast" };
            let factor = if ratio > 1.0 { ratio } else { 1.0 / ratio };
            let size = point.size();
            lines.push(format!(
                "worst: {} {size} is {factor:.2} times {how}; simulated: {}",
                point.kernel, point.limit
            ));
        }
        lines
    }

    /// The table for reading.
    pub fn text(&self) -> String {
        const NAMES: [&str; 7] =
            ["kernel", "size", "measured", "", "simulated", "ratio", "limit on the simulator"];
        let mut rows = vec![NAMES.map(str::to_owned)];
        rows.extend(self.cells());
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..7).map(width).collect();
        let mut text = self.headings().join("\n") + "\n\n";
        for row in &rows {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(column, (cell, width))| match column {
                    0 | 1 | 6 => format!("{cell:width$}"),
                    _ => format!("{cell:>width$}"),
                })
                .collect();
            _ = writeln!(text, "{}", cells.join("  ").trim_end());
        }
        for (kernel, why) in &self.left_out {
            _ = writeln!(text, "{kernel}: left out: {why}");
        }
        text + "\n" + &self.summary().join("\n") + "\n"
    }

    /// The table for the book.
    pub fn markdown(&self) -> String {
        let mut text: String = self.headings().iter().map(|line| format!("- {line}\n")).collect();
        text += "\n| kernel | size | measured | spread | simulated | ratio | limit on the simulator |\n\
                 |---|---|---|---|---|---|---|\n";
        for row in self.cells() {
            _ = writeln!(text, "| {} |", row.join(" | "));
        }
        text.push('\n');
        for (kernel, why) in &self.left_out {
            _ = writeln!(text, "- `{kernel}` is left out: {why}");
        }
        for line in self.summary() {
            _ = writeln!(text, "- {line}");
        }
        text
    }

    /// The document for programs.
    pub fn json(&self) -> String {
        let document = serde_json::json!({
            "schema": 1,
            "wave_sim": env!("CARGO_PKG_VERSION"),
            "gpu": self.gpu,
            "machine": self.machine,
            "figures": self.figures(),
            "points": self.points,
            "left_out": self.left_out,
        });
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A correlation of these pairs of measured and simulated cycles.
    pub(crate) fn of(pairs: &[(f64, f64)]) -> Correlation {
        let machine = Machine {
            name: "a".to_owned(),
            hash: "1".to_owned(),
            cores: 2,
            wave_width: 32,
            core_clock_mhz: 1000,
            set: Vec::new(),
        };
        let point = |(number, &(measured, simulated)): (usize, &(f64, f64))| Point {
            kernel: format!("k{number}"),
            data: None,
            measured: (measured > 0.0).then(|| Spread::of(&[measured]).unwrap()),
            simulated,
            limit: "memory".to_owned(),
        };
        Correlation {
            gpu: "a GPU, 2026-01-01".to_owned(),
            machine,
            points: pairs.iter().enumerate().map(point).collect(),
            left_out: Vec::new(),
        }
    }

    #[test]
    fn figures_are_those_of_their_definitions() {
        let figures = of(&[(100.0, 110.0), (200.0, 150.0), (400.0, 400.0), (0.0, 7.0)]).figures().unwrap();
        assert_eq!(figures.count, 3);
        assert!((figures.mape - (10.0 + 25.0 + 0.0) / 3.0).abs() < 1e-9, "{}", figures.mape);
        assert!((figures.ratio - (1.1f64 * 0.75).cbrt()).abs() < 1e-9);
        assert_eq!(figures.spearman, Some(1.0));
        // Ranks 1 2 3 and 3 1 2: 1 - 6 × (4 + 1 + 1) / (3 × 8).
        let figures = of(&[(1.0, 30.0), (2.0, 10.0), (3.0, 20.0)]).figures().unwrap();
        assert!((figures.spearman.unwrap() + 0.5).abs() < 1e-9, "{figures:?}");
        assert_eq!(of(&[(0.0, 1.0)]).figures(), None);
    }

    #[test]
    fn the_worst_are_first_and_an_open_column_is_said() {
        let found = of(&[(100.0, 100.0), (100.0, 30.0), (100.0, 200.0)]);
        let worst: Vec<&str> = found.worst().into_iter().map(|point| point.kernel.as_str()).collect();
        assert_eq!(worst, ["k1", "k2", "k0"]);
        let text = found.text();
        assert!(text.contains("worst: k1  is 3.33 times too fast; simulated: memory"), "{text}");
        let open = of(&[(0.0, 100.0)]);
        assert!(open.text().contains("open") && open.markdown().contains("the column is open"));
    }
}
