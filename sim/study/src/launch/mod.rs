//! Launch files: kernels, their data and the expected results.
//!
//! A launch file (RON) names a kernel source, buffers of device memory with their initial contents, steps to
//! run and, if possible, expected results. [`load`] turns it into a [`Job`]: a program, a device memory image
//! and a list of launches. Expected results are computed at this time, so that errors in them show before a
//! run.

mod buffer;
mod build;
mod contents;
mod element;
mod expression;
mod file;
mod given;
mod host;
mod layout;
mod messages;
mod random;
mod scope;
mod shader;
mod steps;
mod suite;
mod verification;

use std::ops::Range;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Launch, Program};
use wave_isa::suggest::did_you_mean;
use wave_machine::config::Capabilities;

pub use buffer::Buffer;
pub use element::ElementType;
pub use expression::FUNCTIONS;
pub(crate) use expression::{Expression, Scope, Value};
pub(crate) use messages::{Problem, located, parse};
pub(crate) use random::Random;

pub use verification::{Check, Mismatch, Verification};

/// Size of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// Fills a mid-size machine.
    #[default]
    Full,
    /// For tests.
    Small,
}

/// Everything that a run needs.
#[derive(Debug, Clone)]
pub struct Job {
    /// Name of the launch file, without its extension.
    pub name: String,
    /// One sentence that describes it; may be empty.
    pub description: String,
    /// The kernels.
    pub program: Program,
    /// Initial device memory, from address 0.
    pub memory: Vec<u8>,
    /// Launches in order. Each starts when the previous one has ended.
    pub steps: Vec<Launch>,
    /// Buffers in device memory.
    pub buffers: Vec<Buffer>,
    /// Optional instructions that the kernels need.
    pub requires: Capabilities,
    /// Expected results.
    pub checks: Vec<Check>,
    /// Warnings of the assembler.
    pub warnings: Vec<Diagnostic>,
    /// Bytes of the image that belong to no buffer.
    gaps: Vec<Range<usize>>,
}

impl Job {
    /// Compares device memory after the run with the expected results. Memory may be longer than the image.
    pub fn verify(&self, memory: &[u8]) -> Verification {
        verification::verify(&self.checks, &self.gaps, memory)
    }

    /// Everything that decides the verdict on a run, for those who have to tell jobs apart.
    pub(crate) fn verdict(&self) -> impl std::fmt::Debug + '_ {
        (&self.requires, &self.checks, &self.gaps)
    }

    /// The buffer of this name.
    pub fn buffer(&self, name: &str) -> Option<&Buffer> {
        self.buffers.iter().find(|b| b.name == name)
    }

    /// Names of the capabilities that the kernels need and the machine lacks.
    pub fn missing(&self, machine: &Capabilities) -> Vec<&'static str> {
        let needs =
            [("CAP_F64", self.requires.f64, machine.f64), ("CAP_MMA", self.requires.mma, machine.mma)];
        needs.iter().filter(|(_, needed, there)| *needed && !there).map(|(name, ..)| *name).collect()
    }
}

/// Loads a launch file: one of the suite by its name, or a file by its path.
///
/// # Errors
/// All errors in the launch file, each with its place, or in its kernel source.
pub fn load(name_or_path: &str, size: Size) -> Result<Job, Vec<Diagnostic>> {
    load_with_seed(name_or_path, size, None)
}

/// [`load`], with a seed in place of the file's.
///
/// # Errors
/// Those of [`load`].
pub fn load_with_seed(name_or_path: &str, size: Size, seed: Option<u64>) -> Result<Job, Vec<Diagnostic>> {
    let origin = build::Origin::find(name_or_path)?;
    build::build(&origin, size, seed)
}

/// A job from the text of a launch file; `file` names it in messages, and other files are relative to it.
///
/// # Errors
/// Those of [`load`].
pub fn from_text(file: &str, text: &str, size: Size) -> Result<Job, Vec<Diagnostic>> {
    build::build(&build::Origin::of_text(file, text), size, None)
}

/// Names of the suite in C: `c/` and the name of the program.
pub fn c_suite() -> impl Iterator<Item = &'static str> {
    suite::C_SUITE.iter().map(|b| b.name)
}

/// Names of the suite in WGSL: `wgsl/` and the name of the shader.
pub fn wgsl_suite() -> impl Iterator<Item = &'static str> {
    suite::WGSL_SUITE.iter().map(|b| b.name)
}

/// Names of the suite in CUDA C++: `cuda/` and the name of the kernel.
pub fn cuda_suite() -> impl Iterator<Item = &'static str> {
    suite::CUDA_SUITE.iter().map(|b| b.name)
}

/// Suggests names of the suite whose folder a name has, such as `c/` or `wgsl/`, that are like it.
pub fn near_in_suite(name: &str) -> Option<String> {
    let (folder, _) = name.split_once('/')?;
    let names = c_suite().chain(wgsl_suite()).chain(cuda_suite());
    did_you_mean(name, names.filter(|name| name.split_once('/').is_some_and(|(of, _)| of == folder)))
}

/// True for a name of any suite.
pub fn is_builtin(name: &str) -> bool {
    suite::builtin(name).is_some()
}

/// Names of the kernel suite, from simple to involved.
pub fn suite() -> impl Iterator<Item = &'static str> {
    suite::SUITE.iter().map(|b| b.name)
}
