//! Instances of a module: every lane calls a function of an instance of its own, and its results are printed.

use super::args::{Format, RunArgs};
use super::execute::{outcome, run_options};
use super::machine::{device_memory, machine};
use super::terminal::Terminal;
use super::values::Dimensions;
use super::{Ended as Done, Exit, interrupt};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use wave_compile::ir::{Constant, Exported, FunctionId, Module, PAGE_BYTES, Place, Type};
use wave_compile::lower::instance::{Ended, InstanceOptions, Lane, State, instances};
use wave_compile::source::Source;
use wave_compile::{Options, compile};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Argument, Launch, ParameterType, read_file};
use wave_isa::suggest::did_you_mean;
use wave_machine::gpu::Machine;
use wave_observe::numbers::counted;
use wave_study::summary::Outcome;

/// Threads of a workgroup where no flag says.
const DEFAULT_WORKGROUP: [u32; 3] = [32, 1, 1];
/// Bytes up to which the memory of an instance grows where no flag says.
const DEFAULT_MEMORY_BYTES: u64 = 1 << 20;

/// The module whose instances the command line means: the flags say so, or the module imports nothing from `wave`.
///
/// # Errors
/// What is wrong with the file, if the flags ask for instances.
pub(crate) fn module(args: &RunArgs) -> Result<Option<Source>, Vec<Diagnostic>> {
    let is_asked = args.instances.instances || args.instances.function.is_some();
    let [input] = args.inputs.as_slice() else {
        return match is_asked {
            true => Err(vec![Diagnostic::error("--instances and --function take one module")]),
            false => Ok(None),
        };
    };
    let path = Path::new(input);
    let is_module = path.extension().is_some_and(|extension| extension == "wasm" || extension == "wat");
    if !is_asked && (!is_module || args.launch.kernel.is_some()) {
        return Ok(None);
    }
    let source = read_file(path).and_then(|bytes| Source::read(path, &bytes));
    match source {
        Ok(Some(source)) => {
            let is_function = |(_, exported): &(String, Exported)| matches!(exported, Exported::Function(_));
            let has_functions = source.module.exports.iter().any(is_function);
            Ok(Some(source).filter(|source| is_asked || !source.is_kernel && has_functions))
        }
        Ok(None) if is_asked => {
            let message = format!("`{input}` is no module: instances are those of WebAssembly");
            Err(vec![Diagnostic::error(message).hint("a kernel in WAVE assembly runs without --instances")])
        }
        Err(wrong) if is_asked => Err(wrong),
        // Who runs it as a kernel says what is wrong.
        _ => Ok(None),
    }
}

/// A call of one lane.
struct Call {
    ended: Ended,
    results: Vec<Constant>,
}

/// Calls the function in every lane and prints what came of it.
///
/// # Errors
/// What is wrong with the command line or the module, and a launch that the machine cannot do.
pub(crate) fn run(source: &Source, args: &RunArgs, terminal: &Terminal) -> Done {
    interrupt::stop();
    refuse_others(args)?;
    let config = Arc::new(machine(args.config.as_deref(), &args.set, &args.machine, terminal)?);
    let module = &source.module;
    let one = |error: Diagnostic| vec![error];
    let (name, function) = chosen(source, args.instances.function.as_deref()).map_err(one)?;
    let arguments = arguments(module, function, name, &args.launch.param).map_err(one)?;
    let file = &source.file;
    let state = State::new(module).map_err(|trap| {
        one(Diagnostic::error(format!(
            "{file}: a segment does not fit where it is copied at the start: {trap}"
        )))
    })?;
    let bytes = args.instances.instance_memory.unwrap_or(DEFAULT_MEMORY_BYTES);
    let options = InstanceOptions { function, start: module.start, most_pages: bytes / PAGE_BYTES };
    let wrong = |error: wave_compile::CompileError| one(Diagnostic::error(format!("{file}: {error}")));
    let instances = instances(module, &options).map_err(wrong)?;
    let compiled =
        compile(&instances.module, instances.entry, &Options::of_instances(&instances)).map_err(wrong)?;

    let program = Arc::new(compiled.program);
    let sizes =
        |given: Option<&Dimensions>, default: [u32; 3]| given.map_or(default, |Dimensions(sizes)| *sizes);
    let mut launch = Launch::of(&program, 0, sizes(args.launch.grid.as_ref(), [1; 3]));
    launch.workgroup = sizes(args.launch.workgroup.as_ref(), DEFAULT_WORKGROUP);
    let bytes = device_memory(&args.machine, &config);
    let width = config.core.wave_width;
    let start = launch.place_private(&program, width, bytes, 0).map_err(one)?.unwrap_or(0);
    let plan = compiled.private.as_ref().expect("instances are in private memory");
    let mut memory = vec![0; usize::try_from(bytes.min(1 << 32)).expect("the host has 64 bits")];
    let threads = launch.threads();
    let waves = launch.waves_per_workgroup(width);
    let places = (0..launch.workgroups()).flat_map(|group| {
        (0..threads).map(move |thread| {
            let wave = group * waves + thread / u64::from(width);
            (wave as u32, (thread % u64::from(width)) as u32)
        })
    });
    for (wave, lane) in places.clone() {
        let mut lane = Lane::new(&mut memory, plan, start, wave, lane);
        instances.layout.write(module, &state, &arguments, &mut lane);
    }
    let options = run_options(&args.machine);
    let mut machine = Machine::new(Arc::clone(&config), Arc::clone(&program), memory);
    let report = match machine.run(&launch, &options, None, &mut |_| {}) {
        Ok(report) => report,
        Err(error) => match outcome(&error, &launch, &program, &options) {
            Outcome::Refused(wrong) => return Err(wrong),
            Outcome::Fault(why) | Outcome::Stopped(why) => {
                terminal.diagnostics(&[why]);
                return Ok(Exit::Fault);
            }
            _ => return Ok(Exit::Fault),
        },
    };
    let mut memory = machine.into_memory();
    let calls: Vec<Call> = places
        .map(|(wave, lane)| {
            let lane = Lane::new(&mut memory, plan, start, wave, lane);
            Call { ended: instances.layout.ended(&lane), results: instances.layout.results(&lane) }
        })
        .collect();
    let text = match args.output.format {
        Format::Json => as_json(source, name, report.cycles, &calls),
        Format::Text => as_text(source, name, report.cycles, &calls, args.instances.bits),
    };
    terminal.out(&text)?;
    let all = calls.iter().all(|call| call.ended == Ended::Returned);
    Ok(if all { Exit::Success } else { Exit::Fault })
}

/// Flags that have no meaning for instances.
fn refuse_others(args: &RunArgs) -> Result<(), Vec<Diagnostic>> {
    let of_launch = args.launch.given().into_iter();
    let mut flags: Vec<&str> =
        of_launch.filter(|flag| !["--grid", "--workgroup", "--param"].contains(flag)).collect();
    for (flag, given) in [
        ("--save", !args.output.save.is_empty()),
        ("--functional", args.untimed.functional),
        ("--check-races", args.output.check_races),
        ("--stats", args.output.stats),
    ] {
        flags.extend(given.then_some(flag));
    }
    if flags.is_empty() && args.output.dumps.0.is_empty() {
        return Ok(());
    }
    let named = if flags.is_empty() { "dumps".to_owned() } else { flags.join(", ") };
    let message = format!("{named}: these are for kernels, and the module runs as instances");
    let hint = "--kernel NAME runs a function as a kernel; of instances the results are printed";
    Err(vec![Diagnostic::error(message).hint(hint)])
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
    module: &Module,
    function: FunctionId,
    name: &str,
    given: &[Argument],
) -> Result<Vec<Constant>, Diagnostic> {
    let types = &module.functions[function].signature.parameters;
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
        let bits = argument
            .bits(parameter)
            .map_err(|what| Diagnostic::error(format!("argument {} of --param: {what}", number + 1)))?;
        Ok(Constant::from_bits(ty, bits))
    };
    given.iter().zip(types).enumerate().map(argument).collect()
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

fn as_text(source: &Source, name: &str, cycles: u64, calls: &[Call], bits: bool) -> String {
    let instances = counted(calls.len() as u64, "instance");
    let mut text = format!("{name}: {instances}, {}\n\n", counted(cycles, "cycle"));
    let rows: Vec<String> = calls
        .iter()
        .map(|call| match call.ended {
            Ended::Returned => {
                call.results.iter().map(|&value| shown(value, bits)).collect::<Vec<_>>().join("  ")
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

fn as_json(source: &Source, name: &str, cycles: u64, calls: &[Call]) -> String {
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
    let call = |(thread, call): (usize, &Call)| match call.ended {
        Ended::Returned => {
            json!({ "thread": thread, "results": call.results.iter().map(value).collect::<Vec<_>>() })
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
    let document = json!({ "module": source.file, "function": name, "cycles": cycles, "instances": calls });
    format!("{document:#}\n")
}
