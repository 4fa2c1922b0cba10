//! The timing of the execution units.

use super::straight::READ_WITHIN;
use super::write_ports::MAX_RESULT_ROWS;
use crate::clock::Cycle;
use crate::config::Config;
use wave_isa::ExecClass;

/// Timing of one execution class on this machine, derived from the configuration (X2).
#[derive(Debug, Clone, Copy, Default)]
pub struct UnitTiming {
    /// Index of the unit in its scheduler.
    pub unit: usize,
    /// Cycles from dispatch to the write of the result's first row.
    pub result: Cycle,
    /// Cycles for which the instruction holds the unit's entry.
    pub interval: Cycle,
}

impl UnitTiming {
    /// Timing of every class. A class that no unit serves has an interval of 0.
    pub fn table(config: &Config) -> [UnitTiming; ExecClass::ALL.len()] {
        let mut table = [UnitTiming::default(); ExecClass::ALL.len()];
        for (unit, u) in config.core.units.iter().enumerate() {
            for timing in &u.classes {
                let groups = config.core.wave_width.div_ceil(u.lanes);
                let interval = Cycle::from(timing.passes * groups);
                let result = Cycle::from(timing.latency_cycles) + interval - 1;
                table[timing.class as usize] = UnitTiming { unit, result, interval };
            }
        }
        table
    }

    /// Entries of a timing wheel, one a cycle, that holds the longest result. A power of two, at least 64.
    pub(crate) fn horizon(table: &[UnitTiming]) -> usize {
        let longest = table.iter().map(|t| t.result).max().unwrap_or(0);
        ((longest + READ_WITHIN + 1) as usize + MAX_RESULT_ROWS + 1).next_power_of_two().max(64)
    }
}
