//! `wave-sim sensitivity`: every parameter of the machine halved and doubled, ranked by what that does to a kernel.

use super::args::{Format, LaunchArgs, MachineArgs, SensitivityArgs};
use super::execute::run_options;
use super::host_memory::Copies;
use super::inputs::{self, Input};
use super::machine::machine_to_run;
use super::progress::Progress;
use super::session::launch_flags;
use super::terminal::Terminal;
use super::{Ended, Exit, interrupt, plain, work};
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::{Config, leaves};
use wave_study::results::Measured;
use wave_study::sensitivity::{Change, Sensitivity, changes, report};
use wave_study::summary::{Outcome, Run};

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
    let config =
        machine_to_run(args.config.as_deref(), &args.set, &args.machine.bounds, Copies::default(), terminal)?;
    for part in &args.within {
        if !leaves(&config).iter().any(|leaf| leaf.path.starts_with(part.as_str())) {
            let hint = "`wave-sim config show` lists the parameters: core.l1 or dram, for instance";
            let message = format!("--within: no parameter begins with `{part}`");
            return Err(vec![Diagnostic::error(message).hint(hint)]);
        }
    }
    let mut progress = Progress::of("runs", runs(&config, &args.within));
    let found = measure(&input, (&args.launch, &args.machine), &config, &args.within, &mut progress);
    progress.finish();
    match found {
        Ok(found) => terminal.out(&match args.format {
            Format::Text => report::text(&found),
            Format::Json => found.document(),
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

/// The number of runs that this takes.
pub(crate) fn runs(config: &Config, within: &[String]) -> usize {
    let all = changes(config, within).into_iter().flatten().flatten();
    1 + all.filter(|change| change.machine.is_ok()).count()
}

/// Runs a kernel on a machine, and on each machine of which one parameter is halved or doubled.
///
/// # Errors
/// The run on the machine as it is did not end, or the user wants no more.
pub(crate) fn measure(
    input: &Input,
    (launch, options): (&LaunchArgs, &MachineArgs),
    config: &Config,
    within: &[String],
    progress: &mut Progress,
) -> Result<Sensitivity, Stop> {
    let name = input.name();
    Sensitivity::measure(config, within, |config: &Config, change: Option<&Change>| {
        progress.start_run(&change.map_or_else(|| name.clone(), Change::setting));
        let run = match work::work(input, launch, options.data(), config) {
            Err(wrong) => Run::new(&name, Outcome::Refused(wrong)),
            Ok(work) => match work.lack(config) {
                Some(lack) => Run::new(&name, Outcome::Refused(vec![Diagnostic::error(lack)])),
                None => plain::run(work, config, &run_options(&options.bounds), None, progress),
            },
        };
        progress.end_run();
        if interrupt::is_asked() || change.is_none() && !matches!(run.outcome, Outcome::Ended(_)) {
            return Err(Stop(Box::new(run.outcome)));
        }
        Ok(Measured::of(config, &run))
    })
}

/// Why no more runs are wanted.
pub(crate) struct Stop(pub(crate) Box<Outcome>);
