//! Files that commands write.

use super::terminal::reason;
use crate::diagnostic::Diagnostic;
use std::io::{self, Write};
use std::path::Path;

/// Writes a file: to a temporary name beside it, then renamed, so that a run that is broken off leaves
/// the old file or the new one. What is no regular file, such as a pipe or `/dev/null`, is written to
/// directly.
///
/// # Errors
/// If that fails, with the flag or argument that names the file.
pub fn write(path: &Path, bytes: &[u8], named_by: &str) -> Result<(), Vec<Diagnostic>> {
    let written = match std::fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(io::Error::other("it is a directory")),
        Ok(there) if !there.is_file() => std::fs::write(path, bytes),
        _ => replace(path, bytes),
    };
    written.map_err(|error| {
        let message = format!("{named_by}: cannot write `{}`: {}", path.display(), reason(&error));
        let folder = folder(path);
        let diagnostic = Diagnostic::error(message);
        vec![if folder.exists() {
            diagnostic
        } else {
            diagnostic.hint(format!("there is no folder `{}`", folder.display()))
        }]
    })
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    // A new file gets the permissions that the user's mask gives to any; an old one keeps its own.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder(path))?;
    file.write_all(bytes)?;
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
