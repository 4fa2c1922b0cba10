//! Which format a kernel file has.

use crate::{c, pica, rwasm, shader, wasm, wasm2015};
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
    /// The WebAssembly prototype of 2015.
    Wasm2015,
    /// rWasm: the container, or instructions alone.
    Rwasm,
    /// PICA200 shaders: the container, or words of code alone.
    Shbin,
    /// PICA200 shaders as text.
    Pica,
    /// Compute shaders in WGSL.
    Wgsl,
    /// Compute shaders in SPIR-V.
    Spv,
    /// PTX, the virtual instruction set of NVIDIA's GPUs.
    Ptx,
    /// CUDA C++.
    Cu,
    /// OpenCL C.
    Cl,
    /// The text of the intermediate representation.
    Ir,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 15] = [
        Format::Wave,
        Format::Wbin,
        Format::Wasm,
        Format::Wat,
        Format::C,
        Format::Wasm2015,
        Format::Rwasm,
        Format::Shbin,
        Format::Pica,
        Format::Wgsl,
        Format::Spv,
        Format::Ptx,
        Format::Cu,
        Format::Cl,
        Format::Ir,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Wave => "wave",
            Format::Wbin => "wbin",
            Format::Wasm => "wasm",
            Format::Wat => "wat",
            Format::C => "c",
            Format::Wasm2015 => "wasm2015",
            Format::Rwasm => "rwasm",
            Format::Shbin => "shbin",
            Format::Pica => "pica",
            Format::Wgsl => "wgsl",
            Format::Spv => "spv",
            Format::Ptx => "ptx",
            Format::Cu => "cu",
            Format::Cl => "cl",
            Format::Ir => "ir",
        }
    }

    /// What a file in it is, for messages.
    pub(crate) const fn description(self) -> &'static str {
        match self {
            Format::Wave => "WAVE assembly",
            Format::Wbin => "a WBIN container",
            Format::Wasm | Format::Wat => "WebAssembly",
            Format::C => "C",
            Format::Wasm2015 => "WebAssembly of 2015",
            Format::Rwasm => "rWasm",
            Format::Shbin | Format::Pica => "a PICA200 shader",
            Format::Wgsl => "WGSL",
            Format::Spv => "SPIR-V",
            Format::Ptx => "PTX",
            Format::Cu => "CUDA C++",
            Format::Cl => "OpenCL C",
            Format::Ir => "the intermediate representation",
        }
    }

    /// True if a module of this format that imports nothing from `wave` runs as instances where nobody says otherwise.
    pub const fn has_instances(self) -> bool {
        matches!(self, Format::Wasm | Format::Wat | Format::Wasm2015 | Format::Rwasm)
    }

    /// True for languages that clang compiles, with the flags of the user.
    pub const fn has_compiler(self) -> bool {
        matches!(self, Format::C | Format::Cu | Format::Cl)
    }

    /// True for compute shaders, whose launches bring buffers.
    pub const fn is_shader(self) -> bool {
        matches!(self, Format::Wgsl | Format::Spv)
    }

    /// The format of a file. Text with an extension that no format has is WAVE assembly.
    pub fn of(path: &Path, bytes: &[u8]) -> Format {
        Format::known(path, bytes).unwrap_or(Format::Wave)
    }

    /// The format of a file that says which it has: the contents tell binary formats, the extension tells the formats of
    /// text. A file that another one names has to be such a file, since messages about a text quote it.
    pub fn known(path: &Path, bytes: &[u8]) -> Option<Format> {
        let is_text = !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok();
        let told = match bytes {
            _ if wasm::is_binary(bytes) => Some(Format::Wasm),
            _ if rwasm::is_container(bytes) => Some(Format::Rwasm),
            _ if pica::is_shbin(bytes) => Some(Format::Shbin),
            _ if shader::is_spirv(bytes) => Some(Format::Spv),
            _ if bytes.starts_with(wbin::MAGIC) => Some(Format::Wbin),
            _ if is_text => None,
            // These have no first bytes of their own.
            _ if rwasm::is_bare(bytes) => Some(Format::Rwasm),
            _ if wasm2015::is_wasm2015(bytes) => Some(Format::Wasm2015),
            _ => None,
        };
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let by_name = || Format::ALL.into_iter().find(|format| format.name() == extension);
        told.or_else(|| if c::is_source(path) { Some(Format::C) } else { by_name() })
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
