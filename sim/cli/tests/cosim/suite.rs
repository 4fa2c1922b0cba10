//! The programs that look for bugs in the core of 4 wave slots, short ones first.

use crate::bench::{Case, SMALL_WAVES, small_config};
use crate::directed::{
    FAULTS, broad, calls_across_the_instruction_cache, corners, every_register, illegal, kernel, kernels,
    operands,
};
use crate::rules;
use std::path::Path;
use wave_verify::generate;
use wave_verify::rtl::{Mode, Trial};

/// Cycles that a run with a bug may take in excess of twice the cycles without it, and the least cycle limit of a
/// run that faults.
const SLACK: u64 = 2000;
const UP_TO_A_FAULT: u64 = 40_000;

/// Directed kernels, faulting kernels, programs of the rules, and `long` and `short` random programs, ordered
/// by number of records. Each stops after twice the cycles that it takes on `core`, which has no bug.
pub(crate) fn suite(core: &Path, long: u64, short: u64) -> Vec<(String, Case)> {
    limited(core, directed().into_iter().chain(random(long, short)).collect())
}

/// Those that are not random.
pub(crate) fn directed_suite(core: &Path) -> Vec<(String, Case)> {
    limited(core, directed())
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
        let Trial { tree, script } = Trial::of(&config, seed, is_short, None);
        let generate::Case { program, launch, memory } = tree.case();
        let case = Case { program, launch, memory, script, config: config.clone(), max_cycles: 2_000_000 };
        cases.push((format!("{name} {seed}"), case));
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

/// Orders the cases by number of records and sets their cycle limits.
fn limited(core: &Path, cases: Vec<(String, Case)>) -> Vec<(String, Case)> {
    let mut measured: Vec<(u64, String, Case)> = Vec::new();
    for (name, mut case) in cases {
        match case.run_on(core, Mode::Cycle) {
            Ok(agreement) => {
                let least = if agreement.fault { UP_TO_A_FAULT } else { 0 };
                let cycles = least.max(2 * agreement.cycles + SLACK);
                case.max_cycles = cycles as u32;
                measured.push((agreement.records, name, case));
            }
            Err(difference) => panic!("{name}, without a bug: {difference}"),
        }
    }
    measured.sort_by_key(|&(records, ..)| records);
    measured.into_iter().map(|(_, name, case)| (name, case)).collect()
}
