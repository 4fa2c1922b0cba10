//! The text format.

use std::path::Path;
use wast::Wat;
use wast::core::{EncodeOptions, GenerateDwarf};
use wast::parser::{self, ParseBuffer};
use wave_isa::diagnostic::{Diagnostic, Place};

/// Encodes a module in the text format (`.wat`), with its lines as debugging information.
///
/// # Errors
/// A text that is no module, with its place.
pub fn encode(file: &str, text: &str) -> Result<Vec<u8>, Diagnostic> {
    let located = |error: wast::Error| {
        let place = Place::at_offset(file, text, error.span().offset(), 1);
        Diagnostic::error(error.message()).at(place)
    };
    let mut buffer = ParseBuffer::new(text).map_err(located)?;
    buffer.track_instr_spans(true);
    let mut wat = parser::parse::<Wat<'_>>(&buffer).map_err(located)?;
    match &mut wat {
        Wat::Module(module) => {
            let mut options = EncodeOptions::new();
            options.dwarf(Path::new(file), text, GenerateDwarf::Lines);
            options.encode_module(module).map_err(located)
        }
        Wat::Component(_) => {
            Err(Diagnostic::error("this is a component, not a module")
                .hint("give the core module that is in it"))
        }
    }
}
