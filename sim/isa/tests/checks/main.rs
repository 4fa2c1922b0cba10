//! Static checks of kernels: their messages, the project's own kernels, and runs of passing and failing
//! kernels on the reference interpreter.

mod barriers;
use wave_testing::environment;
use wave_testing::golden;
mod kernels;
mod messages;
mod random;
mod structured;
mod unwritten;
