//! Studies with a simulated machine: launch files and the kernel suite, summaries and reports of runs, litmus
//! tests, measurements, explanations.

pub mod checkpoint;
mod columns;
pub mod compare;
pub mod explain;
pub mod launch;
pub mod litmus;
pub mod measure;
pub mod optimize;
pub mod report;
pub mod results;
pub mod sample;
pub mod scatter;
pub mod sensitivity;
pub mod summary;
pub mod sweep;
pub mod timeline;
pub mod validate;
