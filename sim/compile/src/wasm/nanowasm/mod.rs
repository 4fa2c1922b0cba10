//! The custom sections of NanoWasm: tables of offsets, so that an interpreter finds a type, an import, a function body or
//! a label without reading what stands before it.
//!
//! What the text of NanoWasm leaves open, and what is chosen here:
//!
//! - Every number is an unsigned 32-bit integer in little-endian, and the sections have no counts of their own: the
//!   size of a section says how many numbers it has.
//! - An offset inside the type, import or code section counts from the first entry of that section: the byte behind
//!   the section's size and its count. So the first offset of `nw_to` and of `nw_fbo` is 0.
//! - `nw_to` names the first byte of a type: its form, 0x60. It has all types.
//! - `nw_fti` has the type of each function that is not imported.
//! - `nw_iti` names the byte of the kind of an import, behind the two names. It has all imports, not only functions.
//! - `nw_fbo` names the first byte of a function's entry in the code section: the size of the body.
//! - In `nw_lo` the offsets to the entries of functions count from the first byte behind the section's name, where the
//!   array of these offsets begins.
//! - Labels are those of `block`, `loop` and `if`, in the order in which they begin; the function itself has none.
//!   `start` is the byte of that operator, `end` the byte of its `end`. Both count from the byte that `nw_fbo` names, so
//!   that the sum of the two offsets is one inside the code section.
//!
//! The sections stand in any order at any place, each at most once. A module may have some of them and not others.
//! [`annotate`] puts all five at the end. In `nw_lo` it writes the entries of functions one after the other; readers
//! take them in any order, and take one entry for several functions, but no byte that belongs to none.

mod encode;
mod layout;
mod tables;
mod through;
mod verify;

pub use encode::annotate;
pub(super) use tables::Tables;
pub(super) use through::read;
pub use verify::{Contents, verify};

/// Bytes of a number.
const NUMBER: usize = 4;

/// A section of NanoWasm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Offsets of the types.
    Types,
    /// Types of the functions.
    FunctionTypes,
    /// Offsets of the kinds of imports.
    Imports,
    /// Offsets of the function bodies.
    Bodies,
    /// Offsets of the labels of each function.
    Labels,
}

impl Section {
    /// All of them, in the order in which [`annotate`] writes them.
    pub const ALL: [Section; 5] =
        [Section::Types, Section::FunctionTypes, Section::Imports, Section::Bodies, Section::Labels];

    /// Name of the custom section.
    pub fn name(self) -> &'static str {
        match self {
            Section::Types => "nw_to",
            Section::FunctionTypes => "nw_fti",
            Section::Imports => "nw_iti",
            Section::Bodies => "nw_fbo",
            Section::Labels => "nw_lo",
        }
    }

    /// The section with this name.
    pub(super) fn named(name: &str) -> Option<Section> {
        Section::ALL.into_iter().find(|section| section.name() == name)
    }

    /// What the section has a number for.
    pub fn entry(self) -> &'static str {
        match self {
            Section::Types => "type",
            Section::FunctionTypes => "function",
            Section::Imports => "import",
            Section::Bodies => "body",
            Section::Labels => "label",
        }
    }
}
