//! Events of a run in batches of columns, for programs that read them as arrays: observers in Python.
//!
//! The threads that run the cores write a log for each core. The logs are merged by cycle and core, so rows, their order
//! and the batches that they fill are the same for any number of threads, and whether idle cycles are visited or skipped.

mod columns;
mod log;

use crate::per_core::{in_order, lock, most};
pub use columns::{Batch, Column, Stream};
use columns::{Issues, Lines, Memory, Retirements, SliceAccesses};
use log::{Entry, Log, What, Written};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use wave_isa::program::dis::instruction_text;
use wave_isa::program::{Launch, Program};
use wave_isa::{Inst, WORD_BYTES};
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::core::probe::{Event, EventKind, Observer, OfCore, SliceAccess, SliceOutcome, Wants};
use wave_machine::core::view::WaveView;
use wave_machine::gpu::{KernelReport, RunError};
use wave_machine::memory::{CODE_SPACE, RequestKind};

/// The beginning of a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchStart {
    /// Number of the launch in the run, the first being 1.
    pub number: usize,
    /// Index of its kernel in the program.
    pub index: usize,
    /// Name of the kernel.
    pub kernel: String,
    /// Workgroups, x, y, z.
    pub grid: [u32; 3],
    /// Threads of a workgroup, x, y, z.
    pub workgroup: [u32; 3],
    /// The cycle in which it begins.
    pub cycle: Cycle,
}

/// An instruction of a kernel, for those who look up a pc.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeLine {
    /// Byte of the instruction in the code.
    pub pc: u32,
    /// The instruction in assembly.
    pub text: String,
    /// Line of the source, where the program has one.
    pub line: Option<u32>,
}

/// The instructions of a kernel.
pub fn code_of(program: &Program, kernel: usize) -> Vec<CodeLine> {
    let mut all = Vec::new();
    let mut word = program.kernels[kernel].code.start;
    while word < program.kernels[kernel].code.end {
        let Some(text) = instruction_text(program, word) else { break };
        let line = program.source.as_ref().and_then(|source| source.lines.get(word as usize));
        let line = line.copied().filter(|&line| line != 0);
        all.push(CodeLine { pc: word * WORD_BYTES, text, line });
        word += Inst::decode(&program.code[word as usize..]).map_or(1, |inst| inst.words());
    }
    all
}

/// The one who gets batches. A break ends the run.
pub trait Receiver: Send {
    /// A launch of a program begins. All batches up to the next one are about it.
    fn launch(&mut self, program: &Program, launch: &LaunchStart) -> ControlFlow<()>;

    /// A batch of at least as many rows as were asked for, or the rest at the end of a launch or where a run is stopped.
    fn batch(&mut self, batch: Batch) -> ControlFlow<()>;
}

/// An observer that gives batches to a receiver.
pub struct Batches {
    receiver: Box<dyn Receiver>,
    logs: Vec<Arc<Mutex<Log>>>,
    /// What the slices of the L2 have taken since the last merge.
    slices: Vec<SliceAccess>,
    wants: Wants,
    /// Set when a log should be read.
    full: Arc<AtomicBool>,
    tables: Tables,
    /// The receiver has ended the run. It gets no more.
    over: bool,
}

/// The rows that no batch has taken.
struct Tables {
    /// Rows of a batch.
    rows: usize,
    launch: usize,
    /// Byte of the kernel's first word in the code.
    base: u32,
    /// Memory instructions of the run so far.
    instructions: u64,
    issues: Issues,
    retirements: Retirements,
    memory: Memory,
    lines: Lines,
    slices: SliceAccesses,
}

impl fmt::Debug for Batches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batches").field("cores", &self.logs.len()).finish_non_exhaustive()
    }
}

impl Batches {
    /// An observer of runs on a machine, for a receiver that wants batches of `rows` rows of these streams.
    pub fn new(config: &Config, streams: &[Stream], rows: usize, receiver: Box<dyn Receiver>) -> Batches {
        let full = Arc::new(AtomicBool::new(false));
        let slots = config.core.max_waves as usize;
        // The cores together fill a batch.
        let share = rows.div_ceil(config.cores.max(1) as usize).saturating_mul(size_of::<Entry>());
        let size = most(config.cores).min(share);
        let log = |core| Arc::new(Mutex::new(Log::new(core, slots, streams, size, full.clone())));
        Batches {
            receiver,
            logs: (0..config.cores).map(log).collect(),
            slices: Vec::new(),
            wants: if streams.contains(&Stream::L2) {
                Wants::of(&[EventKind::SliceAccess])
            } else {
                Wants::NONE
            },
            full,
            tables: Tables {
                rows: rows.max(1),
                launch: 0,
                base: 0,
                instructions: 0,
                issues: Issues::default(),
                retirements: Retirements::default(),
                memory: Memory::default(),
                lines: Lines::default(),
                slices: SliceAccesses::default(),
            },
            over: false,
        }
    }

    /// True once the receiver has ended the run.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Lets a receiver that has ended the run have the rest of it. It has missed the rows that were merged with those of
    /// the batch that ended it.
    pub fn go_on(&mut self) {
        self.over = false;
    }

    /// A launch begins, the one of this number, in cycle `cycle`; or a run goes on in the middle of it with these waves.
    pub fn start(
        &mut self,
        program: &Program,
        launch: &Launch,
        number: usize,
        cycle: Cycle,
        waves: &[WaveView],
    ) {
        let kernel = &program.kernels[launch.kernel];
        (self.tables.launch, self.tables.base) = (number, kernel.code.start * WORD_BYTES);
        for log in &self.logs {
            lock(log).start(launch.grid);
        }
        for wave in waves {
            let report = &wave.report;
            if let Some(log) = self.logs.get(report.core as usize) {
                lock(log).arrives(report.slot, report.workgroup, report.wave);
            }
        }
        let start = LaunchStart {
            number,
            index: launch.kernel,
            kernel: kernel.name.clone(),
            grid: launch.grid,
            workgroup: launch.workgroup,
            cycle,
        };
        if !self.over {
            self.over = self.receiver.launch(program, &start).is_break();
        }
    }

    /// A launch has ended. The receiver gets the rest of its rows.
    pub fn end(&mut self, ended: Result<&KernelReport, &RunError>) {
        let last = match ended {
            // Cores that run ahead of the one that faults are in cycles that the run does not have.
            Err(RunError::Fault(fault)) => fault.cycle.unwrap_or(Cycle::MAX),
            _ => Cycle::MAX,
        };
        self.merge(last);
        self.give_rest();
    }

    /// Gives the receiver all rows so far, because the run stops here.
    pub fn give_rest(&mut self) {
        self.merge(Cycle::MAX);
        for stream in Stream::ALL {
            self.give(stream, 1);
        }
    }

    /// Merges the logs, without entries of cycles after `last`, and gives the batches that are full.
    fn merge(&mut self, last: Cycle) {
        self.full.store(false, Ordering::Relaxed);
        let mut logs: Vec<_> = self.logs.iter().map(|log| lock(log).take()).collect();
        if self.over {
            return;
        }
        let mut slices = std::mem::take(&mut self.slices);
        // They were told slice by slice.
        slices.sort_by_key(|access| (access.cycle, access.slice));
        let of_core = |written: &Written| written.entries.iter().map(|entry| entry.cycle).collect();
        let cycles = logs.iter().map(of_core).chain([slices.iter().map(|access| access.cycle).collect()]);
        let cycles: Vec<Vec<Cycle>> = cycles.collect();
        let mut lanes = vec![0; logs.len()];
        for (cycle, core, entry) in in_order(cycles) {
            if cycle > last {
                break;
            }
            // The slices come after the cores.
            let Some(written) = logs.get_mut(core as usize) else {
                self.tables.add_slice(&slices[entry]);
                self.give(Stream::L2, self.tables.rows);
                if self.over {
                    return;
                }
                continue;
            };
            let entry = written.entries[entry];
            let taken = &mut lanes[core as usize];
            let from = *taken;
            if let What::Accesses { lanes, .. } = entry.what {
                *taken += lanes as usize;
            }
            let stream = self.tables.add(core, &entry, &written.lanes[from..*taken]);
            self.give(stream, self.tables.rows);
            if self.over {
                return;
            }
        }
    }

    /// Gives the rows of a stream if there are at least so many.
    fn give(&mut self, stream: Stream, least: usize) {
        if self.over || self.tables.len(stream) < least {
            return;
        }
        let (launch, columns) = (self.tables.launch, self.tables.take(stream));
        self.over = self.receiver.batch(Batch { stream, launch, columns }).is_break();
    }
}

impl Tables {
    fn len(&self, stream: Stream) -> usize {
        match stream {
            Stream::Issue => self.issues.len(),
            Stream::Retire => self.retirements.len(),
            Stream::Memory => self.memory.len(),
            Stream::Line => self.lines.len(),
            Stream::L2 => self.slices.len(),
        }
    }

    fn take(&mut self, stream: Stream) -> Vec<(&'static str, Column)> {
        match stream {
            Stream::Issue => self.issues.take(),
            Stream::Retire => self.retirements.take(),
            Stream::Memory => self.memory.take(),
            Stream::Line => self.lines.take(),
            Stream::L2 => self.slices.take(),
        }
    }

    /// Adds the rows of an entry of a core. Returns the stream that has grown.
    fn add(&mut self, core: u32, entry: &Entry, lanes: &[(u8, u32)]) -> Stream {
        let &Entry { cycle, slot, word, workgroup, wave, what } = entry;
        let (slot, pc) = (u32::from(slot), self.base + word * WORD_BYTES);
        match what {
            What::Issues { sequence, active, mask, squashed } => {
                self.issues.push(cycle, core, slot, workgroup, wave, sequence, pc, active, mask, squashed);
                Stream::Issue
            }
            What::Retires { sequence } => {
                self.retirements.push(cycle, core, slot, workgroup, wave, sequence, pc);
                Stream::Retire
            }
            What::Accesses { sequence, bytes, writes, atomic, local, .. } => {
                let instruction = self.instructions;
                self.instructions += 1;
                for &(lane, address) in lanes {
                    self.memory.push(
                        cycle,
                        core,
                        slot,
                        workgroup,
                        wave,
                        sequence,
                        pc,
                        instruction,
                        lane,
                        address,
                        bytes,
                        writes,
                        atomic,
                        local,
                    );
                }
                Stream::Memory
            }
            What::Line { line, writes, atomic, outcome } => {
                self.lines.push(cycle, core, slot, workgroup, wave, pc, line, writes, atomic, outcome);
                Stream::Line
            }
        }
    }
}

impl Tables {
    /// Adds the row of an access to the L2. A request for a release touches no line.
    fn add_slice(&mut self, access: &SliceAccess) {
        let &SliceAccess { cycle, slice, core, line, kind, sectors, outcome, .. } = access;
        let (writes, atomic) = match kind {
            RequestKind::Release => return,
            RequestKind::Read => (false, false),
            RequestKind::Write => (true, false),
            RequestKind::Atomic(_) => (true, true),
        };
        // The order of `wave_sim.CacheOutcome`.
        let outcome = match outcome {
            SliceOutcome::Release => 0,
            SliceOutcome::Hit => 1,
            SliceOutcome::MshrHit => 2,
            SliceOutcome::SectorMiss => 3,
            SliceOutcome::Miss => 4,
        };
        let (code, line) = (line >= CODE_SPACE, line % CODE_SPACE);
        self.slices.push(cycle, core.into(), slice.into(), line, sectors, code, writes, atomic, outcome);
    }
}

impl Observer for Batches {
    fn wants(&self) -> Wants {
        self.wants
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::SliceAccess(access) = event {
            self.slices.push(*access);
            if self.slices.len() >= self.tables.rows {
                self.full.store(true, Ordering::Relaxed);
            }
        }
    }

    fn of_cores(&self) -> Vec<Vec<OfCore>> {
        vec![self.logs.iter().map(|log| log.clone() as OfCore).collect()]
    }

    fn advanced(&mut self, _: Cycle) -> ControlFlow<()> {
        if self.full.load(Ordering::Relaxed) {
            self.merge(Cycle::MAX);
        }
        if self.over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
