//! Comparisons for programs: JSON, and CSV with a line for each quantity.

use super::{Comparison, RATES, Row, account, microseconds};
use crate::results::{Machine, Measured};
use crate::summary::json::{SCHEMA, pretty};
use indexmap::IndexMap;
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    wave_sim: &'static str,
    /// What the cost is: `cycles`, or `microseconds` where the clocks differ.
    cost: &'static str,
    columns: &'a [String],
    /// Cost over that of the baseline, the geometric mean of the kernels; null where nothing can be compared.
    geometric_mean: Vec<Option<f64>>,
    kernels: Vec<Kernel<'a>>,
}

#[derive(Serialize)]
struct Kernel<'a> {
    /// Empty where the kernels are the columns.
    name: &'a str,
    runs: Vec<Option<RunJson<'a>>>,
}

#[derive(Serialize)]
struct RunJson<'a> {
    machine: &'a Machine,
    outcome: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    cost: Option<f64>,
    /// Cost over that of the baseline, less 1.
    change: Option<f64>,
    /// Uses of the issue slots in cycles.
    account: IndexMap<&'a str, f64>,
    figures: &'a IndexMap<String, f64>,
    statistics: &'a IndexMap<String, u64>,
}

/// The document of a comparison.
pub fn json(comparison: &Comparison) -> String {
    let run = |row: &Row, run: &'_ Measured| -> (Option<f64>, Option<f64>) {
        let cost = comparison.cost(run);
        let before = row.runs[0].as_ref().and_then(|run| comparison.cost(run)).filter(|&cost| cost > 0.0);
        (cost, cost.zip(before).map(|(now, before)| now / before - 1.0))
    };
    let kernels = comparison.rows.iter().map(|row| Kernel {
        name: &row.name,
        runs: row
            .runs
            .iter()
            .map(|measured| {
                let measured = measured.as_ref()?;
                let (cost, change) = run(row, measured);
                Some(RunJson {
                    machine: &measured.machine,
                    outcome: &measured.outcome,
                    message: measured.message.as_deref(),
                    cost,
                    change,
                    account: account(measured).into_iter().collect(),
                    figures: &measured.figures,
                    statistics: &measured.statistics,
                })
            })
            .collect(),
    });
    let means =
        (0..comparison.columns.len()).map(|column| comparison.geometric_mean(column).map(|mean| mean.0));
    pretty(&Document {
        schema: SCHEMA,
        wave_sim: env!("CARGO_PKG_VERSION"),
        cost: if comparison.has_clocks() { "microseconds" } else { "cycles" },
        columns: &comparison.columns,
        geometric_mean: means.collect(),
        kernels: kernels.collect(),
    })
}

/// A comparison as comma-separated values: kernel, column, quantity, value, that of the baseline, their difference.
///
/// # Errors
/// None that a buffer in memory has.
pub fn csv(comparison: &Comparison) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["kernel", "column", "quantity", "value", "baseline", "difference"])?;
    for row in &comparison.rows {
        let baseline = row.runs[0].as_ref().map(quantities).unwrap_or_default();
        for (column, run) in comparison.columns.iter().zip(&row.runs) {
            let Some(run) = run else { continue };
            for (name, value) in quantities(run) {
                let before = baseline.get(&name).copied();
                let difference = before.map(|before| value - before);
                let number = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
                writer.write_record([
                    &row.name,
                    column,
                    &name,
                    &value.to_string(),
                    &number(before),
                    &number(difference),
                ])?;
            }
        }
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// All numbers of a run, by name: time, parts of the account, figures of comparisons, statistics.
fn quantities(run: &Measured) -> IndexMap<String, f64> {
    let mut all = IndexMap::new();
    all.extend(microseconds(run).map(|time| ("microseconds".to_owned(), time)));
    all.extend(account(run).into_iter().map(|(name, cycles)| (format!("cycles.{name}"), cycles)));
    all.extend(RATES.iter().filter_map(|rate| Some((rate.name.to_owned(), rate.of(run)?))));
    all.extend(run.statistics.iter().map(|(name, &value)| (name.clone(), value as f64)));
    all
}
