//! Proposes parameters of a machine from what was measured on a GPU.
//!
//! What the driver says of a GPU is taken as it is. For every microbenchmark that a parameter decides, the parameter is sought
//! with which the simulator gives what was measured, by running the same kernels on it. Everything else is left as it is.

use crate::bench::simulate;
use crate::document::Document;
use crate::edit::{Change, class_name};
use crate::micro::{self, Micro, Says};
use crate::spread::Spread;
use std::collections::HashMap;
use wave_machine::config::{Config, leaves};
use wave_machine::gpu::RunOptions;

/// Part of a figure below which a difference is none.
const CLOSE: f64 = 0.01;
/// Most values of a parameter that are tried.
const TRIALS: usize = 40;
/// Most rounds over all parameters.
const ROUNDS: usize = 4;
/// Largest value that is tried.
const MOST: u64 = 4096;

/// A figure of a microbenchmark on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What it is.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// On the GPU.
    pub measured: Spread,
    /// On the machine before, or why there is none.
    pub before: Result<f64, String>,
    /// On the machine with what was fitted.
    pub after: Result<f64, String>,
    /// The parameter that it decides, if there is one.
    pub key: Option<String>,
}

/// A parameter that was fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// What changes.
    pub change: Change,
    /// What it was fitted from: a fact of the driver, or the name of a microbenchmark.
    pub from: String,
    /// Measured value, and the simulator's before and after; `None` for a fact.
    pub values: Option<[f64; 3]>,
}

/// What a fit proposes.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The machine with the fitted parameters.
    pub config: Config,
    /// The parameters that change, in the order in which they were fitted.
    pub fitted: Vec<Fitted>,
    /// Parameters that a microbenchmark decides and that are right already.
    pub kept: Vec<(String, String)>,
    /// What cannot be taken, and why.
    pub left: Vec<(String, String)>,
    /// All figures, on both sides.
    pub rows: Vec<Row>,
}

/// What is told of a fit that goes on: what is sought, and whether to stop.
pub trait Listener {
    /// The next parameter, or the next figure.
    fn starts(&mut self, what: &str);
    /// True to stop.
    fn stops(&self) -> bool {
        false
    }
}

impl Listener for () {
    fn starts(&mut self, _: &str) {}
}

/// Fits a machine to a document.
///
/// # Errors
/// The document has no microbenchmarks, or the fit was interrupted.
pub fn fit(
    base: &Config,
    document: &Document,
    options: &RunOptions,
    listener: &mut dyn Listener,
) -> Result<Fit, String> {
    let measured = document.microbenchmarks.as_ref().ok_or("there are no microbenchmarks in it")?;
    let micros = micro::all(&measured.shape);
    let values: HashMap<&str, Spread> =
        measured.figures.iter().map(|figure| (figure.name.as_str(), figure.value)).collect();
    let mut search = Search { options, listener, trials: HashMap::new() };
    let known = |micro: &&Micro| values.contains_key(micro.name.as_str());
    let mut before = HashMap::new();
    for micro in micros.iter().filter(known) {
        before.insert(micro.name.as_str(), search.simulate(base, micro)?);
    }
    let mut fit = Fit {
        config: base.clone(),
        fitted: Vec::new(),
        kept: Vec::new(),
        left: Vec::new(),
        rows: Vec::new(),
    };
    facts(&mut fit, document);
    // Latency before passes: where few waves run, a rate is that of the latency, and says nothing of the passes. What the
    // passes change is found in the next round.
    let order = |micro: &&Micro| match micro.says {
        Some(Says::ClassLatency(_)) => 0,
        Some(Says::ClassPasses(_)) => 1,
        _ => 2,
    };
    let mut said: Vec<&Micro> = micros.iter().filter(known).filter(|micro| micro.says.is_some()).collect();
    said.sort_by_key(order);
    for _ in 0..ROUNDS {
        fit.kept.clear();
        let facts = fit.left.iter().position(|(path, _)| said.iter().any(|m| path_is(&fit.config, m, path)));
        fit.left.truncate(facts.unwrap_or(fit.left.len()));
        let mut changed = false;
        for micro in &said {
            let target = values[micro.name.as_str()].median;
            let Some(path) = path(&fit.config, micro.says) else { continue };
            match search.seek(&fit.config, micro, &path, target)? {
                Sought::Kept => fit.kept.push((path, micro.name.clone())),
                Sought::Left(why) => fit.left.push((path, why)),
                Sought::Found { config, change, before, after } => {
                    changed = true;
                    fit.config = *config;
                    fit.take(Fitted {
                        change,
                        from: micro.name.clone(),
                        values: Some([target, before, after]),
                    });
                }
            }
        }
        if !changed {
            break;
        }
    }
    fit.kept.retain(|(path, _)| !fit.fitted.iter().any(|fitted| fitted.change.path == *path));
    let config = fit.config.clone();
    for micro in micros.iter().filter(known) {
        let measured = values[micro.name.as_str()];
        fit.rows.push(Row {
            name: micro.name.clone(),
            unit: micro.unit.to_owned(),
            measured,
            before: before.remove(micro.name.as_str()).unwrap_or_else(|| Err("not run".to_owned())),
            after: search.simulate(&config, micro)?,
            key: path(&config, micro.says),
        });
    }
    Ok(fit)
}

/// True if a microbenchmark decides this parameter.
fn path_is(config: &Config, micro: &Micro, of: &str) -> bool {
    path(config, micro.says).is_some_and(|path| path == of)
}

impl Fit {
    /// Adds a parameter, or what a later round makes of it.
    fn take(&mut self, fitted: Fitted) {
        let path = &fitted.change.path;
        let Some(at) = self.fitted.iter().position(|known| known.change.path == *path) else {
            self.fitted.push(fitted);
            return;
        };
        let first = &mut self.fitted[at];
        let before = first.values.map_or(0.0, |values| values[1]);
        first.change.to = fitted.change.to;
        first.values = fitted.values.map(|[measured, _, after]| [measured, before, after]);
        if first.change.from == first.change.to {
            self.fitted.remove(at);
        }
    }
}

/// Takes what the driver says.
fn facts(fit: &mut Fit, document: &Document) {
    let gpu = &document.gpu.properties;
    let slices = u64::from(fit.config.l2.slices);
    let facts = [
        ("cores", u64::from(gpu.multiprocessors), "multiprocessors, says the driver"),
        ("core_clock_mhz", u64::from(document.config.core_clock_mhz), "clock while kernels ran"),
        ("core.register_file_bytes", 4 * u64::from(gpu.registers), "registers, says the driver"),
        ("core.max_waves", u64::from(gpu.threads / 32), "threads, says the driver"),
        ("core.max_workgroup_size", gpu.cta_threads.into(), "threads of a CTA, says the driver"),
        ("core.max_workgroups", gpu.ctas.into(), "CTAs, says the driver"),
        ("l2.slice_bytes", u64::from(gpu.l2_bytes) / slices.max(1), "L2, says the driver"),
    ];
    for (path, to, from) in facts {
        let Some(now) = value_of(&fit.config, path) else { continue };
        if now == to || to == 0 {
            continue;
        }
        let change = Change { path: path.to_owned(), from: now, to };
        match fit.config.with(&[change.setting()]) {
            Ok(config) => {
                fit.config = Config { set: fit.config.set.clone(), ..config };
                fit.fitted.push(Fitted { change, from: from.to_owned(), values: None });
            }
            Err(wrong) => {
                let why = wrong.first().map_or(String::new(), |wrong| wrong.message.clone());
                fit.left.push((path.to_owned(), format!("{from}: {to}, but {why}")));
            }
        }
    }
}

/// The path of the parameter that a figure decides.
fn path(config: &Config, says: Option<Says>) -> Option<String> {
    let of_class = |class, key: &str| {
        let unit = config.core.units.iter().find(|unit| unit.classes.iter().any(|c| c.class == class))?;
        Some(format!("core.units[{}].classes[{}].{key}", unit.name, class_name(class)))
    };
    match says? {
        Says::ClassLatency(class) => of_class(class, "latency_cycles"),
        Says::ClassPasses(class) => of_class(class, "passes"),
        Says::Key(key) => Some(key.to_owned()),
    }
}

/// The value of a parameter that is a number.
fn value_of(config: &Config, path: &str) -> Option<u64> {
    leaves(config).into_iter().find(|leaf| leaf.path == path)?.value.parse().ok()
}

enum Sought {
    /// It is right.
    Kept,
    /// It cannot be found.
    Left(String),
    /// It changes.
    Found { config: Box<Config>, change: Change, before: f64, after: f64 },
}

struct Search<'a> {
    options: &'a RunOptions,
    listener: &'a mut dyn Listener,
    /// Figures of values that were tried, of the current search.
    trials: HashMap<u64, Option<f64>>,
}

impl Search<'_> {
    /// A figure on a machine, or why it has none.
    ///
    /// # Errors
    /// Interrupted.
    fn simulate(&mut self, config: &Config, micro: &Micro) -> Result<Result<f64, String>, String> {
        self.listener.starts(&micro.name);
        if self.listener.stops() {
            return Err("interrupted".to_owned());
        }
        Ok(simulate(config, micro, self.options))
    }

    /// The figure with a value of a parameter; `None` if the machine cannot have it.
    fn with(
        &mut self,
        config: &Config,
        micro: &Micro,
        path: &str,
        value: u64,
    ) -> Result<Option<f64>, String> {
        if let Some(&known) = self.trials.get(&value) {
            return Ok(known);
        }
        let figure = match config.with(&[format!("{path}={value}")]) {
            Ok(config) => self.simulate(&config, micro)?.ok(),
            Err(_) => None,
        };
        self.trials.insert(value, figure);
        Ok(figure)
    }

    /// Seeks the value of a parameter with which a figure is as measured. The figure may only rise, or only fall, with it.
    fn seek(&mut self, config: &Config, micro: &Micro, path: &str, target: f64) -> Result<Sought, String> {
        self.trials.clear();
        let Some(now) = value_of(config, path) else {
            return Ok(Sought::Left("it is no number".to_owned()));
        };
        let Some(before) = self.with(config, micro, path, now)? else {
            return Ok(Sought::Left(format!("the machine cannot run `{}`", micro.name)));
        };
        let apart = |figure: f64| (figure - target).abs();
        if apart(before) <= CLOSE * target.abs() {
            return Ok(Sought::Kept);
        }
        let powers = path == "core.local.banks";
        let next = |value: u64, up: bool| match (powers, up) {
            (true, true) => value * 2,
            (true, false) => value / 2,
            (false, true) => value + 1,
            (false, false) => value.saturating_sub(1),
        };
        // A neighbour says in which direction the figure goes. Rates can stand still for a while.
        let mut up = None;
        for probe in [now.saturating_mul(2), now.saturating_mul(4), now / 2] {
            if probe == 0 || probe == now {
                continue;
            }
            if let Some(figure) = self.with(config, micro, path, probe)?
                && (figure - before).abs() > 1e-9
            {
                up = Some((figure > before) == (probe > now));
                break;
            }
        }
        let Some(rises) = up else {
            return Ok(Sought::Left(format!("`{}` does not depend on it here", micro.name)));
        };
        // Between two values of which one gives too little and one too much.
        let grow = (target > before) == rises;
        let (mut inside, mut outside) = (now, now);
        loop {
            let further = if grow { outside.saturating_mul(2).min(MOST) } else { outside / 2 };
            if further == outside || further == 0 || self.trials.len() > TRIALS {
                break;
            }
            inside = outside;
            outside = further;
            match self.with(config, micro, path, outside)? {
                Some(figure) if (figure < target) == (before < target) => {}
                _ => break,
            }
        }
        let (mut low, mut high) = (inside.min(outside), inside.max(outside));
        while !powers && high - low > 1 && self.trials.len() <= TRIALS {
            let middle = low + (high - low) / 2;
            match self.with(config, micro, path, middle)? {
                // The side on which the value that was stated lies.
                Some(figure) if ((figure < target) == (before < target)) == grow => low = middle,
                Some(_) => high = middle,
                // A machine that cannot be: what is nearer to it.
                None if grow => high = middle,
                None => low = middle,
            }
        }
        for value in [next(low, false), low, high, next(high, true)] {
            if value > 0 {
                self.with(config, micro, path, value)?;
            }
        }
        // The nearest figure; of equal ones the nearest value.
        let tried = self.trials.iter().filter_map(|(&value, &figure)| Some((value, figure?)));
        let best = tried.min_by(|a, b| {
            let near = |value: u64| value.abs_diff(now);
            apart(a.1).total_cmp(&apart(b.1)).then(near(a.0).cmp(&near(b.0)))
        });
        match best {
            Some((to, after)) if to != now && apart(after) < apart(before) => {
                let change = Change { path: path.to_owned(), from: now, to };
                let changed = config.with(&[change.setting()]).map_err(|_| "a machine that cannot be")?;
                let changed = Config { set: config.set.clone(), ..changed };
                Ok(Sought::Found { config: Box::new(changed), change, before, after })
            }
            _ => Ok(Sought::Left(format!("no value brings `{}` nearer", micro.name))),
        }
    }
}
