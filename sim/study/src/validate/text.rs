//! The report of a validation as text, CSV and JSON.

use super::published::PointUse;
use super::summary::{BoundVerdict, ErrorFigures, Held, Validation, ValidationSection};
use crate::columns::aligned;
use crate::summary::text::machine;
use std::fmt::Write;
use wave_machine::config::config_hash;

/// A value with three or more significant digits.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        1000.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn percent(value: f64) -> String {
    format!("{:.1} %", 100.0 * value)
}

/// Rows as lines in columns: those of `right` to the right.
fn table(rows: &[Vec<String>], right: &[usize]) -> String {
    aligned(rows, |column| right.contains(&column)).join("\n") + "\n"
}

/// The cells of a point: quantity, point, published, simulated, ratio, unit, verdict.
pub(super) fn cells(held: &Held) -> Vec<String> {
    let point = &held.point;
    let verdict = if held.is_within() { "ok" } else { "OFF" };
    let (simulated, ratio) = match (&held.simulated, held.ratio()) {
        (Ok(simulated), Some(ratio)) => (number(*simulated), format!("{ratio:.2}")),
        _ => ("-".to_owned(), "-".to_owned()),
    };
    vec![
        point.quantity.name().to_owned(),
        point.quantity.to_string(),
        number(point.value),
        simulated,
        ratio,
        point.quantity.unit().to_owned(),
        verdict.to_owned(),
    ]
}

/// Headings of [`cells`].
pub(super) const CELLS: [&str; 7] = ["quantity", "point", "published", "simulated", "ratio", "unit", ""];

/// Headings of [`figures_cells`].
pub(super) const FIGURES: [&str; 9] = [
    "topic",
    "use",
    "points",
    "within",
    "median error",
    "mean error",
    "worst error",
    "farthest ratio",
    "rank",
];

fn figures_cells(name: &str, purpose: PointUse, figures: Option<&ErrorFigures>) -> Vec<String> {
    let mut cells = vec![name.to_owned(), purpose.name().to_owned()];
    let Some(figures) = figures else {
        cells.push("0".to_owned());
        return cells;
    };
    cells.extend([
        figures.points.to_string(),
        figures.within.to_string(),
        percent(figures.median),
        percent(figures.mean),
        percent(figures.worst),
        format!("{:.2}", figures.farthest),
        figures.rank.map_or_else(|| "-".to_owned(), |rank| format!("{rank:.3}")),
    ]);
    cells
}

/// The table of errors by topic and in all.
pub(super) fn figures(validation: &Validation) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for ValidationSection { topic, purpose, held } in validation.sections() {
        rows.push(figures_cells(topic.name(), purpose, ErrorFigures::of(&held).as_ref()));
    }
    for purpose in [PointUse::Fit, PointUse::Judge] {
        if let Some(figures) = validation.in_all(purpose) {
            rows.push(figures_cells("all", purpose, Some(&figures)));
        }
    }
    rows
}

/// A bound in words.
pub(super) fn verdict(verdict: &BoundVerdict) -> String {
    let BoundVerdict { bound, found } = verdict;
    let is_rank = bound.statistic == super::ErrorStatistic::Rank;
    let value = |value: f64| if is_rank { format!("{value:.3}") } else { percent(value) };
    let name =
        if is_rank { "rank correlation".to_owned() } else { format!("{} error", bound.statistic.name()) };
    format!(
        "{} {}: {name} {}, at {} {}: {}",
        bound.topic.name(),
        bound.purpose.name(),
        found.map_or_else(|| "not known".to_owned(), value),
        if is_rank { "least" } else { "most" },
        value(bound.value),
        if verdict.holds() { "holds" } else { "MISSED" },
    )
}

/// The verdict in one line.
pub(super) fn conclusion(validation: &Validation) -> String {
    let verdicts = validation.verdicts();
    let missed = verdicts.iter().filter(|verdict| !verdict.holds()).count();
    let left_out = validation.left_out().count();
    let bounds = match (verdicts.len(), missed) {
        (0, _) => "no bound applies".to_owned(),
        (all, 0) => format!("all {all} bounds hold"),
        (all, missed) => format!("{missed} of {all} bounds missed"),
    };
    let points = if left_out == 1 { "point" } else { "points" };
    if left_out == 0 { bounds } else { format!("{bounds}; {left_out} {points} did not run") }
}

/// The report for readers.
pub fn text(validation: &Validation) -> String {
    let mut text = machine(&validation.config);
    _ = writeln!(text, "  published    {}", validation.published.gpu);
    let subset = if validation.quick { "quick subset" } else { "all points" };
    _ = writeln!(
        text,
        "  points       {} of {}, {subset}",
        validation.held.len(),
        validation.published.points.len()
    );
    for ValidationSection { topic, purpose, held } in validation.sections() {
        let mut rows = vec![CELLS.map(str::to_owned).to_vec()];
        rows.extend(held.iter().map(|held| cells(held)));
        _ = write!(text, "\n{}, {}\n{}", topic.name(), purpose.name(), table(&rows, &[2, 3, 4]));
    }
    let mut rows = vec![FIGURES.map(str::to_owned).to_vec()];
    rows.extend(figures(validation));
    _ = write!(text, "\n{}", table(&rows, &[2, 3, 4, 5, 6, 7, 8]));
    text.push('\n');
    for (held, why) in validation.left_out() {
        _ = writeln!(text, "left out: {} {}: {why}", held.point.quantity.name(), held.point.quantity);
    }
    for bound in validation.verdicts() {
        _ = writeln!(text, "{}", verdict(&bound));
    }
    _ = writeln!(text, "{}", conclusion(validation));
    text
}

/// The errors by topic as the table of the book.
pub fn markdown(validation: &Validation) -> String {
    let mut text = format!("| {} |\n|{}\n", FIGURES.join(" | "), "---|".repeat(FIGURES.len()));
    for row in figures(validation) {
        _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

/// Columns of the CSV.
const COLUMNS: &str = "preset,topic,use,quantity,point,published,simulated,ratio,unit,tolerance,within,source,revision,\
                       date,licence,error";

/// The points of all validations as CSV, with their sources.
///
/// # Errors
/// None in practice: the writer writes into memory.
pub fn csv(validations: &[Validation]) -> Result<String, String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let columns: Vec<&str> = COLUMNS.split(',').collect();
    writer.write_record(&columns).map_err(|error| error.to_string())?;
    for validation in validations {
        for held in &validation.held {
            let point = &held.point;
            let source = &validation.published.sources[point.source];
            let value = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            let record = [
                validation.config.name.clone(),
                point.quantity.topic().name().to_owned(),
                point.purpose.name().to_owned(),
                point.quantity.name().to_owned(),
                point.quantity.to_string(),
                point.value.to_string(),
                value(held.simulated.as_ref().ok().copied()),
                value(held.ratio()),
                point.quantity.unit().to_owned(),
                point.tolerance.to_string(),
                held.is_within().to_string(),
                source.title.clone(),
                source.revision.clone(),
                source.date.clone(),
                source.licence.clone(),
                held.simulated.as_ref().err().cloned().unwrap_or_default(),
            ];
            writer.write_record(&record).map_err(|error| error.to_string())?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

fn figures_json(figures: &ErrorFigures) -> serde_json::Value {
    serde_json::json!({
        "points": figures.points, "within": figures.within, "median_error": figures.median,
        "mean_error": figures.mean, "worst_error": figures.worst, "farthest_ratio": figures.farthest,
        "rank_correlation": figures.rank,
    })
}

/// The document for programs.
pub fn json(validations: &[Validation]) -> String {
    let machines: Vec<serde_json::Value> = validations.iter().map(of_machine).collect();
    let document = serde_json::json!({
        "schema": 1,
        "wave_sim": env!("CARGO_PKG_VERSION"),
        "holds": validations.iter().all(Validation::holds),
        "validations": machines,
    });
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn of_machine(validation: &Validation) -> serde_json::Value {
    let point = |held: &Held| {
        let point = &held.point;
        serde_json::json!({
            "topic": point.quantity.topic().name(), "use": point.purpose.name(),
            "quantity": point.quantity.name(), "point": point.quantity.to_string(),
            "published": point.value, "simulated": held.simulated.as_ref().ok(), "ratio": held.ratio(),
            "unit": point.quantity.unit(), "tolerance": point.tolerance, "within": held.is_within(),
            "source": validation.published.sources[point.source].name,
            "error": held.simulated.as_ref().err(),
        })
    };
    let with = |topic: &str, purpose: PointUse, figures: &ErrorFigures| {
        let mut value = figures_json(figures);
        value["topic"] = topic.into();
        value["use"] = purpose.name().into();
        value
    };
    let by_topic = |section: &ValidationSection<'_>| {
        ErrorFigures::of(&section.held).map(|figures| with(section.topic.name(), section.purpose, &figures))
    };
    let in_all = [PointUse::Fit, PointUse::Judge]
        .into_iter()
        .filter_map(|purpose| validation.in_all(purpose).map(|figures| with("all", purpose, &figures)));
    let bound = |verdict: &BoundVerdict| {
        serde_json::json!({
            "topic": verdict.bound.topic.name(), "use": verdict.bound.purpose.name(),
            "statistic": verdict.bound.statistic.name(), "bound": verdict.bound.value,
            "found": verdict.found, "holds": verdict.holds(),
        })
    };
    let source = |source: &super::PublishedSource| {
        serde_json::json!({
            "name": source.name, "title": source.title, "revision": source.revision,
            "date": source.date, "licence": source.licence,
        })
    };
    serde_json::json!({
        "name": validation.config.name,
        "config": config_hash(&validation.config),
        "set": validation.config.set,
        "gpu": validation.published.gpu,
        "quick": validation.quick,
        "sources": validation.published.sources.iter().map(source).collect::<Vec<_>>(),
        "points": validation.held.iter().map(point).collect::<Vec<_>>(),
        "figures": validation.sections().iter().filter_map(by_topic).chain(in_all).collect::<Vec<_>>(),
        "bounds": validation.verdicts().iter().map(bound).collect::<Vec<_>>(),
        "holds": validation.holds(),
    })
}
