//! Writes the files of commands.

use super::terminal::reason;
use fnv::FnvHasher;
use std::collections::BTreeSet;
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::{NamedTempFile, TempDir};
use wave_capture::Capture;
use wave_isa::diagnostic::Diagnostic;

/// Existing temporary files and folders.
static TEMPORARIES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn temporaries() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all temporary files and ends the program.
pub(crate) fn remove_temporaries_and_exit(code: i32) -> ! {
    // Locked until the end, so that no other thread creates a file meanwhile.
    let temporaries = temporaries();
    for path in temporaries.iter() {
        // A path that no longer exists was renamed to its final name.
        _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    }
    std::process::exit(code)
}

/// A temporary file or folder. It is removed when dropped, and when a signal ends the program.
#[derive(Debug)]
pub(crate) struct Temporary<T> {
    // First field: it is removed before its path leaves the list.
    made: T,
    _listed: Listed,
}

#[derive(Debug)]
struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        temporaries().remove(&self.0);
    }
}

impl<T> Temporary<T> {
    fn list(make: impl FnOnce() -> io::Result<T>, path: impl FnOnce(&T) -> &Path) -> io::Result<Self> {
        let mut temporaries = temporaries();
        let made = make()?;
        let path = path(&made).to_owned();
        temporaries.insert(path.clone());
        Ok(Temporary { made, _listed: Listed(path) })
    }
}

impl<T> Deref for Temporary<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.made
    }
}

/// Creates a file in the system's folder for temporary files.
///
/// # Errors
/// It cannot be created.
pub(crate) fn scratch() -> io::Result<Temporary<NamedTempFile>> {
    Temporary::list(NamedTempFile::new, |file| file.path())
}

/// A folder that gets its final name when it is complete.
#[derive(Debug)]
pub(crate) struct NewFolder(Temporary<TempDir>);

impl NewFolder {
    /// Creates it beside its final path.
    ///
    /// # Errors
    /// It cannot be created.
    pub(crate) fn beside(path: &Path, prefix: &str) -> io::Result<NewFolder> {
        let make = || tempfile::Builder::new().prefix(prefix).tempdir_in(folder(path));
        Temporary::list(make, |folder| folder.path()).map(NewFolder)
    }

    /// Its temporary path.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Renames it, and gives it the permissions of an ordinary new folder.
    ///
    /// # Errors
    /// The operation fails. The folder is then removed.
    pub(crate) fn persist(self, path: &Path) -> io::Result<()> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(self.path(), std::fs::Permissions::from_mode(0o755))?;
        }
        std::fs::rename(self.path(), path)?;
        let Temporary { made, _listed } = self.0;
        _ = made.keep();
        Ok(())
    }
}

/// Why a file cannot be written, as far as that is known beforehand: a message that names the flag.
pub(crate) fn cannot_write(path: &Path, flag: &str) -> Option<Diagnostic> {
    let folder = folder(path);
    if !folder.is_dir() {
        return Some(Diagnostic::error(format!("{flag}: there is no folder `{}`", folder.display())));
    }
    path.is_dir().then(|| Diagnostic::error(format!("{flag}: `{}` is a directory", path.display())))
}

/// Writes a file under a temporary name beside it and then renames it, so that an interrupted run leaves
/// either the old or the new file. Anything that is no regular file, such as a pipe or `/dev/null`, is
/// written directly.
///
/// # Errors
/// If that fails, with the flag or argument that names the file.
pub(crate) fn write(path: &Path, bytes: &[u8], named_by: &str) -> Result<(), Vec<Diagnostic>> {
    let written = match std::fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(io::Error::other("it is a directory")),
        Ok(there) if !there.is_file() => std::fs::write(path, bytes),
        _ => replace(path, bytes),
    };
    written.map_err(|error| vec![unwritable(path, &error, named_by)])
}

/// The name of a file that is being written and has to outlive the program, even if it is killed.
pub(crate) fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

/// As [`write`]; the file outlives a failure of the host at any time, as it was or as it is to be. Its name while it
/// is written is that of [`partial`].
///
/// # Errors
/// If that fails, with the flag or argument that names the file.
pub(crate) fn write_durably(path: &Path, bytes: &[u8], named_by: &str) -> Result<(), Vec<Diagnostic>> {
    let partial = partial(path);
    let written = create_partial(path, &partial).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        keep_permissions(&partial, path)?;
        std::fs::rename(&partial, path)?;
        // The name is in the folder. Not every file system lets a folder be synchronised.
        _ = File::open(folder(path)).and_then(|folder| folder.sync_all());
        Ok(())
    });
    written.map_err(|error| vec![unwritable(path, &error, named_by)])
}

/// Makes sure that [`write_durably`] can write a file, as far as one can tell before.
///
/// # Errors
/// As [`write_durably`].
pub(crate) fn check_writable(path: &Path, named_by: &str) -> Result<(), Vec<Diagnostic>> {
    let partial = partial(path);
    let tried = create_partial(path, &partial).and_then(|_| std::fs::remove_file(&partial));
    tried.map_err(|error| vec![unwritable(path, &error, named_by)])
}

fn create_partial(path: &Path, partial: &Path) -> io::Result<File> {
    match std::fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(io::Error::other("it is a directory")),
        Ok(there) if !there.is_file() => Err(io::Error::other("it is no regular file")),
        _ => File::create(partial),
    }
}

/// The message about a file that cannot be written.
pub(crate) fn unwritable(path: &Path, error: &io::Error, named_by: &str) -> Diagnostic {
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
pub(crate) struct Streamed {
    path: PathBuf,
    place: Place,
}

/// Where a file is written.
#[derive(Debug)]
enum Place {
    /// In a temporary file.
    Temporary(Temporary<NamedTempFile>),
    /// Under its name of [`partial`], where it stays if the program is killed.
    Partial(PathBuf),
    /// Directly, as it is no regular file.
    Itself,
}

/// What identifies the beginning of a file: its length, and a hash of the last bytes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub(crate) struct Beginning {
    length: u64,
    hash: u64,
}

/// Bytes that [`Beginning`] hashes, at most.
const HASHED: u64 = 1 << 16;

impl Beginning {
    /// That of the first `length` bytes of a file; all if `None`.
    fn of(path: &Path, length: Option<u64>) -> io::Result<Beginning> {
        let mut file = File::open(path)?;
        let length = length.map_or_else(|| file.metadata().map(|there| there.len()), Ok)?;
        let hashed = length.min(HASHED);
        file.seek(SeekFrom::Start(length - hashed))?;
        let mut bytes = vec![0; hashed as usize];
        file.read_exact(&mut bytes)?;
        let mut hasher = FnvHasher::default();
        hasher.write(&bytes);
        Ok(Beginning { length, hash: hasher.finish() })
    }
}

/// A file that another process has left, to be gone on with.
#[derive(Debug)]
pub(crate) struct LeftBehind {
    path: PathBuf,
    /// Where it is now: under its name of [`partial`], or complete.
    found: PathBuf,
    beginning: Beginning,
}

impl LeftBehind {
    /// Finds it.
    ///
    /// # Errors
    /// There is none with this beginning.
    pub(crate) fn find(
        path: &Path,
        beginning: Beginning,
        named_by: &str,
    ) -> Result<LeftBehind, Vec<Diagnostic>> {
        let candidates = [partial(path), path.to_owned()];
        let fits = |file: &PathBuf| {
            file.is_file()
                && Beginning::of(file, Some(beginning.length)).is_ok_and(|there| there == beginning)
        };
        match candidates.iter().find(|file| fits(file)) {
            Some(found) => Ok(LeftBehind { path: path.to_owned(), found: found.clone(), beginning }),
            None => {
                let [partial, complete] = candidates.map(|file| file.display().to_string());
                let message = format!(
                    "{named_by}: neither `{partial}` nor `{complete}` begins with what the run had written to it"
                );
                let hint = "the file of the run that was stopped has to be there, under either name";
                Err(vec![Diagnostic::error(message).hint(hint)])
            }
        }
    }

    /// Something that writes behind its end.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn file(&self) -> io::Result<File> {
        File::options().append(true).open(&self.found)
    }

    /// Cuts off what came after its beginning. What [`file`](Self::file) gave writes behind that.
    ///
    /// # Errors
    /// If that fails, with the flag or argument that names the file.
    pub(crate) fn go_on(self, named_by: &str) -> Result<Streamed, Vec<Diagnostic>> {
        let LeftBehind { path, found, beginning } = self;
        let partial = partial(&path);
        let cut = std::fs::rename(found, &partial)
            .and_then(|()| File::options().write(true).open(&partial)?.set_len(beginning.length));
        cut.map_err(|error| vec![unwritable(&path, &error, named_by)])?;
        Ok(Streamed { path, place: Place::Partial(partial) })
    }
}

impl Streamed {
    /// Creates it.
    ///
    /// # Errors
    /// If that fails, with the flag or argument that names the file.
    pub(crate) fn create(path: &Path, named_by: &str) -> Result<Streamed, Vec<Diagnostic>> {
        let place = match std::fs::metadata(path) {
            Ok(there) if there.is_dir() => Err(io::Error::other("it is a directory")),
            Ok(there) if !there.is_file() => Ok(Place::Itself),
            _ => temporary(path).map(Place::Temporary),
        };
        match place {
            Ok(place) => Ok(Streamed { path: path.to_owned(), place }),
            Err(error) => Err(vec![unwritable(path, &error, named_by)]),
        }
    }

    /// Creates it under its name of [`partial`], so that another process can go on with it.
    ///
    /// # Errors
    /// If that fails, with the flag or argument that names the file.
    pub(crate) fn create_partial(path: &Path, named_by: &str) -> Result<Streamed, Vec<Diagnostic>> {
        let partial = partial(path);
        let created = create_partial(path, &partial);
        created.map_err(|error| vec![unwritable(path, &error, named_by)])?;
        Ok(Streamed { path: path.to_owned(), place: Place::Partial(partial) })
    }

    /// What identifies what is written so far, which is then on the disk.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn beginning(&self) -> io::Result<Beginning> {
        File::open(self.written_path())?.sync_data()?;
        Beginning::of(self.written_path(), None)
    }

    /// Removes it.
    pub(crate) fn discard(self) {
        if let Place::Partial(partial) = self.place {
            _ = std::fs::remove_file(partial);
        }
    }

    /// What to write to.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn file(&self) -> io::Result<File> {
        match &self.place {
            Place::Temporary(file) => file.as_file().try_clone(),
            Place::Partial(partial) => File::options().append(true).open(partial),
            Place::Itself => File::options().write(true).open(&self.path),
        }
    }

    /// The temporary name.
    pub(crate) fn written_path(&self) -> &Path {
        match &self.place {
            Place::Temporary(file) => file.path(),
            Place::Partial(partial) => partial,
            Place::Itself => &self.path,
        }
    }

    /// The final name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Renames it to its final name.
    ///
    /// # Errors
    /// If that fails, with the flag or argument that names the file.
    pub(crate) fn persist(self, named_by: &str) -> Result<(), Vec<Diagnostic>> {
        let Streamed { path, place } = self;
        let persisted = match place {
            Place::Temporary(file) => persist(file, &path),
            Place::Partial(partial) => {
                keep_permissions(&partial, &path).and_then(|()| std::fs::rename(partial, &path))
            }
            Place::Itself => Ok(()),
        };
        persisted.map_err(|error| vec![unwritable(&path, &error, named_by)])
    }
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = temporary(path)?;
    file.as_file().write_all(bytes)?;
    persist(file, path)
}

/// A file beside the one at `path`.
fn temporary(path: &Path) -> io::Result<Temporary<NamedTempFile>> {
    let mut builder = tempfile::Builder::new();
    // A new file gets the permissions of the user's mask; an existing file keeps its own.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    Temporary::list(|| builder.tempfile_in(folder(path)), |file| file.path())
}

fn persist(file: Temporary<NamedTempFile>, path: &Path) -> io::Result<()> {
    if let Ok(old) = std::fs::metadata(path) {
        file.as_file().set_permissions(old.permissions())?;
    }
    let Temporary { made, _listed } = file;
    made.persist(path)?;
    Ok(())
}

/// Gives a new file the permissions of the one that it replaces, if there is one.
fn keep_permissions(new: &Path, old: &Path) -> io::Result<()> {
    match std::fs::metadata(old) {
        Ok(old) => std::fs::set_permissions(new, old.permissions()),
        Err(_) => Ok(()),
    }
}

/// The folder that a file is in.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
