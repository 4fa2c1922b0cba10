//! What a core tells an observer: one event stream for traces, viewers and tests.
//!
//! The observer is a type parameter of the run loop, so that a run without one ([`Off`]) compiles to
//! code without any of it.

use super::uop::MicroOp;
use super::wave::Slot;
use crate::clock::Cycle;
use crate::isa::Scope;
use crate::isa::table::MemoryOp;

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
    /// It became architecturally visible; its last row was written or its access performed.
    Retire,
}

/// Which instruction of which wave.
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

/// A memory instruction whose turn it is in the load/store unit of its core: its accesses are performed after those of
/// all before it, and its addresses are good.
#[derive(Debug, Clone, Copy)]
pub struct MemoryEvent<'a> {
    /// Core.
    pub core: u32,
    /// Wave slot of the core.
    pub slot: Slot,
    /// Word of the kernel.
    pub word: u32,
    /// What it does.
    pub memory: MemoryOp,
    /// It writes; a tile is loaded or stored.
    pub writes: bool,
    /// Scope of an atomic.
    pub scope: Scope,
    /// Lanes that take part.
    pub mask: u64,
    /// Address by lane.
    pub addresses: &'a [u32],
    /// From a row of a tile to the next, by lane; bytes.
    pub strides: &'a [u32],
    /// Rows: 1 but for tiles.
    pub rows: u32,
}

/// The L2 has performed a packet of atomics. Those of a core on one word come in the order in which the core issued them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtomicEvent {
    /// Core.
    pub core: u32,
    /// Address of the line.
    pub line: u32,
    /// Bytes of the words, one operation each.
    pub bytes: u128,
    /// Of these, those written: all but for a compare-and-swap that fails.
    pub written: u128,
}

/// An observer of the pipeline.
pub trait Probe {
    /// False if the observer wants nothing: the calls are compiled out.
    const ON: bool;

    /// A step of an instruction.
    fn step(&mut self, event: Event);

    /// An instruction issued (or squashed, if `mask` is 0) with these effective lanes.
    fn issued(&mut self, event: Event, workgroup: [u32; 3], wave: u32, op: &MicroOp, mask: u64);

    /// A memory instruction is about to access memory.
    fn accesses(&mut self, _: &MemoryEvent<'_>) {}

    /// The L2 has performed atomics. Reported before anything that their results bring about.
    fn performed(&mut self, _: &AtomicEvent) {}
}

/// No observer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Off;

impl Probe for Off {
    const ON: bool = false;
    fn step(&mut self, _: Event) {}
    fn issued(&mut self, _: Event, _: [u32; 3], _: u32, _: &MicroOp, _: u64) {}
}
