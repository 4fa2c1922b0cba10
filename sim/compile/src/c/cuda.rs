//! Sources in CUDA C++ and OpenCL C: clang, or NVIDIA's compiler, makes PTX of them.

use super::clang::{Clang, Step, write};
use super::flags::{CUDA, CUDA_TARGET, CUDA_TARGETS, NVCC, NVCC_TARGET, OPENCL, PTX};
use super::library::{CUDA_HEADERS, CUDA_NAMES, OPENCL_HEADERS};
use super::{BuiltPtx, CompileOptions, PtxLanguage};
use std::fs;
use std::path::Path;
use std::process::Command;
use wave_files::temporary::TemporaryFolder;
use wave_isa::diagnostic::Diagnostic;

/// Compiles a source. Temporary files lie in a folder of their own, which goes with the end of this function.
pub(super) fn build(
    source: &Path,
    language: PtxLanguage,
    options: &CompileOptions,
) -> Result<BuiltPtx, Diagnostic> {
    let name = source.display().to_string();
    let folder = TemporaryFolder::scratch().map_err(|error| {
        Diagnostic::error(format!("cannot make a temporary folder to compile `{name}`: {error}"))
    })?;
    let folder = folder.path();
    let nvcc = options.nvcc.as_ref().filter(|_| language == PtxLanguage::Cuda);
    let clang = match nvcc {
        Some(_) => None,
        None => Some(Clang::find(options, language.kernels())?),
    };
    let (program, compiler) = match (nvcc, &clang) {
        (Some(nvcc), _) => (nvcc.as_path(), "nvcc"),
        (None, Some(clang)) => (clang.program.as_path(), "clang"),
        (None, None) => return Err(Diagnostic::error("no compiler")),
    };
    let step = Step { program, name: compiler, folder, source: &name };
    let (made, read) = (folder.join("kernel.ptx"), folder.join("read"));
    let mut command = match (nvcc.is_some(), language) {
        (true, _) => nvidia(&step, options),
        (false, PtxLanguage::Cuda) => cuda(&step, options)?,
        (false, PtxLanguage::OpenCl) => opencl(&step, options)?,
    };
    command.arg("-MD").arg("-MF").arg(&read).arg("-o").arg(&made);
    if nvcc.is_none() {
        // A name that begins with a dash is no flag.
        command.arg("--");
    }
    let compiled = step.run(command.arg(source));
    let warnings = step.unquoted(compiled, &fs::read_to_string(&read).unwrap_or_default())?;
    let ptx = fs::read_to_string(&made)
        .map_err(|error| Diagnostic::error(format!("{compiler} made no PTX of `{name}`: {error}")))?;
    Ok(BuiltPtx { ptx, warnings })
}

impl PtxLanguage {
    /// The kernels that need a compiler, for messages.
    fn kernels(self) -> &'static str {
        match self {
            PtxLanguage::Cuda => "kernels in CUDA C++",
            PtxLanguage::OpenCl => "kernels in OpenCL C",
        }
    }
}

/// True if a flag of the user begins with one of these texts.
fn names_any(options: &CompileOptions, texts: &[&str]) -> bool {
    options.flags.iter().any(|flag| texts.iter().any(|text| flag.starts_with(text)))
}

/// Flags that both languages have: files have the names that the user gave them, ours without the folder of this run.
fn common(command: &mut Command, step: &Step<'_>, header: &str, options: &CompileOptions) {
    command.args(PTX).arg("-fdebug-compilation-dir=.");
    command.arg(format!("-ffile-prefix-map={}=wave", step.folder.display()));
    command.arg("-isystem").arg(step.folder).arg("-include").arg(step.folder.join(header));
    command.args(&options.flags);
}

fn cuda(step: &Step<'_>, options: &CompileOptions) -> Result<Command, Diagnostic> {
    CUDA_HEADERS.iter().try_for_each(|(file, text)| write(&step.folder.join(file), text))?;
    CUDA_NAMES.iter().try_for_each(|file| write(&step.folder.join(file), "#pragma once\n"))?;
    let mut command = step.plain(&CUDA);
    if !names_any(options, &CUDA_TARGETS) {
        command.arg(CUDA_TARGET);
    }
    common(&mut command, step, CUDA_HEADERS[0].0, options);
    Ok(command)
}

fn opencl(step: &Step<'_>, options: &CompileOptions) -> Result<Command, Diagnostic> {
    OPENCL_HEADERS.iter().try_for_each(|(file, text)| write(&step.folder.join(file), text))?;
    let mut command = step.plain(&OPENCL);
    command.arg("-cl-no-stdinc");
    common(&mut command, step, OPENCL_HEADERS[0].0, options);
    Ok(command)
}

fn nvidia(step: &Step<'_>, options: &CompileOptions) -> Command {
    let mut command = step.plain(&NVCC);
    if !names_any(options, &["-arch", "--gpu-architecture", "-gencode"]) {
        command.arg(NVCC_TARGET);
    }
    command.args(&options.flags);
    command
}
