//! Output files: written under a temporary name in their folder and renamed when they are complete.

use crate::folder;
use crate::temporary::TemporaryFile;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Links that are followed.
const MOST_LINKS: usize = 40;

/// Where the bytes of an output go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A regular file, which may not be there yet. Links are followed: this is the file at their end.
    File(PathBuf),
    /// A pipe, a device, or a file that the process was started with. It is written directly.
    Open(PathBuf),
}

/// Where an output of this name goes.
///
/// # Errors
/// It is a directory, or its links do not end.
pub fn target(path: &Path) -> io::Result<Target> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => return Err(io::Error::other("it is a directory")),
        Ok(there) if !there.is_file() => return Ok(Target::Open(path.to_owned())),
        _ => {}
    }
    Ok(match followed(path)? {
        Some(path) => Target::File(path),
        None => Target::Open(path.to_owned()),
    })
}

/// The folder that an output folder of this name is or becomes: links are followed.
///
/// # Errors
/// Its links do not end.
pub fn folder_target(path: &Path) -> io::Result<PathBuf> {
    Ok(followed(path)?.unwrap_or_else(|| path.to_owned()))
}

/// Follows links, also to something that is not there yet. `None` for a file that the process has open.
fn followed(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut at = path.to_owned();
    for _ in 0..MOST_LINKS {
        // `/dev/stdout` leads there. Others write to the file behind it, too.
        if folder(&at).canonicalize().is_ok_and(|folder| folder.starts_with("/proc")) {
            return Ok(None);
        }
        match fs::read_link(&at) {
            Ok(link) => at = folder(&at).join(link),
            // It is no link, or nothing is there.
            Err(_) => return Ok(Some(at)),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// As [`target`], for an output that must be a regular file.
///
/// # Errors
/// Those of [`target`]; it is no regular file.
pub fn regular_target(path: &Path) -> io::Result<PathBuf> {
    match target(path)? {
        Target::File(path) => Ok(path),
        Target::Open(_) => Err(io::Error::other("it is no regular file")),
    }
}

/// Opens an output that is written directly.
///
/// # Errors
/// It cannot be opened.
pub fn open(path: &Path) -> io::Result<File> {
    File::options().append(true).open(path)
}

/// Writes an output. An interrupted process leaves either the old file or the new one.
///
/// # Errors
/// It cannot be written; the old file is still there then.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match target(path)? {
        Target::Open(path) => open(&path)?.write_all(bytes),
        Target::File(path) => {
            let new = TemporaryFile::in_folder(folder(&path))?;
            new.as_file().write_all(bytes)?;
            replace(new, &path)
        }
    }
}

/// As [`write`], for a regular file on which later runs depend: a failure of the host at any time leaves the old file or
/// the new one, too.
///
/// # Errors
/// Those of [`write`]; it is no regular file.
pub fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = regular_target(path)?;
    let new = TemporaryFile::in_folder(folder(&path))?;
    new.as_file().write_all(bytes)?;
    new.as_file().sync_all()?;
    replace(new, &path)?;
    sync_folder(&path);
    Ok(())
}

/// Makes sure that [`write_durably`] can write a file, as far as one can tell before.
///
/// # Errors
/// Those of [`write_durably`].
pub fn check(path: &Path) -> io::Result<()> {
    TemporaryFile::in_folder(folder(&regular_target(path)?)).map(drop)
}

/// Gives a complete file its name. It keeps the permissions of a file that it replaces.
///
/// # Errors
/// The operation fails. The new file is then removed.
pub fn replace(new: TemporaryFile, path: &Path) -> io::Result<()> {
    keep_permissions(new.path(), path)?;
    new.persist(path).map(drop)
}

/// Gives a new file the permissions of the one that it is to replace, if there is one.
///
/// # Errors
/// The operation fails.
pub fn keep_permissions(new: &Path, old: &Path) -> io::Result<()> {
    match fs::metadata(old) {
        Ok(old) => fs::set_permissions(new, old.permissions()),
        Err(_) => Ok(()),
    }
}

/// Makes the name of a file outlive a failure of the host, where the file system can do that.
pub fn sync_folder(path: &Path) {
    _ = File::open(folder(path)).and_then(|folder| folder.sync_all());
}
