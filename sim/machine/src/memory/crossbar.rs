//! The crossbar between core ports and L2 slices: one network for requests, one for replies.
//!
//! A packet holds its source port and its destination port for ceil(bytes / port width) cycles. Requests wait
//! in the order of their port, so the requests of a core to a line stay in order. A slice's replies wait in
//! the order in which the slice made them. The oldest reply whose core's port is free goes first: replies of
//! a slice to a core stay in order, and a core that takes nothing delays no other (M8, M9).

use super::agenda::{Agenda, BitSet};
use super::geometry::{LineGeometry, PacketCycles, SliceHash};
use super::l2::Slice;
use super::port::{CorePort, CorePorts};
use crate::clock::{Cycle, END_OF_TIME, NEVER};
use crate::config::Config;
use crate::stats::counters;
use std::ops::Range;
use wave_capture::{Capture, Misfit};

counters! {
    /// What the interconnect did.
    "interconnect" InterconnectCounters {
        requests: "packets", "Request packets delivered to slices.";
        request_bytes: "bytes", "Bytes of those packets, headers included.";
        request_port_busy_cycles: "cycles", "Cycles that slice input ports were held, summed over slices.";
        replies: "packets", "Reply packets sent to cores.";
        reply_bytes: "bytes", "Bytes of those packets, headers included.";
        reply_port_busy_cycles: "cycles", "Cycles that core reply ports were held, summed over cores.";
        hops: "packets", "Packets that took a link between routers, summed over links; a crossbar has none.";
        link_bytes: "bytes", "Bytes of those packets, headers included, summed over links.";
        link_busy_cycles: "cycles", "Cycles that links between routers were held, summed over links.";
        link_stall_cycles: "cycles", "Cycles that packets which could have taken a link waited for their turn or for a credit, summed over packets and links.";
    }
}

/// Signal of a destination's port: whether a packet holds it.
pub(super) const PORT: [(&str, u32); 1] = [("busy", 1)];

/// Appends whether each port is held at the end of a cycle.
fn look(free_at: &[Cycle], cycle: Cycle, values: &mut Vec<u64>) {
    values.extend(free_at.iter().map(|&free_at| u64::from(free_at > cycle)));
}

/// The crossbar from core ports to slices (M8).
#[derive(Debug, Clone, Capture)]
#[sound]
pub(super) struct RequestCrossbar {
    #[spec]
    geometry: LineGeometry,
    #[spec]
    hash: SliceHash,
    #[spec]
    cycles: PacketCycles,
    /// Its blocks in the agenda: sides of cores, sides of slices.
    #[spec]
    ports: Range<usize>,
    #[spec]
    slices: Range<usize>,
    /// Ports whose oldest packet is entered in `waiting`.
    offered: BitSet,
    /// Per slice: ports whose oldest packet is for it.
    #[fixed]
    waiting: Vec<BitSet>,
    /// Per slice: the next port in turn.
    #[fixed]
    turn: Vec<usize>,
    /// Per core: first cycle in which its side of the crossbar is free.
    #[fixed]
    core_free_at: Vec<Cycle>,
    /// Per slice: first cycle in which its side is free.
    #[fixed]
    slice_free_at: Vec<Cycle>,
}

impl RequestCrossbar {
    fn sound(&self) -> Result<(), Misfit> {
        let ports = self.ports.len();
        self.offered.check_below(ports, "offered")?;
        self.waiting.iter().try_for_each(|waiting| waiting.check_below(ports, "waiting"))?;
        Misfit::in_range(self.turn.iter().all(|&turn| turn <= ports), "turn")?;
        let mut free_at = self.core_free_at.iter().chain(&self.slice_free_at);
        Misfit::in_range(free_at.all(|&at| at <= END_OF_TIME), "free_at")
    }

    /// A crossbar whose sides have these blocks in the agenda.
    pub(super) fn new(config: &Config, ports: Range<usize>, slices: Range<usize>) -> RequestCrossbar {
        RequestCrossbar {
            geometry: LineGeometry::new(config),
            hash: SliceHash::new(config),
            cycles: LineGeometry::new(config).packet_cycles(config.interconnect.port_bytes_per_cycle),
            offered: BitSet::new(ports.len()),
            waiting: vec![BitSet::new(ports.len()); slices.len()],
            turn: vec![0; slices.len()],
            core_free_at: vec![0; ports.len()],
            slice_free_at: vec![0; slices.len()],
            ports,
            slices,
        }
    }

    /// Packets were exchanged with a core; its oldest arrives in cycle `arrival`.
    #[inline]
    pub(super) fn expect(&mut self, core: usize, arrival: Cycle, agenda: &mut Agenda) {
        // Packets behind a waiting one are looked at when that one is taken.
        if !self.offered.contains(core) {
            agenda.at(self.ports.start + core, arrival);
        }
    }

    /// A slice has taken a request out of its queue.
    #[inline]
    pub(super) fn slice_has_room(&mut self, slice: usize, agenda: &mut Agenda) {
        if !self.waiting[slice].is_empty() {
            agenda.soon(self.slices.start + slice);
        }
    }

    pub(super) fn tick(
        &mut self,
        now: Cycle,
        ports: &mut CorePorts,
        slices: &mut [Slice],
        agenda: &mut Agenda,
        counters: &mut InterconnectCounters,
    ) {
        while let Some(core) = agenda.take_due(&self.ports) {
            self.offer(now, core, &ports[core], agenda);
        }
        while let Some(s) = agenda.take_due(&self.slices) {
            if self.waiting[s].is_empty() {
                continue;
            }
            if self.slice_free_at[s] > now {
                agenda.at(self.slices.start + s, self.slice_free_at[s]);
                continue;
            }
            // A full slice is planned again by `slice_has_room`.
            if !slices[s].has_room() {
                continue;
            }
            let Some(core) = self.waiting[s].next_from(self.turn[s]) else { continue };
            let Some(request) = ports.take_request(now, core) else { continue };
            let bytes = request.packet_bytes(self.geometry.sector_bytes());
            let cycles = self.cycles.of(request.packet_sectors());
            counters.requests += 1;
            counters.request_bytes += u64::from(bytes);
            counters.request_port_busy_cycles += cycles;
            slices[s].accept(now, request, agenda);
            self.waiting[s].remove(core);
            self.offered.remove(core);
            self.turn[s] = core + 1;
            self.slice_free_at[s] = now + cycles;
            self.core_free_at[core] = now + cycles;
            // A packet that has not been exchanged yet is planned by `expect`.
            if let Some(arrival) = ports[core].requests.next_arrival() {
                agenda.at(self.ports.start + core, arrival.max(now + cycles));
            }
            if !self.waiting[s].is_empty() {
                agenda.at(self.slices.start + s, now + cycles);
            }
        }
    }

    /// Appends [`PORT`] of each slice.
    pub(super) fn look(&self, cycle: Cycle, values: &mut Vec<u64>) {
        look(&self.slice_free_at, cycle, values);
    }

    /// Enters the oldest packet of a port for its slice.
    fn offer(&mut self, now: Cycle, core: usize, port: &CorePort, agenda: &mut Agenda) {
        if self.offered.contains(core) {
            return;
        }
        if self.core_free_at[core] > now {
            agenda.at(self.ports.start + core, self.core_free_at[core]);
            return;
        }
        match port.requests.peek(now) {
            Some(request) => {
                let slice = self.hash.slice(self.geometry.number(request.line));
                self.waiting[slice].insert(core);
                self.offered.insert(core);
                agenda.now(self.slices.start + slice);
            }
            None => {
                if let Some(arrival) = port.requests.next_arrival() {
                    agenda.at(self.ports.start + core, arrival);
                }
            }
        }
    }
}

/// The crossbar from slices to core ports (M9).
#[derive(Debug, Clone, Capture)]
#[sound]
pub(super) struct ReplyCrossbar {
    #[spec]
    sector_bytes: u32,
    #[spec]
    cycles: PacketCycles,
    #[spec]
    window: usize,
    /// The blocks of its sides of slices in the agenda.
    #[spec]
    slices: Range<usize>,
    /// Slices with a reply for a core whose link has no credit, not even on its way.
    starved: BitSet,
    /// Per core: the next slice in turn.
    #[fixed]
    turn: Vec<usize>,
    #[fixed]
    slice_free_at: Vec<Cycle>,
    #[fixed]
    core_free_at: Vec<Cycle>,
    /// Per core: the slice that would send to it in this cycle, and the place of the reply in its queue.
    #[scratch]
    chosen: Vec<Option<(usize, usize)>>,
    #[scratch]
    senders: Vec<usize>,
    #[scratch]
    chosen_cores: Vec<usize>,
}

impl ReplyCrossbar {
    fn sound(&self) -> Result<(), Misfit> {
        self.starved.check_below(self.slices.len(), "starved")?;
        Misfit::in_range(self.turn.iter().all(|&turn| turn <= self.slices.len()), "turn")?;
        let mut free_at = self.core_free_at.iter().chain(&self.slice_free_at);
        Misfit::in_range(free_at.all(|&at| at <= END_OF_TIME), "free_at")
    }

    /// A crossbar whose sides of slices have these blocks in the agenda.
    pub(super) fn new(config: &Config, slices: Range<usize>) -> ReplyCrossbar {
        let cores = config.cores as usize;
        ReplyCrossbar {
            sector_bytes: config.core.l1.sector_bytes,
            cycles: LineGeometry::new(config).packet_cycles(config.interconnect.port_bytes_per_cycle),
            window: config.interconnect.queue_entries as usize,
            starved: BitSet::new(slices.len()),
            turn: vec![0; cores],
            slice_free_at: vec![0; slices.len()],
            core_free_at: vec![0; cores],
            chosen: vec![None; cores],
            senders: Vec::with_capacity(slices.len()),
            chosen_cores: Vec::with_capacity(cores),
            slices,
        }
    }

    /// A slice's oldest reply can go from cycle `ready` on.
    #[inline]
    pub(super) fn expect(&mut self, slice: usize, ready: Cycle, agenda: &mut Agenda) {
        agenda.at(self.slices.start + slice, ready);
    }

    /// Credits of a core's reply link are on the way back.
    pub(super) fn credits_return(&mut self, agenda: &mut Agenda) {
        while let Some(slice) = self.starved.pop() {
            agenda.soon(self.slices.start + slice);
        }
    }

    pub(super) fn tick(
        &mut self,
        now: Cycle,
        ports: &mut CorePorts,
        slices: &mut [Slice],
        agenda: &mut Agenda,
        counters: &mut InterconnectCounters,
    ) {
        self.senders.clear();
        while let Some(s) = agenda.take_due(&self.slices) {
            if self.slice_free_at[s] > now {
                agenda.at(self.slices.start + s, self.slice_free_at[s]);
            } else {
                self.senders.push(s);
            }
        }
        // Each sender proposes its oldest reply that can go, and each core takes the proposal of the slice
        // that is next in turn. The others propose again until none can.
        while !self.senders.is_empty() {
            let mut i = 0;
            while i < self.senders.len() {
                let s = self.senders[i];
                if self.propose(now, s, ports, &slices[s], agenda) {
                    i += 1;
                } else {
                    self.senders.swap_remove(i);
                }
            }
            while let Some(core) = self.chosen_cores.pop() {
                let Some((s, place)) = self.chosen[core].take() else { continue };
                let Some(reply) = slices[s].take_reply(place, agenda) else { continue };
                let bytes = reply.packet_bytes(self.sector_bytes);
                let cycles = self.cycles.of(reply.packet_sectors());
                counters.replies += 1;
                counters.reply_bytes += u64::from(bytes);
                counters.reply_port_busy_cycles += cycles;
                ports.send_reply(now, now + cycles - 1, core, reply);
                self.turn[core] = s + 1;
                self.core_free_at[core] = now + cycles;
                self.slice_free_at[s] = now + cycles;
                if let Some(&(ready, _)) = slices[s].replies().front() {
                    agenda.at(self.slices.start + s, ready.max(now + cycles));
                }
            }
            self.senders.retain(|&s| self.slice_free_at[s] <= now);
        }
    }

    /// Appends [`PORT`] of each core.
    pub(super) fn look(&self, cycle: Cycle, values: &mut Vec<u64>) {
        look(&self.core_free_at, cycle, values);
    }

    /// Proposes a reply of slice `s`. If none can go, returns false and plans the next try.
    fn propose(
        &mut self,
        now: Cycle,
        s: usize,
        ports: &CorePorts,
        slice: &Slice,
        agenda: &mut Agenda,
    ) -> bool {
        let mut again = NEVER;
        for (place, (ready, reply)) in slice.replies().iter().take(self.window).enumerate() {
            if *ready > now {
                again = again.min(*ready);
                break;
            }
            let core = usize::from(reply.core);
            let free_at = self.core_free_at[core];
            let possible = if free_at > now {
                free_at
            } else {
                ports[core].replies.next_ready(now).unwrap_or_else(|| {
                    self.starved.insert(s);
                    NEVER
                })
            };
            if possible > now {
                again = again.min(possible);
                continue;
            }
            let slices = self.slice_free_at.len();
            let distance = |slice: usize, turn: usize| (slice + slices - turn % slices) % slices;
            match self.chosen[core] {
                None => self.chosen_cores.push(core),
                Some((other, _)) if distance(other, self.turn[core]) < distance(s, self.turn[core]) => {
                    return true;
                }
                Some(_) => {}
            }
            self.chosen[core] = Some((s, place));
            return true;
        }
        if again != NEVER {
            agenda.at(self.slices.start + s, again);
        }
        false
    }
}
