//! The coalescer: a wave's lane addresses become accesses to lines.

use super::lanes_of;
use super::pattern::Side;
use crate::isa::table::{AccessKind, AtomicOp, MemoryOp};
use crate::memory::message::MAX_LINE_BYTES;
use std::ops::Range;

/// One L1 access of a wave instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineAccess {
    /// Address of the line's first byte.
    pub address: u32,
    /// Lanes with at least one byte in the line.
    pub lanes: u64,
    /// Sectors touched.
    pub sectors: u8,
}

/// Fills `lines` with the accesses of an instruction, in the order in which the lanes first touch them.
///
/// Loads and stores touch each line once. An atomic packet holds one operation a word, so lanes that hit
/// one word go into successive packets, in lane order; a compare-and-swap packet holds one lane.
pub fn lines_of(
    memory: MemoryOp,
    mask: u64,
    addresses: &[u32],
    line_bytes: u32,
    sector_bytes: u32,
    lines: &mut Vec<LineAccess>,
) {
    lines.clear();
    let (line_mask, bytes) = (line_bytes - 1, u32::from(memory.bytes));
    let sector_shift = sector_bytes.trailing_zeros();
    if let AccessKind::Atomic(op) = memory.kind {
        return packets_of(op, mask, addresses, line_mask, sector_shift, lines);
    }
    // Neighbours usually share a line: the last one found is tried first.
    let mut last = 0;
    for lane in lanes_of(mask) {
        let (start, end) = (addresses[lane], addresses[lane] + (bytes - 1));
        let mut from = start;
        loop {
            let line = from & !line_mask;
            let to = end.min(line | line_mask);
            let sectors = sectors_between(from & line_mask, to & line_mask, sector_shift);
            match lines.get_mut(last) {
                Some(access) if access.address == line => {
                    access.lanes |= 1 << lane;
                    access.sectors |= sectors;
                }
                _ => {
                    last = lines.iter().position(|l| l.address == line).unwrap_or_else(|| {
                        lines.push(LineAccess { address: line, lanes: 0, sectors: 0 });
                        lines.len() - 1
                    });
                    lines[last].lanes |= 1 << lane;
                    lines[last].sectors |= sectors;
                }
            }
            if to == end {
                break;
            }
            from = to + 1;
        }
    }
}

/// [`lines_of`] a load or store of aligned values side by side, one a lane, of so many bytes each, lane 0's at `first`.
pub fn lines_of_row(
    first: u32,
    bytes: u32,
    lanes: usize,
    line_bytes: u32,
    sector_bytes: u32,
    lines: &mut Vec<LineAccess>,
) {
    lines.clear();
    let (line_mask, sector_shift) = (line_bytes - 1, sector_bytes.trailing_zeros());
    let shift = bytes.trailing_zeros();
    let mut lane = 0;
    while lane < lanes {
        let start = first + (lane << shift) as u32;
        let inside = start & line_mask;
        let here = ((line_bytes - inside) as usize >> shift).min(lanes - lane);
        let sectors = sectors_between(inside, inside + (here << shift) as u32 - 1, sector_shift);
        lines.push(LineAccess {
            address: start & !line_mask,
            lanes: u64::MAX >> (64 - here) << lane,
            sectors,
        });
        lane += here;
    }
}

fn packets_of(
    op: AtomicOp,
    mask: u64,
    addresses: &[u32],
    line_mask: u32,
    sector_shift: u32,
    lines: &mut Vec<LineAccess>,
) {
    for lane in lanes_of(mask) {
        let address = addresses[lane];
        let line = address & !line_mask;
        // The words of a line fill its packets from the first on, so the first without this word is
        // behind every packet that has it.
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
        lines[packet].sectors |= sectors_between(address & line_mask, address & line_mask, sector_shift);
    }
}

/// Sectors that the bytes `from..=to` of a line touch.
fn sectors_between(from: u32, to: u32, sector_shift: u32) -> u8 {
    let (first, last) = (from >> sector_shift, to >> sector_shift);
    ((1u32 << (last + 1)) - (1 << first)) as u8
}

/// What a store or an atomic sends along.
#[derive(Debug, Clone)]
pub struct Payload {
    /// Bytes of the line that it writes or combines with.
    pub byte_mask: u128,
    /// The line's bytes; those outside the mask mean nothing.
    pub data: [u8; MAX_LINE_BYTES],
    /// Third operand of a compare-and-swap.
    pub swap: u32,
}

impl Default for Payload {
    fn default() -> Payload {
        Payload { byte_mask: 0, data: [0; MAX_LINE_BYTES], swap: 0 }
    }
}

/// Gathers the bytes of one access from the data rows behind the address row of `inputs`. Where lanes
/// overlap, the highest wins. What `payload` had before is gone.
pub fn payload(
    memory: MemoryOp,
    line: &LineAccess,
    line_bytes: u32,
    inputs: &[u32],
    width: usize,
    payload: &mut Payload,
) {
    payload.byte_mask = 0;
    let (addresses, values) = inputs.split_at(width);
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

/// The lanes of an access to values side by side, lane 0's at `first`, and where in the line the first of them is.
fn side_in(first: u32, words: usize, line: &LineAccess, width: usize) -> (Side, usize) {
    let start = line.lanes.trailing_zeros();
    let count = (!(line.lanes >> start)).trailing_zeros();
    let offset = first + 4 * words as u32 * start - line.address;
    (Side { words, width, lanes: start as usize..(start + count) as usize }, offset as usize)
}

/// [`payload`] of a store of values side by side, of so many words, lane 0's at `first`. `values` are rows of `width` lanes.
pub fn payload_of_row(
    first: u32,
    words: usize,
    line: &LineAccess,
    values: &[u32],
    width: usize,
    payload: &mut Payload,
) {
    let (side, offset) = side_in(first, words, line, width);
    let bytes = 4 * words * side.lanes.len();
    payload.byte_mask = u128::MAX >> (128 - bytes) << offset;
    side.copy_to(values, &mut payload.data[offset..][..bytes]);
}

/// [`take_line`] of a load of values side by side, of so many words, lane 0's at `first`.
pub fn take_row(first: u32, words: usize, line: &LineAccess, data: &[u8], outputs: &mut [u32], width: usize) {
    let (side, offset) = side_in(first, words, line, width);
    side.copy_from(&data[offset..], outputs);
}

/// Gives the lanes of one access their bytes of the line: `outputs` are rows of `width` lanes, of which
/// narrow loads fill the low bytes and clear the rest.
pub fn take_line(
    memory: MemoryOp,
    line: &LineAccess,
    line_bytes: u32,
    data: &[u8],
    addresses: &[u32],
    outputs: &mut [u32],
    width: usize,
) {
    let bytes = usize::from(memory.bytes);
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
        // A lane whose bytes lie in two lines gets them one line at a time.
        let mut value = lane_bytes(outputs, lane, width);
        value[part.bytes.clone()].copy_from_slice(source);
        value[bytes..].fill(0);
        set_lane_bytes(outputs, lane, width, bytes, &value);
    }
}

/// Where in a line a lane's bytes are, if all of them are in it: nearly always.
#[inline]
fn offset_inside(address: u32, bytes: usize, line: u32, line_bytes: u32) -> Option<usize> {
    let offset = address.wrapping_sub(line) as usize;
    (offset <= line_bytes as usize - bytes).then_some(offset)
}

/// The part of a lane's bytes that lies in one line.
struct Part {
    /// Which of the lane's bytes.
    bytes: Range<usize>,
    /// Where in the line the first of them is.
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
pub fn lane_bytes(rows: &[u32], lane: usize, width: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (chunk, word) in bytes.chunks_exact_mut(4).zip(rows[lane..].iter().step_by(width)) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// Puts a lane's little-endian bytes into its value rows.
pub fn set_lane_bytes(rows: &mut [u32], lane: usize, width: usize, bytes: usize, value: &[u8; 16]) {
    let words = value.chunks_exact(4).take(bytes.div_ceil(4));
    for (chunk, word) in words.zip(rows[lane..].iter_mut().step_by(width)) {
        *word = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Op;

    fn lines(op: Op, mask: u64, addresses: &[u32]) -> Vec<LineAccess> {
        let mut lines = Vec::new();
        lines_of(op.memory().unwrap(), mask, addresses, 128, 32, &mut lines);
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
        // Its bytes come back in two parts and in order.
        let (mut outputs, memory) = ([0u32; 2], Op::DeviceLoadU64.memory().unwrap());
        let mut data = [0; 128];
        data[124..].copy_from_slice(&[1, 2, 3, 4]);
        take_line(memory, &parts[0], 128, &data, &[0x10FC], &mut outputs, 1);
        data[..4].copy_from_slice(&[5, 6, 7, 8]);
        take_line(memory, &parts[1], 128, &data, &[0x10FC], &mut outputs, 1);
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
    fn values_side_by_side_are_treated_as_their_lanes_are() {
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
            for (first, line_bytes) in starts.into_iter().filter(|(first, _)| first % bytes == 0) {
                let mut inputs: Vec<u32> = (0..32).map(|lane| first + bytes * lane).collect();
                inputs.extend((0..32 * words as u32).map(|i| 0x0101_0203 * i));
                let (mut lane_by_lane, mut as_row) = (Vec::new(), Vec::new());
                lines_of(store, u64::from(u32::MAX), &inputs[..32], line_bytes, 16, &mut lane_by_lane);
                lines_of_row(first, bytes, 32, line_bytes, 16, &mut as_row);
                assert_eq!(as_row, lane_by_lane);
                let mut data = [0; MAX_LINE_BYTES];
                data.iter_mut().zip(1..).for_each(|(byte, i)| *byte = i);
                let (mut expected, mut other) = (vec![0; 128], vec![0; 128]);
                for line in &as_row {
                    let (mut a, mut b) = (Payload::default(), Payload::default());
                    payload(store, line, line_bytes, &inputs, 32, &mut a);
                    payload_of_row(first, words, line, &inputs[32..], 32, &mut b);
                    assert_eq!((a.byte_mask, a.data), (b.byte_mask, b.data));
                    take_line(load, line, line_bytes, &data, &inputs, &mut expected, 32);
                    take_row(first, words, line, &data, &mut other, 32);
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
        payload(memory, &line, 128, &[0x81, 0x82, 0xAABB, 0xCCDD], 2, &mut found);
        assert_eq!(found.byte_mask, 0b1110);
        assert_eq!(found.data[..5], [0, 0xBB, 0xDD, 0xCC, 0]);
    }
}
