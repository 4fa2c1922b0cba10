//! The data of the L1 in banks: complete loads read them one after the other (L7).

use super::banks::Banks;
use crate::clock::{Cycle, NEVER, may_plan};
use crate::config::L1Parameters as Parameters;
use std::collections::VecDeque;
use wave_capture::{Capture, Misfit};

/// Bytes of a bank's word.
const WORD_BYTES: u32 = 4;

/// The banks of an L1's data, and the loads that read them.
#[derive(Debug, Clone, Capture)]
pub(super) struct BankedData {
    #[scratch]
    banks: Banks,
    /// Complete loads of several passes, and those behind them: the cycle of the last pass, and the instruction.
    reading: VecDeque<(Cycle, u16)>,
    /// The first cycle in which the banks are free.
    free_at: Cycle,
}

impl BankedData {
    /// The banks of an L1, if its data are in banks.
    pub(super) fn new(l1: &Parameters) -> Option<BankedData> {
        let banks = (l1.banks > 0).then(|| Banks::new(l1.banks, WORD_BYTES))?;
        Some(BankedData { banks, reading: VecDeque::new(), free_at: 0 })
    }

    /// The banks.
    pub(super) fn banks(&mut self) -> &mut Banks {
        &mut self.banks
    }

    /// A load is complete in cycle `now` and reads the banks for some passes. False if it is through in this cycle.
    pub(super) fn holds_up(&mut self, now: Cycle, instruction: u16, passes: u32) -> bool {
        self.free_at = self.free_at.max(now) + Cycle::from(passes);
        let last = self.free_at - 1;
        if last > now {
            self.reading.push_back((last, instruction));
        }
        last > now
    }

    /// The load whose last pass is over.
    pub(super) fn take(&mut self, now: Cycle) -> Option<u16> {
        let &(last, instruction) = self.reading.front()?;
        if last <= now {
            self.reading.pop_front();
        }
        (last <= now).then_some(instruction)
    }

    /// The cycle of the next load's last pass; [`NEVER`] if there is none.
    pub(super) fn next(&self) -> Cycle {
        self.reading.front().map_or(NEVER, |&(last, _)| last)
    }

    /// The loads that read: the cycle of the last pass, and the instruction.
    pub(super) fn reading(&self) -> &VecDeque<(Cycle, u16)> {
        &self.reading
    }

    /// Refuses passes that no run comes to.
    pub(super) fn check(&self, now: Cycle) -> Result<(), Misfit> {
        let mut lasts = self.reading.iter().map(|&(last, _)| last).chain([self.free_at]);
        Misfit::in_range(lasts.all(|last| may_plan(now, last)), "banked")
    }
}
