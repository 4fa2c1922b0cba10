//! `wave-sim cosim`: kernels on the simulator and on the core in SystemVerilog, compared as they run.

use super::args::{CosimArgs, CosimMode};
use super::inputs::{self, Input};
use super::terminal::Terminal;
use super::{Ended, Exit};
use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::gpu::{Gpu, RunOptions};
use crate::launch::{self, Size};
use crate::memory::Script;
use crate::program::{Launch, Program, disassemble};
use crate::rtl::{self, Agreement, Cosim, Disagreement, Mode, Variant};
use crate::verify::generate::{Options, grow};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Answers of the memory side in a script, and the bounds of their latencies.
const LATENCIES: usize = 251;
/// How long the other side may say nothing.
const PATIENCE: Duration = Duration::from_secs(60);
/// Requests that the scripted memory side works on at a time.
const IN_SERVICE: usize = 8;
/// After so many cycles a run is given up.
const MAX_CYCLES: u32 = 100_000_000;

/// Runs what the arguments name on both sides, and reports on each.
///
/// # Errors
/// Whatever is wrong with the names, the files, the configuration, or the build of the other side.
pub fn run(args: &CosimArgs, terminal: &Terminal) -> Ended {
    let wrong = |message: String, hint: &str| Err(vec![Diagnostic::error(message).hint(hint)]);
    let config = inputs::config(&args.config, &args.set, terminal)?;
    if config.cores != 1 {
        return wrong(
            format!(
                "`{}` has {} cores, and a co-simulation is one of a single core",
                args.config, config.cores
            ),
            "leave `--config` out: rtl.ron is the machine of the core in SystemVerilog",
        );
    }
    if args.kernels.is_empty() && args.random == 0 {
        return wrong(
            "there is nothing to run".to_owned(),
            "name kernels of the suite or launch files, or give `--random N`",
        );
    }
    if args.latency.0 == 0 || args.latency.0 > args.latency.1 {
        return wrong(
            format!("--latency {},{}: the bounds are 1 or more and in order", args.latency.0, args.latency.1),
            "such as `--latency 2,12`",
        );
    }
    // What is wrong with the names shows before a build that takes minutes.
    args.kernels.iter().try_for_each(|word| inputs::input(word).map(drop)).map_err(|e| vec![e])?;
    let executable = match &args.core {
        Some(path) => path.clone(),
        None => build(&config)?,
    };
    let stimulus = tempfile::NamedTempFile::new().map_err(|e| {
        vec![Diagnostic::error(format!("no temporary file: {e}")).hint("set TMPDIR to a directory with room")]
    })?;
    let bench = Bench { args, config: &config, executable: &executable, stimulus: stimulus.path() };
    let mut exit = Exit::Success;
    for word in &args.kernels {
        exit = exit.max(bench.kernel(word, terminal)?);
    }
    for seed in args.seed..args.seed.saturating_add(args.random) {
        let case = grow(seed, &Options::of(&config)).case();
        let ended = bench.compare(seed, &case.program, &case.launch, &case.memory);
        exit = exit.max(report(&format!("random program {seed}"), &ended, terminal)?);
        if ended.is_err() {
            terminal.out(&disassemble(&case.program))?;
        }
    }
    Ok(exit)
}

/// The core of the source tree for a machine that differs from `rtl.ron` in its wave slots at most.
fn build(config: &Config) -> Result<PathBuf, Vec<Diagnostic>> {
    let directory = rtl::directory();
    let waves = Some(config.core.max_waves);
    let variant = Variant { waves, ..Variant::default() };
    let built = rtl::wave_core(&directory, &variant)
        .and_then(|model| rtl::build(&model, &directory.join("../target/rtl")));
    built.map_err(|error| {
        let hint = "or give `--core EXECUTABLE`, which rtl-tests/README.md describes";
        vec![Diagnostic::error(error.to_string()).hint(hint)]
    })
}

struct Bench<'a> {
    args: &'a CosimArgs,
    config: &'a Config,
    executable: &'a Path,
    stimulus: &'a Path,
}

impl Bench<'_> {
    /// A kernel of the suite or a launch file: each of its launches by itself, on the memory that those before left.
    fn kernel(&self, word: &str, terminal: &Terminal) -> Ended {
        let Input::Launch(name) = inputs::input(word).map_err(|e| vec![e])? else {
            let hint = "write a launch file for it, which docs/kernels.md describes";
            return Err(vec![Diagnostic::error(format!("`{word}` says nothing of its launch")).hint(hint)]);
        };
        let job = launch::load(&name, Size::Small)?;
        let missing = job.missing(&self.config.capabilities);
        if !missing.is_empty() {
            return terminal.out(&format!("{name}: left out, it needs {}\n", missing.join(", ")));
        }
        let mut memory = job.memory.clone();
        let mut exit = Exit::Success;
        for (number, step) in job.steps.iter().enumerate() {
            let title = match job.steps.len() {
                1 => name.clone(),
                _ => format!("{name}, launch {number}"),
            };
            let ended = self.compare(self.args.seed, &job.program, step, &memory);
            exit = exit.max(report(&title, &ended, terminal)?);
            let mut gpu = Gpu::new(self.config, &job.program, memory);
            // What is wrong with it has been reported.
            if gpu.run(step, &RunOptions::UNBOUNDED, &mut crate::core::probe::Off, &mut |_| {}).is_err() {
                break;
            }
            memory = gpu.into_memory();
        }
        Ok(exit)
    }

    fn compare(
        &self,
        seed: u64,
        program: &Program,
        launch: &Launch,
        memory: &[u8],
    ) -> Result<Agreement, Disagreement> {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let (from, to) = self.args.latency;
        let latencies = (0..LATENCIES).map(|_| rng.random_range(from..=to)).collect();
        let script = &Script { latencies, in_service: IN_SERVICE };
        let mode = match self.args.mode {
            CosimMode::Cycle => Mode::Cycle,
            CosimMode::Architectural => Mode::Architectural,
        };
        let (config, max_cycles, patience, arguments) = (self.config, MAX_CYCLES, PATIENCE, &[][..]);
        Cosim { config, program, launch, memory, script, mode, max_cycles, patience, arguments }
            .run(self.executable, self.stimulus)
    }
}

fn report(title: &str, ended: &Result<Agreement, Disagreement>, terminal: &Terminal) -> Ended {
    match ended {
        Ok(agreement) => {
            let Agreement { cycles, instructions, records, fault } = agreement;
            let end = if *fault { ", up to the fault in both" } else { "" };
            terminal.out(&format!(
                "{title}: agrees{end}; {cycles} cycles, {instructions} wave instructions, {records} records\n"
            ))
        }
        Err(difference) => {
            terminal.out(&format!("{title}: {difference}\n"))?;
            Ok(match difference {
                Disagreement::Refused(_) => Exit::WrongInput,
                _ => Exit::WrongResult,
            })
        }
    }
}
