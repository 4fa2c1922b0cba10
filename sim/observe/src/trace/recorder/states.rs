//! Changes of the machine's signals, cycle by cycle, within the window of the trace.

use super::super::trigger::Gate;
use std::collections::VecDeque;
use std::ops::Range;
use wave_machine::clock::Cycle;

/// A change: from this cycle on, the signal with this number has this value.
type Change = (Cycle, usize, u64);

/// Finds changes and holds them back until a trigger fires. Outside of the window every signal is 0.
#[derive(Debug, Default)]
pub(super) struct States {
    seen: Vec<u64>,
    /// Changes of the last cycles while the trigger has not fired, and the values before them.
    held: VecDeque<Change>,
    before: Vec<u64>,
}

impl States {
    /// Takes the values at the end of a cycle and reports the changes.
    pub(super) fn see(
        &mut self,
        cycle: Cycle,
        values: &[u64],
        window: &Range<Cycle>,
        gate: Option<&Gate>,
        mut change: impl FnMut(Change),
    ) {
        self.seen.resize(values.len(), 0);
        self.before.resize(values.len(), 0);
        let shown = gate.and_then(Gate::shown);
        let within = window.contains(&cycle) && shown.as_ref().is_none_or(|shown| shown.contains(&cycle));
        let held = gate.is_some() && shown.is_none();
        for (n, (seen, &value)) in self.seen.iter_mut().zip(values).enumerate() {
            let value = if within { value } else { 0 };
            if *seen == value {
                continue;
            }
            *seen = value;
            if held { self.held.push_back((cycle, n, value)) } else { change((cycle, n, value)) }
        }
        if held {
            let first = cycle.saturating_sub(gate.map_or(0, Gate::before));
            while let Some(&(at, n, value)) = self.held.front()
                && at < first
            {
                self.before[n] = value;
                self.held.pop_front();
            }
        }
    }

    /// Reports what was held back for a trigger, once it has fired.
    pub(super) fn release(&mut self, gate: Option<&Gate>, mut change: impl FnMut(Change)) {
        let Some(shown) = gate.and_then(Gate::shown) else { return };
        while let Some(&(at, n, value)) = self.held.front()
            && at < shown.start
        {
            self.before[n] = value;
            self.held.pop_front();
        }
        for (n, value) in self.before.iter_mut().enumerate().filter(|(_, value)| **value != 0) {
            change((shown.start, n, std::mem::take(value)));
        }
        self.held.drain(..).for_each(change);
    }

    /// Drops what was held back when another launch begins.
    pub(crate) fn forget(&mut self) {
        self.held.clear();
        self.before.fill(0);
        self.seen.fill(0);
    }
}
