//! What a search makes small, and what it holds below a limit.

use crate::compare::microseconds;
use crate::results::{AREA, ENERGY, Measured, POWER};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::suggest::did_you_mean;

/// A quantity of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantity {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// What it is, in words.
    pub words: &'static str,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Cycles,
    Time,
    Energy,
    Power,
    Area,
    EnergyDelay,
    EnergyDelaySquared,
    AreaDelay,
}

/// All quantities.
pub const QUANTITIES: [Quantity; 8] = [
    quantity("cycles", "cycles", "cycles", Kind::Cycles),
    quantity("time", "us", "time", Kind::Time),
    quantity("energy", "uJ", "energy", Kind::Energy),
    quantity("power", "W", "mean power", Kind::Power),
    quantity("area", "mm2", "area of the machine", Kind::Area),
    quantity("energy-delay", "uJ us", "energy × time", Kind::EnergyDelay),
    quantity("energy-delay2", "uJ us2", "energy × time²", Kind::EnergyDelaySquared),
    quantity("area-delay", "mm2 us", "area × time", Kind::AreaDelay),
];

const fn quantity(name: &'static str, unit: &'static str, words: &'static str, kind: Kind) -> Quantity {
    Quantity { name, unit, words, kind }
}

impl Quantity {
    /// The quantity with this name.
    ///
    /// # Errors
    /// There is none.
    pub fn named(name: &str) -> Result<Quantity, String> {
        QUANTITIES.into_iter().find(|quantity| quantity.name == name).ok_or_else(|| {
            let names = QUANTITIES.map(|quantity| quantity.name);
            let hint = did_you_mean(name, names.into_iter());
            let hint = hint.unwrap_or_else(|| format!("there are {}", names.join(", ")));
            format!("`{name}` is no quantity: {hint}")
        })
    }

    /// True of what the machine alone decides, so that nothing has to run to know it.
    pub fn is_of_machine(self) -> bool {
        self.kind == Kind::Area
    }

    /// Its value; `None` of a run that did not end.
    pub fn of(self, run: &Measured) -> Option<f64> {
        let figure = |name: &str| run.figures.get(name).copied();
        let time = microseconds(run);
        let energy = || Some(1e6 * figure(ENERGY)?);
        match self.kind {
            Kind::Cycles => Some(run.cycles()? as f64),
            Kind::Time => time,
            Kind::Energy => run.cycles().and_then(|_| energy()),
            Kind::Power => run.cycles().and_then(|_| figure(POWER)),
            Kind::Area => figure(AREA),
            Kind::EnergyDelay => Some(energy()? * time?),
            Kind::EnergyDelaySquared => Some(energy()? * time? * time?),
            Kind::AreaDelay => Some(figure(AREA)? * time?),
        }
    }
}

/// A quantity that may not be larger than a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// What is limited.
    pub quantity: Quantity,
    /// The largest value, in the unit of the quantity.
    pub most: f64,
}

impl Limit {
    /// The limit that `area=400` states.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Limit, Diagnostic> {
        let wrong = |message: String| {
            Diagnostic::error(format!("--at-most {text}: {message}"))
                .hint("such as --at-most area=400, in mm2")
        };
        let (name, most) = text.split_once('=').ok_or_else(|| wrong("there is no `=`".to_owned()))?;
        let quantity = Quantity::named(name.trim()).map_err(wrong)?;
        let most = most.trim();
        match most.parse::<f64>() {
            Ok(value) if value.is_finite() && value > 0.0 => Ok(Limit { quantity, most: value }),
            _ => Err(wrong(format!("`{most}` is no positive number of {}", quantity.unit))),
        }
    }

    /// By what part a value is too large; at most 0 if it is not.
    pub fn excess(&self, value: f64) -> f64 {
        value / self.most - 1.0
    }
}
