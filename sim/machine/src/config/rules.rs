//! Table of the rules between parameters. They are checked for every configuration and printed with the
//! parameters in `config explain` and the manual.

use super::model::{Config, IssuePolicy, ReplacementPolicy};
use wave_isa::diagnostic::Severity;

/// A rule between parameters.
pub(super) struct Rule {
    /// The parameters involved, the most likely culprit first.
    pub keys: &'static [&'static str],
    /// The rule and its reason, as a clause that can follow "but".
    pub law: &'static str,
    /// True if the configuration satisfies it. Never panics, even for invalid values.
    pub holds: fn(&Config) -> bool,
    /// What to do where the law alone does not say it.
    pub hint: Option<fn(&Config) -> String>,
    /// How bad it is to break it. What each launch is checked for only deserves a warning: a kernel may need less.
    pub severity: Severity,
}

const fn rule(keys: &'static [&'static str], law: &'static str, holds: fn(&Config) -> bool) -> Rule {
    Rule { keys, law, holds, hint: None, severity: Severity::Error }
}

const fn tolerated(keys: &'static [&'static str], law: &'static str, holds: fn(&Config) -> bool) -> Rule {
    Rule { keys, law, holds, hint: None, severity: Severity::Warning }
}

impl Rule {
    const fn hint(self, hint: fn(&Config) -> String) -> Rule {
        Rule { hint: Some(hint), ..self }
    }
}

/// All rules between parameters, except those on the classes of units, which are in `check`.
pub(super) const RULES: &[Rule] = &[
    rule(
        &["device_memory_bytes", "core.l1.line_bytes"],
        "device memory must be a whole number of lines",
        |c| multiple(c.device_memory_bytes, c.core.l1.line_bytes),
    ),
    rule(
        &["core.max_waves", "core.schedulers"],
        "the schedulers share the wave slots evenly, so max_waves must be a multiple of schedulers",
        |c| multiple(c.core.max_waves, c.core.schedulers),
    ),
    tolerated(
        &["core.max_workgroup_size", "core.wave_width", "core.max_waves"],
        "the waves of a workgroup must fit in max_waves: the largest that can run has max_waves × wave_width threads",
        |c| c.core.max_workgroup_size.div_ceil(c.core.wave_width.max(1)) <= c.core.max_waves,
    ),
    tolerated(
        &["core.max_registers", "core.wave_width", "core.register_file_bytes", "core.schedulers"],
        "a wave's registers must fit in a scheduler's share of the register file: a kernel that runs has at most \
         register_file_bytes / (schedulers × wave_width × 4) of them",
        |c| {
            let wave = u64::from(c.core.max_registers) * u64::from(c.core.wave_width) * 4;
            wave <= u64::from(c.core.register_file_bytes / c.core.schedulers.max(1))
        },
    ),
    rule(
        &["core.local_memory_bytes", "core.local.banks", "core.local.bank_bytes"],
        "all banks have the same number of words, so local_memory_bytes must be a multiple of banks × bank_bytes",
        |c| {
            let local = &c.core.local;
            multiple(c.core.local_memory_bytes, u64::from(local.banks) * u64::from(local.bank_bytes))
        },
    ),
    rule(
        &["core.fetch.buffer_entries", "core.fetch.words"],
        "a fetch is only sent when its words have room, so buffer_entries must be at least words",
        |c| c.core.fetch.buffer_entries >= c.core.fetch.words,
    ),
    rule(
        &["core.fetch.icache_line_bytes", "core.fetch.words"],
        "a fetch stays within a line, so a line must have at least 4 × words bytes",
        |c| u64::from(c.core.fetch.icache_line_bytes) >= u64::from(c.core.fetch.words) * 4,
    ),
    rule(
        &["core.fetch.icache_line_bytes", "core.l1.line_bytes"],
        "one request, which carries a line of the L1, fills a line of the instruction cache, so icache_line_bytes \
         must be at most line_bytes",
        |c| c.core.fetch.icache_line_bytes <= c.core.l1.line_bytes,
    )
    .hint(|c| format!("set `core.fetch.icache_line_bytes` to {}, or to less", c.core.l1.line_bytes)),
    rule(
        &["core.fetch.icache_bytes", "core.fetch.icache_line_bytes", "core.fetch.icache_ways"],
        "the number of sets, icache_bytes / (icache_line_bytes × icache_ways), must be a power of two",
        |c| {
            let f = &c.core.fetch;
            sets_are_a_power_of_two(f.icache_bytes, f.icache_line_bytes, f.icache_ways)
        },
    ),
    rule(
        &["core.issue.width", "core.max_waves", "core.schedulers"],
        "each issue slot takes another wave, so width must be at most max_waves / schedulers",
        |c| c.core.issue.width <= c.core.max_waves / c.core.schedulers.max(1),
    ),
    rule(
        &["core.issue.two_level_active", "core.issue.width", "core.issue.policy"],
        "under two_level only active waves issue, so two_level_active must be at least width",
        |c| {
            c.core.issue.policy != IssuePolicy::TwoLevel
                || c.core.issue.two_level_active >= c.core.issue.width
        },
    ),
    rule(
        &["core.registers.write_ports", "core.registers.banks"],
        "a bank writes one row a cycle, so write_ports must be at most banks",
        |c| c.core.registers.write_ports <= c.core.registers.banks,
    ),
    rule(
        &["core.l1.sector_bytes", "core.l1.line_bytes"],
        "a sector is a part of a line, so it must not be larger",
        |c| c.core.l1.sector_bytes <= c.core.l1.line_bytes,
    ),
    rule(
        &["core.l1.bytes", "core.l1.line_bytes", "core.l1.ways"],
        "the number of sets, bytes / (line_bytes × ways), must be a power of two",
        |c| sets_are_a_power_of_two(c.core.l1.bytes, c.core.l1.line_bytes, c.core.l1.ways),
    ),
    rule(
        &["core.l1.unified", "core.local_memory_bytes", "core.l1.bytes", "core.l1.ways"],
        "local memory takes ways of a unified L1 and leaves it at least one",
        |c| !c.core.l1.unified || c.core.l1.ways_beside(c.core.local_memory_bytes) > 0,
    ),
    rule(
        &["core.l1.unified", "core.l1.replacement", "core.l1.write_policy"],
        "a unified L1 has another number of ways in each launch: `lru`, `fifo` or `random` chooses among them, and none of its \
         lines outlives a launch, so it writes through",
        |c| {
            let l1 = &c.core.l1;
            let policies = [ReplacementPolicy::Lru, ReplacementPolicy::Fifo, ReplacementPolicy::Random];
            !l1.unified || policies.contains(&l1.replacement) && !l1.write_policy.writes_back()
        },
    ),
    rule(&["core.l1.banks"], "banks must be a power of two, or 0", |c| {
        c.core.l1.banks == 0 || c.core.l1.banks.is_power_of_two()
    }),
    rule(
        &["l2.partitions", "l2.slices", "cores"],
        "a partition has as many slices and as many cores as each other one, so partitions must divide both",
        |c| multiple(c.l2.slices, c.l2.partitions) && multiple(c.cores, c.l2.partitions),
    ),
    rule(
        &["l2.slice_bytes", "core.l1.line_bytes", "l2.ways"],
        "the number of sets of a slice, slice_bytes / (line_bytes × ways), must be a power of two",
        |c| sets_are_a_power_of_two(c.l2.slice_bytes, c.core.l1.line_bytes, c.l2.ways),
    ),
    rule(
        &["core.l1.replacement", "core.l1.ways"],
        "the bits of plru form a tree over the ways, so ways must be a power of two",
        |c| c.core.l1.replacement != ReplacementPolicy::Plru || c.core.l1.ways.is_power_of_two(),
    ),
    rule(
        &["l2.replacement", "l2.ways"],
        "the bits of plru form a tree over the ways, so ways must be a power of two",
        |c| c.l2.replacement != ReplacementPolicy::Plru || c.l2.ways.is_power_of_two(),
    ),
    rule(
        &["l3.bank_bytes", "core.l1.line_bytes", "l3.ways"],
        "the number of sets of a bank, bank_bytes / (line_bytes × ways), must be a power of two, or bank_bytes 0",
        |c| {
            !c.l3.is_there()
                || sets_are_a_power_of_two(c.l3.bank_bytes, c.core.l1.line_bytes, c.l3.ways)
        },
    ),
    rule(
        &["l3.replacement", "l3.ways"],
        "the bits of plru form a tree over the ways, so ways must be a power of two",
        |c| c.l3.replacement != ReplacementPolicy::Plru || c.l3.ways.is_power_of_two(),
    ),
    rule(
        &["dram.channels", "l2.slices"],
        "every channel serves the same number of slices, so channels must divide slices",
        |c| multiple(c.l2.slices, c.dram.channels),
    ),
    rule(
        &["dram.bank_groups", "dram.banks"],
        "a bank group has at least one bank, so there must not be more groups than banks",
        |c| c.dram.bank_groups <= c.dram.banks,
    ),
    rule(&["dram.row_bytes", "core.l1.line_bytes"], "a line must lie in one row", |c| {
        c.dram.row_bytes >= c.core.l1.line_bytes
    }),
    rule(
        &["dram.burst_bytes", "core.l1.line_bytes"],
        "a burst belongs to one line, so it must not be larger",
        |c| c.dram.burst_bytes <= c.core.l1.line_bytes,
    ),
    rule(
        &["dram.burst_bytes", "dram.bus_bits", "dram.transfers_per_clock"],
        "a burst takes a whole number of clocks, at least one, so burst_bytes × 8 must be a multiple of \
         bus_bits × transfers_per_clock",
        |c| multiple(u64::from(c.dram.burst_bytes) * 8, clock_bits(c)),
    ),
    rule(
        &["dram.t_ccd_s", "dram.burst_bytes", "dram.bus_bits", "dram.transfers_per_clock"],
        "the data of two bursts may not overlap, so t_ccd_s must be at least the clocks of a burst, \
         burst_bytes × 8 / (bus_bits × transfers_per_clock)",
        |c| u64::from(c.dram.t_ccd_s) * clock_bits(c) >= u64::from(c.dram.burst_bytes) * 8,
    ),
    rule(
        &["dram.drain_high", "dram.drain_low", "dram.queue_entries"],
        "writes are drained from drain_high, which the queue can hold, down to drain_low, so drain_low must be less, and \
         drain_high at most queue_entries, or 0",
        |c| {
            let d = &c.dram;
            d.drain_high == 0 || d.drain_low < d.drain_high && d.drain_high <= d.queue_entries
        },
    ),
    rule(
        &["dram.t_ras", "dram.t_rcd"],
        "a row is open at least until it can be read, so t_ras must be at least t_rcd",
        |c| c.dram.t_ras >= c.dram.t_rcd,
    ),
    rule(
        &["dram.t_rc", "dram.t_ras", "dram.t_rp"],
        "a bank is open for t_ras and closes for t_rp between two activates, so t_rc must be at least \
         t_ras + t_rp",
        |c| c.dram.t_rc >= c.dram.t_ras.saturating_add(c.dram.t_rp),
    ),
    rule(
        &["dram.t_rrd_l", "dram.t_rrd_s"],
        "the same bank group is no faster than another, so t_rrd_l must be at least t_rrd_s",
        |c| c.dram.t_rrd_l >= c.dram.t_rrd_s,
    ),
    rule(
        &["dram.t_ccd_l", "dram.t_ccd_s"],
        "the same bank group is no faster than another, so t_ccd_l must be at least t_ccd_s",
        |c| c.dram.t_ccd_l >= c.dram.t_ccd_s,
    ),
    rule(
        &["dram.t_wtr_l", "dram.t_wtr_s"],
        "the same bank group is no faster than another, so t_wtr_l must be at least t_wtr_s",
        |c| c.dram.t_wtr_l >= c.dram.t_wtr_s,
    ),
    rule(
        &["dram.t_faw", "dram.t_rrd_s"],
        "the window of four activates is no shorter than the distance of two, so t_faw must be at least t_rrd_s",
        |c| c.dram.t_faw >= c.dram.t_rrd_s,
    ),
    rule(
        &["dram.t_refi", "dram.t_rfc", "dram.t_rp", "dram.t_rc"],
        "between refreshes the channel opens a row and closes it again, so t_refi must be 0 or greater than \
         t_rfc + t_rc + t_rp",
        |c| {
            let d = &c.dram;
            d.t_refi == 0 || u64::from(d.t_refi) > u64::from(d.t_rfc) + u64::from(d.t_rc) + u64::from(d.t_rp)
        },
    ),
];

/// Bits that the data pins of a channel transfer per memory clock.
fn clock_bits(c: &Config) -> u64 {
    u64::from(c.dram.bus_bits) * u64::from(c.dram.transfers_per_clock)
}

fn multiple(value: impl Into<u64>, of: impl Into<u64>) -> bool {
    value.into().checked_rem(of.into()) == Some(0)
}

fn sets_are_a_power_of_two(bytes: u32, line_bytes: u32, ways: u32) -> bool {
    let set_bytes = u64::from(line_bytes) * u64::from(ways);
    multiple(bytes, set_bytes) && (u64::from(bytes) / set_bytes).is_power_of_two()
}
