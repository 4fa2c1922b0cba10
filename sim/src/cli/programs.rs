//! `wave-sim asm`, `dis` and `check`.

use super::args::CheckArgs;
use super::terminal::Terminal;
use super::{Ended, Exit, files, inputs};
use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::program::asm::suggest::did_you_mean;
use crate::program::check::{CheckOptions, Report, check as check_kernel};
use crate::program::{self, wbin};
use std::path::Path;

/// Assembles a file into a WBIN container.
///
/// # Errors
/// Everything that is wrong with the file, or if the container cannot be written.
pub fn assemble(input: &Path, output: Option<&Path>, terminal: &Terminal) -> Ended {
    let (program, warnings) = program::load_with_warnings(input)?;
    terminal.diagnostics(&warnings);
    let output = output.map_or_else(|| input.with_extension("wbin"), Path::to_owned);
    if output == input {
        let message = format!("`{}` would be overwritten", input.display());
        return Err(vec![Diagnostic::error(message).hint("name another file with --output")]);
    }
    files::write(&output, &wbin::write(&program), "--output")?;
    Ok(Exit::Success)
}

/// Disassembles a container.
///
/// # Errors
/// Whatever is wrong with the container, or if the text cannot be written.
pub fn disassemble(input: &Path, output: Option<&Path>, terminal: &Terminal) -> Ended {
    let (program, warnings) = program::load_with_warnings(input)?;
    terminal.diagnostics(&warnings);
    let text = program::disassemble(&program);
    match output {
        Some(output) => files::write(output, text.as_bytes(), "--output").map(|()| Exit::Success),
        None => terminal.out(&text),
    }
}

/// Checks kernels: the findings go to standard error, the figures (or the graph) to standard output.
///
/// # Errors
/// Whatever keeps a file or the configuration from being loaded.
pub fn check(args: &CheckArgs, terminal: &Terminal) -> Ended {
    let config = inputs::config(&args.config, terminal)?;
    let options = options(&config);
    let mut exit = Exit::Success;
    let mut text = String::new();
    for input in &args.inputs {
        let (program, warnings) = program::load_with_warnings(input)?;
        terminal.diagnostics(&warnings);
        let chosen = kernels(&program, input, args.kernel.as_deref())?;
        for kernel in chosen {
            let report = check_kernel(&program, kernel, &options);
            terminal.diagnostics(&report.diagnostics);
            if report.has_errors() {
                exit = Exit::WrongInput;
            }
            text += &match args.dot {
                true => report.graph.to_dot(&program, &program.kernels[kernel]),
                false => summary(&report),
            };
        }
    }
    terminal.out(&text)?;
    Ok(exit)
}

fn options(config: &Config) -> CheckOptions {
    CheckOptions {
        wave_width: config.core.wave_width,
        divergence_depth: config.core.divergence_depth,
        call_depth: config.core.call_depth,
        f64: config.capabilities.f64,
        mma: config.capabilities.mma,
        ..CheckOptions::default()
    }
}

/// The kernel of this name, or all.
fn kernels(
    program: &program::Program,
    input: &Path,
    name: Option<&str>,
) -> Result<Vec<usize>, Vec<Diagnostic>> {
    let Some(name) = name else { return Ok((0..program.kernels.len()).collect()) };
    program.kernel_named(name).map(|kernel| vec![kernel]).ok_or_else(|| {
        let error = Diagnostic::error(format!("--kernel: `{}` has no kernel `{name}`", input.display()));
        vec![match did_you_mean(name, program.kernels.iter().map(|k| k.name.as_str())) {
            Some(hint) => error.hint(hint),
            None => error,
        }]
    })
}

/// What a kernel is made of, a line each.
fn summary(report: &Report) -> String {
    let s = &report.summary;
    let live = match &s.max_live_at {
        Some(place) => format!("{} at most hold a value, at {place}", s.max_live_registers),
        None => format!("{} at most hold a value", s.max_live_registers),
    };
    let needs: Vec<&str> =
        [("CAP_F64", s.uses_f64), ("CAP_MMA", s.uses_mma)].iter().filter(|n| n.1).map(|n| n.0).collect();
    let arguments: Vec<String> = s.assumed_arguments.iter().map(|r| format!("r{r}")).collect();
    let list = |items: Vec<String>| if items.is_empty() { "none".to_owned() } else { items.join(", ") };
    let rows = [
        (
            "code",
            format!(
                "{} instructions, {} words, {} blocks, {} functions",
                s.instructions, s.words, s.blocks, s.functions
            ),
        ),
        (
            "control",
            format!(
                "{} ifs, {} loops, of which {} may diverge; nesting {}, calls {}",
                s.ifs, s.loops, s.divergent, s.max_nesting, s.max_call_depth
            ),
        ),
        ("registers", format!("{} declared, {} used, {live}", s.registers_declared, s.registers_used)),
        ("arguments", list(arguments)),
        (
            "memory",
            format!(
                "{} local and {} device accesses, {} atomics; {} bytes of local memory",
                s.local_accesses, s.device_accesses, s.atomics, s.local_memory_bytes
            ),
        ),
        (
            "waves",
            format!("{} barriers, {} fences, {} wave operations", s.barriers, s.fences, s.wave_operations),
        ),
        ("needs", list(needs.into_iter().map(str::to_owned).collect())),
    ];
    let found = report.diagnostics.len();
    let errors =
        report.diagnostics.iter().filter(|d| d.severity == crate::diagnostic::Severity::Error).count();
    let verdict = match (errors, found - errors) {
        (0, 0) => "nothing to remark".to_owned(),
        (e, w) => format!("{e} errors, {w} warnings"),
    };
    let mut text = format!("kernel {}: {verdict}\n", s.kernel);
    for (name, value) in rows {
        text += &format!("  {name:<10} {value}\n");
    }
    text
}
