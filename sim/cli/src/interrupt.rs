//! Signals that ask the program to end: Ctrl-C, SIGTERM (sent by batch systems) and a hang-up.
//!
//! A command that simulates polls [`stop`]. At the first signal it ends its run and reports what every wave
//! is doing. A second signal, or a first one at any other time, ends the program at once. Temporary files are
//! removed in either case. A limit on the size of files is an error of the write, and no signal.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use wave_isa::diagnostic::Diagnostic;
use wave_observe::numbers::counted;

/// A signal has arrived.
static ASKED: AtomicBool = AtomicBool::new(false);
/// The command polls [`ASKED`].
static LOOKS: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// What the runs of this thread poll in place of [`ASKED`].
    static OWN: Cell<Option<&'static AtomicBool>> = const { Cell::new(None) };
}

/// Becomes true at the first signal. From this call on, the caller must poll it.
pub(crate) fn stop() -> &'static AtomicBool {
    LOOKS.store(true, Ordering::Relaxed);
    asked()
}

/// What the runs of this thread poll.
fn asked() -> &'static AtomicBool {
    OWN.get().unwrap_or(&ASKED)
}

/// Calls `run` on this thread. What it runs ends when `stop` becomes true, and not at a signal.
pub(crate) fn stopped_by<R>(stop: &'static AtomicBool, run: impl FnOnce() -> R) -> R {
    let before = OWN.replace(Some(stop));
    let ended = run();
    OWN.set(before);
    ended
}

/// The caller does not poll any more until it calls [`stop`] again: a signal ends the program at once.
pub(crate) fn rest() {
    LOOKS.store(false, Ordering::Relaxed);
    asked().store(false, Ordering::Relaxed);
}

/// True if a signal has asked the program to end.
pub(crate) fn is_asked() -> bool {
    asked().load(Ordering::Relaxed)
}

/// Asks the program to end as a first signal does.
pub(crate) fn ask() {
    ASKED.store(true, Ordering::Relaxed);
}

/// Warning about kernels that did not run because of a signal.
pub(crate) fn left_out(kernels: usize) -> Diagnostic {
    let kernels = counted(kernels as u64, "kernel");
    Diagnostic::warning(format!("{kernels} did not run any more, since this one was interrupted"))
}

/// Installs the signal handlers. On systems other than Unix, or if this fails, signals end the program as
/// usual.
pub(crate) fn listen() {
    #[cfg(unix)]
    unix::listen();
}

#[cfg(unix)]
mod unix {
    use super::{ASKED, LOOKS};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::flag;
    use signal_hook::iterator::Signals;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use wave_files::temporary;

    pub(super) fn listen() {
        // A file above the limit of the shell (`ulimit -f`) must not end the program, which says then that it cannot be
        // written. The flag has no reader. Processes that this one starts do not inherit a handler.
        _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
        let signals = [Some(SIGINT), Some(SIGTERM), (!is_hangup_ignored()).then_some(SIGHUP)];
        let Ok(mut signals) = Signals::new(signals.into_iter().flatten()) else { return };
        let wait = move || {
            for signal in signals.forever() {
                if !LOOKS.load(Ordering::Relaxed) || ASKED.swap(true, Ordering::Relaxed) {
                    temporary::remove_all_and_exit(128 + signal);
                }
            }
        };
        // Without this thread the signals would have no effect. If it cannot start, no other thread can
        // either.
        _ = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
    }

    /// True under `nohup`, which a handler would defeat, and if the state is unknown.
    fn is_hangup_ignored() -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        ignored.is_none_or(|mask| mask >> (SIGHUP - 1) & 1 != 0)
    }
}
