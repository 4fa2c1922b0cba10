//! The kernels of a module, and what they state about their launches.

use crate::ir::{Exported, Function, FunctionId, Module, Operation, Terminator};

/// An exported function that a launch may run.
///
/// A module says what the kernel `NAME` needs with functions that it exports, without parameters, each giving a constant:
/// `wave_local_memory_NAME` (bytes of local memory of a workgroup) and `wave_workgroup_x_NAME`, `_y_`, `_z_` (threads of
/// a workgroup). In C, `KERNEL_LOCAL_MEMORY` and `KERNEL_WORKGROUP` of `wave.h` make them. They are no kernels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedKernel {
    /// Its name.
    pub name: String,
    /// The function.
    pub function: FunctionId,
    /// Bytes of local memory of a workgroup, if stated.
    pub local_memory_bytes: Option<u32>,
    /// Threads of a workgroup in x, y, z, if stated; 1 where only another direction is.
    pub workgroup_size: Option<[u32; 3]>,
}

/// Beginnings of the names of functions that state something.
const LOCAL_MEMORY: &str = "wave_local_memory_";
const WORKGROUP: [&str; 3] = ["wave_workgroup_x_", "wave_workgroup_y_", "wave_workgroup_z_"];

/// The kernels of a module, in the order of its exports.
pub fn kernels(module: &Module) -> Vec<ExportedKernel> {
    let functions = || {
        module.exports.iter().filter_map(|(name, exported)| match exported {
            Exported::Function(function) => Some((name.as_str(), *function)),
            _ => None,
        })
    };
    let stated = |before: &str, kernel: &str| {
        let found = functions().find(|(name, _)| name.strip_prefix(before) == Some(kernel));
        found.and_then(|(_, function)| constant(&module.functions[function]))
    };
    let states = |name: &str| {
        let mut all = WORKGROUP.iter().chain([&LOCAL_MEMORY]);
        all.any(|before| {
            name.strip_prefix(before).is_some_and(|rest| functions().any(|(name, _)| name == rest))
        })
    };
    let kernel = |(name, function): (&str, FunctionId)| {
        let sizes = WORKGROUP.map(|before| stated(before, name));
        ExportedKernel {
            name: name.to_owned(),
            function,
            local_memory_bytes: stated(LOCAL_MEMORY, name),
            workgroup_size: sizes.iter().any(Option::is_some).then(|| sizes.map(|size| size.unwrap_or(1))),
        }
    };
    functions().filter(|(name, _)| !states(name)).map(kernel).collect()
}

/// The constant that a function without parameters returns, if that is all that it does.
fn constant(function: &Function) -> Option<u32> {
    let entry = &function.blocks[function.entry()];
    let Terminator::Return(values) = &entry.terminator else { return None };
    let [value] = values[..] else { return None };
    if !entry.parameters.is_empty() {
        return None;
    }
    let defined = entry.instructions.iter().find(|instruction| instruction.results.contains(&value))?;
    match defined.operation {
        Operation::Constant(crate::ir::Constant::I32(bits)) => Some(bits),
        _ => None,
    }
}
