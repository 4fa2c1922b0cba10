//! Prepares what the machine needs from an input and flags: a program, device memory, launches.

use super::args::{DataSize, LaunchArgs, MachineArgs};
use super::inputs::{self, Input};
use super::machine::check_options;
use super::values::RegisterValue;
use crate::config::Config;
use crate::diagnostic::{Diagnostic, Severity};
use crate::launch::{self, Job, Size};
use crate::program::asm::suggest::did_you_mean;
use crate::program::check::check;
use crate::program::{self, Launch, Program};
use std::ops::Range;
use std::path::Path;

/// Default threads of a workgroup, as in the reference emulator.
const DEFAULT_WORKGROUP: [u32; 3] = [32, 1, 1];

/// Everything that a run needs except the machine.
#[derive(Debug)]
pub struct Work {
    /// Name of the file without its extension, or in the suite.
    pub name: String,
    /// The kernels.
    pub program: Program,
    /// All of device memory.
    pub memory: Vec<u8>,
    /// Launches, in order.
    pub steps: Vec<Launch>,
    /// Warnings of the assembler and of the static checks.
    pub warnings: Vec<Diagnostic>,
    /// For a launch file: its requirements and expectations.
    pub expected: Option<Job>,
}

impl Work {
    /// The capabilities that the kernels need and the machine lacks.
    pub fn lack(&self, config: &Config) -> Option<String> {
        let missing = self.expected.as_ref()?.missing(&config.capabilities);
        (!missing.is_empty()).then(|| format!("the machine has no {}", missing.join(" and no ")))
    }
}

/// Loads an input and fills device memory.
///
/// # Errors
/// Errors in the file, or flags that do not fit it or the machine.
pub fn work(
    input: &Input,
    launch: &LaunchArgs,
    machine: &MachineArgs,
    config: &Config,
) -> Result<Work, Vec<Diagnostic>> {
    let mut work = match input {
        Input::Kernel(path) => kernel_file(path, launch, config),
        Input::Launch(name) => {
            let size = match machine.size {
                DataSize::Full => Size::Full,
                DataSize::Small => Size::Small,
            };
            launch_file(name, size, machine.seed, config)
        }
    }?;
    if !input.is_of_the_suite() {
        let findings = findings(&work, config);
        work.warnings.extend(findings);
    }
    Ok(work)
}

/// Errors of the static checks become warnings, because a fault only counts when it is reached.
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
        let errors = report.diagnostics.into_iter().filter(|d| d.severity == Severity::Error);
        found.extend(errors.map(|d| Diagnostic { severity: Severity::Warning, ..d }));
    }
    found
}

fn launch_file(name: &str, size: Size, seed: Option<u64>, config: &Config) -> Result<Work, Vec<Diagnostic>> {
    let mut job = launch::load_with_seed(name, size, seed)?;
    let size = config.device_memory_bytes;
    if job.memory.len() as u64 > size {
        let message =
            format!("`{name}` needs {} bytes of device memory, and the machine has {size}", job.memory.len());
        let hint = "raise it with --device-memory BYTES, or use --size small";
        return Err(vec![Diagnostic::error(message).hint(hint)]);
    }
    let mut memory = vec![0; size as usize];
    memory[..job.memory.len()].copy_from_slice(&job.memory);
    job.memory = Vec::new();
    Ok(Work {
        name: job.name.clone(),
        program: std::mem::take(&mut job.program),
        memory,
        steps: std::mem::take(&mut job.steps),
        warnings: std::mem::take(&mut job.warnings),
        expected: Some(job),
    })
}

fn kernel_file(path: &Path, args: &LaunchArgs, config: &Config) -> Result<Work, Vec<Diagnostic>> {
    let (program, warnings) = program::load_with_warnings(path)?;
    let kernel = select_kernel(&program, path, args.kernel.as_deref()).map_err(|error| vec![error])?;
    let declared = &program.kernels[kernel];
    let workgroup = match declared.workgroup_size {
        sizes if sizes.contains(&0) => DEFAULT_WORKGROUP,
        sizes => sizes,
    };
    let registers = args.registers.unwrap_or(declared.registers);
    let launch = Launch {
        kernel,
        grid: args.grid.map_or([1, 1, 1], |d| d.0),
        workgroup: args.workgroup.map_or(workgroup, |d| d.0),
        registers,
        local_memory_bytes: args.local_memory.unwrap_or(declared.local_memory_bytes),
        initial_registers: args.set_reg.iter().map(|r| (r.register, r.value)).collect(),
    };
    let too_high = |r: &&RegisterValue| u32::from(r.register) >= registers;
    let mut wrong: Vec<Diagnostic> = args
        .set_reg
        .iter()
        .filter(too_high)
        .map(|RegisterValue { register, .. }| {
            let message = format!(
                "--set-reg: register {register}, and the kernel has {registers}: r0 to r{}",
                registers.saturating_sub(1)
            );
            Diagnostic::error(message).hint("raise `.registers` in the kernel, or --registers")
        })
        .collect();
    let mut memory = vec![0; config.device_memory_bytes as usize];
    wrong.extend(fill(&mut memory, args).err().into_iter().flatten());
    if !wrong.is_empty() {
        return Err(wrong);
    }
    Ok(Work { name: stem(path), program, memory, steps: vec![launch], warnings, expected: None })
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

/// The kernel with this name, or the only one.
fn select_kernel(program: &Program, path: &Path, name: Option<&str>) -> Result<usize, Diagnostic> {
    let names: Vec<&str> = program.kernels.iter().map(|k| k.name.as_str()).collect();
    let (file, list) = (path.display(), names.join(", "));
    match (name, names.as_slice()) {
        (Some(name), _) => program.kernel_named(name).ok_or_else(|| {
            let hint = did_you_mean(name, names.iter().copied()).unwrap_or(format!("its kernels: {list}"));
            Diagnostic::error(format!("--kernel: `{file}` has no kernel `{name}`")).hint(hint)
        }),
        (None, []) => Err(Diagnostic::error(format!("`{file}` has no kernel"))),
        (None, [_]) => Ok(0),
        (None, several) => Err(Diagnostic::error(format!("`{file}` has {} kernels", several.len()))
            .hint(format!("choose one with --kernel NAME: {list}"))),
    }
}

/// Fills device memory by the flags: zeros, then iotas, then files.
fn fill(memory: &mut [u8], args: &LaunchArgs) -> Result<(), Vec<Diagnostic>> {
    let size = memory.len() as u64;
    let mut wrong = Vec::new();
    for (flag, fills) in [("--fill-zero", &args.fill_zero), ("--fill-iota", &args.fill_iota)] {
        for fill in fills {
            match region(flag, fill.offset, fill.bytes(), size) {
                Ok(range) => fill.write(&mut memory[range]),
                Err(error) => wrong.push(error),
            }
        }
    }
    for arg in &args.arg {
        match region("--arg", arg.offset, 0, size)
            .and_then(|range| Ok((range.start, inputs::read(&arg.file, size - arg.offset, "--arg")?)))
        {
            Ok((start, bytes)) => memory[start..start + bytes.len()].copy_from_slice(&bytes),
            Err(error) => wrong.push(error),
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// `bytes` bytes at `offset` of a device memory of `size` bytes.
///
/// # Errors
/// If they are not all inside, with the flag.
pub fn region(flag: &str, offset: u64, bytes: u64, size: u64) -> Result<Range<usize>, Diagnostic> {
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
