//! The example of the book is what the encoder makes of its source.

use super::encode::encode;
use wave_compile::wasm;
use wave_testing::golden;

#[test]
fn the_example_is_current() {
    let text = include_str!("../../../kernels/examples/collatz.wat");
    let wasm = wasm::encode("collatz.wat", text).expect("it is right");
    let encoded = encode(&wasm, Some(10)).expect("the encoding has all of it");
    let numbers: Vec<(&str, u32)> =
        encoded.functions.iter().map(|(name, number, _)| (name.as_str(), *number)).collect();
    // The page calls them by these numbers.
    assert_eq!(numbers, [("steps", 0), ("primes", 1)]);
    golden::check_bytes("sim/kernels/examples/collatz.rwasm", &encoded.module.bytes());
}
