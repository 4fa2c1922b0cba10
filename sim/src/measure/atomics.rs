//! Throughput of atomic additions: local memory, and device memory in each scope; all lanes at one word, or
//! each at its own.

use super::bandwidth::{Bound, IN_ORDER, figure};
use super::kernel::{Kernel, waves};
use super::plot::{Plot, Series};
use super::{Figure, Observer, Section, Topic, expected};
use crate::config::Config;

const UNIT: &str = "additions a cycle";
/// Runs of the machine.
pub(super) const STEPS: usize = 18;
/// Atomics of an iteration.
const UNROLLED: u32 = 16;
const ITERATIONS: u32 = 8;

/// Where the lanes point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    Same,
    Distinct,
}

impl Words {
    fn name(self) -> &'static str {
        match self {
            Words::Same => "one word",
            Words::Distinct => "a word a lane",
        }
    }
}

fn run(
    config: &Config,
    instruction: &str,
    words: Words,
    cores: u32,
    progress: &mut dyn Observer,
) -> Result<f64, String> {
    let threads = waves(config, 64) * config.core.wave_width;
    let body = format!("{instruction}\n").repeat(UNROLLED as usize);
    let bytes = if words == Words::Same { 0 } else { 4 };
    let text = format!(
        "mov_sr r5, sr_workgroup_id_x\nmov_sr r6, sr_workgroup_size_x\nmov_sr r7, sr_thread_id_x\n\
         imad r4, r5, r6, r7\nmov_imm r5, {bytes}\nimul r4, r4, r5\nmov_imm r6, 1\nmov_imm r7, 0\n\
         {instruction}\nbarrier\nloop\n{body}isub r0, r0, r6\nucmp_eq p1, r0, r7\nbreak p1\nendloop"
    );
    let local = instruction.starts_with("local");
    let kernel = Kernel::new(&text, cores, threads, &[ITERATIONS])?;
    let kernel = if local { kernel.with_local_memory(16 << 10) } else { kernel };
    let (rate, _) = kernel.rate(config, progress)?;
    Ok(rate.of(f64::from(config.core.wave_width)))
}

/// Packets of an atomic instruction of a whole wave, and the payload of each (rule L5, M6).
fn packets(config: &Config, words: Words) -> (u32, u32) {
    let (width, l1) = (config.core.wave_width, &config.core.l1);
    match words {
        Words::Same => (width, l1.sector_bytes),
        Words::Distinct => {
            let bytes = (4 * width).min(l1.line_bytes);
            ((4 * width).div_ceil(l1.line_bytes), bytes.next_multiple_of(l1.sector_bytes))
        }
    }
}

fn local(config: &Config, words: Words, progress: &mut dyn Observer) -> Result<Figure, String> {
    let width = config.core.wave_width;
    let passes = match words {
        Words::Same => width,
        Words::Distinct => width.div_ceil(config.core.local.banks),
    };
    progress.starts(&format!("local memory, {}", words.name()));
    let rate = run(config, "local_atomic_add r4, r6", words, 1, progress)?;
    let bounds = [Bound::new(f64::from(width) / f64::from(passes), "core.local.banks, a pass a cycle")];
    // A pass a cycle is as fast as one scheduler's instructions come.
    let loosely = (passes == 1 && config.core.schedulers == 1).then_some("instructions issued");
    Ok(figure(format!("local memory, {}, one core", words.name()), rate, UNIT, &bounds, loosely))
}

/// Measures every kind.
///
/// # Errors
/// Why a kernel did not end.
pub(super) fn measure(config: &Config, progress: &mut dyn Observer) -> Result<Section, String> {
    let mut figures = Vec::new();
    let mut series = Vec::new();
    for words in [Words::Same, Words::Distinct] {
        figures.push(local(config, words, progress)?);
    }
    for (scope, in_core) in [("wave", true), ("workgroup", true), ("device", false), ("system", false)] {
        for words in [Words::Same, Words::Distinct] {
            for (cores, name) in [(1, "one core"), (config.cores, "all cores")] {
                if (cores == 1) != (name == "one core") {
                    continue;
                }
                let what = format!("{scope} scope, {}, {name}", words.name());
                progress.starts(&what);
                let rate = run(config, &format!("atomic_add r4, r6, .{scope}"), words, cores, progress)?;
                let loosely = match (scope, words) {
                    ("system", _) => Some("each reaches memory"),
                    (_, Words::Distinct) if cores > 1 => Some(IN_ORDER),
                    _ => None,
                };
                figures.push(figure(what, rate, UNIT, &bounds(config, words, cores, in_core), loosely));
            }
        }
    }
    let mut points = Vec::new();
    let mut cores: Vec<u32> = (0..11).map(|bits| 1 << bits).filter(|&n| n < config.cores).collect();
    cores.push(config.cores);
    for &n in &cores {
        progress.starts(&format!("device scope, {n} cores"));
        let rate = run(config, "atomic_add r4, r6, .device", Words::Distinct, n, progress)?;
        points.push((f64::from(n), rate));
    }
    series.push(Series { name: Words::Distinct.name().to_owned(), points });
    let plot = Plot {
        name: Topic::Atomics.name(),
        title: format!("Atomic additions of device scope on {}", config.name),
        x: "cores",
        y: UNIT,
        series,
        marks: Vec::new(),
        levels: Vec::new(),
    };
    Ok(Section { topic: Topic::Atomics, figures, plots: vec![plot] })
}

fn bounds(config: &Config, words: Words, cores: u32, in_core: bool) -> Vec<Bound> {
    let (packets, payload) = packets(config, words);
    let additions = f64::from(config.core.wave_width) / f64::from(packets);
    // A packet holds the core's port; there and back with its words, for those that the L2 performs.
    let held = expected::packet_cycles(config, payload) as f64;
    let mut bounds = vec![Bound::new(
        f64::from(cores) * additions / held,
        "interconnect.port_bytes_per_cycle at the cores",
    )];
    if in_core {
        // Old words and the acknowledgement of the write each take the core's one response a cycle.
        bounds.push(Bound::new(f64::from(cores) * additions / 2.0, "two responses an addition"));
    }
    let slices = match words {
        Words::Same => 1,
        Words::Distinct => config.l2.slices,
    };
    bounds.push(Bound::new(
        f64::from(slices) * additions / held,
        "interconnect.port_bytes_per_cycle at the slices",
    ));
    bounds
}
