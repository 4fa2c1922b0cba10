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
const UNROLLED: u32 = 64;
/// Iterations of it.
const ITERATIONS: u32 = 4;
/// Waves of a core that stream, at most.
const MOST_WAVES: u32 = 32;
/// The same from memory: few, so that the lines under way are close together and share rows.
const MEMORY_WAVES: u32 = 4;
/// Refreshes of a channel that a stream from memory lasts, at least.
const REFRESHES: u64 = 20;
/// Memory clocks that it lasts where there is no refresh.
const CLOCKS: u64 = 60_000;
/// Runs of the machine.
pub(super) const STEPS: usize = 12;
const PERCENT: f64 = 1.0;

/// What bounds a stream. The least of several counts.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    /// In the unit of the figure.
    pub rate: f64,
    /// What it is.
    pub by: String,
    /// True if it is no rate of a port, bank or bus but how much can be under way at a time.
    pub in_flight: bool,
}

/// A stream needs so many times as much under way as its delay asks for, for a port or bus never to rest: what
/// is under way is not spread evenly.
const SLACK: f64 = 1.5;

impl Bound {
    /// The rate of a port, bank or bus.
    pub(super) fn new(rate: f64, by: impl Into<String>) -> Bound {
        Bound { rate, by: by.into(), in_flight: false }
    }

    /// So much under way for so many cycles each (Little's law).
    pub(super) fn in_flight(amount: f64, cycles: f64, by: impl Into<String>) -> Bound {
        Bound { rate: amount / cycles, by: by.into(), in_flight: true }
    }
}

/// The figure of a stream under these bounds. It has to come within a percent of the least rate, unless not much
/// more can be under way than that takes, or `loosely` says why it need not; then it may not pass the bounds.
pub(super) fn figure(
    what: String,
    measured: f64,
    unit: &'static str,
    bounds: &[Bound],
    loosely: Option<&str>,
) -> Figure {
    let least = |in_flight: bool| {
        let kind = bounds.iter().filter(move |b| b.in_flight == in_flight);
        kind.min_by(|a, b| a.rate.total_cmp(&b.rate))
    };
    let held = least(true).filter(|held| least(false).is_none_or(|rate| held.rate < SLACK * rate.rate));
    let bound = bounds.iter().min_by(|a, b| a.rate.total_cmp(&b.rate));
    let by = bound.map_or("", |b| &b.by);
    let why = loosely.or(held.map(|held| held.by.as_str()).filter(|&held| held != by));
    Figure {
        what,
        measured,
        expected: bound.map(|b| b.rate),
        unit,
        rule: match held.is_some() || loosely.is_some() {
            true => Rule::AtMost,
            false => Rule::WithinPercent(PERCENT),
        },
        off: 0,
        note: why.map_or(by.to_owned(), |why| format!("{by}; need not come near: {why}")),
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
    /// A stream of at most `most` waves a core, whose footprint is about `bytes`, for a copy twice that.
    fn within(
        config: &Config,
        (cores, most): (u32, u32),
        bytes: u64,
        laps: u32,
        what: What,
        hint: &'static str,
    ) -> Stream {
        let piece = u64::from(config.core.wave_width * LANE);
        // Eight steps of each wave, so that its loop is unrolled as far as there are registers.
        let fits = (bytes / piece / u64::from(cores * QUADS)).clamp(1, most.into()) as u32;
        let waves = waves(config, fits);
        let round = piece * u64::from(waves * cores * QUADS);
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
    let share = if what == What::Copy { 0.5 } else { 1.0 };
    bounds.push(Bound::new(peak * share, format!("the data buses{refresh}")));
    // An access to memory is under way for longer than one to the L2.
    let clocks = f64::from(dram.t_rcd + dram.t_cl + dram.burst_clocks());
    let more = clocks * f64::from(config.core_clock_mhz) / dram.clock_mhz as f64;
    let longer = (line_latency(config) + more) / line_latency(config);
    for bound in bounds.iter_mut().filter(|b| b.by.ends_with("under way")) {
        bound.rate /= longer;
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
    Kernel::new(&text, 1, threads, &[ITERATIONS])
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
        bounds.push(issue_bound(config, bytes, what));
        let what = format!("local memory, {}, one core", what.name());
        figures.push(figure(what, rate.of(bytes), UNIT, &bounds, None));
    }
    Ok(figures)
}

/// What the core's own issue of these unrolled loops allows, where it is close.
fn issue_bound(config: &Config, bytes: f64, what: What) -> Bound {
    // A store has two words, and its loop three instructions more.
    let words = if what == What::Read { 1.0 } else { 2.0 };
    let core = &config.core;
    let fetched = f64::from(core.fetch.words) / words;
    let issued = f64::from(core.issue.width).min(fetched) * f64::from(core.schedulers);
    Bound::in_flight(issued * bytes * f64::from(UNROLLED), f64::from(UNROLLED + 8), "instructions issued")
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
    Ok(figure("L1, read, one core".to_owned(), rate.of(instruction), UNIT, &bounds, None))
}

const UNIT: &str = "bytes a cycle";
/// Why cores that send long packets to all slices do not keep every slice busy.
pub(super) const IN_ORDER: &str = "the packets of a core wait in order for their slices (M8)";

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
            let footprint = (l2_bytes / 4).min(u64::from(cores) << 16).min(config.device_memory_bytes / 4);
            let stream = Stream::within(config, (cores, MOST_WAVES), footprint, LAPS, what, ".uncached");
            let (rate, _) = stream.run(config, progress)?;
            let bounds = l2_bounds(config, cores, what);
            let loosely = match what {
                What::Read => None,
                What::Write if cores == 1 => None,
                What::Write => Some(IN_ORDER),
                What::Copy => Some("reads and writes wait for one another at the ports"),
            };
            figures.push(figure(format!("L2, {}, {name}", what.name()), rate, UNIT, &bounds, loosely));
        }
    }
    for what in What::ALL {
        progress.starts(&format!("memory, {}", what.name()));
        let (rate, _) = memory_stream(config, l2_bytes, what, progress)?;
        let bounds = memory_bounds(config, what);
        let loosely = match what {
            What::Read => None,
            What::Write => Some("lines leave the L2 in the order of its sets"),
            What::Copy => Some("the data buses turn round between reads and writes"),
        };
        figures.push(figure(format!("memory, {}, all cores", what.name()), rate, UNIT, &bounds, loosely));
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
    let least = memory_bounds(config, What::Read).iter().map(|b| b.rate).fold(f64::MAX, f64::min);
    let parts = if what == What::Copy { 2 } else { 1 };
    // Before lines are written to memory, the L2 is full of them.
    let wanted = ((cycles * least) as u64).max(if what == What::Read { 4 } else { 10 } * l2_bytes);
    let footprint = wanted.min(config.device_memory_bytes / parts);
    let stream = Stream::within(config, (config.cores, MEMORY_WAVES), footprint, 1, what, "");
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
        let footprint = (l2_bytes / 4).min(u64::from(n) << 16).min(config.device_memory_bytes / 4);
        let stream = Stream::within(config, (n, MOST_WAVES), footprint, LAPS, What::Read, ".uncached");
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
