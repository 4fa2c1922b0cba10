//! Parallel coordinates: an axis for each parameter and figure, a line for each run.

use super::{Facts, MOST_SHOWN, tick, value};
use crate::results::{AREA, ENERGY};
use maud::{Markup, html};
use wave_observe::numbers::{at, integer};

const HEIGHT: f64 = 300.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 22.0;
/// Distance of two axes, and of the outer ones from the edge.
const BETWEEN: f64 = 150.0;
const EDGE: f64 = 80.0;
/// What can be dragged reaches so far beyond the ends of an axis.
const BEYOND: f64 = 10.0;

/// An axis: its name, where each run is on it (0 is the bottom, 1 the top), and labels.
struct Axis {
    name: String,
    places: Vec<Option<f64>>,
    labels: Vec<(f64, String)>,
}

impl Axis {
    /// An axis of names at equal distances.
    fn of_names(name: &str, names: &[String], of_row: impl Iterator<Item = Option<usize>>) -> Axis {
        let place = |i: usize| match names.len() {
            0 | 1 => 0.5,
            n => i as f64 / (n - 1) as f64,
        };
        let every = names.len().div_ceil(12).max(1);
        let labels = names.iter().enumerate().step_by(every).map(|(i, name)| (place(i), name.clone()));
        Axis {
            name: name.to_owned(),
            labels: labels.collect(),
            places: of_row.map(|i| i.map(place)).collect(),
        }
    }

    /// An axis of numbers, logarithmic where they span more than a factor of ten.
    fn of_numbers(name: &str, values: Vec<Option<f64>>) -> Axis {
        let present = || values.iter().flatten().copied();
        let (least, most) = (present().fold(f64::MAX, f64::min), present().fold(f64::MIN, f64::max));
        let logarithmic = least > 0.0 && most > 10.0 * least;
        let scale = |value: f64| if logarithmic { value.ln() } else { value };
        let (from, to) = (scale(least), scale(most));
        let place = |value: f64| if to > from { (scale(value) - from) / (to - from) } else { 0.5 };
        let label = |share: f64| {
            let at = from + share * (to - from);
            (share, tick(if logarithmic { at.exp() } else { at }))
        };
        let labels = match (least <= most, to > from) {
            (false, _) => Vec::new(),
            (true, false) => vec![(0.5, tick(least))],
            (true, true) => [0.0, 0.25, 0.5, 0.75, 1.0].map(label).to_vec(),
        };
        Axis { name: name.to_owned(), places: values.iter().map(|value| value.map(place)).collect(), labels }
    }
}

/// The section.
pub(super) fn section(facts: &Facts<'_>) -> Markup {
    let shown: Vec<usize> =
        (0..facts.table.rows.len()).filter(|&row| facts.relative[row].is_some()).collect();
    if shown.is_empty() {
        return html! { p { "No run ended." } };
    }
    let left_out = shown.len().saturating_sub(MOST_SHOWN);
    let shown = &shown[..shown.len() - left_out];
    let axes = axes(facts, shown);
    let width = 2.0 * EDGE + (axes.len() - 1) as f64 * BETWEEN;
    let x = |axis: usize| EDGE + axis as f64 * BETWEEN;
    let y = |place: f64| TOP + (1.0 - place) * (HEIGHT - TOP - BOTTOM);
    let line = |i: usize| {
        let points = axes.iter().enumerate();
        let points = points.filter_map(|(a, axis)| Some(format!("{},{}", at(x(a)), at(y(axis.places[i]?)))));
        points.collect::<Vec<_>>().join(" ")
    };
    // The best lie on top.
    let mut order: Vec<usize> = (0..shown.len()).collect();
    order.sort_by(|&a, &b| {
        facts.relative[shown[b]].partial_cmp(&facts.relative[shown[a]]).unwrap_or(a.cmp(&b))
    });
    html! {
        p {
            "A line is a run; its colour says how near its cycles are to the least of its kernel. "
            span.hint { "Drag along an axis to choose the runs that cross it there; a click on the axis ends that. The \
                table below shows the same choice." }
        }
        ul.legend aria-label="Legend" {
            @for (class, text) in [("good", "less than 1.1 times the least cycles"), ("fair", "less than 1.5"),
                ("poor", "less than 2.5"), ("bad", "more")] {
                li { span.swatch.(class) {} (text) }
            }
        }
        div.scroll tabindex="0" role="region" aria-label="Parallel coordinates" {
            svg.parallel viewBox={ "0 0 " (at(width)) " " (HEIGHT) } style={ "min-width:" (at(width * 0.75)) "px" }
                role="img" aria-labelledby="parallel-t parallel-d" {
                title id="parallel-t" { "Parallel coordinates of all runs" }
                desc id="parallel-d" { "The table of runs has the numbers." }
                g.lines { @for &i in &order {
                    polyline.(facts.class(shown[i])) data-row=(shown[i]) points=(line(i)) { title { (facts.name(shown[i])) } }
                } }
                @for (a, axis) in axes.iter().enumerate() {
                    g.axis data-axis=(a) data-x=(at(x(a))) {
                        // Names of neighbours stand at two heights, so that long ones have room.
                        text.heading x=(at(x(a))) y=(if a % 2 == 0 { 14 } else { 30 }) text-anchor="middle" { (axis.name) }
                        path d={ "M" (at(x(a))) " " (at(y(1.0))) "V" (at(y(0.0))) } {}
                        @for (place, label) in &axis.labels {
                            text.tick x=(at(x(a) + 6.0)) y=(at(y(*place) + 4.0)) { (label) }
                        }
                        rect.brush x=(at(x(a) - 9.0)) y=(at(y(1.0))) width="18" height="0" {}
                        // One can begin beyond the ends of the axis, so that the values there are within.
                        rect.grip x=(at(x(a) - 14.0)) y=(at(y(1.0) - BEYOND)) width="28"
                            height=(at(y(0.0) - y(1.0) + 2.0 * BEYOND)) {}
                    }
                }
            }
        }
        @if left_out > 0 { p { (integer(left_out as u64)) " more runs are in the tables beside this page only." } }
    }
}

fn axes(facts: &Facts<'_>, shown: &[usize]) -> Vec<Axis> {
    let mut axes = Vec::new();
    for (a, heading) in facts.table.axes.iter().enumerate() {
        let mut names: Vec<&str> = Vec::new();
        for &row in shown {
            let value = facts.row(row).values[a].as_str();
            if !names.contains(&value) {
                names.push(value);
            }
        }
        if let Some(mut numbers) =
            names.iter().map(|n| Some((n.parse::<u64>().ok()?, *n))).collect::<Option<Vec<_>>>()
        {
            numbers.sort();
            names = numbers.into_iter().map(|(_, name)| name).collect();
        }
        let of_row = shown.iter().map(|&row| names.iter().position(|name| *name == facts.row(row).values[a]));
        let labels: Vec<String> = names.iter().map(|name| value(name, heading.unit)).collect();
        axes.push(Axis::of_names(&heading.key, &labels, of_row));
    }
    if facts.kernels.len() > 1 {
        let names: Vec<String> = facts.kernels.iter().map(|(name, _)| (*name).to_owned()).collect();
        let of_row = shown.iter().map(|&row| names.iter().position(|name| *name == facts.row(row).kernel));
        axes.push(Axis::of_names("kernel", &names, of_row));
        let relative = shown.iter().map(|&row| facts.relative[row]).collect();
        axes.push(Axis::of_numbers("cycles / least", relative));
    }
    let cycles = shown.iter().map(|&row| facts.row(row).cycles().map(|cycles| cycles as f64));
    axes.push(Axis::of_numbers("cycles", cycles.collect()));
    for figure in [ENERGY, AREA, "figure.ipc", "figure.occupancy"] {
        let (_, _, times) = facts.unit(figure);
        let value = |row: usize| facts.row(row).figure(figure).map(|value| value * times);
        let values: Vec<Option<f64>> = shown.iter().map(|&row| value(row)).collect();
        if values.iter().any(Option::is_some) {
            axes.push(Axis::of_numbers(&facts.heading(figure), values));
        }
    }
    axes
}
