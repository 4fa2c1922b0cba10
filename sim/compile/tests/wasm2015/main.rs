//! Tests of the decoder of the WebAssembly prototype of 2015.

mod cases;
mod decoder;
mod encoder;
mod example;
#[allow(dead_code, reason = "the tests of WebAssembly use the rest")]
#[path = "../wasm/interpreted.rs"]
mod interpreted;
mod kernels;
mod mutations;
mod operators;
mod oracle;
#[allow(dead_code, reason = "the tests of WebAssembly use the rest")]
#[path = "../wasm/script.rs"]
mod script;
#[allow(dead_code, reason = "the tests of WebAssembly use the rest")]
#[path = "../wasm/simulated.rs"]
mod simulated;
mod trees;
#[path = "../wasm/values.rs"]
mod values;
