//! The platform.

use super::device::EXTENSIONS;
use super::error::ClError;
use super::icd::function;
use super::info::Answer;
use super::object::Handle;
use super::{Done, api, check, refused};
use crate::connection::device;
use crate::ffi::{Address, Out, Text};

/// The only platform.
static PLATFORM: Handle = Handle::new();

/// The version of the platform and of its device.
pub(super) const VERSION: &str = "OpenCL 1.2 wave-sim";

/// The name, and the vendor's.
pub(super) const NAME: &str = "wave-sim";

/// The handle of the platform.
pub(super) fn platform() -> Address {
    PLATFORM.address()
}

/// No handle is the platform too, as in most implementations.
pub(super) fn is_platform(handle: Address) -> Done {
    check(handle.0 == 0 || handle == platform(), ClError::InvalidPlatform)
}

/// Gives the handles of a list with one element.
pub(super) fn give_one(handle: Address, room: u32, to: Out<Address>, count: Out<u32>) -> Done {
    check(to.exists() || count.exists(), ClError::InvalidValue)?;
    check(!to.exists() || room > 0, ClError::InvalidValue)?;
    to.set(handle);
    count.set(1);
    Ok(())
}

#[unsafe(export_name = "wave_clGetPlatformIDs")]
pub(super) extern "C" fn get_platform_ids(room: u32, platforms: Out<Address>, count: Out<u32>) -> i32 {
    api(|_| {
        device().map_err(|_| ClError::PlatformNotFound)?;
        give_one(platform(), room, platforms, count)
    })
}

#[unsafe(export_name = "wave_clIcdGetPlatformIDsKHR")]
pub(super) extern "C" fn icd_get_platform_ids(room: u32, platforms: Out<Address>, count: Out<u32>) -> i32 {
    get_platform_ids(room, platforms, count)
}

#[unsafe(export_name = "wave_clGetPlatformInfo")]
pub(super) extern "C" fn get_platform_info(
    handle: Address,
    what: u32,
    room: usize,
    to: Address,
    bytes: Out<usize>,
) -> i32 {
    api(|_| {
        is_platform(handle)?;
        let text = match what {
            0x0900 => "FULL_PROFILE",
            0x0901 => VERSION,
            0x0902 | 0x0903 => NAME,
            0x0904 => EXTENSIONS,
            // CL_PLATFORM_ICD_SUFFIX_KHR
            0x0920 => "WAVE",
            _ => return Err(ClError::InvalidValue),
        };
        Answer::from(text).give(room, to, bytes)
    })
}

#[unsafe(export_name = "wave_clGetExtensionFunctionAddress")]
pub(super) extern "C" fn get_extension_function_address(name: Text) -> Address {
    name.read().and_then(|name| function(&name)).unwrap_or(Address(0))
}

#[unsafe(export_name = "wave_clGetExtensionFunctionAddressForPlatform")]
pub(super) extern "C" fn get_extension_function_address_for_platform(handle: Address, name: Text) -> Address {
    if is_platform(handle).is_ok() { get_extension_function_address(name) } else { Address(0) }
}

#[unsafe(export_name = "wave_clUnloadCompiler")]
pub(super) extern "C" fn unload_compiler() -> i32 {
    0
}

#[unsafe(export_name = "wave_clUnloadPlatformCompiler")]
pub(super) extern "C" fn unload_platform_compiler(handle: Address) -> i32 {
    api(|_| check(handle == platform(), ClError::InvalidPlatform))
}

/// The function that a loader calls for one of an extension.
pub(super) extern "C" fn unsupported() -> i32 {
    refused("a function of OpenCL for graphics") as i32
}

/// The same for functions that return an object.
pub(super) extern "C" fn unsupported_object() -> Address {
    unsupported();
    Address(0)
}
