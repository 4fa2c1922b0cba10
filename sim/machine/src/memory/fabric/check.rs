//! What a state that is put back into a network has to satisfy.

use super::{Fabric, Input, Travelling};
use crate::memory::bounds::Bounds;
use crate::memory::message::{HEADER_BYTES, MAX_LINE_BYTES};
use wave_capture::Misfit;

impl<P> Fabric<P> {
    pub(super) fn sound(&self) -> Result<(), Misfit> {
        let destinations = self.ways.len();
        self.full.check_below(destinations, "full")?;
        for output in &self.outputs {
            let inputs = &self.inputs_of[output.router as usize];
            output.waiting.check_below(inputs.len(), "waiting")?;
            Misfit::in_range(output.turn <= inputs.len(), "turn")?;
        }
        // A request is entered at its input and at its output.
        for (number, output) in self.outputs.iter().enumerate() {
            let inputs = self.inputs_of[output.router as usize].iter();
            let asks = |&input: &usize| self.inputs[input].asks.is_some_and(|(asked, _)| asked == number);
            let mut entered =
                inputs.enumerate().map(|(local, input)| output.waiting.contains(local) == asks(input));
            Misfit::agrees(entered.all(|entered| entered), "asks")?;
        }
        let asks = |input: &Input| {
            input.asks.is_none_or(|(output, _)| {
                self.outputs.get(output).is_some_and(|output| output.router == input.router)
            })
        };
        Misfit::in_range(self.inputs.iter().all(asks), "asks")?;
        // Each packet is in one buffer, or its number is free.
        let mut seen = vec![false; self.packets.len()];
        let mut take = |id: u32, is_taken: bool| {
            let packet = self.packets.get(id as usize).filter(|packet| packet.is_some() == is_taken);
            packet.filter(|_| !std::mem::replace(&mut seen[id as usize], true))
        };
        for (buffer, input) in self.inputs.iter().filter_map(|input| Some((input.buffer.as_ref()?, input))) {
            Misfit::in_range(buffer.credits <= u32::MAX / 2, "credits")?;
            for &(_, id) in &buffer.packets {
                let packet = take(id, true).and_then(Option::as_ref);
                let has_way = packet.is_some_and(|packet| self.has_way(packet, input.router));
                Misfit::agrees(has_way, "packets")?;
            }
        }
        let mut free = self.free_packets.iter();
        Misfit::agrees(free.all(|&id| take(id, false).is_some()), "free_packets")?;
        Misfit::agrees(seen.into_iter().all(|seen| seen), "packets")
    }

    /// True if a packet at a router can go on to its destination.
    fn has_way(&self, packet: &Travelling<P>, router: u32) -> bool {
        let way = self.ways.get(packet.destination).and_then(|ways| ways[router as usize]);
        way.is_some_and(|output| {
            self.outputs[output].link.as_ref().is_none_or(|link| {
                let channel = packet.virtual_channel.checked_add(usize::from(link.dateline));
                channel.is_some_and(|channel| link.buffers.get(channel).is_some_and(Option::is_some))
            })
        }) && packet.bytes <= HEADER_BYTES + MAX_LINE_BYTES as u32
    }

    /// The packets on their way.
    pub(in crate::memory) fn packets(&self) -> impl Iterator<Item = &P> {
        self.packets.iter().flatten().map(|travelling| &travelling.packet)
    }

    /// Refuses what a network cannot hold.
    pub(in crate::memory) fn check(&self, bounds: &Bounds) -> Result<(), Misfit> {
        let now = bounds.now;
        self.agenda.check(now).map_err(|misfit| misfit.within("agenda"))?;
        let plans = |input: &Input| {
            let buffer = input.buffer.iter();
            let mut cycles = buffer.flat_map(|buffer| {
                buffer.packets.iter().map(|&(at, _)| at).chain(buffer.returning.iter().copied())
            });
            let asked = input.asks.is_none_or(|(_, since)| since <= now);
            asked && bounds.may_plan(input.free_at) && cycles.all(|at| bounds.may_plan(at))
        };
        Misfit::in_range(self.inputs.iter().all(plans), "inputs")?;
        Misfit::in_range(self.outputs.iter().all(|output| bounds.may_plan(output.free_at)), "outputs")?;
        let mut packets = self.packets.iter().flatten();
        let went = |packet: &Travelling<P>| packet.entered <= now && bounds.may_plan(packet.slowest);
        Misfit::in_range(packets.all(went), "packets")
    }
}
