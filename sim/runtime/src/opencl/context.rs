//! Contexts.

use super::device::{are_devices, device_handle, has_type};
use super::error::ClError;
use super::info::Answer;
use super::platform::platform;
use super::{Done, api, check, object};
use crate::ffi::{Address, In, Out};

/// A context.
#[derive(Debug)]
pub(super) struct Context {
    /// The properties that the program has given, with the zero at their end; empty if there were none.
    pub(super) properties: Vec<usize>,
}

/// The properties, up to their zero.
fn properties(list: In<usize>) -> Done<Vec<usize>> {
    const PLATFORM: usize = 0x1084;
    const INTEROP_USER_SYNC: usize = 0x1085;
    let mut found = Vec::new();
    if !list.exists() {
        return Ok(found);
    }
    while let Some(name) = list.nth(found.len()).filter(|&name| name != 0) {
        let value = list.nth(found.len() + 1).ok_or(ClError::InvalidProperty)?;
        let is_repeated = found.chunks(2).any(|pair: &[usize]| pair.first() == Some(&name));
        check(!is_repeated, ClError::InvalidProperty)?;
        match name {
            PLATFORM => check(value == platform().0, ClError::InvalidPlatform)?,
            INTEROP_USER_SYNC => check(value <= 1, ClError::InvalidProperty)?,
            _ => return Err(ClError::InvalidProperty),
        }
        found.extend([name, value]);
    }
    found.push(0);
    Ok(found)
}

/// There are no errors that a context's function would be told of later.
#[unsafe(export_name = "wave_clCreateContext")]
pub(super) extern "C" fn create_context(
    list: In<usize>,
    count: u32,
    devices: In<Address>,
    notify: Address,
    argument: Address,
    error: Out<i32>,
) -> Address {
    object(error, |state| {
        let properties = properties(list)?;
        are_devices(count, devices)?;
        check(notify.0 != 0 || argument.0 == 0, ClError::InvalidValue)?;
        Ok(state.add(Context { properties }))
    })
}

#[unsafe(export_name = "wave_clCreateContextFromType")]
pub(super) extern "C" fn create_context_from_type(
    list: In<usize>,
    wanted: u64,
    notify: Address,
    argument: Address,
    error: Out<i32>,
) -> Address {
    object(error, |state| {
        let properties = properties(list)?;
        has_type(wanted)?;
        check(notify.0 != 0 || argument.0 == 0, ClError::InvalidValue)?;
        Ok(state.add(Context { properties }))
    })
}

#[unsafe(export_name = "wave_clRetainContext")]
pub(super) extern "C" fn retain_context(context: Address) -> i32 {
    api(|state| state.retain::<Context>(context))
}

#[unsafe(export_name = "wave_clReleaseContext")]
pub(super) extern "C" fn release_context(context: Address) -> i32 {
    api(|state| state.release::<Context>(context))
}

#[unsafe(export_name = "wave_clGetContextInfo")]
pub(super) extern "C" fn get_context_info(
    context: Address,
    what: u32,
    room: usize,
    to: Address,
    bytes: Out<usize>,
) -> i32 {
    api(|state| {
        let found = state.get::<Context>(context)?;
        let answer = match what {
            0x1080 => Answer::from(state.references(context)),
            0x1081 => device_handle().into(),
            0x1082 => found.properties.as_slice().into(),
            0x1083 => 1u32.into(),
            _ => return Err(ClError::InvalidValue),
        };
        answer.give(room, to, bytes)
    })
}
