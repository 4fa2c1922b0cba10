//! How much memory of the host a machine takes: known before it is made, from its configuration alone.
//!
//! Counted is what the blocks allocate when they are made, and at most need: registers, caches, local memory, queues, and
//! device memory. A kernel that uses less leaves pages of the host untouched. `tests/footprint.rs` measures how close
//! the sum is.

use crate::alu::{FRAGMENT_ROWS, MAX_SOURCE_ROWS};
use crate::config::network::Network;
use crate::config::{Config, Topology};
use crate::core::Core;
use crate::core::collector::Collector;
use crate::core::divergence::Frame;
use crate::core::slot::InFlight;
use crate::core::timing::UnitTiming;
use crate::core::wave::Wave;
use crate::memory::{Reply, Request, Values};
use wave_isa::MMA_FRAGMENTS;

/// Bytes of a return address on the call stack of a wave.
const CALL_BYTES: u64 = 16;
/// Bytes of an MSHR of an L1 with the line that it holds, without the accesses that wait for it; and of one of these.
const L1_MSHR_BYTES: u64 = 24 + 128 + 16 + 2 + 8;
const L1_WAITER_BYTES: u64 = 12;
/// Bytes of a frame beside its data: tag, replacement, valid sectors, dirty bytes; in an L2 also its miss.
const L1_FRAME_BYTES: u64 = 4 + 8 + 1 + 16;
const L2_FRAME_BYTES: u64 = L1_FRAME_BYTES + 2;
/// The same in a bank of the L3, which knows dirty sectors only.
const L3_FRAME_BYTES: u64 = L2_FRAME_BYTES - 15;
/// Bytes of an MSHR of a slice or a bank, and of sectors that come for it.
const L2_MSHR_BYTES: u64 = 64;
const FILL_BYTES: u64 = 16;
/// Bytes of an input, an output or a buffer of a router.
const ROUTER_PART_BYTES: u64 = 256;
/// Bytes of an entry of a route.
const WAY_BYTES: u64 = size_of::<Option<usize>>() as u64;

/// Memory of the host that a machine takes, by what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Footprint {
    /// Parts in bytes, each with its name.
    pub parts: Vec<(&'static str, u64)>,
}

impl Footprint {
    /// What a machine takes with this much device memory. `fragments`: the kernel uses matrix fragments.
    pub fn of(config: &Config, device_memory: u64, fragments: bool) -> Footprint {
        let cores = u64::from(config.cores);
        let slices = u64::from(config.l2.slices);
        let mut parts = vec![
            ("device memory", device_memory + device_memory / (64 << 10)),
            ("registers", cores * registers(config, fragments)),
            ("local memory", cores * u64::from(config.core.local_memory_bytes)),
            ("cores", cores * core(config)),
            ("L1 caches", cores * l1(config)),
            ("L2 cache", slices * slice(config)),
            ("interconnect", interconnect(config)),
        ];
        let banks = config.l3.banks(&config.dram);
        if banks > 0 {
            parts.push(("L3 cache", u64::from(banks) * bank(config)));
        }
        Footprint { parts }
    }

    /// The sum of the parts.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }
}

fn size<T>() -> u64 {
    size_of::<T>() as u64
}

fn registers(config: &Config, fragments: bool) -> u64 {
    let core = &config.core;
    let of_wave = 3 * (MMA_FRAGMENTS * FRAGMENT_ROWS) as u64 * u64::from(core.wave_width) * 4;
    let fragments = if fragments { u64::from(core.max_waves) * of_wave } else { 0 };
    u64::from(core.register_file_bytes) + fragments
}

/// Waves, collectors, units, the load/store unit and the instruction cache.
fn core(config: &Config) -> u64 {
    let core = &config.core;
    let [waves, width, schedulers] = [core.max_waves, core.wave_width, core.schedulers].map(u64::from);
    let stacks = u64::from(core.divergence_depth) * size::<Frame>() + u64::from(core.call_depth) * CALL_BYTES;
    let rows = MAX_SOURCE_ROWS as u64 * width * 4;
    let collectors = u64::from(core.registers.collectors) * (size::<Collector>() + 1 + rows);
    let horizon = UnitTiming::horizon(&UnitTiming::table(config)) as u64;
    let scheduler = collectors + horizon * 16 + 8 * u64::from(core.registers.banks) + 1024;
    let wheel = horizon * (size::<Vec<InFlight>>() + 4 * size::<InFlight>());
    // Operands, results, and up to two lines for each lane.
    let access = rows + 16 * width + 2 * width * 24 + 256;
    let accesses = u64::from(core.lsu.queue_entries + core.lsu.pending_entries) * access;
    let code = u64::from(core.fetch.icache_bytes / core.fetch.icache_line_bytes) * 4;
    size::<Core>()
        + waves * (size::<Wave>() + stacks + 8)
        + schedulers * scheduler
        + wheel
        + accesses
        + code
        + 8192
}

/// An L1, and the port of its core.
fn l1(config: &Config) -> u64 {
    let (l1, port) = (&config.core.l1, &config.interconnect);
    let frames = u64::from(l1.bytes / l1.line_bytes).max(1);
    let mshrs = u64::from(l1.mshrs) * (L1_MSHR_BYTES + u64::from(l1.mshr_merges) * L1_WAITER_BYTES);
    let entries = u64::from(port.queue_entries + 2 * port.latency_cycles);
    let packet = size::<Request>().max(size::<Reply>()) + 8;
    // Both ends of both links hold as many as there is room for, and credits.
    let links = 2 * entries * (2 * packet + 16);
    let values = u64::from(l1.mshrs).min(entries) * size::<Values>();
    u64::from(l1.bytes) + frames * L1_FRAME_BYTES + mshrs + links + values
}

fn slice(config: &Config) -> u64 {
    let (l2, line) = (&config.l2, config.core.l1.line_bytes);
    let frames = u64::from(l2.slice_bytes / line).max(1);
    let sectors = u64::from(line / config.core.l1.sector_bytes);
    let queues = u64::from(2 * l2.queue_entries + l2.hit_latency_cycles + config.interconnect.queue_entries);
    let mshrs = u64::from(l2.mshrs) * (L2_MSHR_BYTES + sectors * FILL_BYTES);
    let values = queues.min(256) * size::<Values>();
    u64::from(l2.slice_bytes) + frames * L2_FRAME_BYTES + queues * (size::<Request>() + 8) + mshrs + values
}

/// A bank of the L3, whose lines are in device memory.
fn bank(config: &Config) -> u64 {
    let (l3, line) = (&config.l3, config.core.l1.line_bytes);
    u64::from(l3.bank_bytes / line).max(1) * L3_FRAME_BYTES + u64::from(l3.mshrs) * L2_MSHR_BYTES
}

fn interconnect(config: &Config) -> u64 {
    let (cores, slices) = (u64::from(config.cores), u64::from(config.l2.slices));
    if config.interconnect.topology == Topology::Crossbar {
        return slices * (cores / 8 + 64) + 32 * (cores + slices);
    }
    let network = Network::new(config);
    let [routers, links] = [network.graph.node_count(), network.graph.edge_count()].map(|n| n as u64);
    let entries = u64::from(config.interconnect.link_credits) * 24;
    let parts = 2 * (cores + slices + 3 * links) * (ROUTER_PART_BYTES + entries);
    (cores + slices) * routers * WAY_BYTES + parts
}
