//! The trace files of a run: flags, temporary names, the window, and Ctrl-C.

use super::args::TraceArgs;
use super::files::{self, Streamed};
use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::isa::WORD_BYTES;
use crate::trace::recorder::header;
use crate::trace::view::kanata::Kanata;
use crate::trace::view::perfetto::Perfetto;
use crate::trace::view::signals::{Signals, tree};
use crate::trace::view::waves::{Fst, Vcd};
use crate::trace::{Behind, Form, How, Recorder, Sink, Trigger, When, Window, Writer};
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

const REPORT: &str = "--report";

/// Exit code of a process that Ctrl-C ended at once.
const INTERRUPTED: i32 = 130;

/// Waves that `--waves` names: workgroups by their linear index, and waves of each.
pub type WaveRange = (Range<u64>, Range<u64>);

/// Reads `G`, `G-H`, `G:W` or `G-H:W-V`.
///
/// # Errors
/// A sentence on what is wrong with it.
pub fn wave_range(text: &str) -> Result<WaveRange, String> {
    let range = |text: &str| -> Result<Range<u64>, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last) = (super::values::integer(first)?, super::values::integer(last)?);
        if last < first {
            return Err(format!("{first}-{last} ends before it begins"));
        }
        Ok(first..last.saturating_add(1))
    };
    match text.split_once(':') {
        Some((workgroups, waves)) => Ok((range(workgroups)?, range(waves)?)),
        None => Ok((range(text)?, 0..u64::MAX)),
    }
}

/// Cycles around a trigger that are kept where no flag says.
const AROUND: u64 = 1000;

/// Reads `pc=P`, `fault` or `stall>N`.
///
/// # Errors
/// A sentence on what is wrong with it.
pub fn trigger(text: &str) -> Result<When, String> {
    if text == "fault" {
        return Ok(When::Fault);
    }
    if let Some(pc) = text.strip_prefix("pc=") {
        let pc = super::values::integer32(pc)?;
        if !pc.is_multiple_of(WORD_BYTES) {
            return Err(format!("no instruction begins at pc {pc}: words have {WORD_BYTES} bytes"));
        }
        return Ok(When::Pc(pc));
    }
    match text.strip_prefix("stall>") {
        Some(cycles) => super::values::integer(cycles).map(When::Stall),
        None => Err("it is pc=P, fault or stall>N, such as pc=0x40 or 'stall>100'".to_owned()),
    }
}

/// The form of a trace with this name: text if it ends in `.txt`.
pub fn form_of(path: &Path) -> Form {
    if path.extension().is_some_and(|e| e == "txt") { Form::Text } else { Form::Binary }
}

impl TraceArgs {
    /// The files to write, each with its flag.
    fn files(&self) -> impl Iterator<Item = (&'static str, &PathBuf)> {
        let files = [
            ("--wvfi", &self.wvfi),
            ("--kanata", &self.kanata),
            ("--perfetto", &self.perfetto),
            ("--vcd", &self.vcd),
            ("--fst", &self.fst),
            (REPORT, &self.report),
        ];
        files.into_iter().filter_map(|(flag, path)| Some((flag, path.as_ref()?)))
    }

    /// The first flag that asks for a file.
    pub fn flag(&self) -> Option<&'static str> {
        self.files().next().map(|(flag, _)| flag)
    }

    /// True if the user has named a window.
    pub fn is_windowed(&self) -> bool {
        self.window() != Window::ALL
    }

    fn window(&self) -> Window {
        Window {
            cycles: self.from_cycle.unwrap_or(0)..self.to_cycle.unwrap_or(u64::MAX),
            waves: self.waves.clone(),
        }
    }

    fn trigger(&self) -> Option<Trigger> {
        self.trigger.map(|when| Trigger {
            when,
            before: self.trigger_before.unwrap_or(AROUND),
            after: self.trigger_after.unwrap_or(AROUND),
        })
    }

    /// What is wrong with the flags, whatever is run.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut wrong = Vec::new();
        let window = [
            ("--from-cycle", self.from_cycle.is_some()),
            ("--to-cycle", self.to_cycle.is_some()),
            ("--waves", !self.waves.is_empty()),
            ("--trigger", self.trigger.is_some()),
        ];
        if self.flag().is_none()
            && let Some((flag, _)) = window.iter().find(|(_, given)| *given)
        {
            let message = format!("{flag} is the window of a trace file, and none is written");
            wrong.push(Diagnostic::error(message).hint("--wvfi FILE writes one"));
        }
        let around = [
            ("--trigger-before", self.trigger_before.is_some()),
            ("--trigger-after", self.trigger_after.is_some()),
        ];
        if self.trigger.is_none()
            && let Some((flag, _)) = around.iter().find(|(_, given)| *given)
        {
            let message = format!("{flag} counts cycles around a trigger, and there is none");
            wrong.push(
                Diagnostic::error(message)
                    .hint("--trigger pc=0x40, --trigger fault or --trigger 'stall>100'"),
            );
        }
        let Range { start, end } = self.window().cycles;
        if start >= end {
            wrong.push(Diagnostic::error(format!("--to-cycle: {end} is not after --from-cycle, {start}")));
        }
        let files: Vec<_> = self.files().collect();
        for (n, (flag, path)) in files.iter().enumerate() {
            if let Some((other, _)) = files[..n].iter().find(|(_, before)| before == path) {
                let message = format!("{other} and {flag} both write to `{}`", path.display());
                wrong.push(Diagnostic::error(message));
            }
        }
        wrong
    }
}

/// Set by Ctrl-C while files are written; once more ends the process.
fn interrupt() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let flag = FLAG.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let seen = flag.clone();
        // Without a handler Ctrl-C ends the process as ever.
        _ = ctrlc::set_handler(move || {
            if seen.swap(true, Ordering::Relaxed) {
                std::process::exit(INTERRUPTED);
            }
        });
        flag
    });
    flag.clone()
}

/// The files of one run.
pub struct TraceFiles {
    files: Vec<(&'static str, Streamed)>,
    /// The report, which is written last.
    report: Option<Streamed>,
    window: Window,
    trigger: Option<Trigger>,
}

/// Opens the files that the flags ask for, and a recorder that writes to them; nothing if they ask for none. What the
/// report shows of the trace goes to `capture`.
///
/// # Errors
/// If a file cannot be written to.
pub fn open(
    args: &TraceArgs,
    config: &Config,
    capture: Option<Box<dyn Sink>>,
) -> Result<Option<(Recorder<'static>, TraceFiles)>, Vec<Diagnostic>> {
    let mut files = Vec::new();
    let mut report = None;
    let mut sinks: Vec<(String, Box<dyn Sink>)> = Vec::new();
    for (flag, path) in args.files() {
        let streamed = Streamed::create(path, flag)?;
        if flag == REPORT {
            report = Some(streamed);
            continue;
        }
        let sink = sink(flag, &streamed, config);
        let sink = sink.map_err(|error| vec![files::unwritable(path, &error, flag)])?;
        sinks.push((flag.to_owned(), sink));
        files.push((flag, streamed));
    }
    sinks.extend(capture.map(|sink| (REPORT.to_owned(), sink)));
    if sinks.is_empty() {
        return Ok(None);
    }
    let window = args.window();
    let trigger = args.trigger();
    let recorder = Recorder::new(config, sinks, window.clone(), interrupt()).with_trigger(trigger);
    Ok(Some((recorder, TraceFiles { files, report, window, trigger })))
}

fn sink(flag: &str, to: &Streamed, config: &Config) -> io::Result<Box<dyn Sink>> {
    let (cores, slots) = (config.cores, config.core.max_waves);
    let file = || Ok::<_, io::Error>(BufWriter::with_capacity(1 << 17, to.file()?));
    Ok(match flag {
        "--kanata" => Box::new(Kanata::new(file()?)?),
        "--perfetto" => Box::new(Perfetto::new(file()?, config)?),
        "--vcd" => Box::new(Signals::new(Vcd::new(file()?, &tree(cores, slots))?, cores, slots)),
        "--fst" => Box::new(Signals::new(Fst::new(to.written_path(), &tree(cores, slots))?, cores, slots)),
        _ => Box::new(Writer::new(Behind::new(to.file()?), form_of(to.path()), &header(config))?),
    })
}

impl TraceFiles {
    /// Completes the files and gives them their names. What is left to write is the report, if there is one.
    ///
    /// # Errors
    /// If a file cannot be written, or the window has nothing of the run.
    pub fn finish(
        self,
        recorder: Recorder<'_>,
        how: How,
        cycle: u64,
        message: &str,
    ) -> Result<Option<Streamed>, Vec<Diagnostic>> {
        let recorded = match recorder.finish(how, cycle, message) {
            Ok(recorded) => recorded,
            Err((flag, error)) => {
                let file = self.files.iter().find(|(name, _)| *name == flag);
                let path = file.map_or(Path::new(""), |(_, streamed)| streamed.path());
                return Err(vec![files::unwritable(path, &error, &flag)]);
            }
        };
        if let (Some(Trigger { when, .. }), None) = (self.trigger, recorded.triggered) {
            let message = format!("--trigger: {when} has not happened, and the run ended in cycle {cycle}");
            let hint = match when {
                When::Pc(_) => "no trace was written; `wave-sim dis` prints the pc of each instruction",
                When::Fault => "no trace was written; without --trigger there is one of the whole run",
                When::Stall(_) => "no trace was written; `wave-sim trace stats` says where instructions wait",
            };
            return Err(vec![Diagnostic::error(message).hint(hint)]);
        }
        if recorded.records == 0 && self.window != Window::ALL {
            let Range { start, end } = self.window.cycles;
            let message = match self.window.waves.is_empty() {
                true if start > cycle => {
                    format!("--from-cycle: {start} is past the run, which ended in cycle {cycle}")
                }
                true => format!("nothing retires from cycle {start} to {}", end.min(cycle)),
                false => format!(
                    "--waves: none of these waves retires an instruction in the window of the trace, and the run ended in cycle {cycle}"
                ),
            };
            let hint = "no trace was written; `wave-sim trace stats` says what waves and cycles a trace has";
            return Err(vec![Diagnostic::error(message).hint(hint)]);
        }
        for (flag, file) in self.files {
            file.persist(flag)?;
        }
        Ok(self.report)
    }
}

/// Writes the report, and gives it its name.
///
/// # Errors
/// If it cannot be written.
pub fn write_report(file: Streamed, page: &str) -> Result<(), Vec<Diagnostic>> {
    let written = file.file().and_then(|mut to| to.write_all(page.as_bytes()));
    written.map_err(|error| vec![files::unwritable(file.path(), &error, REPORT)])?;
    file.persist(REPORT)
}
