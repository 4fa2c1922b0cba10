//! Why a kernel takes its time: the causes that cost most, where in the kernel, and what should help against each. The
//! report and `wave-sim explain` both say it from here.
//!
//! A run is watched ([`watch`]: [`profile`], [`stalls`], [`shadow`]); [`account`] makes an account of it, [`rules`] derive
//! the cost of each [`cause`] and changes of the configuration with what they should save, [`candidates`] which changes are
//! worth a trial, and the [`situation`] which advice is true. docs/explain.md has the formulas, and how good they are.
//! [`by_launch`] does the same for each launch of a run.

pub mod account;
pub mod by_launch;
pub mod candidates;
pub mod cause;
pub mod listing;
pub mod network;
pub mod profile;
pub mod rules;
pub mod shadow;
pub mod signs;
pub mod situation;
pub mod stalls;
pub mod watch;
pub mod words;

use crate::config::Config;
use crate::isa::ExecClass;
use crate::stats::SlotUse;
use account::Observed;
use candidates::{Candidate, candidates};
use cause::Cause;
use profile::Line;
use rules::{Change, Cost, changes, costs};
use situation::Situation;
use std::collections::BTreeMap;

/// Causes that are named at most.
const NAMED: usize = 3;
/// Causes that cost a smaller part of the run are not named.
const WORTH_A_NAME: f64 = 0.01;
/// Instructions that are named of a cause.
const PLACES: usize = 3;
/// Instructions with a smaller part of a cause are not named.
const WORTH_NAMING: f64 = 0.05;

/// A cause, what it costs, and what helps.
#[derive(Debug, Clone, PartialEq)]
pub struct Limiter {
    /// The cause.
    pub cause: Cause,
    /// Cycles that it costs.
    pub cycles: f64,
    /// Instructions that it is met at, those first that it is met at most.
    pub places: Vec<Place>,
    /// What the author of the kernel can do in this run.
    pub advice: String,
    /// The change that should save most, of those that the machine can have and, if there is a choice, that are not named
    /// against a dearer cause.
    pub change: Option<Change>,
}

/// An instruction and the part of a cause's cost that is met at it: where results are waited for, at the one that
/// brings them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Index of the kernel in the program.
    pub kernel: usize,
    /// Word of the kernel.
    pub word: u32,
    /// The part, 0 to 1.
    pub share: f64,
}

/// What limits a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Cycles of all launches.
    pub cycles: u64,
    /// Part of the cycles before the releases at the ends in which an average scheduler had no wave. Costs are those of schedulers with waves.
    pub idle: f64,
    /// The dearest causes, the dearest first.
    pub limiters: Vec<Limiter>,
    /// All causes that are parts of waiting for device memory, the dearest first.
    pub device: Vec<Cost>,
    /// Changes that are worth a trial: those of the limiters, then the weightiest first.
    pub candidates: Vec<Candidate>,
    /// What is known of the run that decides which advice is true; none where nothing ran.
    pub situation: Option<Situation>,
}

impl Limits {
    /// Where nothing ran.
    pub const NONE: Limits = Limits {
        cycles: 0,
        idle: 0.0,
        limiters: Vec::new(),
        device: Vec::new(),
        candidates: Vec::new(),
        situation: None,
    };

    /// Of a run that was watched.
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

/// The instructions at which a cause is met most.
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

/// True if waiting for results of a class belongs to a cause.
fn awaits(cause: Cause, class: ExecClass) -> bool {
    match cause {
        Cause::Results(of) => class == of,
        Cause::Local => class == ExecClass::LocalMemory,
        Cause::LoadStore | Cause::L1 | Cause::Interconnect | Cause::L2 | Cause::Dram => {
            class == ExecClass::DeviceMemory
        }
        _ => false,
    }
}

/// Issue slots of an instruction, beside the waiting for results, that belong to a cause.
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
        // A full load/store unit is the end of the queue before one of these.
        Cause::Interconnect | Cause::L2 | Cause::Dram if class == ExecClass::DeviceMemory => {
            slots(SlotUse::Fence) + slots(SlotUse::Lsu)
        }
        Cause::L1 | Cause::Interconnect | Cause::L2 | Cause::Dram => slots(SlotUse::Fence),
        Cause::Squashed | Cause::Operands | Cause::Branch | Cause::Fetch | Cause::Barrier => {
            slots(cause.slot_use())
        }
        _ => 0.0,
    }
}
