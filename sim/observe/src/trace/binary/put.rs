//! Writing the binary form.

use super::{DEVICE, ENDS, MAGIC, MAX_PAYLOAD, MAX_VARINT, OPEN, frame};
use crate::trace::VERSION;
use crate::trace::record::{DestinationKind, End, Header, Launched, MemoryKind, Record};
use crate::trace::rows::{Row, lanes};
use wave_machine::clock::Cycle;

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

/// Appends a number as a varint (LEB128).
pub(crate) fn put(out: &mut Vec<u8>, value: impl Into<u64>) {
    let value: u64 = value.into();
    if value < 0x80 {
        // The usual case.
        return out.push(value as u8);
    }
    let mut bytes = [0; MAX_VARINT];
    let end = put_long(&mut bytes, 0, value);
    out.extend_from_slice(&bytes[..end]);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend(text.bytes());
}

/// Appends the magic, the version and the header.
pub(crate) fn put_header(out: &mut Vec<u8>, header: &Header) {
    out.extend(MAGIC);
    out.extend(VERSION.to_le_bytes());
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
pub(crate) fn put_launch(out: &mut Vec<u8>, launch: &Launched) {
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
        launch.code.iter().for_each(|word| out.extend(word.to_le_bytes()));
    });
}

/// Appends the end.
pub(crate) fn put_end(out: &mut Vec<u8>, end: &End) {
    frame_of(out, frame::END, |out| {
        out.push(end.how as u8);
        put(out, end.cycle);
        put(out, end.records);
        put_text(out, &end.message);
    });
}

/// Most bytes of a record's fields without its rows and stalls: 18 numbers of at most ten bytes, two code
/// words, eight bytes.
const FIELDS: usize = 18 * MAX_VARINT + 2 * 4 + 8;
/// Most bytes of a stall.
const STALL: usize = 1 + 2 * MAX_VARINT;

/// A buffer that is filled from its beginning. The caller has made it large enough.
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
            // The usual case.
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

/// Writes a number that takes more than one byte. Returns the index behind it.
fn put_long(bytes: &mut [u8], mut at: usize, mut value: u64) -> usize {
    while value >= 0x80 {
        bytes[at] = value as u8 | 0x80;
        (value, at) = (value >> 7, at + 1);
    }
    bytes[at] = value as u8;
    at + 1
}

/// Appends a record with these fields, which retires `later` cycles after the record before it.
pub(crate) fn put_record(out: &mut Vec<u8>, later: Cycle, fields: &[u8]) {
    frame_of(out, frame::RECORD, |out| {
        put(out, later);
        out.extend_from_slice(fields);
    });
}

/// Appends the fields of a record, for waves with these lanes. The first field is left out: it depends on the
/// previous record.
pub(crate) fn put_fields(out: &mut Vec<u8>, record: &Record, all_lanes: u64) {
    let Record { values, addresses, strides, sent, stalls, .. } = record;
    // Each row takes a byte more for its form, and their number a byte.
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
    for (stage, &at) in record.stages.0.iter().enumerate() {
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
