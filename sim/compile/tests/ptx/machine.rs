//! Runs PTX as users do: from the text to the program, and a launch of it without timing.

use std::path::Path;
use wave_compile::kernels::{self, Settings};
use wave_compile::source::{Format, SourceOptions};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Launch, Program};
use wave_machine::config::Config;
use wave_machine::functional;

/// The default machine with a small memory.
pub(crate) fn config() -> Config {
    let mut config = Config::example();
    config.device_memory_bytes = 1 << 22;
    config.core.wave_width = 32;
    config
}

/// Messages as users see them.
pub(crate) fn rendered(errors: &[Diagnostic]) -> String {
    errors.iter().map(|error| error.render(false)).collect::<Vec<_>>().join("\n")
}

/// The program of a text.
pub(crate) fn program(text: &str) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    let source = SourceOptions { format: Some(Format::Ptx), ..SourceOptions::default() };
    let settings = Settings { source, ..Settings::default() };
    kernels::from_bytes(Path::new("k.ptx"), text.as_bytes(), &settings)
}

/// A launch.
#[derive(Debug, Clone)]
pub(crate) struct Run<'a> {
    pub(crate) kernel: &'a str,
    pub(crate) grid: u32,
    pub(crate) threads: u32,
    /// Local memory beside what the kernel states.
    pub(crate) dynamic: u32,
    /// The words of the arguments.
    pub(crate) arguments: Vec<u32>,
}

/// Where buffers begin: behind all variables of the modules here.
pub(crate) const BUFFERS: u32 = 1 << 16;

/// Runs a kernel on memory whose bytes from [`BUFFERS`] on are given; gives these afterwards.
pub(crate) fn run(text: &str, run: &Run<'_>, contents: &[u8]) -> Result<Vec<u8>, String> {
    run_with(text, run, contents, Settings::default())
}

/// [`run`] of a kernel that is compiled with settings.
pub(crate) fn run_with(
    text: &str,
    run: &Run<'_>,
    contents: &[u8],
    settings: Settings,
) -> Result<Vec<u8>, String> {
    let mut config = config();
    config.capabilities.f64 = settings.f64_instructions;
    let source = SourceOptions { format: Some(Format::Ptx), ..SourceOptions::default() };
    let settings = Settings { source, ..settings };
    let compiled = kernels::from_bytes(Path::new("k.ptx"), text.as_bytes(), &settings);
    let (program, _) = compiled.map_err(|errors| rendered(&errors))?;
    let number = program.kernel_named(run.kernel).ok_or("the text has no such kernel")?;
    let mut launch = Launch::of(&program, number, [run.grid, 1, 1]);
    launch.workgroup = [run.threads, 1, 1];
    launch.local_memory_bytes = program.kernels[number].local_memory_bytes + run.dynamic;
    launch.initial_registers = (0..=u8::MAX).zip(run.arguments.iter().copied()).collect();
    let mut memory = vec![0; config.device_memory_bytes as usize];
    if let Some(module) = &program.module {
        module.place_data(&mut memory).map_err(|bytes| format!("{bytes} bytes of data"))?;
    }
    let place = BUFFERS as usize..BUFFERS as usize + contents.len();
    memory[place.clone()].copy_from_slice(contents);
    let bytes = memory.len() as u64;
    launch
        .place_private(&program, config.core.wave_width, bytes, place.end as u64)
        .map_err(|error| error.render(false))?;
    let limits = functional::Limits { max_instructions: Some(50_000_000), ..functional::Limits::default() };
    functional::run(&config, &program, &launch, &mut memory, &limits, &mut |_| {})
        .map_err(|error| format!("{error:?}"))?;
    Ok(memory[place].to_vec())
}
