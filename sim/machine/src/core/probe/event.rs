//! The events of a run, and their kinds.

use crate::clock::Cycle;
use crate::core::slot::{Slot, SlotMask};
use crate::core::stage::Stage;
use crate::core::uop::{Kind, MicroOp};
use crate::core::wait::Wait;
use crate::memory::{Access, Burst, Hop, L1Counters, MemoryCounters, MemorySystem, Request, SliceAccess};
use crate::stats::{CoreCounters, SlotUse};
use wave_isa::Scope;
use wave_isa::table::MemoryOp;

/// What happens in a run, as its observers are told. A new event is a variant here, its [`EventKind`], and the place
/// that tells it.
// The representation makes `Event::kind` a load.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub enum Event<'a> {
    /// An instruction reaches a stage.
    Stage(StageEvent),
    /// An instruction issues or is squashed. Told before its effects.
    Issued(Issued<'a>),
    /// The instruction has acted on its wave. It has not if its fault ends the run in this cycle.
    Going(Going),
    /// An instruction that passed through a collector retires.
    Results(Results<'a>),
    /// Why the waves of a core have not issued.
    Stalls(Stalls<'a>),
    /// Why an instruction cannot leave its collector.
    Waits(Waits),
    /// A memory instruction is about to access memory.
    Access(MemoryEvent<'a>),
    /// The L2 has performed an atomic. Told before anything that its result causes.
    Atomic(AtomicEvent),
    /// Something happened to a request in the L2. The hops of a slice come in the order of its work, and before
    /// anything that they cause in a core.
    Hop(Hop),
    /// An issue slot is charged. In cycles without a report, all slots have the use of the scheduler's last report.
    Charge(Charge),
    /// An instruction has tried an L1 access.
    LineAccess(LineAccess<'a>),
    /// An L1 was invalidated by a fence. The invalidation with which a launch begins is not told.
    Invalidated(Invalidated),
    /// A slice of the L2 has taken a request. Those of a slice come in order, up to the end of the launch with its
    /// release. There are as many as the counters of the L2 have outcomes, with those of releases.
    SliceAccess(SliceAccess),
    /// A memory channel has issued a read or a write. There are as many as its counters have by the end of the launch.
    Burst(Burst),
    /// An instruction accesses local memory.
    LocalAccess(LocalAccess),
    /// A core sends a packet into its port.
    Packet(Packet<'a>),
    /// The kernel has ended and no core has a wave. Its release begins in this cycle.
    Release(Cycle),
    /// A sample, taken in the cycle of [`Observer::sample_at`](super::Observer::sample_at) and once more at the end of a
    /// launch without a fault: after [`Release`](Event::Release), in the cycle in which the cores begin to write back.
    /// The memory side gives the counters of its parts since its creation.
    Sample(&'a Sample, &'a MemorySystem),
    /// What the machine holds at the end of a cycle, told for every cycle of a launch: each core's
    /// [`signals`](crate::core::account::signals), then those of the [memory side](crate::memory::state::signals).
    State(Cycle, &'a [u64]),
}

/// The kind of an [`Event`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
#[repr(u8)]
pub enum EventKind {
    Stage,
    Issued,
    Going,
    Results,
    Stalls,
    Waits,
    Access,
    Atomic,
    Hop,
    Charge,
    LineAccess,
    Invalidated,
    SliceAccess,
    Burst,
    LocalAccess,
    Packet,
    Release,
    Sample,
    State,
}

impl Event<'_> {
    /// Its kind.
    #[inline]
    pub fn kind(&self) -> EventKind {
        match self {
            Event::Stage(_) => EventKind::Stage,
            Event::Issued(_) => EventKind::Issued,
            Event::Going(_) => EventKind::Going,
            Event::Results(_) => EventKind::Results,
            Event::Stalls(_) => EventKind::Stalls,
            Event::Waits(_) => EventKind::Waits,
            Event::Access(_) => EventKind::Access,
            Event::Atomic(_) => EventKind::Atomic,
            Event::Hop(_) => EventKind::Hop,
            Event::Charge(_) => EventKind::Charge,
            Event::LineAccess(_) => EventKind::LineAccess,
            Event::Invalidated(_) => EventKind::Invalidated,
            Event::SliceAccess(_) => EventKind::SliceAccess,
            Event::Burst(_) => EventKind::Burst,
            Event::LocalAccess(_) => EventKind::LocalAccess,
            Event::Packet(_) => EventKind::Packet,
            Event::Release(_) => EventKind::Release,
            Event::Sample(..) => EventKind::Sample,
            Event::State(..) => EventKind::State,
        }
    }

    /// The core that tells it; `None` if the run loop does.
    #[inline]
    pub fn core(&self) -> Option<u32> {
        match self {
            Event::Stage(event) => Some(event.core),
            Event::Issued(issued) => Some(issued.event.core),
            Event::Going(going) => Some(going.event.core),
            Event::Results(results) => Some(results.event.core),
            Event::Stalls(stalls) => Some(stalls.core),
            Event::Waits(waits) => Some(waits.event.core),
            Event::Access(access) => Some(access.core),
            Event::Charge(charge) => Some(charge.core),
            Event::LineAccess(access) => Some(access.core),
            Event::Invalidated(invalidated) => Some(invalidated.core),
            Event::LocalAccess(access) => Some(access.core),
            Event::Packet(packet) => Some(packet.core),
            Event::Atomic(_)
            | Event::Hop(_)
            | Event::SliceAccess(_)
            | Event::Burst(_)
            | Event::Release(_)
            | Event::Sample(..)
            | Event::State(..) => None,
        }
    }
}

/// A set of kinds of events: those that an observer wants to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wants(u32);

impl Wants {
    /// None.
    pub const NONE: Wants = Wants(0);

    /// All.
    pub const ALL: Wants = Wants((1 << (EventKind::State as u32 + 1)) - 1);

    /// Those that cores tell. The run loop tells the others.
    pub const OF_CORES: Wants = Wants::of(&[
        EventKind::Stage,
        EventKind::Issued,
        EventKind::Going,
        EventKind::Results,
        EventKind::Stalls,
        EventKind::Waits,
        EventKind::Access,
        EventKind::Charge,
        EventKind::LineAccess,
        EventKind::Invalidated,
        EventKind::LocalAccess,
        EventKind::Packet,
    ]);

    /// These kinds.
    pub const fn of(kinds: &[EventKind]) -> Wants {
        let mut bits = 0;
        let mut at = 0;
        while at < kinds.len() {
            bits |= 1 << kinds[at] as u32;
            at += 1;
        }
        Wants(bits)
    }

    /// True if the kind is among them.
    #[inline]
    pub const fn has(self, kind: EventKind) -> bool {
        self.0 >> kind as u32 & 1 != 0
    }

    /// True if one of these is among them.
    pub(crate) const fn has_any(self, of: Wants) -> bool {
        self.0 & of.0 != 0
    }

    /// These and others.
    #[must_use]
    pub const fn and(self, others: Wants) -> Wants {
        Wants(self.0 | others.0)
    }
}

/// An instruction reaches a stage: which instruction, where and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageEvent {
    /// When.
    pub cycle: Cycle,
    /// Core.
    pub core: u32,
    /// Wave slot of the core.
    pub slot: Slot,
    /// Position in the wave's issue order; 0 for fetch and decode, which precede it.
    pub sequence: u64,
    /// Word of the kernel; for a fetch the first word of the group.
    pub word: u32,
    /// Which stage.
    pub stage: Stage,
}

/// An instruction that left the instruction buffer.
#[derive(Debug, Clone, Copy)]
pub struct Issued<'a> {
    /// The step; its stage is [`Stage::Issue`].
    pub event: StageEvent,
    /// The workgroup's position in the grid.
    pub workgroup: [u32; 3],
    /// The wave's index in its workgroup.
    pub wave: u32,
    /// The instruction.
    pub op: &'a MicroOp,
    /// Lanes that were active before it.
    pub active: u64,
    /// Lanes that take part; none if it is squashed.
    pub mask: u64,
}

impl Issued<'_> {
    /// True if it is squashed: no lane takes part, and it is no control instruction with an active lane.
    pub fn is_squashed(&self) -> bool {
        match self.op.kind {
            Kind::End => false,
            Kind::Control => self.active == 0,
            _ => self.mask == 0,
        }
    }
}

/// Where a wave continues after an instruction that issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Going {
    /// The instruction's step at issue.
    pub event: StageEvent,
    /// Word of the kernel at which the wave continues; `None` if it has ended, or if the instruction faults (I8).
    pub next: Option<u32>,
    /// What the wave had fetched was dropped.
    pub redirected: bool,
    /// The instruction was done at issue: it retires in this cycle and causes no further event. One that faults is not
    /// done.
    pub done: bool,
}

/// What an instruction that passed through a collector has written by its retirement.
#[derive(Debug, Clone, Copy)]
pub struct Results<'a> {
    /// Its last step; the stage is [`Stage::Retire`].
    pub event: StageEvent,
    /// Rows of its destination registers, consecutive, with all lanes.
    pub registers: &'a [u32],
    /// Lanes in which the predicate that it writes is true.
    pub predicate: u64,
    /// Rows of the fragment that it wrote, or that a tile store read.
    pub fragment: &'a [u32],
}

/// The end of a core's issue stage: its waves that have not issued, by reason. They hold until the next report.
#[derive(Debug, Clone, Copy)]
pub struct Stalls<'a> {
    /// When.
    pub cycle: Cycle,
    /// Core.
    pub core: u32,
    /// Wave slots, indexed by [`Wait::index`].
    pub waves: &'a [SlotMask; Wait::AT_ISSUE],
}

/// From the event's cycle on, an instruction cannot leave its collector.
#[derive(Debug, Clone, Copy)]
pub struct Waits {
    /// The instruction; the stage is the one that it has reached, [`Stage::Operands`].
    pub event: StageEvent,
    /// Why.
    pub why: Wait,
}

/// A memory instruction that starts in the load/store unit of its core. Its addresses are checked, and its
/// accesses are performed after those of all instructions before it.
#[derive(Debug, Clone, Copy)]
pub struct MemoryEvent<'a> {
    /// When.
    pub cycle: Cycle,
    /// Core.
    pub core: u32,
    /// Wave slot of the core.
    pub slot: Slot,
    /// Position in the wave's issue order.
    pub sequence: u64,
    /// Word of the kernel.
    pub word: u32,
    /// What it does.
    pub memory: MemoryOp,
    /// It writes memory. Tells a tile store from a tile load.
    pub writes: bool,
    /// Scope of an atomic.
    pub scope: Scope,
    /// Lanes that take part.
    pub mask: u64,
    /// Address by lane.
    pub addresses: &'a [u32],
    /// Bytes from one row of a tile to the next, by lane.
    pub strides: &'a [u32],
    /// Rows that it sends, consecutive: the value of a store, the operands of an atomic.
    pub sent: &'a [u32],
    /// Rows that each lane accesses: 4 for a tile, else 1.
    pub rows: u32,
}

/// The L2 has performed an atomic packet. Packets of one core that touch the same word come in the order in
/// which the core issued them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtomicEvent {
    /// When.
    pub cycle: Cycle,
    /// Core.
    pub core: u32,
    /// Address of the line.
    pub line: u32,
    /// Bytes of the words operated on, one operation a word.
    pub bytes: u128,
    /// Those of `bytes` that were written: all, unless a compare-and-swap fails.
    pub written: u128,
}

/// The charge of one issue slot (docs/pipeline.md, I7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charge {
    /// When.
    pub cycle: Cycle,
    /// Core.
    pub core: u32,
    /// Scheduler of the core.
    pub scheduler: usize,
    /// What the slot is charged to.
    pub slot_use: SlotUse,
    /// The wave that issues, or the oldest to which the use applies; `None` if it applies to no wave.
    pub slot: Option<Slot>,
    /// Word of the instruction that issues, of the one in the oldest collector, or of the one behind which
    /// the wave is held up (*branch*, *barrier*). `None` stands for the wave's next instruction.
    pub word: Option<u32>,
}

/// An instruction has tried an L1 access.
#[derive(Debug, Clone, Copy)]
pub struct LineAccess<'a> {
    /// When.
    pub cycle: Cycle,
    /// Core.
    pub core: u32,
    /// Word of the kernel.
    pub word: u32,
    /// The access.
    pub access: &'a Access<'a>,
    /// Sectors of the line that the L1 loses by it: those that it drops, and those on their way that it will not install,
    /// because the access makes their miss stale.
    pub lost: u8,
    /// What the try added to the counters of the L1.
    pub counted: &'a L1Counters,
}

impl LineAccess<'_> {
    /// Wave slot of the core.
    pub fn slot(&self) -> Option<Slot> {
        self.access.by.slot()
    }
}

/// A fence of device or system scope has invalidated the L1 of its core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invalidated {
    /// When.
    pub cycle: Cycle,
    /// Core.
    pub core: u32,
}

/// An instruction accesses local memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalAccess {
    /// Core.
    pub core: u32,
    /// Word of the kernel.
    pub word: u32,
    /// Passes over the banks that it takes.
    pub passes: u32,
}

/// A core sends a packet into its port: of the instruction cache, of a release or of the L1.
#[derive(Debug, Clone, Copy)]
pub struct Packet<'a> {
    /// When. The packet holds the port from this cycle on.
    pub cycle: Cycle,
    /// Core.
    pub core: u32,
    /// The packet.
    pub request: &'a Request,
}

/// Totals and levels of the machine part-way through a launch, for observers that sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// The sample covers everything before this cycle.
    pub cycle: Cycle,
    /// It was taken because the launch ends or fails, not because an observer asked for one in this cycle.
    pub is_last: bool,
    /// The cores' counters, summed.
    pub core: CoreCounters,
    /// Issue slots by use, charged up to the cycle.
    pub slots: [u64; SlotUse::COUNT],
    /// The L1s' counters, summed.
    pub l1: L1Counters,
    /// Counters of the memory side.
    pub memory: MemoryCounters,
    /// Entries in use over the whole machine, indexed by [`Level`].
    pub levels: [u64; Level::COUNT],
}

/// A queue or table whose level is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// MSHRs of the L1s.
    L1Mshrs,
    /// MSHRs of the L2 slices.
    L2Mshrs,
    /// Queues of the load/store units, wave instructions.
    LsuQueue,
    /// Queues of the memory channels, requests.
    DramQueue,
}

impl Level {
    /// Number of levels.
    pub const COUNT: usize = 4;
}
