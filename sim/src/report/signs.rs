//! What stands out in a kernel whatever it costs: accesses that are scattered, bank conflicts, lanes that are off. Costs
//! follow from these, often somewhere else.

use super::facts::Facts;
use super::text::{integer, percent, short};
use crate::isa::table::Space;
use crate::limits::listing::Instruction;
use crate::observe::figures;

/// Accesses that neighbouring addresses would not need, in a part of the cycles of all cores that is worth telling.
const WORTH_TELLING: f64 = 0.01;
/// So many times as many accesses as neighbouring addresses would need are told.
const MANY: f64 = 1.5;
/// Fewer lanes than this part are told.
const FEW_LANES: f64 = 0.7;
/// Instructions that are named.
const NAMED: usize = 3;

/// Something that stands out.
#[derive(Debug, Clone)]
pub struct Sign {
    /// What it is, and why it costs.
    pub text: String,
    /// Instructions to look at: where they stand in the profile, and what is the matter with them.
    pub instructions: Vec<(String, String)>,
}

/// What stands out, at the first glance.
pub fn signs(facts: &Facts<'_>) -> Vec<Sign> {
    let scattered = excess(facts, Space::Device, "lines").map(|(times, instructions)| Sign {
        text: format!(
            "Device memory instructions touch {times} times as many lines as they would if neighbouring lanes accessed \
             neighbouring addresses. Each line is an access of the L1, and where it is not there a packet to the L2: all that \
             goes this way, code included, waits behind them."
        ),
        instructions,
    });
    let conflicts = excess(facts, Space::Local, "passes over the banks").map(|(times, instructions)| Sign {
        text: format!(
            "Local memory instructions take {times} times as many passes over the banks as they would without bank conflicts: \
             lanes whose addresses differ by a multiple of all banks together want the same one."
        ),
        instructions,
    });
    [scattered, conflicts, few_lanes(facts)].into_iter().flatten().collect()
}

/// How many times as many accesses as are needed instructions take in this memory, and those that take most of them.
fn excess(facts: &Facts<'_>, space: Space, what: &str) -> Option<(String, Vec<(String, String)>)> {
    let (mut taken, mut needed) = (0.0, 0.0);
    let mut wasteful: Vec<(f64, &Instruction, f64, f64)> = Vec::new();
    for i in facts.instructions.iter().filter(|i| i.accesses(space)) {
        let Some((each, least)) = i.lines_each().zip(i.least_lines(facts.config)) else { continue };
        let times = i.line.issues() as f64;
        taken += times * each;
        needed += times * least;
        if each > MANY * least {
            wasteful.push((times * (each - least), i, each, least));
        }
    }
    let cycles = facts.report.cycles as f64 * f64::from(facts.config.cores);
    if taken <= MANY * needed || taken - needed < WORTH_TELLING * cycles {
        return None;
    }
    wasteful.sort_by(|a, b| b.0.total_cmp(&a.0));
    let named = wasteful.iter().take(NAMED).map(|(_, i, each, least)| {
        let (each, least) = (short(*each), short(*least));
        let times = integer(i.line.issues());
        (
            i.anchor(),
            format!(
                "{} ({}): {each} {what} each of {times} times, where {least} would do",
                i.text,
                i.place()
            ),
        )
    });
    Some((short(taken / needed), named.collect()))
}

fn few_lanes(facts: &Facts<'_>) -> Option<Sign> {
    let lanes = figures::SIMD_EFFICIENCY.of(&facts.total()) / 100.0;
    (lanes < FEW_LANES && facts.report.core.wave_instructions > 0).then(|| Sign {
        text: format!(
            "Only {} of the lanes take part in what issues: lanes of a wave go different ways, or have no thread.",
            percent(lanes)
        ),
        instructions: Vec::new(),
    })
}
