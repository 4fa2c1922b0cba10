//! Everything behind the cores' ports, as one block.

use super::agenda::Agenda;
use super::crossbar::InterconnectCounters;
use super::dram::{Channel, DramCounters, IssuedCommand};
use super::fabric::LinkCounters;
use super::geometry::LineGeometry;
use super::hops::{Burst, Holder, Hop, SliceAccess};
use super::image::Image;
use super::l2::{Jitter, L2Counters, PerformedAtomic, Slice};
use super::l3::{Bank, L3Counters};
use super::message::LineData;
use super::network::{ReplyNetwork, RequestNetwork, Surroundings};
use super::port::{CorePorts, MemoryPort, core_port};
use super::scripted::{Script, Scripted};
use super::state::{State, look_at_banks, look_at_channels, look_at_slices};
use super::tags::CacheLine;
use super::trail::Trail;
use super::transfer::InFront;
use crate::clock::Cycle;
use crate::config::{Config, Topology};
use crate::registry::PlugIn;
use std::ops::Range;
use wave_capture::Capture;

/// Counters of the memory side since its creation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Capture)]
pub struct MemoryCounters {
    /// The interconnect.
    pub interconnect: InterconnectCounters,
    /// The L2, summed over slices.
    pub l2: L2Counters,
    /// The L3, summed over banks; zeros without one.
    pub l3: L3Counters,
    /// The memory channels, summed.
    pub dram: DramCounters,
}

impl MemoryCounters {
    /// Adds this part of what `other` counted, each rounded.
    pub fn add_scaled(&mut self, other: &MemoryCounters, part: f64) {
        self.interconnect.add_scaled(&other.interconnect, part);
        self.l2.add_scaled(&other.l2, part);
        self.l3.add_scaled(&other.l3, part);
        self.dram.add_scaled(&other.dram, part);
    }

    /// What was counted since `before`.
    pub fn since(&self, before: &MemoryCounters) -> MemoryCounters {
        MemoryCounters {
            interconnect: self.interconnect.since(&before.interconnect),
            l2: self.l2.since(&before.l2),
            l3: self.l3.since(&before.l3),
            dram: self.dram.since(&before.dram),
        }
    }
}

impl std::ops::AddAssign<&MemoryCounters> for MemoryCounters {
    fn add_assign(&mut self, other: &MemoryCounters) {
        self.interconnect += &other.interconnect;
        self.l2 += &other.l2;
        self.l3 += &other.l3;
        self.dram += &other.dram;
    }
}

/// Interconnect, L2 slices, banks of the L3, memory channels and the image of memory.
///
/// Simulated time never goes back: launches share one system, and the cycle count continues from one to the
/// next. Within a cycle the blocks act in the order request network, slices, banks, channels,
/// reply network (M2).
#[derive(Debug, Capture)]
pub struct MemorySystem {
    image: Image,
    pub(super) ports: CorePorts,
    pub(super) slices: Vec<Slice>,
    /// One for each channel, or none.
    pub(super) banks: Vec<Bank>,
    pub(super) channels: Vec<Channel>,
    pub(super) requests: RequestNetwork,
    pub(super) replies: ReplyNetwork,
    pub(super) agenda: Agenda,
    /// Blocks of the agenda.
    #[spec]
    slice_blocks: Range<usize>,
    #[spec]
    bank_blocks: Range<usize>,
    #[spec]
    channel_blocks: Range<usize>,
    interconnect: InterconnectCounters,
    /// The first cycle that has not been simulated.
    pub(super) now: Cycle,
    #[spec]
    skip_idle_cycles: bool,
    /// A script that replaces networks, slices and channels.
    pub(super) scripted: Option<Scripted>,
}

impl MemorySystem {
    /// The memory side of a machine, and the ports of its cores in the order of cores. `memory` is the
    /// contents of device memory, `code` the words of the program.
    pub fn new(config: &Config, memory: Vec<u8>, code: &[u32]) -> (MemorySystem, Vec<MemoryPort>) {
        let (core_ends, ports): (Vec<_>, Vec<_>) =
            (0..config.cores).map(|core| core_port(core as u16, config)).unzip();
        let (cores, slices) = (config.cores as usize, config.l2.slices as usize);
        let [sources, sides, replies] = match config.interconnect.topology {
            Topology::Crossbar => [cores, slices, slices],
            Topology::Ring | Topology::Mesh | Topology::Edges => [1, 0, 1],
        };
        // In the order of a cycle (M2).
        let banks = config.l3.banks(&config.dram) as usize;
        let counts = [sources, sides, slices, banks, config.dram.channels as usize, replies];
        let (agenda, [sources, sides, slice_blocks, bank_blocks, channel_blocks, replies]) =
            Agenda::new(counts);
        let system = MemorySystem {
            image: Image::new(LineGeometry::new(config), memory, code),
            ports: CorePorts::new(ports),
            slices: slice_blocks
                .clone()
                .zip(0..)
                .map(|(block, index)| Slice::new(config, index, block))
                .collect(),
            banks: Bank::all(config, bank_blocks.clone()),
            channels: channel_blocks.clone().map(|block| Channel::new(config, block)).collect(),
            requests: RequestNetwork::new(config, sources, sides),
            replies: ReplyNetwork::new(config, replies),
            agenda,
            slice_blocks,
            bank_blocks,
            channel_blocks,
            interconnect: InterconnectCounters::default(),
            now: 0,
            skip_idle_cycles: true,
            scripted: None,
        };
        (system, core_ends)
    }

    /// Values of the counters of the plug-ins in its slices and banks.
    pub(crate) fn plug_in_counters(&self, add: &mut impl FnMut(&'static PlugIn, Vec<u64>)) {
        let slices = self.slices.iter().filter_map(Slice::plug_in_counters);
        for (plug_in, values) in slices.chain(self.banks.iter().filter_map(Bank::plug_in_counters)) {
            add(plug_in, values);
        }
    }

    /// Takes a core whose port has something to exchange: a reply was sent or a request taken since the last
    /// call that returned it.
    #[inline]
    pub(crate) fn take_touched(&mut self) -> Option<usize> {
        self.ports.take_touched()
    }

    /// Exchanges packets and credits between a core and this block, at the boundary of a quantum while
    /// neither runs. Needed at least once in every link latency (M1).
    #[inline]
    pub fn exchange(&mut self, core: &mut MemoryPort) {
        let i = usize::from(core.core());
        self.ports.exchange(core);
        if self.scripted.is_some() {
            return;
        }
        if let Some(arrival) = self.ports[i].requests.next_arrival() {
            self.requests.expect(i, arrival, &mut self.agenda);
        }
        self.replies.credits_return(&mut self.agenda);
    }

    /// Simulates cycles `from..to`.
    ///
    /// # Panics
    /// If `from` is before the cycle in which the last call ended (time never goes back), or after one in
    /// which something happens (time skips nothing).
    pub fn run(&mut self, from: Cycle, to: Cycle) {
        assert!(
            from >= self.now && self.next_event(self.now) >= from.min(to),
            "time goes on from {}",
            self.now
        );
        let mut now = from;
        while now < to {
            if self.skip_idle_cycles {
                now = now.max(self.next_event(now));
                if now >= to {
                    break;
                }
            }
            self.tick(now, to);
            now += 1;
        }
        self.now = to.max(from);
    }

    /// Replaces networks, slices and channels by a script. Only for a machine with one core, before its first
    /// launch.
    pub fn play(&mut self, script: Script, config: &Config) {
        self.scripted = Some(Scripted::new(script, config));
    }

    /// Simulates cycle `now`. Channels may run ahead of it, but not to `to`.
    fn tick(&mut self, now: Cycle, to: Cycle) {
        if let Some(scripted) = &mut self.scripted {
            return scripted.tick(now, &mut self.ports, &mut self.image);
        }
        let everything = !self.skip_idle_cycles;
        let (slices, banks, agenda) = (&mut self.slices, &mut self.banks, &mut self.agenda);
        // What takes the transfers of a slice: the bank of its channel, or the channel.
        let behind = if banks.is_empty() { self.channel_blocks.start } else { self.bank_blocks.start };
        let (ports, counters) = (&mut self.ports, &mut self.interconnect);
        agenda.begin(now, everything);
        self.requests.tick(now, everything, Surroundings { ports, slices, agenda, counters });
        while let Some(s) = agenda.take_due(&self.slice_blocks) {
            let effects = slices[s].tick(now, &mut self.image, agenda);
            if effects.took_request {
                self.requests.slice_has_room(s, agenda);
            }
            if let Some(ready) = effects.replied {
                self.replies.expect(s, ready, agenda);
            }
            if effects.to_memory {
                agenda.now(behind + s % self.channels.len());
            }
        }
        while let Some(b) = agenda.take_due(&self.bank_blocks) {
            if banks[b].tick(now, slices, agenda) {
                agenda.now(self.channel_blocks.start + b);
            }
        }
        while let Some(c) = agenda.take_due(&self.channel_blocks) {
            self.channels[c].tick((now, to), c, &mut InFront { slices, banks }, agenda);
        }
        self.replies.tick(now, everything, Surroundings { ports, slices, agenda, counters });
    }

    /// First cycle from `now` on in which something happens without another packet or credit from a core;
    /// [`NEVER`](crate::clock::NEVER) if nothing does. Refreshes of idle channels do not count.
    pub(crate) fn next_event(&self, now: Cycle) -> Cycle {
        if self.scripted.is_some() {
            return now;
        }
        self.agenda.next().max(now)
    }

    /// True if no packet waits, is on its way in or is being served, and no miss or write-back is
    /// outstanding. Packets on their way out to a core do not count.
    pub fn is_idle(&self) -> bool {
        self.ports.iter().all(|port| port.requests.is_empty())
            && self.scripted.as_ref().is_none_or(Scripted::is_idle)
            && self.requests.is_empty()
            && self.replies.is_empty()
            && self.slices.iter().all(Slice::is_idle)
            && self.banks.iter().all(Bank::is_idle)
            && self.channels.iter().all(Channel::is_idle)
    }

    /// Begins a release in every slice: all dirty bytes of the L2 go to memory, and the lines stay as clean
    /// lines (M30, M32).
    pub(crate) fn begin_release(&mut self) {
        if self.scripted.is_some() {
            return;
        }
        self.slices.iter_mut().for_each(|slice| slice.begin_release(&mut self.agenda));
    }

    /// True if no release is in progress: the last write of the last release was performed before the current
    /// cycle.
    pub(crate) fn is_released(&self) -> bool {
        self.slices.iter().all(Slice::is_released)
    }

    /// Performs a release at system scope that starts in cycle `from`. Returns the cycle in which it ends.
    ///
    /// # Panics
    /// If `from` is before the cycle in which [`run`](Self::run) ended.
    #[cfg(test)]
    pub(super) fn release(&mut self, from: Cycle) -> Cycle {
        self.run(self.now, from);
        self.begin_release();
        let mut now = from;
        while !self.is_released() {
            now = self.next_event(now) + 1;
            self.run(self.now, now);
        }
        now
    }

    /// The line at an address, as an L1 would get it now.
    pub fn line(&self, address: u64) -> LineData {
        let (line, slice) = self.slices[0].line_at(address);
        let mut data = self.image.read(line);
        self.slices[slice].copy_dirty(line, &mut data);
        data
    }

    /// The slice of the line at an address, and who holds the request of a core for it. A channel may have
    /// begun with what it holds: it is simulated up to where others can tell.
    pub fn holder(&self, address: u64) -> (usize, Holder) {
        let (line, slice) = self.slices[0].line_at(address);
        let held = self.slices[slice].holder(line);
        let channel = slice % self.channels.len();
        let held = match held {
            Some(Holder::Channel) => self.banks.get(channel).and_then(|bank| bank.holder(line)).or(held),
            _ => held,
        };
        let holder = match held {
            Some(Holder::Channel) => match self.channels[channel].place_of(line) {
                Some((bank, before)) => Holder::ChannelQueue { channel, bank, before },
                None => Holder::Channel,
            },
            Some(holder) => holder,
            None => Holder::Network,
        };
        (slice, holder)
    }

    /// The first cycle that has not been simulated.
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// Lines in a slice, in the order of its frames.
    pub fn l2_lines(&self, slice: usize) -> Vec<CacheLine> {
        self.slices.get(slice).map_or_else(Vec::new, |slice| slice.lines(&self.image))
    }

    /// Bytes of device memory.
    pub fn device_bytes(&self) -> u64 {
        self.image.memory().len() as u64
    }

    /// Addresses of device memory are below this one.
    pub(crate) fn end_of_addresses(&self) -> u64 {
        self.device_bytes() + self.scripted.as_ref().map_or(0, Scripted::first)
    }

    /// What the memory channels hold.
    pub(crate) fn image(&mut self) -> &mut Image {
        &mut self.image
    }

    /// Device memory as the host sees it: the contents of the memory channels, overlaid with the dirty bytes
    /// of the L2, which stay dirty. Takes no simulated time. Memory bytes below dirty ones are never read, so
    /// the simulation is not affected.
    pub(crate) fn host_memory(&mut self) -> &[u8] {
        self.slices.iter().for_each(|slice| slice.copy_dirty_to(&mut self.image));
        self.image.memory()
    }

    /// Lets something else execute on device memory as the L2 has it. Afterwards the L2 holds the lines of its trail, as
    /// far as there is room, and what is written has come through it.
    pub(crate) fn lend<T>(&mut self, to: impl FnOnce(&mut Vec<u8>) -> (T, Option<Trail>)) -> T {
        self.host_memory();
        let mut memory = Vec::new();
        self.image.swap_memory(&mut memory);
        let (result, trail) = to(&mut memory);
        self.image.swap_memory(&mut memory);
        self.image.replaced();
        for touched in trail.iter().flat_map(Trail::recent) {
            let (_, slice) = self.slices[0].line_at(touched.line);
            self.slices[slice].warm(touched);
            let channel = slice % self.channels.len();
            self.banks.get_mut(channel).into_iter().for_each(|bank| bank.warm(touched));
        }
        self.slices.iter_mut().for_each(|slice| slice.refresh(&self.image));
        result
    }

    /// Empties L2 and L3. What they alone had is in device memory, at no cost in time.
    pub(crate) fn empty_caches(&mut self) {
        self.host_memory();
        self.slices.iter_mut().for_each(Slice::empty);
        self.banks.iter_mut().for_each(Bank::empty);
    }

    /// Replaces the code of the program by code that begins with it. Lines of the caches that hold code stay.
    pub(crate) fn put_code(&mut self, code: &[u32]) {
        self.image.put_code(code);
    }

    /// Removes and returns device memory as the host sees it.
    pub fn into_memory(mut self) -> Vec<u8> {
        self.host_memory();
        self.image.into_memory()
    }

    /// Contents of the memory channels, without the dirty bytes of the L2.
    #[cfg(test)]
    pub(super) fn memory(&self) -> &[u8] {
        self.image.memory()
    }

    /// Simulates the memory clocks before core cycle `now` in every channel.
    fn settle(&mut self, now: Cycle) {
        let in_front = &mut InFront { slices: &mut self.slices, banks: &mut self.banks };
        self.channels.iter_mut().for_each(|channel| channel.settle(now, in_front, &mut self.agenda));
    }

    /// Counters up to the current cycle.
    pub fn counters(&mut self) -> MemoryCounters {
        let mut counters = MemoryCounters { interconnect: self.interconnect, ..Default::default() };
        self.settle(self.now);
        self.channels.iter().for_each(|channel| counters.dram += channel.counters());
        self.slices.iter().for_each(|slice| counters.l2 += slice.counters());
        self.banks.iter().for_each(|bank| counters.l3 += bank.counters());
        counters
    }

    /// Counters up to the cycle to which each channel has come: at least what was counted when a run began.
    pub(crate) fn counted(&self) -> MemoryCounters {
        let mut counters = MemoryCounters { interconnect: self.interconnect, ..Default::default() };
        self.channels.iter().for_each(|channel| counters.dram += channel.counters());
        self.slices.iter().for_each(|slice| counters.l2 += slice.counters());
        self.banks.iter().for_each(|bank| counters.l3 += bank.counters());
        counters
    }

    /// Counters of each L2 slice.
    pub fn slice_counters(&self) -> impl Iterator<Item = &L2Counters> {
        self.slices.iter().map(Slice::counters)
    }

    /// Counters of each link: first those of the request network, then those of the reply network, both in
    /// the order of [`Network`](crate::config::network::Network). Empty for a crossbar.
    pub fn links(&self) -> Vec<LinkCounters> {
        [self.requests.links(), self.replies.links()].concat()
    }

    /// Counters of each bank of the L3, in the order of channels; none without an L3.
    pub fn bank_counters(&self) -> impl Iterator<Item = &L3Counters> {
        self.banks.iter().map(Bank::counters)
    }

    /// Counters of each memory channel.
    pub fn channel_counters(&self) -> impl Iterator<Item = &DramCounters> {
        self.channels.iter().map(Channel::counters)
    }

    /// MSHRs in use over all slices, and requests in the queues of all channels.
    pub fn levels(&self) -> (u64, u64) {
        let mshrs: usize = self.slices.iter().map(Slice::mshrs_in_use).sum();
        let queued: usize = self.channels.iter().map(Channel::queued).sum();
        (mshrs as u64, queued as u64)
    }

    /// Appends what the memory side holds at the end of a cycle, up to which it has run.
    pub fn look(&mut self, cycle: Cycle, state: &mut State) {
        self.settle(cycle + 1);
        self.requests.look(cycle, &mut state.values);
        self.replies.look(cycle, &mut state.values);
        look_at_slices(cycle, &self.slices, &mut state.values);
        look_at_banks(cycle, &self.banks, &mut state.values);
        look_at_channels(cycle, &self.channels, state);
    }

    /// With `false`, simulates every block in every cycle, for comparison. The results are the same.
    pub(crate) fn set_skip_idle_cycles(&mut self, skip: bool) {
        self.skip_idle_cycles = skip;
    }

    /// Turns random delays of requests at the slices on or off.
    pub(crate) fn set_jitter(&mut self, jitter: Option<Jitter>) {
        self.slices.iter_mut().enumerate().for_each(|(s, slice)| slice.set_jitter(jitter, s));
    }

    /// Turns the recording of atomics performed by the L2 on or off.
    pub(crate) fn record_atomics(&mut self, record: bool) {
        self.slices.iter_mut().for_each(|slice| slice.record_atomics(record));
    }

    /// The atomics that the L2 has performed since the last call, those on one line in order.
    pub(crate) fn take_atomics(&mut self) -> impl Iterator<Item = PerformedAtomic> {
        self.slices.iter_mut().flat_map(Slice::take_atomics)
    }

    /// Turns the recording of requests' events in the L2 on or off.
    pub(crate) fn record_hops(&mut self, record: bool) {
        self.slices.iter_mut().for_each(|slice| slice.record_hops(record));
    }

    /// The events of requests since the last call, slice by slice, each in the order of its work.
    pub(crate) fn take_hops(&mut self) -> impl Iterator<Item = Hop> {
        self.slices.iter_mut().enumerate().flat_map(|(s, slice)| slice.take_hops(s))
    }

    /// Turns the recording of what the slices are asked on or off.
    pub(crate) fn record_accesses(&mut self, record: bool) {
        self.slices.iter_mut().for_each(|slice| slice.record_accesses(record));
    }

    /// The requests that slices have taken since the last call, slice by slice, each in the order of its work.
    pub(crate) fn take_accesses(&mut self) -> impl Iterator<Item = SliceAccess> {
        self.slices.iter_mut().enumerate().flat_map(|(s, slice)| slice.take_accesses(s))
    }

    /// Turns the recording of bursts on or off.
    pub(crate) fn record_bursts(&mut self, record: bool) {
        self.channels.iter_mut().for_each(|channel| channel.record_bursts(record));
    }

    /// The bursts of the memory channels since the last call, channel by channel. They agree with the counters
    /// after [`counters`](Self::counters).
    pub(crate) fn take_bursts(&mut self) -> impl Iterator<Item = Burst> {
        self.channels.iter_mut().flat_map(Channel::take_bursts)
    }

    /// Records every command of every memory channel from now on.
    pub fn record_commands(&mut self) {
        self.channels.iter_mut().for_each(Channel::record_commands);
    }

    /// The commands recorded so far for a channel.
    pub fn commands(&self, channel: usize) -> &[IssuedCommand] {
        self.channels[channel].commands()
    }
}
