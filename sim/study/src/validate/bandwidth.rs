//! Read bandwidth of the L1 and the L2, loads with strides, and streams through memory.

use super::bench::{Bench, Grid, Issues};
use super::kernels::{
    DirtyLines, KernelBody, L2_ELEMENTS, L2_ROUNDS, L2_THREADS, Lanes, STREAM_MARGIN, STRIDED_LOADS,
    arrays_counted, dirty_lines, fill, l1_laps_unrolled, l1_read, l2_read, stream, strided,
};
use super::latency::last_cache_bytes;
use super::quantity::{ElementType, StreamKernel};
use std::sync::atomic::AtomicBool;
use wave_machine::config::Config;

/// Loads of a wave in a run that measures the L1 and its strides, about.
const L1_LOADS: u32 = 256;
/// Rounds of the strides.
const STRIDED_ROUNDS: u32 = 24;
/// Threads of a workgroup that fills the L2, and bytes that each moves in a round.
const FILL_THREADS: u32 = 256;
const FILL_BYTES: u32 = 16;
/// Workgroups that follow one another in each place of a core, in a stream: at low occupancy they start and end
/// together, so that more of them are needed. Multiples of four, as the middle half is measured.
const FEW_THREADS: u32 = 256;
const GENERATIONS: [u32; 2] = [16, 8];
/// Distance of arrays.
const ARRAY_ALIGN: u32 = 2 << 20;

/// 10⁹ bytes a second, of bytes a cycle.
fn gigabytes(config: &Config, bytes_per_cycle: f64) -> f64 {
    bytes_per_cycle * f64::from(config.core_clock_mhz) / 1000.0
}

/// Bytes a cycle of a run in which all accesses together move so many bytes.
fn rate(issues: &Issues, bytes: f64) -> Result<f64, String> {
    Ok(bytes / issues.count() as f64 / issues.cycles_each()?)
}

/// The bytes from `start` on, loaded into the L2 or dirty there.
fn fill_l2(bench: &mut Bench, kernel: usize, config: &Config, start: u32, bytes: u32) -> Result<(), String> {
    let threads = FILL_THREADS.min(config.core.max_workgroup_size);
    let round = config.cores * threads * FILL_BYTES;
    let arguments = [start, bytes.div_ceil(round), round];
    bench.launch(kernel, Grid::new(config.cores, threads), &arguments).map(drop)
}

/// Bytes that [`fill_l2`] may touch past the end.
fn fill_slack(config: &Config) -> u32 {
    config.cores * FILL_THREADS * FILL_BYTES
}

/// Read bandwidth of all cores in GB/s, each with one workgroup that reads the same footprint over and over.
pub(super) fn l1(
    config: &Config,
    footprint: u64,
    lane_bytes: u32,
    stop: Option<&'static AtomicBool>,
) -> Result<f64, String> {
    let elements = footprint as u32 / 2 / lane_bytes;
    // As in the published benchmark: the least footprints have smaller workgroups.
    let threads = match elements {
        128 => 128,
        256 | 768 => 256,
        _ => 512,
    };
    if !elements.is_multiple_of(threads) {
        return Err(format!("two arrays of {elements} elements are no whole number of steps"));
    }
    let steps = elements / threads;
    // What one core does in its L1 all of them do.
    let in_l1 = footprint <= u64::from(config.core.l1.bytes);
    let cores = if in_l1 { 1 } else { config.cores };
    let unrolled = l1_laps_unrolled(lane_bytes, steps);
    let laps = if in_l1 { (L1_LOADS / (2 * steps * unrolled)).max(8) } else { 2 };
    let kernels = [l1_read(lane_bytes, steps), fill(DirtyLines::None)];
    let memory = vec![0; footprint as usize + fill_slack(config) as usize];
    let mut bench = Bench::new(config, &kernels, memory, stop)?;
    if !in_l1 {
        fill_l2(&mut bench, 1, config, 0, footprint as u32)?;
    }
    let arguments = [elements * lane_bytes, laps, threads * lane_bytes];
    let issues = bench.issues(0, Grid::new(cores, threads), &arguments)?;
    let bytes = footprint as f64 * f64::from(laps * unrolled * cores);
    Ok(gigabytes(config, rate(&issues, bytes)? * f64::from(config.cores) / f64::from(cores)))
}

/// Read bandwidth of all cores in GB/s, as full of workgroups as they get, that read pieces of a footprint.
pub(super) fn l2(config: &Config, footprint: u64, stop: Option<&'static AtomicBool>) -> Result<f64, String> {
    let piece = L2_ELEMENTS * 8 * L2_THREADS;
    let pieces = (footprint / u64::from(piece)) as u32;
    let body: KernelBody = l2_read();
    let core = &config.core;
    let waves = L2_THREADS / core.wave_width;
    let by_registers = core.register_file_bytes / (body.registers * 4 * L2_THREADS);
    let groups = (core.max_waves / waves).min(by_registers).min(core.max_workgroups).max(1);
    let memory = vec![0; footprint as usize + fill_slack(config) as usize];
    let mut bench = Bench::new(config, &[body, fill(DirtyLines::None)], memory, stop)?;
    // A footprint beyond all caches finds nothing there.
    if footprint <= last_cache_bytes(config) {
        fill_l2(&mut bench, 1, config, 0, footprint as u32)?;
    }
    let grid = Grid::new(config.cores * groups, L2_THREADS);
    let issues = bench.issues(0, grid, &[pieces, L2_ROUNDS, 2 * 8 * L2_THREADS * pieces])?;
    let bytes = f64::from(config.cores * groups) * f64::from(piece);
    Ok(gigabytes(config, rate(&issues, bytes)?))
}

/// Cycles of a load of 32 lanes of one workgroup of 1024 threads in the L1.
pub(super) fn strides(
    config: &Config,
    element: ElementType,
    lanes: Lanes,
    stop: Option<&'static AtomicBool>,
) -> Result<f64, String> {
    let threads = 1024;
    let farthest = match lanes {
        Lanes::Stride(stride) => 63 * stride + 28,
        Lanes::Rows(_) => 32 * 4098 + 64 + 28,
    };
    let memory = vec![0; ((farthest + 1) * element.bytes()) as usize];
    let mut bench = Bench::new(config, &[strided(element, lanes)], memory, stop)?;
    let issues = bench.issues(0, Grid::new(1, threads), &[0, STRIDED_ROUNDS, 0])?;
    let expected = STRIDED_ROUNDS * STRIDED_LOADS * threads / config.core.wave_width;
    if issues.count() != expected as usize {
        return Err(format!("the kernel made {} loads in place of {expected}", issues.count()));
    }
    Ok(issues.cycles_each()? * 32.0 / f64::from(config.core.wave_width))
}

/// Bandwidth of a stream through memory in GB/s, with so many workgroups a core at a time.
pub(super) fn streams(
    config: &Config,
    kernel: StreamKernel,
    grid: Grid,
    stop: Option<&'static AtomicBool>,
) -> Result<f64, String> {
    let (threads, groups) = (grid.threads, grid.groups);
    let generations = GENERATIONS[usize::from(threads * groups > FEW_THREADS)];
    let all = config.cores * groups * generations;
    let elements = all * threads;
    let array = (elements * 8 + 2 * STREAM_MARGIN).next_multiple_of(ARRAY_ALIGN);
    let cached = last_cache_bytes(config) as u32;
    let first = (cached + fill_slack(config)).next_multiple_of(ARRAY_ALIGN);
    let memory = vec![0; first as usize + 4 * array as usize];
    let mut bench = Bench::new(config, &[stream(kernel), fill(dirty_lines(kernel))], memory, stop)?;
    // In a long stream each line displaces one of an earlier part of the stream.
    if kernel != StreamKernel::Read {
        fill_l2(&mut bench, 1, config, 0, cached)?;
    }
    // Local memory bounds the workgroups of a core.
    let local_bytes = config.core.local_memory_bytes / groups / 256 * 256;
    let start = |number: u32| first + number * array + STREAM_MARGIN;
    let arguments = [elements, start(1), start(2), start(3), start(0)];
    let issues = bench.issues(0, Grid { groups: all, threads, local_bytes }, &arguments)?;
    let bytes = f64::from(elements) * 8.0 * f64::from(arrays_counted(kernel));
    Ok(gigabytes(config, rate(&issues, bytes)?))
}

/// Launches of the small kernel, and those of them that are measured.
const LAUNCHES: [u32; 2] = [6, 4];

/// Microseconds from one kernel to the next, each of which scales the array that the one before has written.
pub(super) fn small_kernel(
    config: &Config,
    elements: u32,
    threads: u32,
    stop: Option<&'static AtomicBool>,
) -> Result<f64, String> {
    let array = (elements * 8 + 2 * STREAM_MARGIN).next_multiple_of(ARRAY_ALIGN);
    let mut bench = Bench::new(config, &[stream(StreamKernel::Scale)], vec![0; 2 * array as usize], stop)?;
    let (a, b) = (STREAM_MARGIN, array + STREAM_MARGIN);
    let [launches, measured] = LAUNCHES;
    let mut cycles = 0;
    for launch in 0..launches {
        let (from, to) = if launch % 2 == 0 { (b, a) } else { (a, b) };
        let grid = Grid::new(elements / threads + 1, threads);
        let report = bench.launch(0, grid, &[elements, from, 0, 0, to])?;
        if launch >= launches - measured {
            cycles += report.cycles;
        }
    }
    Ok(cycles as f64 / f64::from(measured) / f64::from(config.core_clock_mhz))
}
