//! Runs shaders as users do: from the file to the program, with a buffer for each binding.

use crate::case::Case;
use std::path::Path;
use wave_compile::kernels::{self, Settings};
use wave_compile::shader::ShaderOptions;
use wave_compile::source::{Format, Source, SourceOptions};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Launch, Program};
use wave_machine::config::Config;
use wave_machine::functional;

/// The default machine, with so many lanes and a small memory.
pub(crate) fn config(lanes: Option<u32>) -> Config {
    let mut config = Config::example();
    config.device_memory_bytes = 1 << 22;
    config.core.wave_width = lanes.unwrap_or(config.core.wave_width);
    config
}

/// The program of a shader.
pub(crate) fn program(wgsl: &str, options: ShaderOptions) -> Result<Program, Vec<Diagnostic>> {
    program_of(wgsl.as_bytes(), Format::Wgsl, options)
}

/// The program of a shader in one of its formats.
pub(crate) fn program_of(
    bytes: &[u8],
    format: Format,
    options: ShaderOptions,
) -> Result<Program, Vec<Diagnostic>> {
    let options = SourceOptions { format: Some(format), shader: options, ..SourceOptions::default() };
    let source = Source::read(Path::new("shader"), bytes, &options)?.expect("it is a shader");
    Ok(kernels::program(&source, &Settings::default())?.0)
}

/// What a buffer has before a run.
pub(crate) struct Bound<'a> {
    pub(crate) group: u32,
    pub(crate) number: u32,
    pub(crate) contents: &'a [u8],
}

/// Messages as users see them.
pub(crate) fn rendered(errors: &[Diagnostic]) -> String {
    errors.iter().map(|error| error.render(false)).collect()
}

/// Runs a case; gives the contents of its buffers afterwards.
pub(crate) fn run(case: &Case, config: &Config) -> Result<Vec<Vec<u8>>, String> {
    let options = ShaderOptions {
        overrides: case.overrides.clone(),
        separate_rounding: true,
        ..ShaderOptions::default()
    };
    let program = program(&case.wgsl, options).map_err(|errors| rendered(&errors))?;
    let buffers: Vec<Bound<'_>> = case
        .bindings
        .iter()
        .map(|one| Bound { group: one.group, number: one.number, contents: &one.contents })
        .collect();
    launch(&program, &case.entry, case.grid, &buffers, config)
}

/// Runs an entry point of a program; gives the contents of the buffers afterwards.
pub(crate) fn launch(
    program: &Program,
    entry: &str,
    grid: [u32; 3],
    buffers: &[Bound<'_>],
    config: &Config,
) -> Result<Vec<Vec<u8>>, String> {
    let number = program.kernel_named(entry).expect("its entry point");
    let mut launch = Launch::of(program, number, grid);
    let mut memory = vec![0; config.device_memory_bytes as usize];
    let mut end = 0;
    if let Some(module) = &program.module {
        module.place_data(&mut memory).expect("it fits");
        end = module.data_end;
    }
    let mut places = vec![None; buffers.len()];
    for binding in &program.kernels[number].bindings {
        let is_it = |buffer: &Bound<'_>| (buffer.group, buffer.number) == (binding.group, binding.number);
        let at = buffers.iter().position(is_it).expect("a buffer for each binding");
        let contents = buffers[at].contents;
        let start = end.next_multiple_of(256);
        end = start + contents.len() as u64;
        memory[start as usize..end as usize].copy_from_slice(contents);
        let registers = binding.registers(start as u32, contents.len() as u64)?;
        launch.initial_registers.extend(registers);
        places[at] = Some(start as usize);
    }
    let bytes = memory.len() as u64;
    let width = config.core.wave_width;
    launch.place_private(program, width, bytes, end).map_err(|error| error.render(false))?;
    let limits = functional::Limits { max_instructions: Some(50_000_000), ..functional::Limits::default() };
    functional::run(config, program, &launch, &mut memory, &limits, &mut |_| {})
        .map_err(|error| format!("{error:?}"))?;
    let contents = buffers.iter().zip(places);
    Ok(contents
        .map(|(buffer, start)| match start {
            Some(start) => memory[start..start + buffer.contents.len()].to_vec(),
            None => buffer.contents.to_vec(),
        })
        .collect())
}
