//! Plug-ins of a program that has the command line inside: what they implement, and who is named if one panics.
//!
//! `docs/plugins.md` goes from nothing to a policy that is swept.
//!
//! ```no_run
//! use std::process::ExitCode;
//! use wave_sim::plugin::{Choice, Registry, SchedulerSetup, WarpScheduler};
//!
//! /// The youngest ready wave issues.
//! #[derive(wave_capture::Capture)]
//! struct Youngest;
//!
//! impl WarpScheduler for Youngest {
//!     fn pick(&mut self, choice: &Choice<'_>) -> Option<usize> {
//!         (0..64).filter(|slot| choice.ready >> slot & 1 != 0).reduce(|a, b| if choice.is_older(a, b) { b } else { a })
//!     }
//! }
//!
//! fn main() -> ExitCode {
//!     let mut registry = Registry::new();
//!     registry.scheduler("youngest", |_: &SchedulerSetup| Youngest).doc("The wave that was dispatched last.");
//!     wave_sim::main_with(registry)
//! }
//! ```

use super::Exit;
use super::terminal::Terminal;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config;
use wave_machine::registry;

pub use wave_capture::Capture;
pub use wave_isa::program::Launch;
pub use wave_machine::core::probe::{
    AtomicEvent, Burst, Charge, Event, EventKind, Going, Hop, Invalidated, Issued, LineAccess, LocalAccess,
    MemoryEvent, ObserverSetup, Packet, Results, RunObserver, SliceAccess, Stage, StageEvent, Stalls, Waits,
    Wants,
};
pub use wave_machine::registry::*;

/// Set once a plug-in has panicked.
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

/// Runs a program with plug-ins. One that panics is named, and the program ends as for wrong input.
pub(super) fn run(registry: Registry, main: fn() -> ExitCode) -> ExitCode {
    if let Err(wrong) = config::install(registry) {
        Terminal::of_environment().diagnostics(&wrong);
        return ExitCode::from(Exit::WrongInput as u8);
    }
    name_in_panics();
    match catch_unwind(AssertUnwindSafe(main)) {
        Ok(code) => code,
        Err(_) if HAS_PANICKED.load(Ordering::Relaxed) => ExitCode::from(Exit::WrongInput as u8),
        Err(panic) => resume_unwind(panic),
    }
}

/// Makes the message about a panic name the plug-in whose hook ran.
fn name_in_panics() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let Some(plug_in) = registry::calling() else {
            // A thread that waits for one in which a plug-in has panicked fails too.
            if !HAS_PANICKED.load(Ordering::Relaxed) {
                others(panic);
            }
            return;
        };
        if HAS_PANICKED.swap(true, Ordering::Relaxed) {
            return;
        }
        let (name, noun) = (plug_in.name(), plug_in.role().noun());
        let why = panic.payload_as_str().unwrap_or("no message");
        let message = format!("the plug-in `{name}`, {noun}, has panicked: {why}");
        let place = panic.location().map_or_else(String::new, |place| format!("at {place}"));
        Terminal::of_environment().diagnostics(&[Diagnostic::error(message).hint(place)]);
    }));
}
