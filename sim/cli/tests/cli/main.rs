//! The `wave-sim` command as a user meets it.

use wave_testing::golden;
#[allow(dead_code)] // the rest of it is used there
use wave_testing::pftrace;

mod by_buffer;
#[cfg(unix)]
mod checkpoints;
mod commands;
mod compare;
mod cosim;
mod debug;
mod detail_from;
mod documented;
mod encodings;
#[cfg(unix)]
mod endless;
mod explain;
mod figures;
mod first_hour;
mod functional;
mod hidden;
#[cfg(target_os = "linux")]
mod host_memory;
mod instances;
mod kernels_in_c;
mod kernels_in_cuda;
mod litmus;
mod modules;
mod optimize;
#[cfg(unix)]
mod outputs;
mod pages;
#[cfg(target_os = "linux")]
mod programs;
mod ranges;
mod reference;
mod run;
mod sample;
mod scratch;
mod several;
#[cfg(unix)]
mod signals;
mod silicon;
mod standstill;
mod sweep;
#[cfg(unix)]
mod sweep_dask;
mod terms;
mod together;
mod traces;
mod validate;
mod wrong_input;
