//! Random structured programs on both sides.
//!
//! `WAVE_SIM_PROGRAMS` multiplies the number of programs, `WAVE_SIM_SEED` sets the first seed. A failure names the seed and
//! prints the program shrunk, as assembly.

use crate::bench::{Case, SMALL_WAVES, config, core, executable, script, small_config};
use std::path::Path;
use wave_sim::config::Config;
use wave_sim::program::disassemble;
use wave_sim::rtl::{Agreement, Disagreement, Mode, Variant};
use wave_sim::verify::generate::{self, Options, grow, shrink};

const PROGRAMS: u64 = 40;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().map_or(default, |text| text.parse().expect("a number"))
}

fn case(config: &Config, seed: u64, generated: generate::Case) -> Case {
    let generate::Case { program, launch, memory } = generated;
    // From a memory side that answers at once to one that fills every queue.
    let script = match seed % 4 {
        0 => script(seed as u32, 1, 3),
        1 => script(seed as u32, 5, 40),
        2 => script(seed as u32, 1, 200),
        _ => script(seed as u32, 2, 12),
    };
    Case { program, launch, memory, script, config: config.clone(), max_cycles: 2_000_000 }
}

fn run(
    core: &Path,
    config: &Config,
    seed: u64,
    generated: generate::Case,
) -> Result<Agreement, Disagreement> {
    let case = case(config, seed, generated);
    // Every third one in both modes: what agrees in each cycle agrees.
    if seed.is_multiple_of(3) {
        case.run_on(core, Mode::Architectural)?;
    }
    case.run_on(core, Mode::Cycle)
}

#[test]
fn random_programs_agree_in_every_cycle() {
    if let Some(core) = core() {
        programs_agree(core, &config());
    }
}

#[test]
fn random_programs_agree_on_the_small_core() {
    if let Some(core) = executable(&Variant { waves: Some(SMALL_WAVES), ..Variant::default() }) {
        programs_agree(&core, &small_config());
    }
}

fn programs_agree(core: &Path, config: &Config) {
    let first = number("WAVE_SIM_SEED", 0);
    let (mut cycles, mut instructions, mut faults) = (0, 0, 0);
    for seed in first..first + PROGRAMS * number("WAVE_SIM_PROGRAMS", 1) {
        let options = Options { fault: seed % 5 == 4, ..Options::of(config) };
        let tree = grow(seed, &options);
        match run(core, config, seed, tree.case()) {
            Ok(agreement) => {
                cycles += agreement.cycles;
                instructions += agreement.instructions;
                faults += u64::from(agreement.fault);
            }
            Err(difference) => {
                let kind = std::mem::discriminant(&difference);
                let small = match std::env::var_os("WAVE_SIM_NO_SHRINK") {
                    Some(_) => tree,
                    None => shrink(&tree, &mut |case| {
                        run(core, config, seed, case.clone())
                            .is_err_and(|d| std::mem::discriminant(&d) == kind)
                    }),
                };
                let case = small.case();
                let again = run(core, config, seed, case.clone()).expect_err("shrinking keeps the failure");
                panic!(
                    "seed {seed}: {difference}\nshrunk: {again}\ngrid {:?} workgroup {:?}\n{}",
                    case.launch.grid,
                    case.launch.workgroup,
                    disassemble(&case.program)
                );
            }
        }
    }
    println!("{cycles} cycles, {instructions} wave instructions, {faults} faults");
    assert!(instructions > 0 && faults > 0);
}
