//! `wave-sim` with published ideas as plug-ins: a cache-conscious warp scheduler, SHiP replacement, a stride prefetcher, a
//! victim cache, and reuse distances as an observer.

mod ccws;
mod reuse;
mod ship;
mod stride;
mod victim;

use std::process::ExitCode;
use wave_sim::plugin::Registry;

fn main() -> ExitCode {
    let mut registry = Registry::new();
    ccws::register(&mut registry);
    reuse::register(&mut registry);
    ship::register(&mut registry);
    stride::register(&mut registry);
    victim::register(&mut registry);
    wave_sim::main_with(registry)
}
