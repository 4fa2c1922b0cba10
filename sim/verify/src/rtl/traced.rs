//! Retirement traces of both sides of a comparison, to examine a difference.

use super::cosim::{Cosim, Disagreement, End};
use super::fault;
use super::process::spawn;
use super::retirement::Retirement;
use super::stream::Report;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_observe::trace::record::{Header, How, Reports};
use wave_observe::trace::recorder::{Recorder, header, launched};
use wave_observe::trace::{Sink, Window};

/// How many times as long as its patience a core may take of whose output nothing is read.
const UNREAD_PATIENCE: u32 = 20;
/// Time after which such a core is looked at again.
const STEP: Duration = Duration::from_millis(20);

/// The header of another core's trace. It reports every stage, but no stalls.
pub fn header_of_other(config: &Config, producer: &str) -> Header {
    let reports = Reports { stalls: false, ..Reports::ALL };
    Header { producer: producer.to_owned(), reports, ..header(config) }
}

/// The sinks of a side's records, each with a name for messages.
pub type Sinks<'s> = Vec<(String, Box<dyn Sink + 's>)>;

/// Reads an output to its end, beside everything else.
fn drain(output: Option<impl Read + Send + 'static>) {
    let Some(mut output) = output else { return };
    std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
}

impl Cosim<'_> {
    /// Runs the simulator and writes its records of a window. Returns the cycle in which it ended.
    ///
    /// # Errors
    /// The reason why it cannot run, or what cannot be written.
    pub fn trace_simulator(&self, window: Window, sinks: Sinks<'_>) -> Result<Cycle, String> {
        let mut recorder = Recorder::new(self.config, sinks, window);
        recorder.start(self.program, self.launch, 0);
        let end = self.simulate(Some(&mut recorder)).map_err(|why| why.to_string())?;
        let (how, cycle, message) = match end {
            End::Over(cycle, _) => (How::Complete, cycle, String::new()),
            End::Fault(fault) => (How::Fault, fault.cycle.unwrap_or(0), fault.kind.to_string()),
            End::Stopped(cycle) => (How::Stopped, cycle, "the trace ends here".to_owned()),
        };
        let written = recorder.finish(how, cycle, &message);
        written.map(|_| cycle).map_err(|(name, error)| format!("{name}: {error}"))
    }

    /// Runs another core to its end and ignores its steps. Returns the last cycle.
    ///
    /// # Errors
    /// If it does not reach its end.
    pub fn run_other(&self, executable: &Path, stimulus: &Path) -> Result<Cycle, String> {
        let mut process = self.start(executable, stimulus).map_err(|why| why.to_string())?;
        loop {
            match process.next()? {
                Report::Cycle(_) => {}
                Report::Over(cycle, _) => return Ok(cycle),
                other => return Err(format!("the other side does not come to its end: {other:?}")),
            }
        }
    }

    /// Runs another core with a stimulus file that is written to `stimulus`, and looks at nothing of what it writes. True if
    /// it ends by itself: within [`Cosim::patience`], or if it makes the file `made` in this time, within a multiple of
    /// it.
    pub fn run_unread(&self, executable: &Path, stimulus: &Path, made: &Path) -> bool {
        let Ok(mut command) = self.command(executable, stimulus) else { return false };
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let Ok(mut child) = spawn(&mut command) else { return false };
        // Through pipes: what the core leaves behind ends with this process at the latest.
        drain(child.stdout.take());
        drain(child.stderr.take());
        let mut waited = Duration::ZERO;
        let ended = loop {
            match child.try_wait() {
                Ok(Some(_)) => break true,
                Ok(None) => {}
                Err(_) => break false,
            }
            let patience = if made.exists() { self.patience * UNREAD_PATIENCE } else { self.patience };
            if waited >= patience || self.is_stopped() {
                break false;
            }
            std::thread::sleep(STEP);
            waited += STEP;
        };
        // It may have ended already.
        _ = child.kill();
        _ = child.wait();
        ended
    }

    /// Runs another core with a stimulus file that is written to `stimulus`, and writes its records of a
    /// window. Returns the cycle that it reached. An early end is no error: the end of the trace tells the
    /// reason.
    ///
    /// # Errors
    /// If it does not start, or something cannot be written.
    pub fn trace_other(
        &self,
        executable: &Path,
        stimulus: &Path,
        window: Window,
        sinks: Sinks<'_>,
    ) -> Result<Cycle, String> {
        let mut process = self.start(executable, stimulus).map_err(|why| why.to_string())?;
        let unwritten = |error: std::io::Error| error.to_string();
        let sinks = sinks.into_iter().map(|(_, sink)| sink).collect();
        let width = self.config.core.wave_width as usize;
        let mut records = Retirement::new(launched(self.program, self.launch, 0), width, window, sinks)
            .map_err(unwritten)?;
        let (mut now, limit) = (0, Cycle::from(self.max_cycles));
        let (how, cycle, message) = loop {
            match process.next() {
                // The simulator stops before the limit; a core may stop after it.
                Ok(Report::Cycle(steps)) if steps.first().is_some_and(|s| s.cycle >= limit) => {}
                Ok(Report::Cycle(steps)) => {
                    now = steps.first().map_or(now, |step| step.cycle);
                    records.take(&steps).map_err(unwritten)?;
                }
                Ok(Report::Over(cycle, _)) => break (How::Complete, cycle, String::new()),
                Ok(Report::Fault(fault)) => break (How::Fault, fault.cycle, fault::name(fault.kind)),
                Ok(Report::CycleLimit(cycle)) => {
                    break (How::Stopped, cycle.min(limit), "the trace ends here".to_owned());
                }
                Ok(Report::Garbage(what)) | Err(what) => break (How::Stopped, now, what),
            }
        };
        records.finish(how, cycle, &message).map_err(unwritten)?;
        Ok(cycle)
    }
}

impl Disagreement {
    /// The cycle of the first difference, if there is one.
    pub fn cycle(&self) -> Option<Cycle> {
        match self {
            Disagreement::Differs { cycle, .. } => Some(*cycle),
            _ => None,
        }
    }
}
