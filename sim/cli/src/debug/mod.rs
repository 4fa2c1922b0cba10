//! `wave-sim debug`: a debugger that goes forwards and backwards.

mod commands;
mod format;
mod look;
mod memory;
mod points;
mod screen;
mod script;
mod session;
mod stops;
mod why;

use super::Ended;
use super::args::{DebugArgs, UntimedArgs};
use super::execute::run_options;
use super::functional::{Ahead, run_ahead};
use super::host_memory::Copies;
use super::inputs::{self, Input};
use super::machine::machine_to_run;
use super::progress::Progress;
use super::session::launch_flags;
use super::terminal::Terminal;
use super::work::work;
use session::Session;
use std::io::IsTerminal;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::gpu::RunOptions;
use wave_study::summary::Outcome;

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
    // The state of the beginning, to go back to; --history bounds the others.
    let copies = Copies { images: 0, states: 1 };
    let config = machine_to_run(args.config.as_deref(), &args.set, &args.machine.bounds, copies, terminal)?;
    let mut work = work(&input, &args.launch, args.machine.data(), &config)?;
    if let Some(lack) = work.lack(&config) {
        return Err(vec![Diagnostic::error(format!("`{}` cannot run: {lack}", work.name))]);
    }
    terminal.diagnostics(&work.warnings);
    // A signal ends a command, not the run: the session asks for it.
    let options = RunOptions { stop: None, ..run_options(&args.machine.bounds) };
    let history = usize::try_from(args.history).unwrap_or(usize::MAX);
    let untimed = UntimedArgs { functional: false, detail_from: args.detail_from.clone(), sample: false };
    let mut progress = Progress::new(1, true);
    let ahead = run_ahead(&mut work, (&untimed, &args.machine.bounds), &config, &mut progress);
    progress.finish();
    match ahead {
        Ahead::Continues(before, _) => {
            Session::new(work, before.under_way.as_deref(), &config, &options, history)
        }
        Ahead::Over(executed) => Err(match executed.run.outcome {
            Outcome::Refused(wrong) => wrong,
            Outcome::Fault(why) | Outcome::Stopped(why) => vec![why],
            Outcome::Ended(_) | Outcome::Skipped(_) => Vec::new(),
        }),
    }
}
