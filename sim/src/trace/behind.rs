//! A file that a thread of its own writes: the run goes on in the meantime.

use super::writer::Output;
use std::io::{self, Write};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::JoinHandle;

/// Buffers that may wait for the thread; then the run waits.
const WAITING: usize = 2;

/// Hands what is written on to a thread, in the pieces that it comes in. An error of the file is reported by a later call,
/// or by the last.
#[derive(Debug)]
pub struct Behind {
    to_file: Option<SyncSender<Vec<u8>>>,
    /// Buffers that are written.
    done: Receiver<Vec<u8>>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Behind {
    /// For a file that is written to in large pieces.
    pub fn new(mut file: impl Write + Send + 'static) -> Behind {
        let (to_file, pieces) = mpsc::sync_channel::<Vec<u8>>(WAITING);
        let (give_back, done) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            for mut piece in pieces {
                file.write_all(&piece)?;
                piece.clear();
                // Nobody may want it any more.
                _ = give_back.send(piece);
            }
            file.flush()
        });
        Behind { to_file: Some(to_file), done, thread: Some(thread) }
    }

    /// Waits for the thread.
    fn join(&mut self) -> io::Result<()> {
        drop(self.to_file.take());
        let Some(thread) = self.thread.take() else { return Err(io::Error::other("it has ended")) };
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread that writes it has failed")))
    }
}

impl Output for Behind {
    fn put(&mut self, piece: &mut Vec<u8>) -> io::Result<()> {
        let written = self.done.try_recv().unwrap_or_default();
        match self.to_file.as_ref().map(|to_file| to_file.send(std::mem::replace(piece, written))) {
            Some(Ok(())) => Ok(()),
            // The thread has ended before it was told to.
            _ => self.join().and(Err(io::Error::other("it has ended"))),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
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

    /// Has room for so many bytes.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| io::Error::other("full"))?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_error_of_the_file_comes_out_once_whenever_it_happens() {
        for (room, pieces) in [(0, 1), (100, 101), (100, 100_000), (1000, 1001)] {
            let mut behind = Behind::new(Full(room));
            let written = (0..pieces).try_for_each(|_| behind.put(&mut vec![0]));
            let error = written.and_then(|()| behind.finish()).unwrap_err();
            assert_eq!(error.to_string(), "full", "{room} of {pieces}");
            assert_eq!(behind.finish().unwrap_err().to_string(), "it has ended");
        }
        let mut behind = Behind::new(Full(100));
        (0..100).try_for_each(|_| behind.put(&mut vec![0])).unwrap();
        behind.finish().unwrap();
    }

    #[test]
    fn pieces_stay_in_order() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut behind = Behind::new(file.reopen().unwrap());
        (0..1000_u32).try_for_each(|n| behind.put(&mut n.to_le_bytes().to_vec())).unwrap();
        behind.finish().unwrap();
        let read = std::fs::read(file.path()).unwrap();
        assert!(read.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).eq(0..1000));
    }
}
