//! Runs beside one another: the first is the baseline, and what differs in the others is said with its sign.

pub mod tables;
pub mod text;

use crate::results::{AREA, ENERGY, Measured, POWER};
use crate::summary::Data;

/// Parts of the account that are less than this fraction of the cycles everywhere are left out.
const LITTLE: f64 = 0.001;

/// Runs in columns, the baseline first. Where the machines differ, each row is a kernel; where the kernels differ, there is
/// one row.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// What differs from column to column.
    pub by: By,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// What is compared.
    pub rows: Vec<Row>,
}

/// What differs from column to column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The machine, or the version of something.
    Machine,
    /// The kernel.
    Kernel,
}

/// A row of runs.
#[derive(Debug, Clone)]
pub struct Row {
    /// Name of the kernel; empty where the kernels differ.
    pub name: String,
    /// The run of each column, if it has one.
    pub runs: Vec<Option<Measured>>,
}

/// Two runs of a row.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    /// Name of the row.
    pub name: &'a str,
    /// Name of the column.
    pub column: &'a str,
    /// The run in the first column.
    pub baseline: &'a Measured,
    /// The one in this column.
    pub run: &'a Measured,
}

impl Comparison {
    /// Compares machines: the runs of each column, which are matched by the names of their kernels.
    pub fn of_machines(columns: Vec<(String, Vec<Measured>)>) -> Comparison {
        let mut rows: Vec<Row> = Vec::new();
        let count = columns.len();
        let mut names = Vec::new();
        for (column, (name, runs)) in columns.into_iter().enumerate() {
            names.push(name);
            for run in runs {
                let row = match rows.iter().position(|row| row.name == run.kernel) {
                    Some(row) => row,
                    None => {
                        rows.push(Row { name: run.kernel.clone(), runs: vec![None; count] });
                        rows.len() - 1
                    }
                };
                rows[row].runs[column] = Some(run);
            }
        }
        Comparison { by: By::Machine, columns: names, rows }
    }

    /// Compares kernels on one machine.
    pub fn of_kernels(runs: Vec<(String, Measured)>) -> Comparison {
        let (columns, runs) = runs.into_iter().map(|(name, run)| (name, Some(run))).unzip();
        Comparison { by: By::Kernel, columns, rows: vec![Row { name: String::new(), runs }] }
    }

    /// True if the clocks of the machines differ, so that the same number of cycles is not the same time.
    pub fn has_clocks(&self) -> bool {
        let mut runs = self.rows.iter().flat_map(|row| &row.runs).flatten();
        let first = runs.next().map(|run| run.machine.core_clock_mhz);
        runs.any(|run| Some(run.machine.core_clock_mhz) != first)
    }

    /// What is compared: cycles, or time in microseconds where the clocks differ. `None` for a run that did not end.
    pub fn cost(&self, run: &Measured) -> Option<f64> {
        if self.has_clocks() { microseconds(run) } else { run.cycles().map(|cycles| cycles as f64) }
    }

    /// The runs of all columns but the first, each with the baseline of its row.
    pub fn pairs(&self) -> impl Iterator<Item = Pair<'_>> {
        self.rows.iter().flat_map(|row| {
            let (baseline, others) = row.runs.split_first().expect("there is a baseline");
            others.iter().zip(&self.columns[1..]).filter_map(|(run, column)| {
                let (baseline, run) = (baseline.as_ref()?, run.as_ref()?);
                Some(Pair { name: &row.name, column, baseline, run })
            })
        })
    }

    /// The pairs whose data differ, as far as that is known, so that their costs are those of different work.
    pub fn of_other_data(&self) -> impl Iterator<Item = (Pair<'_>, [Data; 2])> {
        self.pairs().filter_map(|pair| {
            let data = [pair.baseline.data?, pair.run.data?];
            (data[0] != data[1]).then_some((pair, data))
        })
    }

    /// The cost of a column over that of the baseline, the geometric mean of the rows that have both, and their number.
    pub fn geometric_mean(&self, column: usize) -> Option<(f64, usize)> {
        let ratios: Vec<f64> = self
            .rows
            .iter()
            .filter_map(|row| {
                let cost = |column: usize| self.cost(row.runs[column].as_ref()?).filter(|&cost| cost > 0.0);
                Some(cost(column)? / cost(0)?)
            })
            .collect();
        let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
        (!ratios.is_empty()).then(|| ((sum / ratios.len() as f64).exp(), ratios.len()))
    }

    /// The pairs whose cost grew by more than this fraction, with what it grew by; infinitely where only the baseline ended.
    pub fn above(&self, fraction: f64) -> Vec<(Pair<'_>, f64)> {
        let grown = |pair: &Pair<'_>| -> Option<f64> {
            let before = self.cost(pair.baseline)?;
            Some(self.cost(pair.run).map_or(f64::INFINITY, |now| now / before - 1.0))
        };
        self.pairs().filter_map(|pair| Some((pair, grown(&pair)?))).filter(|&(_, by)| by > fraction).collect()
    }
}

/// Time of a run in microseconds.
pub fn microseconds(run: &Measured) -> Option<f64> {
    Some(run.cycles()? as f64 / f64::from(run.machine.core_clock_mhz))
}

/// Where the cycles of a run went: the uses of its issue slots, each as the cycles that it would take if no other slot had been
/// there. They sum to the cycles.
pub fn account(run: &Measured) -> Vec<(&str, f64)> {
    let slots = |name: &String| name.strip_prefix("issue.").is_some();
    let uses: Vec<(&String, u64)> =
        run.statistics.iter().filter(|(name, _)| slots(name)).map(|(name, &value)| (name, value)).collect();
    let all: u64 = uses.iter().map(|(_, value)| value).sum();
    let Some(cycles) = run.cycles().filter(|_| all > 0) else { return Vec::new() };
    let share = |value: u64| cycles as f64 * value as f64 / all as f64;
    uses.into_iter().map(|(name, value)| (&name["issue.".len()..], share(value))).collect()
}

/// The parts of the account of a row, those that differ most from the baseline first.
pub(crate) fn differences(row: &Row) -> Vec<(&str, Vec<Option<f64>>)> {
    let accounts: Vec<_> = row.runs.iter().map(|run| run.as_ref().map(account)).collect();
    let names: Vec<&str> = accounts
        .iter()
        .flatten()
        .max_by_key(|account| account.len())
        .map_or(Vec::new(), |account| account.iter().map(|&(name, _)| name).collect());
    let part = |account: &Option<Vec<(&str, f64)>>, name: &str| {
        account.as_ref()?.iter().find(|part| part.0 == name).map(|part| part.1)
    };
    let mut rows: Vec<(&str, Vec<Option<f64>>)> = names
        .into_iter()
        .map(|name| (name, accounts.iter().map(|account| part(account, name)).collect::<Vec<_>>()))
        .collect();
    let cycles = row.runs.iter().flatten().filter_map(Measured::cycles).max().unwrap_or(0) as f64;
    rows.retain(|(_, parts)| parts.iter().flatten().any(|&part| part >= LITTLE * cycles));
    let most = |parts: &[Option<f64>]| {
        let first = parts[0].unwrap_or(0.0);
        parts.iter().flatten().map(|part| (part - first).abs()).fold(0.0, f64::max)
    };
    rows.sort_by(|a, b| most(&b.1).total_cmp(&most(&a.1)));
    rows
}

/// A figure of a comparison: of a run, from what it has measured.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    /// What it is.
    pub name: &'static str,
    /// Its unit; may be empty.
    pub unit: &'static str,
    /// Digits behind the point.
    pub digits: usize,
    of: fn(&Measured) -> Option<f64>,
}

impl Rate {
    /// Its value; `None` where the run has no such thing.
    pub fn of(&self, run: &Measured) -> Option<f64> {
        (self.of)(run)
    }
}

const fn rate(
    name: &'static str,
    unit: &'static str,
    digits: usize,
    of: fn(&Measured) -> Option<f64>,
) -> Rate {
    Rate { name, unit, digits, of }
}

/// Figures that are compared, in the order in which they are shown.
pub const RATES: &[Rate] = &[
    rate("wave instructions", "", 0, |run| counter(run, "core.wave_instructions")),
    rate("IPC", "", 3, |run| figure(run, "figure.ipc")),
    rate("IPC of a core", "", 3, |run| figure(run, "figure.ipc_per_core")),
    rate("lanes that take part", "%", 1, |run| figure(run, "figure.simd_efficiency")),
    rate("occupancy", "%", 1, |run| figure(run, "figure.occupancy")),
    rate("L1 accesses", "", 0, |run| looked_up(run, "l1")),
    rate("L1 hits", "%", 1, |run| hits(run, "l1")),
    rate("L2 accesses", "", 0, |run| looked_up(run, "l2")),
    rate("L2 hits", "%", 1, |run| hits(run, "l2")),
    rate("DRAM read", "bytes", 0, |run| counter(run, "dram.read_bytes")),
    rate("DRAM written", "bytes", 0, |run| counter(run, "dram.written_bytes")),
    rate("DRAM bandwidth", "GB/s", 1, |run| {
        let bytes = counter(run, "dram.read_bytes")? + counter(run, "dram.written_bytes")?;
        Some(bytes / microseconds(run)? / 1000.0)
    }),
    rate("DRAM row hits", "%", 1, |run| {
        let of = |name| counter(run, name);
        percent(
            of("dram.row_hits")?,
            of("dram.row_empties")? + of("dram.row_conflicts")? + of("dram.row_hits")?,
        )
    }),
    rate("energy", "mJ", 3, |run| figure(run, ENERGY).map(|joules| 1000.0 * joules)),
    rate("mean power", "W", 1, |run| figure(run, POWER)),
    rate("area", "mm2", 1, |run| figure(run, AREA)),
];

fn figure(run: &Measured, name: &str) -> Option<f64> {
    run.figures.get(name).copied()
}

fn counter(run: &Measured, name: &str) -> Option<f64> {
    run.statistics.get(name).map(|&value| value as f64)
}

/// Accesses that looked for a line in a cache.
fn looked_up(run: &Measured, cache: &str) -> Option<f64> {
    let parts = ["hits", "mshr_hits", "sector_misses", "misses"];
    parts.iter().map(|part| counter(run, &format!("{cache}.{part}"))).sum()
}

fn hits(run: &Measured, cache: &str) -> Option<f64> {
    percent(counter(run, &format!("{cache}.hits"))?, looked_up(run, cache)?)
}

fn percent(part: f64, all: f64) -> Option<f64> {
    (all > 0.0).then(|| 100.0 * part / all)
}

#[cfg(test)]
mod tests;
