//! Whether the host has the memory that a run needs. A run that would end without a word, by an allocation that fails or by
//! the kernel of the host, is refused in words before it begins.

use std::fmt;
use std::fs;
use std::path::Path;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::Config;
use wave_machine::gpu::Footprint;

/// Parts of a machine that a message names.
const NAMED: usize = 3;
/// What a process takes beside the machine.
const PROCESS_BYTES: u64 = 32 << 20;

/// Memory that this process can still get, and what limits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Available {
    bytes: u64,
    limit: &'static str,
}

/// Bytes in the unit of a reader.
struct Amount(u64);

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes @ 0..0x4000_0000 => write!(f, "{} MiB", bytes.div_ceil(1 << 20)),
            bytes => write!(f, "{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
        }
    }
}

/// Refuses a run on a machine with this much device memory if the host lacks memory for it. `copies`: how often the run
/// holds device memory beside the machine, and its whole state.
///
/// # Errors
/// What the machine needs, and what there is.
pub(crate) fn check(config: &Config, device_memory: u64, copies: Copies) -> Result<(), Diagnostic> {
    available().map_or(Ok(()), |available| compare(config, device_memory, copies, available))
}

/// What a run holds beside the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Copies {
    /// Images of device memory.
    pub images: u64,
    /// States of the machine, as bytes: of a checkpoint.
    pub states: u64,
}

fn compare(
    config: &Config,
    device_memory: u64,
    copies: Copies,
    available: Available,
) -> Result<(), Diagnostic> {
    let footprint = Footprint::of(config, device_memory, false);
    let machine = footprint.bytes();
    let beside =
        copies.images.saturating_mul(device_memory).saturating_add(copies.states.saturating_mul(machine));
    let needed = machine.saturating_add(beside).saturating_add(PROCESS_BYTES);
    if needed <= available.bytes {
        return Ok(());
    }
    let mut parts = footprint.parts;
    if beside > 0 {
        parts.push(("copies of its state", beside));
    }
    parts.sort_by_key(|&(_, bytes)| std::cmp::Reverse(bytes));
    let parts: Vec<String> =
        parts.iter().take(NAMED).map(|(name, bytes)| format!("{name} {}", Amount(*bytes))).collect();
    let message = format!(
        "the run needs about {} of memory ({}), and {} are available ({})",
        Amount(needed),
        parts.join(", "),
        Amount(available.bytes),
        available.limit
    );
    Err(Diagnostic::error(message).hint("a smaller machine or less --device-memory needs less"))
}

/// In a few words, for a process that died: how much the host has.
pub(crate) fn there_is() -> String {
    available().map_or_else(String::new, |Available { bytes, limit }| {
        format!("; {} are available now ({limit})", Amount(bytes))
    })
}

/// The least of what the limits of this process, its control group and the host leave. `None` if the host does not say.
fn available() -> Option<Available> {
    let read = |path: &str| fs::read_to_string(path).ok();
    let limits = [
        read("/proc/self/limits").zip(read("/proc/self/status")).and_then(|(limits, status)| {
            let bytes = of_address_space(&limits, &status)?;
            Some(Available { bytes, limit: "the limit of address space, ulimit -v" })
        }),
        read("/proc/self/cgroup").and_then(|groups| {
            let bytes = of_groups(&groups, Path::new("/sys/fs/cgroup"))?;
            Some(Available { bytes, limit: "the limit of the control group" })
        }),
        read("/proc/meminfo").and_then(|host| {
            let bytes = kilobytes(&host, "MemAvailable:")? + kilobytes(&host, "SwapFree:").unwrap_or(0);
            Some(Available { bytes, limit: "free memory of the host" })
        }),
    ];
    limits.into_iter().flatten().min_by_key(|available| available.bytes)
}

/// The number of kilobytes behind a name, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// What `ulimit -v` leaves; `None` without a limit.
fn of_address_space(limits: &str, status: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(kilobytes(status, "VmSize:")?))
}

/// What the control groups of a process leave, of version 2 or 1; `None` without a limit.
fn of_groups(groups: &str, root: &Path) -> Option<u64> {
    let number = |path: &Path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let mut left: Option<u64> = None;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else { continue };
        let (root, limit, used) = match controllers {
            "" => (root.to_path_buf(), "memory.max", "memory.current"),
            one if one.split(',').any(|name| name == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes", "memory.usage_in_bytes")
            }
            _ => continue,
        };
        // A group is limited by those around it too. In a container, the root of the hierarchy is the group.
        let mut folder = root.join(group.trim_start_matches('/'));
        while folder.starts_with(&root) {
            if let (Some(limit), Some(used)) = (number(&folder.join(limit)), number(&folder.join(used))) {
                // Files that are cached leave when memory is wanted.
                let statistics = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
                let cached =
                    statistics.lines().find_map(|line| line.strip_prefix("inactive_file ")?.parse().ok());
                let rest = limit.saturating_sub(used.saturating_sub(cached.unwrap_or(0)));
                left = Some(left.map_or(rest, |left| left.min(rest)));
            }
            if !folder.pop() {
                break;
            }
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_address_space_leaves_what_is_not_taken() {
        let limits = "Limit   Soft Limit  Hard Limit  Units\nMax address space         1048576000           unlimited            bytes\n";
        let status = "Name:\tx\nVmPeak:\t   9999 kB\nVmSize:\t   1000 kB\n";
        assert_eq!(of_address_space(limits, status), Some(1_048_576_000 - 1_024_000));
        let without = "Max address space         unlimited            unlimited            bytes\n";
        assert_eq!(of_address_space(without, status), None);
    }

    #[test]
    fn the_tightest_control_group_counts() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        assert_eq!(of_groups("0::/job/step\n", folder.path()), None);
        put("job/step/memory.max", "max\n");
        put("job/step/memory.current", "400\n");
        assert_eq!(of_groups("0::/job/step\n", folder.path()), None);
        put("job/memory.max", "1000\n");
        put("job/memory.current", "500\n");
        put("job/memory.stat", "anon 300\ninactive_file 200\n");
        assert_eq!(of_groups("0::/job/step\n", folder.path()), Some(700));
        put("memory/old/memory.limit_in_bytes", "600\n");
        put("memory/old/memory.usage_in_bytes", "100\n");
        assert_eq!(of_groups("5:cpu:/x\n4:memory:/old\n", folder.path()), Some(500));
    }

    #[test]
    fn a_run_that_does_not_fit_is_refused_with_what_it_needs() {
        let config = Config::example();
        let available = |bytes| Available { bytes, limit: "a limit" };
        let compare = |bytes, copies| compare(&config, 64 << 20, copies, available(bytes));
        let needed = Footprint::of(&config, 64 << 20, false).bytes() + PROCESS_BYTES;
        assert_eq!(compare(needed, Copies::default()), Ok(()));
        let error = compare(needed - 1, Copies::default()).unwrap_err();
        assert!(error.message.contains("device memory 65 MiB"), "{}", error.message);
        assert!(error.message.ends_with("are available (a limit)"), "{}", error.message);
        assert!(compare(needed, Copies { images: 1, states: 0 }).is_err());
        assert!(compare(needed, Copies { images: 0, states: 1 }).is_err());
    }
}
