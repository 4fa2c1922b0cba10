//! The `wave-sim` command.
fn main() {}
