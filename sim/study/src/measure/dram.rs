//! Row hits and bandwidth of memory for lines in order, random lines and rows of one bank, under both
//! policies.

use super::bandwidth::{What, memory_bounds, memory_stream};
use super::bound::least;
use super::channel::Channels;
use super::kernel::{Kernel, waves};
use super::plot::{Plot, Series};
use super::{Figure, Listener, Rule, Section, Topic, expected};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg32;
use std::collections::BTreeMap;
use wave_machine::config::{Config, DramPolicy};

/// Runs of the machine.
pub(super) const STEPS: usize = 6;
/// Most lines that each lane reads one after the other.
const CHAIN: usize = 32;
/// Most waves of a core that read chains.
const WAVES: u32 = 8;
const UNIT: &str = "bytes a cycle";

/// Order in which lines are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pattern {
    InOrder,
    Random,
    OneBank,
}

impl Pattern {
    const ALL: [Pattern; 3] = [Pattern::InOrder, Pattern::Random, Pattern::OneBank];

    fn name(self) -> &'static str {
        match self {
            Pattern::InOrder => "lines in order",
            Pattern::Random => "random lines",
            Pattern::OneBank => "rows of one bank in turn",
        }
    }
}

/// Up to `most` of the first `lines` lines, drawn without replacement.
fn random_lines(lines: u64, most: usize) -> Vec<u64> {
    let mut all: Vec<u64> = (0..lines).collect();
    let (chosen, _) = all.partial_shuffle(&mut Pcg32::seed_from_u64(lines), most);
    chosen.to_vec()
}

/// Up to `most` lines of one bank such that each is in another row than the one before: the first line of
/// every row, then the second of every row, and so on.
fn lines_of_one_bank(config: &Config, lines: u64, most: usize) -> Vec<u64> {
    let home = expected::place(config, 0);
    let mut rows: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for line in 0..lines {
        let place = expected::place(config, line);
        if (place.channel, place.group, place.bank) == (home.channel, home.group, home.bank) {
            rows.entry(place.row).or_default().push(line);
        }
    }
    let longest = rows.values().map(Vec::len).max().unwrap_or(0);
    let in_turn = (0..longest).flat_map(|column| rows.values().filter_map(move |row| row.get(column)));
    in_turn.copied().take(most).collect()
}

/// Result of a stream.
struct Stream {
    bytes_per_cycle: f64,
    /// Requests that found their row open, in percent.
    hits: f64,
}

/// Reads a word of each line in chains. Each lane starts at one of the first lines and finds there where to
/// continue, so it has one line in flight, roughly in the order of the list. The end of device memory holds
/// the table of the first lines. Also returns the lines read; `None` if they are too few.
fn chains(
    config: &Config,
    cores: u32,
    lines: impl Fn(u64, usize) -> Vec<u64>,
    progress: &mut dyn Listener,
) -> Result<Option<(Stream, Vec<u64>)>, String> {
    let line_bytes = config.core.l1.line_bytes as usize;
    let width = config.core.wave_width;
    let waves = waves(config, WAVES);
    let lanes = (waves * width * cores) as usize;
    let table = (config.device_memory_bytes as usize).saturating_sub(4 * lanes) / line_bytes * line_bytes;
    let list = lines((table / line_bytes) as u64, lanes * CHAIN);
    let steps = list.len() / lanes;
    if steps < 4 {
        return Ok(None);
    }
    let mut memory = vec![0; config.device_memory_bytes as usize];
    let mut put = |at: usize, line: u64| {
        memory[at..at + 4].copy_from_slice(&(line as u32 * line_bytes as u32).to_le_bytes());
    };
    for (i, &line) in list.iter().enumerate().take(steps * lanes) {
        if i < lanes {
            put(table + 4 * i, line);
        }
        if let Some(&next) = list.get(i + lanes) {
            put(line as usize * line_bytes, next);
        }
    }
    // r0: lines of a chain; r1: the table.
    let text = "mov_sr r5, sr_workgroup_id_x\nmov_sr r6, sr_workgroup_size_x\nmov_sr r7, sr_thread_id_x\n\
                imad r4, r5, r6, r7\nmov_imm r5, 4\nimul r4, r4, r5\niadd r4, r4, r1\nmov_imm r6, 1\n\
                mov_imm r7, 0\ndevice_load_u32 r4, r4\nloop\ndevice_load_u32 r4, r4\nisub r0, r0, r6\n\
                ucmp_eq p1, r0, r7\nbreak p1\nendloop";
    let kernel = Kernel::new(text, cores, waves * width, &[steps as u32, table as u32])?;
    let (rate, report) = kernel.rate_on(config, memory, progress)?;
    let dram = report.memory.dram;
    let bytes_per_cycle = rate.of(f64::from(width) * f64::from(read_bytes(config)));
    let hits = dram.row_hits as f64 / dram.requests.max(1) as f64 * 100.0;
    Ok(Some((Stream { bytes_per_cycle, hits }, list)))
}

/// Bytes read from memory for a word: a sector, or the burst that contains it.
fn read_bytes(config: &Config) -> u32 {
    config.core.l1.sector_bytes.max(config.dram.burst_bytes)
}

/// Bytes a cycle of one channel that reads these lines one after the other with a queue that is never empty.
/// Taken from the middle half of them, by the rules of the channel.
fn one_after_the_other(config: &Config, lines: &[u64]) -> f64 {
    let mut channels = Channels::new(config);
    let times: Vec<u64> =
        lines.iter().map(|&line| channels.read(0, expected::place(config, line)).0).collect();
    let (from, to) = (times.len() / 4, times.len() * 3 / 4);
    (to - from) as f64 * f64::from(read_bytes(config)) / (times[to] - times[from]) as f64
}

/// Measures every pattern under both policies.
///
/// # Errors
/// Why a kernel did not end.
pub(super) fn measure(config: &Config, progress: &mut dyn Listener) -> Result<Section, String> {
    let mut figures = Vec::new();
    let mut series = Vec::new();
    for (policy, name) in [(DramPolicy::FrFcfs, "fr_fcfs"), (DramPolicy::Fcfs, "fcfs")] {
        let mut machine = config.clone();
        machine.dram.policy = policy;
        let mut points = Vec::new();
        for (x, pattern) in (1u8..).zip(Pattern::ALL) {
            let what = format!("{}, {name}", pattern.name());
            progress.starts(&what);
            let bandwidth = |stream: &Stream, expected: Option<f64>, rule: Rule, note: &str| Figure {
                what: format!("{what}: bandwidth"),
                measured: stream.bytes_per_cycle,
                expected,
                unit: UNIT,
                rule,
                off: 0,
                note: note.to_owned(),
            };
            let mut rule = (Rule::Shown, None);
            let stream = match pattern {
                Pattern::InOrder => {
                    let (bytes_per_cycle, report) = memory_stream(&machine, What::Read, progress)?;
                    let dram = report.memory.dram;
                    let hits = dram.row_hits as f64 / dram.requests.max(1) as f64 * 100.0;
                    let stream = Stream { bytes_per_cycle, hits };
                    let bounds = memory_bounds(&machine, What::Read)?;
                    figures.push(bandwidth(
                        &stream,
                        Some(least(&bounds)),
                        Rule::AtMost,
                        "the bound under `bandwidth`",
                    ));
                    stream
                }
                Pattern::Random => {
                    let Some((stream, _)) = chains(&machine, machine.cores, random_lines, progress)? else {
                        continue;
                    };
                    figures.push(bandwidth(&stream, None, Rule::Shown, "one sector of each line"));
                    stream
                }
                Pattern::OneBank => {
                    let lines = |lines, most| lines_of_one_bank(&machine, lines, most);
                    let Some((stream, list)) = chains(&machine, 1, lines, progress)? else { continue };
                    let expected = one_after_the_other(&machine, &list);
                    let note = "a row after the other: tRC, tRAS + tRP, or tRCD + tRTP + tRP, and refresh";
                    figures.push(bandwidth(&stream, Some(expected), Rule::WithinPercent(1.0), note));
                    rule = (Rule::AtMost, Some(100.0 / machine.dram.banks as f64));
                    stream
                }
            };
            figures.push(Figure {
                what: format!("{what}: row hits"),
                measured: stream.hits,
                expected: rule.1,
                unit: "% of requests",
                rule: rule.0,
                off: 0,
                note: String::new(),
            });
            points.push((f64::from(x), stream.hits));
        }
        series.push(Series { name: name.to_owned(), points });
    }
    let plot = Plot {
        name: Topic::Dram.name(),
        title: format!("Row hits on {}", config.name),
        x: "",
        y: "% of requests",
        series,
        names: Pattern::ALL.iter().map(|pattern| pattern.name().to_owned()).collect(),
        marks: Vec::new(),
        levels: Vec::new(),
    };
    Ok(Section { topic: Topic::Dram, figures, plots: vec![plot] })
}
