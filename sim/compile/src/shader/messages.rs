//! What users are told of a shader that is not taken.

use super::spirv::Stripped;
use crate::ir;
use naga::back::PipelineConstants;
use naga::back::pipeline_constants::PipelineConstantError;
use naga::front::wgsl::ParseError;
use naga::valid::{FunctionInfo, ValidationError};
use naga::{AddressSpace, GlobalVariable, Module, ShaderStage, Span, TypeInner, WithSpan};
use std::error::Error;
use wave_isa::diagnostic::{Diagnostic, Place};
use wave_isa::suggest::did_you_mean;

/// A message in one line: those of naga quote the text as it is.
fn one_line(message: &str) -> String {
    message.split('\n').map(str::trim).collect::<Vec<_>>().join(" ")
}

/// An error and its causes.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    one_line(&text)
}

/// The file that messages are about.
#[derive(Clone, Copy)]
pub(super) enum Shown<'a> {
    /// A text.
    Text(&'a str),
    /// A module of SPIR-V.
    Words(&'a Stripped),
}

impl Shown<'_> {
    /// The line of a byte, and for a module what it is.
    fn line(self, byte: usize) -> Option<(u32, String)> {
        match self {
            Shown::Text(text) => Some((Place::at_offset("", text, byte, 1).line, String::new())),
            Shown::Words(module) => {
                let listing = module.listing.as_ref()?;
                let line = listing.line(ir::Place(u32::try_from(byte).ok()?.checked_add(1)?))?;
                Some((line, listing.text().lines().nth(line as usize - 1)?.to_owned()))
            }
        }
    }
}

/// A message about a place: of the text, or the line of the listing and the byte of the module.
pub(super) fn located(message: String, at: Span, shown: Shown<'_>, file: &str) -> Diagnostic {
    let range = at.to_range();
    match (range, shown) {
        (Some(range), Shown::Text(text)) if range.start < text.len() => {
            let length = range.end.min(text.len()).saturating_sub(range.start);
            Diagnostic::error(message).at(Place::at_offset(file, text, range.start, length))
        }
        (Some(range), Shown::Words(module)) => {
            let byte = module.in_file(range.start);
            let error = Diagnostic::error(format!("{file}: {message}, at byte {byte:#x}"));
            match shown.line(range.start) {
                Some((line, text)) => {
                    let shown = text.trim();
                    let column = (text.chars().count() - text.trim_start().chars().count()) as u32 + 1;
                    let length = shown.chars().count().max(1) as u32;
                    error.at(Place { file: file.to_owned(), line, column, length, text })
                }
                None => error,
            }
        }
        _ => Diagnostic::error(format!("{file}: {message}")),
    }
}

/// What the parser says.
pub(super) fn of_parser(error: &ParseError, text: &str, file: &str) -> Diagnostic {
    let first = error.labels().next();
    let (at, label) = first.map_or((Span::UNDEFINED, ""), |(span, label)| (span, label));
    let message = match label {
        "" => one_line(error.message()),
        label => one_line(&format!("{}: {label}", error.message())),
    };
    let hint = match error.notes().next() {
        Some(note) => Some(note.to_owned()),
        // The name that Vulkan and earlier versions of naga have for it.
        None if at.to_range().and_then(|range| text.get(range)) == Some("push_constant") => {
            Some(NO_IMMEDIATE.to_owned())
        }
        None => None,
    };
    let diagnostic = located(message, at, Shown::Text(text), file);
    match hint {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    }
}

/// What the validator says.
pub(super) fn of_validator(error: &WithSpan<ValidationError>, shown: Shown<'_>, file: &str) -> Diagnostic {
    let place = error.spans().filter(|(span, _)| span.is_defined()).last();
    let at = place.map_or(Span::UNDEFINED, |(span, _)| *span);
    located(chain(error.as_inner()), at, shown, file)
}

/// A barrier in control flow that is not uniform.
pub(super) fn parted(barrier: ir::Place, branch: ir::Place, shown: Shown<'_>, file: &str) -> Diagnostic {
    let at = |place: ir::Place| place.0.saturating_sub(1);
    let message =
        "not all invocations of a workgroup may come to this barrier: control flow is not uniform here";
    let because = match shown.line(at(branch) as usize) {
        Some((line, _)) => format!("the condition in line {line}"),
        None => format!("the condition at byte {:#x}", at(branch)),
    };
    located(message.to_owned(), Span::new(at(barrier), at(barrier) + 1), shown, file)
        .hint(format!("{because} may differ between them: put the barrier where all come by"))
}

/// The parser has a fault.
pub(super) fn panicked(file: &str) -> Diagnostic {
    Diagnostic::error(format!("{file}: the parser of shaders, naga, does not understand this module"))
        .hint("a module that an optimiser made: try the one before it")
}

/// The values of pipeline constants, by the keys that naga looks for.
pub(super) fn pipeline_constants(
    module: &Module,
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
pub(super) fn of_constants(error: &PipelineConstantError, shown: Shown<'_>, file: &str) -> Diagnostic {
    match error {
        PipelineConstantError::MissingValue(name) => {
            Diagnostic::error(format!("`{file}` has a pipeline constant `{name}` without a value"))
                .hint(format!("give it one: --override {name}=VALUE, or `overrides` of a launch file"))
        }
        PipelineConstantError::ValidationError(error) => of_validator(error, shown, file),
        other => Diagnostic::error(format!("{file}: {}", chain(other))),
    }
}

/// What to do without push constants.
const NO_IMMEDIATE: &str = "put the numbers into a uniform buffer: var<uniform> with @group and @binding";

/// Looks for variables of an entry point that no launch can bring.
///
/// # Errors
/// One of them.
pub(super) fn resources(
    module: &Module,
    used: &FunctionInfo,
    shown: Shown<'_>,
    file: &str,
) -> Result<(), Diagnostic> {
    for (handle, variable) in module.global_variables.iter().filter(|(handle, _)| !used[*handle].is_empty()) {
        if let Some((what, hint)) = resource(module, variable, shown) {
            let message = format!("this shader uses {what}, which is not taken");
            let at = module.global_variables.get_span(handle);
            return Err(located(message, at, shown, file).hint(hint));
        }
    }
    Ok(())
}

/// What users call a variable that no launch can bring, and what to do instead; `None` for those that are taken.
fn resource(module: &Module, variable: &GlobalVariable, shown: Shown<'_>) -> Option<(String, &'static str)> {
    const NO_TEXTURE: &str = "put the texels into a storage buffer, and compute the place of each";
    const NO_ARRAY: &str = "give each buffer a binding of its own, or put them into one";
    let (what, hint) = match (&module.types[variable.ty].inner, variable.space) {
        (TypeInner::Image { .. }, _) => ("the texture", NO_TEXTURE),
        (TypeInner::Sampler { .. }, _) => ("the sampler", NO_TEXTURE),
        (TypeInner::BindingArray { .. }, _) => ("the array of resources", NO_ARRAY),
        // A buffer of SPIR-V is a structure; naga takes an array of them for one buffer.
        (TypeInner::Array { .. }, AddressSpace::Storage { .. } | AddressSpace::Uniform)
            if matches!(shown, Shown::Words(_)) =>
        {
            ("the array of resources", NO_ARRAY)
        }
        (TypeInner::AccelerationStructure { .. }, _) => (
            "the acceleration structure",
            "ray queries need a machine that has them: intersect in the shader",
        ),
        (_, AddressSpace::Immediate) => ("the push constant", NO_IMMEDIATE),
        (_, AddressSpace::Storage { .. } | AddressSpace::Uniform) if variable.binding.is_some() => {
            return None;
        }
        (_, AddressSpace::Private | AddressSpace::WorkGroup) => return None,
        _ => ("the variable", "kernels have buffers, workgroup memory and private variables"),
    };
    let name = variable.name.as_deref();
    let named = name.map_or_else(|| format!("{what} without a name"), |name| format!("{what} `{name}`"));
    Some((named, hint))
}

/// A shader without a compute stage.
pub(super) fn no_kernel(module: &Module, file: &str) -> Diagnostic {
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
