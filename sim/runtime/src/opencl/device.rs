//! The device.

use super::error::ClError;
use super::info::Answer;
use super::object::Handle;
use super::platform::{NAME, VERSION, give_one, is_platform, platform};
use super::{Done, api, check};
use crate::connection::device;
use crate::ffi::{Address, In, Out};
use crate::protocol::DeviceFacts;

/// The only device.
static DEVICE: Handle = Handle::new();

/// Buffers begin at multiples of so many bytes, the size of the largest vector.
pub(super) const BUFFER_ALIGNMENT: usize = 128;

/// Extensions of every machine. [`extensions`] has those of one.
pub(super) const EXTENSIONS: &str = "cl_khr_icd cl_khr_byte_addressable_store cl_khr_global_int32_base_atomics \
                                     cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics \
                                     cl_khr_local_int32_extended_atomics";

const GPU: u64 = 4;

/// The handle of the device.
pub(super) fn device_handle() -> Address {
    DEVICE.address()
}

/// An error if a handle is another device.
pub(super) fn is_device(handle: Address) -> Done {
    check(handle == device_handle(), ClError::InvalidDevice)
}

/// Checks a list of devices: it has the one.
pub(super) fn are_devices(count: u32, list: In<Address>) -> Done {
    check(count > 0 && list.exists(), ClError::InvalidValue)?;
    (0..count as usize).filter_map(|number| list.nth(number)).try_for_each(is_device)
}

/// Checks a list of devices that may be missing.
pub(super) fn are_devices_if_any(count: u32, list: In<Address>) -> Done {
    if count == 0 && !list.exists() { Ok(()) } else { are_devices(count, list) }
}

/// Most bytes of a buffer: half of the memory.
pub(super) fn most_buffer_bytes(facts: &DeviceFacts) -> u64 {
    facts.memory_bytes / 2
}

/// An error if there is no device of a type.
pub(super) fn has_type(wanted: u64) -> Done {
    const DEFAULT: u64 = 1;
    const KNOWN: u64 = 0x1f;
    const ALL: u64 = 0xffff_ffff;
    check(wanted == ALL || (wanted != 0 && wanted & !KNOWN == 0), ClError::InvalidDeviceType)?;
    check(wanted & (DEFAULT | GPU) != 0, ClError::DeviceNotFound)
}

#[unsafe(export_name = "wave_clGetDeviceIDs")]
pub(super) extern "C" fn get_device_ids(
    of: Address,
    wanted: u64,
    room: u32,
    devices: Out<Address>,
    count: Out<u32>,
) -> i32 {
    api(|_| {
        is_platform(of)?;
        let found = has_type(wanted);
        if found == Err(ClError::DeviceNotFound) {
            count.set(0);
        }
        found?;
        give_one(device_handle(), room, devices, count)
    })
}

fn extensions(facts: &DeviceFacts) -> String {
    if facts.f64 { format!("{EXTENSIONS} cl_khr_fp64") } else { EXTENSIONS.to_owned() }
}

/// An answer; `None` if there is no such query in OpenCL 1.2.
fn answer(facts: &DeviceFacts, what: u32) -> Option<Answer> {
    /// Subnormal numbers, infinities and NaN, rounding to nearest, fused multiply-add.
    const FLOATS: u64 = 1 | 2 | 4 | 0x20;
    const CORRECT_DIVISIONS: u64 = 0x80;
    const READ_WRITE_CACHE: u32 = 2;
    const LOCAL: u32 = 1;
    const KERNELS: u64 = 1;
    const OUT_OF_ORDER_AND_PROFILING: u64 = 3;
    let most_threads = facts.threads_per_workgroup as usize;
    let doubles = u32::from(facts.f64);
    Some(match what {
        0x1000 => GPU.into(),
        // CL_DEVICE_VENDOR_ID: "WAVE".
        0x1001 => 0x4556_4157u32.into(),
        0x1002 => facts.cores.into(),
        0x1003 => 3u32.into(),
        0x1004 => most_threads.into(),
        0x1005 => [most_threads; 3].as_slice().into(),
        // Widths of vectors: code is scalar.
        0x1006..=0x100a | 0x1036..=0x103a => 1u32.into(),
        0x100b | 0x103b => doubles.into(),
        0x1034 | 0x103c => 0u32.into(),
        0x100c => (facts.clock_khz / 1000).into(),
        0x100d => 64u32.into(),
        // Images and samplers: there are none.
        0x100e | 0x100f | 0x1018 => 0u32.into(),
        0x1011..=0x1015 | 0x1040 | 0x1041 => 0usize.into(),
        0x1016 => false.into(),
        0x1010 | 0x1020 => most_buffer_bytes(facts).into(),
        // CL_DEVICE_MAX_PARAMETER_SIZE: that of PTX.
        0x1017 => 4352usize.into(),
        0x1019 => (8 * BUFFER_ALIGNMENT as u32).into(),
        0x101a => (BUFFER_ALIGNMENT as u32).into(),
        0x101b => (FLOATS | CORRECT_DIVISIONS).into(),
        0x1032 => if facts.f64 { FLOATS } else { 0 }.into(),
        0x101c => READ_WRITE_CACHE.into(),
        0x101d => facts.line_bytes.into(),
        0x101e => facts.l2_bytes.into(),
        0x101f => facts.memory_bytes.into(),
        // CL_DEVICE_MAX_CONSTANT_ARGS: constants are device memory.
        0x1021 => 64u32.into(),
        0x1022 => LOCAL.into(),
        0x1023 => u64::from(facts.local_per_workgroup).into(),
        // Error correction; memory that host and device share.
        0x1024 | 0x1035 => false.into(),
        0x1025 => 1usize.into(),
        // Little endian; available; compiler; linker; the host synchronises with graphics.
        0x1026..=0x1028 | 0x103e | 0x1048 => true.into(),
        0x1029 => KERNELS.into(),
        0x102a => OUT_OF_ORDER_AND_PROFILING.into(),
        0x102b => facts.name.as_str().into(),
        0x102c => NAME.into(),
        0x102d => option_env!("CARGO_PKG_VERSION").unwrap_or("0.0").into(),
        0x102e => "FULL_PROFILE".into(),
        0x102f => VERSION.into(),
        0x1030 => extensions(facts).as_str().into(),
        0x1031 => platform().into(),
        0x103d => "OpenCL C 1.2 wave-sim".into(),
        0x103f => "".into(),
        // There are no devices within devices.
        0x1042 => Address(0).into(),
        0x1043 => 1u32.into(),
        0x1044 => [0].as_slice().into(),
        0x1045 => 0u64.into(),
        0x1046 => [].as_slice().into(),
        0x1047 => 1u32.into(),
        // CL_DEVICE_PRINTF_BUFFER_SIZE: there is no printf.
        0x1049 => 0usize.into(),
        _ => return None,
    })
}

#[unsafe(export_name = "wave_clGetDeviceInfo")]
pub(super) extern "C" fn get_device_info(
    handle: Address,
    what: u32,
    room: usize,
    to: Address,
    bytes: Out<usize>,
) -> i32 {
    api(|_| {
        is_device(handle)?;
        answer(&device()?, what).ok_or(ClError::InvalidValue)?.give(room, to, bytes)
    })
}

/// There is no way to partition the device.
#[unsafe(export_name = "wave_clCreateSubDevices")]
pub(super) extern "C" fn create_sub_devices(
    handle: Address,
    _properties: In<isize>,
    _room: u32,
    _devices: Out<Address>,
    _count: Out<u32>,
) -> i32 {
    api(|_| is_device(handle).and(Err(ClError::InvalidValue)))
}

#[unsafe(export_name = "wave_clRetainDevice")]
pub(super) extern "C" fn retain_device(handle: Address) -> i32 {
    api(|_| is_device(handle))
}

#[unsafe(export_name = "wave_clReleaseDevice")]
pub(super) extern "C" fn release_device(handle: Address) -> i32 {
    api(|_| is_device(handle))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_of_the_standard_has_an_answer_of_its_size() {
        let facts = DeviceFacts { name: "gpu".to_owned(), f64: true, ..Default::default() };
        for what in 0x1000..=0x1049 {
            // 0x1033 is CL_DEVICE_HALF_FP_CONFIG, of the extension cl_khr_fp16.
            assert_eq!(answer(&facts, what).is_some(), what != 0x1033, "{what:#x}");
        }
        assert_eq!((answer(&facts, 0x104a), answer(&facts, 0x1100)), (None, None));
        let bytes = |what| answer(&facts, what).map_or(0, |answer| answer.len());
        assert_eq!((bytes(0x1000), bytes(0x1002), bytes(0x1005), bytes(0x102b)), (8, 4, 24, 4));
        assert_eq!((bytes(0x1004), bytes(0x1016), bytes(0x1010), bytes(0x101d)), (8, 4, 8, 4));
        assert_eq!((bytes(0x1023), bytes(0x1025), bytes(0x1046), bytes(0x1020)), (8, 8, 0, 8));
    }

    #[test]
    fn types_are_found_or_wrong() {
        assert_eq!((has_type(1), has_type(4), has_type(0xffff_ffff)), (Ok(()), Ok(()), Ok(())));
        assert_eq!((has_type(2), has_type(8)), (Err(ClError::DeviceNotFound), Err(ClError::DeviceNotFound)));
        assert_eq!(
            (has_type(0), has_type(1 << 20)),
            (Err(ClError::InvalidDeviceType), Err(ClError::InvalidDeviceType))
        );
    }
}
