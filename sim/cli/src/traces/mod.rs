//! The trace files of a run: temporary names while it runs, and whether the window was reached.

mod flags;

use super::args::TraceArgs;
use super::files::{self, Streamed};
pub use flags::{WaveRange, trigger, wave_range};
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::Path;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::Config;
use wave_observe::trace::recorder::header;
use wave_observe::trace::view::kanata::Kanata;
use wave_observe::trace::view::perfetto::Perfetto;
use wave_observe::trace::view::signals::{Signals, tree};
use wave_observe::trace::view::waves::{Fst, Vcd};
use wave_observe::trace::{Form, How, Recorder, Sink, Trigger, When, Window, Writer};

const REPORT: &str = "--report";

/// The form of a trace with this name: text if it ends in `.txt`.
pub fn form_of(path: &Path) -> Form {
    if path.extension().is_some_and(|e| e == "txt") { Form::Text } else { Form::Binary }
}

/// The files of one run.
pub struct TraceFiles {
    files: Vec<(&'static str, Streamed)>,
    /// The report, which is written last.
    report: Option<Streamed>,
    window: Window,
    trigger: Option<Trigger>,
}

/// Opens the requested files and a recorder that writes to them; `None` if no file is requested. What the
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
    let recorder = Recorder::new(config, sinks, window.clone()).with_trigger(trigger);
    let recorder = recorder.apart();
    Ok(Some((recorder, TraceFiles { files, report, window, trigger })))
}

fn sink(flag: &str, to: &Streamed, config: &Config) -> io::Result<Box<dyn Sink>> {
    let file = || Ok::<_, io::Error>(BufWriter::with_capacity(1 << 17, to.file()?));
    Ok(match flag {
        "--kanata" => Box::new(Kanata::new(file()?)?),
        "--perfetto" => Box::new(Perfetto::new(file()?, config)?),
        "--vcd" => Box::new(Signals::new(Vcd::new(file()?, &tree(config))?, config)),
        "--fst" => Box::new(Signals::new(Fst::new(to.written_path(), &tree(config))?, config)),
        _ => Box::new(Writer::new(to.file()?, form_of(to.path()), &header(config))?),
    })
}

/// A recorder without files, which ends a run when the trigger has fired.
pub fn scout(args: &TraceArgs, trigger: Trigger, config: &Config) -> Recorder<'static> {
    let recorder = Recorder::new(config, Vec::new(), args.window());
    recorder.with_trigger(Some(trigger)).until_triggered()
}

/// The message about a trigger that did not fire in a run that ended in this cycle.
pub fn not_fired(trigger: Trigger, cycle: u64) -> Diagnostic {
    let when = trigger.when;
    let message = format!("--trigger: {when} has not happened, and the run ended in cycle {cycle}");
    Diagnostic::error(message).hint(match when {
        When::Pc(_) => "no trace was written; `wave-sim dis` prints the pc of each instruction",
        When::Fault => "no trace was written; without --trigger there is one of the whole run",
        When::Stall(_) => "no trace was written; `wave-sim trace stats` says where instructions wait",
    })
}

/// Result of finishing the files of a run.
pub enum Finished {
    /// The files have their names. Only the report, if there is one, remains to be written.
    Written(Option<Streamed>),
    /// There are no files: the window contains nothing of the run, or its trigger has not fired.
    Missed(Diagnostic),
}

impl TraceFiles {
    /// Completes the files and gives them their names. With `is_reported`, the report has contents even if
    /// nothing retires in the window.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(
        self,
        recorder: Recorder<'_>,
        how: How,
        cycle: u64,
        message: &str,
        is_reported: bool,
    ) -> Result<Finished, Vec<Diagnostic>> {
        let recorded = match recorder.finish(how, cycle, message) {
            Ok(recorded) => recorded,
            Err((flag, error)) => {
                let file = self.files.iter().find(|(name, _)| *name == flag);
                let path = file.map_or(Path::new(""), |(_, streamed)| streamed.path());
                return Err(vec![files::unwritable(path, &error, &flag)]);
            }
        };
        if let (Some(trigger), None) = (self.trigger, recorded.triggered) {
            return Ok(Finished::Missed(not_fired(trigger, cycle)));
        }
        let is_reported = is_reported && self.files.is_empty() && self.window.waves.is_empty();
        if recorded.records == 0 && self.window != Window::ALL && !is_reported {
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
            return Ok(Finished::Missed(Diagnostic::error(message).hint(hint)));
        }
        for (flag, file) in self.files {
            file.persist(flag)?;
        }
        Ok(Finished::Written(self.report))
    }
}

/// Writes the report and gives it its name.
///
/// # Errors
/// If it cannot be written.
pub fn write_report(file: Streamed, page: &str) -> Result<(), Vec<Diagnostic>> {
    let written = file.file().and_then(|mut to| to.write_all(page.as_bytes()));
    written.map_err(|error| vec![files::unwritable(file.path(), &error, REPORT)])?;
    file.persist(REPORT)
}
