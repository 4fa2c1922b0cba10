//! What goes into the ports and what comes out of them, to the cycle, held against what was recorded. Random requests of
//! every kind, cores that take no reply for a while, and memory sides of every form.

use super::{MAX_LINE_BYTES, MemorySystem};
use crate::clock::Cycle;
use crate::config::{Config, DramPolicy, Topology};
use crate::memory::MemoryCounters;
use crate::memory::geometry::LineGeometry;
use crate::memory::message::{CODE_SPACE, Request, RequestKind, Values};
use crate::memory::tests::topologies::two_routers;
use fnv::FnvHasher;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use std::collections::HashMap;
use std::fmt::Write;
use std::hash::Hasher;
use wave_isa::table::{AtomicOp, CacheHint};

/// Bytes of device memory: more than the L2 of the machines here.
const MEMORY: u64 = 256 << 10;

/// Memory sides, with names.
fn machines() -> Vec<(&'static str, Config)> {
    let mut small = Config::example();
    (small.cores, small.l2.slice_bytes, small.l2.ways) = (6, 8 << 10, 4);
    let of = |name, change: &dyn Fn(&mut Config)| {
        let mut config = small.clone();
        change(&mut config);
        config.interconnect.edges = two_routers(&config);
        assert!(config.check().is_empty(), "{name}: {:?}", config.check());
        (name, config)
    };
    vec![
        of("crossbar", &|_| {}),
        of("short queues", &|c| {
            (c.l2.mshrs, c.l2.mshr_merges, c.l2.queue_entries, c.dram.queue_entries) = (2, 1, 1, 2);
            c.interconnect.queue_entries = 1;
        }),
        of("three channels, in order", &|c| {
            (c.l2.slices, c.dram.channels, c.dram.policy) = (6, 3, DramPolicy::Fcfs);
        }),
        of("other clocks", &|c| (c.core_clock_mhz, c.dram.clock_mhz) = (777, 3200)),
        of("no refresh, overtaken soon", &|c| (c.dram.t_refi, c.dram.overtake_limit) = (0, 2)),
        of("many cores", &|c| (c.cores, c.l2.slices, c.dram.channels) = (70, 72, 36)),
        of("ring", &|c| c.interconnect.topology = Topology::Ring),
        of("mesh", &|c| (c.interconnect.topology, c.interconnect.link_credits) = (Topology::Mesh, 1)),
        of("edges", &|c| c.interconnect.topology = Topology::Edges),
    ]
}

/// A random request of a core.
fn request(rng: &mut Pcg32, geometry: LineGeometry, slices: u32) -> Request {
    let bytes = geometry.line_bytes() as u64;
    // A third of the requests go to a few lines.
    let lines = if rng.random_range(0..3) == 0 { 8 } else { MEMORY / bytes };
    let line = rng.random_range(0..lines) * bytes;
    let tag = rng.random_range(0..=u32::MAX);
    let hint = [CacheHint::Cached, CacheHint::Streaming, CacheHint::Uncached][rng.random_range(0..3)];
    let mut data = [0; MAX_LINE_BYTES];
    data.iter_mut().for_each(|byte| *byte = rng.random_range(0..=255));
    let sectors = rng.random_range(1..1u32 << geometry.sectors()) as u8;
    let within = u128::MAX >> (128 - geometry.line_bytes());
    match rng.random_range(0..1000) {
        0..3 => Request::release(u64::from(rng.random_range(0..slices)) * bytes),
        3..50 => Request::read(tag, CODE_SPACE + line % 4096, sectors, CacheHint::Cached),
        50..600 => Request::read(tag, line, sectors, hint),
        600..900 => {
            let mask = geometry.bytes_of(sectors) & (u128::from(tag) << 64 | u128::from(!tag) | 0xFF << 32);
            let mask = if mask == 0 { within } else { mask };
            Request::write(tag, line, Values::new(mask, &data, 0), hint, geometry)
        }
        _ => {
            let op = AtomicOp::ALL[rng.random_range(0..AtomicOp::ALL.len())];
            let words = if op == AtomicOp::Cas { 0xF0 } else { 0xF0F_00FF & within };
            Request::atomic(tag, line, op, Values::new(words, &data, tag), geometry)
        }
    }
}

/// Plays random requests. Returns a hash of what was pushed and popped, with cycles, and of the end.
fn play(name: &str, config: &Config) -> (u64, u64, Cycle) {
    let geometry = LineGeometry::new(config);
    let memory = (0..MEMORY as u32).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
    let (mut system, mut ports) = MemorySystem::new(config, memory, &[7; 1024]);
    let mut rng = Pcg32::seed_from_u64(4);
    let (mut hash, mut replies, mut outstanding, mut now) = (FnvHasher::default(), 0, 0, 0);
    let quantum = Cycle::from(config.interconnect.latency_cycles);
    // Bytes of the answer to each request, by core and tag.
    let mut wanted: HashMap<(u16, u32), u128> = HashMap::new();
    let mut left = vec![1200 / u64::from(config.cores) * 4; ports.len()];
    while outstanding > 0 || left.iter().any(|&left| left > 0) || !system.is_idle() {
        assert!(now < 1_000_000, "no end of {name}: {outstanding} replies to come, {left:?} to send");
        for (port, left) in ports.iter_mut().zip(&mut left) {
            // Some cores take nothing for a whole quantum, and some quanta bring many requests.
            let (takes, sends) = (rng.random_range(0..5) > 0, [3, 40][usize::from(now % 4096 < 1024)]);
            for cycle in now..now + quantum {
                if takes && let Some(reply) = port.reply(cycle) {
                    hash.write_u64(cycle);
                    hash.write(format!("{:?}", reply.kind).as_bytes());
                    hash.write_u64(u64::from(reply.core) << 32 | u64::from(reply.tag));
                    hash.write_u64(reply.line ^ u64::from(reply.sectors) << 56);
                    let bytes = wanted[&(reply.core, reply.tag)];
                    (0..geometry.line_bytes())
                        .filter(|at| bytes >> at & 1 == 1)
                        .for_each(|at| hash.write_u8(reply.data()[at]));
                    port.pop_reply(cycle);
                    (replies, outstanding) = (replies + 1, outstanding - 1);
                }
                if *left > 0 && port.ready(cycle) && rng.random_range(0..sends) == 0 {
                    let request = request(&mut rng, geometry, config.l2.slices);
                    hash.write_u64(cycle);
                    hash.write_u64(request.line ^ u64::from(request.tag));
                    let bytes = match request.kind {
                        RequestKind::Read => geometry.bytes_of(request.sectors),
                        RequestKind::Atomic(_) => request.byte_mask(),
                        RequestKind::Write | RequestKind::Release => 0,
                    };
                    wanted.insert((port.core(), request.tag), bytes);
                    port.push(cycle, request);
                    (*left, outstanding) = (*left - 1, outstanding + 1);
                }
            }
        }
        system.run(now, now + quantum);
        ports.iter_mut().for_each(|port| system.exchange(port));
        now += quantum;
    }
    // As recorded when there was no L3.
    let MemoryCounters { interconnect, l2, dram, .. } = system.counters();
    let counters = format!("MemoryCounters {{ interconnect: {interconnect:?}, l2: {l2:?}, dram: {dram:?} }}");
    hash.write(format!("{counters} {:?}", system.links()).as_bytes());
    hash.write(&system.into_memory());
    (hash.finish(), replies, now)
}

#[test]
fn what_enters_and_leaves_the_ports_is_what_was_recorded() {
    let mut text = "# Hashes of what random requests and their replies are, and in which cycles: replies, last cycle, hash.\n"
        .to_owned();
    for (name, config) in machines() {
        let (hash, replies, end) = play(name, &config);
        assert!(replies > 1000, "{name}");
        writeln!(text, "{name}: {replies}, {end}, {hash:016x}").unwrap();
    }
    wave_testing::golden::check("sim/machine/tests/golden/ports.txt", &text);
}
