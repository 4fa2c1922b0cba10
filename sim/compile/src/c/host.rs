//! CUDA programs whole, host and kernels, with clang alone: what NVIDIA's compiler does where nothing of NVIDIA is there.
//!
//! The kernels of a source become PTX, as for a kernel file. The object of the host's half contains them, and clang adds
//! the code that registers them. The executable asks for libcudart by its name, so it runs on a GPU too.

use super::clang::{Clang, Step, write};
use super::flags::{CUDA, HOST};
use super::library::{CUDA_HEADERS, CUDA_NAMES};
use super::{BuiltPtx, CompileOptions, PtxLanguage, cuda};
use std::fs;
use std::path::{Path, PathBuf};
use wave_files::temporary::TemporaryFolder;
use wave_isa::diagnostic::Diagnostic;

/// The sources that need clang, for messages.
const PROGRAMS: &str = "CUDA programs";

fn folder(of: &str) -> Result<TemporaryFolder, Diagnostic> {
    TemporaryFolder::scratch().map_err(|error| {
        Diagnostic::error(format!("cannot make a temporary folder to compile `{of}`: {error}"))
    })
}

/// Compiles a source of a program to an object: CUDA C++ with its kernels inside, other languages as they are. `flags` of
/// the device are for kernels alone. Returns warnings.
///
/// # Errors
/// A clang that is missing or too old, and what clang says is wrong with the source.
pub fn compile_object(
    source: &Path,
    object: &Path,
    (flags, device_flags): (&[String], &[String]),
) -> Result<Vec<Diagnostic>, Diagnostic> {
    wave_isa::program::read_file(source).map_err(|mut errors| errors.remove(0))?;
    let name = source.display().to_string();
    let folder = folder(&name)?;
    let clang = Clang::find(&CompileOptions::default(), PROGRAMS)?;
    let step = Step { program: &clang.program, name: "clang", folder: folder.path(), source: &name };
    CUDA_HEADERS.iter().try_for_each(|(file, text)| write(&folder.path().join(file), text))?;
    CUDA_NAMES.iter().try_for_each(|file| write(&folder.path().join(file), "#pragma once\n"))?;
    let is_cuda = source.extension().is_some_and(|extension| extension == "cu");
    let mut warnings = Vec::new();
    let mut command;
    if is_cuda {
        let all = flags.iter().chain(device_flags).cloned().collect();
        let options = CompileOptions { flags: all, ..CompileOptions::default() };
        let BuiltPtx { mut ptx, warnings: of_kernels } = cuda::build(source, PtxLanguage::Cuda, &options)?;
        warnings.extend(of_kernels);
        // The text ends with a zero, by which the library that registers it finds its end.
        ptx.push('\0');
        let file = folder.path().join("kernels.ptx");
        write(&file, &ptx)?;
        command = step.plain(&CUDA.map(|flag| if flag == DEVICE_ONLY { HOST_ONLY } else { flag }));
        command.args(HOST).arg("-include").arg(folder.path().join(CUDA_HEADERS[0].0));
        command.args(["-Xclang", "-fcuda-include-gpubinary", "-Xclang"]).arg(&file);
    } else {
        // Hosts in C++ include CUDA's headers too.
        command = step.plain(&[]);
    }
    command.arg("-c").arg("-isystem").arg(folder.path()).args(flags);
    warnings.extend(step.run(command.arg("-o").arg(object).arg("--").arg(source))?);
    // Clang says the same of both halves.
    warnings.dedup();
    Ok(warnings)
}

/// The flag of [`CUDA`] that is another for the host's half.
const DEVICE_ONLY: &str = "--cuda-device-only";
const HOST_ONLY: &str = "--cuda-host-only";

/// Links objects to a program. `cudart` is a library with the names of libcudart.
///
/// # Errors
/// The messages of the linker.
pub fn link(objects: &[PathBuf], program: &Path, cudart: &[u8], flags: &[String]) -> Result<(), Diagnostic> {
    let name = program.display().to_string();
    let folder = folder(&name)?;
    let clang = Clang::find(&CompileOptions::default(), PROGRAMS)?;
    let step = Step { program: &clang.program, name: "clang", folder: folder.path(), source: &name };
    let library = folder.path().join("libcudart.so.12");
    fs::write(&library, cudart)
        .map_err(|error| Diagnostic::error(format!("cannot write to the temporary folder: {error}")))?;
    let mut command = step.plain(&[]);
    command.args(objects).arg("-o").arg(program).args(flags).arg(&library).args(["-lstdc++", "-lm"]);
    step.run(&mut command).map(drop)
}
