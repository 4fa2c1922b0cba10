//! Random structured programs on both sides: the programs of `wave-sim cosim --random`.
//!
//! `WAVE_SIM_PROGRAMS` multiplies the number of programs, `WAVE_SIM_SEED` sets the first seed.

use crate::bench::{Case, SMALL_WAVES, config, core, executable, small_config};
use crate::environment::{count, number};
use crate::suite::corpus;
use std::ops::Range;
use std::path::Path;
use wave_machine::config::Config;
use wave_observe::trace::{How, Recorder, Window};
use wave_verify::rtl::coverage::Coverage;
use wave_verify::rtl::{Agreement, Disagreement, Mode, Trial, Variant};

/// Number of programs on the core of `configs/rtl.ron` of the usual length and short, and on the small core.
const PROGRAMS: u64 = 6;
const SHORT: u64 = 40;
const ON_THE_SMALL_CORE: u64 = 160;

/// Seeds of so many programs.
fn seeds(programs: u64) -> Range<u64> {
    let first = number("WAVE_SIM_SEED", 0);
    first..first + programs * count("WAVE_SIM_PROGRAMS", 1)
}

/// Long programs, each with what to say of it.
fn long(config: &Config, programs: u64, flags: &str) -> impl Iterator<Item = (String, Trial)> {
    seeds(programs).map(move |seed| {
        let again = format!("`wave-sim cosim --random 1 --seed {seed}{flags}` shrinks it and leaves traces");
        (format!("seed {seed} ({again})"), Trial::of(config, seed, false, None))
    })
}

fn run(
    core: &Path,
    config: &Config,
    trial: &Trial,
    and_architectural: bool,
    met: &mut Coverage,
) -> Result<Agreement, Disagreement> {
    let case = Case::of_trial(trial, config);
    if and_architectural {
        case.run_on(core, Mode::Architectural)?;
    }
    let stimulus = tempfile::NamedTempFile::new().expect("a temporary file");
    let sinks = vec![("coverage".to_owned(), Box::new(met) as _)];
    let mut recorder = Recorder::new(config, sinks, Window::ALL);
    recorder.start(&case.program, &case.launch, 0);
    let agreement = case.cosim(&[]).run_beside(core, stimulus.path(), Some(&mut recorder))?;
    recorder.finish(How::Complete, u64::MAX - 1, "").expect("nothing is written");
    Ok(agreement)
}

#[test]
fn random_programs_agree_in_every_cycle() {
    let Some(core) = core() else { return };
    let config = &config();
    // Many short programs find more per second than few long ones.
    let short =
        seeds(SHORT).map(|seed| (format!("short, seed {seed}"), Trial::of(config, seed, true, Some((1, 8)))));
    programs_agree(core, config, long(config, PROGRAMS, "").chain(short));
}

/// Few programs that meet in the RTL what thousands of guided ones have met.
#[test]
fn the_programs_of_the_corpus_agree_in_every_cycle() {
    let Some(core) = core() else { return };
    let config = config();
    let mut cycles = 0;
    for (name, trial) in corpus() {
        let agreement = Case::of_trial(&trial, &config).run_on(core, Mode::Cycle);
        cycles += agreement.unwrap_or_else(|why| panic!("{name}: {why}")).cycles;
    }
    println!("{cycles} cycles");
    assert!(cycles > 0);
}

#[test]
#[ignore = "builds another executable, which takes minutes: --ignored"]
fn random_programs_agree_on_the_small_core() {
    if let Some(core) = executable(&Variant { waves: Some(SMALL_WAVES), ..Variant::default() }) {
        let config = small_config();
        programs_agree(&core, &config, long(&config, ON_THE_SMALL_CORE, " --small"));
    }
}

fn programs_agree(core: &Path, config: &Config, programs: impl Iterator<Item = (String, Trial)>) {
    let (mut cycles, mut instructions, mut faults) = (0, 0, 0);
    let mut met = Coverage::new(config);
    for (nth, (name, trial)) in programs.enumerate() {
        // A few also run in the architectural mode.
        let agreement = run(core, config, &trial, nth.is_multiple_of(10), &mut met)
            .unwrap_or_else(|difference| panic!("{name}: {difference}"));
        cycles += agreement.cycles;
        instructions += agreement.instructions;
        faults += u64::from(agreement.fault);
    }
    println!("{cycles} cycles, {instructions} wave instructions, {faults} faults");
    assert!(instructions > 0 && faults > 0);
    // No unreachable bin was hit, and most pairs of reachable bins were.
    assert_eq!(met.contradictions(), []);
    let (hit, of) = met.pairs_hit();
    println!("{hit} of {of} pairs of bins, {} instructions", met.instructions());
    assert!(hit * 100 >= of * 60, "{hit} of {of} pairs of bins");
}
