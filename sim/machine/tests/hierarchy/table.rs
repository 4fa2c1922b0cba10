//! Table of all parameters of the memory hierarchy: the change, the kernel, and the statistics that change.

use super::machine::{Values, Work};
use super::work::{at_once, by_groups, by_waves, chain, local, local_at_once, spread, stores_and_loads};
use Move::{Any, Down, May, Up};

/// Direction of change of a statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Move {
    Up,
    Down,
    /// Changes, in a direction that does not matter.
    Any,
    /// May change or not.
    May,
}

/// A change of one parameter.
pub(crate) struct Sweep {
    pub key: &'static str,
    /// The machine, as changes to the small one.
    pub machine: Values<'static>,
    pub before: &'static str,
    pub after: &'static str,
    pub work: Work,
    /// Statistics that change. All others must not, except those that only count time if the time changes.
    pub moves: &'static [(&'static str, Move)],
}

/// Without refreshes, and with requests to memory in their order, counts do not depend on time. What is written goes to
/// memory at the end, where the timings of writes show.
pub(crate) const SMALL: Values = &[
    ("cores", "1"),
    ("device_memory_bytes", "1_048_576"),
    ("dispatcher.release_scope", "system"),
    ("dram.t_refi", "0"),
    ("dram.policy", "fcfs"),
];

/// Lines come sooner. A prefetch takes all sectors of its line.
const PREFETCHES: &[(&str, Move)] = &[
    ("kernel.cycles", Down),
    ("l1.hits", May),
    ("l1.mshr_hits", May),
    ("l1.misses", May),
    ("l1.sector_misses", May),
    ("l1.requested_sectors", Up),
    ("l1.installed_lines", May),
    ("l1.prefetches", Up),
    ("l1.prefetch_hits", May),
    ("l1.prefetch_late", May),
    ("l1.prefetch_unused", May),
    ("l1.prefetch_dropped", May),
    ("interconnect.requests", May),
    ("interconnect.request_bytes", May),
    ("interconnect.replies", May),
    ("interconnect.reply_bytes", Up),
    ("l2.reads", May),
    ("l2.hits", May),
    ("l2.mshr_hits", May),
    ("l2.misses", May),
    ("l2.sector_misses", May),
    ("l2.fetched_sectors", May),
    ("dram.reads", May),
    ("dram.read_bytes", May),
    ("dram.row_hits", May),
    ("dram.row_empties", May),
    ("dram.row_conflicts", May),
    ("dram.activates", May),
    ("dram.precharges", May),
    ("dram.data_bus_busy_clocks", May),
    ("dram.requests", May),
];

/// Command distances that allow a bus of half the speed.
const SLOW_BUS: Values = &[("l2.slices", "1"), ("dram.t_ccd_s", "4"), ("dram.t_ccd_l", "4")];

/// A bus that is slower than everything else.
const SLOW_CHANNEL: Values = &[
    ("dram.transfers_per_clock", "1"),
    ("dram.t_ccd_s", "16"),
    ("dram.t_ccd_l", "16"),
    ("core.l1.mshrs", "16"),
    ("core.lsu.pending_entries", "16"),
];

/// One slice, so that line n of memory is line n of its channel, and enough space at all levels above.
const CHANNEL: Values = &[
    ("l2.slices", "1"),
    ("core.l1.mshrs", "16"),
    ("core.lsu.pending_entries", "16"),
    ("core.lsu.queue_entries", "16"),
    ("core.registers.collectors", "8"),
    ("l2.mshrs", "16"),
    ("l2.queue_entries", "16"),
    ("dram.queue_entries", "16"),
    ("interconnect.queue_entries", "16"),
    ("interconnect.port_bytes_per_cycle", "64"),
    ("dram.clock_mhz", "500"),
    ("dram.t_rrd_l", "40"),
    ("dram.t_faw", "200"),
    ("dram.t_ccd_l", "30"),
    ("dram.t_wtr_l", "90"),
];

fn every(count: u32, stride: u32) -> Vec<u32> {
    (0..count).map(|i| i * stride).collect()
}

/// Slower, with no other change.
const SLOWER: &[(&str, Move)] = &[("kernel.cycles", Up)];
/// Faster, with no other change.
const FASTER: &[(&str, Move)] = &[("kernel.cycles", Down)];

/// More L1 hits, so fewer L2 requests.
const MORE_L1_HITS: &[(&str, Move)] = &[
    ("kernel.cycles", Down),
    ("l1.hits", Up),
    ("l1.misses", Down),
    ("l1.evictions", Down),
    ("l1.installed_lines", Down),
    ("l1.requested_sectors", Down),
    ("interconnect.requests", Down),
    ("interconnect.request_bytes", Down),
    ("interconnect.replies", Down),
    ("interconnect.reply_bytes", Down),
    ("l2.reads", Down),
    ("l2.hits", Down),
];

/// More L2 hits, so fewer memory requests.
const MORE_L2_HITS: &[(&str, Move)] = &[
    ("kernel.cycles", Down),
    ("l2.hits", Up),
    ("l2.misses", Down),
    ("l2.evictions", Down),
    ("l2.fetched_sectors", Down),
    ("dram.reads", Down),
    ("dram.read_bytes", Down),
    ("dram.requests", Down),
    ("dram.row_hits", May),
    ("dram.row_conflicts", May),
    ("dram.activates", May),
    ("dram.precharges", May),
    ("dram.data_bus_busy_clocks", Down),
];

/// Lines of one bank, each in a different row: 8 rows of 1 KiB apart.
fn one_bank() -> Vec<u32> {
    every(8, 65_536)
}

/// Lines of different banks of one bank group.
fn one_group() -> Vec<u32> {
    every(4, 2048)
}

/// All sweeps, by section.
pub(crate) fn sweeps() -> Vec<Sweep> {
    let mut all = core();
    all.extend(interconnect());
    all.extend(l2());
    all.extend(l3());
    all.extend(dram());
    all.extend(timings());
    all
}

fn core() -> Vec<Sweep> {
    let sweep = |key, machine, before, after, work, moves| Sweep { key, machine, before, after, work, moves };
    vec![
        // 3 KiB, read repeatedly.
        sweep("core.l1.bytes", &[], "2048", "4096", chain(&every(48, 64), 3), MORE_L1_HITS),
        // Three lines of one set.
        sweep("core.l1.ways", &[], "2", "4", chain(&every(3, 1024), 3), MORE_L1_HITS),
        // Line after line: a miss brings the next one, too.
        sweep("core.l1.prefetcher", &[], "none", "next_line", chain(&every(16, 128), 1), PREFETCHES),
        sweep("core.l1.hit_latency_cycles", &[], "4", "9", chain(&every(4, 64), 3), SLOWER),
        sweep(
            "core.l1.line_bytes",
            &[("core.l1.sector_bytes", "32")],
            "64",
            "32",
            chain(&every(16, 32), 1),
            &[
                ("kernel.cycles", Any),
                ("l1.misses", Up),
                ("l1.sector_misses", Down),
                ("l1.installed_lines", Up),
                ("interconnect.reply_bytes", Down), // of code
                ("l2.sector_misses", Down),
                ("l2.misses", Up),
                ("l2.hits", Down),
                ("dram.row_hits", May),
                ("dram.row_empties", May),
                ("dram.row_conflicts", May),
                ("l2.fetched_sectors", Down),
                ("dram.reads", Down),
                ("dram.read_bytes", Down),
                ("dram.data_bus_busy_clocks", Down),
                ("dram.requests", Up),
            ],
        ),
        sweep(
            "core.l1.sector_bytes",
            &[],
            "32",
            "64",
            chain(&every(16, 32), 1),
            &[
                ("kernel.cycles", Down),
                ("l1.hits", Up),
                ("l1.sector_misses", Down),
                ("l1.requested_sectors", Down),
                ("interconnect.requests", Down),
                ("interconnect.request_bytes", Down),
                ("interconnect.replies", Down),
                ("interconnect.reply_bytes", Down),
                ("l2.reads", Down),
                ("l2.sector_misses", Down),
                ("l2.fetched_sectors", Down),
                ("dram.reads", May),
                ("dram.read_bytes", May),
                ("dram.writes", Up), // a whole sector of results
                ("dram.written_bytes", Up),
                ("dram.requests", Down),
                ("dram.row_hits", Down),
                ("dram.row_conflicts", May),
                ("dram.data_bus_busy_clocks", May),
            ],
        ),
        sweep(
            "core.l1.mshrs",
            &[],
            "4",
            "1",
            at_once(&every(8, 64), 4, 4),
            &[("kernel.cycles", Up), ("l1.fails_mshr", Up)],
        ),
        sweep(
            "core.l1.mshr_merges",
            &[],
            "2",
            "1",
            by_waves(2, &every(4, 64), 4, 4, 0),
            &[("kernel.cycles", Up), ("l1.fails_merge", Up)],
        ),
        // Four workgroups may have half of the 16 ways; 12 lines lie in one set.
        sweep(
            "core.l1.unified",
            &[("core.l1.bytes", "32_768"), ("core.l1.ways", "16")],
            "true",
            "false",
            chain(&every(12, 2048), 6),
            MORE_L1_HITS,
        ),
        sweep("core.l1.set_hash", &[], "none", "xor", chain(&every(3, 1024), 6), MORE_L1_HITS),
        // Each lane has a line of its own.
        sweep("core.l1.tag_banks", &[("core.l1.mshrs", "16")], "1", "4", spread(64, 4), FASTER),
        sweep("core.l1.banks", &[], "0", "1", chain(&every(8, 64), 2), &[("core.l1_passes", Up)]),
        sweep(
            "core.local.banks",
            &[],
            "8",
            "4",
            local(4, 8),
            &[("kernel.cycles", Up), ("core.local_passes", Up)],
        ),
        sweep(
            "core.local.bank_bytes",
            &[],
            "4",
            "8",
            local(8, 8),
            &[("kernel.cycles", Down), ("core.local_passes", Down)],
        ),
        // Three lines of one set of two ways: LRU always evicts the line that is needed next.
        sweep("core.l1.replacement", &[], "lru", "random", chain(&every(3, 1024), 6), MORE_L1_HITS),
        sweep(
            "core.l1.write_policy",
            &[],
            "write_through",
            "write_back",
            stores_and_loads(&[0, 0, 0, 0, 0, 0], &[]),
            &[
                ("kernel.cycles", Any),
                ("kernel.release_cycles", May),
                ("l1.store_hits", Up),
                ("l1.write_backs", Up),
                ("interconnect.requests", Down),
                ("interconnect.request_bytes", Down),
                ("interconnect.replies", Down),
                ("interconnect.reply_bytes", Down),
                ("l2.writes", Down),
                ("l2.hits", Down),
            ],
        ),
        sweep("core.local.latency_cycles", &[], "4", "9", local(4, 8), SLOWER),
        sweep("core.lsu.queue_entries", &[], "4", "1", by_waves(4, &every(8, 1024), 16, 16, 128), SLOWER),
        sweep("core.lsu.pending_entries", &[], "4", "1", by_waves(4, &every(8, 64), 4, 4, 512), SLOWER),
        // A load keeps its return entry until its row is written, so with a single entry it is alone.
        sweep(
            "core.lsu.extra_return_entries",
            &[("core.lsu.pending_entries", "1"), ("core.local.latency_cycles", "20")],
            "56",
            "0",
            local_at_once(8),
            SLOWER,
        ),
    ]
}

fn interconnect() -> Vec<Sweep> {
    let sweep = |key, machine, before, after, work, moves| Sweep { key, machine, before, after, work, moves };
    const MESH: Values = &[
        ("cores", "4"),
        ("l2.slices", "4"),
        ("interconnect.topology", "mesh"),
        ("interconnect.mesh_columns", "4"),
    ];
    const EDGES: Values = &[("interconnect.topology", "edges"), ("l2.slices", "1")];
    const LINK: &str = "[(from: \"core0\", to: \"slice0\", both_ways: true, latency_cycles: 2, bytes_per_cycle: 16, dateline: false)]";
    const LONG: &str = "[(from: \"core0\", to: \"slice0\", both_ways: true, latency_cycles: 5, bytes_per_cycle: 16, dateline: false)]";
    const NARROW: &str = "[(from: \"core0\", to: \"slice0\", both_ways: true, latency_cycles: 2, bytes_per_cycle: 8, dateline: false)]";
    const TURNED: &str = "[(from: \"slice0\", to: \"core0\", both_ways: true, latency_cycles: 2, bytes_per_cycle: 16, dateline: false)]";
    const DATELINE: &str = "[(from: \"core0\", to: \"slice0\", both_ways: true, latency_cycles: 2, bytes_per_cycle: 16, dateline: true)]";
    const ONE_WAY: &str = "[(from: \"core0\", to: \"slice0\", both_ways: false, latency_cycles: 2, bytes_per_cycle: 16, dateline: false), \
                            (from: \"slice0\", to: \"core0\", both_ways: false, latency_cycles: 2, bytes_per_cycle: 16, dateline: false)]";
    const THROUGH: &str = "[(from: \"core0\", to: \"x\", both_ways: true, latency_cycles: 2, bytes_per_cycle: 16, dateline: false), \
                            (from: \"x\", to: \"slice0\", both_ways: true, latency_cycles: 2, bytes_per_cycle: 16, dateline: false)]";
    let traffic = || by_groups(4, 16, 512);
    let work = || chain(&every(8, 64), 2);
    vec![
        sweep("interconnect.latency_cycles", &[], "2", "5", chain(&every(8, 64), 2), SLOWER),
        sweep("interconnect.port_bytes_per_cycle", &[], "16", "8", chain(&every(8, 64), 2), SLOWER),
        sweep(
            "interconnect.queue_entries",
            &[
                ("core.l1.mshrs", "16"),
                ("core.lsu.pending_entries", "16"),
                ("interconnect.port_bytes_per_cycle", "1"),
            ],
            "2",
            "8",
            by_waves(4, &every(8, 64), 16, 16, 512),
            &[("kernel.cycles", May), ("l1.fails_outgoing", Down)],
        ),
        sweep(
            "interconnect.topology",
            &[("interconnect.link_bytes_per_cycle", "16")],
            "crossbar",
            "ring",
            chain(&every(8, 64), 2),
            &[("kernel.cycles", Up), ("interconnect.hops", Up), ("interconnect.link_bytes", Up)],
        ),
        sweep(
            "interconnect.arbitration",
            MESH,
            "round_robin",
            "oldest",
            traffic(),
            &[("kernel.cycles", Any)],
        ),
        sweep("interconnect.link_latency_cycles", MESH, "2", "5", chain(&every(8, 64), 2), SLOWER),
        sweep("interconnect.link_bytes_per_cycle", MESH, "16", "8", chain(&every(8, 64), 2), SLOWER),
        sweep("interconnect.link_credits", MESH, "8", "1", traffic(), SLOWER),
        sweep(
            "interconnect.mesh_columns",
            MESH,
            "4",
            "8",
            chain(&every(8, 64), 2),
            &[("kernel.cycles", Any), ("interconnect.hops", Any), ("interconnect.link_bytes", Any)],
        ),
        sweep(
            "interconnect.edges",
            EDGES,
            LINK,
            THROUGH,
            work(),
            &[("kernel.cycles", Up), ("interconnect.hops", Up), ("interconnect.link_bytes", Up)],
        ),
        sweep("interconnect.edges[].latency_cycles", EDGES, LINK, LONG, work(), SLOWER),
        sweep("interconnect.edges[].bytes_per_cycle", EDGES, LINK, NARROW, work(), SLOWER),
        sweep("interconnect.edges[].from", EDGES, LINK, TURNED, work(), &[]),
        sweep("interconnect.edges[].to", EDGES, LINK, TURNED, work(), &[]),
        sweep("interconnect.edges[].both_ways", EDGES, LINK, ONE_WAY, work(), &[]),
        sweep("interconnect.edges[].dateline", EDGES, LINK, DATELINE, work(), &[]),
    ]
}

/// A bank of an L3 that is larger than the L2, behind one slice.
const BANK: Values = &[
    ("l2.slices", "1"),
    ("l2.slice_bytes", "2048"),
    ("l3.bank_bytes", "16_384"),
    ("l3.ways", "4"),
    ("l3.hit_latency_cycles", "2"),
    ("core.l1.mshrs", "16"),
    ("core.lsu.pending_entries", "16"),
    ("l2.mshrs", "16"),
    ("l2.queue_entries", "16"),
];

/// More L3 hits, so fewer requests to memory.
const MORE_L3_HITS: &[(&str, Move)] = &[
    ("kernel.cycles", Down),
    ("l3.hits", Up),
    ("l3.misses", Down),
    ("l3.evictions", Down),
    ("l3.fetched_sectors", Down),
    ("dram.reads", Down),
    ("dram.read_bytes", Down),
    ("dram.requests", Down),
    ("dram.row_hits", May),
    ("dram.row_conflicts", May),
    ("dram.activates", May),
    ("dram.precharges", May),
    ("dram.data_bus_busy_clocks", Down),
];

/// What an L3 counts that was not there before.
const AN_L3: &[(&str, Move)] = &[
    ("kernel.cycles", Down),
    ("l3.reads", Up),
    ("l3.writes", May),
    ("l3.hits", Up),
    ("l3.mshr_hits", May),
    ("l3.misses", Up),
    ("l3.sector_misses", May),
    ("l3.evictions", May),
    ("l3.write_backs", May),
    ("l3.fetched_sectors", Up),
    ("l3.read_sectors", Up),
    ("l3.written_sectors", May),
    ("dram.reads", Down),
    ("dram.read_bytes", Down),
    ("dram.writes", May),
    ("dram.written_bytes", May),
    ("dram.requests", Down),
    ("dram.row_hits", May),
    ("dram.row_empties", May),
    ("dram.row_conflicts", May),
    ("dram.activates", May),
    ("dram.precharges", May),
    ("dram.data_bus_busy_clocks", Down),
];

fn l3() -> Vec<Sweep> {
    let sweep = |key, machine, before, after, work, moves| Sweep { key, machine, before, after, work, moves };
    vec![
        sweep("l3.bank_bytes", BANK, "0", "16_384", chain(&every(160, 64), 6), AN_L3),
        sweep("l3.ways", BANK, "4", "8", chain(&every(6, 4096), 3), MORE_L3_HITS),
        sweep("l3.replacement", BANK, "lru", "random", chain(&every(5, 4096), 6), MORE_L3_HITS),
        sweep("l3.hit_latency_cycles", BANK, "10", "20", chain(&every(8, 64), 1), SLOWER),
        sweep("l3.bytes_per_cycle", BANK, "64", "4", chain(&every(8, 64), 1), SLOWER),
        sweep(
            "l3.mshrs",
            BANK,
            "8",
            "1",
            at_once(&every(8, 64), 4, 4),
            &[("kernel.cycles", Up), ("l3.reservation_fails", Up)],
        ),
        // Two sectors of one line, which the slice fetches one after the other.
        sweep(
            "l3.mshr_merges",
            BANK,
            "2",
            "1",
            at_once(&[0, 32, 64, 96, 128, 160, 192, 224], 4, 4),
            &[("kernel.cycles", Up), ("l3.reservation_fails", Up)],
        ),
        // Seven lines of one slice, followed by seven of the other, with a bank each.
        sweep(
            "l3.queue_entries",
            &[
                ("dram.channels", "2"),
                ("l3.bank_bytes", "16_384"),
                ("l3.ways", "4"),
                ("l3.mshrs", "1"),
                ("l2.mshrs", "16"),
                ("l2.queue_entries", "1"),
                ("core.l1.mshrs", "16"),
                ("core.lsu.pending_entries", "16"),
                ("dram.clock_mhz", "200"),
            ],
            "1",
            "8",
            at_once(&[0, 64], 4, 192),
            FASTER,
        ),
    ]
}

fn l2() -> Vec<Sweep> {
    let sweep = |key, machine, before, after, work, moves| Sweep { key, machine, before, after, work, moves };
    const ONE: Values = &[("l2.slices", "1"), ("core.l1.mshrs", "16"), ("core.lsu.pending_entries", "16")];
    vec![
        // Limited by the reply ports of the slices.
        sweep(
            "l2.slices",
            &[("interconnect.port_bytes_per_cycle", "8"), ("cores", "4")],
            "1",
            "4",
            by_groups(4, 16, 512),
            &[("kernel.cycles", Down), ("l2.evictions", Down)],
        ),
        sweep("l2.slice_bytes", ONE, "8192", "16_384", chain(&every(160, 64), 2), MORE_L2_HITS),
        sweep("l2.ways", ONE, "4", "8", chain(&every(6, 8192), 3), MORE_L2_HITS),
        sweep("l2.replacement", ONE, "lru", "random", chain(&every(5, 8192), 6), MORE_L2_HITS),
        sweep("l2.set_hash", ONE, "none", "xor", chain(&every(5, 8192), 6), MORE_L2_HITS),
        // Lines at a stride of all slices.
        sweep(
            "l2.slice_hash",
            &[
                ("interconnect.port_bytes_per_cycle", "8"),
                ("cores", "4"),
                ("l2.slices", "4"),
                ("l2.slice_bytes", "65_536"),
            ],
            "none",
            "xor",
            by_groups(4, 16, 1024),
            FASTER,
        ),
        sweep(
            "l2.partitions",
            &[("cores", "2"), ("l2.partition_latency_cycles", "20")],
            "1",
            "2",
            chain(&every(8, 64), 2),
            SLOWER,
        ),
        sweep(
            "l2.partition_latency_cycles",
            &[("cores", "2"), ("l2.partitions", "2")],
            "0",
            "20",
            chain(&every(8, 64), 2),
            SLOWER,
        ),
        sweep("l2.hit_latency_cycles", &[], "6", "11", chain(&every(8, 64), 2), SLOWER),
        sweep(
            "l2.mshrs",
            ONE,
            "4",
            "1",
            at_once(&every(8, 64), 4, 4),
            &[("kernel.cycles", Up), ("l2.reservation_fails", Up)],
        ),
        sweep(
            "l2.mshr_merges",
            &[("l2.slices", "1"), ("cores", "2")],
            "2",
            "1",
            by_groups(2, 6, 64),
            &[("kernel.cycles", Up), ("l2.reservation_fails", Up)],
        ),
        // Four lines of one slice, followed by four of the other.
        sweep(
            "l2.queue_entries",
            &[
                ("l2.mshrs", "1"),
                ("core.l1.mshrs", "16"),
                ("core.lsu.pending_entries", "16"),
                ("dram.clock_mhz", "200"),
            ],
            "1",
            "8",
            at_once(&[0, 192, 320, 384, 64, 128, 256, 448], 4, 4),
            FASTER,
        ),
    ]
}

fn dram() -> Vec<Sweep> {
    let sweep = |key, machine, before, after, work, moves| Sweep { key, machine, before, after, work, moves };
    vec![
        sweep("dram.channels", SLOW_CHANNEL, "1", "2", at_once(&every(8, 64), 16, 16), FASTER),
        sweep(
            "dram.banks",
            CHANNEL,
            "8",
            "16",
            chain(&every(8, 65_536), 1),
            &[("kernel.cycles", Down), ("dram.row_conflicts", Down)],
        ),
        sweep("dram.latency_cycles", &[], "0", "25", chain(&every(8, 64), 2), SLOWER),
        sweep(
            "dram.bank_hash",
            CHANNEL,
            "xor",
            "none",
            chain(&every(8, 8192), 1),
            &[("kernel.cycles", Up), ("dram.row_conflicts", Up)],
        ),
        sweep("dram.bank_groups", CHANNEL, "1", "2", at_once(&every(8, 64), 16, 16), FASTER),
        sweep(
            "dram.row_bytes",
            CHANNEL,
            "1024",
            "2048",
            chain(&every(8, 1024), 1),
            &[("kernel.cycles", Down), ("dram.row_hits", Up)],
        ),
        sweep("dram.clock_mhz", CHANNEL, "1750", "875", chain(&every(8, 1024), 1), SLOWER),
        sweep(
            "dram.bus_bits",
            SLOW_BUS,
            "16",
            "8",
            chain(&every(8, 1024), 1),
            &[("kernel.cycles", Up), ("dram.data_bus_busy_clocks", Up)],
        ),
        sweep(
            "dram.transfers_per_clock",
            SLOW_BUS,
            "8",
            "4",
            chain(&every(8, 1024), 1),
            &[("kernel.cycles", Up), ("dram.data_bus_busy_clocks", Up)],
        ),
        sweep(
            "dram.burst_bytes",
            CHANNEL,
            "32",
            "16",
            chain(&every(8, 1024), 1),
            &[("kernel.cycles", Up), ("dram.reads", Up), ("dram.writes", Up)],
        ),
        // Lines alternate between two rows of one bank.
        sweep(
            "dram.policy",
            CHANNEL,
            "fcfs",
            "fr_fcfs",
            at_once(&[0, 65_536, 128, 65_536 + 128, 256, 65_536 + 256, 384, 65_536 + 384], 4, 4),
            &[("kernel.cycles", Down), ("dram.row_hits", Up), ("dram.row_conflicts", Down)],
        ),
        // Lines alternate between two rows of one bank. The oldest request for the closed row waits for one burst
        // of the open row only, alone while its row opens. The memory is slow, so that requests wait for it.
        sweep(
            "dram.overtake_limit",
            &[
                ("l2.slices", "1"),
                ("core.l1.mshrs", "16"),
                ("core.lsu.pending_entries", "16"),
                ("l2.mshrs", "16"),
                ("l2.queue_entries", "16"),
                ("dram.queue_entries", "16"),
                ("dram.policy", "fr_fcfs"),
                ("dram.clock_mhz", "500"),
            ],
            "64",
            "1",
            at_once(&[0, 65_536, 128, 65_536 + 128, 256, 65_536 + 256, 384, 65_536 + 384], 4, 4),
            SLOWER,
        ),
        sweep(
            "dram.drain_high",
            &[
                ("l2.slices", "1"),
                ("l2.slice_bytes", "2048"),
                ("core.l1.mshrs", "16"),
                ("core.lsu.pending_entries", "16"),
                ("l2.mshrs", "16"),
                ("l2.queue_entries", "16"),
                ("dram.queue_entries", "16"),
                ("dram.clock_mhz", "200"),
                ("dram.policy", "fr_fcfs"),
            ],
            "0",
            "8",
            stores_and_loads(&every(64, 192), &every(64, 320)),
            &[("kernel.cycles", Any)],
        ),
        sweep("dram.queue_entries", CHANNEL, "1", "16", at_once(&every(8, 2048), 4, 4), FASTER),
    ]
}

/// DRAM timings. Each sweep lengthens one that the kernel waits for.
fn timings() -> Vec<Sweep> {
    const GROUPS: Values = &[
        ("l2.slices", "1"),
        ("core.l1.mshrs", "16"),
        ("core.lsu.pending_entries", "16"),
        ("dram.clock_mhz", "500"),
        ("dram.t_rrd_l", "150"),
        ("dram.t_faw", "200"),
    ];
    const REFRESHED: Values = &[("l2.slices", "1"), ("dram.t_refi", "600")];
    let sweep = |key, before, after, work, moves| Sweep { key, machine: CHANNEL, before, after, work, moves };
    vec![
        sweep("dram.t_rcd", "24", "40", chain(&one_bank(), 1), SLOWER),
        sweep("dram.t_rp", "20", "24", chain(&one_bank(), 1), SLOWER),
        sweep("dram.t_cl", "24", "40", chain(&one_bank(), 1), SLOWER),
        // Not observable: t_rc is at least t_ras + t_rp and delays the next activate just as long.
        sweep("dram.t_ras", "40", "52", at_once(&one_bank(), 4, 4), &[]),
        sweep("dram.t_rc", "76", "120", at_once(&one_bank(), 4, 4), SLOWER),
        Sweep { machine: GROUPS, ..sweep("dram.t_rrd_s", "7", "150", at_once(&every(2, 64), 4, 4), SLOWER) },
        sweep("dram.t_rrd_l", "9", "150", at_once(&one_group(), 4, 4), SLOWER),
        sweep("dram.t_faw", "28", "200", at_once(&every(8, 2048), 4, 4), SLOWER),
        sweep("dram.t_ccd_s", "2", "30", at_once(&every(8, 64), 16, 16), SLOWER),
        sweep("dram.t_ccd_l", "3", "30", at_once(&every(8, 64), 16, 16), SLOWER),
        sweep(
            "dram.t_cwl",
            "6",
            "20",
            stores_and_loads(&every(8, 64), &[]),
            &[("kernel.release_cycles", Up)],
        ),
        sweep("dram.t_wtr_s", "9", "90", stores_and_loads(&every(160, 64), &every(160, 64)), SLOWER),
        sweep("dram.t_wtr_l", "11", "90", stores_and_loads(&every(160, 64), &every(160, 64)), SLOWER),
        sweep("dram.t_rtp", "2", "60", at_once(&one_bank(), 4, 4), SLOWER),
        sweep("dram.t_wr", "24", "80", stores_and_loads(&one_bank(), &[]), &[("kernel.release_cycles", Up)]),
        Sweep {
            machine: REFRESHED,
            ..sweep(
                "dram.t_rfc",
                "210",
                "400",
                chain(&every(48, 1024), 1),
                &[("kernel.cycles", Up), ("dram.refreshes", Up)],
            )
        },
        sweep(
            "dram.t_refi",
            "0",
            "600",
            chain(&every(48, 1024), 1),
            &[("kernel.cycles", Up), ("dram.refreshes", Up)],
        ),
    ]
}
