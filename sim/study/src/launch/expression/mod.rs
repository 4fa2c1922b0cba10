//! Expressions of launch files: sizes, arguments, contents and expected values.
//!
//! Integers are 64-bit signed and exact (an overflow is an error); floats are f64. An operator on both kinds
//! computes in f64. `/` truncates for integers. Comparisons yield 1 or 0. Precedence from low to high, as in
//! Rust: `== != < <= > >=`, `|`, `^`, `&`, `<< >>`, `+ -`, `* / %`, unary `- ~`.

mod evaluate;
mod parse;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use std::fmt;

pub(crate) use evaluate::{Failure, Scope};

/// A value of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value {
    /// Exact.
    Int(i64),
    /// f64.
    Float(f64),
}

impl Value {
    /// The value as f64. Integers above 2^53 are rounded.
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Value::Int(v) => v as f64,
            Value::Float(v) => v,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(v) => write!(f, "{v}"),
            Value::Float(v) => write!(f, "{v:?}"),
        }
    }
}

/// The message about an expression without quotes.
pub(crate) const BARE_WORD: &str = "a bare word is no expression: names and formulas stand in quotes";

/// An expression in a launch file: a number, or a string such as `"ceil_div(n, 256)"`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expression {
    node: Node,
}

impl Expression {
    /// The name that it is, if it is nothing else.
    pub(super) fn name(&self) -> Option<&str> {
        match &self.node {
            Node::Name(name) => Some(name),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Value(Value),
    Name(String),
    /// `buffer[index]`
    Element(String, Box<Node>),
    Unary(Unary, Box<Node>),
    Binary(Binary, Box<[Node; 2]>),
    Call(Function, Vec<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unary {
    Negate,
    Not,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Binary {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Or,
    Xor,
    And,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// Declares the functions: name in launch files, number of arguments, result.
macro_rules! functions {
    ($($variant:ident $name:literal $arguments:literal $meaning:literal;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum Function { $(#[doc = $meaning] $variant,)* }

        impl Function {
            const NAMES: &'static [&'static str] = &[$($name,)*];

            fn from_name(name: &str) -> Option<Function> {
                match name { $($name => Some(Function::$variant),)* _ => None }
            }

            fn name(self) -> &'static str {
                match self { $(Function::$variant => $name,)* }
            }

            fn arguments(self) -> usize {
                match self { $(Function::$variant => $arguments,)* }
            }
        }

        /// The functions of expressions, as (name, number of arguments, result).
        pub const FUNCTIONS: &[(&str, usize, &str)] = &[$(($name, $arguments, $meaning),)*];
    };
}

functions! {
    Min "min" 2 "the smaller one";
    Max "max" 2 "the larger one";
    Abs "abs" 1 "absolute value";
    CeilDiv "ceil_div" 2 "integer quotient, rounded up";
    RoundUp "round_up" 2 "the next multiple of the second at or above the first, integers";
    Gcd "gcd" 2 "greatest common divisor, integers";
    Log2 "log2" 1 "binary logarithm; of an integer, rounded down to one";
    Select "select" 3 "the second if the first is not 0, else the third; the other is not computed";
    Floor "floor" 1 "the integer at or below";
    Float "float" 1 "the value as f64";
    F32 "f32" 1 "the value rounded to f32";
    Sqrt "sqrt" 1 "square root";
    Exp "exp" 1 "e to the power";
    Ln "ln" 1 "natural logarithm";
    Sin "sin" 1 "sine, radians";
    Cos "cos" 1 "cosine, radians";
    Pow "pow" 2 "the first to the power of the second; exact for integers with a power of 0 or more";
}

impl Expression {
    /// Parses the text of an expression.
    ///
    /// # Errors
    /// A description of what is wrong, with its byte offset.
    pub(crate) fn parse(text: &str) -> Result<Expression, String> {
        parse::parse(text).map(|node| Expression { node })
    }

    /// An expression that is a value.
    pub(super) fn constant(value: Value) -> Expression {
        Expression { node: Node::Value(value) }
    }
}

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Expression, D::Error> {
        deserializer.deserialize_any(ExpressionVisitor)
    }
}

pub(super) struct ExpressionVisitor;

impl Visitor<'_> for ExpressionVisitor {
    type Value = Expression;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or an expression in quotes")
    }

    fn visit_i64<E: de::Error>(self, v: i64) -> Result<Expression, E> {
        Ok(Expression::constant(Value::Int(v)))
    }

    fn visit_u64<E: de::Error>(self, v: u64) -> Result<Expression, E> {
        match i64::try_from(v) {
            Ok(v) => self.visit_i64(v),
            Err(_) => Err(E::custom(format!("{v} does not fit 64 bits with a sign"))),
        }
    }

    fn visit_f64<E: de::Error>(self, v: f64) -> Result<Expression, E> {
        Ok(Expression::constant(Value::Float(v)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Expression, E> {
        Expression::parse(text).map_err(|message| E::custom(format!("in `{text}`: {message}")))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Expression, E> {
        Err(E::custom(BARE_WORD))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Names;

    impl Scope for Names {
        fn value(&self, name: &str) -> Option<Value> {
            match name {
                "n" => Some(Value::Int(1000)),
                "a" => Some(Value::Float(2.5)),
                "x" => Some(Value::Int(4096)),
                _ => None,
            }
        }

        fn buffer(&self, name: &str) -> Option<usize> {
            (name == "x").then_some(0)
        }

        fn index_name(&self) -> Option<&str> {
            Some("i")
        }

        fn names(&self) -> Vec<&str> {
            vec!["n", "a", "x"]
        }
    }

    fn value(text: &str) -> Result<Value, String> {
        let bound = Expression::parse(text)?.bind(&Names).map_err(|f| f.message)?;
        bound.evaluate(7, &|_, index| Ok(Value::Int(index * 10)))
    }

    fn int(text: &str) -> i64 {
        match value(text) {
            Ok(Value::Int(v)) => v,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn precedence_and_associativity_are_rusts() {
        assert_eq!(int("2 + 3 * 4 - 1"), 13);
        assert_eq!(int("20 - 5 - 5"), 10);
        assert_eq!(int("100 / 10 / 5"), 2);
        assert_eq!(int("-7 / 2"), -3);
        assert_eq!(int("-7 % 3"), -1);
        assert_eq!(int("1 << 3 + 1"), 16);
        assert_eq!(int("6 & 3 == 2"), 1);
        assert_eq!(int("1 | 6 ^ 2 & 3"), 1 | 6 ^ 2 & 3);
        assert_eq!(int("~0 & 0xFF"), 255);
        assert_eq!(int("(2 + 3) * 4"), 20);
        assert_eq!(int("1_000 == n"), 1);
        assert_eq!(int("0b101 + -(-2)"), 7);
    }

    #[test]
    fn names_elements_and_functions() {
        assert_eq!(int("x[i + 1] + i"), 87);
        assert_eq!(int("x + 4 * 2"), 4104);
        assert_eq!(int("ceil_div(n, 256)"), 4);
        assert_eq!(int("round_up(n, 16)"), 1008);
        assert_eq!(int("log2(n)"), 9);
        assert_eq!(int("select(i > 0, i, 1 / 0)"), 7);
        assert_eq!(int("max(min(3, 5), -1)"), 3);
        assert_eq!(int("gcd(12, 18) + pow(2, 5)"), 38);
        assert_eq!(int("floor(-0.5)"), -1);
        assert_eq!(value("a * 2"), Ok(Value::Float(5.0)));
        assert_eq!(value("f32(0.1)"), Ok(Value::Float(f64::from(0.1f32))));
        assert_eq!(value("1e3 / 8"), Ok(Value::Float(125.0)));
    }

    #[test]
    fn errors_say_what_is_wrong() {
        for (text, part) in [
            ("", "an operand is missing"),
            ("1 +", "an operand is missing"),
            ("(1", "`)` is missing"),
            ("1 2", "`2` does not belong here"),
            ("mn(1, 2)", "no function `mn`"),
            ("min(1)", "`min` takes 2 arguments"),
            ("m + 1", "`m` is not known"),
            ("y[0]", "no buffer `y`"),
            ("1 / 0", "division by zero"),
            ("5 % (n - n)", "division by zero"),
            ("0x7FFFFFFFFFFFFFFF + 1", "does not fit"),
            ("1 << 70", "does not fit"),
            ("1.5 & 1", "takes integers"),
            ("99999999999999999999", "number"),
            ("$", "`$`"),
        ] {
            let error = value(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(value(&"(".repeat(100_000)).is_err());
        assert!(value(&"-".repeat(100_000)).is_err());
    }
}
