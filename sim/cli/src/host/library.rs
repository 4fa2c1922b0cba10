//! The library that programs load, under the names of those that it stands for.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use wave_files::temporary::TemporaryFolder;
use wave_isa::diagnostic::Diagnostic;
use wave_runtime::protocol::SOCKET;

/// The library; empty on systems for which there is none.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libwave_runtime.so"));

/// The library that `wave-sim nvcc` links programs with: the names of libcudart 12.
pub(crate) const CUDART: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libcudart.so.12"));

/// Its file.
const FILE: &str = "libwave_runtime.so";

/// The files that programs look for.
const NAMES: [&str; 6] = [
    "libcudart.so.11.0",
    "libcudart.so.12",
    "libcudart.so.13",
    "libcuda.so.1",
    "libOpenCL.so.1",
    // Programs that link while they run, such as PyOpenCL's, look for this one.
    "libOpenCL.so",
];

/// A folder with the library, and the socket of the simulator.
#[derive(Debug)]
pub(super) struct Library {
    folder: TemporaryFolder,
}

impl Library {
    /// Writes the library to a folder that is removed at the end.
    ///
    /// # Errors
    /// This system has none, or the folder cannot be written.
    pub(super) fn new() -> Result<Library, Diagnostic> {
        if LIBRARY.is_empty() {
            return Err(Diagnostic::error("`wave-sim run` is there for Linux on x86-64 and arm64 only"));
        }
        let written = || -> io::Result<Library> {
            let folder = TemporaryFolder::scratch()?;
            std::fs::write(folder.path().join(FILE), LIBRARY)?;
            for name in NAMES {
                symlink(FILE, folder.path().join(name))?;
            }
            let vendor = format!("{}\n", folder.path().join(FILE).display());
            std::fs::create_dir(folder.path().join("vendors"))?;
            std::fs::write(folder.path().join("vendors/wave-sim.icd"), vendor)?;
            Ok(Library { folder })
        };
        written().map_err(|error| {
            let folder = std::env::temp_dir();
            Diagnostic::error(format!(
                "the library for programs cannot be written to {}: {error}",
                folder.display()
            ))
            .hint("TMPDIR names another folder")
        })
    }

    /// The path of the socket.
    pub(super) fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Lets a program find the library before its vendor's.
    pub(super) fn prepare(&self, command: &mut Command) {
        command.env(SOCKET, self.socket());
        command.env("LD_LIBRARY_PATH", in_front(self.folder.path(), std::env::var_os("LD_LIBRARY_PATH")));
        // A loader of OpenCL finds the library by this file, and no other vendor's.
        command.env("OCL_ICD_VENDORS", self.folder.path().join("vendors"));
    }
}

/// A folder in front of those of a variable.
fn in_front(folder: &Path, others: Option<OsString>) -> OsString {
    let mut all = folder.as_os_str().to_owned();
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        all.push(":");
        all.push(others);
    }
    all
}

/// The reason why an executable never asks for the simulator: it is linked with its vendor's library inside, or
/// for 32 bits.
pub(super) fn why_unused(program: &Path) -> Option<String> {
    let bytes = std::fs::read(program).ok()?;
    if !bytes.starts_with(b"\x7fELF") {
        return None;
    }
    const BITS_64: u8 = 2;
    if bytes.get(4) != Some(&BITS_64) {
        return Some("it is for 32 bits, and the simulator's libraries are for 64".to_owned());
    }
    let has = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
    let is_dynamic = has(b"libcudart.so") || has(b"libcuda.so") || has(b"libOpenCL.so");
    if has(b"cudaLaunchKernel") && !is_dynamic {
        return Some("CUDA's runtime is linked into it: link it with -cudart shared".to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_comes_before_others() {
        let folder = Path::new("/a");
        assert_eq!(in_front(folder, None), "/a");
        assert_eq!(in_front(folder, Some("".into())), "/a");
        assert_eq!(in_front(folder, Some("/b:/c".into())), "/a:/b:/c");
    }

    #[test]
    fn the_folder_has_the_library_under_all_names() {
        let library = Library::new().expect("a folder");
        for name in NAMES {
            assert_eq!(std::fs::read(library.folder.path().join(name)).expect(name), LIBRARY);
        }
    }
}
