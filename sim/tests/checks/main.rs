//! Static checks of kernels: their messages, the project's own kernels, and runs of passing and failing
//! kernels on the reference interpreter.

mod barriers;
#[path = "../environment/mod.rs"]
mod environment;
#[path = "../golden/mod.rs"]
mod golden;
mod kernels;
mod messages;
mod random;
mod structured;
mod unwritten;
