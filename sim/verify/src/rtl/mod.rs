//! Builds the SystemVerilog of `rtl-tests/` into executables and compares them with the simulator.

mod comparison;
mod core_model;
mod cosim;
pub mod coverage;
mod difference;
mod events;
mod fault;
mod guide;
mod lines;
mod modules;
mod observer;
mod packet;
mod process;
mod random;
mod retirement;
mod step;
mod stimulus;
mod stream;
mod traced;
mod verilate;

pub use core_model::{SMALL_WAVES, Variant, directory, planted_bugs, small, wave_core};
pub use cosim::{Agreement, Cosim, Disagreement, End, Mode};
pub use events::Events;
pub use guide::Guide;
pub use lines::LineCoverage;
pub use modules::modules_of;
pub use random::{Side, Trial};
pub use retirement::Retirement;
pub use step::{Record, Stage, Step};

pub use stimulus::{Beginning, Earlier, Replay};
pub use traced::{Sinks, header_of_other};

pub use verilate::{INSTALL, Model, SKIP_VARIABLE, build, build_watched, skipped, verilator_version};
