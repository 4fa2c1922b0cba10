//! A plan file as written (RON), before anything is checked.

use super::sample::Sampling;
use crate::launch::{Size, parse};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::ron_text::{Noun, Source};

/// What a plan is called in messages.
const NOUN: Noun = Noun {
    word: "plan",
    smallest: "`(axes: {\"core.l1.bytes\": [\"16KiB\", \"32KiB\"]}, kernels: [\"saxpy\"])` is a small one",
    units: "a size with a unit is in quotes: \"64KiB\"",
};

/// A plan.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    /// One sentence that describes it.
    #[serde(rename = "description")]
    pub _description: String,
    /// The machine: a file beside the plan, or a preset.
    pub config: Option<String>,
    /// What differs from it at every point.
    pub set: Vec<String>,
    /// Parameters and their values.
    pub axes: Axes,
    /// Which combinations are taken.
    pub sampling: Option<Sampling>,
    /// Formulas over parameters that hold at every point.
    pub constraints: Vec<String>,
    /// Kernel files and launch files beside the plan, or names of the suite.
    pub kernels: Vec<String>,
    /// Seeds of random data: how many, or which.
    pub seeds: Option<Values>,
    /// Size of the data of launch files.
    pub size: Option<Size>,
}

impl File {
    /// Reads a plan.
    pub(super) fn read(source: &Source) -> Result<File, Vec<Diagnostic>> {
        parse(source, NOUN)
    }

    /// What the file is called in messages.
    pub(super) const WORD: &'static str = NOUN.word;
}

/// Keys with their values, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Axes(pub Vec<(String, Values)>);

impl<'de> Deserialize<'de> for Axes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Axes, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Axes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map in braces, from parameters in quotes to their values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Axes, A::Error> {
                let mut axes: Vec<(String, Values)> = Vec::new();
                while let Some((key, values)) = map.next_entry::<String, Values>()? {
                    if axes.iter().any(|(other, _)| *other == key) {
                        return Err(de::Error::custom(format!("`{key}` is stated twice")));
                    }
                    axes.push((key, values));
                }
                Ok(Axes(axes))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

/// Values, or a range of them, as the command line writes them: `16KiB,32KiB` or `8..64*2`.
#[derive(Debug)]
pub(super) struct Values {
    /// The text.
    pub text: String,
    /// Bytes at which the items of a list begin. Empty for a single value.
    pub items: Vec<usize>,
    /// The number, if it is one and no list.
    pub number: Option<u64>,
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Values, D::Error> {
        deserializer.deserialize_any(ValuesVisitor)
    }
}

struct ValuesVisitor;

impl ValuesVisitor {
    fn one(text: String, number: Option<u64>) -> Values {
        Values { text, items: Vec::new(), number }
    }
}

impl<'de> Visitor<'de> for ValuesVisitor {
    type Value = Values;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of values, or a range in quotes such as \"8..64*2\"")
    }

    fn visit_bool<E: de::Error>(self, v: bool) -> Result<Values, E> {
        Ok(ValuesVisitor::one(v.to_string(), None))
    }

    fn visit_i64<E: de::Error>(self, v: i64) -> Result<Values, E> {
        Ok(ValuesVisitor::one(v.to_string(), u64::try_from(v).ok()))
    }

    fn visit_u64<E: de::Error>(self, v: u64) -> Result<Values, E> {
        Ok(ValuesVisitor::one(v.to_string(), Some(v)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Values, E> {
        Ok(ValuesVisitor::one(text.to_owned(), None))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Values, E> {
        Err(E::custom("a bare word is no value: names and ranges stand in quotes"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Values, A::Error> {
        let (mut text, mut items) = (String::new(), Vec::new());
        while let Some(item) = seq.next_element::<Values>()? {
            if !item.items.is_empty() {
                return Err(de::Error::custom("a list of values has no list in it"));
            }
            if !items.is_empty() {
                text.push(',');
            }
            items.push(text.len());
            text += &item.text;
        }
        if items.is_empty() {
            return Err(de::Error::custom("the list is empty"));
        }
        Ok(Values { text, items, number: None })
    }
}
