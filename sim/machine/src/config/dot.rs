//! Graphviz drawing of the blocks of a machine and what joins them.

use super::model::{Config, L1Path, Prefetch, Topology};
use super::network::{Network, Station, Wire};
use petgraph::visit::EdgeRef;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A Graphviz `digraph` of the dispatcher, the cores with their L1s, the routers, the L2 slices, the banks of the L3, the
/// memory channels and the links between them, for `dot -Tsvg` and similar tools. Two equal links in opposite directions
/// are drawn as one line.
pub fn dot(config: &Config) -> String {
    let network = Network::new(config);
    let graph = &network.graph;
    let interconnect = &config.interconnect;
    let mut text = String::new();
    let topology = interconnect.topology.name();
    let banks = config.l3.banks(&config.dram);
    let with_banks = if banks > 0 { format!("{banks} L3 banks, ") } else { String::new() };
    let title = format!(
        "{}: {} cores, {} L2 slices, {with_banks}{} memory channels; {topology}",
        config.name, config.cores, config.l2.slices, config.dram.channels
    );
    let _ = writeln!(text, "digraph machine {{\n    label = {};", quoted(&title));
    text.push_str(
        "    node [fontname = \"sans-serif\"];\n    edge [fontname = \"sans-serif\", fontsize = 10];\n",
    );
    for station in graph.node_weights() {
        let shape = match station {
            Station::Core(_) => "box",
            Station::Slice(_) => "box3d",
            Station::Router(_) => "ellipse",
        };
        let inside = inside(config, station).map_or_else(String::new, |inside| {
            format!(", label = {}", quoted(&format!("{station}\n{inside}")))
        });
        let _ = writeln!(text, "    {} [shape = {shape}{inside}];", quoted(&station.to_string()));
    }
    let dispatcher = &config.dispatcher;
    let policy = quoted(&format!("dispatcher\n{}", dispatcher.policy.name()));
    let _ = writeln!(text, "    \"dispatcher\" [shape = hexagon, label = {policy}];");
    for core in 0..config.cores {
        let label = quoted(&format!("{} cycles", dispatcher.latency_cycles));
        let ends = format!("\"dispatcher\" -> \"core{core}\"");
        let _ = writeln!(text, "    {ends} [label = {label}, dir = both, style = dotted];");
    }
    let mut drawn = BTreeSet::new();
    for link in graph.edge_references() {
        if !drawn.insert(link.id()) {
            continue;
        }
        let ways_back = graph.edges_connecting(link.target(), link.source());
        let alike = ways_back.filter(|way| same(way.weight(), link.weight()) && !drawn.contains(&way.id()));
        let both = alike.map(|way| way.id()).min();
        drawn.extend(both);
        let Wire { latency_cycles, bytes_per_cycle, dateline, .. } = link.weight();
        let mut label = format!("{latency_cycles} cycles, {bytes_per_cycle} B/cycle");
        if *dateline {
            label += ", dateline";
        }
        let [from, to] = [link.source(), link.target()].map(|node| quoted(&graph[node].to_string()));
        let direction = if both.is_some() { ", dir = both" } else { "" };
        let style = if *dateline { ", style = dashed" } else { "" };
        let _ = writeln!(text, "    {from} -> {to} [label = {}{direction}{style}];", quoted(&label));
    }
    for channel in 0..config.dram.channels {
        let _ = writeln!(text, "    \"channel{channel}\" [shape = cylinder];");
    }
    for bank in 0..banks {
        let label = quoted(&format!("bank{bank}\nL3, {} bytes", config.l3.bank_bytes));
        let _ = writeln!(text, "    \"bank{bank}\" [shape = box3d, label = {label}];");
        let _ = writeln!(text, "    \"bank{bank}\" -> \"channel{bank}\" [dir = both, style = dotted];");
    }
    let behind = if banks > 0 { "bank" } else { "channel" };
    for slice in 0..config.l2.slices {
        let channel = slice % config.dram.channels.max(1);
        let _ = writeln!(text, "    \"slice{slice}\" -> \"{behind}{channel}\" [dir = both, style = dotted];");
    }
    if interconnect.topology != Topology::Crossbar {
        let ports = format!(
            "each core and slice is joined to its router by a port of {} B/cycle; the cores' take {} cycles",
            interconnect.port_bytes_per_cycle, interconnect.latency_cycles
        );
        let _ = writeln!(text, "    \"ports\" [shape = note, label = {}];", quoted(&ports));
    }
    text.push_str("}\n");
    text
}

/// What a core or a slice contains on the way to memory.
fn inside(config: &Config, station: &Station) -> Option<String> {
    match station {
        Station::Core(_) => {
            let l1 = &config.core.l1;
            let mut text = format!("L1, {} bytes", l1.bytes);
            for (name, none) in
                [(l1.prefetcher.name(), Prefetch::None.name()), (l1.path.name(), L1Path::None.name())]
            {
                if name != none {
                    let _ = write!(text, "\n{name}");
                }
            }
            Some(text)
        }
        Station::Slice(_) => Some(format!("L2, {} bytes", config.l2.slice_bytes)),
        Station::Router(_) => None,
    }
}

/// True if the two directions have equal properties, so that one line can stand for both.
fn same(a: &Wire, b: &Wire) -> bool {
    (a.latency_cycles, a.bytes_per_cycle, a.dateline) == (b.latency_cycles, b.bytes_per_cycle, b.dateline)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
