//! Which files are source text.

use std::path::Path;

/// Extensions of languages that are compiled to the formats of kernels, and of what their sources include.
const LANGUAGES: [&str; 50] = [
    "adb", "ads", "asm", "c", "c++", "cc", "cl", "comp", "cp", "cpp", "cu", "cuh", "cxx", "d", "def", "f",
    "f90", "frag", "glsl", "go", "h", "hh", "hlsl", "hpp", "hxx", "inc", "inl", "ipp", "js", "kt", "m",
    "metal", "mm", "mojo", "nim", "odin", "py", "rs", "s", "slang", "swift", "tcc", "tpp", "ts", "v", "vert",
    "wast", "wat", "wgsl", "zig",
];

/// True if the name of a file says that it is source text. A module may name any file as its source, and lines of it
/// are shown: so those that are read have to look like one.
pub(crate) fn is_code(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    LANGUAGES.contains(&extension.to_ascii_lowercase().as_str())
}
