//! Writes the files of commands.

use fnv::FnvHasher;
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use wave_capture::Capture;
use wave_files::output::{self, Target};
use wave_files::temporary::{TemporaryFile, TemporaryFolder};
use wave_files::{folder, reason};
use wave_isa::diagnostic::Diagnostic;

/// A folder that gets its final name when it is complete.
#[derive(Debug)]
pub(crate) struct NewFolder {
    new: TemporaryFolder,
    target: PathBuf,
}

impl NewFolder {
    /// Creates the folder beside its final path.
    ///
    /// # Errors
    /// It cannot be created.
    pub(crate) fn create(path: &Path) -> io::Result<NewFolder> {
        let target = output::folder_target(path)?;
        Ok(NewFolder { new: TemporaryFolder::in_folder(folder(&target))?, target })
    }

    /// The temporary path.
    pub(crate) fn path(&self) -> &Path {
        self.new.path()
    }

    /// Renames the folder to its final path, where it replaces the folder that is there.
    ///
    /// # Errors
    /// The operation fails. The folder is then removed, and the old one stays.
    pub(crate) fn persist(self) -> io::Result<()> {
        self.new.persist(&self.target)
    }
}

/// Why a file cannot be written, as far as that is known beforehand: a message that names the flag.
pub(crate) fn cannot_write(path: &Path, flag: &str) -> Option<Diagnostic> {
    let target = match output::target(path) {
        Ok(Target::File(target)) => target,
        Ok(Target::Open(_)) => return None,
        Err(_) if path.is_dir() => {
            return Some(Diagnostic::error(format!("{flag}: `{}` is a directory", path.display())));
        }
        Err(error) => return Some(unwritable(path, &error, flag)),
    };
    let folder = folder(&target);
    let missing = || Diagnostic::error(format!("{flag}: there is no folder `{}`", folder.display()));
    (!folder.is_dir()).then(missing)
}

/// Writes a file under a temporary name in its folder and then renames it, so that an interrupted run leaves
/// either the old or the new file. Anything that is no regular file, such as a pipe or `/dev/null`, is
/// written directly.
///
/// # Errors
/// If that fails, with the flag or argument that names the file.
pub(crate) fn write(path: &Path, bytes: &[u8], named_by: &str) -> Result<(), Vec<Diagnostic>> {
    output::write(path, bytes).map_err(|error| vec![unwritable(path, &error, named_by)])
}

/// As [`write`]; the file outlives a failure of the host at any time, as it was or as it is to be.
///
/// # Errors
/// If that fails, with the flag or argument that names the file.
pub(crate) fn write_durably(path: &Path, bytes: &[u8], named_by: &str) -> Result<(), Vec<Diagnostic>> {
    output::write_durably(path, bytes).map_err(|error| vec![unwritable(path, &error, named_by)])
}

/// Makes sure that [`write_durably`] can write a file, as far as one can tell before.
///
/// # Errors
/// As [`write_durably`].
pub(crate) fn check_writable(path: &Path, named_by: &str) -> Result<(), Vec<Diagnostic>> {
    output::check(path).map_err(|error| vec![unwritable(path, &error, named_by)])
}

/// The message about a file that cannot be written.
pub(crate) fn unwritable(path: &Path, error: &io::Error, named_by: &str) -> Diagnostic {
    let message = format!("{named_by}: cannot write `{}`: {}", path.display(), reason(error));
    let folder = match output::folder_target(path) {
        Ok(target) => folder(&target).to_owned(),
        Err(_) => folder(path).to_owned(),
    };
    let diagnostic = Diagnostic::error(message);
    match folder.exists() {
        true => diagnostic,
        false => diagnostic.hint(format!("there is no folder `{}`", folder.display())),
    }
}

/// The name of a file that is not complete and has to outlive the program, even if it is killed.
fn partial(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

/// A file that is written piece by piece and gets its name when it is complete. Anything that is no regular
/// file is written directly.
#[derive(Debug)]
pub(crate) struct Streamed {
    /// The name that the user gave.
    path: PathBuf,
    place: Place,
}

/// Where a file is written.
#[derive(Debug)]
enum Place {
    /// Under a temporary name, which goes with this process.
    Temporary { file: TemporaryFile, target: PathBuf, keeps: Keeps },
    /// Under its name of [`partial`], where it stays if the program is killed.
    Partial { partial: Partial, target: PathBuf },
    /// Directly, as it is no regular file.
    Itself,
}

/// A file under its name of [`partial`]. Without a checkpoint that needs it, it is removed when it is dropped.
#[derive(Debug)]
struct Partial {
    path: PathBuf,
    is_needed: bool,
    /// Open, and locked.
    _lock: File,
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_needed {
            _ = std::fs::remove_file(&self.path);
        }
    }
}

/// What [`Streamed::keep`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeps {
    /// Nothing: no other process goes on with the file.
    Nothing,
    /// The file gets its name of [`partial`], if nothing has that name.
    New,
    /// The file gets that name, and replaces what has it.
    Replacing,
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
    target: PathBuf,
    /// Where it is now: under its name of [`partial`], or complete.
    found: PathBuf,
    /// Open to append, and locked.
    file: File,
    beginning: Beginning,
}

impl LeftBehind {
    /// Finds it.
    ///
    /// # Errors
    /// There is none with this beginning, or another process still writes it.
    pub(crate) fn find(
        path: &Path,
        beginning: Beginning,
        named_by: &str,
    ) -> Result<LeftBehind, Vec<Diagnostic>> {
        let wrong = |error: io::Error| vec![unwritable(path, &error, named_by)];
        let target = output::regular_target(path).map_err(wrong)?;
        let candidates = [partial(&target), target.clone()];
        let fits = |file: &PathBuf| {
            // A link of that name was made by somebody else.
            std::fs::symlink_metadata(file).is_ok_and(|there| there.is_file())
                && Beginning::of(file, Some(beginning.length)).is_ok_and(|there| there == beginning)
        };
        let Some(found) = candidates.iter().find(|file| fits(file)) else {
            let [partial, complete] = [partial(path), path.to_owned()].map(|file| file.display().to_string());
            let message = format!(
                "{named_by}: neither `{partial}` nor `{complete}` begins with what the run had written to it"
            );
            let hint = "the file of the run that was stopped has to be there, under either name";
            return Err(vec![Diagnostic::error(message).hint(hint)]);
        };
        let file = File::options().append(true).open(found).map_err(wrong)?;
        if !lock(&file) {
            let message = format!("{named_by}: another run is writing `{}`", found.display());
            return Err(vec![Diagnostic::error(message).hint("go on when that run has ended")]);
        }
        Ok(LeftBehind { path: path.to_owned(), found: found.clone(), target, file, beginning })
    }

    /// A handle that writes at the end of the file.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Cuts off what came after its beginning. The handle of [`file`](Self::file) writes there.
    ///
    /// # Errors
    /// If that fails, with the flag or argument that names the file.
    pub(crate) fn go_on(self, named_by: &str) -> Result<Streamed, Vec<Diagnostic>> {
        let LeftBehind { path, target, found, file, beginning } = self;
        let partial = partial(&target);
        let cut = std::fs::rename(found, &partial).and_then(|()| file.set_len(beginning.length));
        cut.map_err(|error| vec![unwritable(&path, &error, named_by)])?;
        let partial = Partial { path: partial, is_needed: true, _lock: file };
        Ok(Streamed { path, place: Place::Partial { partial, target } })
    }
}

/// Locks a file. False if another process has locked it; where there are no locks, nobody has.
fn lock(file: &File) -> bool {
    cfg!(not(unix)) || !matches!(file.try_lock(), Err(std::fs::TryLockError::WouldBlock))
}

impl Streamed {
    /// Creates it.
    ///
    /// # Errors
    /// If that fails, with the flag or argument that names the file.
    pub(crate) fn create(path: &Path, named_by: &str) -> Result<Streamed, Vec<Diagnostic>> {
        let place = output::target(path).and_then(|target| match target {
            Target::Open(_) => Ok(Place::Itself),
            Target::File(target) => {
                let file = TemporaryFile::in_folder(folder(&target))?;
                Ok(Place::Temporary { file, target, keeps: Keeps::Nothing })
            }
        });
        match place {
            Ok(place) => Ok(Streamed { path: path.to_owned(), place }),
            Err(error) => Err(vec![unwritable(path, &error, named_by)]),
        }
    }

    /// Creates it so that another process can go on with it, from the first call of [`keep`](Self::keep) on. With
    /// `overwrites`, it replaces then what an earlier run has left to be gone on with.
    ///
    /// # Errors
    /// If that fails, or an earlier run has left such a file, with the flag or argument that names the file.
    pub(crate) fn create_lasting(
        path: &Path,
        named_by: &str,
        overwrites: bool,
    ) -> Result<Streamed, Vec<Diagnostic>> {
        let wrong = |error: io::Error| vec![unwritable(path, &error, named_by)];
        let target = output::regular_target(path).map_err(wrong)?;
        let partial = partial(&target);
        // A link counts, whatever it leads to.
        if !overwrites && std::fs::symlink_metadata(&partial).is_ok() {
            let message = format!("{named_by}: `{}` is of a run that was stopped", partial.display());
            return Err(vec![Diagnostic::error(message).hint(
                "--resume CHECKPOINT goes on with that run; --overwrite begins anew and discards its trace",
            )]);
        }
        let file = TemporaryFile::in_folder(folder(&target)).map_err(wrong)?;
        let keeps = if overwrites { Keeps::Replacing } else { Keeps::New };
        Ok(Streamed { path: path.to_owned(), place: Place::Temporary { file, target, keeps } })
    }

    /// From now on, the file stays if the program is killed. It also stays after a failure once a checkpoint
    /// [needs](Self::mark_needed) it.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub(crate) fn keep(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.place, Place::Itself) {
            Place::Temporary { file, target, keeps } if keeps != Keeps::Nothing => {
                let path = partial(&target);
                let lock = match keeps {
                    Keeps::Replacing => file.persist(&path)?,
                    _ => file.persist_new(&path)?,
                };
                output::sync_folder(&path);
                let partial = Partial { path, is_needed: false, _lock: lock };
                self.place = Place::Partial { partial, target };
            }
            place => self.place = place,
        }
        Ok(())
    }

    /// A checkpoint has been written that needs the file.
    pub(crate) fn mark_needed(&mut self) {
        if let Place::Partial { partial, .. } = &mut self.place {
            partial.is_needed = true;
        }
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
        if let Place::Partial { mut partial, .. } = self.place {
            partial.is_needed = false;
        }
    }

    /// What to write to.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn file(&self) -> io::Result<File> {
        match &self.place {
            Place::Temporary { file, .. } => file.as_file().try_clone(),
            Place::Partial { partial, .. } => File::options().append(true).open(&partial.path),
            Place::Itself => output::open(&self.path),
        }
    }

    /// The temporary name.
    pub(crate) fn written_path(&self) -> &Path {
        match &self.place {
            Place::Temporary { file, .. } => file.path(),
            Place::Partial { partial, .. } => &partial.path,
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
            Place::Temporary { file, target, .. } => output::replace(file, &target),
            Place::Partial { mut partial, target } => {
                partial.is_needed = true;
                output::keep_permissions(&partial.path, &target)
                    .and_then(|()| std::fs::rename(&partial.path, &target))
            }
            Place::Itself => Ok(()),
        };
        persisted.map_err(|error| vec![unwritable(&path, &error, named_by)])
    }
}
