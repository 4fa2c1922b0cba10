//! Programs as text and as files: round trips, a second assembler, damaged input, messages.

mod fuzz;
use wave_testing::golden;
mod instructions;
mod messages;
mod reference;
mod roundtrip;
