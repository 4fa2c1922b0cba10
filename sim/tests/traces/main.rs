//! The retirement trace: golden traces, checks by the reference interpreter, and what must not affect it.

#[path = "../golden/mod.rs"]
mod golden;

mod differences;
mod forms;
mod golden_traces;
mod konata;
mod machine;
mod oracle;
#[allow(dead_code)] // the rest of it is used in `cli`
mod pftrace;
mod queues;
mod record;
mod viewers;
