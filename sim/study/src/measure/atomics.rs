//! Throughput of atomic additions in local memory, and in device memory at each scope, with all lanes on one
//! word or each lane on its own.

use super::bandwidth::{IN_ORDER, LINKS, core_counts};
use super::bound::{Bound, by_issue, figure, least};
use super::kernel::{Kernel, again_and_again, in_turn, waves};
use super::plot::{Plot, Series};
use super::{Figure, Listener, Section, Topic, expected};
use wave_machine::config::{Config, Topology, WritePolicy};
use wave_observe::numbers::counted;

const UNIT: &str = "additions a cycle";
/// Runs of the machine besides those of the plot.
const STEPS: usize = 18;
/// Atomics per iteration.
const UNROLLED: u32 = 64;
const ITERATIONS: u32 = 4;

/// Most runs of the machine.
pub(super) fn steps(config: &Config) -> usize {
    STEPS + core_counts(config).len()
}

/// Words that the lanes access.
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

/// Runs an atomic addition of 1 at r5 in every wave of some cores. Returns the rate, and the bounds that
/// follow from what the cores issue.
fn run(
    config: &Config,
    instruction: &str,
    words: Words,
    cores: u32,
    progress: &mut dyn Listener,
) -> Result<(f64, Vec<Bound>), String> {
    let local = instruction.starts_with("local");
    let width = config.core.wave_width;
    let room = if local { config.core.local_memory_bytes / (4 * width) } else { u32::MAX };
    let waves = if words == Words::Same { waves(config, 64) } else { waves(config, room.clamp(1, 64)) };
    let body = format!("{instruction}\n").repeat(UNROLLED as usize);
    let bytes = if words == Words::Same { 0 } else { 4 };
    let text = format!(
        "mov_sr r4, sr_workgroup_id_x\nmov_sr r6, sr_workgroup_size_x\nmov_sr r7, sr_thread_id_x\n\
         imad r5, r4, r6, r7\nmov_imm r6, {bytes}\nimul r5, r5, r6\n{}{}",
        in_turn(config, instruction, 1),
        again_and_again(&body)
    );
    let kernel = Kernel::new(&text, cores, waves * width, &[ITERATIONS])?;
    let kernel = if local { kernel.with_local_memory(4 * width * waves) } else { kernel };
    let (rate, _) = kernel.rate(config, progress)?;
    let additions = f64::from(width);
    Ok((rate.of(additions), by_issue(config, cores, &kernel.work(config), additions)))
}

/// Packets of an atomic instruction of a whole wave, and the payload bytes of each (rules L5, M6).
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

fn local(config: &Config, words: Words, progress: &mut dyn Listener) -> Result<Figure, String> {
    let width = config.core.wave_width;
    let passes = match words {
        Words::Same => width,
        // Lanes that share a word of a bank take a pass each.
        Words::Distinct => {
            let shared = config.core.local.bank_bytes / 4;
            width.div_ceil(shared).div_ceil(config.core.local.banks) * shared.min(width)
        }
    };
    progress.starts(&format!("local memory, {}", words.name()));
    let (rate, mut bounds) = run(config, "local_atomic_add r5, r8", words, 1, progress)?;
    bounds.push(Bound::new(f64::from(width) / f64::from(passes), "core.local.banks, a pass a cycle"));
    Ok(figure(format!("local memory, {}, 1 core", words.name()), rate, UNIT, &bounds, None))
}

/// Measures every kind.
///
/// # Errors
/// The reason why a kernel did not end.
pub(super) fn measure(config: &Config, progress: &mut dyn Listener) -> Result<Section, String> {
    let mut figures = Vec::new();
    let mut series = Vec::new();
    for words in [Words::Same, Words::Distinct] {
        figures.push(local(config, words, progress)?);
    }
    for (scope, in_core) in [("wave", true), ("workgroup", true), ("device", false), ("system", false)] {
        for words in [Words::Same, Words::Distinct] {
            for cores in if config.cores == 1 { vec![1] } else { vec![1, config.cores] } {
                let what = format!("{scope} scope, {}, {}", words.name(), counted(cores.into(), "core"));
                progress.starts(&what);
                let instruction = format!("atomic_add r5, r8, .{scope}");
                let (rate, mut bounds) = run(config, &instruction, words, cores, progress)?;
                bounds.extend(bounds_of(config, words, cores, in_core));
                let loosely = match words {
                    _ if config.interconnect.topology != Topology::Crossbar => Some(LINKS),
                    Words::Distinct if cores > 1 => Some(IN_ORDER),
                    _ => None,
                };
                figures.push(figure(what, rate, UNIT, &bounds, loosely));
            }
        }
    }
    let (mut points, mut bound) = (Vec::new(), Vec::new());
    for n in core_counts(config) {
        progress.starts(&format!("device scope, {}", counted(n.into(), "core")));
        let (rate, mut bounds) = run(config, "atomic_add r5, r8, .device", Words::Distinct, n, progress)?;
        bounds.extend(bounds_of(config, Words::Distinct, n, false));
        points.push((f64::from(n), rate));
        bound.push((f64::from(n), least(&bounds)));
    }
    series.push(Series { name: "measured".to_owned(), points });
    series.push(Series { name: "bound".to_owned(), points: bound });
    let plot = Plot {
        name: Topic::Atomics.name(),
        title: format!("Atomic additions of device scope on {}, a word a lane", config.name),
        x: "cores",
        y: UNIT,
        series,
        names: Vec::new(),
        marks: Vec::new(),
        levels: Vec::new(),
    };
    Ok(Section { topic: Topic::Atomics, figures, plots: vec![plot] })
}

/// Bounds set by ports and slices.
fn bounds_of(config: &Config, words: Words, cores: u32, in_core: bool) -> Vec<Bound> {
    let (packets, payload) = packets(config, words);
    let additions = f64::from(config.core.wave_width) / f64::from(packets);
    if in_core && config.core.l1.write_policy == WritePolicy::WriteBack {
        return vec![Bound::new(f64::from(cores) * additions, "an access of the L1 a cycle (L6)")];
    }
    // A packet holds the core's port. If the L2 performs it, its words hold it both ways.
    let held = expected::packet_cycles(config, payload) as f64;
    let mut bounds = vec![Bound::new(
        f64::from(cores) * additions / held,
        "interconnect.port_bytes_per_cycle at the cores",
    )];
    if in_core {
        // The old words and the acknowledgement of the write each take the core's one response a cycle.
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
