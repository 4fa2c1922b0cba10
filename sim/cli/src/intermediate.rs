//! Kernels in formats other than WAVE, as far as they are read: to the intermediate representation.

use super::programs::entry;
use std::path::Path;
use wave_compile::ir::{Module, text, verify::verify};
use wave_compile::wasm;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::read_file;
use wave_observe::numbers::counted;

/// A module, read and verified; `None` if the file is a WAVE program. The first bytes tell WebAssembly in binary; the
/// extension tells its text (`.wat`) and that of the intermediate representation (`.ir`).
///
/// # Errors
/// A file that cannot be read, and whatever is wrong with it.
pub(crate) fn load(path: &Path) -> Result<Option<Module>, Vec<Diagnostic>> {
    let name = path.display().to_string();
    let bytes = read_file(path)?;
    let extension = path.extension().and_then(|extension| extension.to_str());
    let decoded = |bytes: &[u8]| match wasm::decode(bytes) {
        Ok(decoded) => Ok(decoded.module),
        Err(error) => Err(vec![error.diagnostic(&name)]),
    };
    let module = match extension {
        _ if wasm::is_binary(&bytes) => decoded(&bytes)?,
        Some("wasm") => {
            let message =
                format!("`{name}` is not WebAssembly: it does not begin with the bytes 00 61 73 6d");
            return Err(vec![Diagnostic::error(message).hint("its text form has the extension .wat")]);
        }
        Some("wat") => decoded(&wasm::encode(&name, &as_text(&bytes, &name)?).map_err(|error| vec![error])?)?,
        Some("ir") => text::parse(&as_text(&bytes, &name)?, &name).map_err(|error| vec![error])?,
        _ => return Ok(None),
    };
    match verify(&module) {
        Ok(()) => Ok(Some(module)),
        Err(error) => Err(vec![Diagnostic::error(format!("{name}: {error}"))]),
    }
}

fn as_text(bytes: &[u8], name: &str) -> Result<String, Vec<Diagnostic>> {
    String::from_utf8(bytes.to_vec()).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let message = format!("`{name}` is not text: the byte at offset {offset} is not UTF-8");
        vec![Diagnostic::error(message)]
    })
}

/// The contents of a module, one line each.
pub(crate) fn summary(name: &Path, module: &Module) -> String {
    let count = |n: usize, what: &str| counted(n as u64, what);
    let blocks = module.functions.values().map(|function| function.blocks.len()).sum();
    let instructions = module
        .functions
        .values()
        .flat_map(|function| function.blocks.values())
        .map(|block| block.instructions.len() + 1)
        .sum();
    let pages: Vec<String> =
        module.memories.values().map(|memory| count(memory.pages as usize, "page")).collect();
    let exports: Vec<&str> = module.exports.iter().map(|(name, _)| name.as_str()).collect();
    let list = |items: String| if items.is_empty() { "none".to_owned() } else { items };
    let rows = [
        (
            "code",
            [
                count(module.functions.len(), "function"),
                count(blocks, "block"),
                count(instructions, "instruction"),
            ]
            .join(", "),
        ),
        ("memories", list(pages.join(", "))),
        ("globals", module.globals.len().to_string()),
        ("exports", list(exports.join(", "))),
    ];
    entry(&format!("module {}: nothing to remark", name.display()), rows)
}
