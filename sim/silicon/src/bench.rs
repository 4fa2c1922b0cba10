//! Small kernels on the simulator, timed as on a GPU: from the first instruction of a workgroup to the last.

use crate::job::{Job, Repeats, run};
use crate::micro::{Kernel, Micro};
use crate::session::{Failure, Session};
use crate::spread::Spread;
use std::collections::HashMap;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Launch, Program, assemble};
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::core::probe::{Event, EventKind, Observer, Stage, Wants};
use wave_machine::gpu::{Machine, RunError, RunOptions};

/// When the workgroups of a launch began and ended, and on which core: the same span that a GPU is measured by.
#[derive(Debug, Default)]
pub struct Spans {
    /// Core, first cycle, last cycle.
    pub(crate) groups: HashMap<[u32; 3], (u32, Cycle, Cycle)>,
    /// The workgroup of each slot of each core.
    resident: HashMap<(u32, u32), [u32; 3]>,
}

impl Observer for Spans {
    fn wants(&self) -> Wants {
        Wants::of(&[EventKind::Issued, EventKind::Stage])
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Issued(issued) => {
                let at = issued.event;
                let group = issued.workgroup;
                self.resident.insert((at.core, at.slot as u32), group);
                let span = self.groups.entry(group).or_insert((at.core, at.cycle, at.cycle));
                span.1 = span.1.min(at.cycle);
                span.2 = span.2.max(at.cycle);
            }
            Event::Stage(at) if at.stage == Stage::Retire => {
                if let Some(group) = self.resident.get(&(at.core, at.slot as u32))
                    && let Some(span) = self.groups.get_mut(group)
                {
                    span.2 = span.2.max(at.cycle);
                }
            }
            _ => {}
        }
    }
}

impl Spans {
    /// Cycles of the core that was busy longest, from the first instruction of its first workgroup to the last of its last.
    pub fn cycles(&self) -> f64 {
        let mut cores: HashMap<u32, (Cycle, Cycle)> = HashMap::new();
        for &(core, from, to) in self.groups.values() {
            let span = cores.entry(core).or_insert((from, to));
            *span = (span.0.min(from), span.1.max(to));
        }
        cores.values().map(|(from, to)| to - from).max().unwrap_or(0) as f64
    }
}

/// The program of a kernel of a microbenchmark, and its launch.
///
/// # Errors
/// The assembler's objections: a mistake of the generator.
pub fn program(kernel: &Kernel) -> Result<(Program, Launch), String> {
    let (program, _) = assemble(&kernel.text, "microbenchmark.wave")
        .map_err(|wrong| wrong.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; "))?;
    let launch = Launch {
        workgroup: [kernel.threads, 1, 1],
        local_memory_bytes: kernel.local_memory_bytes,
        initial_registers: (0u8..).zip(kernel.arguments.iter().copied()).collect(),
        ..Launch::of(&program, 0, [kernel.groups, 1, 1])
    };
    Ok((program, launch))
}

/// Cycles of a kernel on a machine.
///
/// # Errors
/// Why the machine cannot run it, or it did not end.
fn cycles(config: &Config, kernel: &Kernel, memory: &[u8], options: &RunOptions) -> Result<f64, String> {
    let (program, launch) = program(kernel)?;
    let mut contents = memory.to_vec();
    let line = config.core.l1.line_bytes as usize;
    contents.resize(contents.len().next_multiple_of(line), 0);
    let config = Config { device_memory_bytes: contents.len() as u64, ..config.clone() };
    let mut machine = Machine::new(config, program, contents);
    let mut spans = Spans::default();
    machine.run(&launch, options, Some(&mut spans), &mut |_| {}).map_err(|error| match error {
        RunError::Launch(error) => error.message,
        RunError::Interrupted(_) => "interrupted".to_owned(),
        RunError::CycleLimit(_) => "it takes too many cycles".to_owned(),
        _ => "it does not end".to_owned(),
    })?;
    Ok(spans.cycles())
}

/// The value of a microbenchmark on a machine.
///
/// # Errors
/// Why the machine cannot run it.
pub fn simulate(config: &Config, micro: &Micro, options: &RunOptions) -> Result<f64, String> {
    let memory = micro.memory.contents();
    let times: Result<Vec<f64>, String> =
        micro.kernels.iter().map(|kernel| cycles(config, kernel, &memory, options)).collect();
    Ok(micro.value(&times?))
}

/// The figure of a microbenchmark on a device, from repeated runs of its kernels.
///
/// # Errors
/// A kernel is refused, faults, or does not end.
pub fn measure(session: &mut Session<'_>, micro: &Micro, repeats: Repeats) -> Result<Spread, Failure> {
    let memory = micro.memory.contents();
    let mut of_runs = vec![Vec::new(); repeats.measured.max(1) as usize];
    for kernel in &micro.kernels {
        let (program, launch) = program(kernel).map_err(Diagnostic::error)?;
        let steps = [launch];
        let job = Job { program: &program, memory: &memory, steps: &steps };
        session.load(&program, &steps)?;
        for _ in 0..repeats.warm_up {
            run(session, &job)?;
        }
        for cycles in &mut of_runs {
            cycles.extend(run(session, &job)?.iter().map(|time| time.cycles));
        }
    }
    let values: Vec<f64> = of_runs.iter().map(|cycles| micro.value(cycles)).collect();
    Ok(Spread::of(&values).expect("at least one run is measured"))
}
