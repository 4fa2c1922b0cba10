//! What a core tells an observer: one event stream for traces, viewers and tests.
//!
//! The observer is a type parameter of the run loop, so that a run without one ([`Off`]) compiles to
//! code without any of it.

use super::uop::MicroOp;
use super::wave::Slot;
use crate::clock::Cycle;

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

/// An observer of the pipeline.
pub trait Probe {
    /// False if the observer wants nothing: the calls are compiled out.
    const ON: bool;

    /// A step of an instruction.
    fn step(&mut self, event: Event);

    /// An instruction issued (or squashed, if `mask` is 0) with these effective lanes.
    fn issued(&mut self, event: Event, workgroup: [u32; 3], wave: u32, op: &MicroOp, mask: u64);
}

/// No observer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Off;

impl Probe for Off {
    const ON: bool = false;
    fn step(&mut self, _: Event) {}
    fn issued(&mut self, _: Event, _: [u32; 3], _: u32, _: &MicroOp, _: u64) {}
}
