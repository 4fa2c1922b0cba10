//! The trace files of a run: temporary names while it runs, and whether the window was reached.

mod flags;

use super::args::TraceArgs;
use super::files::{self, Beginning, LeftBehind, Streamed};
pub(crate) use flags::{WaveRange, filled, has_placeholder, trigger, wave_range, with_placeholder};
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::Path;
use wave_capture::{self as capture, Capture, Reader};
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
pub(crate) fn form_of(path: &Path) -> Form {
    if path.extension().is_some_and(|e| e == "txt") { Form::Text } else { Form::Binary }
}

/// The files of one run.
pub(crate) struct TraceFiles {
    files: Vec<(&'static str, Streamed)>,
    /// The report, which is written last.
    report: Option<Streamed>,
    /// What the retirement trace holds.
    what: String,
    window: Window,
    trigger: Option<Trigger>,
}

/// Whether a retirement trace outlives this process.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outlives<'a> {
    /// It does not.
    No,
    /// Another process may go on with it. It replaces the trace of an earlier run only if it `overwrites`.
    Yes {
        /// The user insists.
        overwrites: bool,
    },
    /// This one goes on with that of another, which [`TraceFiles::save`] has saved.
    GoesOn(&'a [u8]),
}

/// A retirement trace part-way.
#[derive(Debug, Capture)]
struct Saved {
    /// Form, window and trigger.
    what: String,
    /// What the file holds.
    beginning: Option<Beginning>,
    recorder: Vec<u8>,
}

/// The flag of the only file that can be gone on with.
pub(crate) const RETIREMENT: &str = "--wvfi";

/// Describes what records a retirement trace of these flags has.
fn described(args: &TraceArgs) -> String {
    format!("{:?}, {:?}, {:?}", args.wvfi.as_deref().map(form_of), args.window(), args.trigger())
}

/// Goes on with a retirement trace that another process has saved.
fn go_on(
    args: &TraceArgs,
    config: &Config,
    saved: &[u8],
) -> Result<(Recorder<'static>, TraceFiles), Vec<Diagnostic>> {
    let wrong = |message: String| vec![Diagnostic::error(message)];
    let mut state = Saved { what: String::new(), beginning: None, recorder: Vec::new() };
    let read = state.restore(&mut Reader::new(saved));
    read.map_err(|misfit| wrong(format!("{RETIREMENT}: the checkpoint's trace does not fit: {misfit}")))?;
    if state.what != described(args) {
        let message =
            format!("{RETIREMENT}: the run that was stopped wrote its trace in another form or window");
        let hint =
            "the file's ending, --from-cycle, --to-cycle, --waves and --trigger have to be as they were";
        return Err(vec![Diagnostic::error(message).hint(hint)]);
    }
    let (Some(path), Some(beginning)) = (&args.wvfi, state.beginning) else {
        return Err(wrong(format!("{RETIREMENT}: the checkpoint has no trace")));
    };
    let left = LeftBehind::find(path, beginning, RETIREMENT)?;
    let file = left.file().map_err(|error| vec![files::unwritable(path, &error, RETIREMENT)])?;
    let sink = Box::new(Writer::continuing(file, form_of(path), &header(config)));
    let sinks: Vec<(String, Box<dyn Sink>)> = vec![(RETIREMENT.to_owned(), sink)];
    let (window, trigger) = (args.window(), args.trigger());
    let mut recorder = Recorder::new(config, sinks, window.clone()).with_trigger(trigger);
    let fits = recorder.restore(&state.recorder);
    fits.map_err(|misfit| wrong(format!("{RETIREMENT}: the checkpoint's trace does not fit: {misfit}")))?;
    let files = vec![(RETIREMENT, left.go_on(RETIREMENT)?)];
    Ok((recorder.apart(), TraceFiles { files, report: None, what: described(args), window, trigger }))
}

/// Opens the requested files and a recorder that writes to them; `None` if no file is requested. What the
/// report shows of the trace goes to `capture`.
///
/// # Errors
/// If a file cannot be written to.
pub(crate) fn open(
    args: &TraceArgs,
    config: &Config,
    capture: Option<Box<dyn Sink>>,
    outlives: Outlives<'_>,
) -> Result<Option<(Recorder<'static>, TraceFiles)>, Vec<Diagnostic>> {
    let lasts = match outlives {
        Outlives::GoesOn(saved) => return go_on(args, config, saved).map(Some),
        Outlives::Yes { overwrites } => Some(overwrites),
        Outlives::No => None,
    };
    let mut files = Vec::new();
    let mut report = None;
    let mut sinks: Vec<(String, Box<dyn Sink>)> = Vec::new();
    for (flag, path) in args.files() {
        let streamed = match lasts {
            None => Streamed::create(path, flag)?,
            Some(overwrites) => Streamed::create_lasting(path, flag, overwrites)?,
        };
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
    Ok(Some((recorder, TraceFiles { files, report, what: described(args), window, trigger })))
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
pub(crate) fn scout(args: &TraceArgs, trigger: Trigger, config: &Config) -> Recorder<'static> {
    let recorder = Recorder::new(config, Vec::new(), args.window());
    recorder.with_trigger(Some(trigger)).until_triggered()
}

/// The message about a trigger that did not fire in a run that ended in this cycle.
pub(crate) fn not_fired(trigger: Trigger, cycle: u64) -> Diagnostic {
    let when = trigger.when;
    let message = format!("--trigger: {when} has not happened, and the run ended in cycle {cycle}");
    Diagnostic::error(message).hint(match when {
        When::Pc(_) => "no trace was written; `wave-sim dis` prints the pc of each instruction",
        When::Fault => "no trace was written; without --trigger there is one of the whole run",
        When::Stall(_) => "no trace was written; `wave-sim trace stats` says where instructions wait",
    })
}

/// Result of finishing the files of a run.
pub(crate) enum Finished {
    /// The files have their names. Only the report, if there is one, remains to be written.
    Written(Option<Streamed>),
    /// There are no files: the window contains nothing of the run, or its trigger has not fired.
    Missed(Diagnostic),
}

impl TraceFiles {
    /// Saves what another process needs to go on with the retirement trace, which is on the disk up to cycle `now`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn save(&mut self, recorder: &mut Recorder<'_>, now: u64) -> Result<Vec<u8>, Vec<Diagnostic>> {
        let mut to = capture::Writer::default();
        let state = recorder.save(now).map_err(|(_, error)| error);
        for (flag, file) in &mut self.files {
            let path = file.path().to_owned();
            let wrong = |error| vec![files::unwritable(&path, &error, flag)];
            let recorder =
                state.as_ref().map_err(|error| wrong(io::Error::other(error.to_string())))?.clone();
            // Before the first checkpoint, no process can go on with it.
            file.keep().map_err(wrong)?;
            let beginning = Some(file.beginning().map_err(wrong)?);
            Saved { what: self.what.clone(), beginning, recorder }.save(&mut to);
        }
        Ok(to.into_bytes())
    }

    /// A checkpoint has been written that needs the retirement trace.
    pub(crate) fn mark_needed(&mut self) {
        self.files.iter_mut().for_each(|(_, file)| file.mark_needed());
    }

    /// Removes files that no process goes on with.
    pub(crate) fn discard(self) {
        self.files.into_iter().for_each(|(_, file)| file.discard());
    }

    /// Completes the files and gives them their names. With `is_reported`, the report has contents even if
    /// nothing retires in the window.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(crate) fn finish(
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
            // What an interrupted run has written may be gone on with.
            if how != How::Interrupted {
                self.discard();
            }
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
            if how != How::Interrupted {
                self.files.into_iter().for_each(|(_, file)| file.discard());
            }
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
pub(crate) fn write_report(file: Streamed, page: &str) -> Result<(), Vec<Diagnostic>> {
    let written = file.file().and_then(|mut to| to.write_all(page.as_bytes()));
    written.map_err(|error| vec![files::unwritable(file.path(), &error, REPORT)])?;
    file.persist(REPORT)
}
