//! The SystemVerilog of `rtl-tests/` as executables: what the comparisons with the simulator run.

mod verilate;

pub use verilate::{BuildError, INSTALL, Model, SKIP_VARIABLE, build, skipped, verilator_version};
