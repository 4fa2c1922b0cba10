//! Imports that nobody provides.

use crate::ir::{Function, Place, Signature, Terminator, Trap};
use wasmparser::{Import, TypeRef};

/// What becomes of an imported function that nobody provides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnknownImports {
    /// The module is refused.
    #[default]
    Refused,
    /// A call of it traps.
    Trap,
}

/// The function in its place, which has its name. Its place is that of the import, so that a trap says which one it was.
pub(super) fn function(import: &Import<'_>, signature: &Signature, offset: u64) -> Function {
    let name = format!("{}.{}", import.module, import.name);
    let at = Place(u32::try_from(offset).unwrap_or(u32::MAX));
    let mut function = Function::new(Some(name), signature.clone(), at);
    let entry = function.entry();
    let body = &mut function.blocks[entry];
    (body.terminator, body.at) = (Terminator::Trap(Trap::UnknownImport), at);
    function
}

/// What helps, after what there is.
pub(super) fn hint(import: &Import<'_>, known: &str) -> String {
    match import.ty {
        TypeRef::Func(_) => format!("{known}; with --imports trap only a call of the function traps"),
        _ => known.to_owned(),
    }
}
