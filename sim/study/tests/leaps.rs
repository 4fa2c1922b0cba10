//! Leaps: kernels whose waves go on without timing, again and again, in the middle of a launch.

use wave_isa::program::Launch;
use wave_machine::config::{self, Config, IssuePolicy, WritePolicy};
use wave_machine::functional;
use wave_machine::gpu::{Leapt, Machine, RunOptions, Stop};
use wave_machine::stats::CoreCounters;
use wave_study::launch::{self, Job, Size, Verification};

/// How leaps follow on one another: cycles simulated before each, and cycles that it leaves out.
#[derive(Clone, Copy)]
struct Rhythm {
    simulated: u64,
    left_out: f64,
    /// The kernel stores to each place once, and reads no place to which it stores behind that.
    stores_once: bool,
}

/// What became of launches with leaps.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    leaps: u32,
    cycles: u64,
    /// Wave instructions in the leaps.
    left_out: u64,
    memory: Vec<u8>,
}

fn instructions(counters: &CoreCounters) -> u64 {
    counters.wave_instructions + counters.squashed_instructions
}

fn small(name: &str) -> Job {
    launch::load(name, Size::Small).unwrap_or_else(|errors| panic!("{}", errors[0].render(false)))
}

fn run_launch(
    machine: &mut Machine,
    launch: &Launch,
    options: &RunOptions,
    rhythm: Rhythm,
    sum: &mut Outcome,
) {
    machine.begin(launch, options).unwrap();
    let mut companion = machine.companion().unwrap().expect("a launch runs");
    let mut left_out = CoreCounters::default();
    let report = 'ended: loop {
        for look in [true, false] {
            let until = machine.now() + rhythm.simulated / 2;
            if let Stop::Ended(report) = machine.advance(until, None).unwrap() {
                break 'ended report;
            }
            if look {
                machine.look_at_waves(&mut companion);
            }
        }
        if let Leapt::Counted(counted) = machine.leap(&mut companion, rhythm.left_out, &mut |_| {}).unwrap() {
            sum.leaps += 1;
            left_out += &counted;
        }
    };
    let own = machine.memory().to_vec();
    let mut all = machine.part_from(companion, options, &mut |_| {}).unwrap();
    // No wave of the machine has gone another way than its companion, and none has gone a part of it twice or never.
    let mut parts = report.core;
    parts += &left_out;
    for ((counter, all), (_, parts)) in functional::counted(&mut all).zip(functional::counted(&mut parts)) {
        // The machine counts a workgroup too whose last waves have ended in a leap.
        if counter.name != "core.workgroups" {
            assert_eq!(all, parts, "{}", counter.name);
        }
    }
    if rhythm.stores_once {
        // Then nothing comes late that could be wrong, and the machine comes to the same results by itself.
        assert!(own == machine.memory(), "the machine's own results");
    }
    sum.cycles += report.cycles;
    sum.left_out += instructions(&left_out);
}

/// Runs a kernel of the suite with leaps, and verifies its results.
fn run(name: &str, config: &Config, threads: usize, rhythm: Rhythm) -> Outcome {
    let job = small(name);
    let used = job.memory.len();
    let mut machine = Machine::new(config.clone(), job.program.clone(), job.memory.clone());
    let options = RunOptions { threads, ..RunOptions::UNBOUNDED };
    let mut sum = Outcome::default();
    for launch in &job.steps {
        run_launch(&mut machine, launch, &options, rhythm, &mut sum);
    }
    sum.memory = machine.into_memory();
    let verified = job.verify(&sum.memory[..used]);
    assert!(matches!(verified, Verification::Passed { .. }), "{name}: {verified}");
    sum
}

/// Machines that keep waves, lines and stores in different ways.
fn machines() -> [Config; 4] {
    let tiny = || config::load("tiny").expect("a preset");
    let mut machines = [tiny(), tiny(), tiny(), config::load("gpu").expect("a preset")];
    machines[0].core.issue.policy = IssuePolicy::Lrr;
    machines[1].core.issue.policy = IssuePolicy::Gto;
    machines[1].core.l1.write_policy = WritePolicy::WriteBack;
    machines[2].core.issue.policy = IssuePolicy::TwoLevel;
    machines[2].cores = 3;
    machines
}

#[test]
fn every_instruction_is_executed_once_and_results_are_exact() {
    // Barriers and local memory, matrix fragments, divergence, loops of different lengths.
    let stores_once = ["sgemm", "mlp_layer", "mma_gemm", "spmv", "mandelbrot", "softmax", "alu_loop", "lcm"];
    // Atomics, results in place, several launches, f64.
    let others = ["reduction", "histogram", "nbody", "dot_f64", "bitonic_sort", "saxpy"];
    let kernels = stores_once.map(|name| (name, true)).into_iter().chain(others.map(|name| (name, false)));
    let mut leaps = [0; 4];
    for (name, stores_once) in kernels {
        for (machine, config) in machines().iter().enumerate() {
            for (simulated, left_out) in [(400, 300.0), (1500, 6000.0)] {
                let outcome = run(name, config, 1, Rhythm { simulated, left_out, stores_once });
                leaps[machine] += outcome.leaps;
            }
        }
    }
    assert!(leaps.iter().all(|&leaps| leaps > 50), "{leaps:?}");
}

#[test]
fn leaps_are_the_same_with_any_number_of_threads() {
    let config = config::load("gpu").expect("a preset");
    for name in ["sgemm", "reduction"] {
        let rhythm = Rhythm { simulated: 600, left_out: 500.0, stores_once: false };
        let one = run(name, &config, 1, rhythm);
        assert!(one.leaps > 0 && one.left_out > 0);
        assert_eq!(one, run(name, &config, 2, rhythm), "{name}");
    }
}

#[test]
fn a_launch_begins_again_as_if_it_had_not_begun() {
    let (config, job) = (config::load("tiny").expect("a preset"), small("histogram"));
    let new = || Machine::new(config.clone(), job.program.clone(), job.memory.clone());
    let options = RunOptions::UNBOUNDED;
    let launch = &job.steps[0];
    let mut whole = new();
    let expected = whole.run(launch, &options, None, &mut |_| {}).unwrap();
    let mut machine = new();
    machine.begin(launch, &options).unwrap();
    let mut companion = machine.companion().unwrap().unwrap();
    let mut leaps = 0;
    while leaps < 3 {
        assert!(matches!(machine.advance(machine.now() + 700, None).unwrap(), Stop::Cycle));
        let leapt = machine.leap(&mut companion, 300.0, &mut |_| {}).unwrap();
        leaps += u32::from(matches!(leapt, Leapt::Counted(_)));
    }
    machine.begin_again(companion, &options).unwrap();
    let Stop::Ended(report) = machine.advance(u64::MAX, None).unwrap() else { panic!("it ends") };
    // Refreshes of memory come at other times than from the beginning of a machine on, so cycles may differ a little.
    assert_eq!(instructions(&report.core), instructions(&expected.core));
    assert!(report.cycles.abs_diff(expected.cycles) < expected.cycles / 100);
    assert_eq!(machine.into_memory(), whole.into_memory());
}
