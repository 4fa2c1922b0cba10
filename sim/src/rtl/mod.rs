//! The SystemVerilog of `rtl-tests/` as executables, and their comparison with the simulator.

mod core_model;
mod cosim;
mod observer;
mod step;
mod stimulus;
mod stream;
mod verilate;

pub use core_model::{Variant, directory, wave_core};
pub use cosim::{Agreement, Cosim, Disagreement, Mode};
pub use step::{Record, Stage};
pub use stimulus::Stimulus;
pub use verilate::{BuildError, INSTALL, Model, SKIP_VARIABLE, build, skipped, verilator_version};
