//! The device that one process sees: a machine, its memory, its modules.

use super::allocator::{ALIGNMENT_BYTES, Allocator};
use super::modules::{Failed, Modules};
use super::watching::{self, Shared, Watching};
use crate::args::MachineArgs;
use crate::execute::{outcome, run_options};
use crate::functional::untimed_outcome;
use std::sync::Arc;
use wave_compile::ptx::{PtxParameter, PtxSpace};
use wave_isa::WORD_BYTES;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Fault, FaultKind, Launch, Output, ParameterType, Program, source_name};
use wave_machine::config::Config;
use wave_machine::functional::{Execution, ExecutionError, Limits, Until};
use wave_machine::gpu::{Machine, RunError};
use wave_observe::figures::Step;
use wave_runtime::protocol::{DeviceFacts, Failure, KernelFacts, ParameterFacts, PointsTo, Reply, Request};
use wave_study::launch::Verification;
use wave_study::sample::Sampler;
use wave_study::summary::{Outcome, Run, UntimedStep};

/// What simulates.
#[derive(Debug)]
enum Engine {
    Timed(Box<Machine>),
    /// Results only: device memory.
    Functional(Vec<u8>),
}

/// How launches are simulated.
#[derive(Debug, Clone, Copy)]
pub(super) struct How<'a> {
    pub(super) config: &'a Config,
    pub(super) machine: &'a MachineArgs,
    /// Without timing.
    pub(super) functional: bool,
    /// Parts of a launch without timing.
    pub(super) sample: bool,
    /// Trace files and the report.
    pub(super) wanted: &'a Shared,
    /// What the host takes.
    pub(super) host: HostTime,
}

/// Time that passes beside kernels.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct HostTime {
    /// Of each launch, ns.
    pub(super) launch_ns: f64,
    /// Bytes that a copy between host and device moves in a ns; `None` if copies take no time.
    pub(super) bytes_per_ns: Option<f64>,
}

/// Simulated time of a process, by what it went into, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Spent {
    pub(super) kernels: f64,
    pub(super) launches: f64,
    pub(super) copies: f64,
}

impl Spent {
    /// All of it.
    pub(super) fn all(self) -> f64 {
        self.kernels + self.launches + self.copies
    }
}

/// The device of a process.
#[derive(Debug)]
pub(super) struct Device<'a> {
    how: How<'a>,
    engine: Engine,
    memory: Allocator,
    modules: Modules,
    sampler: Sampler,
    /// Cycles of the launches that have ended.
    cycles: u64,
    /// Simulated time.
    spent: Spent,
    /// The launches.
    run: Run,
    /// Who watches the launches.
    watching: Option<Watching>,
    /// A kernel has failed, and nothing runs since.
    is_lost: bool,
}

/// Registers with which every kernel can be compiled.
const LEAST_REGISTERS: u32 = 24;

/// A reply, with the bytes that it carries.
type Answer = Result<(Reply, Vec<u8>), Failed>;

fn done() -> Answer {
    Ok((Reply::Done {}, Vec::new()))
}

fn failed(failure: Failure, message: impl Into<String>) -> Failed {
    (failure, vec![Diagnostic::error(message)])
}

impl<'a> Device<'a> {
    /// A device on which nothing has happened, for a program.
    pub(super) fn new(how: How<'a>, program: &str) -> Device<'a> {
        let bytes = how.config.device_memory_bytes;
        let memory = vec![0; bytes as usize];
        let engine = if how.functional {
            Engine::Functional(memory)
        } else {
            Engine::Timed(Box::new(Machine::new(how.config.clone(), Program::default(), memory)))
        };
        Device {
            how,
            engine,
            memory: Allocator::new(bytes),
            modules: Modules::default(),
            sampler: Sampler::default(),
            cycles: 0,
            spent: Spent::default(),
            run: Run::new(program, Outcome::Ended(Verification::Nothing)),
            watching: None,
            is_lost: false,
        }
    }

    /// The launches and the simulated time, at the end, and what is wrong with files about them.
    pub(super) fn finish(mut self) -> ((Run, Spent), Vec<Diagnostic>) {
        let written = match (self.watching.take(), &mut self.engine) {
            (Some(watching), Engine::Timed(machine)) => watching.finish(machine, &self.run, self.cycles),
            _ => Ok(()),
        };
        ((self.run, self.spent), written.err().unwrap_or_default())
    }

    /// Time of so many cycles, ns.
    fn nanoseconds(&self, cycles: u64) -> f64 {
        cycles as f64 * 1000.0 / f64::from(self.how.config.core_clock_mhz.max(1))
    }

    /// Notes a copy between host and device.
    fn copied(&mut self, bytes: u64) {
        self.spent.copies += self.how.host.bytes_per_ns.map_or(0.0, |rate| bytes as f64 / rate);
    }

    /// Does what a program asks for.
    ///
    /// # Errors
    /// Why it is not done.
    pub(super) fn answer(&mut self, request: &Request, data: &[u8]) -> Answer {
        match request {
            Request::Hello { .. } | Request::Note { .. } => done(),
            Request::Device {} => Ok((Reply::Device { facts: self.facts() }, Vec::new())),
            Request::Free {} => Ok((Reply::Value { value: self.memory.free() }, Vec::new())),
            Request::Time {} => Ok((Reply::Value { value: self.spent.all() as u64 }, Vec::new())),
            Request::Load { name } => {
                let name = format!("{name} of {}", self.run.name);
                let Device { modules, memory, .. } = self;
                let (module, contents) = modules.load(&name, data, &mut |bytes| memory.allocate(bytes))?;
                self.fill_variables(&contents);
                let kernels = self.modules.kernels(module);
                Ok((Reply::Module { module, kernels, log: String::new() }, Vec::new()))
            }
            Request::Compile { language, flags } => {
                let Device { modules, memory, .. } = self;
                let place = &mut |bytes| memory.allocate(bytes);
                match modules.compile((data, language), flags.clone(), place) {
                    Ok((module, contents, log)) => {
                        self.fill_variables(&contents);
                        let kernels = self.modules.kernels(module);
                        Ok((Reply::Module { module, kernels, log }, Vec::new()))
                    }
                    Err((Failure::InvalidCode, wrong)) => {
                        let log = wrong.iter().map(|diagnostic| diagnostic.render(false)).collect();
                        Ok((Reply::NotCompiled { log }, Vec::new()))
                    }
                    Err(other) => Err(other),
                }
            }
            Request::Kernel { module, name } => self.kernel(*module, name),
            Request::Variable { module, name } => match self.modules.variable(*module, name) {
                Some((address, bytes)) => Ok((Reply::Variable { address, bytes }, Vec::new())),
                None => Err(failed(Failure::NotFound, format!("no module has a variable `{name}`"))),
            },
            Request::Allocate { bytes } => match self.memory.allocate(*bytes) {
                Some(value) => Ok((Reply::Value { value }, Vec::new())),
                None => {
                    let message = format!(
                        "{} asks for {bytes} bytes of device memory, and {} are free",
                        self.run.name,
                        self.memory.free()
                    );
                    let hint = "--device-memory BYTES gives the machine more";
                    Err((Failure::OutOfMemory, vec![Diagnostic::error(message).hint(hint)]))
                }
            },
            Request::Release { address } => match self.memory.release(*address) {
                true => done(),
                false => {
                    Err(failed(Failure::InvalidValue, format!("nothing was allocated at 0x{address:x}")))
                }
            },
            Request::Write { address } => {
                let range = self.range(*address, data.len() as u64)?;
                self.with_memory(|memory| memory[range].copy_from_slice(data));
                self.copied(data.len() as u64);
                done()
            }
            Request::Read { address, bytes } => {
                let range = self.range(*address, *bytes)?;
                let bytes = match &mut self.engine {
                    Engine::Timed(machine) => machine.memory()[range].to_vec(),
                    Engine::Functional(memory) => memory[range].to_vec(),
                };
                self.copied(bytes.len() as u64);
                Ok((Reply::Done {}, bytes))
            }
            Request::Copy { to, from, bytes } => {
                let (to, from) = (self.range(*to, *bytes)?, self.range(*from, *bytes)?);
                self.with_memory(|memory| memory.copy_within(from, to.start));
                done()
            }
            Request::Fill { address, bytes } => {
                let range = self.range(*address, *bytes)?;
                if data.is_empty() {
                    return Err(failed(Failure::InvalidValue, "a fill without a pattern"));
                }
                self.with_memory(|memory| {
                    for place in memory[range].chunks_mut(data.len()) {
                        place.copy_from_slice(&data[..place.len()]);
                    }
                });
                done()
            }
            Request::Launch { module, name, grid, workgroup, dynamic_local } => {
                self.launch((*module, name), (*grid, *workgroup, *dynamic_local), data)
            }
        }
    }

    fn with_memory(&mut self, act: impl FnOnce(&mut [u8])) {
        match &mut self.engine {
            Engine::Timed(machine) => machine.with_memory(act),
            Engine::Functional(memory) => act(memory),
        }
    }

    fn fill_variables(&mut self, contents: &[(u32, Vec<u8>)]) {
        if !contents.is_empty() {
            self.with_memory(|memory| {
                for (address, bytes) in contents {
                    memory[*address as usize..][..bytes.len()].copy_from_slice(bytes);
                }
            });
        }
    }

    /// The bytes of a range that the host may access: part of an allocation.
    fn range(&self, address: u64, bytes: u64) -> Result<std::ops::Range<usize>, Failed> {
        if self.memory.contains(address, bytes) {
            return Ok(address as usize..(address + bytes) as usize);
        }
        let message = format!(
            "{} copies {bytes} bytes at 0x{address:x} of device memory, which are in no allocation",
            self.run.name
        );
        Err(failed(Failure::InvalidValue, message))
    }

    fn facts(&self) -> DeviceFacts {
        let config = self.how.config;
        let (core, dram) = (&config.core, &config.dram);
        DeviceFacts {
            name: format!("{} (simulated)", config.name),
            memory_bytes: config.device_memory_bytes,
            cores: config.cores,
            wave_width: core.wave_width,
            waves_per_core: core.max_waves,
            workgroups_per_core: core.max_workgroups,
            threads_per_workgroup: core.max_workgroup_size,
            registers_per_core: core.register_file_bytes / 4,
            local_per_core: core.local_memory_bytes,
            local_per_workgroup: core.local_memory_bytes,
            line_bytes: core.l1.line_bytes,
            l2_bytes: u64::from(config.l2.slice_bytes) * u64::from(config.l2.slices),
            clock_khz: config.core_clock_mhz.saturating_mul(1000),
            memory_clock_khz: dram.clock_mhz.saturating_mul(1000),
            memory_bus_bits: dram.bus_bits.saturating_mul(dram.channels),
            f64: config.capabilities.f64,
        }
    }

    /// Compiles a kernel, if it has not been. Returns its number in the program and its parameters.
    fn compiled(
        &mut self,
        kernel: (u32, &str),
        registers: Option<u32>,
    ) -> Result<(usize, Vec<ParameterFacts>, Output), Failed> {
        let kernel = self.modules.kernel(kernel, registers, self.how.config)?;
        let facts = |parameter: &PtxParameter| ParameterFacts {
            bytes: parameter.bytes,
            alignment: parameter.alignment,
            points_to: match parameter.points_to {
                None => PointsTo::Nothing,
                Some(PtxSpace::Global) => PointsTo::Device,
                Some(PtxSpace::Const) => PointsTo::Constants,
                Some(PtxSpace::Shared) => PointsTo::Local,
            },
            points_to_alignment: parameter.points_to_alignment,
        };
        let found = (kernel.number, kernel.parameters.iter().map(facts).collect(), kernel.output);
        if let Engine::Timed(machine) = &mut self.engine
            && machine.program().kernels.len() < self.modules.program().kernels.len()
        {
            machine.extend(Arc::new(self.modules.program().clone()));
        }
        Ok(found)
    }

    fn kernel(&mut self, module: u32, name: &str) -> Answer {
        let (number, parameters, _) = self.compiled((module, name), None)?;
        let kernel = &self.modules.program().kernels[number];
        let private = kernel.private.map_or(0, |private| private.bytes_per_wave);
        let core = &self.how.config.core;
        let facts = KernelFacts {
            parameters,
            registers: kernel.registers,
            local_bytes: kernel.local_memory_bytes,
            private_bytes: private / core.wave_width.max(1),
            most_threads: core.max_workgroup_size,
            required_threads: kernel.workgroup_size,
        };
        Ok((Reply::Kernel { facts }, Vec::new()))
    }

    fn launch(
        &mut self,
        (module, name): (u32, &str),
        (grid, workgroup, dynamic_local): ([u32; 3], [u32; 3], u32),
        arguments: &[u8],
    ) -> Answer {
        if self.is_lost {
            return Err((Failure::Lost, Vec::new()));
        }
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
        // As a compiler does that knows the size of the workgroup: what does not fit into registers goes to memory.
        let room = self.registers_of_thread(threads.unwrap_or(most));
        if self.modules.program().kernels[number].registers > room && room >= LEAST_REGISTERS {
            number = self.compiled((module, name), Some(room))?.0;
        }
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
        self.spent.launches += self.how.host.launch_ns;
        let (start, before) = (self.spent.all(), self.cycles);
        let ran = match &mut self.engine {
            Engine::Timed(_) => self.run_timed(launch, shown),
            Engine::Functional(_) => self.run_functional(launch, shown),
        };
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
        self.spent.kernels += self.nanoseconds(self.cycles - before);
        Ok((Reply::Launched { start: start as u64, end: self.spent.all() as u64, printed }, Vec::new()))
    }

    /// What the threads of a launch have printed. The next launch begins with an empty buffer.
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

    /// Registers that each thread of a workgroup can have.
    fn registers_of_thread(&self, threads: u32) -> u32 {
        let core = &self.how.config.core;
        let waves = threads.div_ceil(core.wave_width).div_ceil(core.schedulers);
        let of_scheduler = core.register_file_bytes / core.schedulers / (4 * core.wave_width).max(1);
        (of_scheduler / waves.max(1)).min(core.max_registers)
    }

    fn run_timed(&mut self, launch: Launch, kernel: String) -> Result<(), Failed> {
        let Engine::Timed(machine) = &mut self.engine else { return Ok(()) };
        let options = run_options(self.how.machine);
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
        let options = run_options(self.how.machine);
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
                let outcome = untimed_outcome(error, &launch, program, self.how.machine);
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

/// Allocations suit every alignment of a variable.
const _: () = assert!(ALIGNMENT_BYTES.is_power_of_two());
