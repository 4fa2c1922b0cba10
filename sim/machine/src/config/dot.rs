//! Graphviz drawing of the interconnect.

use super::model::{Config, Topology};
use super::network::{Network, Station, Wire};
use petgraph::visit::EdgeRef;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A Graphviz `digraph` of the routers, the links between them and the memory channels behind the L2 slices,
/// for `dot -Tsvg` and similar tools. Two equal links in opposite directions are drawn as one line.
pub fn dot(config: &Config) -> String {
    let network = Network::new(config);
    let graph = &network.graph;
    let interconnect = &config.interconnect;
    let mut text = String::new();
    let topology = interconnect.topology.name();
    let title = format!(
        "{}: {} cores, {} L2 slices, {} memory channels; {topology}",
        config.name, config.cores, config.l2.slices, config.dram.channels
    );
    let _ = writeln!(text, "digraph interconnect {{\n    label = {};", quoted(&title));
    text.push_str(
        "    node [fontname = \"sans-serif\"];\n    edge [fontname = \"sans-serif\", fontsize = 10];\n",
    );
    for station in graph.node_weights() {
        let shape = match station {
            Station::Core(_) => "box",
            Station::Slice(_) => "box3d",
            Station::Router(_) => "ellipse",
        };
        let _ = writeln!(text, "    {} [shape = {shape}];", quoted(&station.to_string()));
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
    for slice in 0..config.l2.slices {
        let channel = slice % config.dram.channels.max(1);
        let _ = writeln!(text, "    \"slice{slice}\" -> \"channel{channel}\" [dir = both, style = dotted];");
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

/// True if the two directions have equal properties, so that one line can stand for both.
fn same(a: &Wire, b: &Wire) -> bool {
    (a.latency_cycles, a.bytes_per_cycle, a.dateline) == (b.latency_cycles, b.bytes_per_cycle, b.dateline)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
