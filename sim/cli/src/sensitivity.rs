//! `wave-sim sensitivity`: every parameter of the machine halved and doubled, ranked by what that does to a kernel.

use super::args::{Format, SensitivityArgs};
use super::execute::run_options;
use super::inputs;
use super::machine::machine;
use super::progress::Progress;
use super::session::launch_flags;
use super::terminal::Terminal;
use super::{Ended, Exit, interrupt, plain, work};
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::{Config, leaves};
use wave_observe::energy::Prices;
use wave_study::results::Measured;
use wave_study::sensitivity::{Change, Sensitivity, changes, report};
use wave_study::summary::{Outcome, Run, Session};

/// Runs the kernel on all these machines.
///
/// # Errors
/// Whatever is wrong with the input, or with the kernel on the machine as it is.
pub(crate) fn run(args: &SensitivityArgs, terminal: &Terminal) -> Ended {
    interrupt::stop();
    let input = inputs::input(&args.input).map_err(|error| vec![error])?;
    if let Some(wrong) = launch_flags(&args.launch, std::slice::from_ref(&input), false) {
        return Err(vec![wrong]);
    }
    let config = machine(args.config.as_deref(), &args.set, &args.machine, terminal)?;
    for part in &args.within {
        if !leaves(&config).iter().any(|leaf| leaf.path.starts_with(part.as_str())) {
            let hint = "`wave-sim config show` lists the parameters: core.l1 or dram, for instance";
            let message = format!("--within: no parameter begins with `{part}`");
            return Err(vec![Diagnostic::error(message).hint(hint)]);
        }
    }
    let all = changes(&config, &args.within).into_iter().flatten().flatten();
    let runs = 1 + all.filter(|change| change.machine.is_ok()).count();
    let mut progress = Progress::of("runs", runs);
    let mut one = |config: &Config, change: Option<&Change>| -> Result<Measured, Stop> {
        let name = input.name();
        progress.start_run(&change.map_or_else(|| name.clone(), Change::setting));
        let run = match work::work(&input, &args.launch, args.machine.data(), config) {
            Err(wrong) => Run::new(&name, Outcome::Refused(wrong)),
            Ok(work) => match work.lack(config) {
                Some(lack) => Run::new(&name, Outcome::Refused(vec![Diagnostic::error(lack)])),
                None => plain::run(work, config, &run_options(&args.machine), None, &mut progress),
            },
        };
        progress.end_run();
        if interrupt::is_asked() || change.is_none() && !matches!(run.outcome, Outcome::Ended(_)) {
            return Err(Stop(Box::new(run.outcome)));
        }
        Ok(Measured::of(
            &Session { config, untimed: false, prices: Some(Prices::built_in()), runs: Vec::new() },
            &run,
        ))
    };
    let found = Sensitivity::measure(&config, &args.within, &mut one);
    progress.finish();
    match found {
        Ok(found) => terminal.out(&match args.format {
            Format::Text => report::text(&found),
            Format::Json => report::json(&found),
        }),
        Err(Stop(outcome)) => match *outcome {
            Outcome::Refused(wrong) => Err(wrong),
            Outcome::Fault(why) | Outcome::Stopped(why) => {
                terminal.diagnostics(&[why]);
                Ok(Exit::Fault)
            }
            Outcome::Ended(_) | Outcome::Skipped(_) => {
                terminal.diagnostics(&[Diagnostic::error("interrupted: there is no result")]);
                Ok(Exit::Fault)
            }
        },
    }
}

/// Why no more runs are wanted.
struct Stop(Box<Outcome>);
