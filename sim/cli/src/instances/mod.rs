//! Instances of a module: every lane calls functions of an instance of its own, and their results are printed.

mod call;
mod memory;
mod report;

pub(crate) use call::{InstanceCall, call};

use super::args::LaunchArgs;
use super::values::Dimensions;
use super::work::Work;
use std::path::{Path, PathBuf};
use wave_compile::batch::{Batch, Called, Calls};
use wave_compile::ir::{Constant, Exported, FunctionId, PAGE_BYTES, Type};
use wave_compile::source::{Format, Source, SourceOptions};
use wave_isa::MAX_WAVE_WIDTH;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Argument, Launch, ParameterType, Program, read_file};
use wave_isa::suggest::did_you_mean;
use wave_machine::config::Config;
use wave_observe::numbers::counted;

/// Threads of a workgroup where no flag says.
const DEFAULT_WORKGROUP: [u32; 3] = [32, 1, 1];
/// Bytes up to which the memory of an instance grows where no flag says, if half of device memory has room for all of
/// them.
const DEFAULT_MEMORY_BYTES: u64 = 1 << 20;
/// The module whose instances the command line means: the flags say so, or the module imports nothing from `wave`.
///
/// # Errors
/// What is wrong with the file, if the flags ask for instances.
pub(crate) fn module(path: &Path, args: &LaunchArgs) -> Result<Option<Source>, Vec<Diagnostic>> {
    let asked = &args.instances;
    let is_asked = asked.instances
        || asked.function.is_some()
        || !asked.call.is_empty()
        || asked.instance_load.is_some()
        || asked.instance_save.is_some();
    let Ok(bytes) = read_file(path) else { return Ok(None) };
    let options = args.source.options();
    let format = options.format.unwrap_or_else(|| Format::of(path, &bytes));
    if !is_asked && (!format.has_instances() || args.kernel.is_some()) {
        return Ok(None);
    }
    match Source::read(path, &bytes, &options) {
        Ok(Some(source)) => {
            let is_function = |(_, exported): &(String, Exported)| matches!(exported, Exported::Function(_));
            let has_functions = source.module.exports.iter().any(is_function);
            Ok(Some(source).filter(|source| is_asked || !source.is_kernel && has_functions))
        }
        Ok(None) if is_asked => Err(vec![no_module(path)]),
        Err(wrong) if is_asked => Err(wrong),
        // Who runs it as a kernel says what is wrong.
        _ => Ok(None),
    }
}

/// The program in which every thread calls a function of an instance of its own, with warnings.
///
/// # Errors
/// What is wrong with the module, and a function that it does not export.
pub(crate) fn program(
    path: &Path,
    function: &str,
    options: &SourceOptions,
) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    let source = Source::read(path, &read_file(path)?, options)?.ok_or_else(|| vec![no_module(path)])?;
    let (_, function) = chosen(&source, Some(function)).map_err(|error| vec![error])?;
    let calls = Calls {
        steps: vec![(function, Vec::new())],
        memory_bytes: DEFAULT_MEMORY_BYTES,
        lanes: MAX_WAVE_WIDTH as u32,
        f64_instructions: false,
    };
    let warnings = source.warnings.clone();
    let (program, _) = Batch::new(source, calls).map_err(|error| vec![error])?;
    Ok((program, warnings))
}

fn no_module(path: &Path) -> Diagnostic {
    let message = format!("`{}` is no module: instances are those of WebAssembly", path.display());
    Diagnostic::error(message).hint("a kernel in WAVE assembly runs without --instances")
}

/// Instances that a launch works on.
#[derive(Debug)]
pub(crate) struct Instances {
    batch: Batch,
    /// Names of the functions, in the order of the calls.
    functions: Vec<String>,
    /// Types of the results of each.
    results: Vec<Vec<Type>>,
    /// Where their memory begins, once it is placed.
    start: u32,
    launch: Launch,
    wave_width: u32,
    /// Where the linear memories go after the run.
    save: Option<PathBuf>,
}

/// The launch in which every thread calls the function of an instance of its own.
///
/// # Errors
/// What is wrong with the command line or the module.
pub(crate) fn work(
    source: Source,
    args: &LaunchArgs,
    config: &Config,
    bytes: u64,
) -> Result<Work, Vec<Diagnostic>> {
    let one = |error: Diagnostic| vec![error];
    refuse_others(args).map_err(one)?;
    let wanted = wanted(&source, args).map_err(one)?;
    let names: Vec<String> = wanted.iter().map(|wanted| wanted.name.clone()).collect();
    let name = names.join(", ");
    let sizes =
        |given: Option<&Dimensions>, default: [u32; 3]| given.map_or(default, |Dimensions(sizes)| *sizes);
    let (grid, workgroup) =
        (sizes(args.grid.as_ref(), [1; 3]), sizes(args.workgroup.as_ref(), DEFAULT_WORKGROUP));
    let product = |sizes: [u32; 3]| sizes.iter().map(|&size| u64::from(size)).product::<u64>();
    let wave_width = config.core.wave_width;
    let waves = product(grid).saturating_mul(product(workgroup).div_ceil(wave_width.into()));
    let lanes = product(workgroup).min(wave_width.into()).next_power_of_two();
    let most = bytes / 2 / lanes / waves / PAGE_BYTES * PAGE_BYTES;
    let default_memory = most.clamp(PAGE_BYTES, DEFAULT_MEMORY_BYTES);
    let results = wanted.iter().map(|wanted| wanted.results.clone()).collect();
    let calls = Calls {
        steps: wanted.into_iter().map(|wanted| (wanted.function, wanted.arguments)).collect(),
        memory_bytes: args.instances.instance_memory.unwrap_or(default_memory),
        lanes: lanes as u32,
        f64_instructions: config.capabilities.f64,
    };
    let warnings = source.warnings.clone();
    let (program, mut batch) = Batch::new(source, calls).map_err(one)?;
    if let Some(file) = &args.instances.instance_load {
        memory::load(&mut batch, file).map_err(one)?;
    }
    let mut launch = Launch::of(&program, 0, grid);
    launch.workgroup = workgroup;
    let save = args.instances.instance_save.clone();
    if let Some(file) = &save {
        memory::check_save(file, &batch, launch.workgroups().saturating_mul(launch.threads()))
            .map_err(one)?;
    }
    let functions = names;
    let instances =
        Instances { batch, functions, results, save, start: 0, launch: launch.clone(), wave_width };
    Ok(Work {
        name,
        program,
        // Addresses have 32 bits.
        memory: vec![0; usize::try_from(bytes.min(1 << 32)).expect("the host has 64 bits")],
        used: 0,
        bound: Vec::new(),
        filled: Vec::new(),
        steps: vec![launch],
        warnings,
        expected: None,
        data: None,
        instances: Some(instances),
    })
}

impl Instances {
    /// Writes the instances into device memory, where their memory begins at `start`.
    pub(crate) fn place(&mut self, start: u32, memory: &mut [u8]) {
        self.start = start;
        self.batch.write(&self.launch, self.wave_width, start, memory);
    }

    /// What the calls came to.
    pub(crate) fn calls(&self, memory: &mut [u8]) -> Vec<Called> {
        let mut calls = self.batch.calls(&self.launch, self.wave_width, self.start, memory);
        for (results, types) in calls.iter_mut().flat_map(|call| call.results.iter_mut().zip(&self.results)) {
            for (result, &ty) in results.iter_mut().zip(types) {
                *result = Constant::from_bits(ty, result.bits());
            }
        }
        calls
    }
}

/// A call that the flags ask for.
struct Wanted {
    name: String,
    function: FunctionId,
    arguments: Vec<Constant>,
    results: Vec<Type>,
}

/// The calls that the flags ask for, in order.
fn wanted(source: &Source, args: &LaunchArgs) -> Result<Vec<Wanted>, Diagnostic> {
    let one = |name: Option<&str>, given: &[Argument], flag: &str| -> Result<Wanted, Diagnostic> {
        let (name, function) = chosen(source, name)?;
        Ok(Wanted {
            name: name.to_owned(),
            function,
            arguments: arguments(source, function, name, given, flag)?,
            results: results(source, function, name, &args.instances.result_types)?,
        })
    };
    if args.instances.call.is_empty() {
        return Ok(vec![one(args.instances.function.as_deref(), &args.param, "--param")?]);
    }
    args.instances.call.iter().map(|call| one(Some(&call.function), &call.arguments, "--call")).collect()
}

/// Refuses flags that have no meaning for instances.
fn refuse_others(args: &LaunchArgs) -> Result<(), Diagnostic> {
    const TAKEN: [&str; 15] = [
        "--grid",
        "--workgroup",
        "--param",
        "--source-format",
        "--imports",
        "--fuel",
        "--instances",
        "--function",
        "--call",
        "-- CLANG FLAGS",
        "--instance-load",
        "--instance-save",
        "--instance-memory",
        "--result-types",
        "--bits",
    ];
    let flags: Vec<&str> = args.given().into_iter().filter(|flag| !TAKEN.contains(flag)).collect();
    if flags.is_empty() {
        return Ok(());
    }
    let message = format!("{}: these are for kernels, and the module runs as instances", flags.join(", "));
    let hint = "--kernel NAME runs a function as a kernel; of instances the results are printed";
    Err(Diagnostic::error(message).hint(hint))
}

/// The exported function of a name, or the only one.
fn chosen<'a>(source: &'a Source, name: Option<&str>) -> Result<(&'a str, FunctionId), Diagnostic> {
    let exports = source.module.exports.iter().filter_map(|(name, exported)| match *exported {
        Exported::Function(function) => Some((name.as_str(), function)),
        _ => None,
    });
    let all: Vec<(&str, FunctionId)> = exports.collect();
    let list = || match all.as_slice() {
        [] => "it exports no function".to_owned(),
        all => format!(
            "it exports {}",
            all.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ),
    };
    let file = &source.file;
    match (name, all.as_slice()) {
        (Some(name), all) => all.iter().copied().find(|&(other, _)| other == name).ok_or_else(|| {
            let near = did_you_mean(name, all.iter().map(|&(other, _)| other));
            let error = Diagnostic::error(format!("`{file}` exports no function `{name}`"));
            error.hint(near.unwrap_or_else(list))
        }),
        (None, [one]) => Ok(*one),
        (None, _) => Err(Diagnostic::error(format!("`{file}`: which function is to be called?"))
            .hint(format!("--function NAME says it; {}", list()))),
    }
}

/// The arguments, as the function takes them.
fn arguments(
    source: &Source,
    function: FunctionId,
    name: &str,
    given: &[Argument],
    flag: &str,
) -> Result<Vec<Constant>, Diagnostic> {
    let types = &source.module.functions[function].signature.parameters;
    if given.len() != types.len() {
        let takes: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
        let message = format!(
            "`{name}` takes {} ({}), and {} given",
            counted(types.len() as u64, "argument"),
            takes.join(", "),
            match given.len() {
                1 => "1 is".to_owned(),
                count => format!("{count} are"),
            }
        );
        let hint = match flag {
            "--call" => "--call NAME=VALUE,VALUE gives the arguments; in order",
            _ => "--param VALUE gives an argument; in order",
        };
        return Err(Diagnostic::error(message).hint(hint));
    }
    let argument = |(number, (argument, &ty)): (usize, (&Argument, &Type))| {
        let parameter = match ty {
            Type::Bool | Type::I32 => ParameterType::I32,
            Type::I64 => ParameterType::I64,
            Type::F32 => ParameterType::F32,
            Type::F64 => ParameterType::F64,
        };
        // A cell holds a value of any type: what the user states, else an integer of its 64 bits.
        let bits = argument.bits(parameter);
        let bits = if source.has_cells { bits.or_else(|_| argument.bits(argument.ty())) } else { bits };
        let bits =
            bits.map_err(|what| Diagnostic::error(format!("argument {} of {flag}: {what}", number + 1)))?;
        Ok(Constant::from_bits(ty, bits))
    };
    given.iter().zip(types).enumerate().map(argument).collect()
}

/// The types of the results: those of the module, or where that has none, what the user says.
fn results(
    source: &Source,
    function: FunctionId,
    name: &str,
    given: &[ParameterType],
) -> Result<Vec<Type>, Diagnostic> {
    let own = &source.module.functions[function].signature.results;
    if given.is_empty() {
        return Ok(own.clone());
    }
    if !source.has_cells {
        let message = format!("--result-types: `{}` says the types of its results", source.file);
        return Err(Diagnostic::error(message).hint("they are for rWasm, whose functions have none"));
    }
    if given.len() != own.len() {
        let results = counted(own.len() as u64, "result");
        let message = format!("--result-types has {}, and `{name}` has {results}", given.len());
        return Err(Diagnostic::error(message));
    }
    let ty = |given: &ParameterType| match given {
        ParameterType::I32 => Type::I32,
        ParameterType::I64 => Type::I64,
        ParameterType::F32 => Type::F32,
        ParameterType::F64 => Type::F64,
    };
    Ok(given.iter().map(ty).collect())
}
