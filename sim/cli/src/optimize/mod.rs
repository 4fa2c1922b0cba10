//! `wave-sim optimize`: the machine that is best at something, among more machines than can be tried.
//!
//! A search names points, a few at a time, and is told what each is worth. How many are named at a time does not depend on the
//! host, so the same command finds the same points. Results are kept in the store of [sweeps](super::sweep).

mod args;
mod bench;
mod search;

use super::args::Format;
use super::progress;
use super::sweep::cases::{Sweep, Workload};
use super::terminal::Terminal;
use super::{Ended, Exit, interrupt};
pub(crate) use args::OptimizeArgs;
use bench::{Bench, Outcome};
use clap::ValueEnum;
use indicatif::ProgressBar;
use search::{Optuna, Search};
use std::collections::HashSet;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::leaves;
use wave_study::optimize::report::{self, Optimized};
use wave_study::optimize::{Evolution, Goal, Limit, Quantity, RandomSearch, Searched};
use wave_study::results::Machine;
use wave_study::sweep::Store;

/// Points that a search names at a time.
const AT_A_TIME: usize = 4;
/// Duplicate and invalid proposals allowed for each point that runs.
const PATIENCE: usize = 50;

/// How points are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// Changes of the best points so far.
    Evolve,
    /// The tree-structured Parzen estimator; needs Python and its package `optuna`.
    Tpe,
    /// Chance.
    Random,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Method::Evolve => "evolve",
            Method::Tpe => "tpe",
            Method::Random => "random",
        }
    }
}

/// Searches, and says what was found.
///
/// # Errors
/// Whatever is wrong with the input, and with what the search needs.
pub(crate) fn run(args: &OptimizeArgs, terminal: &Terminal) -> Ended {
    interrupt::stop();
    let one = |error: Diagnostic| vec![error];
    let objective =
        Quantity::named(&args.minimize).map_err(|why| one(Diagnostic::error(format!("--minimize {why}"))))?;
    let limits = args.at_most.iter().map(|text| Limit::parse(text)).collect::<Result<_, _>>().map_err(one)?;
    let goal = Goal { objective, limits };
    let mut draft = args.plan.draft()?;
    draft.sampling = None;
    let sweep = Sweep::read(&args.plan, draft)?;
    terminal.diagnostics(&sweep.warnings);
    if sweep.plan.axes.is_empty() {
        let hint = "such as --set core.l1.bytes=8KiB..256KiB*2 --set core.l1.mshrs=8..64*2";
        return Err(one(Diagnostic::error("no parameter is free: none has several values").hint(hint)));
    }
    let store = Store::open(&args.plan.store).map_err(one)?;
    terminal.diagnostics(&Vec::from_iter(store.warning()));
    let mut bench = Bench::new(sweep, &args.plan, &goal, store);
    terminal.diagnostics(&bench.check()?);
    let combinations = bench.sweep.plan.combinations();
    let points = combinations.min(args.points as u64) as usize;
    let mut methods = vec![args.method];
    if args.against_random && args.method != Method::Random {
        methods.push(Method::Random);
    }
    let seeds = args.seed..args.seed + u64::from(args.repeat);
    let all = methods.len() * seeds.clone().count() * points;
    let bar = progress::counting_down("points", all as u64);
    let mut searches = Vec::new();
    let base = bench.base(&bar).map_err(one)?;
    for method in methods {
        for seed in seeds.clone() {
            match search(&mut bench, method, seed, points, &bar) {
                Ok(searched) => searches.push(searched),
                Err(_) if interrupt::is_asked() => break,
                Err(error) => {
                    bar.finish_and_clear();
                    return Err(one(error));
                }
            }
        }
    }
    bar.finish_and_clear();
    if interrupt::is_asked() {
        let store = args.plan.store.display();
        let message =
            format!("interrupted; what is done is in `{store}`, and the same command goes on from there");
        terminal.diagnostics(&[Diagnostic::warning(message)]);
        return Ok(Exit::Fault);
    }
    let sweep = &bench.sweep;
    let found = Optimized {
        goal: &goal,
        axes: sweep.plan.axes.iter().map(|axis| axis.key.as_str()).collect(),
        combinations,
        machine: Machine::of(&sweep.base),
        kernels: sweep.workloads.iter().map(Workload::name).collect(),
        base,
        searches,
    };
    terminal.out(&match args.format {
        Format::Text => report::text(&found),
        Format::Json => report::json(&found),
    })?;
    let is_found = found.searches.iter().any(|searched| searched.best().is_some());
    Ok(if is_found { Exit::Success } else { Exit::WrongInput })
}

/// Searches until so many points have run, or no more are found.
fn search(
    bench: &mut Bench<'_>,
    method: Method,
    seed: u64,
    points: usize,
    bar: &ProgressBar,
) -> Result<Searched, Diagnostic> {
    let axes = &bench.sweep.plan.axes;
    let mut search = match method {
        Method::Random => Search::Random(RandomSearch::new(axes, seed), 0),
        Method::Evolve => {
            Search::Evolve(Box::new(Evolution::new(axes, seed, points, on_the_axes(bench))), Vec::new())
        }
        Method::Tpe => {
            let first = on_the_axes(bench);
            Search::Tpe(Box::new(Optuna::start(axes, seed, points, first)?))
        }
    };
    let mut searched = Searched { method: method.name(), seed, passed_over: 0, tried: Vec::new() };
    let mut seen = HashSet::new();
    let mut named = 0;
    while searched.tried.len() < points && named < PATIENCE * points {
        let wanted = AT_A_TIME.min(points - searched.tried.len());
        let asked = search.ask(wanted)?;
        named += asked.len();
        let indices: Vec<Vec<u64>> = asked.iter().map(|(_, indices)| indices.clone()).collect();
        let outcomes = bench.points(&indices, bar)?;
        for ((number, indices), outcome) in asked.into_iter().zip(outcomes) {
            let is_new = seen.insert(indices);
            match outcome {
                Outcome::Ran(tried) => {
                    search.tell(number, Some(tried.score));
                    if is_new {
                        bar.inc(1);
                        searched.tried.push(tried);
                    }
                }
                Outcome::PassedOver(score) => {
                    search.tell(number, score);
                    searched.passed_over += u64::from(is_new);
                }
            }
        }
    }
    Ok(searched)
}

/// The machine as it is, if its values lie on the axes.
fn on_the_axes(bench: &Bench<'_>) -> Option<Vec<u64>> {
    let values = leaves(&bench.sweep.base);
    let index = |axis: &wave_study::sweep::Axis| {
        let value = &values.iter().find(|leaf| leaf.path == axis.key)?.value;
        (0..axis.len().min(MOST_LOOKED_AT)).find(|&index| axis.value(index) == *value)
    };
    bench.sweep.plan.axes.iter().map(index).collect()
}

/// Values of an axis among which that of the machine is looked for.
const MOST_LOOKED_AT: u64 = 4096;
