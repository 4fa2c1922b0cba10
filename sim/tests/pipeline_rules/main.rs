//! The rules of docs/pipeline.md, one by one: tiny kernels on a machine of one core whose stages are
//! recorded, held against the cycles that each rule gives. A test is named after its rule.

mod front;
mod machine;
mod residency;
