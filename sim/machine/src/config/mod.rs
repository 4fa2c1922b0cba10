//! Configurations of a GPU: declaration of the parameters, presets, loading, and the checked form that the
//! machine is built from.

mod check;
mod choices;
mod declare;
mod docs;
mod dot;
mod errors;
mod keys;
mod load;
mod manual;
pub mod model;
pub mod network;
mod plugins;
mod presets;
pub mod routes;
mod rules;
mod schema;
mod settings;
mod show;
pub mod size;
mod source;
mod values;

pub use docs::{diff, explain, is_key, list, meaning, nearest_preset};
pub use dot::dot;
pub use load::{from_text, load, load_with_settings, load_with_warnings};
pub use manual::manual;
pub use model::*;
pub use plugins::{Chosen, install};

pub use presets::{PARTS, PRESETS};
pub use schema::schema;
pub use settings::{Form, Settable};
pub use show::wrap;
pub use show::{resolved, show};

pub use values::{config_hash, leaves};

#[cfg(test)]
mod tests;
