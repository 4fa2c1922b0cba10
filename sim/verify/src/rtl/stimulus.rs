//! The stimulus file: everything that another core needs to run one launch, as little-endian 32-bit words.
//! rtl-tests/README.md lists them.

use wave_isa::program::{Kernel, Launch, Program};
use wave_machine::config::Config;
use wave_machine::gpu::occupancy::Occupancy;
use wave_machine::memory::Script;

const MAGIC: u32 = u32::from_le_bytes(*b"WSTM");
const VERSION: u32 = 4;
/// Most registers with an initial value.
const REGISTERS: usize = 64;

/// Seed of a run that does not say another one.
const SEED: u32 = 1;

/// What the other side has behind it when the launch begins. It is nothing to the simulator, whose machine is empty then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beginning {
    /// Seed of what reset does not set.
    pub seed: u32,
    /// Launches before, one after another. A reset follows each.
    pub earlier: Vec<Earlier>,
}

impl Default for Beginning {
    fn default() -> Beginning {
        Beginning { seed: SEED, earlier: Vec::new() }
    }
}

/// A launch before the one that is compared. What it does has no records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    /// The code.
    pub program: Program,
    /// The launch.
    pub launch: Launch,
    /// All of device memory.
    pub memory: Vec<u8>,
    /// Address of the memory's first byte.
    pub first: u32,
    /// It ends after so many cycles, if not by itself.
    pub cycles: u32,
}

/// One launch on one core.
#[derive(Debug, Clone)]
pub(crate) struct Stimulus<'a> {
    /// The machine.
    pub config: &'a Config,
    /// The code.
    pub program: &'a Program,
    /// The launch.
    pub launch: &'a Launch,
    /// All of device memory.
    pub memory: &'a [u8],
    /// The script of the memory side.
    pub script: &'a Script,
    /// What comes before.
    pub beginning: &'a Beginning,
    /// The run is given up after this many cycles.
    pub max_cycles: u32,
}

impl Stimulus<'_> {
    /// The file's bytes.
    ///
    /// # Errors
    /// The reason why a launch does not fit on the machine.
    pub(super) fn bytes(&self) -> Result<Vec<u8>, String> {
        let Stimulus { config, script, beginning, .. } = self;
        let mut words = vec![MAGIC, VERSION, beginning.seed];
        words.extend(interconnect_link(config));
        words.extend([script.in_service as u32, config.interconnect.port_bytes_per_cycle]);
        words.extend([u32::from(script.overtakes), script.latencies.len() as u32]);
        words.extend(&script.latencies);
        words.push(beginning.earlier.len() as u32 + 1);
        let mut bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        for Earlier { program, launch, memory, first, cycles } in &beginning.earlier {
            put(&mut bytes, config, program, launch, (*first, memory), *cycles)?;
        }
        let memory = (script.first, self.memory);
        put(&mut bytes, config, self.program, self.launch, memory, self.max_cycles)?;
        Ok(bytes)
    }
}

/// Appends a launch with its code and its memory, whose first byte has an address.
fn put(
    bytes: &mut Vec<u8>,
    config: &Config,
    program: &Program,
    launch: &Launch,
    (first, memory): (u32, &[u8]),
    cycles: u32,
) -> Result<(), String> {
    let kernel = &program.kernels[launch.kernel];
    let mut words = vec![cycles, kernel.code.start, kernel.code.end - kernel.code.start, launch.registers];
    words.extend([launch.local_memory_bytes, first + memory.len() as u32]);
    words.extend(launch.workgroup);
    words.extend(launch.grid);
    words.extend(shape(config, launch)?);
    let mut values = [0; REGISTERS];
    let mut valid = 0u64;
    for &(register, value) in &launch.initial_registers {
        values[usize::from(register)] = value;
        valid |= 1 << register;
    }
    words.extend([valid as u32, (valid >> 32) as u32]);
    words.extend(values);
    words.push(program.code.len() as u32 * 4);
    words.extend(&program.code);
    words.extend([first, memory.len() as u32]);
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend(memory);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    Ok(())
}

/// Threads and waves of a workgroup, workgroups that are resident at most, and those of the grid.
fn shape(config: &Config, launch: &Launch) -> Result<[u32; 4], String> {
    let occupancy = Occupancy::of(config, launch).map_err(|e| e.to_string())?;
    let (threads, workgroups) = (launch.threads() as u32, launch.workgroups() as u32);
    Ok([threads, occupancy.waves_per_workgroup, occupancy.workgroups, workgroups])
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
    /// What comes before.
    pub beginning: Beginning,
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
        let seed = words.next()?;
        let link = [words.next()?, words.next()?];
        let (in_service, port) = (words.next()? as usize, words.next()?);
        let overtakes = words.next()? != 0;
        let count = words.next()?;
        let latencies: Vec<u32> = (0..count).map(|_| words.next()).collect::<Result<_, _>>()?;
        if latencies.is_empty() || latencies.contains(&0) || in_service == 0 {
            return Err("its latencies are not all 1 or more".to_owned());
        }
        let port_bytes = config.interconnect.port_bytes_per_cycle;
        if link != interconnect_link(config) || port != port_bytes {
            return Err(of_another_machine(config));
        }
        let count = words.next()?;
        let mut earlier: Vec<Earlier> =
            (0..count).map(|_| take(&mut words, config)).collect::<Result<_, _>>()?;
        let last = earlier.pop().ok_or("it has no launch")?;
        let Earlier { program, launch, memory, first, cycles: max_cycles } = last;
        let script = Script { first, latencies, in_service, overtakes };
        Ok(Replay { program, launch, memory, script, beginning: Beginning { seed, earlier }, max_cycles })
    }
}

/// Reads a launch of a machine.
fn take(words: &mut Words<'_>, config: &Config) -> Result<Earlier, String> {
    let cycles = words.next()?;
    let (start, length) = (words.next()?, words.next()?);
    let (registers, local_memory_bytes, end) = (words.next()?, words.next()?, words.next()?);
    let (workgroup, grid) = (words.three()?, words.three()?);
    let stated = [words.next()?, words.next()?, words.next()?, words.next()?];
    let valid = u64::from(words.next()?) | u64::from(words.next()?) << 32;
    let mut initial_registers = Vec::new();
    for register in 0..REGISTERS as u8 {
        let value = words.next()?;
        if valid >> register & 1 != 0 {
            initial_registers.push((register, value));
        }
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
    let kernel = Kernel {
        name: String::new(),
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
    if stated != shape(config, &launch)? {
        return Err(of_another_machine(config));
    }
    Ok(Earlier { program, launch, memory, first, cycles })
}

fn of_another_machine(config: &Config) -> String {
    format!("it was not written for the machine `{}`", config.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;
    use crate::rtl::Trial;
    use wave_machine::config::load;

    #[test]
    fn a_file_reads_back_as_what_was_written_and_a_damaged_one_is_refused() {
        let config = load("rtl.ron").unwrap();
        let trial = Trial::of(&config, 5, false, None);
        let other = Trial::of(&config, 6, true, None);
        let (mut case, before, script) = (trial.tree.case(), other.tree.case(), &trial.script());
        case.launch.initial_registers = vec![(0, 7), (3, u32::MAX)];
        let generate::Case { program, launch, memory } = before;
        let beginning =
            &Beginning { seed: 5, earlier: vec![Earlier { program, launch, memory, first: 64, cycles: 99 }] };
        let (program, launch, memory, max_cycles) = (&case.program, &case.launch, &case.memory, 1234);
        let config = &config;
        let bytes =
            Stimulus { config, program, launch, memory, script, beginning, max_cycles }.bytes().unwrap();
        let replay = Replay::read(&bytes, config).unwrap();
        assert_eq!((&replay.program.code, &replay.launch), (&program.code, launch));
        assert_eq!((&replay.memory, &replay.script, replay.max_cycles), (memory, script, max_cycles));
        let [first] = &replay.beginning.earlier[..] else { panic!("one launch before") };
        assert_eq!((replay.beginning.seed, first.cycles, first.first), (5, 99, 64));
        assert_eq!(
            (&first.program.code, &first.memory),
            (&other.tree.case().program.code, &beginning.earlier[0].memory)
        );
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
