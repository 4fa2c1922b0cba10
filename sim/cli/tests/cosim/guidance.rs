//! How many random programs each planted bug needs, with guidance by what programs meet in the RTL and without.

use crate::bench::{Case, SMALL_WAVES, executable, small_config};
use crate::environment::count;
use crate::mutants::{first_that_finds, of_each};
use crate::suite::limit;
use std::path::Path;
use wave_machine::config::Config;
use wave_testing::{golden, planted};
use wave_verify::rtl::{Agreement, Events, Guide, Mode, Trial, Variant};

/// Programs of a campaign, unless `WAVE_SIM_PROGRAMS` says how many times as many.
const PROGRAMS: u64 = 100;
/// First seeds of the campaigns: one with guidance and one without for each.
const SEEDS: [u64; 2] = [1_000_000, 2_000_000];

/// Runs a program on the core that counts events.
fn meets(core: &Path, case: &Case) -> (Agreement, Events) {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let argument = format!("+events+{}", file.path().display());
    let agreement = case.run_with(core, Mode::Cycle, &[&argument]).unwrap_or_else(|why| panic!("{why}"));
    let text = std::fs::read_to_string(file.path()).expect("the file of events");
    (agreement, Events::read(&text).expect("counts of events"))
}

/// The programs of a campaign, by name, each with the cycles after which a core with a bug gives up.
fn campaign(core: &Path, config: &Config, seed: u64, guided: bool) -> Vec<(String, Case)> {
    let programs = PROGRAMS * count("WAVE_SIM_PROGRAMS", 1);
    let mut guide = Guide::new(config, seed, Vec::new());
    let mut cases = Vec::new();
    while (cases.len() as u64) < programs {
        let generation = match guided {
            true => guide.generation(),
            false => vec![Trial::of(config, seed + cases.len() as u64, true, None)],
        };
        for trial in generation {
            let mut case = Case::of_trial(&trial, config);
            let (agreement, events) = meets(core, &case);
            if guided {
                guide.learn(&trial, &events, agreement.cycles);
            }
            case.max_cycles = limit(&agreement);
            cases.push((trial.name(), case));
        }
    }
    cases.truncate(programs as usize);
    cases
}

#[test]
#[ignore = "takes more than half an hour: --ignored"]
fn guidance_finds_planted_bugs_in_fewer_programs() {
    let small = Variant { waves: Some(SMALL_WAVES), ..Variant::default() };
    let Some(counting) = executable(&Variant { events: true, ..small.clone() }) else { return };
    let Some(faulty) = executable(&Variant { bugs: true, ..small }) else { return };
    let config = small_config();
    let campaigns: Vec<(bool, Vec<(String, Case)>)> = SEEDS
        .iter()
        .flat_map(|&seed| [false, true].map(|guided| (guided, campaign(&counting, &config, seed, guided))))
        .collect();
    let bugs: Vec<u32> = planted::UNITS.iter().chain(planted::CORE).map(|&(bug, _)| bug).collect();
    let results = of_each(&bugs, &|bug| {
        let row: Vec<Option<usize>> =
            campaigns.iter().map(|(_, cases)| Some(first_that_finds(&faulty, bug, cases)?.0)).collect();
        println!("{bug} {row:?}");
        row
    });
    let mut needed = [Vec::new(), Vec::new()];
    for row in &results {
        for ((guided, cases), found) in campaigns.iter().zip(row) {
            // What was not found needs more than all.
            needed[usize::from(*guided)].push(found.unwrap_or(cases.len() + 1));
        }
    }
    let programs = campaigns[0].1.len();
    let mut table = format!(
        "| random programs | found by {programs} | programs: half of the bugs | three quarters | nine tenths |\n|---|--:|--:|--:|--:|\n"
    );
    for (name, mut needed) in ["by seeds alone", "guided"].into_iter().zip(needed) {
        needed.sort_unstable();
        let of = needed.len();
        let share = |tenths: usize| match needed[(of * tenths).div_ceil(20) - 1] {
            n if n > programs => format!("more than {programs}"),
            n => n.to_string(),
        };
        let found = needed.iter().filter(|n| **n <= programs).count();
        table += &format!("| {name} | {found} of {of} | {} | {} | {} |\n", share(10), share(15), share(18));
    }
    let never: Vec<u32> = bugs
        .iter()
        .zip(&results)
        .filter(|(_, row)| row.iter().all(Option::is_none))
        .map(|(bug, _)| *bug)
        .collect();
    table += &format!("\nNo campaign found: {never:?}.\n");
    println!("{table}");
    golden::check_part("rtl-tests/README.md", "guidance", &table);
}
