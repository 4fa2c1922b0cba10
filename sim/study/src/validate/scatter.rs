//! Simulated values against published ones as SVG: both axes logarithmic, in powers of ten.

use super::quantity::PublishedTopic;
use super::summary::{Held, Validation};
use super::text::number;
use std::fmt::Write;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 560.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 52.0;
/// Okabe and Ito's colours, as in the other plots; one for each topic.
const COLORS: [&str; 7] = ["#0072B2", "#000000", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];

/// The scale of both axes.
struct Axes {
    from: f64,
    to: f64,
}

impl Axes {
    fn x(&self, value: f64) -> f64 {
        LEFT + (value.log10() - self.from) / (self.to - self.from) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - (value.log10() - self.from) / (self.to - self.from) * (HEIGHT - TOP - BOTTOM)
    }
}

/// The plot of a validation. Filled marks are points that parameters may be fitted to; hollow marks judge.
pub fn svg(validation: &Validation) -> String {
    let values = |held: &Held| Some((held.point.value, *held.simulated.as_ref().ok()?));
    let pairs: Vec<(&Held, f64, f64)> = validation
        .held
        .iter()
        .filter_map(|held| values(held).map(|(published, simulated)| (held, published, simulated)))
        .filter(|&(_, _, simulated)| simulated > 0.0)
        .collect();
    let all = || pairs.iter().flat_map(|&(_, published, simulated)| [published, simulated]);
    let (least, most) = (all().fold(f64::MAX, f64::min), all().fold(1.0, f64::max));
    let from = least.min(most).log10().floor();
    let axes = Axes { from, to: most.log10().ceil().max(from + 1.0) };
    let mut svg = frame(&axes, &format!("{} beside {}", validation.config.name, validation.published.gpu));
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
        _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{fill}\" stroke=\"{color}\"><title>{}</title></circle>",
            axes.x(published),
            axes.y(simulated),
            escape(&title)
        );
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

/// Axes, grid, and the lines of equal values, half and twice.
fn frame(axes: &Axes, title: &str) -> String {
    let (low, high) = (10f64.powf(axes.from), 10f64.powf(axes.to));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    text(&mut svg, WIDTH / 2.0, 18.0, "middle", title);
    for power in axes.from as i32..=axes.to as i32 {
        let value = 10f64.powi(power);
        line(&mut svg, [axes.x(value), axes.y(low), axes.x(value), axes.y(high)], "stroke=\"#ddd\"");
        line(&mut svg, [axes.x(low), axes.y(value), axes.x(high), axes.y(value)], "stroke=\"#ddd\"");
        let name = if (-1..7).contains(&power) { value.to_string() } else { format!("1e{power}") };
        text(&mut svg, axes.x(value), axes.y(low) + 16.0, "middle", &name);
        text(&mut svg, axes.x(low) - 6.0, axes.y(value) + 4.0, "end", &name);
    }
    line(&mut svg, [axes.x(low), axes.y(low), axes.x(high), axes.y(high)], "stroke=\"black\"");
    let dashed = "stroke=\"#888\" stroke-dasharray=\"4 3\"";
    line(&mut svg, [axes.x(low), axes.y(low * 2.0), axes.x(high / 2.0), axes.y(high)], dashed);
    line(&mut svg, [axes.x(low * 2.0), axes.y(low), axes.x(high), axes.y(high / 2.0)], dashed);
    text(&mut svg, axes.x(high) - 4.0, axes.y(high / 2.0) + 14.0, "end", "half");
    text(&mut svg, axes.x(high / 2.0) - 4.0, axes.y(high) + 12.0, "end", "twice");
    text(&mut svg, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12.0, "middle", "published");
    text(&mut svg, LEFT, TOP - 8.0, "middle", "simulated");
    svg
}

fn color(topic: PublishedTopic) -> &'static str {
    let place = PublishedTopic::ALL.iter().position(|other| *other == topic).unwrap_or(0);
    COLORS[place]
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, text: &str) {
    _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escape(text));
}

/// A line from the first two coordinates to the last two.
fn line(svg: &mut String, [x1, y1, x2, y2]: [f64; 4], style: &str) {
    _ = writeln!(svg, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>");
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
