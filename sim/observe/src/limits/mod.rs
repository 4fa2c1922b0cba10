//! Limits of a kernel: the most expensive causes, where they occur in the kernel, and what should help. Used
//! by the report and `wave-sim explain`.
//!
//! [`watch`] observes a run with [`profile`], [`stalls`] and [`shadow`]. [`account`] sums up its cycles.
//! [`rules`] derives the cost of each [`cause`] and predicts the savings of configuration changes.
//! [`candidates`] selects changes that are worth a trial, and [`situation`] the advice that applies.
//! [`by_launch`] does the same for each launch. docs/explain.md has the formulas and their accuracy.

pub mod account;
pub mod by_launch;
pub mod candidates;
pub mod cause;
pub mod listing;
pub(crate) mod network;
pub mod profile;
pub(crate) mod rules;
pub(crate) mod shadow;
pub mod signs;
pub mod situation;
pub(crate) mod stalls;
pub mod watch;
pub mod words;

use account::Observed;
use candidates::{Candidate, candidates};
use cause::Cause;
use profile::Line;
use rules::{Change, Cost, changes, costs};
use situation::Situation;
use std::collections::BTreeMap;
use wave_isa::ExecClass;
use wave_machine::config::Config;
use wave_machine::stats::SlotUse;

/// Maximum number of causes reported.
const NAMED: usize = 3;
/// Smallest fraction of the run for which a cause is reported.
const WORTH_A_NAME: f64 = 0.01;
/// Maximum number of instructions reported per cause.
const PLACES: usize = 3;
/// Smallest fraction of a cause for which an instruction is reported.
const WORTH_NAMING: f64 = 0.05;

/// A cause with its cost and remedies.
#[derive(Debug, Clone, PartialEq)]
pub struct Limiter {
    /// The cause.
    pub cause: Cause,
    /// Cost in cycles.
    pub cycles: f64,
    /// Instructions at which it occurs, the most affected first.
    pub places: Vec<Place>,
    /// Advice for the author of the kernel, valid for this run.
    pub advice: String,
    /// The change with the largest predicted saving. It is valid for the machine and, if possible, not
    /// suggested for a more expensive cause already.
    pub change: Option<Change>,
}

/// An instruction with its fraction of a cause's cost. A wait for a result counts at the instruction that
/// produces it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Index of the kernel in the program.
    pub kernel: usize,
    /// Word of the kernel.
    pub word: u32,
    /// The fraction, 0 to 1.
    pub share: f64,
}

/// What limits a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Cycles of all launches.
    pub cycles: u64,
    /// Fraction of the cycles, without releases, in which an average scheduler had no wave. Costs are those
    /// of schedulers with waves.
    pub idle: f64,
    /// The most expensive causes, largest first.
    pub limiters: Vec<Limiter>,
    /// All causes that are parts of waiting for device memory, largest first.
    pub device: Vec<Cost>,
    /// Changes worth a trial: those of the limiters, then the others by weight.
    pub candidates: Vec<Candidate>,
    /// Facts of the run that decide which advice applies. None if nothing ran.
    pub situation: Option<Situation>,
}

impl Limits {
    /// The limits of an empty run.
    pub const NONE: Limits = Limits {
        cycles: 0,
        idle: 0.0,
        limiters: Vec::new(),
        device: Vec::new(),
        candidates: Vec::new(),
        situation: None,
    };

    /// The limits of a watched run.
    pub fn of(observed: &Observed<'_>) -> Limits {
        let account = observed.account();
        let mut possible = changes(observed, &account);
        possible.sort_by(|a, b| b.predicted.total_cmp(&a.predicted));
        possible.retain(|change| observed.config.with(&change.settings).is_ok());
        let costs = costs(observed, &account);
        let situation = Situation::of(observed, &account.bounds, account.cycles);
        let mut limiters: Vec<Limiter> = Vec::new();
        let least = WORTH_A_NAME * observed.report.cycles as f64;
        for &Cost { cause, cycles } in costs.iter().take(NAMED).filter(|cost| cost.cycles >= least) {
            let named = |change: &&Change| {
                let others = limiters.iter().filter_map(|limiter| limiter.change.as_ref());
                others.map(|other| &other.settings).any(|settings| *settings == change.settings)
            };
            let against = || possible.iter().filter(|change| change.cause == cause);
            let change = against().find(|change| !named(change)).or_else(|| against().next()).cloned();
            let (places, advice) = (places(observed, cause), situation.advice(cause));
            limiters.push(Limiter { cause, cycles, places, advice, change });
        }
        let mut candidates = candidates(observed, &account, &costs, &possible);
        let named = |candidate: &Candidate| {
            let changes = limiters.iter().filter_map(|limiter| limiter.change.as_ref());
            changes.map(|change| &change.settings).any(|settings| *settings == candidate.settings)
        };
        candidates.sort_by_key(|candidate| !named(candidate));
        let device = costs.into_iter().filter(|cost| awaits(cost.cause, ExecClass::DeviceMemory)).collect();
        let (cycles, idle, situation) = (observed.report.cycles, observed.idle(), Some(situation));
        Limits { cycles, idle, limiters, device, candidates, situation }
    }
}

/// The instructions most affected by a cause.
fn places(observed: &Observed<'_>, cause: Cause) -> Vec<Place> {
    let mut slots: BTreeMap<(usize, u32), f64> = BTreeMap::new();
    for (kernel, profile) in observed.watch.profiler.profiles().iter().enumerate() {
        let mut add = |word: u32, n: f64| *slots.entry((kernel, word)).or_default() += n;
        for (&(_, producer), &n) in &profile.waits {
            let class = profile.lines[producer as usize].class;
            if class.is_some_and(|class| awaits(cause, class)) {
                add(producer, n as f64);
            }
        }
        for (word, line) in profile.lines.iter().enumerate() {
            add(word as u32, kept(observed.config, cause, line));
        }
    }
    let all: f64 = slots.values().sum();
    let mut places: Vec<Place> = slots
        .into_iter()
        .map(|((kernel, word), slots)| Place { kernel, word, share: slots / all.max(1.0) })
        .filter(|place| place.share >= WORTH_NAMING)
        .collect();
    places.sort_by(|a, b| b.share.total_cmp(&a.share));
    places.truncate(PLACES);
    places
}

/// True if waits for results of this class count towards the cause.
fn awaits(cause: Cause, class: ExecClass) -> bool {
    match cause {
        Cause::Results(of) => class == of,
        Cause::Local => class == ExecClass::LocalMemory,
        Cause::LoadStore | Cause::L1 | Cause::Interconnect | Cause::L2 | Cause::L3 | Cause::Dram => {
            class == ExecClass::DeviceMemory
        }
        _ => false,
    }
}

/// Lost issue slots of an instruction that count towards a cause, except waits for results.
fn kept(config: &Config, cause: Cause, line: &Line) -> f64 {
    let slots = |slot_use: SlotUse| line.slots[slot_use as usize] as f64;
    let Some(class) = line.class else { return 0.0 };
    match cause {
        Cause::Unit(unit) => {
            let serves = config.core.units[unit].classes.iter().any(|timing| timing.class == class);
            if serves { slots(SlotUse::Unit) * (1.0 - line.port_share()) } else { 0.0 }
        }
        Cause::WritePorts => slots(SlotUse::Unit) * line.port_share(),
        Cause::Local if class == ExecClass::LocalMemory => slots(SlotUse::Lsu),
        Cause::LoadStore if class == ExecClass::DeviceMemory => slots(SlotUse::Lsu),
        // A full load/store unit is the tail of a queue before one of these.
        Cause::Interconnect | Cause::L2 | Cause::L3 | Cause::Dram if class == ExecClass::DeviceMemory => {
            slots(SlotUse::Fence) + slots(SlotUse::Lsu)
        }
        Cause::L1 | Cause::Interconnect | Cause::L2 | Cause::L3 | Cause::Dram => slots(SlotUse::Fence),
        Cause::Squashed | Cause::Operands | Cause::Branch | Cause::Fetch | Cause::Barrier => {
            slots(cause.slot_use())
        }
        _ => 0.0,
    }
}
