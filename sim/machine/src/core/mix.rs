//! What an instruction does in each of its lanes, as a number that indexes counters.
//!
//! The issue stage adds the lanes of each instruction to one counter, which it finds by this number. What is reported of
//! them (lanes by class, rows of registers, words of memory) is calculated when somebody asks, so that it costs the
//! hot path nothing beyond the addition that counts the lanes.

use crate::stats::CoreCounters;
use wave_isa::{ExecClass, Op};

/// Number of indices of a [`Mix`]: a power of two.
pub(super) const MIXES: usize = 1024;

/// Bits of the rows read and of the rows written in an index.
const READ_BITS: usize = 3;
const WRITE_BITS: usize = 3;

/// The rows read of an instruction that moves a tile of a matrix between local memory and fragments. No other
/// instruction reads as many.
const TILE: u8 = 7;

/// Registers that such an instruction reads: the address and the stride.
const TILE_READS: u64 = 2;

/// Words that it moves in each lane.
const TILE_WORDS: u64 = 16;

/// What an instruction does in each of its lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mix {
    class: ExecClass,
    reads: u8,
    writes: u8,
}

impl Mix {
    /// That of an instruction with `operands` source rows, `reads` of which are different, that writes `writes` rows.
    pub(super) fn of(op: Op, operands: u8, reads: u8, writes: u8) -> Mix {
        let reads = match op {
            Op::MmaLoadA | Op::MmaLoadB | Op::MmaStoreC => TILE,
            // How many operands are data follows from their number, also where one is the address, too.
            _ if op.memory().is_some() => operands,
            _ => reads,
        };
        Mix { class: op.info().class, reads, writes }
    }

    /// Its number, below [`MIXES`].
    pub(super) fn index(self) -> u16 {
        debug_assert!(usize::from(self.reads) < 1 << READ_BITS && usize::from(self.writes) < 1 << WRITE_BITS);
        let class = (self.class as usize) << (READ_BITS + WRITE_BITS);
        (class | usize::from(self.reads) << WRITE_BITS | usize::from(self.writes)) as u16
    }

    /// The one with this number; `None` if there is none.
    pub(super) fn at(index: usize) -> Option<Mix> {
        Some(Mix {
            class: *ExecClass::ALL.get(index >> (READ_BITS + WRITE_BITS))?,
            reads: (index >> WRITE_BITS & ((1 << READ_BITS) - 1)) as u8,
            writes: (index & ((1 << WRITE_BITS) - 1)) as u8,
        })
    }

    /// Adds what `lanes` lanes do.
    pub(super) fn count(self, lanes: u64, counters: &mut CoreCounters) {
        let Mix { class, reads, writes } = self;
        let (mut reads, writes) = (u64::from(reads), u64::from(writes));
        // Of a memory instruction every row but the address is data.
        let mut words = (reads + writes).saturating_sub(1);
        if reads == u64::from(TILE) {
            (reads, words) = (TILE_READS, TILE_WORDS);
        }
        counters.lane_instructions += lanes;
        counters.register_reads += lanes * reads;
        counters.register_writes += lanes * writes;
        *match class {
            ExecClass::Int => &mut counters.int_lanes,
            ExecClass::IntMul => &mut counters.int_mul_lanes,
            ExecClass::IntDiv => &mut counters.int_div_lanes,
            ExecClass::Fp32 => &mut counters.fp32_lanes,
            ExecClass::Fp32Div => &mut counters.fp32_div_lanes,
            ExecClass::Fp16 => &mut counters.fp16_lanes,
            ExecClass::Fp64 => &mut counters.fp64_lanes,
            ExecClass::Fp64Div => &mut counters.fp64_div_lanes,
            ExecClass::Convert => &mut counters.convert_lanes,
            ExecClass::Sfu => &mut counters.sfu_lanes,
            ExecClass::Wave => &mut counters.wave_lanes,
            ExecClass::Mma => &mut counters.mma_lanes,
            ExecClass::LocalMemory => {
                counters.local_words += lanes * words;
                &mut counters.local_memory_lanes
            }
            ExecClass::DeviceMemory => {
                counters.device_words += lanes * words;
                &mut counters.device_memory_lanes
            }
            ExecClass::Control => &mut counters.control_lanes,
            ExecClass::Sync => &mut counters.sync_lanes,
        } += lanes;
    }
}

/// Adds to `counters` what lanes did; `lanes` are the lanes by the index of their instruction's [`Mix`].
pub(super) fn add_lanes(lanes: &[u64; MIXES], counters: &mut CoreCounters) {
    const OF_A_CLASS: usize = 1 << (READ_BITS + WRITE_BITS);
    for (class, of_class) in lanes.chunks_exact(OF_A_CLASS).enumerate() {
        // Most classes do not occur in a kernel.
        if of_class.iter().fold(0, |all, lanes| all | lanes) == 0 {
            continue;
        }
        for (rows, &lanes) in of_class.iter().enumerate().filter(|&(_, &lanes)| lanes > 0) {
            if let Some(mix) = Mix::at(class * OF_A_CLASS + rows) {
                mix.count(lanes, counters);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_leads_back() {
        for &class in ExecClass::ALL {
            for (reads, writes) in (0..8).flat_map(|reads| (0..8).map(move |writes| (reads, writes))) {
                let mix = Mix { class, reads, writes };
                assert!(usize::from(mix.index()) < MIXES);
                assert_eq!(Mix::at(usize::from(mix.index())), Some(mix));
            }
        }
    }

    #[test]
    fn lanes_are_in_one_class_each() {
        let mut lanes = [0; MIXES];
        let mut sum = CoreCounters::default();
        for (i, class) in ExecClass::ALL.iter().enumerate() {
            lanes[usize::from(Mix { class: *class, reads: 2, writes: 1 }.index())] = 1 << i;
        }
        add_lanes(&lanes, &mut sum);
        assert_eq!(sum.lane_instructions, (1 << ExecClass::ALL.len()) - 1);
        assert_eq!(sum.register_reads, 2 * sum.lane_instructions);
        assert_eq!(sum.register_writes, sum.lane_instructions);
        let by_class = CoreCounters::DECLARED.iter().zip(sum.values());
        let by_class: u64 = by_class.filter(|(d, _)| d.name.ends_with("_lanes")).map(|(_, n)| n).sum();
        assert_eq!(by_class, sum.lane_instructions);
        assert_eq!(sum.local_words, 2 * sum.local_memory_lanes);
        assert_eq!(sum.device_words, 2 * sum.device_memory_lanes);
    }
}
