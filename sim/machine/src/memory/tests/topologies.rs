//! The whole hierarchy over rings, meshes and explicit graphs: latencies and bandwidths.

use super::*;
use crate::config::{Edge, Topology};
use crate::memory::geometry::SliceHash;

/// Cores at one router, slices at another, and a wide link between them.
pub(super) fn two_routers(config: &Config) -> Vec<Edge> {
    let edge = |from: String, to: &str, latency_cycles, bytes_per_cycle| Edge {
        from,
        to: to.into(),
        both_ways: true,
        latency_cycles,
        bytes_per_cycle,
        dateline: false,
    };
    let cores = (0..config.cores).map(|i| edge(format!("core{i}"), "cores", 1 + i % 2, 32));
    let slices = (0..config.l2.slices).map(|i| edge(format!("slice{i}"), "slices", 2, 16));
    cores.chain(slices).chain([edge("cores".into(), "slices", 5, 128)]).collect()
}

fn machine(topology: Topology) -> Config {
    let mut config = Config::example();
    config.interconnect.topology = topology;
    config.interconnect.edges = two_routers(&config);
    assert!(config.check().is_empty(), "{:?}", config.check());
    config
}

/// Cycles of the links between a core and a slice of the example machine, one way. Computed from their
/// places, not from the routes.
fn way(topology: Topology, core: u64, slice: u64) -> Cycle {
    // Sixteen cores and eight slices: two cores, a slice, and so on.
    let (c, s) = (core / 2 * 3 + core % 2, slice * 3 + 2);
    match topology {
        Topology::Crossbar => 0,
        Topology::Ring => 2 * c.abs_diff(s).min(24 - c.abs_diff(s)),
        Topology::Mesh => 2 * ((c % 6).abs_diff(s % 6) + (c / 6).abs_diff(s / 6)),
        Topology::Edges => 1 + core % 2 + 5 + 2,
    }
}

/// Rules M14 and N3: a load that misses in the L1 and hits in the L2 takes its cycles with a crossbar plus
/// the links there and back.
#[test]
fn an_l2_hit_takes_the_links_there_and_back_beside_the_rest() {
    for topology in [Topology::Crossbar, Topology::Ring, Topology::Mesh, Topology::Edges] {
        let config = machine(topology);
        let (hash, geometry) = (SliceHash::new(&config), crate::memory::geometry::LineGeometry::new(&config));
        let mut rig = Rig::new(&config, addresses(1 << 20));
        for line in (0..16).map(|i| i * 128) {
            let slice = hash.slice(geometry.number(line)) as u64;
            rig.load(0, line, 15);
            for core in 1..16 {
                rig.drain();
                let (cycles, data) = rig.load(core, line, 15);
                // A reply of 136 bytes: 5 cycles at the ports, 9 at the narrow links of the slices.
                let reply = if topology == Topology::Edges { 9 } else { 5 };
                let expected = 1 + 12 + 24 + (reply - 1) + 12 + 1 + 2 * way(topology, core as u64, slice);
                assert_eq!(cycles, expected, "{topology:?} core {core} slice {slice}");
                assert_eq!(word_of(&data, 4), line as u32 + 4);
            }
        }
    }
}

/// Every core reads whole lines of all slices from the L2. Returns the cycles per line.
fn from_l2(config: &Config) -> f64 {
    let mut rig = Rig::new(config, addresses(4 << 20));
    let lines = 512u64;
    for i in 0..lines {
        rig.load(0, i * 128, 15);
    }
    rig.drain();
    let (mut next, mut seen, mut start, mut end) = (vec![0; 16], 0u64, 0, 0);
    while seen < 12_000 {
        rig.step(&mut |now: Cycle, core: usize, l1: &mut Client| {
            if l1.take(now).is_some() {
                seen += 1;
                match seen {
                    2000 => start = now,
                    10_000 => end = now,
                    _ => {}
                }
            }
            let line = (next[core] * 7 + core as u64 * 32) % lines * 128;
            next[core] += u64::from(l1.access(now, &load(line, 15, CacheHint::Uncached)).is_ok());
            true
        });
    }
    (end - start) as f64 / 8000.0
}

/// All replies pass the one link between the routers: 136 bytes a line, `width` a cycle.
#[test]
fn a_narrow_place_that_every_reply_passes_gives_the_bandwidth() {
    for width in [16, 24, 34] {
        let mut config = machine(Topology::Edges);
        let trunk = config.interconnect.edges.last_mut().unwrap();
        trunk.bytes_per_cycle = width;
        config.interconnect.link_credits = 32;
        let (cycles, expected) = (from_l2(&config), f64::from(136u32.div_ceil(width)));
        assert!((cycles / expected - 1.0).abs() < 0.01, "{width}: {cycles} cycles a line, not {expected}");
    }
}
