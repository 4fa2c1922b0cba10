//! The library that sources are linked with: its headers, its sources, and which of these a source needs.

use wasmparser::{Imports, Parser, Payload, TypeRef};

macro_rules! texts {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("library/", $folder, "/", $name)))),*]
    };
}

/// Headers that sources include, beside `wave.h` and those of clang itself.
pub(super) const HEADERS: &[(&str, &str)] = texts!("include":
    "assert.h", "ctype.h", "inttypes.h", "malloc.h", "math.h", "memory.h", "stdio.h", "stdlib.h", "string.h", "strings.h",
    "wave_library.h",
);
/// Headers that stand for those of CUDA: the first one is included before a source, and has all that the others have.
pub(super) const CUDA_HEADERS: &[(&str, &str)] = texts!("cuda": "wave_cuda.h", "wave_cuda_math.h", "wave_cuda_host.h", "cuda_fp16.h", "cooperative_groups.h", "mma.h");
/// Headers of CUDA whose names are in [`CUDA_HEADERS`] already.
pub(super) const CUDA_NAMES: [&str; 14] = [
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "device_functions.h",
    "device_atomic_functions.h",
    "math_functions.h",
    "vector_types.h",
    "vector_functions.h",
    "builtin_types.h",
    "driver_types.h",
    "host_defines.h",
    "cuda_profiler_api.h",
    "sm_20_atomic_functions.h",
];
/// The header that is included before a source in OpenCL C.
pub(super) const OPENCL_HEADERS: &[(&str, &str)] = texts!("opencl": "wave_opencl.h", "wave_opencl_math.h");
/// Headers of the sources of the library.
pub(super) const OWN_HEADERS: &[(&str, &str)] =
    texts!("source": "common.h", "decimal.h", "format.h", "instructions.h", "real.h");
/// Sources of the library.
pub(super) const SOURCES: &[(&str, &str)] = texts!("source":
    "decimal.c", "exponential.c", "float.c", "format.c", "heap.c", "instructions.c", "memory.c", "print.c", "real.c", "stdlib.c", "string.c",
    "strtod.c", "trigonometric.c", "wide.c",
);
/// The source with the buffer of what threads print.
pub(super) const PRINT: &str = "print.c";
/// The macro with the bytes of that buffer.
pub(super) const OUTPUT_BYTES: &str = "WAVE_OUTPUT_BYTES";

/// The functions that a source of the library defines: those on lines with one of its marks.
pub(super) fn definitions(text: &str) -> impl Iterator<Item = &str> {
    let marked =
        text.lines().filter_map(|line| line.strip_prefix("LIBRARY ").or(line.strip_prefix("SHARED ")));
    marked.filter_map(|line| {
        if let Some((_, label)) = line.split_once("__asm__(\"") {
            return label.split('"').next();
        }
        let before = line.split_once('(')?.0;
        before.rsplit([' ', '*']).next()
    })
}

/// The sources that define these functions.
pub(super) fn sources_of(functions: &[String]) -> impl Iterator<Item = (&'static str, &'static str)> {
    let wanted = |text| definitions(text).any(|name| functions.iter().any(|function| function == name));
    SOURCES.iter().copied().filter(move |(_, text)| wanted(text))
}

/// The functions that an object file needs from others.
pub(super) fn undefined(object: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    for payload in Parser::new(0).parse_all(object) {
        let Ok(Payload::ImportSection(reader)) = payload else { continue };
        for imports in reader.into_iter().flatten() {
            let Imports::Single(_, import) = imports else { continue };
            if import.module == "env" && matches!(import.ty, TypeRef::Func(_) | TypeRef::FuncExact(_)) {
                names.push(import.name.to_owned());
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::{HEADERS, SOURCES, definitions};
    use std::collections::BTreeMap;

    #[test]
    fn every_function_of_a_header_is_defined_once() {
        let mut defined: BTreeMap<&str, &str> = BTreeMap::new();
        for (file, text) in SOURCES {
            for name in definitions(text) {
                let before = defined.insert(name, file);
                // A label and the definition behind it.
                assert!(before.is_none_or(|before| before == *file), "{name} is in {before:?} and {file}");
            }
        }
        let mut declared = 0;
        for (file, text) in HEADERS {
            // Lines that are a declaration, and the lists of functions with and without an f.
            for line in text.lines().filter(|line| !line.starts_with(['#', ' ', '/'])) {
                let unary = line.split("WAVE_UNARY(").skip(1).chain(line.split("WAVE_BINARY(").skip(1));
                let mut names: Vec<String> =
                    unary.filter_map(|part| part.split(')').next()).map(str::to_owned).collect();
                names.extend(names.clone().iter().map(|name| format!("{name}f")));
                let is_plain = names.is_empty() && line.contains('(') && !line.contains("WAVE_INLINE");
                if let Some(before) = is_plain.then(|| {
                    line.replace("__attribute__((malloc)) ", "").replace("__attribute__((noreturn)) ", "")
                }) {
                    names.extend(
                        before.split('(').next().and_then(|b| b.rsplit([' ', '*']).next()).map(str::to_owned),
                    );
                }
                for name in names {
                    declared += 1;
                    assert!(defined.contains_key(name.as_str()), "{name} of {file}");
                }
            }
        }
        assert!(declared > 120, "{declared}");
    }
}
