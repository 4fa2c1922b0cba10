//! A module as a program in which every thread calls a function of an instance of its own.
//!
//! The instances lie in the private memory of the threads, in device memory. The host writes them there before the
//! launch, and reads behind it what the calls came to.

use crate::backend::{self, Options};
use crate::encoding::FUEL;
use crate::error::CompileError;
use crate::ir::{Constant, FunctionId, PAGE_BYTES};
use crate::kernels::{Made, Start, exported_global, located};
use crate::lower::instance::{DEFAULT_TABLE_PLACES, Ended, InstanceOptions, Lane, Layout, State, instances};
use crate::lower::private::Plan;
use crate::source::Source;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Launch, Program};

/// What every thread does.
#[derive(Debug, Clone)]
pub struct Call {
    /// The function.
    pub function: FunctionId,
    /// Its arguments, the same in every thread; they have the types of its parameters.
    pub arguments: Vec<Constant>,
    /// Bytes up to which a memory grows, if its module says no less.
    pub memory_bytes: u64,
    /// Threads of a wave for which there is room, a power of two: as many as the waves of the launch have at most.
    pub lanes: u32,
    /// The machine has f64 instructions, and the code may use them.
    pub f64_instructions: bool,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Called {
    /// How it ended.
    pub ended: Ended,
    /// Its results, if it has returned.
    pub results: Vec<Constant>,
    /// The fuel that is left, if the module counts it.
    pub fuel: Option<u64>,
}

/// Instances of a module, one for each thread of a launch.
#[derive(Debug, Clone)]
pub struct Batch {
    source: Source,
    state: State,
    arguments: Vec<Constant>,
    layout: Layout,
    plan: Plan,
}

impl Batch {
    /// The program, with one kernel, and the instances that it works on.
    ///
    /// # Errors
    /// A segment that does not fit, and what is not supported.
    pub fn new(source: Source, call: Call) -> Result<(Program, Batch), Diagnostic> {
        let module = &source.module;
        let state = State::new(module).map_err(|trap| {
            let what = "a segment does not fit where it is copied at the start";
            Diagnostic::error(format!("{}: {what}: {trap}", source.file))
        })?;
        let wrong = |error: CompileError| located(&source, &error);
        let options = InstanceOptions {
            function: call.function,
            start: module.start,
            most_pages: call.memory_bytes / PAGE_BYTES,
            most_places: DEFAULT_TABLE_PLACES,
            lanes: call.lanes,
        };
        let instances = instances(module, &options).map_err(wrong)?;
        let options = Options {
            f64_instructions: call.f64_instructions,
            lanes: call.lanes,
            ..Options::of_instances(&instances)
        };
        let compiled = backend::compile(&instances.module, instances.entry, &options).map_err(wrong)?;
        let plan = compiled.private.clone().expect("instances are in private memory");
        let mut made = Made::default();
        made.add(&instances.module, instances.entry, compiled);
        let program = made.finish(&source, Start::default());
        let layout = instances.layout;
        Ok((program, Batch { source, state, arguments: call.arguments, layout, plan }))
    }

    /// The module.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Writes the instance of each thread of a launch into device memory, where its private memory begins at `start`.
    /// This memory is all zeros before.
    pub fn write(&self, launch: &Launch, wave_width: u32, start: u32, memory: &mut [u8]) {
        for (wave, lane) in threads(launch, wave_width) {
            let mut lane = Lane::new(memory, &self.plan, start, wave, lane);
            self.layout.write(&self.source.module, &self.state, &self.arguments, &mut lane);
        }
    }

    /// What the calls of a launch came to, in the order of the threads.
    pub fn calls(&self, launch: &Launch, wave_width: u32, start: u32, memory: &mut [u8]) -> Vec<Called> {
        let fuel = exported_global(&self.source.module, FUEL);
        threads(launch, wave_width)
            .map(|(wave, lane)| {
                let lane = Lane::new(memory, &self.plan, start, wave, lane);
                let fuel = fuel.and_then(|fuel| self.layout.global(&self.source.module, fuel, &lane));
                Called {
                    ended: self.layout.ended(&lane),
                    results: self.layout.results(&lane),
                    fuel: fuel.map(Constant::bits),
                }
            })
            .collect()
    }
}

/// Wave, counted through the launch, and lane of each thread.
fn threads(launch: &Launch, wave_width: u32) -> impl Iterator<Item = (u32, u32)> {
    let threads = launch.threads();
    let waves = launch.waves_per_workgroup(wave_width);
    (0..launch.workgroups()).flat_map(move |group| {
        (0..threads).map(move |thread| {
            let wave = group * waves + thread / u64::from(wave_width);
            (wave as u32, (thread % u64::from(wave_width)) as u32)
        })
    })
}
