//! Temporary files and folders.
//!
//! Each has a random name in the folder of the file that it becomes, and is created only if nothing has that name, so
//! that no link is followed. It is removed when it is dropped, and when a signal ends the program. Its process holds a
//! lock on it; the operating system frees the lock however the process ends. So a name of this form without a lock is
//! left over from a process that was killed. The next process that writes to the folder removes it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::{Builder, NamedTempFile, TempDir};

/// Beginning and end of the names.
const PREFIX: &str = ".wave-sim-";
const SUFFIX: &str = ".partial";
/// Random characters between them.
const RANDOM: usize = 12;
/// Names that are tried where other processes remove new files before they are locked.
const TRIES: usize = 16;

/// Temporary files and folders of this process.
static LISTED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// Folders whose leftovers this process has removed.
static COLLECTED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn locked(set: &'static Mutex<BTreeSet<PathBuf>>) -> MutexGuard<'static, BTreeSet<PathBuf>> {
    set.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all temporary files and folders of this process and ends the program.
pub fn remove_all_and_exit(code: i32) -> ! {
    // Locked until the end, so that no other thread creates a file meanwhile.
    let listed = locked(&LISTED);
    for path in listed.iter() {
        // A path that no longer exists was renamed to its final name.
        _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
    std::process::exit(code)
}

/// A path that [`remove_all_and_exit`] removes.
#[derive(Debug)]
struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        locked(&LISTED).remove(&self.0);
    }
}

/// A file without its final name.
#[derive(Debug)]
pub struct TemporaryFile {
    // First field: the file is removed before its path leaves the list. The lock is that of its handle.
    made: NamedTempFile,
    _listed: Listed,
}

impl TemporaryFile {
    /// Creates a file in a folder, with the permissions of an ordinary new file.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn in_folder(folder: &Path) -> io::Result<TemporaryFile> {
        collect(folder);
        let mut builder = Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Less the mask of the user.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(RANDOM);
        let make = || builder.tempfile_in(folder);
        let (made, listed) = claimed(make, |made| Ok((made.path().to_owned(), made.as_file().try_clone()?)))
            .map(|(made, _, listed)| (made, listed))?;
        Ok(TemporaryFile { made, _listed: listed })
    }

    /// Creates a file in the system's folder for temporary files.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn scratch() -> io::Result<TemporaryFile> {
        TemporaryFile::in_folder(&std::env::temp_dir())
    }

    /// The temporary path.
    pub fn path(&self) -> &Path {
        self.made.path()
    }

    /// The open file.
    pub fn as_file(&self) -> &File {
        self.made.as_file()
    }

    /// Renames the file. A file of that name is replaced; a link is replaced too, and not followed.
    ///
    /// # Errors
    /// The operation fails. The file is then removed.
    pub fn persist(self, path: &Path) -> io::Result<File> {
        Ok(self.made.persist(path)?)
    }

    /// As [`persist`](Self::persist), but nothing is replaced.
    ///
    /// # Errors
    /// Those of `persist`, and if anything has that name.
    pub fn persist_new(self, path: &Path) -> io::Result<File> {
        Ok(self.made.persist_noclobber(path)?)
    }
}

/// A folder without its final name.
#[derive(Debug)]
pub struct TemporaryFolder {
    // First field: the folder is removed before its lock is freed and its path leaves the list.
    made: TempDir,
    _lock: Option<File>,
    _listed: Listed,
}

impl TemporaryFolder {
    /// Creates a folder in another one. Only the user may enter it.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn in_folder(folder: &Path) -> io::Result<TemporaryFolder> {
        collect(folder);
        let mut builder = Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(RANDOM);
        let make = || builder.tempdir_in(folder);
        let (made, lock, listed) =
            claimed(make, |made| Ok((made.path().to_owned(), File::open(made.path())?)))?;
        Ok(TemporaryFolder { made, _lock: lock, _listed: listed })
    }

    /// Creates a folder in the system's folder for temporary files.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn scratch() -> io::Result<TemporaryFolder> {
        TemporaryFolder::in_folder(&std::env::temp_dir())
    }

    /// The temporary path.
    pub fn path(&self) -> &Path {
        self.made.path()
    }

    /// Renames the folder, and gives it the permissions of an ordinary new folder. A folder of that name is replaced: at
    /// no time is there neither.
    ///
    /// # Errors
    /// The operation fails. The folder is then removed, and the old one is still there.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(self.path(), fs::Permissions::from_mode(0o755))?;
        }
        if path.is_dir() {
            // The temporary name is that of the old folder then, which goes with it.
            return exchange(self.path(), path);
        }
        fs::rename(self.path(), path)?;
        _ = self.made.keep();
        Ok(())
    }
}

/// Exchanges the names of two folders.
fn exchange(new: &Path, old: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        if renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
    }
    // Not every file system exchanges names.
    let mut aside = new.as_os_str().to_owned();
    aside.push(".old");
    fs::rename(old, &aside)?;
    match fs::rename(new, old) {
        Ok(()) => fs::rename(&aside, new),
        Err(error) => {
            fs::rename(&aside, old)?;
            Err(error)
        }
    }
}

/// Makes something temporary, lists it and locks it. `parts` are its path and a handle of it.
#[allow(clippy::type_complexity)]
fn claimed<T>(
    make: impl Fn() -> io::Result<T>,
    parts: impl Fn(&T) -> io::Result<(PathBuf, File)>,
) -> io::Result<(T, Option<File>, Listed)> {
    for _ in 0..TRIES {
        // Made and listed in one step, so that a signal in between leaves nothing.
        let mut listed = locked(&LISTED);
        let made = make()?;
        let (path, handle) = parts(&made)?;
        listed.insert(path.clone());
        drop(listed);
        let entry = Listed(path);
        if claim(&handle, &entry.0) {
            return Ok((made, Some(handle), entry));
        }
    }
    Err(io::Error::other("other processes remove every temporary file"))
}

/// Locks a new file or folder. False if a collector was faster, which took it for a leftover.
fn claim(handle: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        // A file system without locks has leftovers that nobody collects.
        let is_taken = matches!(handle.try_lock(), Err(fs::TryLockError::WouldBlock));
        !is_taken && is_at(handle, path)
    }
    #[cfg(not(unix))]
    {
        _ = (handle, path);
        true
    }
}

/// True if a path still names an open file.
#[cfg(unix)]
fn is_at(handle: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |there: fs::Metadata| (there.dev(), there.ino());
    let (open, named) = (handle.metadata().map(place), fs::symlink_metadata(path).map(place));
    open.is_ok() && open.ok() == named.ok()
}

/// Removes the temporary files and folders in a folder that killed processes have left, once in the life of a process.
pub fn collect(folder: &Path) {
    let Ok(whole) = folder.canonicalize() else { return };
    if !locked(&COLLECTED).insert(whole) {
        return;
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if is_temporary(&entry.file_name().to_string_lossy()) {
            // Who cannot remove one leaves it to others.
            _ = remove_leftover(&entry.path());
        }
    }
}

/// True if a name is that of a temporary file or folder.
pub fn is_temporary(name: &str) -> bool {
    name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX)).is_some_and(|random| {
        random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(unix)]
fn remove_leftover(path: &Path) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags, open};
    let is_folder = fs::symlink_metadata(path)?.is_dir();
    // Network file systems lock what is open for writing only. A pipe must not be waited for, and a link is no leftover.
    let access = if is_folder { OFlags::RDONLY | OFlags::DIRECTORY } else { OFlags::WRONLY };
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let handle = File::from(open(path, flags, Mode::empty())?);
    let there = handle.metadata()?;
    if (there.is_file() || there.is_dir()) && handle.try_lock().is_ok() && is_at(&handle, path) {
        return if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
    Ok(())
}

#[cfg(not(unix))]
fn remove_leftover(_path: &Path) -> io::Result<()> {
    // Locks keep other handles of the same process out there, so there are none.
    Ok(())
}
