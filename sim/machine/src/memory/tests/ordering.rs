//! Random traffic against a flat model of memory.
//!
//! Every byte belongs to one core, but lines are shared. So a core knows exactly what each of its own bytes
//! must read as: what it last wrote, whatever hints, scopes, evictions, invalidations and stalls come
//! between. Bytes of other cores in the same line may be stale.

use super::*;
use crate::config::{AddressHash, L3, ReplacementPolicy, Topology, WritePolicy};
use crate::registry::Requester;
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg32;
use wave_isa::special::Scope;
use wave_isa::table::AtomicOp;

/// Bytes of device memory in these tests; few, so that lines collide.
const MEMORY: usize = 16 << 10;

/// Expected contents of a response.
#[derive(Clone)]
struct Expected {
    kind: ResponseKind,
    line: u64,
    /// Bytes whose value is known.
    mask: u128,
    data: LineData,
    /// Another response will follow, because the L1 performed the atomic.
    then_stored: bool,
    /// Epoch whose count the last response lowers.
    acknowledges: Option<usize>,
}

/// The access that a core tries to make until it is accepted.
struct Attempt {
    operation: Planned,
    hint: CacheHint,
    line: u64,
}

enum Planned {
    Load(u8),
    Store(u128, Box<LineData>),
    Atomic(AtomicOp, Scope, u128, Box<LineData>, u32),
}

struct RandomCore {
    rng: Pcg32,
    /// Accesses still to make.
    left: u32,
    attempt: Option<Attempt>,
    expected: Vec<Option<Expected>>,
    outstanding: usize,
    log: Vec<(Cycle, u32, ResponseKind, u64)>,
    /// Per epoch: stores that the L2 has not acknowledged.
    pending: [u32; 2],
    open: usize,
    /// The other epoch is being closed.
    round: bool,
    rounds: u32,
}

impl RandomCore {
    fn is_finished(&self) -> bool {
        self.left == 0 && self.attempt.is_none() && self.outstanding == 0
    }
}

/// A unit that drives every core with random accesses and checks what comes back.
struct Traffic {
    geometry: crate::memory::geometry::LineGeometry,
    writes_back: bool,
    model: Vec<u8>,
    cores: Vec<RandomCore>,
}

/// The bytes of a line that belong to a core: words alternate between cores.
fn own_bytes(core: usize, cores: usize, line: u64, line_bytes: usize) -> u128 {
    let words = (0..line_bytes / 4).filter(|w| (w + line as usize / line_bytes) % cores == core);
    words.fold(0, |mask, w| mask | 0xF << (4 * w))
}

impl Traffic {
    fn new(config: &Config, seed: u64, accesses: u32) -> Traffic {
        let cores = (0..config.cores)
            .map(|core| RandomCore {
                rng: Pcg32::seed_from_u64(seed * 1000 + u64::from(core)),
                left: accesses,
                attempt: None,
                expected: Vec::new(),
                outstanding: 0,
                log: Vec::new(),
                pending: [0; 2],
                open: 0,
                round: false,
                rounds: 0,
            })
            .collect();
        Traffic {
            geometry: crate::memory::geometry::LineGeometry::new(config),
            writes_back: config.core.l1.write_policy.writes_back(),
            model: addresses(MEMORY),
            cores,
        }
    }

    fn done(&self) -> bool {
        self.cores.iter().all(|core| core.is_finished() && core.pending == [0, 0])
    }

    fn plan(&mut self, core: usize) -> Attempt {
        let line_bytes = self.geometry.line_bytes();
        let count = self.cores.len();
        let rng = &mut self.cores[core].rng;
        // Half of the accesses go to a few lines.
        let lines = if rng.random_range(0..2) == 0 { 4 } else { MEMORY / line_bytes };
        let line = rng.random_range(0..lines) as u64 * line_bytes as u64;
        let own = own_bytes(core, count, line, line_bytes);
        let hint = match rng.random_range(0..6) {
            0 => CacheHint::Uncached,
            1 => CacheHint::Streaming,
            _ => CacheHint::Cached,
        };
        let mut data = Box::new([0; MAX_LINE_BYTES]);
        data.iter_mut().for_each(|byte| *byte = rng.random_range(0..=255));
        let any_of = |rng: &mut Pcg32, mask: u128| {
            let chosen = mask & (u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64()));
            if chosen == 0 || rng.random_range(0..4) == 0 { mask } else { chosen }
        };
        let operation = match rng.random_range(0..10) {
            0..5 => {
                let all = ((1u32 << self.geometry.sectors()) - 1) as u8;
                let chosen = rng.random_range(1..=all);
                Planned::Load(if rng.random_range(0..3) == 0 { all } else { chosen })
            }
            5..8 if own != 0 => Planned::Store(any_of(rng, own), data),
            8.. if own != 0 => {
                let words = (0..32).filter(|w| own >> (4 * w) & 1 == 1).collect::<Vec<u32>>();
                let op = AtomicOp::ALL[rng.random_range(0..AtomicOp::ALL.len())];
                let scope = Scope::ALL[rng.random_range(0..4)];
                let one = words[rng.random_range(0..words.len())];
                let mut mask = 0;
                words.iter().for_each(|w| {
                    let take = if op == AtomicOp::Cas { *w == one } else { rng.random_range(0..2) == 0 };
                    mask |= if take { 0xF << (4 * w) } else { 0 };
                });
                if mask == 0 {
                    mask = 0xF << (4 * one);
                }
                // Half of the compare-and-swaps find what they compare with, unless a write comes between.
                if op == AtomicOp::Cas && rng.random_range(0..2) == 0 {
                    let at = 4 * one as usize;
                    data[at..at + 4].copy_from_slice(&self.model[line as usize + at..][..4]);
                }
                Planned::Atomic(op, scope, mask, data, rng.random_range(0..=u32::MAX))
            }
            _ => Planned::Load(1),
        };
        Attempt { operation, hint, line }
    }

    /// Performs an accepted access in the model. Returns what its response must say.
    fn perform(&mut self, core: usize, attempt: &Attempt) -> Expected {
        let line_bytes = self.geometry.line_bytes();
        let own = own_bytes(core, self.cores.len(), attempt.line, line_bytes);
        let bytes = &mut self.model[attempt.line as usize..][..line_bytes];
        let mut expected = Expected {
            kind: ResponseKind::Loaded,
            line: attempt.line,
            mask: 0,
            data: [0; MAX_LINE_BYTES],
            then_stored: false,
            acknowledges: None,
        };
        expected.data[..line_bytes].copy_from_slice(bytes);
        match &attempt.operation {
            Planned::Load(sectors) => {
                let sector = self.geometry.sector_bytes();
                for i in (0..line_bytes as u32).filter(|i| sectors >> (i / sector) & 1 == 1) {
                    expected.mask |= own & 1 << i;
                }
            }
            Planned::Store(mask, data) => {
                expected.kind = ResponseKind::Stored;
                for i in (0..line_bytes).filter(|i| mask >> i & 1 == 1) {
                    bytes[i] = data[i];
                }
            }
            Planned::Atomic(op, scope, mask, data, swap) => {
                expected.kind = ResponseKind::AtomicOld;
                expected.mask = *mask;
                expected.then_stored = *scope < Scope::Device;
                for at in (0..line_bytes).step_by(4).filter(|at| mask >> at & 1 == 1) {
                    let word = |bytes: &[u8]| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
                    let result = op.apply(word(bytes), word(&data[..]), *swap);
                    bytes[at..at + 4].copy_from_slice(&result.to_le_bytes());
                }
            }
        }
        expected
    }
}

impl Unit for Traffic {
    fn cycle(&mut self, now: Cycle, core: usize, l1: &mut Client) -> bool {
        let line_bytes = self.geometry.line_bytes();
        let me = &mut self.cores[core];
        let dice = me.rng.random_range(0..1000);
        // Responses are refused now and then, at times for long.
        let stalled = now % 1000 / 100 == core as u64 % 10 || now % 100 < 25;
        if !stalled
            && dice % 4 != 0
            && let Some(response) = l1.take(now)
        {
            if response.kind == ResponseKind::WrittenBack {
                me.pending[response.owner as usize] -= 1;
                return dice % 7 != 0;
            }
            let slot = &mut me.expected[response.owner as usize];
            let expected = slot.take().expect("one response an access");
            assert_eq!(response.kind, expected.kind, "core {core}, line {:#x}", expected.line);
            for i in (0..line_bytes).filter(|i| expected.mask >> i & 1 == 1) {
                assert_eq!(
                    response.data[i], expected.data[i],
                    "core {core}, owner {}, byte {i} of line {:#x}, cycle {now}",
                    response.owner, expected.line
                );
            }
            let sum = (0..line_bytes).filter(|i| expected.mask >> i & 1 == 1).map(|i| response.data[i]);
            let sum = sum.fold(0u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
            me.log.push((now, response.owner, response.kind, sum));
            if expected.then_stored {
                let stored = Expected { kind: ResponseKind::Stored, mask: 0, then_stored: false, ..expected };
                *slot = Some(stored);
            } else {
                expected.acknowledges.into_iter().for_each(|epoch| me.pending[epoch] -= 1);
                me.outstanding -= 1;
            }
        }
        if dice == 0 {
            l1.invalidate();
        }
        if me.round && me.pending[1 - me.open] == 0 {
            me.round = false;
            me.rounds += 1;
        } else if !me.round && dice % 50 == 1 {
            me.open = 1 - me.open;
            me.round = true;
        }
        if self.cores[core].attempt.is_none() && self.cores[core].left > 0 && dice % 3 != 0 {
            self.cores[core].left -= 1;
            self.cores[core].attempt = Some(self.plan(core));
        }
        if let Some(attempt) = self.cores[core].attempt.take() {
            let operation = match &attempt.operation {
                Planned::Load(sectors) => Operation::Load { sectors: *sectors },
                Planned::Store(byte_mask, data) => Operation::Store { byte_mask: *byte_mask, data },
                Planned::Atomic(op, scope, byte_mask, data, swap) => {
                    Operation::Atomic { op: *op, scope: *scope, byte_mask: *byte_mask, data, swap: *swap }
                }
            };
            let owner = self.cores[core].expected.len() as u32;
            let access = Access {
                operation,
                hint: attempt.hint,
                line: attempt.line,
                by: Requester::NONE,
                owner,
                epoch: self.cores[core].open as u8,
            };
            let blocked = l1.is_blocked();
            let hits = l1.counters().hits;
            if let Ok(on_the_way) = l1.access(now, &access) {
                assert!(!blocked, "an access is accepted only when something has changed");
                let mut expected = self.perform(core, &attempt);
                let me = &mut self.cores[core];
                let stays = self.writes_back
                    && match &attempt.operation {
                        Planned::Load(_) => false,
                        Planned::Store(..) => attempt.hint != CacheHint::Uncached,
                        Planned::Atomic(..) => expected.then_stored && l1.counters().hits > hits,
                    };
                if on_the_way {
                    me.pending[me.open] += 1;
                    expected.acknowledges = (!stays).then_some(me.open);
                }
                expected.then_stored &= !stays;
                let answered = !(stays && expected.kind == ResponseKind::Stored);
                me.outstanding += usize::from(answered);
                me.expected.push(answered.then_some(expected));
            } else {
                self.cores[core].attempt = Some(attempt);
            }
        }
        dice % 7 != 0
    }

    fn closing(&self, core: usize) -> u8 {
        let core = &self.cores[core];
        match (core.is_finished(), core.round) {
            (true, _) => 3,
            (false, true) => 1 << (1 - core.open),
            (false, false) => 0,
        }
    }
}

/// Machines small enough for every kind of shortage.
fn machines() -> Vec<Config> {
    let mut base = Config::example();
    base.cores = 5;
    base.core.l1.hit_latency_cycles = 2;
    base.l2.slices = 4;
    base.dram.channels = 2;
    let mut tight = base.clone();
    tight.core.l1.bytes = 1024;
    tight.core.l1.ways = 2;
    tight.core.l1.mshrs = 2;
    tight.core.l1.mshr_merges = 2;
    tight.core.l1.hit_latency_cycles = 3;
    tight.interconnect.queue_entries = 1;
    tight.interconnect.latency_cycles = 4;
    tight.interconnect.port_bytes_per_cycle = 16;
    tight.l2.slice_bytes = 512;
    tight.l2.ways = 2;
    tight.l2.mshrs = 2;
    tight.l2.mshr_merges = 2;
    tight.l2.queue_entries = 1;
    tight.l2.hit_latency_cycles = 2;
    tight.dram.queue_entries = 2;
    let mut sectors = tight.clone();
    sectors.core.l1.sector_bytes = 16;
    sectors.core.l1.mshrs = 4;
    sectors.core.l1.mshr_merges = 8;
    sectors.l2.slice_bytes = 1024;
    sectors.l2.mshrs = 4;
    sectors.l2.mshr_merges = 4;
    sectors.l2.queue_entries = 4;
    sectors.dram.burst_bytes = 64;
    sectors.dram.policy = crate::config::DramPolicy::Fcfs;
    let mut whole = tight.clone();
    whole.core.l1.line_bytes = 64;
    whole.core.fetch.icache_line_bytes = 64;
    whole.core.l1.sector_bytes = 64;
    whole.core.l1.mshr_merges = 1;
    whole.l2.mshr_merges = 1;
    whole.dram.burst_bytes = 16;
    // The other topologies, with as few credits as possible.
    let with = |config: &Config, topology, credits| {
        let mut config = config.clone();
        config.interconnect.topology = topology;
        config.interconnect.link_credits = credits;
        config.interconnect.mesh_columns = 3;
        config
    };
    let mut ring = with(&tight, Topology::Ring, 1);
    ring.interconnect.arbitration = crate::config::Arbitration::Oldest;
    let mut mesh = with(&base, Topology::Mesh, 2);
    mesh.interconnect.link_bytes_per_cycle = 8;
    let mut own = with(&whole, Topology::Edges, 1);
    own.interconnect.edges = super::topologies::two_routers(&own);
    assert!(own.check().is_empty(), "{:?}", own.check());
    let mut machines = vec![base, tight, sectors, whole, ring, mesh, own];
    for (i, &replacement) in ReplacementPolicy::ALL.iter().enumerate() {
        let mut back = machines[1 + i % 4].clone();
        back.core.l1.write_policy = WritePolicy::WriteBack;
        (back.core.l1.replacement, back.l2.replacement) = (replacement, replacement);
        machines.push(back);
    }
    // An L3 that is smaller than the L2, and one with a single bank for all slices, with as little of everything as goes.
    let with_l3 = |config: &Config, bank_bytes, ways, replacement| {
        let mut config = config.clone();
        config.l3 = L3 { bank_bytes, ways, replacement, ..config.l3 };
        config
    };
    let large = with_l3(&machines[0], 16 << 10, 4, ReplacementPolicy::Lru);
    let mut tight = with_l3(&machines[1], 1024, 2, ReplacementPolicy::Fifo);
    (tight.dram.channels, tight.l3.mshrs, tight.l3.mshr_merges, tight.l3.queue_entries) = (1, 1, 1, 1);
    tight.l3.bytes_per_cycle = 8;
    let back = with_l3(&machines[9], 2048, 4, ReplacementPolicy::Random);
    // Slices at two distances, and every choice of an address hash that is not the usual one.
    let mut far = machines[1].clone();
    far.cores = 4;
    (far.l2.partitions, far.l2.partition_latency_cycles, far.dram.latency_cycles) = (2, 7, 9);
    (far.core.l1.set_hash, far.l2.set_hash) = (AddressHash::Xor, AddressHash::Xor);
    (far.dram.drain_high, far.dram.drain_low) = (2, 1);
    (far.l2.slice_hash, far.dram.bank_hash) = (AddressHash::None, AddressHash::None);
    for machine in [large, tight, back, far] {
        assert!(machine.check().is_empty(), "{:?}", machine.check());
        machines.push(machine);
    }
    machines
}

fn run(config: &Config, seed: u64, accesses: u32, quantum: Cycle, skip: bool) -> (Rig, Traffic) {
    let mut traffic = Traffic::new(config, seed, accesses);
    let mut rig = Rig::new(config, traffic.model.clone());
    rig.quantum = quantum;
    rig.system.set_skip_idle_cycles(skip);
    while !traffic.done() {
        rig.step(&mut traffic);
    }
    (rig, traffic)
}

#[test]
fn every_core_sees_its_own_accesses_in_order() {
    for (machine, config) in machines().iter().enumerate() {
        for seed in 0..6 {
            let quantum = Cycle::from(config.interconnect.latency_cycles);
            let (mut rig, traffic) = run(config, seed + 100 * machine as u64, 1500, quantum, true);
            rig.drain();
            assert!(rig.system.is_idle());
            assert_eq!(rig.system.into_memory(), traffic.model, "machine {machine}, seed {seed}");
        }
    }
}

#[test]
fn every_shortage_and_outcome_occurs_in_this_traffic() {
    let mut l1 = crate::memory::L1Counters::default();
    let mut l2 = crate::memory::L2Counters::default();
    let mut l3 = crate::memory::L3Counters::default();
    for (machine, config) in machines().iter().enumerate() {
        let quantum = Cycle::from(config.interconnect.latency_cycles);
        let (mut rig, _) = run(config, 100 * machine as u64, 1500, quantum, true);
        rig.l1s.iter().for_each(|one| l1 += one.counters());
        let memory = rig.system.counters();
        l2 += &memory.l2;
        l3 += &memory.l3;
        if config.l3.is_there() {
            // What slices fetch and write back is what the banks see, and what these fetch is what they count.
            let sectors = memory.l2.fetched_sectors;
            assert_eq!(memory.l3.read_sectors, sectors, "machine {machine}");
            assert_eq!(memory.l3.writes, memory.l2.write_backs, "machine {machine}");
        }
    }
    for (name, count) in [
        ("L1 hits", l1.hits),
        ("L1 MSHR hits", l1.mshr_hits),
        ("L1 sector misses", l1.sector_misses),
        ("L1 misses", l1.misses),
        ("no MSHR", l1.fails_mshr),
        ("merge limit", l1.fails_merge),
        ("outgoing full", l1.fails_outgoing),
        ("responses full", l1.fails_responses),
        ("behind an atomic", l1.fails_order),
        ("L1 evictions", l1.evictions),
        ("store hits", l1.store_hits),
        ("L2 hits", l2.hits),
        ("L2 MSHR hits", l2.mshr_hits),
        ("L2 sector misses", l2.sector_misses),
        ("L2 stalls", l2.reservation_fails),
        ("L2 write-backs", l2.write_backs),
        ("L2 evictions", l2.evictions),
        ("L3 hits", l3.hits),
        ("L3 sector misses", l3.sector_misses),
        ("L3 stalls", l3.reservation_fails),
        ("L3 write-backs", l3.write_backs),
        ("L3 evictions", l3.evictions),
    ] {
        assert!(count >= 5, "{name}: {count}");
    }
    assert_eq!(l1.hits + l1.mshr_hits + l1.sector_misses + l1.misses + l1.uncached_loads, {
        l1.loads + l1.atomics
    });
    assert_eq!(l2.hits + l2.mshr_hits + l2.sector_misses + l2.misses, l2.reads + l2.writes + l2.atomics);
    assert_eq!(l3.hits + l3.mshr_hits + l3.sector_misses + l3.misses, l3.reads + l3.writes);
}

#[test]
fn skipping_idle_cycles_and_the_quantum_change_nothing() {
    for config in &machines() {
        let latency = Cycle::from(config.interconnect.latency_cycles);
        let (mut reference, alone) = run(config, 77, 600, 1, false);
        let (expected, memory) = (reference.system.counters(), reference.system.host_memory().to_vec());
        for (quantum, skip) in [(latency, false), (1, true), (3, true), (latency, true)] {
            let (mut rig, traffic) = run(config, 77, 600, quantum, skip);
            for (core, mine) in traffic.cores.iter().enumerate() {
                let theirs = &alone.cores[core].log;
                let first = (0..mine.log.len().max(theirs.len())).find(|&i| mine.log.get(i) != theirs.get(i));
                if let Some(i) = first {
                    let (a, b) = (mine.log.get(i), theirs.get(i));
                    panic!("core {core}, quantum {quantum}, skip {skip}: entry {i} is {a:?}, not {b:?}");
                }
                assert_eq!(rig.l1s[core].counters(), reference.l1s[core].counters());
            }
            // The runs end at different boundaries; only refreshes happen in between.
            let (mut mine, mut theirs) = (rig.system.counters(), expected);
            mine.dram.refreshes = 0;
            mine.dram.precharges = 0;
            theirs.dram.refreshes = 0;
            theirs.dram.precharges = 0;
            assert_eq!(mine, theirs);
            assert_eq!(rig.system.into_memory(), memory);
        }
    }
}
