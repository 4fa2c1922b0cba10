//! Litmus tests: small concurrent kernels whose outcomes are checked against the axioms of
//! docs/memory-model.md.
//!
//! A file ([`parse`](mod@parse)) is one test. Its [`variants`](variant) place the threads on the machine and
//! choose fences, scopes and accesses. The checker ([`candidates`], [`axioms`]) enumerates the executions of
//! a variant, and with them the allowed outcomes. The runner ([`lower`], [`run`]) executes the variant as a
//! kernel on the simulator and counts the outcomes.

pub(crate) mod axioms;
pub(crate) mod campaign;
pub(crate) mod candidates;
pub(crate) mod lower;
pub(crate) mod parse;
pub mod report;
pub(crate) mod run;
pub(crate) mod suite;
pub(crate) mod test;
pub(crate) mod trace;
pub mod variant;

#[cfg(test)]
mod tests;

pub use campaign::{Campaign, TestReport};
pub use parse::parse;
pub use suite::{SUITE, builtin};
pub use test::Test;
