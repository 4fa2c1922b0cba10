//! Kernels on a real GPU, and how close the simulator comes to it.
//!
//! [`session`] launches translated kernels on a [`device`], which is a GPU or a [`rehearsal`] without one, and reads the times
//! that the workgroups leave. [`job`] measures kernels with their data. [`micro`] are small kernels for one figure each, which
//! run on the GPU and, in [`bench`], on the simulator. [`fit`] proposes parameters from them. [`correlation`] holds cycles that
//! were simulated against cycles that were measured. `docs/silicon.md` has the methods.

pub mod bench;
pub mod correlation;
pub mod device;
pub mod document;
pub mod edit;
pub mod fit;
pub mod job;
pub mod micro;
pub mod rehearsal;
pub mod scatter;
pub mod session;
pub mod spread;
