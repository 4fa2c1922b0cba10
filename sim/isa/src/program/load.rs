//! Loads programs from files.

use super::{Program, asm, check, wbin};
use crate::diagnostic::Diagnostic;
use std::path::Path;
use wave_files::read::{self, PROGRAM_BYTES, Unreadable};

/// Loads a program: assembly text or a WBIN container. The container's magic tells them apart; for a file too
/// short to hold it, the extension does.
///
/// The file is read, not mapped. Mapping needs `unsafe`, since the bytes can change under the map, and the
/// whole program is decoded once anyway.
///
/// # Errors
/// A file that cannot be read, and all errors in its content, each with its place.
pub fn load(path: &Path) -> Result<Program, Vec<Diagnostic>> {
    load_with_warnings(path).map(|(program, _)| program)
}

/// [`load`], with the warnings of the assembler or about the container.
///
/// # Errors
/// Those of [`load`].
pub fn load_with_warnings(path: &Path) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    from_bytes(&read_file(path)?, &path.display().to_string())
}

/// The bytes of a file that should hold a kernel.
///
/// # Errors
/// If it cannot be read, with the name of one beside it that may be meant; if it is longer than [`PROGRAM_BYTES`].
pub fn read_file(path: &Path) -> Result<Vec<u8>, Vec<Diagnostic>> {
    read::bytes(path, PROGRAM_BYTES).map_err(|error| vec![unreadable(path, &error)])
}

/// A program from the bytes of `file`; the name is for messages.
///
/// # Errors
/// Those of [`load`].
pub fn from_bytes(bytes: &[u8], file: &str) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    if bytes.starts_with(wbin::MAGIC) || file.ends_with(".wbin") {
        return wbin::read_with_warnings(bytes, file).map_err(|error| vec![error]);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => closed(asm::assemble(text, file)?),
        Err(error) => Err(vec![not_text(bytes, error.valid_up_to(), file)]),
    }
}

/// Refuses assembly in which an `if` or a `loop` has no end: a slip, though it is code that runs.
fn closed(
    (program, mut warnings): (Program, Vec<Diagnostic>),
) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    let unclosed = check::unclosed(&program);
    if unclosed.is_empty() {
        return Ok((program, warnings));
    }
    warnings.extend(unclosed.into_iter().take(asm::MOST_DIAGNOSTICS));
    Err(warnings)
}

/// The message about a file that should hold text, and is not UTF-8 from byte `offset` on.
pub fn not_text(bytes: &[u8], offset: usize, file: &str) -> Diagnostic {
    let byte = bytes[offset];
    let hint = match bytes {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => "it looks like UTF-16: save it as UTF-8",
        [0x7F, b'E', b'L', b'F', ..] => "it is an ELF file, not a WAVE program",
        _ => "assembly is UTF-8 text; a WBIN file begins with the bytes WAVE",
    };
    Diagnostic::error(format!("`{file}` is not text: byte 0x{byte:02x} at offset {offset} is not UTF-8"))
        .hint(hint)
}

fn unreadable(path: &Path, error: &Unreadable) -> Diagnostic {
    let message = format!("cannot read `{}`: {error}", path.display());
    let diagnostic = Diagnostic::error(message);
    match neighbour(path) {
        Some(near) if error.is_missing() => diagnostic.hint(format!("did you mean `{near}`?")),
        _ => diagnostic,
    }
}

/// The program in the same folder with the most similar name.
fn neighbour(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".wave") || name.ends_with(".wbin"))
        .collect();
    names.sort();
    let wanted = path.file_name()?.to_str()?;
    let near = crate::suggest::nearest(wanted, names.iter().map(String::as_str));
    near.first().map(|name| path.with_file_name(name).display().to_string())
}
