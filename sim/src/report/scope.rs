//! The part of a run that a report is about.

use crate::clock::Cycle;
use crate::memory::{DramCounters, L2Counters, LinkCounters, MemorySystem};
use crate::observe::numbers::integer;
use crate::trace::{Trigger, When};
use std::ops::Range;

/// The part of a run that a report is about: cycles of the machine, as traces have them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The cycles.
    pub cycles: Range<Cycle>,
    /// The pipeline view shows some waves only. Figures are those of all waves: they share what is counted.
    pub of_waves: bool,
    /// What the cycles lie around, and when it happened.
    pub around: Option<(When, Cycle)>,
}

impl Scope {
    /// The whole run.
    pub const WHOLE: Scope = Scope { cycles: 0..Cycle::MAX, of_waves: false, around: None };

    /// The part of these cycles that lies around a trigger, which has fired in a cycle.
    pub fn around(mut self, trigger: &Trigger, fired: Cycle) -> Scope {
        let Range { start, end } = self.cycles;
        self.cycles = start.max(fired.saturating_sub(trigger.before))
            ..end.min(fired.saturating_add(trigger.after).saturating_add(1));
        self.around = Some((trigger.when, fired));
        self
    }

    /// True if figures are those of the whole run.
    pub fn is_whole(&self) -> bool {
        self.cycles == Scope::WHOLE.cycles
    }

    /// True if the user has named what the pipeline view shows.
    pub fn is_chosen(&self) -> bool {
        *self != Scope::WHOLE
    }

    /// Why it is these cycles, in words.
    pub fn reason(&self) -> Option<String> {
        let (when, fired) = self.around?;
        Some(format!("around cycle {}, in which {when} happened for the first time", integer(fired)))
    }
}

/// What each part of the memory side did since it was made.
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
    /// Up to now.
    pub fn of(memory: &MemorySystem) -> Parts {
        Parts {
            slices: memory.slice_counters().copied().collect(),
            channels: memory.channel_counters().copied().collect(),
            links: memory.links(),
        }
    }

    /// What they did since `before`.
    pub fn since(mut self, before: &Parts) -> Parts {
        self.slices.iter_mut().zip(&before.slices).for_each(|(now, before)| *now = now.since(before));
        self.channels.iter_mut().zip(&before.channels).for_each(|(now, before)| *now = now.since(before));
        self.links.iter_mut().zip(&before.links).for_each(|(now, before)| *now = now.since(before));
        self
    }
}
