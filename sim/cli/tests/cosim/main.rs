//! The SystemVerilog core and the simulator agree on the cycle of every stage.

mod altered;
mod bench;
mod broken;
mod campaign;
mod directed;
mod encodings;
use wave_testing::environment;
mod foreign;
mod guidance;
mod ladder;
mod latencies;
mod machine;
mod mutants;
mod proofs;
mod random;
mod rules;
mod suite;
mod synthesis;
mod traces;
