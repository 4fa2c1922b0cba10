//! Runs generated kernels.

use super::Listener;
use wave_isa::Op;
use wave_isa::program::{Launch, Program, assemble};
use wave_machine::clock::Cycle;
use wave_machine::config::{Config, IssuePolicy};
use wave_machine::core::probe::{Event, EventKind, Issued, Observer, Stage, StageEvent, Wants};
use wave_machine::core::uop::{Kind, MicroOps};
use wave_machine::gpu::{KernelReport, Machine, RunError, RunOptions};

/// Registers per lane of every streaming kernel.
const REGISTERS: u32 = 48;

/// Waves of streaming kernels, in one workgroup per core: as many as have room, at most `most`.
pub(super) fn waves(config: &Config, most: u32) -> u32 {
    let core = &config.core;
    let share =
        core.register_file_bytes / core.schedulers / (REGISTERS * core.wave_width * 4) * core.schedulers;
    most.min(core.max_waves).min(core.max_workgroup_size / core.wave_width).min(share).max(1)
}

/// Start of a kernel text, from which on r8 = 1 and r9 = 0. Each wave executes `once`, so that what it
/// touches is in the caches. If waves issue in turn, each repeats it by its number times `apart`: then the
/// waves reach the ends of their loops at different times, and instructions without accesses overlap with
/// accesses of others.
pub(crate) fn in_turn(config: &Config, once: &str, apart: u32) -> String {
    let start = format!("{CONSTANTS}{once}\nbarrier\n");
    match config.core.issue.policy {
        IssuePolicy::Gto | IssuePolicy::Oldest => start,
        // Of a plug-in nothing is known: it may take turns.
        IssuePolicy::Lrr | IssuePolicy::TwoLevel | IssuePolicy::PlugIn(_) => format!(
            "{start}mov_sr r14, sr_wave_id\nmov_imm r15, {apart}\nimad r14, r14, r15, r8\n\
             loop\n{once}\nisub r14, r14, r8\nucmp_eq p1, r14, r9\nbreak p1\nendloop\n"
        ),
    }
}

/// Text that makes r8 = 1 and r9 = 0.
pub(crate) const CONSTANTS: &str = "mov_imm r8, 1\nmov_imm r9, 0\n";

/// Text of a loop with r0 iterations of a body that keeps r8 = 1 and r9 = 0.
pub(crate) fn again_and_again(body: &str) -> String {
    format!("loop\n{body}isub r0, r0, r8\nucmp_eq p1, r0, r9\nbreak p1\nendloop")
}

/// Number of memory instructions in the middle half of a kernel, and the cycles that they take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    instructions: u64,
    cycles: u64,
}

impl Rate {
    /// Amount moved per cycle if each instruction moves `amount`.
    pub(super) fn of(self, amount: f64) -> f64 {
        self.instructions as f64 * amount / self.cycles.max(1) as f64
    }
}

/// A kernel, ready to run.
#[derive(Debug)]
pub(super) struct Kernel {
    program: Program,
    launch: Launch,
}

impl Kernel {
    /// A kernel with this body for `groups` workgroups of `threads` threads. Register i starts with argument
    /// i.
    ///
    /// # Errors
    /// The assembler's objections to the body: a mistake of the generator.
    pub(super) fn new(body: &str, groups: u32, threads: u32, arguments: &[u32]) -> Result<Kernel, String> {
        let text = format!(".kernel measure\n.registers {REGISTERS}\n{body}\nhalt\n.end\n");
        let (program, _) = assemble(&text, "measure.wave")
            .map_err(|wrong| wrong.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; "))?;
        let launch = Launch {
            kernel: 0,
            grid: [groups, 1, 1],
            workgroup: [threads, 1, 1],
            registers: REGISTERS,
            local_memory_bytes: 0,
            initial_registers: (0u8..).zip(arguments.iter().copied()).collect(),
        };
        Ok(Kernel { program, launch })
    }

    /// Adds local memory to the launch.
    pub(crate) fn with_local_memory(mut self, bytes: u32) -> Kernel {
        self.launch.local_memory_bytes = bytes;
        self
    }

    /// Runs it on a machine with this device memory. `progress` is told how far it is.
    ///
    /// # Errors
    /// The reason why it did not end.
    pub(super) fn run(
        &self,
        config: &Config,
        memory: Vec<u8>,
        observer: &mut dyn Observer,
        progress: &mut dyn Listener,
    ) -> Result<KernelReport, String> {
        let mut gpu = Machine::new(config.clone(), self.program.clone(), memory);
        let options = RunOptions { stop: progress.stop(), ..RunOptions::UNBOUNDED };
        gpu.run(&self.launch, &options, Some(observer), &mut |now| progress.shows(now))
            .map_err(|error| why(&error, &self.program))
    }
}

/// The reason why a generated kernel did not end.
pub(crate) fn why(error: &RunError, program: &Program) -> String {
    match error {
        RunError::Launch(error) => format!("a generated kernel cannot run: {}", error.message),
        RunError::Fault(fault) => fault.diagnostic(program).message,
        RunError::NoProgress(stuck) => format!("a generated kernel stands still after cycle {}", stuck.cycle),
        RunError::Interrupted(stuck) => format!("interrupted in cycle {} of a kernel", stuck.cycle),
        RunError::CycleLimit(_) | RunError::InstructionLimit(_) => "no bound was set".to_owned(),
    }
}

impl Kernel {
    /// Runs it on zeroed device memory. Returns the rate at which its memory instructions retired, and the
    /// report.
    ///
    /// # Errors
    /// As [`Kernel::run`].
    pub(super) fn rate(
        &self,
        config: &Config,
        progress: &mut dyn Listener,
    ) -> Result<(Rate, KernelReport), String> {
        self.rate_on(config, vec![0; config.device_memory_bytes as usize], progress)
    }

    /// As [`Kernel::rate`], with this device memory.
    ///
    /// # Errors
    /// As [`Kernel::run`].
    pub(crate) fn rate_on(
        &self,
        config: &Config,
        memory: Vec<u8>,
        progress: &mut dyn Listener,
    ) -> Result<(Rate, KernelReport), String> {
        let mut probe = Retirements::default();
        let report = self.run(config, memory, &mut probe, progress)?;
        let mut cycles = probe.cycles;
        // Cores run one after the other for some cycles, so the events are not in order.
        cycles.sort_unstable();
        let (from, to) = (cycles.len() / 4, cycles.len() * 3 / 4);
        if to <= from {
            return Err("a kernel made too few accesses to measure".to_owned());
        }
        let rate = Rate { instructions: (to - from) as u64, cycles: cycles[to] - cycles[from] };
        Ok((rate, report))
    }
}

/// Needs of a kernel's last loop, per memory instruction.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Work {
    /// Instructions issued, the memory instruction included.
    pub instructions: f64,
    /// Words fetched.
    pub words: f64,
    /// Rows read from the register banks.
    pub rows_read: f64,
    /// Rows written to the register banks.
    pub rows_written: f64,
    /// Least cycles for which collectors are held.
    pub collector_cycles: f64,
}

impl Kernel {
    /// Needs of the kernel's last loop.
    pub(super) fn work(&self, config: &Config) -> Work {
        let ops = MicroOps::decode(&self.program, &self.program.kernels[0], REGISTERS, config);
        let (mut work, mut accesses, mut word, mut open) = (Work::default(), 0.0, 0, false);
        while word < ops.end() {
            let op = ops.get(word);
            word += op.words;
            if op.inst.op == Op::Loop {
                (work, accesses, open) = (Work::default(), 0.0, true);
                continue;
            }
            if !open {
                continue;
            }
            open = op.inst.op != Op::EndLoop;
            accesses += f64::from(u8::from(matches!(op.kind, Kind::Memory(_))));
            work.instructions += 1.0;
            work.words += f64::from(op.words);
            work.rows_read += f64::from(op.read_rows);
            work.rows_written += f64::from(op.rows.destination_rows);
            if matches!(op.kind, Kind::Memory(_) | Kind::Compute) {
                // Reads until the last one of a bank, or one cycle without operands, and the cycle in which
                // it leaves (O1, O3, X1).
                let banks = config.core.registers.banks;
                let rows = &op.reads[..usize::from(op.read_rows)];
                let of_bank = |bank: u32| rows.iter().filter(|&&row| u32::from(row) % banks == bank).count();
                let reads = (0..banks).map(of_bank).max().unwrap_or(0).max(1) as u32;
                work.collector_cycles += f64::from(reads + 1);
            }
        }
        Work {
            instructions: work.instructions / accesses,
            words: work.words / accesses,
            rows_read: work.rows_read / accesses,
            rows_written: work.rows_written / accesses,
            collector_cycles: work.collector_cycles / accesses,
        }
    }
}

/// The cycles in which memory instructions retired.
#[derive(Debug, Default)]
struct Retirements {
    cycles: Vec<Cycle>,
    /// Per word of the kernel: whether it is a memory instruction.
    memory: Vec<bool>,
}

/// What the observers here want: issues and stages.
const WANTS: Wants = Wants::of(&[EventKind::Issued, EventKind::Stage]);

impl Observer for Retirements {
    fn wants(&self) -> Wants {
        WANTS
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Stage(event) => self.reaches(event),
            Event::Issued(issued) => self.issued(issued),
            _ => {}
        }
    }
}

impl Retirements {
    fn reaches(&mut self, event: &StageEvent) {
        if event.stage == Stage::Retire && self.memory.get(event.word as usize) == Some(&true) {
            self.cycles.push(event.cycle);
        }
    }

    fn issued(&mut self, issued: &Issued<'_>) {
        let &Issued { event, op, .. } = issued;
        if matches!(op.kind, Kind::Memory(_)) {
            let word = event.word as usize;
            self.memory.resize(self.memory.len().max(word + 1), false);
            self.memory[word] = true;
        }
    }
}

/// Issue and retirement of the accesses of one kind of instruction, in the order of their retirement.
#[derive(Debug, Default)]
pub(super) struct Accesses {
    /// Cycle of the issue and of the retirement.
    pub times: Vec<(Cycle, Cycle)>,
    issued: Vec<StageEvent>,
}

impl Observer for Accesses {
    fn wants(&self) -> Wants {
        WANTS
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Stage(event) => self.reaches(event),
            Event::Issued(issued) => self.issued(issued),
            _ => {}
        }
    }
}

impl Accesses {
    fn reaches(&mut self, event: &StageEvent) {
        if event.stage != Stage::Retire {
            return;
        }
        let same = |e: &StageEvent| (e.core, e.slot, e.sequence) == (event.core, event.slot, event.sequence);
        if let Some(at) = self.issued.iter().position(same) {
            let issue = self.issued.remove(at);
            self.times.push((issue.cycle, event.cycle));
        }
    }

    fn issued(&mut self, issued: &Issued<'_>) {
        let &Issued { event, op, mask, .. } = issued;
        if mask != 0 && matches!(op.kind, Kind::Memory(_)) {
            self.issued.push(event);
        }
    }
}
