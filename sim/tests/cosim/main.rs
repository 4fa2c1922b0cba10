//! The core in SystemVerilog beside the simulator, in the same cycle at every stage.

mod bench;
mod directed;
mod machine;
mod mutants;
mod random;
mod suite;
