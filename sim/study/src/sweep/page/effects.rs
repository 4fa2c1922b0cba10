//! Main effects and interactions as pictures and tables.

use super::super::effects::{Effects, Factor, Interaction, Main};
use super::super::table::Row;
use super::{Facts, tick, value};
use maud::{Markup, html};
use wave_observe::numbers::{at, percent};

const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 50.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 34.0;

/// Most interactions of a kernel that are drawn.
const MOST_DRAWN: usize = 6;
/// Colours of lines, by the classes of the report.
const LINES: [&str; 8] = ["reads", "writes", "good", "l1", "full", "scoreboard", "l2", "operand"];

/// The section.
pub(super) fn section(facts: &Facts<'_>) -> Markup {
    html! {
        p {
            "A parameter's share is the part of the differences in cycles, as ratios, that it explains alone; that of two \
             parameters, what they explain together beyond that. A mean is geometric, over all runs with the value."
        }
        @for (kernel, rows) in &facts.kernels {
            @let rows = rows.iter().map(|&row| facts.row(row)).collect::<Vec<&Row>>();
            @let effects = Effects::of(facts.table, &rows);
            @if facts.kernels.len() > 1 { h3 { (kernel) } }
            @if effects.mains.is_empty() { p { "Nothing changes over the runs that ended." } }
            @else { (of_kernel(facts, kernel, &effects)) }
        }
    }
}

fn of_kernel(facts: &Facts<'_>, kernel: &str, effects: &Effects) -> Markup {
    let all = effects.mains.iter().flat_map(|main| &main.means);
    let scale = Scale::of(all.copied());
    let drawn = effects.interactions.iter().take(MOST_DRAWN);
    let means = effects.interactions.iter().take(MOST_DRAWN).flat_map(|i| i.means.iter().flatten().flatten());
    let pair_scale = Scale::of(means.copied());
    let key = |factor: &Factor| facts.table.axes[factor.axis].key.as_str();
    html! {
        div.small-pictures { @for main in &effects.mains {
            figure {
                figcaption { code { (key(&main.factor)) } " " (percent(main.share)) }
                (of_one(facts, main, &scale))
            }
        } }
        @if !effects.interactions.is_empty() {
            h4 { "Two at a time" }
            div.small-pictures { @for pair in drawn {
                @let [a, b] = pair.factors.map(|place| &effects.mains[place].factor);
                figure {
                    figcaption { code { (key(a)) } " and " code { (key(b)) } " " (percent(pair.share)) }
                    (of_two(facts, pair, a, b, &pair_scale))
                }
            } }
        }
        details.data {
            summary { "Shares" }
            div.scroll tabindex="0" role="region" aria-label={ "Shares: " (kernel) } { table {
                caption { "What explains the differences in the cycles of " (kernel) }
                thead { tr { th scope="col" { "parameters" } th scope="col" { "share" } } }
                tbody {
                    @for main in &effects.mains { tr { th scope="row" { (key(&main.factor)) } td.number { (percent(main.share)) } } }
                    @for pair in &effects.interactions { tr {
                        @let [a, b] = pair.factors.map(|place| &effects.mains[place].factor);
                        th scope="row" { (key(a)) " × " (key(b)) }
                        td.number { (percent(pair.share)) }
                    } }
                }
            } }
        }
    }
}

/// The vertical scale of pictures that are compared: cycles, logarithmic.
struct Scale {
    from: f64,
    to: f64,
}

impl Scale {
    fn of(cycles: impl Iterator<Item = f64> + Clone) -> Scale {
        let least = cycles.clone().fold(f64::MAX, f64::min).max(1.0).ln();
        let most = cycles.fold(1.0, f64::max).ln();
        let margin = (0.06 * (most - least)).max(0.02);
        Scale { from: least - margin, to: most + margin }
    }

    fn y(&self, cycles: f64) -> f64 {
        let share = (cycles.max(1.0).ln() - self.from) / (self.to - self.from);
        HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    }

    fn grid(&self) -> Markup {
        let shares = [0.08, 0.36, 0.64, 0.92];
        html! { @for share in shares {
            @let cycles = (self.from + share * (self.to - self.from)).exp();
            path.grid d={ "M" (LEFT) " " (at(self.y(cycles))) "H" (WIDTH - RIGHT) } {}
            text.tick x=(LEFT - 6.0) y=(at(self.y(cycles) + 4.0)) text-anchor="end" { (tick(cycles)) }
        } }
    }
}

fn x(level: usize, levels: usize) -> f64 {
    let inner = WIDTH - LEFT - RIGHT;
    LEFT + inner * (level as f64 + 0.5) / levels as f64
}

/// Names of levels below a picture, every other one lower if there are many.
fn levels(facts: &Facts<'_>, factor: &Factor) -> Markup {
    let unit = facts.table.axes[factor.axis].unit;
    let many = factor.levels.len() > 4;
    html! { @for (i, level) in factor.levels.iter().enumerate() {
        @let lower = if many && i % 2 == 1 { 13.0 } else { 0.0 };
        text.tick x=(at(x(i, factor.levels.len()))) y=(HEIGHT - BOTTOM + 15.0 + lower) text-anchor="middle" { (value(level, unit)) }
    } }
}

fn line(points: &[(f64, f64)], class: &str) -> Markup {
    let path = points.iter().map(|(x, y)| format!("{},{}", at(*x), at(*y))).collect::<Vec<_>>().join(" ");
    html! {
        polyline.line.(class) points=(path) {}
        @for (x, y) in points { circle.dot.(class) cx=(at(*x)) cy=(at(*y)) r="3.5" {} }
    }
}

fn of_one(facts: &Facts<'_>, main: &Main, scale: &Scale) -> Markup {
    let points: Vec<(f64, f64)> =
        main.means.iter().enumerate().map(|(i, mean)| (x(i, main.means.len()), scale.y(*mean))).collect();
    let heading = &facts.table.axes[main.factor.axis].key;
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label={ "Mean cycles by " (heading) } {
            (scale.grid()) (line(&points, LINES[0])) (levels(facts, &main.factor))
        }
    }
}

fn of_two(facts: &Facts<'_>, pair: &Interaction, a: &Factor, b: &Factor, scale: &Scale) -> Markup {
    let headings = [a, b].map(|factor| &facts.table.axes[factor.axis]);
    let points = |level: usize| -> Vec<(f64, f64)> {
        let means = pair.means.iter().enumerate();
        means.filter_map(|(i, row)| Some((x(i, a.levels.len()), scale.y(row[level]?)))).collect()
    };
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img"
            aria-label={ "Mean cycles by " (headings[0].key) ", a line for each value of " (headings[1].key) } {
            (scale.grid())
            @for level in 0..b.levels.len() { (line(&points(level), LINES[level % LINES.len()])) }
            (levels(facts, a))
        }
        ul.legend aria-label={ "Values of " (headings[1].key) } {
            @for (i, level) in b.levels.iter().enumerate() {
                li { span.swatch.thin.(LINES[i % LINES.len()]) {} (value(level, headings[1].unit)) }
            }
        }
    }
}
