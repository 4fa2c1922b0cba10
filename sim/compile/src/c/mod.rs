//! Kernels in C and C++: calls `clang`, and gives the WebAssembly module that it makes.
//!
//! Kernels in CUDA C++ and OpenCL C become PTX instead ([`compile_to_ptx`]), and CUDA programs executables ([`host`]).
//!
//! The source is linked with those parts of a C library that it needs (`library/`).
//!
//! The module has no entry. It exports the functions marked `KERNEL`, `__heap_base` (the end of its data) and
//! `__stack_pointer`; it imports from the module `wave` only. Its memory holds data and no stack: the compiler gives each
//! thread a stack of its own.

mod clang;
mod cuda;
mod flags;
pub mod host;
mod library;

use std::path::{Path, PathBuf};
use wave_isa::diagnostic::Diagnostic;

/// Environment variable with the clang to call.
pub const CLANG_VARIABLE: &str = "WAVE_SIM_CLANG";
/// The command that installs what is needed.
pub const INSTALL: &str = "sudo apt-get install -y clang lld";
/// Environment variable that, set to 1, lets tests that need clang pass without it.
pub const SKIP_VARIABLE: &str = "WAVE_SIM_SKIP_CLANG";
/// The oldest clang that is taken.
pub const OLDEST_CLANG: u32 = 14;

/// The kernels that need clang, for messages.
const KERNELS: &str = "kernels in C";

/// How a source is compiled.
#[derive(Debug, Clone, Default)]
pub struct CompileOptions {
    /// Flags for the compiler after ours, so that they win: `-O1`, `-DTILE=32`, `-Iinclude`.
    pub flags: Vec<String>,
    /// The clang to call; by default that of [`CLANG_VARIABLE`], else `clang`.
    pub clang: Option<PathBuf>,
    /// NVIDIA's compiler, which compiles CUDA C++ in place of clang.
    pub nvcc: Option<PathBuf>,
    /// Clang may move code into a branch that alone needs it. It drops the line of what it moves, if that is another one
    /// than that of the branch: a whole filter in front of an `if` has no lines then.
    pub sinks: bool,
}

/// A compiled source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The module.
    pub wasm: Vec<u8>,
    /// What clang warns of, as it says it; empty if it warns of nothing.
    pub warnings: Vec<Diagnostic>,
}

/// A language that becomes PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PtxLanguage {
    /// CUDA C++.
    Cuda,
    /// OpenCL C.
    OpenCl,
}

/// A source that was compiled to PTX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltPtx {
    /// The text of the module.
    pub ptx: String,
    /// Warnings of the compiler, in its words.
    pub warnings: Vec<Diagnostic>,
}

/// Compiles a source file in CUDA C++ or OpenCL C to PTX.
///
/// # Errors
/// A compiler that is missing or too old; a file that cannot be read; what the compiler says is wrong with the source, in
/// its own words.
pub fn compile_to_ptx(
    source: &Path,
    language: PtxLanguage,
    options: &CompileOptions,
) -> Result<BuiltPtx, Diagnostic> {
    wave_isa::program::read_file(source).map_err(|mut errors| errors.remove(0))?;
    cuda::build(source, language, options)
}

/// True if a file with this name is C or C++.
pub fn is_source(path: &Path) -> bool {
    flags::language(path).is_some()
}

/// Compiles a source file.
///
/// # Errors
/// A clang that is missing, too old or lacks its linker; a file that cannot be read; what clang says is wrong with the
/// source, in its own words.
pub fn compile(source: &Path, options: &CompileOptions) -> Result<Built, Diagnostic> {
    let name = source.display();
    let Some(language) = flags::language(source) else {
        let hint =
            format!("the extensions are {}", flags::EXTENSIONS.map(|(e, _)| format!(".{e}")).join(", "));
        return Err(Diagnostic::error(format!("`{name}` is neither C nor C++ by its extension")).hint(hint));
    };
    wave_isa::program::read_file(source).map_err(|mut errors| errors.remove(0))?;
    clang::Clang::find(options, KERNELS)?.build(source, language, options)
}

/// The first line of `clang --version` of the clang that [`compile`] calls.
///
/// # Errors
/// A clang that is missing or too old.
pub fn version(options: &CompileOptions) -> Result<String, Diagnostic> {
    Ok(clang::Clang::find(options, KERNELS)?.version)
}

/// True if the user set [`SKIP_VARIABLE`] to skip what needs clang.
pub fn skipped() -> bool {
    std::env::var(SKIP_VARIABLE).is_ok_and(|value| value == "1")
}
