//! wave-sim: a cycle-level simulator of GPUs that run the WAVE v0.4 instruction set.
//!
//! Modules follow the flow of data, and imports go one way. ARCHITECTURE.md at the root of the repository has
//! the module map and the invariants.

pub mod alu;
pub mod cli;
pub mod clock;
pub mod config;
pub mod core;
pub mod diagnostic;
pub mod explain;
pub mod gpu;
pub mod isa;
pub mod launch;
pub mod limits;
pub mod litmus;
pub mod measure;
pub mod memory;
pub mod observe;
pub mod program;
pub mod races;
pub mod report;
pub mod ron_text;
pub mod rtl;
pub mod stats;
pub mod trace;
pub mod verify;
