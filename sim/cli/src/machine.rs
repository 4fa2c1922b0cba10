//! The machine of a run: a configuration and the flags that override it.

use super::args::{BoundArgs, DEFAULT_CONFIG, SetArgs};
use super::host_memory::{self, Copies};
use super::inputs;
use super::terminal::Terminal;
use wave_isa::diagnostic::{Diagnostic, Severity};
use wave_isa::program::check::CheckOptions;
use wave_machine::config::{Config, LEAST_DEVICE_MEMORY};

/// Loads the configuration, applies the flags and checks it again.
///
/// # Errors
/// Everything that is wrong with the configuration, or with a flag's value in it.
pub(crate) fn machine(
    name: Option<&str>,
    set: &SetArgs,
    args: &BoundArgs,
    terminal: &Terminal,
) -> Result<Config, Vec<Diagnostic>> {
    let config = inputs::config(name.unwrap_or(DEFAULT_CONFIG), set, terminal)?;
    let (config, warnings) = overridden(config, args)?;
    terminal.diagnostics(&warnings);
    Ok(config)
}

/// A configuration with the flags applied and checked, and warnings.
///
/// # Errors
/// A flag's value is wrong in it.
pub(crate) fn overridden(
    mut config: Config,
    args: &BoundArgs,
) -> Result<(Config, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut flags = Vec::new();
    let known = config.check();
    if let Some(width) = args.wave_width {
        config.core.wave_width = width;
        config.note(format!("core.wave_width={width}"));
        flags.push(format!("--wave-width {width}"));
    }
    if let Some(bytes) = args.device_memory {
        config.device_memory_bytes = whole_lines(bytes, config.core.l1.line_bytes.into());
        config.note(format!("device_memory_bytes={bytes}"));
        flags.push(format!("--device-memory {bytes}"));
    }
    let mut found: Vec<Diagnostic> = config.check().into_iter().filter(|d| !known.contains(d)).collect();
    for diagnostic in &mut found {
        diagnostic.message = format!("with {}: {}", flags.join(" and "), diagnostic.message);
    }
    if found.iter().any(|d| d.severity == Severity::Error) {
        return Err(found);
    }
    Ok((config, found))
}

/// The least memory of a machine that has these bytes: it has whole lines, and some of them.
fn whole_lines(bytes: u64, line: u64) -> u64 {
    bytes.max(LEAST_DEVICE_MEMORY).checked_next_multiple_of(line).unwrap_or(u64::MAX)
}

/// Bytes of device memory that a kernel may access: what `--device-memory` says, to the byte, though the machine has
/// whole lines; else the configuration's.
pub(crate) fn device_memory(args: &BoundArgs, config: &Config) -> u64 {
    args.device_memory.unwrap_or(config.device_memory_bytes)
}

/// As [`machine`], for a run: refused where the host lacks memory for it.
///
/// # Errors
/// As [`machine`], and what the run needs.
pub(crate) fn machine_to_run(
    name: Option<&str>,
    set: &SetArgs,
    args: &BoundArgs,
    copies: Copies,
    terminal: &Terminal,
) -> Result<Config, Vec<Diagnostic>> {
    let config = machine(name, set, args, terminal)?;
    host_memory::check(&config, device_memory(args, &config), copies).map_err(|error| vec![error])?;
    Ok(config)
}

/// What the static checks need to know of the machine.
pub(crate) fn check_options(config: &Config) -> CheckOptions {
    CheckOptions {
        wave_width: config.core.wave_width,
        divergence_depth: config.core.divergence_depth,
        call_depth: config.core.call_depth,
        f64: config.capabilities.f64,
        mma: config.capabilities.mma,
        ..CheckOptions::default()
    }
}
