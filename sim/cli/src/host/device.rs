//! The device that one process sees: a machine, its memory, its modules.

mod launch;

use super::allocator::{ALIGNMENT_BYTES, Allocator};
use super::modules::{Failed, Modules};
use super::timeline::{HostTime, Timeline, Way};
use super::watching::{Shared, Watching};
use crate::args::BoundArgs;
use std::sync::Arc;
use std::time::Instant;
use wave_compile::ptx::{PtxParameter, PtxSpace};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Output, Program};
use wave_machine::config::Config;
use wave_machine::gpu::Machine;
use wave_runtime::protocol::{DeviceFacts, Failure, KernelFacts, ParameterFacts, PointsTo, Reply, Request};
use wave_study::launch::Verification;
use wave_study::sample::Sampler;
use wave_study::summary::{Outcome, Run};

/// The simulation of kernels, with or without timing.
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
    pub(super) bounds: &'a BoundArgs,
    /// Without timing.
    pub(super) functional: bool,
    /// With empty caches before each launch.
    pub(super) cold: bool,
    /// Parts of a launch without timing.
    pub(super) sample: bool,
    /// Trace files and the report.
    pub(super) wanted: &'a Shared,
    /// Time of launches and copies.
    pub(super) host: HostTime,
    /// The timeline is wanted, not only its sums.
    pub(super) timeline: bool,
}

/// The account of a process that has ended.
#[derive(Debug)]
pub(super) struct Done {
    /// Its launches.
    pub(super) run: Run,
    /// Simulated time.
    pub(super) timeline: Timeline,
    /// Time of this host.
    pub(super) seconds: Seconds,
}

/// Time of this host that a process has taken here.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seconds {
    /// In the simulation of kernels.
    pub(super) simulated: f64,
    /// In the compilation of kernels.
    pub(super) code: f64,
    /// In other requests.
    pub(super) others: f64,
    /// Number of all requests.
    pub(super) requests: u64,
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
    timeline: Timeline,
    /// Time of this host.
    seconds: Seconds,
    /// The launches.
    run: Run,
    /// Observers of the launches.
    watching: Option<Watching>,
    /// A kernel has failed, and nothing runs since.
    is_lost: bool,
}

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
            timeline: Timeline::new(how.host, how.timeline),
            seconds: Seconds::default(),
            run: Run::new(program, Outcome::Ended(Verification::Nothing)),
            watching: None,
            is_lost: false,
        }
    }

    /// Ends the process: its account, and errors about its files.
    pub(super) fn finish(mut self) -> (Done, Vec<Diagnostic>) {
        let written = match (self.watching.take(), &mut self.engine) {
            (Some(watching), Engine::Timed(machine)) => watching.finish(machine, &self.run, self.cycles),
            _ => Ok(()),
        };
        let Device { run, timeline, seconds, modules, .. } = self;
        let mut messages = modules.remarks().to_vec();
        messages.extend(written.err().unwrap_or_default());
        (Done { run, timeline, seconds }, messages)
    }

    /// Time of so many cycles, ns.
    fn nanoseconds(&self, cycles: u64) -> f64 {
        cycles as f64 * 1000.0 / f64::from(self.how.config.core_clock_mhz.max(1))
    }

    /// Does what a program asks for.
    ///
    /// # Errors
    /// Why it is not done.
    pub(super) fn answer(&mut self, request: &Request, data: &[u8]) -> Answer {
        let (start, before) = (Instant::now(), self.seconds);
        let answer = self.act(request, data);
        let seconds = &mut self.seconds;
        let known = seconds.simulated - before.simulated + seconds.code - before.code;
        let rest = start.elapsed().as_secs_f64() - known;
        match request {
            Request::Load { .. } | Request::Compile { .. } | Request::Kernel { .. } => seconds.code += rest,
            _ => seconds.others += rest,
        }
        seconds.requests += 1;
        answer
    }

    fn act(&mut self, request: &Request, data: &[u8]) -> Answer {
        match request {
            Request::Hello { .. } | Request::Note { .. } => done(),
            Request::Device {} => Ok((Reply::Device { facts: self.facts() }, Vec::new())),
            Request::Free {} => Ok((Reply::Value { value: self.memory.free() }, Vec::new())),
            Request::Time {} => Ok((Reply::Value { value: self.timeline.now_ns() as u64 }, Vec::new())),
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
                self.timeline.copy(Way::ToDevice, data.len() as u64);
                done()
            }
            Request::Read { address, bytes } => {
                let range = self.range(*address, *bytes)?;
                let bytes = match &mut self.engine {
                    Engine::Timed(machine) => machine.memory()[range].to_vec(),
                    Engine::Functional(memory) => memory[range].to_vec(),
                };
                self.timeline.copy(Way::ToHost, bytes.len() as u64);
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
}

/// Allocations suit every alignment of a variable.
const _: () = assert!(ALIGNMENT_BYTES.is_power_of_two());
