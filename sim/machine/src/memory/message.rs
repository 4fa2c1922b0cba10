//! Packets between a core and the memory side.

use super::geometry::LineGeometry;
use crate::registry::{Reference, ReferenceKind, Requester};
use wave_capture::Capture;
use wave_isa::table::{AtomicOp, CacheHint};

/// The longest line that a configuration may have, in bytes. Messages carry a whole line inline.
pub(crate) const MAX_LINE_BYTES: usize = 128;

/// Bytes of a packet in addition to its payload: kind, address, masks and tag (M6).
pub const HEADER_BYTES: u32 = 8;

/// Bit of a line address that selects the code space: the program's code bytes, read-only, from offset 0.
pub const CODE_SPACE: u64 = 1 << 32;

/// The bytes of a line; a line shorter than [`MAX_LINE_BYTES`] uses the first ones.
pub(crate) type LineData = [u8; MAX_LINE_BYTES];

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub enum RequestKind {
    /// Reads sectors of the line.
    Read,
    /// Writes bytes of the line.
    Write,
    /// A read-modify-write of 32-bit words, at most one operation a word.
    Atomic(AtomicOp),
    /// Writes all dirty bytes of a slice to memory. The line selects the slice.
    Release,
}

/// What a packet brings beside its header. A request brings the values in which its reply takes data back, so that they
/// go round between a core and the slices, and packets are small.
#[derive(Debug, Clone, PartialEq, Eq, Capture)]
pub struct Values {
    /// Bytes written, or bytes of the words that an atomic touches; none for a read.
    pub byte_mask: u128,
    /// Of a write: its values. Of an atomic: operands, in its reply the old words. Of the reply to a read: the sectors.
    /// All at their offsets in the line; other bytes are meaningless.
    pub data: LineData,
    /// Second operand of a compare-and-swap, whose packet holds one word.
    pub swap: u32,
}

impl Values {
    /// Those of a write or an atomic.
    pub fn new(byte_mask: u128, data: &LineData, swap: u32) -> Box<Values> {
        Box::new(Values { byte_mask, data: *data, swap })
    }
}

impl Default for Values {
    fn default() -> Values {
        Values { byte_mask: 0, data: [0; MAX_LINE_BYTES], swap: 0 }
    }
}

/// A request from a core to the memory side.
#[derive(Debug, Clone, Capture)]
pub struct Request {
    /// The requesting core, set by its port.
    pub core: u16,
    /// Returned with the reply; opaque to the memory side.
    pub tag: u32,
    /// What it asks for.
    pub kind: RequestKind,
    /// Cache hint.
    pub hint: CacheHint,
    /// Byte address of the line, with or without [`CODE_SPACE`].
    pub line: u64,
    /// Sectors wanted (read) or touched (write, atomic), bit i for sector i.
    pub sectors: u8,
    /// The data of a write or an atomic, or room for that of a read, which the slice makes if it does not come.
    pub values: Option<Box<Values>>,
}

impl Request {
    /// A read of some sectors.
    pub fn read(tag: u32, line: u64, sectors: u8, hint: CacheHint) -> Request {
        Request { core: 0, tag, kind: RequestKind::Read, hint, line, sectors, values: None }
    }

    /// A release of the slice in which a line lies.
    pub fn release(line: u64) -> Request {
        Request { kind: RequestKind::Release, ..Request::read(0, line, 0, CacheHint::Cached) }
    }

    /// A write of the bytes in the mask of `values`.
    pub fn write(
        tag: u32,
        line: u64,
        values: Box<Values>,
        hint: CacheHint,
        geometry: LineGeometry,
    ) -> Request {
        let sectors = geometry.sectors_of(values.byte_mask);
        let values = Some(values);
        Request { kind: RequestKind::Write, values, ..Request::read(tag, line, sectors, hint) }
    }

    /// An atomic on the words in the mask of `values`.
    pub fn atomic(tag: u32, line: u64, op: AtomicOp, values: Box<Values>, geometry: LineGeometry) -> Request {
        let write = Request::write(tag, line, values, CacheHint::Cached, geometry);
        Request { kind: RequestKind::Atomic(op), ..write }
    }

    /// Bytes written, or bytes of the words that an atomic touches; 0 for a read.
    pub(crate) fn byte_mask(&self) -> u128 {
        self.values.as_ref().map_or(0, |values| values.byte_mask)
    }

    /// The reference that a plug-in sees at the L2.
    pub(super) fn reference(&self) -> Reference {
        let kind = match self.kind {
            RequestKind::Read | RequestKind::Release => ReferenceKind::Load,
            RequestKind::Write => ReferenceKind::Store,
            RequestKind::Atomic(_) => ReferenceKind::Atomic,
        };
        let streaming = self.hint == CacheHint::Streaming;
        Reference { line: self.line, by: Requester::core(self.core), kind, streaming }
    }

    /// Sectors in the packet: those that a write or an atomic touches, else none.
    #[inline]
    pub(crate) fn packet_sectors(&self) -> u32 {
        match self.kind {
            RequestKind::Read | RequestKind::Release => 0,
            RequestKind::Write | RequestKind::Atomic(_) => self.sectors.count_ones(),
        }
    }

    /// Bytes of the packet: the header and its sectors.
    #[inline]
    pub fn packet_bytes(&self, sector_bytes: u32) -> u32 {
        HEADER_BYTES + self.packet_sectors() * sector_bytes
    }
}

/// What a reply brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub enum ReplyKind {
    /// The sectors that a read wanted.
    Data,
    /// A write is performed at the L2.
    WriteAck,
    /// An atomic is performed at the L2; the data are the old words at their offsets.
    AtomicOld,
    /// All dirty bytes of a slice are in memory.
    Released,
}

/// A reply from the memory side to a core.
#[derive(Debug, Clone, Capture)]
pub struct Reply {
    /// The core that made the request.
    pub core: u16,
    /// The request's tag.
    pub tag: u32,
    /// What it brings.
    pub kind: ReplyKind,
    /// Byte address of the line.
    pub line: u64,
    /// Sectors of the request.
    pub sectors: u8,
    /// The values of the request, with the sectors (data) or old words (atomic); `None` for a release.
    pub values: Option<Box<Values>>,
}

impl Reply {
    /// The sectors or old words at their offsets in the line. Other bytes are meaningless.
    #[inline]
    pub fn data(&self) -> &LineData {
        self.values.as_ref().map_or(&[0; MAX_LINE_BYTES], |values| &values.data)
    }

    /// Sectors in the packet: those of the request, none for an acknowledgement.
    #[inline]
    pub(crate) fn packet_sectors(&self) -> u32 {
        match self.kind {
            ReplyKind::WriteAck | ReplyKind::Released => 0,
            ReplyKind::Data | ReplyKind::AtomicOld => self.sectors.count_ones(),
        }
    }

    /// Bytes of the packet: the header and its sectors.
    #[inline]
    pub fn packet_bytes(&self, sector_bytes: u32) -> u32 {
        HEADER_BYTES + self.packet_sectors() * sector_bytes
    }
}

/// Performs an atomic on every word of `byte_mask` in `line`. `data` has the operands, and then the old words. Returns
/// the bytes written. A compare-and-swap that fails writes none, so that an old copy never replaces a newer value at
/// another level (M16).
#[inline]
pub(super) fn apply_atomic(
    op: AtomicOp,
    byte_mask: u128,
    data: &mut LineData,
    swap: u32,
    line: &mut [u8],
) -> u128 {
    let word_at = |bytes: &[u8], at: usize| {
        u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    };
    let mut written = byte_mask;
    let mut left = byte_mask;
    while left != 0 {
        let at = left.trailing_zeros() as usize & !3;
        left &= !(0xF << at);
        let (before, operand) = (word_at(line, at), word_at(data, at));
        data[at..at + 4].copy_from_slice(&before.to_le_bytes());
        if op == AtomicOp::Cas && before != operand {
            written &= !(0xF << at);
        }
        let after = op.apply(before, operand, swap);
        line[at..at + 4].copy_from_slice(&after.to_le_bytes());
    }
    written
}
