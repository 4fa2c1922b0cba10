//! The binary form: frames and their payloads.

mod put;
mod read;

pub(super) use put::put;
pub use put::{put_end, put_fields, put_header, put_launch, put_record};
pub use read::{Malformed, end, fields, header, launch, record};

/// First bytes of a binary file, followed by the version.
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

/// Most bytes of a payload: its length has 24 bits.
pub const MAX_PAYLOAD: usize = (1 << 24) - 1;

/// Most bytes of a varint.
const MAX_VARINT: usize = 10;

const ENDS: u8 = 1 << 2;
const OPEN: u8 = 1 << 3;
const DEVICE: u8 = 1 << 3;
