//! One core: wave slots, schedulers, execution units, load/store unit, L1.
//!
//! docs/pipeline.md holds the timing rules; each rule names the file here that implements it. A stage is a struct that is
//! given its latches and the shared state that its rules name. [`Core`] has one call for each, in the order of rule P1.

pub mod account;
pub mod collector;
mod completions;
pub(crate) mod context;
pub(crate) mod cycle;
mod decode;
mod dispatch;
pub mod divergence;
mod execute;
mod fault;
pub(crate) mod fetch;
pub(crate) mod grid;
pub(crate) mod handover;
mod issue;
mod journal;
mod latches;
pub(crate) mod lsu;
mod mix;
pub mod occupancy;
mod operand_read;
pub mod place;
mod plausible;
pub mod probe;
mod registers;
pub(crate) mod release;
mod reply;
pub mod report;
mod resolve;
mod retire;
mod scheduler;
mod scheduling;
mod shared;
pub mod slot;
mod spec;
pub mod stage;
pub(crate) mod standing;
mod straight;
pub mod timing;
pub mod uop;
pub mod view;
pub mod wait;
pub(crate) mod wave;
mod workgroup;
pub(crate) mod write_ports;
mod writeback;

pub use cycle::{Core, Links};
pub(crate) use spec::CoreRun;
