//! Which extensions of WebAssembly are taken, and the names of the others.

use super::{Error, Fault};
use std::fmt;
use wasmparser::{BinaryReaderError, Validator, WasmFeatures};

/// Which WebAssembly a module may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Features {
    /// The first version and nothing else.
    Mvp,
    /// All that is taken: the first version, and what compilers emit.
    #[default]
    Taken,
}

/// What is taken, for messages.
const TAKEN: &str = "taken are WebAssembly 1.0, sign extension, saturating conversions, mutable globals, \
     bulk memory, multi-value and the atomics of threads; a compiler leaves other features out with options such as \
     -mno-simd128 or -mcpu=mvp";

impl Features {
    /// The set that the validator takes. The encodings of reference types are in it, because segments and indirect
    /// calls are encoded with them; the decoder refuses values of these types and the instructions on them.
    pub(super) fn set(self) -> WasmFeatures {
        match self {
            Features::Mvp => WasmFeatures::WASM1,
            Features::Taken => WasmFeatures::WASM1
                .union(WasmFeatures::SIGN_EXTENSION)
                .union(WasmFeatures::SATURATING_FLOAT_TO_INT)
                .union(WasmFeatures::BULK_MEMORY)
                .union(WasmFeatures::MULTI_VALUE)
                .union(WasmFeatures::REFERENCE_TYPES)
                .union(WasmFeatures::THREADS),
        }
    }
}

/// Names of the features that may be missing.
const NAMES: &[(WasmFeatures, &str)] = &[
    (WasmFeatures::SIGN_EXTENSION, "sign extension"),
    (WasmFeatures::SATURATING_FLOAT_TO_INT, "saturating conversions"),
    (WasmFeatures::BULK_MEMORY, "bulk memory operations"),
    (WasmFeatures::BULK_MEMORY_OPT, "bulk memory operations"),
    (WasmFeatures::MULTI_VALUE, "blocks and functions with several results"),
    (WasmFeatures::REFERENCE_TYPES, "reference types"),
    (WasmFeatures::CALL_INDIRECT_OVERLONG, "reference types"),
    (WasmFeatures::THREADS, "threads"),
    (WasmFeatures::SIMD, "SIMD"),
    (WasmFeatures::RELAXED_SIMD, "relaxed SIMD"),
    (WasmFeatures::SHARED_EVERYTHING_THREADS, "shared-everything threads"),
    (WasmFeatures::TAIL_CALL, "tail calls"),
    (WasmFeatures::MULTI_MEMORY, "several memories"),
    (WasmFeatures::EXCEPTIONS, "exceptions"),
    (WasmFeatures::LEGACY_EXCEPTIONS, "exceptions"),
    (WasmFeatures::MEMORY64, "64-bit memory"),
    (WasmFeatures::EXTENDED_CONST, "extended constant expressions"),
    (WasmFeatures::COMPONENT_MODEL, "the component model"),
    (WasmFeatures::FUNCTION_REFERENCES, "typed function references"),
    (WasmFeatures::MEMORY_CONTROL, "memory control"),
    (WasmFeatures::GC, "garbage collection"),
    (WasmFeatures::GC_TYPES, "garbage collection"),
    (WasmFeatures::CUSTOM_PAGE_SIZES, "pages of another size"),
    (WasmFeatures::STACK_SWITCHING, "stack switching"),
    (WasmFeatures::WIDE_ARITHMETIC, "wide arithmetic"),
    (WasmFeatures::CUSTOM_DESCRIPTORS, "custom descriptors"),
    (WasmFeatures::COMPACT_IMPORTS, "compact imports"),
];

/// The name of the first of these features.
pub(super) fn name_of(features: WasmFeatures) -> Option<&'static str> {
    NAMES.iter().find(|(feature, _)| features.intersects(*feature)).map(|(_, name)| *name)
}

/// Names the feature behind an error of which the validator does not say that a feature is missing: the one with which
/// validation comes further.
pub(super) fn explain(error: Error, bytes: &[u8], features: Features) -> Error {
    let Some(offset) = error.offset.filter(|_| error.fault == Fault::Invalid) else { return error };
    for feature in [WasmFeatures::MULTI_MEMORY, WasmFeatures::EXTENDED_CONST] {
        let mut validator = Validator::new_with_features(features.set().union(feature));
        let comes_further = match validator.validate_all(bytes) {
            Ok(_) => true,
            Err(later) => later.offset() > offset,
        };
        if let Some(name) = name_of(feature).filter(|_| comes_further) {
            return Error { function: error.function, ..refused(name).at(offset) };
        }
    }
    error
}

/// A feature that is not taken.
pub(super) fn refused(what: impl fmt::Display) -> Error {
    Error::refused(what).hint(TAKEN)
}

impl From<BinaryReaderError> for Error {
    fn from(error: BinaryReaderError) -> Error {
        // The parser is built without the instructions of SIMD.
        let simd = error.message().starts_with("unexpected SIMD opcode").then_some("SIMD");
        let missing = error.missing_wasm_feature().and_then(name_of);
        let made = match missing.or(simd) {
            Some(feature) => refused(feature),
            None => Error::new(Fault::Invalid, error.message()),
        };
        made.at(error.offset())
    }
}
