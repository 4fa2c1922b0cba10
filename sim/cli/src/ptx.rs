//! `wave-sim ptx`.

use super::args::{PtxArgs, PtxSpecial};
use super::programs::chosen;
use super::terminal::Terminal;
use super::{Ended, Exit, files};
use wave_compile::kernels::{self, Settings};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::Program;
use wave_ptx::{Arch, Options, SpecialFunctions};

/// Translates the kernels of a file to PTX.
///
/// # Errors
/// Whatever is wrong with the file or has no equivalent, or if the text cannot be written.
pub(crate) fn run(args: &PtxArgs, terminal: &Terminal) -> Ended {
    // NVIDIA's GPUs have f64, so that a module may use it.
    let settings = Settings {
        source: args.source.options(),
        names: args.kernel.iter().cloned().collect(),
        stack_bytes: args.stack_bytes,
        heap_bytes: args.heap_bytes,
        f64_instructions: true,
        ..Settings::default()
    };
    let (program, warnings) = kernels::load(&args.input, &settings)?;
    terminal.diagnostics(&warnings);
    let options = Options {
        arch: Arch::from_name(&args.arch).expect("the command line takes known names only"),
        special: match args.special {
            PtxSpecial::Exact => SpecialFunctions::Exact,
            PtxSpecial::Hardware => SpecialFunctions::Hardware,
        },
        check_bounds: args.check_bounds,
        aligned: args.aligned,
        lane_order: args.lane_order,
        relaxed: args.relaxed,
        threads: args.threads,
        times: false,
    };
    let chosen = chosen(&program, &args.input, args.kernel.as_deref())?;
    let text = wave_ptx::translate(&program, &chosen, &options)?;
    terminal.diagnostics(&not_held(&program));
    if args.output.as_ref() == Some(&args.input) {
        let message = format!("`{}` would be overwritten", args.input.display());
        return Err(vec![Diagnostic::error(message).hint("name another file with --output")]);
    }
    match &args.output {
        Some(output) => files::write(output, text.as_bytes(), "--output").map(|()| Exit::Success),
        None => terminal.out(&text),
    }
}

/// Warnings about what the text does not hold, and a launch has to bring.
fn not_held(program: &Program) -> Vec<Diagnostic> {
    let Some(module) = &program.module else { return Vec::new() };
    let bytes: usize = module.data.iter().map(|(_, bytes)| bytes.len()).sum();
    if bytes == 0 {
        return Vec::new();
    }
    let message = format!("the {bytes} bytes of data of `{}` are not in the PTX", module.file);
    vec![
        Diagnostic::warning(message)
            .hint("a launch has to bring them in device memory, at the addresses of the module"),
    ]
}
