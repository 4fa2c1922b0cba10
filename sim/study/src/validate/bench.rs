//! Launches of generated kernels on one machine, with the cycles in which their loads and stores issue.

use super::kernels::KernelBody;
use crate::measure::kernel::why;
use std::sync::atomic::AtomicBool;
use wave_isa::program::{Launch, assemble};
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::core::probe::{Event, EventKind, Observer, Wants};
use wave_machine::core::uop::Kind;
use wave_machine::gpu::{KernelReport, Machine, RunOptions};

/// A machine with the kernels of one point. Caches keep their lines from launch to launch.
pub(crate) struct Bench {
    machine: Machine,
    registers: Vec<u32>,
    options: RunOptions,
}

/// The shape of a launch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    /// Workgroups.
    pub groups: u32,
    /// Threads of a workgroup.
    pub threads: u32,
    /// Bytes of local memory of a workgroup.
    pub local_bytes: u32,
}

impl Grid {
    /// Workgroups without local memory.
    pub(crate) const fn new(groups: u32, threads: u32) -> Grid {
        Grid { groups, threads, local_bytes: 0 }
    }
}

impl Bench {
    /// A machine with this device memory.
    ///
    /// # Errors
    /// The assembler's objections: a mistake of the generator.
    pub(crate) fn new(
        config: &Config,
        kernels: &[KernelBody],
        memory: Vec<u8>,
        stop: Option<&'static AtomicBool>,
    ) -> Result<Bench, String> {
        let kernel = |(number, body): (usize, &KernelBody)| {
            format!(".kernel k{number}\n.registers {}\n{}halt\n.end\n", body.registers, body.text)
        };
        let text: String = kernels.iter().enumerate().map(kernel).collect();
        let (program, _) = assemble(&text, "validate.wave")
            .map_err(|wrong| wrong.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; "))?;
        let mut config = config.clone();
        config.device_memory_bytes = memory.len() as u64;
        Ok(Bench {
            machine: Machine::new(config, program, memory),
            registers: kernels.iter().map(|body| body.registers).collect(),
            options: RunOptions { stop, ..RunOptions::UNBOUNDED },
        })
    }

    /// Runs a kernel. Register i starts with argument i.
    ///
    /// # Errors
    /// The reason why it did not end.
    pub(crate) fn launch(
        &mut self,
        kernel: usize,
        grid: Grid,
        arguments: &[u32],
    ) -> Result<KernelReport, String> {
        self.run(kernel, grid, arguments, None)
    }

    /// Runs a kernel, and returns the cycles in which its loads and stores issued.
    ///
    /// # Errors
    /// The reason why it did not end.
    pub(crate) fn issues(&mut self, kernel: usize, grid: Grid, arguments: &[u32]) -> Result<Issues, String> {
        let mut issues = Issues::default();
        self.run(kernel, grid, arguments, Some(&mut issues))?;
        // Cores run one after the other for some cycles, so that the events are not in order.
        issues.cycles.sort_unstable();
        Ok(issues)
    }

    fn run(
        &mut self,
        kernel: usize,
        grid: Grid,
        arguments: &[u32],
        observer: Option<&mut dyn Observer>,
    ) -> Result<KernelReport, String> {
        let launch = Launch {
            kernel,
            grid: [grid.groups, 1, 1],
            workgroup: [grid.threads, 1, 1],
            registers: self.registers[kernel],
            local_memory_bytes: grid.local_bytes,
            initial_registers: (0u8..).zip(arguments.iter().copied()).collect(),
        };
        let ended = self.machine.run(&launch, &self.options, observer, &mut |_| {});
        ended.map_err(|error| why(&error, self.machine.program()))
    }
}

/// The cycles in which loads and stores issued, in ascending order.
#[derive(Debug, Default)]
pub(crate) struct Issues {
    cycles: Vec<Cycle>,
}

impl Observer for Issues {
    fn wants(&self) -> Wants {
        Wants::of(&[EventKind::Issued])
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::Issued(issued) = event
            && issued.mask != 0
            && matches!(issued.op.kind, Kind::Memory(_))
        {
            self.cycles.push(issued.event.cycle);
        }
    }
}

impl Issues {
    /// Mean cycles from one of the last `count` to the next: those of a chain in which each waits for the one before.
    ///
    /// # Errors
    /// If there are fewer.
    pub(crate) fn apart(&self, count: usize) -> Result<f64, String> {
        let last = self.cycles.len().checked_sub(count + 1).ok_or_else(|| self.too_few())?;
        Ok((self.cycles[last + count] - self.cycles[last]) as f64 / count as f64)
    }

    /// Cycles for each of them in the middle half.
    ///
    /// # Errors
    /// If there are fewer than four.
    pub(crate) fn cycles_each(&self) -> Result<f64, String> {
        let (from, to) = (self.cycles.len() / 4, self.cycles.len() * 3 / 4);
        if to < from + 2 {
            return Err(self.too_few());
        }
        Ok((self.cycles[to] - self.cycles[from]).max(1) as f64 / (to - from) as f64)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.cycles.len()
    }

    fn too_few(&self) -> String {
        format!("a generated kernel made only {} accesses", self.cycles.len())
    }
}
