//! Modules of SPIR-V, made by naga.

use naga::back::spv::{DebugInfo, Options, SourceLanguage, WriterFlags, write_vec};
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// The tree of a shader in WGSL.
pub(crate) fn parsed(wgsl: &str) -> naga::Module {
    naga::front::wgsl::parse_str(wgsl).unwrap_or_else(|error| panic!("{}", error.emit_to_string(wgsl)))
}

/// The module of a shader: with its lines, if `source` is the text. `None` if naga does not write it.
pub(crate) fn written(module: &naga::Module, source: Option<&str>) -> Option<Vec<u32>> {
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    let info = validator.validate(module).ok()?;
    let debug_info = source.map(|source_code| DebugInfo {
        source_code,
        file_name: "shader.wgsl",
        language: SourceLanguage::Unknown,
    });
    let flags = if source.is_some() { WriterFlags::DEBUG } else { WriterFlags::empty() };
    let options = Options { lang_version: (1, 3), flags, debug_info, ..Options::default() };
    write_vec(module, &info, &options, None).ok()
}

/// The words as a file.
pub(crate) fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
