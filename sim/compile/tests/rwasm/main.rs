//! Tests of the decoder of rWasm.

mod bodies;
mod compiled;
mod decoder;
mod encode;
mod example;
mod fuel;
mod graphs;
mod mutations;
mod opcodes;
mod peer;
mod suite;
mod words;
mod wrong;

#[allow(dead_code, reason = "the runner of WebAssembly's own tests has more than these need")]
#[path = "../wasm/interpreted.rs"]
mod interpreted;
#[allow(dead_code, reason = "the runner of WebAssembly's own tests has more than these need")]
#[path = "../wasm/script.rs"]
mod script;
#[path = "../wasm/simulated.rs"]
mod simulated;
#[path = "../wasm/values.rs"]
mod values;
