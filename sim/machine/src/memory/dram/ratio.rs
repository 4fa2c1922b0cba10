//! Conversion between core cycles and memory clocks (M24).

use super::timing::Clock;
use crate::clock::Cycle;
use crate::config::Config;

/// The exact ratio of two clocks that start together at 0.
///
/// Core cycle c lasts from c/f_core to (c+1)/f_core; memory clock n begins at n/f_mem. Both frequencies are
/// divided by their greatest common divisor and all arithmetic is on integers, so nothing drifts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClockRatio {
    core: u64,
    memory: u64,
}

impl ClockRatio {
    /// The ratio of a machine.
    pub(super) fn new(config: &Config) -> ClockRatio {
        let (core, memory) = (u64::from(config.core_clock_mhz), u64::from(config.dram.clock_mhz));
        let divisor = greatest_common_divisor(core, memory).max(1);
        ClockRatio { core: core / divisor, memory: memory / divisor }
    }

    /// The first memory clock that begins in core cycle `cycle` or later: ceil(cycle × f_mem / f_core).
    #[inline]
    pub(crate) fn first_clock(self, cycle: Cycle) -> Clock {
        (cycle * self.memory).div_ceil(self.core)
    }

    /// The core cycle in which memory clock `clock` begins: floor(clock × f_core / f_mem).
    #[inline]
    pub(super) fn cycle_of(self, clock: Clock) -> Cycle {
        clock * self.core / self.memory
    }

    /// The first core cycle that begins at the start of memory clock `clock` or later:
    /// ceil(clock × f_core / f_mem).
    #[inline]
    pub(crate) fn cycle_after(self, clock: Clock) -> Cycle {
        (clock * self.core).div_ceil(self.memory)
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_memory_clock_falls_into_exactly_one_core_cycle() {
        for (core_mhz, memory_mhz) in [(1500, 1750), (1000, 1000), (2000, 401), (777, 3200)] {
            let mut config = Config::example();
            config.core_clock_mhz = core_mhz;
            config.dram.clock_mhz = memory_mhz;
            let ratio = ClockRatio::new(&config);
            let mut clock = 0;
            for cycle in 0..5000 {
                assert_eq!(ratio.first_clock(cycle), clock);
                while clock < ratio.first_clock(cycle + 1) {
                    assert_eq!(ratio.cycle_of(clock), cycle);
                    // The exact times, as fractions over f_core × f_mem.
                    let begins = clock * u64::from(core_mhz);
                    let after = ratio.cycle_after(clock) * u64::from(memory_mhz);
                    assert!(after >= begins && after < begins + u64::from(memory_mhz));
                    clock += 1;
                }
            }
            assert_eq!(clock, (5000 * u64::from(memory_mhz)).div_ceil(u64::from(core_mhz)));
        }
    }
}
