//! The host of the benchmarks.

use std::fs::read_to_string;
use std::thread::available_parallelism;

/// Processor, number of processors and operating system, in one line.
pub(crate) fn description() -> String {
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

/// Peak resident memory of the process since [`forget_resident`] in bytes. None if the system does not report
/// it. Untouched pages do not count.
pub(crate) fn most_resident() -> Option<u64> {
    let status = read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Time that a processor has spent on this thread, in nanoseconds. None if the system does not report it.
pub(crate) fn thread_nanoseconds() -> Option<u64> {
    read_to_string("/proc/thread-self/schedstat").ok()?.split_whitespace().next()?.parse().ok()
}

/// Resets the peak.
pub(crate) fn forget_resident() {
    // proc(5), clear_refs: 5 resets the peak to the current value. If this fails, the figure is too high.
    _ = std::fs::write("/proc/self/clear_refs", "5");
}
