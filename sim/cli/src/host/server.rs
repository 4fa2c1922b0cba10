//! Answers what programs ask for: a thread and a device for each process.

use super::device::{Device, Done, How};
use crate::terminal::Terminal;
use std::collections::BTreeSet;
use std::io::BufReader;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Scope;
use wave_isa::diagnostic::{Diagnostic, Severity};
use wave_runtime::protocol::{Reply, Request, receive_request, send_reply};

/// The part of a run that all processes have in common.
#[derive(Debug)]
pub(super) struct Server<'a> {
    how: How<'a>,
    /// Where messages go.
    terminal: Option<&'a Terminal>,
    /// No process comes any more.
    is_over: AtomicBool,
    /// Messages that were shown.
    shown: Mutex<BTreeSet<String>>,
    /// Accounts of processes that have ended, with their numbers in the order in which they began.
    done: Mutex<Vec<(usize, Done)>>,
}

impl<'a> Server<'a> {
    pub(super) fn new(how: How<'a>, terminal: Option<&'a Terminal>) -> Server<'a> {
        Server {
            how,
            terminal,
            is_over: AtomicBool::new(false),
            shown: Mutex::default(),
            done: Mutex::default(),
        }
    }

    /// Serves processes until [`finish`](Self::finish).
    pub(super) fn listen<'s>(&'s self, listener: &UnixListener, scope: &'s Scope<'s, '_>) {
        for (number, stream) in listener.incoming().enumerate() {
            let Ok(stream) = stream else { return };
            if self.is_over.load(Ordering::Acquire) {
                return;
            }
            scope.spawn(move || self.serve(BufReader::new(stream), number));
        }
    }

    /// Ends [`listen`](Self::listen).
    pub(super) fn finish(&self, socket: &Path) {
        self.is_over.store(true, Ordering::Release);
        // Nobody listens any more if this fails.
        _ = UnixStream::connect(socket);
    }

    /// Serves a process to its end.
    fn serve(&self, mut from: BufReader<UnixStream>, number: usize) {
        // A process that ends before its first message has launched nothing.
        let Ok((Request::Hello { program, .. }, _)) = receive_request(&mut from) else { return };
        let name = Path::new(&program).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut device = Device::new(self.how, &name);
        let mut reply = (Reply::Done {}, Vec::new());
        while send_reply(from.get_mut(), &reply.0, &reply.1).is_ok() {
            let Ok((request, data)) = receive_request(&mut from) else { break };
            if let Request::Note { text } = &request {
                self.show(&[Diagnostic::warning(format!("{name}: {text}"))]);
            }
            reply = device.answer(&request, &data).unwrap_or_else(|(failure, mut messages)| {
                // The program has the code, and may have a plan.
                if failure.is_harmless() {
                    messages.iter_mut().for_each(|message| message.severity = Severity::Warning);
                }
                self.show(&messages);
                let message = messages.iter().map(|one| one.message.as_str()).collect::<Vec<_>>().join("\n");
                (Reply::Failed { failure: failure.number(), message }, Vec::new())
            });
        }
        let (done, wrong) = device.finish();
        self.show(&wrong);
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push((number, done));
    }

    /// Shows messages, each once.
    fn show(&self, messages: &[Diagnostic]) {
        let Some(terminal) = self.terminal else { return };
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        for message in messages {
            if shown.insert(message.render(false)) {
                terminal.diagnostics(std::slice::from_ref(message));
            }
        }
    }

    /// The accounts of all processes, in the order in which they began.
    pub(super) fn into_done(self) -> Vec<Done> {
        let mut done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(number, _)| *number);
        done.into_iter().map(|(_, done)| done).collect()
    }
}
