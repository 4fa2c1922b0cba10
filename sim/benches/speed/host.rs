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

/// The most memory that the process has had resident since [`forget_resident`], bytes; nothing where the system does not
/// tell. Pages that nobody has touched do not count.
pub fn most_resident() -> Option<u64> {
    let status = read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Forgets what the most was.
pub fn forget_resident() {
    // proc(5), clear_refs: 5 sets the peak to what is held now. Where it cannot be written the figure is too high.
    _ = std::fs::write("/proc/self/clear_refs", "5");
}
