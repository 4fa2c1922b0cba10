//! The report of a run: its figures equal the statistics, its page is valid, and a browser can use it.

mod advice;
mod against_trace;
mod beside;
mod browser;
mod chromium;
mod figures;
mod gathered;
mod page;
mod run;
#[allow(dead_code)] // the rest of it is used there
#[path = "../cli/scratch.rs"]
mod scratch;
mod signs;
mod sound;
mod sweep_page;
mod window;
