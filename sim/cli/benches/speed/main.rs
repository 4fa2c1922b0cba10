//! Speed of the simulator; run it with `scripts/bench.sh [PART...]`. The parts are `emulator`, `functional`,
//! `operations`, `threads`, `trace`, `idle`, `scale`, `start`, `compile`, `debug` and `checkpoint`; without names, all
//! run. Compared figures come from one run of this program and are printed as ratios. Absolute figures depend on the
//! host, which is printed too.

mod checkpoint;
mod compile;
mod debug;
mod emulator;
mod functional;
mod host;
mod idle;
mod operations;
mod run;
mod scale;
mod start;
mod threads;
mod trace;

use peak_alloc::PeakAlloc;

/// Counts allocations.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Name of each part and its function.
const PARTS: [(&str, fn()); 11] = [
    ("emulator", emulator::part),
    ("functional", functional::part),
    ("operations", operations::part),
    ("threads", threads::part),
    ("trace", trace::part),
    ("idle", idle::part),
    ("scale", scale::part),
    ("start", start::part),
    ("compile", compile::part),
    ("debug", debug::part),
    ("checkpoint", checkpoint::part),
];

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if let Some(unknown) = asked.iter().find(|word| !PARTS.iter().any(|(name, _)| name == word)) {
        let names = PARTS.map(|(name, _)| name).join(", ");
        eprintln!(
            "error: there is no part `{unknown}`; the parts are {names}, and `sampled` of scripts/bench.sh"
        );
        std::process::exit(2);
    }
    println!("{}", host::description());
    for (name, part) in PARTS {
        if asked.is_empty() || asked.iter().any(|word| word == name) {
            println!("\n== {name}");
            part();
        }
    }
}
