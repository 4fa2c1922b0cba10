//! Mutants of the RTL made by `scripts/rtl_mutants.py`: reads their list and runs them all.

use std::fs;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use wave_verify::rtl::Model;

/// Environment variable with the directory of a group of mutants.
pub const VARIABLE: &str = "WAVE_SIM_MUTANTS";

/// Environment variable with the number of the only round to run.
pub const ROUND: &str = "WAVE_SIM_ROUND";

/// Outcome of a mutant.
pub enum Verdict {
    /// How it was found (`architectural`, `cycle`, `time-out`, `crash`), and by which program.
    Killed(&'static str, String),
    /// No program tells it from the core.
    Survived,
}

/// A group of mutants in one executable. `+mutant=n` enables one.
pub struct Mutants {
    directory: PathBuf,
    /// Modules that are replaced by netlists.
    modules: Vec<String>,
    /// Number and module of each mutant.
    numbers: Vec<(u32, String)>,
}

impl Mutants {
    /// The group in the directory that [`VARIABLE`] names.
    pub fn made() -> Mutants {
        let directory = std::env::var_os(VARIABLE).map(PathBuf::from);
        let directory =
            directory.unwrap_or_else(|| panic!("{VARIABLE} is not set: run scripts/rtl_mutants.py"));
        let read = |file: &str| {
            let path = directory.join(file);
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let modules = read("modules.txt").lines().map(str::to_owned).collect();
        let rows = read("mutants.tsv");
        let numbers = rows.lines().skip(1).map(|row| {
            let mut columns = row.split('\t');
            let number = columns.next().and_then(|number| number.parse().ok());
            number
                .zip(columns.next().map(str::to_owned))
                .unwrap_or_else(|| panic!("mutants.tsv: `{row}` is no mutant"))
        });
        let numbers: Vec<_> = numbers.collect();
        assert!(!numbers.is_empty(), "mutants.tsv has no mutants");
        Mutants { directory, modules, numbers }
    }

    /// Name of the group.
    pub fn name(&self) -> String {
        self.directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The model with netlists in place of the modules' sources.
    pub fn model(&self, mut model: Model) -> Model {
        model.name = format!("mutants-{}", self.name());
        let is_netlist = |path: &Path| self.modules.iter().any(|m| path.file_stem() == Some(m.as_ref()));
        model.sources.retain(|path| !is_netlist(path));
        model.sources.push(self.directory.join("netlist.sv"));
        model.arguments.retain(|argument| argument != "-Wall");
        let more = ["-Wno-fatal", "-Wno-lint", "--unroll-count", "8192", "-MAKEFLAGS", "OPT_FAST=-O1"];
        model.arguments.extend(more.map(str::to_owned));
        model
    }

    /// Judges the mutants in `rounds`, as many at a time as there are processors, and appends each verdict to
    /// `results.tsv`. A round tests the mutants that have not been found so far, and only those in modules
    /// that `meets` selects. Each round begins with number 0, no mutant, which must survive.
    ///
    /// Verdicts already in the file stay, so that an interrupted campaign resumes, and another process may
    /// run another round ([`ROUND`] limits this one to its own). The order of mutants is independent of their
    /// nature, so those judged so far are a fair sample.
    pub fn run(
        &self,
        rounds: Range<usize>,
        meets: impl Fn(&str, usize) -> bool,
        judge: impl Fn(u32, usize) -> Verdict + Sync,
    ) {
        let path = self.directory.join("results.tsv");
        let only: Option<usize> =
            std::env::var(ROUND).ok().map(|text| text.parse().expect("a round's number"));
        for round in rounds.filter(|&round| only.is_none_or(|only| only == round)) {
            let done = |number: u32| {
                let text = fs::read_to_string(&path).unwrap_or_default();
                let mut rows = text.lines().map(|row| row.split('\t').collect::<Vec<_>>());
                rows.any(|row| {
                    row[0] == number.to_string() && (row[1] != "survived" || row[2] == round.to_string())
                })
            };
            let concerned = self.numbers.iter().filter(|(_, module)| meets(module, round));
            let mut left: Vec<u32> = concerned.map(|&(number, _)| number).filter(|&n| !done(n)).collect();
            if left.is_empty() {
                continue;
            }
            if let Verdict::Killed(_, by) = judge(0, round) {
                panic!("{by}: another result without a mutant");
            }
            // Orders by multiples of the golden ratio, modulo 1.
            left.sort_by_key(|n| n.wrapping_mul(0x9E37_79B9));
            let results = fs::OpenOptions::new().create(true).append(true).open(&path);
            let results = Mutex::new(results.unwrap_or_else(|error| panic!("{}: {error}", path.display())));
            let next = AtomicUsize::new(0);
            let work = || {
                while let Some(&number) = left.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // Another process may have found it meanwhile.
                    if done(number) {
                        continue;
                    }
                    let row = match judge(number, round) {
                        Verdict::Killed(how, by) => format!("{number}\t{how}\t{by}\n"),
                        Verdict::Survived => format!("{number}\tsurvived\t{round}\n"),
                    };
                    print!("{row}");
                    let mut file = results.lock().expect("no thread has failed");
                    file.write_all(row.as_bytes())
                        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                }
            };
            let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(work);
                }
            });
        }
    }
}
