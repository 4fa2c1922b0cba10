//! The proofs of rtl-tests/proofs that take a few seconds each.

use crate::bench::root;
use std::process::Command;
use wave_verify::rtl;

/// Set to 1, it leaves out this test, which installs yosys and a solver from PyPI.
const SKIP_VARIABLE: &str = "WAVE_SIM_SKIP_PROOFS";

#[test]
fn the_quick_proofs_of_the_blocks_hold() {
    if rtl::skipped() || std::env::var(SKIP_VARIABLE).is_ok_and(|v| v == "1") {
        return;
    }
    let output = Command::new("python3")
        .args(["scripts/rtl_proofs.py", "--quick"])
        .current_dir(root())
        .output()
        .unwrap_or_else(|e| panic!("python3: {e}"));
    let table = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{table}{said}; {SKIP_VARIABLE}=1 leaves this out");
}
