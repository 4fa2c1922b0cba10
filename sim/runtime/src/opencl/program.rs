//! Programs.

use super::binary::{Binary, of_source, read};
use super::build::Built;
use super::context::Context;
use super::device::{are_devices, device_handle, is_device};
use super::error::ClError;
use super::info::Answer;
use super::{Done, api, check, object, refused};
use crate::ffi::{Address, In, Out, Text};

/// States of a build, as programs ask for them.
pub(super) const BUILD_NONE: i32 = -1;
pub(super) const BUILD_ERROR: i32 = -2;
pub(super) const BUILD_SUCCESS: i32 = 0;

/// Kinds of what a build makes.
pub(super) const KIND_NONE: u32 = 0;
pub(super) const KIND_OBJECT: u32 = 1;
pub(super) const KIND_LIBRARY: u32 = 2;
pub(super) const KIND_EXECUTABLE: u32 = 4;

/// The code of a program.
#[derive(Debug, Clone)]
pub(super) enum Code {
    /// OpenCL C.
    Source(String),
    Ptx(Vec<u8>),
}

/// A program.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) context: Address,
    pub(super) code: Code,
    pub(super) is_of_binary: bool,
    /// Options of the last build.
    pub(super) options: String,
    pub(super) status: i32,
    pub(super) log: String,
    /// One of `CL_PROGRAM_BINARY_TYPE_`.
    pub(super) kind: u32,
    /// The result of the last build.
    pub(super) built: Option<Built>,
}

impl Program {
    pub(super) fn new(context: Address, code: Code) -> Program {
        Program {
            context,
            code,
            is_of_binary: false,
            options: String::new(),
            status: BUILD_NONE,
            log: String::new(),
            kind: KIND_NONE,
            built: None,
        }
    }

    /// The result of the build, if its kernels can run.
    pub(super) fn executable(&self) -> Done<&Built> {
        let built = self.built.as_ref().filter(|_| self.kind == KIND_EXECUTABLE);
        built.ok_or(ClError::InvalidProgramExecutable)
    }

    /// Its binary; empty before it is built.
    fn binary(&self) -> Vec<u8> {
        match &self.code {
            _ if self.built.is_none() && !self.is_of_binary => Vec::new(),
            Code::Source(source) => of_source(source, &self.options),
            Code::Ptx(ptx) => ptx.clone(),
        }
    }
}

#[unsafe(export_name = "wave_clCreateProgramWithSource")]
pub(super) extern "C" fn create_program_with_source(
    context: Address,
    count: u32,
    texts: In<Address>,
    lengths: In<usize>,
    error: Out<i32>,
) -> Address {
    object(error, |state| {
        state.get::<Context>(context)?;
        check(count > 0 && texts.exists(), ClError::InvalidValue)?;
        let mut source = String::new();
        for number in 0..count as usize {
            let text = texts.nth(number).filter(|text| text.0 != 0).ok_or(ClError::InvalidValue)?;
            match lengths.nth(number).filter(|&length| length > 0) {
                Some(length) => source += &String::from_utf8_lossy(text.bytes(length)),
                None => source += &text.text().unwrap_or_default(),
            }
        }
        // A length may include the zero.
        source.truncate(source.trim_end_matches('\0').len());
        state.hold(context);
        Ok(state.add(Program::new(context, Code::Source(source))))
    })
}

#[unsafe(export_name = "wave_clCreateProgramWithBinary")]
pub(super) extern "C" fn create_program_with_binary(
    context: Address,
    count: u32,
    devices: In<Address>,
    lengths: In<usize>,
    binaries: In<Address>,
    statuses: Out<i32>,
    error: Out<i32>,
) -> Address {
    object(error, |state| {
        state.get::<Context>(context)?;
        are_devices(count, devices)?;
        let given = lengths.get().zip(binaries.get()).filter(|(length, at)| *length > 0 && at.0 != 0);
        if given.is_none() {
            statuses.set(ClError::InvalidValue as i32);
        }
        let (length, at) = given.ok_or(ClError::InvalidValue)?;
        let binary = read(at.bytes(length));
        statuses.set(if binary.is_some() { 0 } else { ClError::InvalidBinary as i32 });
        let (code, options) = match binary.ok_or(ClError::InvalidBinary)? {
            Binary::Source { source, options } => (Code::Source(source), options),
            Binary::Ptx(bytes) => (Code::Ptx(bytes), String::new()),
        };
        state.hold(context);
        Ok(state.add(Program { is_of_binary: true, options, ..Program::new(context, code) }))
    })
}

/// There are no kernels that the device has of its own.
#[unsafe(export_name = "wave_clCreateProgramWithBuiltInKernels")]
pub(super) extern "C" fn create_program_with_built_in_kernels(
    context: Address,
    count: u32,
    devices: In<Address>,
    _names: Text,
    error: Out<i32>,
) -> Address {
    object(error, |state| {
        state.get::<Context>(context)?;
        are_devices(count, devices)?;
        refused("a kernel that is built into a device");
        Err(ClError::InvalidValue)
    })
}

#[unsafe(export_name = "wave_clRetainProgram")]
pub(super) extern "C" fn retain_program(program: Address) -> i32 {
    api(|state| state.retain::<Program>(program))
}

#[unsafe(export_name = "wave_clReleaseProgram")]
pub(super) extern "C" fn release_program(program: Address) -> i32 {
    api(|state| state.release::<Program>(program))
}

#[unsafe(export_name = "wave_clGetProgramInfo")]
pub(super) extern "C" fn get_program_info(
    program: Address,
    what: u32,
    room: usize,
    to: Address,
    bytes: Out<usize>,
) -> i32 {
    const BINARIES: u32 = 0x1166;
    api(|state| {
        let found = state.get::<Program>(program)?;
        if what == BINARIES {
            if to.0 != 0 {
                check(room >= size_of::<Address>(), ClError::InvalidValue)?;
                let place = In::<Address>::at(to).get().filter(|place| place.0 != 0);
                let binary = found.binary();
                place.into_iter().for_each(|place| place.bytes_mut(binary.len()).copy_from_slice(&binary));
            }
            bytes.set(size_of::<Address>());
            return Ok(());
        }
        let answer = match what {
            0x1160 => Answer::from(state.references(program)),
            0x1161 => found.context.into(),
            0x1162 => 1u32.into(),
            0x1163 => device_handle().into(),
            0x1164 => match &found.code {
                Code::Source(source) if !found.is_of_binary => source.as_str().into(),
                _ => "".into(),
            },
            0x1165 => found.binary().len().into(),
            0x1167 => found.executable()?.kernels.len().into(),
            0x1168 => found.executable()?.kernels.join(";").as_str().into(),
            _ => return Err(ClError::InvalidValue),
        };
        answer.give(room, to, bytes)
    })
}

#[unsafe(export_name = "wave_clGetProgramBuildInfo")]
pub(super) extern "C" fn get_program_build_info(
    program: Address,
    device: Address,
    what: u32,
    room: usize,
    to: Address,
    bytes: Out<usize>,
) -> i32 {
    api(|state| {
        let found = state.get::<Program>(program)?;
        is_device(device)?;
        let answer = match what {
            0x1181 => Answer::from(found.status),
            0x1182 => found.options.as_str().into(),
            0x1183 => found.log.as_str().into(),
            0x1184 => found.kind.into(),
            _ => return Err(ClError::InvalidValue),
        };
        answer.give(room, to, bytes)
    })
}
