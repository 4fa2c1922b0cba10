//! Files in languages that wave-sim does not read: the way from each to a kernel that runs.

use std::path::Path;
use wave_isa::diagnostic::Diagnostic;

/// A language, the extensions of its files, and what to do with one.
struct Language {
    extensions: &'static [&'static str],
    name: &'static str,
    /// The way to a kernel. `{file}` and `{stem}` stand for the file, with and without its extension.
    way: &'static str,
}

const LANGUAGES: &[Language] = &[
    Language {
        extensions: &["cuh"],
        name: "a header of CUDA C++",
        way: "name a source with the extension .cu that includes it, or run it as a source: `--source-format cu`",
    },
    Language {
        extensions: &["hip"],
        name: "HIP",
        way: "write the kernel in C with wave.h: docs/terms.md has HIP's words beside those of wave-sim, and \
              `wave-sim new NAME` makes an example",
    },
    Language {
        extensions: &["ocl", "clcpp"],
        name: "OpenCL C",
        way: "OpenCL C runs from files with the extension .cl, or with `--source-format cl`",
    },
    Language {
        extensions: &["metal", "msl"],
        name: "Metal",
        way: "write the kernel in WGSL (`wave-sim new NAME --lang wgsl`) or in C: docs/terms.md has Metal's words beside \
              those of wave-sim",
    },
    Language {
        extensions: &["comp", "glsl"],
        name: "GLSL",
        way: "compile it to SPIR-V, which runs: `glslangValidator -V -g -S comp {file} -o {stem}.spv`, then `wave-sim {stem}.spv`",
    },
    Language {
        extensions: &["hlsl"],
        name: "HLSL",
        way: "compile it to SPIR-V, which runs: `dxc -T cs_6_0 -spirv -E main {file} -Fo {stem}.spv`, then `wave-sim {stem}.spv`",
    },
    Language {
        extensions: &["slang"],
        name: "Slang",
        way: "compile it to SPIR-V, which runs: `slangc {file} -target spirv -o {stem}.spv`, then `wave-sim {stem}.spv`",
    },
    Language {
        extensions: &["spvasm"],
        name: "SPIR-V as text",
        way: "assemble it: `spirv-as {file} -o {stem}.spv`, then `wave-sim {stem}.spv`",
    },
    Language {
        extensions: &["vert", "frag", "geom", "tesc", "tese", "rgen"],
        name: "a graphics shader",
        way: "wave-sim runs compute shaders (docs/wgsl.md), and vertex shaders of the PICA200 (docs/pica200.md)",
    },
    Language {
        extensions: &["cubin", "fatbin", "sass", "hsaco"],
        name: "machine code of a GPU",
        way: "wave-sim runs other instruction sets (docs/frontends.md): start from the source of the kernel, in C, WGSL or \
              another language",
    },
    Language {
        extensions: &["ll", "bc"],
        name: "LLVM's intermediate representation",
        way: "compile it to WebAssembly, with the flags that `wave-sim header` prints: docs/frontends.md",
    },
    Language {
        extensions: &["rs"],
        name: "Rust",
        way: "compile it to WebAssembly, which runs: `rustc --target wasm32-unknown-unknown --crate-type cdylib -O {file} -o \
              {stem}.wasm`, then `wave-sim {stem}.wasm`; sim/kernels/examples/rust/ has a kernel",
    },
    Language {
        extensions: &["ts"],
        name: "TypeScript or AssemblyScript",
        way: "compile it to WebAssembly, which runs: `asc {file} -o {stem}.wasm`, then `wave-sim {stem}.wasm`; \
              sim/kernels/examples/assemblyscript/ has a kernel",
    },
    Language {
        extensions: &["py"],
        name: "Python",
        way: "the package `wave_sim` runs kernels of Triton (docs/triton.md) and numba, and kernels in C, WGSL and other \
              languages from Python (docs/python.md)",
    },
];

/// The message about a file in a language that wave-sim does not read, by its extension.
pub fn refusal(path: &Path) -> Option<Diagnostic> {
    let extension = path.extension()?.to_str()?.to_lowercase();
    let language = LANGUAGES.iter().find(|language| language.extensions.contains(&extension.as_str()))?;
    let file = path.display().to_string();
    let stem = path.with_extension("").display().to_string();
    let way = language.way.replace("{file}", &file).replace("{stem}", &stem);
    Some(Diagnostic::error(format!("`{file}` is {}, which wave-sim does not read", language.name)).hint(way))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Format;

    #[test]
    fn no_extension_is_that_of_a_format_or_in_two_rows() {
        let all: Vec<&str> = LANGUAGES.iter().flat_map(|language| language.extensions).copied().collect();
        assert!(all.len() > 20);
        for (number, extension) in all.iter().enumerate() {
            assert!(!all[..number].contains(extension), "{extension}");
            assert!(Format::ALL.iter().all(|format| format.name() != *extension), "{extension}");
            assert!(!crate::c::is_source(Path::new(&format!("x.{extension}"))), "{extension}");
        }
    }

    #[test]
    fn the_message_has_the_names_of_the_file() {
        let wrong = refusal(Path::new("a/Blur.COMP")).unwrap();
        assert_eq!(wrong.message, "`a/Blur.COMP` is GLSL, which wave-sim does not read");
        assert!(
            wrong.hint.unwrap().contains("-S comp a/Blur.COMP -o a/Blur.spv`, then `wave-sim a/Blur.spv`")
        );
        assert!(refusal(Path::new("blur.wave")).is_none() && refusal(Path::new("blur")).is_none());
    }
}
