//! Compute shaders: stored cases with results from the host and from a software Vulkan driver, small ones with results by
//! hand, and wrong ones.

mod case;
mod machine;
mod mutations;
mod narrow;
mod regressions;
mod spirv;
mod verify;
