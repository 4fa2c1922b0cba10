//! Reading the binary form.

use super::{DEVICE, ENDS, OPEN};
use crate::trace::record::{
    DestinationKind, End, Header, How, Launched, MemoryKind, Record, Reports, STAGES, Stall, Wait,
};
use crate::trace::rows::{push_form, push_values};
use wave_machine::clock::Cycle;

/// Describes what is wrong with a payload.
pub(crate) type Malformed = String;

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
/// A description of what is wrong with it.
pub(crate) fn header(bytes: &[u8]) -> Result<Header, Malformed> {
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
/// A description of what is wrong with it.
pub(crate) fn launch(bytes: &[u8]) -> Result<Launched, Malformed> {
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
/// A description of what is wrong with it.
pub(crate) fn end(bytes: &[u8]) -> Result<End, Malformed> {
    let mut p = Payload { bytes };
    let how = p.byte()?;
    let how = How::from_code(how).ok_or_else(|| format!("a run cannot end in way {how}"))?;
    let (cycle, records, message) = (p.varint()?, p.varint()?, p.text()?);
    p.end()?;
    Ok(End { how, cycle, records, message })
}

/// Reads the payload of a record into `record`, which must be clear.
///
/// # Errors
/// A description of what is wrong with it.
pub(crate) fn record(
    bytes: &[u8],
    all_lanes: u64,
    before: Cycle,
    record: &mut Record,
) -> Result<(), Malformed> {
    let mut p = Payload { bytes };
    record.cycle = before.checked_add(p.varint()?).ok_or("its cycle does not fit 64 bits")?;
    fields(p.bytes, all_lanes, record)
}

/// Reads what [`put_fields`](super::put_fields) has written into `record`, which must be clear but for its
/// cycle.
///
/// # Errors
/// A description of what is wrong with it.
pub(crate) fn fields(bytes: &[u8], all_lanes: u64, record: &mut Record) -> Result<(), Malformed> {
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
    if stages >> STAGES.len() != 0 {
        return Err(format!("stages {stages:#x} mean nothing"));
    }
    for (stage, at) in record.stages.0.iter_mut().enumerate() {
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
        let reason = Wait::from_code(reason).ok_or_else(|| format!("stall {reason} means nothing"))?;
        let from = record.cycle.checked_sub(p.varint()?).ok_or("a stall begins before cycle 0")?;
        let to = from.checked_add(p.varint()?).ok_or("a stall ends past 64 bits")?;
        record.stalls.push(Stall { reason, from, to });
    }
    p.end()
}
