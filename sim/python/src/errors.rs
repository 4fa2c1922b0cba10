//! Messages as exceptions of Python.

use pyo3::prelude::*;
use wave_isa::diagnostic::Diagnostic;

/// A message for the class `Diagnostic` of the package: message, file, line, column, hint, and all of it for people.
pub(crate) type Told = (String, Option<String>, Option<u32>, Option<u32>, Option<String>, String);

/// A message as the package takes it.
pub(crate) fn told(diagnostic: &Diagnostic) -> Told {
    let Diagnostic { message, place, hint, .. } = diagnostic;
    let (file, line, column) = match place {
        Some(place) => (Some(place.file.clone()), Some(place.line), Some(place.column)),
        None => (None, None, None),
    };
    (message.clone(), file, line, column, hint.clone(), diagnostic.render(false))
}

/// Several messages as the package takes them.
pub(crate) fn all_told(diagnostics: &[Diagnostic]) -> Vec<Told> {
    diagnostics.iter().map(told).collect()
}

/// The exception `wave_sim.Error` with these messages.
pub(crate) fn error(py: Python<'_>, diagnostics: &[Diagnostic]) -> PyErr {
    let made = py
        .import("wave_sim._errors")
        .and_then(|module| module.getattr("error_of")?.call1((all_told(diagnostics),)));
    made.map_or_else(|error| error, PyErr::from_value)
}
