//! Flags of a run that another program gives.

use crate::args::{Cli, RunArgs};
use clap::Parser;
use wave_isa::diagnostic::Diagnostic;

/// The flags of a run without its kernel and configuration.
///
/// # Errors
/// Flags that cannot be read, and words that are no flags of a run.
pub(super) fn parse(words: &[String]) -> Result<RunArgs, Diagnostic> {
    let words = std::iter::once("wave-sim").chain(words.iter().map(String::as_str));
    let Cli { command, run } = Cli::try_parse_from(words).map_err(|error| of_clap(&error))?;
    let own = "the kernel and the configuration are arguments of their own";
    let wrong = match &run {
        _ if command.is_some() => Some(("a command is no flag of a run".to_owned(), own)),
        RunArgs { inputs, .. } if !inputs.is_empty() => Some((format!("`{}` is no flag", inputs[0]), own)),
        RunArgs { config: Some(_), .. } => Some(("--config is no flag of this run".to_owned(), own)),
        RunArgs { set, .. } if !set.set.is_empty() => Some(("--set is no flag of this run".to_owned(), own)),
        RunArgs { suite: Some(_), .. } => Some(("--suite is no flag of this run".to_owned(), own)),
        RunArgs { output, .. } if !output.dumps.0.is_empty() => {
            let message = format!("{} prints, and this run does not", output.dumps.0[0].flag());
            Some((message, "the memory of its result has these bytes"))
        }
        _ => None,
    };
    match wrong {
        Some((message, hint)) => Err(Diagnostic::error(message).hint(hint)),
        None => Ok(run),
    }
}

/// The message about flags that cannot be read.
fn of_clap(error: &clap::Error) -> Diagnostic {
    let text = error.render().to_string();
    let message = text.split("\n\n").next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message).trim();
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
    let error = Diagnostic::error(message);
    tip.into_iter().fold(error, |error, tip| error.hint(tip))
}
