//! The runs of a sweep: a machine, a kernel with its data, and the name of the result, each by its number.

use super::args::{PlanArgs, SweepArgs};
use crate::args::{CLANG_FLAGS, DEFAULT_CONFIG, DataSize};
use crate::host::application::Application;
use crate::inputs::{self, Input};
use crate::session::launch_flags;
use crate::work::{self, Data};
use std::collections::HashMap;
use std::sync::Arc;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Launch, Program};
use wave_machine::config::{self, Config};
use wave_study::launch::{Job, Size};
use wave_study::sweep::{Bounds, Digest, Draft, Plan, Point, Sampling, Subject, key};
use wave_study::validate::machine_of_programs;

/// Most bytes of device memory images that a process keeps.
const MOST_KEPT_BYTES: usize = 1 << 29;

/// Everything that a sweep runs.
pub(crate) struct Sweep {
    /// The machine without axes.
    pub base: Config,
    /// Its axes, kernels and seeds.
    pub plan: Plan,
    /// Its points.
    pub points: Vec<Point>,
    /// The workloads of each point.
    pub workloads: Vec<Workload>,
    /// Bounds of each run.
    pub bounds: Bounds,
    /// What the configuration file has to say.
    pub warnings: Vec<Diagnostic>,
    size: Size,
    name: String,
    set: Vec<String>,
    /// Machines with a memory part of their own, which a file states.
    parts: HashMap<String, Result<Config, String>>,
}

/// A workload: a kernel or a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Workload {
    /// A kernel file, a launch file, or a name of the suite.
    Kernel(Input),
    /// A program, unmodified.
    Program(Application),
}

impl Workload {
    /// Its name in tables.
    pub(crate) fn name(&self) -> String {
        match self {
            Workload::Kernel(input) => input.name(),
            Workload::Program(program) => program.name(),
        }
    }
}

/// A run of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Case {
    /// Place of the point.
    pub point: usize,
    /// Place of the kernel.
    pub kernel: usize,
    /// Seed of its data.
    pub seed: Option<u64>,
}

impl Sweep {
    /// Reads the plan and the machine. Points are not made yet.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub(crate) fn read(args: &PlanArgs, mut draft: Draft) -> Result<Sweep, Vec<Diagnostic>> {
        let name = draft.config.clone().unwrap_or_else(|| DEFAULT_CONFIG.to_owned());
        let set: Vec<String> = draft.set.iter().chain(&draft.set_by_flags).cloned().collect();
        let (mut base, warnings) = config::load_with_settings(&name, &set)?;
        let program = args.program(&draft).map_err(|wrong| vec![wrong])?;
        if let Some(program) = &program {
            draft.kernels = vec![program.name()];
            base = machine_of_programs(base);
        }
        let plan = Plan::new(&draft, &base)?;
        let mut wrong = Vec::new();
        let words = plan.kernels.iter().filter(|_| program.is_none());
        let inputs: Vec<Input> =
            words.filter_map(|word| inputs::input(word).map_err(|e| wrong.push(e)).ok()).collect();
        match &program {
            None => wrong.extend(launch_flags(&args.launch, &inputs, false)),
            Some(program) => wrong.extend(args.not_for_programs(program, plan.seeds[0].is_some())),
        }
        if let (Some(kernel), Some(_)) =
            (inputs.iter().find(|input| matches!(input, Input::Kernel(_))), plan.seeds[0])
        {
            let message = format!("seeds are for launch files: `{}` has no random data", kernel.name());
            wrong.push(Diagnostic::error(message));
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let bound = |n: Option<u64>| n.filter(|&n| n > 0);
        Ok(Sweep {
            base,
            plan,
            points: Vec::new(),
            workloads: program
                .map(Workload::Program)
                .into_iter()
                .chain(inputs.into_iter().map(Workload::Kernel))
                .collect(),
            bounds: Bounds {
                max_cycles: bound(args.max_cycles),
                max_instructions: bound(args.max_instructions),
            },
            warnings,
            size: draft.size.unwrap_or_default(),
            name,
            set,
            parts: HashMap::new(),
        })
    }

    /// Makes the points.
    ///
    /// # Errors
    /// As [`Plan::points`].
    pub(crate) fn make_points(&mut self) -> Result<(), Vec<Diagnostic>> {
        self.points = self.plan.points().map_err(|error| vec![error])?;
        Ok(())
    }

    /// Number of runs.
    pub(crate) fn len(&self) -> usize {
        self.points.len() * self.workloads.len() * self.plan.seeds.len()
    }

    /// The run with this number. Kernels of a point follow one another, and seeds of a kernel.
    pub(crate) fn case(&self, number: usize) -> Case {
        let (seeds, kernels) = (self.plan.seeds.len(), self.workloads.len());
        Case {
            point: number / seeds / kernels,
            kernel: number / seeds % kernels,
            seed: self.plan.seeds[number % seeds],
        }
    }

    /// The machine of a point.
    ///
    /// # Errors
    /// Why there is no such machine.
    pub(crate) fn machine(&mut self, point: usize) -> Result<Config, String> {
        let settings = self.plan.settings(&self.points[point]);
        let (parts, settings): (Vec<String>, Vec<String>) =
            settings.into_iter().partition(|setting| setting.starts_with("dram.part="));
        let base = match parts.into_iter().next() {
            None => &self.base,
            Some(part) => {
                let words: Vec<String> = self.set.iter().chain([&part]).cloned().collect();
                let load = || config::load_with_settings(&self.name, &words).map(|(c, _)| c).map_err(reasons);
                self.parts.entry(part).or_insert_with(load).as_ref().map_err(Clone::clone)?
            }
        };
        let config = base.with(&settings).map_err(reasons)?;
        Ok(match self.workloads[0] {
            Workload::Program(_) => machine_of_programs(config),
            Workload::Kernel(_) => config,
        })
    }

    /// What runs, with its data.
    ///
    /// # Errors
    /// Why it cannot run on the machine.
    fn load(&self, args: &PlanArgs, case: Case, config: &Config) -> Result<Loaded, Vec<Diagnostic>> {
        let input = match &self.workloads[case.kernel] {
            Workload::Kernel(input) => input,
            Workload::Program(program) => {
                let digest = program.digest().map_err(|wrong| vec![wrong])?;
                return Ok(Loaded::Program(program.clone(), digest));
            }
        };
        let data = Data { size: self.size, seed: case.seed, device_memory: None };
        let mut work = work::work(input, &args.launch, data, config)?;
        let bytes = work.memory.len();
        let used = work.memory.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        work.memory.truncate(used);
        work.memory.shrink_to_fit();
        let digest = Subject {
            program: &work.program,
            memory: &work.memory,
            launches: &work.steps,
            expected: work.expected.as_ref(),
            device_memory: bytes as u64,
        }
        .digest();
        Ok(Loaded::Kernel(Box::new(Kernel {
            name: work.name,
            program: work.program,
            image: work.memory,
            bytes,
            launches: work.steps,
            expected: work.expected,
            warnings: work.warnings,
            digest,
        })))
    }
}

/// The messages of errors in one line.
fn reasons(errors: Vec<Diagnostic>) -> String {
    errors.into_iter().map(|error| error.message).collect::<Vec<_>>().join("; ")
}

impl PlanArgs {
    /// The program behind `--`, if no kernel is named. Behind a kernel, the words there are flags of clang.
    ///
    /// # Errors
    /// There is no such program.
    fn program(&self, draft: &Draft) -> Result<Option<Application>, Diagnostic> {
        let words = &self.launch.source.clang;
        if !draft.kernels.is_empty() || words.is_empty() {
            return Ok(None);
        }
        Application::new(words).map(Some)
    }

    /// The error about a flag that is not for programs.
    fn not_for_programs(&self, program: &Application, has_seeds: bool) -> Option<Diagnostic> {
        // Its own words are there, where those of clang would be.
        let flags = self.launch.given().into_iter().filter(|flag| *flag != CLANG_FLAGS);
        let flags = flags.chain(has_seeds.then_some("--seeds")).chain(self.size.map(|_| "--size"));
        let flag = flags.into_iter().next()?;
        let message = format!("{flag} is for kernels, and `{}` launches its own", program.name());
        Some(Diagnostic::error(message).hint("its arguments stand behind its name"))
    }

    /// The plan and the flags together.
    ///
    /// # Errors
    /// The plan file cannot be read, or is none.
    pub(crate) fn draft(&self) -> Result<Draft, Vec<Diagnostic>> {
        let mut draft = self.file.as_deref().map_or_else(|| Ok(Draft::default()), Draft::read)?;
        self.set.iter().for_each(|word| draft.set(word));
        self.constraints.iter().for_each(|formula| draft.constrain(formula));
        if let Some(seeds) = &self.seeds {
            draft.seeds(seeds);
        }
        if !self.inputs.is_empty() {
            draft.kernels.clone_from(&self.inputs);
        }
        draft.config = self.config.clone().or(draft.config);
        draft.size = match self.size {
            Some(DataSize::Full) => Some(Size::Full),
            Some(DataSize::Small) => Some(Size::Small),
            None => draft.size,
        };
        Ok(draft)
    }
}

impl SweepArgs {
    /// The same with the choice of points.
    ///
    /// # Errors
    /// As [`PlanArgs::draft`]; a seed where all points are to run.
    pub(super) fn draft(&self) -> Result<Draft, Vec<Diagnostic>> {
        let mut draft = self.plan.draft()?;
        let seed = self.sample_seed;
        draft.sampling = match (self.random, self.latin_hypercube, draft.sampling) {
            (Some(samples), ..) => Some(Sampling::Random { samples, seed: seed.unwrap_or(1) }),
            (_, Some(samples), _) => Some(Sampling::LatinHypercube { samples, seed: seed.unwrap_or(1) }),
            (_, _, Some(Sampling::Random { samples, seed: old })) => {
                Some(Sampling::Random { samples, seed: seed.unwrap_or(old) })
            }
            (_, _, Some(Sampling::LatinHypercube { samples, seed: old })) => {
                Some(Sampling::LatinHypercube { samples, seed: seed.unwrap_or(old) })
            }
            (_, _, grid) if seed.is_none() => grid,
            _ => {
                let message = "--sample-seed is for a sample of the points, and all of them are to run";
                return Err(vec![
                    Diagnostic::error(message).hint("--latin-hypercube N or --random N takes a sample"),
                ]);
            }
        };
        Ok(draft)
    }
}

/// What runs, ready to run.
pub(crate) enum Loaded {
    /// A kernel.
    Kernel(Box<Kernel>),
    /// A program, and what identifies it.
    Program(Application, Digest),
}

impl Loaded {
    /// Identifies it.
    pub(crate) fn digest(&self) -> Digest {
        match self {
            Loaded::Kernel(kernel) => kernel.digest,
            Loaded::Program(_, digest) => *digest,
        }
    }

    /// Bytes of its image.
    fn image_bytes(&self) -> usize {
        match self {
            Loaded::Kernel(kernel) => kernel.image.len(),
            Loaded::Program(..) => 0,
        }
    }
}

/// A kernel with its data, ready to run.
pub(crate) struct Kernel {
    /// Its name.
    pub name: String,
    /// The kernels.
    pub program: Program,
    /// The beginning of device memory; zeros follow.
    pub image: Vec<u8>,
    /// Bytes of device memory.
    pub bytes: usize,
    /// Launches, in order.
    pub launches: Vec<Launch>,
    /// What a launch file requires and expects.
    pub expected: Option<Job>,
    /// What there is to say about it.
    pub warnings: Vec<Diagnostic>,
    /// Identifies all of this.
    pub digest: Digest,
}

impl Kernel {
    /// All of device memory.
    pub(crate) fn memory(&self) -> Vec<u8> {
        let mut memory = vec![0; self.bytes];
        memory[..self.image.len()].copy_from_slice(&self.image);
        memory
    }
}

/// What decides how a kernel is loaded: its place, the seed, and what it takes from the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Loading {
    kernel: usize,
    seed: Option<u64>,
    device_memory: u64,
    wave_width: u32,
    f64: bool,
}

/// Kernels that are loaded.
#[derive(Default)]
pub(crate) struct Kernels {
    loaded: HashMap<Loading, Result<Arc<Loaded>, String>>,
    digests: HashMap<Loading, Result<Digest, String>>,
    bytes: usize,
}

impl Kernels {
    fn loading(case: Case, config: &Config) -> Loading {
        Loading {
            kernel: case.kernel,
            seed: case.seed,
            device_memory: config.device_memory_bytes,
            wave_width: config.core.wave_width,
            f64: config.capabilities.f64,
        }
    }

    /// The kernel of a run.
    ///
    /// # Errors
    /// Why it cannot run on the machine.
    pub(crate) fn load(
        &mut self,
        sweep: &Sweep,
        args: &PlanArgs,
        case: Case,
        config: &Config,
    ) -> Result<Arc<Loaded>, String> {
        let loading = Kernels::loading(case, config);
        if let Some(known) = self.loaded.get(&loading) {
            return known.clone();
        }
        let loaded = sweep.load(args, case, config).map(Arc::new).map_err(reasons);
        let bytes = loaded.as_ref().map_or(0, |loaded| loaded.image_bytes());
        if self.bytes + bytes > MOST_KEPT_BYTES {
            self.loaded.clear();
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.loaded.insert(loading, loaded.clone());
        loaded
    }

    /// The name of the result of a run.
    ///
    /// # Errors
    /// Why the kernel cannot run on the machine.
    pub(crate) fn key(
        &mut self,
        sweep: &Sweep,
        args: &PlanArgs,
        case: Case,
        config: &Config,
    ) -> Result<String, String> {
        let loading = Kernels::loading(case, config);
        let digest = self
            .digests
            .entry(loading)
            .or_insert_with(|| sweep.load(args, case, config).map(|loaded| loaded.digest()).map_err(reasons))
            .clone()?;
        Ok(key(config, digest, sweep.bounds))
    }

    /// Loads every kernel on the machine without axes, to find what is wrong with it before anything runs. Returns
    /// warnings.
    ///
    /// # Errors
    /// The errors of the kernels.
    pub(crate) fn check(
        &mut self,
        sweep: &Sweep,
        args: &PlanArgs,
    ) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let (mut warnings, mut wrong) = (Vec::new(), Vec::new());
        for kernel in 0..sweep.workloads.len() {
            let case = Case { point: 0, kernel, seed: sweep.plan.seeds[0] };
            match sweep.load(args, case, &sweep.base) {
                Ok(loaded) => {
                    self.digests.insert(Kernels::loading(case, &sweep.base), Ok(loaded.digest()));
                    if let Loaded::Kernel(kernel) = loaded {
                        warnings.extend(kernel.warnings);
                    }
                }
                Err(errors) => wrong.extend(errors),
            }
        }
        if wrong.is_empty() { Ok(warnings) } else { Err(wrong) }
    }
}
