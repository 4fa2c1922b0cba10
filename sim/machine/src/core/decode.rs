//! The decode stage: the words of a group become one- and two-word instructions in the buffer of their wave.

use super::context::Contexts;
use super::latches::Groups;
use super::probe::{Event, EventKind, Probe, Stage, StageEvent};
use super::shared::Shared;
use super::slot::SlotMask;
use crate::clock::Cycle;

/// The decode stage.
pub(super) struct Decode<'c> {
    pub shared: &'c mut Shared,
    /// From fetch.
    pub groups: &'c mut Groups,
}

impl Decode<'_> {
    /// Groups that arrive in this cycle enter the instruction buffers.
    pub(super) fn tick<P: Probe>(&mut self, now: Cycle, contexts: &Contexts, probe: &mut P) {
        let Shared { spec, waves, account, .. } = &mut *self.shared;
        while let Some(group) = self.groups.take(now) {
            if group.discarded {
                account.counters.fetches_discarded += 1;
                continue;
            }
            let bit: SlotMask = 1 << group.slot;
            waves.fetching &= !bit;
            let wave = &mut waves.waves[group.slot];
            let (context, was_empty) = (wave.context, wave.buffer.is_empty());
            let mut push = |word| {
                wave.buffer.push(word);
                let (core, slot) = (spec.index, group.slot);
                let decoded = StageEvent { cycle: now, core, slot, sequence: 0, word, stage: Stage::Decode };
                probe.tell(EventKind::Stage, || Event::Stage(decoded));
            };
            if group.words == 0 {
                // The end mark takes a buffer entry, like an instruction (F5).
                push(group.first);
                waves.fetched_end |= bit;
            }
            let end = group.first + group.words;
            let mut word = group.first;
            if wave.straddling {
                push(word - 1);
                wave.straddling = false;
                word += 1;
            }
            while word < end {
                let next = word + contexts.op(context, word).words;
                if next > end {
                    wave.straddling = true;
                    break;
                }
                push(word);
                word = next;
            }
            waves.buffer_grows(group.slot);
            if was_empty {
                waves.refresh(group.slot, contexts);
            }
        }
    }
}
