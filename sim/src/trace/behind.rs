//! A sink on a thread of its own: the run goes on while records are put into their form and written.

use super::record::{How, Launched, Record};
use super::sink::Sink;
use crate::clock::Cycle;
use std::io;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::JoinHandle;

/// Records that go to the thread at once.
const BATCH: usize = 64;
/// Batches that may wait for it; then the run waits.
const WAITING: usize = 8;

/// Records on their way to the thread, or back to be used again.
#[allow(clippy::vec_box)] // they change hands as they are
type Batch = Vec<Box<Record>>;

/// What the thread is told.
enum Message {
    Launch(Box<Launched>),
    Records(Batch),
    End(How, Cycle, String),
}

/// Hands everything on to a sink, in order. An error of the sink is reported by a later call, or by the last.
pub struct Behind {
    batch: Batch,
    /// Records that the sink has done with, cleared.
    free: Batch,
    to_sink: Option<SyncSender<Message>>,
    done: Receiver<Batch>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Behind {
    /// For a sink that wants launches, records and the end.
    pub fn new(mut sink: impl Sink + Send + 'static) -> Behind {
        let (to_sink, messages) = mpsc::sync_channel(WAITING);
        let (give_back, done) = mpsc::channel::<Batch>();
        let thread = std::thread::spawn(move || {
            for message in messages {
                match message {
                    Message::Launch(launch) => sink.launch(&launch)?,
                    Message::Records(mut batch) => {
                        for record in &mut batch {
                            sink.record(record)?;
                            record.clear();
                        }
                        // Nobody may want them any more.
                        _ = give_back.send(batch);
                    }
                    Message::End(how, cycle, message) => return sink.end(how, cycle, &message),
                }
            }
            Ok(())
        });
        Behind { batch: Vec::new(), free: Vec::new(), to_sink: Some(to_sink), done, thread: Some(thread) }
    }

    fn send(&mut self, message: Message) -> io::Result<()> {
        match self.to_sink.as_ref().map(|to_sink| to_sink.send(message)) {
            Some(Ok(())) => Ok(()),
            // The thread has ended before it was told to.
            _ => self.join().and(Err(io::Error::other("it has ended"))),
        }
    }

    fn send_batch(&mut self) -> io::Result<()> {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        if batch.is_empty() { Ok(()) } else { self.send(Message::Records(batch)) }
    }

    /// Waits for the thread.
    fn join(&mut self) -> io::Result<()> {
        drop(self.to_sink.take());
        let Some(thread) = self.thread.take() else { return Ok(()) };
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread that writes it has failed")))
    }
}

impl Sink for Behind {
    fn launch(&mut self, launch: &Launched) -> io::Result<()> {
        self.send_batch()?;
        self.send(Message::Launch(Box::new(launch.clone())))
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        let mut copy = self.free.pop().unwrap_or_default();
        (*copy).clone_from(record);
        let back = self.take(copy)?;
        self.free.extend(back);
        Ok(())
    }

    fn take(&mut self, record: Box<Record>) -> io::Result<Option<Box<Record>>> {
        self.batch.push(record);
        if self.batch.len() >= BATCH {
            self.send_batch()?;
        }
        if self.free.is_empty()
            && let Ok(batch) = self.done.try_recv()
        {
            self.free = batch;
        }
        Ok(self.free.pop())
    }

    fn end(&mut self, how: How, cycle: Cycle, message: &str) -> io::Result<()> {
        self.send_batch()?;
        self.send(Message::End(how, cycle, message.to_owned()))?;
        self.join()
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        // Who has not asked does not want to know.
        _ = self.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails after so many records.
    struct Full(u32);

    impl Sink for Full {
        fn launch(&mut self, _: &Launched) -> io::Result<()> {
            Ok(())
        }

        fn record(&mut self, _: &Record) -> io::Result<()> {
            self.0 = self.0.checked_sub(1).ok_or_else(|| io::Error::other("full"))?;
            Ok(())
        }

        fn end(&mut self, _: How, _: Cycle, _: &str) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_error_of_the_sink_comes_out_once_whenever_it_happens() {
        for (room, records) in [(0, 1), (100, 101), (100, 100_000), (1000, 1001)] {
            let mut behind = Behind::new(Full(room));
            let written = (0..records).try_for_each(|_| behind.record(&Record::default()));
            let error = written.and_then(|()| behind.end(How::Complete, 1, "")).unwrap_err();
            assert_eq!(error.to_string(), "full", "{room} of {records}");
            assert_eq!(behind.end(How::Complete, 1, "").unwrap_err().to_string(), "it has ended");
        }
        let mut behind = Behind::new(Full(100));
        (0..100).try_for_each(|_| behind.record(&Record::default())).unwrap();
        behind.end(How::Complete, 1, "").unwrap();
    }
}
