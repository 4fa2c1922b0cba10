//! What can stop a run, and the observer that looks for it.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use wave_isa::WORD_BYTES;
use wave_isa::table::{AccessKind, Space};
use wave_machine::clock::Cycle;
use wave_machine::core::probe::{Event, EventKind, MemoryEvent, Observer, StageEvent, Wants};
use wave_machine::core::view::WaveView;

/// Most hits of one position that are kept.
const MOST_HITS: usize = 16;

/// A wave slot: core and slot.
pub type WaveSlot = (u32, usize);

/// What can stop a run. Each has a position for every time that it happens: the cycle to which the run goes, all
/// cycles before it being simulated. What an instruction does is still ahead there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// An instruction at this byte offset of the code section issues. The position is before its issue.
    Pc(u32),
    /// This cycle is reached.
    Cycle(Cycle),
    /// A launch begins, or the one with this number.
    Launch(Option<usize>),
    /// A lane accesses one of these bytes. The position is before the cycle in which the load/store unit begins the
    /// access.
    Access {
        /// Which memory.
        space: Space,
        /// Only by waves of this workgroup: the one whose local memory it is.
        workgroup: Option<[u32; 3]>,
        /// Bytes of it.
        bytes: Range<u64>,
        /// Loads and atomics count.
        reads: bool,
        /// Stores and atomics count.
        writes: bool,
        /// Lanes whose accesses count.
        lanes: u64,
    },
    /// A wave has not issued for so many cycles since it last did. The position is behind the last of them.
    Stall(Cycle),
    /// The wave in this slot issues. The position is before it.
    Issues(WaveSlot),
    /// The wave in this slot has issued. The position is behind the cycle.
    HasIssued(WaveSlot),
}

/// A lane that touches watched bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touch {
    /// The lane.
    pub lane: u32,
    /// The first byte of its access.
    pub address: u64,
    /// The 32-bit word that it stores, or the operand of its atomic; of a narrower or wider store the low 32 bits. `None`
    /// if it does not write.
    pub value: Option<u32>,
}

/// How a condition came true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// The cycle or launch is reached.
    Reached,
    /// A wave issues.
    Issue {
        /// The wave.
        wave: WaveSlot,
        /// Byte offset of the instruction in the code section.
        pc: u32,
    },
    /// Lanes of a wave access memory.
    Access {
        /// The wave.
        wave: WaveSlot,
        /// Byte offset of the instruction in the code section.
        pc: u32,
        /// What it does.
        kind: AccessKind,
        /// Whether it writes.
        writes: bool,
        /// Its lanes that touch the bytes.
        lanes: Vec<Touch>,
    },
    /// A wave does not issue.
    Stall {
        /// The wave.
        wave: WaveSlot,
        /// The cycle in which it last issued.
        since: Cycle,
    },
}

impl Cause {
    /// The wave that caused it.
    pub fn wave(&self) -> Option<WaveSlot> {
        match self {
            Cause::Reached => None,
            Cause::Issue { wave, .. } | Cause::Access { wave, .. } | Cause::Stall { wave, .. } => Some(*wave),
        }
    }
}

/// A condition that came true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Its index among the conditions.
    pub condition: usize,
    /// The position.
    pub position: Cycle,
    /// How.
    pub cause: Cause,
}

/// Which hits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// The first at this position or later.
    First(Cycle),
    /// The last of these positions.
    Last(Cycle, Cycle),
}

/// The observer that looks for conditions.
pub(super) struct Search<'c> {
    conditions: &'c [Condition],
    which: Which,
    /// The hits of the best position so far.
    best: Vec<Hit>,
    /// First word of the kernel in the code section.
    base: u32,
    /// The last issue of each wave, for stalls.
    issues: BTreeMap<WaveSlot, Cycle>,
    /// The workgroup of each wave, where conditions ask for it.
    workgroups: BTreeMap<WaveSlot, [u32; 3]>,
}

impl<'c> Search<'c> {
    pub(super) fn new(conditions: &'c [Condition], which: Which) -> Search<'c> {
        let (issues, workgroups) = (BTreeMap::new(), BTreeMap::new());
        let mut search = Search { conditions, which, best: Vec::new(), base: 0, issues, workgroups };
        for (index, condition) in conditions.iter().enumerate() {
            if let &Condition::Cycle(position) = condition {
                search.offer(Hit { condition: index, position, cause: Cause::Reached });
            }
        }
        search
    }

    /// The run goes on in a launch of a kernel that begins at this word of the code section, with these waves.
    pub(super) fn goes_on(&mut self, base: u32, waves: &[WaveView]) {
        self.base = base;
        self.issues.clear();
        self.workgroups.clear();
        if self.asks_for_workgroups() {
            let of = |view: &WaveView| ((view.report.core, view.report.slot), view.report.workgroup);
            self.workgroups = waves.iter().map(of).collect();
        }
        if self.stalls().next().is_some() {
            // A wave whose lanes have halted does not issue any more.
            for view in waves.iter().filter(|view| view.live != 0) {
                let slot = (view.report.core, view.report.slot);
                self.issues.extend(view.last_issue.map(|cycle| (slot, cycle)));
            }
        }
    }

    /// A launch begins in this cycle.
    pub(super) fn launch_begins(&mut self, launch: usize, position: Cycle) {
        for (condition, it) in self.conditions.iter().enumerate() {
            if matches!(it, Condition::Launch(which) if which.is_none_or(|number| number == launch)) {
                self.offer(Hit { condition, position, cause: Cause::Reached });
            }
        }
    }

    /// The hits of the best position, in a fixed order.
    pub(super) fn into_hits(mut self) -> Vec<Hit> {
        self.best.sort_by_key(|hit| (hit.condition, hit.cause.wave()));
        self.best.truncate(MOST_HITS);
        self.best
    }

    /// The best position so far.
    pub(super) fn position(&self) -> Option<Cycle> {
        self.best.first().map(|hit| hit.position)
    }

    fn stalls(&self) -> impl Iterator<Item = (usize, Cycle)> {
        let stall = |(index, condition): (usize, &Condition)| match condition {
            Condition::Stall(cycles) => Some((index, *cycles)),
            _ => None,
        };
        self.conditions.iter().enumerate().filter_map(stall)
    }

    fn asks_for_workgroups(&self) -> bool {
        self.conditions.iter().any(|it| matches!(it, Condition::Access { workgroup: Some(_), .. }))
    }

    fn offer(&mut self, hit: Hit) {
        let position = hit.position;
        let best = self.position();
        let (counts, replaces) = match self.which {
            Which::First(from) => (position >= from, best.is_none_or(|best| position < best)),
            Which::Last(from, to) => {
                ((from..=to).contains(&position), best.is_none_or(|best| position > best))
            }
        };
        if counts && replaces {
            self.best.clear();
        }
        if counts && (replaces || best == Some(position)) {
            self.best.push(hit);
        }
    }

    fn issued(&mut self, event: &StageEvent) {
        let wave = (event.core, event.slot);
        let pc = (self.base + event.word) * WORD_BYTES;
        for (condition, it) in self.conditions.iter().enumerate() {
            let position = match *it {
                Condition::Pc(at) if at == pc => event.cycle,
                Condition::Issues(slot) if slot == wave => event.cycle,
                Condition::HasIssued(slot) if slot == wave => event.cycle + 1,
                _ => continue,
            };
            self.offer(Hit { condition, position, cause: Cause::Issue { wave, pc } });
        }
        self.stalled(event.cycle, wave);
        if self.stalls().next().is_some() {
            self.issues.insert(wave, event.cycle);
        }
    }

    /// Offers the stalls of a wave that has not issued before this cycle.
    fn stalled(&mut self, now: Cycle, wave: WaveSlot) {
        let Some(&since) = self.issues.get(&wave) else { return };
        let due: Vec<(usize, Cycle)> =
            self.stalls().filter(|(_, cycles)| since.saturating_add(*cycles) < now).collect();
        for (condition, cycles) in due {
            let hit = Hit { condition, position: since + cycles + 1, cause: Cause::Stall { wave, since } };
            if !self.best.contains(&hit) {
                self.offer(hit);
            }
        }
    }

    fn accessed(&mut self, access: &MemoryEvent<'_>) {
        for (condition, it) in self.conditions.iter().enumerate() {
            let Condition::Access { space, workgroup, bytes, reads, writes, lanes: those } = it else {
                continue;
            };
            let kind = access.memory.kind;
            let does_read = !access.writes || matches!(kind, AccessKind::Atomic(_));
            let does_write = access.writes || matches!(kind, AccessKind::Atomic(_));
            let its = self.workgroups.get(&(access.core, access.slot));
            let is_other = workgroup.as_ref().is_some_and(|workgroup| its != Some(workgroup));
            if is_other || access.memory.space != *space || !(*reads && does_read || *writes && does_write) {
                continue;
            }
            let lanes = touches(access, bytes, *those, does_write);
            if !lanes.is_empty() {
                let wave = (access.core, access.slot);
                let pc = (self.base + access.word) * WORD_BYTES;
                let cause = Cause::Access { wave, pc, kind, writes: does_write, lanes };
                self.offer(Hit { condition, position: access.cycle, cause });
            }
        }
    }
}

/// The lanes of an access that touch some bytes.
fn touches(access: &MemoryEvent<'_>, bytes: &Range<u64>, those: u64, writes: bool) -> Vec<Touch> {
    let mut touches = Vec::new();
    let lanes = (0..access.addresses.len()).filter(|lane| (access.mask & those) >> lane & 1 != 0);
    for lane in lanes {
        let stride = access.strides.get(lane).copied().unwrap_or(0);
        let row = |row: u32| u64::from(access.addresses[lane].wrapping_add(row.wrapping_mul(stride)));
        let touched =
            |&start: &u64| start < bytes.end && start + u64::from(access.memory.bytes) > bytes.start;
        if let Some(address) = (0..access.rows).map(row).find(touched) {
            // A tile sends what its fragments hold, not rows of words.
            let sends = writes && access.memory.kind != AccessKind::Tile;
            let value = sends.then(|| access.sent.get(lane).copied()).flatten();
            touches.push(Touch { lane: lane as u32, address, value });
        }
    }
    touches
}

impl Observer for Search<'_> {
    fn wants(&self) -> Wants {
        self.conditions.iter().fold(Wants::NONE, |wants, condition| {
            wants.and(match condition {
                Condition::Pc(_) | Condition::Issues(_) | Condition::HasIssued(_) => {
                    Wants::of(&[EventKind::Issued])
                }
                Condition::Stall(_) => Wants::of(&[EventKind::Issued, EventKind::Going]),
                Condition::Access { workgroup: None, .. } => Wants::of(&[EventKind::Access]),
                Condition::Access { .. } => Wants::of(&[EventKind::Access, EventKind::Issued]),
                Condition::Cycle(_) | Condition::Launch(_) => Wants::NONE,
            })
        })
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Issued(issued) => {
                if self.asks_for_workgroups() {
                    self.workgroups.insert((issued.event.core, issued.event.slot), issued.workgroup);
                }
                self.issued(&issued.event);
            }
            Event::Going(going) if going.next.is_none() => {
                self.issues.remove(&(going.event.core, going.event.slot));
            }
            Event::Access(access) => self.accessed(access),
            _ => {}
        }
    }

    fn advanced(&mut self, cycle: Cycle) -> ControlFlow<()> {
        let waves: Vec<WaveSlot> = self.issues.keys().copied().collect();
        waves.into_iter().for_each(|wave| self.stalled(cycle, wave));
        // What happens in the cycle of a position may belong to it.
        match (self.which, self.position()) {
            (Which::First(_), Some(position)) if position < cycle => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}
