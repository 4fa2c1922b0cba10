//! Everything behind the cores' ports, as one block.

use super::agenda::Agenda;
use super::crossbar::InterconnectCounters;
use super::dram::{Channel, DramCounters, Issued};
use super::fabric::LinkCounters;
use super::geometry::LineGeometry;
use super::hops::Hop;
use super::image::Image;
use super::l2::{Jitter, L2Counters, PerformedAtomic, Slice};
use super::network::{ReplyNetwork, RequestNetwork, Surroundings};
use super::port::{CorePorts, MemoryPort, core_port};
use super::scripted::{Script, Scripted};
use super::state::{State, look_at_channels, look_at_slices};
use crate::clock::Cycle;
use crate::config::Config;

/// What the memory side did since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryCounters {
    /// Interconnect.
    pub interconnect: InterconnectCounters,
    /// L2, over all slices.
    pub l2: L2Counters,
    /// Memory channels, over all channels.
    pub dram: DramCounters,
}

impl MemoryCounters {
    /// What was counted since `before`.
    pub fn since(&self, before: &MemoryCounters) -> MemoryCounters {
        MemoryCounters {
            interconnect: self.interconnect.since(&before.interconnect),
            l2: self.l2.since(&before.l2),
            dram: self.dram.since(&before.dram),
        }
    }
}

impl std::ops::AddAssign<&MemoryCounters> for MemoryCounters {
    fn add_assign(&mut self, other: &MemoryCounters) {
        self.interconnect += &other.interconnect;
        self.l2 += &other.l2;
        self.dram += &other.dram;
    }
}

/// Interconnect, L2 slices, memory channels and the image of memory.
///
/// Simulated time never goes back: several launches share one system, and the cycle goes on from one to
/// the next. Within a cycle the blocks act in the order request network, slices, channels, reply network.
#[derive(Debug, Clone)]
pub struct MemorySystem {
    image: Image,
    ports: CorePorts,
    slices: Vec<Slice>,
    channels: Vec<Channel>,
    requests: RequestNetwork,
    replies: ReplyNetwork,
    slice_agenda: Agenda,
    channel_agenda: Agenda,
    interconnect: InterconnectCounters,
    /// The first cycle that has not been simulated.
    now: Cycle,
    skip_idle_cycles: bool,
    /// What plays the part of networks, slices and channels, if anything does.
    scripted: Option<Scripted>,
}

impl MemorySystem {
    /// The memory side of a machine, with the contents of device memory and the program's code, and the
    /// ports of its cores in the order of cores.
    pub fn new(config: &Config, memory: Vec<u8>, code: &[u32]) -> (MemorySystem, Vec<MemoryPort>) {
        let (core_ends, ports): (Vec<_>, Vec<_>) =
            (0..config.cores).map(|core| core_port(core as u16, config)).unzip();
        let slices: Vec<_> = (0..config.l2.slices).map(|_| Slice::new(config)).collect();
        let channels: Vec<_> = (0..config.dram.channels).map(|_| Channel::new(config)).collect();
        let system = MemorySystem {
            image: Image::new(LineGeometry::new(config), memory, code),
            ports: CorePorts::new(ports),
            slice_agenda: Agenda::new(slices.len()),
            channel_agenda: Agenda::new(channels.len()),
            slices,
            channels,
            requests: RequestNetwork::new(config),
            replies: ReplyNetwork::new(config),
            interconnect: InterconnectCounters::default(),
            now: 0,
            skip_idle_cycles: true,
            scripted: None,
        };
        (system, core_ends)
    }

    /// A core for which a reply has been sent or a request taken since it was last returned: its port has something
    /// to carry across.
    #[inline]
    pub fn take_touched(&mut self) -> Option<usize> {
        self.ports.take_touched()
    }

    /// Carries packets and credits between a core and this block, at the boundary of a quantum: with
    /// neither running, at least once in every link latency.
    #[inline]
    pub fn exchange(&mut self, core: &mut MemoryPort) {
        let i = usize::from(core.core());
        self.ports.exchange(core);
        if self.scripted.is_some() {
            return;
        }
        if let Some(arrival) = self.ports[i].requests.next_arrival() {
            self.requests.expect(i, arrival);
        }
        self.replies.credits_return();
    }

    /// Simulates the cycles from `from` to `to`, without `to`.
    ///
    /// # Panics
    /// If `from` is before the cycle in which the last call ended, or after one in which something happens:
    /// time never goes back, and leaves nothing out.
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

    /// From now on a script takes the place of networks, slices and channels; on a machine with one core, before its
    /// first launch.
    pub fn play(&mut self, script: Script, config: &Config) {
        self.scripted = Some(Scripted::new(script, config));
    }

    /// Simulates a cycle of those before `to`.
    fn tick(&mut self, now: Cycle, to: Cycle) {
        if let Some(scripted) = &mut self.scripted {
            return scripted.tick(now, &mut self.ports, &mut self.image);
        }
        let everything = !self.skip_idle_cycles;
        self.requests.begin(now, everything);
        self.replies.begin(now, everything);
        for agenda in [&mut self.slice_agenda, &mut self.channel_agenda] {
            if everything { agenda.begin_all(now) } else { agenda.begin(now) }
        }
        let (slices, agenda) = (&mut self.slices, &mut self.slice_agenda);
        let (ports, counters) = (&mut self.ports, &mut self.interconnect);
        self.requests.tick(now, Surroundings { ports, slices, slice_agenda: agenda, counters });
        while let Some(s) = agenda.take_due() {
            let effects = slices[s].tick(now, s, &mut self.image, agenda);
            if effects.took_request {
                self.requests.slice_has_room(s);
            }
            if let Some(ready) = effects.replied {
                self.replies.expect(s, ready);
            }
            if effects.to_memory {
                self.channel_agenda.now(s % self.channels.len());
            }
        }
        while let Some(c) = self.channel_agenda.take_due() {
            self.channels[c].tick((now, to), c, slices, agenda, &mut self.channel_agenda);
        }
        self.replies.tick(now, Surroundings { ports, slices, slice_agenda: agenda, counters });
    }

    /// The first cycle from `now` on in which anything happens without a further packet or credit from a
    /// core; [`NEVER`](crate::clock::NEVER) if nothing does. Refreshes of idle channels do not count.
    pub fn next_event(&self, now: Cycle) -> Cycle {
        if self.scripted.is_some() {
            return now;
        }
        let network = self.requests.next().min(self.replies.next());
        network.min(self.slice_agenda.next()).min(self.channel_agenda.next()).max(now)
    }

    /// True if no packet is waiting, on its way in or being served, and no miss or write-back is
    /// outstanding. Packets that are on their way out to a core do not count.
    pub fn is_idle(&self) -> bool {
        self.ports.iter().all(|port| port.requests.is_empty())
            && self.scripted.as_ref().is_none_or(Scripted::is_idle)
            && self.requests.is_empty()
            && self.replies.is_empty()
            && self.slices.iter().all(Slice::is_idle)
            && self.channels.iter().all(Channel::is_idle)
    }

    /// Releases at system scope: everything that is dirty in the L2 from cycle `from` on reaches memory, as at the
    /// end of a kernel. The lines stay, clean. Returns the cycle after the last write was performed.
    ///
    /// # Panics
    /// If `from` is before the cycle in which [`run`](Self::run) ended.
    pub fn release(&mut self, from: Cycle) -> Cycle {
        self.run(self.now, from);
        if self.scripted.is_some() {
            return from;
        }
        for (s, slice) in self.slices.iter_mut().enumerate() {
            slice.begin_release();
            self.slice_agenda.soon(s);
        }
        let mut now = from;
        while !self.slices.iter().all(Slice::is_released) {
            now = self.next_event(now) + 1;
            self.run(self.now, now);
        }
        now
    }

    /// Device memory as far as it has reached the image; [`release`](Self::release) brings the rest.
    pub fn memory(&self) -> &[u8] {
        self.image.memory()
    }

    /// Device memory, after a release.
    pub fn into_memory(mut self) -> Vec<u8> {
        self.release(self.now);
        self.image.into_memory()
    }

    /// What the memory side did so far.
    pub fn counters(&mut self) -> MemoryCounters {
        let mut counters = MemoryCounters { interconnect: self.interconnect, ..Default::default() };
        for channel in &mut self.channels {
            channel.settle(self.now, &mut self.slices, &mut self.slice_agenda);
            counters.dram += channel.counters();
        }
        self.slices.iter().for_each(|slice| counters.l2 += slice.counters());
        counters
    }

    /// L2 slices, each with what it did.
    pub fn slice_counters(&self) -> impl Iterator<Item = &L2Counters> {
        self.slices.iter().map(Slice::counters)
    }

    /// What each link did, of the network for requests and then of that for replies, both in the order of
    /// [`Network`](crate::config::network::Network); nothing for a crossbar.
    pub fn links(&self) -> Vec<LinkCounters> {
        [self.requests.links(), self.replies.links()].concat()
    }

    /// Memory channels, each with what it did.
    pub fn channel_counters(&self) -> impl Iterator<Item = &DramCounters> {
        self.channels.iter().map(Channel::counters)
    }

    /// MSHRs of the slices in use, and requests in the queues of the channels.
    pub fn levels(&self) -> (u64, u64) {
        let mshrs: usize = self.slices.iter().map(Slice::mshrs_in_use).sum();
        let queued: usize = self.channels.iter().map(Channel::queued).sum();
        (mshrs as u64, queued as u64)
    }

    /// What the memory side holds at the end of a cycle, to which it has run; added to the values.
    pub fn look(&mut self, cycle: Cycle, state: &mut State) {
        for channel in &mut self.channels {
            channel.settle(cycle + 1, &mut self.slices, &mut self.slice_agenda);
        }
        self.requests.look(cycle, &mut state.values);
        self.replies.look(cycle, &mut state.values);
        look_at_slices(cycle, &self.slices, &mut state.values);
        look_at_channels(cycle, &self.channels, state);
    }

    /// Simulates every block in every cycle, for comparison: the results are the same.
    pub fn set_skip_idle_cycles(&mut self, skip: bool) {
        self.skip_idle_cycles = skip;
    }

    /// Delays requests at the slices at random from now on, or no more.
    pub fn set_jitter(&mut self, jitter: Option<Jitter>) {
        self.slices.iter_mut().enumerate().for_each(|(s, slice)| slice.set_jitter(jitter, s));
    }

    /// Keeps the atomics that the L2 performs from now on, or no more.
    pub fn record_atomics(&mut self, record: bool) {
        self.slices.iter_mut().for_each(|slice| slice.record_atomics(record));
    }

    /// The atomics that the L2 has performed since the last call, those to a line in their order.
    pub fn take_atomics(&mut self) -> impl Iterator<Item = PerformedAtomic> {
        self.slices.iter_mut().flat_map(Slice::take_atomics)
    }

    /// Keeps what happens to requests in the L2 from now on, or no more.
    pub fn record_hops(&mut self, record: bool) {
        self.slices.iter_mut().for_each(|slice| slice.record_hops(record));
    }

    /// What happened to requests since the last call, slice by slice, each in the order of its work.
    pub fn take_hops(&mut self) -> impl Iterator<Item = Hop> {
        self.slices.iter_mut().enumerate().flat_map(|(s, slice)| slice.take_hops(s))
    }

    /// Keeps every command of every memory channel from now on.
    pub fn record_commands(&mut self) {
        self.channels.iter_mut().for_each(Channel::record_commands);
    }

    /// The commands kept so far of a channel.
    pub fn commands(&self, channel: usize) -> &[Issued] {
        self.channels[channel].commands()
    }
}
