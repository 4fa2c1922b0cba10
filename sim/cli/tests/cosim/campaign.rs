//! The mutants that `scripts/rtl_mutants.py` makes, each against programs in rounds, up to the first that differs.

use crate::bench::{Case, SMALL_WAVES, executable, root};
use crate::mutants::assertion;
use crate::suite::{
    broad_suite, corner_suite, corpus_suite, directed_suite, illegal_suite, operand_suite, random_suite,
};
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use wave_verify::rtl::{self, Disagreement, Mode, Variant};

/// Environment variable with the directory of the mutants.
const DIRECTORY: &str = "WAVE_SIM_MUTANTS";

/// Environment variable with the number of mutants that run at a time.
const JOBS: &str = "WAVE_SIM_JOBS";

/// Programs that a mutant meets together.
struct Round {
    name: &'static str,
    /// Makes the programs, which agree on the core without a mutant: the executable that is given.
    programs: fn(&Path) -> Vec<(String, Case)>,
    /// The modules whose mutants it concerns.
    concerns: fn(&str) -> bool,
}

const fn round(name: &'static str, programs: fn(&Path) -> Vec<(String, Case)>) -> Round {
    Round { name, programs, concerns: |_| true }
}

/// The rounds, those first that find the most in a second. Each suite that is to look for mutants has a line here.
const ROUNDS: &[Round] = &[
    Round { concerns: is_unit, ..round("operands of the units", operand_suite) },
    round("directed kernels", directed_suite),
    round("corners", corner_suite),
    round("broad kernels", broad_suite),
    round("corpus", corpus_suite),
    Round { concerns: decodes, ..round("illegal words", illegal_suite) },
    round("short random programs", |core| random_suite(core, 0, 60)),
    round("long random programs", |core| random_suite(core, 8, 0)),
];

fn is_unit(module: &str) -> bool {
    rtl::directory().join(format!("rtl/units/{module}.sv")).exists()
}

fn decodes(module: &str) -> bool {
    matches!(module, "decode" | "decoder")
}

/// A line of `mutants.tsv`.
struct Mutant {
    number: u32,
    module: String,
}

fn mutants(directory: &Path) -> Vec<Mutant> {
    let text = fs::read_to_string(directory.join("mutants.tsv")).expect("scripts/rtl_mutants.py writes it");
    let rows = text.lines().map(|line| {
        let mut columns = line.split('\t');
        let number = columns.next().and_then(|number| number.parse().ok()).expect("a number");
        Mutant { number, module: columns.next().expect("a module").to_owned() }
    });
    rows.collect()
}

/// The core with all mutants.
fn mutated(directory: &Path, variant: &Variant) -> PathBuf {
    let mut model =
        rtl::wave_core(&directory.join("source"), variant).expect("scripts/rtl_mutants.py writes it");
    model.name = "mutants".to_owned();
    // Both forms of a place are there, so that widths may differ and conditions may be constant.
    model.arguments.retain(|argument| argument != "-Wall");
    model.arguments.extend(["-Wno-fatal", "-Wno-lint", "-Wno-style"].map(str::to_owned));
    rtl::build(&model, &root().join("target/rtl")).unwrap_or_else(|error| panic!("{error}"))
}

/// How the program finds the mutant, if it does.
fn found(core: &Path, case: &Case, number: u32) -> Option<&'static str> {
    let argument = format!("+mutant={number}");
    let run = |mode| case.run_with(core, mode, &[&argument]);
    match run(Mode::Cycle) {
        // Both sides have given up alike: that is no difference.
        Ok(_) | Err(Disagreement::Limit(_)) => return None,
        Err(difference) if assertion(&difference).is_some() => return Some("assertion"),
        Err(_) => {}
    }
    // A mutant whose results are right differs in its cycles only.
    Some(match run(Mode::Architectural) {
        Ok(_) => "cycle",
        Err(difference) if assertion(&difference).is_some() => "assertion",
        Err(Disagreement::Broken(_)) => "crash",
        Err(difference) if difference.to_string().contains("it gives up in cycle") => "time-out",
        Err(_) => "architectural",
    })
}

/// The rows of `results.tsv`: mutant, how it was found or `survived`, program or round, programs of the round.
struct Results {
    path: PathBuf,
    file: Mutex<fs::File>,
}

impl Results {
    fn open(directory: &Path) -> Results {
        let path = directory.join("results.tsv");
        let file = OpenOptions::new().create(true).append(true).open(&path).expect("results.tsv");
        Results { path, file: Mutex::new(file) }
    }

    fn add(&self, row: &str) {
        print!("{row}");
        let mut file = self.file.lock().expect("no thread has failed");
        file.write_all(row.as_bytes()).expect("results.tsv");
    }

    /// The mutants that were found, or have met so many programs of the round.
    fn done(&self, round: &str, programs: usize) -> Vec<u32> {
        let text = fs::read_to_string(&self.path).expect("results.tsv");
        let rows = text.lines().map(|row| row.split('\t').collect::<Vec<_>>());
        rows.filter(|row| row[1] != "survived" || (row[2] == round && row[3] == programs.to_string()))
            .map(|row| row[0].parse().expect("a number"))
            .collect()
    }
}

/// How many mutants of a module each program of a round has found.
#[derive(Default)]
struct Finds(Mutex<HashMap<String, BTreeMap<usize, f64>>>);

impl Finds {
    fn add(&self, module: &str, program: usize) {
        let mut finds = self.0.lock().expect("no thread has failed");
        *finds.entry(module.to_owned()).or_default().entry(program).or_default() += 1.0;
    }

    /// The programs in the order in which a mutant of the module meets them: those first that find the most for their
    /// length.
    fn order(&self, module: &str, programs: &[(String, Case)]) -> Vec<usize> {
        let finds = self.0.lock().expect("no thread has failed").get(module).cloned().unwrap_or_default();
        let worth =
            |&n: &usize| finds.get(&n).map_or(0.0, |found| found / f64::from(programs[n].1.max_cycles));
        let mut order: Vec<usize> = (0..programs.len()).collect();
        order.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
        order
    }
}

#[test]
#[ignore = "run by scripts/rtl_mutants.py, which makes the mutants"]
fn mutants_are_found() {
    let directory = std::env::var_os(DIRECTORY).map(PathBuf::from);
    let directory = directory.unwrap_or_else(|| panic!("{DIRECTORY} is not set: run scripts/rtl_mutants.py"));
    let jobs = std::env::var(JOBS).ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1);
    let variant = Variant { waves: Some(SMALL_WAVES), ..Variant::default() };
    let Some(original) = executable(&variant) else { return };
    let core = mutated(&directory, &variant);
    let mutants = mutants(&directory);
    let results = Results::open(&directory);
    let reasoned = fs::read_to_string(directory.join("reasoned.txt")).unwrap_or_default();
    let reasoned: Vec<u32> = reasoned.lines().map(|line| line.parse().expect("a number")).collect();
    let programs: Vec<_> = ROUNDS.iter().map(|round| LazyLock::new(|| (round.programs)(&original))).collect();
    // The mutants that have a reason not to be found meet all programs after the others have.
    for (is_reasoned, (round, programs)) in
        [false, true].into_iter().flat_map(|r| ROUNDS.iter().zip(&programs).map(move |p| (r, p)))
    {
        let done = results.done(round.name, programs.len());
        let concerned = |mutant: &&Mutant| {
            (round.concerns)(&mutant.module)
                && reasoned.contains(&mutant.number) == is_reasoned
                && !done.contains(&mutant.number)
        };
        let mut left: Vec<&Mutant> = mutants.iter().filter(concerned).collect();
        println!("{}: {} programs, {} mutants", round.name, programs.len(), left.len());
        if left.is_empty() {
            continue;
        }
        // Number 0 is no mutant.
        if let Some((name, _)) = programs.iter().find(|(_, case)| found(&core, case, 0).is_some()) {
            panic!("{name}: another result without a mutant");
        }
        // Orders by multiples of the golden ratio, modulo 1, so that those judged so far are a fair sample.
        left.sort_by_key(|mutant| mutant.number.wrapping_mul(0x9E37_79B9));
        let next = AtomicUsize::new(0);
        let finds = Finds::default();
        let work = || {
            while let Some(Mutant { number, module }) = left.get(next.fetch_add(1, Ordering::Relaxed)) {
                let order = finds.order(module, programs);
                let by = order.into_iter().find_map(|n| Some((n, found(&core, &programs[n].1, *number)?)));
                results.add(&match by {
                    Some((n, how)) => {
                        finds.add(module, n);
                        format!("{number}\t{how}\t{}\n", programs[n].0)
                    }
                    None => format!("{number}\tsurvived\t{}\t{}\n", round.name, programs.len()),
                });
            }
        };
        std::thread::scope(|scope| (0..jobs).for_each(|_| drop(scope.spawn(work))));
    }
}
