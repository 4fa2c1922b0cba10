//! Queues of commands, markers and barriers.

use super::command::{Command, Order, WaitList, enqueue};
use super::context::Context;
use super::device::{device_handle, is_device};
use super::error::ClError;
use super::event::Event;
use super::info::Answer;
use super::{Done, api, check, object, wait};
use crate::ffi::{Address, In, Out};

/// A property of a queue: its commands need not be done in their order.
pub(super) const OUT_OF_ORDER: u64 = 1;
/// A property of a queue: events know when their commands ran.
pub(super) const PROFILING: u64 = 2;

const MARKER: u32 = 0x11fe;
const BARRIER: u32 = 0x1205;

/// A queue.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) context: Address,
    pub(super) properties: u64,
}

fn create(context: Address, device: Address, properties: u64, error: Out<i32>) -> Address {
    object(error, |state| {
        state.get::<Context>(context)?;
        is_device(device)?;
        check(properties & !(OUT_OF_ORDER | PROFILING) == 0, ClError::InvalidValue)?;
        state.hold(context);
        Ok(state.add(Queue { context, properties }))
    })
}

#[unsafe(export_name = "wave_clCreateCommandQueue")]
pub(super) extern "C" fn create_command_queue(
    context: Address,
    device: Address,
    properties: u64,
    error: Out<i32>,
) -> Address {
    create(context, device, properties, error)
}

/// A function of OpenCL 2.0, which programs for 1.2 that have newer headers call; queues of devices are refused.
#[unsafe(export_name = "wave_clCreateCommandQueueWithProperties")]
pub(super) extern "C" fn create_command_queue_with_properties(
    context: Address,
    device: Address,
    list: In<u64>,
    error: Out<i32>,
) -> Address {
    const PROPERTIES: u64 = 0x1093;
    let mut properties = 0;
    let mut at = 0;
    while let Some(name) = list.nth(at).filter(|&name| name != 0) {
        // A value that no queue has makes the call fail.
        properties |= if name == PROPERTIES { list.nth(at + 1).unwrap_or(0) } else { u64::MAX };
        at += 2;
    }
    const OF_DEVICE: u64 = 4 | 8;
    if properties & OF_DEVICE != 0 && properties & !0xf == 0 {
        error.set(ClError::InvalidQueueProperties as i32);
        return Address(0);
    }
    create(context, device, properties, error)
}

#[unsafe(export_name = "wave_clRetainCommandQueue")]
pub(super) extern "C" fn retain_command_queue(queue: Address) -> i32 {
    api(|state| state.retain::<Queue>(queue))
}

#[unsafe(export_name = "wave_clReleaseCommandQueue")]
pub(super) extern "C" fn release_command_queue(queue: Address) -> i32 {
    api(|state| state.release::<Queue>(queue))
}

#[unsafe(export_name = "wave_clGetCommandQueueInfo")]
pub(super) extern "C" fn get_command_queue_info(
    queue: Address,
    what: u32,
    room: usize,
    to: Address,
    bytes: Out<usize>,
) -> i32 {
    api(|state| {
        let found = state.get::<Queue>(queue)?;
        let answer = match what {
            0x1090 => Answer::from(found.context),
            0x1091 => device_handle().into(),
            0x1092 => state.references(queue).into(),
            0x1093 => found.properties.into(),
            _ => return Err(ClError::InvalidValue),
        };
        answer.give(room, to, bytes)
    })
}

/// A function of OpenCL 1.0.
#[unsafe(export_name = "wave_clSetCommandQueueProperty")]
pub(super) extern "C" fn set_command_queue_property(
    queue: Address,
    properties: u64,
    is_on: u32,
    old: Out<u64>,
) -> i32 {
    api(|state| {
        let found = state.get_mut::<Queue>(queue)?;
        check(properties & !(OUT_OF_ORDER | PROFILING) == 0, ClError::InvalidValue)?;
        old.set(found.properties);
        found.properties =
            if is_on != 0 { found.properties | properties } else { found.properties & !properties };
        Ok(())
    })
}

#[unsafe(export_name = "wave_clFlush")]
pub(super) extern "C" fn flush(queue: Address) -> i32 {
    api(|state| state.get::<Queue>(queue).map(drop))
}

#[unsafe(export_name = "wave_clFinish")]
pub(super) extern "C" fn finish(queue: Address) -> i32 {
    let mut events = Vec::new();
    let code = api(|state| {
        state.get::<Queue>(queue)?;
        events = state.pending.iter().filter(|one| one.order.queue == queue).map(|one| one.event).collect();
        events.iter().for_each(|&event| state.hold(event));
        Ok(())
    });
    for &event in &events {
        // A command that failed is over too.
        wait(&[event]);
    }
    api(|state| {
        events.iter().for_each(|&event| state.let_go(event));
        Ok(())
    });
    code
}

fn order(queue: Address, kind: u32, waits: Vec<Address>) -> Order {
    let is_barrier = kind == BARRIER;
    Order {
        queue,
        kind,
        command: Command::Nothing,
        waits,
        buffers: Vec::new(),
        is_barrier,
        is_blocking: false,
    }
}

fn mark(queue: Address, kind: u32, waits: WaitList, event: Out<Address>) -> i32 {
    enqueue(event, |state| {
        state.get::<Queue>(queue)?;
        let waits = state.waits(waits, queue)?;
        // Without a list, everything before it is waited for.
        let waits = if waits.is_empty() { state.unfinished(queue) } else { waits };
        Ok(order(queue, kind, waits))
    })
}

#[unsafe(export_name = "wave_clEnqueueMarkerWithWaitList")]
pub(super) extern "C" fn enqueue_marker_with_wait_list(
    queue: Address,
    count: u32,
    list: In<Address>,
    event: Out<Address>,
) -> i32 {
    mark(queue, MARKER, WaitList(count, list), event)
}

#[unsafe(export_name = "wave_clEnqueueBarrierWithWaitList")]
pub(super) extern "C" fn enqueue_barrier_with_wait_list(
    queue: Address,
    count: u32,
    list: In<Address>,
    event: Out<Address>,
) -> i32 {
    mark(queue, BARRIER, WaitList(count, list), event)
}

/// A function of OpenCL 1.0, in which the event is no option.
#[unsafe(export_name = "wave_clEnqueueMarker")]
pub(super) extern "C" fn enqueue_marker(queue: Address, event: Out<Address>) -> i32 {
    if event.exists() { mark(queue, MARKER, WaitList::none(), event) } else { ClError::InvalidValue as i32 }
}

#[unsafe(export_name = "wave_clEnqueueBarrier")]
pub(super) extern "C" fn enqueue_barrier(queue: Address) -> i32 {
    mark(queue, BARRIER, WaitList::none(), Out::none())
}

#[unsafe(export_name = "wave_clEnqueueWaitForEvents")]
pub(super) extern "C" fn enqueue_wait_for_events(queue: Address, count: u32, list: In<Address>) -> i32 {
    let checked = api(|state| {
        let waits = (0..count as usize).map_while(|number| list.nth(number));
        let are_events = |mut waits: Box<dyn Iterator<Item = Address>>| -> Done {
            waits.try_for_each(|event| state.get::<Event>(event).map(drop))
        };
        check(count > 0 && list.exists(), ClError::InvalidValue)?;
        are_events(Box::new(waits))
    });
    if checked != 0 {
        return checked;
    }
    mark(queue, BARRIER, WaitList(count, list), Out::none())
}
