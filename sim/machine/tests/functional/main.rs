//! The machine without timing: waves that wait for one another, runs that stop on the way, faults.

mod faults;
mod inactive;
mod places;
mod stops;
mod synchronisation;

use wave_isa::program::{Launch, Program, assemble};
use wave_machine::config::{self, Config};
use wave_machine::functional::{self, ExecutionError, Limits, Report};

/// A program with one kernel, and a launch of it.
pub struct Kernel {
    program: Program,
    launch: Launch,
}

/// A kernel with this body, launched with so many workgroups of so many threads. Lanes have 16 registers, whatever the
/// assembler lets pass.
pub fn kernel(body: &str, workgroups: u32, threads: u32) -> Kernel {
    let text = format!(".kernel k\n.registers 256\n.local_memory 256\n{body}\n.end\n");
    let (program, _) =
        assemble(&text, "k.wave").unwrap_or_else(|errors| panic!("{}", errors[0].render(false)));
    let launch = Launch {
        kernel: 0,
        grid: [workgroups, 1, 1],
        workgroup: [threads, 1, 1],
        registers: 16,
        local_memory_bytes: 256,
        initial_registers: Vec::new(),
    };
    Kernel { program, launch }
}

impl Kernel {
    /// Runs it to its end or to a bound that no kernel here needs.
    pub fn run(&self, config: &Config, memory: &mut [u8]) -> Result<Report, ExecutionError> {
        let limits = Limits { max_instructions: Some(20_000_000), ..Limits::default() };
        functional::run(config, &self.program, &self.launch, memory, &limits, &mut |_| {})
    }
}

/// 2 cores of 8 lanes.
pub fn tiny() -> Config {
    config::load("tiny").expect("a preset")
}

/// The word at an address of device memory.
pub fn word(memory: &[u8], address: usize) -> u32 {
    u32::from_le_bytes(memory[address..][..4].try_into().unwrap())
}
