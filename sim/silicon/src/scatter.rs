//! A scatter plot of cycles simulated against cycles measured, as SVG: both axes logarithmic, in powers of ten.

use crate::correlation::Correlation;
use std::fmt::Write;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 560.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 52.0;
/// Okabe and Ito's colours, as in the other plots; one for each suite.
const COLORS: [(&str, &str); 4] =
    [("", "#0072B2"), ("c/", "#D55E00"), ("wgsl/", "#009E73"), ("./", "#CC79A7")];

/// The plot of a correlation.
pub fn svg(correlation: &Correlation) -> String {
    let pairs = correlation.pairs();
    let values = || pairs.iter().flat_map(|&(_, measured, simulated)| [measured, simulated]);
    let (least, most) = (values().fold(f64::MAX, f64::min), values().fold(1.0, f64::max));
    let from = least.min(most).log10().floor();
    let to = most.log10().ceil().max(from + 1.0);
    let x = |value: f64| LEFT + (value.log10() - from) / (to - from) * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| HEIGHT - BOTTOM - (value.log10() - from) / (to - from) * (HEIGHT - TOP - BOTTOM);
    let (low, high) = (10f64.powf(from), 10f64.powf(to));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    let text = |svg: &mut String, x: f64, y: f64, anchor: &str, text: &str| {
        _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escape(text));
    };
    let line = |svg: &mut String, (x1, y1): (f64, f64), (x2, y2): (f64, f64), style: &str| {
        _ = writeln!(svg, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>");
    };
    let title = format!("Cycles of {} against {}", correlation.machine.name, correlation.gpu);
    text(&mut svg, WIDTH / 2.0, 18.0, "middle", &title);
    for power in from as i32..=to as i32 {
        let value = 10f64.powi(power);
        line(&mut svg, (x(value), y(low)), (x(value), y(high)), "stroke=\"#ddd\"");
        line(&mut svg, (x(low), y(value)), (x(high), y(value)), "stroke=\"#ddd\"");
        text(&mut svg, x(value), y(low) + 16.0, "middle", &cycles(power));
        text(&mut svg, x(low) - 6.0, y(value) + 4.0, "end", &cycles(power));
    }
    line(&mut svg, (x(low), y(low)), (x(high), y(high)), "stroke=\"black\"");
    for factor in [2.0, 0.5] {
        // The part of the line that lies inside.
        let (start, end) = if factor > 1.0 { (low, high / factor) } else { (low / factor, high) };
        let ends = ((x(start), y(start * factor)), (x(end), y(end * factor)));
        line(&mut svg, ends.0, ends.1, "stroke=\"#888\" stroke-dasharray=\"4 3\"");
    }
    text(&mut svg, x(high) - 4.0, y(high / 2.0) + 14.0, "end", "half");
    text(&mut svg, x(high / 2.0) - 4.0, y(high) + 12.0, "end", "twice");
    text(&mut svg, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12.0, "middle", "measured, cycles");
    text(&mut svg, LEFT, TOP - 8.0, "middle", "simulated, cycles");
    let mut legend = LEFT + 90.0;
    for (folder, color) in COLORS {
        if !pairs.iter().any(|(point, ..)| folder_of(&point.kernel) == folder) {
            continue;
        }
        let name = match folder {
            "" => "suite",
            "c/" => "suite in C",
            "wgsl/" => "suite in WGSL",
            _ => "others",
        };
        _ = writeln!(svg, "<circle cx=\"{legend:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{color}\"/>", TOP - 12.0);
        text(&mut svg, legend + 8.0, TOP - 8.0, "start", name);
        legend += 30.0 + 6.5 * name.chars().count() as f64;
    }
    for &(point, measured, simulated) in &pairs {
        let folder = folder_of(&point.kernel);
        let color = COLORS.iter().find(|(name, _)| *name == folder).map_or("black", |(_, color)| *color);
        _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{color}\" fill-opacity=\"0.8\"><title>{}</title></circle>",
            x(measured),
            y(simulated),
            escape(&format!("{}: {measured:.0} measured, {simulated:.0} simulated", point.kernel))
        );
    }
    for point in correlation.worst() {
        if let Some(measured) = point.measured {
            text(&mut svg, x(measured.median) + 6.0, y(point.simulated) + 4.0, "start", &point.kernel);
        }
    }
    svg + "</svg>\n"
}

/// The suite of a kernel: the folder of its name.
fn folder_of(kernel: &str) -> &'static str {
    match kernel.split_once('/') {
        None => "",
        Some(("c", _)) => "c/",
        Some(("wgsl", _)) => "wgsl/",
        Some(_) => "./",
    }
}

/// A power of ten with its prefix.
fn cycles(power: i32) -> String {
    let (digits, unit) = match power {
        ..3 => (power, ""),
        3..6 => (power - 3, " k"),
        6..9 => (power - 6, " M"),
        _ => (power - 9, " G"),
    };
    format!("1{}{unit}", "0".repeat(digits.max(0) as usize))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::correlation::tests::of;

    #[test]
    fn every_pair_is_a_point_and_equal_cycles_lie_on_the_line() {
        let picture = svg(&of(&[(1000.0, 1000.0), (20_000.0, 40_000.0), (0.0, 5.0)]));
        assert_eq!(picture.matches("<title>").count(), 2);
        assert!(picture.contains("measured, cycles") && picture.ends_with("</svg>\n"));
        // The lower left corner.
        assert!(picture.contains("<circle cx=\"72.0\" cy=\"508.0\" r=\"3.5\""), "{picture}");
        assert!(svg(&of(&[])).contains("</svg>"));
    }
}
