//! Folders of programs that have met something in the RTL: a file for each, named after its contents.

use super::super::files::NewFolder;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use wave_files::read::{self, PROGRAM_BYTES};
use wave_files::reason;
use wave_isa::diagnostic::Diagnostic;
use wave_verify::rtl::Trial;

/// The files of a folder, in the order of their names; none if the folder is not there.
///
/// # Errors
/// It cannot be read, or holds something else than programs.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let wrong =
        |what: String| Diagnostic::error(format!("--corpus: cannot use `{}`: {what}", folder.display()));
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(wrong(reason(&error))),
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>();
    let mut paths = paths.map_err(|error| wrong(reason(&error)))?;
    if let Some(other) = paths.iter().find(|path| path.extension().is_none_or(|e| e != "ron")) {
        let name = other.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Err(wrong(format!("`{name}` in it is no program")).hint("a corpus has files `*.ron` only"));
    }
    paths.sort();
    Ok(paths)
}

/// The programs of a folder, which may be empty or not there if it is to be written.
///
/// # Errors
/// The folder or a file in it cannot be read, or makes no sense.
pub(super) fn read(folder: &Path, is_written: bool) -> Result<Vec<Trial>, Diagnostic> {
    let read = |path: PathBuf| {
        let wrong = |what: String| {
            Diagnostic::error(format!("--corpus: cannot use `{}`: {what}", path.display()))
                .hint("`wave-sim cosim --guided --corpus DIR` writes such files")
        };
        let text = read::text(&path, PROGRAM_BYTES).map_err(|error| wrong(error.to_string()))?;
        Trial::read(&text).map_err(wrong)
    };
    let files = files(folder)?;
    if files.is_empty() && !is_written {
        return Err(Diagnostic::error(format!("--corpus: there is no program in `{}`", folder.display()))
            .hint("`wave-sim cosim --guided --random 1000 --corpus DIR` makes a corpus"));
    }
    files.into_iter().map(read).collect()
}

/// Replaces the folder by one with these programs, completely or not at all. What is not a program is not replaced.
///
/// # Errors
/// It cannot be written.
pub(super) fn write<'a>(
    folder: &Path,
    trials: impl IntoIterator<Item = &'a Trial>,
) -> Result<(), Diagnostic> {
    let unwritten = |error: io::Error| {
        Diagnostic::error(format!("--corpus: cannot write to `{}`: {}", folder.display(), reason(&error)))
    };
    files(folder)?;
    std::fs::create_dir_all(wave_files::folder(folder)).map_err(unwritten)?;
    let new = NewFolder::create(folder).map_err(unwritten)?;
    for trial in trials {
        fs::write(new.path().join(trial.name()), trial.text()).map_err(unwritten)?;
    }
    new.persist().map_err(unwritten)
}
