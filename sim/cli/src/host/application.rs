//! A program as what a sweep runs at each of its points.

use super::device::{Done, How};
use super::timeline::HostTime;
use super::{library, simulate};
use crate::args::BoundArgs;
use crate::interrupt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use wave_files::reason;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::Config;
use wave_study::launch::Verification;
use wave_study::summary::{Outcome, Run};
use wave_study::sweep::{Bounds, Digest};

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Application {
    file: PathBuf,
    arguments: Vec<String>,
}

impl Application {
    /// The program that words of a command line name; like a shell, it looks for a bare name in `PATH`.
    ///
    /// # Errors
    /// There is no such file.
    pub(crate) fn new(words: &[String]) -> Result<Application, Diagnostic> {
        let Some((name, arguments)) = words.split_first() else {
            return Err(Diagnostic::error("no program is named behind `--`"));
        };
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let is_bare = Path::new(name).components().count() == 1 && !name.starts_with('.');
        let places: Vec<PathBuf> = match is_bare {
            true => std::env::split_paths(&paths).map(|folder| folder.join(name)).collect(),
            false => vec![PathBuf::from(name)],
        };
        match places.into_iter().find(|place| place.is_file()) {
            Some(file) => Ok(Application { file, arguments: arguments.to_vec() }),
            None => Err(Diagnostic::error(format!("there is no program `{name}`"))
                .hint("write the path of a program, such as ./app, and its arguments after it")),
        }
    }

    /// Its name for tables: the name of its file.
    pub(crate) fn name(&self) -> String {
        self.file.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Identifies its file, its arguments, and the contents of the files that arguments name. Other files that it may read
    /// do not count.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(crate) fn digest(&self) -> Result<Digest, Diagnostic> {
        let read = |file: &Path| {
            std::fs::read(file).map_err(|error| {
                Diagnostic::error(format!("`{}` cannot be read: {}", file.display(), reason(&error)))
            })
        };
        let mut parts = vec![("program", read(&self.file)?)];
        for argument in &self.arguments {
            parts.push(("argument", argument.clone().into_bytes()));
            if Path::new(argument).is_file() {
                parts.push(("file", read(Path::new(argument))?));
            }
        }
        Ok(Digest::of_parts(&parts))
    }

    /// Runs it, and gives the launches of all of its processes together. What it prints is lost.
    ///
    /// # Errors
    /// The program cannot start, or was interrupted.
    pub(crate) fn run(&self, config: &Config, bounds: Bounds) -> Result<Run, Diagnostic> {
        let bounds = BoundArgs {
            max_instructions: bounds.max_instructions,
            max_cycles: bounds.max_cycles,
            threads: Some(1),
            ..BoundArgs::default()
        };
        let wanted = Mutex::new(None);
        let how = How {
            config,
            bounds: &bounds,
            functional: false,
            cold: false,
            sample: false,
            wanted: &wanted,
            host: HostTime::default(),
            timeline: false,
        };
        let mut command = Command::new(&self.file);
        command.args(&self.arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let (ended, processes) = simulate(how, command, None)?;
        let status = ended?;
        if interrupt::is_asked() {
            return Err(Diagnostic::error(format!("`{}` was interrupted", self.name())));
        }
        let mut all = Run::new(&self.name(), Outcome::Ended(Verification::Nothing));
        for Done { run, .. } in processes {
            all.steps.extend(run.steps);
            if matches!(all.outcome, Outcome::Ended(_)) {
                all.outcome = run.outcome;
            }
        }
        if matches!(all.outcome, Outcome::Ended(_))
            && let Some(why) = self.why_not(status, all.steps.is_empty())
        {
            let hint = "`wave-sim run` with the same words shows what it prints";
            all.outcome = Outcome::Stopped(Diagnostic::error(why).hint(hint));
        }
        Ok(all)
    }

    /// The reason why a run of it counts for nothing.
    fn why_not(&self, status: ExitStatus, is_empty: bool) -> Option<String> {
        if !status.success() {
            return Some(format!("`{}` ended with {status}", self.name()));
        }
        let unused = || library::why_unused(&self.file).map_or_else(String::new, |why| format!(": {why}"));
        is_empty.then(|| format!("`{}` has launched no kernel{}", self.name(), unused()))
    }
}
