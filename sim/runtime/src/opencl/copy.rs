//! Commands that read, write, copy and fill buffers.

use super::command::{Command, Order, WaitList, enqueue};
use super::error::ClError;
use super::memory::Buffer;
use super::rectangle::{Rows, Side, three};
use super::{Done, State, check};
use crate::ffi::{Address, In, Out};

const READ: u32 = 0x11f3;
const WRITE: u32 = 0x11f4;
const COPY: u32 = 0x11f5;
const READ_RECTANGLE: u32 = 0x1201;
const WRITE_RECTANGLE: u32 = 0x1202;
const COPY_RECTANGLE: u32 = 0x1203;
const MIGRATE: u32 = 0x1206;
const FILL: u32 = 0x1207;

/// A command for some buffers.
pub(super) fn order(
    queue: Address,
    kind: u32,
    command: Command,
    buffers: &[Address],
    waits: Vec<Address>,
) -> Order {
    Order { queue, kind, command, waits, buffers: buffers.to_vec(), is_barrier: false, is_blocking: false }
}

/// A copy between a buffer and the host, of one kind or the other.
#[derive(Clone, Copy)]
struct Transfer {
    queue: Address,
    buffer: Address,
    is_blocking: u32,
    host: Address,
    kind: u32,
}

/// The rows of a transfer: within the buffer first, on the host second.
fn transfer(
    with: Transfer,
    waits: WaitList,
    event: Out<Address>,
    rows: impl FnOnce(&Buffer) -> Done<Rows>,
) -> i32 {
    let Transfer { queue, buffer, is_blocking, host, kind } = with;
    enqueue(event, |state: &mut State| {
        let found = state.buffer(buffer, queue)?;
        check(host.0 != 0, ClError::InvalidValue)?;
        let rows = rows(found)?;
        let is_read = matches!(kind, READ | READ_RECTANGLE);
        if is_read {
            found.host_reads()?
        } else {
            found.host_writes()?
        }
        let command = if is_read {
            Command::Read { from: found.address, to: host, rows }
        } else {
            Command::Write { to: found.address, from: host, rows }
        };
        let waits = state.waits(waits, queue)?;
        Ok(Order { is_blocking: is_blocking != 0, ..order(queue, kind, command, &[buffer], waits) })
    })
}

#[unsafe(export_name = "wave_clEnqueueReadBuffer")]
pub(super) extern "C" fn enqueue_read_buffer(
    queue: Address,
    buffer: Address,
    is_blocking: u32,
    offset: usize,
    bytes: usize,
    host: Address,
    count: u32,
    list: In<Address>,
    event: Out<Address>,
) -> i32 {
    let with = Transfer { queue, buffer, is_blocking, host, kind: READ };
    transfer(with, WaitList(count, list), event, |found| {
        found.has(offset, bytes).map(|()| Rows::line(offset, 0, bytes))
    })
}

#[unsafe(export_name = "wave_clEnqueueWriteBuffer")]
pub(super) extern "C" fn enqueue_write_buffer(
    queue: Address,
    buffer: Address,
    is_blocking: u32,
    offset: usize,
    bytes: usize,
    host: Address,
    count: u32,
    list: In<Address>,
    event: Out<Address>,
) -> i32 {
    let with = Transfer { queue, buffer, is_blocking, host, kind: WRITE };
    transfer(with, WaitList(count, list), event, |found| {
        found.has(offset, bytes).map(|()| Rows::line(offset, 0, bytes))
    })
}

/// One side of a rectangle as programs give it.
#[derive(Clone, Copy)]
struct GivenSide {
    origin: In<usize>,
    row_pitch: usize,
    slice_pitch: usize,
}

impl GivenSide {
    fn checked(self, region: [usize; 3]) -> Done<Side> {
        Side::new(three(self.origin)?, region, self.row_pitch, self.slice_pitch)
    }
}

fn rectangle(found: &Buffer, region: In<usize>, inside: GivenSide, outside: GivenSide) -> Done<Rows> {
    let region = three(region)?;
    let (inside, outside) = (inside.checked(region)?, outside.checked(region)?);
    inside.fits(region, found.bytes)?;
    Ok(Rows::new(region, inside, outside))
}

#[unsafe(export_name = "wave_clEnqueueReadBufferRect")]
pub(super) extern "C" fn enqueue_read_buffer_rect(
    queue: Address,
    buffer: Address,
    is_blocking: u32,
    origin: In<usize>,
    host_origin: In<usize>,
    region: In<usize>,
    row_pitch: usize,
    slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    host: Address,
    count: u32,
    list: In<Address>,
    event: Out<Address>,
) -> i32 {
    let with = Transfer { queue, buffer, is_blocking, host, kind: READ_RECTANGLE };
    let inside = GivenSide { origin, row_pitch, slice_pitch };
    let outside = GivenSide { origin: host_origin, row_pitch: host_row_pitch, slice_pitch: host_slice_pitch };
    transfer(with, WaitList(count, list), event, |found| rectangle(found, region, inside, outside))
}

#[unsafe(export_name = "wave_clEnqueueWriteBufferRect")]
pub(super) extern "C" fn enqueue_write_buffer_rect(
    queue: Address,
    buffer: Address,
    is_blocking: u32,
    origin: In<usize>,
    host_origin: In<usize>,
    region: In<usize>,
    row_pitch: usize,
    slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    host: Address,
    count: u32,
    list: In<Address>,
    event: Out<Address>,
) -> i32 {
    let with = Transfer { queue, buffer, is_blocking, host, kind: WRITE_RECTANGLE };
    let inside = GivenSide { origin, row_pitch, slice_pitch };
    let outside = GivenSide { origin: host_origin, row_pitch: host_row_pitch, slice_pitch: host_slice_pitch };
    transfer(with, WaitList(count, list), event, |found| rectangle(found, region, inside, outside))
}

#[unsafe(export_name = "wave_clEnqueueCopyBuffer")]
pub(super) extern "C" fn enqueue_copy_buffer(
    queue: Address,
    from: Address,
    to: Address,
    from_offset: usize,
    to_offset: usize,
    bytes: usize,
    count: u32,
    list: In<Address>,
    event: Out<Address>,
) -> i32 {
    enqueue(event, |state| {
        let (source, target) = (state.buffer(from, queue)?, state.buffer(to, queue)?);
        source.has(from_offset, bytes)?;
        target.has(to_offset, bytes)?;
        // Parts of one buffer may share bytes too.
        let (start, other) = (source.address + from_offset as u64, target.address + to_offset as u64);
        check(start.abs_diff(other) >= bytes as u64, ClError::MemCopyOverlap)?;
        let rows = Rows::line(from_offset, to_offset, bytes);
        let command = Command::Copy { from: source.address, to: target.address, rows };
        let waits = state.waits(WaitList(count, list), queue)?;
        Ok(order(queue, COPY, command, &[from, to], waits))
    })
}

#[unsafe(export_name = "wave_clEnqueueCopyBufferRect")]
pub(super) extern "C" fn enqueue_copy_buffer_rect(
    queue: Address,
    from: Address,
    to: Address,
    from_origin: In<usize>,
    to_origin: In<usize>,
    region: In<usize>,
    from_row_pitch: usize,
    from_slice_pitch: usize,
    to_row_pitch: usize,
    to_slice_pitch: usize,
    count: u32,
    list: In<Address>,
    event: Out<Address>,
) -> i32 {
    enqueue(event, |state| {
        let (source, target) = (state.buffer(from, queue)?, state.buffer(to, queue)?);
        let given = |origin, row_pitch, slice_pitch| GivenSide { origin, row_pitch, slice_pitch };
        let second = given(to_origin, to_row_pitch, to_slice_pitch);
        let rows = rectangle(source, region, given(from_origin, from_row_pitch, from_slice_pitch), second)?;
        second.checked(three(region)?)?.fits(three(region)?, target.bytes)?;
        if from == to {
            let is_same = from_row_pitch == to_row_pitch && from_slice_pitch == to_slice_pitch;
            check(is_same, ClError::InvalidValue)?;
            check(!rows.overlaps(), ClError::MemCopyOverlap)?;
        }
        let command = Command::Copy { from: source.address, to: target.address, rows };
        let waits = state.waits(WaitList(count, list), queue)?;
        Ok(order(queue, COPY_RECTANGLE, command, &[from, to], waits))
    })
}

#[unsafe(export_name = "wave_clEnqueueFillBuffer")]
pub(super) extern "C" fn enqueue_fill_buffer(
    queue: Address,
    buffer: Address,
    pattern: Address,
    pattern_bytes: usize,
    offset: usize,
    bytes: usize,
    count: u32,
    list: In<Address>,
    event: Out<Address>,
) -> i32 {
    const MOST_PATTERN_BYTES: usize = 128;
    enqueue(event, |state| {
        let found = state.buffer(buffer, queue)?;
        found.has(offset, bytes)?;
        let is_pattern =
            pattern.0 != 0 && pattern_bytes.is_power_of_two() && pattern_bytes <= MOST_PATTERN_BYTES;
        check(is_pattern, ClError::InvalidValue)?;
        let is_whole = offset.is_multiple_of(pattern_bytes) && bytes.is_multiple_of(pattern_bytes);
        check(is_whole, ClError::InvalidValue)?;
        let command = Command::Fill {
            address: found.address + offset as u64,
            bytes: bytes as u64,
            pattern: pattern.bytes(pattern_bytes).to_vec(),
        };
        let waits = state.waits(WaitList(count, list), queue)?;
        Ok(order(queue, FILL, command, &[buffer], waits))
    })
}

/// Buffers stay where they are: on the device.
#[unsafe(export_name = "wave_clEnqueueMigrateMemObjects")]
pub(super) extern "C" fn enqueue_migrate_mem_objects(
    queue: Address,
    buffer_count: u32,
    buffers: In<Address>,
    flags: u64,
    count: u32,
    list: In<Address>,
    event: Out<Address>,
) -> i32 {
    const KNOWN_FLAGS: u64 = 3;
    enqueue(event, |state| {
        check(buffer_count > 0 && buffers.exists() && flags & !KNOWN_FLAGS == 0, ClError::InvalidValue)?;
        let buffers: Vec<_> = (0..buffer_count as usize).filter_map(|number| buffers.nth(number)).collect();
        buffers.iter().try_for_each(|&buffer| state.buffer(buffer, queue).map(drop))?;
        let waits = state.waits(WaitList(count, list), queue)?;
        Ok(order(queue, MIGRATE, Command::Nothing, &buffers, waits))
    })
}
