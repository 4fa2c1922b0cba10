//! Small shaders whose results are computed by hand: what the translator has to prove before it may leave something out.

mod barriers;
mod control;
mod indices;
mod lines;
mod loops;
mod refused;
mod sizes;
mod values;

use crate::machine::{Bound, config, launch, program, program_of, rendered};
use crate::spirv::{bytes, parsed, written};
use wave_compile::shader::{Bounds, ShaderOptions};
use wave_compile::source::Format;
use wave_isa::program::Program;

/// Declarations that most shaders here begin with: what they write, what they read.
const HEAD: &str = "@group(0) @binding(0) var<storage, read_write> found: array<u32>;\n\
                    @group(0) @binding(1) var<storage, read> given: array<u32>;\n";

/// A shader with one entry point of eight threads, whose number is `i`.
fn of_eight(declarations: &str, body: &str) -> String {
    format!(
        "{HEAD}{declarations}\n@compute @workgroup_size(8)\n\
         fn main(@builtin(local_invocation_index) i: u32) {{\n{body}\n}}\n"
    )
}

/// Runs an entry point of a program with buffers of words at the bindings 0.0, 0.1 and so on; gives the first one
/// afterwards, or why the run ended.
fn run(program: &Program, entry: &str, buffers: &[&[u32]]) -> Result<Vec<u32>, String> {
    let contents: Vec<Vec<u8>> =
        buffers.iter().map(|words| words.iter().flat_map(|word| word.to_le_bytes()).collect()).collect();
    let buffers: Vec<Bound<'_>> =
        (0..).zip(&contents).map(|(number, contents)| Bound { group: 0, number, contents }).collect();
    let after = launch(program, entry, [1; 3], &buffers, &config(None))?;
    Ok(after[0].chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect())
}

/// The words that a shader leaves in its first buffer, as text and as the SPIR-V that naga makes of it.
fn ran(wgsl: &str, buffers: &[&[u32]]) -> Vec<u32> {
    let words = written(&parsed(wgsl), None).expect("it is right");
    let [found, of_spirv] =
        [(Format::Wgsl, wgsl.as_bytes().to_vec()), (Format::Spv, bytes(&words))].map(|(format, contents)| {
            let program = program_of(&contents, format, ShaderOptions::default());
            let program = program.unwrap_or_else(|errors| panic!("{}\n{wgsl}", rendered(&errors)));
            run(&program, "main", buffers).unwrap_or_else(|error| panic!("{format:?}: {error}\n{wgsl}"))
        });
    assert_eq!(found, of_spirv, "as SPIR-V:\n{wgsl}");
    found
}

/// As [`ran`], only as text.
fn ran_as_text(wgsl: &str, buffers: &[&[u32]]) -> Vec<u32> {
    let program =
        program(wgsl, ShaderOptions::default()).unwrap_or_else(|errors| panic!("{}", rendered(&errors)));
    run(&program, "main", buffers).unwrap_or_else(|error| panic!("{error}\n{wgsl}"))
}

/// As [`ran_as_text`], of a shader that traps at an index outside; `None` if it does.
fn ran_trapping(wgsl: &str, buffers: &[&[u32]]) -> Option<Vec<u32>> {
    let options = ShaderOptions { bounds: Bounds::Trap, ..ShaderOptions::default() };
    let program = program(wgsl, options).unwrap_or_else(|errors| panic!("{}", rendered(&errors)));
    match run(&program, "main", buffers) {
        Ok(words) => Some(words),
        Err(why) => {
            assert!(why.contains("OutOfBounds") || why.contains("out of bounds"), "{why}");
            None
        }
    }
}
