//! Numbers that launch files give: computed ones, and those whose type or bits are written out.

use super::expression::{Expression, ExpressionVisitor};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use std::fmt;
use wave_isa::program::Argument;

/// A number of a launch file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Given {
    /// A number or an expression in quotes.
    Computed(Expression),
    /// A text as `--param` takes it, with a type or as bits: `"f32:-0"`, `"hex:7fc00001"`.
    Written(Argument),
}

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Given, D::Error> {
        deserializer.deserialize_any(GivenVisitor)
    }
}

struct GivenVisitor;

impl Visitor<'_> for GivenVisitor {
    type Value = Given;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ExpressionVisitor.expecting(f)
    }

    fn visit_i64<E: de::Error>(self, v: i64) -> Result<Given, E> {
        ExpressionVisitor.visit_i64(v).map(Given::Computed)
    }

    fn visit_u64<E: de::Error>(self, v: u64) -> Result<Given, E> {
        match i64::try_from(v) {
            Ok(v) => self.visit_i64(v),
            Err(_) => Ok(Given::Written(Argument::unsigned(v))),
        }
    }

    fn visit_f64<E: de::Error>(self, v: f64) -> Result<Given, E> {
        ExpressionVisitor.visit_f64(v).map(Given::Computed)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Given, E> {
        // No expression has a colon.
        if text.contains(':') {
            return text.trim().parse().map(Given::Written).map_err(E::custom);
        }
        ExpressionVisitor.visit_str(text).map(Given::Computed)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Given, E> {
        ExpressionVisitor.visit_unit().map(Given::Computed)
    }
}
