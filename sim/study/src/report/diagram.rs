//! Drawings of the machine: cores, interconnect, L2 slices and memory channels with their utilization, and
//! the inside of a core.

use super::facts::Facts;
use super::labels::{self, wrapped};
use maud::{Markup, html};
use petgraph::visit::EdgeRef;
use std::collections::BTreeSet;
use wave_machine::config::network::{Network, Station};
use wave_machine::config::{Config, Topology};
use wave_machine::stats::SlotUse;
use wave_observe::figures::ratio;
use wave_observe::numbers::counted;
use wave_observe::numbers::{at, integer, percent, size};

const WIDTH: f64 = 960.0;
/// Size of a tile and the gap between tiles.
const TILE: (f64, f64) = (50.0, 34.0);
const GAP: f64 = 8.0;

/// The section.
pub(super) fn section(facts: &Facts<'_>) -> Markup {
    html! {
        h3 id="machine-whole" { "The whole machine" }
        p {
            "The bar in a core says in what part of its issue slots it issued; in a slice, its requests beside those of the \
             busiest; in a memory channel, its bytes beside the busiest’s. Bars that differ much mean that the work is not \
             spread evenly."
        }
        div.scroll tabindex="0" role="region" aria-label="Block diagram of the machine" { (whole(facts)) }
        (loads(facts))
        h3 id="machine-core" { "One core" }
        div.scroll tabindex="0" role="region" aria-label="Block diagram of a core" { (core(facts.config)) }
    }
}

/// Utilization of each core, slice and channel, and its description.
struct Loads {
    cores: Vec<(f64, String)>,
    slices: Vec<(f64, String)>,
    channels: Vec<(f64, String)>,
}

fn work(facts: &Facts<'_>) -> Loads {
    let gathered = facts.gathered;
    let core = |slots: &wave_observe::limits::profile::Slots| {
        let share = ratio(slots[SlotUse::Issued as usize], slots.iter().sum());
        (share, format!("issued in {} of its slots", percent(share)))
    };
    let requests: Vec<u64> =
        gathered.parts.slices.iter().map(|l2| l2.reads + l2.writes + l2.atomics).collect();
    let bytes: Vec<u64> =
        gathered.parts.channels.iter().map(|dram| dram.read_bytes + dram.written_bytes).collect();
    let beside = |all: &[u64], what: &str| {
        let most = all.iter().copied().max().unwrap_or(0);
        all.iter().map(|&n| (ratio(n, most), format!("{} {what}", integer(n)))).collect()
    };
    Loads {
        cores: gathered.cores().iter().map(core).collect(),
        slices: beside(&requests, "requests"),
        channels: beside(&bytes, "bytes"),
    }
}

/// A tile with name and bar.
fn tile(x: f64, y: f64, name: &str, class: &str, (share, says): &(f64, String)) -> Markup {
    let (width, height) = TILE;
    html! {
        g.tile.(class) {
            title { (name) ": " (says) }
            rect x=(at(x)) y=(at(y)) width=(width) height=(height) rx="4" {}
            (tile_name(x, y + 16.0, name))
            rect.meter x=(at(x + 5.0)) y=(at(y + height - 11.0)) width=(width - 10.0) height="5" {}
            rect.value x=(at(x + 5.0)) y=(at(y + height - 11.0)) width=(at((width - 10.0) * share.clamp(0.0, 1.0))) height="5" {}
        }
    }
}

/// Font sizes in tiles.
const TILE_TEXT: f64 = 11.0;
const LEAST_TEXT: f64 = 7.0;

/// The name in a tile. A long name gets a smaller font, and is cut if the font would be too small.
fn tile_name(x: f64, y: f64, name: &str) -> Markup {
    let room = TILE.0 - 6.0;
    let size = (TILE_TEXT * room / labels::width(name, TILE_TEXT)).clamp(LEAST_TEXT, TILE_TEXT);
    let mut shown = name.to_owned();
    while labels::width(&shown, size) > room + 0.1 && shown.pop().is_some() {
        shown.truncate(shown.trim_end_matches('…').len());
        shown.pop();
        shown.push('…');
    }
    html! {
        text x=(at(x + TILE.0 / 2.0)) y=(at(y)) text-anchor="middle" style={ "font-size:" (at(size)) "px" } { (shown) }
    }
}

/// Positions in rows across the width, starting at `top`, and the bottom of the last row.
fn rows(count: usize, top: f64) -> (Vec<(f64, f64)>, f64) {
    let per_row = (((WIDTH - GAP) / (TILE.0 + GAP)) as usize).min(count.max(1));
    let left = (WIDTH - per_row as f64 * (TILE.0 + GAP) + GAP) / 2.0;
    let place = |i: usize| {
        (left + (i % per_row) as f64 * (TILE.0 + GAP), top + (i / per_row) as f64 * (TILE.1 + GAP))
    };
    let end = top + count.div_ceil(per_row) as f64 * (TILE.1 + GAP);
    ((0..count).map(place).collect(), end)
}

fn centre((x, y): (f64, f64)) -> (f64, f64) {
    (x + TILE.0 / 2.0, y + TILE.1 / 2.0)
}

fn whole(facts: &Facts<'_>) -> Markup {
    let config = facts.config;
    let loads = work(facts);
    let network = Network::new(config);
    let nodes: Vec<&Station> = network.graph.node_weights().collect();
    let net = &config.interconnect;
    let (places, end, fabric) = match net.topology {
        Topology::Crossbar => {
            let (cores, below) = rows(config.cores as usize, 10.0);
            let bar = below + 10.0;
            let (slices, end) = rows(config.l2.slices as usize, bar + 54.0);
            let places = nodes.iter().map(|station| match station {
                Station::Core(i) => cores[*i as usize],
                Station::Slice(i) => slices[*i as usize],
                Station::Router(_) => (WIDTH / 2.0, bar),
            });
            let label = format!(
                "crossbar: ports of {} B a cycle, {} cycles",
                net.port_bytes_per_cycle, net.latency_cycles
            );
            let fabric = html! {
                rect.fabric x="10" y=(bar) width=(WIDTH - 20.0) height="34" rx="4" {}
                text x=(WIDTH / 2.0) y=(bar + 22.0) text-anchor="middle" { (label) }
            };
            (places.collect::<Vec<_>>(), end, fabric)
        }
        Topology::Mesh => {
            let columns = net.mesh_columns.max(1) as usize;
            let pitch = ((WIDTH - TILE.0) / columns.max(2) as f64).min(110.0);
            let left = (WIDTH - pitch * (columns - 1) as f64 - TILE.0) / 2.0;
            let place = |i: usize| (left + (i % columns) as f64 * pitch, 10.0 + (i / columns) as f64 * 64.0);
            let end = 10.0 + nodes.len().div_ceil(columns) as f64 * 64.0;
            ((0..nodes.len()).map(place).collect(), end, html! {})
        }
        Topology::Ring => {
            let n = nodes.len().max(1) as f64;
            let height = (n * 20.0).clamp(180.0, 620.0);
            let place = |i: usize| {
                let angle = std::f64::consts::TAU * i as f64 / n - std::f64::consts::FRAC_PI_2;
                let (rx, ry) = ((WIDTH - TILE.0 - 20.0) / 2.0, (height - TILE.1) / 2.0);
                (10.0 + rx + rx * angle.cos(), 10.0 + ry + ry * angle.sin())
            };
            ((0..nodes.len()).map(place).collect(), height + 20.0, html! {})
        }
        Topology::Edges => {
            let of = |wanted: fn(&Station) -> bool| nodes.iter().filter(|s| wanted(s)).count();
            let (cores, below) = rows(of(|s| matches!(s, Station::Core(_))), 10.0);
            let (routers, lower) = rows(of(|s| matches!(s, Station::Router(_))), below + 30.0);
            let (slices, end) = rows(of(|s| matches!(s, Station::Slice(_))), lower + 30.0);
            let mut next = 0;
            let places = nodes.iter().map(|station| match station {
                Station::Core(i) => cores[*i as usize],
                Station::Slice(i) => slices[*i as usize],
                Station::Router(_) => {
                    next += 1;
                    routers[next - 1]
                }
            });
            (places.collect(), end, html! {})
        }
    };
    let (channels, height) = rows(config.dram.channels as usize, end + 26.0);
    let slices = nodes.iter().zip(&places).filter_map(|(station, &place)| match station {
        Station::Slice(i) => Some((*i, place)),
        _ => None,
    });
    let drawn = net.topology == Topology::Crossbar || net.topology == Topology::Edges;
    html! {
        svg.machine viewBox={ "0 0 " (WIDTH) " " (at(height + 4.0)) } role="img" aria-labelledby="machine-t machine-d" {
            title id="machine-t" { "Block diagram of " (config.name) }
            desc id="machine-d" {
                (config.cores) " cores, " (net.topology.name()) ", " (config.l2.slices) " L2 slices of "
                (size(config.l2.slice_bytes.into())) ", " (config.dram.channels) " memory channels. The table below has what each did."
            }
            @if net.topology != Topology::Crossbar { g.wires { (wires(&network, &places, facts)) } }
            @if drawn { g.wires { @for (slice, place) in slices {
                @let channel = channels[slice as usize % channels.len().max(1)];
                @let ((x, y), (cx, cy)) = (centre(place), centre(channel));
                path.dotted d={ "M" (at(x)) " " (at(y)) "L" (at(cx)) " " (at(cy)) } {}
            } } }
            @if net.topology == Topology::Crossbar { (fabric) }
            @for (station, &(x, y)) in nodes.iter().zip(&places) { @match station {
                Station::Core(i) => (tile(x, y, &format!("core {i}"), "core", &loads.cores[*i as usize])),
                Station::Slice(i) => (tile(x, y, &format!("L2 {i}"), "slice", &loads.slices[*i as usize])),
                Station::Router(name) => @if net.topology != Topology::Crossbar {
                    g.tile.router {
                        title { (name) }
                        rect x=(at(x)) y=(at(y)) width=(TILE.0) height=(TILE.1) rx="16" {}
                        (tile_name(x, y + 21.0, name))
                    }
                },
            } }
            @for (i, &(x, y)) in channels.iter().enumerate() {
                (tile(x, y, &format!("DRAM {i}"), "channel", &loads.channels[i]))
            }
        }
    }
}

/// The links between routers. The busier a link, the thicker its line.
fn wires(network: &Network, places: &[(f64, f64)], facts: &Facts<'_>) -> Markup {
    let graph = &network.graph;
    let count = graph.edge_count();
    let cycles = facts.report.cycles;
    let busy = |i: usize| facts.report.links.get(i).map_or(0, |link| link.busy_cycles);
    let mut drawn = BTreeSet::new();
    html! {
        @for edge in graph.edge_references() {
            @let (a, b) = (edge.source().index(), edge.target().index());
            @if drawn.insert((a.min(b), a.max(b))) {
                @let both = graph.edge_indices().filter(|&e| {
                    graph.edge_endpoints(e).is_some_and(|(s, t)| (s.index().min(t.index()), s.index().max(t.index())) == (a.min(b), a.max(b)))
                });
                @let most = both.flat_map(|e| [busy(e.index()), busy(e.index() + count)]).max().unwrap_or(0);
                @let share = ratio(most, cycles);
                @let ((x, y), (tx, ty)) = (centre(places[a]), centre(places[b]));
                path.wire d={ "M" (at(x)) " " (at(y)) "L" (at(tx)) " " (at(ty)) } style={ "stroke-width:" (at(1.5 + 9.0 * share)) } {
                    title { (network.link_name(edge.id())) ": the busier way in use " (percent(share)) " of the time" }
                }
            }
        }
    }
}

/// The figures of the drawing as a table.
fn loads(facts: &Facts<'_>) -> Markup {
    let loads = work(facts);
    html! {
        details.data {
            summary { "Numbers of this drawing" }
            div.scroll tabindex="0" role="region" aria-label="What each core, slice and channel did" {
                table {
                    caption { "What each core, slice and channel did" }
                    thead { tr { th scope="col" { "part" } th scope="col" { "what it did" } } }
                    tbody {
                        @for (name, parts) in [("core", &loads.cores), ("L2 slice", &loads.slices), ("memory channel", &loads.channels)] {
                            @for (i, (_, says)) in parts.iter().enumerate() { tr { th scope="row" { (name) " " (i) } td { (says) } } }
                        }
                    }
                }
            }
        }
    }
}

/// Font size and line spacing in the drawing of a core.
const BLOCK_TEXT: f64 = 13.0;
const BLOCK_LINE: f64 = 15.0;

/// A block in the drawing of a core.
struct Block {
    x: f64,
    width: f64,
    title: &'static str,
    lines: Vec<String>,
}

impl Block {
    fn new(x: f64, width: f64, title: &'static str, lines: &[String]) -> Block {
        let lines = lines.iter().flat_map(|line| wrapped(line, BLOCK_TEXT, width - 20.0)).collect();
        Block { x, width, title, lines }
    }

    fn height(&self) -> f64 {
        26.0 + BLOCK_LINE * self.lines.len() as f64
    }

    fn draw(&self, y: f64) -> Markup {
        let Block { x, width, title, lines } = self;
        html! {
            g.block {
                rect x=(at(*x)) y=(at(y)) width=(at(*width)) height=(at(self.height())) rx="5" {}
                text.title x=(at(x + 10.0)) y=(at(y + 18.0)) { (title) }
                @for (i, line) in lines.iter().enumerate() {
                    @if !line.is_empty() {
                        text x=(at(x + 10.0)) y=(at(y + 34.0 + BLOCK_LINE * i as f64)) { (line) }
                    }
                }
            }
        }
    }
}

fn arrow((x, y): (f64, f64), (to_x, to_y): (f64, f64)) -> Markup {
    html! { path.arrow d={ "M" (at(x)) " " (at(y)) "L" (at(to_x)) " " (at(to_y)) } marker-end="url(#tip)" {} }
}

/// The inside of a core. Each block shows its parameters.
fn core(config: &Config) -> Markup {
    const TOP: f64 = 10.0;
    let [front, back] = blocks(config);
    let tallest = |row: &[Block; 4]| row.iter().map(Block::height).fold(0.0, f64::max);
    let lower = TOP + tallest(&front) + 44.0;
    let bottom = lower + tallest(&back) + 10.0;
    html! {
        svg.core-diagram viewBox={ "0 0 " (WIDTH) " " (at(bottom)) } role="img" aria-labelledby="core-t core-d" {
            title id="core-t" { "Block diagram of a core" }
            desc id="core-d" {
                "Fetch and instruction cache feed the instruction buffers of the waves; schedulers issue to operand \
                 collectors; those send to the execution units or to the load/store unit, which accesses local memory and \
                 the L1; the L1 has the port to the L2. The parameters are in the table of the configuration."
            }
            defs { marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto" {
                path d="M0 0L8 4L0 8z" {}
            } }
            // The first row leads to the right, the second to the left, and arrows lead down from schedulers
            // and operands.
            @for pair in front.windows(2) {
                (arrow((pair[0].x + pair[0].width, TOP + 50.0), (pair[1].x - 2.0, TOP + 50.0)))
            }
            @for pair in back[..3].windows(2) {
                (arrow((pair[1].x, lower + 60.0), (pair[0].x + pair[0].width + 2.0, lower + 60.0)))
            }
            @for (block, x) in [(&front[2], 560.0), (&front[3], 800.0)] {
                (arrow((x, TOP + block.height() + 4.0), (x, lower - 4.0)))
            }
            @for block in &front { (block.draw(TOP)) }
            @for block in &back { (block.draw(lower)) }
        }
    }
}

/// The blocks of a core from left to right: up to the operands, and after them.
fn blocks(config: &Config) -> [[Block; 4]; 2] {
    let c = &config.core;
    let units: Vec<String> = c
        .units
        .iter()
        .map(|unit| {
            let slowest = unit.classes.iter().map(|class| class.latency_cycles).max().unwrap_or(0);
            let fastest = unit.classes.iter().map(|class| class.latency_cycles).min().unwrap_or(0);
            let cycles =
                if fastest == slowest { slowest.to_string() } else { format!("{fastest}–{slowest}") };
            format!("{}: {} lanes a cycle, {cycles} cycles", unit.name, unit.lanes)
        })
        .collect();
    let fetch = [
        format!("{} words a cycle", c.fetch.words),
        format!("instruction cache {}", size(c.fetch.icache_bytes.into())),
        format!("{} ways, {} cycles", c.fetch.icache_ways, c.fetch.icache_latency_cycles),
        "for each scheduler one wave".to_owned(),
    ];
    let waves = [
        format!("{} wave slots of {} lanes", c.max_waves, c.wave_width),
        format!("{} workgroups at most", c.max_workgroups),
        format!("buffers of {} instructions", c.fetch.buffer_entries),
        format!("divergence: {}", c.divergence.name()),
    ];
    let schedulers = [
        format!("{} of them, {}", c.schedulers, c.issue.policy.name()),
        format!("{} a cycle each", counted(c.issue.width.into(), "issue slot")),
        format!("branch latency {} cycles", c.branch_latency_cycles),
    ];
    let operands = [
        format!("{} collectors, {} banks", c.registers.collectors, c.registers.banks),
        format!("{} write ports", c.registers.write_ports),
        format!("register file {} in all", size(c.register_file_bytes.into())),
    ];
    let load_store = [
        format!("queue of {} instructions", c.lsu.queue_entries),
        format!("{} loads outstanding", c.lsu.pending_entries),
        "one line or bank pass a cycle".to_owned(),
        String::new(),
        format!("Local memory {}", size(c.local_memory_bytes.into())),
        format!("{} banks of {} bytes, {} cycles", c.local.banks, c.local.bank_bytes, c.local.latency_cycles),
    ];
    let l1 = [
        format!("{}, {} ways", size(c.l1.bytes.into()), c.l1.ways),
        format!("lines of {} bytes", c.l1.line_bytes),
        format!("sectors of {} bytes", c.l1.sector_bytes),
        format!("{} MSHRs, {} each", c.l1.mshrs, c.l1.mshr_merges),
        format!("{}, {}", c.l1.write_policy.name(), c.l1.replacement.name()),
        format!("hit {} cycles", c.l1.hit_latency_cycles),
    ];
    let l2 = [
        format!("port {} bytes a cycle", config.interconnect.port_bytes_per_cycle),
        format!("link {} cycles", config.interconnect.latency_cycles),
        format!("{} slices of {}", config.l2.slices, size(config.l2.slice_bytes.into())),
        format!("hit {} cycles", config.l2.hit_latency_cycles),
    ];
    let front = [
        Block::new(10.0, 190.0, "Fetch", &fetch),
        Block::new(230.0, 200.0, "Waves", &waves),
        Block::new(460.0, 200.0, "Schedulers", &schedulers),
        Block::new(690.0, 260.0, "Operands, for each scheduler", &operands),
    ];
    let back = [
        Block::new(10.0, 190.0, "To the L2", &l2),
        Block::new(232.0, 170.0, "L1", &l1),
        Block::new(432.0, 240.0, "Load/store unit", &load_store),
        Block::new(690.0, 260.0, "Units, for each scheduler", &units),
    ];
    [front, back]
}
