//! The results of sweeps in a folder: a file each, named by what decides it.
//!
//! A file gets its name when it is complete, so a process that is killed leaves none by halves. Its first line has its
//! name and a checksum; a file that does not agree with them is not believed. The name depends on the version of
//! wave-sim, so a store can be read without its manifest: a lost one is written again.

use super::key::{checksum, version};
use crate::results::Measured;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use wave_files::read::{self, DOCUMENT_BYTES, SCRIPT_BYTES, Unreadable};
use wave_files::{output, reason, temporary};
use wave_isa::diagnostic::Diagnostic;

/// Version of the form of a store.
const FORM: u32 = 1;
/// The file that says what the folder is.
const MANIFEST: &str = "sweep-store.json";
/// First word of a result.
const MAGIC: &str = "wave-sim-result";

/// A folder of results.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
    /// What was wrong with the manifest, if it was written again.
    rebuilt: Option<String>,
}

/// What a store has under a name.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// A result.
    Result(Box<Measured>),
    /// Nothing.
    Nothing,
    /// A file that cannot be believed, with the reason.
    Broken(String),
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Manifest {
    store: u32,
    wave_sim: String,
}

impl Store {
    /// Opens the store in a folder, or makes one.
    ///
    /// # Errors
    /// The folder has something else, or results of another version; or it cannot be written.
    pub fn open(folder: &Path) -> Result<Store, Diagnostic> {
        temporary::collect(folder);
        let mut store = Store { folder: folder.to_owned(), rebuilt: None };
        let manifest = folder.join(MANIFEST);
        match read::text(&manifest, SCRIPT_BYTES) {
            Ok(text) => match serde_json::from_str(&text) {
                Ok(manifest) => store.check(&manifest)?,
                Err(error) => store.rebuild(&format!("is damaged: {error}"))?,
            },
            Err(Unreadable::NotText(_)) => store.rebuild("is damaged: it is not text")?,
            Err(error) if error.is_missing() => store.begin()?,
            Err(error) => {
                let message = format!("--store: cannot read `{}`: {error}", manifest.display());
                return Err(Diagnostic::error(message));
            }
        }
        Ok(store)
    }

    /// Writes the manifest of a new store, or of one that has lost it.
    fn begin(&mut self) -> Result<(), Diagnostic> {
        if fs::read_dir(&self.folder).is_ok_and(|mut entries| entries.next().is_some()) {
            return self.rebuild("is missing");
        }
        let made = fs::create_dir_all(&self.folder);
        made.map_err(|error| self.unwritable(&self.folder, &error))?;
        self.write_manifest()
    }

    /// Writes the manifest again. Results have names that only this version looks for.
    fn rebuild(&mut self, why: &str) -> Result<(), Diagnostic> {
        let shown = self.folder.display();
        let entries = fs::read_dir(&self.folder).map_err(|error| self.unwritable(&self.folder, &error))?;
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let (leftovers, names): (Vec<String>, Vec<String>) = names.partition(|name| is_leftover(name));
        if let Some(other) = names.iter().find(|name| !is_of_a_store(name)) {
            let message = match names.iter().any(|name| name == MANIFEST) {
                true => {
                    format!("--store: `{shown}/{MANIFEST}` {why}, and the folder has another file, `{other}`")
                }
                false => format!("--store: the folder `{shown}` has files, and none of them is `{MANIFEST}`"),
            };
            return Err(Diagnostic::error(message).hint("name a new folder, or one that a sweep has made"));
        }
        for leftover in leftovers {
            // Who cannot remove it can ignore it.
            _ = fs::remove_file(self.folder.join(leftover));
        }
        self.write_manifest()?;
        self.rebuilt = Some(why.to_owned());
        Ok(())
    }

    fn write_manifest(&self) -> Result<(), Diagnostic> {
        let manifest = self.folder.join(MANIFEST);
        let text = Manifest { store: FORM, wave_sim: version().to_owned() };
        // Numbers and strings always serialise.
        let text = serde_json::to_string(&text).unwrap_or_default() + "\n";
        // All later runs depend on it.
        let written = output::write_durably(&manifest, text.as_bytes());
        written.map_err(|error| self.unwritable(&manifest, &error))
    }

    /// A warning, if the manifest was lost and has been written again.
    pub fn warning(&self) -> Option<Diagnostic> {
        let why = self.rebuilt.as_ref()?;
        let message = format!("--store: `{}/{MANIFEST}` {why}; it was written again", self.folder.display());
        Some(Diagnostic::warning(message).hint("results are found by their own names and checksums"))
    }

    fn check(&self, manifest: &Manifest) -> Result<(), Diagnostic> {
        if (manifest.store, manifest.wave_sim.as_str()) == (FORM, version()) {
            return Ok(());
        }
        let message = format!(
            "--store: the results in `{}` are those of wave-sim {}, and this is {}",
            self.folder.display(),
            manifest.wave_sim,
            version()
        );
        Err(Diagnostic::error(message)
            .hint("name another folder for the results of this version; those there are kept"))
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(&key[..2]).join(format!("{key}.json"))
    }

    /// The result with this name.
    pub fn get(&self, key: &str) -> Found {
        let path = self.path(key);
        match read::regular_text(&path, DOCUMENT_BYTES) {
            Ok(text) => match result(key, &text, &path) {
                Ok(measured) => Found::Result(Box::new(measured)),
                Err(why) => Found::Broken(format!("`{}` {why}", path.display())),
            },
            Err(error) if error.is_missing() => Found::Nothing,
            Err(error) => Found::Broken(format!("`{}` cannot be read: {error}", path.display())),
        }
    }

    /// Stores a result.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn put(&self, key: &str, measured: &Measured) -> Result<(), Diagnostic> {
        let path = self.path(key);
        let document = measured.document();
        let text = format!("{MAGIC} {key} {}\n{document}", checksum(&document));
        let folder = path.parent().unwrap_or(&self.folder);
        let written = fs::create_dir_all(folder).and_then(|()| output::write(&path, text.as_bytes()));
        written.map_err(|error| self.unwritable(&path, &error))
    }

    fn unwritable(&self, path: &Path, error: &io::Error) -> Diagnostic {
        Diagnostic::error(format!("--store: cannot write `{}`: {}", path.display(), reason(error)))
            .hint("what is done is kept: the same command goes on from there")
    }
}

/// The result in a file that should have this name.
fn result(key: &str, text: &str, path: &Path) -> Result<Measured, String> {
    let (head, document) = text.split_once('\n').ok_or("is no result")?;
    let [MAGIC, name, sum] = head.split(' ').collect::<Vec<_>>()[..] else {
        return Err("is no result".to_owned());
    };
    if name != key {
        return Err(format!("holds the result {name}"));
    }
    if sum != checksum(document) {
        return Err("is damaged: its checksum is another".to_owned());
    }
    let runs = Measured::read(document, &path.display().to_string()).map_err(|error| error.message)?;
    runs.into_iter().next().ok_or_else(|| "has no run".to_owned())
}

/// True for files and folders that stores have.
fn is_of_a_store(name: &str) -> bool {
    let is_part = name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    name == MANIFEST || is_part || temporary::is_temporary(name)
}

/// True for a manifest that a killed process of an earlier version has left: `sweep-store.PID.partial`.
fn is_leftover(name: &str) -> bool {
    let number = name.strip_prefix("sweep-store.").and_then(|rest| rest.strip_suffix(".partial"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexmap::IndexMap;

    const KEY: &str = "00112233445566778899aabbccddeeff";
    const OTHER: &str = "00112233445566778899aabbccddeefe";

    fn measured() -> Measured {
        let document = r#"{"schema": 1, "config": {"name": "gpu", "hash": "1", "cores": 2, "wave_width": 32,
            "core_clock_mhz": 1500}, "runs": [{"name": "a", "outcome": "ended"}]}"#;
        let mut run = Measured::read(document, "a.json").unwrap().remove(0);
        run.statistics = IndexMap::from([("kernel.cycles".to_owned(), 10)]);
        run
    }

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::TempDir::new().unwrap();
        let store = Store::open(&folder.path().join("s")).unwrap();
        (folder, store)
    }

    #[test]
    fn a_result_is_found_again() {
        let (folder, store) = store();
        assert_eq!(store.get(KEY), Found::Nothing);
        store.put(KEY, &measured()).unwrap();
        assert_eq!(store.get(KEY), Found::Result(Box::new(measured())));
        assert_eq!(store.get(OTHER), Found::Nothing);
        let again = Store::open(&folder.path().join("s")).unwrap();
        assert_eq!(again.get(KEY), Found::Result(Box::new(measured())));
    }

    /// Every way to damage a file is seen: cut off anywhere, a byte changed anywhere, another result under its name.
    #[test]
    fn damaged_files_are_not_believed() {
        let (_folder, store) = store();
        store.put(KEY, &measured()).unwrap();
        let path = store.path(KEY);
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(matches!(store.get(KEY), Found::Broken(_)), "{length} bytes");
        }
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            fs::write(&path, bytes).unwrap();
            assert!(matches!(store.get(KEY), Found::Broken(_)), "byte {at}");
        }
        fs::write(store.path(OTHER), &whole).unwrap();
        let Found::Broken(why) = store.get(OTHER) else { panic!("the result of another name") };
        assert!(why.ends_with(&format!("holds the result {KEY}")), "{why}");
    }

    #[test]
    fn other_folders_and_versions_are_errors() {
        let (folder, store) = store();
        let manifest = store.folder.join(MANIFEST);
        let text = fs::read_to_string(&manifest).unwrap();
        fs::write(&manifest, text.replace(version(), "0.0.9+1")).unwrap();
        let error = Store::open(&store.folder).unwrap_err();
        assert!(error.message.contains("are those of wave-sim 0.0.9+1, and this is"), "{}", error.message);
        let error = Store::open(folder.path()).unwrap_err();
        assert!(error.message.contains("has files, and none of them is"), "{}", error.message);
        fs::write(folder.path().join("file"), "").unwrap();
        let error = Store::open(&folder.path().join("file")).unwrap_err();
        assert!(error.message.contains("cannot"), "{}", error.message);
    }

    /// Whatever became of the manifest, the results are there.
    #[test]
    fn a_lost_manifest_is_written_again() {
        let (_folder, store) = store();
        store.put(KEY, &measured()).unwrap();
        let manifest = store.folder.join(MANIFEST);
        let whole = fs::read(&manifest).unwrap();
        let leftover = store.folder.join("sweep-store.4711.partial");
        for (left, why) in [
            (None, "is missing"),
            (Some(&b""[..]), "is damaged: "),
            (Some(&whole[..9]), "is damaged: "),
            (Some(b"\xff\0"), "is damaged: it is not text"),
        ] {
            match left {
                Some(bytes) => fs::write(&manifest, bytes).unwrap(),
                None => fs::remove_file(&manifest).unwrap(),
            }
            fs::write(&leftover, "half").unwrap();
            let again = Store::open(&store.folder).unwrap();
            let warning = again.warning().expect("a warning");
            assert!(warning.message.contains(why), "{warning:?}");
            assert_eq!(again.get(KEY), Found::Result(Box::new(measured())));
            assert_eq!(fs::read(&manifest).unwrap(), whole);
            assert!(!leftover.exists());
            assert!(Store::open(&store.folder).unwrap().warning().is_none());
        }
        // A manifest that was lost before the first result.
        fs::remove_dir_all(&store.folder).unwrap();
        fs::create_dir(&store.folder).unwrap();
        fs::write(&leftover, "half").unwrap();
        assert!(Store::open(&store.folder).is_ok() && manifest.exists());
        // The folder of somebody else.
        fs::write(&manifest, "").unwrap();
        fs::write(store.folder.join("notes.txt"), "mine").unwrap();
        let error = Store::open(&store.folder).unwrap_err();
        assert!(error.message.contains("the folder has another file, `notes.txt`"), "{error:?}");
        assert_eq!(fs::read(&manifest).unwrap(), b"");
    }

    #[cfg(unix)]
    #[test]
    fn a_store_behind_links_is_a_store() {
        use std::os::unix::fs::symlink;
        let (folder, store) = store();
        let elsewhere = folder.path().join("elsewhere.json");
        fs::rename(store.folder.join(MANIFEST), &elsewhere).unwrap();
        symlink(&elsewhere, store.folder.join(MANIFEST)).unwrap();
        fs::write(&elsewhere, "").unwrap();
        let again = Store::open(&store.folder).unwrap();
        again.put(KEY, &measured()).unwrap();
        assert!(store.folder.join(MANIFEST).is_symlink() && fs::read(&elsewhere).unwrap().len() > 9);
    }
}
