//! Bounds of what a state that is put back may hold of addresses, packets and cycles.
//!
//! A block checks by itself what its own fields say of one another. What depends on the machine around it, or on the
//! cycle, is checked against these bounds once the whole state is there.

use super::geometry::{LineGeometry, LineNumber};
use super::message::{CODE_SPACE, MAX_LINE_BYTES, Reply, ReplyKind, Request, RequestKind};
use crate::clock::{Cycle, may_plan};
use wave_capture::Misfit;

/// Tags from this one on belong to the instruction cache, not to the MSHRs of an L1.
const NOT_OF_L1: u32 = 1 << 31;

/// What the packets and lines of a machine satisfy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Sizes of lines and sectors.
    pub geometry: LineGeometry,
    /// Cores of the machine.
    pub cores: usize,
    /// MSHRs of an L1.
    pub mshrs: usize,
    /// Device memory ends before this address.
    pub device_end: u64,
    /// The first cycle that is not simulated.
    pub now: Cycle,
}

impl Bounds {
    /// True if something can happen in this cycle.
    pub(crate) fn may_plan(&self, cycle: Cycle) -> bool {
        may_plan(self.now, cycle)
    }

    /// True if a line begins at this address.
    fn is_line(&self, address: u64) -> bool {
        address < 2 * CODE_SPACE && address.is_multiple_of(self.geometry.line_bytes() as u64)
    }

    /// True if a line of device memory begins at this address, and these bytes of it exist.
    fn may_write(&self, address: u64, byte_mask: u128) -> bool {
        let bytes = u64::from(128 - byte_mask.leading_zeros());
        self.is_line(address)
            && bytes <= self.geometry.line_bytes() as u64
            && address + bytes <= self.device_end
    }

    /// True if this line of a cache may have these valid sectors and dirty bytes.
    pub(super) fn may_hold(&self, line: LineNumber, valid: u8, dirty: u128) -> bool {
        let address = self.geometry.address(line);
        self.is_line(address) && self.has_sectors(valid) && (dirty == 0 || self.may_write(address, dirty))
    }

    /// True if a line has all of these sectors.
    pub(super) fn has_sectors(&self, sectors: u8) -> bool {
        u32::from(sectors) >> self.geometry.sectors() == 0
    }

    /// True if the reply to a read with this tag finds its MSHR.
    fn is_tag(&self, tag: u32) -> bool {
        tag >= NOT_OF_L1 || (tag as usize) < self.mshrs
    }

    /// Refuses a request that no core sends.
    pub(crate) fn request(&self, request: &Request) -> Result<(), Misfit> {
        let &Request { tag, kind, line, sectors, .. } = request;
        Misfit::in_range(usize::from(request.core) < self.cores, "core")?;
        Misfit::in_range(self.is_line(line), "line")?;
        Misfit::in_range(self.has_sectors(sectors), "sectors")?;
        let bytes = request.byte_mask();
        match kind {
            RequestKind::Read => Misfit::in_range(self.is_tag(tag), "tag"),
            RequestKind::Release => Ok(()),
            RequestKind::Write | RequestKind::Atomic(_) => {
                // A compare-and-swap that fails in an L1 leaves a write of nothing.
                let is_empty = bytes == 0 && kind != RequestKind::Write;
                Misfit::in_range(!is_empty && self.may_write(line, bytes), "byte_mask")?;
                let words = (0..MAX_LINE_BYTES / 4).all(|word| matches!(bytes >> (4 * word) & 0xF, 0 | 0xF));
                Misfit::in_range(words || kind == RequestKind::Write, "byte_mask")?;
                Misfit::agrees(self.geometry.sectors_of(bytes) == sectors, "sectors")
            }
        }
    }

    /// Refuses a reply that no slice makes.
    pub(crate) fn reply(&self, reply: &Reply) -> Result<(), Misfit> {
        Misfit::in_range(usize::from(reply.core) < self.cores, "core")?;
        Misfit::in_range(self.has_sectors(reply.sectors), "sectors")?;
        Misfit::in_range(reply.kind != ReplyKind::Data || self.is_tag(reply.tag), "tag")
    }
}
