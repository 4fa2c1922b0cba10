//! A core's port to the memory side: one link for requests and one for replies.

use super::agenda::BitSet;
use super::geometry::{LineGeometry, PacketCycles};
use super::message::{Reply, Request};
use super::state::{COUNT, Field};
use crate::clock::{Cycle, LinkRx, LinkTx, link, may_plan};
use crate::config::Config;
use std::ops::Index;
use wave_capture::{Capture, Misfit};

/// The core's end of its port, which its L1 and its instruction cache share.
#[derive(Debug, Clone, Capture)]
pub struct MemoryPort {
    #[spec]
    core: u16,
    pub(super) requests: LinkTx<Request>,
    pub(super) replies: LinkRx<Reply>,
    #[spec]
    cycles: PacketCycles,
    free_at: Cycle,
}

/// The memory side's end of a core's port.
#[derive(Debug, Clone, Capture)]
pub(crate) struct CorePort {
    pub(super) requests: LinkRx<Request>,
    pub(super) replies: LinkTx<Reply>,
}

/// Makes the two ends of a core's port.
///
/// Each link holds `queue_entries` packets at the receiver, and in addition the packets that a sender of one
/// a cycle sends before its first credit returns: 2 × latency (M7).
pub(crate) fn core_port(core: u16, config: &Config) -> (MemoryPort, CorePort) {
    let interconnect = &config.interconnect;
    let capacity = (interconnect.queue_entries + 2 * interconnect.latency_cycles) as usize;
    let (request_tx, request_rx) = link(capacity, Cycle::from(interconnect.latency_cycles));
    let (reply_tx, reply_rx) = link(capacity, Cycle::from(interconnect.latency_cycles));
    let memory_port = MemoryPort {
        core,
        requests: request_tx,
        replies: reply_rx,
        cycles: LineGeometry::new(config).packet_cycles(interconnect.port_bytes_per_cycle),
        free_at: 0,
    };
    (memory_port, CorePort { requests: request_rx, replies: reply_tx })
}

impl MemoryPort {
    /// Signals: whether the port is sending a packet, and the replies that are on their way or wait to be
    /// taken.
    pub(super) const FIELDS: [Field<MemoryPort>; 2] = [
        Field("sending", 1, |port, cycle| u64::from(port.free_at > cycle)),
        Field("replies", COUNT, |port, _| port.replies.len() as u64),
    ];

    /// The core that holds this end.
    pub fn core(&self) -> u16 {
        self.core
    }

    /// True if a request can be sent in this cycle: the previous packet has left and the link has room.
    #[inline]
    pub fn ready(&mut self, now: Cycle) -> bool {
        self.free_at <= now && self.requests.ready(now)
    }

    /// The first cycle from `now` on in which [`ready`](Self::ready) could hold, as far as this end knows.
    #[inline]
    pub(crate) fn next_ready(&self, now: Cycle) -> Option<Cycle> {
        self.requests.next_ready(now.max(self.free_at))
    }

    /// Sends a request. It holds the port for ceil(packet bytes / width) cycles and departs on the link with
    /// its last byte (M6).
    ///
    /// # Panics
    /// If the port is not [`ready`](Self::ready).
    #[inline]
    pub fn push(&mut self, now: Cycle, mut request: Request) {
        assert!(self.free_at <= now, "push into a port that is still sending");
        request.core = self.core;
        let cycles = self.cycles.of(request.packet_sectors());
        self.free_at = now + cycles;
        self.requests.push_departing(now, now + cycles - 1, request);
    }

    /// Packets at this end of a core's port.
    pub(crate) fn packets(&self) -> (impl Iterator<Item = &Request>, impl Iterator<Item = &Reply>) {
        (self.requests.entries(), self.replies.entries())
    }

    /// Refuses a port that does not agree with the memory side's end of it.
    pub(super) fn check(&self, other: &CorePort, now: Cycle) -> Result<(), Misfit> {
        Misfit::in_range(may_plan(now, self.free_at), "free_at")?;
        Misfit::agrees(self.requests.agrees_with(&other.requests, now), "requests")?;
        Misfit::agrees(other.replies.agrees_with(&self.replies, now), "replies")
    }

    /// True if requests or credits wait to be carried across.
    #[inline]
    pub(crate) fn has_sent(&self) -> bool {
        self.requests.has_sent() || self.replies.has_returned()
    }

    /// The oldest reply that has arrived.
    #[inline]
    pub fn reply(&self, now: Cycle) -> Option<&Reply> {
        self.replies.peek(now)
    }

    /// Takes the oldest reply that has arrived, and returns its credit.
    #[inline]
    pub fn pop_reply(&mut self, now: Cycle) -> Option<Reply> {
        self.replies.pop(now)
    }

    /// The cycle in which the oldest reply arrives; `None` if none is on its way.
    #[inline]
    pub(crate) fn next_reply(&self) -> Option<Cycle> {
        self.replies.next_arrival()
    }
}

/// The memory side's ends of all ports. They record which ports have something to exchange.
#[derive(Debug, Clone, Capture)]
#[sound]
pub(super) struct CorePorts {
    ports: Vec<CorePort>,
    touched: BitSet,
}

impl CorePorts {
    pub(super) fn new(ports: Vec<CorePort>) -> CorePorts {
        CorePorts { touched: BitSet::new(ports.len()), ports }
    }

    fn sound(&self) -> Result<(), Misfit> {
        self.touched.check_below(self.ports.len(), "touched")
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &CorePort> {
        self.ports.iter()
    }

    /// Takes a core's oldest request that has arrived, and returns its credit.
    #[inline(always)]
    pub(super) fn take_request(&mut self, now: Cycle, core: usize) -> Option<Request> {
        let request = self.ports[core].requests.pop(now)?;
        self.touched.insert(core);
        Some(request)
    }

    /// True if the link to a core has room for a reply.
    #[inline]
    pub(super) fn reply_ready(&mut self, now: Cycle, core: usize) -> bool {
        self.ports[core].replies.ready(now)
    }

    /// Sends a reply that departs in cycle `departs`. The link to the core must have room.
    #[inline]
    pub(super) fn send_reply(&mut self, now: Cycle, departs: Cycle, core: usize, reply: Reply) {
        self.ports[core].replies.push_departing(now, departs, reply);
        self.touched.insert(core);
    }

    /// Takes a core for which a reply was sent or a request taken since the last call that returned it.
    #[inline]
    pub(super) fn take_touched(&mut self) -> Option<usize> {
        self.touched.pop()
    }

    /// Exchanges what both ends of a core's port have sent; see [`crate::clock::exchange`].
    #[inline]
    pub(super) fn exchange(&mut self, core: &mut MemoryPort) {
        let memory = &mut self.ports[usize::from(core.core)];
        crate::clock::exchange(&mut core.requests, &mut memory.requests);
        crate::clock::exchange(&mut memory.replies, &mut core.replies);
    }
}

impl Index<usize> for CorePorts {
    type Output = CorePort;

    #[inline]
    fn index(&self, core: usize) -> &CorePort {
        &self.ports[core]
    }
}
