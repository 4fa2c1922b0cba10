//! `wave-sim` with observers that break their contract, as a program of its own: a test runs it.

use std::process::ExitCode;
use wave_capture::Capture;
use wave_sim::plugin::{Event, EventKind, Launch, ObserverSetup, Registry, RunObserver, Wants};

/// Panics in a method, or has counters that nobody has declared.
#[derive(Debug, Capture)]
struct Faulty {
    #[spec]
    in_event: bool,
    #[spec]
    in_begin: bool,
    #[spec]
    counters: usize,
    events: u64,
}

impl RunObserver for Faulty {
    fn wants(&self) -> Wants {
        Wants::of(&[EventKind::Issued])
    }

    fn begins(&mut self, _: &Launch) {
        assert!(!self.in_begin, "it does not like launches");
    }

    fn event(&mut self, _: &Event<'_>) {
        self.events += 1;
        assert!(!self.in_event || self.events < 100, "it has seen enough");
    }

    fn counters(&self) -> Vec<u64> {
        vec![0; self.counters]
    }
}

fn main() -> ExitCode {
    let mut registry = Registry::new();
    let faulty = |in_event, in_begin, counters| {
        move |_: &ObserverSetup| Faulty { in_event, in_begin, counters, events: 0 }
    };
    registry.observer("in_event", faulty(true, false, 0));
    registry.observer("in_begin", faulty(false, true, 0));
    registry.observer("miscounts", faulty(false, false, 2)).counter("one", "events", "The only one.");
    wave_sim::main_with(registry)
}
