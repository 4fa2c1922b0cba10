//! The report as text.

use super::{Figure, Rule, Section};
use std::fmt::Write;

/// A number with its significant digits.
fn number(value: f64) -> String {
    let text = if value.abs() >= 1000.0 { format!("{value:.1}") } else { format!("{value:.3}") };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn verdict(figure: &Figure) -> String {
    match (figure.rule, figure.holds()) {
        (Rule::Shown, _) => "-".into(),
        (_, true) => "ok".into(),
        (Rule::Exact, false) if figure.off > 0 => format!("{} OFF", figure.off),
        (_, false) => "OFF".into(),
    }
}

fn rule(figure: &Figure) -> String {
    match (figure.rule, figure.expected) {
        (Rule::Exact, Some(value)) => number(value),
        (Rule::WithinPercent(percent), Some(value)) => format!("{} ± {percent} %", number(value)),
        (Rule::AtMost, Some(value)) => format!("≤ {}", number(value)),
        _ => "-".into(),
    }
}

/// The table of a section: measured beside expected.
pub fn section(section: &Section) -> String {
    let rows: Vec<[String; 6]> = section
        .figures
        .iter()
        .map(|figure| {
            let unit = figure.unit.to_owned();
            [
                figure.what.clone(),
                number(figure.measured),
                rule(figure),
                unit,
                verdict(figure),
                figure.note.clone(),
            ]
        })
        .collect();
    let heading = [section.topic.name(), "measured", "expected", "unit", "", ""].map(str::to_owned);
    let all = || std::iter::once(&heading).chain(&rows);
    let width = |column: usize| all().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    let mut text = String::new();
    for [what, measured, expected, unit, verdict, note] in all() {
        let line = format!(
            "{what:w0$}  {measured:>w1$}  {expected:>w2$}  {unit:w3$}  {verdict:w4$}  {note}",
            w0 = widths[0],
            w1 = widths[1],
            w2 = widths[2],
            w3 = widths[3],
            w4 = widths[4],
        );
        _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
