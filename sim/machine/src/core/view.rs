//! What a core holds at the end of a cycle, for those who look at it from outside.

use super::Core;
use super::collector::Waiting;
use super::divergence::Frame;
use super::report::WaveReport;
use super::uop::MicroOps;
use super::wave::Slot;
use crate::alu::FRAGMENT_ROWS;
use crate::clock::Cycle;
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
    /// Its accesses are under way; so many are outstanding. None are in local memory.
    Access(u32),
    /// Its values have come and wait to be written.
    Return,
}

impl Core {
    /// Resident waves at the end of the cycle before `now`, in slot order.
    pub(crate) fn wave_views(&self, now: Cycle, ops: &MicroOps) -> Vec<WaveView> {
        self.wave_reports(ops).into_iter().map(|report| self.wave_view(now, report, ops)).collect()
    }

    fn wave_view(&self, now: Cycle, report: WaveReport, ops: &MicroOps) -> WaveView {
        let slot = report.slot;
        let wave = &self.waves.waves[slot];
        let mut in_flight = self.flights(now, slot);
        in_flight.sort_unstable_by_key(|flight| flight.sequence);
        WaveView {
            word: report.pc / wave_isa::WORD_BYTES - ops.base,
            live: wave.control.live,
            frames: wave.control.frames().to_vec(),
            issued: wave.issued,
            last_issue: self.file.journal.last_issue(slot),
            in_flight,
            report,
        }
    }

    fn flights(&self, now: Cycle, slot: Slot) -> Vec<Flight> {
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
        let accesses = self.lsu.under_way().filter(|(it, _)| it.slot == slot);
        let all = waiting.chain(units).chain(accesses);
        all.map(|(it, place)| Flight { sequence: it.sequence, word: it.word, place }).collect()
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
