//! Running a generated kernel.

use super::Observer;
use crate::clock::Cycle;
use crate::config::Config;
use crate::core::probe::{Event, Probe, Stage};
use crate::core::uop::{Kind, MicroOp};
use crate::gpu::{Gpu, KernelReport, RunError, RunOptions};
use crate::program::{Launch, Program, assemble};

/// Registers of a lane of every generated kernel: what any machine has.
const REGISTERS: u32 = 64;

/// A kernel, ready to run.
#[derive(Debug)]
pub struct Kernel {
    program: Program,
    launch: Launch,
}

impl Kernel {
    /// A kernel with this body for `groups` workgroups of `threads` threads; register i starts with
    /// argument i.
    ///
    /// # Errors
    /// What the assembler has against the body: a mistake of the generator.
    pub fn new(
        body: &str,
        registers: u32,
        groups: u32,
        threads: u32,
        arguments: &[u32],
    ) -> Result<Kernel, String> {
        debug_assert!(registers <= REGISTERS);
        let text = format!(".kernel measure\n.registers {registers}\n{body}\nhalt\n.end\n");
        let (program, _) = assemble(&text, "measure.wave")
            .map_err(|wrong| wrong.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; "))?;
        let launch = Launch {
            kernel: 0,
            grid: [groups, 1, 1],
            workgroup: [threads, 1, 1],
            registers,
            local_memory_bytes: 0,
            initial_registers: (0u8..).zip(arguments.iter().copied()).collect(),
        };
        Ok(Kernel { program, launch })
    }

    /// The same with local memory.
    pub fn with_local_memory(mut self, bytes: u32) -> Kernel {
        self.launch.local_memory_bytes = bytes;
        self
    }

    /// Runs it on a machine with this device memory. `progress` hears how far it is.
    ///
    /// # Errors
    /// Why it did not end, in words.
    pub fn run<P: Probe>(
        &self,
        config: &Config,
        memory: Vec<u8>,
        probe: &mut P,
        progress: &mut dyn Observer,
    ) -> Result<KernelReport, String> {
        let mut gpu = Gpu::new(config, &self.program, memory);
        gpu.run(&self.launch, &RunOptions::UNBOUNDED, probe, &mut |now| progress.shows(now)).map_err(
            |error| match error {
                RunError::Launch(error) => format!("a generated kernel cannot run: {}", error.message),
                RunError::Fault(fault) => fault.diagnostic(&self.program).message,
                RunError::NoProgress(stuck) => {
                    format!("a generated kernel stands still after cycle {}", stuck.cycle)
                }
                RunError::CycleLimit(_) | RunError::InstructionLimit(_) => "no bound was set".to_owned(),
            },
        )
    }
}

/// When the accesses of one kind of instruction issued and retired, in the order of their retirement.
#[derive(Debug, Default)]
pub struct Accesses {
    /// Cycle of the issue and of the retirement.
    pub times: Vec<(Cycle, Cycle)>,
    issued: Vec<Event>,
}

impl Probe for Accesses {
    const ON: bool = true;

    fn step(&mut self, event: Event) {
        if event.stage != Stage::Retire {
            return;
        }
        let same = |e: &Event| (e.core, e.slot, e.sequence) == (event.core, event.slot, event.sequence);
        if let Some(at) = self.issued.iter().position(same) {
            let issue = self.issued.remove(at);
            self.times.push((issue.cycle, event.cycle));
        }
    }

    fn issued(&mut self, event: Event, _: [u32; 3], _: u32, op: &MicroOp, mask: u64) {
        if mask != 0 && matches!(op.kind, Kind::Memory(_)) {
            self.issued.push(event);
        }
    }
}
