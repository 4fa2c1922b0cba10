//! The binary form: frames and their payloads.

mod put;
mod read;

pub(super) use put::put;
pub(crate) use put::put_end;
pub(crate) use put::put_fields;
pub(crate) use put::put_header;
pub(crate) use put::put_launch;
pub(crate) use put::put_record;

pub(crate) use read::{end, fields, header, launch, record};

/// First bytes of a binary file, followed by the version.
pub(crate) const MAGIC: [u8; 4] = *b"WVFI";

/// Kinds of frames.
pub(crate) mod frame {
    /// Header.
    pub(crate) const HEADER: u8 = 1;
    /// Launch.
    pub(crate) const LAUNCH: u8 = 2;
    /// Record.
    pub(crate) const RECORD: u8 = 3;
    /// End.
    pub(crate) const END: u8 = 4;
}

/// Most bytes of a payload: its length has 24 bits.
pub(crate) const MAX_PAYLOAD: usize = (1 << 24) - 1;

/// Most bytes of a varint.
const MAX_VARINT: usize = 10;

const ENDS: u8 = 1 << 2;
const OPEN: u8 = 1 << 3;
const DEVICE: u8 = 1 << 3;
