//! `wave-sim wasm …`: the sections of NanoWasm.

use super::args::WasmCommand;
use super::programs::entry;
use super::terminal::Terminal;
use super::{Ended, Exit, files};
use std::path::Path;
use wave_compile::encoding::Error;
use wave_compile::wasm;
use wave_compile::wasm::nanowasm::{self, Contents};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::read_file;
use wave_observe::numbers::counted;

/// Does what the command line says.
///
/// # Errors
/// Whatever is wrong with a module, or if a file cannot be written.
pub(crate) fn run(command: &WasmCommand, terminal: &Terminal) -> Ended {
    match command {
        WasmCommand::Annotate { input, output } => annotate(input, output),
        WasmCommand::Verify { inputs } => verify(inputs, terminal),
    }
}

/// Writes a module with the sections.
fn annotate(input: &Path, output: &Path) -> Ended {
    let name = input.display().to_string();
    if output == input {
        let message = format!("`{name}` would be overwritten");
        return Err(vec![Diagnostic::error(message).hint("name another file with --output")]);
    }
    let module = nanowasm::annotate(&bytes(input)?).map_err(|error| vec![error.diagnostic(&name)])?;
    files::write(output, &module, "--output")?;
    Ok(Exit::Success)
}

/// Checks the sections of modules. A module that is wrong does not keep the others from being checked.
fn verify(inputs: &[impl AsRef<Path>], terminal: &Terminal) -> Ended {
    let mut exit = Exit::Success;
    for input in inputs {
        let name = input.as_ref().display().to_string();
        let located = |errors: Vec<Error>| errors.iter().map(|error| error.diagnostic(&name)).collect();
        match bytes(input.as_ref()).and_then(|bytes| nanowasm::verify(&bytes).map_err(located)) {
            Ok(contents) => _ = terminal.out(&summary(&name, &contents))?,
            Err(diagnostics) => {
                terminal.diagnostics(&diagnostics);
                exit = Exit::WrongInput;
            }
        }
    }
    Ok(exit)
}

/// A heading, and a line for each section.
fn summary(name: &str, contents: &[Contents]) -> String {
    let rows = contents.iter().map(|Contents { section, entries, bytes }| {
        let entries = match (section.entry(), *entries) {
            ("body", 1) => "1 body".to_owned(),
            ("body", entries) => format!("{entries} bodies"),
            (entry, entries) => counted(entries as u64, entry),
        };
        (section.name(), format!("{entries}, {}", counted(*bytes as u64, "byte")))
    });
    entry(&format!("module {name}: its sections of NanoWasm are right"), rows)
}

/// The bytes of a module. One in text (`.wat`) is encoded.
fn bytes(input: &Path) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let name = input.display().to_string();
    let bytes = read_file(input)?;
    if wasm::is_binary(&bytes) {
        return Ok(bytes);
    }
    if input.extension().is_some_and(|extension| extension == "wat")
        && let Ok(text) = std::str::from_utf8(&bytes)
    {
        return wasm::encode(&name, text).map_err(|error| vec![error]);
    }
    let message = format!("`{name}` is not WebAssembly: it does not begin with the bytes 00 61 73 6d");
    Err(vec![Diagnostic::error(message).hint("its text form has the extension .wat")])
}
