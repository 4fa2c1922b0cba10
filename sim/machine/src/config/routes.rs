//! Routes through the interconnect, and the check that they cannot deadlock.
//!
//! A packet takes the route with the smallest sum of link latencies. Among equal routes it takes, at each
//! router, the link with the lowest index in the graph. Each pair of source and destination therefore has one
//! route, and packets between them stay in order.
//!
//! Each link has a buffer per virtual channel at its receiving end. A packet that holds space in one buffer
//! while it waits for space in another makes the first buffer depend on the second. If the graph of these
//! dependencies has no cycle, no deadlock is possible (Dally and Seitz, "Deadlock-Free Message Routing in
//! Multiprocessor Interconnection Networks", IEEE Transactions on Computers C-36, 1987).

use super::check::Problem;
use super::model::{Config, Topology};
use super::network::Network;
use petgraph::algo::{astar, dijkstra, tarjan_scc};
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::{EdgeRef, Reversed};
use std::collections::BTreeMap;

/// The buffer of one virtual channel at the end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Channel {
    /// The link.
    pub link: EdgeIndex,
    /// Virtual channel number: datelines on the packet's route up to and including this link.
    pub number: u32,
}

/// The routes from all sources to all destinations: cores to slices, or slices to cores.
#[derive(Debug, Clone)]
pub struct Routes {
    /// `next[destination][router]`: link to take. `None` at the destination and where there is no route.
    next: Vec<Vec<Option<EdgeIndex>>>,
    /// Dependencies between all channels that some route uses.
    dependencies: DiGraph<Channel, ()>,
    /// The first pair of source and destination without a route.
    missing: Option<(NodeIndex, NodeIndex)>,
}

impl Routes {
    /// The routes from each of `sources` to each of `destinations`.
    pub fn new(network: &Network, sources: &[NodeIndex], destinations: &[NodeIndex]) -> Routes {
        let next: Vec<_> = destinations.iter().map(|&to| next_links(network, to)).collect();
        let mut routes = Routes { next, dependencies: DiGraph::new(), missing: None };
        let mut nodes = BTreeMap::new();
        for (d, &to) in destinations.iter().enumerate() {
            // Channels whose remaining route to this destination has been added already.
            let mut known = std::collections::BTreeSet::new();
            for &from in sources {
                let mut before: Option<NodeIndex> = None;
                let mut ended = from == to;
                for channel in routes.walk(network, d, from) {
                    let node = *nodes.entry(channel).or_insert_with(|| routes.dependencies.add_node(channel));
                    if let Some(before) = before {
                        routes.dependencies.update_edge(before, node, ());
                    }
                    before = Some(node);
                    ended = !known.insert(node)
                        || network.graph.edge_endpoints(channel.link).is_some_and(|e| e.1 == to);
                    if ended {
                        break;
                    }
                }
                if !ended && routes.missing.is_none() {
                    routes.missing = Some((from, to));
                }
            }
        }
        routes
    }

    /// The routes of requests: from cores to slices.
    pub fn of_requests(network: &Network) -> Routes {
        Routes::new(network, network.cores(), network.slices())
    }

    /// The routes of replies: from slices to cores.
    pub fn of_replies(network: &Network) -> Routes {
        Routes::new(network, network.slices(), network.cores())
    }

    /// The link that a packet to destination number `destination` takes at `router`.
    pub fn next(&self, destination: usize, router: NodeIndex) -> Option<EdgeIndex> {
        self.next[destination][router.index()]
    }

    /// All channels that some route uses.
    pub fn channels(&self) -> impl Iterator<Item = Channel> {
        self.dependencies.node_weights().copied()
    }

    /// The channels on the route from a router to destination number `destination`, as far as a route exists.
    pub fn walk<'a>(
        &self,
        network: &'a Network,
        destination: usize,
        from: NodeIndex,
    ) -> impl Iterator<Item = Channel> + use<'a> {
        // A copy of the links, so that the iterator does not borrow `self` and `new` can add dependencies
        // meanwhile.
        let next = self.next[destination].clone();
        let (mut router, mut number) = (from, 0);
        std::iter::from_fn(move || {
            let link = next[router.index()]?;
            number += u32::from(network.graph[link].dateline);
            router = network.graph.edge_endpoints(link)?.1;
            Some(Channel { link, number })
        })
    }

    /// A dependency cycle, if there is one: each channel depends on the next, and the last on the first.
    fn cycle(&self) -> Option<Vec<Channel>> {
        let components = tarjan_scc(&self.dependencies);
        // A channel never depends on itself, because a route takes no link twice.
        let component = components.into_iter().filter(|nodes| nodes.len() > 1).min_by_key(Vec::len)?;
        let start = component.into_iter().min()?;
        let ways_back = self.dependencies.neighbors(start).filter_map(|after| {
            astar(&self.dependencies, after, |node| node == start, |_| 1, |_| 0).map(|(_, path)| path)
        });
        let path = ways_back.min_by_key(|path| (path.len(), path.clone()))?;
        Some(path.into_iter().map(|node| self.dependencies[node]).collect())
    }
}

/// For each router, the first link of its route to `to`.
fn next_links(network: &Network, to: NodeIndex) -> Vec<Option<EdgeIndex>> {
    let graph = &network.graph;
    let latency = |wire: &super::network::Wire| u64::from(wire.latency_cycles);
    let distance = dijkstra(Reversed(graph), to, None, |link| latency(link.weight()));
    let link_from = |node: NodeIndex| {
        let mine = *distance.get(&node)?;
        let on_the_way = graph.edges(node).filter(|link| {
            distance.get(&link.target()).is_some_and(|rest| rest + latency(link.weight()) == mine)
        });
        on_the_way.map(|link| link.id()).min()
    };
    graph.node_indices().map(link_from).collect()
}

/// Errors in the graph of a configuration: pairs without a route, and dependency cycles.
pub(super) fn problems(config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    if config.interconnect.topology == Topology::Crossbar {
        return problems;
    }
    let network = Network::new(config);
    for (what, routes) in
        [("requests", Routes::of_requests(&network)), ("replies", Routes::of_replies(&network))]
    {
        if let Some((from, to)) = routes.missing {
            let message = format!(
                "`interconnect.topology` is edges, but `interconnect.edges` have no way for {what} from `{}` to `{}`",
                network.graph[from], network.graph[to]
            );
            problems.push(Problem {
                paths: vec!["interconnect.edges".into(), "interconnect.topology".into()],
                ..Problem::error("", message)
            });
        } else if let Some(cycle) = routes.cycle() {
            problems.push(deadlock(&network, what, &cycle));
        }
    }
    problems
}

fn deadlock(network: &Network, what: &str, cycle: &[Channel]) -> Problem {
    let links: Vec<String> = cycle.iter().map(|channel| network.link_name(channel.link)).collect();
    let mut paths: Vec<String> = cycle
        .iter()
        .map(|channel| format!("interconnect.edges[{}]", network.graph[channel.link].edge))
        .collect();
    let first = paths[0].clone();
    paths.dedup();
    let message = format!(
        "`{first}` is part of a cycle of links in which {what} can wait for one another for ever: {}",
        links.join(", ")
    );
    Problem { paths, ..Problem::error("", message) }
        .hint("with `dateline: true` packets change to another virtual channel in one of them")
}
