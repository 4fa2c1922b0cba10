//! Writes the files of commands.

use super::terminal::reason;
use crate::diagnostic::Diagnostic;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Writes a file under a temporary name beside it and then renames it, so that an interrupted run leaves
/// either the old or the new file. Anything that is no regular file, such as a pipe or `/dev/null`, is
/// written directly.
///
/// # Errors
/// If that fails, with the flag or argument that names the file.
pub fn write(path: &Path, bytes: &[u8], named_by: &str) -> Result<(), Vec<Diagnostic>> {
    let written = match std::fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(io::Error::other("it is a directory")),
        Ok(there) if !there.is_file() => std::fs::write(path, bytes),
        _ => replace(path, bytes),
    };
    written.map_err(|error| vec![unwritable(path, &error, named_by)])
}

/// The message about a file that cannot be written.
pub fn unwritable(path: &Path, error: &io::Error, named_by: &str) -> Diagnostic {
    let message = format!("{named_by}: cannot write `{}`: {}", path.display(), reason(error));
    let folder = folder(path);
    let diagnostic = Diagnostic::error(message);
    match folder.exists() {
        true => diagnostic,
        false => diagnostic.hint(format!("there is no folder `{}`", folder.display())),
    }
}

/// A file that is written piece by piece and gets its name when it is complete. Anything that is no regular
/// file is written directly.
#[derive(Debug)]
pub struct Streamed {
    path: PathBuf,
    /// The temporary file; `None` for what is no regular file.
    temporary: Option<NamedTempFile>,
}

impl Streamed {
    /// Creates it.
    ///
    /// # Errors
    /// If that fails, with the flag or argument that names the file.
    pub fn create(path: &Path, named_by: &str) -> Result<Streamed, Vec<Diagnostic>> {
        let temporary = match std::fs::metadata(path) {
            Ok(there) if there.is_dir() => Err(io::Error::other("it is a directory")),
            Ok(there) if !there.is_file() => Ok(None),
            _ => temporary(path).map(Some),
        };
        match temporary {
            Ok(temporary) => Ok(Streamed { path: path.to_owned(), temporary }),
            Err(error) => Err(vec![unwritable(path, &error, named_by)]),
        }
    }

    /// What to write to.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn file(&self) -> io::Result<File> {
        match &self.temporary {
            Some(file) => file.as_file().try_clone(),
            None => File::options().write(true).open(&self.path),
        }
    }

    /// The temporary name.
    pub fn written_path(&self) -> &Path {
        self.temporary.as_ref().map_or(&self.path, |file| file.path())
    }

    /// The final name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Renames it to its final name.
    ///
    /// # Errors
    /// If that fails, with the flag or argument that names the file.
    pub fn persist(self, named_by: &str) -> Result<(), Vec<Diagnostic>> {
        let Streamed { path, temporary } = self;
        let Some(file) = temporary else { return Ok(()) };
        persist(file, &path).map_err(|error| vec![unwritable(&path, &error, named_by)])
    }
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = temporary(path)?;
    file.write_all(bytes)?;
    persist(file, path)
}

/// A file beside the one at `path`.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    // A new file gets the permissions of the user's mask; an existing file keeps its own.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder(path))
}

fn persist(file: NamedTempFile, path: &Path) -> io::Result<()> {
    if let Ok(old) = std::fs::metadata(path) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.persist(path)?;
    Ok(())
}

/// The folder that a file is in.
pub fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
