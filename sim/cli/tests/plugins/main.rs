//! Machines with the plug-ins of `sim/plugins/`: a run is the same however it is made, results stay right, and the
//! program knows the plug-ins everywhere. The plug-ins are compiled here and as an example of this crate; as a crate of
//! their own, `scripts/plugins.sh` builds them.

#[path = "../../../plugins/src/ccws.rs"]
mod ccws;
#[path = "../../../plugins/src/reuse.rs"]
mod reuse;
#[path = "../../../plugins/src/ship.rs"]
mod ship;
#[path = "../../../plugins/src/stride.rs"]
mod stride;
#[path = "../../../plugins/src/victim.rs"]
mod victim;

mod observers;
mod program;
mod runs;

use std::sync::Once;
use wave_capture::Capture;
use wave_machine::config::{self, Config};
use wave_sim::plugin::{DispatchChoice, DispatchPolicy, DispatchSetup, Registry};

/// The last core with room gets the next workgroup.
#[derive(Debug, Capture)]
struct LastCore {
    picks: u64,
}

impl DispatchPolicy for LastCore {
    fn pick(&mut self, choice: &DispatchChoice<'_>) -> usize {
        self.picks += 1;
        choice.free.iter().rposition(|&free| free > 0).expect("a core has room")
    }

    fn counters(&self) -> Vec<u64> {
        vec![self.picks]
    }
}

/// Registers the plug-ins in this process.
fn installed() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut registry = Registry::new();
        ccws::register(&mut registry);
        reuse::register(&mut registry);
        ship::register(&mut registry);
        stride::register(&mut registry);
        victim::register(&mut registry);
        registry
            .dispatch("last_core", |_: &DispatchSetup| LastCore { picks: 0 })
            .doc("The last core with room.")
            .counter("picks", "workgroups", "Workgroups sent.");
        config::install(registry).expect("the registry is right");
    });
}

/// A small machine with these settings beside.
fn machine(settings: &[&str]) -> Config {
    installed();
    let words: Vec<String> = ["cores=2", "device_memory_bytes=8388608", "core.local_memory_bytes=65536"]
        .iter()
        .chain(settings)
        .map(|word| (*word).to_owned())
        .collect();
    Config::example().with(&words).unwrap_or_else(|errors| panic!("{settings:?}: {}", errors[0]))
}
