//! Operand collectors and register banks of one scheduler.
//!
//! A collector holds an issued instruction while its source rows are read. Each bank reads one row a cycle,
//! for the oldest collector that wants one (rule O1). Rows are served in the order of issue, so the cycle of
//! an instruction's last read is known when it issues.
//!
//! Operand values come straight from the register file. A source keeps its value until the dispatch stage
//! after the last read, because the wave's next instruction issues in the cycle of that read at the earliest
//! (I4), and is not computed at issue if it overwrites one. An instruction for an execution unit is computed in
//! the cycle of its last read; [`Completions`](super::completions::Completions) says why that is not too early. One
//! for the load/store unit is handed over in the next dispatch stage. Only if it has to wait there does its
//! collector copy the operands.

use super::slot::{InFlight, Slot};
use super::uop::MicroOp;
use crate::alu::MAX_SOURCE_ROWS;
use crate::clock::{Cycle, NEVER, may_plan};
use wave_capture::{Capture, Misfit};

/// What an instruction in a collector waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub enum Waiting {
    /// Operand rows; the last is read in this cycle.
    Banks(Cycle),
    /// Its execution unit, which is busy until this cycle.
    Unit(Cycle),
    /// A write port in the cycle of its result. It tries again in this cycle (X3).
    WritePort(Cycle),
    /// The load/store unit, which is full or has taken another instruction.
    Lsu,
}

/// Bank of a wave's register (rule O1). `mask` is the number of banks, a power of two, less one; `swizzle` is
/// the wave's position within its scheduler.
#[inline]
pub(crate) fn bank_of(register: u8, swizzle: u8, mask: u32) -> u32 {
    (u32::from(register) + u32::from(swizzle)) & mask
}

/// The register banks of a scheduler and the reads booked on them.
#[derive(Debug, Clone, Capture)]
pub struct Banks {
    /// Per bank, the last cycle for which a read is booked. The number of banks is a power of two.
    #[fixed]
    busy_until: Vec<Cycle>,
}

impl Banks {
    /// True if no read is booked for a cycle that a run does not come to.
    pub(super) fn are_planned(&self, now: Cycle) -> bool {
        self.busy_until.iter().all(|&at| may_plan(now, at))
    }

    /// `banks` idle banks, a power of two.
    pub fn new(banks: u32) -> Banks {
        Banks { busy_until: vec![0; banks as usize] }
    }

    /// Books the row reads of an instruction that issues at `now`; they begin in the next cycle. Returns the
    /// cycle of the last read, and the cycles that rows wait for busy banks, summed over the rows.
    #[inline]
    pub fn read(&mut self, now: Cycle, registers: &[u8], swizzle: u8) -> (Cycle, u64) {
        let (mut last, mut waits) = (now + 1, 0);
        for &register in registers {
            let bank = bank_of(register, swizzle, self.busy_until.len() as u32 - 1) as usize;
            let at = self.busy_until[bank].max(now) + 1;
            self.busy_until[bank] = at;
            last = last.max(at);
            waits += at - (now + 1);
        }
        (last, waits)
    }
}

/// One operand collector in use.
#[derive(Debug, Clone, Copy, Capture)]
pub struct Collector {
    /// Number of the instruction in its core's issue order; smaller is older.
    pub age: u64,
    /// Position of the instruction in its wave's issue order.
    pub sequence: u64,
    /// Effective lanes.
    pub mask: u64,
    /// Lanes in which the predicate operand is true.
    pub condition: u64,
    /// What the instruction waits for.
    pub waiting: Waiting,
    /// Word of the kernel.
    pub word: u32,
    /// Wave slot.
    pub slot: u8,
    /// The unit, the write ports and the retirement are booked; the instruction leaves in the next dispatch
    /// stage.
    pub settled: bool,
    /// The operands are copied to `Collectors::rows`, because the instruction had to wait with them.
    kept: bool,
    /// Its result is of no account any more; see [`MemoryInstruction`](super::lsu::MemoryInstruction).
    pub(crate) forgotten: bool,
}

impl Collector {
    /// A collector for an instruction that issues now; `read` is the cycle of its last operand read.
    #[inline]
    pub fn new(age: u64, it: InFlight, mask: u64, condition: u64, read: Cycle) -> Collector {
        let InFlight { slot, sequence, word } = it;
        let (slot, waiting) = (slot as u8, Waiting::Banks(read));
        Collector {
            age,
            sequence,
            mask,
            condition,
            waiting,
            word,
            slot,
            settled: false,
            kept: false,
            forgotten: false,
        }
    }

    /// The wave slot, as an index.
    #[inline]
    pub fn slot(&self) -> Slot {
        usize::from(self.slot)
    }

    /// Identity of the instruction, for its retirement.
    #[inline]
    pub fn in_flight(&self) -> InFlight {
        InFlight { slot: self.slot(), sequence: self.sequence, word: self.word }
    }
}

/// The operand collectors of a scheduler. Those in use form a linked list in the order of issue. An entry
/// stays in its place: the host is slow to copy a struct whose fields were just written one by one.
#[derive(Debug, Clone, Capture)]
#[sound]
pub struct Collectors {
    #[fixed]
    places: Vec<Collector>,
    /// Per place: the place of the next younger instruction if in use, else the next free place.
    #[fixed]
    next: Vec<u8>,
    first: u8,
    last: u8,
    free: u8,
    len: usize,
    /// Operand rows of instructions that had to wait: `MAX_SOURCE_ROWS` rows of `width` lanes per place.
    #[fixed]
    rows: Vec<u32>,
    #[spec]
    width: usize,
}

/// End of a list of places.
pub(crate) const NO_PLACE: u8 = u8::MAX;

const IN_ORDER: [u8; MAX_SOURCE_ROWS] = [0, 1, 2, 3, 4, 5];

/// The operand rows of one instruction.
#[derive(Debug, Clone, Copy)]
pub struct Operands<'a> {
    /// `from` holds rows of `width` lanes; `places` are the indices of the operand rows, in operand order.
    from: &'a [u32],
    places: &'a [u8],
    width: usize,
}

impl<'a> Operands<'a> {
    /// The operands in their order.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = &'a [u32]> {
        self.places.iter().map(move |&place| &self.from[usize::from(place) * self.width..][..self.width])
    }
}

impl Collectors {
    /// `collectors` collectors (at most 255), all free, for waves of `width` lanes.
    pub fn new(collectors: u32, width: usize) -> Collectors {
        let unused = Collector::new(0, InFlight { slot: 0, sequence: 0, word: 0 }, 0, 0, 0);
        let next =
            (1..=collectors as u8).map(|next| if u32::from(next) < collectors { next } else { NO_PLACE });
        Collectors {
            places: vec![unused; collectors as usize],
            next: next.collect(),
            first: NO_PLACE,
            last: NO_PLACE,
            free: 0,
            len: 0,
            rows: vec![0; collectors as usize * MAX_SOURCE_ROWS * width],
            width,
        }
    }

    /// Each place is in the list of those in use or in that of the free ones.
    fn sound(&self) -> Result<(), Misfit> {
        let mut seen = vec![false; self.places.len()];
        let mut walk = |first: u8| {
            let (mut place, mut last, mut length) = (first, NO_PLACE, 0);
            while place != NO_PLACE {
                let is_new =
                    seen.get_mut(usize::from(place)).is_some_and(|seen| !std::mem::replace(seen, true));
                Misfit::agrees(is_new, "next")?;
                (last, place, length) = (place, self.next[usize::from(place)], length + 1);
            }
            Ok((last, length))
        };
        let (last, length) = walk(self.first)?;
        Misfit::agrees(length == self.len && (length == 0 || last == self.last), "len")?;
        walk(self.free)?;
        Misfit::agrees(seen.into_iter().all(|seen| seen), "free")
    }

    /// Collectors in use.
    #[inline]
    pub(crate) fn in_use(&self) -> usize {
        self.len
    }

    /// Place of the oldest, or [`NO_PLACE`].
    #[inline]
    pub fn first(&self) -> u8 {
        self.first
    }

    /// Place of the next younger, or [`NO_PLACE`].
    #[inline]
    pub fn after(&self, place: u8) -> u8 {
        self.next[usize::from(place)]
    }

    /// The oldest.
    #[inline]
    pub fn oldest(&self) -> Option<&Collector> {
        self.places.get(usize::from(self.first)).filter(|_| self.len > 0)
    }

    /// Places of all collectors in use, oldest first.
    pub(crate) fn places(&self) -> impl Iterator<Item = u8> {
        std::iter::successors(Some(self.first), |&place| Some(self.after(place))).take(self.len)
    }

    /// All collectors in use, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Collector> {
        self.places().map(|place| &self.places[usize::from(place)])
    }

    /// Takes a free collector for an instruction that issues.
    #[inline]
    pub fn push(&mut self, collector: Collector) {
        let place = self.free;
        self.free = self.after(place);
        self.places[usize::from(place)] = collector;
        self.next[usize::from(place)] = NO_PLACE;
        if self.len == 0 {
            self.first = place;
        } else {
            self.next[usize::from(self.last)] = place;
        }
        self.last = place;
        self.len += 1;
    }

    /// Frees a collector. `before` is the place of the next older one, or [`NO_PLACE`] if it is the oldest.
    #[inline]
    pub fn remove(&mut self, before: u8, place: u8) {
        let after = self.after(place);
        if before == NO_PLACE {
            self.first = after;
        } else {
            self.next[usize::from(before)] = after;
        }
        if after == NO_PLACE {
            self.last = before;
        }
        self.next[usize::from(place)] = self.free;
        self.free = place;
        self.len -= 1;
    }

    /// Frees the collectors of all settled instructions.
    #[inline]
    pub(crate) fn remove_settled(&mut self) {
        let (mut before, mut place) = (NO_PLACE, self.first);
        for _ in 0..self.len {
            let after = self.after(place);
            if self[place].settled {
                self.remove(before, place);
            } else {
                before = place;
            }
            place = after;
        }
    }

    /// Copies the operands of an instruction that cannot leave its collector yet. `base` is its wave's first
    /// row in `registers`.
    pub fn keep(&mut self, place: u8, op: &MicroOp, registers: &[u32], base: usize) {
        if std::mem::replace(&mut self[place].kept, true) {
            return;
        }
        let kept = &mut self.rows[usize::from(place) * MAX_SOURCE_ROWS * self.width..];
        for (i, &register) in op.rows.sources[..usize::from(op.rows.source_rows)].iter().enumerate() {
            let row = &registers[(base + usize::from(register)) * self.width..][..self.width];
            kept[i * self.width..][..self.width].copy_from_slice(row);
        }
    }

    /// The operand rows of an instruction that leaves its collector. `base` is its wave's first row in
    /// `registers`.
    #[inline]
    pub fn operands<'a>(
        &'a self,
        place: u8,
        op: &'a MicroOp,
        registers: &'a [u32],
        base: usize,
    ) -> Operands<'a> {
        // Copied rows are in operand order; in the register file they are found by register number.
        let (places, from) = if self[place].kept {
            (&IN_ORDER, &self.rows[usize::from(place) * MAX_SOURCE_ROWS * self.width..])
        } else {
            (&op.rows.sources, &registers[base * self.width..])
        };
        Operands { from, places: &places[..usize::from(op.rows.source_rows)], width: self.width }
    }
}

impl std::ops::Index<u8> for Collectors {
    type Output = Collector;

    #[inline]
    fn index(&self, place: u8) -> &Collector {
        &self.places[usize::from(place)]
    }
}

impl std::ops::IndexMut<u8> for Collectors {
    #[inline]
    fn index_mut(&mut self, place: u8) -> &mut Collector {
        &mut self.places[usize::from(place)]
    }
}

/// Per scheduler, the next cycle in which a stage has to look at its collectors. Before that the stage would
/// find nothing to do.
#[derive(Debug, Clone, Capture)]
pub struct Looks {
    #[fixed]
    at: Vec<Cycle>,
    /// Lower bound of all entries.
    first: Cycle,
}

impl Looks {
    /// No looks due, for this number of schedulers.
    pub fn new(schedulers: usize) -> Looks {
        Looks { at: vec![NEVER; schedulers], first: NEVER }
    }

    /// True if the looks are in cycles that a run comes to.
    pub(super) fn are_planned(&self, now: Cycle) -> bool {
        self.at.iter().all(|&at| may_plan(now, at)) && self.at.iter().all(|&at| self.first <= at)
    }

    /// Lower bound of all entries: no look is due before this cycle.
    #[inline]
    pub fn first(&self) -> Cycle {
        self.first
    }

    /// Bit s: scheduler s has to be looked at in cycle `now`. The caller must then set each one's next look
    /// with [`looked`](Looks::looked).
    #[inline]
    pub fn due(&mut self, now: Cycle) -> u32 {
        if self.first > now {
            return 0;
        }
        let (mut due, mut first) = (0, NEVER);
        for (scheduler, &at) in self.at.iter().enumerate() {
            due |= u32::from(at <= now) << scheduler;
            first = if at <= now { first } else { first.min(at) };
        }
        self.first = first;
        due
    }

    /// The cycle of a scheduler's next look.
    #[inline]
    pub fn at(&self, scheduler: usize) -> Cycle {
        self.at[scheduler]
    }

    /// Requests a look at a scheduler in this cycle or earlier.
    #[inline]
    pub fn by(&mut self, scheduler: usize, cycle: Cycle) {
        self.at[scheduler] = self.at[scheduler].min(cycle);
        self.first = self.first.min(cycle);
    }

    /// A scheduler was looked at: sets its next look.
    #[inline]
    pub fn looked(&mut self, scheduler: usize, again: Cycle) {
        self.at[scheduler] = again;
        self.first = self.first.min(again);
    }

    /// Requests a look at every scheduler in this cycle or earlier.
    pub fn all_by(&mut self, cycle: Cycle) {
        self.at.iter_mut().for_each(|at| *at = cycle.min(*at));
        self.first = self.first.min(cycle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// Reference model of rule O1, cycle by cycle: every bank reads the oldest row that wants it.
    fn reads_cycle_by_cycle(banks: usize, issues: &[(Cycle, Vec<u8>, u8)]) -> Vec<(Cycle, u64)> {
        let mut left: Vec<Vec<usize>> = (issues.iter())
            .map(|(_, rows, swizzle)| {
                rows.iter().map(|row| usize::from(row.wrapping_add(*swizzle)) % banks).collect()
            })
            .collect();
        let mut read: Vec<(Cycle, u64)> = issues.iter().map(|&(at, ..)| (at + 1, 0)).collect();
        for now in 1..200 {
            let mut used = vec![false; banks];
            for (i, (at, ..)) in issues.iter().enumerate() {
                if *at < now && !left[i].is_empty() {
                    left[i].retain(|&bank| std::mem::replace(&mut used[bank], true));
                    read[i] = (now, read[i].1 + left[i].len() as u64);
                }
            }
        }
        assert!(left.iter().all(Vec::is_empty));
        read
    }

    #[test]
    fn the_cycle_of_the_last_read_is_known_at_issue() {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        for _ in 0..500 {
            let count = 1 << rng.random_range(0..4);
            let mut now = 0;
            let issues: Vec<(Cycle, Vec<u8>, u8)> = (0..12)
                .map(|_| {
                    now += rng.random_range(0..3);
                    let rows = (0..rng.random_range(0..=MAX_SOURCE_ROWS)).map(|_| rng.random_range(0..200));
                    (now, rows.collect(), rng.random_range(0..16))
                })
                .collect();
            let mut banks = Banks::new(count);
            let known: Vec<_> = issues.iter().map(|(at, rows, s)| banks.read(*at, rows, *s)).collect();
            assert_eq!(known, reads_cycle_by_cycle(count as usize, &issues));
        }
    }

    #[test]
    fn collectors_are_in_the_order_of_issue_whichever_leaves_first() {
        let mut rng = Pcg64Mcg::seed_from_u64(2);
        let mut collectors = Collectors::new(5, 1);
        let mut ages: Vec<u64> = Vec::new();
        for age in 0..2000 {
            if ages.len() < 5 && rng.random() {
                let it = InFlight { slot: 0, sequence: age, word: 0 };
                collectors.push(Collector::new(age, it, 0, 0, 0));
                ages.push(age);
            } else if rng.random() {
                // Settled collectors are freed together.
                let leaves: Vec<bool> = ages.iter().map(|_| rng.random()).collect();
                let mut place = collectors.first();
                for &leaves in &leaves {
                    collectors[place].settled = leaves;
                    place = collectors.after(place);
                }
                collectors.remove_settled();
                let mut leaves = leaves.into_iter();
                ages.retain(|_| !leaves.next().unwrap());
            } else if !ages.is_empty() {
                let which = rng.random_range(0..ages.len());
                let (mut before, mut place) = (NO_PLACE, collectors.first());
                for _ in 0..which {
                    (before, place) = (place, collectors.after(place));
                }
                collectors.remove(before, place);
                ages.remove(which);
            }
            assert_eq!(collectors.iter().map(|c| c.age).collect::<Vec<_>>(), ages);
            assert_eq!(collectors.oldest().map(|c| c.age), ages.first().copied());
            assert_eq!(collectors.in_use(), ages.len());
        }
    }
}
