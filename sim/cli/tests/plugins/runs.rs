//! Runs in one process.

use super::machine;
use wave_machine::config::Config;
use wave_machine::core::probe::{Observer, RegisteredObservers};
use wave_machine::gpu::{KernelReport, Machine, RunOptions, Stop};
use wave_sim::plugin::statistics;
use wave_study::launch::{self, Job, Size};
use wave_study::summary::statistics::values;

/// Settings of machines in which plug-ins have much to do.
const MACHINES: [&[&str]; 10] = [
    &["core.issue.policy=ccws", "core.l1.bytes=4096", "ccws.gain=16", "ccws.decay=7"],
    &["core.issue.policy=ccws", "core.l1.bytes=4096", "core.schedulers=2", "core.issue.width=2"],
    &["core.l1.replacement=ship", "l2.replacement=ship", "core.l1.bytes=4096", "l2.slice_bytes=8192"],
    &["core.l1.prefetcher=stride", "stride.degree=4", "core.l1.mshrs=4"],
    &["core.l1.prefetcher=next_line", "core.l1.write_policy=write_back"],
    &["core.l1.path=victim_cache", "core.l1.bytes=2048", "core.l1.ways=1"],
    &["dispatcher.policy=last_core", "core.max_workgroups=3"],
    &["dispatcher.policy=least_loaded", "core.max_workgroups=3"],
    &["reuse.enabled=1", "reuse.lines=48", "core.l1.bytes=4096"],
    &[
        "core.issue.policy=ccws",
        "core.l1.replacement=ship",
        "core.l1.prefetcher=stride",
        "core.l1.path=victim_cache",
        "core.l1.write_policy=write_back",
        "core.l1.bytes=4096",
    ],
];

/// Kernels with streams, gathers, atomics, barriers and fences.
const KERNELS: [&str; 7] = ["saxpy", "histogram", "spmv", "bfs", "stencil2d", "compact", "transpose_naive"];

/// The outcome of a run.
#[derive(PartialEq)]
struct Left {
    reports: Vec<KernelReport>,
    memory: Vec<u8>,
    now: u64,
}

impl Left {
    /// The first difference from another run of the same launches.
    fn difference(&self, other: &Left) -> Option<String> {
        let counts = |left: &Left| left.reports.iter().flat_map(values).collect::<Vec<_>>();
        let (mine, theirs) = (counts(self), counts(other));
        let mut counted = mine.iter().zip(&theirs).filter(|(a, b)| a.1 != b.1);
        if let Some((a, b)) = counted.next() {
            return Some(format!("{} is {}, not {}", a.0.name, a.1, b.1));
        }
        if self.memory != other.memory {
            return Some("memory differs".to_owned());
        }
        (self != other).then(|| format!("the run ends in cycle {}, not {}", self.now, other.now))
    }
}

fn gpu(config: &Config, job: &Job) -> Machine {
    let mut memory = job.memory.clone();
    memory.resize(config.device_memory_bytes as usize, 0);
    Machine::new(config.clone(), job.program.clone(), memory)
}

fn left(mut gpu: Machine, reports: Vec<KernelReport>) -> Left {
    let now = gpu.now();
    Left { reports, memory: gpu.memory().to_vec(), now }
}

fn run(config: &Config, job: &Job, options: &RunOptions) -> Left {
    let mut gpu = gpu(config, job);
    let mut registered = RegisteredObservers::of(config);
    let one = |step| {
        registered.begin(step);
        let mut report = gpu
            .run(step, options, first(&mut registered), &mut |_| {})
            .unwrap_or_else(|e| panic!("{}: {e:?}", job.name));
        registered.count(&mut report.plug_ins);
        report
    };
    let reports = job.steps.iter().map(one).collect();
    left(gpu, reports)
}

/// The observer, if there is one; no machine here enables two.
fn first(registered: &mut RegisteredObservers) -> Option<&mut dyn Observer> {
    registered.observers().next()
}

/// Runs a job, and puts the state into a new machine after every so many cycles.
fn run_in_parts(config: &Config, job: &Job, options: &RunOptions, part: u64) -> Left {
    let mut machine = gpu(config, job);
    let mut registered = RegisteredObservers::of(config);
    let mut reports = Vec::new();
    for step in &job.steps {
        machine.begin(step, options).expect("the launch begins");
        registered.begin(step);
        loop {
            let until = machine.now() + part;
            match machine.advance(until, first(&mut registered)).expect("the launch ends") {
                Stop::Ended(mut report) => {
                    registered.count(&mut report.plug_ins);
                    break reports.push(*report);
                }
                Stop::Cycle | Stop::Observer => {
                    let states = registered.save();
                    registered = RegisteredObservers::of(config);
                    let state = |name: &str| states.iter().find(|(known, _)| known == name);
                    registered.restore(|name| state(name).map(|(_, state)| &state[..])).expect("they fit");
                    let snapshot = machine.snapshot();
                    let mut other = gpu(config, job);
                    other.restore_with(&snapshot, options).expect("the state fits");
                    machine = other;
                }
            }
        }
    }
    left(machine, reports)
}

#[test]
fn a_run_with_plug_ins_is_the_same_however_it_is_made() {
    let mut counted = vec![
        0;
        {
            super::installed();
            statistics().len()
        }
    ];
    let mut useful = 0;
    for settings in MACHINES {
        let config = machine(settings);
        for name in KERNELS {
            let job =
                launch::load(name, Size::Small).unwrap_or_else(|errors| panic!("{name}: {}", errors[0]));
            let options = RunOptions { max_cycles: Some(3_000_000), ..RunOptions::UNBOUNDED };
            let once = run(&config, &job, &options);
            assert!(job.verify(&once.memory).is_ok(), "{name}, {settings:?}: {}", job.verify(&once.memory));
            let same = |how: &str, left: &Left| {
                let difference = left.difference(&once);
                assert!(
                    difference.is_none(),
                    "{how}, {name}, {settings:?}: {}",
                    difference.unwrap_or_default()
                );
            };
            let every_cycle = RunOptions { every_cycle: true, ..options };
            same("every cycle", &run(&config, &job, &every_cycle));
            let threads = RunOptions { threads: 2, ..options };
            same("two threads", &run(&config, &job, &threads));
            let part = (once.now / 5).max(1);
            same("in parts", &run_in_parts(&config, &job, &options, part));
            let (mut settled, mut asked) = (0, 0);
            for report in &once.reports {
                counted.iter_mut().zip(&report.plug_ins).for_each(|(sum, value)| *sum += value);
                settled += report.l1.prefetch_hits + report.l1.prefetch_late + report.l1.prefetch_unused;
                asked += report.l1.prefetches;
                useful += report.l1.prefetch_hits + report.l1.prefetch_late;
                assert_eq!(values(report).len(), wave_study::summary::statistics::counters().len());
            }
            // What became of a line is counted at most once.
            assert!(settled <= asked, "{name}, {settings:?}: {settled} of {asked} prefetches");
        }
    }
    // A plug-in that is never asked would pass.
    assert!(useful > 0);
    for (declared, count) in statistics().iter().zip(&counted) {
        assert!(*count > 0, "{} counts nothing", declared.name);
    }
}

#[test]
fn a_machine_that_chooses_no_plug_in_does_not_know_of_any() {
    let config = machine(&[]);
    let job = launch::load("saxpy", Size::Small).expect("a kernel of the suite");
    let left = run(&config, &job, &RunOptions::UNBOUNDED);
    assert!(left.reports.iter().all(|report| report.plug_ins.iter().all(|&count| count == 0)));
}

#[test]
fn a_state_of_a_machine_with_another_plug_in_is_refused() {
    let job = launch::load("saxpy", Size::Small).expect("a kernel of the suite");
    let state = |settings: &[&str]| {
        let mut gpu = gpu(&machine(settings), &job);
        gpu.begin(&job.steps[0], &RunOptions::UNBOUNDED).expect("the launch begins");
        gpu.advance(100, None).expect("it runs");
        gpu
    };
    let (plain, ccws) = (state(&["core.issue.policy=gto"]), state(&["core.issue.policy=ccws"]));
    for (from, mut into) in [(plain.snapshot(), state(&["core.issue.policy=ccws"])), (ccws.snapshot(), plain)]
    {
        assert!(into.restore_with(&from, &RunOptions::UNBOUNDED).is_err());
    }
    let less_tags = state(&["core.l1.path=victim_cache"]).snapshot();
    assert!(state(&["core.issue.policy=ccws"]).restore_with(&less_tags, &RunOptions::UNBOUNDED).is_err());
}
