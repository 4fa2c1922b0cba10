//! The stimulus file: everything that a core in another language needs to run one launch, as 32-bit words in
//! little-endian order. rtl-tests/README.md lists them.

use crate::config::Config;
use crate::gpu::occupancy::Occupancy;
use crate::memory::Script;
use crate::program::{Launch, Program};

const MAGIC: u32 = u32::from_le_bytes(*b"WSTM");
const VERSION: u32 = 1;
/// Registers that can have an initial value.
const REGISTERS: usize = 64;

/// One launch on one core.
#[derive(Debug, Clone)]
pub struct Stimulus<'a> {
    /// The machine.
    pub config: &'a Config,
    /// The code.
    pub program: &'a Program,
    /// What runs.
    pub launch: &'a Launch,
    /// How the launch occupies the core.
    pub occupancy: Occupancy,
    /// All of device memory.
    pub memory: &'a [u8],
    /// The memory side.
    pub script: &'a Script,
    /// After so many cycles the run is given up.
    pub max_cycles: u32,
    /// For registers that reset does not set.
    pub seed: u32,
}

impl Stimulus<'_> {
    /// The file's bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let (launch, config) = (self.launch, self.config);
        let kernel = &self.program.kernels[launch.kernel];
        let interconnect = &config.interconnect;
        let mut words = vec![MAGIC, VERSION, self.max_cycles, self.seed];
        words.extend([kernel.code.start, kernel.code.end - kernel.code.start, launch.registers]);
        words.extend([launch.local_memory_bytes, self.memory.len() as u32]);
        words.extend(launch.workgroup);
        words.extend(launch.grid);
        words.extend([launch.threads() as u32, self.occupancy.waves_per_workgroup]);
        words.extend([self.occupancy.workgroups, launch.workgroups() as u32]);
        let mut values = [0; REGISTERS];
        let mut valid = 0u64;
        for &(register, value) in &launch.initial_registers {
            values[usize::from(register)] = value;
            valid |= 1 << register;
        }
        words.extend([valid as u32, (valid >> 32) as u32]);
        words.extend(values);
        words.push(interconnect.latency_cycles);
        words.push(interconnect.queue_entries + 2 * interconnect.latency_cycles);
        words.extend([self.script.in_service as u32, interconnect.port_bytes_per_cycle]);
        words.push(self.script.latencies.len() as u32);
        words.extend(&self.script.latencies);
        words.push(self.program.code.len() as u32 * 4);
        words.extend(&self.program.code);
        words.push(self.memory.len() as u32);
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(self.memory);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }
}
