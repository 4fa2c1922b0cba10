//! How many workgroups of a launch fit on a core: computed in [`crate::core`], which cannot import this module.

pub use crate::core::occupancy::{LaunchError, Limiter, Occupancy, limits};
