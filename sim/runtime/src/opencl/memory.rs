//! Buffers.

use super::context::Context;
use super::device::{BUFFER_ALIGNMENT, most_buffer_bytes};
use super::error::ClError;
use super::info::Answer;
use super::{Done, State, api, check, object};
use crate::connection::{call, device, number};
use crate::ffi::{Address, HostMemory, In, ObjectCallback, Out};
use crate::protocol::Request;

/// `CL_MEM_READ_WRITE`, `CL_MEM_WRITE_ONLY`, `CL_MEM_READ_ONLY`.
const KERNEL_ACCESS: u64 = 1 | 2 | 4;
const KERNEL_WRITES: u64 = 2;
const KERNEL_READS: u64 = 4;
const USE_HOST: u64 = 8;
const ALLOC_HOST: u64 = 16;
const COPY_HOST: u64 = 32;
/// `CL_MEM_HOST_WRITE_ONLY`.
const HOST_WRITES: u64 = 0x80;
/// `CL_MEM_HOST_READ_ONLY`.
const HOST_READS: u64 = 0x100;
/// `CL_MEM_HOST_NO_ACCESS`.
const HOST_NOT: u64 = 0x200;
const HOST_ACCESS: u64 = HOST_WRITES | HOST_READS | HOST_NOT;

/// A buffer, or a part of one.
#[derive(Debug)]
pub(super) struct Buffer {
    pub(super) context: Address,
    flags: u64,
    pub(super) bytes: usize,
    /// Where it lies on the device.
    pub(super) address: u64,
    /// The program's memory that holds its contents while it is mapped, if the program has given some.
    host: Address,
    /// The memory for that otherwise, once it is mapped.
    mapped: Option<HostMemory>,
    /// The buffer that it is a part of, and where it begins there.
    pub(super) parent: Option<(Address, usize)>,
    pub(super) maps: Vec<Map>,
    /// Functions to call when it is gone, with their arguments.
    pub(super) told_at_end: Vec<(ObjectCallback, Address)>,
}

/// A part of a buffer that is mapped.
#[derive(Debug, Clone, Copy)]
pub(super) struct Map {
    /// Where the program finds it.
    pub(super) at: Address,
    pub(super) offset: usize,
    pub(super) bytes: usize,
    pub(super) is_written: bool,
}

/// Flags of which at most one may be there.
fn at_most_one(flags: u64, of: u64) -> Done {
    check((flags & of).count_ones() <= 1, ClError::InvalidValue)
}

fn check_flags(flags: u64) -> Done {
    let known = KERNEL_ACCESS | USE_HOST | ALLOC_HOST | COPY_HOST | HOST_ACCESS;
    check(flags & !known == 0, ClError::InvalidValue)?;
    at_most_one(flags, KERNEL_ACCESS)?;
    at_most_one(flags, HOST_ACCESS)?;
    check(flags & USE_HOST == 0 || flags & (ALLOC_HOST | COPY_HOST) == 0, ClError::InvalidValue)
}

/// The flags of a part, which has those of its buffer where it says nothing.
fn flags_of_part(flags: u64, of: u64) -> Done<u64> {
    check(flags & !(KERNEL_ACCESS | HOST_ACCESS) == 0, ClError::InvalidValue)?;
    check_flags(flags)?;
    let allows = |only: u64, wanted: u64| of & only == 0 || flags & wanted == 0;
    check(allows(KERNEL_WRITES, KERNEL_ACCESS & !KERNEL_WRITES), ClError::InvalidValue)?;
    check(allows(KERNEL_READS, KERNEL_ACCESS & !KERNEL_READS), ClError::InvalidValue)?;
    check(allows(HOST_WRITES, HOST_READS), ClError::InvalidValue)?;
    check(allows(HOST_READS, HOST_WRITES), ClError::InvalidValue)?;
    check(allows(HOST_NOT, HOST_READS | HOST_WRITES), ClError::InvalidValue)?;
    let own_or = |mask: u64| if flags & mask == 0 { of & mask } else { flags & mask };
    Ok(own_or(KERNEL_ACCESS) | own_or(HOST_ACCESS) | (of & (USE_HOST | ALLOC_HOST | COPY_HOST)))
}

impl Buffer {
    /// An error if the host must not read it.
    pub(super) fn host_reads(&self) -> Done {
        check(self.flags & (HOST_WRITES | HOST_NOT) == 0, ClError::InvalidOperation)
    }

    /// An error if the host must not write it.
    pub(super) fn host_writes(&self) -> Done {
        check(self.flags & (HOST_READS | HOST_NOT) == 0, ClError::InvalidOperation)
    }

    /// An error if a range does not lie in it, or is empty.
    pub(super) fn has(&self, offset: usize, bytes: usize) -> Done {
        let end = offset.checked_add(bytes);
        check(bytes > 0 && end.is_some_and(|end| end <= self.bytes), ClError::InvalidValue)
    }

    /// Where the memory of the host lies that it is mapped to.
    fn host_memory(&mut self) -> Done<Address> {
        if self.host.0 != 0 {
            return Ok(self.host);
        }
        if self.mapped.is_none() {
            self.mapped = HostMemory::new(self.bytes);
        }
        self.mapped.as_ref().map(HostMemory::address).ok_or(ClError::OutOfHostMemory)
    }
}

impl State {
    /// Where a part of a buffer is mapped to.
    pub(super) fn mapping(&mut self, buffer: Address, offset: usize) -> Done<Address> {
        let parent = self.get::<Buffer>(buffer)?.parent;
        let (whole, start) = parent.unwrap_or((buffer, 0));
        Ok(self.get_mut::<Buffer>(whole)?.host_memory()?.plus(start + offset))
    }
}

/// The device has a copy of memory that the program gives (`CL_MEM_USE_HOST_PTR`); mapping the buffer makes both the same.
#[unsafe(export_name = "wave_clCreateBuffer")]
pub(super) extern "C" fn create_buffer(
    context: Address,
    flags: u64,
    bytes: usize,
    host: Address,
    error: Out<i32>,
) -> Address {
    object(error, |state| {
        state.get::<Context>(context)?;
        check_flags(flags)?;
        check(bytes > 0 && bytes as u64 <= most_buffer_bytes(&device()?), ClError::InvalidBufferSize)?;
        check((host.0 != 0) == (flags & (USE_HOST | COPY_HOST) != 0), ClError::InvalidHostPtr)?;
        let address = number(&Request::Allocate { bytes: bytes as u64 }, &[])?;
        if host.0 != 0 {
            call(&Request::Write { address }, host.bytes(bytes))?;
        }
        state.hold(context);
        Ok(state.add(Buffer {
            context,
            flags,
            bytes,
            address,
            host: if flags & USE_HOST != 0 { host } else { Address(0) },
            mapped: None,
            parent: None,
            maps: Vec::new(),
            told_at_end: Vec::new(),
        }))
    })
}

#[unsafe(export_name = "wave_clCreateSubBuffer")]
pub(super) extern "C" fn create_sub_buffer(
    buffer: Address,
    flags: u64,
    kind: u32,
    region: In<[usize; 2]>,
    error: Out<i32>,
) -> Address {
    const REGION: u32 = 0x1220;
    object(error, |state| {
        let whole = state.get::<Buffer>(buffer)?;
        check(whole.parent.is_none(), ClError::InvalidMemObject)?;
        let flags = flags_of_part(flags, whole.flags)?;
        check(kind == REGION, ClError::InvalidValue)?;
        let [start, bytes] = region.get().ok_or(ClError::InvalidValue)?;
        check(bytes > 0, ClError::InvalidBufferSize)?;
        whole.has(start, bytes)?;
        check(start.is_multiple_of(BUFFER_ALIGNMENT), ClError::MisalignedSubBufferOffset)?;
        let part = Buffer {
            context: whole.context,
            flags,
            bytes,
            address: whole.address + start as u64,
            host: if whole.host.0 != 0 { whole.host.plus(start) } else { Address(0) },
            mapped: None,
            parent: Some((buffer, start)),
            maps: Vec::new(),
            told_at_end: Vec::new(),
        };
        state.hold(part.context);
        state.hold(buffer);
        Ok(state.add(part))
    })
}

#[unsafe(export_name = "wave_clRetainMemObject")]
pub(super) extern "C" fn retain_mem_object(buffer: Address) -> i32 {
    api(|state| state.retain::<Buffer>(buffer))
}

#[unsafe(export_name = "wave_clReleaseMemObject")]
pub(super) extern "C" fn release_mem_object(buffer: Address) -> i32 {
    api(|state| state.release::<Buffer>(buffer))
}

#[unsafe(export_name = "wave_clSetMemObjectDestructorCallback")]
pub(super) extern "C" fn set_mem_object_destructor_callback(
    buffer: Address,
    function: ObjectCallback,
    argument: Address,
) -> i32 {
    api(|state| {
        let found = state.get_mut::<Buffer>(buffer)?;
        check(function.is_some(), ClError::InvalidValue)?;
        found.told_at_end.push((function, argument));
        Ok(())
    })
}

#[unsafe(export_name = "wave_clGetMemObjectInfo")]
pub(super) extern "C" fn get_mem_object_info(
    buffer: Address,
    what: u32,
    room: usize,
    to: Address,
    bytes: Out<usize>,
) -> i32 {
    const BUFFER: u32 = 0x10f0;
    api(|state| {
        let found = state.get::<Buffer>(buffer)?;
        let (parent, offset) = found.parent.unwrap_or((Address(0), 0));
        let answer = match what {
            0x1100 => Answer::from(BUFFER),
            0x1101 => found.flags.into(),
            0x1102 => found.bytes.into(),
            0x1103 => found.host.into(),
            0x1104 => (found.maps.len() as u32).into(),
            0x1105 => state.references(buffer).into(),
            0x1106 => found.context.into(),
            0x1107 => parent.into(),
            0x1108 => offset.into(),
            _ => return Err(ClError::InvalidValue),
        };
        answer.give(room, to, bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_exclude_one_another_are_errors() {
        let right =
            [0, 1, KERNEL_READS | COPY_HOST | ALLOC_HOST, USE_HOST | HOST_READS, KERNEL_WRITES | HOST_NOT];
        right.into_iter().for_each(|flags| assert_eq!(check_flags(flags), Ok(()), "{flags:#x}"));
        let wrong = [3, 6, USE_HOST | COPY_HOST, USE_HOST | ALLOC_HOST, HOST_READS | HOST_NOT, 0x40, 1 << 40];
        wrong.into_iter().for_each(|flags| assert!(check_flags(flags).is_err(), "{flags:#x}"));
    }

    #[test]
    fn a_part_has_the_flags_of_its_buffer() {
        assert_eq!(flags_of_part(0, KERNEL_READS | COPY_HOST), Ok(KERNEL_READS | COPY_HOST));
        assert_eq!(flags_of_part(KERNEL_READS | HOST_READS, 1), Ok(KERNEL_READS | HOST_READS));
        assert!(
            flags_of_part(1, KERNEL_READS).is_err() && flags_of_part(KERNEL_READS, KERNEL_WRITES).is_err()
        );
        assert!(flags_of_part(USE_HOST, 1).is_err() && flags_of_part(HOST_READS, HOST_NOT).is_err());
        assert_eq!(flags_of_part(HOST_NOT, HOST_READS), Ok(HOST_NOT));
    }
}
