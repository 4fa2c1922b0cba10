//! Configurations of a GPU: declaration, presets, loading and the checked form that the machine is built
//! from.

mod declare;
mod load;
pub mod model;
mod presets;

pub use load::{load, load_with_warnings};
pub use model::*;
pub use presets::{PRESETS, Preset};

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn presets_load() {
        for p in PRESETS {
            load(p.file).unwrap_or_else(|e| panic!("{}: {}", p.file, e[0]));
        }
    }
}
