//! Latencies and addresses by the formulas of the book, from the configuration alone: written a second
//! time, apart from the code of the memory hierarchy, so that one can be held against the other.

use crate::clock::Cycle;
use crate::config::Config;

/// Cycles from the issue of a memory instruction to its first access: operand read, dispatch to the
/// load/store unit, and its start at the head of an empty queue (rules O1, X1, L1).
pub const ISSUE_TO_ACCESS: Cycle = 3;

/// Cycles that a packet of so many payload bytes holds a port (rule M6).
pub fn packet_cycles(config: &Config, payload: u32) -> Cycle {
    Cycle::from((8 + payload).div_ceil(config.interconnect.port_bytes_per_cycle))
}

/// Load to use of a hit in the L1: an instruction that needs the value can issue so many cycles after the
/// load.
pub fn l1_hit(config: &Config) -> Cycle {
    ISSUE_TO_ACCESS + Cycle::from(config.core.l1.hit_latency_cycles)
}

/// Cycles from an access that misses in the L1 until its request is at the slice (M13, M6, M1).
pub fn to_slice(config: &Config) -> Cycle {
    1 + (packet_cycles(config, 0) - 1) + Cycle::from(config.interconnect.latency_cycles)
}

/// Cycles from the slice's access until the response in the core, for a reply of one sector.
pub fn from_slice(config: &Config) -> Cycle {
    Cycle::from(config.l2.hit_latency_cycles)
        + (packet_cycles(config, config.core.l1.sector_bytes) - 1)
        + Cycle::from(config.interconnect.latency_cycles)
        + 1
}

/// Load to use of a load of one sector that misses in the L1 and hits in the L2 (M14).
pub fn l2_hit(config: &Config) -> Cycle {
    ISSUE_TO_ACCESS + to_slice(config) + from_slice(config)
}

/// Slice of a line, and the line's number within it (M4).
pub fn slice(config: &Config, line: u64) -> (u32, u64) {
    let bits = config.l2.slices.trailing_zeros();
    if bits == 0 {
        return (0, line);
    }
    let mut slice = 0;
    let mut rest = line;
    while rest != 0 {
        slice ^= rest % u64::from(config.l2.slices);
        rest >>= bits;
    }
    (slice as u32, line >> bits)
}

/// Where a line lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Channel.
    pub channel: u32,
    /// Bank group of the channel.
    pub group: u32,
    /// Bank of the group.
    pub bank: u32,
    /// Row of the bank.
    pub row: u64,
}

/// Place of a line in memory (M5).
pub fn place(config: &Config, line: u64) -> Place {
    let dram = &config.dram;
    let (slice, index) = slice(config, line);
    let slices = u64::from(config.l2.slices / dram.channels);
    let number = index * slices + u64::from(slice / dram.channels);
    let groups = u64::from(dram.bank_groups);
    let banks = u64::from(dram.banks / dram.bank_groups);
    let lines_of_row = u64::from(dram.row_bytes / config.core.l1.line_bytes);
    let row = number / groups / lines_of_row / banks;
    let group = (number % groups) ^ (row % groups);
    let bank = (number / groups / lines_of_row % banks) ^ (row / groups % banks);
    Place { channel: slice % dram.channels, group: group as u32, bank: bank as u32, row }
}
