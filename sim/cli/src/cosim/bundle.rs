//! The bundle of a difference: what ran, what both sides did around it, and how to repeat it.

use super::super::files::NewFolder;
use super::super::folders;
use super::super::trace;
use super::speed::QUIET;
use super::{Bench, executable};
use std::fmt::Write;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::time::Duration;
use wave_files::read::{self, DOCUMENT_BYTES};
use wave_files::reason;
use wave_files::temporary::TemporaryFile;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Program, disassemble};
use wave_machine::clock::Cycle;
use wave_observe::trace::record::Header;
use wave_observe::trace::recorder::header;
use wave_observe::trace::view::kanata::Kanata;
use wave_observe::trace::{Form, Window, Writer, diff};
use wave_verify::rtl::{Cosim, Disagreement, Mode, Sinks, Variant, header_of_other, modules_of};

/// What the page of every bundle begins with; a folder with such a page may be replaced.
const TITLE: &str = "# A difference between the simulator and another core";
/// The page.
const PAGE: &str = "README.md";
/// Cycles before a difference and after it that the traces have.
const BEFORE: Cycle = 500;
const AFTER: Cycle = 200;
/// Cycles after it that the waveform has.
const WAVEFORM_AFTER: Cycle = 50;
/// The waveform.
const WAVEFORM: &str = "other.fst";
/// How long a side that broke off may say nothing while it is traced.
const PATIENCE: Duration = Duration::from_secs(5);
/// Instructions of the wave that the report shows of each side.
const INSTRUCTIONS: u64 = 32;

/// What differed.
pub(super) struct Failure<'a> {
    /// What ran.
    pub title: &'a str,
    /// The seed, of a random program.
    pub seed: Option<u64>,
    /// The program before it was shrunk.
    pub original: Option<&'a Program>,
}

/// Looks whether a bundle can be written, before anything runs.
///
/// # Errors
/// If something else is there.
pub(super) fn check(path: &Path) -> Result<(), Diagnostic> {
    let what = match fs::metadata(path) {
        // The folders above it are made where they are not there.
        Err(_) => match folders::obstacle(path) {
            Some(why) => why,
            None => return Ok(()),
        },
        Ok(there) if !there.is_dir() => "it is a file".to_owned(),
        Ok(_) => {
            let empty = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
            let ours = read::regular_text(&path.join(PAGE), DOCUMENT_BYTES)
                .is_ok_and(|page| page.starts_with(TITLE));
            match empty || ours {
                true => return Ok(()),
                false => "it holds something else than an earlier difference".to_owned(),
            }
        }
    };
    let message = format!("--bundle: cannot write to `{}`: {what}", path.display());
    Err(Diagnostic::error(message).hint("name a folder that is not there yet, or give `--no-bundle`"))
}

/// Writes the folder of a difference, complete or not at all. Gives a sentence about it.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write(
    bench: &Bench<'_>,
    failure: &Failure<'_>,
    cosim: &Cosim<'_>,
    difference: &Disagreement,
) -> Result<String, Vec<Diagnostic>> {
    let path = &bench.args.bundle;
    let unwritten = |error: io::Error| {
        let message = format!("--bundle: cannot write to `{}`: {}", path.display(), reason(&error));
        vec![Diagnostic::error(message)]
    };
    check(path).map_err(|e| vec![e])?;
    std::fs::create_dir_all(wave_files::folder(path)).map_err(unwritten)?;
    let directory = NewFolder::create(path).map_err(unwritten)?;
    // What has hung once hangs again.
    let patience = match difference {
        Disagreement::Broken(_) => cosim.patience.min(PATIENCE),
        _ => cosim.patience,
    };
    let cosim = &Cosim { patience, ..cosim.clone() };
    let bundle = Bundle { bench, failure, cosim, difference, at: directory.path() };
    bundle.fill().map_err(unwritten)?;
    directory.persist().map_err(unwritten)?;
    Ok(format!(
        "`{}` has the program, traces of both sides and how to repeat it\n",
        path.join(PAGE).display()
    ))
}

struct Bundle<'a> {
    bench: &'a Bench<'a>,
    failure: &'a Failure<'a>,
    cosim: &'a Cosim<'a>,
    difference: &'a Disagreement,
    at: &'a Path,
}

/// The two sides' names in the files.
const SIDES: [&str; 2] = ["simulator", "other"];

impl Bundle<'_> {
    fn fill(&self) -> io::Result<()> {
        let launch = self.cosim.launch;
        fs::write(self.at.join("program.wave"), disassemble(self.cosim.program))?;
        if let Some(original) = self.failure.original {
            fs::write(self.at.join("original.wave"), disassemble(original))?;
        }
        let stimulus = self.cosim.stimulus().map_err(io::Error::other)?;
        fs::write(self.at.join("stimulus.bin"), stimulus)?;
        let (window, waveform) = self.traces()?;
        let report = self.report();
        fs::write(self.at.join("report.txt"), &report)?;
        let mut page = format!(
            "{TITLE}\n\n{}, grid {:?}, workgroup {:?}, on `{}`, beside `{}`.\n\n",
            self.failure.title,
            launch.grid,
            launch.workgroup,
            self.cosim.config.name,
            self.bench.executable.display()
        );
        if let Some(seed) = self.failure.seed {
            _ = writeln!(
                page,
                "The seed is {seed}. `program.wave` is what is left of the program of that seed.\n"
            );
        }
        let folder = self.bench.args.bundle.display();
        _ = writeln!(
            page,
            "To see it again:\n\n    {}",
            self.command(&format!("--stimulus {folder}/stimulus.bin"))
        );
        if let Some(seed) = self.failure.seed {
            let short = if self.bench.args.short { " --short" } else { "" };
            _ = writeln!(page, "    {}", self.command(&format!("--random 1 --seed {seed}{short}")));
        }
        _ = writeln!(page, "    wave-sim trace diff {folder}/simulator.wvfi {folder}/other.wvfi\n");
        page += "| file | what |\n|---|---|\n";
        page += "| `program.wave` | the program |\n";
        if self.failure.original.is_some() {
            page += "| `original.wave` | the program before it was shrunk |\n";
        }
        page += "| `stimulus.bin` | code, memory, launch and latencies, as the other side got them |\n";
        page += "| `report.txt` | what differs first, and what came before it on both sides |\n";
        _ = writeln!(page, "| `simulator.wvfi`, `other.wvfi` | retirement traces of both sides{window} |");
        page += "| `simulator.kanata`, `other.kanata` | the same for Konata |\n";
        _ = writeln!(page, "{waveform}\n");
        _ = writeln!(page, "```text\n{}```", report);
        fs::write(self.at.join(PAGE), page)
    }

    /// A command of the same sides.
    fn command(&self, what: &str) -> String {
        let args = self.bench.args;
        let mut command = format!("wave-sim cosim {what} --config {}", args.config);
        for setting in &args.set.set {
            _ = write!(command, " --set '{setting}'");
        }
        if let Some(core) = &args.core {
            _ = write!(command, " --core {}", core.display());
        }
        if args.small {
            command += " --small";
        }
        if let Some(bug) = args.bug {
            _ = write!(command, " --bug {bug}");
        }
        if let Some((from, to)) = args.latency {
            _ = write!(command, " --latency {from},{to}");
        }
        if self.cosim.mode == Mode::Architectural {
            command += " --mode architectural";
        }
        command
    }

    /// The traces of both sides around the difference, and the waveform; gives what the page says of their window, and its
    /// line about the waveform.
    fn traces(&self) -> io::Result<(String, String)> {
        let stimulus = TemporaryFile::scratch()?;
        let broken = matches!(self.difference, Disagreement::Broken(_));
        let cycle = match self.difference.cycle() {
            Some(cycle) if self.cosim.mode == Mode::Cycle => Some(cycle),
            // Where it broke off.
            None if broken => self.other(self.cosim, Window::ALL, Vec::new()).ok(),
            _ => None,
        };
        let (mut short, mut window) = (self.cosim.clone(), Window::ALL);
        let mut says = String::new();
        if let Some(cycle) = cycle {
            window.cycles = cycle.saturating_sub(BEFORE)..cycle + AFTER + 1;
            let last = u32::try_from(cycle + AFTER).unwrap_or(u32::MAX);
            short.max_cycles = short.max_cycles.min(last);
            says = format!(", from cycle {} to {last}", window.cycles.start);
        }
        let config = self.cosim.config;
        let sinks = self.sinks(SIDES[0], &header(config))?;
        short.trace_simulator(window.clone(), sinks).map_err(io::Error::other)?;
        let sinks = self.sinks(SIDES[1], &header_of_other(config, "another core"))?;
        // A core that does not even start has no trace.
        if let Err(why) = self.other(&short, window, sinks) {
            says = format!("; the other one is not complete: {why}");
        }
        let waveform = self.waveform(&short, cycle.unwrap_or(0), stimulus.path());
        Ok((says, waveform))
    }

    fn other(&self, cosim: &Cosim<'_>, window: Window, sinks: Sinks<'_>) -> Result<Cycle, String> {
        let stimulus = TemporaryFile::scratch().map_err(|e| e.to_string())?;
        cosim.trace_other(self.bench.executable, stimulus.path(), window, sinks)
    }

    fn sinks(&self, side: &str, header: &Header) -> io::Result<Sinks<'static>> {
        let create = |name: String| File::create(self.at.join(name)).map(BufWriter::new);
        let trace = Writer::new(create(format!("{side}.wvfi"))?, Form::Binary, header)?;
        let kanata = Kanata::new(create(format!("{side}.kanata"))?)?;
        Ok(vec![("trace".to_owned(), Box::new(trace)), ("log".to_owned(), Box::new(kanata))])
    }

    /// The waveform of the other side; the line of the page about it.
    fn waveform(&self, cosim: &Cosim<'_>, cycle: Cycle, stimulus: &Path) -> String {
        let args = self.bench.args;
        let variant = Variant {
            waves: Some(cosim.config.core.max_waves),
            bugs: args.bug.is_some(),
            fst: true,
            ..Variant::default()
        };
        let traced: PathBuf = match &args.core {
            Some(core) => core.clone(),
            None => match executable(args, &variant) {
                Ok(path) => path,
                Err(_) => return "| | no waveform: the core could not be built with one |".to_owned(),
            },
        };
        let file = self.at.join(WAVEFORM);
        let (from, to) = (cycle.saturating_sub(BEFORE), cycle + WAVEFORM_AFTER);
        let argument = format!("+fst+{from}+{to}+{}", file.display());
        let more = [argument.as_str(), QUIET];
        let arguments: Vec<&str> = cosim.arguments.iter().copied().chain(more).collect();
        let last = u32::try_from(to).unwrap_or(u32::MAX).min(cosim.max_cycles);
        let cosim = Cosim { max_cycles: last, arguments: &arguments, ..cosim.clone() };
        // Nobody reads what it writes: a core that is ended where its records end leaves half a file.
        let ended = cosim.run_unread(&traced, stimulus, &file);
        let says = match (file.exists(), ended) {
            (true, true) => {
                return format!(
                    "| `{WAVEFORM}` | waveform of the other side, from cycle {from} to {to}; its time is the cycle |"
                );
            }
            (false, _) => "the other side does not write one at `+fst+FROM+TO+FILE`",
            (true, false) => "the other side does not come to its end",
        };
        // What is left of one that is not complete.
        for name in [WAVEFORM.to_owned(), format!("{WAVEFORM}.hier")] {
            _ = fs::remove_file(self.at.join(name));
        }
        format!("| | no waveform: {says} |")
    }

    /// What differs, in words, and the traces held against each other.
    fn report(&self) -> String {
        let [ours, theirs] = SIDES.map(|side| self.at.join(format!("{side}.wvfi")));
        let mode = match self.cosim.mode {
            Mode::Cycle => diff::Mode::Cycle,
            Mode::Architectural => diff::Mode::Architectural,
        };
        let compared = match trace::comparison(&ours, &theirs, mode, INSTRUCTIONS) {
            Ok((_, text)) => text,
            Err(why) => why.into_iter().map(|diagnostic| diagnostic.message + "\n").collect(),
        };
        let modules = match self.difference {
            Disagreement::Differs { stage, .. } if self.bench.args.core.is_none() => modules_of(stage),
            _ => None,
        };
        let look = modules.map_or(String::new(), |(modules, rules)| {
            let files = modules.iter().map(|module| format!("{module}.sv")).collect::<Vec<_>>().join(", ");
            format!(
                "\n\nThis step comes from {files} in rtl-tests/rtl, by rules {rules} of docs/pipeline.md."
            )
        });
        // The folder's name of now is not the one that it gets.
        let here = format!("{}/", self.at.display());
        format!(
            "{}{look}\n\nby instruction:\n{}",
            self.difference.to_string().trim_end(),
            compared.replace(&here, "")
        )
    }
}
