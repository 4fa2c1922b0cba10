//! The part of a run that a report is about.

use std::ops::Range;
use wave_machine::clock::Cycle;
use wave_machine::memory::{DramCounters, L2Counters, LinkCounters, MemorySystem};
use wave_observe::numbers::integer;
use wave_observe::trace::{Trigger, When};

/// The part of a run that a report covers, in cycles of the machine as in traces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The cycles.
    pub cycles: Range<Cycle>,
    /// True if the user selected waves. This limits the pipeline view only; figures count all waves, which
    /// share the machine.
    pub of_waves: bool,
    /// The trigger that the cycles lie around, and the cycle in which it fired.
    pub around: Option<(When, Cycle)>,
}

impl Scope {
    /// The whole run.
    pub const WHOLE: Scope = Scope { cycles: 0..Cycle::MAX, of_waves: false, around: None };

    /// Restricts the scope to the cycles around a trigger that fired in cycle `fired`.
    pub fn around(mut self, trigger: &Trigger, fired: Cycle) -> Scope {
        let Range { start, end } = self.cycles;
        self.cycles = start.max(fired.saturating_sub(trigger.before))
            ..end.min(fired.saturating_add(trigger.after).saturating_add(1));
        self.around = Some((trigger.when, fired));
        self
    }

    /// True if the figures cover the whole run.
    pub(crate) fn is_whole(&self) -> bool {
        self.cycles == Scope::WHOLE.cycles
    }

    /// True if the user selected cycles or waves.
    pub fn is_chosen(&self) -> bool {
        *self != Scope::WHOLE
    }

    /// Explanation of a scope around a trigger, in words.
    pub fn reason(&self) -> Option<String> {
        let (when, fired) = self.around?;
        Some(format!("around cycle {}, in which {when} happened for the first time", integer(fired)))
    }
}

/// Counters of each part of the memory side.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    /// Slices of the L2.
    pub slices: Vec<L2Counters>,
    /// Memory channels.
    pub channels: Vec<DramCounters>,
    /// Links between routers.
    pub links: Vec<LinkCounters>,
}

impl Parts {
    /// Counts up to now.
    pub fn of(memory: &MemorySystem) -> Parts {
        Parts {
            slices: memory.slice_counters().copied().collect(),
            channels: memory.channel_counters().copied().collect(),
            links: memory.links(),
        }
    }

    /// Counts since `before`.
    pub fn since(mut self, before: &Parts) -> Parts {
        self.slices.iter_mut().zip(&before.slices).for_each(|(now, before)| *now = now.since(before));
        self.channels.iter_mut().zip(&before.channels).for_each(|(now, before)| *now = now.since(before));
        self.links.iter_mut().zip(&before.links).for_each(|(now, before)| *now = now.since(before));
        self
    }
}
