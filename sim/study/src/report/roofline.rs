//! The roofline: distance of the kernel from the machine's issue rate and bandwidths.
//!
//! Roofline of wave instructions, after N. Ding and S. Williams, "An Instruction Roofline Model for GPUs"
//! (PMBS 2019). A kernel executes I wave instructions per byte of its traffic at a memory level. If the level
//! moves B bytes per cycle, the kernel runs at most I · B wave instructions per cycle. The issue slots of the
//! schedulers are a second bound.

use super::chart::scroll;
use super::facts::Facts;
use super::labels::{Anchor, Labels, Spot};
use maud::{Markup, html};
use wave_observe::numbers::{at, integer, percent, short};

/// Size and margins of the drawing, in its own units.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 700.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 372.0;
/// Font size.
const TEXT: f64 = 13.0;

/// A level of memory.
struct Level {
    name: &'static str,
    class: &'static str,
    /// Bytes that the kernel moved.
    bytes: u64,
    /// Description of these bytes.
    what: &'static str,
    /// Peak bandwidth in bytes per cycle.
    peak: f64,
}

/// The section.
pub(super) fn section(facts: &Facts<'_>) -> Markup {
    let report = &facts.report;
    let net = &report.memory.interconnect;
    let dram = &report.memory.dram;
    let (replies, requests) = (net.reply_bytes, net.request_bytes);
    let levels = [
        Level {
            name: "DRAM",
            class: "dram",
            bytes: dram.read_bytes + dram.written_bytes,
            what: "bytes that the memory channels moved",
            peak: facts.dram_peak(),
        },
        Level {
            name: "L2",
            class: "l2",
            bytes: replies.max(requests),
            what: if replies >= requests {
                "bytes of replies of the L2"
            } else {
                "bytes of requests to the L2"
            },
            peak: facts.l2_peak(),
        },
        Level {
            name: "L1",
            class: "l1",
            bytes: report.core.line_accesses * u64::from(facts.config.core.l1.line_bytes),
            what: "lines accessed in the L1s, in bytes",
            peak: facts.l1_peak(),
        },
    ];
    let instructions = report.core.wave_instructions;
    if instructions == 0 || report.cycles == 0 {
        return html! { p { "Nothing was issued, so there is nothing to draw." } };
    }
    let rate = instructions as f64 / report.cycles as f64;
    let issue = facts.issue_peak();
    let points: Vec<(&Level, f64, f64)> = levels
        .iter()
        .filter(|level| level.bytes > 0)
        .map(|level| {
            let intensity = instructions as f64 / level.bytes as f64;
            (level, intensity, (intensity * level.peak).min(issue))
        })
        .collect();
    let nearest = points.iter().min_by(|a, b| a.2.total_cmp(&b.2));
    html! {
        p {
            "The kernel issued " strong { (short(rate)) } " wave instructions a cycle; the schedulers can issue "
            (short(issue)) "."
            @if let Some((level, _, roof)) = nearest {
                " The lowest roof over it is "
                @if *roof < issue { "that of the " strong { (level.name) } " at " (short(*roof)) }
                @else { "that of the issue slots" }
                ": the kernel reaches " strong { (percent(rate / roof)) } " of it. "
                @if rate / roof < 0.5 { "Well below every roof, it is held up by waiting and not by a bandwidth." }
            }
        }
        (scroll("Roofline", draw(&points, rate, issue)))
        (scroll("The roofline in numbers", html! {        table {
            caption { "The roofline in numbers" }
            thead { tr {
                th scope="col" { "level" } th scope="col" { "bytes" } th scope="col" { "bytes a cycle" }
                th scope="col" { "of at most" } th scope="col" { "wave instructions a byte" }
                th scope="col" { "roof, wave instructions a cycle" } th scope="col" { "reached" }
            } }
            tbody { @for (level, intensity, roof) in &points {
                tr {
                    th scope="row" { span.swatch.(level.class) {} (level.name) small { (level.what) } }
                    td.number { (integer(level.bytes)) }
                    td.number { (short(level.bytes as f64 / report.cycles as f64)) }
                    td.number { (short(level.peak)) }
                    td.number { (short(*intensity)) }
                    td.number { (short(*roof)) }
                    td.number { (percent(rate / roof)) }
                }
            } }
        } }))
    }
}

/// The roof of a memory level, up to the roof of the issue slots.
struct Slope {
    foot: (f64, f64),
    ridge: (f64, f64),
    label: String,
}

impl Slope {
    /// Positions for its label on both sides, starting in the middle.
    fn spots(&self) -> Vec<Spot> {
        let ((x, y), (to_x, to_y)) = (self.foot, self.ridge);
        let parts = [0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2, 0.9, 0.1];
        let spots = parts.into_iter().flat_map(|part| {
            let (x, y) = (x + part * (to_x - x), y + part * (to_y - y));
            [(x + 12.0, y + 14.0, Anchor::Start), (x - 10.0, y - 5.0, Anchor::End)]
        });
        spots.collect()
    }
}

/// Positions for the name of a point.
fn around(x: f64, y: f64) -> Vec<Spot> {
    let below = [20.0, 36.0, 52.0].map(|down| y + down);
    let beside = below
        .into_iter()
        .chain([-10.0, -26.0].map(|up| y + up))
        .flat_map(|y| [(x + 10.0, y, Anchor::Start), (x - 10.0, y, Anchor::End), (x, y, Anchor::Middle)]);
    beside.collect()
}

/// Both axes are base-10 logarithms.
fn draw(points: &[(&Level, f64, f64)], rate: f64, issue: f64) -> Markup {
    let logs = points.iter().map(|(_, intensity, _)| intensity.log10());
    let ridges = points.iter().map(|(level, ..)| (issue / level.peak).log10());
    let (low, high) =
        logs.chain(ridges).fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
    let (from_x, to_x) =
        if points.is_empty() { (-2.0, 1.0) } else { ((low - 0.6).floor(), (high + 0.6).ceil()) };
    let (from_y, to_y) =
        ((rate.log10() - 0.5).floor().min(issue.log10() - 2.0), (issue.log10() + 0.3).ceil());
    let x = |log: f64| LEFT + (log - from_x) / (to_x - from_x) * (RIGHT - LEFT);
    let y = |log: f64| BOTTOM - (log - from_y) / (to_y - from_y) * (BOTTOM - TOP);
    let decades = |from: f64, to: f64| (from.ceil() as i32)..=(to.floor() as i32);
    let label =
        |exponent: i32| short(10f64.powi(exponent)).trim_end_matches('0').trim_end_matches('.').to_owned();
    let label = |exponent: i32| {
        if exponent >= 0 {
            short(10f64.powi(exponent)).split('.').next().unwrap_or("").to_owned()
        } else {
            label(exponent)
        }
    };
    let words: Vec<String> = points
        .iter()
        .map(|(level, intensity, roof)| {
            format!("{}: {} wave instructions a byte, roof {}", level.name, short(*intensity), short(*roof))
        })
        .collect();
    let (ceiling, height) = (y(issue.log10()), y(rate.log10()));
    let slopes: Vec<Slope> = points
        .iter()
        .map(|(level, ..)| {
            let foot = (from_y - level.peak.log10()).max(from_x);
            Slope {
                foot: (x(foot), y(foot + level.peak.log10())),
                ridge: (x((issue / level.peak).log10()), ceiling),
                label: format!("{}, {} B a cycle", level.name, short(level.peak)),
            }
        })
        .collect();
    let mut labels = Labels::new(TEXT, (LEFT, TOP), (RIGHT, BOTTOM));
    labels.line((LEFT, ceiling), (RIGHT, ceiling));
    slopes.iter().for_each(|slope| labels.line(slope.foot, slope.ridge));
    for (_, intensity, roof) in points {
        let at = x(intensity.log10());
        labels.mark((at, height), 8.0);
        labels.line((at, height), (at, y(roof.log10())));
    }
    let ceiling_label = format!("issue slots, {}", short(issue));
    let (ceiling_x, ceiling_y, _) =
        labels.place(&ceiling_label, &[(RIGHT - 4.0, ceiling - 6.0, Anchor::End)]);
    let names: Vec<_> = points
        .iter()
        .map(|(level, intensity, _)| labels.place(level.name, &around(x(intensity.log10()), height)))
        .collect();
    let slope_labels: Vec<_> =
        slopes.iter().map(|slope| labels.place(&slope.label, &slope.spots())).collect();
    html! {
        svg.roofline viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-labelledby="roofline-t roofline-d" {
            title id="roofline-t" { "Roofline" }
            desc id="roofline-d" {
                "Wave instructions a cycle over wave instructions a byte, both axes logarithmic. Issue slots: at most "
                (short(issue)) ". The kernel: " (short(rate)) ". " (words.join("; ")) ". The table below has the numbers."
            }
            @for e in decades(from_x, to_x) {
                path.grid d={ "M" (at(x(f64::from(e)))) " " (TOP) "V" (BOTTOM) } {}
                text x=(at(x(f64::from(e)))) y=(BOTTOM + 18.0) text-anchor="middle" { (label(e)) }
            }
            @for e in decades(from_y, to_y) {
                path.grid d={ "M" (LEFT) " " (at(y(f64::from(e)))) "H" (RIGHT) } {}
                text x=(LEFT - 8.0) y=(at(y(f64::from(e)) + 4.0)) text-anchor="end" { (label(e)) }
            }
            text x=((LEFT + RIGHT) / 2.0) y=(HEIGHT - 8.0) text-anchor="middle" { "wave instructions a byte" }
            text x="14" y=((TOP + BOTTOM) / 2.0) text-anchor="middle"
                transform={ "rotate(-90 14 " ((TOP + BOTTOM) / 2.0) ")" } { "wave instructions a cycle" }
            path.roof d={ "M" (LEFT) " " (at(y(issue.log10()))) "H" (RIGHT) } {}
            @for ((level, ..), slope) in points.iter().zip(&slopes) {
                @let (foot, ridge) = (slope.foot, slope.ridge);
                path.roof.(level.class) d={ "M" (at(foot.0)) " " (at(foot.1)) "L" (at(ridge.0)) " " (at(ridge.1)) } {}
            }
            @for (i, (level, intensity, roof)) in points.iter().enumerate() {
                @let (px, py) = (x(intensity.log10()), y(rate.log10()));
                path.reach d={ "M" (at(px)) " " (at(py)) "V" (at(y(roof.log10()))) } {}
                @match i {
                    0 => circle.(level.class) cx=(at(px)) cy=(at(py)) r="7" {},
                    1 => rect.(level.class) x=(at(px - 6.0)) y=(at(py - 6.0)) width="12" height="12" {},
                    _ => path.(level.class) d={ "M" (at(px)) " " (at(py - 8.0)) "l8 14h-16z" } {},
                }
            }
            text x=(at(ceiling_x)) y=(at(ceiling_y)) text-anchor="end" { (ceiling_label) }
            @for ((level, ..), &(x, y, anchor)) in points.iter().zip(&names) {
                text x=(at(x)) y=(at(y)) text-anchor=(anchor.name()) { (level.name) }
            }
            @for (slope, &(x, y, anchor)) in slopes.iter().zip(&slope_labels) {
                text x=(at(x)) y=(at(y)) text-anchor=(anchor.name()) { (slope.label) }
            }
        }
    }
}
