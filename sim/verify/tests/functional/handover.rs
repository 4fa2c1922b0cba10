//! Runs that begin without timing and go on with it: from any place they end in the same memory, after the same
//! instructions and with the same faults as the reference interpreter.
//!
//! `WAVE_SIM_PROGRAMS` multiplies the number of programs; `WAVE_SIM_SEED` sets the first seed. A failure names the seed
//! and the place, and prints the shrunk program as assembly.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use wave_isa::program::{Launch, Program, assemble, disassemble};
use wave_machine::clock::NEVER;
use wave_machine::config::{self, Config, DivergenceMode};
use wave_machine::functional::{self, Execution, Limits, Report, Until};
use wave_machine::gpu::{KernelReport, Machine, RunError, RunOptions, Stop};
use wave_study::launch::{self, Job, Size, Verification};
use wave_testing::drawn;
use wave_testing::environment::{count, number};
use wave_verify::compare::{Difference, Place, compare, hand_over};
use wave_verify::generate::{Case, Options, grow, shrink};
use wave_verify::reference;

/// Memory sizes that every drawn machine gets.
const ROOM: &[&str] = &["device_memory_bytes=8388608", "core.local_memory_bytes=65536"];

/// Where in a program: a part of all its nominal cycles, or of its code.
#[derive(Debug, Clone, Copy)]
enum At {
    Cycle(f64),
    Pc(f64),
}

impl At {
    fn random(random: &mut Pcg32) -> At {
        let part = random.random_range(0.0..1.0);
        if random.random_range(0..3) < 2 { At::Cycle(part) } else { At::Pc(part) }
    }

    /// The place in a case. A case that faults has those before the fault.
    fn of(self, config: &Config, case: &Case) -> Place {
        match self {
            At::Cycle(part) => {
                let mut execution =
                    Execution::new(config, &case.program, &case.launch).expect("it fits the machine");
                let (mut memory, limits) = (case.memory.clone(), Limits::default());
                _ = execution.advance(&mut memory, Until::Cycle(u64::MAX), &limits, &mut |_| {});
                Place::Cycle((execution.cycle() as f64 * part) as u64)
            }
            At::Pc(part) => Place::Pc((case.program.code.len() as f64 * part) as u32 * 4),
        }
    }
}

fn check(config: &Config, options: &RunOptions, place: Place, case: &Case) -> Result<(), Difference> {
    let machine = reference::Machine::of(config);
    compare(&case.program, &case.launch, &machine, &case.memory, |program, launch, memory| {
        hand_over(config, options, place, program, launch, memory)
    })
}

/// Hands random programs over at random places. One in five has a fault.
fn run(programs: u64, config: &Config, name: &str) {
    let first = number("WAVE_SIM_SEED", 0);
    for seed in first..first + programs * count("WAVE_SIM_PROGRAMS", 1) {
        let mut random = Pcg32::seed_from_u64(seed);
        let grown = Options { fault: seed % 5 == 4, ..Options::of(config) };
        let options = RunOptions {
            max_cycles: Some(1_000_000),
            every_cycle: seed % 7 == 3,
            inspect: seed % 7 == 5,
            ..RunOptions::UNBOUNDED
        };
        let tree = grow(seed, &grown);
        for at in [At::random(&mut random), At::random(&mut random)] {
            let place = at.of(config, &tree.case());
            let Err(difference) = check(config, &options, place, &tree.case()) else { continue };
            let kind = std::mem::discriminant(&difference);
            let fails = |case: &Case| check(config, &options, at.of(config, case), case).err();
            let small = shrink(&tree, &mut |case| {
                fails(case).is_some_and(|difference| std::mem::discriminant(&difference) == kind)
            });
            let case = small.case();
            let (again, place) = (fails(&case).expect("shrinking keeps the failure"), at.of(config, &case));
            panic!(
                "{name}, seed {seed}: {difference}\nshrunk, {place:?}: {again}\ngrid {:?}\n{}",
                case.launch.grid,
                disassemble(&case.program)
            );
        }
    }
}

#[test]
fn random_programs_on_presets() {
    for (name, programs, divergence) in [
        ("tiny", 40, DivergenceMode::Walk),
        ("tiny", 40, DivergenceMode::Jump),
        ("rtl", 30, DivergenceMode::Jump),
        ("gpu", 4, DivergenceMode::Walk),
        ("t4", 4, DivergenceMode::Jump),
        ("mi300x", 4, DivergenceMode::Walk),
    ] {
        let mut config = config::load(name).expect("a preset");
        config.core.divergence = divergence;
        run(programs, &config, name);
    }
}

#[test]
fn random_programs_on_random_machines() {
    let mut random = Pcg32::seed_from_u64(number("WAVE_SIM_SEED", 7));
    let mut machines = 0;
    while machines < 8 {
        let Some(machine) = drawn::machine(&mut random, "tiny", ROOM, &[drawn::memory, drawn::core]) else {
            continue;
        };
        machines += 1;
        run(6, &machine.config, &machine.arguments());
    }
}

/// A launch that is handed over: the counts before, the report, and memory at the end.
fn handed_over(
    config: &Config,
    (program, launch): (&Program, &Launch),
    memory: &mut Vec<u8>,
    cycle: u64,
) -> (Report, KernelReport) {
    let mut execution = Execution::new(config, program, launch).expect("it fits the machine");
    let stop = execution.advance(memory, Until::Cycle(cycle), &Limits::default(), &mut |_| {});
    assert_eq!(stop, Ok(functional::ExecutionStop::Cycle), "cycle {cycle}");
    let mut machine = Machine::new(config.clone(), program.clone(), std::mem::take(memory));
    machine.begin_from(&execution, &RunOptions::UNBOUNDED).expect("it was made for this machine");
    // A stop and a snapshot on the way leave no trace.
    let stopped = machine.advance(40, None).expect("no fault");
    let report = match stopped {
        Stop::Ended(report) => report,
        _ => {
            let snapshot = machine.snapshot();
            let mut other = Machine::new(config.clone(), program.clone(), vec![0; 4]);
            other.restore(&snapshot).expect("it fits");
            machine = other;
            let Ok(Stop::Ended(report)) = machine.advance(NEVER, None) else { panic!("it does not end") };
            report
        }
    };
    *memory = machine.into_memory();
    (execution.report(), *report)
}

fn straight(config: &Config, (program, launch): (&Program, &Launch), memory: &mut Vec<u8>) -> KernelReport {
    let mut machine = Machine::new(config.clone(), program.clone(), std::mem::take(memory));
    let report = machine.run(launch, &RunOptions::UNBOUNDED, None, &mut |_| {}).expect("it ends");
    *memory = machine.into_memory();
    report
}

/// Nothing is counted twice, and nothing is left out: what the program alone decides adds up to what it is in a run
/// with timing.
#[test]
fn both_parts_of_a_kernel_of_the_suite_add_up() {
    for (name, machine) in [
        ("reduction", "tiny"),
        ("sgemm", "tiny"),
        ("histogram", "gpu"),
        ("softmax", "t4"),
        ("mandelbrot", "rtl"),
        ("transpose_padded", "tiny"),
    ] {
        let mut job = launch::load(name, Size::Small).expect("a kernel of the suite");
        job.steps.truncate(1);
        let config = config::load(machine).expect("a preset");
        let what = (&job.program, &job.steps[0]);
        let mut expected = job.memory.clone();
        let whole = straight(&config, what, &mut expected);
        let mut length = Execution::new(&config, what.0, what.1).expect("it fits");
        let limits = Limits::default();
        _ = length.advance(&mut job.memory.clone(), Until::Cycle(u64::MAX), &limits, &mut |_| {});
        for part in [0, 1, 7, 15] {
            let cycle = length.cycle() * part / 16;
            let mut memory = job.memory.clone();
            let (before, after) = handed_over(&config, what, &mut memory, cycle);
            assert!(memory == expected, "{name} on {machine} from cycle {cycle}");
            let mut sum = before.counters;
            sum += &after.core;
            let counted = |counters| Report { counters }.values();
            assert_eq!(counted(sum), counted(whole.core), "{name} on {machine} from cycle {cycle}");
            if cycle == 0 {
                assert_eq!(after, whole, "{name} on {machine}: from the beginning it is the run with timing");
            }
        }
    }
}

/// Waves that come to a barrier at different times: from every nominal cycle, some wait there.
#[test]
fn waves_at_a_barrier_are_handed_over_from_every_cycle() {
    let body = "
        mov_sr r1, sr_wave_id
        mov_sr r2, sr_thread_id_x
        mov_imm r3, 2
        mov_imm r4, 1
        mov_imm r5, 0
        mov_sr r10, sr_num_waves
        mov_imm r11, 3
        shl r2, r2, r3
        mov_imm r12, 0
        loop
            imul r6, r1, r11
            loop
                icmp_eq p1, r6, r5
                break p1
                isub r6, r6, r4
            endloop
            local_load_u32 r8, r2
            iadd r8, r8, r1
            local_store_u32 r2, r8
            barrier
            mov_imm r7, 32
            iadd r9, r2, r7
            mov_imm r7, 127
            and r9, r9, r7
            local_load_u32 r8, r9
            barrier
            iadd r8, r8, r4
            local_store_u32 r2, r8
            iadd r12, r12, r4
            icmp_ge p1, r12, r11
            break p1
        endloop
        mov_sr r13, sr_workgroup_id_x
        mov_imm r14, 128
        imad r13, r13, r14, r2
        device_store_u32 r13, r8
        halt";
    let text =
        format!(".kernel k\n.registers 16\n.local_memory 128\n.workgroup_size 32, 1, 1\n{body}\n.end\n");
    let (program, _) = assemble(&text, "k.wave").expect("a program");
    let config = config::load("tiny").expect("a preset");
    let launch = Launch::of(&program, 0, [9, 1, 1]);
    let what = (&program, &launch);
    let mut expected = vec![0; 4096];
    let whole = straight(&config, what, &mut expected);
    assert!(expected[..128 * 9].chunks_exact(4).all(|word| word != [0; 4]));
    let mut length = Execution::new(&config, &program, &launch).expect("it fits");
    let limits = Limits::default();
    _ = length.advance(&mut vec![0; 4096], Until::Cycle(u64::MAX), &limits, &mut |_| {});
    assert!(length.cycle() > 150, "{}", length.cycle());
    for cycle in 0..length.cycle() {
        let mut memory = vec![0; 4096];
        let (before, after) = handed_over(&config, what, &mut memory, cycle);
        assert!(memory == expected, "from cycle {cycle}");
        assert_eq!(before.counters.barriers + after.core.barriers, whole.core.barriers, "from cycle {cycle}");
    }
}

#[test]
fn a_launch_under_way_goes_on_where_its_state_fits_only() {
    let job = launch::load("sgemm", Size::Small).expect("a kernel of the suite");
    let other = launch::load("softmax", Size::Small).expect("a kernel of the suite");
    let load = |name| config::load(name).expect("a preset");
    let mut execution = Execution::new(&load("tiny"), &job.program, &job.steps[0]).expect("it fits");
    let mut memory = job.memory.clone();
    execution.advance(&mut memory, Until::Cycle(100), &Limits::default(), &mut |_| {}).expect("no fault");
    let begin = |config: Config, job: &Job| {
        let mut machine = Machine::new(config, job.program.clone(), memory.clone());
        machine.begin_from(&execution, &RunOptions::UNBOUNDED).map(|()| machine)
    };
    let refused = |ended: Result<Machine, RunError>| match ended {
        Err(RunError::Launch(error)) => error.message,
        other => panic!("{other:?}"),
    };
    let mut cores = load("tiny");
    cores.cores = 1;
    assert_eq!(
        refused(begin(cores, &job)),
        "the launch under way was made for 2 cores, and this machine has 1"
    );
    let mut width = load("tiny");
    width.core.wave_width = 16;
    assert!(refused(begin(width, &job)).contains("8 lanes of a wave"));
    assert!(refused(begin(load("tiny"), &other)).contains("is not one of this kernel"));
    // Other units, caches and memory do not matter: one beginning serves several machines.
    let mut fast = load("tiny");
    fast.core.branch_latency_cycles = 1;
    fast.core.lsu.queue_entries = 1;
    let Ok(mut machine) = begin(fast, &job) else { panic!("it fits") };
    assert!(matches!(machine.advance(NEVER, None), Ok(Stop::Ended(_))));
    assert!(matches!(job.verify(&machine.into_memory()), Verification::Passed { .. }));
}
