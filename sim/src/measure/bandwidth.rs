//! Streaming bandwidth of local memory, the L1, the L2 and memory.

use super::kernel::{Kernel, waves};
use super::plot::{Plot, Series};
use super::{Figure, Observer, Rule, Section, Topic, expected};
use crate::config::Config;
use crate::gpu::KernelReport;

/// Bytes that a lane moves with one instruction of the streams through device memory.
const LANE: u32 = 16;
/// Registers r16 to r47 take what is loaded, four for each load.
const QUADS: u32 = 8;
/// Laps over a footprint, of which the middle half is measured.
const LAPS: u32 = 16;
/// Instructions of an unrolled loop over local memory or the L1.
const UNROLLED: u32 = 32;
/// Refreshes of a channel that a stream from memory lasts, at least.
const REFRESHES: u64 = 32;
/// Memory clocks that it lasts where there is no refresh.
const CLOCKS: u64 = 60_000;
/// Runs of the machine.
pub(super) const STEPS: usize = 12;
const PERCENT: f64 = 1.0;

/// What bounds a stream, in bytes a cycle. The least of several counts.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    /// Bytes a cycle.
    pub bytes: f64,
    /// What it is.
    pub by: String,
    /// True if it is no rate of a port, bank or bus but how much can be under way at a time: then the stream
    /// cannot pass it, nor need it come near to it.
    pub in_flight: bool,
}

impl Bound {
    pub(super) fn new(bytes: f64, by: impl Into<String>) -> Bound {
        Bound { bytes, by: by.into(), in_flight: false }
    }

    /// `bytes` under way for `cycles` each (Little's law). A queue that is not much longer than the delay asks
    /// for runs empty now and then, so it counts for half.
    pub(super) fn in_flight(bytes: f64, cycles: f64, by: impl Into<String>) -> Bound {
        Bound { bytes: bytes / cycles, by: by.into(), in_flight: true }
    }

    /// The figure of a stream under these bounds.
    pub(super) fn figure(what: &str, measured: f64, unit: &'static str, bounds: &[Bound]) -> Figure {
        let least = |in_flight: bool| {
            let kind = bounds.iter().filter(move |b| b.in_flight == in_flight);
            kind.min_by(|a, b| a.bytes.total_cmp(&b.bytes))
        };
        let rate = least(false);
        let rate_bytes = rate.map_or(f64::MAX, |b| b.bytes);
        let (bound, rule) = match least(true) {
            Some(held) if held.bytes < 2.0 * rate_bytes => {
                let bound = if held.bytes < rate_bytes { Some(held) } else { rate };
                (bound, Rule::AtMost)
            }
            _ => (rate, Rule::WithinPercent(PERCENT)),
        };
        let held = match (rule, least(true)) {
            (Rule::AtMost, Some(held)) => format!("; not compared closer: {}", held.by),
            _ => String::new(),
        };
        Figure {
            what: what.to_owned(),
            measured,
            expected: bound.map(|b| b.bytes),
            unit,
            // A rate over a finite time is off by an instruction at its ends.
            rule: if rule == Rule::AtMost { Rule::AtMost } else { rule },
            off: 0,
            note: format!("{}{held}", bound.map_or("", |b| &b.by)),
        }
    }
}

/// A stream through device memory by whole lines: every lane 16 bytes, each wave a piece without gaps, the
/// waves of all cores one after the other.
struct Stream {
    cores: u32,
    waves: u32,
    /// Bytes of the footprint, and how often it is walked.
    footprint: u64,
    laps: u32,
    what: What,
    /// `.uncached`, so that the L1 has no part in it.
    hint: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Read,
    Write,
    Copy,
}

impl What {
    const ALL: [What; 3] = [What::Read, What::Write, What::Copy];

    fn name(self) -> &'static str {
        match self {
            What::Read => "read",
            What::Write => "write",
            What::Copy => "copy",
        }
    }
}

impl Stream {
    /// A stream whose footprint is at most `bytes`; twice that for a copy.
    fn within(config: &Config, cores: u32, bytes: u64, laps: u32, what: What, hint: &'static str) -> Stream {
        let piece = u64::from(config.core.wave_width * LANE);
        let fits = (bytes / piece / u64::from(cores)).clamp(1, 64) as u32;
        let waves = waves(config, fits);
        let round = piece * u64::from(waves * cores);
        Stream { cores, waves, footprint: (bytes / round).max(1) * round, laps, what, hint }
    }

    fn run(&self, config: &Config, progress: &mut dyn Observer) -> Result<(f64, KernelReport), String> {
        let threads = self.waves * config.core.wave_width;
        let stride = threads * self.cores * LANE;
        let steps = (self.footprint / u64::from(stride)) as u32;
        let hint = self.hint;
        let body = |quad: u32| {
            let data = 16 + 4 * (quad % QUADS);
            match self.what {
                What::Read => format!("device_load_u128{hint} r{data}, r5\niadd r5, r5, r0\n"),
                What::Write => format!("device_store_u128{hint} r5, r{data}\niadd r5, r5, r0\n"),
                What::Copy => format!(
                    "device_load_u128{hint} r{data}, r5\niadd r6, r5, r3\ndevice_store_u128{hint} r6, r{data}\niadd r5, r5, r0\n"
                ),
            }
        };
        let unrolled = (1..=QUADS).rev().find(|n| steps.is_multiple_of(*n)).unwrap_or(1);
        let body: String = (0..unrolled).map(body).collect();
        // r0 the stride of all waves, r1 iterations of a lap, r2 laps, r3 from source to destination.
        let text = format!(
            "mov_sr r7, sr_workgroup_id_x\nmov_sr r8, sr_workgroup_size_x\nmov_sr r9, sr_thread_id_x\n\
             imad r4, r7, r8, r9\nmov_imm r8, {LANE}\nimul r4, r4, r8\nmov_imm r8, 1\nmov_imm r9, 0\n\
             loop\nmov r5, r4\nmov r7, r1\nloop\n{body}isub r7, r7, r8\nucmp_eq p1, r7, r9\nbreak p1\nendloop\n\
             isub r2, r2, r8\nucmp_eq p1, r2, r9\nbreak p1\nendloop"
        );
        let arguments = [stride, steps / unrolled, self.laps, self.footprint as u32];
        let kernel = Kernel::new(&text, self.cores, threads, &arguments)?;
        let (rate, report) = kernel.rate(config, progress)?;
        let copies = if self.what == What::Copy { 0.5 } else { 1.0 };
        Ok((rate.of(copies * f64::from(config.core.wave_width * LANE)), report))
    }
}

/// Cycles that a line of the L2 takes from access to response, alone.
fn line_latency(config: &Config) -> f64 {
    let line = config.core.l1.line_bytes;
    (expected::to_slice(config)
        + u64::from(config.l2.hit_latency_cycles)
        + expected::packet_cycles(config, line)
        + u64::from(config.interconnect.latency_cycles)) as f64
}

/// Bytes of a line for each of the cycles that a port is held to move it.
fn port(config: &Config, what: What) -> f64 {
    let line = config.core.l1.line_bytes;
    let full = expected::packet_cycles(config, line);
    let cycles = match what {
        What::Read | What::Write => full,
        // A read request and a write on the one side, the line and an acknowledgement on the other.
        What::Copy => full + expected::packet_cycles(config, 0),
    };
    f64::from(line) / cycles as f64
}

/// The bounds of streams of so many cores to the L2.
fn l2_bounds(config: &Config, cores: u32, what: What) -> Vec<Bound> {
    let line = f64::from(config.core.l1.line_bytes);
    let port = port(config, what);
    let mut bounds = vec![
        Bound::new(port * f64::from(cores), "interconnect.port_bytes_per_cycle at the cores"),
        Bound::new(port * f64::from(config.l2.slices), "interconnect.port_bytes_per_cycle at the slices"),
    ];
    if what != What::Write {
        let instruction = f64::from(config.core.wave_width * LANE);
        let (mshrs, pending) = (f64::from(config.core.l1.mshrs), f64::from(config.core.lsu.pending_entries));
        let latency = line_latency(config);
        let cores = f64::from(cores);
        bounds.push(Bound::in_flight(cores * mshrs * line, latency, "core.l1.mshrs lines under way"));
        bounds.push(Bound::in_flight(
            cores * pending * instruction,
            latency,
            "core.lsu.pending_entries loads under way",
        ));
    }
    bounds
}

/// Bytes a cycle of all data buses, less what refresh blocks: from the last read before it to the first one
/// after it.
pub(super) fn memory_peak(config: &Config) -> f64 {
    let dram = &config.dram;
    let clocks = f64::from(config.dram.clock_mhz) / f64::from(config.core_clock_mhz);
    let peak =
        f64::from(dram.channels) * f64::from(dram.burst_bytes) / f64::from(dram.burst_clocks()) * clocks;
    if dram.t_refi == 0 {
        return peak;
    }
    let lost =
        f64::from(dram.t_rtp + dram.t_rp + dram.t_rfc + dram.t_rcd - dram.burst_clocks().min(dram.t_rcd));
    peak * (1.0 - lost / f64::from(dram.t_refi))
}

/// The bounds of streams of all cores to memory.
pub(super) fn memory_bounds(config: &Config, what: What) -> Vec<Bound> {
    let dram = &config.dram;
    let refresh = if dram.t_refi == 0 { "" } else { ", less refresh" };
    let mut bounds = l2_bounds(config, config.cores, what);
    let peak = memory_peak(config);
    match what {
        What::Read => bounds.push(Bound::new(peak, format!("the data buses{refresh}"))),
        // Lines leave the L2 in an order of its own, and buses turn round between reads and writes.
        What::Write | What::Copy => {
            let share = if what == What::Copy { 0.5 } else { 1.0 };
            let mut bound = Bound::new(peak * share, format!("the data buses{refresh}, rows open"));
            bound.in_flight = true;
            bounds.push(bound);
        }
    }
    // An access to memory is under way for longer than one to the L2.
    let clocks = f64::from(dram.t_rcd + dram.t_cl + dram.burst_clocks());
    let more = clocks * f64::from(config.core_clock_mhz) / dram.clock_mhz as f64;
    let longer = (line_latency(config) + more) / line_latency(config);
    for bound in bounds.iter_mut().filter(|b| b.by.ends_with("under way")) {
        bound.bytes /= longer;
    }
    let line = f64::from(config.core.l1.line_bytes);
    let slices = f64::from(config.l2.slices);
    if what != What::Write {
        let lines = slices * f64::from(config.l2.mshrs) * line;
        bounds.push(Bound::in_flight(lines, more, "l2.mshrs lines under way"));
        let queued = f64::from(dram.channels) * f64::from(dram.queue_entries) * line;
        bounds.push(Bound::in_flight(queued, more, "dram.queue_entries requests under way"));
    }
    bounds
}

/// A kernel that every wave of one core runs over its own piece of local memory or of the L1.
fn unrolled(
    config: &Config,
    instruction: &dyn Fn(u32, u32) -> String,
    lane: u32,
    bytes: u32,
) -> Result<Kernel, String> {
    let waves = waves(config, 64);
    let threads = waves * config.core.wave_width;
    let body: String = (0..UNROLLED).map(|i| instruction(10 + i % 4, 16 + 4 * (i % QUADS)) + "\n").collect();
    let piece = config.core.wave_width * lane;
    let text = format!(
        "mov_sr r4, sr_thread_id_x\nmov_sr r5, sr_lane_id\nisub r4, r4, r5\nmov_imm r6, {four}\nimul r4, r4, r6\n\
         mov_imm r6, {lane}\nimul r5, r5, r6\niadd r4, r4, r5\nmov_imm r6, {mask}\nmov_imm r7, {piece}\n\
         and r10, r4, r6\niadd r4, r4, r7\nand r11, r4, r6\niadd r4, r4, r7\nand r12, r4, r6\niadd r4, r4, r7\n\
         and r13, r4, r6\nmov_imm r8, 1\nmov_imm r9, 0\n\
         loop\n{body}isub r0, r0, r8\nucmp_eq p1, r0, r9\nbreak p1\nendloop",
        four = 4 * lane,
        mask = bytes - 1,
    );
    Kernel::new(&text, 1, threads, &[LAPS])
}

/// Bytes a cycle of a core's registers: the rows of loads are written one a cycle (W2).
fn row_bytes(config: &Config) -> f64 {
    f64::from(4 * config.core.wave_width)
}

fn local(config: &Config, progress: &mut dyn Observer) -> Result<Vec<Figure>, String> {
    const LOCAL: u32 = 16 << 10;
    let bytes = f64::from(8 * config.core.wave_width);
    let passes = f64::from((2 * config.core.wave_width).div_ceil(config.core.local.banks));
    let mut figures = Vec::new();
    for what in [What::Read, What::Write] {
        progress.starts(&format!("local memory, {}", what.name()));
        let instruction = |address: u32, data: u32| match what {
            What::Write => format!("local_store_u64 r{address}, r{data}"),
            _ => format!("local_load_u64 r{data}, r{address}"),
        };
        let kernel = unrolled(config, &instruction, 8, LOCAL)?.with_local_memory(LOCAL);
        let (rate, _) = kernel.rate(config, progress)?;
        let mut bounds = vec![Bound::new(bytes / passes, "core.local.banks, a pass a cycle")];
        if what == What::Read {
            bounds.push(Bound::new(row_bytes(config), "core.wave_width, a row a cycle"));
        }
        bounds.extend(issue_bound(config, bytes, what));
        figures.push(Bound::figure(
            &format!("local memory, {}, one core", what.name()),
            rate.of(bytes),
            UNIT,
            &bounds,
        ));
    }
    Ok(figures)
}

/// What the core's own issue of these unrolled loops allows, where it is close.
fn issue_bound(config: &Config, bytes: f64, what: What) -> Option<Bound> {
    // A store has two words, and its loop three instructions more.
    let words = if what == What::Read { 1.0 } else { 2.0 };
    let core = &config.core;
    let fetched = f64::from(core.fetch.words) / words;
    let issued = f64::from(core.issue.width).min(fetched) * f64::from(core.schedulers);
    let mut bound =
        Bound::new(issued * bytes * f64::from(UNROLLED) / f64::from(UNROLLED + 8), "instructions issued");
    bound.in_flight = true;
    Some(bound)
}

fn l1(config: &Config, progress: &mut dyn Observer) -> Result<Figure, String> {
    progress.starts("L1, read");
    let half = 1u32 << (config.core.l1.bytes / 2).ilog2();
    let instruction = |address: u32, data: u32| format!("device_load_u128 r{data}, r{address}");
    let kernel = unrolled(config, &instruction, LANE, half)?;
    let (rate, _) = kernel.rate(config, progress)?;
    let l1 = &config.core.l1;
    let instruction = f64::from(config.core.wave_width * LANE);
    let accesses = (instruction / f64::from(l1.line_bytes)).max(1.0);
    let held = accesses + f64::from(l1.hit_latency_cycles);
    let bounds = [
        Bound::new(f64::from(l1.line_bytes), "core.l1.line_bytes, an access a cycle"),
        Bound::new(row_bytes(config), "core.wave_width, a row a cycle"),
        Bound::in_flight(
            f64::from(config.core.lsu.pending_entries) * instruction,
            held,
            "core.lsu.pending_entries loads under way",
        ),
    ];
    Ok(Bound::figure("L1, read, one core", rate.of(instruction), UNIT, &bounds))
}

const UNIT: &str = "bytes a cycle";

/// Measures every stream.
///
/// # Errors
/// Why a kernel did not end.
pub(super) fn measure(config: &Config, progress: &mut dyn Observer) -> Result<Section, String> {
    let mut figures = local(config, progress)?;
    figures.push(l1(config, progress)?);
    let l2_bytes = u64::from(config.l2.slices) * u64::from(config.l2.slice_bytes);
    for (cores, name) in [(1, "one core"), (config.cores, "all cores")] {
        if cores == 1 && config.cores == 1 && name == "all cores" {
            continue;
        }
        for what in What::ALL {
            progress.starts(&format!("L2, {}, {name}", what.name()));
            let footprint = (l2_bytes / 4).min(u64::from(cores) << 15).min(config.device_memory_bytes / 4);
            let stream = Stream::within(config, cores, footprint, LAPS, what, ".uncached");
            let (rate, _) = stream.run(config, progress)?;
            let bounds = l2_bounds(config, cores, what);
            figures.push(Bound::figure(&format!("L2, {}, {name}", what.name()), rate, UNIT, &bounds));
        }
    }
    for what in What::ALL {
        progress.starts(&format!("memory, {}", what.name()));
        let (rate, _) = memory_stream(config, l2_bytes, what, progress)?;
        let bounds = memory_bounds(config, what);
        figures.push(Bound::figure(&format!("memory, {}, all cores", what.name()), rate, UNIT, &bounds));
    }
    let plots = vec![by_cores(config, progress)?];
    Ok(Section { topic: Topic::Bandwidth, figures, plots })
}

/// Streams through memory without anything in the L2 being of use: more than it holds, in order.
pub(super) fn memory_stream(
    config: &Config,
    l2_bytes: u64,
    what: What,
    progress: &mut dyn Observer,
) -> Result<(f64, KernelReport), String> {
    let clocks = if config.dram.t_refi == 0 { CLOCKS } else { REFRESHES * u64::from(config.dram.t_refi) };
    let cycles = clocks as f64 * f64::from(config.core_clock_mhz) / f64::from(config.dram.clock_mhz);
    let least = memory_bounds(config, What::Read).iter().map(|b| b.bytes).fold(f64::MAX, f64::min);
    let parts = if what == What::Copy { 2 } else { 1 };
    let wanted = ((cycles * least) as u64).max(4 * l2_bytes);
    let footprint = wanted.min(config.device_memory_bytes / parts);
    let stream = Stream::within(config, config.cores, footprint, 1, what, "");
    let laps = wanted.div_ceil(stream.footprint) as u32;
    Stream { laps, ..stream }.run(config, progress)
}

/// Reading from the L2 with ever more cores.
fn by_cores(config: &Config, progress: &mut dyn Observer) -> Result<Plot, String> {
    let l2_bytes = u64::from(config.l2.slices) * u64::from(config.l2.slice_bytes);
    let mut cores: Vec<u32> = (0..11).map(|bits| 1 << bits).filter(|&n| n < config.cores).collect();
    cores.push(config.cores);
    let mut l2 = Vec::new();
    for &n in &cores {
        progress.starts(&format!("L2, read, {n} cores"));
        let footprint = (l2_bytes / 4).min(u64::from(n) << 15).min(config.device_memory_bytes / 4);
        let stream = Stream::within(config, n, footprint, LAPS, What::Read, ".uncached");
        let (rate, _) = stream.run(config, progress)?;
        l2.push((f64::from(n), rate));
    }
    let slices = port(config, What::Read) * f64::from(config.l2.slices);
    Ok(Plot {
        name: Topic::Bandwidth.name(),
        title: format!("Reading from the L2 of {}", config.name),
        x: "cores",
        y: UNIT,
        series: vec![Series { name: "L2".to_owned(), points: l2 }],
        marks: Vec::new(),
        levels: vec![("slices".to_owned(), slices), ("memory".to_owned(), memory_peak(config))],
    })
}
