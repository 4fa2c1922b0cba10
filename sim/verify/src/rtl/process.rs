//! The other side of a comparison: a process that runs a core from a stimulus file. No one waits for it
//! longer than agreed, whatever it does.

use super::stream::{Bounds, Report, read};
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Most reports that wait for the comparison.
const QUEUE: usize = 256;
/// Patience is counted in steps of this length, so that time in which this process itself is stopped does not
/// count.
const STEP: Duration = Duration::from_millis(50);
/// Bytes kept of its messages: the last ones.
const MESSAGES: usize = 4096;
/// How long messages may take that a process has left behind.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// Time that a process has to end after its output has ended.
const ENDING: Duration = Duration::from_secs(5);

/// A running process. It is killed when it is dropped.
pub(super) struct Process {
    child: Child,
    reports: Receiver<Report>,
    messages: Arc<Mutex<Vec<u8>>>,
    patience: Duration,
    stop: Option<&'static AtomicBool>,
}

/// Starts a command. An executable that was just written is busy for a moment if another thread of this process starts a
/// child meanwhile: the child holds the file open until it has become another program.
pub(super) fn spawn(command: &mut Command) -> std::io::Result<Child> {
    const ATTEMPTS: u32 = 50;
    for _ in 1..ATTEMPTS {
        match command.spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(10));
            }
            started => return started,
        }
    }
    command.spawn()
}

impl Process {
    /// Starts a command. It must complete a cycle at least once per `patience`. Once `stop` is true,
    /// nobody waits for it any longer.
    ///
    /// # Errors
    /// If it does not start.
    pub(super) fn start(
        mut command: Command,
        patience: Duration,
        bounds: Bounds,
        stop: Option<&'static AtomicBool>,
    ) -> std::io::Result<Process> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = spawn(&mut command)?;
        let missing = || std::io::Error::other("no standard output");
        let output = child.stdout.take().ok_or_else(missing)?;
        let mut errors = child.stderr.take().ok_or_else(missing)?;
        let (sender, reports) = sync_channel(QUEUE);
        // These threads are not joined: a child of the process may hold its output open for ever.
        std::thread::spawn(move || {
            read(std::io::BufReader::with_capacity(1 << 16, output), bounds, &sender);
        });
        let messages = Arc::new(Mutex::new(Vec::new()));
        let kept = messages.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 1024];
            while let Ok(more @ 1..) = errors.read(&mut buffer) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&buffer[..more]);
                let surplus = kept.len().saturating_sub(MESSAGES);
                kept.drain(..surplus);
            }
        });
        Ok(Process { child, reports, messages, patience, stop })
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    fn receive(&self) -> Result<Report, RecvTimeoutError> {
        let mut left = self.patience;
        loop {
            let step = left.min(STEP);
            match self.reports.recv_timeout(step) {
                Err(RecvTimeoutError::Timeout) if left > step && !self.is_stopped() => left -= step,
                other => return other,
            }
        }
    }

    /// The next report.
    ///
    /// # Errors
    /// The reason why there is none: no output for too long, or an exit without an end.
    pub(super) fn next(&mut self) -> Result<Report, String> {
        match self.receive() {
            Ok(Report::Garbage(what)) => {
                Err(self.with_messages(format!("its output makes no sense: {what}")))
            }
            Ok(report) => Ok(report),
            Err(RecvTimeoutError::Timeout) => {
                let what = format!("the process has said nothing for {} s", self.patience.as_secs_f32());
                Err(self.with_messages(what))
            }
            Err(RecvTimeoutError::Disconnected) => {
                let how = self.ending();
                Err(self.with_messages(format!("the process ended without an end of its trace ({how})")))
            }
        }
    }

    /// Waits for the process to end after its last report.
    ///
    /// # Errors
    /// If it reports more or does not end.
    pub(super) fn finish(&mut self) -> Result<(), String> {
        match self.receive() {
            Ok(Report::Garbage(what)) => Err(what),
            Ok(_) => Err("it goes on behind its end".to_owned()),
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("it is still there {} s after its end", self.patience.as_secs_f32()))
            }
            Err(RecvTimeoutError::Disconnected) => Ok(()),
        }
    }

    /// How it ended. It is killed if it does not end.
    fn ending(&mut self) -> String {
        let since = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return status.to_string(),
                Ok(None) if since.elapsed() < ENDING.min(self.patience) => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Ok(None) => return "it has closed its output and goes on".to_owned(),
                Err(error) => return error.to_string(),
            }
        }
    }

    fn with_messages(&self, what: String) -> String {
        // Its last messages may still be on their way. Whoever reads them has the other half until they end, which they do
        // not as long as the process, or a child of it, goes on.
        let since = Instant::now();
        while Arc::strong_count(&self.messages) > 1 && since.elapsed() < LAST_WORDS {
            std::thread::sleep(Duration::from_millis(5));
        }
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let said = String::from_utf8_lossy(&messages);
        match said.trim() {
            "" => what,
            said => format!("{what}; it said:\n  {}", said.replace('\n', "\n  ")),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
