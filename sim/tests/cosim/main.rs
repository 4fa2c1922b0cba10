//! The core in SystemVerilog beside the simulator, in the same cycle at every stage.

mod bench;
mod broken;
mod directed;
mod latencies;
mod machine;
mod mutants;
mod random;
mod rules;
mod traces;
