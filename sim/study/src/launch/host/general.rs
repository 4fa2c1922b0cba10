//! Expected results that formulas state: sums for each element, and elements that follow from those before them.

use super::super::buffer::Buffers;
use super::super::expression::{Expression, Failure, Scope, Value};
use super::dense::Sum;

/// The name of what a recurrence has made so far.
const RESULT: &str = "result";

/// The names of the buffers with another index, and one more number or buffer.
struct Inner<'a> {
    buffers: &'a Buffers<'a>,
    index: &'static str,
    /// The element whose sum it is.
    outer: Option<i64>,
}

impl Inner<'_> {
    /// The number of the buffer that a recurrence makes.
    const OWN: usize = usize::MAX;
}

impl Scope for Inner<'_> {
    fn value(&self, name: &str) -> Option<Value> {
        match self.outer {
            Some(outer) if name == "i" => Some(Value::Int(outer)),
            _ => self.buffers.value(name),
        }
    }

    fn buffer(&self, name: &str) -> Option<usize> {
        match self.outer {
            None if name == RESULT => Some(Inner::OWN),
            _ => self.buffers.buffer(name),
        }
    }

    fn index_name(&self) -> Option<&str> {
        Some(self.index)
    }

    fn names(&self) -> Vec<&str> {
        self.buffers.names()
    }
}

/// For each `i` below `length` the sum of an expression over `j` below `count`.
pub(super) fn sums(
    of: &Expression,
    count: usize,
    length: usize,
    buffers: &Buffers<'_>,
) -> Result<Vec<Value>, Failure> {
    let sum = |i: usize| {
        let bound = of.bind(&Inner { buffers, index: "j", outer: Some(i as i64) })?;
        let mut sum = Sum::default();
        for j in 0..count as i64 {
            let value = bound.evaluate(j, &|buffer, index| buffers.element(buffer, index));
            sum = sum.plus(value.map_err(|e| Failure::new(format!("for i = {i}, j = {j}: {e}")))?);
        }
        Ok(sum.value())
    };
    (0..length).map(sum).collect()
}

/// The last `length` of `count` elements, each of which is an expression of those before it: `result[i - 1]`.
pub(super) fn recurrence(
    of: &Expression,
    count: usize,
    length: usize,
    buffers: &Buffers<'_>,
) -> Result<Vec<Value>, Failure> {
    let bound = of.bind(&Inner { buffers, index: "i", outer: None })?;
    let mut made: Vec<Value> = Vec::with_capacity(count);
    for i in 0..count as i64 {
        let element = |buffer: usize, index: i64| {
            if buffer != Inner::OWN {
                return buffers.element(buffer, index);
            }
            let known = usize::try_from(index).ok().and_then(|index| made.get(index).copied());
            known.ok_or_else(|| format!("`{RESULT}` has no element {index} yet"))
        };
        let value = bound.evaluate(i, &element);
        made.push(value.map_err(|e| Failure::new(format!("for i = {i}: {e}")))?);
    }
    Ok(made.split_off(count.saturating_sub(length)))
}
