//! The `wave-sim` command as a user meets it.

#[path = "../golden/mod.rs"]
mod golden;
#[allow(dead_code)] // the rest of it is used there
#[path = "../traces/pftrace.rs"]
mod pftrace;

mod commands;
mod cosim;
mod documented;
mod explain;
mod litmus;
mod reference;
mod run;
mod scratch;
mod several;
#[cfg(unix)]
mod signals;
mod standstill;
mod traces;
mod wrong_input;
