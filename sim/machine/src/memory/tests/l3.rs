//! The L3: unloaded latencies to the cycle, what its banks hold, and how much they move.

use super::latency::{fill_cycle, l2_hit, tail};
use super::*;
use crate::memory::L3Counters;

const MEMORY: usize = 8 << 20;

/// The example with an L3 of a size that holds a part of memory, and an L2 that holds little.
fn machine() -> Config {
    let mut config = Config::example();
    config.l2.slice_bytes = 4 << 10;
    config.l3.bank_bytes = 256 << 10;
    config.l3.hit_latency_cycles = 17;
    config.dram.t_refi = 0;
    config
}

fn variants() -> Vec<Config> {
    let base = machine();
    let mut all = vec![base.clone()];
    for (latency, width, channels, clock) in [(1, 8, 8, 1000), (40, 128, 2, 3200), (300, 16, 1, 901)] {
        let mut config = base.clone();
        config.l3.hit_latency_cycles = latency;
        config.l3.bytes_per_cycle = width;
        config.dram.channels = channels;
        config.dram.clock_mhz = clock;
        all.push(config);
    }
    all
}

/// Fills the L2 with other lines.
fn evict_from_l2(rig: &mut Rig, config: &Config) {
    let lines = u64::from(config.l2.slices * config.l2.slice_bytes / 128);
    rig.l1s[1].invalidate();
    for line in 0..2 * lines {
        rig.load(1, (4 << 20) + line * 128, 0xF);
    }
    rig.drain();
}

fn l3(rig: &mut Rig) -> L3Counters {
    rig.system.counters().l3
}

/// Rule M38: a load that misses in the L2 and hits in the L3 takes the bank's queue, its sectors and its latency more.
#[test]
fn a_hit_takes_the_latency_of_the_bank_and_its_sectors() {
    for config in variants() {
        let mut rig = Rig::new(&config, addresses(MEMORY));
        rig.load(0, 8192, 0xF);
        rig.drain();
        evict_from_l2(&mut rig, &config);
        for sectors in [1u8, 0xF] {
            rig.l1s[0].invalidate();
            let before = l3(&mut rig);
            let (cycles, data) = rig.load(0, 8192, sectors);
            let hits = l3(&mut rig).hits - before.hits;
            let bytes = 32 * sectors.count_ones();
            let in_bank = Cycle::from(bytes.div_ceil(config.l3.bytes_per_cycle)) - 1
                + Cycle::from(config.l3.hit_latency_cycles);
            assert_eq!((cycles, hits), (l2_hit(&config, sectors) + 1 + in_bank, 1), "{:?}", config.l3);
            assert_eq!(word_of(&data, 4), 8196);
            evict_from_l2(&mut rig, &config);
        }
    }
}

/// Rule M38: a load that misses everywhere waits for the channel, which sees the bank's transfer one cycle later.
#[test]
fn a_miss_adds_the_channel() {
    for config in variants() {
        let d = config.dram;
        let mut rig = Rig::new(&config, addresses(MEMORY));
        let wire = Cycle::from(config.interconnect.latency_cycles);
        let at_slice = rig.now + 1 + tail(&config, 8) + wire;
        let columns =
            u64::from(32u32.div_ceil(d.burst_bytes) - 1) * u64::from(d.t_ccd_l.max(d.burst_clocks()));
        let clocks = u64::from(d.t_rcd + d.t_cl + d.burst_clocks()) + columns;
        let at_bank = fill_cycle(&config, at_slice + 1, clocks);
        let in_bank = Cycle::from(32u32.div_ceil(config.l3.bytes_per_cycle)) - 1
            + Cycle::from(config.l3.hit_latency_cycles);
        let (cycles, data) = rig.load(0, 64 * 128, 1);
        assert_eq!(cycles, l2_hit(&config, 1) + at_bank - at_slice + in_bank, "{:?}", config.l3);
        assert_eq!(word_of(&data, 0), 64 * 128);
        assert_eq!(l3(&mut rig).misses, 1);
    }
}

/// A dirty line of the L2 ends in the L3, from where it is read again, and reaches the memory device when it leaves.
#[test]
fn written_lines_stay_until_another_one_needs_their_frame() {
    let config = machine();
    let mut rig = Rig::new(&config, addresses(MEMORY));
    rig.store_word(0, 0x2000, 77);
    evict_from_l2(&mut rig, &config);
    let counters = rig.system.counters();
    assert_eq!((counters.l2.write_backs, counters.l3.writes, counters.dram.writes), (1, 1, 0));
    assert_eq!(word_of(&rig.load(1, 0x2000, 1).1, 0), 77);
    // The sector was written in part, so the rest of it comes from memory.
    assert_eq!(l3(&mut rig).sector_misses, 1);
    let lines = u64::from(config.dram.channels * config.l3.bank_bytes / 128);
    for line in 0..2 * lines {
        rig.load(1, (2 << 20) + line * 128, 1);
    }
    rig.drain();
    let counters = rig.system.counters();
    assert_eq!((counters.l3.write_backs, counters.dram.written_bytes), (1, 32));
}

/// A line that is written whole is read again without memory.
#[test]
fn sectors_that_are_written_whole_are_valid() {
    let config = machine();
    let mut rig = Rig::new(&config, addresses(MEMORY));
    let data = [9; MAX_LINE_BYTES];
    let operation = Operation::Store { byte_mask: u128::MAX, data: &data };
    let access =
        Access { operation, hint: CacheHint::Cached, line: 0x2000, by: Requester::NONE, owner: 7, epoch: 0 };
    rig.one(0, &access);
    evict_from_l2(&mut rig, &config);
    let before = rig.system.counters();
    assert_eq!(rig.load(0, 0x2000, 0xF).1[..128], data[..128]);
    let after = rig.system.counters();
    assert_eq!((after.l3.hits - before.l3.hits, after.dram.reads - before.dram.reads), (1, 0));
}

/// A release of the L2 is over when its writes are in the L3, which is on the side of the memory.
#[test]
fn a_release_ends_in_the_banks() {
    let mut config = machine();
    let cycles = |config: &Config| {
        let mut rig = Rig::new(config, addresses(MEMORY));
        rig.load(0, 0, 1);
        rig.store_word(0, 4, 5);
        rig.drain();
        let cycles = rig.release();
        assert_eq!(word_of(rig.system.memory()[..128].try_into().unwrap(), 4), 5);
        (cycles, rig.system.counters().dram.writes)
    };
    // The walk's turn, the bank's turn, and the cycle after the sector.
    assert_eq!(cycles(&config), (3, 0));
    config.l3.bank_bytes = 0;
    let (without, writes) = cycles(&config);
    assert!(without > 3 && writes == 1);
}

/// A write of a line that the bank fetches waits behind the fetch.
#[test]
fn a_write_behind_a_miss_waits_for_it() {
    let config = machine();
    let mut rig = Rig::new(&config, addresses(MEMORY));
    rig.store_word(0, 0x2000, 1);
    rig.drain();
    let (start, mut value) = (rig.now, None);
    let mut unit = |now: Cycle, core: usize, l1: &mut Client| {
        if core == 0 && now == start {
            l1.access(now, &load(0x2000, 0b10, CacheHint::Cached)).unwrap();
        }
        value = value.or(l1.take(now).map(|taken| word_of(&taken.data, 32)));
        true
    };
    // The L2 asks for the sector that it lacks, and then lets go of the other one.
    while rig.system.counters().dram.requests == 0 {
        rig.step(&mut unit);
    }
    rig.system.begin_release();
    while rig.system.counters().l3.mshr_hits == 0 {
        rig.step(&mut unit);
    }
    assert!(!rig.system.is_released(), "the fetch takes longer");
    (0..40).for_each(|_| rig.step(&mut unit));
    assert!(rig.system.is_released());
    assert_eq!(value, Some(0x2020));
    let counters = rig.system.counters();
    assert_eq!((counters.l3.reads, counters.l3.writes, counters.dram.writes), (1, 1, 0));
}

/// A stream over lines that the L3 holds moves as many bytes a cycle as the banks do.
#[test]
fn the_width_of_the_banks_bounds_a_stream() {
    let mut config = machine();
    config.l3.bytes_per_cycle = 4;
    let lines = 512;
    let mut rig = Rig::new(&config, addresses(MEMORY));
    (0..lines).for_each(|line| _ = rig.load(0, line * 128, 0xF));
    evict_from_l2(&mut rig, &config);
    rig.l1s[0].invalidate();
    let (start, mut asked, mut taken) = (rig.now, 0, 0);
    while taken < lines {
        rig.step(&mut |now: Cycle, core: usize, l1: &mut Client| {
            if core == 0
                && asked < lines
                && l1.access(now, &load(asked * 128, 0xF, CacheHint::Cached)).is_ok()
            {
                asked += 1;
            }
            taken += u64::from(l1.take(now).is_some());
            true
        });
    }
    let cycles = rig.now - start;
    let least = lines * 128 / u64::from(4 * config.dram.channels);
    assert!(cycles >= least && cycles < least + least / 4, "{cycles} cycles, at least {least}");
}
