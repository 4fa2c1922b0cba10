//! The binary form: frames and their payloads.

use super::record::{
    DestinationKind, End, Header, How, Launched, MemoryKind, Record, Reports, StageField, Stall, StallReason,
};
use super::rows::{Row, lanes, push_form, push_values};
use crate::clock::Cycle;

/// What a binary file begins with, before the version.
pub const MAGIC: [u8; 4] = *b"WVFI";

/// Kinds of frames.
pub mod frame {
    /// Header.
    pub const HEADER: u8 = 1;
    /// Launch.
    pub const LAUNCH: u8 = 2;
    /// Record.
    pub const RECORD: u8 = 3;
    /// End.
    pub const END: u8 = 4;
}

/// Bytes of a payload at most: what the 24 bits of its length hold.
pub const MAX_PAYLOAD: usize = (1 << 24) - 1;

/// Bytes of a varint at most.
const MAX_VARINT: usize = 10;

const ENDS: u8 = 1 << 2;
const OPEN: u8 = 1 << 3;
const DEVICE: u8 = 1 << 3;

/// Appends a frame whose payload `fill` writes.
///
/// # Panics
/// If the payload is longer than a frame can be.
fn frame_of(out: &mut Vec<u8>, kind: u8, fill: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend([0; 4]);
    fill(out);
    let length = out.len() - at - 4;
    assert!(length <= MAX_PAYLOAD, "a frame of {length} bytes");
    let tag = u32::from(kind) | (length as u32) << 8;
    out[at..at + 4].copy_from_slice(&tag.to_le_bytes());
}

fn put(out: &mut Vec<u8>, value: impl Into<u64>) {
    let mut value: u64 = value.into();
    if value < 0x80 {
        // Nearly always.
        return out.push(value as u8);
    }
    let (mut bytes, mut n) = ([0; MAX_VARINT], 0);
    while value >= 0x80 {
        bytes[n] = value as u8 | 0x80;
        (value, n) = (value >> 7, n + 1);
    }
    bytes[n] = value as u8;
    out.extend_from_slice(&bytes[..=n]);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend(text.bytes());
}

fn put_words(out: &mut Vec<u8>, words: &[u32]) {
    let at = out.len();
    out.resize(at + 4 * words.len(), 0);
    for (bytes, word) in out[at..].chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
}

/// Appends the magic, the version and the header.
pub fn put_header(out: &mut Vec<u8>, header: &Header) {
    out.extend(MAGIC);
    out.extend(super::VERSION.to_le_bytes());
    out.extend([0; 2]);
    frame_of(out, frame::HEADER, |out| {
        put(out, header.wave_width);
        out.push(header.reports.bits());
        put_text(out, &header.config);
        out.extend(header.config_hash.to_le_bytes());
        put_text(out, &header.producer);
    });
}

/// Appends a launch.
pub fn put_launch(out: &mut Vec<u8>, launch: &Launched) {
    frame_of(out, frame::LAUNCH, |out| {
        put_text(out, &launch.kernel);
        out.extend(launch.kernel_hash.to_le_bytes());
        launch.grid.iter().chain(&launch.workgroup).for_each(|&size| put(out, size));
        put(out, launch.registers);
        put(out, launch.local_memory);
        put(out, launch.start);
        put(out, launch.base);
        put(out, launch.arguments.len() as u64);
        for &(register, value) in &launch.arguments {
            out.push(register);
            out.extend(value.to_le_bytes());
        }
        put(out, launch.code.len() as u64);
        put_words(out, &launch.code);
    });
}

/// Appends the end.
pub fn put_end(out: &mut Vec<u8>, end: &End) {
    frame_of(out, frame::END, |out| {
        out.push(end.how as u8);
        put(out, end.cycle);
        put(out, end.records);
        put_text(out, &end.message);
    });
}

/// Bytes that the fields of a record take at most without its rows and stalls: 18 numbers of at most ten bytes, two code
/// words, eight bytes.
const FIELDS: usize = 18 * MAX_VARINT + 2 * 4 + 8;
/// And a stall.
const STALL: usize = 1 + 2 * MAX_VARINT;

/// A place that is filled from its beginning. There is room for all that comes.
struct Room<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Room<'_> {
    #[inline(always)]
    fn byte(&mut self, byte: u8) {
        self.bytes[self.at] = byte;
        self.at += 1;
    }

    #[inline(always)]
    fn put(&mut self, value: u64) {
        if value < 0x80 {
            // Nearly always.
            self.byte(value as u8);
        } else {
            self.at = put_long(self.bytes, self.at, value);
        }
    }

    fn word(&mut self, word: u32) {
        self.bytes[self.at..self.at + 4].copy_from_slice(&word.to_le_bytes());
        self.at += 4;
    }

    fn words(&mut self, words: &[u32]) {
        let bytes = &mut self.bytes[self.at..][..4 * words.len()];
        for (bytes, word) in bytes.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        self.at += 4 * words.len();
    }

    fn rows(&mut self, rows: &[u32], mask: u64, all_lanes: u64) {
        let width = all_lanes.count_ones() as usize;
        self.byte((rows.len() / width) as u8);
        rows.chunks_exact(width).for_each(|row| self.row(row, mask));
    }

    fn row(&mut self, row: &[u32], mask: u64) {
        match Row::of(row, mask) {
            Row::Words => {
                self.byte(0);
                if mask.count_ones() as usize == row.len() {
                    self.words(row);
                } else {
                    lanes(mask).for_each(|lane| self.word(row[lane]));
                }
            }
            Row::Uniform(value) => {
                self.byte(1);
                self.word(value);
            }
            Row::Steps { first, step } => {
                self.byte(2);
                self.word(first);
                self.word(step);
            }
        }
    }
}

/// Writes a number of more than one byte; gives the place behind it.
fn put_long(bytes: &mut [u8], mut at: usize, mut value: u64) -> usize {
    while value >= 0x80 {
        bytes[at] = value as u8 | 0x80;
        (value, at) = (value >> 7, at + 1);
    }
    bytes[at] = value as u8;
    at + 1
}

/// Appends the record of which these are the fields, and which retires so many cycles after the record before it.
pub fn put_record(out: &mut Vec<u8>, later: Cycle, fields: &[u8]) {
    frame_of(out, frame::RECORD, |out| {
        put(out, later);
        out.extend_from_slice(fields);
    });
}

/// Appends the fields of a record of waves with these lanes, all but the first: that depends on the record before it.
pub fn put_fields(out: &mut Vec<u8>, record: &Record, all_lanes: u64) {
    let Record { values, addresses, strides, sent, stalls, .. } = record;
    // A byte more for the form of each row, and one for their number.
    let rows: usize = [values, addresses, strides, sent].into_iter().map(|rows| 2 + 5 * rows.len()).sum();
    let start = out.len();
    out.resize(start + FIELDS + rows + STALL * stalls.len(), 0);
    let mut room = Room { bytes: &mut out[start..], at: 0 };
    for number in [record.core, record.slot] {
        room.put(number.into());
    }
    record.workgroup.iter().for_each(|&number| room.put(number.into()));
    room.put(record.wave.into());
    room.put(record.sequence);
    room.put(record.pc.into());
    let (ends, open) = (u8::from(record.ends) * ENDS, u8::from(record.open) * OPEN);
    room.byte(record.word_count | ends | open);
    record.words[..usize::from(record.word_count)].iter().for_each(|&word| room.word(word));
    room.put(record.active ^ all_lanes);
    room.put(record.effective ^ record.active);
    if !record.ends {
        let ahead = i64::from(record.next_pc) - i64::from(record.following_pc());
        room.put((ahead << 1 ^ ahead >> 63).cast_unsigned());
    }
    let (present, mut stages) = (room.at, 0);
    room.byte(0);
    for (stage, &at) in record.stages.iter().enumerate() {
        if at != 0 {
            stages |= 1 << stage;
            room.put(record.cycle - at);
        }
    }
    room.bytes[present] = stages;
    room.byte(record.destination as u8);
    if record.destination != DestinationKind::None {
        room.byte(record.index);
        room.rows(values, record.effective, all_lanes);
    }
    room.byte(record.memory as u8 | if record.device { DEVICE } else { 0 });
    if record.memory != MemoryKind::None {
        room.byte(record.bytes);
        room.row(addresses, record.effective);
        if record.memory.is_tile() {
            room.row(strides, record.effective);
        }
        room.rows(sent, record.effective, all_lanes);
    }
    room.put(stalls.len() as u64);
    for stall in stalls {
        room.byte(stall.reason as u8);
        room.put(record.cycle - stall.from);
        room.put(stall.to - stall.from);
    }
    let end = start + room.at;
    out.truncate(end);
}

/// What is wrong with a payload, in words.
pub type Malformed = String;

/// A payload that is being read.
struct Payload<'a> {
    bytes: &'a [u8],
}

impl<'a> Payload<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.bytes.split_at_checked(n).ok_or("it is shorter than its fields")?;
        self.bytes = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        Ok(self.take(1)?[0])
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            if bits << shift >> shift != bits {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number does not fit 64 bits".into())
    }

    fn number<N: TryFrom<u64>>(&mut self, what: &str) -> Result<N, Malformed> {
        let value = self.varint()?;
        N::try_from(value).map_err(|_| format!("{what} {value} is too large"))
    }

    fn word(&mut self) -> Result<u32, Malformed> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes(bytes.try_into().expect("four bytes")))
    }

    fn hash(&mut self) -> Result<u64, Malformed> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    }

    fn text(&mut self) -> Result<String, Malformed> {
        let length = self.number("length")?;
        String::from_utf8(self.take(length)?.to_vec()).map_err(|_| "a text is not UTF-8".into())
    }

    fn three(&mut self) -> Result<[u32; 3], Malformed> {
        Ok([self.number("size")?, self.number("size")?, self.number("size")?])
    }

    fn words(&mut self, n: usize) -> Result<Vec<u32>, Malformed> {
        let bytes = self.take(n.checked_mul(4).ok_or("too many words")?)?;
        Ok(bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("four bytes"))).collect())
    }

    fn row(&mut self, rows: &mut Vec<u32>, width: usize, mask: u64) -> Result<(), Malformed> {
        match self.byte()? {
            0 => {
                let bytes = self.take(4 * mask.count_ones() as usize)?;
                let words = bytes.chunks_exact(4);
                let mut values = words.map(|b| u32::from_le_bytes(b.try_into().expect("four bytes")));
                push_values(rows, width, mask, &mut values).expect("a word a lane");
            }
            1 => {
                let value = self.word()?;
                push_form(rows, width, mask, value, 0);
            }
            2 => {
                let (first, step) = (self.word()?, self.word()?);
                push_form(rows, width, mask, first, step);
            }
            form => return Err(format!("a row has the form {form}, and there are 0 to 2")),
        }
        Ok(())
    }

    fn rows(&mut self, rows: &mut Vec<u32>, width: usize, mask: u64) -> Result<(), Malformed> {
        for _ in 0..self.byte()? {
            self.row(rows, width, mask)?;
        }
        Ok(())
    }

    fn end(self) -> Result<(), Malformed> {
        match self.bytes.len() {
            0 => Ok(()),
            n => Err(format!("it is {n} bytes longer than its fields")),
        }
    }
}

/// Reads the payload of a header.
///
/// # Errors
/// What is wrong with it.
pub fn header(bytes: &[u8]) -> Result<Header, Malformed> {
    let mut p = Payload { bytes };
    let wave_width = p.number("wave_width")?;
    if !(1..=64).contains(&wave_width) {
        return Err(format!("wave_width is {wave_width}, and a wave has 1 to 64 lanes"));
    }
    let reports = p.byte()?;
    let reports = Reports::from_bits(reports).ok_or_else(|| format!("reports {reports:#x} means nothing"))?;
    let (config, config_hash, producer) = (p.text()?, p.hash()?, p.text()?);
    p.end()?;
    Ok(Header { wave_width, config, config_hash, producer, reports })
}

/// Reads the payload of a launch.
///
/// # Errors
/// What is wrong with it.
pub fn launch(bytes: &[u8]) -> Result<Launched, Malformed> {
    let mut p = Payload { bytes };
    let (kernel, kernel_hash) = (p.text()?, p.hash()?);
    let (grid, workgroup) = (p.three()?, p.three()?);
    let (registers, local_memory) = (p.number("registers")?, p.number("local_memory")?);
    let (start, base) = (p.varint()?, p.number("base")?);
    let mut arguments = Vec::new();
    for _ in 0..p.varint()? {
        arguments.push((p.byte()?, p.word()?));
    }
    let words = p.number("code")?;
    let code = p.words(words)?;
    p.end()?;
    Ok(Launched {
        kernel,
        kernel_hash,
        grid,
        workgroup,
        registers,
        local_memory,
        start,
        base,
        arguments,
        code,
    })
}

/// Reads the payload of the end.
///
/// # Errors
/// What is wrong with it.
pub fn end(bytes: &[u8]) -> Result<End, Malformed> {
    let mut p = Payload { bytes };
    let how = p.byte()?;
    let how = How::from_code(how).ok_or_else(|| format!("a run cannot end in way {how}"))?;
    let (cycle, records, message) = (p.varint()?, p.varint()?, p.text()?);
    p.end()?;
    Ok(End { how, cycle, records, message })
}

/// Reads the payload of a record into `record`, which is clear.
///
/// # Errors
/// What is wrong with it.
pub fn record(bytes: &[u8], all_lanes: u64, before: Cycle, record: &mut Record) -> Result<(), Malformed> {
    let mut p = Payload { bytes };
    record.cycle = before.checked_add(p.varint()?).ok_or("its cycle does not fit 64 bits")?;
    fields(p.bytes, all_lanes, record)
}

/// Reads what [`put_fields`] has written into `record`, which is clear but for its cycle.
///
/// # Errors
/// What is wrong with it.
pub fn fields(bytes: &[u8], all_lanes: u64, record: &mut Record) -> Result<(), Malformed> {
    let mut p = Payload { bytes };
    let width = all_lanes.count_ones() as usize;
    record.core = p.number("core")?;
    record.slot = p.number("slot")?;
    record.workgroup = p.three()?;
    record.wave = p.number("wave")?;
    record.sequence = p.varint()?;
    record.pc = p.number("pc")?;
    let flags = p.byte()?;
    record.word_count = flags & 3;
    (record.ends, record.open) = (flags & ENDS != 0, flags & OPEN != 0);
    if record.word_count == 3 || flags >> 4 != 0 {
        return Err(format!("flags {flags:#x} mean nothing"));
    }
    for word in 0..usize::from(record.word_count) {
        record.words[word] = p.word()?;
    }
    record.active = p.varint()? ^ all_lanes;
    record.effective = p.varint()? ^ record.active;
    if (record.active | record.effective) & !all_lanes != 0 {
        return Err(format!("a mask has lanes past the {width} of a wave"));
    }
    if !record.ends {
        let zigzag = p.varint()?;
        let ahead = (zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed();
        let next = i64::from(record.following_pc()).checked_add(ahead).and_then(|n| u32::try_from(n).ok());
        record.next_pc = next.ok_or("next_pc does not fit 32 bits")?;
    }
    let stages = p.byte()?;
    if stages >> StageField::COUNT != 0 {
        return Err(format!("stages {stages:#x} mean nothing"));
    }
    for (stage, at) in record.stages.iter_mut().enumerate() {
        if stages >> stage & 1 != 0 {
            *at = record.cycle.checked_sub(p.varint()?).ok_or("a stage lies before cycle 0")?;
        }
    }
    let kind = p.byte()?;
    record.destination =
        DestinationKind::from_code(kind).ok_or_else(|| format!("destination {kind} means nothing"))?;
    if record.destination != DestinationKind::None {
        record.index = p.byte()?;
        p.rows(&mut record.values, width, record.effective)?;
    }
    let kind = p.byte()?;
    record.device = kind & DEVICE != 0;
    record.memory =
        MemoryKind::from_code(kind & !DEVICE).ok_or_else(|| format!("memory {kind:#x} means nothing"))?;
    if record.memory != MemoryKind::None {
        record.bytes = p.byte()?;
        p.row(&mut record.addresses, width, record.effective)?;
        if record.memory.is_tile() {
            p.row(&mut record.strides, width, record.effective)?;
        }
        p.rows(&mut record.sent, width, record.effective)?;
    }
    for _ in 0..p.varint()? {
        let reason = p.byte()?;
        let reason = StallReason::from_code(reason).ok_or_else(|| format!("stall {reason} means nothing"))?;
        let from = record.cycle.checked_sub(p.varint()?).ok_or("a stall begins before cycle 0")?;
        let to = from.checked_add(p.varint()?).ok_or("a stall ends past 64 bits")?;
        record.stalls.push(Stall { reason, from, to });
    }
    p.end()
}
