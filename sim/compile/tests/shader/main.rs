//! Compute shaders: stored cases with results from the host and from a software Vulkan driver.

mod case;
mod machine;
mod verify;
