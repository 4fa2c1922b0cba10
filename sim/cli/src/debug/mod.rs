//! `wave-sim debug`: a debugger that goes forwards and backwards.

mod commands;
mod format;
mod look;
mod memory;
mod place;
mod points;
mod screen;
mod script;
mod session;
mod stops;
mod why;

use super::Ended;
use super::args::DebugArgs;
use super::execute::run_options;
use super::inputs::{self, Input};
use super::machine::machine;
use super::session::launch_flags;
use super::terminal::Terminal;
use super::work::work;
use session::Session;
use std::io::IsTerminal;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::gpu::RunOptions;

/// Debugs a kernel.
///
/// # Errors
/// Whatever is wrong with the input.
pub(crate) fn run(args: &DebugArgs, terminal: &Terminal) -> Ended {
    let mut session = session(args, terminal)?;
    let commands = script::commands(args)?;
    match commands {
        Some(commands) => script::run(&mut session, commands, terminal),
        None if !std::io::stdin().is_terminal() => {
            script::run(&mut session, script::standard_input(), terminal)
        }
        // Without a terminal that can be drawn on, commands go line by line.
        None => {
            match (!args.plain && Terminal::can_be_drawn_on()).then(|| screen::run(&mut session)).flatten() {
                Some(ended) => ended,
                None => script::interactive(&mut session, terminal),
            }
        }
    }
}

/// A session at the beginning of the run that the flags ask for.
fn session(args: &DebugArgs, terminal: &Terminal) -> Result<Session, Vec<Diagnostic>> {
    let input: Input = inputs::input(&args.input).map_err(|error| vec![error])?;
    if let Some(wrong) = launch_flags(&args.launch, std::slice::from_ref(&input), false) {
        return Err(vec![wrong]);
    }
    let config = machine(args.config.as_deref(), &args.set, &args.machine, terminal)?;
    let work = work(&input, &args.launch, args.machine.data(), &config)?;
    if let Some(lack) = work.lack(&config) {
        return Err(vec![Diagnostic::error(format!("`{}` cannot run: {lack}", work.name))]);
    }
    terminal.diagnostics(&work.warnings);
    // A signal ends a command, not the run: the session asks for it.
    let options = RunOptions { stop: None, ..run_options(&args.machine) };
    Session::new(work, &config, &options, usize::try_from(args.history).unwrap_or(usize::MAX))
}
