//! What a core holds at the end of a cycle, for those who look at it from outside.

use super::account::SlotAccount;
use super::context::Contexts;
use super::cycle::Core;
use super::divergence::Frame;
use super::latches::Act;
use super::lsu::Lsu;
use super::mix::add_lanes;
use super::place::Place;
use super::probe::Level;
use super::report::{WaitsFor, WaveReport};
use super::slot::{InFlight, Slot, SlotMask, lanes_of};
use super::standing::Stand;
use super::uop::Kind;
use super::wait::Wait;
use crate::alu::FRAGMENT_ROWS;
use crate::clock::Cycle;
use crate::memory::state::look_at_core;
use crate::memory::{L1Counters, MemorySystem};
use crate::registry::PlugIn;
use crate::stats::{CoreCounters, SlotUse};
use wave_isa::{MMA_FRAGMENTS, PREDICATES};

/// A resident wave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaveView {
    /// Where it is and what it waits for.
    pub report: WaveReport,
    /// Word of the kernel that it issues next, or that holds it up.
    pub word: u32,
    /// Lanes that exist and have not halted.
    pub live: u64,
    /// Open constructs, outermost first.
    pub frames: Vec<Frame>,
    /// Instructions issued so far.
    pub issued: u64,
    /// The cycle in which it last issued, if it has.
    pub last_issue: Option<Cycle>,
    /// Its instructions between issue and retirement, oldest first.
    pub in_flight: Vec<Flight>,
    /// Why its next instruction has not issued: the first reason that applies, as the issue stage finds it.
    /// [`Wait::Turn`] if there is none; `None` if all its lanes have halted.
    pub wait: Option<Wait>,
    /// Its scheduler.
    pub scheduler: usize,
}

/// An instruction between its issue and its retirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flight {
    /// Position in the wave's issue order.
    pub sequence: u64,
    /// Word of the kernel.
    pub word: u32,
    /// Where it is.
    pub place: Place,
    /// Number of its execution unit in its scheduler. Instructions of the load/store unit have none that counts.
    pub unit: usize,
}

/// A core, for those who look at it from outside.
#[derive(Debug, Clone, Copy)]
pub struct CoreView<'c> {
    core: &'c Core,
}

impl<'c> CoreView<'c> {
    /// What a core holds.
    pub fn of(core: &'c Core) -> CoreView<'c> {
        CoreView { core }
    }

    /// Resident waves at the end of the cycle before `now`, in slot order.
    pub(crate) fn wave_views(self, now: Cycle, contexts: &Contexts) -> Vec<WaveView> {
        self.wave_reports(contexts).into_iter().map(|report| self.wave_view(now, report, contexts)).collect()
    }

    /// The wave in a slot at the end of the cycle before `now`, if there is one.
    pub(crate) fn wave_at(self, slot: Slot, now: Cycle, contexts: &Contexts) -> Option<WaveView> {
        let is_there =
            slot < self.core.shared.waves.waves.len() && self.core.shared.waves.resident >> slot & 1 != 0;
        is_there.then(|| self.wave_view(now, self.wave_report(slot, contexts), contexts))
    }

    fn wave_view(self, now: Cycle, report: WaveReport, contexts: &Contexts) -> WaveView {
        let slot = report.slot;
        let wave = &self.core.shared.waves.waves[slot];
        let mut in_flight = self.flights(now, slot, contexts);
        in_flight.sort_unstable_by_key(|flight| flight.sequence);
        WaveView {
            word: report.pc / wave_isa::WORD_BYTES - contexts.of(wave.context).ops.base,
            live: wave.control.live,
            frames: wave.control.frames().to_vec(),
            issued: wave.issued,
            last_issue: self.core.file.journal.last_issue(slot),
            in_flight,
            wait: self.slots().wait_of(slot),
            scheduler: slot % self.core.schedulers.len(),
            report,
        }
    }

    fn flights(self, now: Cycle, slot: Slot, contexts: &Contexts) -> Vec<Flight> {
        let collectors = self.core.schedulers.iter().flat_map(|scheduler| scheduler.collectors.iter());
        let waiting = collectors.filter(|collector| collector.slot() == slot && !collector.settled);
        let waiting = waiting.map(|collector| (collector.in_flight(), Place::Collector(collector.waiting)));
        let units = self
            .core
            .latches
            .execute_to_write_back
            .iter(now)
            .map(|(cycle, it)| (cycle, *it))
            .filter(|(_, it)| it.slot == slot);
        let units = units.map(|(cycle, it)| (it, Place::Unit(cycle)));
        let accesses = self.core.lsu.under_way(self.core.l1.rejects()).filter(|(it, _)| it.slot == slot);
        let all = waiting.chain(units).chain(accesses);
        let context = self.core.shared.waves.waves[slot].context;
        let unit = |word| self.core.shared.spec.units[contexts.op(context, word).class as usize].unit;
        let flight = |(it, place): (InFlight, Place)| Flight {
            sequence: it.sequence,
            word: it.word,
            place,
            unit: unit(it.word),
        };
        all.map(flight).collect()
    }

    /// Byte addresses of the lines that the L1 has requested for an instruction of a wave, and that have not come.
    pub fn missing_lines(self, slot: Slot, sequence: u64) -> Vec<u64> {
        let Some(instruction) = self.core.lsu.index_of(slot, sequence) else { return Vec::new() };
        self.core.l1.missing_lines(|owner| Lsu::is_owned_by(owner, instruction))
    }

    /// Byte address, in the code space, of the line of code that a wave waits for.
    pub fn missing_code(self, slot: Slot) -> Option<u64> {
        self.core.fetch.missing(slot)
    }

    /// All registers of a wave slot at the end of the cycle before `now`: register r is row r, of as many words as a
    /// wave has lanes.
    pub(crate) fn registers(self, now: Cycle, slot: Slot, contexts: &Contexts) -> Vec<u32> {
        let (wave, width) = (&self.core.shared.waves.waves[slot], self.core.shared.spec.width);
        let rows = contexts.of(wave.context).rows_per_wave();
        let mut rows = self.core.file.registers[wave.first_row * width..][..rows * width].to_vec();
        self.core.file.journal.correct_registers(now, slot, self.core.shared.spec.width, &mut rows);
        rows
    }

    /// Lanes in which each predicate of a wave slot is true, at the end of the cycle before `now`.
    pub fn predicates(self, now: Cycle, slot: Slot) -> [u64; PREDICATES] {
        let mut predicates = self.core.shared.waves.waves[slot].predicates;
        self.core.file.journal.correct_predicates(now, slot, &mut predicates);
        predicates
    }

    /// Matrix fragments of a wave slot at the end of the cycle before `now`: kind (A, B, C), fragment, element, lane.
    /// Empty if the kernel uses none.
    pub fn fragments(self, now: Cycle, slot: Slot) -> Vec<u32> {
        let words = 3 * MMA_FRAGMENTS * FRAGMENT_ROWS * self.core.shared.spec.width;
        let Some(fragments) = self.core.file.fragments.get(slot * words..(slot + 1) * words) else {
            return Vec::new();
        };
        let mut fragments = fragments.to_vec();
        self.core.file.journal.correct_fragments(now, slot * words, &mut fragments);
        fragments
    }

    /// Local memory of the workgroup of a wave slot.
    pub fn local_memory(self, slot: Slot) -> &'c [u8] {
        self.core.local.part_of(self.core.shared.waves.waves[slot].workgroup)
    }

    /// Of every resident wave: its slot, the place of its next instruction in its issue order, and how many have not retired.
    pub fn under_way(self) -> impl Iterator<Item = (usize, u64, u32)> + 'c {
        let waves = self.core.shared.waves.waves.iter().enumerate();
        let resident = waves.filter(|(slot, _)| self.core.shared.waves.resident >> slot & 1 != 0);
        resident.map(|(slot, wave)| (slot, wave.issued, wave.in_flight))
    }

    /// True if no store of the core is on its way, and its L1 holds what it would get from the memory side.
    pub fn agrees_with(self, memory: &MemorySystem) -> bool {
        self.core.shared.waves.releases.stores() == self.core.l1.dirty_lines()
            && self.core.l1.agrees_with(|line| memory.line(line))
    }

    /// Every resident wave, in slot order.
    pub(crate) fn wave_reports(self, contexts: &Contexts) -> Vec<WaveReport> {
        let slots = (0..self.core.shared.waves.waves.len())
            .filter(|slot| self.core.shared.waves.resident >> slot & 1 != 0);
        slots.map(|slot| self.wave_report(slot, contexts)).collect()
    }

    pub(super) fn wave_report(self, slot: usize, contexts: &Contexts) -> WaveReport {
        let waves = &self.core.shared.waves;
        let wave = &waves.waves[slot];
        let has = |mask: u64| mask >> slot & 1 != 0;
        let head = wave.buffer.front();
        // What has issued in the cycle before and acts in the next one belongs to what the wave has done.
        let ended = has(waves.ended) || self.core.latches.issued.to_resolve.of(slot) == Some(Act::End);
        let waits_for = if ended {
            WaitsFor::Flights(wave.in_flight.into())
        } else if has(waves.at_barrier) {
            let live = self.core.shared.workgroups[wave.workgroup].slots & !waves.ended;
            let missing = (0..64).filter(|&s| (live & !waves.at_barrier) >> s & 1 != 0);
            WaitsFor::Barrier(missing.map(|s: usize| waves.waves[s].wave_id).collect())
        } else if has(waves.faulting) {
            WaitsFor::Accesses { own: wave.accesses.into(), stores: 0 }
        } else if has(waves.collecting) {
            WaitsFor::Operands
        } else if head.is_none() {
            WaitsFor::Fetch
        } else if has(waves.draining) {
            let stores = waves.releases.stores().into();
            WaitsFor::Accesses { own: wave.accesses.into(), stores }
        } else if !has(waves.hazard_free) {
            WaitsFor::Result { memory: has(waves.memory_hazard) }
        } else {
            WaitsFor::Turn
        };
        // A barrier, the final `halt` or what faults has left the buffer, so the wave is reported at its last issued word.
        let at_last = ended || has(waves.at_barrier) || has(waves.faulting);
        let word = if at_last {
            wave.last_word
        } else {
            self.core.latches.issued.next_word(slot, &self.core.shared.waves)
        };
        debug_assert!(!has(waves.at_barrier) || contexts.op(wave.context, word).kind == Kind::Barrier);
        WaveReport {
            core: self.core.shared.spec.index,
            slot,
            workgroup: self.core.shared.workgroups[wave.workgroup].id,
            wave: wave.wave_id,
            active: wave.control.active,
            pc: contexts.of(wave.context).ops.pc(word),
            waits_for,
        }
    }

    /// Event counters, and issue slots by use over all schedulers.
    pub fn counted(self) -> (CoreCounters, &'c [u64; SlotUse::COUNT]) {
        let mut counters = self.core.shared.account.counters;
        add_lanes(&self.core.shared.account.lanes, &mut counters);
        (counters, &self.core.shared.account.slots)
    }

    /// Totals of the cycles before `cycle`, up to which the core has run: its counters, its issue slots by
    /// use, the counters of its L1.
    pub fn account(self, cycle: Cycle) -> (CoreCounters, [u64; SlotUse::COUNT], &'c L1Counters) {
        let (mut counters, mut slots) = (self.core.shared.account.counters, self.core.shared.account.slots);
        add_lanes(&self.core.shared.account.lanes, &mut counters);
        counters.cycles = cycle - self.core.shared.account.start;
        let waves = u64::from(self.core.shared.waves.resident.count_ones());
        counters.resident_wave_cycles +=
            cycle.saturating_sub(self.core.shared.account.residents_until) * waves;
        for scheduler in &self.core.schedulers {
            let cycles = cycle - scheduler.charged_until;
            slots[scheduler.waits_for as usize] += cycles * self.core.shared.spec.issue_width as u64;
        }
        (counters, slots, self.core.l1.counters())
    }

    /// Appends to `values` what the load/store unit, the L1 and the port hold at the end of a cycle, in the
    /// order of [`signals`].
    pub fn look(self, cycle: Cycle, values: &mut Vec<u64>) {
        values.extend([self.core.lsu.queued() as u64, self.core.lsu.pending().into()]);
        look_at_core(cycle, &self.core.l1, &self.core.links.port, values);
    }

    /// Adds the used entries of the core's queues and tables to `levels`.
    pub(crate) fn add_levels(self, levels: &mut [u64; Level::COUNT]) {
        levels[Level::L1Mshrs as usize] += self.core.l1.mshrs_in_use() as u64;
        levels[Level::LsuQueue as usize] += self.core.lsu.queued() as u64;
    }

    /// The slots of its waves that have not issued their last instruction.
    fn going_on(self) -> SlotMask {
        let acts = &self.core.latches.issued.to_resolve;
        let live = lanes_of(self.core.shared.waves.resident & !self.core.shared.waves.ended);
        live.filter(|&slot| acts.of(slot) != Some(Act::End)).fold(0, |slots, slot| slots | 1 << slot)
    }

    /// Where its waves stand, without those that have issued their last instruction. The machine has so many `cores`. `None`
    /// if a workgroup is on its way to the core.
    pub(crate) fn stands(self, cores: usize) -> Option<impl Iterator<Item = Stand> + 'c> {
        let going_on = self.going_on();
        let stand = move |slot: Slot| {
            let wave = &self.core.shared.waves.waves[slot];
            let scheduler = usize::from(wave.scheduler);
            let others = going_on & self.core.schedulers[scheduler].slots;
            Stand {
                place: wave.workgroup * cores + self.core.shared.spec.index as usize,
                group: self.core.shared.workgroups[wave.workgroup].id,
                since: self.core.shared.workgroups[wave.workgroup].since,
                wave: wave.wave_id,
                issued: wave.issued,
                word: self.core.latches.issued.next_word(slot, &self.core.shared.waves),
                scheduler: self.core.shared.spec.index as usize * self.core.schedulers.len() + scheduler,
                rank: (self.core.shared.waves.older_than(slot) & others).count_ones() as usize,
            }
        };
        self.core.links.starts.next_arrival().is_none().then(|| lanes_of(going_on).map(stand))
    }

    /// Workgroups in this core: resident ones, those that are to start, and those whose end the dispatcher has yet to
    /// hear of.
    pub(crate) fn workgroups_here(self) -> [usize; 3] {
        let resident = self.core.shared.workgroups.iter().filter(|workgroup| workgroup.resident).count();
        [resident, self.core.links.starts.entries().count(), self.core.links.done.entries().count()]
    }

    /// Values of the counters of the plug-ins in this core.
    pub(crate) fn plug_in_counters(self, add: &mut impl FnMut(&'static PlugIn, Vec<u64>)) {
        for policy in self.core.schedulers.iter().filter_map(|scheduler| scheduler.registered.as_ref()) {
            add(policy.plug_in, policy.ask(|policy| policy.counters()));
        }
        self.core.l1.plug_in_counters(add);
    }

    fn slots(self) -> SlotAccount<'c> {
        let Core { shared, schedulers, latches, .. } = self.core;
        let straight = &latches.issued.to_dispatch;
        SlotAccount { spec: &shared.spec, waves: &shared.waves, schedulers, straight }
    }
}
