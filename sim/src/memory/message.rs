//! What travels between a core and the memory side.

use super::geometry::LineGeometry;
use crate::isa::table::{AtomicOp, CacheHint};

/// The longest line that a configuration may have, bytes; messages carry a whole line inline.
pub const MAX_LINE_BYTES: usize = 128;

/// Bytes that a packet has beside its payload: kind, address, masks and tag.
pub const HEADER_BYTES: u32 = 8;

/// Bit of a line address that selects the code space: the program's code bytes, read-only, from offset 0.
pub const CODE_SPACE: u64 = 1 << 32;

/// The bytes of a line; a line shorter than [`MAX_LINE_BYTES`] uses the first ones.
pub type LineData = [u8; MAX_LINE_BYTES];

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// Some sectors of the line.
    Read,
    /// Bytes into the line.
    Write,
    /// A read-modify-write of 32-bit words, at most one operation a word.
    Atomic(AtomicOp),
    /// Everything that is dirty in the slice to memory; the line says which slice.
    Release,
}

/// What a write or an atomic brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Values {
    /// Bytes written, or bytes of the words that an atomic touches.
    pub byte_mask: u128,
    /// Values to write, or operands in the place of their words.
    pub data: LineData,
    /// Second operand of a compare-and-swap, which has one word only.
    pub swap: u32,
}

/// From a core to the memory side.
#[derive(Debug, Clone)]
pub struct Request {
    /// The core that asks; its port fills this in.
    pub core: u16,
    /// Returned with the reply, otherwise opaque.
    pub tag: u32,
    /// What it asks for.
    pub kind: RequestKind,
    /// What the caches are asked to do.
    pub hint: CacheHint,
    /// Byte address of the line, with [`CODE_SPACE`] or without.
    pub line: u64,
    /// Sectors wanted (read) or touched (write, atomic), bit i for sector i.
    pub sectors: u8,
    /// Of a write or an atomic. Apart, as most requests read, and all of them move from queue to queue.
    pub values: Option<Box<Values>>,
}

impl Request {
    /// A read of some sectors.
    pub fn read(tag: u32, line: u64, sectors: u8, hint: CacheHint) -> Request {
        Request { core: 0, tag, kind: RequestKind::Read, hint, line, sectors, values: None }
    }

    /// A release of the slice that a line belongs to.
    pub fn release(line: u64) -> Request {
        Request { kind: RequestKind::Release, ..Request::read(0, line, 0, CacheHint::Cached) }
    }

    /// A write of the bytes in `byte_mask`.
    pub fn write(
        tag: u32,
        line: u64,
        byte_mask: u128,
        data: &LineData,
        hint: CacheHint,
        geometry: LineGeometry,
    ) -> Request {
        let sectors = geometry.sectors_of(byte_mask);
        let values = Some(Box::new(Values { byte_mask, data: *data, swap: 0 }));
        Request { kind: RequestKind::Write, values, ..Request::read(tag, line, sectors, hint) }
    }

    /// An atomic on the words in `byte_mask`.
    pub fn atomic(
        tag: u32,
        line: u64,
        op: AtomicOp,
        byte_mask: u128,
        data: &LineData,
        swap: u32,
        geometry: LineGeometry,
    ) -> Request {
        let sectors = geometry.sectors_of(byte_mask);
        let values = Some(Box::new(Values { byte_mask, data: *data, swap }));
        let read = Request::read(tag, line, sectors, CacheHint::Cached);
        Request { kind: RequestKind::Atomic(op), values, ..read }
    }

    /// Bytes written, or bytes of the words that an atomic touches; 0 for a read.
    pub fn byte_mask(&self) -> u128 {
        self.values.as_ref().map_or(0, |values| values.byte_mask)
    }

    /// Sectors that it has on a port: of a write or an atomic, those that it touches.
    #[inline]
    pub fn packet_sectors(&self) -> u32 {
        match self.kind {
            RequestKind::Read | RequestKind::Release => 0,
            RequestKind::Write | RequestKind::Atomic(_) => self.sectors.count_ones(),
        }
    }

    /// Size on a port, bytes: the header and its sectors.
    #[inline]
    pub fn packet_bytes(&self, sector_bytes: u32) -> u32 {
        HEADER_BYTES + self.packet_sectors() * sector_bytes
    }
}

/// What a reply brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyKind {
    /// The sectors that a read wanted.
    Data,
    /// A write is performed at the L2.
    WriteAck,
    /// An atomic is performed at the L2; the old words in their places.
    AtomicOld,
    /// What was dirty in a slice is in memory.
    Released,
}

/// From the memory side to a core.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The core that asked.
    pub core: u16,
    /// The request's tag.
    pub tag: u32,
    /// What it brings.
    pub kind: ReplyKind,
    /// Byte address of the line.
    pub line: u64,
    /// Sectors of the request.
    pub sectors: u8,
    /// The sectors (data) or old words (atomic), in their places; other bytes are 0.
    pub data: LineData,
}

impl Reply {
    /// Sectors that it has on a port: those of the request unless it is an acknowledgement.
    #[inline]
    pub fn packet_sectors(&self) -> u32 {
        match self.kind {
            ReplyKind::WriteAck | ReplyKind::Released => 0,
            ReplyKind::Data | ReplyKind::AtomicOld => self.sectors.count_ones(),
        }
    }

    /// Size on a port, bytes: the header and its sectors.
    #[inline]
    pub fn packet_bytes(&self, sector_bytes: u32) -> u32 {
        HEADER_BYTES + self.packet_sectors() * sector_bytes
    }
}

/// Performs an atomic on every word of `byte_mask` in `line`, and puts the old words into `old`. Gives the bytes
/// that it writes: a compare-and-swap that fails writes none, so that a copy of what is old elsewhere does not
/// replace it.
#[inline]
pub(super) fn apply_atomic(
    op: AtomicOp,
    byte_mask: u128,
    operands: &LineData,
    swap: u32,
    line: &mut [u8],
    old: &mut [u8],
) -> u128 {
    let word_at = |bytes: &[u8], at: usize| {
        u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    };
    let mut written = byte_mask;
    let mut left = byte_mask;
    while left != 0 {
        let at = left.trailing_zeros() as usize & !3;
        left &= !(0xF << at);
        let before = word_at(line, at);
        old[at..at + 4].copy_from_slice(&before.to_le_bytes());
        let operand = word_at(operands, at);
        if op == AtomicOp::Cas && before != operand {
            written &= !(0xF << at);
        }
        let after = op.apply(before, operand, swap);
        line[at..at + 4].copy_from_slice(&after.to_le_bytes());
    }
    written
}
