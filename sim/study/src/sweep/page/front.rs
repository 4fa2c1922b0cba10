//! Pareto fronts: cycles against what a machine costs.

use super::super::effects::front;
use super::super::table::Row;
use super::{Facts, MOST_SHOWN, tick, value};
use crate::results::{AREA, ENERGY};
use maud::{Markup, html};
use wave_observe::numbers::at;

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;

/// Most pictures of a kernel.
const MOST_COSTS: usize = 4;

/// A number of a row, if it has one.
type Value<'a> = Box<dyn Fn(&Row) -> Option<f64> + 'a>;

/// Something that one wants less of.
struct Cost<'a> {
    name: String,
    unit: String,
    of: Value<'a>,
}

/// What there is against cycles: energy and area where rows have them, else the parameters that are numbers, which stand for
/// what they take to build.
fn costs<'a>(facts: &Facts<'a>) -> Vec<Cost<'a>> {
    let table = facts.table;
    let numeric = |&axis: &usize| {
        let mut values = table.rows.iter().map(|row| row.values[axis].as_str());
        let first = values.clone().next();
        values.clone().all(|value| value.parse::<u64>().is_ok()) && values.any(|value| Some(value) != first)
    };
    let of_axis = |axis: usize| Cost {
        name: table.axes[axis].key.clone(),
        unit: table.axes[axis].unit.to_owned(),
        of: Box::new(move |row: &Row| row.values[axis].parse().ok()),
    };
    let has = |figure: &str| table.rows.iter().any(|row| row.figure(figure).is_some());
    let of_figure = |figure: &'static str| {
        let (name, unit, times) = facts.unit(figure);
        let of = move |row: &Row| row.figure(figure).map(|value| value * times);
        Cost { name: name.to_owned(), unit, of: Box::new(of) }
    };
    let known: Vec<Cost<'a>> =
        [ENERGY, AREA].into_iter().filter(|figure| has(figure)).map(of_figure).collect();
    if !known.is_empty() {
        return known;
    }
    (0..table.axes.len()).filter(numeric).take(MOST_COSTS).map(of_axis).collect()
}

/// The section.
pub(super) fn section(facts: &Facts<'_>) -> Markup {
    let costs = costs(facts);
    if costs.is_empty() {
        return html! { p { "No parameter of this sweep is a number, so there is nothing to weigh cycles against." } };
    }
    html! {
        p {
            "A point is a run. The line joins those that nothing beats: no other run of the kernel has as few cycles with as \
             little of the other. Without energy and area, a parameter such as a size or a count stands for what it costs to \
             build."
        }
        @for (kernel, rows) in &facts.kernels {
            @if facts.kernels.len() > 1 { h3 { (kernel) } }
            div.pictures { @for cost in &costs { (picture(facts, kernel, rows, cost)) } }
        }
    }
}

/// A scale from values to 0 … 1, logarithmic if they span a factor of four.
struct Scale {
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Scale {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Scale {
        let least = values.clone().fold(f64::MAX, f64::min);
        let most = values.fold(f64::MIN, f64::max);
        let logarithmic = least > 0.0 && most > 4.0 * least;
        let (from, to) = if logarithmic { (least.ln(), most.ln()) } else { (least, most) };
        // Points keep a distance from the frame.
        let margin = if to > from { 0.05 * (to - from) } else { 0.5 };
        Scale { from: from - margin, to: to + margin, logarithmic }
    }

    fn place(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.ln() } else { value };
        (value - self.from) / (self.to - self.from)
    }

    fn at(&self, share: f64) -> f64 {
        let value = self.from + share * (self.to - self.from);
        if self.logarithmic { value.exp() } else { value }
    }
}

fn picture(facts: &Facts<'_>, kernel: &str, rows: &[usize], cost: &Cost<'_>) -> Markup {
    let points: Vec<(usize, f64, f64)> = rows
        .iter()
        .filter_map(|&row| Some((row, (cost.of)(facts.row(row))?, facts.row(row).cycles()? as f64)))
        .take(MOST_SHOWN)
        .collect();
    if points.is_empty() {
        return html! {};
    }
    let (scale_x, scale_y) = (Scale::of(points.iter().map(|p| p.1)), Scale::of(points.iter().map(|p| p.2)));
    let x = |value: f64| LEFT + scale_x.place(value) * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| HEIGHT - BOTTOM - scale_y.place(value) * (HEIGHT - TOP - BOTTOM);
    let on = front(&points.iter().map(|p| (p.1, p.2)).collect::<Vec<_>>());
    let mut best: Vec<(f64, f64)> =
        points.iter().zip(&on).filter(|(_, on)| **on).map(|(p, _)| (x(p.1), y(p.2))).collect();
    best.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut stairs = String::new();
    for (i, (px, py)) in best.iter().enumerate() {
        stairs +=
            &if i == 0 { format!("M{} {}", at(*px), at(*py)) } else { format!("H{}V{}", at(*px), at(*py)) };
    }
    // Values of a parameter are marked where they are, as far as there is room.
    let mut values: Vec<f64> = points.iter().map(|p| p.1).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let ticks = match values.len() {
        1..=8 => values,
        _ => [0.1, 0.3, 0.5, 0.7, 0.9].map(|share| scale_x.at(share)).to_vec(),
    };
    let label = |number: f64| match cost.unit.as_str() {
        "bytes" => value(&format!("{number:.0}"), "bytes"),
        _ => tick(number),
    };
    let unit = if cost.unit.is_empty() || cost.name.ends_with(&cost.unit) {
        String::new()
    } else {
        format!(", {}", cost.unit)
    };
    let title = format!("{kernel}: cycles against {}", cost.name);
    html! {
        figure.front {
            figcaption { (title) }
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(title) {
                @for share in [0.1, 0.3, 0.5, 0.7, 0.9] {
                    @let at_y = HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
                    path.grid d={ "M" (LEFT) " " (at(at_y)) "H" (WIDTH - RIGHT) } {}
                    text.tick x=(LEFT - 6.0) y=(at(at_y + 4.0)) text-anchor="end" { (tick(scale_y.at(share))) }
                }
                @for number in &ticks {
                    text.tick x=(at(x(*number))) y=(HEIGHT - BOTTOM + 16.0) text-anchor="middle" { (label(*number)) }
                }
                text.tick x=(at((LEFT + WIDTH - RIGHT) / 2.0)) y=(HEIGHT - 8.0) text-anchor="middle" { (cost.name) (unit) }
                path.stairs d=(stairs) {}
                @for ((row, px, py), on) in points.iter().zip(&on) {
                    circle.dot.(facts.class(*row)).on[*on] data-row=(row) cx=(at(x(*px))) cy=(at(y(*py)))
                        r=(if *on { 5 } else { 4 }) { title { (facts.name(*row)) } }
                }
            }
        }
    }
}
