//! Gives the crate a fingerprint of the sources that decide what a simulated run measures. Results are stored with it, so
//! that those of a simulator that has changed since are not taken for those of this one.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

/// Folders whose sources count, with those of prices, relative to this crate.
const FOLDERS: [&str; 5] = ["../isa/src", "../machine/src", "../observe/src", "src", "../../configs/parts"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "ron") {
            found.push(path);
        }
    }
}

fn main() {
    let mut files = Vec::new();
    for folder in FOLDERS.map(Path::new) {
        println!("cargo::rerun-if-changed={}", folder.display());
        sources(folder, &mut files);
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        // A file that went away meanwhile does not count.
        let Ok(bytes) = fs::read(&file) else { continue };
        hasher.write(file.to_string_lossy().as_bytes());
        hasher.write(&bytes);
    }
    println!("cargo::rustc-env=WAVE_SIM_SOURCES={:016x}", hasher.finish());
}
