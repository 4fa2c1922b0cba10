//! Configurations of a GPU: declaration, presets, loading and the checked form that the machine is built
//! from.

mod check;
mod declare;
mod errors;
mod load;
mod locate;
pub mod model;
mod presets;
mod rules;
mod source;

pub use load::{from_text, load, load_with_warnings};
pub use model::*;
pub use presets::{PRESETS, Preset};

#[cfg(test)]
mod tests;
