//! Commands: what they wait for, and what they do.

use super::error::ClError;
use super::event::{COMPLETE, Event, QUEUED};
use super::memory::Buffer;
use super::queue::{OUT_OF_ORDER, PROFILING, Queue};
use super::rectangle::Rows;
use super::{CHANGED, Done, Notice, State, api, check, wait};
use crate::connection::{call, call_into, number};
use crate::ffi::{Address, In, Out};
use crate::protocol::{Reply, Request};

/// The action of a command.
#[derive(Debug)]
pub(super) enum Command {
    Nothing,
    /// Copies rows from the device to the host.
    Read {
        from: u64,
        to: Address,
        rows: Rows,
    },
    /// Copies rows from the host to the device.
    Write {
        to: u64,
        from: Address,
        rows: Rows,
    },
    /// Copies rows on the device.
    Copy {
        from: u64,
        to: u64,
        rows: Rows,
    },
    Fill {
        address: u64,
        bytes: u64,
        pattern: Vec<u8>,
    },
    /// Runs a kernel; `request` is its launch.
    Launch {
        request: Request,
        arguments: Vec<u8>,
    },
}

/// A command as it is enqueued.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) queue: Address,
    /// The type of command that its event tells.
    pub(super) kind: u32,
    pub(super) command: Command,
    /// Events that it waits for; it does not run if one of them fails.
    pub(super) waits: Vec<Address>,
    /// Buffers that have to live until it has run.
    pub(super) buffers: Vec<Address>,
    /// Later commands of its queue wait for it.
    pub(super) is_barrier: bool,
    /// The call returns when it has run.
    pub(super) is_blocking: bool,
}

/// A command that has not run.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) order: Order,
    pub(super) event: Address,
    /// Events that the order of its queue makes it wait for, whether they fail or not.
    after: Vec<Address>,
}

/// A list of events as programs give it: how many, and where.
#[derive(Debug, Clone, Copy)]
pub(super) struct WaitList(pub(super) u32, pub(super) In<Address>);

impl WaitList {
    pub(super) fn none() -> WaitList {
        WaitList(0, In::none())
    }
}

/// Enqueues a command, gives its event, and waits for it if the call blocks. A command that fails at once has its error
/// code returned here, and no event.
pub(super) fn enqueue(event: Out<Address>, act: impl FnOnce(&mut State) -> Done<Order>) -> i32 {
    let mut waited = None;
    let code = api(|state| {
        let order = act(state)?;
        let is_blocking = order.is_blocking;
        let made = state.submit(order)?;
        let Event { status, failure, .. } = *state.get::<Event>(made)?;
        let only_event_tells = failure == Some(ClError::ExecStatusErrorForEventsInWaitList) && !is_blocking;
        if let Some(error) = failure.filter(|_| !only_event_tells) {
            state.release::<Event>(made)?;
            return Err(error);
        }
        if is_blocking && status > COMPLETE {
            state.hold(made);
            waited = Some(made);
        }
        if event.set(made) { Ok(()) } else { state.release::<Event>(made) }
    });
    let Some(made) = waited else { return code };
    wait(&[made]);
    api(|state| {
        let failure = state.get::<Event>(made)?.failure;
        state.let_go(made);
        failure.map_or(Ok(()), Err)
    })
}

impl State {
    /// The events of a list.
    pub(super) fn waits(&self, WaitList(count, list): WaitList, queue: Address) -> Done<Vec<Address>> {
        check((count > 0) == list.exists(), ClError::InvalidEventWaitList)?;
        let context = self.get::<Queue>(queue)?.context;
        let events = (0..count as usize).filter_map(|number| list.nth(number));
        events
            .map(|event| {
                let found = self.get::<Event>(event).map_err(|_| ClError::InvalidEventWaitList)?;
                check(found.context == context, ClError::InvalidContext)?;
                Ok(event)
            })
            .collect()
    }

    /// Events of the commands of a queue that have not run.
    pub(super) fn unfinished(&self, queue: Address) -> Vec<Address> {
        self.pending.iter().filter(|one| one.order.queue == queue).map(|one| one.event).collect()
    }

    /// A buffer that commands of a queue use.
    pub(super) fn buffer(&self, buffer: Address, queue: Address) -> Done<&Buffer> {
        let context = self.get::<Queue>(queue)?.context;
        let found = self.get::<Buffer>(buffer)?;
        check(found.context == context, ClError::InvalidContext)?;
        Ok(found)
    }

    /// Adds a command to its queue, and runs what is ready. The caller has a reference to its event.
    fn submit(&mut self, order: Order) -> Done<Address> {
        let &Queue { context, properties } = self.get::<Queue>(order.queue)?;
        let earlier = self.pending.iter().filter(|one| one.order.queue == order.queue);
        let earlier = earlier.filter(|one| properties & OUT_OF_ORDER == 0 || one.order.is_barrier);
        let after: Vec<_> = earlier.map(|one| one.event).collect();
        let is_profiled = properties & PROFILING != 0;
        let now = if is_profiled { time() } else { 0 };
        let event = self.add(Event {
            context,
            queue: Some(order.queue),
            kind: order.kind,
            status: QUEUED,
            failure: None,
            times: is_profiled.then_some([now; 4]),
            told: Vec::new(),
        });
        self.hold(context);
        self.hold(order.queue);
        let needed =
            [event].into_iter().chain(order.waits.iter().chain(&after).chain(&order.buffers).copied());
        needed.collect::<Vec<_>>().into_iter().for_each(|one| self.hold(one));
        self.pending.push(Pending { order, event, after });
        self.progress();
        Ok(event)
    }

    /// Runs all commands that wait for nothing any more.
    pub(super) fn progress(&mut self) {
        let is_over = |state: &State, event: &Address| {
            state.get::<Event>(*event).map_or(true, |event| event.status <= COMPLETE)
        };
        while let Some(next) = self.pending.iter().position(|one| {
            let Pending { order, after, .. } = one;
            order.waits.iter().chain(after).all(|event| is_over(self, event))
        }) {
            let Pending { order, event, after } = self.pending.remove(next);
            let fails =
                |event: &Address| self.get::<Event>(*event).is_ok_and(|event| event.status < COMPLETE);
            let is_profiled = self.get::<Event>(event).is_ok_and(|event| event.times.is_some());
            let done = if order.waits.iter().any(fails) {
                Err(ClError::ExecStatusErrorForEventsInWaitList)
            } else {
                run(&order.command, is_profiled)
            };
            self.complete(event, done);
            let needed = order.waits.iter().chain(&after).chain(&order.buffers).copied();
            needed.chain([event]).for_each(|one| self.let_go(one));
        }
        CHANGED.notify_all();
    }

    /// Gives an event its last status.
    pub(super) fn complete(&mut self, event: Address, done: Done<(u64, u64)>) {
        let Ok(found) = self.get_mut::<Event>(event) else { return };
        found.status = done.map_or_else(|error| error as i32, |_| COMPLETE);
        found.failure = done.err();
        if let (Some([.., start, end]), Ok((began, ended))) = (&mut found.times, done) {
            (*start, *end) = (began, ended);
        }
        let status = found.status;
        for (wanted, function, argument) in std::mem::take(&mut found.told) {
            self.hold(event);
            self.notices.push(Notice::Event(function, event, status.min(wanted), argument));
        }
    }
}

/// Simulated time, ns.
fn time() -> u64 {
    number(&Request::Time {}, &[]).unwrap_or(0)
}

/// Does what a command does, and returns when it began and ended.
fn run(command: &Command, is_profiled: bool) -> Done<(u64, u64)> {
    let start = if is_profiled { time() } else { 0 };
    match command {
        Command::Nothing => {}
        Command::Read { from, to, rows } => {
            for (at, host, bytes) in rows.iter() {
                let read = Request::Read { address: from + at as u64, bytes: bytes as u64 };
                call_into(&read, &[], to.plus(host).bytes_mut(bytes))?;
            }
        }
        Command::Write { to, from, rows } => {
            for (at, host, bytes) in rows.iter() {
                call(&Request::Write { address: to + at as u64 }, from.plus(host).bytes(bytes))?;
            }
        }
        Command::Copy { from, to, rows } => {
            for (source, target, bytes) in rows.iter() {
                let (from, to) = (from + source as u64, to + target as u64);
                call(&Request::Copy { to, from, bytes: bytes as u64 }, &[])?;
            }
        }
        &Command::Fill { address, bytes, ref pattern } => {
            call(&Request::Fill { address, bytes }, pattern)?;
        }
        Command::Launch { request, arguments } => {
            return match call(request, arguments)? {
                Reply::Launched { start, end, .. } => Ok((start, end)),
                _ => Err(ClError::OutOfResources),
            };
        }
    }
    Ok((start, if is_profiled { time() } else { 0 }))
}

#[cfg(test)]
mod tests {
    use super::super::context::Context;
    use super::*;

    fn order(queue: Address, waits: Vec<Address>) -> Order {
        let command = Command::Nothing;
        Order { queue, kind: 0, command, waits, buffers: vec![], is_barrier: false, is_blocking: false }
    }

    fn status(state: &State, event: Address) -> i32 {
        state.get::<Event>(event).map_or(i32::MIN, |event| event.status)
    }

    fn with_queue(properties: u64) -> (State, Address, Address) {
        let mut state = State::default();
        let context = state.add(Context { properties: Vec::new() });
        let queue = state.add(Queue { context, properties });
        let user = state.add(Event::of_user(context));
        (state, queue, user)
    }

    #[test]
    fn commands_wait_for_events_of_the_user_and_for_their_queue() {
        let (mut state, queue, user) = with_queue(0);
        let first = state.submit(order(queue, vec![])).unwrap();
        let waiting = state.submit(order(queue, vec![user])).unwrap();
        let later = state.submit(order(queue, vec![])).unwrap();
        assert_eq!([first, waiting, later].map(|event| status(&state, event)), [COMPLETE, QUEUED, QUEUED]);
        assert_eq!(state.unfinished(queue), [waiting, later]);
        state.complete(user, Ok((0, 0)));
        state.progress();
        assert_eq!([waiting, later].map(|event| status(&state, event)), [COMPLETE; 2]);
        assert!(state.pending.is_empty());
    }

    #[test]
    fn a_failed_event_stops_those_that_name_it_and_a_barrier_orders_a_queue() {
        let (mut state, queue, user) = with_queue(OUT_OF_ORDER);
        let waiting = state.submit(order(queue, vec![user])).unwrap();
        let other = state.submit(order(queue, vec![])).unwrap();
        let barrier = Order { is_barrier: true, ..order(queue, state.unfinished(queue)) };
        let barrier = state.submit(barrier).unwrap();
        let later = state.submit(order(queue, vec![])).unwrap();
        assert_eq!([waiting, other, later].map(|event| status(&state, event)), [QUEUED, COMPLETE, QUEUED]);
        state.complete(user, Err(ClError::InvalidValue));
        state.progress();
        let failed = ClError::ExecStatusErrorForEventsInWaitList as i32;
        assert_eq!([waiting, barrier, later].map(|event| status(&state, event)), [failed, failed, COMPLETE]);
    }

    #[test]
    fn an_event_lives_until_its_command_has_run() {
        let (mut state, queue, user) = with_queue(0);
        let waiting = state.submit(order(queue, vec![user])).unwrap();
        state.release::<Event>(waiting).unwrap();
        state.release::<Event>(user).unwrap();
        state.release::<Queue>(queue).unwrap();
        assert_eq!(status(&state, waiting), QUEUED);
        state.complete(user, Ok((0, 0)));
        state.progress();
        assert_eq!(
            (state.get::<Event>(waiting).err(), state.get::<Queue>(queue).err()),
            (Some(ClError::InvalidEvent), Some(ClError::InvalidCommandQueue))
        );
    }
}
