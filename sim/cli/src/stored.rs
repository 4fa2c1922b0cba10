//! Results that earlier commands wrote, out of files and out of git.

use super::args::TraceArgs;
use super::inputs::{self, Input};
use std::path::Path;
use std::process::Command;
use wave_files::read::DOCUMENT_BYTES;
use wave_files::reason;
use wave_isa::diagnostic::Diagnostic;
use wave_study::report::baseline::Baseline;
use wave_study::report::page::Beside;
use wave_study::results::Measured;
use wave_study::sensitivity::Sensitivity;

/// What the reports of a run show beside it.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    /// `--baseline`: its name and runs.
    baseline: Option<(String, Vec<Measured>)>,
    /// `--sensitivity`.
    sensitivity: Option<Sensitivity>,
}

impl Stored {
    /// Reads what the flags name.
    ///
    /// # Errors
    /// A file is none of these, or has nothing of any of these kernels.
    pub(crate) fn read(args: &TraceArgs, inputs: &[Input]) -> Result<Stored, Diagnostic> {
        let baseline = args.baseline.as_deref().map(baseline).transpose()?;
        let sensitivity = args.sensitivity.as_deref().map(sensitivity).transpose()?;
        let runs = |kernel: &str| inputs.iter().any(|input| input.name() == kernel);
        let lacks = |flag: &str, file: &str, has: Vec<&str>| {
            let message = format!("{flag}: `{file}` has nothing of what is to run");
            Err(Diagnostic::error(message).hint(format!("it has {}", has.join(", "))))
        };
        if let Some((file, all)) = &baseline
            && !all.iter().any(|run| runs(&run.kernel))
        {
            return lacks("--baseline", file, all.iter().map(|run| run.kernel.as_str()).collect());
        }
        if let (Some(found), Some(file)) = (&sensitivity, &args.sensitivity)
            && !runs(&found.kernel)
        {
            return lacks("--sensitivity", &file.to_string_lossy(), vec![&found.kernel]);
        }
        Ok(Stored { baseline, sensitivity })
    }

    /// What there is of a kernel.
    pub(crate) fn of_kernel(&self, kernel: &str) -> Beside {
        let baseline = self.baseline.as_ref().and_then(|(name, runs)| {
            let run = runs.iter().find(|run| run.kernel == kernel)?.clone();
            Some(Baseline { name: name.clone(), run })
        });
        let sensitivity = self.sensitivity.clone().filter(|found| found.kernel == kernel);
        Beside { baseline, sensitivity }
    }
}

fn sensitivity(file: &Path) -> Result<Sensitivity, Diagnostic> {
    let bytes = inputs::read(file, DOCUMENT_BYTES, "--sensitivity")?;
    Sensitivity::read(&String::from_utf8_lossy(&bytes), &file.to_string_lossy())
}

/// A stored result, with its name for the column.
pub(crate) fn result(file: &str) -> Result<(String, Vec<Measured>), Diagnostic> {
    let bytes = inputs::read(Path::new(file), DOCUMENT_BYTES, "compare")?;
    let name = Path::new(file).file_stem().map_or_else(|| file.into(), |stem| stem.to_string_lossy());
    Ok((name.into_owned(), Measured::read(&String::from_utf8_lossy(&bytes), file)?))
}

/// The result that `--baseline` names: a file, or one in a commit.
pub(crate) fn baseline(word: &str) -> Result<(String, Vec<Measured>), Diagnostic> {
    if Path::new(word).exists() || !word.contains(':') {
        return result(word);
    }
    let fail = |why: &str| {
        Diagnostic::error(format!("--baseline: git cannot show `{word}`: {why}")).hint(
            "COMMIT:FILE, with the file as the repository has it; COMMIT:./FILE is relative to this folder",
        )
    };
    let shown = Command::new("git").args(["show", word]).output().map_err(|error| fail(&reason(&error)))?;
    if !shown.status.success() {
        let why = String::from_utf8_lossy(&shown.stderr);
        return Err(fail(why.trim().trim_start_matches("fatal: ")));
    }
    Ok((word.to_owned(), Measured::read(&String::from_utf8_lossy(&shown.stdout), word)?))
}
