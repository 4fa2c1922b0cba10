//! Buffers of shaders: `--bind` puts them into device memory, `--save-binding` writes them to files.

use super::args::{LaunchArgs, OutputArgs};
use super::values::{Bind, Contents};
use super::{files, inputs};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Binding, Kernel};
use wave_observe::attribution::Region;

/// Buffers begin at multiples of this: of every cache line, and of what WebGPU and Vulkan ask for.
const ALIGNMENT_BYTES: u64 = 256;

/// A buffer in device memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bound {
    group: u32,
    number: u32,
    /// The variable of the shader, if it has a name.
    pub(crate) variable: Option<String>,
    address: u32,
    bytes: u64,
}

impl Bound {
    /// The buffer as a named part of device memory.
    pub(crate) fn region(&self) -> Region {
        let start = u64::from(self.address);
        Region { name: format!("{}.{}", self.group, self.number), start, end: start + self.bytes }
    }
}

/// The buffers of a launch, and the start values of registers that say where they are.
#[derive(Debug, Default)]
pub(crate) struct Placed {
    /// The buffers.
    pub(crate) buffers: Vec<Bound>,
    /// Registers and their values.
    pub(crate) registers: Vec<(u8, u32)>,
    /// End of the last one, bytes.
    pub(crate) end: u64,
}

/// Puts the buffers of a kernel behind byte `used` of device memory, and fills them.
///
/// # Errors
/// Flags and bindings that do not fit each other, files that cannot be read, and buffers that do not fit into memory.
pub(crate) fn place(
    kernel: &Kernel,
    args: &LaunchArgs,
    memory: &mut [u8],
    used: u64,
) -> Result<Placed, Vec<Diagnostic>> {
    let mut wrong: Vec<Diagnostic> = args.bind.iter().filter_map(|bind| unknown(kernel, bind)).collect();
    if let ([first, ..], false) = (args.param.as_slice(), kernel.bindings.is_empty()) {
        let message =
            format!("--param {first}: kernel `{}` takes buffers and no other arguments", kernel.name);
        wrong.push(Diagnostic::error(message).hint("--bind GROUP.BINDING=FILE gives it a buffer"));
    }
    let mut placed = Placed { end: used, ..Placed::default() };
    for binding in &kernel.bindings {
        match place_one(binding, args, memory, &mut placed) {
            Ok(()) => {}
            Err(error) => wrong.push(error),
        }
    }
    if wrong.is_empty() { Ok(placed) } else { Err(wrong) }
}

fn place_one(
    binding: &Binding,
    args: &LaunchArgs,
    memory: &mut [u8],
    placed: &mut Placed,
) -> Result<(), Diagnostic> {
    let (group, number) = (binding.group, binding.number);
    let mut given = args.bind.iter().filter(|bind| (bind.group, bind.number) == (group, number));
    let Some(bind) = given.next() else {
        let least = binding.least_bytes;
        return Err(Diagnostic::error(format!("{binding} has no buffer, and the kernel accesses it")).hint(
            format!("--bind {group}.{number}=FILE, or {group}.{number}=bytes:N for zeros, with at least {least} bytes"),
        ));
    };
    if given.next().is_some() {
        return Err(Diagnostic::error(format!("--bind gives {binding} two buffers")));
    }
    let size = memory.len() as u64;
    let address = placed.end.next_multiple_of(ALIGNMENT_BYTES);
    let bytes = match &bind.contents {
        Contents::File(file) => {
            let contents = inputs::data(file, size.saturating_sub(address), "--bind")?;
            memory[address as usize..][..contents.len()].copy_from_slice(&contents);
            contents.len() as u64
        }
        Contents::Zeros(bytes) => *bytes,
    };
    let end = address.saturating_add(bytes);
    let start = u32::try_from(address).ok().filter(|_| end <= size);
    let Some(start) = start else {
        let message =
            format!("--bind {group}.{number}: the buffers end at byte {end} of a device memory of {size}");
        return Err(Diagnostic::error(message).hint("--device-memory BYTES gives the machine more"));
    };
    let registers = binding.registers(start, bytes);
    placed.registers.extend(registers.map_err(|message| Diagnostic::error(format!("--bind: {message}")))?);
    placed.buffers.push(Bound { group, number, variable: binding.name.clone(), address: start, bytes });
    placed.end = end;
    Ok(())
}

/// The message about a buffer for which the kernel has no binding.
fn unknown(kernel: &Kernel, bind: &Bind) -> Option<Diagnostic> {
    let is_it = |binding: &Binding| (binding.group, binding.number) == (bind.group, bind.number);
    if kernel.bindings.iter().any(is_it) {
        return None;
    }
    let message = format!("--bind: kernel `{}` has no binding {}.{}", kernel.name, bind.group, bind.number);
    let all: Vec<String> = kernel.bindings.iter().map(Binding::to_string).collect();
    Some(Diagnostic::error(message).hint(match all.as_slice() {
        [] => "it is no shader with buffers: --arg and --param bring its data".to_owned(),
        all => format!("it has {}", all.join(", ")),
    }))
}

/// Finds what is wrong with `--save-binding` before a run.
pub(crate) fn check(output: &OutputArgs, buffers: &[Bound]) -> Result<(), Vec<Diagnostic>> {
    let wrong = |save: &super::values::SaveBinding| {
        let (group, number) = (save.group, save.number);
        let there = buffers.iter().any(|bound| (bound.group, bound.number) == (group, number));
        let missing =
            || Diagnostic::error(format!("--save-binding: there is no buffer at binding {group}.{number}"));
        (!there).then(missing).or_else(|| files::cannot_write(&save.file, "--save-binding"))
    };
    let wrong: Vec<Diagnostic> = output.save_binding.iter().filter_map(wrong).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Writes the buffers that `--save-binding` names.
pub(crate) fn save(output: &OutputArgs, buffers: &[Bound], memory: &[u8]) -> Result<(), Vec<Diagnostic>> {
    for save in &output.save_binding {
        let is_it = |bound: &&Bound| (bound.group, bound.number) == (save.group, save.number);
        let bound = buffers.iter().find(is_it).expect("it was checked before the run");
        let bytes = &memory[bound.address as usize..][..bound.bytes as usize];
        files::write(&save.file, bytes, "--save-binding")?;
    }
    Ok(())
}
