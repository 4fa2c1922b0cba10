//! The core synthesizes, and is as large and as deep as rtl-tests/README.md says.

use crate::bench::root;
use std::process::Command;
use wave_testing::golden;

#[test]
#[ignore = "installs yosys from PyPI, and takes minutes"]
fn the_small_core_has_the_gates_and_depths_of_the_page() {
    let output = Command::new("python3")
        .args(["scripts/rtl_synthesis.py", "--waves", "4"])
        .current_dir(root())
        .output()
        .unwrap_or_else(|e| panic!("python3: {e}"));
    let table = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{table}{said}");
    golden::check_part("rtl-tests/README.md", "the small core", &table);
}
