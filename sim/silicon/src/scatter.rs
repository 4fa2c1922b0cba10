//! A scatter plot of cycles simulated against cycles measured, as SVG.

use crate::correlation::Correlation;
use std::fmt::Write;
use wave_study::scatter::{LEFT, ScatterFrame, ScatterNames, text};

const RIGHT: f64 = 24.0;
const TOP: f64 = 56.0;
/// Okabe and Ito's colours, as in the other plots; one for each suite.
const COLORS: [(&str, &str); 4] =
    [("", "#0072B2"), ("c/", "#D55E00"), ("wgsl/", "#009E73"), ("./", "#CC79A7")];

/// The plot of a correlation.
pub fn svg(correlation: &Correlation) -> String {
    let pairs = correlation.pairs();
    let values = pairs.iter().flat_map(|&(_, measured, simulated)| [measured, simulated]);
    let frame = ScatterFrame::over(values, RIGHT, TOP);
    let mut svg = frame.begin(&ScatterNames {
        title: &format!("Cycles of {} against {}", correlation.machine.name, correlation.gpu),
        x: "measured, cycles",
        y: "simulated, cycles",
        power: cycles,
    });
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
        let style = format!("fill=\"{color}\" fill-opacity=\"0.8\"");
        let title = format!("{}: {measured:.0} measured, {simulated:.0} simulated", point.kernel);
        frame.mark(&mut svg, [measured, simulated], &style, &title);
    }
    for point in correlation.worst() {
        if let Some(measured) = point.measured {
            text(
                &mut svg,
                frame.x(measured.median) + 6.0,
                frame.y(point.simulated) + 4.0,
                "start",
                &point.kernel,
            );
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
