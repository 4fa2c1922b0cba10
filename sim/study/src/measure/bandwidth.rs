//! Streaming bandwidth of local memory, the L1, the L2 and memory.

use super::bound::{Bound, UNDER_WAY, addition, by_issue, figure, least};
use super::expected::{ISSUE_TO_ACCESS, RESPONSE_TO_USE, Ways, packet_cycles};
use super::kernel::{CONSTANTS, Kernel, Work, in_turn, waves};
use super::plot::{Plot, Series};
use super::{Figure, Listener, Section, Topic, within_core};
use wave_machine::config::{Config, DramPolicy, Topology};
use wave_machine::gpu::KernelReport;
use wave_observe::numbers::counted;

/// Bytes per lane and instruction in streams through device memory.
pub(super) const LANE: u32 = 16;
/// Registers r16 to r47 receive loads, four per load.
pub(super) const QUADS: u32 = 8;
/// Laps over the bytes that a wave moves in the L2.
const LAPS: u32 = 8;
/// Most waves of a core that stream through the L2.
const MOST_WAVES: u32 = 16;
/// Waves of a core that stream through memory. Few, so that lines in flight are close together and share
/// rows.
const MEMORY_WAVES: [u32; 2] = [4, 8];
/// Least number of refreshes of a channel during a stream from memory.
const REFRESHES: u64 = 20;
/// Memory clocks of such a stream if there is no refresh.
const CLOCKS: u64 = 60_000;
/// Runs of the machine besides those of the plot.
const STEPS: usize = 12;
/// Unit of all rates.
pub(super) const UNIT: &str = "bytes a cycle";
/// Reason why cores that send long packets to all slices do not keep every slice busy.
pub(super) const IN_ORDER: &str = "the packets of a core wait in order for their slices (M8)";
/// Reason why streams over links have no closer expectation.
pub(super) const LINKS: &str = "streams share the links of the interconnect (N5)";

/// A stream of whole lines through device memory. Every lane moves 16 bytes; every instruction of a wave
/// moves a piece without gaps.
struct Stream {
    cores: u32,
    waves: u32,
    /// Bytes that the waves read or write.
    footprint: u64,
    /// Number of laps over them.
    laps: u32,
    what: What,
    place: Place,
}

/// The level that a stream exercises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The L2, with `.uncached`, which leaves the L1 out. Each wave moves over eight pieces of its own, or
    /// over pieces that it shares with others.
    L2,
    /// Memory. Each wave steps over the pieces of all others, so that together they go in order.
    Memory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Read,
    Write,
    Copy,
}

impl What {
    const ALL: [What; 3] = [What::Read, What::Write, What::Copy];

    pub(super) fn name(self) -> &'static str {
        match self {
            What::Read => "read",
            What::Write => "write",
            What::Copy => "copy",
        }
    }
}

impl Stream {
    /// A stream through at most a quarter of the L2, so that a copy has room too.
    fn in_l2(config: &Config, cores: u32, what: What) -> Stream {
        let waves = waves(config, MOST_WAVES);
        let pieces = u64::from(config.core.wave_width * LANE * QUADS) * u64::from(waves * cores);
        let most = pieces.min(l2_bytes(config) / 4).min(config.device_memory_bytes / 4);
        Stream { cores, waves, footprint: 1 << most.max(1).ilog2(), laps: LAPS, what, place: Place::L2 }
    }

    /// A stream through about `bytes` bytes of memory.
    fn in_memory(config: &Config, cores: u32, most: u32, bytes: u64, what: What) -> Stream {
        let piece = u64::from(config.core.wave_width * LANE);
        // Eight steps per wave, so that its loop is unrolled as far as the registers allow.
        let fits = (bytes / piece / u64::from(cores * QUADS)).clamp(1, most.into()) as u32;
        let waves = waves(config, fits);
        let round = piece * u64::from(waves * cores * QUADS);
        let footprint = (bytes / round).max(1) * round;
        Stream { cores, waves, footprint, laps: 1, what, place: Place::Memory }
    }

    /// Bytes that an instruction moves. For a copy: the bytes that a load and a store move together, divided
    /// by two.
    fn amount(&self, config: &Config) -> f64 {
        let copies = if self.what == What::Copy { 0.5 } else { 1.0 };
        copies * f64::from(config.core.wave_width * LANE)
    }

    fn kernel(&self, config: &Config) -> Result<Kernel, String> {
        let width = config.core.wave_width;
        let threads = self.waves * width;
        let stride = match self.place {
            Place::L2 => width * LANE,
            Place::Memory => threads * self.cores * LANE,
        };
        let steps = match self.place {
            Place::L2 => QUADS,
            Place::Memory => (self.footprint / u64::from(stride)) as u32,
        };
        let hint = if self.place == Place::L2 { ".uncached" } else { "" };
        let load = |quad: u32| format!("device_load_u128{hint} r{}, r5\niadd r5, r5, r0\n", 16 + 4 * quad);
        let store = |quad: u32| format!("device_store_u128{hint} r6, r{}\niadd r6, r6, r0\n", 16 + 4 * quad);
        let unrolled = (1..=QUADS).rev().find(|n| steps.is_multiple_of(*n)).unwrap_or(1);
        let loads = if self.what == What::Write { 0 } else { unrolled };
        let stores = if self.what == What::Read { 0 } else { unrolled };
        let body: String = (0..loads).map(load).chain((0..stores).map(store)).collect();
        // r4: start of the wave's first piece, plus the lane's offset.
        let start = match self.place {
            Place::L2 => {
                let first = match self.what {
                    What::Write => format!("device_store_u128{hint} r4, r16"),
                    What::Read | What::Copy => format!("device_load_u128{hint} r16, r4"),
                };
                let (wave, mask) = (LANE * QUADS, self.footprint - 1);
                let turns = in_turn(config, &first, (QUADS / self.waves).max(1));
                format!(
                    "mov_imm r8, {wave}\nimul r4, r4, r8\nmov_imm r8, {mask}\nand r4, r4, r8\niadd r4, r4, r5\n{turns}"
                )
            }
            Place::Memory => {
                format!("mov_imm r8, {LANE}\nimul r4, r4, r8\niadd r4, r4, r5\n{CONSTANTS}")
            }
        };
        // r0: distance between pieces; r1: iterations of a lap; r2: laps; r3: distance from source to
        // destination.
        let text = format!(
            "mov_sr r7, sr_workgroup_id_x\nmov_sr r8, sr_workgroup_size_x\nmov_sr r9, sr_thread_id_x\n\
             imad r4, r7, r8, r9\nmov_sr r5, sr_lane_id\nisub r4, r4, r5\nmov_imm r8, {LANE}\nimul r5, r5, r8\n{start}\
             loop\nmov r5, r4\niadd r6, r4, r3\nmov r7, r1\nloop\n{body}isub r7, r7, r8\nucmp_eq p1, r7, r9\n\
             break p1\nendloop\nisub r2, r2, r8\nucmp_eq p1, r2, r9\nbreak p1\nendloop"
        );
        let apart = if self.what == What::Copy { self.footprint as u32 } else { 0 };
        Kernel::new(&text, self.cores, threads, &[stride, steps / unrolled, self.laps, apart])
    }

    fn run(&self, config: &Config, progress: &mut dyn Listener) -> Result<(f64, KernelReport), String> {
        let (rate, report) = self.kernel(config)?.rate(config, progress)?;
        Ok((rate.of(self.amount(config)), report))
    }

    /// The bounds of the stream if every line takes `longer` cycles more than a hit in the L2.
    fn bounds(&self, config: &Config, longer: f64) -> Result<Vec<Bound>, String> {
        let (core, cores) = (&config.core, f64::from(self.cores));
        let (line, instruction) = (f64::from(core.l1.line_bytes), core.wave_width * LANE);
        let port = port(config, self.what);
        let ports = [(self.cores, "cores"), (config.l2.slices, "slices")].map(|(ends, name)| {
            let by = format!("interconnect.port_bytes_per_cycle at the {name}");
            Bound::new(port * f64::from(ends), by)
        });
        // With several cores, one side has to keep the other busy.
        let slower = if self.cores > config.l2.slices { 1 } else { 0 };
        let feeds = self.cores > 1;
        let side = |(i, bound)| Bound { slack: if feeds && i != slower { UNDER_WAY } else { 0.0 }, ..bound };
        let mut bounds: Vec<Bound> = ports.into_iter().enumerate().map(side).collect();
        let work: Work = self.kernel(config)?.work(config);
        bounds.extend(by_issue(config, self.cores, &work, self.amount(config)));
        let waves = cores * f64::from(self.waves) * f64::from(instruction);
        bounds.push(Bound::in_flight(waves, addition(config), "the waves' additions of addresses"));
        if self.what == What::Write {
            return Ok(bounds);
        }
        bounds.push(Bound::new(cores * within_core::row_bytes(config), "core.wave_width, a row a cycle"));
        // The replies of an instruction's lines pass the core's port one after the other.
        let trip = round_trip(config, self.cores) + longer;
        let packet = packet_cycles(config, packet_bytes(config)) as f64;
        let load = trip + packet * f64::from(instruction.div_ceil(core.l1.line_bytes) - 1);
        let mut under_way = |amount: f64, cycles: f64, what: &str| {
            bounds.push(Bound::in_flight(amount, cycles, format!("{what} under way")));
        };
        // An MSHR is free for the access of the cycle in which its reply arrives, a cycle before the
        // response.
        under_way(cores * f64::from(core.l1.mshrs) * line, trip - 1.0, "core.l1.mshrs lines");
        let pending = cores * f64::from(core.lsu.pending_entries) * f64::from(instruction);
        under_way(pending, load, "core.lsu.pending_entries loads");
        let around = (ISSUE_TO_ACCESS + RESPONSE_TO_USE) as f64;
        under_way(waves * f64::from(QUADS), load + around, "the registers' loads");
        Ok(bounds)
    }
}

fn l2_bytes(config: &Config) -> u64 {
    u64::from(config.l2.slices) * u64::from(config.l2.slice_bytes)
}

/// Payload bytes of the streams' packets.
fn packet_bytes(config: &Config) -> u32 {
    config.core.l1.line_bytes.min(config.core.wave_width * LANE)
}

/// Cycles of a line in the L2 from access to response, without load and on the shortest route.
fn round_trip(config: &Config, cores: u32) -> f64 {
    let payload = packet_bytes(config);
    let trips = (0..cores).flat_map(|core| {
        let ways = Ways::new(config, core);
        (0..config.l2.slices)
            .map(move |s| ways.to_slice(config, s) + ways.back_from_slice(config, s, payload))
    });
    trips.min().unwrap_or_default() as f64
}

/// Bytes of a packet per cycle for which a port is held to move it.
fn port(config: &Config, what: What) -> f64 {
    let bytes = packet_bytes(config);
    let full = packet_cycles(config, bytes);
    let cycles = match what {
        What::Read | What::Write => full,
        // One way a read request and a write, the other way the line and an acknowledgement.
        What::Copy => full + packet_cycles(config, 0),
    };
    f64::from(bytes) / cycles as f64
}

/// Core cycles of a number of memory clocks.
fn cycles_of(config: &Config, clocks: f64) -> f64 {
    clocks * f64::from(config.core_clock_mhz) / f64::from(config.dram.clock_mhz)
}

/// Memory clocks between two bursts of a channel, in different bank groups (M26).
fn burst_clocks(config: &Config) -> f64 {
    let dram = &config.dram;
    let same_group = f64::from(dram.t_ccd_l) / f64::from(dram.bank_groups);
    f64::from(dram.burst_clocks().max(dram.t_ccd_s)).max(same_group)
}

/// Bytes a cycle of all data buses, less what refresh blocks: from the last read before it to the first one
/// after it.
pub(super) fn memory_peak(config: &Config) -> f64 {
    let dram = &config.dram;
    let burst = burst_clocks(config);
    let peak = f64::from(dram.channels) * f64::from(dram.burst_bytes) / cycles_of(config, burst);
    if dram.t_refi == 0 {
        return peak;
    }
    let lost = f64::from(dram.t_rtp + dram.t_rp + dram.t_rfc + dram.t_rcd) - burst;
    peak * (1.0 - lost.max(0.0) / f64::from(dram.t_refi))
}

/// Additional cycles of a line from memory compared with one from the L2, with its row open (M29).
fn memory_trip(config: &Config) -> f64 {
    let dram = &config.dram;
    let bursts = packet_bytes(config).div_ceil(dram.burst_bytes);
    let between = dram.t_ccd_l.max(dram.burst_clocks());
    let way = f64::from(2 * dram.latency_cycles);
    1.0 + way + cycles_of(config, f64::from(dram.t_cl + dram.burst_clocks() + (bursts - 1) * between))
}

/// Cycles for which accesses in flight have to keep the data buses busy: those of a line, and of closing and
/// opening a row.
fn row_trip(config: &Config) -> f64 {
    let dram = &config.dram;
    memory_trip(config) + cycles_of(config, f64::from(dram.t_rtp + dram.t_rp + dram.t_rcd))
}

/// Cores that stream from memory: just enough to keep the data buses busy. More cores would only mix more
/// streams, whose lines share no rows.
fn memory_cores(config: &Config) -> Result<u32, String> {
    let most = MEMORY_WAVES[0];
    let one =
        Stream::in_memory(config, 1, most, l2_bytes(config), What::Read).bounds(config, row_trip(config))?;
    Ok(((UNDER_WAY * memory_peak(config) / least(&one)).ceil() as u32).clamp(1, config.cores))
}

/// The stream through memory with the most waves.
fn memory_most(config: &Config, what: What) -> Result<Stream, String> {
    Ok(Stream::in_memory(
        config,
        memory_cores(config)?,
        MEMORY_WAVES[1],
        config.device_memory_bytes / 2,
        what,
    ))
}

/// The bounds of streams through memory.
pub(super) fn memory_bounds(config: &Config, what: What) -> Result<Vec<Bound>, String> {
    let dram = &config.dram;
    let refresh = if dram.t_refi == 0 { "" } else { ", less refresh" };
    let stream = memory_most(config, what)?;
    let trip = memory_trip(config);
    let mut bounds = stream.bounds(config, trip)?;
    let share = if what == What::Copy { 0.5 } else { 1.0 };
    bounds.push(match config.l3.is_there() {
        false => Bound::new(memory_peak(config) * share, format!("the data buses{refresh}")),
        // Some lines never come to the buses.
        true => {
            let banks = f64::from(dram.channels * config.l3.bytes_per_cycle);
            Bound::new(banks * share, "l3.bytes_per_cycle of each bank".to_owned())
        }
    });
    if what != What::Write {
        let lines = f64::from(config.l2.slices * config.l2.mshrs) * f64::from(config.core.l1.line_bytes);
        bounds.push(Bound::in_flight(lines, trip, "l2.mshrs lines under way"));
    }
    Ok(bounds)
}

/// The reason, if any, why a stream through memory need not come near its bounds.
fn memory_loosely(config: &Config, what: What) -> Result<Option<String>, String> {
    let dram = &config.dram;
    let reason = match what {
        _ if config.l3.is_there() => "the L3 holds a part of the lines",
        What::Write => "lines leave the L2 in the order of its sets",
        What::Copy => "the data buses turn round between reads and writes",
        What::Read if config.interconnect.topology != Topology::Crossbar => LINKS,
        What::Read if dram.policy == DramPolicy::Fcfs => "fcfs opens rows one after the other",
        What::Read => {
            // The lines in flight must lie in rows that the banks can all have open.
            let waves = memory_cores(config)? * MEMORY_WAVES[0];
            let reach = f64::from(waves * QUADS * config.core.wave_width * LANE);
            let rows = f64::from(dram.channels * dram.banks) * f64::from(dram.row_bytes);
            if rows < UNDER_WAY * reach {
                return Ok(Some("dram.banks rows are too few for what is under way".to_owned()));
            }
            let lines = f64::from(config.core.l1.line_bytes);
            let queued = f64::from(dram.channels * dram.queue_entries) * lines;
            let opening = cycles_of(config, f64::from(dram.t_rtp + dram.t_rp + dram.t_rcd));
            let mut bounds = memory_most(config, what)?.bounds(config, row_trip(config))?;
            let missed = f64::from(config.l2.slices * config.l2.mshrs) * lines;
            bounds.push(Bound::in_flight(missed, row_trip(config), "l2.mshrs lines under way"));
            bounds.push(Bound::in_flight(queued, opening, "dram.queue_entries requests"));
            let short = bounds.into_iter().find(|b| b.starves(memory_peak(config)));
            return Ok(short.map(|b| format!("{} while rows are opened", b.by)));
        }
    };
    Ok(Some(reason.to_owned()))
}

/// Most runs of the machine.
pub(super) fn steps(config: &Config) -> usize {
    STEPS + core_counts(config).len()
}

/// Measures every stream.
///
/// # Errors
/// Why a kernel did not end.
pub(super) fn measure(config: &Config, progress: &mut dyn Listener) -> Result<Section, String> {
    let mut figures = within_core::measure(config, progress)?;
    for cores in if config.cores == 1 { vec![1] } else { vec![1, config.cores] } {
        for what in What::ALL {
            let name = format!("L2, {}, {}", what.name(), counted(cores.into(), "core"));
            progress.starts(&name);
            let stream = Stream::in_l2(config, cores, what);
            let (rate, _) = stream.run(config, progress)?;
            let loosely = match what {
                What::Copy => Some("reads and writes wait for one another at the ports"),
                _ if config.interconnect.topology != Topology::Crossbar => Some(LINKS),
                What::Write if cores > 1 => Some(IN_ORDER),
                What::Read | What::Write => None,
            };
            figures.push(figure(name, rate, UNIT, &stream.bounds(config, 0.0)?, loosely));
        }
    }
    for what in What::ALL {
        let cores = memory_cores(config)?;
        let name = format!("memory, {}, {}", what.name(), counted(cores.into(), "core"));
        progress.starts(&name);
        let (rate, _) = memory_stream(config, what, progress)?;
        let bounds = memory_bounds(config, what)?;
        figures.push(figure(name, rate, UNIT, &bounds, memory_loosely(config, what)?.as_deref()));
    }
    let plots = vec![levels(config, &figures), by_cores(config, progress)?];
    Ok(Section { topic: Topic::Bandwidth, figures, plots })
}

/// Streams through memory in order, over more than the L2 holds, so that it does not help. Returns the rate
/// and the report for the number of waves that is fastest.
pub(super) fn memory_stream(
    config: &Config,
    what: What,
    progress: &mut dyn Listener,
) -> Result<(f64, KernelReport), String> {
    let clocks = if config.dram.t_refi == 0 { CLOCKS } else { REFRESHES * u64::from(config.dram.t_refi) };
    let cycles = cycles_of(config, clocks as f64);
    let parts = if what == What::Copy { 2 } else { 1 };
    // Lines are written to memory only after the L2 is full of them.
    let fill = if what == What::Read { 4 } else { 10 } * l2_bytes(config);
    let wanted = ((cycles * least(&memory_bounds(config, What::Read)?)) as u64).max(fill);
    let footprint = wanted.min(config.device_memory_bytes / parts);
    let cores = memory_cores(config)?;
    let mut run = |waves| {
        let stream = Stream::in_memory(config, cores, waves, footprint, what);
        let laps = wanted.div_ceil(stream.footprint) as u32;
        Stream { laps, ..stream }.run(config, progress)
    };
    let (few, more) = (run(MEMORY_WAVES[0])?, run(MEMORY_WAVES[1])?);
    Ok(if more.0 > few.0 { more } else { few })
}

/// The powers of two below the machine's number of cores, and that number.
pub(super) fn core_counts(config: &Config) -> Vec<u32> {
    let mut cores: Vec<u32> = (0..11).map(|bits| 1 << bits).filter(|&n| n < config.cores).collect();
    cores.push(config.cores);
    cores
}

/// Reads from each level, measured and expected.
fn levels(config: &Config, figures: &[Figure]) -> Plot {
    let reads: Vec<&Figure> = figures.iter().filter(|figure| figure.what.contains(", read,")).collect();
    let series = |name: &str, value: &dyn Fn(&Figure) -> f64| Series {
        name: name.to_owned(),
        points: (1u8..).zip(&reads).map(|(x, figure)| (f64::from(x), value(figure))).collect(),
    };
    Plot {
        name: Topic::Bandwidth.name(),
        title: format!("Reading on {}", config.name),
        x: "",
        y: UNIT,
        series: vec![
            series("measured", &|figure| figure.measured),
            series("expected", &|figure| figure.expected.unwrap_or_default()),
        ],
        names: reads.iter().map(|figure| figure.what.replace(" read,", "")).collect(),
        marks: Vec::new(),
        levels: Vec::new(),
    }
}

/// Reads from the L2 by a growing number of cores.
fn by_cores(config: &Config, progress: &mut dyn Listener) -> Result<Plot, String> {
    let (mut points, mut bound) = (Vec::new(), Vec::new());
    for n in core_counts(config) {
        progress.starts(&format!("L2, read, {}", counted(n.into(), "core")));
        let stream = Stream::in_l2(config, n, What::Read);
        points.push((f64::from(n), stream.run(config, progress)?.0));
        bound.push((f64::from(n), least(&stream.bounds(config, 0.0)?)));
    }
    Ok(Plot {
        name: "bandwidth-by-cores",
        title: format!("Reading from the L2 of {}", config.name),
        x: "cores",
        y: UNIT,
        series: vec![
            Series { name: "measured".to_owned(), points },
            Series { name: "bound".to_owned(), points: bound },
        ],
        names: Vec::new(),
        marks: Vec::new(),
        levels: Vec::new(),
    })
}
