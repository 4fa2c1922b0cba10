//! The retirement trace: golden traces, checks by the reference interpreter, and what must not affect it.

use wave_testing::golden;

mod differences;
mod forms;
mod golden_traces;
mod konata;
mod machine;
mod oracle;
#[allow(dead_code)] // the rest of it is used in `cli`
use wave_testing::pftrace;
mod queues;
mod record;
mod viewers;
