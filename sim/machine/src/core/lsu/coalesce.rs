//! The coalescer turns a wave's lane addresses into accesses to lines.

use super::pattern::{Pattern, Run, Side, copy_lanes, lanes_from};
use crate::core::slot::lanes_of;
use crate::memory::geometry::line_hash;
use crate::memory::message::MAX_LINE_BYTES;
use std::ops::Range;
use wave_capture::Capture;
use wave_isa::table::{AccessKind, AtomicOp, MemoryOp};

/// One L1 access of a wave instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub(crate) struct LineAccess {
    /// Address of the line's first byte.
    pub address: u32,
    /// Lanes with at least one byte in the line.
    pub lanes: u64,
    /// Sectors touched. None of an atomic packet: its bytes say what it touches.
    pub sectors: u8,
}

/// Fills `lines` with the L1 accesses of an instruction, in the order in which the lanes first touch them
/// (L4).
///
/// A load or store accesses each line once. An atomic packet holds at most one operation a word: lanes on one
/// word go into successive packets, in lane order. A compare-and-swap packet holds one lane (L5).
pub(crate) fn lines_of(
    memory: MemoryOp,
    mask: u64,
    addresses: &[u32],
    pattern: Pattern,
    (line_bytes, sector_bytes): (u32, u32),
    lines: &mut Vec<LineAccess>,
) {
    lines.clear();
    let (line_mask, bytes) = (line_bytes - 1, u32::from(memory.bytes));
    if let AccessKind::Atomic(op) = memory.kind {
        return packets_of(op, mask, addresses, line_mask, lines);
    }
    let sector_shift = sector_bytes.trailing_zeros();
    let mut lines = Lines { lines, last: 0, places: [0; 64] };
    let mut rest = mask;
    while rest != 0 {
        let lane = rest.trailing_zeros() as usize;
        // An unaligned value may cross a line, so its lane is processed alone.
        let run = if pattern.aligned { pattern.run(lane) } else { Run { lanes: 1, same: false } };
        rest &= !lanes_from(lane, run.lanes);
        let inside = addresses[lane] & line_mask;
        if run.lanes == 1 && inside + bytes <= line_bytes {
            let line = addresses[lane] - inside;
            lines.add(line, 1 << lane, sectors_between(inside, inside + bytes - 1, sector_shift));
            continue;
        }
        let (mut lane, after, mut from) = (lane, lane + run.lanes, addresses[lane]);
        let end = from + (if run.same { bytes } else { bytes * run.lanes as u32 } - 1);
        loop {
            let line = from & !line_mask;
            let to = end.min(line | line_mask);
            let whole = if run.same { run.lanes } else { ((to - from + 1) / bytes).max(1) as usize };
            let lanes = lanes_from(lane, whole);
            lines.add(line, lanes, sectors_between(from & line_mask, to & line_mask, sector_shift));
            if to == end {
                break;
            }
            from = to + 1;
            lane = (lane + whole).min(after - 1);
        }
    }
}

/// The lines found so far.
struct Lines<'a> {
    lines: &'a mut Vec<LineAccess>,
    /// Index of the last line found. It is tried first, because neighbouring lanes usually share a line.
    last: usize,
    /// Indexed by the hash of a line's address: 1 + index of the first line with that hash, or 0.
    places: [u8; 64],
}

impl Lines<'_> {
    #[inline]
    fn add(&mut self, line: u32, lanes: u64, sectors: u8) {
        if self.lines.get(self.last).is_none_or(|access| access.address != line) {
            let place = &mut self.places[line_hash(line, 6)];
            let known = match *place {
                0 => None,
                place if self.lines[usize::from(place) - 1].address == line => Some(usize::from(place) - 1),
                _ => self.lines.iter().position(|access| access.address == line),
            };
            self.last = known.unwrap_or_else(|| {
                self.lines.push(LineAccess { address: line, lanes: 0, sectors: 0 });
                if *place == 0 {
                    *place = self.lines.len() as u8;
                }
                self.lines.len() - 1
            });
        }
        let access = &mut self.lines[self.last];
        access.lanes |= lanes;
        access.sectors |= sectors;
    }
}

fn packets_of(op: AtomicOp, mask: u64, addresses: &[u32], line_mask: u32, lines: &mut Vec<LineAccess>) {
    for lane in lanes_of(mask) {
        let address = addresses[lane];
        let line = address & !line_mask;
        // A line's packets are filled from the first on, so the first packet without this word is behind all
        // those that have it.
        let free = lines.iter().position(|packet| {
            packet.address == line
                && op != AtomicOp::Cas
                && lanes_of(packet.lanes).all(|other| addresses[other] != address)
        });
        let packet = free.unwrap_or_else(|| {
            lines.push(LineAccess { address: line, lanes: 0, sectors: 0 });
            lines.len() - 1
        });
        lines[packet].lanes |= 1 << lane;
    }
}

/// Sectors that the bytes `from..=to` of a line touch.
pub(crate) fn sectors_between(from: u32, to: u32, sector_shift: u32) -> u8 {
    let (first, last) = (from >> sector_shift, to >> sector_shift);
    ((1u32 << (last + 1)) - (1 << first)) as u8
}

/// The data that a store or an atomic sends.
#[derive(Debug, Clone, Capture)]
pub(crate) struct Payload {
    /// Bytes of the line that it writes or combines with.
    pub byte_mask: u128,
    /// The line's bytes; those outside of the mask are meaningless.
    pub data: [u8; MAX_LINE_BYTES],
    /// Third operand of a compare-and-swap.
    pub swap: u32,
}

impl Default for Payload {
    fn default() -> Payload {
        Payload { byte_mask: 0, data: [0; MAX_LINE_BYTES], swap: 0 }
    }
}

/// Gathers the bytes of one access from the data rows, which follow the address row in `inputs`. Where lanes
/// overlap, the highest wins. Overwrites `payload`.
#[allow(clippy::too_many_arguments)]
pub(crate) fn payload(
    memory: MemoryOp,
    line: &LineAccess,
    line_bytes: u32,
    inputs: &[u32],
    pattern: Pattern,
    width: usize,
    payload: &mut Payload,
) {
    payload.byte_mask = 0;
    let (addresses, values) = inputs.split_at(width);
    if pattern.aligned && memory.bytes >= 4 && memory.kind == AccessKind::Store {
        let words = usize::from(memory.bytes) / 4;
        let mut rest = line.lanes;
        if words == 1 && rest & (rest - 1) == 0 {
            // A single word, as for the columns of a matrix.
            let lane = rest.trailing_zeros() as usize;
            let offset = (addresses[lane] - line.address) as usize;
            payload.data[offset..][..4].copy_from_slice(&values[lane].to_le_bytes());
            payload.byte_mask = 0xF << offset;
            return;
        }
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            let run = pattern.run(lane);
            let here = if run.same { 1 } else { run.lanes.min((rest >> lane).trailing_ones() as usize) };
            rest &= !lanes_from(lane, here);
            let (offset, bytes) = ((addresses[lane] - line.address) as usize, 4 * words * here);
            let side = Side { words, width, lanes: lane..lane + here };
            side.copy_to(values, &mut payload.data[offset..][..bytes]);
            payload.byte_mask |= u128::MAX >> (128 - bytes) << offset;
        }
        return;
    }
    for lane in lanes_of(line.lanes) {
        if let (Some(offset), 4) = (offset_inside(addresses[lane], 4, line.address, line_bytes), memory.bytes)
            && memory.kind == AccessKind::Store
        {
            payload.data[offset..][..4].copy_from_slice(&values[lane].to_le_bytes());
            payload.byte_mask |= 0xF << offset;
            continue;
        }
        let part = Part::new(addresses[lane], usize::from(memory.bytes), line.address, line_bytes);
        let value = lane_bytes(values, lane, width);
        payload.data[part.offset..][..part.bytes.len()].copy_from_slice(&value[part.bytes.clone()]);
        payload.byte_mask |= (u128::MAX >> (128 - part.bytes.len())) << part.offset;
        if memory.kind == AccessKind::Atomic(AtomicOp::Cas) {
            payload.swap = values[width + lane];
        }
    }
}

/// Bytes of the line that the lanes of one access touch.
pub(crate) fn bytes_of(
    memory: MemoryOp,
    line: &LineAccess,
    line_bytes: u32,
    addresses: &[u32],
    pattern: Pattern,
) -> u128 {
    let (mut mask, mut rest) = (0, line.lanes);
    while rest != 0 {
        let lane = rest.trailing_zeros() as usize;
        let mut part = Part::new(addresses[lane], usize::from(memory.bytes), line.address, line_bytes);
        let mut lanes = 1;
        if pattern.aligned && pattern.joined >> lane >> 1 & 1 != 0 {
            lanes = pattern.run(lane).lanes.min((rest >> lane).trailing_ones() as usize);
            part.bytes.end = lanes * usize::from(memory.bytes);
        }
        rest &= !lanes_from(lane, lanes);
        mask |= (u128::MAX >> (128 - part.bytes.len())) << part.offset;
    }
    mask
}

/// Gives the lanes of one access their bytes of the line. `outputs` holds rows of `width` lanes. Narrow loads
/// fill the low bytes of a word and clear the rest.
#[allow(clippy::too_many_arguments)]
pub(crate) fn take_line(
    memory: MemoryOp,
    line: &LineAccess,
    line_bytes: u32,
    data: &[u8],
    addresses: &[u32],
    pattern: Pattern,
    outputs: &mut [u32],
    width: usize,
) {
    let bytes = usize::from(memory.bytes);
    if pattern.aligned && bytes >= 4 {
        let at = |lane: usize| (addresses[lane] - line.address) as usize;
        return copy_lanes((pattern, line.lanes), bytes / 4, data, at, outputs, width);
    }
    for lane in lanes_of(line.lanes) {
        if let Some(offset) = offset_inside(addresses[lane], bytes, line.address, line_bytes)
            && bytes.is_multiple_of(4)
        {
            let (words, _) = data[offset..][..bytes].as_chunks();
            for (row, &word) in words.iter().enumerate() {
                outputs[row * width + lane] = u32::from_le_bytes(word);
            }
            continue;
        }
        let part = Part::new(addresses[lane], bytes, line.address, line_bytes);
        let source = &data[part.offset..][..part.bytes.len()];
        // A lane whose bytes cross a line gets them one line at a time.
        let mut value = lane_bytes(outputs, lane, width);
        value[part.bytes.clone()].copy_from_slice(source);
        value[bytes..].fill(0);
        set_lane_bytes(outputs, lane, width, bytes, &value);
    }
}

/// Offset of a lane's bytes in a line that holds all of them, which is the usual case.
#[inline]
fn offset_inside(address: u32, bytes: usize, line: u32, line_bytes: u32) -> Option<usize> {
    let offset = address.wrapping_sub(line) as usize;
    (offset <= line_bytes as usize - bytes).then_some(offset)
}

/// The part of a lane's bytes that lies in one line.
struct Part {
    /// Range of the lane's bytes.
    bytes: Range<usize>,
    /// Offset in the line of the first of them.
    offset: usize,
}

impl Part {
    fn new(address: u32, bytes: usize, line: u32, line_bytes: u32) -> Part {
        // A lane's first byte is at most 15 bytes before the line.
        let before = usize::from(address < line) * line.wrapping_sub(address) as usize;
        let offset = if before > 0 { 0 } else { (address - line) as usize };
        let end = (before + line_bytes as usize - offset).min(bytes);
        Part { bytes: before..end, offset }
    }
}

/// A lane's value rows as little-endian bytes.
pub(crate) fn lane_bytes(rows: &[u32], lane: usize, width: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (chunk, word) in bytes.chunks_exact_mut(4).zip(rows[lane..].iter().step_by(width)) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// Puts a lane's little-endian bytes into its value rows.
pub(crate) fn set_lane_bytes(rows: &mut [u32], lane: usize, width: usize, bytes: usize, value: &[u8; 16]) {
    let words = value.chunks_exact(4).take(bytes.div_ceil(4));
    for (chunk, word) in words.zip(rows[lane..].iter_mut().step_by(width)) {
        *word = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wave_isa::Op;

    fn lines(op: Op, mask: u64, addresses: &[u32]) -> Vec<LineAccess> {
        let mut lines = Vec::new();
        let memory = op.memory().unwrap();
        lines_of(memory, mask, addresses, Pattern::default(), (128, 32), &mut lines);
        let mut by_runs = Vec::new();
        lines_of(memory, mask, addresses, Pattern::of(memory, mask, addresses), (128, 32), &mut by_runs);
        assert_eq!(by_runs, lines);
        lines
    }

    #[test]
    fn neighbouring_words_share_a_line() {
        let addresses: Vec<u32> = (0..32).map(|i| 0x1000 + 4 * i).collect();
        let all = [LineAccess { address: 0x1000, lanes: 0xFFFF_FFFF, sectors: 0b1111 }];
        assert_eq!(lines(Op::DeviceLoadU32, 0xFFFF_FFFF, &addresses), all);
        let first = [LineAccess { address: 0x1000, lanes: 0b11, sectors: 0b0001 }];
        assert_eq!(lines(Op::DeviceLoadU32, 0b11, &addresses), first);
    }

    #[test]
    fn an_access_across_a_line_is_two() {
        let found = lines(Op::DeviceLoadU64, 1, &[0x10FC]);
        let parts = [
            LineAccess { address: 0x1080, lanes: 1, sectors: 0b1000 },
            LineAccess { address: 0x1100, lanes: 1, sectors: 0b0001 },
        ];
        assert_eq!(found, parts);
        // The bytes come back in two parts, in order.
        let (mut outputs, memory) = ([0u32; 2], Op::DeviceLoadU64.memory().unwrap());
        let mut data = [0; 128];
        data[124..].copy_from_slice(&[1, 2, 3, 4]);
        take_line(memory, &parts[0], 128, &data, &[0x10FC], Pattern::default(), &mut outputs, 1);
        data[..4].copy_from_slice(&[5, 6, 7, 8]);
        take_line(memory, &parts[1], 128, &data, &[0x10FC], Pattern::default(), &mut outputs, 1);
        assert_eq!(outputs, [0x0403_0201, 0x0807_0605]);
    }

    #[test]
    fn atomics_on_one_word_go_into_successive_packets_in_lane_order() {
        let found = lines(Op::AtomicAdd, 0b1111, &[0x100, 0x104, 0x100, 0x100]);
        assert_eq!(found.iter().map(|l| l.lanes).collect::<Vec<_>>(), [0b0011, 0b0100, 0b1000]);
        let found = lines(Op::AtomicCas, 0b11, &[0x100, 0x104]);
        assert_eq!(found.iter().map(|l| l.lanes).collect::<Vec<_>>(), [0b01, 0b10]);
    }

    #[test]
    fn runs_of_lanes_are_treated_as_their_lanes_are() {
        for (load, store, words) in [
            (Op::DeviceLoadU32, Op::DeviceStoreU32, 1),
            (Op::DeviceLoadU64, Op::DeviceStoreU64, 2),
            (Op::DeviceLoadU128, Op::DeviceStoreU128, 4),
        ] {
            let (load, store, bytes) = (load.memory().unwrap(), store.memory().unwrap(), 4 * words as u32);
            let starts = [
                (0x1000, 128),
                (0x1010, 128),
                (0x1014, 128),
                (0x107C, 128),
                (0x1044, 32),
                (0x1FF8, 64),
                (0x1FFC, 64),
            ];
            let row = |lane| lane;
            type Way = fn(u32) -> u32;
            let ways: [(Way, u64); 6] = [
                (row, 0xFFFF_FFFF),
                (row, 0xFF0F_7FFE),
                (|lane| lane % 8, 0xFFFF_FFFF),
                (|lane| lane / 8, 0xFFFF_FFFE),
                (|lane| 40 * (lane % 4) + lane / 4, 0xFFFF_FFFF),
                (|lane| 7 * lane % 32, 0xFFFF_FFFF),
            ];
            for ((first, line_bytes), (way, mask)) in
                starts.into_iter().flat_map(|s| ways.map(|way| (s, way)))
            {
                let mut inputs: Vec<u32> = (0..32).map(|lane| first + bytes * way(lane)).collect();
                inputs.extend((0..32 * words as u32).map(|i| 0x0101_0203 * i));
                let (pattern, none) = (Pattern::of(load, mask, &inputs[..32]), Pattern::default());
                let (mut lane_by_lane, mut by_runs) = (Vec::new(), Vec::new());
                lines_of(store, mask, &inputs[..32], none, (line_bytes, 16), &mut lane_by_lane);
                lines_of(store, mask, &inputs[..32], pattern, (line_bytes, 16), &mut by_runs);
                assert_eq!(by_runs, lane_by_lane);
                let mut data = [0; MAX_LINE_BYTES];
                data.iter_mut().zip(1..).for_each(|(byte, i)| *byte = i);
                let (mut expected, mut other) = (vec![0; 128], vec![0; 128]);
                for line in &by_runs {
                    let (mut a, mut b) = (Payload::default(), Payload::default());
                    payload(store, line, line_bytes, &inputs, none, 32, &mut a);
                    payload(store, line, line_bytes, &inputs, pattern, 32, &mut b);
                    assert_eq!((a.byte_mask, a.data), (b.byte_mask, b.data));
                    take_line(load, line, line_bytes, &data, &inputs, none, &mut expected, 32);
                    take_line(load, line, line_bytes, &data, &inputs, pattern, &mut other, 32);
                }
                assert_eq!(other, expected);
            }
        }
    }

    #[test]
    fn the_highest_lane_wins_where_a_store_overlaps_itself() {
        let memory = Op::DeviceStoreU16.memory().unwrap();
        let line = LineAccess { address: 0x80, lanes: 0b11, sectors: 1 };
        let mut found = Payload::default();
        payload(memory, &line, 128, &[0x81, 0x82, 0xAABB, 0xCCDD], Pattern::default(), 2, &mut found);
        assert_eq!(found.byte_mask, 0b1110);
        assert_eq!(found.data[..5], [0, 0xBB, 0xDD, 0xCC, 0]);
    }
}
