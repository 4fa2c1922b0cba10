//! Reading a trace as a stream, in either form.

use super::binary::{self, MAX_PAYLOAD, frame};
use super::record::{End, Header, Launched, Record};
use super::text::{self, Line};
use super::{Form, VERSION};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::clock::Cycle;

/// Most bytes of a line of text: many times what the largest record takes.
const MAX_LINE: u64 = 1 << 26;

/// What is wrong with a trace, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{file}`{place}: {message}")]
pub struct TraceError {
    /// Name of the file.
    pub file: String,
    /// Place in the file: `, line 3` or `, byte 80`; empty for the whole file.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it; may be empty.
    pub hint: String,
}

impl TraceError {
    /// The error as a message to the user.
    pub fn diagnostic(&self) -> Diagnostic {
        let diagnostic = Diagnostic::error(self.to_string());
        if self.hint.is_empty() { diagnostic } else { diagnostic.hint(self.hint.as_str()) }
    }
}

/// The next item of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A kernel begins.
    Launch(Box<Launched>),
    /// A record, stored in the [`Record`] that was passed.
    Record,
    /// The end; nothing follows.
    End(End),
}

/// Reads one file.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    name: String,
    form: Form,
    header: Header,
    /// Bytes or lines read so far.
    at: u64,
    launches: u64,
    records: u64,
    before: (Cycle, u32, u32, u64),
    ended: bool,
    buffer: Vec<u8>,
}

impl Reader<BufReader<File>> {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// If it cannot be read or is no trace of this version.
    pub fn open(path: &Path) -> Result<Reader<BufReader<File>>, TraceError> {
        let name = path.display().to_string();
        let is_folder = || io::Error::other("it is a directory");
        let file = File::open(path).and_then(|f| if path.is_dir() { Err(is_folder()) } else { Ok(f) });
        match file {
            Ok(file) => Reader::new(BufReader::with_capacity(1 << 17, file), name),
            Err(error) => {
                let text = error.to_string().to_lowercase();
                let why = text.split(" (os error").next().unwrap_or(&text);
                let (place, hint) = (String::new(), String::new());
                Err(TraceError { file: name, place, message: format!("cannot be read: {why}"), hint })
            }
        }
    }
}

impl<R: BufRead> Reader<R> {
    /// Reads the header of a file; `name` is for messages.
    ///
    /// # Errors
    /// If it is no trace of this version.
    pub fn new(input: R, name: String) -> Result<Reader<R>, TraceError> {
        let nothing = text::header("1 wave_width=1").expect("a header");
        let mut reader = Reader {
            input,
            name,
            form: Form::Binary,
            header: nothing,
            at: 0,
            launches: 0,
            records: 0,
            before: (0, 0, 0, 0),
            ended: false,
            buffer: Vec::new(),
        };
        let mut magic = [0; 4];
        let mut first = 0;
        while first < magic.len() {
            match reader.input.read(&mut magic[first..]) {
                Ok(0) => break,
                Ok(n) => first += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(reader.unreadable(&error)),
            }
        }
        reader.header = match &magic[..first] {
            [] => return Err(reader.whole("is empty", "")),
            start if start == binary::MAGIC => reader.binary_header()?,
            start if start == &text::MAGIC.as_bytes()[..4] => reader.text_header()?,
            _ => {
                let hint = "a trace begins with `WVFI` or `wvfi`; `wave-sim KERNEL --wvfi FILE` writes one";
                return Err(reader.whole("is no WVFI trace", hint));
            }
        };
        Ok(reader)
    }

    /// The header of the file.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Its form.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the next item; a record goes into `record`. `None` after the end.
    ///
    /// # Errors
    /// If the file is damaged, or cannot be read.
    pub fn next(&mut self, record: &mut Record) -> Result<Option<Item>, TraceError> {
        if self.ended {
            return Ok(None);
        }
        record.clear();
        let item = match self.form {
            Form::Binary => self.next_frame(record)?,
            Form::Text => self.next_line(record)?,
        };
        match &item {
            Item::Launch(_) => self.launches += 1,
            Item::Record => {
                record.check(self.header.all_lanes()).map_err(|why| self.here(&why))?;
                if self.launches == 0 {
                    return Err(self.here("a record comes before the first launch"));
                }
                if record.order() <= self.before && self.records > 0 {
                    return Err(self.here("a record is not behind the one before it"));
                }
                self.before = record.order();
                self.records += 1;
            }
            Item::End(end) => {
                if end.records != self.records {
                    let message =
                        format!("the file has {} records, and its end says {}", self.records, end.records);
                    return Err(self.here(&message));
                }
                self.ended = true;
                self.nothing_behind()?;
            }
        }
        Ok(Some(item))
    }

    fn next_frame(&mut self, record: &mut Record) -> Result<Item, TraceError> {
        loop {
            let kind = self.read_frame()?;
            let payload = std::mem::take(&mut self.buffer);
            let item = match kind {
                frame::LAUNCH => binary::launch(&payload).map(|l| Some(Item::Launch(Box::new(l)))),
                frame::RECORD => {
                    let (all, before) = (self.header.all_lanes(), self.before.0);
                    binary::record(&payload, all, before, record).map(|()| Some(Item::Record))
                }
                frame::END => binary::end(&payload).map(|end| Some(Item::End(end))),
                frame::HEADER => Err("a second header".to_owned()),
                _ => Ok(None),
            };
            let item = item.map_err(|why| self.here(&why))?;
            self.at += payload.len() as u64 + 4;
            self.buffer = payload;
            if let Some(item) = item {
                return Ok(item);
            }
        }
    }

    /// Reads the payload of a frame into the buffer. Returns its kind.
    fn read_frame(&mut self) -> Result<u8, TraceError> {
        let mut tag = [0; 4];
        self.fill(&mut tag)?;
        let tag = u32::from_le_bytes(tag);
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.resize((tag >> 8) as usize & MAX_PAYLOAD, 0);
        self.fill(&mut buffer)?;
        self.buffer = buffer;
        Ok(tag as u8)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), TraceError> {
        self.input.read_exact(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.truncated(),
            _ => self.unreadable(&error),
        })
    }

    fn binary_header(&mut self) -> Result<Header, TraceError> {
        let mut version = [0; 4];
        self.at = 4;
        self.fill(&mut version)?;
        let [low, high, zero @ ..] = version;
        self.check_version(u64::from(u16::from_le_bytes([low, high])))?;
        if zero != [0, 0] {
            return Err(self.here("bytes 6 and 7 are not 0"));
        }
        self.at = 8;
        if self.read_frame()? != frame::HEADER {
            return Err(self.here("the first frame is no header"));
        }
        let header = binary::header(&self.buffer).map_err(|why| self.here(&why))?;
        self.at += self.buffer.len() as u64 + 4;
        Ok(header)
    }

    fn text_header(&mut self) -> Result<Header, TraceError> {
        self.form = Form::Text;
        let line = self.read_line()?.ok_or_else(|| self.truncated())?;
        let line = line.trim();
        let version = line.split_whitespace().next().unwrap_or("");
        match version.parse() {
            Ok(version) => self.check_version(version)?,
            Err(_) => return Err(self.here(&format!("its version is `{version}`, not a number"))),
        }
        text::header(line).map_err(|why| self.here(&why))
    }

    fn check_version(&self, version: u64) -> Result<(), TraceError> {
        if version == u64::from(VERSION) {
            return Ok(());
        }
        let message = format!("is a trace of version {version}, and this program reads version {VERSION}");
        Err(self.whole(&message, "write it anew with this program"))
    }

    fn next_line(&mut self, record: &mut Record) -> Result<Item, TraceError> {
        loop {
            let line = self.read_line()?.ok_or_else(|| self.truncated())?;
            let item = text::line(&line).and_then(|line| match line {
                Line::Empty => Ok(None),
                Line::Header(_) => Err("a second header".to_owned()),
                Line::Launch(text) => text::launch(text).map(|l| Some(Item::Launch(Box::new(l)))),
                Line::Record(text) => {
                    text::record(text, self.header.all_lanes(), record).map(|()| Some(Item::Record))
                }
                Line::End(text) => text::end(text).map(|end| Some(Item::End(end))),
            });
            if let Some(item) = item.map_err(|why| self.here(&why))? {
                return Ok(item);
            }
        }
    }

    /// The next line, without its end; `None` behind the last.
    fn read_line(&mut self) -> Result<Option<String>, TraceError> {
        let mut line = std::mem::take(&mut self.buffer);
        line.clear();
        let read = (&mut self.input).take(MAX_LINE).read_until(b'\n', &mut line);
        let n = read.map_err(|error| self.unreadable(&error))?;
        if n == 0 {
            return Ok(None);
        }
        self.at += 1;
        if n as u64 == MAX_LINE {
            return Err(self.here("the line is too long"));
        }
        if line.last() != Some(&b'\n') {
            return Err(self.truncated());
        }
        String::from_utf8(line).map(Some).map_err(|_| self.here("it is not UTF-8"))
    }

    fn nothing_behind(&mut self) -> Result<(), TraceError> {
        loop {
            let more = match self.form {
                Form::Binary => {
                    let more = self.input.fill_buf().map(|bytes| !bytes.is_empty());
                    more.map_err(|error| self.unreadable(&error))?
                }
                Form::Text => match self.read_line()? {
                    None => false,
                    Some(line) if text::line(&line) == Ok(Line::Empty) => continue,
                    Some(_) => true,
                },
            };
            return if more { Err(self.here("something comes behind the end")) } else { Ok(()) };
        }
    }

    /// An error in the frame or line that was read last.
    pub fn here(&self, message: &str) -> TraceError {
        let unit = if self.form == Form::Binary { "byte" } else { "line" };
        let place = format!(", {unit} {}", self.at);
        TraceError { place, ..self.whole(message, "") }
    }

    fn whole(&self, message: &str, hint: &str) -> TraceError {
        TraceError {
            file: self.name.clone(),
            place: String::new(),
            message: message.to_owned(),
            hint: hint.to_owned(),
        }
    }

    fn truncated(&self) -> TraceError {
        let unit = if self.form == Form::Binary { "byte" } else { "line" };
        let message = format!("is truncated: it stops after {unit} {}, without an end", self.at);
        self.whole(&message, "the program that wrote it was broken off, or the file was not copied in full")
    }

    fn unreadable(&self, error: &io::Error) -> TraceError {
        self.whole(&format!("cannot be read: {error}"), "")
    }
}
