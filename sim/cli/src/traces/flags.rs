//! Flags about trace files: values, checks, and file names for several kernels.

use crate::args::TraceArgs;
use crate::values;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use wave_isa::WORD_BYTES;
use wave_isa::diagnostic::Diagnostic;
use wave_observe::trace::{Trigger, When, Window};
use wave_study::report::scope::Scope;

/// Waves that `--waves` names: workgroups by their linear index, and waves of each.
pub(crate) type WaveRange = (Range<u64>, Range<u64>);

/// Reads `G`, `G-H`, `G:W` or `G-H:W-V`.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn wave_range(text: &str) -> Result<WaveRange, String> {
    let range = |text: &str| -> Result<Range<u64>, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last) = (values::integer(first)?, values::integer(last)?);
        if last < first {
            return Err(format!("{first}-{last} ends before it begins"));
        }
        Ok(first..last.saturating_add(1))
    };
    match text.split_once(':') {
        Some((workgroups, waves)) => Ok((range(workgroups)?, range(waves)?)),
        None => Ok((range(text)?, 0..u64::MAX)),
    }
}

/// Default number of cycles kept around a trigger.
const AROUND: u64 = 1000;

/// Reads `pc=P`, `fault` or `stall>N`.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn trigger(text: &str) -> Result<When, String> {
    if text == "fault" {
        return Ok(When::Fault);
    }
    if let Some(pc) = text.strip_prefix("pc=") {
        let pc = values::integer32(pc)?;
        if !pc.is_multiple_of(WORD_BYTES) {
            return Err(format!("no instruction begins at pc {pc}: words have {WORD_BYTES} bytes"));
        }
        return Ok(When::Pc(pc));
    }
    match text.strip_prefix("stall>") {
        Some(cycles) => values::integer(cycles).map(When::Stall),
        None => Err("it is pc=P, fault or stall>N, such as pc=0x40 or 'stall>100'".to_owned()),
    }
}

impl TraceArgs {
    /// The files to write, each with its flag.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&'static str, &PathBuf)> {
        let files = [
            ("--wvfi", &self.wvfi),
            ("--kanata", &self.kanata),
            ("--perfetto", &self.perfetto),
            ("--vcd", &self.vcd),
            ("--fst", &self.fst),
            (super::REPORT, &self.report),
        ];
        files.into_iter().filter_map(|(flag, path)| Some((flag, path.as_ref()?)))
    }

    /// The first flag that requests a file.
    pub(crate) fn flag(&self) -> Option<&'static str> {
        self.files().next().map(|(flag, _)| flag)
    }

    /// The part of the run that a report covers, apart from a trigger.
    pub(crate) fn scope(&self) -> Scope {
        let Window { cycles, waves } = self.window();
        Scope { cycles, of_waves: !waves.is_empty(), around: None }
    }

    pub(crate) fn window(&self) -> Window {
        Window {
            cycles: self.from_cycle.unwrap_or(0)..self.to_cycle.unwrap_or(u64::MAX),
            waves: self.waves.clone(),
        }
    }

    pub(crate) fn trigger(&self) -> Option<Trigger> {
        self.trigger.map(|when| Trigger {
            when,
            before: self.trigger_before.unwrap_or(AROUND),
            after: self.trigger_after.unwrap_or(AROUND),
        })
    }

    /// The errors in the flags that do not depend on what runs.
    pub(crate) fn check(&self) -> Vec<Diagnostic> {
        let mut wrong = Vec::new();
        let window = [
            ("--from-cycle", self.from_cycle.is_some()),
            ("--to-cycle", self.to_cycle.is_some()),
            ("--waves", !self.waves.is_empty()),
            ("--trigger", self.trigger.is_some()),
        ];
        if self.flag().is_none()
            && let Some((flag, _)) = window.iter().find(|(_, given)| *given)
        {
            let message = format!("{flag} is the window of a trace file, and none is written");
            wrong.push(Diagnostic::error(message).hint("--wvfi FILE writes one"));
        }
        let around = [
            ("--trigger-before", self.trigger_before.is_some()),
            ("--trigger-after", self.trigger_after.is_some()),
        ];
        if self.trigger.is_none()
            && let Some((flag, _)) = around.iter().find(|(_, given)| *given)
        {
            let message = format!("{flag} counts cycles around a trigger, and there is none");
            wrong.push(
                Diagnostic::error(message)
                    .hint("--trigger pc=0x40, --trigger fault or --trigger 'stall>100'"),
            );
        }
        if let Some(path) =
            self.perfetto.as_ref().filter(|path| path.extension().is_some_and(|end| end == "json"))
        {
            let message = format!("--perfetto: `{}` would not be JSON", path.display());
            let hint = format!(
                "the trace has Perfetto's protobuf form: name it `{}`",
                path.with_extension("pftrace").display()
            );
            wrong.push(Diagnostic::error(message).hint(hint));
        }
        let Range { start, end } = self.window().cycles;
        if start >= end {
            wrong.push(Diagnostic::error(format!("--to-cycle: {end} is not after --from-cycle, {start}")));
        }
        wrong
    }

    /// The errors in the file names if kernels of these names run.
    pub(crate) fn check_names(&self, kernels: &[String]) -> Vec<Diagnostic> {
        let shared: Vec<_> = self.files().filter(|(_, path)| !has_placeholder(path)).collect();
        if let ([(flag, path), ..], [_, _, ..]) = (&shared[..], kernels) {
            let flags: Vec<&str> = shared.iter().map(|(flag, _)| *flag).collect();
            let message = format!(
                "{}: one file of this name, and {} kernels are to run",
                flags.join(" and "),
                kernels.len()
            );
            let name = with_placeholder(path);
            let hint = format!("{PLACEHOLDER} stands for the kernel's name: {flag} '{}'", name.display());
            return vec![Diagnostic::error(message).hint(hint)];
        }
        let mut taken: BTreeMap<PathBuf, (&str, &str)> = BTreeMap::new();
        for kernel in kernels {
            for (flag, path) in self.files() {
                let path = filled(path, kernel);
                let shown = path.display().to_string();
                let folder = wave_files::folder(&path);
                if kernels.len() > 1 && !folder.is_dir() {
                    let message = format!("{flag}: cannot write `{shown}`: no such folder");
                    let hint = format!("there is no folder `{}`", folder.display());
                    return vec![Diagnostic::error(message).hint(hint)];
                }
                let Some((other, of)) = taken.insert(path, (flag, kernel)) else { continue };
                let message = match other == flag {
                    true => format!("{flag}: `{shown}` is the file of two kernels, `{of}` and `{kernel}`"),
                    false => format!("{other} and {flag} both write to `{shown}`"),
                };
                return vec![Diagnostic::error(message)];
            }
        }
        Vec::new()
    }

    /// The flags for one kernel: its name replaces the placeholder.
    pub(crate) fn of_kernel(&self, kernel: &str) -> TraceArgs {
        let mut args = self.clone();
        let TraceArgs { wvfi, kanata, perfetto, vcd, fst, report, .. } = &mut args;
        for path in [wvfi, kanata, perfetto, vcd, fst, report].into_iter().flatten() {
            *path = filled(path, kernel);
        }
        args
    }
}

/// Placeholder for the kernel's name in a file name.
const PLACEHOLDER: &str = "{kernel}";

/// True if the path has the placeholder.
pub(crate) fn has_placeholder(path: &Path) -> bool {
    path.to_string_lossy().contains(PLACEHOLDER)
}

/// A path with the placeholder replaced. A path that is not Unicode has no placeholder.
pub(crate) fn filled(path: &Path, kernel: &str) -> PathBuf {
    path.to_str().map_or_else(|| path.to_owned(), |path| path.replace(PLACEHOLDER, kernel).into())
}

/// A similar name with a placeholder.
pub(crate) fn with_placeholder(path: &Path) -> PathBuf {
    let stem = path.file_stem().map_or_else(String::new, |stem| format!("{}-", stem.to_string_lossy()));
    let end = path.extension().map_or_else(String::new, |end| format!(".{}", end.to_string_lossy()));
    path.with_file_name(format!("{stem}{PLACEHOLDER}{end}"))
}
