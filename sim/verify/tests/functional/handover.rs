//! Runs that begin without timing and go on with it: from any place they end in the same memory, after the same
//! instructions and with the same faults as the reference interpreter.
//!
//! `WAVE_SIM_PROGRAMS` multiplies the number of programs; `WAVE_SIM_SEED` sets the first seed. A failure names the seed
//! and the place, and prints the shrunk program as assembly.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use wave_isa::program::disassemble;
use wave_machine::config::{self, Config, DivergenceMode};
use wave_machine::functional::{Execution, Limits, Until};
use wave_machine::gpu::{KernelReport, Machine, RunOptions, Stop};
use wave_study::launch::{self, Size, Verification};
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
        ("tiny", 80, DivergenceMode::Walk),
        ("tiny", 80, DivergenceMode::Jump),
        ("rtl", 30, DivergenceMode::Jump),
        ("gpu", 8, DivergenceMode::Walk),
        ("t4", 8, DivergenceMode::Jump),
        ("mi300x", 8, DivergenceMode::Walk),
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
    while machines < 12 {
        let Some(machine) = drawn::machine(&mut random, "tiny", ROOM, &[drawn::memory, drawn::core]) else {
            continue;
        };
        machines += 1;
        run(6, &machine.config, &machine.arguments());
    }
}
