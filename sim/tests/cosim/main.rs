//! The core in SystemVerilog beside the simulator, in the same cycle at every stage.

mod bench;
#[path = "../campaign/mod.rs"]
mod campaign;
mod directed;
mod foreign;
mod machine;
mod mutants;
mod random;
mod suite;
