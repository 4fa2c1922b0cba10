//! Stands in for the reference emulator as a library: what its conformance suite calls, each run by the executable
//! that the environment variable `WAVE_SIM` names, with the emulator's flags.

#![forbid(unsafe_code)]

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The name of the environment variable with the path of the executable.
pub const EXECUTABLE: &str = "WAVE_SIM";

/// The executable that runs everything.
pub fn executable() -> PathBuf {
    std::env::var_os(EXECUTABLE).expect("WAVE_SIM is the path of the executable wave-sim").into()
}

/// A launch and the machine for it.
#[derive(Debug, Clone)]
pub struct EmulatorConfig {
    pub grid_dim: [u32; 3],
    pub workgroup_dim: [u32; 3],
    pub register_count: u32,
    pub local_memory_size: usize,
    pub device_memory_size: usize,
    pub wave_width: u32,
    pub trace_enabled: bool,
    pub f64_enabled: bool,
    pub max_instructions: u64,
    pub initial_registers: Vec<(u8, u32)>,
}

impl Default for EmulatorConfig {
    fn default() -> Self {
        EmulatorConfig {
            grid_dim: [1, 1, 1],
            workgroup_dim: [32, 1, 1],
            register_count: 32,
            local_memory_size: 16384,
            device_memory_size: 1 << 20,
            wave_width: 32,
            trace_enabled: false,
            f64_enabled: false,
            max_instructions: 10_000_000,
            initial_registers: Vec::new(),
        }
    }
}

/// What the executable said on standard error.
#[derive(Debug)]
pub struct EmulatorError(String);

impl fmt::Display for EmulatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EmulatorError {}

impl From<std::io::Error> for EmulatorError {
    fn from(error: std::io::Error) -> Self {
        EmulatorError(error.to_string())
    }
}

/// Figures of a run.
#[derive(Debug, Default)]
pub struct ExecutionStats {
    pub instructions_executed: u64,
}

/// What a run gives.
#[derive(Debug)]
pub struct EmulatorResult {
    pub stats: ExecutionStats,
}

/// A machine with a program and device memory.
pub struct Emulator {
    config: EmulatorConfig,
    binary: Vec<u8>,
    memory: Vec<u8>,
}

impl Emulator {
    pub fn new(config: EmulatorConfig) -> Self {
        let memory = vec![0; config.device_memory_size];
        Emulator { config, binary: Vec::new(), memory }
    }

    /// Whether the container is a good one is said by the run.
    pub fn load_binary(&mut self, binary: &[u8]) -> Result<(), EmulatorError> {
        self.binary = binary.to_vec();
        Ok(())
    }

    pub fn load_device_memory(&mut self, offset: u64, data: &[u8]) -> Result<(), EmulatorError> {
        self.part(offset, data.len())?.copy_from_slice(data);
        Ok(())
    }

    pub fn read_device_memory(&mut self, offset: u64, bytes: usize) -> Result<Vec<u8>, EmulatorError> {
        self.part(offset, bytes).map(|part| part.to_vec())
    }

    fn part(&mut self, offset: u64, bytes: usize) -> Result<&mut [u8], EmulatorError> {
        let start = offset as usize;
        let range = start..start.saturating_add(bytes);
        self.memory.get_mut(range).ok_or_else(|| EmulatorError(format!("{bytes} bytes at {offset}: out of memory")))
    }

    /// Runs the first kernel.
    pub fn run(&mut self) -> Result<EmulatorResult, EmulatorError> {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("wave-emu-{}-{run}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let result = self.run_in(&folder);
        std::fs::remove_dir_all(&folder)?;
        result
    }

    fn run_in(&mut self, folder: &Path) -> Result<EmulatorResult, EmulatorError> {
        let [kernel, before, after] = ["kernel.wbin", "before.bin", "after.bin"].map(|name| folder.join(name));
        std::fs::write(&kernel, &self.binary)?;
        std::fs::write(&before, &self.memory)?;
        let c = &self.config;
        let sizes = |[x, y, z]: [u32; 3]| format!("{x},{y},{z}");
        let mut command = Command::new(executable());
        command.arg(&kernel);
        command.args(["--grid", &sizes(c.grid_dim), "--workgroup", &sizes(c.workgroup_dim)]);
        command.args(["--registers", &c.register_count.to_string()]);
        command.args(["--local-memory", &c.local_memory_size.to_string()]);
        command.args(["--device-memory", &self.memory.len().to_string()]);
        command.args(["--wave-width", &c.wave_width.to_string()]);
        command.args(["--max-instructions", &c.max_instructions.to_string()]);
        for (register, value) in &c.initial_registers {
            command.args(["--set-reg", &format!("{register}:{value}")]);
        }
        if c.f64_enabled {
            command.args(["--set", "capabilities.f64=true"]);
        }
        command.args(["--arg", &format!("0:{}", before.display())]);
        command.args(["--save", &format!("0:{}:{}", self.memory.len(), after.display())]);
        let output = command.output()?;
        if !output.status.success() {
            return Err(EmulatorError(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        self.memory = std::fs::read(&after)?;
        let report = String::from_utf8_lossy(&output.stdout).into_owned();
        let count = report.split("wave_instructions=").nth(1).and_then(|rest| rest.split(' ').next());
        let count = count.and_then(|digits| digits.parse().ok());
        let instructions_executed =
            count.ok_or_else(|| EmulatorError(format!("no count of instructions in the report:\n{report}")))?;
        Ok(EmulatorResult { stats: ExecutionStats { instructions_executed } })
    }
}
