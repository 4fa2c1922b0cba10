//! The `wave-sim` command as a user meets it.

#[path = "../golden/mod.rs"]
mod golden;

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
