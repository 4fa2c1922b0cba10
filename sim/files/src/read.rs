//! Reads input files up to a limit, so that no input fills the memory of the host.
//!
//! A pipe can be read once only, but several readers may look at an input: one recognises the format, the next one
//! reads the contents. So the bytes of a pipe are kept, and every reader sees them from the first one on.

use crate::reason;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Most bytes of a kernel file in any format, and of a text that its debugging information names.
pub const PROGRAM_BYTES: u64 = 64 << 20;
/// Most bytes of a file in RON: a configuration, a launch file, a plan, prices, a corpus file.
pub const RON_BYTES: u64 = 1 << 20;
/// Most bytes of a text that users write: a script of commands, a litmus test.
pub const SCRIPT_BYTES: u64 = 1 << 20;
/// Most bytes of a document that the program has written: results, measurements.
pub const DOCUMENT_BYTES: u64 = 256 << 20;
/// Most bytes of a line of standard input.
pub const LINE_BYTES: u64 = 1 << 16;
/// Most bytes of a character device. A terminal and `/dev/null` end before; `/dev/zero` does not end at all.
const DEVICE_BYTES: u64 = 1 << 20;

/// Why a file is not read.
#[derive(Debug)]
pub enum Unreadable {
    /// The operating system says why.
    System(io::Error),
    /// A device that does not end.
    Device,
    /// Something else than a regular file, where only a regular file makes sense.
    Irregular,
    /// More bytes than this number.
    Long(u64),
    /// The text is not UTF-8 from this byte on.
    NotText(usize),
}

impl Unreadable {
    /// True if there is no such file.
    pub fn is_missing(&self) -> bool {
        matches!(self, Unreadable::System(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Unreadable {
        Unreadable::System(error)
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::System(error) => f.write_str(&reason(error)),
            Unreadable::Device => f.write_str("it is a device, not a file"),
            Unreadable::Irregular => f.write_str("it is not a regular file"),
            Unreadable::Long(most) if most % (1 << 20) == 0 => {
                write!(f, "it is longer than {} MiB", most >> 20)
            }
            Unreadable::Long(most) => write!(f, "it is longer than {most} bytes"),
            Unreadable::NotText(byte) => write!(f, "it is not UTF-8 text (byte {byte})"),
        }
    }
}

/// Reads a file, a pipe or a terminal that has at most `most` bytes.
///
/// # Errors
/// It cannot be read, has more bytes, or is a device without an end.
pub fn bytes(path: &Path, most: u64) -> Result<Vec<u8>, Unreadable> {
    // A pipe is not opened twice: that waits for a second writer.
    let there = fs::metadata(path)?;
    if is_pipe(&there) {
        return streamed(path, &there, most);
    }
    limited(File::open(path)?, most)
}

/// As [`bytes`], of a regular file: for contents that nobody pipes, or a path that the user has not named.
///
/// # Errors
/// Those of [`bytes`]; it is no regular file.
pub fn regular(path: &Path, most: u64) -> Result<Vec<u8>, Unreadable> {
    let there = fs::metadata(path)?;
    if !there.is_file() && !there.is_dir() {
        return Err(Unreadable::Irregular);
    }
    limited(File::open(path)?, most)
}

/// As [`bytes`], for text.
///
/// # Errors
/// Those of [`bytes`]; it is not UTF-8.
pub fn text(path: &Path, most: u64) -> Result<String, Unreadable> {
    utf8(bytes(path, most)?)
}

/// As [`regular`], for text.
///
/// # Errors
/// Those of [`regular`]; it is not UTF-8.
pub fn regular_text(path: &Path, most: u64) -> Result<String, Unreadable> {
    utf8(regular(path, most)?)
}

fn utf8(bytes: Vec<u8>) -> Result<String, Unreadable> {
    String::from_utf8(bytes).map_err(|error| Unreadable::NotText(error.utf8_error().valid_up_to()))
}

/// Reads a file whose first `head` bytes say how long it is. `length` gives that length, or `None` for a file of
/// another kind: of that, no more is read. At most one byte more than the length is read, which shows that the file is
/// too long.
///
/// # Errors
/// Those of [`bytes`].
pub fn sized(
    path: &Path,
    most: u64,
    head: u64,
    length: impl FnOnce(&[u8]) -> Option<u64>,
) -> Result<Vec<u8>, Unreadable> {
    let mut file = File::open(path)?;
    let most = most_of(&file.metadata()?, most)?;
    let mut bytes = Vec::new();
    (&mut file).take(head).read_to_end(&mut bytes)?;
    let Some(length) = length(&bytes) else { return Ok(bytes) };
    let rest = length.min(most).saturating_add(1).saturating_sub(bytes.len() as u64);
    file.take(rest).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(Unreadable::Long(most)) } else { Ok(bytes) }
}

/// Lines of at most [`LINE_BYTES`] bytes, without their ends.
pub fn lines(mut input: impl BufRead) -> impl Iterator<Item = io::Result<String>> {
    let mut failed = false;
    std::iter::from_fn(move || {
        if failed {
            return None;
        }
        let line = line(&mut input).transpose();
        failed = matches!(line, Some(Err(_)));
        line
    })
}

fn line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    if input.take(LINE_BYTES + 1).read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    if bytes.len() as u64 > LINE_BYTES {
        return Err(io::Error::other(format!("a line is longer than {LINE_BYTES} bytes")));
    }
    if bytes.ends_with(b"\n") {
        bytes.pop();
        if bytes.ends_with(b"\r") {
            bytes.pop();
        }
    }
    String::from_utf8(bytes).map(Some).map_err(|_| io::Error::other("a line is not UTF-8 text"))
}

/// Reads an open file to its end.
fn limited(file: File, most: u64) -> Result<Vec<u8>, Unreadable> {
    let there = file.metadata()?;
    let allowed = most_of(&there, most)?;
    if there.is_file() && there.len() > allowed {
        return Err(Unreadable::Long(most));
    }
    let mut bytes = Vec::new();
    // One byte more distinguishes a file that is too long from one that just fits.
    file.take(allowed.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > allowed {
        true if !there.is_file() && !is_pipe(&there) => Err(Unreadable::Device),
        true => Err(Unreadable::Long(most)),
        false => Ok(bytes),
    }
}

/// Most bytes of such a file, of which there may be `most`.
fn most_of(there: &Metadata, most: u64) -> Result<u64, Unreadable> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if there.file_type().is_block_device() {
            return Err(Unreadable::Device);
        }
        if there.file_type().is_char_device() {
            return Ok(most.min(DEVICE_BYTES));
        }
    }
    Ok(most)
}

fn is_pipe(there: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        there.file_type().is_fifo()
    }
    #[cfg(not(unix))]
    false
}

/// A pipe that is being read.
struct Stream {
    pipe: File,
    bytes: Vec<u8>,
}

/// Pipes by device and number of the file.
static STREAMS: Mutex<BTreeMap<(u64, u64), Stream>> = Mutex::new(BTreeMap::new());

/// Reads a pipe, from its first byte on whoever has read it before.
fn streamed(path: &Path, there: &Metadata, most: u64) -> Result<Vec<u8>, Unreadable> {
    let mut streams = STREAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let stream = match streams.entry(place(there)) {
        std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
        std::collections::btree_map::Entry::Vacant(entry) => {
            entry.insert(Stream { pipe: File::open(path)?, bytes: Vec::new() })
        }
    };
    let rest = most.saturating_add(1).saturating_sub(stream.bytes.len() as u64);
    (&stream.pipe).take(rest).read_to_end(&mut stream.bytes)?;
    if stream.bytes.len() as u64 > most { Err(Unreadable::Long(most)) } else { Ok(stream.bytes.clone()) }
}

/// Device and number of a file.
fn place(there: &Metadata) -> (u64, u64) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (there.dev(), there.ino())
    }
    #[cfg(not(unix))]
    {
        _ = there;
        (0, 0)
    }
}
