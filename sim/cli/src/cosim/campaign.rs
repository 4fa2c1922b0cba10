//! Campaigns of thousands of random programs, several at a time. The report does not depend on how many.

use super::super::progress;
use super::super::terminal::Terminal;
use super::super::{Ended, Exit, interrupt};
use super::{Bench, Seen, bundle, exit_of};
use std::collections::BTreeMap;
use std::mem::discriminant;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::disassemble;
use wave_verify::generate::{Case, shrink};
use wave_verify::rtl::{Agreement, Cosim, Disagreement, Trial};

/// Programs of a campaign that have a line each; of more there is the sum only, and what it has come to now and then.
const LISTED: u64 = 20;
const REPORTED: u64 = 500;
/// Longest time for which a failing program is shrunk.
const SHRINKING: Duration = Duration::from_secs(120);
/// Longest silence of the other side while shrinking.
const SHRINKING_PATIENCE: Duration = Duration::from_secs(5);

type Outcome = Result<Result<Agreement, Disagreement>, Vec<Diagnostic>>;

/// Result of a campaign.
#[derive(Debug, Default)]
struct Sum {
    programs: u64,
    faults: u64,
    cycles: u64,
    instructions: u64,
    records: u64,
}

impl Sum {
    fn add(&mut self, agreement: &Agreement) {
        self.programs += 1;
        self.faults += u64::from(agreement.fault);
        self.cycles += agreement.cycles;
        self.instructions += agreement.instructions;
        self.records += agreement.records;
    }

    fn text(&self, first: u64) -> String {
        let Sum { faults, instructions, records, .. } = self;
        format!(
            "{}; {instructions} wave instructions, {records} records; {faults} programs up to the fault in both\n",
            self.so_far(first)
        )
    }

    fn so_far(&self, first: u64) -> String {
        let Sum { programs, cycles, .. } = self;
        let last = first + programs.saturating_sub(1);
        format!("{programs} random programs, {first} to {last}: no difference in {cycles} cycles")
    }
}

/// Runs the random programs that the arguments ask for, up to the first that differs.
pub(super) fn run(bench: &Bench<'_>, seen: &mut Seen, terminal: &Terminal) -> Ended {
    let args = bench.args;
    let seeds = args.seed..args.seed.saturating_add(args.random);
    let jobs = args.jobs.or_else(|| std::thread::available_parallelism().ok()).map_or(1, usize::from);
    let (next, stop) = (AtomicU64::new(seeds.start), AtomicBool::new(false));
    let bar = progress::counting("random programs");
    bar.set_length(args.random);
    let mut sum = Sum::default();
    let mut failed = None;
    std::thread::scope(|scope| {
        let (sender, outcomes) = channel();
        for _ in 0..jobs {
            let (sender, next, stop, seeds) = (sender.clone(), &next, &stop, seeds.clone());
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if !seeds.contains(&seed) {
                        break;
                    }
                    let mut seen = Seen::new(bench.args, bench.config);
                    let outcome = one(bench, seed, &mut seen);
                    if sender.send((seed, outcome, seen)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        // In the order of the seeds, so that the first difference is always the same.
        let (mut early, mut now) = (BTreeMap::new(), seeds.start);
        for (seed, outcome, counted) in outcomes {
            early.insert(seed, (outcome, counted));
            while let Some((outcome, counted)) = early.remove(&now) {
                bar.inc(1);
                match outcome {
                    Ok(Ok(agreement)) => {
                        sum.add(&agreement);
                        seen.add(&counted);
                        if sum.programs.is_multiple_of(REPORTED) && sum.programs < args.random {
                            _ = bar.suspend(|| terminal.out(&format!("{}\n", sum.so_far(seeds.start))));
                        }
                        if args.random <= LISTED {
                            let Agreement { cycles, instructions, records, fault } = agreement;
                            let end = if fault { ", up to the fault in both" } else { "" };
                            _ = bar.suspend(|| {
                                terminal.out(&format!(
                                    "random program {now}: agrees{end}; {cycles} cycles, {instructions} wave \
                                     instructions, {records} records\n"
                                ))
                            });
                        }
                    }
                    other => {
                        stop.store(true, Ordering::Relaxed);
                        failed = failed.take().or(Some((now, other)));
                    }
                }
                now += 1;
            }
            if failed.is_some() {
                break;
            }
        }
    });
    bar.finish_and_clear();
    match failed {
        None => terminal.out(&sum.text(seeds.start)),
        Some((_, Err(diagnostics))) => Err(diagnostics),
        Some((_, Ok(Ok(_)))) => Ok(Exit::Success),
        Some((seed, Ok(Err(Disagreement::Interrupted)))) => {
            if sum.programs > 0 {
                terminal.out(&sum.text(seeds.start))?;
            }
            terminal.out(&format!("interrupted in random program {seed}\n")).map(|_| Exit::Fault)
        }
        Some((seed, Ok(Err(difference)))) => differs(bench, seed, &difference, terminal),
    }
}

fn one(bench: &Bench<'_>, seed: u64, seen: &mut Seen) -> Outcome {
    let trial = Trial::of(bench.config, seed, bench.args.short, bench.args.latency);
    let Case { program, launch, memory } = trial.tree.case();
    bench.compare(&bench.cosim(&program, &launch, &memory, &trial.script), seen)
}

/// Shrinks a program that differs, and reports on it.
fn differs(bench: &Bench<'_>, seed: u64, difference: &Disagreement, terminal: &Terminal) -> Ended {
    terminal.out(&format!("random program {seed}: {difference}\n"))?;
    let exit = exit_of(difference);
    if exit != Exit::WrongResult {
        return Ok(exit);
    }
    let trial = Trial::of(bench.config, seed, bench.args.short, bench.args.latency);
    let original = trial.tree.case();
    let since = Instant::now();
    let run = |case: &Case| {
        let cosim = bench.cosim(&case.program, &case.launch, &case.memory, &trial.script);
        let cosim = Cosim { patience: cosim.patience.min(SHRINKING_PATIENCE), ..cosim };
        bench.compare(&cosim, &mut Seen { coverage: None, lines: None })
    };
    let small = shrink(&trial.tree, &mut |case| {
        since.elapsed() < SHRINKING
            && !interrupt::is_asked()
            && matches!(run(case), Ok(Err(other)) if discriminant(&other) == discriminant(difference))
    });
    let case = small.case();
    let Ok(Err(again)) = run(&case) else {
        return terminal.out("it does not differ again: the other side is not the same in every run, or is too slow for its patience\n").map(|_| exit);
    };
    terminal.out(&format!(
        "shrunk to {} words, grid {:?}, workgroup {:?}:\n{}{again}\n",
        case.program.code.len(),
        case.launch.grid,
        case.launch.workgroup,
        disassemble(&case.program)
    ))?;
    if !bench.args.no_bundle {
        let cosim = bench.cosim(&case.program, &case.launch, &case.memory, &trial.script);
        let cosim = bench.bounded(&cosim);
        let title = format!("random program {seed}");
        let failure = bundle::Failure { title: &title, seed: Some(seed), original: Some(&original.program) };
        terminal.out(&bundle::write(bench, &failure, &cosim, &again)?)?;
    }
    Ok(exit)
}
