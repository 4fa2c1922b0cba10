//! The rules of docs/pipeline.md, one by one: tiny kernels on a machine with one core whose stages are
//! recorded. The cycles must be those that each rule gives. A test is named after its rule.

mod account;
mod control;
mod counters;
mod execute;
mod faults;
mod front;
mod issue;
mod load_store;
mod machine;
mod occupancy;
mod residency;
