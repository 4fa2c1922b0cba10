//! What the tests of several crates share.

pub mod clang;
pub mod drawn;
pub mod environment;
pub mod golden;
pub mod launches;
pub mod operands;
pub mod pftrace;
pub mod planted;
pub mod ptxas;
