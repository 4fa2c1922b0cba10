//! The report of a validation as one HTML page, with the plot in it.

use super::scatter::svg;
use super::summary::{Validation, ValidationSection};
use super::text::{CELLS, FIGURES, cells, conclusion, figures, verdict};
use crate::scatter::escape;
use std::fmt::Write;

const STYLE: &str = "body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em}\
    table{border-collapse:collapse;margin:1em 0}td,th{padding:.15em .6em;border-bottom:1px solid #ddd;text-align:left}\
    td.number{text-align:right;font-variant-numeric:tabular-nums}tr.off td:last-child{color:#b00;font-weight:bold}\
    svg{width:100%;height:auto}";

/// The page.
pub fn page(validation: &Validation) -> String {
    let title = format!("{} beside {}", validation.config.name, validation.published.gpu);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title><style>{STYLE}</style>\
         </head>\n<body><h1>{0}</h1>\n",
        escape(&title)
    );
    let set = validation.config.set.join(" ");
    if !set.is_empty() {
        _ = writeln!(html, "<p>With {}.</p>", escape(&set));
    }
    _ = writeln!(html, "<p>{}.</p>\n{}", escape(&conclusion(validation)), svg(validation));
    html += &table(&FIGURES, &figures(validation));
    html += "<ul>\n";
    for bound in validation.verdicts() {
        _ = writeln!(html, "<li>{}</li>", escape(&verdict(&bound)));
    }
    for (held, why) in validation.left_out() {
        let what = format!("left out: {} {}: {why}", held.point.quantity.name(), held.point.quantity);
        _ = writeln!(html, "<li>{}</li>", escape(&what));
    }
    html += "</ul>\n";
    for ValidationSection { topic, purpose, held } in validation.sections() {
        _ = writeln!(html, "<h2>{}, {}</h2>", topic.name(), purpose.name());
        let rows: Vec<Vec<String>> = held.iter().map(|held| cells(held)).collect();
        html += &table(&CELLS, &rows);
    }
    html += "<h2>Sources</h2>\n<ul>\n";
    for source in &validation.published.sources {
        let text = format!("{}: {}, {} ({})", source.title, source.revision, source.date, source.licence);
        _ = writeln!(html, "<li>{}</li>", escape(&text));
    }
    html + "</ul>\n</body></html>\n"
}

fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let heading: String = headings.iter().map(|name| format!("<th>{}</th>", escape(name))).collect();
    let mut html = format!("<table><tr>{heading}</tr>\n");
    for row in rows {
        let cell = |text: &String| {
            let is_number = text.starts_with(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_ok();
            let class = if is_number || text.ends_with('%') { " class=\"number\"" } else { "" };
            format!("<td{class}>{}</td>", escape(text))
        };
        let class = if row.last().is_some_and(|last| last == "OFF") { " class=\"off\"" } else { "" };
        _ = writeln!(html, "<tr{class}>{}</tr>", row.iter().map(cell).collect::<String>());
    }
    html + "</table>\n"
}
