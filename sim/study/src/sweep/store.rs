//! The results of sweeps in a folder: a file each, named by what decides it.
//!
//! A file gets its name when it is complete, so a process that is killed leaves none by halves. Its first line has its
//! name and a checksum; what does not agree with them is not believed.

use super::key::{VERSION, checksum};
use crate::results::Measured;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
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
        let shown = folder.display();
        let store = Store { folder: folder.to_owned() };
        let manifest = folder.join(MANIFEST);
        match fs::read_to_string(&manifest) {
            Ok(text) => store.check(&text)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
                    let message =
                        format!("--store: the folder `{shown}` has files, and none of them is `{MANIFEST}`");
                    return Err(
                        Diagnostic::error(message).hint("name a new folder, or one that a sweep has made")
                    );
                }
                let text = Manifest { store: FORM, wave_sim: VERSION.to_owned() };
                // Numbers and strings always serialise.
                let text = serde_json::to_string(&text).unwrap_or_default() + "\n";
                let made = fs::create_dir_all(folder).and_then(|()| write(&manifest, text.as_bytes()));
                made.map_err(|error| store.unwritable(&manifest, &error))?;
            }
            Err(error) => {
                return Err(Diagnostic::error(format!(
                    "--store: cannot read `{}`: {error}",
                    manifest.display()
                )));
            }
        }
        Ok(store)
    }

    fn check(&self, text: &str) -> Result<(), Diagnostic> {
        let shown = self.folder.display();
        let manifest: Manifest = serde_json::from_str(text).map_err(|error| {
            Diagnostic::error(format!("--store: `{shown}/{MANIFEST}` is damaged: {error}"))
                .hint("its results cannot be told from those of another version: name another folder")
        })?;
        if (manifest.store, manifest.wave_sim.as_str()) == (FORM, VERSION) {
            return Ok(());
        }
        let message = format!(
            "--store: the results in `{shown}` are those of wave-sim {}, and this is {VERSION}",
            manifest.wave_sim
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
        match fs::read_to_string(&path) {
            Ok(text) => match read(key, &text, &path) {
                Ok(measured) => Found::Result(Box::new(measured)),
                Err(why) => Found::Broken(format!("`{}` {why}", path.display())),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Found::Nothing,
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
        let written = fs::create_dir_all(folder).and_then(|()| write(&path, text.as_bytes()));
        written.map_err(|error| self.unwritable(&path, &error))
    }

    fn unwritable(&self, path: &Path, error: &io::Error) -> Diagnostic {
        let text = error.to_string();
        let why = text.split(" (os error").next().unwrap_or(&text).to_lowercase();
        Diagnostic::error(format!("--store: cannot write `{}`: {why}", path.display()))
            .hint("what is done is kept: the same command goes on from there")
    }
}

/// The result in a file that should have this name.
fn read(key: &str, text: &str, path: &Path) -> Result<Measured, String> {
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

/// Writes a file under another name and renames it.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    let written = fs::File::create(&partial).and_then(|mut file| file.write_all(bytes));
    let done = written.and_then(|()| fs::rename(&partial, path));
    if done.is_err() {
        // If it was not made, there is nothing to remove.
        _ = fs::remove_file(&partial);
    }
    done
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
        fs::write(&manifest, text.replace(VERSION, "0.0.9+1")).unwrap();
        let error = Store::open(&store.folder).unwrap_err();
        assert!(error.message.contains("are those of wave-sim 0.0.9+1, and this is"), "{}", error.message);
        fs::write(&manifest, &text[..9]).unwrap();
        assert!(Store::open(&store.folder).unwrap_err().message.contains("is damaged"));
        let error = Store::open(folder.path()).unwrap_err();
        assert!(error.message.contains("has files, and none of them is"), "{}", error.message);
        fs::write(folder.path().join("file"), "").unwrap();
        let error = Store::open(&folder.path().join("file")).unwrap_err();
        assert!(error.message.contains("cannot"), "{}", error.message);
    }
}
