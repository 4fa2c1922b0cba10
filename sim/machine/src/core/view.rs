//! What a core holds at the end of a cycle, for those who look at it from outside.

use super::Core;
use super::collector::Waiting;
use super::divergence::Frame;
use super::lsu::Lsu;
use super::report::WaveReport;
use super::uop::MicroOps;
use super::wait::Wait;
use super::wave::{InFlight, Slot};
use crate::alu::FRAGMENT_ROWS;
use crate::clock::Cycle;
use crate::memory::Reject;
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

/// Where an instruction in flight is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In an operand collector, and what it waits for.
    Collector(Waiting),
    /// In an execution unit; it retires in this cycle.
    Unit(Cycle),
    /// In the queue of the load/store unit, behind so many others.
    Queue(usize),
    /// Its passes over the banks of local memory go on up to this cycle.
    LocalBanks(Cycle),
    /// Local memory brings its values in this cycle.
    LocalResult(Cycle),
    /// In device memory: of `lines` line accesses the L1 has taken `sent`, and has not answered `outstanding` of a
    /// load or returning atomic.
    Lines {
        /// Line accesses that the L1 has taken.
        sent: usize,
        /// Line accesses of the instruction.
        lines: usize,
        /// Taken and not answered.
        outstanding: u32,
        /// Why the next one does not go on, if it does not.
        held: Option<Refused>,
    },
    /// Its values have come and wait to be written.
    Return,
}

/// Why a line access does not go to the L1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The load/store unit has as many loads outstanding as it can.
    Pending,
    /// The L1 has rejected it, for this reason.
    L1(Reject),
}

impl Core {
    /// Resident waves at the end of the cycle before `now`, in slot order.
    pub(crate) fn wave_views(&self, now: Cycle, ops: &MicroOps) -> Vec<WaveView> {
        self.wave_reports(ops).into_iter().map(|report| self.wave_view(now, report, ops)).collect()
    }

    /// The wave in a slot at the end of the cycle before `now`, if there is one.
    pub fn wave_at(&self, slot: Slot, now: Cycle, ops: &MicroOps) -> Option<WaveView> {
        let is_there = slot < self.waves.waves.len() && self.waves.resident >> slot & 1 != 0;
        is_there.then(|| self.wave_view(now, self.wave_report(slot, ops), ops))
    }

    fn wave_view(&self, now: Cycle, report: WaveReport, ops: &MicroOps) -> WaveView {
        let slot = report.slot;
        let wave = &self.waves.waves[slot];
        let mut in_flight = self.flights(now, slot, ops);
        in_flight.sort_unstable_by_key(|flight| flight.sequence);
        WaveView {
            word: report.pc / wave_isa::WORD_BYTES - ops.base,
            live: wave.control.live,
            frames: wave.control.frames().to_vec(),
            issued: wave.issued,
            last_issue: self.file.journal.last_issue(slot),
            in_flight,
            wait: self.wait_of(slot),
            scheduler: slot % self.schedulers.len(),
            report,
        }
    }

    fn flights(&self, now: Cycle, slot: Slot, ops: &MicroOps) -> Vec<Flight> {
        let collectors = self.schedulers.iter().flat_map(|scheduler| scheduler.collectors.iter());
        let waiting = collectors.filter(|collector| collector.slot() == slot && !collector.settled);
        let waiting = waiting.map(|collector| (collector.in_flight(), Place::Collector(collector.waiting)));
        let units = self
            .latches
            .execute_to_write_back
            .iter(now)
            .map(|(cycle, it)| (cycle, *it))
            .filter(|(_, it)| it.slot == slot);
        let units = units.map(|(cycle, it)| (it, Place::Unit(cycle)));
        let accesses = self.lsu.under_way(self.l1.rejects()).filter(|(it, _)| it.slot == slot);
        let all = waiting.chain(units).chain(accesses);
        let unit = |word| self.spec.units[ops.get(word).class as usize].unit;
        let flight = |(it, place): (InFlight, Place)| Flight {
            sequence: it.sequence,
            word: it.word,
            place,
            unit: unit(it.word),
        };
        all.map(flight).collect()
    }

    /// Byte addresses of the lines that the L1 has requested for an instruction of a wave, and that have not come.
    pub fn missing_lines(&self, slot: Slot, sequence: u64) -> Vec<u64> {
        let Some(instruction) = self.lsu.index_of(slot, sequence) else { return Vec::new() };
        self.l1.missing_lines(|owner| Lsu::is_owned_by(owner, instruction))
    }

    /// Byte address, in the code space, of the line of code that a wave waits for.
    pub fn missing_code(&self, slot: Slot) -> Option<u64> {
        self.fetch.missing(slot)
    }

    /// All registers of a wave slot at the end of the cycle before `now`: register r is row r, of as many words as a
    /// wave has lanes.
    pub fn registers(&self, now: Cycle, slot: Slot) -> Vec<u32> {
        let words = self.spec.rows_per_wave * self.spec.width;
        let mut rows = self.file.registers[slot * words..][..words].to_vec();
        self.file.journal.correct_registers(now, slot, self.spec.width, &mut rows);
        rows
    }

    /// Lanes in which each predicate of a wave slot is true, at the end of the cycle before `now`.
    pub fn predicates(&self, now: Cycle, slot: Slot) -> [u64; PREDICATES] {
        let mut predicates = self.waves.waves[slot].predicates;
        self.file.journal.correct_predicates(now, slot, &mut predicates);
        predicates
    }

    /// Matrix fragments of a wave slot at the end of the cycle before `now`: kind (A, B, C), fragment, element, lane.
    /// Empty if the kernel uses none.
    pub fn fragments(&self, now: Cycle, slot: Slot) -> Vec<u32> {
        let words = 3 * MMA_FRAGMENTS * FRAGMENT_ROWS * self.spec.width;
        let Some(fragments) = self.file.fragments.get(slot * words..(slot + 1) * words) else {
            return Vec::new();
        };
        let mut fragments = fragments.to_vec();
        self.file.journal.correct_fragments(now, slot * words, &mut fragments);
        fragments
    }

    /// Local memory of the workgroup of a wave slot.
    pub fn local_memory(&self, slot: Slot) -> &[u8] {
        self.local.part_of(self.waves.waves[slot].workgroup)
    }
}
