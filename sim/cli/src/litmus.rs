//! `wave-sim litmus`: litmus tests against the memory model.

use super::args::{LitmusArgs, LitmusFormat};
use super::inputs;
use super::progress::{counting, tell};
use super::terminal::Terminal;
use super::{Ended, Exit, interrupt};
use std::path::Path;
use wave_files::read::{self, SCRIPT_BYTES};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::suggest::did_you_mean;
use wave_study::litmus::variant::{Variant, WORDS, variants};
use wave_study::litmus::{self, Campaign, SUITE, Test, TestReport, builtin, report};

/// Runs litmus tests and prints the outcomes.
///
/// # Errors
/// Whatever is wrong with the names, the files or the configuration.
pub(crate) fn run(args: &LitmusArgs, terminal: &Terminal) -> Ended {
    let stop = interrupt::stop();
    let tests = tests(&args.tests)?;
    let wanted = |v: &Variant| args.only.iter().all(|word| v.has(word));
    if !tests.iter().flat_map(variants).any(|v| wanted(&v)) {
        let message = format!("--only: no variant of these tests has all of `{}`", args.only.join(","));
        return Err(vec![Diagnostic::error(message).hint(format!("the words are {}", WORDS.join(", ")))]);
    }
    let config = inputs::config(&args.config, &args.set, terminal)?;
    let (runs, seed, only) = (args.runs, args.seed, &args.only[..]);
    let campaign = Campaign { config: &config, runs, seed, only, stop: Some(stop) };
    let is_text = args.format == LitmusFormat::Text;
    let details = !args.tests.is_empty();
    if is_text && !details {
        terminal.out(&report::heading())?;
    }
    let bar = counting("variants");
    let mut exit = Exit::Success;
    let mut reports: Vec<TestReport> = Vec::new();
    for test in tests {
        tell(&bar, &test.name);
        let ended = campaign.run(test, &mut |number, all| {
            bar.set_length(all as u64);
            bar.set_position(number as u64);
        });
        let done = match ended {
            Ok(done) => done,
            Err(error) => {
                bar.suspend(|| terminal.diagnostics(&[*error]));
                exit = Exit::Fault;
                break;
            }
        };
        let complaints: Vec<Diagnostic> =
            report::complaints(&done).into_iter().map(Diagnostic::error).collect();
        bar.suspend(|| {
            terminal.diagnostics(&complaints);
            match (is_text, details) {
                (true, true) => terminal.out(&report::details(&done)),
                (true, false) => terminal.out(&report::row(&done)),
                (false, _) => Ok(Exit::Success),
            }
        })?;
        if !complaints.is_empty() {
            exit = Exit::WrongResult;
        }
        reports.push(done);
    }
    bar.finish_and_clear();
    match args.format {
        // A test that did not end leaves it open.
        LitmusFormat::Text if exit == Exit::Fault => {}
        LitmusFormat::Text => drop(terminal.out(&report::verdict(&config.name, &reports))?),
        LitmusFormat::Json => drop(terminal.out(&report::json(&campaign, &reports))?),
        LitmusFormat::Markdown => drop(terminal.out(&report::markdown(&reports))?),
    }
    Ok(exit)
}

/// The tests with these names, or all.
fn tests(words: &[String]) -> Result<Vec<Test>, Vec<Diagnostic>> {
    if words.is_empty() {
        return SUITE.iter().map(|b| of_text(b.text, b.name)).collect();
    }
    words.iter().map(|word| test(word)).collect()
}

fn test(word: &str) -> Result<Test, Vec<Diagnostic>> {
    let path = Path::new(word);
    if path.exists() && !path.is_dir() {
        return match read::text(path, SCRIPT_BYTES) {
            Ok(text) => of_text(&text, word),
            Err(error) => Err(vec![Diagnostic::error(format!("cannot read `{word}`: {error}"))]),
        };
    }
    if let Some(found) = builtin(word) {
        return of_text(found.text, found.name);
    }
    let names: Vec<String> = SUITE.iter().map(|b| b.name.to_lowercase()).collect();
    let hint = did_you_mean(word, names.iter().map(String::as_str))
        .unwrap_or_else(|| format!("the tests are {}", names.join(", ")));
    Err(vec![Diagnostic::error(format!("`{word}` is no litmus test and no file")).hint(hint)])
}

fn of_text(text: &str, file: &str) -> Result<Test, Vec<Diagnostic>> {
    litmus::parse(text, file).map_err(|wrong| vec![*wrong])
}
