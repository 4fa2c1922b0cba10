//! Writes a trace as a stream, in either form.

use super::Sink;
use super::binary;
use super::record::{End, Header, How, Launched, Record};
use super::text;
use std::io::{self, Write};
use wave_capture::{self as capture, Capture, Misfit, Reader};
use wave_machine::clock::Cycle;

/// The form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Compact.
    Binary,
    /// Readable.
    Text,
}

/// Bytes gathered before a write. Several such buffers fit in the processor's cache.
const BUFFER: usize = 1 << 18;

/// Writes one file: header first, then launches and records, and an end.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    form: Form,
    all_lanes: u64,
    before: Cycle,
    records: u64,
    buffer: Vec<u8>,
    /// Scratch space for the record being encoded.
    fields: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// If it cannot be written to.
    pub fn new(out: W, form: Form, header: &Header) -> io::Result<Writer<W>> {
        let mut writer = Writer::continuing(out, form, header);
        match form {
            Form::Binary => binary::put_header(&mut writer.buffer, header),
            Form::Text => text::put_header(&mut writer.buffer, header),
        }
        writer.flush()?;
        Ok(writer)
    }

    /// Goes on with a file, at whose end `out` is, once [`restore`](Sink::restore) has put back what was saved then.
    pub fn continuing(out: W, form: Form, header: &Header) -> Writer<W> {
        let all_lanes = header.all_lanes();
        Writer { out, form, all_lanes, before: 0, records: 0, buffer: Vec::new(), fields: Vec::new() }
    }

    /// Begins a launch.
    ///
    /// # Errors
    /// If the file cannot be written to.
    pub fn launch(&mut self, launch: &Launched) -> io::Result<()> {
        if launch.code.len() > binary::MAX_PAYLOAD / 8 {
            return Err(io::Error::other("the kernel's code is too long for a trace"));
        }
        match self.form {
            Form::Binary => binary::put_launch(&mut self.buffer, launch),
            Form::Text => text::put_launch(&mut self.buffer, launch),
        }
        self.flush_if_full()
    }

    /// Writes the next record, in the order of [`Record::order`].
    ///
    /// # Errors
    /// If the file cannot be written to.
    pub fn record(&mut self, record: &Record) -> io::Result<()> {
        match self.form {
            Form::Binary => {
                self.fields.clear();
                binary::put_fields(&mut self.fields, record, self.all_lanes);
                binary::put_record(&mut self.buffer, record.cycle - self.before, &self.fields);
            }
            Form::Text => text::put_record(&mut self.buffer, record, self.all_lanes),
        }
        self.after_record(record.cycle)
    }

    fn after_record(&mut self, cycle: Cycle) -> io::Result<()> {
        self.before = cycle;
        self.records += 1;
        self.flush_if_full()
    }

    /// Completes the file; nothing can follow.
    ///
    /// # Errors
    /// If it cannot be written to.
    pub fn end(&mut self, how: How, cycle: Cycle, message: &str) -> io::Result<()> {
        let end = End { how, cycle, records: self.records, message: message.to_owned() };
        match self.form {
            Form::Binary => binary::put_end(&mut self.buffer, &end),
            Form::Text => text::put_end(&mut self.buffer, &end),
        }
        self.flush()?;
        self.out.flush()
    }

    fn flush_if_full(&mut self) -> io::Result<()> {
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

impl<W: Write + Send> Sink for Writer<W> {
    fn launch(&mut self, launch: &Launched) -> io::Result<()> {
        Writer::launch(self, launch)
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        Writer::record(self, record)
    }

    fn wants_encoded(&self) -> bool {
        self.form == Form::Binary
    }

    fn encoded(&mut self, cycle: Cycle, fields: &[u8]) -> io::Result<()> {
        binary::put_record(&mut self.buffer, cycle - self.before, fields);
        self.after_record(cycle)
    }

    fn save(&mut self, to: &mut capture::Writer) -> io::Result<()> {
        self.flush()?;
        self.out.flush()?;
        (self.before, self.records).save(to);
        Ok(())
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        self.before.restore(from)?;
        self.records.restore(from)
    }

    fn end(&mut self, how: How, cycle: Cycle, message: &str) -> io::Result<()> {
        Writer::end(self, how, cycle, message)
    }
}
