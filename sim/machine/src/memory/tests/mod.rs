//! Tests of the hierarchy as a whole: L1s on one side, the memory system on the other.

mod bandwidth;
mod coherence;
mod contention;
mod l3;
mod latency;
mod ordering;
mod ports;
mod topologies;

use super::message::{MAX_LINE_BYTES, Reply};
use super::{Access, L1, LineData, MemoryPort, MemorySystem, Operation, ResponseKind, l1::Reject};
use crate::clock::Cycle;
use crate::config::Config;
use crate::registry::Requester;
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use wave_isa::table::CacheHint;

/// An L1, and the values served to accesses whose response is still to come, by owner.
pub(super) struct Client {
    l1: L1,
    served: HashMap<u32, LineData>,
}

/// A response with its values.
pub(super) struct Taken {
    pub(super) owner: u32,
    pub(super) kind: ResponseKind,
    pub(super) data: LineData,
}

impl Client {
    fn new(config: &Config) -> Client {
        Client { l1: L1::new(config, 0), served: HashMap::new() }
    }

    pub(super) fn access(&mut self, now: Cycle, access: &Access) -> Result<bool, Reject> {
        self.l1.access(now, access, &mut keep(&mut self.served))
    }

    fn accept(&mut self, now: Cycle, reply: &Reply) -> bool {
        self.l1.accept(now, reply, &mut keep(&mut self.served))
    }

    /// Takes the response of this cycle.
    pub(super) fn take(&mut self, now: Cycle) -> Option<Taken> {
        let response = self.l1.take_response(now, true)?;
        let data = self.served.get(&response.owner).copied().unwrap_or([0; MAX_LINE_BYTES]);
        Some(Taken { owner: response.owner, kind: response.kind, data })
    }
}

impl Deref for Client {
    type Target = L1;

    fn deref(&self) -> &L1 {
        &self.l1
    }
}

impl DerefMut for Client {
    fn deref_mut(&mut self) -> &mut L1 {
        &mut self.l1
    }
}

/// Stores the values of an owner.
pub(super) fn keep(served: &mut HashMap<u32, LineData>) -> impl FnMut(u32, &[u8]) {
    |owner, line| {
        let mut data = [0; MAX_LINE_BYTES];
        data[..line.len()].copy_from_slice(line);
        served.insert(owner, data);
    }
}

/// Cores that consist of an L1 only, and the memory side.
pub(super) struct Rig {
    pub(super) system: MemorySystem,
    pub(super) ports: Vec<MemoryPort>,
    pub(super) l1s: Vec<Client>,
    pub(super) now: Cycle,
    pub(super) quantum: Cycle,
}

/// What a load/store unit does with its L1 in a cycle: it takes a response and makes an access.
pub(super) trait Unit {
    /// Simulates a cycle of core `core`. Returns false if the core takes no reply in this cycle.
    fn cycle(&mut self, now: Cycle, core: usize, l1: &mut Client) -> bool;

    /// The epochs that the core is closing, as bits.
    fn closing(&self, _core: usize) -> u8 {
        0
    }
}

impl<F: FnMut(Cycle, usize, &mut Client) -> bool> Unit for F {
    fn cycle(&mut self, now: Cycle, core: usize, l1: &mut Client) -> bool {
        self(now, core, l1)
    }
}

impl Rig {
    pub(super) fn new(config: &Config, memory: Vec<u8>) -> Rig {
        let (system, ports) = MemorySystem::new(config, memory, &[]);
        let l1s = ports.iter().map(|_| Client::new(config)).collect();
        let quantum = Cycle::from(config.interconnect.latency_cycles);
        Rig { system, ports, l1s, now: 0, quantum }
    }

    /// Releases the L2. Returns the cycles that this takes.
    pub(super) fn release(&mut self) -> Cycle {
        let start = self.now;
        self.now = self.system.release(start);
        self.now - start
    }

    /// Simulates one quantum.
    pub(super) fn step(&mut self, unit: &mut impl Unit) {
        assert!(self.now < 2_000_000, "no end");
        let until = self.now + self.quantum;
        for (core, (l1, port)) in self.l1s.iter_mut().zip(&mut self.ports).enumerate() {
            for now in self.now..until {
                let takes = unit.cycle(now, core, l1);
                if takes && port.reply(now).is_some_and(|reply| l1.accept(now, reply)) {
                    port.pop_reply(now);
                }
                l1.tick(now, port, unit.closing(core), &mut |_| ());
            }
        }
        self.system.run(self.now, until);
        self.ports.iter_mut().for_each(|port| self.system.exchange(port));
        self.now = until;
    }

    /// Makes one access on core `core` in the first cycle of the next quantum and waits for its first
    /// response. Returns the cycles that it took and the data.
    pub(super) fn one(&mut self, core: usize, access: &Access) -> (Cycle, LineData) {
        let start = self.now;
        let mut done = None;
        while done.is_none() {
            self.step(&mut |now: Cycle, c: usize, l1: &mut Client| {
                if c == core && now == start {
                    l1.access(now, access).unwrap();
                }
                if let Some(response) = l1.take(now)
                    && done.is_none()
                    && c == core
                {
                    assert_eq!(response.owner, access.owner);
                    done = Some((now - start, response.data));
                }
                true
            });
        }
        done.unwrap()
    }

    /// Simulates until nothing happens any more, taking every response.
    pub(super) fn drain(&mut self) {
        let mut quiet = 0;
        while quiet < 3 {
            self.step(&mut |now: Cycle, _: usize, l1: &mut Client| {
                l1.take(now);
                true
            });
            let idle = self.system.is_idle() && self.l1s.iter().all(|l1| l1.is_idle());
            quiet = if idle { quiet + 1 } else { 0 };
        }
    }

    pub(super) fn load(&mut self, core: usize, line: u64, sectors: u8) -> (Cycle, LineData) {
        self.one(core, &load(line, sectors, CacheHint::Cached))
    }

    pub(super) fn store_word(&mut self, core: usize, address: u64, value: u32) {
        let (line, byte_mask, data) = word(address, value);
        let operation = Operation::Store { byte_mask, data: &data };
        self.one(
            core,
            &Access { operation, hint: CacheHint::Cached, line, by: Requester::NONE, owner: 7, epoch: 0 },
        );
    }
}

pub(super) fn load(line: u64, sectors: u8, hint: CacheHint) -> Access<'static> {
    Access { operation: Operation::Load { sectors }, hint, line, by: Requester::NONE, owner: 5, epoch: 0 }
}

/// Line, mask and data of one word, for lines of 128 bytes.
pub(super) fn word(address: u64, value: u32) -> (u64, u128, LineData) {
    let at = (address % 128) as usize;
    let mut data = [0; MAX_LINE_BYTES];
    data[at..at + 4].copy_from_slice(&value.to_le_bytes());
    (address - at as u64, 0xF << at, data)
}

pub(super) fn word_of(data: &LineData, at: usize) -> u32 {
    u32::from_le_bytes(data[at..at + 4].try_into().unwrap())
}

/// A memory in which every word holds its own address.
pub(super) fn addresses(bytes: usize) -> Vec<u8> {
    (0..bytes as u32 / 4).flat_map(|i| (i * 4).to_le_bytes()).collect()
}
