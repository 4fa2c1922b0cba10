//! Tests of the decoder of WebAssembly.

mod conformance;
mod decoder;
mod mutations;
mod nans;
mod peer;
mod script;
