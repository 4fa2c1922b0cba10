//! Tests of the decoder of WebAssembly.

mod assemblyscript;
mod conformance;
mod decoder;
mod interpreted;
mod lines;
mod mutations;
mod nanowasm;
mod nans;
mod peer;
mod script;
mod simulated;
mod values;
