//! Events.

use super::context::Context;
use super::error::ClError;
use super::info::Answer;
use super::{Notice, api, check, object, wait};
use crate::ffi::{Address, In, Out, StreamCallback};

/// Statuses; a negative one is an error code.
pub(super) const COMPLETE: i32 = 0;
const SUBMITTED: i32 = 2;
pub(super) const QUEUED: i32 = 3;

/// `CL_COMMAND_USER`.
const OF_USER: u32 = 0x1204;

/// An event.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) context: Address,
    /// The queue of its command; `None` if the program sets it.
    pub(super) queue: Option<Address>,
    /// The type of its command.
    pub(super) kind: u32,
    pub(super) status: i32,
    /// Why its command has failed.
    pub(super) failure: Option<ClError>,
    /// When its command was enqueued, submitted, began and ended, if its queue wants to know.
    pub(super) times: Option<[u64; 4]>,
    /// Functions to call, each with its status and argument.
    pub(super) told: Vec<(i32, StreamCallback, Address)>,
}

impl Event {
    pub(super) fn of_user(context: Address) -> Event {
        let (kind, status) = (OF_USER, SUBMITTED);
        Event { context, queue: None, kind, status, failure: None, times: None, told: Vec::new() }
    }
}

#[unsafe(export_name = "wave_clCreateUserEvent")]
pub(super) extern "C" fn create_user_event(context: Address, error: Out<i32>) -> Address {
    object(error, |state| {
        state.get::<Context>(context)?;
        state.hold(context);
        Ok(state.add(Event::of_user(context)))
    })
}

#[unsafe(export_name = "wave_clSetUserEventStatus")]
pub(super) extern "C" fn set_user_event_status(event: Address, status: i32) -> i32 {
    api(|state| {
        let found = state.get::<Event>(event)?;
        check(found.queue.is_none(), ClError::InvalidEvent)?;
        check(status <= COMPLETE, ClError::InvalidValue)?;
        check(found.status > COMPLETE, ClError::InvalidOperation)?;
        state.complete(event, Ok((0, 0)));
        if status < COMPLETE {
            // The program chooses the code; it need not be one of OpenCL's.
            state.fail(event, status);
        }
        state.progress();
        Ok(())
    })
}

impl super::State {
    /// Gives an event a code of the program, and its functions too.
    fn fail(&mut self, event: Address, status: i32) {
        if let Ok(found) = self.get_mut::<Event>(event) {
            found.status = status;
        }
        for notice in &mut self.notices {
            if let Notice::Event(_, of, told, _) = notice
                && *of == event
            {
                *told = status;
            }
        }
    }
}

#[unsafe(export_name = "wave_clWaitForEvents")]
pub(super) extern "C" fn wait_for_events(count: u32, list: In<Address>) -> i32 {
    let mut events = Vec::new();
    let code = api(|state| {
        check(count > 0 && list.exists(), ClError::InvalidValue)?;
        events.extend((0..count as usize).filter_map(|number| list.nth(number)));
        let mut context = None;
        for &event in &events {
            let found = state.get::<Event>(event)?;
            check(*context.get_or_insert(found.context) == found.context, ClError::InvalidContext)?;
        }
        Ok(())
    });
    if code == 0 { wait(&events) } else { code }
}

#[unsafe(export_name = "wave_clSetEventCallback")]
pub(super) extern "C" fn set_event_callback(
    event: Address,
    wanted: i32,
    function: StreamCallback,
    argument: Address,
) -> i32 {
    api(|state| {
        let found = state.get_mut::<Event>(event)?;
        check(function.is_some() && (COMPLETE..=SUBMITTED).contains(&wanted), ClError::InvalidValue)?;
        // A user's event is submitted from the beginning.
        if found.status > wanted {
            found.told.push((wanted, function, argument));
            return Ok(());
        }
        let status = if found.status < COMPLETE { found.status } else { wanted };
        state.hold(event);
        state.notices.push(Notice::Event(function, event, status, argument));
        Ok(())
    })
}

#[unsafe(export_name = "wave_clRetainEvent")]
pub(super) extern "C" fn retain_event(event: Address) -> i32 {
    api(|state| state.retain::<Event>(event))
}

#[unsafe(export_name = "wave_clReleaseEvent")]
pub(super) extern "C" fn release_event(event: Address) -> i32 {
    api(|state| state.release::<Event>(event))
}

#[unsafe(export_name = "wave_clGetEventInfo")]
pub(super) extern "C" fn get_event_info(
    event: Address,
    what: u32,
    room: usize,
    to: Address,
    bytes: Out<usize>,
) -> i32 {
    api(|state| {
        let found = state.get::<Event>(event)?;
        let answer = match what {
            0x11d0 => Answer::from(found.queue.unwrap_or(Address(0))),
            0x11d1 => found.kind.into(),
            0x11d2 => state.references(event).into(),
            0x11d3 => found.status.into(),
            0x11d4 => found.context.into(),
            _ => return Err(ClError::InvalidValue),
        };
        answer.give(room, to, bytes)
    })
}

/// Times are those of the simulated machine, ns. Copies take the time that the simulator gives them.
#[unsafe(export_name = "wave_clGetEventProfilingInfo")]
pub(super) extern "C" fn get_event_profiling_info(
    event: Address,
    what: u32,
    room: usize,
    to: Address,
    bytes: Out<usize>,
) -> i32 {
    api(|state| {
        let found = state.get::<Event>(event)?;
        let times = found.times.filter(|_| found.status == COMPLETE);
        let times = times.ok_or(ClError::ProfilingInfoNotAvailable)?;
        let number = what.checked_sub(0x1280).ok_or(ClError::InvalidValue)?;
        let time = *times.get(number as usize).ok_or(ClError::InvalidValue)?;
        Answer::from(time).give(room, to, bytes)
    })
}
