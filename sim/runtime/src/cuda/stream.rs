//! Streams and events. Whatever is called has happened when the call returns, so a stream is a name.

use super::{CudaError, CudaEvent, Done, State, check, given, runtime};
use crate::connection::number;
use crate::ffi::{Address, Out, StreamCallback, call_stream_back};
use crate::protocol::Request;

/// The stream of everything that names none, and its two other names.
const DEFAULT_STREAMS: usize = 2;

/// Flags of a stream: it does not wait for the default one.
const STREAM_FLAGS: u32 = 1;

/// Flags of an event: whoever waits for it sleeps; no time; other processes.
const EVENT_FLAGS: u32 = 7;
const NO_TIME: u32 = 2;

impl State {
    pub(super) fn new_stream(&mut self, flags: u32) -> Done<Address> {
        self.usable()?;
        check(flags & !STREAM_FLAGS == 0, CudaError::InvalidValue)?;
        let handle = self.handle();
        self.streams.insert(handle);
        Ok(Address(handle))
    }

    pub(super) fn stream(&self, stream: Address) -> Done {
        check(stream.0 <= DEFAULT_STREAMS || self.streams.contains(&stream.0), CudaError::InvalidHandle)
    }

    pub(super) fn end_stream(&mut self, stream: Address) -> Done {
        check(self.streams.remove(&stream.0), CudaError::InvalidHandle)
    }

    pub(super) fn new_event(&mut self, flags: u32) -> Done<Address> {
        self.usable()?;
        check(flags & !EVENT_FLAGS == 0, CudaError::InvalidValue)?;
        let handle = self.handle();
        self.events.insert(handle, CudaEvent { is_timed: flags & NO_TIME == 0, time: None });
        Ok(Address(handle))
    }

    pub(super) fn record(&mut self, event: Address, stream: Address) -> Done {
        self.usable()?;
        self.stream(stream)?;
        let time = number(&Request::Time {}, &[])?;
        self.events.get_mut(&event.0).ok_or(CudaError::InvalidHandle)?.time = Some(time);
        Ok(())
    }

    pub(super) fn event(&self, event: Address) -> Done<CudaEvent> {
        self.events.get(&event.0).copied().ok_or(CudaError::InvalidHandle)
    }

    pub(super) fn end_event(&mut self, event: Address) -> Done {
        self.events.remove(&event.0).map(drop).ok_or(CudaError::InvalidHandle)
    }

    /// Simulated time from one event to another, ms.
    pub(super) fn elapsed(&self, from: Address, to: Address) -> Done<f32> {
        let time = |event| {
            let event = self.event(event)?;
            event.time.filter(|_| event.is_timed).ok_or(CudaError::InvalidHandle)
        };
        let (from, to) = (time(from)?, time(to)?);
        Ok(((to as f64 - from as f64) / 1e6) as f32)
    }
}

#[unsafe(export_name = "wave_cudaStreamCreate")]
extern "C" fn stream_create(stream: Out<Address>) -> i32 {
    stream_create_with_flags(stream, 0)
}

#[unsafe(export_name = "wave_cudaStreamCreateWithFlags")]
extern "C" fn stream_create_with_flags(stream: Out<Address>, flags: u32) -> i32 {
    runtime(|state| given(stream.set(state.new_stream(flags)?)))
}

#[unsafe(export_name = "wave_cudaStreamCreateWithPriority")]
extern "C" fn stream_create_with_priority(stream: Out<Address>, flags: u32, _priority: i32) -> i32 {
    stream_create_with_flags(stream, flags)
}

#[unsafe(export_name = "wave_cudaStreamDestroy")]
extern "C" fn stream_destroy(stream: Address) -> i32 {
    runtime(|state| state.end_stream(stream))
}

#[unsafe(export_name = "wave_cudaStreamSynchronize")]
extern "C" fn stream_synchronize(stream: Address) -> i32 {
    runtime(|state| state.usable().and_then(|()| state.stream(stream)))
}

#[unsafe(export_name = "wave_cudaStreamQuery")]
extern "C" fn stream_query(stream: Address) -> i32 {
    stream_synchronize(stream)
}

#[unsafe(export_name = "wave_cudaStreamWaitEvent")]
extern "C" fn stream_wait_event(stream: Address, event: Address, _flags: u32) -> i32 {
    runtime(|state| state.stream(stream).and_then(|()| state.event(event).map(drop)))
}

#[unsafe(export_name = "wave_cudaStreamAddCallback")]
extern "C" fn stream_add_callback(
    stream: Address,
    function: StreamCallback,
    argument: Address,
    _flags: u32,
) -> i32 {
    let code = runtime(|state| state.stream(stream));
    if code == 0 {
        call_stream_back(function, stream, argument);
    }
    code
}

#[unsafe(export_name = "wave_cudaDeviceGetStreamPriorityRange")]
extern "C" fn stream_priority_range(least: Out<i32>, greatest: Out<i32>) -> i32 {
    _ = (least.set(0), greatest.set(0));
    0
}

#[unsafe(export_name = "wave_cudaEventCreate")]
extern "C" fn event_create(event: Out<Address>) -> i32 {
    event_create_with_flags(event, 0)
}

#[unsafe(export_name = "wave_cudaEventCreateWithFlags")]
extern "C" fn event_create_with_flags(event: Out<Address>, flags: u32) -> i32 {
    runtime(|state| given(event.set(state.new_event(flags)?)))
}

#[unsafe(export_name = "wave_cudaEventRecord")]
extern "C" fn event_record(event: Address, stream: Address) -> i32 {
    runtime(|state| state.record(event, stream))
}

#[unsafe(export_name = "wave_cudaEventRecordWithFlags")]
extern "C" fn event_record_with_flags(event: Address, stream: Address, _flags: u32) -> i32 {
    event_record(event, stream)
}

#[unsafe(export_name = "wave_cudaEventSynchronize")]
extern "C" fn event_synchronize(event: Address) -> i32 {
    runtime(|state| state.usable().and_then(|()| state.event(event).map(drop)))
}

#[unsafe(export_name = "wave_cudaEventQuery")]
extern "C" fn event_query(event: Address) -> i32 {
    event_synchronize(event)
}

#[unsafe(export_name = "wave_cudaEventElapsedTime")]
extern "C" fn event_elapsed_time(milliseconds: Out<f32>, from: Address, to: Address) -> i32 {
    runtime(|state| given(milliseconds.set(state.elapsed(from, to)?)))
}

#[unsafe(export_name = "wave_cudaEventDestroy")]
extern "C" fn event_destroy(event: Address) -> i32 {
    runtime(|state| state.end_event(event))
}

#[unsafe(export_name = "wave_cudaEventElapsedTime_v2")]
extern "C" fn event_elapsed_time_of_13(milliseconds: Out<f32>, from: Address, to: Address) -> i32 {
    event_elapsed_time(milliseconds, from, to)
}

#[unsafe(export_name = "wave_cudaStreamGetFlags")]
extern "C" fn stream_flags(stream: Address, flags: Out<u32>) -> i32 {
    runtime(|state| {
        state.stream(stream)?;
        given(flags.set(0))
    })
}

#[unsafe(export_name = "wave_cudaStreamGetPriority")]
extern "C" fn stream_priority(stream: Address, priority: Out<i32>) -> i32 {
    runtime(|state| {
        state.stream(stream)?;
        given(priority.set(0))
    })
}

#[unsafe(export_name = "wave_cudaStreamIsCapturing")]
extern "C" fn stream_is_capturing(stream: Address, status: Out<i32>) -> i32 {
    stream_priority(stream, status)
}

#[unsafe(export_name = "wave_cudaStreamAttachMemAsync")]
extern "C" fn stream_attach_memory(stream: Address, _address: Address, _bytes: usize, _flags: u32) -> i32 {
    runtime(|state| state.stream(stream))
}
