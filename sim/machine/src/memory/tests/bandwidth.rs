//! Streams, against the bytes a cycle that follow from the configuration.

use super::*;

/// Each of `cores` cores reads `lines` whole lines as fast as it can; `line(core, i)` is the i-th. Returns
/// the cycles from the first response to the last, over all cores.
fn stream(rig: &mut Rig, cores: usize, lines: u64, line: impl Fn(usize, u64) -> u64) -> f64 {
    let sectors = (1u16 << (128 / 32)) as u8 - 1;
    let mut made = vec![0; cores];
    let mut seen = 0;
    let (mut first, mut last) = (None, 0);
    while seen < lines * cores as u64 {
        rig.step(&mut |now: Cycle, core: usize, l1: &mut Client| {
            if l1.take(now).is_some() {
                seen += 1;
                first.get_or_insert(now);
                last = last.max(now);
            }
            if core < cores && made[core] < lines {
                let access = load(line(core, made[core]), sectors, CacheHint::Cached);
                if l1.access(now, &access).is_ok() {
                    made[core] += 1;
                }
            }
            true
        });
    }
    (last - first.unwrap()) as f64
}

#[test]
fn an_l1_gives_a_line_a_cycle() {
    let config = Config::example();
    let mut rig = Rig::new(&config, addresses(1 << 20));
    stream(&mut rig, 1, 128, |_, i| i * 128);
    rig.drain();
    let cycles = stream(&mut rig, 1, 2000, |_, i| i % 128 * 128);
    assert_eq!(cycles, 1999.0);
}

#[test]
fn a_core_gets_what_its_port_carries() {
    let config = Config::example();
    let mut rig = Rig::new(&config, addresses(1 << 20));
    // 2000 lines: more than the L1 holds, less than the L2 does.
    stream(&mut rig, 1, 2000, |_, i| i * 128);
    rig.drain();
    let cycles = stream(&mut rig, 1, 2000, |_, i| i * 128);
    // 4 sectors and a header over a port of 32 bytes: 5 cycles.
    assert!((9995.0..10_010.0).contains(&cycles), "{cycles}");
}

#[test]
fn all_cores_get_what_the_slices_ports_carry() {
    let mut config = Config::example();
    config.core.l1.mshrs = 64;
    let mut rig = Rig::new(&config, addresses(4 << 20));
    let line = |core: usize, i: u64| (core as u64 * 800 + i) * 128;
    stream(&mut rig, 16, 800, line);
    rig.drain();
    let cycles = stream(&mut rig, 16, 800, line);
    // Eight slices, each with a line in 5 cycles.
    let ideal = 16.0 * 800.0 * 5.0 / 8.0;
    assert!((ideal * 0.99..ideal * 1.05).contains(&cycles), "{cycles} cycles, {ideal} at best");
}

/// The way from another partition holds as many requests as it has cycles, so it takes no bandwidth (M39).
#[test]
fn a_long_way_between_partitions_keeps_its_bandwidth() {
    let cycles = |latency| {
        let mut config = Config::example();
        config.cores = 2;
        config.l2.partitions = 2;
        config.l2.partition_latency_cycles = latency;
        (config.l2.queue_entries, config.core.l1.mshrs) = (2, 256);
        let mut rig = Rig::new(&config, addresses(1 << 20));
        let line = |core: usize, i: u64| (core as u64 * 2000 + i) * 128;
        stream(&mut rig, 2, 2000, line);
        rig.drain();
        stream(&mut rig, 2, 2000, line)
    };
    let (near, far) = (cycles(0), cycles(100));
    assert!((9990.0..10_100.0).contains(&near) && far < near + 300.0, "{far} beside {near}");
}

/// Cycles per line in the middle half of a stream from memory.
fn from_memory(config: &Config) -> (f64, Rig) {
    let mut rig = Rig::new(config, addresses(8 << 20));
    let cores = config.cores as usize;
    let (mut made, mut seen, mut start) = (vec![0; cores], 0u64, 0);
    let total = 48 << 10;
    while seen < total * 3 / 4 {
        rig.step(&mut |now: Cycle, core: usize, l1: &mut Client| {
            if l1.take(now).is_some() {
                seen += 1;
            }
            // Keep the cores together, like the waves of one kernel.
            let next = made[core] * cores as u64 + core as u64;
            if next < seen + 256 && l1.access(now, &load(next * 128, 15, CacheHint::Cached)).is_ok() {
                made[core] += 1;
            }
            true
        });
        if seen >= total / 4 && start == 0 {
            start = rig.now;
            seen = total / 4;
        }
    }
    ((rig.now - start) as f64 / (total / 2) as f64, rig)
}

/// Cycles per line if the data buses of all channels are always busy.
fn peak(config: &Config) -> f64 {
    let d = config.dram;
    let clocks = f64::from(128 / d.burst_bytes * d.burst_clocks()) / f64::from(d.channels);
    clocks * f64::from(config.core_clock_mhz) / f64::from(d.clock_mhz)
}

#[test]
fn memory_gives_its_peak() {
    let mut config = Config::example();
    config.core.l1.mshrs = 64;
    config.dram.t_refi = 0;
    let (cycles, mut rig) = from_memory(&config);
    let peak = peak(&config);
    assert!((peak..peak * 1.01).contains(&cycles), "{cycles} cycles a line, {peak} at best");
    let dram = rig.system.counters().dram;
    assert!(dram.row_hits as f64 > 0.9 * dram.requests as f64, "{dram:?}");
}

#[test]
fn refresh_costs_what_it_blocks_and_the_rows_that_it_closes() {
    let mut config = Config::example();
    config.core.l1.mshrs = 64;
    let (cycles, _) = from_memory(&config);
    let d = config.dram;
    // Closing the rows, the refresh, and opening rows up to the first data.
    let lost = f64::from(d.t_rtp + d.t_rp + d.t_rfc + d.t_rcd + d.t_cl);
    let ideal = peak(&config) / (1.0 - lost / f64::from(d.t_refi));
    assert!((ideal * 0.99..ideal * 1.02).contains(&cycles), "{cycles} cycles a line, {ideal} expected");
}
