//! Small kernels with the exact diagnostics.

use super::{CheckOptions, expect};

#[test]
fn clean() {
    expect("halt", &CheckOptions::default());
}
