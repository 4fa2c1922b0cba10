//! Bytes between the levels of memory, as a chart, and what each buffer had of the accesses.

use super::chart::scroll;
use super::facts::Facts;
use maud::{Markup, html};
use wave_observe::attribution::{Attributed, Class, Split, Tally};
use wave_observe::figures::ratio;
use wave_observe::numbers::{at, bytes, integer, percent, short, size};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 250.0;
/// Boxes and the gaps between them.
const BOX: f64 = 112.0;
const GAP: f64 = (WIDTH - 5.0 * BOX - 4.0) / 4.0;
const TOP: f64 = 14.0;
const BOX_HEIGHT: f64 = HEIGHT - 2.0 * TOP;
/// Middle lines of the arrows to memory and back.
const AWAY: f64 = 92.0;
const BACK: f64 = 158.0;

/// The section.
pub(super) fn section(facts: &Facts<'_>) -> Markup {
    let attributed = facts.gathered.attributed.as_ref();
    let sum = attributed.map(Attributed::sum).unwrap_or_default();
    let levels = levels(facts, &sum);
    html! {
        p {
            "Bytes that went from level to level in " (facts.period()) ", their rate, and the share of the most that the level "
            "moves in this direction. An arrow is as thick as its share. The packets of the interconnect have headers."
        }
        (scroll("Bytes between the levels of memory", draw(facts, &levels, &sum)))
        (numbers(facts, &levels))
        @if let Some(attributed) = attributed { (buffers(facts, attributed)) }
    }
}

/// The way between two levels, in one direction.
struct Flow {
    bytes: u64,
    /// Most bytes a cycle.
    peak: f64,
    /// What has this peak.
    of: &'static str,
}

/// The ways between two neighbours: away from the cores, and back.
struct Way {
    between: &'static str,
    away: Flow,
    back: Flow,
}

fn levels(facts: &Facts<'_>, sum: &Tally) -> [Way; 4] {
    let memory = &facts.report.memory;
    let (net, l3, dram) = (&memory.interconnect, &memory.l3, &memory.dram);
    let sector_bytes = u64::from(facts.config.core.l1.sector_bytes);
    let port = f64::from(facts.config.interconnect.port_bytes_per_cycle);
    let (cores, slices) = (f64::from(facts.config.cores), f64::from(facts.config.l2.slices));
    let flow = |bytes, peak, of| Flow { bytes, peak, of };
    let lines = "one line a cycle from each L1";
    [
        Way {
            between: "lanes and L1s",
            away: flow(sum.stored_bytes + sum.atomic_bytes, facts.l1_peak(), lines),
            back: flow(sum.loaded_bytes + sum.atomic_bytes, facts.l1_peak(), lines),
        },
        Way {
            between: "L1s and interconnect",
            away: flow(net.request_bytes, cores * port, "the ports of the cores"),
            back: flow(net.reply_bytes, cores * port, "the ports of the cores"),
        },
        Way {
            between: "interconnect and L2",
            away: flow(net.request_bytes, slices * port, "the ports of the slices"),
            back: flow(net.reply_bytes, slices * port, "the ports of the slices"),
        },
        match facts.config.l3.is_there() {
            false => Way {
                between: "L2 and DRAM",
                away: flow(dram.written_bytes, facts.dram_peak(), "the data buses of the channels"),
                back: flow(dram.read_bytes, facts.dram_peak(), "the data buses of the channels"),
            },
            true => Way {
                between: "L2 and L3",
                away: flow(l3.written_sectors * sector_bytes, facts.l3_peak(), "the banks of the L3"),
                back: flow(l3.read_sectors * sector_bytes, facts.l3_peak(), "the banks of the L3"),
            },
        },
    ]
}

impl Flow {
    fn rate(&self, facts: &Facts<'_>) -> f64 {
        ratio(self.bytes, facts.report.cycles)
    }

    fn share(&self, facts: &Facts<'_>) -> f64 {
        self.rate(facts) / self.peak.max(1e-12)
    }
}

/// A level: its name, what it is, and its hits out of its lookups.
struct Level {
    name: &'static str,
    class: &'static str,
    lines: Vec<String>,
    hits: Option<(&'static str, u64, u64)>,
}

fn boxes(facts: &Facts<'_>, sum: &Tally) -> [Level; 5] {
    let config = facts.config;
    let (core, l2, dram) = (&facts.report.core, &facts.report.memory.l2, &facts.report.memory.dram);
    let (l1, net) = (&facts.report.l1, &facts.report.memory.interconnect);
    let rows = dram.row_hits + dram.row_empties + dram.row_conflicts;
    let instructions = core.device_loads + core.device_stores + core.device_atomics;
    let looked_up = |hits, mshr_hits, sector_misses, misses| hits + mshr_hits + sector_misses + misses;
    [
        Level {
            name: "Lanes",
            class: "issued",
            lines: vec![
                format!("{} cores", config.cores),
                format!("of {} lanes", config.core.wave_width),
                format!("{} wave", integer(instructions)),
                "accesses".to_owned(),
                bytes(sum.requested_bytes()),
            ],
            hits: None,
        },
        Level {
            name: "L1",
            class: "l1",
            lines: vec![
                format!("{} × {}", config.cores, size(config.core.l1.bytes.into())),
                format!("{} ways", config.core.l1.ways),
                format!("{} line", integer(core.line_accesses)),
                "accesses".to_owned(),
            ],
            hits: Some(("hits", l1.hits, looked_up(l1.hits, l1.mshr_hits, l1.sector_misses, l1.misses))),
        },
        Level {
            name: "Interconnect",
            class: "fetch",
            lines: vec![
                config.interconnect.topology.name().to_owned(),
                format!("{} cycles", config.interconnect.latency_cycles),
                integer(net.requests),
                "requests".to_owned(),
                integer(net.replies),
                "replies".to_owned(),
            ],
            hits: None,
        },
        Level {
            name: "L2",
            class: "l2",
            lines: vec![
                format!("{} × {}", config.l2.slices, size(config.l2.slice_bytes.into())),
                format!("{} ways", config.l2.ways),
                integer(looked_up(l2.hits, l2.mshr_hits, l2.sector_misses, l2.misses)),
                "requests".to_owned(),
            ],
            hits: Some(("hits", l2.hits, looked_up(l2.hits, l2.mshr_hits, l2.sector_misses, l2.misses))),
        },
        Level {
            name: if config.l3.is_there() { "L3 and DRAM" } else { "DRAM" },
            class: "dram",
            lines: vec![
                format!("{} channels", config.dram.channels),
                match config.l3.bank_bytes {
                    0 => format!("{} banks each", config.dram.banks),
                    bytes => format!("{} of L3 each", size(bytes.into())),
                },
                integer(dram.reads + dram.writes),
                "bursts".to_owned(),
            ],
            hits: Some(("row hits", dram.row_hits, rows)),
        },
    ]
}

fn draw(facts: &Facts<'_>, ways: &[Way; 4], sum: &Tally) -> Markup {
    let words: Vec<String> = ways
        .iter()
        .map(|way| {
            format!(
                "between {}: {} away from the cores, {} back",
                way.between,
                bytes(way.away.bytes),
                bytes(way.back.bytes)
            )
        })
        .collect();
    let left = |i: usize| 2.0 + i as f64 * (BOX + GAP);
    html! {
        svg.traffic viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-labelledby="traffic-t traffic-d" {
            title id="traffic-t" { "Bytes between the levels of memory" }
            desc id="traffic-d" { (words.join("; ")) ". The table below has the numbers." }
            @for (i, level) in boxes(facts, sum).iter().enumerate() { (draw_box(left(i), level)) }
            @for (i, way) in ways.iter().enumerate() {
                @let x = left(i) + BOX;
                (draw_flow(facts, x, AWAY, true, &way.away))
                (draw_flow(facts, x, BACK, false, &way.back))
            }
        }
    }
}

fn draw_box(x: f64, level: &Level) -> Markup {
    let middle = at(x + BOX / 2.0);
    html! {
        g.block.(level.class) {
            rect x=(at(x)) y=(at(TOP)) width=(at(BOX)) height=(at(BOX_HEIGHT)) rx="6" {}
            rect.lid x=(at(x)) y=(at(TOP)) width=(at(BOX)) height="6" rx="3" {}
            text.title x=(middle) y=(at(TOP + 28.0)) text-anchor="middle" { (level.name) }
            @for (i, line) in level.lines.iter().enumerate() {
                text x=(middle) y=(at(TOP + 52.0 + 18.0 * i as f64)) text-anchor="middle" { (line) }
            }
            @if let Some((what, hits, of)) = level.hits && of > 0 {
                @let share = ratio(hits, of);
                text x=(middle) y=(at(TOP + 182.0)) text-anchor="middle" { (percent(share)) " " (what) }
                rect.meter x=(at(x + 12.0)) y=(at(TOP + 194.0)) width=(at(BOX - 24.0)) height="7" rx="2" {}
                rect.value x=(at(x + 12.0)) y=(at(TOP + 194.0)) width=(at((BOX - 24.0) * share)) height="7" rx="2" {}
            }
        }
    }
}

/// An arrow with its bytes, its rate and its share: above it on the way to memory, else below it.
fn draw_flow(facts: &Facts<'_>, x: f64, y: f64, away: bool, flow: &Flow) -> Markup {
    const MARGIN: f64 = 5.0;
    const HEAD: f64 = 11.0;
    let share = flow.share(facts).clamp(0.0, 1.0);
    let half = if flow.bytes == 0 { 0.5 } else { 1.0 + 6.0 * share };
    let wide = half + 4.0;
    let (tail, tip, head) = match away {
        true => (x + MARGIN, x + GAP - MARGIN, -HEAD),
        false => (x + GAP - MARGIN, x + MARGIN, HEAD),
    };
    let neck = tip + head;
    let path = format!(
        "M{} {}H{}V{}L{} {}L{} {}V{}H{}Z",
        at(tail),
        at(y - half),
        at(neck),
        at(y - wide),
        at(tip),
        at(y),
        at(neck),
        at(y + wide),
        at(y + half),
        at(tail)
    );
    let middle = at(x + GAP / 2.0);
    let first = if away { y - 50.0 } else { y + 26.0 };
    let class = if away { "writes" } else { "reads" };
    html! {
        g.flow.(class) .idle[flow.bytes == 0] {
            title { (integer(flow.bytes)) " bytes, " (percent(flow.share(facts))) " of " (flow.of) }
            path d=(path) {}
            text x=(middle) y=(at(first)) text-anchor="middle" { (bytes(flow.bytes)) }
            @if flow.bytes > 0 {
                text.soft x=(middle) y=(at(first + 16.0)) text-anchor="middle" { (short(flow.rate(facts))) " B a cycle" }
                text.soft x=(middle) y=(at(first + 32.0)) text-anchor="middle" { (percent(flow.share(facts))) " of peak" }
            }
        }
    }
}

fn numbers(facts: &Facts<'_>, ways: &[Way; 4]) -> Markup {
    let gigabytes = |rate: f64| rate * f64::from(facts.config.core_clock_mhz) / 1000.0;
    html! {
        details.data {
            summary { "Numbers of this chart" }
            (scroll("Numbers: bytes between the levels of memory", html! { table {
                caption { "Bytes between the levels of memory, in " (facts.period()) }
                thead { tr {
                    th scope="col" { "between" } th scope="col" { "direction" } th scope="col" { "bytes" }
                    th scope="col" { "bytes a cycle" } th scope="col" { "GB/s" } th scope="col" { "of at most, bytes a cycle" }
                    th scope="col" { "share" } th scope="col" { "which is that of" }
                } }
                tbody { @for way in ways { @for (direction, flow) in [("to memory", &way.away), ("to the lanes", &way.back)] {
                    tr {
                        th scope="row" { (way.between) } td { (direction) }
                        td { (integer(flow.bytes)) } td { (short(flow.rate(facts))) }
                        td { (short(gigabytes(flow.rate(facts)))) } td { (short(flow.peak)) }
                        td { (percent(flow.share(facts))) } td { (flow.of) }
                    }
                } } }
            } }))
        }
    }
}

/// Class, its colour, and what it means for a reader.
const CLASSES: [(Class, &str, &str); Class::COUNT] = [
    (Class::Compulsory, "fair", "the cache never had the bytes"),
    (Class::Capacity, "poor", "a fully associative cache of the same size misses too"),
    (Class::Conflict, "bad", "a fully associative cache of the same size hits"),
    (
        Class::Coherence,
        "fence",
        "a fence, the start of a launch or an access that goes past the L1 took the bytes away",
    ),
];

fn buffers(facts: &Facts<'_>, attributed: &Attributed) -> Markup {
    let rows: Vec<(&str, &Tally)> = attributed.rows().collect();
    let sum = attributed.sum();
    html! {
        h3 id="buffers" { "By buffer" }
        @if rows.is_empty() { p { "Nothing accessed device memory." } }
        @else {
            (scroll("Accesses by buffer", html! { table {
                caption { "What each buffer had of the accesses, in " (facts.period()) }
                thead { tr {
                    @for name in [
                        "buffer", "loads", "stores", "atomics", "lanes’ bytes", "L1 accesses", "L1 hits", "L2 requests", "L2 hits",
                        "DRAM bytes read", "DRAM bytes written", "of the DRAM bytes",
                    ] { th scope="col" { (name) } }
                } }
                tbody {
                    @for (name, tally) in &rows { (accesses(name, tally, &sum)) }
                    (accesses("all", &sum, &sum))
                }
            } }))
            h3 id="misses" { "Why the caches missed" }
            ul.legend aria-label="Legend" { @for (class, colour, meaning) in CLASSES {
                li { span.swatch.(colour) {} (class.name()) ": " (meaning) }
            } }
            (scroll("Misses by buffer", html! { table.misses {
                caption { "Misses of lines and sectors by class, in " (facts.period()) }
                thead {
                    tr {
                        th rowspan="2" scope="col" { "buffer" }
                        @for level in ["L1", "L2"] { th colspan=(Class::COUNT + 1) scope="colgroup" { "misses of the " (level) } }
                    }
                    tr { @for _ in 0..2 {
                        th scope="col" { "all" }
                        @for (class, ..) in CLASSES { th scope="col" { (class.name()) } }
                    } }
                }
                @let most = (sum.l1_split.total(), sum.l2_split.total());
                tbody {
                    @for (name, tally) in rows.iter().filter(|(_, tally)| tally.l1_misses() + tally.l2.all_misses() > 0) {
                        (misses(name, tally, most))
                    }
                    (misses("all", &sum, most))
                }
            } }))
            p {
                "The classes are those of Hill and Smith (1989), with one more for what coherence takes away. Misses of capacity "
                "ask for a larger cache, or for a kernel that comes back sooner to what it has loaded. Conflicts ask for more "
                "ways, another replacement policy or another layout of the data."
            }
        }
    }
}

fn accesses(name: &str, tally: &Tally, sum: &Tally) -> Markup {
    let hits = |hits: u64, of: u64| if of == 0 { "-".to_owned() } else { percent(ratio(hits, of)) };
    html! { tr {
        th scope="row" { (name) }
        @for n in [tally.loads, tally.stores, tally.atomics, tally.requested_bytes(), tally.l1_accesses()] {
            td.number { (integer(n)) }
        }
        td.number { (hits(tally.l1.hits, tally.l1_lookups())) }
        td.number { (integer(tally.l2.requests())) }
        td.number { (hits(tally.l2.hits, tally.l2.requests())) }
        td.number { (integer(tally.dram_read_bytes)) } td.number { (integer(tally.dram_written_bytes)) }
        td.number { (hits(tally.dram_bytes(), sum.dram_bytes())) }
    } }
}

fn misses(name: &str, tally: &Tally, (most_l1, most_l2): (u64, u64)) -> Markup {
    html! { tr {
        th scope="row" { (name) }
        @for (split, most) in [(&tally.l1_split, most_l1), (&tally.l2_split, most_l2)] {
            td.number { (integer(split.total())) (stack(split, most)) }
            @for (class, ..) in CLASSES { td.number { (integer(split.of(class))) } }
        }
    } }
}

/// Misses by class as a bar relative to all misses of the level.
fn stack(split: &Split, most: u64) -> Markup {
    let mut x = 0.0;
    let mut parts = Vec::new();
    for (class, colour, _) in CLASSES.into_iter().filter(|&(class, ..)| split.of(class) > 0) {
        let width = 100.0 * ratio(split.of(class), most);
        parts.push((class, colour, x, width));
        x += width;
    }
    let words: Vec<String> =
        parts.iter().map(|(class, ..)| format!("{} {}", class.name(), integer(split.of(*class)))).collect();
    html! { @if !parts.is_empty() {
        svg.stack viewBox="0 0 100 10" preserveAspectRatio="none" role="img" {
            title { (words.join(", ")) }
            @for (_, colour, x, width) in &parts {
                rect.(colour) x=(at(*x)) width=(format!("{width:.2}")) height="10" {}
            }
        }
    } }
}
