//! Litmus tests: small concurrent kernels whose outcomes are checked against the axioms of
//! docs/memory-model.md.
//!
//! A file ([`parse`](mod@parse)) is one test. Its [`variants`](variant) place the threads on the machine and
//! choose fences, scopes and accesses. The checker ([`candidates`], [`axioms`]) enumerates the executions of
//! a variant, and with them the allowed outcomes. The runner ([`lower`], [`run`]) executes the variant as a
//! kernel on the simulator and counts the outcomes.

pub mod axioms;
pub mod campaign;
pub mod candidates;
pub mod lower;
pub mod parse;
pub mod report;
pub mod run;
pub mod suite;
pub mod test;
pub mod trace;
pub mod variant;

#[cfg(test)]
mod tests;

pub use campaign::{Campaign, TestReport, VariantReport};
pub use parse::parse;
pub use suite::{SUITE, builtin};
pub use test::Test;
