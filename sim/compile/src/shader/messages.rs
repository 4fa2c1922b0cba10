//! What users are told of a shader that is not taken.

use crate::ir;
use naga::back::PipelineConstants;
use naga::back::pipeline_constants::PipelineConstantError;
use naga::front::wgsl::ParseError;
use naga::valid::ValidationError;
use naga::{ShaderStage, Span, WithSpan};
use std::error::Error;
use wave_isa::diagnostic::{Diagnostic, Place};
use wave_isa::suggest::did_you_mean;

/// An error and its causes.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// A message about a place of the text, if there is a text; else of the byte of the file.
pub(super) fn located(message: String, at: Span, text: Option<&str>, file: &str) -> Diagnostic {
    let range = at.to_range();
    match (range, text) {
        (Some(range), Some(text)) if range.start < text.len() => {
            let length = range.end.min(text.len()) - range.start;
            Diagnostic::error(message).at(Place::at_offset(file, text, range.start, length))
        }
        (Some(range), None) => Diagnostic::error(format!("{file}: {message}, at byte {:#x}", range.start)),
        _ => Diagnostic::error(format!("{file}: {message}")),
    }
}

/// What the parser says.
pub(super) fn of_parser(error: &ParseError, text: &str, file: &str) -> Diagnostic {
    let first = error.labels().next();
    let (at, label) = first.map_or((Span::UNDEFINED, ""), |(span, label)| (span, label));
    let message = match label {
        "" => error.message().to_owned(),
        label => format!("{}: {label}", error.message()),
    };
    let diagnostic = located(message, at, Some(text), file);
    match error.notes().next() {
        Some(note) => diagnostic.hint(note),
        None => diagnostic,
    }
}

/// What the validator says.
pub(super) fn of_validator(error: &WithSpan<ValidationError>, text: Option<&str>, file: &str) -> Diagnostic {
    let place = error.spans().filter(|(span, _)| span.is_defined()).last();
    let at = place.map_or(Span::UNDEFINED, |(span, _)| *span);
    located(chain(error.as_inner()), at, text, file)
}

/// A barrier in control flow that is not uniform.
pub(super) fn parted(barrier: ir::Place, branch: ir::Place, text: Option<&str>, file: &str) -> Diagnostic {
    let at = |place: ir::Place| place.0.saturating_sub(1);
    let message =
        "not all invocations of a workgroup may come to this barrier: control flow is not uniform here";
    let line = text.map(|text| Place::at_offset(file, text, at(branch) as usize, 1).line);
    let because = match line {
        Some(line) => format!("the condition in line {line}"),
        None => format!("the condition at byte {:#x}", at(branch)),
    };
    located(message.to_owned(), Span::new(at(barrier), at(barrier) + 1), text, file)
        .hint(format!("{because} may differ between them: put the barrier where all come by"))
}

/// The parser has a fault.
pub(super) fn panicked(file: &str) -> Diagnostic {
    Diagnostic::error(format!("{file}: the parser of shaders, naga, does not understand this module"))
        .hint("a module that an optimiser made: try the one before it")
}

/// The values of pipeline constants, by the keys that naga looks for.
pub(super) fn pipeline_constants(
    module: &naga::Module,
    given: &[(String, f64)],
    file: &str,
) -> Result<PipelineConstants, Diagnostic> {
    let mut constants = PipelineConstants::default();
    for (name, value) in given {
        let found = module.overrides.iter().find(|(_, one)| {
            one.name.as_deref() == Some(name) || one.id.is_some_and(|id| id.to_string() == *name)
        });
        let Some((_, found)) = found else {
            let names: Vec<&str> =
                module.overrides.iter().filter_map(|(_, one)| one.name.as_deref()).collect();
            let hint = match (did_you_mean(name, names.iter().copied()), names.is_empty()) {
                (Some(near), _) => near,
                (None, true) => "it has none".to_owned(),
                (None, false) => format!("it has {}", names.join(", ")),
            };
            return Err(Diagnostic::error(format!("`{file}` has no pipeline constant `{name}`")).hint(hint));
        };
        let key = found.id.map_or_else(|| name.clone(), |id| id.to_string());
        constants.insert(key, *value);
    }
    Ok(constants)
}

/// What is wrong with pipeline constants.
pub(super) fn of_constants(error: &PipelineConstantError, text: Option<&str>, file: &str) -> Diagnostic {
    match error {
        PipelineConstantError::MissingValue(name) => {
            Diagnostic::error(format!("`{file}` has a pipeline constant `{name}` without a value"))
                .hint(format!("give it one: --override {name}=VALUE, or `overrides` of a launch file"))
        }
        PipelineConstantError::ValidationError(error) => of_validator(error, text, file),
        other => Diagnostic::error(format!("{file}: {}", chain(other))),
    }
}

/// A shader without a compute stage.
pub(super) fn no_kernel(module: &naga::Module, file: &str) -> Diagnostic {
    let stage = |stage| match stage {
        ShaderStage::Vertex => "vertex",
        ShaderStage::Fragment => "fragment",
        ShaderStage::Compute => "compute",
        ShaderStage::Task => "task",
        ShaderStage::Mesh => "mesh",
        _ => "ray tracing",
    };
    let entries: Vec<String> =
        module.entry_points.iter().map(|one| format!("`{}` ({})", one.name, stage(one.stage))).collect();
    let message = match entries.as_slice() {
        [] => format!("`{file}` has no entry point"),
        entries => format!("`{file}` has no compute entry point, only {}", entries.join(", ")),
    };
    Diagnostic::error(message)
        .hint("a kernel is a function with @compute @workgroup_size(...); graphics stages are not taken")
}
