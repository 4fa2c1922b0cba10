//! The machine that the benchmarks run on.

use std::fs::read_to_string;
use std::thread::available_parallelism;

/// Processor, how many there are, and the system, in one line.
pub fn description() -> String {
    let info = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": unknown processor");
    let count = available_parallelism().map_or(1, usize::from);
    let release = read_to_string("/etc/os-release").unwrap_or_default();
    let system =
        release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=")).unwrap_or("unknown system");
    let model = model.trim_start_matches([' ', '\t', ':']);
    format!("host: {model}, {count} processors, {}", system.trim_matches('"'))
}
