//! Static checks of kernels: their messages, the project's own kernels, and what the reference interpreter
//! makes of kernels that pass or do not pass them.

mod barriers;
#[path = "../golden/mod.rs"]
mod golden;
mod kernels;
mod messages;
mod random;
mod structured;
mod unwritten;
