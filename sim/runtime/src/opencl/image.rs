//! Images and samplers, of which there are none: the device says so (`CL_DEVICE_IMAGE_SUPPORT`).

use super::context::Context;
use super::error::ClError;
use super::{api, check, object, refused};
use crate::ffi::{Address, In, Out};

fn no_image(context: Address, error: Out<i32>) -> Address {
    object(error, |state| {
        state.get::<Context>(context)?;
        Err(refused("an image"))
    })
}

fn no_command(name: &str) -> i32 {
    refused(name) as i32
}

#[unsafe(export_name = "wave_clCreateImage")]
pub(super) extern "C" fn create_image(
    context: Address,
    _flags: u64,
    _format: Address,
    _description: Address,
    _host: Address,
    error: Out<i32>,
) -> Address {
    no_image(context, error)
}

#[unsafe(export_name = "wave_clCreateImage2D")]
pub(super) extern "C" fn create_image_2d(
    context: Address,
    _flags: u64,
    _format: Address,
    _width: usize,
    _height: usize,
    _row_pitch: usize,
    _host: Address,
    error: Out<i32>,
) -> Address {
    no_image(context, error)
}

#[unsafe(export_name = "wave_clCreateImage3D")]
pub(super) extern "C" fn create_image_3d(
    context: Address,
    _flags: u64,
    _format: Address,
    _width: usize,
    _height: usize,
    _depth: usize,
    _row_pitch: usize,
    _slice_pitch: usize,
    _host: Address,
    error: Out<i32>,
) -> Address {
    no_image(context, error)
}

#[unsafe(export_name = "wave_clGetSupportedImageFormats")]
pub(super) extern "C" fn get_supported_image_formats(
    context: Address,
    _flags: u64,
    _kind: u32,
    room: u32,
    formats: In<u32>,
    count: Out<u32>,
) -> i32 {
    api(|state| {
        state.get::<Context>(context)?;
        check(room > 0 || !formats.exists(), ClError::InvalidValue)?;
        count.set(0);
        Ok(())
    })
}

#[unsafe(export_name = "wave_clGetImageInfo")]
pub(super) extern "C" fn get_image_info(
    _image: Address,
    _what: u32,
    _room: usize,
    _to: Address,
    _bytes: Out<usize>,
) -> i32 {
    ClError::InvalidMemObject as i32
}

#[unsafe(export_name = "wave_clCreateSampler")]
pub(super) extern "C" fn create_sampler(
    context: Address,
    _is_normalized: u32,
    _addressing: u32,
    _filter: u32,
    error: Out<i32>,
) -> Address {
    object(error, |state| {
        state.get::<Context>(context)?;
        Err(refused("a sampler"))
    })
}

#[unsafe(export_name = "wave_clRetainSampler")]
pub(super) extern "C" fn retain_sampler(_: Address) -> i32 {
    ClError::InvalidSampler as i32
}

#[unsafe(export_name = "wave_clReleaseSampler")]
pub(super) extern "C" fn release_sampler(_: Address) -> i32 {
    ClError::InvalidSampler as i32
}

#[unsafe(export_name = "wave_clGetSamplerInfo")]
pub(super) extern "C" fn get_sampler_info(
    _sampler: Address,
    _what: u32,
    _room: usize,
    _to: Address,
    _bytes: Out<usize>,
) -> i32 {
    ClError::InvalidSampler as i32
}

#[unsafe(export_name = "wave_clEnqueueReadImage")]
pub(super) extern "C" fn enqueue_read_image(_queue: Address) -> i32 {
    no_command("clEnqueueReadImage")
}

#[unsafe(export_name = "wave_clEnqueueWriteImage")]
pub(super) extern "C" fn enqueue_write_image(_queue: Address) -> i32 {
    no_command("clEnqueueWriteImage")
}

#[unsafe(export_name = "wave_clEnqueueFillImage")]
pub(super) extern "C" fn enqueue_fill_image(_queue: Address) -> i32 {
    no_command("clEnqueueFillImage")
}

#[unsafe(export_name = "wave_clEnqueueCopyImage")]
pub(super) extern "C" fn enqueue_copy_image(_queue: Address) -> i32 {
    no_command("clEnqueueCopyImage")
}

#[unsafe(export_name = "wave_clEnqueueCopyImageToBuffer")]
pub(super) extern "C" fn enqueue_copy_image_to_buffer(_queue: Address) -> i32 {
    no_command("clEnqueueCopyImageToBuffer")
}

#[unsafe(export_name = "wave_clEnqueueCopyBufferToImage")]
pub(super) extern "C" fn enqueue_copy_buffer_to_image(_queue: Address) -> i32 {
    no_command("clEnqueueCopyBufferToImage")
}

#[unsafe(export_name = "wave_clEnqueueMapImage")]
pub(super) extern "C" fn enqueue_map_image(
    _queue: Address,
    _image: Address,
    _is_blocking: u32,
    _flags: u64,
    _origin: In<usize>,
    _region: In<usize>,
    _row_pitch: Out<usize>,
    _slice_pitch: Out<usize>,
    _count: u32,
    _list: In<Address>,
    _event: Out<Address>,
    error: Out<i32>,
) -> Address {
    error.set(no_command("clEnqueueMapImage"));
    Address(0)
}
