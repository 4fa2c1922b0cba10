//! Files of published measurements: sources, bounds and points, a line each.

use super::quantity::{Misnamed, PublishedQuantity, PublishedTopic};
use std::str::FromStr;
use wave_isa::diagnostic::{Diagnostic, Place};
use wave_isa::suggest::did_you_mean;

/// The purpose of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PointUse {
    /// Parameters may be fitted to it.
    Fit,
    /// It only judges.
    Judge,
}

impl PointUse {
    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            PointUse::Fit => "fit",
            PointUse::Judge => "judge",
        }
    }
}

impl FromStr for PointUse {
    type Err = Misnamed;

    fn from_str(name: &str) -> Result<PointUse, Misnamed> {
        match name {
            "fit" => Ok(PointUse::Fit),
            "judge" => Ok(PointUse::Judge),
            _ => Err(Misnamed::new("use", name, &["fit", "judge"])),
        }
    }
}

/// Where measurements come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedSource {
    /// Short name, by which points refer to it.
    pub name: String,
    /// Who measured what on which GPU.
    pub title: String,
    /// Commit, edition or year.
    pub revision: String,
    /// Date.
    pub date: String,
    /// Licence.
    pub licence: String,
}

/// One published measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedPoint {
    /// The quantity and its parameters.
    pub quantity: PublishedQuantity,
    /// The value.
    pub value: f64,
    /// Relative error up to which the simulated value counts as right.
    pub tolerance: f64,
    /// Index of its source.
    pub source: usize,
    /// Its purpose.
    pub purpose: PointUse,
    /// Part of the quick subset.
    pub quick: bool,
    /// Line in the file.
    pub line: usize,
}

/// A statistic of the errors of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorStatistic {
    /// Median of the relative errors.
    Median,
    /// Mean of the relative errors.
    Mean,
    /// The largest relative error.
    Worst,
    /// Spearman's rank correlation, which has a lower bound.
    Rank,
}

impl ErrorStatistic {
    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            ErrorStatistic::Median => "median",
            ErrorStatistic::Mean => "mean",
            ErrorStatistic::Worst => "worst",
            ErrorStatistic::Rank => "rank",
        }
    }
}

impl FromStr for ErrorStatistic {
    type Err = Misnamed;

    fn from_str(name: &str) -> Result<ErrorStatistic, Misnamed> {
        const ALL: [ErrorStatistic; 4] =
            [ErrorStatistic::Median, ErrorStatistic::Mean, ErrorStatistic::Worst, ErrorStatistic::Rank];
        let found = ALL.into_iter().find(|statistic| statistic.name() == name);
        found.ok_or_else(|| Misnamed::new("statistic", name, &ALL.map(ErrorStatistic::name)))
    }
}

/// A bound on a statistic of the points of a topic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorBound {
    /// The topic.
    pub topic: PublishedTopic,
    /// The purpose of the points.
    pub purpose: PointUse,
    /// The statistic.
    pub statistic: ErrorStatistic,
    /// The most of an error, or the least of a rank correlation.
    pub value: f64,
    /// True if the bound is about the quick subset, false if it is about all points.
    pub quick: bool,
}

/// The published measurements of one preset.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// Name of the preset.
    pub preset: String,
    /// The GPU that the preset is shaped after.
    pub gpu: String,
    /// Where the measurements come from.
    pub sources: Vec<PublishedSource>,
    /// Bounds on errors.
    pub bounds: Vec<ErrorBound>,
    /// The measurements.
    pub points: Vec<PublishedPoint>,
}

macro_rules! built_in {
    ($($name:literal),+ $(,)?) => {
        &[$((
            $name,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/measured/", $name, ".csv")),
        )),+]
    };
}

/// Measurements in the repository: the name of the preset, and the text of the file.
const BUILT_IN: &[(&str, &str)] = built_in!["a100", "h200", "mi300x", "t4", "v100"];

impl Published {
    /// Names of the presets for which measurements are built in.
    pub fn presets() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The built-in measurements of a preset.
    ///
    /// # Errors
    /// If there are none; with the presets that have some.
    pub fn of_preset(name: &str) -> Result<Published, Diagnostic> {
        match BUILT_IN.iter().find(|(preset, _)| *preset == name) {
            Some((name, text)) => Published::parse(&format!("{name}.csv"), text),
            None => {
                let names: Vec<&str> = Published::presets().collect();
                let hint = did_you_mean(name, names.iter().copied())
                    .unwrap_or_else(|| format!("{} have some; --against names a file", names.join(", ")));
                let message = format!("there are no published measurements for the configuration `{name}`");
                Err(Diagnostic::error(message).hint(hint))
            }
        }
    }

    /// Reads the text of a file. `file` is its name in messages.
    ///
    /// # Errors
    /// The first wrong line.
    pub fn parse(file: &str, text: &str) -> Result<Published, Diagnostic> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut found = Published {
            preset: String::new(),
            gpu: String::new(),
            sources: Vec::new(),
            bounds: Vec::new(),
            points: Vec::new(),
        };
        let mut offset = 0;
        for (number, whole) in text.split_inclusive('\n').enumerate() {
            let line = whole.trim_end_matches(['\n', '\r']);
            let fields: Fields<'_> = Fields { file, text, offset, line, fields: line.split(',').collect() };
            if !line.trim().is_empty() && !line.starts_with('#') {
                found.record(&fields, number + 1)?;
            }
            offset += whole.len();
        }
        let end = |message: &str| {
            let hint = "docs/validate.md describes the format";
            Err(Diagnostic::error(format!("`{file}` {message}")).hint(hint))
        };
        if found.preset.is_empty() {
            return end("has no line `preset,NAME,GPU`");
        }
        if found.points.is_empty() {
            return end("has no line `point,…`");
        }
        Ok(found)
    }

    fn record(&mut self, fields: &Fields<'_>, line: usize) -> Result<(), Diagnostic> {
        match fields.text_of(0) {
            "preset" => {
                fields.count(3, 3, "preset,NAME,GPU")?;
                if !self.preset.is_empty() {
                    return Err(fields.wrong(
                        0,
                        "there is a second line `preset`",
                        "a file is about one preset",
                    ));
                }
                self.preset = fields.filled(1)?.to_owned();
                self.gpu = fields.filled(2)?.to_owned();
            }
            "source" => {
                fields.count(6, 6, "source,NAME,TITLE,REVISION,DATE,LICENCE")?;
                let text = |at: usize| fields.filled(at).map(str::to_owned);
                self.sources.push(PublishedSource {
                    name: text(1)?,
                    title: text(2)?,
                    revision: text(3)?,
                    date: text(4)?,
                    licence: text(5)?,
                });
            }
            "bound" => {
                fields.count(5, 6, "bound,TOPIC,USE,STATISTIC,VALUE[,quick]")?;
                let bound = ErrorBound {
                    topic: fields.parsed(1)?,
                    purpose: fields.parsed(2)?,
                    statistic: fields.parsed(3)?,
                    value: fields.number(4, -1.0)?,
                    quick: fields.quick(5)?,
                };
                self.bounds.push(bound);
            }
            "point" => {
                let form = "point,QUANTITY,PARAMETERS,VALUE,UNIT,TOLERANCE,SOURCE,USE[,quick]";
                fields.count(8, 9, form)?;
                let point = self.point(fields, line)?;
                if let Some(twin) = self.points.iter().find(|other| point.is_about_the_same(other)) {
                    let message = format!("line {} has the same point from the same source", twin.line);
                    return Err(fields.wrong(2, &message, "leave one of them out"));
                }
                self.points.push(point);
            }
            other => {
                let records = ["preset", "source", "bound", "point"];
                let hint = did_you_mean(other, records.into_iter());
                let hint = hint.unwrap_or_else(|| format!("a line begins with {}, or #", records.join(", ")));
                return Err(fields.wrong(0, &format!("a line does not begin with `{other}`"), &hint));
            }
        }
        Ok(())
    }

    fn point(&self, fields: &Fields<'_>, line: usize) -> Result<PublishedPoint, Diagnostic> {
        let quantity = PublishedQuantity::of(fields.text_of(1), fields.text_of(2)).map_err(|wrong| {
            // An unknown quantity is the fault of its name, all else that of the parameters.
            let at = if wrong.message.starts_with("there is no quantity") { 1 } else { 2 };
            fields.wrong(at, &wrong.message, &wrong.hint)
        })?;
        let unit = fields.text_of(4);
        if unit != quantity.unit() {
            let message = format!("`{}` is not in `{unit}`", quantity.name());
            return Err(fields.wrong(4, &message, &format!("its unit is {}", quantity.unit())));
        }
        let value = fields.number(3, 0.0)?;
        if value <= 0.0 {
            return Err(fields.wrong(3, "a value is more than 0", "an error is relative to it"));
        }
        let named = fields.text_of(6);
        let source = self.sources.iter().position(|source| source.name == named).ok_or_else(|| {
            let names: Vec<&str> = self.sources.iter().map(|source| source.name.as_str()).collect();
            let hint = did_you_mean(named, names.iter().copied())
                .unwrap_or_else(|| "a line `source,…` above the point names it".to_owned());
            fields.wrong(6, &format!("there is no source `{named}`"), &hint)
        })?;
        Ok(PublishedPoint {
            quantity,
            value,
            tolerance: fields.number(5, 0.0)?,
            source,
            purpose: fields.parsed(7)?,
            quick: fields.quick(8)?,
            line,
        })
    }
}

impl PublishedPoint {
    fn is_about_the_same(&self, other: &PublishedPoint) -> bool {
        self.quantity == other.quantity && self.source == other.source
    }
}

/// The fields of a line, with its place in the file.
struct Fields<'a> {
    file: &'a str,
    text: &'a str,
    offset: usize,
    line: &'a str,
    fields: Vec<&'a str>,
}

impl<'a> Fields<'a> {
    fn text_of(&self, at: usize) -> &'a str {
        self.fields.get(at).map_or("", |field| field.trim())
    }

    fn filled(&self, at: usize) -> Result<&'a str, Diagnostic> {
        match self.text_of(at) {
            "" => Err(self.wrong(at, "the field is empty", "docs/validate.md describes the format")),
            text => Ok(text),
        }
    }

    fn count(&self, least: usize, most: usize, form: &str) -> Result<(), Diagnostic> {
        let count = self.fields.len();
        if (least..=most).contains(&count) {
            return Ok(());
        }
        let place = Place::at_offset(self.file, self.text, self.offset, self.line.chars().count());
        let message = format!("the line has {count} fields");
        Err(Diagnostic::error(message).at(place).hint(format!("its form is {form}")))
    }

    fn parsed<T: FromStr<Err = Misnamed>>(&self, at: usize) -> Result<T, Diagnostic> {
        self.text_of(at).parse().map_err(|wrong: Misnamed| self.wrong(at, &wrong.message, &wrong.hint))
    }

    fn number(&self, at: usize, least: f64) -> Result<f64, Diagnostic> {
        let text = self.text_of(at);
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= least);
        let hint = format!("a decimal number of at least {least}, such as 0.25");
        number.ok_or_else(|| self.wrong(at, &format!("`{text}` is no number here"), &hint))
    }

    fn quick(&self, at: usize) -> Result<bool, Diagnostic> {
        match self.text_of(at) {
            "" => Ok(false),
            "quick" => Ok(true),
            other => {
                Err(self.wrong(at, &format!("the last field is not `{other}`"), "it is `quick` or left out"))
            }
        }
    }

    fn wrong(&self, at: usize, message: &str, hint: &str) -> Diagnostic {
        let before: usize = self.fields.iter().take(at).map(|field| field.len() + 1).sum();
        let field = self.fields.get(at).copied().unwrap_or("");
        let blanks = field.len() - field.trim_start().len();
        let place = Place::at_offset(
            self.file,
            self.text,
            self.offset + before.min(self.line.len()) + blanks,
            field.trim().chars().count(),
        );
        Diagnostic::error(message).at(place).hint(hint)
    }
}
