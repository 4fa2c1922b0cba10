//! Axes of a sweep: a parameter and the values that it takes.

use std::collections::HashSet;
use std::ops::Range;
use wave_isa::number::{Number, parse};
use wave_machine::config::{Form, Settable, size};

/// Most values that are written out for an axis.
const MOST_VALUES: u64 = 1 << 20;
/// Most values of an axis at all: a random generator draws from them with 32 bits.
const MOST_STEPS: u64 = 1 << 32;

/// A parameter and its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// Complete path of the parameter.
    pub key: String,
    /// Its unit; empty if it has none.
    pub unit: &'static str,
    values: Values,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Values {
    List(Vec<String>),
    /// So many values at equal distances. They are not written out.
    Steps {
        from: u64,
        step: u64,
        count: u64,
    },
}

/// What is wrong with the values of an axis, with the bytes of the text that cause it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    pub message: String,
    pub hint: Option<String>,
    pub at: Range<usize>,
}

/// True if a text states several values: a list, or a range.
pub fn is_axis(text: &str) -> bool {
    text.contains(',') || text.contains("..")
}

impl Axis {
    /// The axis that a text states: values and ranges with commas between them. `8..64*2` is 8, 16, 32 and 64; `1..9+2`
    /// is 1, 3, 5, 7 and 9; `1..4` counts in ones.
    pub(super) fn parse(parameter: Settable, text: &str) -> Result<Axis, Wrong> {
        let Settable { path: key, form } = parameter;
        let unit = if let Form::Integer(unit) = form { unit } else { "" };
        let mut parts = Vec::new();
        let mut start = 0;
        for part in text.split(',') {
            parts.push((start + part.len() - part.trim_start().len(), part.trim()));
            start += part.len() + 1;
        }
        let axis = |values| Axis { key: key.clone(), unit, values };
        if let [(at, part)] = parts[..]
            && let (Form::Integer(unit), Some(range)) = (form, Stated::split(part))
            && let Some(values) = range.steps(unit, at)?
        {
            return Ok(axis(values));
        }
        let mut list: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        for (at, part) in parts {
            let place = at..at + part.len();
            let wrong = |message: String| Wrong { message, hint: None, at: place.clone() };
            if part.is_empty() {
                return Err(Wrong {
                    message: format!("a value of `{key}` is missing"),
                    hint: Some("values stand between commas, as in 16KiB,32KiB".to_owned()),
                    at: at..at + 1,
                });
            }
            let values = match (form, Stated::split(part)) {
                (Form::Integer(unit), Some(range)) => range.list(unit, at)?,
                (Form::Integer(unit), None) => vec![number(part, unit).map_err(wrong)?.to_string()],
                _ => vec![part.to_owned()],
            };
            for value in values {
                if !seen.insert(value.clone()) {
                    return Err(wrong(format!("`{key}` has the value {value} twice")));
                }
                list.push(value);
            }
        }
        Ok(axis(Values::List(list)))
    }

    /// Number of values.
    pub fn len(&self) -> u64 {
        match &self.values {
            Values::List(values) => values.len() as u64,
            Values::Steps { count, .. } => *count,
        }
    }

    /// False: an axis has a value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if the values are numbers, so that those beside one another are alike.
    pub fn is_ordered(&self) -> bool {
        match &self.values {
            Values::List(values) => values.iter().all(|value| value.parse::<u64>().is_ok()),
            Values::Steps { .. } => true,
        }
    }

    /// A value, as a setting has it.
    ///
    /// # Panics
    /// There are not so many.
    pub fn value(&self, index: u64) -> String {
        assert!(index < self.len(), "value {index} of {}", self.len());
        match &self.values {
            Values::List(values) => values[index as usize].clone(),
            Values::Steps { from, step, .. } => (from + index * step).to_string(),
        }
    }
}

/// A range as written: two ends, and a step or factor.
struct Stated<'a> {
    text: &'a str,
    from: &'a str,
    to: &'a str,
    step: Option<(char, &'a str)>,
}

impl<'a> Stated<'a> {
    fn split(text: &'a str) -> Option<Stated<'a>> {
        let (from, rest) = text.split_once("..")?;
        let (to, step) = match rest.find(['*', '+']) {
            Some(at) => (&rest[..at], rest[at..].chars().next().map(|sign| (sign, &rest[at + 1..]))),
            None => (rest, None),
        };
        Some(Stated { text, from: from.trim(), to: to.trim(), step: step.map(|(c, s)| (c, s.trim())) })
    }

    /// The ends and the step, checked.
    fn read(&self, unit: &str, at: usize) -> Result<(u64, u64, u64), Wrong> {
        let place = at..at + self.text.len();
        let hint = Some("a range is FROM..TO+STEP or FROM..TO*FACTOR, such as 1..9+2 or 8..64*2".to_owned());
        let wrong = |message: String| Wrong { message, hint: hint.clone(), at: place.clone() };
        let (from, to) = (number(self.from, unit).map_err(&wrong)?, number(self.to, unit).map_err(&wrong)?);
        let step = self.step.map_or(Ok(1), |(_, step)| number(step, unit)).map_err(&wrong)?;
        if from > to {
            return Err(wrong(format!("the range `{}` is empty: {from} is above {to}", self.text)));
        }
        match self.step {
            Some(('*', _)) if step < 2 || from == 0 => Err(wrong(format!(
                "the range `{}` has no end: {from} × {step} is not above {from}",
                self.text
            ))),
            Some(('+', _)) if step == 0 => {
                Err(wrong(format!("the range `{}` has no end: its step is 0", self.text)))
            }
            _ => Ok((from, to, step)),
        }
    }

    /// The values of a range with a step; `None` of one with a factor.
    fn steps(&self, unit: &str, at: usize) -> Result<Option<Values>, Wrong> {
        let (from, to, step) = self.read(unit, at)?;
        if matches!(self.step, Some(('*', _))) {
            return Ok(None);
        }
        let count = ((to - from) / step).saturating_add(1);
        self.at_most(count, MOST_STEPS, at)?;
        Ok(Some(Values::Steps { from, step, count }))
    }

    fn list(&self, unit: &str, at: usize) -> Result<Vec<String>, Wrong> {
        let (from, to, step) = self.read(unit, at)?;
        if matches!(self.step, Some(('*', _))) {
            let next = |value: &u64| value.checked_mul(step).filter(|&value| value <= to);
            return Ok(std::iter::successors(Some(from), next).map(|value| value.to_string()).collect());
        }
        let count = ((to - from) / step).saturating_add(1);
        self.at_most(count, MOST_VALUES, at)?;
        Ok((0..count).map(|i| (from + i * step).to_string()).collect())
    }

    fn at_most(&self, count: u64, most: u64, at: usize) -> Result<(), Wrong> {
        if count <= most {
            return Ok(());
        }
        let message = format!("the range `{}` has {count} values, and an axis has at most {most}", self.text);
        Err(Wrong {
            message,
            hint: Some("a greater step has fewer".to_owned()),
            at: at..at + self.text.len(),
        })
    }
}

/// An integer; of bytes, also a size with a unit.
fn number(text: &str, unit: &str) -> Result<u64, String> {
    if size::unit(text).is_some() {
        return match unit {
            "bytes" => size::bytes(text),
            "" => Err(format!("`{text}` has a unit, and the parameter has none")),
            counted => Err(format!("`{text}` has a unit, and the parameter counts {counted}")),
        };
    }
    match parse(text) {
        Ok(Number::Integer(value)) => u64::try_from(value).map_err(|_| format!("`{text}` is no count")),
        _ => Err(format!("`{text}` is no integer")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(form: Form, text: &str) -> Result<Axis, Wrong> {
        Axis::parse(Settable { path: "k".to_owned(), form }, text)
    }

    fn values(text: &str) -> Vec<String> {
        let axis = axis(Form::Integer("bytes"), text).unwrap();
        (0..axis.len()).map(|i| axis.value(i)).collect()
    }

    #[test]
    fn lists_and_ranges() {
        assert_eq!(values("16KiB, 32K,0x10"), ["16384", "32768", "16"]);
        assert_eq!(values("8..64*2"), ["8", "16", "32", "64"]);
        assert_eq!(values("8..60*2"), ["8", "16", "32"]);
        assert_eq!(values("1..9+2"), ["1", "3", "5", "7", "9"]);
        assert_eq!(values("1..8+3,20"), ["1", "4", "7", "20"]);
        assert_eq!(values("3..5"), ["3", "4", "5"]);
        assert_eq!(values("7..7*2"), ["7"]);
        assert_eq!(values("1KiB..4KiB*2"), ["1024", "2048", "4096"]);
        let choices = axis(Form::Choice(&["lrr", "gto"]), "lrr,gto").unwrap();
        assert_eq!((choices.len(), choices.value(1)), (2, "gto".to_owned()));
    }

    #[test]
    fn a_long_range_is_not_written_out() {
        let axis = axis(Form::Integer(""), "1..4000000000").unwrap();
        assert_eq!((axis.len(), axis.value(3_999_999_999)), (4_000_000_000, "4000000000".to_owned()));
    }

    #[test]
    fn what_is_wrong_is_marked() {
        let integer = Form::Integer("cores");
        for (text, part, at) in [
            ("64..8*2", "`64..8*2` is empty: 64 is above 8", 0..7),
            ("4,8..64*1", "has no end: 8 × 1", 2..9),
            ("0..64*2", "has no end: 0 × 2", 0..7),
            ("1..9+0", "its step is 0", 0..6),
            ("1,,2", "a value of `k` is missing", 2..3),
            ("1, 2,1", "has the value 1 twice", 5..6),
            ("1,x", "`x` is no integer", 2..3),
            ("1,2KiB", "counts cores", 2..6),
            ("1..y", "`y` is no integer", 0..4),
            ("1,2..4000000000", "has 3999999999 values", 2..15),
            ("0..9000000000", "has 9000000001 values", 0..13),
        ] {
            let wrong = axis(integer, text).expect_err(text);
            assert!(wrong.message.contains(part), "{text}: {}", wrong.message);
            assert_eq!(wrong.at, at, "{text}");
        }
    }
}
