//! What a sweep prints and writes.

use super::{SweepArgs, named, write_file};
use crate::Exit;
use crate::files::cannot_write;
use comfy_table::{CellAlignment, Table as Layout, presets};
use std::fmt::Write;
use std::path::Path;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::{Config, config_hash};
use wave_observe::numbers::{counted, integer};
use wave_study::sweep::{Row, State, Table, page};

/// Most reasons that are listed.
const MOST_LISTED: usize = 20;

/// Rejects an impossible `--out` before the runs, not after them.
pub(super) fn check(out: &Path) -> Result<(), Vec<Diagnostic>> {
    let wrong: Vec<Diagnostic> = cannot_write(&named(out, "csv"), "--out").into_iter().collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Writes the tables.
///
/// # Errors
/// One cannot be written.
pub(super) fn write(out: &Path, table: &Table, base: &Config) -> Result<(), Vec<Diagnostic>> {
    let parquet = table.parquet().map_err(|why| {
        vec![Diagnostic::error(format!("--out: `{}`: {why}", named(out, "parquet").display()))]
    })?;
    write_file(out, "csv", table.csv().as_bytes())?;
    write_file(out, "parquet", &parquet)?;
    write_file(out, "html", page(table, base).as_bytes())
}

/// The exit code: what became of the runs.
pub(super) fn exit(table: &Table) -> Exit {
    let of = |row: &Row| match row.outcome() {
        "failed" => Exit::WrongResult,
        "fault" | "stopped" | "lost" => Exit::Fault,
        _ => Exit::Success,
    };
    let ran = table.rows.iter().any(|row| matches!(row.state, State::Measured(_) | State::Lost(_)));
    let worst = table.rows.iter().map(of).max().unwrap_or(Exit::Success);
    if ran { worst } else { worst.max(Exit::WrongInput) }
}

/// The summary: what was swept, what did not run and why, and the best of each kernel.
pub(super) fn text(table: &Table, base: &Config, args: &SweepArgs) -> String {
    let (out, all) = (args.out.as_path(), args.list_all);
    let mut text = format!(
        "{} (config {}): {}, {}, {}\n",
        base.name,
        config_hash(base),
        counted(table.axes.len() as u64, "parameter"),
        counted(table.rows.iter().map(|row| row.point).max().unwrap_or(0), "point"),
        counted(table.rows.len() as u64, "run"),
    );
    for (what, of) in
        [("no such machine", "invalid"), ("the kernel cannot run there", "refused"), ("skipped", "skipped")]
    {
        list(&mut text, table, what, all, |row| row.outcome() == of);
    }
    list(&mut text, table, "it did not end", all, |row| {
        matches!(row.outcome(), "fault" | "stopped" | "lost")
    });
    list(&mut text, table, "its result is wrong", all, |row| row.outcome() == "failed");
    let mut layout = Layout::new();
    layout.load_style(presets::NOTHING).set_header([
        "kernel",
        "runs",
        "ended",
        "least cycles",
        "most",
        "least at",
    ]);
    for column in 1..=4 {
        if let Some(column) = layout.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for kernel in kernels(table) {
        let rows: Vec<&Row> = table.rows.iter().filter(|row| row.kernel == kernel).collect();
        let ended: Vec<&&Row> = rows.iter().filter(|row| row.cycles().is_some()).collect();
        let best = ended.iter().min_by_key(|row| row.cycles());
        let most = ended.iter().filter_map(|row| row.cycles()).max();
        let shown = |cycles: Option<u64>| cycles.map_or_else(|| "–".to_owned(), integer);
        layout.add_row([
            kernel.to_owned(),
            rows.len().to_string(),
            ended.len().to_string(),
            shown(best.and_then(|row| row.cycles())),
            shown(most),
            best.map_or_else(|| "–".to_owned(), |row| point(table, row)),
        ]);
    }
    for line in layout.to_string().lines() {
        _ = writeln!(text, "{}", line.trim());
    }
    let shown = |extension| named(out, extension).display().to_string();
    _ = writeln!(text, "wrote {}, {} and {}", shown("csv"), shown("parquet"), shown("html"));
    text
}

/// Kernels in order of their first row.
fn kernels(table: &Table) -> Vec<&str> {
    let mut kernels: Vec<&str> = Vec::new();
    for row in &table.rows {
        if !kernels.contains(&row.kernel.as_str()) {
            kernels.push(&row.kernel);
        }
    }
    kernels
}

/// What a row sets: `core.l1.bytes=16384 cores=8`, and its seed.
fn point(table: &Table, row: &Row) -> String {
    let values = table.axes.iter().zip(&row.values);
    let mut words: Vec<String> = values.map(|(axis, value)| format!("{}={value}", axis.key)).collect();
    words.extend(row.seed.map(|seed| format!("seed {seed}")));
    if words.is_empty() { "the configuration".to_owned() } else { words.join(" ") }
}

/// Points of rows that did not run or end for one reason.
struct Group {
    /// The reason, with a mark in place of each number: points differ in those alone.
    form: String,
    /// The first, and its reason.
    first: String,
    why: String,
    /// Points, and rows, one line each.
    lines: Vec<String>,
}

/// A reason with a mark in place of each number.
fn form(why: &str) -> String {
    let mut form = String::with_capacity(why.len());
    for c in why.chars() {
        match c {
            '0'..='9' if form.ends_with('#') => {}
            '0'..='9' => form.push('#'),
            c => form.push(c),
        }
    }
    form
}

/// Lists rows that `are` so. What did not run is listed by reasons, each with the first of its rows, or with `all` by
/// rows. Rows of a point that is no machine count once.
fn list(text: &mut String, table: &Table, what: &str, all: bool, are: impl Fn(&Row) -> bool) {
    let mut groups: Vec<Group> = Vec::new();
    for row in table.rows.iter().filter(|row| are(row)) {
        let at = point(table, row);
        let kernel = if row.config.is_some() { format!("{} at ", row.kernel) } else { String::new() };
        let why = row.message().and_then(|message| message.lines().next()).unwrap_or("");
        let (first, why) = (format!("{kernel}{at}"), why.to_owned());
        let line = if why.is_empty() { first.clone() } else { format!("{first}: {why}") };
        // Of what ran, each has its own end.
        let ran = !matches!(row.outcome(), "invalid" | "refused" | "skipped");
        let form = if ran { line.clone() } else { form(&why) };
        match groups.iter_mut().find(|group| group.form == form) {
            Some(group) if group.lines.last() == Some(&line) => {}
            Some(group) => group.lines.push(line),
            None => groups.push(Group { form, first, why, lines: vec![line] }),
        }
    }
    let count = |groups: &[Group]| groups.iter().map(|group| group.lines.len() as u64).sum::<u64>();
    if groups.is_empty() {
        return;
    }
    _ = writeln!(text, "{}, {what}:", integer(count(&groups)));
    if all {
        groups.iter().flat_map(|group| &group.lines).for_each(|line| _ = writeln!(text, "  {line}"));
        return;
    }
    for Group { first, why, lines, .. } in groups.iter().take(MOST_LISTED) {
        let more = match lines.len() as u64 - 1 {
            0 => String::new(),
            more => format!(" and {} more", integer(more)),
        };
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        _ = writeln!(text, "  {first}{more}{why}");
    }
    if groups.len() > MOST_LISTED {
        _ = writeln!(text, "  and {} more; the tables have them", integer(count(&groups[MOST_LISTED..])));
    }
}
