//! A turn of a wave: its instructions, one after the other, as isa.md defines them.

use super::footprint::Footprint;
use super::inactive::Regions;
use super::run::{Run, Step};
use super::wave::Wave;
use crate::alu::{self, FRAGMENT_ROWS, HostVectors};
use crate::config::Config;
use crate::core::context::Context;
use crate::core::lsu::{MemoryInstruction, Shapes};
use crate::core::uop::Kind;
use crate::core::write_ports::MAX_RESULT_ROWS;
use crate::stats::CoreCounters;
use std::collections::BTreeSet;
use std::sync::Arc;
use wave_isa::program::fault::{Fault, FaultKind};
use wave_isa::table::{AccessKind, AtomicOp, MemoryOp, Space};
use wave_isa::{MMA_FRAGMENTS, Op, Special};

/// Why a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    /// All instructions of the turn are used up.
    Spent,
    /// The wave has arrived at a barrier.
    Barrier,
    /// Its lanes have halted.
    Ended,
    /// It goes back to the head of a loop. Only watched turns end here.
    Looped,
    /// It stands at the watched word.
    Watched,
}

/// What a watched turn looks for, and what it sees.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    /// The word in front of which it stops; none is `u32::MAX`.
    pub(super) word: u32,
    /// An instruction changed what polling does not compare: a matrix fragment.
    pub(super) beyond: bool,
    /// First and last word, and addresses read and written, as (local, address). Filled only if `records`.
    pub(super) records: bool,
    pub(super) words: (u32, u32),
    pub(super) reads: BTreeSet<(bool, u32)>,
    pub(super) writes: BTreeSet<(bool, u32)>,
}

impl Watch {
    /// Stops at a word, or at none.
    pub(super) fn at(word: Option<u32>) -> Watch {
        Watch {
            word: word.unwrap_or(u32::MAX),
            beyond: false,
            records: false,
            words: (u32::MAX, 0),
            reads: BTreeSet::new(),
            writes: BTreeSet::new(),
        }
    }
}

/// The memories that a wave sees.
pub(super) struct Memories<'a> {
    pub(super) local: &'a mut [u8],
    pub(super) device: &'a mut [u8],
}

/// What executes instructions, apart from the state of waves.
#[derive(Debug, Clone)]
pub(super) struct Lanes {
    pub(super) context: Arc<Context>,
    /// The instructions again, as a run executes them.
    steps_of_run: Vec<Step>,
    regions: Regions,
    pub(super) width: usize,
    host: HostVectors,
    /// Rows of the result being computed.
    result: Vec<u32>,
    /// Thread ids: rows x, y, z of each wave of a workgroup.
    threads: Vec<u32>,
    access: MemoryInstruction,
    shapes: Shapes,
    pub(super) counters: CoreCounters,
    /// Instructions executed, those without effect included.
    pub(super) steps: u64,
    /// Stores and atomics executed; in watched turns only those that have changed a byte.
    pub(super) changes: u64,
    /// What a store of a watched turn overwrites.
    before: Vec<u8>,
    /// What was touched of device memory, if someone asks.
    pub(super) footprint: Option<Box<Footprint>>,
}

impl Lanes {
    /// Lanes for a context, whose kernel has these words.
    pub(super) fn new(context: Arc<Context>, code: &[u32], config: &Config) -> Lanes {
        let Context { shape, ops, .. } = &*context;
        let width = config.core.wave_width as usize;
        let mut threads = vec![0; shape.waves as usize * 3 * width];
        for (index, row) in threads.chunks_exact_mut(width).enumerate() {
            shape.special_row(Special::ThreadIdX as u8 + (index % 3) as u8, [0; 3], index as u32 / 3, row);
        }
        let memory = Op::DeviceLoadU32.memory().expect("a load");
        Lanes {
            steps_of_run: Step::all(ops),
            regions: Regions::new(code),
            width,
            host: HostVectors::new(),
            result: vec![0; MAX_RESULT_ROWS * width],
            threads,
            access: MemoryInstruction::new(memory, width),
            shapes: Shapes::default(),
            counters: CoreCounters::default(),
            steps: 0,
            changes: 0,
            before: Vec::new(),
            footprint: None,
            context,
        }
    }

    /// As [`turn`](Self::turn), but stops in front of `word`.
    ///
    /// # Errors
    /// As [`turn`](Self::turn).
    pub(super) fn watched_turn(
        &mut self,
        group: [u32; 3],
        wave: &mut Wave,
        memories: &mut Memories<'_>,
        most: u64,
        word: Option<u32>,
    ) -> Result<Pause, Box<Fault>> {
        let (end, mut watch) = (self.steps + most, Watch::at(word));
        loop {
            let pause = self.turn::<true>(group, wave, memories, end - self.steps, &mut watch)?;
            if pause != Pause::Looped {
                return Ok(pause);
            }
        }
    }

    /// Executes up to `most` instructions of a wave of the workgroup at `group`.
    ///
    /// # Errors
    /// A fault; the wave stands at the instruction.
    pub(super) fn turn<const WATCHED: bool>(
        &mut self,
        group: [u32; 3],
        wave: &mut Wave,
        memories: &mut Memories<'_>,
        most: u64,
        watch: &mut Watch,
    ) -> Result<Pause, Box<Fault>> {
        let all = u64::MAX >> (64 - self.width);
        let (mut steps, mut instructions, mut squashed, mut lane_instructions) = (0, 0, 0, 0);
        let mut word = wave.word;
        let pause = loop {
            if steps == most {
                break Ok(Pause::Spent);
            }
            if WATCHED && word == watch.word && !std::mem::take(&mut wave.stopped) {
                wave.stopped = true;
                break Ok(Pause::Watched);
            }
            if WATCHED && watch.records {
                watch.words = (watch.words.0.min(word), watch.words.1.max(word));
            }
            if self.steps_of_run[word as usize].is_in_run() {
                let run = Run {
                    ops: &self.context.ops,
                    steps: &self.steps_of_run,
                    regions: &self.regions,
                    word,
                    most: if WATCHED { 1 } else { most - steps },
                    control: &mut wave.control,
                    registers: &mut wave.registers,
                    width: self.width,
                    predicates: &mut wave.predicates,
                    result: &mut self.result,
                };
                let ran = run.execute(self.host);
                word = ran.word;
                steps += ran.steps;
                instructions += ran.steps - ran.squashed;
                squashed += ran.squashed;
                lane_instructions += ran.lanes;
                self.counters.divisions_by_zero += ran.divisions_by_zero;
                self.counters.taken_redirects += ran.redirects;
                if let Some(kind) = ran.fault {
                    break Err((wave.control.active, kind));
                }
                if ran.ended {
                    break Ok(Pause::Ended);
                }
                if WATCHED && ran.looped {
                    break Ok(Pause::Looped);
                }
                continue;
            }
            let active = wave.control.active;
            let op = self.context.ops.get(word);
            steps += 1;
            let guard = op.guard_lanes(&wave.predicates);
            let lanes = guard & active;
            let effective = lanes != 0 && op.kind != Kind::End;
            if effective {
                instructions += 1;
                let all_lanes = lanes == all;
                lane_instructions +=
                    if all_lanes { self.width as u64 } else { u64::from(lanes.count_ones()) };
            } else {
                squashed += 1;
            }
            match op.kind {
                Kind::End => {
                    // It is no instruction.
                    squashed -= 1;
                    wave.control.end();
                    break Ok(Pause::Ended);
                }
                Kind::Illegal(error) if active != 0 => {
                    break Err((active, FaultKind::IllegalInstruction(error)));
                }
                _ if !effective => word += op.words,
                Kind::Compute => {
                    if WATCHED {
                        watch.beyond |= op.fragment_hazards != 0;
                    }
                    let next = word + op.words;
                    self.compute(word, lanes, wave, group);
                    word = next;
                }
                Kind::Memory(memory) => {
                    let next = word + op.words;
                    if let Err(fault) = self.access::<WATCHED>(word, lanes, memory, wave, memories, watch) {
                        break Err(fault);
                    }
                    word = next;
                }
                Kind::Barrier if active != wave.control.live => {
                    break Err((lanes, FaultKind::BarrierInDivergence));
                }
                Kind::Barrier => break Ok(Pause::Barrier),
                Kind::Fence { .. } => {
                    self.counters.fences += 1;
                    word += op.words;
                }
                // A run executes control flow; an illegal instruction without active lanes has no effect.
                Kind::Control | Kind::Wait | Kind::Nop | Kind::Illegal(_) => word += op.words,
            }
        };
        wave.word = word;
        wave.cycle += steps;
        wave.course.steps += steps;
        self.steps += steps;
        self.counters.wave_instructions += instructions;
        self.counters.squashed_instructions += squashed;
        self.counters.lane_instructions += lane_instructions;
        pause.map_err(|(lanes, kind)| self.fault(group, wave, lanes, kind))
    }

    /// Executes a computation that is not lane arithmetic on registers, in the participating `lanes`.
    fn compute(&mut self, word: u32, lanes: u64, wave: &mut Wave, group: [u32; 3]) {
        let (op, width) = (self.context.ops.get(word), self.width);
        match op.inst.op {
            Op::MovSr => self.special(word, lanes, wave, group),
            Op::MmaCompute => {
                let size = FRAGMENT_ROWS * width;
                let first = |kind: usize, index: u8| (kind * MMA_FRAGMENTS + usize::from(index)) * size;
                let (inputs, sums) = wave.fragments.split_at_mut(first(2, op.inst.rs2));
                let (a, b) =
                    (&inputs[first(0, op.inst.rd)..][..size], &inputs[first(1, op.inst.rs1)..][..size]);
                alu::mma_compute(self.host, lanes, a, b, &mut sums[..size]);
            }
            _ => {}
        }
    }

    /// Reads a special register.
    fn special(&mut self, word: u32, lanes: u64, wave: &mut Wave, group: [u32; 3]) {
        let (op, width) = (self.context.ops.get(word), self.width);
        let code = op.inst.rs1;
        let row = match Special::from_code(code) {
            Some(axis @ (Special::ThreadIdX | Special::ThreadIdY | Special::ThreadIdZ)) => {
                let axis = axis as usize - Special::ThreadIdX as usize;
                &self.threads[(wave.id as usize * 3 + axis) * width..][..width]
            }
            _ => {
                self.context.shape.special_row(code, group, wave.id, &mut self.result[..width]);
                &self.result[..width]
            }
        };
        let register = &mut wave.registers[usize::from(op.rows.destination) * width..][..width];
        alu::merge(self.host, lanes, row, register);
    }

    /// Performs a memory instruction.
    ///
    /// # Errors
    /// The faulting lanes, and the fault of the lowest of them.
    fn access<const WATCHED: bool>(
        &mut self,
        word: u32,
        lanes: u64,
        memory: MemoryOp,
        wave: &mut Wave,
        memories: &mut Memories<'_>,
        watch: &mut Watch,
    ) -> Result<(), (u64, FaultKind)> {
        let (op, width) = (self.context.ops.get(word), self.width);
        let bytes = match memory.space {
            Space::Local => &mut *memories.local,
            Space::Device => &mut *memories.device,
        };
        let rows = |row: &u8| &wave.registers[usize::from(*row) * width..][..width];
        let sources = op.rows.sources[..usize::from(op.rows.source_rows)].iter().map(rows);
        self.access.begin(op, memory, (word, lanes), sources, width);
        let footprint = self.footprint.as_mut().filter(|_| memory.space == Space::Device);
        let geometry = footprint.as_ref().map(|footprint| footprint.geometry());
        self.access.check_addresses(&mut self.shapes, bytes.len() as u64, width, geometry)?;
        let stores = match memory.kind {
            AccessKind::Load => false,
            AccessKind::Store | AccessKind::Atomic(_) => true,
            AccessKind::Tile => op.inst.op == Op::MmaStoreC,
        };
        if let Some(footprint) = footprint {
            let line_bytes = footprint.geometry().0;
            for (line, touched) in self.access.lines(width, line_bytes) {
                let read = if memory.kind == AccessKind::Store { 0 } else { touched };
                // A compare-and-swap that fails leaves the line clean.
                let written = match memory.kind {
                    AccessKind::Atomic(AtomicOp::Cas) => self.access.swapped(bytes, line, line_bytes, width),
                    _ if stores => touched,
                    _ => 0,
                };
                footprint.touch(bytes, line, (read, written), stores, memory.hint);
            }
        }
        if WATCHED && stores {
            self.access.read_contents(bytes, width, &mut self.before);
        }
        let size = FRAGMENT_ROWS * width;
        let rows = match self.access.fragment_of(op) {
            Some((kind, index)) => &mut wave.fragments[(kind * MMA_FRAGMENTS + index) * size..][..size],
            None if op.rows.destination_rows == 0 => &mut self.result[..],
            None => &mut wave.registers[usize::from(op.rows.destination) * width..],
        };
        self.access.perform(op, bytes, rows, width);
        let counters = &mut self.counters;
        let counter = match (memory.space, memory.kind) {
            (Space::Local, _) => &mut counters.local_accesses,
            (Space::Device, AccessKind::Load | AccessKind::Tile) => &mut counters.device_loads,
            (Space::Device, AccessKind::Store) => &mut counters.device_stores,
            (Space::Device, AccessKind::Atomic(_)) => &mut counters.device_atomics,
        };
        *counter += 1;
        if WATCHED {
            let changed = stores && !self.access.has_contents(bytes, width, &self.before);
            self.changes += u64::from(changed);
            watch.beyond |= op.fragment_hazards != 0;
            if watch.records {
                let local = memory.space == Space::Local;
                let addresses = || self.access.addresses(width).map(|address| (local, address));
                if !matches!(memory.kind, AccessKind::Store) {
                    watch.reads.extend(addresses());
                }
                if stores {
                    watch.writes.extend(addresses());
                }
            }
        } else {
            self.changes += u64::from(stores);
        }
        Ok(())
    }

    fn fault(&self, workgroup: [u32; 3], wave: &Wave, lanes: u64, kind: FaultKind) -> Box<Fault> {
        Box::new(Fault {
            kind,
            kernel: self.context.launch().kernel,
            workgroup,
            wave: wave.id,
            lanes,
            pc: self.context.ops.pc(wave.word),
            cycle: None,
        })
    }
}
