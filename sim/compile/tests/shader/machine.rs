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
    let options = SourceOptions { format: Some(Format::Wgsl), shader: options, ..SourceOptions::default() };
    let source = Source::read(Path::new("shader.wgsl"), wgsl.as_bytes(), &options)?.expect("it is a shader");
    Ok(kernels::program(&source, &Settings::default())?.0)
}

/// Runs a case; gives the contents of its buffers afterwards.
pub(crate) fn run(case: &Case, config: &Config) -> Result<Vec<Vec<u8>>, String> {
    let options = ShaderOptions {
        overrides: case.overrides.clone(),
        separate_rounding: true,
        ..ShaderOptions::default()
    };
    let text = |errors: Vec<Diagnostic>| errors.iter().map(|error| error.render(false)).collect::<String>();
    let program = program(&case.wgsl, options).map_err(text)?;
    let number = program.kernel_named(&case.entry).expect("its entry point");
    let mut launch = Launch::of(&program, number, case.grid);
    let mut memory = vec![0; config.device_memory_bytes as usize];
    let mut end = 0;
    if let Some(module) = &program.module {
        module.place_data(&mut memory).expect("it fits");
        end = module.data_end;
    }
    let mut places = vec![None; case.bindings.len()];
    for binding in &program.kernels[number].bindings {
        let is_it =
            |buffer: &crate::case::Buffer| (buffer.group, buffer.number) == (binding.group, binding.number);
        let at = case.bindings.iter().position(is_it).expect("a buffer for each binding");
        let buffer = &case.bindings[at];
        let start = end.next_multiple_of(256);
        end = start + buffer.contents.len() as u64;
        memory[start as usize..end as usize].copy_from_slice(&buffer.contents);
        let registers = binding.registers(start as u32, buffer.contents.len() as u64)?;
        launch.initial_registers.extend(registers);
        places[at] = Some(start as usize);
    }
    let bytes = memory.len() as u64;
    let width = config.core.wave_width;
    launch.place_private(&program, width, bytes, end).map_err(|error| error.render(false))?;
    let limits = functional::Limits { max_instructions: Some(50_000_000), ..functional::Limits::default() };
    functional::run(config, &program, &launch, &mut memory, &limits, &mut |_| {})
        .map_err(|error| format!("{error:?}"))?;
    let contents = case.bindings.iter().zip(places);
    Ok(contents
        .map(|(buffer, start)| match start {
            Some(start) => memory[start..start + buffer.contents.len()].to_vec(),
            None => buffer.contents.clone(),
        })
        .collect())
}
