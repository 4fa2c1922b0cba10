//! Kernels and instances in every encoding run on the core as on the simulator.

use crate::bench::root;
use std::process::Command;
use wave_verify::rtl;

#[test]
fn an_example_of_each_encoding_is_the_same_on_the_core() {
    if rtl::skipped() {
        return;
    }
    for words in [
        "collatz.wat --function steps --param 27 --workgroup 4",
        "saxpy.wasm2015 --grid 2 --workgroup 8 --param 2 --param 0x10000 --param 0x20000 --param 14",
        "gcd.wasm2015 --function gcd --param 1071 --param 462 --workgroup 4",
        "collatz.rwasm --function 0 --param 27 --workgroup 4",
        "knot.v.pica --workgroup 8 --param 8 --param 0x10000 --param 0x20000 --param 0x30000 --param 0x40000 \
         --param 0x50000 --fill-iota 0x10000:f32:40:0.25 --fill-iota 0x20000:f32:32:0.5 --fill-iota 0x30000:f32:32:1",
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wave-sim"));
        command.arg("cosim").args(words.split_whitespace()).arg("--no-bundle").arg("--build-dir");
        command.arg(root().join("target/rtl")).current_dir(root().join("sim/kernels/examples"));
        let output = command.output().expect("the program runs");
        let said = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("agrees; "), "{words}: {said}{complaint}");
    }
}
