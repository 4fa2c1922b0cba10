//! Kernels in PTX: every instruction against arithmetic of the host, the suites there and back, the suite in CUDA C++, what is
//! refused, and texts that are no PTX.

mod control;
mod device_library;
mod machine;
mod matrices;
mod mutations;
mod random;
mod refused;
mod round_trip;
mod roundings;
mod scheduled;
mod suite;
mod values;
