//! What a program for CUDA or OpenCL loads in place of its vendor's libraries when `wave-sim run` starts it.
//!
//! [`protocol`] is all that the simulator uses of this crate. The rest are the functions that programs call: their
//! symbols here begin with `wave_`, and `sim/cli/build.rs` makes the library in which they have the names of CUDA and
//! OpenCL. Each becomes a [request](protocol::Request); nothing is simulated in the program's process.

mod connection;
mod cuda;
mod ffi;
mod opencl;
pub mod protocol;
