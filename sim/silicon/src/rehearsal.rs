//! A device without a GPU: the interpreter of PTX runs the kernels, and a simulated machine says when.
//!
//! Everything but the times is what a GPU would do with the same calls of its driver: addresses, parameters, the PTX itself. A
//! clock shows what the simulator of a configuration needs for the same launch. So a rehearsal tries a command before a GPU is
//! at hand, and a fit of one can be held against the machine that was asked. It says nothing about a GPU.

use crate::bench::Spans;
use crate::device::Device;
use std::cell::RefCell;
use std::collections::HashSet;
use wave_driver::{Call, Error, Properties};
use wave_isa::program::{Launch, Program};
use wave_machine::config::Config;
use wave_machine::gpu::{Machine, RunError, RunOptions};
use wave_ptx::WAVE_WIDTH;
use wave_verify::ptx::{self, Clock, Module, Region};

/// Address of the first allocation. The interpreter has tables of its own below.
const FIRST: u64 = 0x7_0000_0000;
/// Allocations begin at multiples of this.
const ALIGNMENT: u64 = 256;
/// Memory of the device: nobody needs more without a GPU.
const MEMORY_BYTES: u64 = 4 << 30;

/// A device without a GPU.
pub struct Rehearsal {
    properties: Properties,
    config: Config,
    /// What is loaded: the PTX, and the program that it was made of.
    loaded: Option<(Module, Program)>,
    /// Start and contents of what is allocated, the newest last.
    allocated: Vec<(u64, Vec<u8>)>,
    next: u64,
    mailbox: Option<u64>,
    /// The machine with the state that the launch before has left; `None` once the host has written its memory.
    machine: Option<(u64, Machine)>,
    seed: u64,
    /// Added to every cycle that a clock shows: for tests of what finds a wrong figure.
    pub slower: u64,
}

impl Rehearsal {
    /// A device with the clock of a machine.
    ///
    /// # Errors
    /// Its waves are not as wide as a warp.
    pub fn new(config: &Config) -> Result<Rehearsal, String> {
        let core = &config.core;
        if core.wave_width != WAVE_WIDTH {
            return Err(format!(
                "waves of `{}` have {} lanes, and a warp has {WAVE_WIDTH}",
                config.name, core.wave_width
            ));
        }
        let bytes_per_second = config.dram.clock_mhz * config.dram.transfers_per_clock;
        let properties = Properties {
            name: format!("rehearsal of {}", config.name),
            capability: (9, 0),
            driver: 0,
            memory_bytes: MEMORY_BYTES,
            multiprocessors: config.cores,
            clock_khz: config.core_clock_mhz * 1000,
            // Of two transfers a clock, as drivers say it.
            memory_clock_khz: bytes_per_second / 2 * 1000,
            bus_bits: config.dram.channels * config.dram.bus_bits,
            l2_bytes: config.l2.slices * config.l2.slice_bytes,
            registers: core.register_file_bytes / 4,
            shared_bytes: core.local_memory_bytes,
            cta_shared_bytes: core.local_memory_bytes,
            threads: core.max_waves * WAVE_WIDTH,
            cta_threads: core.max_workgroup_size.min(wave_ptx::MOST_THREADS),
            ctas: core.max_workgroups,
            has_watchdog: false,
        };
        Ok(Rehearsal {
            properties,
            config: config.clone(),
            loaded: None,
            allocated: Vec::new(),
            next: FIRST,
            mailbox: None,
            machine: None,
            seed: 0,
            slower: 0,
        })
    }

    /// The bytes of one allocation.
    fn place(&mut self, address: u64, bytes: u64) -> Result<&mut [u8], Error> {
        let found = self.allocated.iter_mut().find_map(|(start, contents)| {
            let at = usize::try_from(address.checked_sub(*start)?).ok()?;
            contents.get_mut(at..at.checked_add(bytes as usize)?)
        });
        found.ok_or_else(|| Error::NoLaunch {
            why: format!("{bytes} bytes at {address:#x} are not allocated"),
        })
    }

    /// When the workgroups of a launch begin and end on the machine, whose memory is at an address.
    fn spans(&mut self, call: &Call<'_>, launch: &Launch, program: &Program) -> Result<Spans, Error> {
        let word = |at: usize| {
            u64::from_le_bytes(std::array::from_fn(|i| call.parameters.get(at + i).copied().unwrap_or(0)))
        };
        let (start, bytes) = (word(0), word(8));
        let wrong = |why: String| Error::NoLaunch { why };
        let mut machine = match self.machine.take().filter(|(of, _)| *of == start) {
            Some((_, machine)) => machine,
            None => {
                let mut memory = self.place(start, bytes)?.to_vec();
                memory.resize(memory.len().next_multiple_of(self.config.core.l1.line_bytes as usize), 0);
                let config = Config { device_memory_bytes: memory.len() as u64, ..self.config.clone() };
                Machine::new(config, program.clone(), memory)
            }
        };
        let mut spans = Spans::default();
        match machine.run(launch, &RunOptions::UNBOUNDED, Some(&mut spans), &mut |_| {}) {
            // The interpreter will say what is wrong with it, in the way of a GPU.
            Ok(_) | Err(RunError::Fault(_)) => {}
            Err(error) => {
                return Err(wrong(format!("the machine of the rehearsal cannot run it: {}", why(&error))));
            }
        }
        self.machine = Some((start, machine));
        Ok(spans)
    }
}

/// Why a machine does not run a launch to its end.
fn why(error: &RunError) -> String {
    match error {
        RunError::Launch(error) => error.message.clone(),
        _ => "it does not end".to_owned(),
    }
}

impl Device for Rehearsal {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn rehearses(&self) -> Option<&str> {
        Some(&self.config.name)
    }

    fn load(&mut self, text: &str, program: &Program) -> Result<(), Error> {
        let module = ptx::parse(text).map_err(|log| Error::Refused { log })?;
        self.loaded = Some((module, program.clone()));
        self.machine = None;
        Ok(())
    }

    fn allocate(&mut self, bytes: u64) -> Result<u64, Error> {
        let used: u64 = self.allocated.iter().map(|(_, contents)| contents.len() as u64).sum();
        if bytes > MEMORY_BYTES - used.min(MEMORY_BYTES) {
            return Err(Error::OutOfMemory { bytes });
        }
        let address = self.next;
        // What lies between two allocations belongs to nothing, so that an access there is found.
        self.next = (address + bytes + ALIGNMENT).next_multiple_of(ALIGNMENT);
        self.allocated.push((address, vec![0; bytes as usize]));
        Ok(address)
    }

    fn free(&mut self, address: u64) {
        self.allocated.retain(|&(start, _)| start != address);
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        if self.machine.as_ref().is_some_and(|&(of, _)| of == address) {
            self.machine = None;
        }
        self.place(address, bytes.len() as u64)?.copy_from_slice(bytes);
        Ok(())
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        bytes.copy_from_slice(self.place(address, bytes.len() as u64)?);
        Ok(())
    }

    fn fill(&mut self, address: u64, byte: u8, bytes: u64) -> Result<(), Error> {
        self.place(address, bytes)?.fill(byte);
        Ok(())
    }

    fn evict(&mut self, address: u64, bytes: u64) -> Result<(), Error> {
        self.machine = None;
        match self.place(address, bytes)?.iter().any(|&byte| byte != 0) {
            true => Err(Error::NoLaunch { why: "what is read to empty the L2 are no zeros".to_owned() }),
            false => Ok(()),
        }
    }

    fn mailbox(&mut self, words: usize) -> Result<u64, Error> {
        let address = match self.mailbox {
            Some(address) => address,
            None => self.allocate(4 * words as u64)?,
        };
        self.mailbox = Some(address);
        self.place(address, 4 * words as u64)?.fill(0);
        Ok(address)
    }

    fn mail(&self) -> Vec<u32> {
        let box_of = self.allocated.iter().find(|(start, _)| Some(*start) == self.mailbox);
        let bytes = box_of.map_or(&[][..], |(_, contents)| contents);
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
    }

    fn launch(&mut self, call: &Call<'_>, launch: &Launch, stop: &dyn Fn() -> bool) -> Result<f64, Error> {
        if stop() {
            return Err(Error::Interrupted);
        }
        let (module, program) =
            self.loaded.take().ok_or_else(|| Error::NoLaunch { why: "no module is loaded".to_owned() })?;
        let spans = self.spans(call, launch, &program);
        let loaded = &module;
        let outcome = spans.and_then(|spans| {
            self.seed += 1;
            let (mhz, slower) = (u64::from(self.config.core_clock_mhz), self.slower);
            // Each thread reads every clock where it begins and where it ends.
            let read = RefCell::new(HashSet::new());
            let clocks = |clock: Clock, group: [u32; 3], thread: u64| {
                let &(core, from, to) = spans.groups.get(&group).unwrap_or(&(0, 0, 0));
                let begins =
                    clock != Clock::Multiprocessor && read.borrow_mut().insert((clock, group, thread));
                let cycle = if begins { from } else { to + slower };
                match clock {
                    Clock::Cycles => cycle,
                    Clock::Nanoseconds => cycle * 1000 / mhz,
                    Clock::Multiprocessor => core.into(),
                }
            };
            let mut memory: Vec<Region<'_>> =
                self.allocated.iter_mut().map(|(start, bytes)| Region { start: *start, bytes }).collect();
            let what = ptx::Call {
                entry: call.entry,
                grid: call.grid,
                threads: call.threads,
                shared_bytes: call.shared_bytes,
                parameters: call.parameters,
            };
            let trapped = ptx::call(loaded, &what, &mut memory, self.seed, &clocks);
            match trapped.map_err(|name| Error::Fault { name })? {
                true => Err(Error::Fault { name: "a trap".to_owned() }),
                false => Ok((spans.cycles() + slower as f64) / mhz as f64 / 1000.0),
            }
        });
        self.loaded = Some((module, program));
        outcome
    }
}
