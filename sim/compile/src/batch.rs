//! A module as a program in which every thread calls functions of an instance of its own.
//!
//! The instances lie in the private memory of the threads, in device memory. The host writes them there before the
//! launch, and reads behind it what the calls came to.

use crate::backend::{self, Options};
use crate::encoding::FUEL;
use crate::error::CompileError;
use crate::ir::{Constant, GlobalId, MemoryId, PAGE_BYTES, Space};
use crate::kernels::{Made, Start, exported_global, located};
use crate::lower::instance::{DEFAULT_TABLE_PLACES, Ended, InstanceOptions, Lane, Layout, State, instances};
use crate::lower::private::Plan;
use crate::sequence::Sequence;
pub use crate::sequence::Step;
use crate::source::Source;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Launch, Program};

/// What every thread does.
#[derive(Debug, Clone)]
pub struct Calls {
    /// The calls of its instance, one after the other: at least one.
    pub steps: Vec<Step>,
    /// Bytes up to which a memory grows, if its module says no less.
    pub memory_bytes: u64,
    /// Threads of a wave for which there is room, a power of two: as many as the waves of the launch have at most.
    pub lanes: u32,
    /// The machine has f64 instructions, and the code may use them.
    pub f64_instructions: bool,
}

/// What the calls of a thread came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Called {
    /// How the last of them ended.
    pub ended: Ended,
    /// The results of those that have returned.
    pub results: Vec<Vec<Constant>>,
    /// The fuel that is left, if the module counts it.
    pub fuel: Option<u64>,
}

/// Instances of a module, one for each thread of a launch.
#[derive(Debug, Clone)]
pub struct Batch {
    source: Source,
    state: State,
    arguments: Vec<Constant>,
    /// Where the results are, if there are several calls.
    sequence: Option<Sequence>,
    layout: Layout,
    plan: Plan,
}

impl Batch {
    /// The program, with one kernel, and the instances that it works on.
    ///
    /// # Errors
    /// A segment that does not fit, and what is not supported.
    ///
    /// # Panics
    /// If there is no call.
    pub fn new(mut source: Source, calls: Calls) -> Result<(Program, Batch), Diagnostic> {
        let mut steps = calls.steps;
        let (function, arguments, sequence) = match steps.as_mut_slice() {
            [(function, arguments)] => (*function, std::mem::take(arguments), None),
            steps => {
                assert!(!steps.is_empty(), "there is a call");
                let sequence = Sequence::add(&mut source.module, steps);
                (sequence.function, Vec::new(), Some(sequence))
            }
        };
        let module = &source.module;
        let state = State::new(module).map_err(|trap| {
            let what = "a segment does not fit where it is copied at the start";
            Diagnostic::error(format!("{}: {what}: {trap}", source.file))
        })?;
        let wrong = |error: CompileError| located(&source, &error);
        let options = InstanceOptions {
            function,
            start: module.start,
            most_pages: calls.memory_bytes / PAGE_BYTES,
            most_places: DEFAULT_TABLE_PLACES,
            lanes: calls.lanes,
        };
        let instances = instances(module, &options).map_err(wrong)?;
        let options = Options {
            f64_instructions: calls.f64_instructions,
            lanes: calls.lanes,
            ..Options::of_instances(&instances)
        };
        let compiled = backend::compile(&instances.module, instances.entry, &options).map_err(wrong)?;
        let plan = compiled.private.clone().expect("instances are in private memory");
        let mut made = Made::default();
        made.add(&instances.module, instances.entry, compiled);
        let program = made.finish(&source, Start::default());
        let layout = instances.layout;
        Ok((program, Batch { source, state, arguments, sequence, layout, plan }))
    }

    /// The linear memory of an instance.
    fn memory(&self) -> Option<MemoryId> {
        let memories = self.source.module.memories.iter();
        memories.filter(|(_, memory)| memory.space == Space::Device).map(|(id, _)| id).next()
    }

    /// Bytes up to which the linear memory of an instance grows; `None` if it has none.
    pub fn most_memory_bytes(&self) -> Option<u64> {
        let id = self.memory()?;
        Some(self.layout.most_bytes(id).unwrap_or(self.state.memories[id].len() as u64))
    }

    /// The instances begin with these bytes at the beginning of their linear memory, which grows where it is smaller.
    ///
    /// # Panics
    /// If they are more than [`most_memory_bytes`](Self::most_memory_bytes).
    pub fn load(&mut self, bytes: &[u8]) {
        let id = self.memory().expect("there is a memory");
        let unit = self.source.module.memories[id].page_bytes as usize;
        let memory = &mut self.state.memories[id];
        let needed = bytes.len().next_multiple_of(unit);
        if needed > memory.len() {
            memory.resize(needed, 0);
        }
        memory[..bytes.len()].copy_from_slice(bytes);
    }

    /// The linear memory of the instance of each thread of a launch, in the order of the threads.
    pub fn memories(
        &self,
        launch: &Launch,
        wave_width: u32,
        start: u32,
        memory: &mut [u8],
        each: &mut dyn FnMut(usize, Vec<u8>),
    ) {
        let Some(id) = self.memory() else { return };
        for (number, (wave, lane)) in threads(launch, wave_width).enumerate() {
            let mut state = self.state.clone();
            let lane = Lane::new(memory, &self.plan, start, wave, lane);
            self.layout.read(&mut state, &lane);
            each(number, std::mem::take(&mut state.memories[id]));
        }
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
                let global = |id| self.layout.global(&self.source.module, id, &lane);
                let fuel = fuel.and_then(global).map(Constant::bits);
                let ended = self.layout.ended(&lane);
                let results = match &self.sequence {
                    None if ended == Ended::Returned => vec![self.layout.results(&lane)],
                    None => Vec::new(),
                    Some(sequence) => {
                        let count = global(sequence.returned).map_or(0, Constant::bits) as usize;
                        let of_call = |ids: &Vec<GlobalId>| ids.iter().filter_map(|&id| global(id)).collect();
                        sequence.results.iter().take(count).map(of_call).collect()
                    }
                };
                Called { ended, results, fuel }
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
