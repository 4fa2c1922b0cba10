//! Random structured programs on the simulator, with and without timing, and on the reference interpreter: the same
//! device memory, number of wave instructions and faults.
//!
//! `WAVE_SIM_PROGRAMS` multiplies the number of programs; `WAVE_SIM_SEED` sets the first seed. A failure
//! names the seed and prints the shrunk program as assembly.

use wave_testing::environment;

use environment::{count, number};
use wave_isa::program::{Launch, Program, disassemble};
use wave_machine::config::{self, Config, DivergenceMode, IssuePolicy, Topology};
use wave_machine::functional::Limits;
use wave_machine::gpu::RunOptions;
use wave_verify::compare::{Difference, compare, execute, simulate};
use wave_verify::generate::{Case, Options, grow, shrink};
use wave_verify::reference::Machine;

/// On what a program runs beside the reference interpreter.
#[derive(Clone, Copy)]
enum On {
    /// The cores, with idle cycles skipped or visited.
    Cores { every_cycle: bool },
    /// The machine without timing.
    NoTiming,
}

fn check(config: &Config, on: On, case: &Case) -> Result<(), Difference> {
    let run = |program: &Program, launch: &Launch, memory: &mut Vec<u8>| match on {
        On::Cores { every_cycle } => {
            let options = RunOptions { max_cycles: Some(1_000_000), every_cycle, ..RunOptions::UNBOUNDED };
            simulate(config, &options, program, launch, memory)
        }
        On::NoTiming => {
            let limits = Limits { max_instructions: Some(10_000_000), ..Limits::default() };
            execute(config, &limits, program, launch, memory)
        }
    };
    compare(&case.program, &case.launch, &Machine::of(config), &case.memory, run)
}

/// Runs random programs on one machine, with timing and without. One in five contains a fault.
fn run(programs: u64, name: &str, change: impl Fn(&mut Config)) {
    // Some runs visit every cycle: skipping idle cycles must not change results.
    run_on(programs, name, change, |seed| [On::Cores { every_cycle: seed % 7 == 3 }, On::NoTiming]);
}

fn run_on<const N: usize>(
    programs: u64,
    name: &str,
    change: impl Fn(&mut Config),
    on: impl Fn(u64) -> [On; N],
) {
    let mut config = config::load(name).expect("a preset");
    change(&mut config);
    let first = number("WAVE_SIM_SEED", 0);
    for seed in first..first + programs * count("WAVE_SIM_PROGRAMS", 1) {
        let options = Options { fault: seed % 5 == 4, ..Options::of(&config) };
        let tree = grow(seed, &options);
        for on in on(seed) {
            let Err(difference) = check(&config, on, &tree.case()) else { continue };
            let kind = std::mem::discriminant(&difference);
            let small = shrink(&tree, &mut |case| {
                check(&config, on, case).is_err_and(|d| std::mem::discriminant(&d) == kind)
            });
            let case = small.case();
            let again = check(&config, on, &case).expect_err("shrinking keeps the failure");
            let timing = if matches!(on, On::NoTiming) { " without timing" } else { "" };
            panic!(
                "{name}{timing}, seed {seed}: {difference}\nshrunk: {again}\ngrid {:?}\n{}",
                case.launch.grid,
                disassemble(&case.program)
            );
        }
    }
}

#[test]
fn on_the_smallest_machine() {
    run(60, "tiny", |_| {});
}

#[test]
fn on_the_smallest_machine_with_jumps() {
    run(60, "tiny", |config| config.core.divergence = DivergenceMode::Jump);
}

#[test]
fn on_the_default_machine() {
    run(20, "gpu", |_| {});
}

#[test]
fn on_a_machine_of_64_lanes() {
    run(10, "mi300x", |_| {});
}

#[test]
fn on_the_machine_of_the_rtl() {
    run(60, "rtl", |_| {});
}

#[test]
fn with_every_issue_policy() {
    for policy in [IssuePolicy::Lrr, IssuePolicy::Gto, IssuePolicy::Oldest, IssuePolicy::TwoLevel] {
        for divergence in [DivergenceMode::Walk, DivergenceMode::Jump] {
            run(10, "tiny", |config| {
                config.core.schedulers = 2;
                config.core.issue.policy = policy;
                config.core.issue.two_level_active = 2;
                config.core.divergence = divergence;
            });
        }
    }
}

/// Latencies and queues at their minima and maxima. Results must not depend on timing.
#[test]
fn with_extreme_timing() {
    run(25, "tiny", |config| {
        for class in config.core.units.iter_mut().flat_map(|unit| &mut unit.classes) {
            (class.latency_cycles, class.passes) = (1, 1);
        }
        config.core.branch_latency_cycles = 1;
        config.core.registers.banks = 1;
        config.core.registers.collectors = 1;
        config.core.lsu.queue_entries = 1;
        config.core.lsu.pending_entries = 1;
    });
    run(25, "tiny", |config| {
        for (n, class) in config.core.units.iter_mut().flat_map(|unit| &mut unit.classes).enumerate() {
            (class.latency_cycles, class.passes) = (40 - 3 * n as u32, 1 + n as u32 % 3);
        }
        config.core.branch_latency_cycles = 7;
        config.core.fetch.icache_latency_cycles = 9;
        config.core.local.latency_cycles = 31;
        config.interconnect.latency_cycles = 50;
    });
}

#[test]
fn on_rings_and_meshes_with_one_credit() {
    for topology in [Topology::Ring, Topology::Mesh] {
        run(10, "tiny", |config| {
            config.interconnect.topology = topology;
            config.interconnect.link_credits = 1;
            config.interconnect.mesh_columns = 2;
        });
    }
}

/// Many more, because each takes little time.
#[test]
fn without_timing() {
    for (name, divergence) in [
        ("tiny", DivergenceMode::Walk),
        ("gpu", DivergenceMode::Jump),
        ("mi300x", DivergenceMode::Walk),
        ("rtl", DivergenceMode::Jump),
    ] {
        run_on(150, name, |config| config.core.divergence = divergence, |_| [On::NoTiming]);
    }
}
