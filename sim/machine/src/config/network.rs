//! The interconnect as a graph: routers with the cores and L2 slices attached to them, and links.
//!
//! Requests and replies travel in two separate networks, each with the shape of this graph.
//! [`routes`](super::routes) computes the routes.

use super::check::Problem;
use super::model::{Config, Edge, Topology};
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use std::collections::BTreeMap;
use std::fmt;

/// A router, named by what is attached to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Station {
    /// The router of a core's port.
    Core(u32),
    /// The router of an L2 slice.
    Slice(u32),
    /// A router without a core or slice.
    Router(String),
}

impl fmt::Display for Station {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Station::Core(i) => write!(f, "core{i}"),
            Station::Slice(i) => write!(f, "slice{i}"),
            Station::Router(name) => f.write_str(name),
        }
    }
}

impl Station {
    /// The station that a name in `interconnect.edges` denotes.
    fn named(name: &str) -> Station {
        let number = |prefix: &str| {
            let digits = name.strip_prefix(prefix)?;
            digits.chars().all(|c| c.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
        };
        match (number("core"), number("slice")) {
            (Some(i), _) => Station::Core(i),
            (_, Some(i)) => Station::Slice(i),
            _ => Station::Router(name.to_owned()),
        }
    }
}

/// A directed link between two routers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wire {
    /// Latency of a hop in cycles: router and wire.
    pub latency_cycles: u32,
    /// Bandwidth in bytes per cycle.
    pub bytes_per_cycle: u32,
    /// Packets that take this link move to the next virtual channel.
    pub dateline: bool,
    /// Index in `interconnect.edges`. Not used for other topologies.
    pub edge: usize,
}

/// The routers of a machine and the links between them.
#[derive(Debug, Clone)]
pub struct Network {
    /// Among routes of equal latency, the link with the lower index is preferred.
    pub graph: DiGraph<Station, Wire>,
    cores: Vec<NodeIndex>,
    slices: Vec<NodeIndex>,
}

impl Network {
    /// The network of a checked configuration. A crossbar becomes a star around one router.
    pub fn new(config: &Config) -> Network {
        let mut network = Network { graph: DiGraph::new(), cores: Vec::new(), slices: Vec::new() };
        match config.interconnect.topology {
            Topology::Crossbar => network.star(config),
            Topology::Ring => network.ring(config),
            Topology::Mesh => network.mesh(config),
            Topology::Edges => network.edges(config),
        }
        network
    }

    /// Routers of the cores, by core number.
    pub fn cores(&self) -> &[NodeIndex] {
        &self.cores
    }

    /// Routers of the slices, by slice number.
    pub fn slices(&self) -> &[NodeIndex] {
        &self.slices
    }

    /// Name of a link for messages, such as "core0 → slice1".
    pub fn link_name(&self, link: EdgeIndex) -> String {
        match self.graph.edge_endpoints(link) {
            Some((from, to)) => format!("{} → {}", self.graph[from], self.graph[to]),
            None => String::new(),
        }
    }

    fn add(&mut self, station: Station) -> NodeIndex {
        let attached = match station {
            Station::Core(_) => Some(&mut self.cores),
            Station::Slice(_) => Some(&mut self.slices),
            Station::Router(_) => None,
        };
        let node = self.graph.add_node(station);
        if let Some(attached) = attached {
            attached.push(node);
        }
        node
    }

    fn star(&mut self, config: &Config) {
        let ports = &config.interconnect;
        let wire = Wire {
            latency_cycles: ports.latency_cycles,
            bytes_per_cycle: ports.port_bytes_per_cycle,
            dateline: false,
            edge: 0,
        };
        let hub = self.add(Station::Router("crossbar".into()));
        for station in evenly_spread(config) {
            let node = self.add(station);
            self.graph.add_edge(node, hub, wire);
            self.graph.add_edge(hub, node, wire);
        }
    }

    /// Adds the clockwise links first, so that packets to the opposite side go clockwise. The links between
    /// the last router and the first, in both directions, are datelines.
    fn ring(&mut self, config: &Config) {
        let nodes: Vec<_> = evenly_spread(config).map(|station| self.add(station)).collect();
        let wire = |dateline| Wire { dateline, ..hop(config) };
        for (i, &node) in nodes.iter().enumerate() {
            let last = i + 1 == nodes.len();
            self.graph.add_edge(node, nodes[(i + 1) % nodes.len()], wire(last));
        }
        for (i, &node) in nodes.iter().enumerate() {
            let before = (i + nodes.len() - 1) % nodes.len();
            self.graph.add_edge(node, nodes[before], wire(i == 0));
        }
    }

    /// Adds the links along rows first. Routes are then in dimension order, first along the row, then along
    /// the column, which cannot deadlock. Unused places of the last row get a router too, because routes may
    /// pass through them.
    fn mesh(&mut self, config: &Config) {
        let columns = config.interconnect.mesh_columns.max(1) as usize;
        let mut stations: Vec<_> = evenly_spread(config).collect();
        let count = stations.len().next_multiple_of(columns);
        stations.extend((stations.len()..count).map(|i| Station::Router(format!("router{i}"))));
        let nodes: Vec<_> = stations.into_iter().map(|station| self.add(station)).collect();
        for (step, within_row) in [(1, true), (columns, false)] {
            for i in 0..count.saturating_sub(step) {
                if !within_row || (i + 1) % columns != 0 {
                    self.graph.add_edge(nodes[i], nodes[i + step], hop(config));
                    self.graph.add_edge(nodes[i + step], nodes[i], hop(config));
                }
            }
        }
    }

    /// Cores and slices that no edge names still get a router, without links.
    fn edges(&mut self, config: &Config) {
        let ends = (0..config.cores).map(Station::Core).chain((0..config.l2.slices).map(Station::Slice));
        let mut nodes: BTreeMap<Station, NodeIndex> =
            ends.map(|station| (station.clone(), self.add(station))).collect();
        for (i, edge) in config.interconnect.edges.iter().enumerate() {
            let [from, to] = [&edge.from, &edge.to].map(|name| {
                let station = Station::named(name);
                *nodes.entry(station.clone()).or_insert_with(|| self.graph.add_node(station))
            });
            let wire = Wire {
                latency_cycles: edge.latency_cycles,
                bytes_per_cycle: edge.bytes_per_cycle,
                dateline: edge.dateline,
                edge: i,
            };
            self.graph.add_edge(from, to, wire);
            if edge.both_ways {
                self.graph.add_edge(to, from, wire);
            }
        }
    }
}

/// A link of a ring or mesh, with the latency and bandwidth of the configuration.
fn hop(config: &Config) -> Wire {
    Wire {
        latency_cycles: config.interconnect.link_latency_cycles,
        bytes_per_cycle: config.interconnect.link_bytes_per_cycle,
        dateline: false,
        edge: 0,
    }
}

/// Cores and slices spread evenly over one row of n places. Place p holds a slice if floor((p + 1) slices /
/// n) > floor(p slices / n), otherwise a core. Cores and slices are each in order of their number.
fn evenly_spread(config: &Config) -> impl Iterator<Item = Station> {
    let slices = u64::from(config.l2.slices);
    let count = u64::from(config.cores) + slices;
    (0..count).map(move |place| {
        let before = place * slices / count;
        if (place + 1) * slices / count > before {
            Station::Slice(before as u32)
        } else {
            Station::Core((place - before) as u32)
        }
    })
}

/// Errors in the names of `interconnect.edges`.
pub(super) fn wrong_names(config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (i, edge) in config.interconnect.edges.iter().enumerate() {
        problems.extend(wrong_ends(config, i, edge));
    }
    problems
}

fn wrong_ends(config: &Config, i: usize, edge: &Edge) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (key, name) in [("from", &edge.from), ("to", &edge.to)] {
        let path = format!("interconnect.edges[{i}].{key}");
        let (limit, count) = match Station::named(name) {
            Station::Core(number) if number >= config.cores => ("cores", config.cores),
            Station::Slice(number) if number >= config.l2.slices => ("l2.slices", config.l2.slices),
            Station::Router(name) if name.is_empty() => {
                problems.push(Problem::error(&path, format!("`{path}` is empty")).hint(
                    "an end is a core, as in \"core0\", a slice, as in \"slice0\", or a router of any other name",
                ));
                continue;
            }
            _ => continue,
        };
        let message = format!("`{path}` is {name:?} and `{limit}` is {count}, but they are counted from 0");
        problems.push(Problem { paths: vec![path, limit.to_owned()], ..Problem::error("", message) });
    }
    if problems.is_empty() && edge.from == edge.to {
        let [from, to] = ["from", "to"].map(|key| format!("interconnect.edges[{i}].{key}"));
        let message = format!("`{from}` and `{to}` are both {:?}, but a link joins two routers", edge.from);
        problems.push(Problem { paths: vec![from, to], ..Problem::error("", message) });
    }
    problems
}
