//! What a core tells an observer: one event stream for traces, viewers and tests.
//!
//! Whether there is an observer is a type parameter of the run loop: a run without one ([`Off`]) compiles to
//! code without any calls to observers. All observers share the other version ([`Watched`]).

use super::collector::Waiting;
use super::uop::MicroOp;
use super::wave::{Slot, SlotMask};
use crate::clock::{Cycle, NEVER};
pub use crate::memory::{Hop, HopKind};
use crate::memory::{L1Counters, MemoryCounters, MemorySystem};
use crate::stats::{CoreCounters, SlotUse};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use wave_isa::Scope;
use wave_isa::table::MemoryOp;

/// A step of an instruction through the pipeline. The order is the order of the stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Its words were requested from the instruction cache.
    Fetch,
    /// It entered the instruction buffer.
    Decode,
    /// It left the instruction buffer.
    Issue,
    /// Its last operand row was read.
    Operands,
    /// It entered its execution unit or the load/store unit.
    Execute,
    /// The first row of its result was written. For a unit's result it is reported at retirement, with this
    /// earlier cycle.
    WriteBack,
    /// It became architecturally visible; its last row was written or its access performed.
    Retire,
}

/// A step of an instruction: which instruction, where and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
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
    /// Which step.
    pub stage: Stage,
}

/// An instruction that left the instruction buffer.
#[derive(Debug, Clone, Copy)]
pub struct Issued<'a> {
    /// The step; its stage is [`Stage::Issue`].
    pub event: Event,
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

/// Where a wave continues after an instruction that issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Going {
    /// The instruction's step at issue.
    pub event: Event,
    /// Word of the kernel at which the wave continues; `None` if it has ended.
    pub next: Option<u32>,
    /// What the wave had fetched was dropped.
    pub redirected: bool,
    /// The instruction was done at issue: it retires in this cycle and causes no further event.
    pub done: bool,
}

/// What an instruction that passed through a collector has written by its retirement.
#[derive(Debug, Clone, Copy)]
pub struct Results<'a> {
    /// Its last step; the stage is [`Stage::Retire`].
    pub event: Event,
    /// Rows of its destination registers, consecutive, with all lanes.
    pub registers: &'a [u32],
    /// Lanes in which the predicate that it writes is true.
    pub predicate: u64,
    /// Rows of the fragment that it wrote, or that a tile store read.
    pub fragment: &'a [u32],
}

/// Why the next instruction of a wave has not issued: the first reason in this order that applies.
/// traces/format.md defines each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum IssueStall {
    Barrier,
    Branch,
    Fetch,
    Operand,
    Memory,
    Scoreboard,
    Fence,
    Collector,
    Turn,
}

impl IssueStall {
    /// Number of reasons.
    pub const COUNT: usize = 9;
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

/// Totals and levels of the machine part-way through a launch, for observers that sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// The sample covers everything before this cycle.
    pub cycle: Cycle,
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

/// An observer of one core. The thread that runs the core holds it.
pub type OfCore = Arc<Mutex<dyn Observer + Send>>;

/// An observer of the pipeline.
pub trait Observer {
    /// An observer that gets this core's events from [`step`](Observer::step) to
    /// [`accesses`](Observer::accesses) in place of this one. Return one if the order of events of different
    /// cores does not matter: threads can then share the cores.
    fn of_core(&self, _core: u32) -> Option<OfCore> {
        None
    }

    /// A step of an instruction.
    fn step(&mut self, _: Event) {}

    /// True if the observer wants [`Observer::stalls`] and [`Observer::waits`].
    fn wants_stalls(&self) -> bool {
        false
    }

    /// An instruction issued or was squashed. Called before its effects.
    fn issued(&mut self, _: &Issued<'_>) {}

    /// The instruction has acted on its wave without a fault.
    fn goes_on(&mut self, _: &Going) {}

    /// An instruction that passed through a collector retires.
    fn results(&mut self, _: &Results<'_>) {}

    /// The end of a core's issue stage: waves that have not issued by their reason, indexed by
    /// [`IssueStall`]. The masks hold until the next report.
    fn stalls(&mut self, _core: u32, _cycle: Cycle, _waves: &[SlotMask; IssueStall::COUNT]) {}

    /// From the event's cycle on, an instruction cannot leave its collector for this reason.
    fn waits(&mut self, _: Event, _: Waiting) {}

    /// A memory instruction is about to access memory.
    fn accesses(&mut self, _: &MemoryEvent<'_>) {}

    /// The L2 has performed atomics. Called before anything that their results cause.
    fn performed(&mut self, _: &AtomicEvent) {}

    /// True if the observer wants [`Observer::hop`] of the launch that begins.
    fn wants_hops(&self) -> bool {
        false
    }

    /// Something happened to a request in the L2. The hops of a slice come in the order of its work, and
    /// before anything that they cause in a core.
    fn hop(&mut self, _: &Hop) {}

    /// True if the observer wants [`Observer::charges`], [`Observer::line_access`] and
    /// [`Observer::local_access`].
    fn wants_account(&self) -> bool {
        false
    }

    /// An issue slot is charged. In cycles without a report, all slots have the use of the scheduler's last
    /// report.
    fn charges(&mut self, _: &Charge) {}

    /// The instruction at a word has tried an L1 access. The counters hold what the try added.
    fn line_access(&mut self, _word: u32, _: &L1Counters) {}

    /// The instruction at a word takes this many passes over the banks of local memory.
    fn local_access(&mut self, _word: u32, _passes: u32) {}

    /// The kernel has ended and no core has a wave. Its release begins in this cycle.
    fn releases(&mut self, _: Cycle) {}

    /// Cycle in which the observer wants the next [`Observer::sample`]. It is asked again after each sample.
    fn sample_at(&self) -> Cycle {
        NEVER
    }

    /// A sample, taken in the requested cycle and once more at the end of a launch without a fault: after
    /// [`releases`](Observer::releases), in the cycle in which the cores begin to write back. `MemorySystem`
    /// gives the counters of its parts since its creation.
    fn sample(&mut self, _: &Sample, _: &MemorySystem) {}

    /// True if the observer wants [`Observer::state`] of the launch that begins.
    fn wants_state(&self) -> bool {
        false
    }

    /// What the machine holds at the end of a cycle, reported for every cycle of a launch: each core's
    /// [`signals`](super::account::signals), then those of the [memory side](crate::memory::state::signals).
    fn state(&mut self, _: Cycle, _values: &[u64]) {}

    /// Everything before this cycle has been reported. The observer may stop the run.
    fn advanced(&mut self, _: Cycle) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Whether a run is watched, as a type.
pub trait Probe {
    /// False in a run without an observer: code that only serves observers is compiled out.
    const ON: bool;

    /// The observer.
    fn observer(&mut self) -> &mut dyn Observer;

    /// As [`Observer::wants_stalls`].
    fn wants_stalls(&self) -> bool;

    /// As [`Observer::wants_account`].
    fn wants_account(&self) -> bool;
}

/// A run without an observer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Off;

impl Observer for Off {}

impl Probe for Off {
    const ON: bool = false;

    fn observer(&mut self) -> &mut dyn Observer {
        self
    }

    fn wants_stalls(&self) -> bool {
        false
    }

    fn wants_account(&self) -> bool {
        false
    }
}

/// A run with an observer. The observer states its wishes once, at the start.
pub struct Watched<'o> {
    observer: &'o mut dyn Observer,
    stalls: bool,
    account: bool,
}

impl<'o> Watched<'o> {
    /// A run watched by `observer`.
    pub fn by(observer: &'o mut dyn Observer) -> Watched<'o> {
        Watched { stalls: observer.wants_stalls(), account: observer.wants_account(), observer }
    }
}

impl Probe for Watched<'_> {
    const ON: bool = true;

    #[inline]
    fn observer(&mut self) -> &mut dyn Observer {
        self.observer
    }

    #[inline]
    fn wants_stalls(&self) -> bool {
        self.stalls
    }

    #[inline]
    fn wants_account(&self) -> bool {
        self.account
    }
}

/// Two observers of one run. Both are told of everything, the first before the second.
impl<A: Observer + ?Sized, B: Observer + ?Sized> Observer for (&mut A, &mut B) {
    fn wants_stalls(&self) -> bool {
        self.0.wants_stalls() || self.1.wants_stalls()
    }

    fn wants_account(&self) -> bool {
        self.0.wants_account() || self.1.wants_account()
    }

    fn step(&mut self, event: Event) {
        self.0.step(event);
        self.1.step(event);
    }

    fn issued(&mut self, issued: &Issued<'_>) {
        self.0.issued(issued);
        self.1.issued(issued);
    }

    fn goes_on(&mut self, going: &Going) {
        self.0.goes_on(going);
        self.1.goes_on(going);
    }

    fn results(&mut self, results: &Results<'_>) {
        self.0.results(results);
        self.1.results(results);
    }

    fn stalls(&mut self, core: u32, cycle: Cycle, waves: &[SlotMask; IssueStall::COUNT]) {
        self.0.stalls(core, cycle, waves);
        self.1.stalls(core, cycle, waves);
    }

    fn waits(&mut self, event: Event, why: Waiting) {
        self.0.waits(event, why);
        self.1.waits(event, why);
    }

    fn accesses(&mut self, event: &MemoryEvent<'_>) {
        self.0.accesses(event);
        self.1.accesses(event);
    }

    fn performed(&mut self, event: &AtomicEvent) {
        self.0.performed(event);
        self.1.performed(event);
    }

    fn wants_hops(&self) -> bool {
        self.0.wants_hops() || self.1.wants_hops()
    }

    fn hop(&mut self, hop: &Hop) {
        self.0.hop(hop);
        self.1.hop(hop);
    }

    fn charges(&mut self, charge: &Charge) {
        self.0.charges(charge);
        self.1.charges(charge);
    }

    fn line_access(&mut self, word: u32, counted: &L1Counters) {
        self.0.line_access(word, counted);
        self.1.line_access(word, counted);
    }

    fn local_access(&mut self, word: u32, passes: u32) {
        self.0.local_access(word, passes);
        self.1.local_access(word, passes);
    }

    fn releases(&mut self, end: Cycle) {
        self.0.releases(end);
        self.1.releases(end);
    }

    fn sample_at(&self) -> Cycle {
        self.0.sample_at().min(self.1.sample_at())
    }

    fn sample(&mut self, sample: &Sample, memory: &MemorySystem) {
        self.0.sample(sample, memory);
        self.1.sample(sample, memory);
    }

    fn wants_state(&self) -> bool {
        self.0.wants_state() || self.1.wants_state()
    }

    fn state(&mut self, cycle: Cycle, values: &[u64]) {
        self.0.state(cycle, values);
        self.1.state(cycle, values);
    }

    fn advanced(&mut self, cycle: Cycle) -> ControlFlow<()> {
        let (a, b) = (self.0.advanced(cycle), self.1.advanced(cycle));
        if a.is_break() { a } else { b }
    }
}
