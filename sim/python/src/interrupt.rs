//! Simulations that Ctrl-C ends.

use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often a thread that waits for a simulation looks for signals.
const PATIENCE: Duration = Duration::from_millis(20);
/// Stack of a simulation, which begins with a compiler.
const STACK_BYTES: usize = 16 << 20;

/// Flags that no simulation polls at present. A flag lives as long as the process, so that simulations can share it
/// with their threads; there are as many as simulations have run at the same time.
static FREE: Mutex<Vec<&'static AtomicBool>> = Mutex::new(Vec::new());

/// A flag that ends one simulation.
struct Flag(&'static AtomicBool);

impl Flag {
    fn new() -> Flag {
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Flag(free.unwrap_or_else(|| Box::leak(Box::new(AtomicBool::new(false)))))
    }
}

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
        FREE.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
    }
}

/// Calls `work` on a thread of its own, while this one leaves the interpreter to others and looks for signals. If a signal
/// raises an exception, the flag becomes true, and `work` has to end soon.
///
/// # Errors
/// The exception of a signal.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&'static AtomicBool) -> T + Send,
) -> PyResult<T> {
    let own = Flag::new();
    let flag = own.0;
    py.detach(|| {
        std::thread::scope(|scope| {
            let (running, ended) = channel::<()>();
            let builder = std::thread::Builder::new().name("wave-sim".to_owned()).stack_size(STACK_BYTES);
            let worker = builder.spawn_scoped(scope, move || {
                // Dropped at the end, however that comes.
                let _running = running;
                work(flag)
            })?;
            let mut raised = None;
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(PATIENCE) {
                if raised.is_none()
                    && let Err(error) = Python::attach(|py| py.check_signals())
                {
                    flag.store(true, Ordering::Relaxed);
                    raised = Some(error);
                }
            }
            match (worker.join(), raised) {
                (Err(panic), _) => resume_unwind(panic),
                (Ok(_), Some(error)) => Err(error),
                (Ok(result), None) => Ok(result),
            }
        })
    })
}
