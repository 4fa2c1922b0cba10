//! Instances of a module: every lane calls a function of an instance of its own, and its results are printed.

use super::args::LaunchArgs;
use super::values::Dimensions;
use super::work::Work;
use serde_json::{Value, json};
use std::path::Path;
use wave_compile::batch::{Batch, Call, Called};
use wave_compile::ir::{Constant, Exported, FunctionId, Module, PAGE_BYTES, Place, Type};
use wave_compile::lower::instance::Ended;
use wave_compile::source::{Format, Source, SourceOptions};
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
/// Instances for which the private memory of a wave has room.
const WAVE_PLACES: u64 = 64;

/// The module whose instances the command line means: the flags say so, or the module imports nothing from `wave`.
///
/// # Errors
/// What is wrong with the file, if the flags ask for instances.
pub(crate) fn module(path: &Path, args: &LaunchArgs) -> Result<Option<Source>, Vec<Diagnostic>> {
    let is_asked = args.instances.instances || args.instances.function.is_some();
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
    let call =
        Call { function, arguments: Vec::new(), memory_bytes: DEFAULT_MEMORY_BYTES, f64_instructions: false };
    let warnings = source.warnings.clone();
    let (program, _) = Batch::new(source, call).map_err(|error| vec![error])?;
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
    /// Name of the function.
    function: String,
    /// Types of its results.
    results: Vec<Type>,
    /// Where their memory begins, once it is placed.
    start: u32,
    launch: Launch,
    wave_width: u32,
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
    let (name, function) = chosen(&source, args.instances.function.as_deref()).map_err(one)?;
    let name = name.to_owned();
    let sizes =
        |given: Option<&Dimensions>, default: [u32; 3]| given.map_or(default, |Dimensions(sizes)| *sizes);
    let (grid, workgroup) =
        (sizes(args.grid.as_ref(), [1; 3]), sizes(args.workgroup.as_ref(), DEFAULT_WORKGROUP));
    let product = |sizes: [u32; 3]| sizes.iter().map(|&size| u64::from(size)).product::<u64>();
    let wave_width = config.core.wave_width;
    let waves = product(grid).saturating_mul(product(workgroup).div_ceil(wave_width.into()));
    let most = bytes / 2 / WAVE_PLACES / waves / PAGE_BYTES * PAGE_BYTES;
    let default_memory = most.clamp(PAGE_BYTES, DEFAULT_MEMORY_BYTES);
    let call = Call {
        function,
        arguments: arguments(&source, function, &name, &args.param).map_err(one)?,
        memory_bytes: args.instances.instance_memory.unwrap_or(default_memory),
        f64_instructions: config.capabilities.f64,
    };
    let results = results(&source, function, &name, &args.instances.result_types).map_err(one)?;
    let warnings = source.warnings.clone();
    let (program, batch) = Batch::new(source, call).map_err(one)?;
    let mut launch = Launch::of(&program, 0, grid);
    launch.workgroup = workgroup;
    let instances =
        Instances { batch, function: name.clone(), results, start: 0, launch: launch.clone(), wave_width };
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
        for call in &mut calls {
            for (result, &ty) in call.results.iter_mut().zip(&self.results) {
                *result = Constant::from_bits(ty, result.bits());
            }
        }
        calls
    }

    /// A line for each call; `bits` in hexadecimal.
    pub(crate) fn text(&self, cycles: u64, calls: &[Called], bits: bool) -> String {
        let (source, name) = (self.batch.source(), &self.function);
        let instances = counted(calls.len() as u64, "instance");
        let mut text = format!("{name}: {instances}, {}\n\n", counted(cycles, "cycle"));
        let rows: Vec<String> = calls
            .iter()
            .map(|call| match call.ended {
                Ended::Returned => {
                    let results = call.results.iter().map(|&value| shown(value, bits));
                    let fuel = call.fuel.map(|fuel| format!("fuel left: {fuel}"));
                    results.chain(fuel).collect::<Vec<_>>().join("  ")
                }
                ended => trapped(source, ended),
            })
            .collect();
        let width = calls.len().saturating_sub(1).to_string().len().max("thread".len());
        text += &format!("{:>width$}  result\n", "thread");
        for (thread, row) in rows.iter().enumerate() {
            text += format!("{thread:>width$}  {row}").trim_end();
            text += "\n";
        }
        let count = calls.iter().filter(|call| call.ended != Ended::Returned).count();
        if count > 0 {
            text += &format!("\n{} of {} trapped\n", count, calls.len());
        }
        text
    }

    /// The calls as a document for programs.
    pub(crate) fn json(&self, cycles: u64, calls: &[Called]) -> String {
        let (source, name) = (self.batch.source(), &self.function);
        let value = |&value: &Constant| {
            let plain = match value {
                Constant::Bool(value) => json!(value),
                Constant::I32(bits) => json!(bits.cast_signed()),
                Constant::I64(bits) => json!(bits.cast_signed()),
                // Infinities and NaNs are no numbers of JSON: they are null, and the bits say what they are.
                Constant::F32(bits) => json!(f32::from_bits(bits)),
                Constant::F64(bits) => json!(f64::from_bits(bits)),
            };
            json!({ "type": value.ty().name(), "value": plain, "bits": shown(value, true) })
        };
        let call = |(thread, call): (usize, &Called)| match call.ended {
            Ended::Returned => {
                let results: Vec<Value> = call.results.iter().map(value).collect();
                match call.fuel {
                    Some(fuel) => json!({ "thread": thread, "results": results, "fuel_left": fuel }),
                    None => json!({ "thread": thread, "results": results }),
                }
            }
            Ended::Trapped(trap, place) => json!({ "thread": thread, "trap": {
                "kind": trap.name(),
                "function": function_of(&source.module, place),
                "offset": place.0,
                "line": source.line(place),
            }}),
            Ended::Not => json!({ "thread": thread, "trap": Value::Null }),
        };
        let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
        let document =
            json!({ "module": source.file, "function": name, "cycles": cycles, "instances": calls });
        format!("{document:#}\n")
    }
}

/// Refuses flags that have no meaning for instances.
fn refuse_others(args: &LaunchArgs) -> Result<(), Diagnostic> {
    const TAKEN: [&str; 10] = [
        "--grid",
        "--workgroup",
        "--param",
        "--source-format",
        "--fuel",
        "--instances",
        "--function",
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
        return Err(Diagnostic::error(message).hint("--param VALUE gives an argument; in order"));
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
            bits.map_err(|what| Diagnostic::error(format!("argument {} of --param: {what}", number + 1)))?;
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

/// The function that a place is in: the last one that begins before it.
fn function_of(module: &Module, place: Place) -> String {
    let before = module.functions.iter().filter(|(_, function)| function.at <= place);
    let found = before.max_by_key(|(_, function)| function.at);
    match found {
        Some((_, function)) if function.name.is_some() => function.name.clone().unwrap_or_default(),
        Some((id, _)) => id.to_string(),
        None => "the start".to_owned(),
    }
}

/// Where a trap was: the line of the source, or the byte of the module.
fn located(source: &Source, place: Place) -> String {
    source.line(place).unwrap_or_else(|| format!("byte 0x{:x}", place.0))
}

fn trapped(source: &Source, ended: Ended) -> String {
    match ended {
        Ended::Trapped(trap, place) => {
            let function = function_of(&source.module, place);
            format!("trap: {trap}, in `{function}`, {}", located(source, place))
        }
        _ => "has not ended".to_owned(),
    }
}

/// A number as users read it, or its bits.
fn shown(value: Constant, bits: bool) -> String {
    let digits = 2 * value.ty().bytes() as usize;
    match value {
        _ if bits => format!("0x{:0digits$x}", value.bits()),
        Constant::Bool(value) => value.to_string(),
        Constant::I32(bits) => bits.cast_signed().to_string(),
        Constant::I64(bits) => bits.cast_signed().to_string(),
        Constant::F32(bits) => format!("{:?}", f32::from_bits(bits)),
        Constant::F64(bits) => format!("{:?}", f64::from_bits(bits)),
    }
}
