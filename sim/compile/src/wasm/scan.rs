//! The first pass over a function: validation, and what the translation has to know ahead.

use super::Error;
use wasmparser::{FuncToValidate, FuncValidatorAllocations, FunctionBody, Operator, ValidatorResources};

/// What is known of a function before it is translated. Operators are named by their byte of the file.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Local variable and operator of each assignment, sorted.
    pub(crate) assignments: Vec<(u32, u32)>,
    /// Operator that ends each block, loop and if, in the order in which they begin.
    pub(crate) ends: Vec<u32>,
    /// Whether it has an `else`.
    pub(crate) has_else: Vec<bool>,
}

impl Scan {
    /// Validates a function.
    pub(super) fn new(
        function: FuncToValidate<ValidatorResources>,
        body: &FunctionBody<'_>,
        allocations: &mut FuncValidatorAllocations,
    ) -> Result<Scan, Error> {
        let mut validator = function.into_validator(std::mem::take(allocations));
        let mut locals = body.get_binary_reader();
        validator.read_locals(&mut locals)?;
        let mut operators = body.get_operators_reader()?;
        let mut scan = Scan::default();
        let mut open = Vec::new();
        while !operators.eof() {
            let (operator, offset) = operators.read_with_offset()?;
            validator.op(offset, &operator)?;
            let position = offset as u32;
            match operator {
                Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => {
                    scan.assignments.push((local_index, position));
                }
                Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => {
                    open.push(scan.ends.len());
                    scan.ends.push(0);
                    scan.has_else.push(false);
                }
                Operator::Else => {
                    if let Some(&construct) = open.last() {
                        scan.has_else[construct] = true;
                    }
                }
                Operator::End => {
                    if let Some(construct) = open.pop() {
                        scan.ends[construct] = position;
                    }
                }
                _ => {}
            }
        }
        operators.finish()?;
        scan.assignments.sort_unstable();
        *allocations = validator.into_allocations();
        Ok(scan)
    }

    /// True if an operator after `start` and before `end` assigns to a local variable.
    pub(super) fn is_assigned(&self, local: u32, start: u32, end: u32) -> bool {
        let first = self.assignments.partition_point(|&assignment| assignment <= (local, start));
        self.assignments.get(first).is_some_and(|&(other, position)| other == local && position < end)
    }
}
