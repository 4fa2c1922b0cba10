//! Kernels and their arguments.

use super::device::is_device;
use super::error::ClError;
use super::info::Answer;
use super::memory::Buffer;
use super::program::{Code, Program};
use super::{Done, State, api, check, object};
use crate::connection::{call, device};
use crate::ffi::{Address, In, Out, Text};
use crate::protocol::{Failure, KernelFacts, ParameterFacts, PointsTo, Reply, Request};
use std::sync::Arc;

/// An argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Argument {
    Value(Vec<u8>),
    /// A buffer; no handle is a null pointer.
    Buffer(Address),
    /// Local memory of so many bytes.
    Local(usize),
}

/// A kernel.
#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) context: Address,
    pub(super) program: Address,
    pub(super) name: String,
    pub(super) facts: Arc<KernelFacts>,
    /// Arguments; `None` before they are set.
    pub(super) arguments: Vec<Option<Argument>>,
}

/// A local argument begins at a multiple of so many bytes, or of its type's size: kernels cast it to larger types.
const LOCAL_ALIGNMENT: u64 = 16;

/// The arguments of a launch.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Packed {
    /// Their bytes without gaps.
    pub(super) bytes: Vec<u8>,
    /// Local memory for them, after that of the kernel.
    pub(super) dynamic_local: u64,
    /// The buffers among them.
    pub(super) buffers: Vec<Address>,
}

impl Kernel {
    /// The arguments; `addresses` knows where buffers lie.
    pub(super) fn packed(&self, addresses: impl Fn(Address) -> Done<u64>) -> Done<Packed> {
        let mut packed = Packed { bytes: Vec::new(), dynamic_local: 0, buffers: Vec::new() };
        let start = u64::from(self.facts.local_bytes);
        let mut end = start;
        for (parameter, argument) in self.facts.parameters.iter().zip(&self.arguments) {
            let address = match argument.as_ref().ok_or(ClError::InvalidKernelArgs)? {
                Argument::Value(value) => {
                    packed.bytes.extend(value);
                    continue;
                }
                Argument::Buffer(Address(0)) => 0,
                Argument::Buffer(buffer) => {
                    packed.buffers.push(*buffer);
                    addresses(*buffer)?
                }
                Argument::Local(bytes) => {
                    let alignment = LOCAL_ALIGNMENT.max(parameter.points_to_alignment.into());
                    let at = end.checked_next_multiple_of(alignment).ok_or(ClError::OutOfResources)?;
                    end = at.checked_add(*bytes as u64).ok_or(ClError::OutOfResources)?;
                    at
                }
            };
            let width = parameter.bytes.min(8) as usize;
            packed.bytes.extend(&address.to_le_bytes()[..width]);
        }
        packed.dynamic_local = end - start;
        Ok(packed)
    }
}

/// The argument of a parameter. `is_buffer` knows handles of buffers; `is_untyped` is true for PTX, where a parameter need
/// not say that it is a pointer.
fn argument(
    parameter: &ParameterFacts,
    bytes: usize,
    value: Address,
    is_untyped: bool,
    is_buffer: impl Fn(Address) -> bool,
) -> Done<Argument> {
    // A size that is wrong is not read.
    let is_handle = bytes == size_of::<Address>();
    let handle = if is_handle { In::<Address>::at(value).get() } else { None }.unwrap_or(Address(0));
    let could_point = is_untyped && parameter.bytes as usize == size_of::<Address>();
    match parameter.points_to {
        PointsTo::Local => {
            check(value.0 == 0, ClError::InvalidArgValue)?;
            check(bytes > 0, ClError::InvalidArgSize)?;
            Ok(Argument::Local(bytes))
        }
        PointsTo::Device | PointsTo::Constants => {
            check(is_handle, ClError::InvalidArgSize)?;
            check(handle.0 == 0 || is_buffer(handle), ClError::InvalidMemObject)?;
            Ok(Argument::Buffer(handle))
        }
        PointsTo::Nothing if could_point && value.0 == 0 && bytes > 0 => Ok(Argument::Local(bytes)),
        PointsTo::Nothing if could_point && is_buffer(handle) => Ok(Argument::Buffer(handle)),
        PointsTo::Nothing => {
            check(bytes == parameter.bytes as usize, ClError::InvalidArgSize)?;
            check(value.0 != 0, ClError::InvalidArgValue)?;
            Ok(Argument::Value(value.bytes(bytes).to_vec()))
        }
    }
}

impl State {
    /// Adds a kernel of a program.
    fn add_kernel(&mut self, program: Address, name: &str) -> Done<Address> {
        let found = self.get::<Program>(program)?;
        let built = found.executable()?;
        check(built.kernels.iter().any(|kernel| kernel == name), ClError::InvalidKernelName)?;
        let reply = call(&Request::Kernel { module: built.module, name: name.to_owned() }, &[]);
        let Reply::Kernel { facts } = reply.map_err(|failure| match failure {
            // The kernel is there, and has something that the simulator refuses.
            Failure::InvalidCode => ClError::InvalidKernelDefinition,
            other => other.into(),
        })?
        else {
            return Err(ClError::OutOfResources);
        };
        let arguments = vec![None; facts.parameters.len()];
        let context = found.context;
        self.hold(program);
        Ok(self.add(Kernel { context, program, name: name.to_owned(), facts: Arc::new(facts), arguments }))
    }
}

#[unsafe(export_name = "wave_clCreateKernel")]
pub(super) extern "C" fn create_kernel(program: Address, name: Text, error: Out<i32>) -> Address {
    object(error, |state| {
        state.get::<Program>(program)?.executable()?;
        state.add_kernel(program, &name.read().ok_or(ClError::InvalidValue)?)
    })
}

#[unsafe(export_name = "wave_clCreateKernelsInProgram")]
pub(super) extern "C" fn create_kernels_in_program(
    program: Address,
    room: u32,
    kernels: Out<Address>,
    count: Out<u32>,
) -> i32 {
    api(|state| {
        let names = state.get::<Program>(program)?.executable()?.kernels.clone();
        if kernels.exists() {
            check(room as usize >= names.len(), ClError::InvalidValue)?;
            let mut made = Vec::new();
            for name in &names {
                match state.add_kernel(program, name) {
                    Ok(kernel) => made.push(kernel),
                    Err(error) => {
                        made.into_iter().try_for_each(|kernel| state.release::<Kernel>(kernel))?;
                        return Err(error);
                    }
                }
            }
            kernels.set_all(made);
        }
        count.set(names.len() as u32);
        Ok(())
    })
}

#[unsafe(export_name = "wave_clRetainKernel")]
pub(super) extern "C" fn retain_kernel(kernel: Address) -> i32 {
    api(|state| state.retain::<Kernel>(kernel))
}

#[unsafe(export_name = "wave_clReleaseKernel")]
pub(super) extern "C" fn release_kernel(kernel: Address) -> i32 {
    api(|state| state.release::<Kernel>(kernel))
}

#[unsafe(export_name = "wave_clSetKernelArg")]
pub(super) extern "C" fn set_kernel_arg(kernel: Address, number: u32, bytes: usize, value: Address) -> i32 {
    api(|state| {
        let found = state.get::<Kernel>(kernel)?;
        let number = number as usize;
        let parameter = found.facts.parameters.get(number).ok_or(ClError::InvalidArgIndex)?;
        let is_untyped = matches!(state.get::<Program>(found.program)?.code, Code::Ptx(_));
        let is_buffer = |handle| state.get::<Buffer>(handle).is_ok();
        let argument = argument(parameter, bytes, value, is_untyped, is_buffer)?;
        state.get_mut::<Kernel>(kernel)?.arguments[number] = Some(argument);
        Ok(())
    })
}

/// The attributes of a kernel: all that is known is the workgroup that it requires.
fn attributes(facts: &KernelFacts) -> String {
    match facts.required_threads {
        [0, ..] => String::new(),
        [x, y, z] => format!("reqd_work_group_size({x},{y},{z})"),
    }
}

#[unsafe(export_name = "wave_clGetKernelInfo")]
pub(super) extern "C" fn get_kernel_info(
    kernel: Address,
    what: u32,
    room: usize,
    to: Address,
    bytes: Out<usize>,
) -> i32 {
    api(|state| {
        let found = state.get::<Kernel>(kernel)?;
        let answer = match what {
            0x1190 => Answer::from(found.name.as_str()),
            0x1191 => (found.arguments.len() as u32).into(),
            0x1192 => state.references(kernel).into(),
            0x1193 => found.context.into(),
            0x1194 => found.program.into(),
            0x1195 => attributes(&found.facts).as_str().into(),
            _ => return Err(ClError::InvalidValue),
        };
        answer.give(room, to, bytes)
    })
}

/// Names and types of arguments are not known: PTX has none.
#[unsafe(export_name = "wave_clGetKernelArgInfo")]
pub(super) extern "C" fn get_kernel_arg_info(
    kernel: Address,
    number: u32,
    what: u32,
    room: usize,
    to: Address,
    bytes: Out<usize>,
) -> i32 {
    const NO_ACCESS_QUALIFIER: u32 = 0x11a3;
    api(|state| {
        let found = state.get::<Kernel>(kernel)?;
        let parameter = found.facts.parameters.get(number as usize).ok_or(ClError::InvalidArgIndex)?;
        let space = match parameter.points_to {
            PointsTo::Device => 0x119b,
            PointsTo::Local => 0x119c,
            PointsTo::Constants => 0x119d,
            PointsTo::Nothing => 0x119e,
        };
        let answer = match what {
            0x1196 => Answer::from(space),
            0x1197 => NO_ACCESS_QUALIFIER.into(),
            0x1198..=0x119a => return Err(ClError::KernelArgInfoNotAvailable),
            _ => return Err(ClError::InvalidValue),
        };
        answer.give(room, to, bytes)
    })
}

#[unsafe(export_name = "wave_clGetKernelWorkGroupInfo")]
pub(super) extern "C" fn get_kernel_work_group_info(
    kernel: Address,
    of: Address,
    what: u32,
    room: usize,
    to: Address,
    bytes: Out<usize>,
) -> i32 {
    api(|state| {
        let found = state.get::<Kernel>(kernel)?;
        // There is one device, which need not be named.
        check(of.0 == 0, ClError::InvalidDevice).or_else(|_| is_device(of))?;
        let facts = &found.facts;
        let answer = match what {
            0x11b0 => Answer::from(facts.most_threads as usize),
            0x11b1 => facts.required_threads.map(|count| count as usize).as_slice().into(),
            0x11b2 => {
                let local = |argument: &Option<Argument>| match argument {
                    Some(Argument::Local(bytes)) => *bytes as u64,
                    _ => 0,
                };
                let all = found.arguments.iter().map(local);
                all.fold(u64::from(facts.local_bytes), u64::saturating_add).into()
            }
            0x11b3 => (device()?.wave_width as usize).into(),
            0x11b4 => u64::from(facts.private_bytes).into(),
            // CL_KERNEL_GLOBAL_WORK_SIZE is for kernels that a device has of its own.
            _ => return Err(ClError::InvalidValue),
        };
        answer.give(room, to, bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(bytes: u32, points_to: PointsTo, points_to_alignment: u32) -> ParameterFacts {
        ParameterFacts { bytes, alignment: bytes, points_to, points_to_alignment }
    }

    #[test]
    fn arguments_fit_their_parameters() {
        let handle = Address(0x1000);
        let is_buffer = |other| other == handle;
        let place = Address(std::ptr::from_ref(&handle) as usize);
        let sevens = [7u8; 8];
        let (value, none) = (Address(sevens.as_ptr() as usize), Address(0));
        let of =
            |points_to, bytes, value| argument(&parameter(8, points_to, 4), bytes, value, false, is_buffer);
        assert_eq!(of(PointsTo::Device, 8, place), Ok(Argument::Buffer(handle)));
        assert_eq!(of(PointsTo::Constants, 8, none), Ok(Argument::Buffer(none)));
        assert_eq!(of(PointsTo::Device, 4, place), Err(ClError::InvalidArgSize));
        assert_eq!(of(PointsTo::Device, 8, value), Err(ClError::InvalidMemObject));
        assert_eq!(of(PointsTo::Local, 100, none), Ok(Argument::Local(100)));
        assert_eq!(of(PointsTo::Local, 0, none), Err(ClError::InvalidArgSize));
        assert_eq!(of(PointsTo::Local, 8, value), Err(ClError::InvalidArgValue));
        assert_eq!(of(PointsTo::Nothing, 8, value), Ok(Argument::Value(vec![7; 8])));
        assert_eq!(of(PointsTo::Nothing, 4, value), Err(ClError::InvalidArgSize));
        assert_eq!(of(PointsTo::Nothing, 8, none), Err(ClError::InvalidArgValue));
        let untyped =
            |bytes, value| argument(&parameter(8, PointsTo::Nothing, 0), bytes, value, true, is_buffer);
        assert_eq!(
            (untyped(8, place), untyped(64, none)),
            (Ok(Argument::Buffer(handle)), Ok(Argument::Local(64)))
        );
    }

    #[test]
    fn local_arguments_lie_after_the_memory_of_the_kernel() {
        let parameters = vec![
            parameter(8, PointsTo::Local, 4),
            parameter(8, PointsTo::Device, 4),
            parameter(4, PointsTo::Nothing, 0),
            parameter(8, PointsTo::Local, 128),
        ];
        let facts = Arc::new(KernelFacts { parameters, local_bytes: 20, ..Default::default() });
        let arguments = [
            Argument::Local(10),
            Argument::Buffer(Address(9)),
            Argument::Value(vec![1; 4]),
            Argument::Local(4),
        ];
        let mut kernel = Kernel {
            context: Address(0),
            program: Address(0),
            name: String::new(),
            facts,
            arguments: arguments.map(Some).to_vec(),
        };
        let packed = kernel.packed(|_| Ok(0x200)).expect("all are set");
        let mut expected = 32u64.to_le_bytes().to_vec();
        expected.extend(0x200u64.to_le_bytes());
        expected.extend([1; 4]);
        expected.extend(128u64.to_le_bytes());
        assert_eq!(packed, Packed { bytes: expected, dynamic_local: 112, buffers: vec![Address(9)] });
        kernel.arguments[2] = None;
        assert_eq!(kernel.packed(|_| Ok(0)), Err(ClError::InvalidKernelArgs));
    }
}
