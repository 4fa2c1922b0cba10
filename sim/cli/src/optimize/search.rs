//! Names the next points: evolution, chance, or Optuna through a program in Python that is part of this one.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use wave_isa::diagnostic::Diagnostic;
use wave_study::optimize::{Evolution, RandomSearch, Score};
use wave_study::sweep::Axis;

const PROGRAM: &str = include_str!("optuna.py");
/// Points that the estimator takes at random before it has anything to estimate from.
const STARTUP: usize = 10;
/// Excess of a point that is no machine.
const NO_MACHINE: f64 = 1e6;

/// A point that is named: its number in the search, and the number of a value on each axis.
pub(super) type Named = (u64, Vec<u64>);

/// A search under way.
pub(super) enum Search {
    /// Changes of the best points; and all points that it has named.
    Evolve(Box<Evolution>, Vec<Vec<u64>>),
    /// Chance.
    Random(RandomSearch, u64),
    /// The tree-structured Parzen estimator of Optuna.
    Tpe(Box<Optuna>),
}

impl Search {
    /// The next points.
    ///
    /// # Errors
    /// Python or Optuna does not answer.
    pub(super) fn ask(&mut self, count: usize) -> Result<Vec<Named>, Diagnostic> {
        match self {
            Search::Evolve(search, named) => Ok((0..count)
                .map(|_| {
                    let point = search.next_point();
                    named.push(point.clone());
                    (named.len() as u64 - 1, point)
                })
                .collect()),
            Search::Random(search, named) => Ok((0..count)
                .map(|_| {
                    *named += 1;
                    (*named, search.next_point())
                })
                .collect()),
            Search::Tpe(optuna) => optuna.ask(count),
        }
    }

    /// Says what a point is worth; nothing if it is no machine, or excluded.
    pub(super) fn tell(&mut self, number: u64, score: Option<Score>) {
        match self {
            Search::Evolve(search, named) => search.tell(&named[number as usize], score),
            Search::Random(..) => {}
            Search::Tpe(optuna) => {
                let (value, excess) = score.map_or((None, NO_MACHINE), |score| (score.value, score.excess));
                optuna.told.push((number, value, excess.clamp(-1.0, NO_MACHINE)));
            }
        }
    }
}

/// The program in Python.
pub(super) struct Optuna {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// What it is told with the next request.
    told: Vec<(u64, Option<f64>, f64)>,
}

impl Optuna {
    /// Starts it. `first` is the machine as it is, if its values lie on the axes.
    ///
    /// # Errors
    /// There is no Python, or no Optuna.
    pub(super) fn start(
        axes: &[Axis],
        seed: u64,
        points: usize,
        first: Option<Vec<u64>>,
    ) -> Result<Optuna, Diagnostic> {
        let started = Command::new("python3")
            .args(["-c", PROGRAM])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = started.map_err(|error| {
            Diagnostic::error(format!("--method tpe: python3 cannot start: {error}"))
                .hint("it needs Python with the package `optuna`; --method evolve needs nothing")
        })?;
        let input = child.stdin.take();
        let Some(output) = child.stdout.take() else {
            return Err(Diagnostic::error("--method tpe: python3 has no output"));
        };
        let mut optuna = Optuna { child, input, output: BufReader::new(output), told: Vec::new() };
        let axes = axes
            .iter()
            .map(|axis| json!({"key": axis.key, "values": axis.len(), "ordered": axis.is_ordered()}));
        let startup = STARTUP.min(points.div_ceil(3));
        optuna.request(&json!({
            "axes": axes.collect::<Vec<_>>(), "seed": seed, "startup": startup, "first": first
        }))?;
        Ok(optuna)
    }

    fn ask(&mut self, count: usize) -> Result<Vec<Named>, Diagnostic> {
        let told = std::mem::take(&mut self.told);
        let answer = self.request(&json!({"ask": count, "tell": told}))?;
        let points = serde_json::from_value(answer["points"].clone());
        points.map_err(|error| Diagnostic::error(format!("--method tpe: Optuna named no points: {error}")))
    }

    fn request(&mut self, request: &Value) -> Result<Value, Diagnostic> {
        let ended =
            || Diagnostic::error("--method tpe: the program in Python has ended; what it said is above");
        let written =
            self.input.as_mut().map(|input| writeln!(input, "{request}").and_then(|()| input.flush()));
        let mut line = String::new();
        let read = self.output.read_line(&mut line);
        let answer = read.ok().and_then(|_| serde_json::from_str::<Value>(&line).ok());
        let Some(answer) = answer.filter(|_| written.is_some_and(|written| written.is_ok())) else {
            return Err(ended());
        };
        match answer["error"].as_str() {
            Some(message) => {
                let hint = answer["hint"].as_str().map(str::to_owned);
                Err(Diagnostic { hint, ..Diagnostic::error(message) })
            }
            None => Ok(answer),
        }
    }
}

/// The program ends when its input does.
impl Drop for Optuna {
    fn drop(&mut self) {
        drop(self.input.take());
        _ = self.child.wait();
    }
}
