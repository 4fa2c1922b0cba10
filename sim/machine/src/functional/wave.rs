//! The state that a program sees of a wave and of its workgroup, without a machine around it.

use super::follow::Course;
use crate::alu::FRAGMENT_ROWS;
use crate::core::divergence::Divergence;
use crate::core::grid::Shape;
use crate::core::standing::Standing;
use crate::core::uop::MicroOps;
use wave_isa::{MMA_FRAGMENTS, PREDICATES};

/// What a wave does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// It can execute its next instruction.
    Runs,
    /// It has executed the barrier at its word and waits for the others of its workgroup.
    AtBarrier,
    /// It goes round a loop that changes nothing, until some wave changes memory. Holds the number of changes that it
    /// has seen; see [`Execution`](super::Execution).
    Polls(u64),
    /// All of its lanes have halted.
    Ended,
}

/// A wave of a resident workgroup.
#[derive(Debug, Clone)]
pub struct Wave {
    /// Its index in its workgroup.
    pub id: u32,
    /// Active mask, divergence stack and call stack.
    pub control: Divergence,
    /// Lanes in which each predicate is true.
    pub predicates: [u64; PREDICATES],
    /// The word of the kernel at which it stands: its next instruction, or the barrier at which it waits.
    pub word: u32,
    /// Rows of as many lanes as the machine's waves have, one for each register.
    pub registers: Vec<u32>,
    /// Matrix fragments, by kind (A, B, C), fragment and element. Empty if the kernel uses none.
    pub fragments: Vec<u32>,
    /// What it does next.
    pub doing: Doing,
    /// Its nominal cycle; see [`Until::Cycle`](super::Until).
    pub cycle: u64,
    /// Turns that it may use up before it is looked at for polling, and as how many it gets next.
    pub(super) patience: (u32, u32),
    /// The run has stopped in front of its word.
    pub(super) stopped: bool,
    pub(super) course: Course,
}

impl Wave {
    /// A wave that has not started.
    pub(super) fn new(id: u32, shape: &Shape, width: usize, uses_mma: bool, depths: (usize, usize)) -> Wave {
        let fragments = if uses_mma { 3 * MMA_FRAGMENTS * FRAGMENT_ROWS * width } else { 0 };
        Wave {
            id,
            control: Divergence::new(depths.0, depths.1),
            predicates: [0; PREDICATES],
            word: 0,
            registers: vec![0; shape.launch.registers as usize * width],
            fragments: vec![0; fragments],
            doing: Doing::Ended,
            cycle: 0,
            patience: (1, 1),
            stopped: false,
            course: Course::START,
        }
    }

    /// Starts at the kernel's first word.
    fn start(&mut self, shape: &Shape, width: usize, cycle: u64) {
        self.control.start(shape.lanes(self.id, width as u32));
        self.predicates = [0; PREDICATES];
        self.word = 0;
        shape.start_values(&mut self.registers, width);
        self.fragments.fill(0);
        self.doing = Doing::Runs;
        self.cycle = cycle;
        self.patience = (1, 1);
        self.stopped = false;
        self.course = Course::START;
    }
}

impl Wave {
    /// What a core needs to go on with it; `None` if it has ended.
    fn standing(&self) -> Option<Standing<'_>> {
        (self.doing != Doing::Ended).then_some(Standing {
            id: self.id,
            issued: self.course.steps,
            control: &self.control,
            predicates: self.predicates,
            word: self.word,
            at_barrier: self.doing == Doing::AtBarrier,
            registers: &self.registers,
            fragments: &self.fragments,
        })
    }
}

/// A resident workgroup.
#[derive(Debug, Clone)]
pub struct Workgroup {
    /// Position in the grid.
    pub id: [u32; 3],
    /// Its local memory.
    pub local: Vec<u8>,
    /// Its waves, also those that have ended.
    pub waves: Vec<Wave>,
    /// Waves that have not ended, and those of them that wait at the barrier.
    pub(super) live: u32,
    pub(super) arrived: u32,
}

impl Workgroup {
    /// Starts a workgroup in this place. Its local memory holds `poison`.
    pub(super) fn start(&mut self, id: [u32; 3], shape: &Shape, width: usize, poison: u8, cycle: u64) {
        self.id = id;
        self.local.fill(poison);
        self.waves.iter_mut().for_each(|wave| wave.start(shape, width, cycle));
        self.live = self.waves.len() as u32;
        self.arrived = 0;
    }

    /// Lets the waves at the barrier go on if all live ones are there. Returns whether they do.
    pub(super) fn pass_barrier(&mut self, ops: &MicroOps) -> bool {
        if self.arrived == 0 || self.arrived < self.live {
            return false;
        }
        self.arrived = 0;
        let at_barrier = |wave: &&mut Wave| wave.doing == Doing::AtBarrier;
        let cycle = self.waves.iter_mut().filter(at_barrier).map(|wave| wave.cycle).max().unwrap_or(0);
        for wave in self.waves.iter_mut().filter(at_barrier) {
            wave.doing = Doing::Runs;
            wave.word += ops.get(wave.word).words;
            wave.cycle = cycle;
            wave.patience = (1, 1);
        }
        true
    }

    /// Its waves that have not ended, as a core takes them over.
    pub(crate) fn standing(&self) -> impl Iterator<Item = Standing<'_>> {
        self.waves.iter().filter_map(Wave::standing)
    }

    /// The last nominal cycle of its waves.
    pub(super) fn last_cycle(&self) -> u64 {
        self.waves.iter().map(|wave| wave.cycle).max().unwrap_or(0)
    }
}
