//! The device, errors, limits.

use super::error::{description, runtime_name};
use super::properties::{Attribute, MOST_ATTRIBUTE, VERSION};
use super::{CudaError, LAST_ERROR, check, given, lost, refused, runtime};
use crate::connection::device;
use crate::ffi::{Address, Out, Text, function};

#[unsafe(export_name = "wave_cudaGetDeviceCount")]
extern "C" fn device_count(count: Out<i32>) -> i32 {
    runtime(|_| {
        device()?;
        given(count.set(1))
    })
}

#[unsafe(export_name = "wave_cudaSetDevice")]
extern "C" fn set_device(number: i32) -> i32 {
    runtime(|_| check(number == 0, CudaError::InvalidDevice))
}

#[unsafe(export_name = "wave_cudaGetDevice")]
extern "C" fn get_device(number: Out<i32>) -> i32 {
    runtime(|_| given(number.set(0)))
}

#[unsafe(export_name = "wave_cudaChooseDevice")]
extern "C" fn choose_device(number: Out<i32>, _properties: Address) -> i32 {
    get_device(number)
}

#[unsafe(export_name = "wave_cudaSetValidDevices")]
extern "C" fn set_valid_devices(_numbers: Address, _count: i32) -> i32 {
    0
}

#[unsafe(export_name = "wave_cudaInitDevice")]
extern "C" fn init_device(number: i32, _device_flags: u32, _flags: u32) -> i32 {
    set_device(number)
}

#[unsafe(export_name = "wave_cudaSetDeviceFlags")]
extern "C" fn set_device_flags(_: u32) -> i32 {
    0
}

#[unsafe(export_name = "wave_cudaGetDeviceFlags")]
extern "C" fn get_device_flags(flags: Out<u32>) -> i32 {
    runtime(|_| given(flags.set(0)))
}

#[unsafe(export_name = "wave_cudaDeviceSynchronize")]
extern "C" fn device_synchronize() -> i32 {
    runtime(|state| state.usable())
}

#[unsafe(export_name = "wave_cudaThreadSynchronize")]
extern "C" fn thread_synchronize() -> i32 {
    device_synchronize()
}

/// Memory stays: what a program does next is mostly to end.
#[unsafe(export_name = "wave_cudaDeviceReset")]
extern "C" fn device_reset() -> i32 {
    runtime(|state| {
        state.events.clear();
        state.streams.clear();
        Ok(())
    })
}

#[unsafe(export_name = "wave_cudaThreadExit")]
extern "C" fn thread_exit() -> i32 {
    device_reset()
}

#[unsafe(export_name = "wave_cudaDeviceGetAttribute")]
extern "C" fn device_attribute(value: Out<i32>, attribute: i32, number: i32) -> i32 {
    runtime(|_| {
        check(number == 0, CudaError::InvalidDevice)?;
        check((1..=MOST_ATTRIBUTE).contains(&attribute), CudaError::InvalidValue)?;
        given(value.set(Attribute(attribute).value(&device()?)))
    })
}

#[unsafe(export_name = "wave_cudaDeviceCanAccessPeer")]
extern "C" fn can_access_peer(can: Out<i32>, _device: i32, _peer: i32) -> i32 {
    runtime(|_| given(can.set(0)))
}

#[unsafe(export_name = "wave_cudaDeviceGetPCIBusId")]
extern "C" fn bus_id(text: Out<u8>, bytes: i32, number: i32) -> i32 {
    runtime(|_| {
        check(number == 0, CudaError::InvalidDevice)?;
        let name = b"0000:00:00.0\0";
        check(bytes as usize >= name.len(), CudaError::InvalidValue)?;
        given(text.set_all(name.iter().copied()))
    })
}

/// Stacks have what the code needs, and nothing is printed or allocated by kernels.
#[unsafe(export_name = "wave_cudaDeviceSetLimit")]
extern "C" fn set_limit(_limit: i32, _value: usize) -> i32 {
    0
}

#[unsafe(export_name = "wave_cudaDeviceGetLimit")]
extern "C" fn get_limit(value: Out<usize>, _limit: i32) -> i32 {
    runtime(|_| given(value.set(0)))
}

#[unsafe(export_name = "wave_cudaThreadSetLimit")]
extern "C" fn thread_set_limit(_limit: i32, _value: usize) -> i32 {
    0
}

#[unsafe(export_name = "wave_cudaDeviceSetCacheConfig")]
extern "C" fn set_cache_configuration(_: i32) -> i32 {
    0
}

#[unsafe(export_name = "wave_cudaThreadSetCacheConfig")]
extern "C" fn thread_set_cache_configuration(_: i32) -> i32 {
    0
}

#[unsafe(export_name = "wave_cudaDeviceSetSharedMemConfig")]
extern "C" fn set_shared_memory_configuration(_: i32) -> i32 {
    0
}

#[unsafe(export_name = "wave_cudaDeviceGetCacheConfig")]
extern "C" fn get_cache_configuration(value: Out<i32>) -> i32 {
    runtime(|_| given(value.set(0)))
}

#[unsafe(export_name = "wave_cudaDriverGetVersion")]
extern "C" fn driver_version(version: Out<i32>) -> i32 {
    runtime(|_| given(version.set(VERSION)))
}

#[unsafe(export_name = "wave_cudaRuntimeGetVersion")]
extern "C" fn runtime_version(version: Out<i32>) -> i32 {
    driver_version(version)
}

#[unsafe(export_name = "wave_cudaGetLastError")]
extern "C" fn get_last_error() -> i32 {
    // The error of a device that is lost stays.
    LAST_ERROR.replace(lost())
}

#[unsafe(export_name = "wave_cudaPeekAtLastError")]
extern "C" fn peek_at_last_error() -> i32 {
    LAST_ERROR.get()
}

#[unsafe(export_name = "wave_cudaGetErrorName")]
extern "C" fn error_name(code: i32) -> Address {
    Address(runtime_name(code).as_ptr() as usize)
}

#[unsafe(export_name = "wave_cudaGetErrorString")]
extern "C" fn error_string(code: i32) -> Address {
    Address(description(code).unwrap_or("unrecognized error code\0").as_ptr() as usize)
}

#[unsafe(export_name = "wave_cudaProfilerStart")]
extern "C" fn profiler_start() -> i32 {
    0
}

#[unsafe(export_name = "wave_cudaProfilerStop")]
extern "C" fn profiler_stop() -> i32 {
    0
}

/// The address of a function of the driver API.
#[unsafe(export_name = "wave_cudaGetDriverEntryPoint")]
extern "C" fn driver_entry_point(name: Text, found: Out<Address>, flags: u64, result: Out<i32>) -> i32 {
    const FOUND: i32 = 0;
    const NOT_FOUND: i32 = 1;
    let code = driver_entry_point_11(name, found, flags);
    result.set(if code == 0 { FOUND } else { NOT_FOUND });
    code
}

/// The function of CUDA 11, which reports in one way only.
#[unsafe(export_name = "wave11_cudaGetDriverEntryPoint")]
extern "C" fn driver_entry_point_11(name: Text, found: Out<Address>, _flags: u64) -> i32 {
    runtime(|_| {
        let name = name.read().ok_or(CudaError::InvalidValue)?;
        // Programs ask for the plain name, and mean the newest form of the function.
        let names = [format!("{name}_v2"), name.clone()];
        let address = names.iter().find_map(|name| function(name));
        given(found.set(address.unwrap_or(Address(0))))?;
        address.map(drop).ok_or_else(|| refused(&name))
    })
}

#[unsafe(export_name = "wave_cudaGetDriverEntryPointByVersion")]
extern "C" fn driver_entry_point_by_version(
    name: Text,
    found: Out<Address>,
    _version: u32,
    flags: u64,
    result: Out<i32>,
) -> i32 {
    driver_entry_point(name, found, flags, result)
}
