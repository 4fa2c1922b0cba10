//! The race detector on the kernel suite: no report for the kernels as they are, and a report for every
//! barrier or fence removed.

use wave_machine::config::{self, Config};
use wave_machine::gpu::{Machine, RunOptions};
use wave_observe::races::{RaceCheck, RaceReport};
use wave_study::launch::{self, Job, Size};

/// `nop`.
const NOP: u32 = 0x3F00_00F0;

/// Cycle limit of a launch: without its barrier, a kernel may never end.
const MAX_CYCLES: u64 = 300_000;

fn machine(name: &str, job: &Job, change: impl Fn(&mut Config)) -> Config {
    let mut config = config::load(name).unwrap();
    config.device_memory_bytes = job.memory.len().next_multiple_of(4096) as u64;
    change(&mut config);
    config
}

/// Runs a job with race checking. Stops after a launch that does not end.
fn check(job: &Job, config: &Config) -> (RaceReport, bool) {
    let mut memory = job.memory.clone();
    memory.resize(config.device_memory_bytes as usize, 0);
    let mut gpu = Machine::new(config.clone(), job.program.clone(), memory);
    let mut races = RaceCheck::new(&job.program, config);
    let options = RunOptions { max_cycles: Some(MAX_CYCLES), ..RunOptions::UNBOUNDED };
    let mut ended = true;
    for launch in &job.steps {
        races.start(launch);
        let end = gpu.run(launch, &options, Some(&mut races), &mut |_| {});
        races.end(launch, end.as_ref());
        ended = end.is_ok();
        if !ended {
            break;
        }
    }
    (races.finish(), ended)
}

fn load(name: &str) -> Job {
    launch::load(name, Size::Small).unwrap_or_else(|errors| panic!("{name}: {}", errors[0]))
}

#[test]
fn the_suite_is_free_of_races_on_every_machine() {
    type Change = fn(&mut Config);
    let changes: [(&str, Change); 4] =
        [("gpu", |_| {}), ("tiny", |_| {}), ("t4", |_| {}), ("gpu", |c| c.core.wave_width = 8)];
    for name in launch::suite() {
        let job = load(name);
        for (config, change) in changes {
            let config = machine(config, &job, change);
            if !job.missing(&config.capabilities).is_empty() {
                continue;
            }
            let (report, ended) = check(&job, &config);
            assert!(report.is_clean() && ended, "{name} on {}: {}", config.name, report.text());
        }
    }
}

/// Words of the barriers and fences of a program, each with its line and text.
fn synchronisation(job: &Job) -> Vec<(Vec<usize>, u32, String)> {
    let source = job.program.source.as_ref().unwrap();
    let mut found: Vec<(Vec<usize>, u32, String)> = Vec::new();
    for word in 0..job.program.code.len() {
        let Some((line, text)) = source.line_of_word(word as u32) else { continue };
        let code = text.split(';').next().unwrap_or("").trim();
        if !code.contains("barrier") && !code.contains("fence_") {
            continue;
        }
        match found.last_mut() {
            Some((words, last, _)) if *last == line => words.push(word),
            _ => found.push((vec![word], line, code.to_owned())),
        }
    }
    found
}

/// Barriers and fences that small runs do not need: kernel, line and reason.
const REDUNDANT: &[(&str, u32, &str)] = &[(
    "nbody",
    44,
    "keeps a second tile from overwriting the first; with 128 bodies in 2 segments of 64 there is one",
)];

#[test]
fn every_barrier_and_fence_that_is_taken_out_is_missed() {
    let mut taken_out = 0;
    let mut unexpected = Vec::new();
    for name in launch::suite() {
        let job = load(name);
        for (words, line, text) in synchronisation(&job) {
            taken_out += 1;
            let mut without = load(name);
            words.iter().for_each(|&word| without.program.code[word] = NOP);
            // Waves of 8 lanes, so that each workgroup has several.
            let config = machine("gpu", &job, |c| c.core.wave_width = 8);
            let (report, _) = check(&without, &config);
            let redundant = REDUNDANT.iter().any(|&(kernel, at, _)| kernel == name && at == line);
            if report.is_clean() != redundant {
                unexpected.push(format!("{name}:{line} {text}: {}", report.text()));
            }
        }
    }
    assert!(taken_out > 20, "{taken_out}");
    assert!(unexpected.is_empty(), "{} of {taken_out}:\n{}", unexpected.len(), unexpected.join("\n"));
}
