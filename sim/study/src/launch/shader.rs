//! What launch files say of shaders: pipeline constants, how they are compiled, the buffers of their bindings.

use super::buffer::Buffer;
use super::expression::{Expression, Failure};
use super::file::{Bounds as FileBounds, File, Keyed, Run};
use super::messages::Problem;
use super::scope::Names;
use wave_compile::shader::{Bounds, ShaderOptions};
use wave_isa::program::{Binding, Kernel};

/// What a binding begins at is a multiple of this: the least that a device of WebGPU may ask of offsets, and the alignment
/// of the largest vector.
const ALIGNMENT_BYTES: u32 = 32;

/// How a shader is compiled.
///
/// # Errors
/// Pipeline constants without a value, or with two.
pub(super) fn options(file: &File, names: &Names) -> Result<ShaderOptions, Vec<Problem>> {
    let mut overrides: Vec<(String, f64)> = Vec::new();
    let mut problems = Vec::new();
    for (i, (name, expression)) in file.overrides.0.iter().enumerate() {
        if overrides.iter().any(|(other, _)| other == name) {
            problems.push(Problem::new(&key("overrides", i), format!("`{name}` has a value already")));
        }
        match names.number(expression) {
            Ok(value) => overrides.push((name.clone(), value.as_f64())),
            Err(failure) => problems.push(Problem::of(value("overrides", i), failure)),
        }
    }
    let bounds = match file.bounds {
        None | Some(FileBounds::Clamp) => Bounds::Clamp,
        Some(FileBounds::Trap) => Bounds::Trap,
    };
    let separate_rounding = file.contract == Some(false);
    if problems.is_empty() {
        Ok(ShaderOptions { overrides, bounds, separate_rounding, ..ShaderOptions::default() })
    } else {
        Err(problems)
    }
}

/// Refuses what only shaders have.
///
/// # Errors
/// Each of those keys that the file has.
pub(super) fn refuse(file: &File) -> Result<(), Vec<Problem>> {
    let given = [
        ("overrides", !file.overrides.0.is_empty()),
        ("bounds", file.bounds.is_some()),
        ("contract", file.contract.is_some()),
    ];
    let message =
        |key: &str| format!("`{key}` is for shaders in WGSL and SPIR-V, and `{}` is none", file.source);
    let problems: Vec<Problem> =
        given.iter().filter(|(_, is)| *is).map(|(key, _)| Problem::new(key, message(key))).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// The path of the pipeline constant that a message about a shader names, or of all if it names another one.
pub(super) fn wrong_override(file: &File, message: &str) -> Option<String> {
    let (_, about) = message.split_once("pipeline constant `")?;
    let name = about.split('`').next()?;
    let position = file.overrides.0.iter().position(|(other, _)| other == name);
    match position {
        Some(i) => Some(key("overrides", i)),
        None => (!file.overrides.0.is_empty()).then(|| "overrides".to_owned()),
    }
}

/// Finds what does not go with the bindings of a step, whose workgroups have this size.
///
/// # Errors
/// Arguments, and a size that the shader does not state.
pub(super) fn check(kernel: &Kernel, run: &Run, workgroup: [u32; 3], path: &str) -> Result<(), Problem> {
    let name = &kernel.name;
    if kernel.bindings.is_empty() {
        let message = format!("kernel `{name}` has no bindings");
        let hint = Some("`arguments` bring its data".to_owned());
        return Err(Problem::of(format!("{path}.bindings"), Failure { message, hint }));
    }
    if !run.arguments.is_empty() {
        let message = format!("kernel `{name}` takes buffers and no other arguments");
        let hint = Some("`bindings` gives it buffers, by group and number: {\"0.0\": \"x\"}".to_owned());
        return Err(Problem::of(format!("{path}.arguments"), Failure { message, hint }));
    }
    if workgroup != kernel.workgroup_size {
        let [stated, here] = [kernel.workgroup_size, workgroup].map(|[x, y, z]| format!("{x},{y},{z}"));
        let message = format!("the shader states workgroups of {stated} threads for `{name}`, not {here}");
        return Err(Problem::new(&format!("{path}.workgroup"), message));
    }
    Ok(())
}

/// The registers that say where the buffers of a kernel are, with their values.
///
/// # Errors
/// The first binding that has no buffer, or a wrong one.
pub(super) fn registers(
    kernel: &Kernel,
    stated: &Keyed<Expression>,
    buffers: &[Buffer],
    names: &Names,
    path: &str,
) -> Result<Vec<(u8, u32)>, Problem> {
    let path = format!("{path}.bindings");
    let mut bound: Vec<&Binding> = Vec::new();
    let mut registers = Vec::new();
    for (i, (place, expression)) in stated.0.iter().enumerate() {
        let in_key = |failure| Problem::of(key(&path, i), failure);
        let in_value = |failure| Problem::of(value(&path, i), failure);
        let binding = binding(kernel, place).map_err(in_key)?;
        if bound.contains(&binding) {
            return Err(in_key(Failure::new(format!("{binding} has a buffer already"))));
        }
        let (address, bytes) = bytes(expression, buffers, names).map_err(in_value)?;
        let values = binding.registers(address, bytes).map_err(|message| in_value(Failure::new(message)))?;
        registers.extend(values);
        bound.push(binding);
    }
    match kernel.bindings.iter().find(|binding| !bound.contains(binding)) {
        None => Ok(registers),
        Some(binding) => {
            let message = format!("{binding} has no buffer, and kernel `{}` accesses it", kernel.name);
            let hint = format!(
                "`bindings` takes \"{}.{}\": \"NAME\", where the buffer NAME has at least {} bytes",
                binding.group, binding.number, binding.least_bytes
            );
            Err(Problem::of(path, Failure { message, hint: Some(hint) }))
        }
    }
}

/// The binding of a kernel that `GROUP.BINDING` names.
fn binding<'a>(kernel: &'a Kernel, place: &str) -> Result<&'a Binding, Failure> {
    let numbers = place.split_once('.').and_then(|(group, number)| {
        let [group, number] = [group, number].map(|number| number.parse::<u32>().ok());
        Some((group?, number?))
    });
    let all = || kernel.bindings.iter().map(Binding::to_string).collect::<Vec<_>>().join(", ");
    let hint = || Some(format!("kernel `{}` has {}", kernel.name, all()));
    let Some(numbers) = numbers else {
        let message = format!("`{place}` is no binding: a group and a number in it, as in \"0.1\"");
        return Err(Failure { message, hint: hint() });
    };
    kernel.bindings.iter().find(|binding| (binding.group, binding.number) == numbers).ok_or_else(|| Failure {
        message: format!("kernel `{}` has no binding {}.{}", kernel.name, numbers.0, numbers.1),
        hint: hint(),
    })
}

/// Address and number of the bytes that a binding gets: all of a buffer, or those from an address in it on.
fn bytes(expression: &Expression, buffers: &[Buffer], names: &Names) -> Result<(u32, u64), Failure> {
    let from = |buffer: &Buffer, address: u32| (address, buffer.range().end as u64 - u64::from(address));
    // A buffer without elements is found by its name alone.
    let named = expression.name().and_then(|name| buffers.iter().find(|buffer| buffer.name == name));
    let (address, bytes) = match (named, expression.name()) {
        (Some(buffer), _) => from(buffer, buffer.address),
        (None, Some(name)) => {
            let known = buffers.iter().map(|buffer| buffer.name.as_str());
            return Err(Failure::unknown(format!("there is no buffer `{name}`"), name, known));
        }
        (None, None) => {
            let address = names.integer(expression, "what a binding begins at")?;
            let address = u32::try_from(address).ok();
            let found = address.and_then(|address| {
                let buffer = buffers.iter().find(|buffer| buffer.range().contains(&(address as usize)))?;
                Some(from(buffer, address))
            });
            found.ok_or_else(|| Failure {
                message: "what a binding begins at is inside no buffer".to_owned(),
                hint: Some(
                    "it is the name of a buffer, or one and an offset in bytes: \"x + 256\"".to_owned(),
                ),
            })?
        }
    };
    if !address.is_multiple_of(ALIGNMENT_BYTES) {
        let message =
            format!("a binding begins at a multiple of {ALIGNMENT_BYTES} bytes, not at {address:#x}");
        return Err(Failure::new(message));
    }
    Ok((address, bytes))
}

/// The path of the key of entry `i`.
fn key(path: &str, i: usize) -> String {
    format!("{path}[{}]", 2 * i)
}

/// The path of the value of entry `i`: keys and values of a map take turns.
fn value(path: &str, i: usize) -> String {
    format!("{path}[{}]", 2 * i + 1)
}
