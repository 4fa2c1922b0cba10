//! Commands line by line: from a file, from the command line, from standard input.

use super::session::{Reply, Session};
use crate::args::DebugArgs;
use crate::terminal::Terminal;
use crate::{Ended, Exit, interrupt};
use std::io;
use wave_files::read::{self, SCRIPT_BYTES};
use wave_files::reason;
use wave_isa::diagnostic::Diagnostic;

/// What stands before a command.
const PROMPT: &str = "(wave) ";

/// Lines of commands.
pub(super) type Lines = Box<dyn Iterator<Item = io::Result<String>>>;

/// The commands of the flags; `None` without any.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn commands(args: &DebugArgs) -> Result<Option<Lines>, Vec<Diagnostic>> {
    let mut lines = Vec::new();
    if let Some(path) = &args.commands {
        let text = read::text(path, SCRIPT_BYTES).map_err(|error| {
            vec![Diagnostic::error(format!("--commands: cannot read `{}`: {error}", path.display()))]
        })?;
        lines.extend(text.lines().map(str::to_owned));
    }
    lines.extend(args.execute.iter().cloned());
    let is_script = args.commands.is_some() || !args.execute.is_empty();
    Ok(is_script.then(|| Box::new(lines.into_iter().map(Ok)) as Lines))
}

/// The lines of standard input.
pub(super) fn standard_input() -> Lines {
    Box::new(read::lines(io::stdin().lock()))
}

/// Executes lines to the end, showing each. What is wrong with one does not stop those behind it.
///
/// # Errors
/// If the lines cannot be read, or standard output cannot be written.
pub(super) fn run(session: &mut Session, lines: Lines, terminal: &Terminal) -> Ended {
    let mut exit = Exit::Success;
    for line in lines {
        let line = line.map_err(unreadable)?;
        let command = line.trim();
        if command.is_empty() || command.starts_with('#') {
            continue;
        }
        terminal.out(&format!("{PROMPT}{command}\n"))?;
        interrupt::stop();
        match session.execute(command, &mut |_| !interrupt::is_asked()) {
            Ok(Reply::Text(text)) => terminal.out(&text)?,
            Ok(Reply::Quit) => break,
            Err(wrong) => {
                exit = Exit::WrongInput;
                terminal.diagnostics(&[wrong]);
                Exit::Success
            }
        };
        if interrupt::is_asked() {
            return Ok(Exit::Fault);
        }
        interrupt::rest();
    }
    Ok(if session.error().is_some() { Exit::Fault } else { exit })
}

fn unreadable(error: io::Error) -> Vec<Diagnostic> {
    vec![Diagnostic::error(format!("cannot read commands: {}", reason(&error)))]
}

/// Asks for commands until there are no more. An empty line repeats the last one.
///
/// # Errors
/// If the lines cannot be read, or standard output cannot be written.
pub(super) fn interactive(session: &mut Session, terminal: &Terminal) -> Ended {
    let mut last = String::new();
    terminal.out("`help` lists the commands\n")?;
    terminal.out(&session.here())?;
    let mut lines = read::lines(io::stdin().lock());
    loop {
        terminal.out(PROMPT)?;
        let Some(line) = lines.next() else { return terminal.out("\n") };
        let line = line.map_err(unreadable)?;
        if !line.trim().is_empty() {
            line.trim().clone_into(&mut last);
        }
        interrupt::stop();
        match session.execute(&last, &mut |_| !interrupt::is_asked()) {
            Ok(Reply::Text(text)) => terminal.out(&text)?,
            Ok(Reply::Quit) => return Ok(Exit::Success),
            Err(wrong) => {
                terminal.diagnostics(&[wrong]);
                Exit::Success
            }
        };
        interrupt::rest();
    }
}
