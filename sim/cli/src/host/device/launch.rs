//! Launches of kernels: arguments, private memory, the run, its faults and its text.

use super::{Answer, Device, Engine, Failed, failed};
use crate::execute::{outcome, run_options};
use crate::functional::untimed_outcome;
use crate::host::watching::{self, Watching};
use crate::kernel_file::fewer_registers;
use std::time::Instant;
use wave_isa::WORD_BYTES;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Fault, FaultKind, Launch, Output, ParameterType, Program, source_name};
use wave_machine::functional::{Execution, ExecutionError, Limits, Until};
use wave_machine::gpu::RunError;
use wave_observe::figures::Step;
use wave_runtime::protocol::{Failure, ParameterFacts, Reply};
use wave_study::summary::{Outcome, UntimedStep};

impl Device<'_> {
    /// Runs a kernel to its end.
    pub(super) fn launch(
        &mut self,
        (module, name): (u32, &str),
        (grid, workgroup, dynamic_local): ([u32; 3], [u32; 3], u32),
        arguments: &[u8],
    ) -> Answer {
        if self.is_lost {
            return Err((Failure::Lost, Vec::new()));
        }
        let began = Instant::now();
        let (mut number, parameters, output) = self.compiled((module, name), None)?;
        let shown = source_name(name).to_owned();
        let threads = workgroup.iter().try_fold(1_u32, |all, &size| all.checked_mul(size));
        let most = self.how.config.core.max_workgroup_size;
        if grid.contains(&0) || threads.is_none_or(|threads| threads == 0 || threads > most) {
            let message = format!(
                "kernel `{shown}`: a grid of {} workgroups of {} threads cannot be launched: each size is at least 1, and a \
                 workgroup has at most {most} threads",
                sizes(grid),
                sizes(workgroup)
            );
            return Err(failed(Failure::InvalidConfiguration, message));
        }
        let asked = self.modules.program().kernels[number].registers;
        let fewer = fewer_registers(asked, self.how.config, threads.unwrap_or(most));
        if fewer.is_some() {
            number = self.compiled((module, name), fewer)?.0;
        }
        self.seconds.code += began.elapsed().as_secs_f64();
        let program = self.modules.program();
        let kernel = &program.kernels[number];
        let mut launch = Launch {
            kernel: number,
            grid,
            workgroup,
            registers: kernel.registers,
            local_memory_bytes: kernel.local_memory_bytes.saturating_add(dynamic_local),
            initial_registers: registers(program, number, &parameters, arguments)
                .map_err(|message| failed(Failure::IllegalAddress, format!("kernel `{shown}`: {message}")))
                .inspect_err(|(_, wrong)| self.run.outcome = Outcome::Fault(wrong[0].clone()))?,
        };
        let width = self.how.config.core.wave_width;
        let (all, used) = (self.how.config.device_memory_bytes, self.memory.used());
        let placed = launch.place_private(program, width, all, used);
        placed.map_err(|wrong| (Failure::OutOfResources, vec![wrong]))?;
        self.timeline.launch(&shown);
        let (start, before) = (self.timeline.now_ns(), self.cycles);
        let began = Instant::now();
        let ran = match &mut self.engine {
            Engine::Timed(_) => self.run_timed(launch, shown.clone()),
            Engine::Functional(_) => self.run_functional(launch, shown.clone()),
        };
        self.seconds.simulated += began.elapsed().as_secs_f64();
        if let Err((failure, _)) = &ran {
            self.is_lost = !matches!(failure, Failure::OutOfResources);
        }
        // A kernel that has failed may have said why.
        let printed = self.printed(output);
        if let Err((failure, wrong)) = ran {
            let is_assertion = failure == Failure::Trap && printed.contains(": Assertion `");
            let failure = if is_assertion { Failure::Assertion } else { failure };
            return Err((failure, wrong.into_iter().map(|why| with_text(why, &printed)).collect()));
        }
        let cycles = self.cycles - before;
        self.timeline.kernel(&shown, [grid, workgroup], cycles, self.nanoseconds(cycles));
        Ok((Reply::Launched { start: start as u64, end: self.timeline.now_ns() as u64, printed }, Vec::new()))
    }

    /// The text that the threads of a launch have printed. The next launch begins with an empty buffer.
    fn printed(&mut self, output: Output) -> String {
        let Some(at) = output.printed.map(|at| at as usize) else { return String::new() };
        let memory = match &mut self.engine {
            Engine::Timed(machine) => machine.memory(),
            Engine::Functional(memory) => memory,
        };
        let Some(printed) = output.read(memory, &[]) else { return String::new() };
        let is_over = !matches!(&self.engine, Engine::Timed(machine) if machine.is_running());
        if is_over && (printed.lost > 0 || !printed.text.is_empty()) {
            const COUNTS_BYTES: usize = 8;
            self.with_memory(|memory| memory[at..at + COUNTS_BYTES].fill(0));
        }
        let mut text = printed.text;
        if printed.lost > 0 {
            text += &format!("({} more calls of printf; their buffer is full)\n", printed.lost);
        }
        text
    }

    fn run_timed(&mut self, launch: Launch, kernel: String) -> Result<(), Failed> {
        let Engine::Timed(machine) = &mut self.engine else { return Ok(()) };
        let options = run_options(self.how.bounds);
        if self.how.cold {
            machine.empty_caches();
        }
        if let Some(wanted) = watching::take(self.how.wanted) {
            let made = Watching::new(wanted, &self.run.name, self.how.config, self.modules.program());
            self.watching = Some(made.map_err(|wrong| (Failure::NoSimulator, wrong))?);
        }
        let ran = if let Some(watching) = &mut self.watching {
            watching.extend(self.modules.program());
            watching.launch((&launch, self.cycles), machine, |machine, observer| {
                machine.run(&launch, &options, observer, &mut |_| {})
            })
        } else if self.how.sample {
            let sampled = self.sampler.run(machine, &launch, &options, &mut |_| {});
            sampled.map(|(report, sampling)| {
                self.run.sampled.push(sampling);
                report
            })
        } else {
            machine.run(&launch, &options, None, &mut |_| {})
        };
        match ran {
            Ok(report) => {
                self.cycles += report.cycles;
                self.run.steps.push(Step { kernel, launch, report });
                Ok(())
            }
            Err(error) => {
                let failure = match &error {
                    RunError::Launch(_) => Failure::OutOfResources,
                    RunError::Fault(fault) => of_fault(fault, self.modules.program()),
                    _ => Failure::Timeout,
                };
                let outcome = outcome(&error, &launch, self.modules.program(), &options);
                Err((failure, self.ended(failure, outcome)))
            }
        }
    }

    fn run_functional(&mut self, launch: Launch, kernel: String) -> Result<(), Failed> {
        let Engine::Functional(memory) = &mut self.engine else { return Ok(()) };
        let options = run_options(self.how.bounds);
        let limits = Limits { max_instructions: options.max_instructions, stop: options.stop };
        let program = self.modules.program();
        let ran = Execution::new(self.how.config, program, &launch).map_err(ExecutionError::Launch).and_then(
            |mut execution| {
                execution.advance(memory, Until::End, &limits, &mut |_| {})?;
                Ok(execution.report())
            },
        );
        match ran {
            Ok(report) => {
                self.run.untimed.push(UntimedStep { kernel, launch, report });
                Ok(())
            }
            Err(error) => {
                let failure = match &error {
                    ExecutionError::Launch(_) => Failure::OutOfResources,
                    ExecutionError::Fault(fault) => of_fault(fault, program),
                    _ => Failure::Timeout,
                };
                let outcome = untimed_outcome(error, &launch, program, self.how.bounds);
                Err((failure, self.ended(failure, outcome)))
            }
        }
    }

    /// Notes how the run has ended, if it has, and returns what there is to say.
    fn ended(&mut self, failure: Failure, outcome: Outcome) -> Vec<Diagnostic> {
        let messages = match &outcome {
            Outcome::Fault(why) | Outcome::Stopped(why) => vec![why.clone()],
            Outcome::Refused(wrong) => wrong.clone(),
            _ => Vec::new(),
        };
        if failure != Failure::OutOfResources {
            self.run.outcome = outcome;
        }
        messages
    }
}

/// A message with what threads have printed before it.
fn with_text(why: Diagnostic, printed: &str) -> Diagnostic {
    match printed.trim_end() {
        "" => why,
        text => Diagnostic { message: format!("{}\n  printed: {text}", why.message), ..why },
    }
}

fn sizes([x, y, z]: [u32; 3]) -> String {
    format!("{x}×{y}×{z}")
}

fn of_fault(fault: &Fault, program: &Program) -> Failure {
    let traps = program.module.as_ref().and_then(|module| module.trap_of_word(fault.pc / WORD_BYTES));
    match &fault.kind {
        _ if traps.is_some() && fault.is_trap() => Failure::Trap,
        FaultKind::OutOfBounds { .. } | FaultKind::MisalignedAtomic { .. } => Failure::IllegalAddress,
        _ => Failure::IllegalInstruction,
    }
}

/// The registers with the values of the parameters: each takes whole words, in order.
///
/// # Errors
/// An address that no device memory has.
fn registers(
    program: &Program,
    kernel: usize,
    parameters: &[ParameterFacts],
    arguments: &[u8],
) -> Result<Vec<(u8, u32)>, String> {
    let mut words = Vec::new();
    let mut rest = arguments;
    for parameter in parameters {
        let (value, others) =
            rest.split_at_checked(parameter.bytes as usize).ok_or("an argument is missing")?;
        rest = others;
        for word in value.chunks(4) {
            let mut bytes = [0; 4];
            bytes[..word.len()].copy_from_slice(word);
            words.push(u32::from_le_bytes(bytes));
        }
    }
    let declared = program.kernels[kernel].parameters.as_deref().unwrap_or_default();
    let mut at = 0;
    for (number, parameter) in declared.iter().enumerate() {
        let is_wide = parameter.ty == ParameterType::I64;
        let high = words.get(at + 1).copied().unwrap_or(0);
        if parameter.pointer.is_some() && is_wide && high != 0 {
            let low = words.get(at).copied().unwrap_or(0);
            return Err(format!(
                "argument {} is 0x{high:x}{low:08x}, an address of the host: a kernel can access memory of cudaMalloc, \
                 cudaMallocManaged and cudaHostAlloc",
                number + 1
            ));
        }
        at += parameter.ty.registers();
    }
    Ok((0..=u8::MAX).zip(words).collect())
}
