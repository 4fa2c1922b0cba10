//! Unloaded latencies to the cycle, against formulas written out here from the configuration.

use super::*;
use crate::registry::Requester;

const MEMORY: usize = 8 << 20;

/// Cycles for which a packet of `bytes` holds a port, less one.
pub(super) fn tail(config: &Config, bytes: u32) -> Cycle {
    Cycle::from(bytes.div_ceil(config.interconnect.port_bytes_per_cycle)) - 1
}

/// Rule M14: a load that misses in the L1 and hits in the L2.
pub(super) fn l2_hit(config: &Config, sectors: u8) -> Cycle {
    let wire = Cycle::from(config.interconnect.latency_cycles);
    let reply = 8 + sectors.count_ones() * config.core.l1.sector_bytes;
    1 + tail(config, 8) + wire + Cycle::from(config.l2.hit_latency_cycles) + tail(config, reply) + wire + 1
}

/// Cycle in which a line arrives at its slice, if the slice missed in cycle `miss` and the channel needs
/// `clocks` from the first command to the end of the data.
pub(super) fn fill_cycle(config: &Config, miss: Cycle, clocks: u64) -> Cycle {
    let (core, memory) = (u64::from(config.core_clock_mhz), u64::from(config.dram.clock_mhz));
    let first = ((miss + 1) * memory).div_ceil(core);
    ((first + clocks) * core).div_ceil(memory)
}

fn variants() -> Vec<Config> {
    let base = Config::example();
    let mut all = vec![base.clone()];
    for (wire, width, hit1, hit2, core_mhz, memory_mhz) in
        [(1, 8, 1, 1, 1000, 1000), (3, 16, 5, 7, 2000, 901), (20, 128, 30, 60, 900, 3200)]
    {
        let mut config = base.clone();
        config.interconnect.latency_cycles = wire;
        config.interconnect.port_bytes_per_cycle = width;
        config.core.l1.hit_latency_cycles = hit1;
        config.l2.hit_latency_cycles = hit2;
        config.core_clock_mhz = core_mhz;
        config.dram.clock_mhz = memory_mhz;
        all.push(config);
    }
    for (line, sector) in [(64, 32), (32, 32), (128, 128), (64, 16)] {
        let mut config = base.clone();
        config.core.l1.line_bytes = line;
        config.core.l1.sector_bytes = sector;
        all.push(config);
    }
    all
}

#[test]
fn an_l1_hit_takes_the_hit_latency() {
    for config in variants() {
        let mut rig = Rig::new(&config, addresses(MEMORY));
        rig.load(0, 4096, 1);
        rig.drain();
        let (cycles, data) = rig.load(0, 4096, 1);
        assert_eq!(cycles, Cycle::from(config.core.l1.hit_latency_cycles));
        assert_eq!(word_of(&data, 4), 4100);
    }
}

#[test]
fn an_l2_hit_takes_two_wires_the_hit_latency_and_the_packets() {
    for config in variants() {
        let mut rig = Rig::new(&config, addresses(MEMORY));
        let all = ((1u32 << (config.core.l1.line_bytes / config.core.l1.sector_bytes)) - 1) as u8;
        rig.load(1, 8192, all);
        rig.drain();
        for sectors in [1, all] {
            let (cycles, data) = rig.load(0, 8192, sectors);
            assert_eq!(cycles, l2_hit(&config, sectors), "sectors {sectors:b} of {:?}", config.core.l1);
            assert_eq!(word_of(&data, 0), 8192);
            rig.l1s[0].invalidate();
            rig.drain();
        }
    }
}

#[test]
fn a_store_is_acknowledged_after_its_packet_and_an_empty_reply() {
    let config = Config::example();
    let mut rig = Rig::new(&config, addresses(MEMORY));
    let wire = Cycle::from(config.interconnect.latency_cycles);
    let hit = Cycle::from(config.l2.hit_latency_cycles);
    let data = [3; MAX_LINE_BYTES];
    for sectors in 1..=4u32 {
        let operation = Operation::Store { byte_mask: u128::MAX >> (128 - 32 * sectors), data: &data };
        let access =
            Access { operation, hint: CacheHint::Cached, line: 0, by: Requester::NONE, owner: 1, epoch: 0 };
        let (cycles, _) = rig.one(0, &access);
        assert_eq!(cycles, 1 + tail(&config, 8 + 32 * sectors) + wire + hit + tail(&config, 8) + wire + 1);
        rig.drain();
    }
}

#[test]
fn an_l2_miss_adds_the_channel_by_the_state_of_its_bank() {
    for config in variants() {
        let d = config.dram;
        let mut rig = Rig::new(&config, addresses(MEMORY));
        let wire = Cycle::from(config.interconnect.latency_cycles);
        let line_bytes = u64::from(config.core.l1.line_bytes);
        // One slice and one channel see only this test's traffic. Find lines of one slice in the same row,
        // and in another row of the same bank.
        let hash = crate::memory::geometry::SliceHash::new(&config);
        let geometry = crate::memory::geometry::LineGeometry::new(&config);
        let mapping = crate::memory::dram::place_of(&config);
        let place = |line: u64| {
            let number = geometry.number(line);
            let slice = hash.slice(number);
            (slice, mapping(slice, hash.within_slice(number)))
        };
        let first = 64 * line_bytes;
        let lines: Vec<u64> = (65..MEMORY as u64 / line_bytes).map(|i| i * line_bytes).collect();
        let (slice, home) = place(first);
        let same_row = *lines
            .iter()
            .find(|&&l| place(l).0 == slice && (place(l).1.bank, place(l).1.row) == (home.bank, home.row))
            .unwrap();
        let conflict = *lines
            .iter()
            .find(|&&l| place(l).0 == slice && place(l).1.bank == home.bank && place(l).1.row != home.row)
            .unwrap();
        let bursts = config.core.l1.sector_bytes.div_ceil(d.burst_bytes);
        let columns = u64::from((bursts - 1) * d.t_ccd_l.max(d.burst_clocks()));
        let read = columns + u64::from(d.t_cl + d.burst_clocks());
        let cases = [
            (first, u64::from(d.t_rcd) + read, "empty"),
            (same_row, read, "hit"),
            (conflict, u64::from(d.t_rp + d.t_rcd) + read, "conflict"),
        ];
        for (line, clocks, what) in cases {
            let at_slice = rig.now + 1 + tail(&config, 8) + wire;
            let in_memory = fill_cycle(&config, at_slice, clocks) - at_slice;
            let (cycles, data) = rig.load(0, line, 1);
            assert_eq!(cycles, l2_hit(&config, 1) + in_memory, "{what} {:?}", config.interconnect);
            assert_eq!(word_of(&data, 0), line as u32);
            rig.drain();
        }
        let counters = rig.system.counters().dram;
        assert_eq!((counters.row_empties, counters.row_hits, counters.row_conflicts), (1, 1, 1));
    }
}

#[test]
fn an_atomic_at_the_l2_takes_as_long_as_its_packets() {
    let config = Config::example();
    let mut rig = Rig::new(&config, addresses(MEMORY));
    rig.load(1, 0, 1);
    rig.drain();
    let wire = Cycle::from(config.interconnect.latency_cycles);
    let hit = Cycle::from(config.l2.hit_latency_cycles);
    let (line, byte_mask, data) = word(8, 5);
    let scope = wave_isa::special::Scope::Device;
    let op = wave_isa::table::AtomicOp::Add;
    let operation = Operation::Atomic { op, scope, byte_mask, data: &data, swap: 0 };
    let (cycles, old) = rig.one(
        0,
        &Access { operation, hint: CacheHint::Cached, line, by: Requester::NONE, owner: 1, epoch: 0 },
    );
    assert_eq!(cycles, 1 + tail(&config, 40) + wire + hit + tail(&config, 40) + wire + 1);
    assert_eq!(word_of(&old, 8), 8);
}

#[test]
fn an_atomic_of_the_workgroup_hits_in_the_l1_and_reaches_the_l2() {
    let config = Config::example();
    let mut rig = Rig::new(&config, addresses(MEMORY));
    rig.load(0, 0, 1);
    rig.drain();
    let (line, byte_mask, data) = word(8, 5);
    let scope = wave_isa::special::Scope::Workgroup;
    let op = wave_isa::table::AtomicOp::Add;
    let operation = Operation::Atomic { op, scope, byte_mask, data: &data, swap: 0 };
    let access = Access { operation, hint: CacheHint::Cached, line, by: Requester::NONE, owner: 1, epoch: 0 };
    let start = rig.now;
    let mut seen = Vec::new();
    while seen.len() < 2 {
        rig.step(&mut |now: Cycle, core: usize, l1: &mut Client| {
            if core == 0 && now == start {
                l1.access(now, &access).unwrap();
            }
            if let Some(response) = l1.take(now) {
                seen.push((now - start, response.kind, word_of(&response.data, 8)));
            }
            true
        });
    }
    assert_eq!(seen[0], (Cycle::from(config.core.l1.hit_latency_cycles), ResponseKind::AtomicOld, 8));
    assert_eq!(seen[1].1, ResponseKind::Stored);
    assert_eq!(word_of(&rig.load(0, 0, 1).1, 8), 13);
    assert_eq!(word_of(&rig.load(1, 0, 1).1, 8), 13);
}

/// Rule M29: a miss takes the latency between slice and channel twice; a hit does not.
#[test]
fn the_way_to_memory_counts_there_and_back() {
    for config in variants() {
        let [near, far] = [0, 37].map(|latency| {
            let mut config = config.clone();
            config.dram.latency_cycles = latency;
            config.dram.t_refi = 0;
            let mut rig = Rig::new(&config, addresses(MEMORY));
            let (miss, data) = rig.load(0, 8192, 1);
            assert_eq!(word_of(&data, 0), 8192);
            rig.l1s[0].invalidate();
            let (hit, _) = rig.load(0, 8192, 1);
            // A release waits for its writes.
            rig.store_word(0, 4096, 5);
            [miss, hit, rig.release()]
        });
        assert_eq!([far[0] - near[0], far[1] - near[1]], [74, 0], "{:?}", config.dram);
        // It begins at another phase of the two clocks.
        assert!((far[2] - near[2]).abs_diff(74) <= 1, "{near:?} {far:?} {:?}", config.dram);
    }
}

/// Rule M39: a packet between partitions takes longer, and stays behind the packets of its core.
#[test]
fn a_slice_of_another_partition_takes_its_latency_there_and_back() {
    for (cores, partitions) in [(4, 2), (4, 4), (6, 2)] {
        let mut config = Config::example();
        config.cores = cores;
        config.l2.partitions = partitions;
        config.l2.partition_latency_cycles = 23;
        let mut rig = Rig::new(&config, addresses(MEMORY));
        let hash = crate::memory::geometry::SliceHash::new(&config);
        let geometry = crate::memory::geometry::LineGeometry::new(&config);
        let mut found = std::collections::BTreeSet::new();
        for line in (0..64).map(|line| line * 128) {
            rig.load(0, line, 1);
            rig.drain();
            for core in 0..cores {
                rig.l1s.iter_mut().for_each(|l1| l1.invalidate());
                let (cycles, data) = rig.load(core as usize, line, 1);
                let slice = hash.slice(geometry.number(line)) as u32;
                let near = slice * partitions / config.l2.slices == core * partitions / cores;
                found.insert((core, near));
                let way = if near { 0 } else { 2 * 23 };
                assert_eq!(cycles, l2_hit(&config, 1) + way, "core {core}, slice {slice}");
                assert_eq!(word_of(&data, 0), line as u32);
            }
        }
        assert_eq!(found.len() as u32, 2 * cores);
    }
}
