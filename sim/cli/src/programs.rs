//! `wave-sim asm`, `dis` and `check`.

use super::args::CheckArgs;
use super::machine::check_options;
use super::terminal::Terminal;
use super::{Ended, Exit, files, inputs, instances, intermediate};
use std::path::Path;
use std::str::Utf8Error;
use wave_compile::kernels::{self, Settings};
use wave_compile::pica;
use wave_compile::source::{Format, Source, SourceOptions};
use wave_isa::diagnostic::{Diagnostic, Severity};
use wave_isa::program::check::{Report, check as check_kernel};
use wave_isa::program::{self, Listing, wbin};
use wave_isa::suggest::did_you_mean;
use wave_observe::numbers::counted;

/// Makes a WBIN container of any kernel file; of a shader as text, that of its machine.
///
/// # Errors
/// Everything that is wrong with the file, or if the container cannot be written.
pub(crate) fn assemble(
    input: &Path,
    output: Option<&Path>,
    settings: &Settings,
    terminal: &Terminal,
) -> Ended {
    let bytes = program::read_file(input)?;
    let format = settings.source.format.unwrap_or_else(|| Format::of(input, &bytes));
    // A shader as text is assembled for the machine that it is written for, if nobody wants another container.
    let is_shader =
        format == Format::Pica && output.is_none_or(|output| output.extension() != Some("wbin".as_ref()));
    let contents = match is_shader {
        true => {
            let text = std::str::from_utf8(&bytes);
            let file = input.display().to_string();
            let not_text = |error: Utf8Error| vec![program::not_text(&bytes, error.valid_up_to(), &file)];
            pica::assemble(text.map_err(not_text)?, &file)?
        }
        false => {
            let (program, warnings) = kernels::load(input, settings)?;
            terminal.diagnostics(&warnings);
            terminal.diagnostics(&not_held(&program));
            wbin::write(&program)
        }
    };
    let extension = if is_shader { Format::Shbin } else { Format::Wbin }.name();
    let output = output.map_or_else(|| input.with_extension(extension), Path::to_owned);
    if output == input {
        let message = format!("`{}` would be overwritten", input.display());
        return Err(vec![Diagnostic::error(message).hint("name another file with --output")]);
    }
    files::write(&output, &contents, "--output")?;
    Ok(Exit::Success)
}

/// Warnings about what a container does not hold, and a launch has to bring.
fn not_held(program: &program::Program) -> Vec<Diagnostic> {
    let Some(module) = &program.module else { return Vec::new() };
    let mut warnings = Vec::new();
    let bytes: usize = module.data.iter().map(|(_, bytes)| bytes.len()).sum();
    if bytes > 0 {
        let message = format!("the {bytes} bytes of data of `{}` are not in the container", module.file);
        warnings.push(Diagnostic::warning(message).hint("run the module itself, or load them with --arg"));
    }
    for kernel in &program.kernels {
        let Some(private) = kernel.private else { continue };
        let message = format!(
            "kernel `{}` needs {} bytes of device memory for each wave, and their address in r{}: the container does not \
             say so",
            kernel.name, private.bytes_per_wave, private.register
        );
        warnings.push(
            Diagnostic::warning(message).hint("run the module itself, or set the register with --set-reg"),
        );
    }
    warnings
}

/// Disassembles any kernel file: its kernels, or the program in which every thread has an instance and calls a function
/// of it.
///
/// # Errors
/// Whatever is wrong with the file, or if the text cannot be written.
pub(crate) fn disassemble(
    (input, function, settings): (&Path, Option<&str>, &Settings),
    output: Option<&Path>,
    form: Listing,
    terminal: &Terminal,
) -> Ended {
    let (program, warnings) = match function {
        Some(function) => instances::program(input, function, &settings.source)?,
        None => kernels::load(input, settings)?,
    };
    terminal.diagnostics(&warnings);
    // The lines of assembly are the instructions.
    let form = Listing { source: form.source && program.module.is_some(), ..form };
    let text = program::listing(&program, form);
    match output {
        Some(output) => files::write(output, text.as_bytes(), "--output").map(|()| Exit::Success),
        None => terminal.out(&text),
    }
}

/// Shows a module in the intermediate representation.
///
/// # Errors
/// Whatever is wrong with the module, or if the text cannot be written.
pub(crate) fn show(
    input: &Path,
    output: Option<&Path>,
    source: &SourceOptions,
    terminal: &Terminal,
) -> Ended {
    let Some(source) = Source::read(input, &program::read_file(input)?, source)? else {
        let message = format!("--ir: `{}` is no module in a format other than WAVE", input.display());
        return Err(vec![
            Diagnostic::error(message).hint("the files are .wasm, .wat, and .ir for its own text"),
        ]);
    };
    let text = source.module.to_string();
    match output {
        Some(output) => files::write(output, text.as_bytes(), "--output").map(|()| Exit::Success),
        None => terminal.out(&text),
    }
}

/// Checks kernels: the findings go to standard error, the figures (or the graph) to standard output.
///
/// # Errors
/// Whatever keeps a file or the configuration from being loaded.
pub(crate) fn check(args: &CheckArgs, terminal: &Terminal) -> Ended {
    let config = inputs::config(&args.config, &args.set, terminal)?;
    let options = check_options(&config);
    let mut exit = Exit::Success;
    let mut text = String::new();
    for input in &args.inputs {
        let settings = Settings {
            source: args.source.options(),
            names: args.kernel.iter().cloned().collect(),
            ..Settings::default()
        };
        let bytes = program::read_file(input)?;
        let (program, warnings) = match Source::read(input, &bytes, &settings.source)? {
            Some(source) => {
                text += &intermediate::summary(input, &source.module);
                kernels::program(&source, &settings)?
            }
            None => program::from_bytes(&bytes, &input.display().to_string())?,
        };
        terminal.diagnostics(&warnings);
        let chosen = chosen(&program, input, args.kernel.as_deref())?;
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

/// The kernel with this name, or all.
pub(crate) fn chosen(
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

/// The contents of a kernel, one line each.
fn summary(report: &Report) -> String {
    let s = &report.summary;
    let count = |n: u32, what: &str| counted(n.into(), what);
    let list = |items: Vec<String>| if items.is_empty() { "none".to_owned() } else { items.join(", ") };
    let place = s.max_live_at.as_ref().map_or(String::new(), |place| format!(", at {place}"));
    let needs = [("CAP_F64", s.uses_f64), ("CAP_MMA", s.uses_mma)];
    let code = [
        count(s.instructions, "instruction"),
        count(s.words, "word"),
        count(s.blocks, "block"),
        count(s.functions, "function"),
    ];
    let control = [
        count(s.ifs, "if"),
        format!("{}; {} of them may part lanes", count(s.loops, "loop"), s.divergent),
        format!("nesting {}", s.max_nesting),
        format!("calls {}", s.max_call_depth),
    ];
    let registers = [
        format!("{} declared", s.registers_declared),
        format!("{} used", s.registers_used),
        format!("{} needed at once{place}", s.max_live_registers),
    ];
    let memory = [
        format!("{} local", s.local_accesses),
        format!("{} device accesses", s.device_accesses),
        count(s.atomics, "atomic"),
        format!("{} of local memory", count(s.local_memory_bytes, "byte")),
    ];
    let waves =
        [count(s.barriers, "barrier"), count(s.fences, "fence"), count(s.wave_operations, "wave operation")];
    let rows = [
        ("code", code.join(", ")),
        ("control", control.join(", ")),
        ("registers", registers.join(", ")),
        ("arguments", list(s.assumed_arguments.iter().map(|r| format!("r{r}")).collect())),
        ("memory", memory.join(", ")),
        ("waves", waves.join(", ")),
        ("needs", list(needs.iter().filter(|need| need.1).map(|need| need.0.to_owned()).collect())),
    ];
    let errors = report.diagnostics.iter().filter(|d| d.severity == Severity::Error).count() as u64;
    let warnings = report.diagnostics.len() as u64 - errors;
    let verdict = match (errors, warnings) {
        (0, 0) => "nothing to remark".to_owned(),
        _ => format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
    };
    entry(&format!("kernel {}: {verdict}", s.kernel), rows)
}

/// A heading with a line for each row below it.
pub(crate) fn entry<'a>(heading: &str, rows: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let rows = rows.into_iter().map(|(name, value)| format!("  {name:<10} {value}\n"));
    format!("{heading}\n{}", rows.collect::<String>())
}
