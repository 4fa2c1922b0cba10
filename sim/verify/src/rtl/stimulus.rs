//! The stimulus file: everything that another core needs to run one launch, as little-endian 32-bit words.
//! rtl-tests/README.md lists them.

use wave_isa::program::{Kernel, Launch, Program};
use wave_machine::config::Config;
use wave_machine::gpu::occupancy::Occupancy;
use wave_machine::memory::Script;

const MAGIC: u32 = u32::from_le_bytes(*b"WSTM");
const VERSION: u32 = 3;
/// Most registers with an initial value.
const REGISTERS: usize = 64;

/// One launch on one core.
#[derive(Debug, Clone)]
pub(crate) struct Stimulus<'a> {
    /// The machine.
    pub config: &'a Config,
    /// The code.
    pub program: &'a Program,
    /// The launch.
    pub launch: &'a Launch,
    /// How the launch occupies the core.
    pub occupancy: Occupancy,
    /// All of device memory.
    pub memory: &'a [u8],
    /// The script of the memory side.
    pub script: &'a Script,
    /// The run is given up after this many cycles.
    pub max_cycles: u32,
    /// Seed for registers that reset does not set.
    pub seed: u32,
}

impl Stimulus<'_> {
    /// The file's bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let (launch, config) = (self.launch, self.config);
        let kernel = &self.program.kernels[launch.kernel];
        let interconnect = &config.interconnect;
        let mut words = vec![MAGIC, VERSION, self.max_cycles, self.seed];
        words.extend([kernel.code.start, kernel.code.end - kernel.code.start, launch.registers]);
        words.extend([launch.local_memory_bytes, self.script.first + self.memory.len() as u32]);
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
        words.extend(interconnect_link(config));
        words.extend([self.script.in_service as u32, interconnect.port_bytes_per_cycle]);
        words.extend([u32::from(self.script.overtakes), self.script.reset_after]);
        words.push(self.script.latencies.len() as u32);
        words.extend(&self.script.latencies);
        words.push(self.program.code.len() as u32 * 4);
        words.extend(&self.program.code);
        words.extend([self.script.first, self.memory.len() as u32]);
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(self.memory);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }
}

/// Latency and entries of the links to the memory side.
fn interconnect_link(config: &Config) -> [u32; 2] {
    let interconnect = &config.interconnect;
    [interconnect.latency_cycles, interconnect.queue_entries + 2 * interconnect.latency_cycles]
}

/// A stimulus file read back: a launch to repeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// The code, with one kernel.
    pub program: Program,
    /// The launch.
    pub launch: Launch,
    /// All of device memory.
    pub memory: Vec<u8>,
    /// The script of the memory side.
    pub script: Script,
    /// The run is given up after this many cycles.
    pub max_cycles: u32,
}

/// Takes words, then bytes, from the front of a file.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn next(&mut self) -> Result<u32, String> {
        let (word, rest) = self.0.split_first_chunk().ok_or("it is cut off")?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*word))
    }

    fn three(&mut self) -> Result<[u32; 3], String> {
        Ok([self.next()?, self.next()?, self.next()?])
    }

    fn bytes(&mut self, count: u32) -> Result<Vec<u8>, String> {
        let (bytes, _) = self.0.split_at_checked(count as usize).ok_or("it is cut off")?;
        let bytes = bytes.to_vec();
        self.0 = self.0.get((count as usize).next_multiple_of(4)..).ok_or("it is cut off")?;
        Ok(bytes)
    }
}

impl Replay {
    /// Reads a stimulus file for a machine.
    ///
    /// # Errors
    /// A description of what is wrong with it, or that it is for another machine.
    pub fn read(bytes: &[u8], config: &Config) -> Result<Replay, String> {
        let mut words = Words(bytes);
        if words.next()? != MAGIC {
            return Err("it does not begin with WSTM".to_owned());
        }
        match words.next()? {
            VERSION => {}
            other => return Err(format!("it has version {other}, and this program reads {VERSION}")),
        }
        let (max_cycles, _seed) = (words.next()?, words.next()?);
        let (start, length) = (words.next()?, words.next()?);
        let (registers, local_memory_bytes, end) = (words.next()?, words.next()?, words.next()?);
        let (workgroup, grid) = (words.three()?, words.three()?);
        let shape = [words.next()?, words.next()?, words.next()?, words.next()?];
        let valid = u64::from(words.next()?) | u64::from(words.next()?) << 32;
        let mut initial_registers = Vec::new();
        for register in 0..REGISTERS as u8 {
            let value = words.next()?;
            if valid >> register & 1 != 0 {
                initial_registers.push((register, value));
            }
        }
        let link = [words.next()?, words.next()?];
        let (in_service, port) = (words.next()? as usize, words.next()?);
        let (overtakes, reset_after) = (words.next()? != 0, words.next()?);
        let count = words.next()?;
        let latencies: Vec<u32> = (0..count).map(|_| words.next()).collect::<Result<_, _>>()?;
        if latencies.is_empty() || latencies.contains(&0) || in_service == 0 {
            return Err("its latencies are not all 1 or more".to_owned());
        }
        let code_bytes = words.next()?;
        let code = words.bytes(code_bytes)?;
        let (first, memory_bytes) = (words.next()?, words.next()?);
        let memory = words.bytes(memory_bytes)?;
        let (code, _) = code.as_chunks();
        let code: Vec<u32> = code.iter().map(|&word| u32::from_le_bytes(word)).collect();
        let range = start..start.checked_add(length).ok_or("its kernel has no end")?;
        if range.end as usize > code.len() || first.checked_add(memory_bytes) != Some(end) {
            return Err("its kernel or its memory is not all there".to_owned());
        }
        let name = String::new();
        let kernel = Kernel {
            name,
            registers,
            local_memory_bytes,
            workgroup_size: workgroup,
            code: range,
            parameters: None,
            private: None,
            bindings: Vec::new(),
        };
        let program = Program { code, kernels: vec![kernel], source: None, module: None };
        let launch = Launch { kernel: 0, grid, workgroup, registers, local_memory_bytes, initial_registers };
        let interconnect = &config.interconnect;
        let occupancy = Occupancy::of(config, &launch).map_err(|e| e.to_string())?;
        let expected = [
            launch.threads() as u32,
            occupancy.waves_per_workgroup,
            occupancy.workgroups,
            launch.workgroups() as u32,
        ];
        let expected_link = interconnect_link(config);
        if shape != expected || link != expected_link || port != interconnect.port_bytes_per_cycle {
            return Err(format!("it was not written for the machine `{}`", config.name));
        }
        let script = Script { first, reset_after, latencies, in_service, overtakes };
        Ok(Replay { program, launch, memory, script, max_cycles })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtl::Trial;
    use wave_machine::config::load;

    #[test]
    fn a_file_reads_back_as_what_was_written_and_a_damaged_one_is_refused() {
        let config = load("rtl.ron").unwrap();
        let Trial { tree, script } = Trial::of(&config, 5, false, None);
        let mut case = tree.case();
        case.launch.initial_registers = vec![(0, 7), (3, u32::MAX)];
        let occupancy = Occupancy::of(&config, &case.launch).unwrap();
        let (launch, memory, max_cycles) = (&case.launch, &case.memory, 1234);
        let (config, program, script) = (&config, &case.program, &script);
        let bytes =
            Stimulus { config, program, launch, occupancy, memory, script, max_cycles, seed: 1 }.bytes();
        let replay = Replay::read(&bytes, config).unwrap();
        assert_eq!((&replay.program.code, &replay.launch), (&program.code, launch));
        assert_eq!((&replay.memory, &replay.script, replay.max_cycles), (memory, script, max_cycles));
        for length in 0..bytes.len() {
            assert!(Replay::read(&bytes[..length], config).is_err(), "{length} bytes");
        }
        // A random value in any of the first words yields an error or another launch, never a panic.
        for place in 0..100.min(bytes.len() / 4) {
            let mut damaged = bytes.clone();
            damaged[4 * place..][..4].fill(0xFF);
            _ = Replay::read(&damaged, config);
        }
        let mut other = config.clone();
        other.interconnect.latency_cycles += 1;
        assert_eq!(Replay::read(&bytes, &other), Err("it was not written for the machine `rtl`".to_owned()));
    }
}
