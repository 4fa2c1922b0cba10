//! `wave-sim compare`: runs beside one another, the first of them as the baseline.

use super::args::{CompareArgs, CompareFormat};
use super::execute::{exit_of, run_options};
use super::host_memory::Copies;
use super::inputs::{self, Input};
use super::machine::machine_to_run;
use super::progress::Progress;
use super::session::{complain, launch_flags};
use super::terminal::Terminal;
use super::{Ended, Exit, interrupt, plain, silicon, stored, work};
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::Config;
use wave_study::compare::{By, Comparison, Pair, tables, text};
use wave_study::launch;
use wave_study::results::Measured;
use wave_study::summary::{Data, Outcome, Run};

/// Runs what is to be run, reads what is stored, and compares.
///
/// # Errors
/// Whatever is wrong with the input, or if there is nothing to compare.
pub(crate) fn run(args: &CompareArgs, terminal: &Terminal) -> Ended {
    interrupt::stop();
    let baseline = args.baseline.as_deref().map(stored::baseline).transpose().map_err(|error| vec![error])?;
    let (files, words): (Vec<&String>, Vec<&String>) =
        args.inputs.iter().partition(|word| word.ends_with(".json"));
    let mut columns: Vec<(String, Vec<Measured>)> = baseline.into_iter().collect();
    for file in files {
        columns.push(stored::result(file).map_err(|error| vec![error])?);
    }
    let is_only_stored =
        words.is_empty() && !args.inputs.is_empty() && args.config.is_empty() && args.hardware.is_none();
    let mut exit = Exit::Success;
    let comparison = if is_only_stored {
        Comparison::of_machines(columns)
    } else {
        let inputs = inputs(args, &words, &columns)?;
        let machines = machines(args, terminal)?;
        if let Some(word) = &args.hardware {
            // Behind a baseline that is named, before everything that is simulated.
            let place = usize::from(args.baseline.is_some());
            let column = silicon::hardware(word, &inputs, args.machine.data(), &args.launch)?;
            columns.insert(place.min(columns.len()), column);
        }
        let mut progress = Progress::of("runs", machines.len() * inputs.len());
        let is_of_kernels = columns.is_empty() && machines.len() == 1 && inputs.len() > 1;
        let mut kernels = Vec::new();
        for (number, (name, config)) in machines.iter().enumerate() {
            let mut column = Vec::new();
            for input in &inputs {
                if interrupt::is_asked() {
                    break;
                }
                let run = one(input, args, config, (number == 0).then_some(terminal), &mut progress)?;
                progress.aside(|| complain(&run, terminal));
                progress.end_run();
                exit = exit.max(exit_of(&run));
                column.push(Measured::of(config, &run));
            }
            match is_of_kernels {
                true => kernels.extend(inputs.iter().map(Input::word).zip(column)),
                false => columns.push((name.clone(), column)),
            }
        }
        progress.finish();
        if interrupt::is_asked() {
            terminal.diagnostics(&[Diagnostic::warning("interrupted: runs are missing")]);
            exit = exit.max(Exit::Fault);
        }
        if is_of_kernels { Comparison::of_kernels(kernels) } else { Comparison::of_machines(columns) }
    };
    if comparison.columns.len() < 2 {
        let hint =
            "name two kernels, a second --config, settings in --with, a stored result, or --baseline FILE";
        return Err(vec![Diagnostic::error("there is one run, and nothing to compare it with").hint(hint)]);
    }
    terminal.diagnostics(&other_data(&comparison));
    terminal.out(&match args.format {
        CompareFormat::Text => text::text(&comparison, args.full),
        CompareFormat::Json => tables::json(&comparison),
        CompareFormat::Csv => tables::csv(&comparison)
            .map_err(|error| vec![Diagnostic::error(format!("the table cannot be written: {error}"))])?,
    })?;
    match args.fail_above {
        Some(percent) => judge(&comparison, percent, terminal).map(|judged| exit.max(judged)),
        None => Ok(exit),
    }
}

/// Warnings about runs whose data are not those of the baseline.
fn other_data(comparison: &Comparison) -> Vec<Diagnostic> {
    let warning = |(pair, data): (Pair<'_>, [Data; 2])| {
        Diagnostic::warning(format!(
            "`{}` has other data in `{}` than in `{}`: {} and {}",
            pair.run.kernel, pair.column, comparison.columns[0], data[1], data[0]
        ))
    };
    // Kernels that are compared may well differ in their data.
    let by_machine = comparison.by == By::Machine;
    comparison.of_other_data().filter(|_| by_machine).map(warning).collect()
}

/// Says which runs cost more than the baseline by more than so many percent.
fn judge(comparison: &Comparison, percent: f64, terminal: &Terminal) -> Ended {
    if !comparison.pairs().any(|pair| comparison.cost(pair.baseline).is_some()) {
        let hint = format!("the columns are {}", comparison.columns.join(", "));
        let message = "--fail-above: no kernel has ended in the first column and was run in another one";
        return Err(vec![Diagnostic::error(message).hint(hint)]);
    }
    let cost = if comparison.has_clocks() { "time" } else { "cycles" };
    let complaints: Vec<Diagnostic> = comparison
        .above(percent / 100.0)
        .into_iter()
        .map(|(pair, by)| {
            let what = if pair.name.is_empty() { pair.column } else { pair.name };
            let (column, first) = (pair.column, &comparison.columns[0]);
            Diagnostic::error(match by.is_finite() {
                true => format!(
                    "`{what}`: {:.1} % more {cost} in `{column}` than in `{first}`; --fail-above allows {percent} %",
                    100.0 * by
                ),
                false => format!("`{what}` has ended in `{first}` and not in `{column}`"),
            })
        })
        .collect();
    terminal.diagnostics(&complaints);
    Ok(if complaints.is_empty() { Exit::Success } else { Exit::WrongResult })
}

/// The kernels to run.
fn inputs(
    args: &CompareArgs,
    words: &[&String],
    columns: &[(String, Vec<Measured>)],
) -> Result<Vec<Input>, Vec<Diagnostic>> {
    let mut wrong = Vec::new();
    let mut inputs: Vec<Input> =
        words.iter().filter_map(|word| inputs::input(word).map_err(|e| wrong.push(e)).ok()).collect();
    if words.is_empty() {
        // Of the suite what the stored results have, if they are of the suite.
        let known = |name: &str| columns.iter().flat_map(|(_, runs)| runs).any(|run| run.kernel == name);
        let chosen: Vec<&str> = launch::suite().filter(|name| known(name)).collect();
        let names = if chosen.is_empty() { launch::suite().collect() } else { chosen };
        inputs.extend(names.into_iter().map(|name| Input::Launch(name.to_owned())));
    }
    wrong.extend(launch_flags(&args.launch, &inputs, words.is_empty()));
    if wrong.is_empty() { Ok(inputs) } else { Err(wrong) }
}

/// The machines, with the names of their columns.
fn machines(args: &CompareArgs, terminal: &Terminal) -> Result<Vec<(String, Config)>, Vec<Diagnostic>> {
    let mut names: Vec<Option<&str>> = args.config.iter().map(|name| Some(name.as_str())).collect();
    if names.is_empty() {
        names.push(None);
    }
    let mut machines: Vec<(String, Config)> = Vec::new();
    for name in &names {
        let config = machine_to_run(*name, &args.set, &args.machine.bounds, Copies::default(), terminal)?;
        let same = machines.iter().any(|(other, _)| *other == config.name);
        let label = name.filter(|_| same).unwrap_or(&config.name).to_owned();
        machines.push((label.clone(), config.clone()));
        for with in &args.with {
            let words: Vec<String> = with.split_whitespace().map(str::to_owned).collect();
            if words.is_empty() {
                let error = Diagnostic::error("--with: there is no setting");
                return Err(vec![error.hint("such as --with \"core.l1.bytes=64KiB core.l1.ways=8\"")]);
            }
            let changed = config.with(&words)?;
            let label = if names.len() == 1 { with.clone() } else { format!("{label} {with}") };
            machines.push((label, changed));
        }
    }
    Ok(machines)
}

/// Runs a kernel on a machine. Warnings about it go to `terminal`.
fn one(
    input: &Input,
    args: &CompareArgs,
    config: &Config,
    terminal: Option<&Terminal>,
    progress: &mut Progress,
) -> Result<Run, Vec<Diagnostic>> {
    let name = input.name();
    progress.start_run(&format!("{name} on {}", config.name));
    let work = work::work(input, &args.launch, args.machine.data(), config)?;
    if let Some(lack) = work.lack(config) {
        return Ok(Run::new(&name, Outcome::Skipped(lack)));
    }
    if let Some(terminal) = terminal {
        progress.aside(|| terminal.diagnostics(&work.warnings));
    }
    Ok(plain::run(work, config, &run_options(&args.machine.bounds), None, progress))
}
