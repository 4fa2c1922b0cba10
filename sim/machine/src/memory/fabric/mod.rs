//! A network of routers: packets hop from one to the next over links with credits and virtual channels.
//!
//! At each router, the oldest packet of each input (a source, or the buffer of a virtual channel at the end
//! of a link) requests the output of its route: a link or a destination. A free output takes one of the
//! packets that request it and for which there is room. The packet holds input and output for as long as its
//! bytes take. It may leave the next router while its bytes still come in, so its bytes cost time only once,
//! at the narrowest link on its way (virtual cut-through, N3).

mod check;
mod ends;
mod state;
mod wiring;

#[cfg(test)]
mod tests;

pub(super) use ends::{Ends, Head, ReplyEnds, RequestEnds, Room};
pub(super) use state::LINK;

use super::agenda::{Agenda, BitSet};
use crate::clock::Cycle;
use crate::config::Arbitration;
use crate::stats::counters;
use std::collections::VecDeque;
use std::ops::Range;
use wave_capture::Capture;

counters! {
    /// What a link of a ring, mesh or graph of one's own did.
    "link" LinkCounters {
        packets: "packets", "Packets that took the link.";
        bytes: "bytes", "Bytes of those packets, headers included.";
        busy_cycles: "cycles", "Cycles that the link was held.";
        stall_cycles: "cycles", "Cycles that packets which could have taken the link waited for their turn or for a credit.";
    }
}

/// Number of a packet in the network.
type PacketId = u32;

/// An input of a router, where packets wait.
#[derive(Debug, Clone, Capture)]
struct Input {
    #[spec]
    router: u32,
    /// Index among the inputs of its router.
    #[spec]
    local: usize,
    /// Bytes a cycle of a source's port, or of the link in front of a buffer.
    #[spec]
    width_bytes: u32,
    /// First cycle in which it can give another packet.
    free_at: Cycle,
    /// The output that its oldest packet requests, and since when.
    asks: Option<(usize, Cycle)>,
    buffer: Option<Buffer>,
}

/// A buffer at the end of a link. Sources keep their packets themselves.
#[derive(Debug, Clone, Capture)]
struct Buffer {
    /// Packets, each with its arrival.
    packets: VecDeque<(Cycle, PacketId)>,
    /// Credits at the start of the link.
    credits: u32,
    /// When credits on their way back arrive.
    returning: VecDeque<Cycle>,
    /// The link, as an output, and the cycles that a credit takes back.
    #[spec]
    link: usize,
    #[spec]
    latency: Cycle,
}

impl Buffer {
    fn has_credit(&mut self, now: Cycle) -> bool {
        while self.returning.front().is_some_and(|&at| at <= now) {
            self.returning.pop_front();
            self.credits += 1;
        }
        self.credits > 0
    }
}

/// An output of a router: a destination's port, or a link.
#[derive(Debug, Clone, Capture)]
struct Output {
    /// Inputs of its router that request it, by their index there.
    waiting: BitSet,
    /// The next input in turn.
    turn: usize,
    free_at: Cycle,
    #[spec]
    width_bytes: u32,
    #[spec]
    router: u32,
    link: Option<Link>,
}

#[derive(Debug, Clone, Capture)]
struct Link {
    #[spec]
    latency: Cycle,
    #[spec]
    dateline: bool,
    /// Per virtual channel: the input that is its buffer; `None` if no route uses the channel.
    #[spec]
    buffers: Vec<Option<usize>>,
    counters: LinkCounters,
}

#[derive(Debug, Clone, Capture)]
struct Travelling<P> {
    packet: P,
    destination: usize,
    virtual_channel: usize,
    bytes: u32,
    /// Cycles that its bytes took at the narrowest place so far.
    slowest: Cycle,
    entered: Cycle,
}

/// A network from sources to destinations.
#[derive(Debug, Clone, Capture)]
#[sound]
pub(super) struct Fabric<P> {
    #[spec]
    arbitration: Arbitration,
    #[spec]
    port_bytes: u32,
    /// Sources first, then buffers.
    inputs: Vec<Input>,
    /// Per router: its inputs.
    #[spec]
    inputs_of: Vec<Vec<usize>>,
    /// Destinations first, then links.
    outputs: Vec<Output>,
    /// Per destination and router: the output on the route.
    #[spec]
    ways: Vec<Vec<Option<usize>>>,
    /// When an input's oldest packet may request its output, and when an output may take a packet.
    agenda: Agenda,
    /// The blocks of inputs.
    #[spec]
    asking: Range<usize>,
    /// The blocks of outputs.
    #[spec]
    taking: Range<usize>,
    /// Destinations without room that have not said when they will have some.
    full: BitSet,
    packets: Vec<Option<Travelling<P>>>,
    free_packets: Vec<PacketId>,
}

impl<P> Fabric<P> {
    /// Announces that the oldest packet of a source can set out in cycle `at`.
    #[inline]
    pub(super) fn expect(&mut self, source: usize, at: Cycle) {
        self.asks_at(source, at);
    }

    /// A destination has room again.
    #[inline]
    pub(super) fn has_room(&mut self, destination: usize) {
        self.full.remove(destination);
        if !self.outputs[destination].waiting.is_empty() {
            self.agenda.soon(self.taking.start + destination);
        }
    }

    /// Destinations without room may have some now. True if there are any.
    pub(super) fn may_have_room(&mut self) -> bool {
        let any = !self.full.is_empty();
        while let Some(destination) = self.full.pop() {
            self.agenda.soon(self.taking.start + destination);
        }
        any
    }

    /// The next cycle in which something happens here.
    pub(super) fn next(&self) -> Cycle {
        self.agenda.next()
    }

    /// An input may request its output in cycle `at`.
    fn asks_at(&mut self, input: usize, at: Cycle) {
        self.agenda.at(self.asking.start + input, at);
    }

    /// An output may take a packet in cycle `at`.
    fn takes_at(&mut self, output: usize, at: Cycle) {
        self.agenda.at(self.taking.start + output, at);
    }

    /// True if no packet is on its way.
    pub(super) fn is_empty(&self) -> bool {
        self.packets.len() == self.free_packets.len()
    }

    /// Counters of each link, in the order of the graph.
    pub(super) fn links(&self) -> impl Iterator<Item = &LinkCounters> {
        self.outputs.iter().filter_map(|output| output.link.as_ref()).map(|link| &link.counters)
    }

    /// Simulates a cycle: what is due, or with `everything` all.
    pub(super) fn tick(&mut self, now: Cycle, everything: bool, ends: &mut impl Ends<Packet = P>) {
        self.agenda.begin(now, everything);
        while let Some(input) = self.agenda.take_due(&self.asking) {
            self.ask(now, input, ends);
        }
        while let Some(output) = self.agenda.take_due(&self.taking) {
            if self.outputs[output].waiting.is_empty() {
                continue;
            }
            if self.outputs[output].free_at > now {
                self.takes_at(output, self.outputs[output].free_at);
            } else if self.outputs[output].link.is_some() {
                self.take_onto_link(now, output, ends);
            } else {
                self.deliver(now, output, ends);
            }
        }
    }

    /// Enters the request of an input's oldest packet for its output, if it is not entered yet.
    fn ask(&mut self, now: Cycle, i: usize, ends: &impl Ends<Packet = P>) {
        let input = &self.inputs[i];
        if input.asks.is_some() {
            return;
        }
        if input.free_at > now {
            let free_at = input.free_at;
            self.asks_at(i, free_at);
            return;
        }
        let head = match &input.buffer {
            None => ends.head(now, i),
            Some(buffer) => match buffer.packets.front() {
                Some(&(arrival, _)) if arrival > now => Head::From(arrival),
                Some(&(_, id)) => {
                    self.packets[id as usize].as_ref().map_or(Head::None, |p| Head::For(p.destination))
                }
                None => Head::None,
            },
        };
        match head {
            Head::None => {}
            Head::From(at) => self.asks_at(i, at),
            Head::For(destination) => {
                let output =
                    self.ways[destination][input.router as usize].expect("every pair of ends has a route");
                self.outputs[output].waiting.insert(input.local);
                self.inputs[i].asks = Some((output, now));
                self.agenda.now(self.taking.start + output);
            }
        }
    }

    /// Of the inputs that request an output and that `may` admits, the one that goes first (N5).
    fn choose(&mut self, output: usize, mut may: impl FnMut(&mut Self, usize) -> bool) -> Option<usize> {
        let router = self.outputs[output].router as usize;
        let first = self.outputs[output].waiting.next_from(self.outputs[output].turn)?;
        let mut local = first;
        let mut best: Option<(Cycle, usize)> = None;
        loop {
            let input = self.inputs_of[router][local];
            if may(self, input) {
                if self.arbitration == Arbitration::RoundRobin {
                    return Some(input);
                }
                let entered = self.entered(input);
                if best.is_none_or(|(earliest, _)| entered < earliest) {
                    best = Some((entered, input));
                }
            }
            local = self.outputs[output].waiting.next_from(local + 1)?;
            if local == first {
                return best.map(|(_, input)| input);
            }
        }
    }

    /// The packet at the head of an input's buffer.
    fn head_of(&self, input: usize) -> Option<&Travelling<P>> {
        let &(_, id) = self.inputs[input].buffer.as_ref()?.packets.front()?;
        self.packets[id as usize].as_ref()
    }

    /// Cycle in which an input's oldest packet entered the network; at a source, that of its first request.
    fn entered(&self, input: usize) -> Cycle {
        let asked = self.inputs[input].asks.map_or(0, |(_, since)| since);
        self.head_of(input).map_or(asked, |packet| packet.entered)
    }

    /// The buffer behind a link that the oldest packet of an input needs.
    fn buffer_behind(&self, output: usize, input: usize) -> Option<usize> {
        let link = self.outputs[output].link.as_ref()?;
        let before = self.head_of(input).map_or(0, |packet| packet.virtual_channel);
        link.buffers[before + usize::from(link.dateline)]
    }

    fn take_onto_link(&mut self, now: Cycle, output: usize, ends: &mut impl Ends<Packet = P>) {
        let mut credit_at = Cycle::MAX;
        let chosen = self.choose(output, |fabric, input| {
            let Some(behind) = fabric.buffer_behind(output, input) else { return false };
            let Some(buffer) = &mut fabric.inputs[behind].buffer else { return false };
            let free = buffer.has_credit(now);
            if !free {
                credit_at = credit_at.min(buffer.returning.front().copied().unwrap_or(Cycle::MAX));
            }
            free
        });
        let Some(input) = chosen else {
            // If no credit is on its way, the next one to return plans this.
            if credit_at != Cycle::MAX {
                self.takes_at(output, credit_at);
            }
            return;
        };
        let Some(behind) = self.buffer_behind(output, input) else { return };
        let since = self.inputs[input].asks.map_or(now, |(_, since)| since);
        let Some(id) = self.leave(now, input, output, ends) else { return };
        let Some(packet) = &mut self.packets[id as usize] else { return };
        let out = &mut self.outputs[output];
        let Some(link) = &mut out.link else { return };
        let cycles = Cycle::from(packet.bytes.div_ceil(out.width_bytes));
        let arrival = now + link.latency + cycles.saturating_sub(packet.slowest);
        packet.slowest = packet.slowest.max(cycles);
        packet.virtual_channel += usize::from(link.dateline);
        link.counters.packets += 1;
        let bytes = u64::from(packet.bytes);
        link.counters.bytes += bytes;
        link.counters.busy_cycles += cycles;
        link.counters.stall_cycles += now - since;
        let counters = ends.counters();
        counters.hops += 1;
        counters.link_bytes += bytes;
        counters.link_busy_cycles += cycles;
        counters.link_stall_cycles += now - since;
        let free_at = self.inputs[behind].free_at;
        if let Some(buffer) = &mut self.inputs[behind].buffer {
            buffer.credits -= 1;
            buffer.packets.push_back((arrival, id));
            if buffer.packets.len() == 1 {
                self.asks_at(behind, arrival.max(free_at));
            }
        }
    }

    fn deliver(&mut self, now: Cycle, output: usize, ends: &mut impl Ends<Packet = P>) {
        match ends.room(now, output) {
            Room::Now => {}
            Room::From(at) => return self.takes_at(output, at),
            Room::Unknown => return self.full.insert(output),
        }
        let Some(input) = self.choose(output, |_, _| true) else { return };
        let Some(id) = self.leave(now, input, output, ends) else { return };
        if let Some(packet) = self.packets[id as usize].take() {
            self.free_packets.push(id);
            let cycles = Cycle::from(packet.bytes.div_ceil(self.port_bytes));
            ends.deliver(
                now,
                output,
                packet.packet,
                packet.bytes,
                cycles,
                cycles.saturating_sub(packet.slowest),
            );
        }
    }

    /// Takes the oldest packet of an input for an output. Both are held while its bytes pass.
    fn leave(
        &mut self,
        now: Cycle,
        i: usize,
        output: usize,
        ends: &mut impl Ends<Packet = P>,
    ) -> Option<PacketId> {
        let entered = self.entered(i);
        let id = match &mut self.inputs[i].buffer {
            Some(buffer) => {
                let (_, id) = buffer.packets.pop_front()?;
                buffer.returning.push_back(now + buffer.latency);
                let (link, back) = (buffer.link, now + buffer.latency);
                if !self.outputs[link].waiting.is_empty() {
                    self.takes_at(link, back);
                }
                id
            }
            None => self.enter(ends.take(now, i)?, entered),
        };
        let bytes = self.packets[id as usize].as_ref().map_or(0, |packet| packet.bytes);
        let out = &mut self.outputs[output];
        let held = Cycle::from(bytes.div_ceil(out.width_bytes));
        let input = &mut self.inputs[i];
        out.waiting.remove(input.local);
        out.turn = input.local + 1;
        out.free_at = now + held;
        if !out.waiting.is_empty() {
            self.agenda.at(self.taking.start + output, out.free_at);
        }
        input.asks = None;
        // A buffer gives bytes as fast as its link brought them: a wide link can feed several narrow ones.
        input.free_at = now + Cycle::from(bytes.div_ceil(input.width_bytes));
        self.agenda.at(self.asking.start + i, input.free_at);
        Some(id)
    }

    /// Enters a packet of a source in the table.
    fn enter(&mut self, taken: ends::Taken<P>, entered: Cycle) -> PacketId {
        let ends::Taken { packet, destination, bytes, slowest } = taken;
        let travelling = Travelling { packet, destination, virtual_channel: 0, bytes, slowest, entered };
        match self.free_packets.pop() {
            Some(id) => {
                self.packets[id as usize] = Some(travelling);
                id
            }
            None => {
                self.packets.push(Some(travelling));
                self.packets.len() as PacketId - 1
            }
        }
    }
}
