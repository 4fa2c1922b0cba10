//! A kernel file and the flags of its launch: what the file states, and what the flags may add to it.

use super::args::LaunchArgs;
use super::bindings;
use super::inputs;
use super::memory_map::{Kind, Part};
use super::values::{Dimensions, RegisterValue};
use super::work::{Work, region};
use std::path::Path;
use wave_compile::kernels::{self, Settings};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Kernel, Launch, Program};
use wave_isa::suggest::did_you_mean;
use wave_machine::config::Config;

/// Threads of a workgroup where neither the kernel nor a flag says: as in the reference emulator.
const DEFAULT_WORKGROUP: [u32; 3] = [32, 1, 1];

/// Registers with which every kernel can be compiled.
const LEAST_REGISTERS: u32 = 24;

/// The registers with which a kernel that asks for more has to be compiled for a workgroup of this size, as a compiler does
/// that knows it: values without a register go to memory. `None` if the kernel fits, or if it cannot fit.
pub(crate) fn fewer_registers(registers: u32, config: &Config, threads: u32) -> Option<u32> {
    let core = &config.core;
    let waves = threads.div_ceil(core.wave_width).div_ceil(core.schedulers);
    let of_scheduler = core.register_file_bytes / core.schedulers / (4 * core.wave_width).max(1);
    let room = (of_scheduler / waves.max(1)).min(core.max_registers);
    (registers > room && room >= LEAST_REGISTERS).then_some(room)
}

/// One launch of a kernel of a file, with a device memory of `bytes` bytes.
///
/// # Errors
/// Everything that is wrong with the file, and fills that do not fit into the memory.
pub(crate) fn kernel_file(
    path: &Path,
    args: &LaunchArgs,
    config: &Config,
    bytes: u64,
) -> Result<Work, Vec<Diagnostic>> {
    let mut settings = Settings {
        source: args.source.options(),
        names: args.kernel.iter().cloned().collect(),
        registers: None,
        stack_bytes: args.stack_bytes,
        heap_bytes: args.heap_bytes,
        f64_instructions: config.capabilities.f64,
    };
    let mut loaded = load(path, &settings, args)?;
    let threads = loaded.launch.workgroup.iter().fold(1_u32, |all, &size| all.saturating_mul(size));
    settings.registers = fewer_registers(loaded.program.kernels[loaded.kernel].registers, config, threads);
    if settings.registers.is_some() {
        // A kernel in assembly keeps its registers. A kernel that does not fit is refused with those that it asks for.
        loaded = load(path, &settings, args).unwrap_or(loaded);
    }
    let Loaded { program, kernel, mut launch, warnings } = loaded;
    let mut memory = vec![0; bytes as usize];
    place_data(&program, &mut memory).map_err(|error| vec![error])?;
    let filled = fill(&mut memory, args)?;
    let data_end = program.module.as_ref().map_or(0, |module| module.data_end);
    let filled_end = filled.iter().map(|part| part.range.end).max().unwrap_or(0);
    let placed = bindings::place(&program.kernels[kernel], args, &mut memory, data_end.max(filled_end))?;
    // Private memory that would meet filled memory is found later, with both ranges.
    let used = if placed.buffers.is_empty() { data_end } else { placed.end };
    launch.initial_registers.extend(placed.registers);
    Ok(Work {
        name: stem(path),
        program,
        memory,
        used,
        bound: placed.buffers,
        filled,
        steps: vec![launch],
        warnings,
        expected: None,
        data: None,
        instances: None,
    })
}

/// A program, with a launch of one of its kernels.
struct Loaded {
    program: Program,
    kernel: usize,
    launch: Launch,
    warnings: Vec<Diagnostic>,
}

/// Loads a kernel file, and makes the launch that the flags ask for.
fn load(path: &Path, settings: &Settings, args: &LaunchArgs) -> Result<Loaded, Vec<Diagnostic>> {
    let one = |error: Diagnostic| vec![error];
    let (program, mut warnings) = kernels::load(path, settings)?;
    let kernel = select_kernel(&program, path, args.kernel.as_deref(), &mut warnings).map_err(one)?;
    let launch = launch(&program, kernel, args, &mut warnings).map_err(one)?;
    Ok(Loaded { program, kernel, launch, warnings })
}

/// Puts what a module has in memory at the start there.
fn place_data(program: &Program, memory: &mut [u8]) -> Result<(), Diagnostic> {
    let Some(module) = &program.module else { return Ok(()) };
    module.place_data(memory).map_err(|needed| {
        let message =
            format!("`{}` has {needed} bytes of data, and device memory has {}", module.file, memory.len());
        Diagnostic::error(message).hint("--device-memory BYTES gives the machine more")
    })
}

/// The launch that the flags ask for. The kernel's code is right with what its file states: a flag may give it more
/// registers and local memory, but not less, and no other size of the workgroup. Where it does, the file counts, with
/// one warning for all flags.
fn launch(
    program: &Program,
    kernel: usize,
    args: &LaunchArgs,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Launch, Diagnostic> {
    let stated = &program.kernels[kernel];
    let mut ignored: Vec<(String, String)> = Vec::new();
    let mut at_least = |flag: &str, what: &str, file: u32, given: Option<u32>| {
        if let Some(less) = given.filter(|&given| given < file) {
            ignored.push((format!("{file} {what}"), format!("{flag} {less}")));
        }
        given.map_or(file, |given| given.max(file))
    };
    let registers = at_least("--registers", "registers", stated.registers, args.registers);
    let local_memory_bytes = match stated.local_memory_bytes {
        0 if args.dynamic_local.is_some() => args.local_memory.unwrap_or(0),
        0 => args.local_memory.unwrap_or_else(|| undeclared_local_memory(program, stated, warnings)),
        file => at_least("--local-memory", "bytes of local memory", file, args.local_memory),
    };
    let workgroup = match (stated.workgroup_size, args.workgroup) {
        (file, given) if file.contains(&0) => given.map_or(DEFAULT_WORKGROUP, |Dimensions(sizes)| sizes),
        (file, Some(Dimensions(given))) if given != file => {
            let sizes = |[x, y, z]: [u32; 3]| format!("{x},{y},{z}");
            ignored.push((
                format!("a workgroup of {} threads", sizes(file)),
                format!("--workgroup {}", sizes(given)),
            ));
            file
        }
        (file, _) => file,
    };
    if !ignored.is_empty() {
        let (file, flags): (Vec<_>, Vec<_>) = ignored.into_iter().unzip();
        let message = format!(
            "kernel `{}` states {}, so these are ignored: {}",
            stated.name,
            listed(&file),
            listed(&flags)
        );
        warnings.push(Diagnostic::warning(message));
    }
    let (set, too_high): (Vec<&RegisterValue>, Vec<&RegisterValue>) =
        args.set_reg.iter().partition(|value| u32::from(value.register) < registers);
    if !too_high.is_empty() {
        let names: Vec<String> = too_high.iter().map(|value| format!("r{}", value.register)).collect();
        let (name, last) = (&stated.name, registers - 1);
        let message =
            format!("--set-reg of {} is ignored: kernel `{name}` has r0 to r{last}", listed(&names));
        warnings.push(Diagnostic::warning(message).hint("raise `.registers` in the kernel, or --registers"));
    }
    // A kernel in assembly does not say how many arguments it takes.
    let takes_some = stated.bindings.is_empty() && (stated.parameters.is_some() || !args.param.is_empty());
    let mut initial_registers = match takes_some {
        true => stated.argument_registers(&args.param).map_err(|error| error.of_flag("--param"))?,
        false => Vec::new(),
    };
    initial_registers.extend(set.into_iter().map(|value| (value.register, value.value)));
    Ok(Launch {
        kernel,
        grid: args.grid.map_or([1, 1, 1], |d| d.0),
        workgroup,
        registers,
        local_memory_bytes: local_memory_bytes.saturating_add(args.dynamic_local.unwrap_or(0)),
        initial_registers,
    })
}

/// Local memory of a kernel that states none, where no flag gives it any.
fn undeclared_local_memory(program: &Program, kernel: &Kernel, warnings: &mut Vec<Diagnostic>) -> u32 {
    let bytes = program.local_memory_needed(kernel);
    if bytes > 0 {
        let message =
            format!("kernel `{}` uses local memory and states none: it gets {bytes} bytes", kernel.name);
        warnings.push(
            Diagnostic::warning(message)
                .hint("`.local_memory BYTES` in the kernel states it, or --local-memory"),
        );
    }
    bytes
}

/// `a`, `a and b`, `a, b and c`.
fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

/// The kernel of this name, or the first, with a warning if there are others.
fn select_kernel(
    program: &Program,
    path: &Path,
    name: Option<&str>,
    warnings: &mut Vec<Diagnostic>,
) -> Result<usize, Diagnostic> {
    let names: Vec<&str> = program.kernels.iter().map(|k| k.name.as_str()).collect();
    let (file, list) = (path.display(), names.join(", "));
    match (name, names.as_slice()) {
        (Some(name), _) => program.kernel_named(name).ok_or_else(|| {
            let hint = did_you_mean(name, names.iter().copied()).unwrap_or(format!("its kernels: {list}"));
            Diagnostic::error(format!("--kernel: `{file}` has no kernel `{name}`")).hint(hint)
        }),
        (None, []) => Err(Diagnostic::error(format!("`{file}` has no kernel"))),
        (None, [_]) => Ok(0),
        (None, [first, ..]) => {
            let message = format!("`{file}` has {} kernels: the first, `{first}`, runs", names.len());
            let hint = match names.iter().all(|name| name.is_empty()) {
                true => "the kernels have no names that --kernel could choose by".to_owned(),
                false => format!("choose one with --kernel NAME: {list}"),
            };
            warnings.push(Diagnostic::warning(message).hint(hint));
            Ok(0)
        }
    }
}

/// Fills device memory as the flags say: zeros, then iotas, then files. Gives what is filled, in that order.
fn fill(memory: &mut [u8], args: &LaunchArgs) -> Result<Vec<Part>, Vec<Diagnostic>> {
    let size = memory.len() as u64;
    let mut filled = Vec::new();
    let mut wrong = Vec::new();
    for (is_zero, fills) in [(true, &args.fill_zero), (false, &args.fill_iota)] {
        for fill in fills {
            match region(&fill.source, fill.offset, fill.bytes(), size) {
                Ok(range) => {
                    let bytes = range.start as u64..range.end as u64;
                    filled.push(Part::new(&fill.source, Kind::Filled { is_zero }, bytes));
                    fill.write(&mut memory[range]);
                }
                Err(error) => wrong.push(error),
            }
        }
    }
    for arg in &args.arg {
        match region("--arg", arg.offset, 0, size)
            .and_then(|range| Ok((range.start, inputs::data(&arg.file, size - arg.offset, "--arg")?)))
        {
            Ok((start, bytes)) => {
                let range = arg.offset..arg.offset + bytes.len() as u64;
                let name = format!("--arg {}", arg.file.display());
                filled.push(Part::new(name, Kind::Filled { is_zero: false }, range));
                memory[start..start + bytes.len()].copy_from_slice(&bytes);
            }
            Err(error) => wrong.push(error),
        }
    }
    if wrong.is_empty() { Ok(filled) } else { Err(wrong) }
}
