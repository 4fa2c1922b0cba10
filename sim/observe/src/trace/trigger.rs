//! Triggers: a window of the trace around an event, from some cycles before it to some cycles after.

use super::record::Record;
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use wave_capture::Capture;
use wave_machine::clock::Cycle;

/// The event that opens the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// An instruction at this byte of the code section retires.
    Pc(u32),
    /// The run ends with a fault.
    Fault,
    /// An instruction retires that has waited for one reason for more than this many cycles.
    Stall(Cycle),
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            When::Pc(pc) => write!(f, "pc=0x{pc:04x}"),
            When::Fault => f.write_str("fault"),
            When::Stall(cycles) => write!(f, "stall>{cycles}"),
        }
    }
}

/// A trigger, and how much is kept around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trigger {
    /// The event that fires it.
    pub when: When,
    /// Keeps records that retire at most this many cycles before.
    pub before: Cycle,
    /// Keeps records that retire at most this many cycles after.
    pub after: Cycle,
}

/// Holds records back until the trigger fires, which happens once.
#[derive(Debug, Capture)]
pub(crate) struct Gate {
    #[spec]
    trigger: Trigger,
    /// Records of the last `before` cycles, in order, while the trigger has not fired.
    #[allow(clippy::vec_box)]
    kept: VecDeque<Box<Record>>,
    fired: Option<Cycle>,
}

impl Gate {
    /// A gate whose trigger has not fired.
    pub(crate) fn new(trigger: Trigger) -> Gate {
        Gate { trigger, kept: VecDeque::new(), fired: None }
    }

    /// The cycle in which the trigger fired.
    pub(crate) fn fired(&self) -> Option<Cycle> {
        self.fired
    }

    /// The window, once the trigger has fired.
    pub(crate) fn shown(&self) -> Option<Range<Cycle>> {
        let fired = self.fired?;
        let Trigger { before, after, .. } = self.trigger;
        Some(fired.saturating_sub(before)..fired.saturating_add(after).saturating_add(1))
    }

    /// Length of the window before the trigger, in cycles.
    pub(crate) fn before(&self) -> Cycle {
        self.trigger.before
    }

    /// Drops the records held back when another launch begins, which has code of its own.
    pub(crate) fn forget(&mut self) {
        self.kept.clear();
    }

    /// Tells the gate that the run ends with a fault in this cycle.
    pub(crate) fn fault(&mut self, cycle: Cycle) {
        if self.trigger.when == When::Fault {
            self.fired.get_or_insert(cycle);
        }
    }

    /// Takes the next record in order and writes what may go on: nothing, or all records held back and this
    /// one. Records that will not be needed go to `discard`.
    pub(crate) fn pass(
        &mut self,
        record: Box<Record>,
        mut discard: impl FnMut(Box<Record>),
        mut write: impl FnMut(&Record),
    ) {
        let cycle = record.cycle;
        if self.fired.is_none() && self.fires(&record) {
            self.fired = Some(cycle);
        }
        let earliest = self.fired.unwrap_or(cycle).saturating_sub(self.trigger.before);
        while self.kept.front().is_some_and(|old| old.cycle < earliest) {
            self.kept.pop_front().map(&mut discard);
        }
        let Some(fired) = self.fired else {
            self.kept.push_back(record);
            return;
        };
        for old in self.kept.drain(..) {
            write(&old);
            discard(old);
        }
        if (earliest..=fired.saturating_add(self.trigger.after)).contains(&cycle) {
            write(&record);
        }
        discard(record);
    }

    /// Writes the records held back, if the trigger has fired without a record of its own.
    pub(crate) fn drain(&mut self, mut write: impl FnMut(&Record)) {
        let Some(fired) = self.fired else { return };
        let earliest = fired.saturating_sub(self.trigger.before);
        self.kept.drain(..).filter(|old| old.cycle >= earliest).for_each(|old| write(&old));
    }

    fn fires(&self, record: &Record) -> bool {
        match self.trigger.when {
            When::Pc(pc) => record.pc == pc,
            When::Stall(cycles) => record.stalls.iter().any(|stall| stall.to - stall.from > cycles),
            When::Fault => false,
        }
    }
}
