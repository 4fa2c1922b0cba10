//! The report as JSON with keys in a fixed order. docs/command-line.md describes it.

use super::buffers::{self, BufferJson};
use super::energy::{AreaJson, EnergyJson};
use super::links::{LinkUse, links};
use super::{Data, Outcome, Run, Session, UntimedPart, UntimedStep, statistics, untimed};
use crate::launch::{Mismatch, Verification};
use crate::sample::Sampling;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use wave_isa::program::Launch;
use wave_machine::config::{Config, config_hash};
use wave_machine::functional;
use wave_machine::gpu::KernelReport;
use wave_machine::gpu::occupancy::Limiter;
use wave_machine::stats::Declared;
use wave_observe::figures::Step;
use wave_observe::figures::{FIGURES, Total};
use wave_observe::races::RaceReport;

/// Version of the document. It is raised when a key is removed or changes its meaning, not when one is added.
pub const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    wave_sim: &'static str,
    config: Machine<'a>,
    /// Absent if it is not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    area: Option<AreaJson>,
    runs: Vec<RunJson<'a>>,
}

#[derive(Serialize)]
struct Machine<'a> {
    name: &'a str,
    hash: String,
    cores: u32,
    wave_width: u32,
    core_clock_mhz: u32,
    /// What the command line sets: `core.l1.mshrs=64`.
    set: &'a [String],
}

#[derive(Serialize)]
struct RunJson<'a> {
    name: &'a str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Absent if it is no launch file.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Data>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verification: Option<VerificationJson<'a>>,
    /// Absent if races were not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    races: Option<&'a RaceReport>,
    launches: Vec<LaunchJson<'a>>,
    /// Of all launches with timing. Absent if they were not sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    sampled: Option<SampledJson>,
    /// Absent if it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_buffer: Option<Vec<BufferJson<'a>>>,
    /// Absent if no observer of a plug-in has written a text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    observers: Vec<ObservedJson<'a>>,
    /// Absent if no kernel can print or allocate memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    printed: Option<PrintedJson<'a>>,
    /// Absent if no launch has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<Numbers>,
    /// Of all launches with timing. Absent if it is not asked for, or if none has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    energy: Option<EnergyJson>,
}

/// What an observer of a plug-in has written.
#[derive(Serialize)]
struct ObservedJson<'a> {
    name: &'a str,
    text: &'a str,
}

/// What threads have printed.
#[derive(Serialize)]
struct PrintedJson<'a> {
    text: &'a str,
    /// Calls whose text is missing.
    lost_calls: u32,
    /// Allocations that found the heap of their thread full.
    full_heaps: u32,
}

#[derive(Serialize)]
struct VerificationJson<'a> {
    compared: u64,
    wrong: u64,
    #[serde(skip_serializing_if = "<[Mismatch]>::is_empty")]
    first_wrong: &'a [Mismatch],
}

#[derive(Serialize)]
struct LaunchJson<'a> {
    kernel: &'a str,
    grid: [u32; 3],
    workgroup: [u32; 3],
    registers: u32,
    local_memory_bytes: u32,
    arguments: &'a [(u8, u32)],
    /// `false` for a launch without timing, else absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    timed: Option<bool>,
    /// Absent without timing.
    #[serde(skip_serializing_if = "Option::is_none")]
    occupancy: Option<OccupancyJson>,
    /// What ran without timing in front of the detail, which `numbers` are about.
    #[serde(skip_serializing_if = "Option::is_none")]
    without_timing: Option<PartJson>,
    /// Absent if it was not sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    sampled: Option<SampledJson>,
    #[serde(flatten)]
    numbers: Numbers,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<LinkUse>,
    /// Absent if it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_buffer: Option<Vec<BufferJson<'a>>>,
}

/// How much of the launches was simulated, and what that says of the cycles.
#[derive(Serialize)]
struct SampledJson {
    /// Cycles, with 95 % confidence.
    interval: [f64; 2],
    simulated_cycles: u64,
    /// At least in part.
    simulated_launches: usize,
    simulated_workgroups: u64,
    /// Of the wave instructions.
    percent_simulated: f64,
    windows: usize,
}

impl SampledJson {
    fn of(sampling: Sampling) -> SampledJson {
        let (cycles, half_width) = (sampling.cycles.value, sampling.cycles.half_width());
        SampledJson {
            interval: [cycles - half_width, cycles + half_width],
            simulated_cycles: sampling.simulated_cycles,
            simulated_launches: sampling.launches.0,
            simulated_workgroups: sampling.workgroups.0,
            percent_simulated: sampling.percent_simulated(),
            windows: sampling.windows,
        }
    }
}

#[derive(Serialize)]
struct PartJson {
    nominal_cycles: u64,
    resident_workgroups: u64,
    #[serde(flatten)]
    numbers: Numbers,
}

#[derive(Serialize)]
struct OccupancyJson {
    workgroups: u32,
    waves_per_workgroup: u32,
    limiter: Limiter,
}

#[derive(Serialize)]
struct Numbers {
    #[serde(serialize_with = "in_order")]
    figures: Vec<(&'static str, f64)>,
    #[serde(serialize_with = "in_order")]
    statistics: Vec<(&'static str, u64)>,
}

/// A map whose keys are in the order of the list.
fn in_order<V: Serialize, S: Serializer>(
    pairs: &[(&'static str, V)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(pairs.len()))?;
    for (name, value) in pairs {
        map.serialize_entry(name, value)?;
    }
    map.end()
}

/// The document of a session: several lines, with a newline at the end.
pub fn document(session: &Session<'_>) -> String {
    let config = session.config;
    pretty(&Document {
        schema: SCHEMA,
        wave_sim: env!("CARGO_PKG_VERSION"),
        config: machine(config),
        area: session.prices.as_ref().map(|prices| AreaJson::of(config, prices)),
        runs: session.runs.iter().map(|run| run_json(run, session)).collect(),
    })
}

/// The document of `wave-sim measure`: the measurements of a machine in sections.
pub fn measurements<T: Serialize>(sections: &[T], config: &Config) -> String {
    #[derive(Serialize)]
    struct Measurements<'a, T> {
        schema: u32,
        wave_sim: &'static str,
        config: Machine<'a>,
        measurements: &'a [T],
    }
    let wave_sim = env!("CARGO_PKG_VERSION");
    pretty(&Measurements { schema: SCHEMA, wave_sim, config: machine(config), measurements: sections })
}

/// The document of `wave-sim explain`: explanations, and the quality of their predictions.
pub fn explanations<T: Serialize, Q: Serialize>(all: &[T], quality: &Q, config: &Config) -> String {
    #[derive(Serialize)]
    struct Explanations<'a, T, Q> {
        schema: u32,
        wave_sim: &'static str,
        config: Machine<'a>,
        explanations: &'a [T],
        quality: &'a Q,
    }
    let wave_sim = env!("CARGO_PKG_VERSION");
    pretty(&Explanations { schema: SCHEMA, wave_sim, config: machine(config), explanations: all, quality })
}

fn machine(config: &Config) -> Machine<'_> {
    Machine {
        name: &config.name,
        hash: config_hash(config),
        cores: config.cores,
        wave_width: config.core.wave_width,
        core_clock_mhz: config.core_clock_mhz,
        set: &config.set,
    }
}

/// The declared statistics, as `wave-sim stats --format json` prints them.
pub fn declarations(declared: &[Declared]) -> String {
    #[derive(Serialize)]
    struct Row {
        name: &'static str,
        unit: &'static str,
        doc: &'static str,
    }
    let row = |Declared { name, unit, doc }: Declared| Row { name, unit, doc: doc.trim() };
    pretty(&declared.iter().copied().map(row).collect::<Vec<_>>())
}

pub(crate) fn pretty(value: &impl Serialize) -> String {
    // Numbers, strings and maps with string keys always serialise.
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

fn run_json<'a>(run: &'a Run, session: &Session<'_>) -> RunJson<'a> {
    let config = session.config;
    let verification = match &run.outcome {
        Outcome::Ended(Verification::Passed { compared }) => {
            Some(VerificationJson { compared: *compared, wrong: 0, first_wrong: &[] })
        }
        Outcome::Ended(Verification::Failed { compared, wrong, first }) => {
            Some(VerificationJson { compared: *compared, wrong: *wrong, first_wrong: first })
        }
        _ => None,
    };
    let part = |part: &UntimedPart| PartJson {
        nominal_cycles: part.nominal_cycles,
        resident_workgroups: part.resident.0,
        numbers: untimed_numbers(&part.report, config),
    };
    let timed = run.steps.iter().enumerate().map(|(number, step)| LaunchJson {
        // Only the first launch with timing can begin part-way.
        without_timing: run.part.as_ref().filter(|_| number == 0).map(part),
        sampled: run.sampled.get(number).copied().map(SampledJson::of),
        by_buffer: run.by_buffer.as_ref().map(|attributed| buffers::of_launch(attributed, number)),
        ..launch_json(step, config)
    });
    RunJson {
        name: &run.name,
        outcome: run.outcome.word(),
        races: run.races.as_ref(),
        message: message(run),
        data: run.data,
        verification,
        launches: run.untimed.iter().map(|step| untimed_json(step, config)).chain(timed).collect(),
        sampled: run.sampling().map(SampledJson::of),
        by_buffer: run.by_buffer.as_ref().map(buffers::of_run),
        observers: run.observed.iter().map(|(name, text)| ObservedJson { name, text }).collect(),
        printed: run.printed.as_ref().map(|printed| PrintedJson {
            text: &printed.text,
            lost_calls: printed.lost,
            full_heaps: printed.heap_full,
        }),
        total: total(run, config),
        energy: (session.prices.as_ref().zip(run.total()))
            .map(|(prices, report)| EnergyJson::of(&report, config, prices)),
    }
}

/// Why a run did not end.
pub(crate) fn message(run: &Run) -> Option<String> {
    match &run.outcome {
        Outcome::Ended(_) => None,
        Outcome::Skipped(why) => Some(why.clone()),
        Outcome::Refused(why) => Some(why.iter().map(|d| d.message.as_str()).collect::<Vec<_>>().join("\n")),
        Outcome::Fault(why) | Outcome::Stopped(why) => Some(why.message.clone()),
    }
}

fn total(run: &Run, config: &Config) -> Option<Numbers> {
    match run.total() {
        Some(report) => Some(numbers(&report, config)),
        None => untimed::total(&run.untimed).map(|report| untimed_numbers(&report, config)),
    }
}

/// Names with their values.
type Named<V> = Vec<(&'static str, V)>;

/// Figures and statistics of all launches of a run; none if no launch has ended.
pub(crate) fn totals(run: &Run, config: &Config) -> (Named<f64>, Named<u64>) {
    total(run, config).map(|numbers| (numbers.figures, numbers.statistics)).unwrap_or_default()
}

fn launch_json<'a>(step: &'a Step, config: &Config) -> LaunchJson<'a> {
    let occupancy = &step.report.occupancy;
    LaunchJson {
        occupancy: Some(OccupancyJson {
            workgroups: occupancy.workgroups,
            waves_per_workgroup: occupancy.waves_per_workgroup,
            limiter: occupancy.limiter,
        }),
        links: links(&step.report, config),
        ..of_launch(&step.kernel, &step.launch, numbers(&step.report, config))
    }
}

fn untimed_json<'a>(step: &'a UntimedStep, config: &Config) -> LaunchJson<'a> {
    let numbers = untimed_numbers(&step.report, config);
    LaunchJson { timed: Some(false), ..of_launch(&step.kernel, &step.launch, numbers) }
}

fn of_launch<'a>(kernel: &'a str, launch: &'a Launch, numbers: Numbers) -> LaunchJson<'a> {
    LaunchJson {
        kernel,
        grid: launch.grid,
        workgroup: launch.workgroup,
        registers: launch.registers,
        local_memory_bytes: launch.local_memory_bytes,
        arguments: &launch.initial_registers,
        timed: None,
        occupancy: None,
        without_timing: None,
        sampled: None,
        numbers,
        links: Vec::new(),
        by_buffer: None,
    }
}

fn untimed_numbers(report: &functional::Report, config: &Config) -> Numbers {
    Numbers {
        figures: untimed::figures(report, config).into_iter().map(|(d, _, value)| (d.name, value)).collect(),
        statistics: report.values().into_iter().map(|(d, value)| (d.name, value)).collect(),
    }
}

fn numbers(report: &KernelReport, config: &Config) -> Numbers {
    let total = Total { config, report };
    Numbers {
        figures: FIGURES.iter().map(|f| (f.declared.name, f.of(&total))).collect(),
        statistics: statistics::values(report).into_iter().map(|(d, value)| (d.name, value)).collect(),
    }
}
