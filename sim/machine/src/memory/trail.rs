//! The lines that workgroups without timing have touched last, so that the L2 can hold what it would hold behind them.

use super::geometry::LineGeometry;
use crate::config::Config;
use std::collections::VecDeque;
use wave_isa::table::CacheHint;

/// Entries for each line of the L2, because most lines come several times, and entries at most.
const ENTRIES: usize = 32;
const MOST: usize = 1 << 21;

/// Different lines, for each line of the L2, from which on older entries do not matter: not all sets are used alike.
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

/// The last accesses, oldest first.
#[derive(Debug, Clone)]
pub(crate) struct Trail {
    geometry: LineGeometry,
    touched: VecDeque<Touched>,
    /// Lines of the L2.
    lines: usize,
}

impl Trail {
    /// No accesses yet.
    pub(crate) fn new(config: &Config) -> Trail {
        let lines = config.l2.slice_bytes / config.core.l1.line_bytes * config.l2.slices;
        Trail { geometry: LineGeometry::new(config), touched: VecDeque::new(), lines: lines as usize }
    }

    /// An access to so many bytes at this address: a read, a write, or both.
    #[inline]
    pub(crate) fn touch(&mut self, address: u32, bytes: u8, (reads, writes): (bool, bool), hint: CacheHint) {
        let line_bytes = self.geometry.line_bytes() as u64;
        let offset = u64::from(address) & (line_bytes - 1);
        let line = u64::from(address) - offset;
        // Bytes past the end of the line belong to a misaligned access, whose second line does not count.
        let mask = (u128::MAX >> (128 - u32::from(bytes))) << offset;
        let read = if reads { self.geometry.sectors_of(mask) } else { 0 };
        let written = if writes { mask } else { 0 };
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

    /// The accesses that matter for what the L2 holds behind them, oldest first.
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
