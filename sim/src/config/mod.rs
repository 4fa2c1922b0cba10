//! Configurations of a GPU: the validated form that the machine is built from.

pub mod model;

pub use model::*;
