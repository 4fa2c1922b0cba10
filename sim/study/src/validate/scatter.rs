//! Simulated values against published ones as SVG.

use super::quantity::PublishedTopic;
use super::summary::{Held, Validation};
use super::text::number;
use crate::scatter::{ScatterFrame, ScatterNames, WIDTH, text};
use std::fmt::Write;

const RIGHT: f64 = 150.0;
const TOP: f64 = 44.0;
/// Okabe and Ito's colours, as in the other plots; one for each topic.
const COLORS: [&str; 7] = ["#0072B2", "#000000", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];

/// The plot of a validation. Filled marks are points that parameters may be fitted to; hollow marks judge.
pub fn svg(validation: &Validation) -> String {
    let values = |held: &Held| Some((held.point.value, *held.simulated.as_ref().ok()?));
    let pairs: Vec<(&Held, f64, f64)> = validation
        .held
        .iter()
        .filter_map(|held| values(held).map(|(published, simulated)| (held, published, simulated)))
        .filter(|&(_, _, simulated)| simulated > 0.0)
        .collect();
    let all = pairs.iter().flat_map(|&(_, published, simulated)| [published, simulated]);
    let frame = ScatterFrame::over(all, RIGHT, TOP);
    let mut svg = frame.begin(&ScatterNames {
        title: &format!("{} beside {}", validation.config.name, validation.published.gpu),
        x: "published",
        y: "simulated",
        power: power_of_ten,
    });
    for &(held, published, simulated) in &pairs {
        let color = color(held.point.quantity.topic());
        let fill = if held.point.purpose == super::PointUse::Fit { color } else { "none" };
        let title = format!(
            "{} {}: {} published, {} simulated",
            held.point.quantity.name(),
            held.point.quantity,
            number(published),
            number(simulated)
        );
        let style = format!("fill=\"{fill}\" stroke=\"{color}\"");
        frame.mark(&mut svg, [published, simulated], &style, &title);
    }
    let mut at = TOP + 10.0;
    for topic in PublishedTopic::ALL {
        if pairs.iter().any(|(held, ..)| held.point.quantity.topic() == topic) {
            let x = WIDTH - RIGHT + 14.0;
            _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{at}\" r=\"4\" fill=\"{}\"/>", color(topic));
            text(&mut svg, x + 10.0, at + 4.0, "start", topic.name());
            at += 18.0;
        }
    }
    text(&mut svg, WIDTH - RIGHT + 10.0, at + 8.0, "start", "filled: fit");
    text(&mut svg, WIDTH - RIGHT + 10.0, at + 24.0, "start", "hollow: judge");
    svg + "</svg>\n"
}

/// A power of ten as a number, or with its exponent if that is long.
fn power_of_ten(power: i32) -> String {
    if (-1..7).contains(&power) { 10f64.powi(power).to_string() } else { format!("1e{power}") }
}

fn color(topic: PublishedTopic) -> &'static str {
    let place = PublishedTopic::ALL.iter().position(|other| *other == topic).unwrap_or(0);
    COLORS[place]
}
