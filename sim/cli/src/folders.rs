//! Folders that flags name for results.

use std::path::Path;
use wave_files::reason;
use wave_isa::diagnostic::Diagnostic;

/// Why a folder cannot be made, as far as that is known before the run: something else has its name, or the name of a
/// folder above it.
pub(crate) fn obstacle(folder: &Path) -> Option<String> {
    let there = folder.ancestors().find(|path| path.exists())?;
    (!there.is_dir()).then(|| format!("`{}` is no folder", there.display()))
}

/// Rejects a folder that cannot be made, before a run that takes long.
///
/// # Errors
/// As [`make`], with the flag that names the folder.
pub(crate) fn check(folder: &Path, named_by: &str) -> Result<(), Vec<Diagnostic>> {
    obstacle(folder).map_or(Ok(()), |why| Err(vec![unmade(folder, &why, named_by)]))
}

/// Makes a folder and those above it, unless it is there.
///
/// # Errors
/// It cannot be made, or something else has its name; with the flag that names it.
pub(crate) fn make(folder: &Path, named_by: &str) -> Result<(), Vec<Diagnostic>> {
    check(folder, named_by)?;
    std::fs::create_dir_all(folder).map_err(|error| vec![unmade(folder, &reason(&error), named_by)])
}

fn unmade(folder: &Path, why: &str, named_by: &str) -> Diagnostic {
    Diagnostic::error(format!("{named_by}: cannot make the folder `{}`: {why}", folder.display()))
}
