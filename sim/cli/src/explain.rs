//! `wave-sim explain`: what limits a kernel, and which changes of the machine help when they are tried.

use super::args::{ExplainArgs, TableFormat};
use super::execute::run_options;
use super::host_memory::Copies;
use super::inputs::{self, Input};
use super::machine::machine_to_run;
use super::progress::Progress;
use super::sensitivity::{self, Stop};
use super::session::launch_flags;
use super::terminal::Terminal;
use super::{Ended, Exit, interrupt, plain, work};
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::Config;
use wave_observe::figures::Step;
use wave_observe::limits::by_launch::ByLaunch;
use wave_observe::limits::words::flags;
use wave_study::explain::{Bench, Explanation, explain, json, report};
use wave_study::launch;
use wave_study::summary::Outcome;

/// Explains kernels, the suite if none is named.
///
/// # Errors
/// Whatever is wrong with the input, or with a kernel that cannot run.
pub(crate) fn run(args: &ExplainArgs, terminal: &Terminal) -> Ended {
    interrupt::stop();
    let inputs = inputs(args)?;
    let config =
        machine_to_run(args.config.as_deref(), &args.set, &args.machine.bounds, Copies::default(), terminal)?;
    let mut exit = Exit::Success;
    let mut explanations: Vec<Explanation> = Vec::new();
    // A kernel takes as many runs as there are trials, and one that is watched.
    let trials = if args.no_check { 0 } else { args.trials };
    let runs = 1 + trials + if args.sensitivity { sensitivity::runs(&config, &[]) } else { 0 };
    let mut progress = Progress::of("runs", inputs.len() * runs);
    let single = inputs.len() == 1;
    for (n, input) in inputs.iter().enumerate() {
        let name = input.name();
        let mut kernel =
            Runs { input, args, terminal, config: &config, progress: &mut progress, launches: 0 };
        match kernel.explain(&name, trials) {
            Ok(explanation) => explanations.extend(explanation),
            Err(Stop(outcome)) => match *outcome {
                Outcome::Refused(wrong) if single => return Err(wrong),
                Outcome::Refused(wrong) => {
                    progress.aside(|| terminal.diagnostics(&wrong));
                    exit = exit.max(Exit::WrongInput);
                }
                Outcome::Fault(why) | Outcome::Stopped(why) => {
                    progress.aside(|| terminal.diagnostics(&[why]));
                    exit = exit.max(Exit::Fault);
                }
                Outcome::Ended(_) | Outcome::Skipped(_) => {}
            },
        }
        // There may be fewer changes to try.
        progress.runs_done((n + 1) * runs);
        let left = inputs.len() - n - 1;
        if interrupt::is_asked() && left > 0 {
            progress.aside(|| terminal.diagnostics(&[interrupt::left_out(left)]));
            exit = exit.max(Exit::Fault);
            break;
        }
    }
    progress.finish();
    let text = match (args.format, explanations.as_slice()) {
        (TableFormat::Text, [one]) if single => report::text(one, &config),
        (TableFormat::Text, []) if single => String::new(),
        (TableFormat::Text, all) => report::table(all, &config),
        (TableFormat::Json, all) => json::document(all, &config),
        (TableFormat::Markdown, all) => report::markdown(all, &config),
    };
    terminal.out(&text)?;
    Ok(exit)
}

fn inputs(args: &ExplainArgs) -> Result<Vec<Input>, Vec<Diagnostic>> {
    let mut wrong = Vec::new();
    let mut inputs: Vec<Input> =
        args.inputs.iter().filter_map(|word| inputs::input(word).map_err(|e| wrong.push(e)).ok()).collect();
    if args.inputs.is_empty() {
        inputs.extend(launch::suite().map(|name| Input::Launch(name.to_owned())));
    }
    wrong.extend(launch_flags(&args.launch, &inputs, args.inputs.is_empty()));
    if wrong.is_empty() { Ok(inputs) } else { Err(wrong) }
}

/// The runs of one kernel.
struct Runs<'a> {
    input: &'a Input,
    args: &'a ExplainArgs,
    terminal: &'a Terminal,
    config: &'a Config,
    progress: &'a mut Progress,
    /// Launches of the kernel.
    launches: usize,
}

impl Runs<'_> {
    /// Explains it; nothing if the suite has it and the machine cannot run it.
    fn explain(&mut self, name: &str, trials: usize) -> Result<Option<Explanation>, Stop> {
        let refused = |wrong| Stop(Box::new(Outcome::Refused(wrong)));
        let work = work::work(self.input, &self.args.launch, self.args.machine.data(), self.config)
            .map_err(refused)?;
        if let Some(lack) = work.lack(self.config) {
            if self.args.inputs.is_empty() {
                return Ok(None);
            }
            return Err(refused(vec![Diagnostic::error(format!("`{name}` cannot run: {lack}"))]));
        }
        self.progress.aside(|| self.terminal.diagnostics(&work.warnings));
        self.launches = work.steps.len();
        self.progress.start_run(name);
        let mut explanation = explain(name, self.config, &work.program, trials, self)?;
        if self.args.sensitivity {
            let flags = (&self.args.launch, &self.args.machine);
            let found = sensitivity::measure(self.input, flags, self.config, &[], self.progress)?;
            explanation.sensitivity = Some(found);
        }
        Ok(Some(explanation))
    }

    /// Runs every launch on a machine.
    fn launch(&mut self, config: &Config, watch: Option<&mut ByLaunch<'_>>) -> Result<Vec<Step>, Stop> {
        let work = work::work(self.input, &self.args.launch, self.args.machine.data(), config)
            .map_err(|wrong| Stop(Box::new(Outcome::Refused(wrong))))?;
        let options = run_options(&self.args.machine.bounds);
        let run = plain::run(work, config, &options, watch, self.progress);
        match run.outcome {
            Outcome::Ended(_) => Ok(run.steps),
            outcome => Err(Stop(Box::new(outcome))),
        }
    }
}

impl Bench for Runs<'_> {
    type Error = Stop;

    fn launches(&self) -> usize {
        self.launches
    }

    fn run(&mut self, watch: &mut ByLaunch<'_>) -> Result<Vec<Step>, Stop> {
        let steps = self.launch(self.config, Some(watch));
        self.progress.end_run();
        steps
    }

    fn trial(&mut self, config: &Config, settings: &[String]) -> Result<Option<Vec<Step>>, Stop> {
        self.progress.start_run(&format!("{} {}", self.input.name(), flags(settings)));
        let steps = self.launch(config, None);
        self.progress.end_run();
        match steps {
            Err(stop) if interrupt::is_asked() => Err(stop),
            steps => Ok(steps.ok()),
        }
    }
}
