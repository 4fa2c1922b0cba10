//! Runs a kernel on the RTL and the simulator.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;
use wave_isa::program::{Launch, Program, assemble};
use wave_machine::config::{self, Config};
use wave_machine::memory::Script;
use wave_verify::generate;
use wave_verify::rtl::{self, Agreement, Beginning, Cosim, Disagreement, Mode, Trial, Variant};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The machine that the RTL builds.
pub(crate) fn config() -> Config {
    let path = root().join("configs/rtl.ron");
    config::load(&path.to_string_lossy()).expect("configs/rtl.ron is a configuration")
}

pub(crate) use wave_verify::rtl::SMALL_WAVES;

/// The same machine with few wave slots, for quick runs.
pub(crate) fn small_config() -> Config {
    rtl::small(config())
}

/// The executable of a variant of the core. `None` if the user skips the RTL tests.
pub(crate) fn executable(variant: &Variant) -> Option<PathBuf> {
    if rtl::skipped() {
        return None;
    }
    let built = rtl::wave_core(&rtl::directory(), variant)
        .and_then(|model| rtl::build(&model, &root().join("target/rtl")));
    match built {
        Ok(path) => Some(path),
        Err(error) => panic!("{error}\n(set {}=1 to go without the RTL)", rtl::SKIP_VARIABLE),
    }
}

static CORE: LazyLock<Option<PathBuf>> = LazyLock::new(|| executable(&Variant::default()));

/// The core of `configs/rtl.ron`. `None` if the user skips the RTL tests.
pub(crate) fn core() -> Option<&'static std::path::Path> {
    CORE.as_deref()
}

/// A program, its launch, and the machine around it.
pub(crate) struct Case {
    pub program: Program,
    pub launch: Launch,
    pub memory: Vec<u8>,
    pub script: Script,
    pub beginning: Beginning,
    pub config: Config,
    /// Both sides stop after this many cycles.
    pub max_cycles: u32,
}

impl Case {
    /// A kernel in assembly with one workgroup of `threads` threads, and some device memory.
    pub(crate) fn of(text: &str, threads: u32) -> Case {
        let (program, _) = assemble(text, "kernel.wave").unwrap_or_else(|e| panic!("{e:?}"));
        let kernel = &program.kernels[0];
        let launch = Launch {
            kernel: 0,
            grid: [1, 1, 1],
            workgroup: [threads, 1, 1],
            registers: kernel.registers,
            local_memory_bytes: kernel.local_memory_bytes,
            initial_registers: vec![(0, 100), (1, 7)],
        };
        let memory = (0..4096u32).map(|i| (i.wrapping_mul(2654435761) >> 13) as u8).collect();
        Case {
            program,
            launch,
            memory,
            script: script(1, 2, 12),
            beginning: Beginning::default(),
            config: config(),
            max_cycles: 2_000_000,
        }
    }

    /// A random program on a machine.
    pub(crate) fn of_trial(trial: &Trial, config: &Config) -> Case {
        let generate::Case { program, launch, memory } = trial.tree.case();
        let (script, beginning) = (trial.script(), trial.beginning());
        Case { program, launch, memory, script, beginning, config: config.clone(), max_cycles: 2_000_000 }
    }

    /// Sets the grid.
    pub(crate) fn grid(mut self, grid: [u32; 3]) -> Case {
        self.launch.grid = grid;
        self
    }

    /// Runs both sides, with this executable as the core.
    pub(crate) fn run_on(&self, executable: &std::path::Path, mode: Mode) -> Result<Agreement, Disagreement> {
        self.run_with(executable, mode, &[])
    }

    /// As `run_on`, with further arguments for the RTL.
    pub(crate) fn run_with(
        &self,
        executable: &std::path::Path,
        mode: Mode,
        arguments: &[&str],
    ) -> Result<Agreement, Disagreement> {
        let stimulus = tempfile::NamedTempFile::new().expect("a temporary file");
        let cosim = Cosim { mode, ..self.cosim(arguments) };
        cosim.run(executable, stimulus.path())
    }

    /// The co-simulation in every cycle, with further arguments for the RTL.
    pub(crate) fn cosim<'a>(&'a self, arguments: &'a [&'a str]) -> Cosim<'a> {
        Cosim {
            config: &self.config,
            program: &self.program,
            launch: &self.launch,
            memory: &self.memory,
            script: &self.script,
            beginning: &self.beginning,
            mode: Mode::Cycle,
            max_cycles: self.max_cycles,
            patience: Duration::from_secs(120),
            arguments,
            stop: None,
        }
    }

    /// Asserts that both sides agree in both modes. Returns the agreement.
    pub(crate) fn agrees(&self) -> Agreement {
        let Some(core) = core() else { return Agreement::default() };
        let agreement =
            self.run_on(core, Mode::Cycle).unwrap_or_else(|difference| panic!("cycle: {difference}"));
        if let Err(difference) = self.run_on(core, Mode::Architectural) {
            panic!("architectural: {difference}");
        }
        agreement
    }
}

/// A script of random memory latencies between two bounds, determined by the seed.
pub(crate) fn script(seed: u32, from: u32, to: u32) -> Script {
    let mut state = seed.wrapping_mul(2654435761) | 1;
    let latencies = (0..251).map(|_| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        from + state % (to - from + 1)
    });
    Script { first: 0, latencies: latencies.collect(), in_service: 8, overtakes: false }
}
