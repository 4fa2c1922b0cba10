//! The lines that workgroups without timing have touched last, so that L2 and L3 can hold what they would hold behind them.

use super::geometry::LineGeometry;
use crate::config::Config;
use crate::registry::{Reference, ReferenceKind, Requester};
use std::collections::VecDeque;
use wave_isa::table::CacheHint;

/// Entries for each line of the larger of L2 and L3, because most lines come several times, and entries at most.
const ENTRIES: usize = 32;
const MOST: usize = 1 << 21;

/// Different lines, for each line of that cache, from which on older entries do not matter: not all sets are used alike.
const DIFFERENT: usize = 2;

/// Accesses to one line, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Touched {
    /// Its address.
    pub(super) line: u64,
    /// Sectors read.
    pub(super) read: u8,
    /// Bytes written.
    pub(super) written: u128,
    pub(super) hint: CacheHint,
}

impl Touched {
    /// The reference that a plug-in sees. The core is not known.
    pub(super) fn reference(&self) -> Reference {
        let kind = if self.written == 0 { ReferenceKind::Load } else { ReferenceKind::Store };
        let streaming = self.hint == CacheHint::Streaming;
        Reference { line: self.line, by: Requester::core(0), kind, streaming }
    }
}

/// The last accesses, oldest first.
#[derive(Debug, Clone)]
pub(crate) struct Trail {
    geometry: LineGeometry,
    touched: VecDeque<Touched>,
    /// Lines of the larger of L2 and L3.
    lines: usize,
}

impl Trail {
    /// No accesses yet.
    pub(crate) fn new(config: &Config) -> Trail {
        let line_bytes = config.core.l1.line_bytes;
        let l3 = config.l3.bank_bytes / line_bytes * config.l3.banks(&config.dram);
        let lines = (config.l2.slice_bytes / line_bytes * config.l2.slices).max(l3);
        Trail { geometry: LineGeometry::new(config), touched: VecDeque::new(), lines: lines as usize }
    }

    /// Bytes of a line and of a sector.
    pub(crate) fn geometry(&self) -> (u32, u32) {
        (self.geometry.line_bytes() as u32, self.geometry.sector_bytes())
    }

    /// An access to a line: the bytes that it reads, and those that it writes.
    #[inline]
    pub(crate) fn touch(&mut self, line: u64, read: u128, written: u128, hint: CacheHint) {
        let read = self.geometry.sectors_of(read);
        match self.touched.back_mut() {
            Some(last) if last.line == line && last.hint == hint => {
                last.read |= read;
                last.written |= written;
            }
            _ => {
                if self.touched.len() == (ENTRIES * self.lines).min(MOST) {
                    self.touched.pop_front();
                }
                self.touched.push_back(Touched { line, read, written, hint });
            }
        }
    }

    /// The accesses that matter for what L2 and L3 hold behind them, oldest first.
    pub(super) fn recent(&self) -> impl Iterator<Item = &Touched> {
        let mut seen: Vec<u64> = Vec::new();
        let mut different = 0;
        let place = self.touched.iter().rposition(|touched| {
            let line = (touched.line / self.geometry.line_bytes() as u64) as usize;
            if line / 64 >= seen.len() {
                seen.resize(line / 64 + 1, 0);
            }
            different += usize::from(seen[line / 64] >> (line % 64) & 1 == 0);
            seen[line / 64] |= 1 << (line % 64);
            different > DIFFERENT * self.lines
        });
        self.touched.range(place.unwrap_or(0)..)
    }
}
