//! The simulated machine: configuration, cores, memory, and the loop that runs them.
//!
//! No command line, no files but configurations, no pictures. Modules follow the flow of data, and imports go
//! one way; ARCHITECTURE.md at the root of the repository has the map and the invariants.

pub mod alu;
pub mod clock;
pub mod config;
pub mod core;
pub mod functional;
pub mod gpu;
pub mod memory;
pub mod registry;
pub mod stats;
