//! OpenCL 1.2, as the library that programs link and as the driver that a loader finds (ICD).
//!
//! A command runs when it is enqueued, unless it waits for an event of the user: then it, and what waits for it, runs when
//! the program sets that event. Functions are named after those of OpenCL, whose documentation says what they do;
//! comments say what differs.

mod binary;
mod build;
mod command;
mod context;
mod copy;
mod device;
mod error;
mod event;
mod icd;
mod image;
mod info;
mod kernel;
mod later;
mod launch;
mod map;
mod memory;
mod object;
mod options;
mod platform;
mod program;
mod queue;
mod rectangle;

use crate::connection::{lock, note};
use crate::ffi::{Address, ObjectCallback, Out, StreamCallback, call_event_back, call_object_back};
use command::Pending;
use error::ClError;
use event::Event;
use object::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, PoisonError};

/// The result of a function.
type Done<T = ()> = Result<T, ClError>;

/// A function of the program that is to be called once the lock is free, because it may call OpenCL.
#[derive(Debug)]
enum Notice {
    /// With an object and an argument.
    Object(ObjectCallback, Address, Address),
    /// With an event, its status and an argument.
    Event(StreamCallback, Address, i32, Address),
}

/// The objects and waiting commands of this process.
#[derive(Debug, Default)]
struct State {
    objects: HashMap<Address, Entry>,
    /// Handles of objects that are gone.
    free_handles: VecDeque<Address>,
    /// Commands that wait for events, in the order in which they were enqueued.
    pending: Vec<Pending>,
    notices: Vec<Notice>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// Tells threads that wait for events that one has a new status.
static CHANGED: Condvar = Condvar::new();

/// Does what a function is for, and returns its error code.
fn api(act: impl FnOnce(&mut State) -> Done) -> i32 {
    let mut state = lock(&STATE);
    let of_process = state.get_or_insert_default();
    let done = act(of_process);
    let notices = std::mem::take(&mut of_process.notices);
    drop(state);
    tell(notices);
    code(done)
}

/// Calls functions of the program.
fn tell(mut notices: Vec<Notice>) {
    while !notices.is_empty() {
        for notice in std::mem::take(&mut notices) {
            match notice {
                Notice::Object(function, object, argument) => call_object_back(function, object, argument),
                Notice::Event(function, event, status, argument) => {
                    call_event_back(function, event, status, argument);
                    if let Some(state) = lock(&STATE).as_mut() {
                        state.let_go(event);
                        notices.append(&mut state.notices);
                    }
                }
            }
        }
    }
}

fn code(done: Done) -> i32 {
    done.map_or_else(|error| error as i32, |()| 0)
}

/// Does what a function is for that returns an object, and puts the error code where the caller wants it.
fn object(error: Out<i32>, act: impl FnOnce(&mut State) -> Done<Address>) -> Address {
    let mut made = Address(0);
    let code = api(|state| {
        made = act(state)?;
        Ok(())
    });
    error.set(code);
    made
}

/// Waits until events are complete, or have failed.
fn wait(events: &[Address]) -> i32 {
    let mut state = lock(&STATE);
    loop {
        let statuses = |state: &State| -> Done<Vec<i32>> {
            events.iter().map(|&event| Ok(state.get::<Event>(event)?.status)).collect()
        };
        match statuses(state.get_or_insert_default()) {
            Err(error) => return error as i32,
            Ok(statuses) if statuses.iter().any(|&status| status < 0) => {
                return ClError::ExecStatusErrorForEventsInWaitList as i32;
            }
            Ok(statuses) if statuses.iter().all(|&status| status == event::COMPLETE) => return 0,
            Ok(_) => state = CHANGED.wait(state).unwrap_or_else(PoisonError::into_inner),
        }
    }
}

/// An error if a condition that the caller has to keep does not hold.
fn check(holds: bool, otherwise: ClError) -> Done {
    if holds { Ok(()) } else { Err(otherwise) }
}

/// Refuses something by name, for which no plan exists; the user is told once.
fn refused(what: &str) -> ClError {
    note(&format!("{what} is not supported by the simulator"));
    ClError::InvalidOperation
}
