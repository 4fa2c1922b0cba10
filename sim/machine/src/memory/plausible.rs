//! What a state that is put back into the memory side has to satisfy.

use super::bounds::Bounds;
use super::geometry::LineGeometry;
use super::l1::{L1, Response, ResponseKind};
use super::message::{Reply, ReplyKind, Request, RequestKind};
use super::port::MemoryPort;
use super::system::MemorySystem;
use crate::clock::Cycle;
use crate::config::Config;
use wave_capture::Misfit;

/// The packets of a core that are on their way.
pub(crate) struct Packets<'a> {
    /// To the memory side, without those that its L1 has yet to send.
    pub requests: Vec<&'a Request>,
    /// To the core.
    pub replies: Vec<&'a Reply>,
    /// Releases that slices perform for it.
    pub releasing: usize,
}

impl Packets<'_> {
    /// Tags and sectors of the reads of the L1 among them. Those of the instruction cache have `icache` in their tags.
    fn reads(&self, icache: u32) -> impl Iterator<Item = (u32, u8)> {
        let asked = self.requests.iter().filter(|request| request.kind == RequestKind::Read);
        let asked = asked.map(|request| (request.tag, request.sectors));
        let answered = self.replies.iter().filter(|reply| reply.kind == ReplyKind::Data);
        let answered = answered.map(|reply| (reply.tag, reply.sectors));
        asked.chain(answered).filter(move |(tag, _)| tag & icache == 0)
    }

    /// The responses to writes and atomics among them, and to those that the L1 has yet to send.
    pub(crate) fn awaited(&self, l1: &L1) -> impl Iterator<Item = Response> {
        let asked =
            self.requests.iter().copied().chain(l1.outgoing()).filter_map(|request| match request.kind {
                RequestKind::Read | RequestKind::Release => None,
                RequestKind::Write => Some(Response::to_write(request.tag)),
                RequestKind::Atomic(_) => {
                    Some(Response { owner: request.tag, kind: ResponseKind::AtomicOld })
                }
            });
        let answered = self.replies.iter().filter_map(|reply| match reply.kind {
            ReplyKind::Data | ReplyKind::Released => None,
            ReplyKind::WriteAck => Some(Response::to_write(reply.tag)),
            ReplyKind::AtomicOld => Some(Response { owner: reply.tag, kind: ResponseKind::AtomicOld }),
        });
        asked.chain(answered).collect::<Vec<_>>().into_iter()
    }

    /// Releases of slices that the core waits for.
    pub(crate) fn releases(&self) -> usize {
        let asked = self.requests.iter().filter(|request| request.kind == RequestKind::Release);
        self.releasing
            + asked.count()
            + self.replies.iter().filter(|reply| reply.kind == ReplyKind::Released).count()
    }

    /// Refuses an L1 that does not agree with what is on its way, and packets that no core sends or gets.
    pub(crate) fn check(&self, l1: &L1, bounds: &Bounds, icache: u32) -> Result<(), Misfit> {
        self.requests.iter().try_for_each(|request| bounds.request(request))?;
        self.replies.iter().try_for_each(|reply| bounds.reply(reply))?;
        l1.check(bounds, self.reads(icache)).map_err(|misfit| misfit.within("l1"))
    }
}

impl MemorySystem {
    /// The bounds of a machine with this memory side in cycle `now`.
    pub(crate) fn bounds(&self, config: &Config, now: Cycle) -> Bounds {
        Bounds {
            geometry: LineGeometry::new(config),
            cores: config.cores as usize,
            mshrs: config.core.l1.mshrs as usize,
            device_end: self.end_of_addresses(),
            now,
        }
    }

    /// Refuses what the memory side cannot hold, or what does not agree with its cores' ports, which are given in order.
    /// Returns the packets of each core.
    pub(crate) fn check<'a>(
        &'a self,
        bounds: &Bounds,
        ports: impl Iterator<Item = &'a MemoryPort>,
    ) -> Result<Vec<Packets<'a>>, Misfit> {
        Misfit::in_range(self.now <= bounds.now, "now")?;
        self.agenda.check(self.now).map_err(|misfit| misfit.within("agenda"))?;
        self.requests.check(bounds).map_err(|misfit| misfit.within("requests"))?;
        self.replies.check(bounds).map_err(|misfit| misfit.within("replies"))?;
        for (number, channel) in self.channels.iter().enumerate() {
            let within = |misfit: Misfit| misfit.within(&format!("channels.{number}"));
            channel.check(bounds, number).map_err(within)?;
        }
        for (number, bank) in self.banks.iter().enumerate() {
            let within = |misfit: Misfit| misfit.within(&format!("banks.{number}"));
            bank.check(bounds, &self.channels[number].reads()).map_err(within)?;
        }
        for (number, slice) in self.slices.iter().enumerate() {
            let channel = number % self.channels.len();
            let (fetched, writing) = match self.banks.get(channel) {
                Some(bank) => bank.of_slice(number),
                None => self.channels[channel].of_slice(number),
            };
            let within = |misfit: Misfit| misfit.within(&format!("slices.{number}"));
            slice.check(bounds, number, &fetched, writing).map_err(within)?;
        }
        let mut all: Vec<Packets> = Vec::with_capacity(bounds.cores);
        for (core, (port, other)) in ports.zip(self.ports.iter()).enumerate() {
            let within = |misfit: Misfit| misfit.within(&format!("ports.{core}"));
            port.check(other, bounds.now).map_err(within)?;
            let (requests, replies) = port.packets();
            let (requests, replies) =
                (requests.chain(other.requests.entries()), replies.chain(other.replies.entries()));
            all.push(Packets { requests: requests.collect(), replies: replies.collect(), releasing: 0 });
        }
        let lost = || Misfit::new("is of no core").within("packets");
        let (mut requests, mut replies) = (self.requests.packets(), self.replies.packets());
        for slice in &self.slices {
            let (asked, answered) = slice.packets();
            requests.extend(asked);
            replies.extend(answered);
        }
        replies.extend(self.scripted.iter().flat_map(|scripted| scripted.replies()));
        for core in self.slices.iter().flat_map(|slice| slice.releasing()) {
            all.get_mut(usize::from(core)).ok_or_else(lost)?.releasing += 1;
        }
        for request in requests {
            all.get_mut(usize::from(request.core)).ok_or_else(lost)?.requests.push(request);
        }
        for reply in replies {
            all.get_mut(usize::from(reply.core)).ok_or_else(lost)?.replies.push(reply);
        }
        Ok(all)
    }
}
