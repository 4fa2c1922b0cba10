//! Which format a kernel file has.

use crate::{c, wasm};
use std::path::Path;
use std::str::FromStr;
use wave_isa::program::wbin;
use wave_isa::suggest::did_you_mean;

/// The format of a kernel file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// WAVE assembly.
    Wave,
    /// The container of WAVE programs.
    Wbin,
    /// WebAssembly in binary.
    Wasm,
    /// WebAssembly as text.
    Wat,
    /// C or C++; the extension says which.
    C,
    /// The text of the intermediate representation.
    Ir,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 6] =
        [Format::Wave, Format::Wbin, Format::Wasm, Format::Wat, Format::C, Format::Ir];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Wave => "wave",
            Format::Wbin => "wbin",
            Format::Wasm => "wasm",
            Format::Wat => "wat",
            Format::C => "c",
            Format::Ir => "ir",
        }
    }

    /// The format of a file. The contents tell binary formats; the extension tells the formats of text. Text with an
    /// extension that no format has is WAVE assembly.
    pub fn of(path: &Path, bytes: &[u8]) -> Format {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let binary = [(wasm::is_binary(bytes), Format::Wasm), (bytes.starts_with(wbin::MAGIC), Format::Wbin)];
        let told = binary.into_iter().find(|(is_this, _)| *is_this).map(|(_, format)| format);
        told.unwrap_or_else(|| match extension {
            _ if c::is_source(path) => Format::C,
            "wasm" => Format::Wasm,
            "wat" => Format::Wat,
            "ir" => Format::Ir,
            "wbin" => Format::Wbin,
            _ => Format::Wave,
        })
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        Format::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| {
            let names = Format::ALL.map(Format::name);
            let near =
                did_you_mean(text, names.into_iter()).map_or(String::new(), |near| format!("; {near}"));
            format!("`{text}` is no format; formats: {}{near}", names.join(", "))
        })
    }
}
