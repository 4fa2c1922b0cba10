//! The retirement trace: golden traces, the reference interpreter as its judge, and what must not show in it.

#[path = "../golden/mod.rs"]
mod golden;

mod differences;
mod forms;
mod golden_traces;
mod konata;
mod machine;
mod oracle;
mod queues;
mod record;
mod viewers;
