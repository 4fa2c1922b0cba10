//! Builds an executable from SystemVerilog and a C++ main program with Verilator, on first use.
//!
//! The build directory is named after a hash of all inputs, so an executable is never stale and several
//! versions exist side by side. A lock makes concurrent users wait for one build. The directory gets its name
//! only when it is complete.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often the progress of a build is looked at.
const PATIENCE: Duration = Duration::from_millis(400);

/// The command that installs what a build needs.
pub const INSTALL: &str = "sudo apt-get install -y verilator g++ make zlib1g-dev";

/// Environment variable that, set to 1, lets tests that need Verilator pass without it.
pub const SKIP_VARIABLE: &str = "WAVE_SIM_SKIP_RTL";

/// True if there is clang, which compiles a model in less than half of the time of g++.
static CLANG: LazyLock<bool> = LazyLock::new(|| {
    Command::new("clang++").arg("--version").output().is_ok_and(|output| output.status.success())
});

/// What to build.
#[derive(Debug, Clone)]
pub struct Model {
    /// Start of the name of the build directory.
    pub name: String,
    /// Top module.
    pub top: String,
    /// SystemVerilog and C++ files in the order of the command line.
    pub sources: Vec<PathBuf>,
    /// Directories of files that the sources include. All files in them count as inputs.
    pub includes: Vec<PathBuf>,
    /// Further arguments of Verilator, such as `-DNAME`, `-GPARAMETER=4` or `--trace-fst`.
    pub arguments: Vec<String>,
}

/// Why there is no executable.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Verilator does not run.
    #[error("Verilator is missing ({0}); on Debian or Ubuntu: {INSTALL}")]
    Missing(String),
    /// A file or directory cannot be used.
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    /// Verilator or the C++ compiler rejects the sources.
    #[error("building {name} failed:\n{output}")]
    Rejected {
        /// Name of the model.
        name: String,
        /// Output of Verilator, make and the compiler.
        output: String,
    },
}

/// True if the user set [`SKIP_VARIABLE`] to skip what needs Verilator.
pub fn skipped() -> bool {
    std::env::var(SKIP_VARIABLE).is_ok_and(|v| v == "1")
}

/// The first line of `verilator --version`.
///
/// # Errors
/// [`BuildError::Missing`] if it does not run.
pub fn verilator_version() -> Result<String, BuildError> {
    let output = Command::new("verilator")
        .arg("--version")
        .output()
        .map_err(|error| BuildError::Missing(error.to_string()))?;
    if !output.status.success() {
        return Err(BuildError::Missing(format!("`verilator --version`: {}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned())
}

/// The executable of `model`. It is built under `target` (a directory that need not exist) unless it exists
/// already.
///
/// # Errors
/// Verilator is missing, a file cannot be read or written, or the sources are rejected.
pub fn build(model: &Model, target: &Path) -> Result<PathBuf, BuildError> {
    build_watched(model, target, &|_| ())
}

/// As [`build`]; meanwhile `watch` is told now and then how many files are compiled.
///
/// # Errors
/// As [`build`].
pub fn build_watched(
    model: &Model,
    target: &Path,
    watch: &(dyn Fn(usize) + Sync),
) -> Result<PathBuf, BuildError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| BuildError::File(path, error)
    };
    fs::create_dir_all(target).map_err(at(target))?;
    let target = &target.canonicalize().map_err(at(target))?;
    let key = key(model, &verilator_version()?)?;
    let done = target.join(format!("{}-{key:016x}", model.name));
    let executable = done.join(&model.name);
    if executable.exists() {
        return Ok(executable);
    }
    let lock_path = done.with_extension("lock");
    let lock = File::create(&lock_path).map_err(at(&lock_path))?;
    lock.lock().map_err(at(&lock_path))?;
    if executable.exists() {
        return Ok(executable);
    }
    // Left by an interrupted build.
    let unfinished = done.with_extension("unfinished");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).map_err(at(&unfinished))?;
    }
    let output = std::thread::scope(|scope| {
        let (ended, end) = channel::<()>();
        let objects = || objects(&unfinished);
        scope.spawn(move || {
            while end.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                watch(objects());
            }
        });
        let output = command(model, &unfinished).output();
        drop(ended);
        output
    });
    let output = output.map_err(|e| BuildError::Missing(e.to_string()))?;
    if !output.status.success() {
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        return Err(BuildError::Rejected { name: model.name.clone(), output: text.concat() });
    }
    fs::rename(&unfinished, &done).map_err(at(&done))?;
    Ok(executable)
}

/// Files in a directory that the C++ compiler has made.
fn objects(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "o")).count()
}

/// Verilator's command line for `model`, with the working directory `directory`.
fn command(model: &Model, directory: &Path) -> Command {
    let mut command = Command::new("verilator");
    command.args([
        "--cc",
        "--exe",
        "--build",
        "-j",
        "2",
        "-O3",
        "--x-assign",
        "unique",
        "--x-initial",
        "unique",
    ]);
    // -CFLAGS precedes the makefile's own flags, which override it. -MAKEFLAGS does not. A model's functions are long, and a
    // compiler's time grows faster than they do: for most models it is longer than that of their runs.
    command.args(["-MAKEFLAGS", "OPT_FAST=-O1"]);
    if *CLANG {
        command.args(["-MAKEFLAGS", "CXX=clang++", "-MAKEFLAGS", "LINK=clang++"]);
        command.args(["-CFLAGS", "-fbracket-depth=4096"]);
    }
    command.args(["--top-module", &model.top, "-o", &model.name, "--Mdir"]).arg(directory);
    command.args(&model.arguments);
    for include in &model.includes {
        let mut option = std::ffi::OsString::from("-I");
        option.push(include);
        command.arg(option);
    }
    command.args(&model.sources);
    command
}

/// A hash of the command line, of Verilator's version and of the contents of every input.
fn key(model: &Model, version: &str) -> Result<u64, BuildError> {
    let mut hasher = DefaultHasher::new();
    version.hash(&mut hasher);
    format!("{:?}", command(model, Path::new(""))).hash(&mut hasher);
    let mut inputs = model.sources.clone();
    for include in &model.includes {
        let at = |error| BuildError::File(include.clone(), error);
        let mut files = Vec::new();
        for entry in fs::read_dir(include).map_err(at)? {
            files.push(entry.map_err(at)?.path());
        }
        files.retain(|path| path.is_file());
        files.sort();
        inputs.append(&mut files);
    }
    for path in &inputs {
        fs::read(path).map_err(|error| BuildError::File(path.clone(), error))?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(directory: &Path, text: &str) -> Model {
        let source = directory.join("top.sv");
        fs::write(&source, text).unwrap();
        Model {
            name: "model".into(),
            top: "top".into(),
            sources: vec![source],
            includes: vec![directory.to_owned()],
            arguments: vec![],
        }
    }

    #[test]
    fn the_key_depends_on_everything_that_goes_in() {
        let directory = tempfile::tempdir().unwrap();
        let mut keys = Vec::new();
        let mut note = |model: &Model, version: &str| keys.push(key(model, version).unwrap());
        let mut changed = model(directory.path(), "module top; endmodule");
        note(&changed, "5");
        note(&changed, "6");
        changed.arguments.push("-DBUGS".into());
        note(&changed, "5");
        fs::write(directory.path().join("included.svh"), "// one").unwrap();
        note(&changed, "5");
        fs::write(directory.path().join("included.svh"), "// two").unwrap();
        note(&changed, "5");
        note(&model(directory.path(), "module top; wire x; endmodule"), "5");
        let same = model(directory.path(), "module top; wire x; endmodule");
        assert_eq!(key(&same, "5").unwrap(), *keys.last().unwrap());
        let count = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn a_missing_source_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let mut model = model(directory.path(), "");
        model.sources.push("absent.sv".into());
        assert!(matches!(key(&model, "5"), Err(BuildError::File(path, _)) if path == Path::new("absent.sv")));
    }
}
