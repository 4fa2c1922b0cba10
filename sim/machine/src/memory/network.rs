//! The request network and the reply network between core ports and slices, of any topology.

use super::agenda::Agenda;
use super::bounds::Bounds;
use super::crossbar::{InterconnectCounters, ReplyCrossbar, RequestCrossbar};
use super::fabric::{Fabric, LinkCounters, ReplyEnds, RequestEnds};
use super::geometry::{LineGeometry, SliceHash};
use super::l2::Slice;
use super::message::{Reply, Request};
use super::port::CorePorts;
use crate::clock::Cycle;
use crate::config::{Config, Topology};
use std::ops::Range;
use wave_capture::{Capture, Misfit};

/// The blocks around the networks, and the counters.
pub(super) struct Surroundings<'a> {
    pub(super) ports: &'a mut CorePorts,
    pub(super) slices: &'a mut [Slice],
    pub(super) agenda: &'a mut Agenda,
    pub(super) counters: &'a mut InterconnectCounters,
}

/// The network from core ports to slices.
#[derive(Debug, Clone, Capture)]
pub(super) enum RequestNetwork {
    /// Every port to every slice.
    Crossbar(RequestCrossbar),
    /// Routers and links.
    Routed {
        fabric: Fabric<Request>,
        #[spec]
        geometry: LineGeometry,
        #[spec]
        hash: SliceHash,
        #[spec]
        port_bytes: u32,
        /// Its block in the agenda: what happens inside has an agenda of its own.
        #[spec]
        block: usize,
    },
}

impl RequestNetwork {
    /// The request network of a machine. A crossbar has the blocks `ports` and `slices` in the agenda, any other network
    /// the first of them.
    pub(super) fn new(config: &Config, ports: Range<usize>, slices: Range<usize>) -> RequestNetwork {
        match config.interconnect.topology {
            Topology::Crossbar => RequestNetwork::Crossbar(RequestCrossbar::new(config, ports, slices)),
            Topology::Ring | Topology::Mesh | Topology::Edges => RequestNetwork::Routed {
                fabric: Fabric::of_requests(config),
                geometry: LineGeometry::new(config),
                hash: SliceHash::new(config),
                port_bytes: config.interconnect.port_bytes_per_cycle,
                block: ports.start,
            },
        }
    }

    /// Packets were exchanged with a core; the oldest arrives in cycle `arrival`.
    #[inline]
    pub(super) fn expect(&mut self, core: usize, arrival: Cycle, agenda: &mut Agenda) {
        match self {
            RequestNetwork::Crossbar(crossbar) => crossbar.expect(core, arrival, agenda),
            RequestNetwork::Routed { fabric, block, .. } => {
                fabric.expect(core, arrival);
                agenda.at(*block, arrival);
            }
        }
    }

    /// The requests between ports and slices.
    pub(super) fn packets(&self) -> Vec<&Request> {
        match self {
            RequestNetwork::Crossbar(_) => Vec::new(),
            RequestNetwork::Routed { fabric, .. } => fabric.packets().collect(),
        }
    }

    /// Refuses what a network cannot hold.
    pub(super) fn check(&self, bounds: &Bounds) -> Result<(), Misfit> {
        match self {
            RequestNetwork::Crossbar(_) => Ok(()),
            RequestNetwork::Routed { fabric, .. } => fabric.check(bounds),
        }
    }

    /// A slice has taken a request out of its queue.
    #[inline]
    pub(super) fn slice_has_room(&mut self, slice: usize, agenda: &mut Agenda) {
        match self {
            RequestNetwork::Crossbar(crossbar) => crossbar.slice_has_room(slice, agenda),
            RequestNetwork::Routed { fabric, block, .. } => {
                fabric.has_room(slice);
                agenda.soon(*block);
            }
        }
    }

    /// Simulates a cycle: what is due, or with `everything` all.
    #[inline]
    pub(super) fn tick(&mut self, now: Cycle, everything: bool, around: Surroundings) {
        let Surroundings { ports, slices, agenda, counters } = around;
        match self {
            RequestNetwork::Crossbar(crossbar) => crossbar.tick(now, ports, slices, agenda, counters),
            RequestNetwork::Routed { fabric, geometry, hash, port_bytes, block } => {
                if agenda.take_due(&(*block..*block + 1)).is_some() {
                    let (geometry, hash, port_bytes) = (*geometry, *hash, *port_bytes);
                    let mut ends =
                        RequestEnds { geometry, hash, port_bytes, ports, slices, agenda, counters };
                    fabric.tick(now, everything, &mut ends);
                    agenda.at(*block, fabric.next());
                }
            }
        }
    }

    /// True if no packet is between a port and a slice.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            RequestNetwork::Crossbar(_) => true,
            RequestNetwork::Routed { fabric, .. } => fabric.is_empty(),
        }
    }

    /// Appends the signals at the end of a cycle: ports of destinations, then links.
    pub(super) fn look(&self, cycle: Cycle, values: &mut Vec<u64>) {
        match self {
            RequestNetwork::Crossbar(crossbar) => crossbar.look(cycle, values),
            RequestNetwork::Routed { fabric, .. } => fabric.look(cycle, values),
        }
    }

    /// Counters of each link, in the order of the graph; empty for a crossbar.
    pub(super) fn links(&self) -> Vec<LinkCounters> {
        match self {
            RequestNetwork::Crossbar(_) => Vec::new(),
            RequestNetwork::Routed { fabric, .. } => fabric.links().copied().collect(),
        }
    }
}

/// The network from slices to core ports.
#[derive(Debug, Clone, Capture)]
pub(super) enum ReplyNetwork {
    /// Every slice to every port.
    Crossbar(ReplyCrossbar),
    /// Routers and links.
    Routed {
        fabric: Fabric<Reply>,
        #[spec]
        sector_bytes: u32,
        /// As in [`RequestNetwork::Routed`].
        #[spec]
        block: usize,
    },
}

impl ReplyNetwork {
    /// The reply network of a machine. A crossbar has the blocks `slices` in the agenda, any other network the first of
    /// them.
    pub(super) fn new(config: &Config, slices: Range<usize>) -> ReplyNetwork {
        match config.interconnect.topology {
            Topology::Crossbar => ReplyNetwork::Crossbar(ReplyCrossbar::new(config, slices)),
            Topology::Ring | Topology::Mesh | Topology::Edges => ReplyNetwork::Routed {
                fabric: Fabric::of_replies(config),
                sector_bytes: config.core.l1.sector_bytes,
                block: slices.start,
            },
        }
    }

    /// A slice's oldest reply can go from cycle `ready` on.
    #[inline]
    pub(super) fn expect(&mut self, slice: usize, ready: Cycle, agenda: &mut Agenda) {
        match self {
            ReplyNetwork::Crossbar(crossbar) => crossbar.expect(slice, ready, agenda),
            ReplyNetwork::Routed { fabric, block, .. } => {
                fabric.expect(slice, ready);
                agenda.at(*block, ready);
            }
        }
    }

    /// The replies between slices and ports.
    pub(super) fn packets(&self) -> Vec<&Reply> {
        match self {
            ReplyNetwork::Crossbar(_) => Vec::new(),
            ReplyNetwork::Routed { fabric, .. } => fabric.packets().collect(),
        }
    }

    /// Refuses what a network cannot hold.
    pub(super) fn check(&self, bounds: &Bounds) -> Result<(), Misfit> {
        match self {
            ReplyNetwork::Crossbar(_) => Ok(()),
            ReplyNetwork::Routed { fabric, .. } => fabric.check(bounds),
        }
    }

    /// Credits of a core's reply link are on the way back.
    #[inline]
    pub(super) fn credits_return(&mut self, agenda: &mut Agenda) {
        match self {
            ReplyNetwork::Crossbar(crossbar) => crossbar.credits_return(agenda),
            ReplyNetwork::Routed { fabric, block, .. } => {
                if fabric.may_have_room() {
                    agenda.soon(*block);
                }
            }
        }
    }

    /// Simulates a cycle: what is due, or with `everything` all.
    #[inline]
    pub(super) fn tick(&mut self, now: Cycle, everything: bool, around: Surroundings) {
        let Surroundings { ports, slices, agenda, counters } = around;
        match self {
            ReplyNetwork::Crossbar(crossbar) => crossbar.tick(now, ports, slices, agenda, counters),
            ReplyNetwork::Routed { fabric, sector_bytes, block } => {
                if agenda.take_due(&(*block..*block + 1)).is_some() {
                    let sector_bytes = *sector_bytes;
                    let mut ends = ReplyEnds { sector_bytes, ports, slices, agenda, counters };
                    fabric.tick(now, everything, &mut ends);
                    agenda.at(*block, fabric.next());
                }
            }
        }
    }

    /// True if no packet is between a slice and a port.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            ReplyNetwork::Crossbar(_) => true,
            ReplyNetwork::Routed { fabric, .. } => fabric.is_empty(),
        }
    }

    /// Appends the signals at the end of a cycle: ports of destinations, then links.
    pub(super) fn look(&self, cycle: Cycle, values: &mut Vec<u64>) {
        match self {
            ReplyNetwork::Crossbar(crossbar) => crossbar.look(cycle, values),
            ReplyNetwork::Routed { fabric, .. } => fabric.look(cycle, values),
        }
    }

    /// Counters of each link, in the order of the graph; empty for a crossbar.
    pub(super) fn links(&self) -> Vec<LinkCounters> {
        match self {
            ReplyNetwork::Crossbar(_) => Vec::new(),
            ReplyNetwork::Routed { fabric, .. } => fabric.links().copied().collect(),
        }
    }
}
