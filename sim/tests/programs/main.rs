//! Programs as text and as files: round trips, a second assembler, damaged input, messages.

mod fuzz;
#[path = "../golden/mod.rs"]
mod golden;
mod instructions;
mod messages;
mod reference;
mod roundtrip;
