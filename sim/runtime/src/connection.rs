//! The connection of this process to the simulator.

use crate::protocol::{DeviceFacts, Failure, Reply, Request, SOCKET, receive_reply, send_request};
use std::collections::BTreeSet;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A connection, of the process that has made it.
#[derive(Debug)]
struct Connection {
    stream: UnixStream,
    process: u32,
}

static CONNECTION: Mutex<Option<Connection>> = Mutex::new(None);

/// Texts that this process has written for the user without a simulator.
static NOTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Waits for a lock. A thread that has panicked with it has ended the process.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends a request and returns its reply, whose bytes go into `into`.
pub(crate) fn call_into(request: &Request, data: &[u8], into: &mut [u8]) -> Result<Reply, Failure> {
    let mut connection = lock(&CONNECTION);
    let process = std::process::id();
    // A child of fork() shares the socket, and must not talk into the conversation of its parent.
    if connection.as_ref().is_none_or(|open| open.process != process) {
        *connection = Some(connect(process).ok_or(Failure::NoSimulator)?);
    }
    let Some(Connection { stream, .. }) = connection.as_mut() else { return Err(Failure::NoSimulator) };
    let replied = send_request(stream, request, data).and_then(|()| receive_reply(stream, into));
    match replied {
        Ok(Reply::Failed { failure, .. }) => Err(Failure::of(failure)),
        Ok(reply) => Ok(reply),
        Err(_) => Err(Failure::NoSimulator),
    }
}

/// Sends a request and returns its reply.
pub(crate) fn call(request: &Request, data: &[u8]) -> Result<Reply, Failure> {
    call_into(request, data, &mut [])
}

/// Sends a request whose reply is a number, or nothing.
pub(crate) fn number(request: &Request, data: &[u8]) -> Result<u64, Failure> {
    match call(request, data)? {
        Reply::Value { value } => Ok(value),
        _ => Ok(0),
    }
}

fn connect(process: u32) -> Option<Connection> {
    let Some(path) = std::env::var_os(SOCKET) else {
        write_once("this program has the libraries of `wave-sim run` and was not started by it");
        return None;
    };
    let opened = UnixStream::connect(&path).and_then(|mut stream| {
        let program = std::env::args_os().next().unwrap_or_default().to_string_lossy().into_owned();
        send_request(&mut stream, &Request::Hello { program, process }, &[])?;
        receive_reply(&mut stream, &mut [])?;
        Ok(Connection { stream, process })
    });
    if let Err(error) = &opened {
        write_once(&format!("the simulator at {} does not answer: {error}", path.display()));
    }
    opened.ok()
}

/// Tells the user something, once.
pub(crate) fn note(text: &str) {
    if call(&Request::Note { text: text.to_owned() }, &[]).is_err() {
        write_once(text);
    }
}

fn write_once(text: &str) {
    if lock(&NOTED).insert(text.to_owned()) {
        eprintln!("wave-sim: {text}");
    }
}

/// The machine.
pub(crate) fn device() -> Result<DeviceFacts, Failure> {
    static FACTS: Mutex<Option<DeviceFacts>> = Mutex::new(None);
    let mut facts = lock(&FACTS);
    if facts.is_none()
        && let Reply::Device { facts: found } = call(&Request::Device {}, &[])?
    {
        *facts = Some(found);
    }
    facts.clone().ok_or(Failure::NoSimulator)
}
