//! The kernel suite: verified, with the same counts as on the cores.

use wave_machine::config::{self, Config, DivergenceMode};
use wave_machine::functional::{self, Limits, Report};
use wave_machine::gpu::{Machine, RunOptions};
use wave_study::launch::{self, Job, Size, Verification};

/// Device memory after the job, and the counts of each launch.
fn run(config: &Config, job: &Job) -> (Vec<u8>, Vec<Report>) {
    let mut memory = job.memory.clone();
    let launch = |launch| {
        functional::run(config, &job.program, launch, &mut memory, &Limits::default(), &mut |_| {})
            .unwrap_or_else(|error| panic!("{}: {error:?}", job.name))
    };
    let reports = job.steps.iter().map(launch).collect();
    (memory, reports)
}

fn load(name: &str) -> Job {
    launch::load(name, Size::Small).expect("a kernel of the suite")
}

#[test]
fn every_kernel_is_right_for_every_wave_width() {
    for name in launch::suite() {
        let job = load(name);
        for wave_width in [8, 16, 32, 64] {
            let mut config = config::load("gpu").expect("a preset");
            config.core.wave_width = wave_width;
            let (memory, _) = run(&config, &job);
            let verification = job.verify(&memory);
            let passed = matches!(verification, Verification::Passed { .. });
            assert!(passed, "{name}, waves of {wave_width} lanes: {verification}");
        }
    }
}

/// Kernels whose course depends on the order of atomics: where elements go, and which lane finds a vertex first.
const ANY_ORDER: [&str; 2] = ["compact", "bfs"];

/// Every count that is a property of the program, not of the machine's timing: the suite has no races, and its
/// kernels do not poll.
#[test]
fn every_count_is_that_of_the_cores() {
    for (name, divergence) in
        [("gpu", DivergenceMode::Walk), ("gpu", DivergenceMode::Jump), ("tiny", DivergenceMode::Jump)]
    {
        let mut config = config::load(name).expect("a preset");
        config.core.divergence = divergence;
        for kernel in launch::suite().filter(|kernel| !ANY_ORDER.contains(kernel)) {
            let job = load(kernel);
            if !job.missing(&config.capabilities).is_empty() {
                continue;
            }
            let (memory, reports) = run(&config, &job);
            let mut gpu = Machine::new(config.clone(), job.program.clone(), job.memory.clone());
            for (launch, report) in job.steps.iter().zip(&reports) {
                let timed = gpu.run(launch, &RunOptions::UNBOUNDED, None, &mut |_| {}).expect("it ends");
                let timed = Report { counters: timed.core };
                let pairs = report.values().into_iter().zip(timed.values());
                for ((declared, count), (_, on_cores)) in pairs {
                    let what = declared.name;
                    assert_eq!(count, on_cores, "{what} of {kernel} on {name}, {divergence:?}");
                }
            }
            assert!(memory == gpu.into_memory(), "memory after {kernel} on {name}, {divergence:?}");
        }
    }
}
