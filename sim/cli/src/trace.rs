//! `wave-sim trace …`: shows and compares existing traces.

use super::args::{DiffMode, TraceCommand};
use super::files::{Streamed, unwritable};
use super::terminal::Terminal;
use super::traces::form_of;
use super::{Ended, Exit};
use std::fmt::Write;
use std::path::Path;
use wave_isa::diagnostic::Diagnostic;
use wave_observe::trace::diff::{self, DiffError, Divergence, Mode, Outcome, diff};
use wave_observe::trace::record::{DestinationKind, STAGES};
use wave_observe::trace::rows::lanes;
use wave_observe::trace::summary::Summary;
use wave_observe::trace::text::{Rows, instruction};
use wave_observe::trace::{Item, Launched, Reader, Record, TraceError, Window, Writer};

/// Instructions of each side shown with a difference.
const CONTEXT: u64 = 8;

/// Bytes of text gathered before printing.
const BLOCK: usize = 1 << 16;

/// Runs one of the commands.
///
/// # Errors
/// If a trace cannot be read, or a file not written.
pub(crate) fn run(command: &TraceCommand, terminal: &Terminal) -> Ended {
    match command {
        TraceCommand::Diff { a, b, mode } => {
            let mode = if *mode == DiffMode::Arch { Mode::Architectural } else { Mode::Cycle };
            compare(a, b, mode, terminal)
        }
        TraceCommand::Show { input, from_cycle, to_cycle, waves } => {
            let cycles = from_cycle.unwrap_or(0)..to_cycle.unwrap_or(u64::MAX);
            show(input, &Window { cycles, waves: waves.clone() }, terminal)
        }
        TraceCommand::Stats { input } => stats(input, terminal),
        TraceCommand::Convert { input, output } => convert(input, output),
    }
}

fn wrong(error: &TraceError) -> Vec<Diagnostic> {
    vec![error.diagnostic()]
}

/// Walks over a trace: calls `launch` for each launch and `record` for each record.
fn each(
    path: &Path,
    mut visit: impl FnMut(&Launched, Option<&Record>) -> Result<(), Vec<Diagnostic>>,
) -> Result<(), Vec<Diagnostic>> {
    let mut reader = Reader::open(path).map_err(|e| wrong(&e))?;
    let mut record = Record::default();
    let mut now: Option<Box<Launched>> = None;
    while let Some(item) = reader.next(&mut record).map_err(|e| wrong(&e))? {
        match (item, &now) {
            (Item::Launch(launch), _) => {
                visit(&launch, None)?;
                now = Some(launch);
            }
            (Item::Record, Some(launch)) => visit(launch, Some(&record))?,
            _ => {}
        }
    }
    Ok(())
}

fn show(path: &Path, window: &Window, terminal: &Terminal) -> Ended {
    let width = Reader::open(path).map_err(|e| wrong(&e))?.header().wave_width as usize;
    let mut text = String::new();
    let mut shown = 0;
    each(path, |launch, record| {
        match record {
            None => _ = writeln!(text, "launch `{}` from cycle {}", launch.kernel, launch.start),
            Some(record) if window.has(launch.grid, record) => {
                shown += 1;
                _ = writeln!(text, "{}", line(record, width));
            }
            Some(_) => {}
        }
        if text.len() >= BLOCK {
            terminal.out(&text)?;
            text.clear();
        }
        Ok(())
    })?;
    terminal.out(&text)?;
    if shown == 0 && *window != Window::ALL {
        let message = format!("`{}` has no record in this window", path.display());
        let hint = "`wave-sim trace stats` says what waves and cycles it has";
        return Err(vec![Diagnostic::error(message).hint(hint)]);
    }
    Ok(Exit::Success)
}

/// A record as a line of text: cycle, wave, stages, instruction, result.
fn line(record: &Record, width: usize) -> String {
    let [x, y, z] = record.workgroup;
    let mut text = format!(
        "{:>8} core {} slot {:<2} wg({x},{y},{z}) wave {} #{:<5} 0x{:04x}",
        record.cycle, record.core, record.slot, record.wave, record.sequence, record.pc
    );
    for (stage, letter) in STAGES.into_iter().zip("FDIOXW".chars()) {
        match record.stage(stage) {
            0 => _ = write!(text, " {:<8}", ""),
            cycle => _ = write!(text, " {:<8}", format!("{letter}{cycle}")),
        }
    }
    _ = write!(text, " {:x}: {}", record.effective, instruction(record));
    if record.destination != DestinationKind::None {
        let rows = Rows { rows: &record.values, width, mask: record.effective };
        _ = write!(text, " = {rows}");
    }
    if !record.addresses.is_empty() {
        let rows = Rows { rows: &record.addresses, width, mask: record.effective };
        _ = write!(text, " at {rows}");
    }
    if record.open {
        text += " (open)";
    }
    text
}

fn stats(path: &Path, terminal: &Terminal) -> Ended {
    let reader = Reader::open(path).map_err(|e| wrong(&e))?;
    let header = reader.header();
    let mut text = format!(
        "`{}` by {} on {} ({:016x}), waves of {} lanes\n",
        path.display(),
        header.producer,
        header.config,
        header.config_hash,
        header.wave_width
    );
    let mut launch: Option<(Launched, Summary)> = None;
    each(path, |launched, record| {
        match (record, &mut launch) {
            (Some(record), Some((_, summary))) => summary.add(record),
            _ => {
                if let Some((before, summary)) = launch.replace((launched.clone(), Summary::default())) {
                    text += &summary.text(&before);
                }
            }
        }
        Ok(())
    })?;
    if let Some((launched, summary)) = launch {
        text += &summary.text(&launched);
    }
    terminal.out(&text)
}

fn convert(input: &Path, output: &Path) -> Ended {
    let mut reader = Reader::open(input).map_err(|e| wrong(&e))?;
    let streamed = Streamed::create(output, "OUTPUT")?;
    let unwritten = |error: std::io::Error| vec![unwritable(output, &error, "OUTPUT")];
    let file = streamed.file().map_err(unwritten)?;
    let mut writer = Writer::new(file, form_of(output), reader.header()).map_err(unwritten)?;
    let mut record = Record::default();
    while let Some(item) = reader.next(&mut record).map_err(|e| wrong(&e))? {
        match item {
            Item::Launch(launch) => writer.launch(&launch),
            Item::Record => writer.record(&record),
            Item::End(end) => writer.end(end.how, end.cycle, &end.message),
        }
        .map_err(unwritten)?;
    }
    streamed.persist("OUTPUT")?;
    Ok(Exit::Success)
}

fn compare(a: &Path, b: &Path, mode: Mode, terminal: &Terminal) -> Ended {
    let (exit, text) = comparison(a, b, mode, CONTEXT)?;
    terminal.out(&text)?;
    Ok(exit)
}

/// Describes where two traces diverge, with some instructions of the wave before that.
///
/// # Errors
/// If one cannot be read, or they do not fit together.
pub(crate) fn comparison(
    a: &Path,
    b: &Path,
    mode: Mode,
    instructions: u64,
) -> Result<(Exit, String), Vec<Diagnostic>> {
    let (first, second) = (Reader::open(a).map_err(|e| wrong(&e))?, Reader::open(b).map_err(|e| wrong(&e))?);
    let (x, y) = (first.header(), second.header());
    let width = x.wave_width as usize;
    let mut text = String::new();
    if x.config_hash != y.config_hash && mode == Mode::Cycle {
        text += &format!(
            "note: different machines, {} ({:016x}) and {} ({:016x})\n",
            x.config, x.config_hash, y.config, y.config_hash
        );
    }
    let outcome = diff(first, second, mode).map_err(|error| match error {
        DiffError::Trace(error) => wrong(&error),
        DiffError::Unlike(message) => vec![Diagnostic::error(message)],
    })?;
    let exit = match outcome {
        Outcome::Same(records) => {
            text += &format!("the same: {records} records\n");
            Exit::Success
        }
        Outcome::Launches(what) => {
            text += &format!("the traces differ: {what}\n");
            Exit::WrongResult
        }
        Outcome::Differ(divergence) => {
            text += &told(&divergence, a, b);
            for (name, path) in [("A", a), ("B", b)] {
                text += &format!("{name} {}\n", path.display());
                text += &context(path, &divergence, width, instructions)?;
            }
            Exit::WrongResult
        }
    };
    Ok((exit, text))
}

/// Describes the difference, with a line per field.
fn told(divergence: &Divergence, a: &Path, b: &Path) -> String {
    let record = divergence.either();
    let [x, y, z] = record.workgroup;
    let mut text = format!(
        "the traces differ: launch {}, workgroup ({x},{y},{z}) wave {}, instruction {} at pc 0x{:04x}: {}\n",
        divergence.launch,
        record.wave,
        record.sequence,
        record.pc,
        instruction(record)
    );
    if let Some((stage, cycle)) = divergence.moved {
        text += &format!("  {stage} moved first, in cycle {cycle}\n");
    }
    match (&divergence.a, &divergence.b) {
        (Some(_), None) => text += &format!("  only {} has it\n", a.display()),
        (None, Some(_)) => text += &format!("  only {} has it\n", b.display()),
        _ => {}
    }
    for field in &divergence.fields {
        if field.lanes == 0 {
            _ = writeln!(text, "  {:<12} A {}  B {}", field.name, field.a, field.b);
            continue;
        }
        let differing: Vec<String> = lanes(field.lanes).map(|lane| lane.to_string()).collect();
        _ = writeln!(text, "  {:<12} lanes {} differ", field.name, differing.join(", "));
        _ = writeln!(text, "    A {}\n    B {}", field.a, field.b);
    }
    if !divergence.fields.iter().any(|field| field.name == "stalls") && divergence.moved.is_some() {
        for (name, record) in [("A", &divergence.a), ("B", &divergence.b)] {
            if let Some(record) = record.as_ref().filter(|r| !r.stalls.is_empty()) {
                _ = writeln!(text, "  {name} waited {}", diff::stalls(record));
            }
        }
    }
    text
}

/// The last instructions of the wave in one file, up to the one that differs, which is marked.
fn context(
    path: &Path,
    divergence: &Divergence,
    width: usize,
    instructions: u64,
) -> Result<String, Vec<Diagnostic>> {
    let wanted = divergence.either();
    let (mut launches, mut found) = (0, Vec::new());
    let mut reader = Reader::open(path).map_err(|e| wrong(&e))?;
    let mut record = Record::default();
    while let Some(item) = reader.next(&mut record).map_err(|e| wrong(&e))? {
        match item {
            Item::Launch(_) if launches == divergence.launch => break,
            Item::Launch(_) => launches += 1,
            Item::Record
                if launches == divergence.launch
                    && (record.workgroup, record.wave) == (wanted.workgroup, wanted.wave)
                    && record.sequence <= wanted.sequence
                    && record.sequence + instructions > wanted.sequence =>
            {
                found.push((record.sequence, line(&record, width)));
            }
            _ => {}
        }
    }
    found.sort();
    let marked = |(sequence, line): (u64, String)| {
        format!("{} {line}\n", if sequence == wanted.sequence { ">" } else { " " })
    };
    Ok(found.into_iter().map(marked).collect())
}
