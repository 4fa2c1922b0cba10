//! Latencies of dependent loads, and the size of the L1.

use super::bench::{Bench, Grid};
use super::kernels::{CHASE_UNROLLED, chase, warm_chases};
use super::quantity::ServedBy;
use crate::measure::successors;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use wave_machine::config::Config;

/// Bytes from pointer to pointer.
const LINE: u32 = 128;
/// Lines that one lane can touch before the lap that is measured.
const LINES_WARMED_BY_LANE: u32 = 4096;
/// Loads that are measured, at least; and the loads of each lane that warms the L2.
const LOADS: u32 = 1024;
/// Footprint of a chase that the L1 serves, and of one that the L2 serves.
const IN_L1: u64 = 2 << 10;
const IN_L2: u64 = 64 << 10;
/// Footprint of a chase that memory serves.
const IN_MEMORY: u64 = 256 << 20;
/// The L1 is not sought beyond this.
const LARGEST_L1: u32 = 512 << 10;
/// Loads of a chase that the L1 serves take at most this many times those of the smallest footprint.
const HIT_RATIO: f64 = 1.1;
/// Bytes behind a chase, where its last address is stored.
const OUT_BYTES: usize = 256;

/// Mean cycles from load to load in a random cyclic order of the lines of a footprint. Footprints that the caches hold
/// are touched before; loads of a footprint that no cache holds find none of its lines there.
pub(super) fn over(
    config: &Config,
    footprint: u64,
    stop: Option<&'static AtomicBool>,
) -> Result<f64, String> {
    let lines = (footprint / u64::from(LINE)).max(1) as u32;
    if lines <= LINES_WARMED_BY_LANE {
        return lap(config, lines, "device_load_u32", stop);
    }
    if footprint as f64 > 1.5 * last_cache_bytes(config) as f64 {
        return cold(config, lines, stop);
    }
    let next = successors(lines);
    let mut memory = memory_of(lines);
    next.iter().enumerate().for_each(|(at, &to)| set_pointer(&mut memory, at as u32, to));
    // One lane takes the lines from the start of the measured loads, the next lane those after them, and so on. All
    // lines are touched once, the measured ones as long ago as possible.
    let lanes = lines / LOADS;
    let starts = lines * LINE + OUT_BYTES as u32;
    memory.resize(starts as usize + lanes as usize * 4, 0);
    let mut at = 0;
    for lane in 0..lanes {
        let place = (starts + 4 * lane) as usize;
        memory[place..place + 4].copy_from_slice(&(at * LINE).to_le_bytes());
        at = (0..LOADS).fold(at, |at, _| next[at as usize]);
    }
    let mut bench = Bench::new(config, &[chase("device_load_u32"), warm_chases()], memory, stop)?;
    let width = config.core.wave_width;
    bench.launch(1, Grid::new(lanes.div_ceil(width), width), &[starts, LOADS, lanes])?;
    let issues = bench.issues(0, Grid::new(1, 1), &[0, LOADS / CHASE_UNROLLED, lines * LINE])?;
    // The last access is a store, the first ones wait for the kernel's code.
    issues.apart((LOADS - CHASE_UNROLLED) as usize)
}

/// Cycles of a dependent load that this level serves.
pub(super) fn of_level(
    config: &Config,
    level: ServedBy,
    stop: Option<&'static AtomicBool>,
) -> Result<f64, String> {
    let lines = |footprint: u64| (footprint / u64::from(LINE)) as u32;
    match level {
        ServedBy::Local => {
            let grid = Grid { local_bytes: 1024, ..Grid::new(1, 1) };
            let mut bench = Bench::new(config, &[chase("local_load_u32")], vec![0; OUT_BYTES], stop)?;
            let issues = bench.issues(0, grid, &[0, LOADS / CHASE_UNROLLED, 0])?;
            issues.apart((LOADS - CHASE_UNROLLED) as usize)
        }
        ServedBy::L1 => lap(config, lines(IN_L1), "device_load_u32", stop),
        ServedBy::L2 => lap(config, lines(IN_L2), "device_load_u32.uncached", stop),
        ServedBy::Memory => cold(config, lines(IN_MEMORY), stop),
    }
}

/// The largest footprint in bytes whose loads all hit in the L1.
pub(super) fn l1_size(config: &Config, stop: Option<&'static AtomicBool>) -> Result<f64, String> {
    let hit = of_level(config, ServedBy::L1, stop)?;
    let (mut fits, mut over) = ((IN_L1 as u32) / LINE, LARGEST_L1 / LINE);
    while over - fits > 1 {
        let lines = u32::midpoint(fits, over);
        if lap(config, lines, "device_load_u32", stop)? <= HIT_RATIO * hit {
            fits = lines;
        } else {
            over = lines;
        }
    }
    Ok(f64::from(fits * LINE))
}

/// A lap over lines that the lap before has touched.
fn lap(config: &Config, lines: u32, load: &str, stop: Option<&'static AtomicBool>) -> Result<f64, String> {
    let mut memory = memory_of(lines);
    successors(lines).iter().enumerate().for_each(|(at, &to)| set_pointer(&mut memory, at as u32, to));
    let measured = lines.max(LOADS / 4);
    let rounds = (lines + measured).div_ceil(CHASE_UNROLLED) + 1;
    let mut bench = Bench::new(config, &[chase(load)], memory, stop)?;
    let issues = bench.issues(0, Grid::new(1, 1), &[0, rounds, lines * LINE])?;
    issues.apart(measured as usize)
}

/// A chase over random lines of a footprint, none of which is in a cache.
fn cold(config: &Config, lines: u32, stop: Option<&'static AtomicBool>) -> Result<f64, String> {
    let mut random = Pcg32::seed_from_u64(u64::from(lines));
    let (mut memory, mut seen, mut at) = (memory_of(lines), BTreeSet::from([0]), 0);
    while seen.len() <= LOADS as usize {
        let to = random.random_range(0..lines);
        if seen.insert(to) {
            set_pointer(&mut memory, at, to);
            at = to;
        }
    }
    let mut bench = Bench::new(config, &[chase("device_load_u32")], memory, stop)?;
    let issues = bench.issues(0, Grid::new(1, 1), &[0, LOADS / CHASE_UNROLLED, lines * LINE])?;
    issues.apart((LOADS - CHASE_UNROLLED) as usize)
}

fn memory_of(lines: u32) -> Vec<u8> {
    vec![0; lines as usize * LINE as usize + OUT_BYTES]
}

fn set_pointer(memory: &mut [u8], at: u32, to: u32) {
    let place = (at * LINE) as usize;
    memory[place..place + 4].copy_from_slice(&(to * LINE).to_le_bytes());
}

/// Bytes of the L2 and of the L3 behind it.
pub(super) fn last_cache_bytes(config: &Config) -> u64 {
    let (l2, l3) = (&config.l2, &config.l3);
    u64::from(l2.slices) * u64::from(l2.slice_bytes)
        + u64::from(l3.banks(&config.dram)) * u64::from(l3.bank_bytes)
}
