//! The flags that say how a kernel file in another format is read.

use crate::values;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use wave_compile::c::CompileOptions;
use wave_compile::pica::{Float, PicaOptions};
use wave_compile::ptx::PtxOptions;
use wave_compile::rwasm::RwasmOptions;
use wave_compile::shader::{self, ShaderOptions};
use wave_compile::source::{Format, PicaCode, SourceOptions};
use wave_compile::wasm::UnknownImports;

/// The name of the words behind `--` in messages.
pub(crate) const CLANG_FLAGS: &str = "-- CLANG FLAGS";

/// How a kernel file is read.
#[derive(Debug, Default, Args)]
pub(crate) struct SourceArgs {
    /// Format of the kernel file [default: what its contents say, or for text the extension]
    #[arg(long, value_name = "FORMAT")]
    pub source_format: Option<Format>,

    /// Format of the numbers of a PICA200 shader
    #[arg(long, value_enum, value_name = "FLOAT")]
    pub pica_float: Option<PicaFloat>,

    /// The opcodes of a PICA200 shader are those of the first description, where they differ from those known today
    #[arg(long)]
    pub pica_early: bool,

    /// The kernel file is words of PICA200 code without a container: the file with the words of its descriptors
    #[arg(long, value_name = "FILE")]
    pub pica_descriptors: Option<PathBuf>,

    /// The word that such code begins with [default: 0]
    #[arg(long, value_name = "WORD", requires = "pica_descriptors", value_parser = values::integer32)]
    pub pica_entry: Option<u32>,

    /// A pipeline constant of a shader, by its name or its number
    #[arg(long = "override", value_name = "NAME=VALUE", value_parser = values::pipeline_constant)]
    pub overrides: Vec<(String, f64)>,

    /// What becomes of an index of a shader that is outside its array
    #[arg(long, value_enum, value_name = "BOUNDS")]
    pub bounds: Option<Bounds>,

    /// Whether a product of a shader and the sum that takes it are rounded once, as one instruction
    #[arg(long, value_enum, value_name = "SWITCH")]
    pub contract: Option<Switch>,

    /// Whether workgroup variables of a shader are zero at the start, as WebGPU demands
    #[arg(long, value_enum, value_name = "SWITCH")]
    pub zero_workgroup: Option<Switch>,

    /// What becomes of a function that a module imports and nobody provides [default: the module is refused]
    #[arg(long, value_enum, value_name = "IMPORTS")]
    pub imports: Option<Imports>,

    /// Fuel of each instance of an rWasm module; it traps where it needs more [default: fuel is not counted]
    #[arg(long, value_name = "N", value_parser = values::integer)]
    pub fuel: Option<u64>,

    /// Compiler of CUDA C++: clang, nvcc, or the path of an nvcc [default: clang]
    #[arg(long, value_name = "COMPILER")]
    pub cuda_compiler: Option<PathBuf>,

    /// Flags of clang for kernels in C, CUDA and OpenCL, such as -DN=4 or -Iinclude; last of all, after --
    #[arg(last = true, value_name = "CLANG FLAGS", allow_hyphen_values = true)]
    pub clang: Vec<String>,
}

impl SourceArgs {
    /// The options.
    pub(crate) fn options(&self) -> SourceOptions {
        let pica_code = self
            .pica_descriptors
            .clone()
            .map(|descriptors| PicaCode { descriptors, entry: self.pica_entry.unwrap_or(0) });
        let float = match self.pica_float {
            None | Some(PicaFloat::F24) => Float::F24,
            Some(PicaFloat::F32) => Float::F32,
        };
        // Words of code have no first bytes of their own.
        let of_code = pica_code.is_some().then_some(Format::Shbin);
        SourceOptions {
            format: self.source_format.or(of_code),
            unknown_imports: match self.imports {
                None | Some(Imports::Refuse) => UnknownImports::Refused,
                Some(Imports::Trap) => UnknownImports::Trap,
            },
            rwasm: RwasmOptions { fuel: self.fuel, host_calls_trap: self.imports == Some(Imports::Trap) },
            pica: PicaOptions { float, early: self.pica_early },
            pica_code,
            shader: ShaderOptions {
                overrides: self.overrides.clone(),
                bounds: match self.bounds {
                    None | Some(Bounds::Clamp) => shader::Bounds::Clamp,
                    Some(Bounds::Trap) => shader::Bounds::Trap,
                },
                separate_rounding: self.contract == Some(Switch::Off),
                undefined_workgroup: self.zero_workgroup == Some(Switch::Off),
            },
            ptx: PtxOptions::default(),
            c: CompileOptions {
                flags: self.clang.clone(),
                nvcc: self.cuda_compiler.clone().filter(|compiler| compiler.as_os_str() != "clang"),
                ..CompileOptions::default()
            },
        }
    }

    /// The flags, and whether they were given.
    pub(super) fn given(&self) -> [(&'static str, bool); 13] {
        [
            ("--source-format", self.source_format.is_some()),
            ("--pica-float", self.pica_float.is_some()),
            ("--pica-early", self.pica_early),
            ("--pica-descriptors", self.pica_descriptors.is_some()),
            ("--pica-entry", self.pica_entry.is_some()),
            ("--override", !self.overrides.is_empty()),
            ("--bounds", self.bounds.is_some()),
            ("--contract", self.contract.is_some()),
            ("--zero-workgroup", self.zero_workgroup.is_some()),
            ("--imports", self.imports.is_some()),
            ("--fuel", self.fuel.is_some()),
            ("--cuda-compiler", self.cuda_compiler.is_some()),
            (CLANG_FLAGS, !self.clang.is_empty()),
        ]
    }
}

/// What becomes of an index of a shader that is outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Bounds {
    /// It means the last element, as WebGPU allows it: the default
    Clamp,
    /// The thread traps
    Trap,
}

/// What becomes of an unknown import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Imports {
    /// The module is refused: the default
    Refuse,
    /// A call of it traps
    Trap,
}

/// A choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// Yes: the default
    On,
    /// No
    Off,
}

/// A format of numbers of PICA200 shaders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PicaFloat {
    /// 24 bits, as the hardware has them: the default
    F24,
    /// binary32, as most interpreters have them
    F32,
}
