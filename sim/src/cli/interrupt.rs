//! Signals that ask the program to end: Ctrl-C, and SIGTERM, which batch systems send.
//!
//! A command that simulates looks at [`stop`] as it runs, ends its run at the first signal and reports what every wave does.
//! A second signal, or the first one at any other time, ends the program at once. No temporary file stays in either case.

use crate::diagnostic::Diagnostic;
use crate::observe::counted;
use std::sync::atomic::{AtomicBool, Ordering};

/// A signal has come.
static ASKED: AtomicBool = AtomicBool::new(false);
/// The command looks at [`ASKED`].
static LOOKS: AtomicBool = AtomicBool::new(false);

/// Set by the first signal. The caller looks at it from now on.
pub fn stop() -> &'static AtomicBool {
    LOOKS.store(true, Ordering::Relaxed);
    &ASKED
}

/// True if a signal has asked the program to end.
pub fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// The warning about kernels that a signal has kept from running.
pub fn left_out(kernels: usize) -> Diagnostic {
    let kernels = counted(kernels as u64, "kernel");
    Diagnostic::warning(format!("{kernels} did not run any more, since this one was interrupted"))
}

/// Listens for signals from now on. Elsewhere than on Unix, or if that fails, they end the program as ever.
pub fn listen() {
    #[cfg(unix)]
    unix::listen();
}

#[cfg(unix)]
mod unix {
    use super::{ASKED, LOOKS};
    use crate::cli::files;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use std::sync::atomic::Ordering;

    pub fn listen() {
        let signals = [Some(SIGINT), Some(SIGTERM), (!is_hangup_ignored()).then_some(SIGHUP)];
        let Ok(mut signals) = Signals::new(signals.into_iter().flatten()) else { return };
        let wait = move || {
            for signal in signals.forever() {
                if !LOOKS.load(Ordering::Relaxed) || ASKED.swap(true, Ordering::Relaxed) {
                    files::remove_temporaries_and_exit(128 + signal);
                }
            }
        };
        // Without a thread to wait for them, they would have no effect; then the program cannot start others either.
        _ = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
    }

    /// True under `nohup`, whose effect a handler would undo, and where nobody knows.
    fn is_hangup_ignored() -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        ignored.is_none_or(|mask| mask >> (SIGHUP - 1) & 1 != 0)
    }
}
