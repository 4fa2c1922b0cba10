//! How many random programs each planted bug needs, with guidance by what programs meet in the RTL and without.

use crate::bench::{Case, SMALL_WAVES, executable, root, small_config};
use crate::environment::count;
use crate::mutants::{first_that_finds, of_each};
use crate::suite::limit;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
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

/// For each campaign the number of the first program that finds a bug, if one does.
type Row = Vec<Option<usize>>;

/// What is known of the bugs: a file with a line for each, so that a search that was broken off goes on.
struct Found {
    known: BTreeMap<u32, Row>,
    file: Mutex<File>,
}

impl Found {
    /// What the file says, if it is of the same core and campaigns. Else it begins anew.
    fn open(path: &Path, core: &Path, campaigns: &[(bool, Vec<(String, Case)>)]) -> Found {
        let mut hasher = DefaultHasher::new();
        core.hash(&mut hasher);
        for (name, case) in campaigns.iter().flat_map(|(_, cases)| cases) {
            (name, case.max_cycles).hash(&mut hasher);
        }
        let head = format!("{:016x}", hasher.finish());
        let text = fs::read_to_string(path).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let (known, text) = match lines.split_first() {
            Some((first, rows)) if *first == head => {
                (rows.iter().filter_map(|row| Found::row(row)).collect(), text)
            }
            _ => (BTreeMap::new(), head + "\n"),
        };
        fs::write(path, text).expect("a file below target");
        let file = File::options().append(true).open(path).expect("it was just written");
        Found { known, file: Mutex::new(file) }
    }

    /// A line: the bug, and of each campaign the number or `-`. `None` if it is cut off.
    fn row(line: &str) -> Option<(u32, Row)> {
        let (bug, programs) = line.strip_suffix(" .")?.split_once(' ')?;
        Some((bug.parse().ok()?, programs.split(' ').map(|program| program.parse().ok()).collect()))
    }

    /// The row of a bug, which `look` makes if it is not known.
    fn of(&self, bug: u32, look: impl FnOnce() -> Row) -> Row {
        if let Some(row) = self.known.get(&bug) {
            return row.clone();
        }
        let row = look();
        let text: Vec<String> =
            row.iter().map(|found| found.map_or("-".to_owned(), |n| n.to_string())).collect();
        let mut file = self.file.lock().expect("no panic");
        writeln!(file, "{bug} {} .", text.join(" ")).expect("a file below target");
        row
    }
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
    let found = Found::open(&root().join("target/guidance"), &faulty, &campaigns);
    let results = of_each(&bugs, &|bug| {
        found.of(bug, || {
            campaigns.iter().map(|(_, cases)| Some(first_that_finds(&faulty, bug, cases)?.0)).collect()
        })
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
