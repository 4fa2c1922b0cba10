//! The ends of the networks: ports of cores, and slices.

use super::super::agenda::Agenda;
use super::super::crossbar::InterconnectCounters;
use super::super::geometry::{LineGeometry, SliceHash};
use super::super::l2::Slice;
use super::super::message::{Reply, Request};
use super::super::port::CorePorts;
use crate::clock::Cycle;

/// The oldest packet of a source.
pub(in crate::memory) enum Head {
    /// No packet.
    None,
    /// It can go from this cycle on.
    From(Cycle),
    /// It can go now, to this destination.
    For(usize),
}

/// Room at a destination.
pub(in crate::memory) enum Room {
    /// Room for at least one packet.
    Now,
    /// Room from this cycle on.
    From(Cycle),
    /// No room until the network is told so.
    Unknown,
}

/// A packet that enters the network.
pub(in crate::memory) struct Taken<P> {
    pub(in crate::memory) packet: P,
    pub(in crate::memory) destination: usize,
    pub(in crate::memory) bytes: u32,
    /// Cycles that its bytes took on the way here; 1 if they have passed nothing yet.
    pub(in crate::memory) slowest: Cycle,
}

/// The ends of a network.
pub(in crate::memory) trait Ends {
    /// Type of the packets.
    type Packet;

    /// The oldest packet of a source.
    fn head(&self, now: Cycle, source: usize) -> Head;

    /// Takes the oldest packet of a source.
    fn take(&mut self, now: Cycle, source: usize) -> Option<Taken<Self::Packet>>;

    /// Whether a destination has room.
    fn room(&mut self, now: Cycle, destination: usize) -> Room;

    /// Gives a packet to a destination that has room. Its bytes take `cycles` there, of which `rest` are
    /// still to come.
    fn deliver(
        &mut self,
        now: Cycle,
        destination: usize,
        packet: Self::Packet,
        bytes: u32,
        cycles: Cycle,
        rest: Cycle,
    );

    /// Counters of the interconnect.
    fn counters(&mut self) -> &mut InterconnectCounters;
}

/// Ends of the request network: from cores to slices.
pub(in crate::memory) struct RequestEnds<'a> {
    pub(in crate::memory) geometry: LineGeometry,
    pub(in crate::memory) hash: SliceHash,
    pub(in crate::memory) port_bytes: u32,
    pub(in crate::memory) ports: &'a mut CorePorts,
    pub(in crate::memory) slices: &'a mut [Slice],
    pub(in crate::memory) agenda: &'a mut Agenda,
    pub(in crate::memory) counters: &'a mut InterconnectCounters,
}

impl RequestEnds<'_> {
    fn slice_of(&self, request: &Request) -> usize {
        self.hash.slice(self.geometry.number(request.line))
    }
}

impl Ends for RequestEnds<'_> {
    type Packet = Request;

    fn head(&self, now: Cycle, core: usize) -> Head {
        let requests = &self.ports[core].requests;
        match requests.peek(now) {
            Some(request) => Head::For(self.slice_of(request)),
            None => requests.next_arrival().map_or(Head::None, Head::From),
        }
    }

    fn take(&mut self, now: Cycle, core: usize) -> Option<Taken<Request>> {
        let packet = self.ports.take_request(now, core)?;
        let bytes = packet.packet_bytes(self.geometry.sector_bytes());
        let destination = self.slice_of(&packet);
        // All its bytes have passed the core's port.
        Some(Taken { packet, destination, bytes, slowest: Cycle::from(bytes.div_ceil(self.port_bytes)) })
    }

    fn room(&mut self, _: Cycle, slice: usize) -> Room {
        if self.slices[slice].has_room() { Room::Now } else { Room::Unknown }
    }

    fn deliver(&mut self, now: Cycle, slice: usize, request: Request, bytes: u32, cycles: Cycle, _: Cycle) {
        self.slices[slice].accept(now, request, self.agenda);
        self.counters.requests += 1;
        self.counters.request_bytes += u64::from(bytes);
        self.counters.request_port_busy_cycles += cycles;
    }

    fn counters(&mut self) -> &mut InterconnectCounters {
        self.counters
    }
}

/// Ends of the reply network: from slices to cores.
pub(in crate::memory) struct ReplyEnds<'a> {
    pub(in crate::memory) sector_bytes: u32,
    pub(in crate::memory) ports: &'a mut CorePorts,
    pub(in crate::memory) slices: &'a mut [Slice],
    pub(in crate::memory) agenda: &'a mut Agenda,
    pub(in crate::memory) counters: &'a mut InterconnectCounters,
}

impl Ends for ReplyEnds<'_> {
    type Packet = Reply;

    fn head(&self, now: Cycle, slice: usize) -> Head {
        match self.slices[slice].replies().front() {
            Some((ready, reply)) if *ready <= now => Head::For(usize::from(reply.core)),
            Some(&(ready, _)) => Head::From(ready),
            None => Head::None,
        }
    }

    fn take(&mut self, _: Cycle, slice: usize) -> Option<Taken<Reply>> {
        let packet = self.slices[slice].take_reply(0, self.agenda)?;
        let bytes = packet.packet_bytes(self.sector_bytes);
        Some(Taken { destination: usize::from(packet.core), packet, bytes, slowest: 1 })
    }

    fn room(&mut self, now: Cycle, core: usize) -> Room {
        match self.ports[core].replies.next_ready(now) {
            Some(at) if at <= now => Room::Now,
            Some(at) => Room::From(at),
            None => Room::Unknown,
        }
    }

    fn deliver(&mut self, now: Cycle, core: usize, reply: Reply, bytes: u32, cycles: Cycle, rest: Cycle) {
        self.ports.send_reply(now, now + rest, core, reply);
        self.counters.replies += 1;
        self.counters.reply_bytes += u64::from(bytes);
        self.counters.reply_port_busy_cycles += cycles;
    }

    fn counters(&mut self) -> &mut InterconnectCounters {
        self.counters
    }
}
