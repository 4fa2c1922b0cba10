//! The SystemVerilog core and the simulator agree on the cycle of every stage.

mod bench;
mod broken;
#[path = "../campaign/mod.rs"]
mod campaign;
mod directed;
#[path = "../environment/mod.rs"]
mod environment;
mod foreign;
mod latencies;
mod machine;
mod mutants;
mod random;
mod rules;
mod suite;
mod traces;
