//! Sources in CUDA C++ and OpenCL C as PTX, whose kernels the package launches.

use crate::errors::{Told, all_told, error};
use pyo3::prelude::*;
use std::path::PathBuf;
use wave_compile::c::{CompileOptions, PtxLanguage, compile_to_ptx};

/// The PTX of a source file, and warnings of its compiler, which takes `flags`. The extension `.cl` is OpenCL C. `nvcc` is
/// the path of NVIDIA's compiler, which replaces clang for CUDA C++.
#[pyfunction]
pub(crate) fn ptx(
    py: Python<'_>,
    path: PathBuf,
    flags: Vec<String>,
    nvcc: Option<PathBuf>,
) -> PyResult<(String, Vec<Told>)> {
    let is_opencl = path.extension().is_some_and(|extension| extension == "cl");
    let language = if is_opencl { PtxLanguage::OpenCl } else { PtxLanguage::Cuda };
    let options = CompileOptions { flags, nvcc, ..CompileOptions::default() };
    match py.detach(|| compile_to_ptx(&path, language, &options)) {
        Ok(built) => Ok((built.ptx, all_told(&built.warnings))),
        Err(wrong) => Err(error(py, &[wrong])),
    }
}
