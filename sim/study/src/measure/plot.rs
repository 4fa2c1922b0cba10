//! Plots as SVG: lines over a logarithmic x axis in powers of two, or bars with names. Only what the
//! measurements need.

use crate::scatter::escape;
use std::fmt::Write;

/// A plot of lines over a logarithmic x axis, or of bars; y begins at 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// Name of the file, without extension.
    pub name: &'static str,
    /// Heading.
    pub title: String,
    /// Meaning and unit of x; empty if the names say it.
    pub x: &'static str,
    /// Meaning and unit of y.
    pub y: &'static str,
    /// The lines; x is positive.
    pub series: Vec<Series>,
    /// Names on the x axis. If there are any, x counts them from 1 and points are bars.
    pub names: Vec<String>,
    /// Named positions on the x axis: the configured sizes.
    pub marks: Vec<(String, f64)>,
    /// Named expected values of y.
    pub levels: Vec<(String, f64)>,
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name for the legend.
    pub name: String,
    /// Points by ascending x.
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 120.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 52.0;
/// Okabe and Ito's colours, which are distinguishable with most colour vision deficiencies.
const COLORS: [&str; 6] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];

impl Plot {
    /// The SVG document.
    pub fn svg(&self) -> String {
        let xs = || self.series.iter().flat_map(|s| &s.points).map(|p| p.0);
        let (least, most) = (xs().fold(f64::MAX, f64::min), xs().fold(1.0, f64::max));
        let bars = !self.names.is_empty();
        let place = |value: f64| if bars { value } else { value.log2() };
        let (from, to) = match bars {
            true => (0.5, self.names.len() as f64 + 0.5),
            false => (least.min(most).log2().floor(), most.log2().ceil()),
        };
        let to = if to > from { to } else { from + 1.0 };
        let values = self.series.iter().flat_map(|s| &s.points).map(|p| p.1);
        let highest = values.chain(self.levels.iter().map(|l| l.1)).fold(0.0, f64::max);
        let tick = tick(highest);
        let top = (highest / tick).ceil().max(1.0) * tick;
        let x = |value: f64| LEFT + (place(value) - from) / (to - from) * (WIDTH - LEFT - RIGHT);
        let y = |value: f64| HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM);
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"11\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
        );
        let text = |svg: &mut String, x: f64, y: f64, anchor: &str, text: &str| {
            _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
                escape(text)
            );
        };
        let line = |svg: &mut String, x1: f64, y1: f64, x2: f64, y2: f64, style: &str| {
            _ = writeln!(svg, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>");
        };
        let rect = |svg: &mut String, (x, y): (f64, f64), (width, height): (f64, f64), color: &str| {
            _ = writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{color}\"/>"
            );
        };
        text(&mut svg, (LEFT + right) / 2.0, 16.0, "middle", &self.title);
        for step in 0..=(top / tick).round() as u32 {
            let value = f64::from(step) * tick;
            line(&mut svg, LEFT, y(value), right, y(value), "stroke=\"#ddd\"");
            text(&mut svg, LEFT - 6.0, y(value) + 4.0, "end", &format!("{value}"));
        }
        let every = ((to - from) / 12.0).ceil().max(1.0) as i32;
        let powers = (!bars).then_some(from as i32..=to as i32).into_iter().flatten();
        for (i, name) in self.names.iter().enumerate() {
            text(&mut svg, x(i as f64 + 1.0), bottom + 16.0, "middle", name);
        }
        for bits in powers.step_by(every as usize) {
            let value = f64::from(bits).exp2();
            line(&mut svg, x(value), bottom, x(value), bottom + 4.0, "stroke=\"black\"");
            text(&mut svg, x(value), bottom + 16.0, "middle", &binary(value));
        }
        line(&mut svg, LEFT, bottom, right, bottom, "stroke=\"black\"");
        line(&mut svg, LEFT, TOP, LEFT, bottom, "stroke=\"black\"");
        text(&mut svg, (LEFT + right) / 2.0, HEIGHT - 12.0, "middle", self.x);
        text(&mut svg, LEFT, TOP - 8.0, "middle", self.y);
        let inside = |value: f64| place(value) >= from && place(value) <= to;
        for (name, at) in self.marks.iter().filter(|m| inside(m.1)) {
            line(&mut svg, x(*at), TOP, x(*at), bottom, "stroke=\"#888\" stroke-dasharray=\"4 3\"");
            text(&mut svg, x(*at) + 3.0, TOP + 10.0, "start", name);
        }
        for (name, at) in &self.levels {
            line(&mut svg, LEFT, y(*at), right, y(*at), "stroke=\"#888\" stroke-dasharray=\"1 3\"");
            text(&mut svg, right + 4.0, y(*at) + 4.0, "start", &format!("{name} {}", Short(*at)));
        }
        let mut legend = LEFT + 90.0;
        for (i, series) in self.series.iter().enumerate() {
            let color = COLORS[i % COLORS.len()];
            if bars {
                let width = (right - LEFT) / (to - from) * 0.7 / self.series.len() as f64;
                let shift = (i as f64 - self.series.len() as f64 / 2.0) * width;
                for &(px, py) in &series.points {
                    let (at, height) = (x(px) + shift, bottom - y(py));
                    rect(&mut svg, (at, y(py)), (width, height), color);
                    text(&mut svg, at + width / 2.0, y(py) - 3.0, "middle", &Short(py).to_string());
                }
            } else {
                let points: Vec<String> =
                    series.points.iter().map(|&(px, py)| format!("{:.1},{:.1}", x(px), y(py))).collect();
                _ = writeln!(
                    svg,
                    "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.5\"/>",
                    points.join(" ")
                );
                for point in &points {
                    let (px, py) = point.split_once(',').unwrap_or_default();
                    _ = writeln!(svg, "<circle cx=\"{px}\" cy=\"{py}\" r=\"2.5\" fill=\"{color}\"/>");
                }
            }
            rect(&mut svg, (legend, TOP - 16.0), (8.0, 8.0), color);
            text(&mut svg, legend + 12.0, TOP - 8.0, "start", &series.name);
            legend += 30.0 + 6.5 * series.name.chars().count() as f64;
        }
        svg + "</svg>\n"
    }
}

/// A number without trailing zeros.
struct Short(f64);

impl std::fmt::Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{:.1}", self.0);
        f.write_str(text.strip_suffix(".0").unwrap_or(&text))
    }
}

/// A distance of ticks that yields about five of them: 1, 2 or 5 times a power of ten.
fn tick(highest: f64) -> f64 {
    let rough = (highest / 5.0).max(1e-3);
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= rough).unwrap_or(10.0);
    factor * power
}

/// A power of two with its binary prefix.
fn binary(value: f64) -> String {
    match value {
        v if v >= 1_048_576.0 => format!("{}Mi", v / 1_048_576.0),
        v if v >= 1024.0 => format!("{}Ki", v / 1024.0),
        v => format!("{v}"),
    }
}
