//! The programs that look for bugs in the core of 4 wave slots, short ones first.

use crate::bench::{Case, SMALL_WAVES, root, small_config};
use crate::directed::{
    FAULTS, broad, calls_across_the_instruction_cache, corners, every_register, illegal, kernel, kernels,
    operands,
};
use crate::rules;
use std::path::Path;
use wave_verify::rtl::{Agreement, Mode, Trial};

/// Cycles that a run with a bug may take in excess of twice the cycles without it, and the least cycle limit of a
/// run that faults.
const SLACK: u64 = 2000;
const UP_TO_A_FAULT: u64 = 40_000;

/// All that looks for a bug before random programs do: directed kernels, those of the rules and of corners, operands of the
/// units and the corpus, ordered by cycles. Each stops after twice the cycles that it takes on `core`, which has no bug.
pub(crate) fn suite(core: &Path) -> Vec<(String, Case)> {
    let others = broad().into_iter().chain(corners()).chain(operands());
    limited(core, directed().into_iter().chain(on_the_small_core(others)).chain(of_the_corpus()).collect())
}

/// The programs of the corpus, by the names of their files.
pub(crate) fn corpus() -> Vec<(String, Trial)> {
    let folder = root().join("rtl-tests/corpus");
    let entries = std::fs::read_dir(&folder).expect("the corpus");
    let mut programs: Vec<(String, Trial)> = entries
        .map(|entry| {
            let path = entry.expect("a file").path();
            let text = std::fs::read_to_string(&path).expect("a program");
            let trial = Trial::read(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (format!("corpus {}", trial.name()), trial)
        })
        .collect();
    programs.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(!programs.is_empty());
    programs
}

/// Those that are not random.
pub(crate) fn directed_suite(core: &Path) -> Vec<(String, Case)> {
    limited(core, directed())
}

/// The programs of the corpus.
pub(crate) fn corpus_suite(core: &Path) -> Vec<(String, Case)> {
    limited(core, of_the_corpus().collect())
}

fn of_the_corpus() -> impl Iterator<Item = (String, Case)> {
    let config = small_config();
    corpus().into_iter().map(move |(name, trial)| (name, Case::of_trial(&trial, &config)))
}

/// Those that are random.
pub(crate) fn random_suite(core: &Path, long: u64, short: u64) -> Vec<(String, Case)> {
    limited(core, random(long, short))
}

fn directed() -> Vec<(String, Case)> {
    let config = small_config();
    let mut cases = Vec::new();
    for (name, lines) in kernels() {
        let text = kernel(lines);
        for (form, threads, grid) in
            [("", 29, [1, 1, 1]), (", 12 workgroups", 8, [3, 2, 2]), (", all slots", 32, [2, 1, 1])]
        {
            let case = Case { config: config.clone(), ..Case::of(&text, threads) };
            cases.push((format!("{name}{form}"), case.grid(grid)));
        }
    }
    let case = Case { config: config.clone(), ..Case::of(&calls_across_the_instruction_cache(), 29) };
    cases.push(("calls across the instruction cache".to_owned(), case));
    let case = Case { config: config.clone(), ..Case::of(&every_register(), 8).grid([7, 1, 1]) };
    cases.push(("every register".to_owned(), case));
    for (name, lines) in FAULTS {
        let case = Case { config: config.clone(), ..Case::of(&kernel(lines), 29) };
        cases.push(((*name).to_owned(), case));
    }
    for (name, case) in rules::cases(SMALL_WAVES * config.core.wave_width) {
        cases.push((name, Case { config: config.clone(), ..case }));
    }
    cases
}

fn random(long: u64, short: u64) -> Vec<(String, Case)> {
    let config = small_config();
    let mut cases = Vec::new();
    let trials = [("random program", false, long), ("short random program", true, short)];
    for (name, is_short, seed) in
        trials.into_iter().flat_map(|(name, s, count)| (0..count).map(move |seed| (name, s, seed)))
    {
        let trial = Trial::of(&config, seed, is_short, None);
        cases.push((format!("{name} {seed}"), Case::of_trial(&trial, &config)));
    }
    cases
}

/// Kernels that reach much of the core, ordered and limited likewise.
pub(crate) fn broad_suite(core: &Path) -> Vec<(String, Case)> {
    limited(core, on_the_small_core(broad()))
}

/// Operations of the units on operands that matter, ordered and limited likewise.
pub(crate) fn operand_suite(core: &Path) -> Vec<(String, Case)> {
    limited(core, on_the_small_core(operands()))
}

/// Kernels for faults that show seldom, ordered and limited likewise.
pub(crate) fn corner_suite(core: &Path) -> Vec<(String, Case)> {
    limited(core, on_the_small_core(corners()))
}

/// Illegal words, ordered and limited likewise.
pub(crate) fn illegal_suite(core: &Path) -> Vec<(String, Case)> {
    limited(core, on_the_small_core(illegal()))
}

fn on_the_small_core(cases: impl IntoIterator<Item = (String, Case)>) -> Vec<(String, Case)> {
    let config = small_config();
    cases.into_iter().map(|(name, case)| (name, Case { config: config.clone(), ..case })).collect()
}

/// Cycles after which a run with a bug gives up, by the run without it.
pub(crate) fn limit(agreement: &Agreement) -> u32 {
    let least = if agreement.fault { UP_TO_A_FAULT } else { 0 };
    least.max(2 * agreement.cycles + SLACK) as u32
}

/// Orders the cases by their cycles, which are the time that they take, and sets their cycle limits.
fn limited(core: &Path, cases: Vec<(String, Case)>) -> Vec<(String, Case)> {
    let mut measured: Vec<(u64, String, Case)> = Vec::new();
    for (name, mut case) in cases {
        match case.run_on(core, Mode::Cycle) {
            Ok(agreement) => {
                case.max_cycles = limit(&agreement);
                measured.push((agreement.cycles, name, case));
            }
            Err(difference) => panic!("{name}, without a bug: {difference}"),
        }
    }
    measured.sort_by_key(|&(cycles, ..)| cycles);
    measured.into_iter().map(|(_, name, case)| (name, case)).collect()
}
