//! The driver API.
//!
//! There is one device and one context, which is always there. Functions are those of [`super::memory`] and its siblings,
//! with the names and handles of this API.

use super::error::{description, driver_name};
use super::launch::{Arguments, Configuration, Dimensions};
use super::properties::{Attribute, VERSION};
use super::registration::image;
use super::{CudaError, Done, Entity, check, driver, given, refused};
use crate::connection::device;
use crate::ffi::{Address, In, Out, Text, function};

/// The handle of the context.
const CONTEXT: Address = Address(1);

/// Directions of copies, as the runtime API numbers them.
const TO_DEVICE: i32 = 1;
const TO_HOST: i32 = 2;
const ON_DEVICE: i32 = 3;

#[unsafe(export_name = "wave_cuInit")]
extern "C" fn init(_flags: u32) -> i32 {
    driver(|_| {
        device()?;
        Ok(())
    })
}

#[unsafe(export_name = "wave_cuDriverGetVersion")]
extern "C" fn version(version: Out<i32>) -> i32 {
    driver(|_| given(version.set(VERSION)))
}

#[unsafe(export_name = "wave_cuDeviceGetCount")]
extern "C" fn device_count(count: Out<i32>) -> i32 {
    driver(|_| given(count.set(1)))
}

#[unsafe(export_name = "wave_cuDeviceGet")]
extern "C" fn device_get(handle: Out<i32>, number: i32) -> i32 {
    driver(|_| {
        check(number == 0, CudaError::InvalidDevice)?;
        given(handle.set(0))
    })
}

#[unsafe(export_name = "wave_cuDeviceGetName")]
extern "C" fn device_name(text: Out<u8>, bytes: i32, number: i32) -> i32 {
    driver(|_| {
        check(number == 0, CudaError::InvalidDevice)?;
        let name = device()?.name;
        let room = usize::try_from(bytes).ok().and_then(|bytes| bytes.checked_sub(1));
        let room = room.ok_or(CudaError::InvalidValue)?;
        given(text.set_all(name.bytes().take(room).chain([0])))
    })
}

#[unsafe(export_name = "wave_cuDeviceTotalMem_v2")]
extern "C" fn device_memory(bytes: Out<usize>, number: i32) -> i32 {
    driver(|_| {
        check(number == 0, CudaError::InvalidDevice)?;
        given(bytes.set(device()?.memory_bytes as usize))
    })
}

#[unsafe(export_name = "wave_cuDeviceGetAttribute")]
extern "C" fn device_attribute(value: Out<i32>, attribute: i32, number: i32) -> i32 {
    driver(|_| {
        check(number == 0, CudaError::InvalidDevice)?;
        given(value.set(Attribute(attribute).value(&device()?)))
    })
}

#[unsafe(export_name = "wave_cuDeviceComputeCapability")]
extern "C" fn compute_capability(major: Out<i32>, minor: Out<i32>, _device: i32) -> i32 {
    let (of_major, of_minor) = super::properties::COMPUTE;
    driver(|_| given(major.set(of_major) && minor.set(of_minor)))
}

#[unsafe(export_name = "wave_cuCtxCreate_v2")]
extern "C" fn context_create(context: Out<Address>, _flags: u32, number: i32) -> i32 {
    driver(|_| {
        check(number == 0, CudaError::InvalidDevice)?;
        given(context.set(CONTEXT))
    })
}

#[unsafe(export_name = "wave_cuDevicePrimaryCtxRetain")]
extern "C" fn primary_context(context: Out<Address>, number: i32) -> i32 {
    context_create(context, 0, number)
}

#[unsafe(export_name = "wave_cuDevicePrimaryCtxRelease_v2")]
extern "C" fn release_primary_context(_device: i32) -> i32 {
    0
}

#[unsafe(export_name = "wave_cuCtxSetCurrent")]
extern "C" fn context_set(_: Address) -> i32 {
    0
}

#[unsafe(export_name = "wave_cuCtxPushCurrent_v2")]
extern "C" fn context_push(_: Address) -> i32 {
    0
}

#[unsafe(export_name = "wave_cuCtxPopCurrent_v2")]
extern "C" fn context_pop(context: Out<Address>) -> i32 {
    context.set(CONTEXT);
    0
}

#[unsafe(export_name = "wave_cuCtxGetCurrent")]
extern "C" fn context_get(context: Out<Address>) -> i32 {
    driver(|_| given(context.set(CONTEXT)))
}

#[unsafe(export_name = "wave_cuCtxGetDevice")]
extern "C" fn context_device(handle: Out<i32>) -> i32 {
    driver(|_| given(handle.set(0)))
}

#[unsafe(export_name = "wave_cuCtxDestroy_v2")]
extern "C" fn context_destroy(_: Address) -> i32 {
    0
}

#[unsafe(export_name = "wave_cuCtxSynchronize")]
extern "C" fn context_synchronize() -> i32 {
    driver(|state| state.usable())
}

#[unsafe(export_name = "wave_cuModuleLoadData")]
extern "C" fn module_load_data(module: Out<Address>, from: Address) -> i32 {
    driver(|state| {
        // The program may free the image after the call.
        let bytes = image(from).ok_or(CudaError::InvalidKernelImage)?;
        let number = state.add_image(bytes)?;
        given(module.set(Address(number + 1)))
    })
}

#[unsafe(export_name = "wave_cuModuleLoadDataEx")]
extern "C" fn module_load_data_with(
    module: Out<Address>,
    from: Address,
    _count: u32,
    _options: Address,
    _values: Address,
) -> i32 {
    module_load_data(module, from)
}

#[unsafe(export_name = "wave_cuModuleLoadFatBinary")]
extern "C" fn module_load_fat_binary(module: Out<Address>, from: Address) -> i32 {
    module_load_data(module, from)
}

#[unsafe(export_name = "wave_cuModuleLoad")]
extern "C" fn module_load(module: Out<Address>, path: Text) -> i32 {
    driver(|state| {
        let path = path.read().ok_or(CudaError::InvalidValue)?;
        let bytes = std::fs::read(path).map_err(|_| CudaError::FileNotFound)?;
        let number = state.add_image(bytes)?;
        given(module.set(Address(number + 1)))
    })
}

#[unsafe(export_name = "wave_cuModuleUnload")]
extern "C" fn module_unload(_: Address) -> i32 {
    0
}

#[unsafe(export_name = "wave_cuModuleGetFunction")]
extern "C" fn module_function(found: Out<Address>, module: Address, name: Text) -> i32 {
    driver(|state| {
        let name = name.read().ok_or(CudaError::InvalidValue)?;
        let kernel = Entity { module: module.0.wrapping_sub(1), name };
        state.facts(&kernel).map_err(|error| match error {
            CudaError::InvalidDeviceFunction => CudaError::NotFound,
            other => other,
        })?;
        let known = state.kernels.iter().find(|(_, other)| **other == kernel).map(|(&handle, _)| handle);
        let handle = known.unwrap_or_else(|| Address(state.handle()));
        state.kernels.insert(handle, kernel);
        given(found.set(handle))
    })
}

#[unsafe(export_name = "wave_cuModuleGetGlobal_v2")]
extern "C" fn module_global(address: Out<u64>, bytes: Out<usize>, module: Address, name: Text) -> i32 {
    driver(|state| {
        let name = name.read().ok_or(CudaError::InvalidValue)?;
        let (found, size) = state.variable(&Entity { module: module.0.wrapping_sub(1), name })?;
        // Either may be of no interest.
        let is_wanted = [address.set(found), bytes.set(size as usize)];
        given(is_wanted.contains(&true))
    })
}

#[unsafe(export_name = "wave_cuFuncGetAttribute")]
extern "C" fn function_attribute(value: Out<i32>, attribute: i32, kernel: Address) -> i32 {
    driver(|state| {
        let kernel = state.kernel(kernel).map_err(|_| CudaError::InvalidHandle)?;
        let facts = state.facts(&kernel)?;
        let (major, minor) = super::properties::COMPUTE;
        let found = match attribute {
            0 => facts.most_threads as i32,
            1 => facts.local_bytes as i32,
            3 => facts.private_bytes as i32,
            4 => facts.registers as i32,
            5 | 6 => 10 * major + minor,
            2 | 7 => 0,
            8 => device()?.local_per_workgroup.saturating_sub(facts.local_bytes) as i32,
            _ => return Err(CudaError::InvalidValue),
        };
        given(value.set(found))
    })
}

#[unsafe(export_name = "wave_cuFuncSetAttribute")]
extern "C" fn function_set_attribute(_kernel: Address, _attribute: i32, _value: i32) -> i32 {
    0
}

#[unsafe(export_name = "wave_cuFuncSetCacheConfig")]
extern "C" fn function_set_cache(_kernel: Address, _configuration: i32) -> i32 {
    0
}

#[unsafe(export_name = "wave_cuOccupancyMaxActiveBlocksPerMultiprocessor")]
extern "C" fn occupancy(blocks: Out<i32>, kernel: Address, threads: i32, shared_bytes: usize) -> i32 {
    driver(|state| {
        let kernel = state.kernel(kernel).map_err(|_| CudaError::InvalidHandle)?;
        let most = state.occupancy(&kernel, threads, shared_bytes)?;
        given(blocks.set(most))
    })
}

/// The arguments of a launch as a list of keys and values.
fn arguments_of(list: In<Address>) -> Done<Vec<u8>> {
    const END: usize = 0;
    const BUFFER: usize = 1;
    const BUFFER_BYTES: usize = 2;
    let (mut buffer, mut bytes, mut at) = (Address(0), 0, 0);
    loop {
        match list.nth(at).ok_or(CudaError::InvalidValue)?.0 {
            END => return Ok(buffer.bytes(bytes).to_vec()),
            BUFFER => buffer = list.nth(at + 1).ok_or(CudaError::InvalidValue)?,
            BUFFER_BYTES => {
                let place = list.nth(at + 1).ok_or(CudaError::InvalidValue)?;
                bytes = In::<usize>::at(place).get().ok_or(CudaError::InvalidValue)?;
            }
            _ => return Err(CudaError::InvalidValue),
        }
        at += 2;
    }
}

#[unsafe(export_name = "wave_cuLaunchKernel")]
extern "C" fn launch_kernel(
    kernel: Address,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    shared_bytes: u32,
    _stream: Address,
    arguments: In<Address>,
    extra: In<Address>,
) -> i32 {
    driver(|state| {
        let kernel = state.kernel(kernel).map_err(|_| CudaError::InvalidHandle)?;
        let with = Configuration {
            grid: Dimensions { x: grid_x, y: grid_y, z: grid_z },
            block: Dimensions { x: block_x, y: block_y, z: block_z },
            shared_bytes: shared_bytes as usize,
        };
        let has_list = arguments.get().is_none() && extra.get().is_some();
        let arguments =
            if has_list { Arguments::Buffer(arguments_of(extra)?) } else { Arguments::Each(arguments) };
        state.launch(&kernel, with, &arguments)
    })
}

#[unsafe(export_name = "wave_cuMemAlloc_v2")]
extern "C" fn allocate(address: Out<u64>, bytes: usize) -> i32 {
    driver(|state| {
        let made = state.allocate(bytes)?;
        given(address.set(made))
    })
}

#[unsafe(export_name = "wave_cuMemAllocManaged")]
extern "C" fn allocate_managed(address: Out<u64>, bytes: usize, _flags: u32) -> i32 {
    driver(|state| {
        check(bytes > 0, CudaError::InvalidValue)?;
        let made = state.allocate_shared(bytes, true)?;
        given(address.set(made))
    })
}

#[unsafe(export_name = "wave_cuMemAllocHost_v2")]
extern "C" fn allocate_host(address: Out<u64>, bytes: usize) -> i32 {
    driver(|state| {
        let made = state.allocate_shared(bytes, false)?;
        given(address.set(made))
    })
}

#[unsafe(export_name = "wave_cuMemFree_v2")]
extern "C" fn free(address: u64) -> i32 {
    driver(|state| if state.release_shared(address)? { Ok(()) } else { state.release(address) })
}

#[unsafe(export_name = "wave_cuMemFreeHost")]
extern "C" fn free_host(address: u64) -> i32 {
    free(address)
}

#[unsafe(export_name = "wave_cuMemGetInfo_v2")]
extern "C" fn memory_info(free: Out<usize>, total: Out<usize>) -> i32 {
    driver(|_| {
        let now = crate::connection::number(&crate::protocol::Request::Free {}, &[])?;
        given(free.set(now as usize) && total.set(device()?.memory_bytes as usize))
    })
}

#[unsafe(export_name = "wave_cuMemcpyHtoD_v2")]
extern "C" fn copy_to_device(to: Address, from: Address, bytes: usize) -> i32 {
    driver(|state| state.copy(to, from, bytes, TO_DEVICE))
}

#[unsafe(export_name = "wave_cuMemcpyHtoDAsync_v2")]
extern "C" fn copy_to_device_in_order(to: Address, from: Address, bytes: usize, _stream: Address) -> i32 {
    copy_to_device(to, from, bytes)
}

#[unsafe(export_name = "wave_cuMemcpyDtoH_v2")]
extern "C" fn copy_to_host(to: Address, from: Address, bytes: usize) -> i32 {
    driver(|state| state.copy(to, from, bytes, TO_HOST))
}

#[unsafe(export_name = "wave_cuMemcpyDtoHAsync_v2")]
extern "C" fn copy_to_host_in_order(to: Address, from: Address, bytes: usize, _stream: Address) -> i32 {
    copy_to_host(to, from, bytes)
}

#[unsafe(export_name = "wave_cuMemcpyDtoD_v2")]
extern "C" fn copy_on_device(to: Address, from: Address, bytes: usize) -> i32 {
    driver(|state| state.copy(to, from, bytes, ON_DEVICE))
}

#[unsafe(export_name = "wave_cuMemcpyDtoDAsync_v2")]
extern "C" fn copy_on_device_in_order(to: Address, from: Address, bytes: usize, _stream: Address) -> i32 {
    copy_on_device(to, from, bytes)
}

#[unsafe(export_name = "wave_cuMemsetD8_v2")]
extern "C" fn fill_8(address: Address, value: u8, count: usize) -> i32 {
    driver(|state| state.fill(address, &[value], count))
}

#[unsafe(export_name = "wave_cuMemsetD16_v2")]
extern "C" fn fill_16(address: Address, value: u16, count: usize) -> i32 {
    driver(|state| state.fill(address, &value.to_le_bytes(), count))
}

#[unsafe(export_name = "wave_cuMemsetD32_v2")]
extern "C" fn fill_32(address: Address, value: u32, count: usize) -> i32 {
    driver(|state| state.fill(address, &value.to_le_bytes(), count))
}

#[unsafe(export_name = "wave_cuMemsetD8Async")]
extern "C" fn fill_8_in_order(address: Address, value: u8, count: usize, _stream: Address) -> i32 {
    fill_8(address, value, count)
}

#[unsafe(export_name = "wave_cuMemsetD32Async")]
extern "C" fn fill_32_in_order(address: Address, value: u32, count: usize, _stream: Address) -> i32 {
    fill_32(address, value, count)
}

#[unsafe(export_name = "wave_cuStreamCreate")]
extern "C" fn stream_create(stream: Out<Address>, flags: u32) -> i32 {
    driver(|state| given(stream.set(state.new_stream(flags)?)))
}

#[unsafe(export_name = "wave_cuStreamDestroy_v2")]
extern "C" fn stream_destroy(stream: Address) -> i32 {
    driver(|state| state.end_stream(stream))
}

#[unsafe(export_name = "wave_cuStreamSynchronize")]
extern "C" fn stream_synchronize(stream: Address) -> i32 {
    driver(|state| state.usable().and_then(|()| state.stream(stream)))
}

#[unsafe(export_name = "wave_cuStreamQuery")]
extern "C" fn stream_query(stream: Address) -> i32 {
    stream_synchronize(stream)
}

#[unsafe(export_name = "wave_cuStreamWaitEvent")]
extern "C" fn stream_wait_event(stream: Address, event: Address, _flags: u32) -> i32 {
    driver(|state| state.stream(stream).and_then(|()| state.event(event).map(drop)))
}

#[unsafe(export_name = "wave_cuEventCreate")]
extern "C" fn event_create(event: Out<Address>, flags: u32) -> i32 {
    driver(|state| given(event.set(state.new_event(flags)?)))
}

#[unsafe(export_name = "wave_cuEventRecord")]
extern "C" fn event_record(event: Address, stream: Address) -> i32 {
    driver(|state| state.record(event, stream))
}

#[unsafe(export_name = "wave_cuEventSynchronize")]
extern "C" fn event_synchronize(event: Address) -> i32 {
    driver(|state| state.usable().and_then(|()| state.event(event).map(drop)))
}

#[unsafe(export_name = "wave_cuEventQuery")]
extern "C" fn event_query(event: Address) -> i32 {
    event_synchronize(event)
}

#[unsafe(export_name = "wave_cuEventElapsedTime")]
extern "C" fn event_elapsed_time(milliseconds: Out<f32>, from: Address, to: Address) -> i32 {
    driver(|state| given(milliseconds.set(state.elapsed(from, to)?)))
}

#[unsafe(export_name = "wave_cuEventDestroy_v2")]
extern "C" fn event_destroy(event: Address) -> i32 {
    driver(|state| state.end_event(event))
}

#[unsafe(export_name = "wave_cuGetErrorName")]
extern "C" fn error_name(code: i32, name: Out<Address>) -> i32 {
    driver(|_| {
        let found = driver_name(code).ok_or(CudaError::InvalidValue)?;
        given(name.set(Address(found.as_ptr() as usize)))
    })
}

#[unsafe(export_name = "wave_cuGetErrorString")]
extern "C" fn error_string(code: i32, text: Out<Address>) -> i32 {
    driver(|_| {
        let found = description(code).ok_or(CudaError::InvalidValue)?;
        given(text.set(Address(found.as_ptr() as usize)))
    })
}

/// The address of a function of this API.
#[unsafe(export_name = "wave_cuGetProcAddress_v2")]
extern "C" fn proc_address(
    name: Text,
    found: Out<Address>,
    _version: i32,
    _flags: u64,
    status: Out<i32>,
) -> i32 {
    const FOUND: i32 = 0;
    const NOT_FOUND: i32 = 1;
    driver(|_| {
        let name = name.read().ok_or(CudaError::InvalidValue)?;
        let names = [format!("{name}_v2"), name.clone()];
        let address = names.iter().find_map(|name| function(name));
        status.set(if address.is_some() { FOUND } else { NOT_FOUND });
        given(found.set(address.unwrap_or(Address(0))))?;
        address.map(drop).ok_or_else(|| {
            refused(&name);
            CudaError::NotFound
        })
    })
}
