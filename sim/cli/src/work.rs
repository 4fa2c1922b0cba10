//! Prepares what the machine needs from an input and flags: a program, device memory, launches.

use super::args::{DataSize, LaunchArgs, MachineArgs};
use super::bindings::Bound;
use super::inputs::Input;
use super::instances::{self, Instances};
use super::kernel_file::kernel_file;
use super::machine::check_options;
use super::memory_map::{MemoryMap, Part};
use std::ops::Range;
use wave_isa::diagnostic::{Diagnostic, Severity};
use wave_isa::program::check::{Summary, check};
use wave_isa::program::{Launch, Program};
use wave_machine::config::Config;
use wave_observe::attribution::Regions;
use wave_study::launch::{self, Job, Size};
use wave_study::summary;

/// Everything that a run needs except the machine.
#[derive(Debug)]
pub(crate) struct Work {
    /// Name of the file without its extension, or in the suite.
    pub name: String,
    /// The kernels.
    pub program: Program,
    /// All of device memory.
    pub memory: Vec<u8>,
    /// End of what the file and the flags put there, bytes.
    pub used: u64,
    /// Buffers that flags have bound.
    pub bound: Vec<Bound>,
    /// What flags have filled, in the order in which they do.
    pub filled: Vec<Part>,
    /// Launches, in order.
    pub steps: Vec<Launch>,
    /// Warnings of the assembler and of the static checks.
    pub warnings: Vec<Diagnostic>,
    /// For a launch file: its requirements and expectations.
    pub expected: Option<Job>,
    /// For a launch file: which of its data.
    pub data: Option<summary::Data>,
    /// For instances of a module: those that the launch works on.
    pub instances: Option<Instances>,
}

impl Work {
    /// The capabilities that the kernels need and the machine lacks.
    pub(crate) fn lack(&self, config: &Config) -> Option<String> {
        let missing = self.expected.as_ref()?.missing(&config.capabilities);
        (!missing.is_empty()).then(|| format!("the machine has no {}", missing.join(" and no ")))
    }

    /// What lies where in device memory.
    pub(crate) fn map(&self) -> MemoryMap {
        MemoryMap::of(self)
    }

    /// The parts of device memory that have names: buffers of the launch file or of a shader's bindings, the data of the
    /// kernels' module, and the private memory of threads.
    pub(crate) fn regions(&self) -> Regions {
        self.map().regions(self.program.module.as_ref().map_or(0, |module| module.data_end))
    }
}

/// Data of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Data {
    /// Size of the data of launch files.
    pub size: Size,
    /// Seed of a launch file's random data, in place of the file's.
    pub seed: Option<u64>,
    /// Bytes of device memory that a kernel may access, in place of all that the machine has.
    pub device_memory: Option<u64>,
}

impl MachineArgs {
    /// Data as the flags say.
    pub(crate) fn data(&self) -> Data {
        let size = match self.size {
            DataSize::Full => Size::Full,
            DataSize::Small => Size::Small,
        };
        Data { size, seed: self.seed, device_memory: self.bounds.device_memory }
    }
}

/// Loads an input and fills device memory.
///
/// # Errors
/// Errors in the file, or flags that do not fit it or the machine.
pub(crate) fn work(
    input: &Input,
    launch: &LaunchArgs,
    data: Data,
    config: &Config,
) -> Result<Work, Vec<Diagnostic>> {
    let bytes = data.device_memory.unwrap_or(config.device_memory_bytes);
    let mut work = match input {
        Input::Kernel(path) => match instances::module(path, launch)? {
            Some(source) => instances::work(source, launch, config, bytes),
            None => kernel_file(path, launch, config, bytes),
        },
        Input::Launch(name) => launch_file(name, data, bytes),
    }?;
    place_private(&mut work, config.core.wave_width).map_err(|error| vec![error])?;
    let map = work.map();
    map.check_filled()?;
    map.check_pointers(&work)?;
    if !input.is_of_the_suite() {
        let findings = findings(&work, config);
        work.warnings.extend(findings);
    }
    Ok(work)
}

/// Gives each launch the private memory that its kernel needs, at the top of device memory; one after the other use it.
fn place_private(work: &mut Work, wave_width: u32) -> Result<(), Diagnostic> {
    for launch in &mut work.steps {
        let start = launch.place_private(&work.program, wave_width, work.memory.len() as u64, work.used)?;
        if let (Some(instances), Some(start)) = (&mut work.instances, start) {
            instances.place(start, &mut work.memory);
        }
    }
    Ok(())
}

/// What the static checks have to say about the launches: errors as warnings, since a fault is only one when it is
/// reached, and registers that are read though neither the launch nor an instruction has set them.
fn findings(work: &Work, config: &Config) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut checked = Vec::new();
    for launch in &work.steps {
        if checked.contains(&launch.kernel) {
            continue;
        }
        checked.push(launch.kernel);
        let options = check_options(config).for_launch(launch);
        let report = check(&work.program, launch.kernel, &options);
        let shown = report.diagnostics.into_iter().filter(|d| d.severity == Severity::Error);
        found.extend(shown.map(|d| Diagnostic { severity: Severity::Warning, ..d }));
        found.extend(unset_registers(&report.summary, work.expected.is_some()));
    }
    found
}

/// One warning about every register that a kernel reads and nothing has set, as a launch with too few arguments does.
fn unset_registers(summary: &Summary, launch_file: bool) -> Option<Diagnostic> {
    let names: Vec<String> = summary.unset_registers.iter().map(|r| format!("r{r}")).collect();
    if names.is_empty() {
        return None;
    }
    let (setter, hint) = match launch_file {
        true => ("no argument of the launch", "add them to the launch's `arguments`"),
        false => ("no --set-reg", "--set-reg REG:VALUE sets a register in every lane"),
    };
    let message = format!(
        "kernel `{}` reads registers that no instruction has written and {setter} has set, so they are 0: {}",
        summary.kernel,
        names.join(", ")
    );
    Some(Diagnostic::warning(message).hint(hint))
}

/// A launch file on a machine with `size` bytes of device memory.
fn launch_file(name: &str, data: Data, size: u64) -> Result<Work, Vec<Diagnostic>> {
    let mut job = launch::load_with_seed(name, data.size, data.seed)?;
    if job.memory.len() as u64 > size {
        let message =
            format!("`{name}` needs {} bytes of device memory, and the machine has {size}", job.memory.len());
        let hint = "raise it with --device-memory BYTES, or use --size small";
        return Err(vec![Diagnostic::error(message).hint(hint)]);
    }
    let mut memory = vec![0; size as usize];
    memory[..job.memory.len()].copy_from_slice(&job.memory);
    let used = job.memory.len() as u64;
    job.memory = Vec::new();
    Ok(Work {
        name: job.name.clone(),
        program: std::mem::take(&mut job.program),
        memory,
        used,
        bound: Vec::new(),
        filled: Vec::new(),
        steps: std::mem::take(&mut job.steps),
        warnings: std::mem::take(&mut job.warnings),
        expected: Some(job),
        data: Some(summary::Data { size: data.size, seed: data.seed }),
        instances: None,
    })
}

/// `bytes` bytes at `offset` of a device memory of `size` bytes.
///
/// # Errors
/// If they are not all inside, with the flag.
pub(crate) fn region(flag: &str, offset: u64, bytes: u64, size: u64) -> Result<Range<usize>, Diagnostic> {
    match offset.checked_add(bytes) {
        Some(end) if end <= size => Ok(offset as usize..end as usize),
        _ => {
            let what = match bytes {
                0 => format!("offset {offset} is"),
                _ => format!("{bytes} bytes from offset {offset} go"),
            };
            let message = format!("{flag}: {what} past the end of device memory, which has {size} bytes");
            Err(Diagnostic::error(message).hint("--device-memory BYTES gives the machine more"))
        }
    }
}
