//! Names in the expressions of a launch file.

use super::expression::{Expression, Failure, Scope, Value};

/// Largest count of elements or of anything else: what a host can hold easily.
pub(crate) const MAX_COUNT: i64 = 1 << 28;

/// Names with their values: parameters, loop variables, buffer addresses.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    values: Vec<(String, Value)>,
}

impl Names {
    /// Adds a name, which hides an older one.
    pub(super) fn push(&mut self, name: &str, value: Value) {
        self.values.push((name.to_owned(), value));
    }

    /// Removes the last name.
    pub(super) fn pop(&mut self) {
        self.values.pop();
    }

    /// True if the name is known.
    pub(super) fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// The value of an expression that has no element index.
    ///
    /// # Errors
    /// Unknown names and operations without a result.
    pub(super) fn number(&self, expression: &Expression) -> Result<Value, Failure> {
        expression.bind(self)?.evaluate(0, &no_elements).map_err(Failure::new)
    }

    /// The value of an expression that must be an integer.
    ///
    /// # Errors
    /// As [`Names::number`]; also a float.
    pub(super) fn integer(&self, expression: &Expression, what: &str) -> Result<i64, Failure> {
        match self.number(expression)? {
            Value::Int(v) => Ok(v),
            Value::Float(v) => Err(Failure::new(format!("{what} is {v:?}, but it must be an integer"))),
        }
    }

    /// The value of an expression that is a count.
    ///
    /// # Errors
    /// As [`Names::integer`]; also a value below 0 or above [`MAX_COUNT`].
    pub(super) fn size(&self, expression: &Expression, what: &str) -> Result<usize, Failure> {
        let value = self.integer(expression, what)?;
        if (0..=MAX_COUNT).contains(&value) {
            Ok(value as usize)
        } else {
            Err(Failure::new(format!("{what} is {value}, but it must be from 0 to {MAX_COUNT}")))
        }
    }

    /// The value of an expression that divides lengths into rows.
    ///
    /// # Errors
    /// As [`Names::size`]; also 0, and a value that does not divide the length.
    pub(super) fn divisor(
        &self,
        expression: &Expression,
        what: &str,
        lengths: &[(&str, usize)],
    ) -> Result<usize, Failure> {
        let divisor = self.size(expression, what)?;
        for &(name, length) in lengths {
            if divisor == 0 || length == 0 || length % divisor != 0 {
                return Err(Failure::new(format!(
                    "{what} is {divisor}, which does not divide the {length} elements of {name}"
                )));
            }
        }
        Ok(divisor)
    }
}

fn no_elements(_: usize, _: i64) -> Result<Value, String> {
    Err("there are no elements here".to_owned())
}

impl Scope for Names {
    fn value(&self, name: &str) -> Option<Value> {
        self.values.iter().rfind(|(n, _)| n == name).map(|(_, value)| *value)
    }

    fn buffer(&self, _: &str) -> Option<usize> {
        None
    }

    fn index_name(&self) -> Option<&str> {
        None
    }

    fn names(&self) -> Vec<&str> {
        self.values.iter().map(|(name, _)| name.as_str()).collect()
    }
}
