//! The intermediate representation: its text, its verifier, its interpreter and its random modules.

mod evaluate;
mod instances;
mod random;
mod text;
mod verify;
mod workgroup;

use wave_compile::ir::Module;

/// The module of a text that is right.
fn module(text: &str) -> Module {
    let module: Module = text.parse().unwrap_or_else(|error| panic!("{error}"));
    wave_compile::ir::verify::verify(&module).unwrap_or_else(|invalid| panic!("{invalid}"));
    module
}
