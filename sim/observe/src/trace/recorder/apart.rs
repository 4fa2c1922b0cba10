//! Makes records on a thread of its own, while the run goes on.

use super::maker::{Batch, Maker, Outcome, Saved};
use crate::trace::record::{How, Launched};
use std::panic::resume_unwind;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::JoinHandle;
use wave_machine::clock::Cycle;

/// Messages that may wait for the thread. If there are more, the run waits.
const WAITING: usize = 4;

/// Messages to the thread.
enum Message {
    Start(Launched),
    Batch(Batch),
    /// Asks for the state.
    Save(mpsc::Sender<Saved>),
    End(How, Cycle, String),
}

/// The thread that makes records.
pub(super) struct Apart {
    messages: Option<SyncSender<Message>>,
    /// Batches that the thread has read, for reuse.
    read: Receiver<Batch>,
    thread: Option<JoinHandle<Option<Outcome>>>,
}

impl Apart {
    pub(super) fn new(mut maker: Maker<'static>) -> Apart {
        let (messages, inbox) = mpsc::sync_channel(WAITING);
        let (give_back, read) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            for message in inbox {
                match message {
                    Message::Start(launch) => maker.start(launch),
                    Message::Batch(mut batch) => {
                        maker.take(&mut batch);
                        // The run may have ended and dropped the receiver.
                        _ = give_back.send(batch);
                    }
                    Message::Save(answer) => _ = answer.send(maker.save_state()),
                    Message::End(how, cycle, message) => return Some(maker.finish(how, cycle, &message)),
                }
            }
            None
        });
        Apart { messages: Some(messages), read, thread: Some(thread) }
    }

    pub(super) fn start(&mut self, launch: Launched) {
        self.send(Message::Start(launch));
    }

    /// Hands over a batch in exchange for an empty one.
    pub(super) fn take(&mut self, batch: &mut Batch) {
        let empty = self.read.try_recv().unwrap_or_else(|_| Batch::new(batch.written.len()));
        self.send(Message::Batch(std::mem::replace(batch, empty)));
    }

    /// The state after all messages so far.
    pub(super) fn save_state(&mut self) -> Saved {
        let (answer, state) = mpsc::channel();
        self.send(Message::Save(answer));
        state.recv().unwrap_or_else(|_| {
            // The thread has panicked: this passes it on.
            self.join();
            Ok(Vec::new())
        })
    }

    pub(super) fn finish(mut self, how: How, cycle: Cycle, message: &str) -> Outcome {
        self.send(Message::End(how, cycle, message.to_owned()));
        self.join().expect("it was told of the end")
    }

    /// If the thread ended before it was told to, it has panicked: [`Apart::join`] passes the panic on.
    fn send(&mut self, message: Message) {
        if self.messages.as_ref().is_some_and(|messages| messages.send(message).is_err()) {
            self.join();
        }
    }

    /// Waits for the thread. `None` if it was not told of the end, or was waited for before.
    fn join(&mut self) -> Option<Outcome> {
        drop(self.messages.take());
        let thread = self.thread.take()?;
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        // The run was given up. No one needs the outcome, but the files must be closed.
        drop(self.messages.take());
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::core::{Common, CoreRecorder};
    use super::*;
    use crate::trace::record::Record;
    use crate::trace::sink::{Sink, Window};
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    /// A sink that cannot be written to from the second launch on. It reports when it is closed.
    struct Full {
        begun: bool,
        closed: Arc<AtomicBool>,
    }

    impl Drop for Full {
        fn drop(&mut self) {
            std::thread::sleep(Duration::from_millis(20));
            self.closed.store(true, Ordering::Relaxed);
        }
    }

    impl Sink for Full {
        fn launch(&mut self, _: &Launched) -> io::Result<()> {
            let error = || io::Error::other("full");
            if std::mem::replace(&mut self.begun, true) { Err(error()) } else { Ok(()) }
        }

        fn record(&mut self, _: &Record) -> io::Result<()> {
            Ok(())
        }

        fn end(&mut self, _: How, _: Cycle, _: &str) -> io::Result<()> {
            Ok(())
        }
    }

    /// The thread, a flag that it sets to end the run, and a flag that is set when the file is closed.
    fn apart() -> (Apart, [Arc<AtomicBool>; 2]) {
        let common = Common { launch: Launched::default(), width: 32, window: Window::ALL, encodes: false };
        let [over, closed] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let file = Full { begun: false, closed: closed.clone() };
        let sinks: Vec<(String, Box<dyn Sink>)> = vec![("file".into(), Box::new(file))];
        let maker = Maker::new(sinks, common, vec![CoreRecorder::new(0, 1)], over.clone());
        (Apart::new(maker), [over, closed])
    }

    #[test]
    fn a_file_that_cannot_be_written_to_ends_the_run_and_is_named() {
        let (mut apart, [over, _]) = apart();
        let mut batch = Batch::new(1);
        apart.start(Launched::default());
        apart.take(&mut batch);
        apart.start(Launched::default());
        let begun = Instant::now();
        while !over.load(Ordering::Relaxed) {
            assert!(begun.elapsed() < Duration::from_secs(60), "the run would go on");
            apart.take(&mut batch);
        }
        let (name, error) = apart.finish(How::Complete, 9, "").unwrap_err();
        assert_eq!((name.as_str(), error.to_string().as_str()), ("file", "full"));
    }

    #[test]
    fn a_run_that_is_given_up_waits_for_the_file() {
        let (mut apart, [_, closed]) = apart();
        apart.start(Launched::default());
        drop(apart);
        assert!(closed.load(Ordering::Relaxed));
    }
}
