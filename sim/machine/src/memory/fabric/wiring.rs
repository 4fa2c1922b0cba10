//! Builds routers, links and buffers from the graph of a configuration.

use super::super::agenda::{Agenda, BitSet};
use super::{Buffer, Fabric, Input, Link, LinkCounters, Output};
use crate::clock::Cycle;
use crate::config::network::{Network, Wire};
use crate::config::routes::Routes;
use crate::config::{Config, Interconnect};
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;
use std::collections::VecDeque;

impl<P> Fabric<P> {
    /// The request network of a checked configuration.
    pub(in crate::memory) fn of_requests(config: &Config) -> Fabric<P> {
        let network = Network::new(config);
        let routes = Routes::of_requests(&network);
        Fabric::new(&config.interconnect, &network, &routes, network.cores(), network.slices())
    }

    /// The reply network of a checked configuration.
    pub(in crate::memory) fn of_replies(config: &Config) -> Fabric<P> {
        let network = Network::new(config);
        let routes = Routes::of_replies(&network);
        Fabric::new(&config.interconnect, &network, &routes, network.slices(), network.cores())
    }

    fn new(
        interconnect: &Interconnect,
        network: &Network,
        routes: &Routes,
        sources: &[NodeIndex],
        destinations: &[NodeIndex],
    ) -> Fabric<P> {
        let graph = &network.graph;
        let port = interconnect.port_bytes_per_cycle;
        let input = |router: NodeIndex, width_bytes, buffer| Input {
            router: router.index() as u32,
            local: 0,
            width_bytes,
            free_at: 0,
            asks: None,
            buffer,
        };
        let mut inputs: Vec<Input> = sources.iter().map(|&router| input(router, port, None)).collect();
        let output = |router: NodeIndex, width_bytes, link| Output {
            waiting: BitSet::new(0),
            turn: 0,
            free_at: 0,
            width_bytes,
            router: router.index() as u32,
            link,
        };
        let mut outputs: Vec<Output> =
            destinations.iter().map(|&router| output(router, port, None)).collect();
        for edge in graph.edge_references() {
            let &Wire { latency_cycles, bytes_per_cycle, dateline, .. } = edge.weight();
            let latency = Cycle::from(latency_cycles);
            let link = Link { latency, dateline, buffers: Vec::new(), counters: LinkCounters::default() };
            outputs.push(output(edge.source(), bytes_per_cycle, Some(link)));
        }
        let first_link = destinations.len();
        for channel in routes.channels() {
            let Some((_, to)) = graph.edge_endpoints(channel.link) else { continue };
            let number = first_link + channel.link.index();
            let Some(link) = &mut outputs[number].link else { continue };
            let place = channel.number as usize;
            link.buffers.resize(link.buffers.len().max(place + 1), None);
            link.buffers[place] = Some(inputs.len());
            let credits = interconnect.link_credits;
            let width = graph[channel.link].bytes_per_cycle;
            inputs.push(input(
                to,
                width,
                Some(Buffer {
                    packets: VecDeque::with_capacity(credits as usize),
                    credits,
                    returning: VecDeque::with_capacity(credits as usize),
                    link: number,
                    latency: link.latency,
                }),
            ));
        }
        let mut inputs_of = vec![Vec::new(); graph.node_count()];
        for (i, input) in inputs.iter_mut().enumerate() {
            let here = &mut inputs_of[input.router as usize];
            input.local = here.len();
            here.push(i);
        }
        for output in &mut outputs {
            output.waiting = BitSet::new(inputs_of[output.router as usize].len());
        }
        let way = |destination: usize, router: NodeIndex| {
            let here = router == destinations[destination];
            let link = routes.next(destination, router);
            if here { Some(destination) } else { link.map(|link| first_link + link.index()) }
        };
        let ways = (0..destinations.len())
            .map(|destination| graph.node_indices().map(|router| way(destination, router)).collect())
            .collect();
        let (agenda, [asking, taking]) = Agenda::new([inputs.len(), outputs.len()]);
        Fabric {
            arbitration: interconnect.arbitration,
            port_bytes: port,
            agenda,
            asking,
            taking,
            full: BitSet::new(destinations.len()),
            inputs,
            inputs_of,
            outputs,
            ways,
            packets: Vec::new(),
            free_packets: Vec::new(),
        }
    }
}
