//! Campaigns of thousands of random programs, several at a time. The report does not depend on how many. The programs come
//! from seeds, from a corpus, or follow what those before have met in the RTL.

use super::super::progress;
use super::super::terminal::Terminal;
use super::super::{Ended, Exit, interrupt};
use super::{Bench, Seen, bundle, corpus, exit_of};
use indicatif::ProgressBar;
use std::collections::BTreeMap;
use std::mem::discriminant;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::disassemble;
use wave_verify::generate::{Case, shrink};
use wave_verify::rtl::{Agreement, Beginning, Cosim, Disagreement, Events, Guide, Trial};

/// Programs of a campaign that have a line each; of more there is the sum only, and what it has come to now and then.
const LISTED: u64 = 20;
const REPORTED: u64 = 500;
/// Longest time for which a failing program is shrunk.
const SHRINKING: Duration = Duration::from_secs(120);
/// Longest silence of the other side while shrinking.
const SHRINKING_PATIENCE: Duration = Duration::from_secs(5);

type Outcome = Result<Result<Agreement, Disagreement>, Vec<Diagnostic>>;

/// Where the programs come from.
#[derive(Debug, Clone, Copy)]
enum From {
    /// Their seeds, from this one on.
    Seeds(u64),
    /// What those before have met.
    Guide,
    /// The corpus.
    Corpus,
}

/// Result of a campaign.
#[derive(Debug)]
struct Sum {
    from: From,
    programs: u64,
    faults: u64,
    cycles: u64,
    instructions: u64,
    records: u64,
}

impl Sum {
    fn new(from: From) -> Sum {
        Sum { from, programs: 0, faults: 0, cycles: 0, instructions: 0, records: 0 }
    }

    fn add(&mut self, agreement: &Agreement) {
        self.programs += 1;
        self.faults += u64::from(agreement.fault);
        self.cycles += agreement.cycles;
        self.instructions += agreement.instructions;
        self.records += agreement.records;
    }

    fn text(&self) -> String {
        let Sum { faults, instructions, records, .. } = self;
        format!(
            "{}; {instructions} wave instructions, {records} records; {faults} programs up to the fault in both\n",
            self.so_far()
        )
    }

    fn so_far(&self) -> String {
        let Sum { programs, cycles, .. } = self;
        let what = match self.from {
            From::Seeds(first) => {
                let last = first + programs.saturating_sub(1);
                format!("{programs} random programs, {first} to {last}")
            }
            From::Guide => format!("{programs} guided programs"),
            From::Corpus => format!("{programs} programs of the corpus"),
        };
        format!("{what}: no difference in {cycles} cycles")
    }
}

/// A campaign under way.
struct Campaign<'a> {
    bench: &'a Bench<'a>,
    seen: &'a mut Seen,
    terminal: &'a Terminal,
    bar: ProgressBar,
    sum: Sum,
    /// Programs in all.
    programs: u64,
}

/// Runs the random programs that the arguments ask for, or those of a corpus, up to the first that differs.
pub(super) fn run(bench: &Bench<'_>, corpus: Vec<Trial>, seen: &mut Seen, terminal: &Terminal) -> Ended {
    let args = bench.args;
    let (from, programs) = match (args.guided, args.random) {
        (true, programs) => (From::Guide, programs.max(corpus.len() as u64)),
        (false, 0) => (From::Corpus, corpus.len() as u64),
        (false, programs) => (From::Seeds(args.seed), programs),
    };
    let bar = progress::counting("random programs");
    bar.set_length(programs);
    let mut campaign = Campaign { bench, seen, terminal, bar, sum: Sum::new(from), programs };
    let ended = match from {
        From::Guide => campaign.guided(corpus),
        From::Corpus => {
            campaign.all(0..programs, &|number| corpus[number as usize].clone(), &mut |_, _, _| {})
        }
        From::Seeds(first) => {
            let trial = |seed| Trial::of(bench.config, seed, args.short, args.latency);
            campaign.all(first..first.saturating_add(programs), &trial, &mut |_, _, _| {})
        }
    };
    campaign.bar.finish_and_clear();
    match ended {
        Some(ended) => ended,
        None => terminal.out(&campaign.sum.text()),
    }
}

impl Campaign<'_> {
    /// Programs that follow what those before have met.
    fn guided(&mut self, corpus: Vec<Trial>) -> Option<Ended> {
        let mut guide = Guide::new(self.bench.config, self.bench.args.seed, corpus);
        let mut stopped = None;
        while self.sum.programs < self.programs && stopped.is_none() {
            let mut generation = guide.generation();
            generation.truncate((self.programs - self.sum.programs) as usize);
            let first = self.sum.programs;
            let trial = |number: u64| generation[(number - first) as usize].clone();
            stopped =
                self.all(first..first + generation.len() as u64, &trial, &mut |trial, events, cycles| {
                    guide.learn(trial, events, cycles);
                });
        }
        if stopped.as_ref().is_some_and(|ended| ended.is_err()) {
            return stopped;
        }
        let (minimal, of_these) = guide.minimal(self.bench.args.keep.map_or(usize::MAX, usize::from));
        let met = format!(
            "{} of them meet {of_these} of the {} bins that all have met\n",
            minimal.len(),
            guide.bins()
        );
        let kept = match &self.bench.args.corpus {
            Some(folder) => corpus::write(folder, minimal).map_err(|error| vec![error]),
            None => Ok(()),
        };
        match (stopped, kept) {
            (_, Err(error)) => Some(Err(error)),
            (Some(stopped), Ok(())) => Some(stopped),
            (None, Ok(())) => Some(self.terminal.out(&self.sum.text()).and_then(|_| self.terminal.out(&met))),
        }
    }

    /// Runs programs by their numbers, several at a time. Tells of each that agrees, in their order. The first that does not
    /// ends it: how.
    fn all(
        &mut self,
        numbers: Range<u64>,
        trial: &(dyn Fn(u64) -> Trial + Sync),
        agrees: &mut dyn FnMut(&Trial, &Events, u64),
    ) -> Option<Ended> {
        let bench = self.bench;
        let jobs =
            bench.args.jobs.or_else(|| std::thread::available_parallelism().ok()).map_or(1, usize::from);
        let (next, stop) = (AtomicU64::new(numbers.start), AtomicBool::new(false));
        let mut failed = None;
        std::thread::scope(|scope| {
            let (sender, outcomes) = channel();
            for _ in 0..jobs {
                let (sender, next, stop, numbers) = (sender.clone(), &next, &stop, numbers.clone());
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if !numbers.contains(&number) {
                            break;
                        }
                        let mut seen = Seen::new(bench.args, bench.config);
                        let trial = trial(number);
                        let outcome = one(bench, &trial, &mut seen);
                        if sender.send((number, trial, outcome, seen)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            // In the order of the numbers, so that the first difference is always the same.
            let (mut early, mut now) = (BTreeMap::new(), numbers.start);
            for (number, trial, outcome, counted) in outcomes {
                early.insert(number, (trial, outcome, counted));
                while failed.is_none()
                    && let Some((trial, outcome, counted)) = early.remove(&now)
                {
                    match outcome {
                        Ok(Ok(agreement)) => {
                            self.agreement(now, &agreement);
                            if let Some(events) = &counted.events {
                                agrees(&trial, events, agreement.cycles);
                            }
                            self.seen.add(&counted);
                        }
                        other => {
                            stop.store(true, Ordering::Relaxed);
                            failed = Some((now, trial, other));
                        }
                    }
                    now += 1;
                }
                if failed.is_some() {
                    break;
                }
            }
        });
        let (number, trial, outcome) = failed?;
        self.bar.finish_and_clear();
        let (terminal, sum) = (self.terminal, &self.sum);
        Some(match outcome {
            Err(diagnostics) => Err(diagnostics),
            Ok(Ok(_)) => Ok(Exit::Success),
            Ok(Err(Disagreement::Interrupted)) => {
                let so_far = if sum.programs > 0 { sum.text() } else { String::new() };
                let what = format!("{so_far}interrupted in {}\n", self.title(number));
                terminal.out(&what).map(|_| Exit::Fault)
            }
            Ok(Err(difference)) => differs(bench, &self.title(number), &trial, &difference, terminal),
        })
    }

    /// What a program is called.
    fn title(&self, number: u64) -> String {
        match self.sum.from {
            From::Seeds(_) => format!("random program {number}"),
            From::Guide => format!("guided program {number}"),
            From::Corpus => format!("program {number} of the corpus"),
        }
    }

    fn agreement(&mut self, number: u64, agreement: &Agreement) {
        self.bar.inc(1);
        self.sum.add(agreement);
        if self.sum.programs.is_multiple_of(REPORTED) && self.sum.programs < self.programs {
            _ = self.bar.suspend(|| self.terminal.out(&format!("{}\n", self.sum.so_far())));
        }
        if self.programs <= LISTED {
            let Agreement { cycles, instructions, records, fault } = agreement;
            let end = if *fault { ", up to the fault in both" } else { "" };
            let title = self.title(number);
            _ = self.bar.suspend(|| {
                self.terminal.out(&format!(
                    "{title}: agrees{end}; {cycles} cycles, {instructions} wave instructions, {records} records\n"
                ))
            });
        }
    }
}

fn one(bench: &Bench<'_>, trial: &Trial, seen: &mut Seen) -> Outcome {
    let Case { program, launch, memory } = trial.tree.case();
    let (script, beginning) = (trial.script(), trial.beginning());
    bench.compare(&bench.cosim(&program, &launch, &memory, &script, &beginning), seen)
}

/// Shrinks a program that differs, and reports on it.
fn differs(
    bench: &Bench<'_>,
    title: &str,
    trial: &Trial,
    difference: &Disagreement,
    terminal: &Terminal,
) -> Ended {
    terminal.out(&format!("{title}: {difference}\n"))?;
    let exit = exit_of(difference);
    if exit != Exit::WrongResult {
        return Ok(exit);
    }
    let original = trial.tree.case();
    let since = Instant::now();
    let script = trial.script();
    let run = |case: &Case, beginning: &Beginning| {
        let cosim = bench.cosim(&case.program, &case.launch, &case.memory, &script, beginning);
        let cosim = Cosim { patience: cosim.patience.min(SHRINKING_PATIENCE), ..cosim };
        bench.compare(&cosim, &mut Seen::nothing())
    };
    let still = |case: &Case, beginning: &Beginning| {
        since.elapsed() < SHRINKING
            && !interrupt::is_asked()
            && matches!(run(case, beginning), Ok(Err(other)) if discriminant(&other) == discriminant(difference))
    };
    // The launches before it seldom matter.
    let mut beginning = trial.beginning();
    let alone = Beginning { earlier: Vec::new(), ..beginning.clone() };
    if !beginning.earlier.is_empty() && still(&original, &alone) {
        beginning = alone;
    }
    let small = shrink(&trial.tree, &mut |case| still(case, &beginning));
    let case = small.case();
    let Ok(Err(again)) = run(&case, &beginning) else {
        return terminal.out("it does not differ again: the other side is not the same in every run, or is too slow for its patience\n").map(|_| exit);
    };
    let behind = match beginning.earlier.len() {
        0 => String::new(),
        count => format!(", behind {count} other launches on the core"),
    };
    terminal.out(&format!(
        "shrunk to {} words, grid {:?}, workgroup {:?}{behind}:\n{}{again}\n",
        case.program.code.len(),
        case.launch.grid,
        case.launch.workgroup,
        disassemble(&case.program)
    ))?;
    if !bench.args.no_bundle {
        let cosim = bench.cosim(&case.program, &case.launch, &case.memory, &script, &beginning);
        let cosim = bench.bounded(&cosim);
        let seed = title.strip_prefix("random program ").and_then(|seed| seed.parse().ok());
        let failure = bundle::Failure { title, seed, original: Some(&original.program) };
        terminal.out(&bundle::write(bench, &failure, &cosim, &again)?)?;
    }
    Ok(exit)
}
