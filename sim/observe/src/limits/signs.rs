//! Conspicuous properties of a kernel, reported whatever they cost: scattered accesses, bank conflicts,
//! inactive lanes. Their costs often appear in other places.

use super::listing::{Instruction, MANY};
use crate::figures::{self, Total};
use crate::numbers::{integer, percent, short};
use wave_isa::table::Space;
use wave_machine::config::Config;
use wave_machine::gpu::KernelReport;

/// Excess accesses are reported if they take at least this fraction of the cycles of all cores.
const WORTH_TELLING: f64 = 0.01;
/// Lane use below this fraction is reported.
const FEW_LANES: f64 = 0.7;
/// Most instructions named per sign.
const NAMED: usize = 3;

/// A conspicuous property.
#[derive(Debug, Clone)]
pub struct Sign<'i> {
    /// Description, and why it costs time.
    pub text: String,
    /// Instructions to look at, each with its finding.
    pub instructions: Vec<(&'i Instruction, String)>,
}

/// The signs of a run. `unfilled` are the launches that leave cores without a workgroup, in words, if there are.
pub fn signs<'i>(
    config: &Config,
    report: &KernelReport,
    instructions: &'i [Instruction],
    unfilled: Option<&str>,
) -> Vec<Sign<'i>> {
    let few_workgroups = unfilled.map(|how| Sign {
        text: format!("The machine is not filled: {how}. More data, or smaller workgroups, use all cores."),
        instructions: Vec::new(),
    });
    let excess = |space, what| excess(config, report, instructions, space, what);
    let scattered = excess(Space::Device, "lines").map(|(times, instructions)| Sign {
        text: format!(
            "Device memory instructions touch {times} as they would if neighbouring lanes accessed \
             neighbouring addresses. Each line is an access of the L1, and where it is not there a packet to the L2: all that \
             goes this way, code included, waits behind them."
        ),
        instructions,
    });
    let conflicts = excess(Space::Local, "passes over the banks").map(|(times, instructions)| Sign {
        text: format!(
            "Local memory instructions take {times} as they would without bank conflicts: \
             lanes whose addresses differ by a multiple of all banks together want the same one."
        ),
        instructions,
    });
    [few_workgroups, scattered, conflicts, few_lanes(config, report)].into_iter().flatten().collect()
}

/// Ratio of accesses made to accesses needed in this memory, as text, and the instructions with the largest
/// excess. None if the ratio or the excess is small.
fn excess<'i>(
    config: &Config,
    report: &KernelReport,
    instructions: &'i [Instruction],
    space: Space,
    what: &str,
) -> Option<(String, Vec<(&'i Instruction, String)>)> {
    let (mut taken, mut needed) = (0.0, 0.0);
    let mut wasteful: Vec<(f64, &Instruction, f64, f64)> = Vec::new();
    for i in instructions.iter().filter(|i| i.accesses(space)) {
        let Some((each, least)) = i.lines_each().zip(i.least_lines(config)) else { continue };
        let times = i.line.issues() as f64;
        taken += times * each;
        needed += times * least;
        if i.scattered(config).is_some() {
            wasteful.push((times * (each - least), i, each, least));
        }
    }
    let cycles = report.cycles as f64 * f64::from(config.cores);
    if taken <= MANY * needed || taken - needed < WORTH_TELLING * cycles {
        return None;
    }
    wasteful.sort_by(|a, b| b.0.total_cmp(&a.0));
    let named = wasteful.into_iter().take(NAMED).map(|(_, i, each, least)| {
        let (least, times) = (short(least), integer(i.line.issues()));
        let used = i.bytes_of_line(config).map_or(String::new(), |bytes| format!("; {bytes} are used"));
        let lines = format!("{} {what} each of {times} times, where {least} would do{used}", short(each));
        (i, format!("{} ({}): {lines}", i.text, i.place()))
    });
    Some((format!("{} times as many {what}", short(taken / needed)), named.collect()))
}

fn few_lanes<'i>(config: &Config, report: &KernelReport) -> Option<Sign<'i>> {
    let lanes = figures::SIMD_EFFICIENCY.of(&Total { config, report }) / 100.0;
    (lanes < FEW_LANES && report.core.wave_instructions > 0).then(|| Sign {
        text: format!(
            "Only {} of the lanes take part in what issues: lanes of a wave go different ways, or have no thread.",
            percent(lanes)
        ),
        instructions: Vec::new(),
    })
}
