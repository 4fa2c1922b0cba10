//! Tests of the decoder of WebAssembly.

mod conformance;
mod decoder;
mod mutations;
mod peer;
mod script;
