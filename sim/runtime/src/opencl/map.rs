//! Buffers in memory of the host: a copy, which is written back when the program unmaps it.

use super::command::{Command, Order, WaitList, enqueue};
use super::copy::order;
use super::error::ClError;
use super::memory::{Buffer, Map};
use super::queue::Queue;
use super::rectangle::Rows;
use super::{api, check};
use crate::ffi::{Address, In, Out};

const MAP: u32 = 0x11fb;
const UNMAP: u32 = 0x11fd;

/// Flags of a mapping.
const READ: u64 = 1;
const WRITE: u64 = 2;
const WRITE_WITHOUT_OLD: u64 = 4;

#[unsafe(export_name = "wave_clEnqueueMapBuffer")]
pub(super) extern "C" fn enqueue_map_buffer(
    queue: Address,
    buffer: Address,
    is_blocking: u32,
    flags: u64,
    offset: usize,
    bytes: usize,
    count: u32,
    list: In<Address>,
    event: Out<Address>,
    error: Out<i32>,
) -> Address {
    let mut made = Address(0);
    let code = enqueue(event, |state| {
        let found = state.buffer(buffer, queue)?;
        found.has(offset, bytes)?;
        let is_known = matches!(flags, WRITE_WITHOUT_OLD) || flags & !(READ | WRITE) == 0;
        check(is_known, ClError::InvalidValue)?;
        if flags & READ != 0 {
            found.host_reads()?;
        }
        let is_written = flags & (WRITE | WRITE_WITHOUT_OLD) != 0;
        if is_written {
            found.host_writes()?;
        }
        let from = found.address;
        let waits = state.waits(WaitList(count, list), queue)?;
        let at = state.mapping(buffer, offset)?;
        let command = if flags == WRITE_WITHOUT_OLD {
            Command::Nothing
        } else {
            Command::Read { from, to: at, rows: Rows::line(offset, 0, bytes) }
        };
        state.get_mut::<Buffer>(buffer)?.maps.push(Map { at, offset, bytes, is_written });
        made = at;
        Ok(Order { is_blocking: is_blocking != 0, ..order(queue, MAP, command, &[buffer], waits) })
    });
    error.set(code);
    if code == 0 {
        return made;
    }
    if made.0 != 0 {
        api(|state| {
            let maps = &mut state.get_mut::<Buffer>(buffer)?.maps;
            if let Some(number) = maps.iter().rposition(|map| map.at == made) {
                maps.remove(number);
            }
            Ok(())
        });
    }
    Address(0)
}

#[unsafe(export_name = "wave_clEnqueueUnmapMemObject")]
pub(super) extern "C" fn enqueue_unmap_mem_object(
    queue: Address,
    buffer: Address,
    at: Address,
    count: u32,
    list: In<Address>,
    event: Out<Address>,
) -> i32 {
    enqueue(event, |state| {
        state.get::<Queue>(queue)?;
        state.buffer(buffer, queue)?;
        let waits = state.waits(WaitList(count, list), queue)?;
        let found = state.get_mut::<Buffer>(buffer)?;
        let number = found.maps.iter().position(|map| map.at == at).ok_or(ClError::InvalidValue)?;
        let Map { offset, bytes, is_written, .. } = found.maps.remove(number);
        let command = if is_written {
            Command::Write { to: found.address, from: at, rows: Rows::line(offset, 0, bytes) }
        } else {
            Command::Nothing
        };
        Ok(order(queue, UNMAP, command, &[buffer], waits))
    })
}
