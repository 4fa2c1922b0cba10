//! Messages about wrong configurations: every case with its whole message, in `golden/config_messages.txt`.
//! `UPDATE=1 cargo test --test config_messages` rewrites the file; read the difference before you commit it.

use wave_testing::golden;

use std::fmt::Write;
use wave_machine::config::{from_text, load};

/// Texts, named after the mistake in them.
const TEXTS: &[(&str, &str)] = &[
    ("empty file", ""),
    ("only a comment", "// nothing yet\n"),
    ("not RON: prose", "sixteen cores, please\n"),
    ("not RON: TOML", "cores = 16\n[core]\nwave_width = 32\n"),
    ("not RON: JSON", "{\n  \"cores\": 16\n}\n"),
    ("no parentheses around the file", "cores: 16,\ncore_clock_mhz: 1000,\n"),
    ("equals sign", "(\n    cores = 16,\n)\n"),
    ("quoted key", "(\n    \"cores\": 16,\n)\n"),
    ("dotted key", "(\n    core.issue.width: 2,\n)\n"),
    ("missing comma", "(\n    cores: 16 // all of them\n    core_clock_mhz: 1000,\n)\n"),
    ("unit after a number", "(\n    core: (l1: (bytes: 64 KB, ways: 8)),\n)\n"),
    ("expression", "(\n    device_memory_bytes: 1 << 26,\n)\n"),
    ("missing parenthesis at the end", "(\n    cores: 16,\n    core: (\n        wave_width: 32,\n    ),\n"),
    (
        "missing parenthesis inside",
        "(\n    core: (\n        wave_width: 32,\n    l2: (slices: 8),\n    cores: 4,\n)\n",
    ),
    ("wrong bracket", "(\n    core: (units: [(name: \"int\", lanes: 32, classes: []),)),\n)\n"),
    ("one parenthesis too many", "(\n    cores: 16,\n))\n"),
    ("unclosed string", "(\n    name: \"mine,\n    cores: 16,\n)\n"),
    ("unclosed comment", "(\n    cores: 16, /* all of them\n)\n"),
    ("hash comment", "# my machine\n(cores: 16)\n"),
    ("value missing", "(\n    cores: ,\n)\n"),
    ("two values without keys", "(\n    16, 1000,\n)\n"),
    (
        "deep nesting",
        "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((",
    ),
    ("typo in a key", "(\n    coers: 16,\n)\n"),
    ("typo in an inner key", "(\n    core: (\n        issue: (polcy: gto),\n    ),\n)\n"),
    ("key of another section", "(\n    cores: 16,\n    wave_width: 32,\n)\n"),
    ("key of several sections", "(\n    hit_latency_cycles: 20,\n)\n"),
    ("key from nowhere", "(\n    dram: (colour: 1750),\n)\n"),
    (
        "several wrong keys and values",
        "(\n    coers: 16,\n    core: (wave_width: \"32\", issue: (policy: lru)),\n    l2: (slice: 8),\n)\n",
    ),
    ("key stated twice", "(\n    cores: 16,\n    core_clock_mhz: 1000,\n    cores: 32,\n)\n"),
    ("string for a number", "(\n    cores: \"16\",\n)\n"),
    ("fraction for a number", "(\n    core_clock_mhz: 1.5,\n)\n"),
    ("word for a truth value", "(\n    capabilities: (f64: yes),\n)\n"),
    ("unquoted string", "(\n    name: mine,\n)\n"),
    ("quoted choice", "(\n    core: (issue: (policy: \"gto\")),\n)\n"),
    ("unknown choice", "(\n    core: (issue: (policy: gtoo)),\n)\n"),
    (
        "unknown class",
        "(\n    core: (units: [(name: \"int\", lanes: 8, classes: [(class: integer, latency_cycles: 1, passes: 1)])]),\n)\n",
    ),
    ("number for a section", "(\n    l2: 4194304,\n)\n"),
    ("braces for a section", "(\n    l2: {slices: 8},\n)\n"),
    ("section for a list", "(\n    core: (units: (name: \"int\", lanes: 32)),\n)\n"),
    ("wrong struct name", "Config(\n    core: Cluster(wave_width: 32),\n)\n"),
    ("negative number", "(\n    cores: -4,\n)\n"),
    ("huge number", "(\n    cores: 99999999999999999999999999999999999999999999,\n)\n"),
    ("more than 32 bits", "(\n    core: (register_file_bytes: 5_000_000_000),\n)\n"),
    ("zero", "(\n    cores: 0,\n)\n"),
    ("not a power of two", "(\n    core: (wave_width: 24),\n)\n"),
    ("wave too wide", "(\n    core: (wave_width: 128),\n)\n"),
    (
        "below the minimum of the instruction set",
        "(\n    core: (\n        max_registers: 32,\n        local_memory_bytes: 8192,\n        divergence_depth: 16,\n        call_depth: 4,\n    ),\n)\n",
    ),
    (
        "wave narrower than the instruction set asks for",
        "(\n    core: (wave_width: 4, max_workgroup_size: 256, max_waves: 64),\n)\n",
    ),
    (
        "sector larger than line",
        "(\n    core: (\n        fetch: (icache_line_bytes: 32),\n        l1: (\n            line_bytes: 32,\n            sector_bytes: 64,\n        ),\n    ),\n)\n",
    ),
    (
        "sector larger than the line of the base",
        "(\n    base: \"rtl.ron\",\n    core: (l1: (sector_bytes: 64)),\n)\n",
    ),
    (
        "line of the instruction cache longer than that of the L1",
        "(\n    core: (\n        fetch: (icache_line_bytes: 256),\n    ),\n)\n",
    ),
    (
        "line of the L1 shorter than that of the instruction cache",
        "(\n    core: (\n        l1: (line_bytes: 64),\n    ),\n)\n",
    ),
    ("buffer smaller than a fetch", "(\n    core: (fetch: (buffer_entries: 2)),\n)\n"),
    ("register file too small", "(\n    core: (register_file_bytes: 65_536),\n)\n"),
    ("workgroup larger than the wave slots", "(\n    core: (max_waves: 16),\n)\n"),
    ("waves not shared evenly", "(\n    core: (schedulers: 3),\n)\n"),
    ("sets not a power of two", "(\n    core: (l1: (bytes: 49_152)),\n    l2: (ways: 12),\n)\n"),
    ("channels without slices", "(\n    l2: (slices: 4),\n    dram: (channels: 8),\n)\n"),
    (
        "DRAM timing that contradicts itself",
        "(\n    dram: (\n        t_rcd: 24,\n        t_ras: 20,\n        t_refi: 100,\n        bus_bits: 8,\n    ),\n)\n",
    ),
    (
        "links without a way back",
        "(\n    cores: 1,\n    l2: (slices: 1),\n    dram: (channels: 1),\n    interconnect: (\n        topology: edges,\n        edges: [\n            (from: \"core0\", to: \"slice0\", both_ways: false, latency_cycles: 1, bytes_per_cycle: 32, dateline: false),\n        ],\n    ),\n)\n",
    ),
    (
        "links that can wait for one another",
        "(\n    cores: 2,\n    l2: (slices: 2),\n    dram: (channels: 1),\n    interconnect: (\n        topology: edges,\n        edges: [\n            (from: \"core0\", to: \"slice0\", both_ways: false, latency_cycles: 1, bytes_per_cycle: 32, dateline: false),\n            (from: \"slice0\", to: \"core1\", both_ways: false, latency_cycles: 1, bytes_per_cycle: 32, dateline: false),\n            (from: \"core1\", to: \"slice1\", both_ways: false, latency_cycles: 1, bytes_per_cycle: 32, dateline: false),\n            (from: \"slice1\", to: \"core0\", both_ways: false, latency_cycles: 1, bytes_per_cycle: 32, dateline: false),\n        ],\n    ),\n)\n",
    ),
    ("memory part that is not there", "(\n    dram: (part: \"hbm3.ron\"),\n)\n"),
    (
        "class served by two units and one by none",
        "(\n    capabilities: (f64: true, mma: false),\n    core: (\n        units: [\n            (name: \"alu\", lanes: 32, classes: [\n                (class: int, latency_cycles: 2, passes: 1),\n                (class: int_mul, latency_cycles: 3, passes: 1),\n                (class: int_div, latency_cycles: 16, passes: 8),\n                (class: fp32, latency_cycles: 3, passes: 1),\n                (class: fp32_div, latency_cycles: 16, passes: 8),\n                (class: fp16, latency_cycles: 3, passes: 1),\n                (class: wave, latency_cycles: 4, passes: 1),\n                (class: sfu, latency_cycles: 4, passes: 1),\n            ]),\n            (name: \"more\", lanes: 32, classes: [\n                (class: fp16, latency_cycles: 3, passes: 1),\n                (class: control, latency_cycles: 3, passes: 1),\n            ]),\n            (name: \"more\", lanes: 32, classes: []),\n        ],\n    ),\n)\n",
    ),
    (
        "item of a list incomplete",
        "(\n    core: (\n        units: [\n            (name: \"int\", lanes: 32, classes: [\n                (class: int, passes: 1),\n            ]),\n            (name: \"fp32\"),\n        ],\n    ),\n)\n",
    ),
    (
        "item of a list out of range",
        "(\n    capabilities: (f64: false, mma: false),\n    core: (\n        units: [\n            (name: \"all of it\", lanes: 0, classes: [\n                (class: int, latency_cycles: 0, passes: 1),\n            ]),\n        ],\n    ),\n)\n",
    ),
    ("base that is not there", "(\n    base: \"h100.ron\",\n    cores: 16,\n)\n"),
];

/// Names that are not there.
const NAMES: &[&str] = &["gpu2.ron", "configs/tiny.ron", "mi300", "nowhere/machine.ron", "src", ""];

fn render(result: Result<(), Vec<wave_isa::diagnostic::Diagnostic>>) -> String {
    match result {
        Ok(()) => "loads\n".into(),
        Err(found) => found.iter().map(|d| format!("{d}\n")).collect(),
    }
}

#[test]
fn messages_are_as_recorded() {
    let mut all = String::new();
    for (name, text) in TEXTS {
        let result = from_text("mine.ron", text);
        if let Ok((_, warnings)) = &result {
            assert!(!warnings.is_empty(), "{name} has nothing wrong");
        }
        let shown = match result {
            Ok((_, warnings)) => render(Err(warnings)),
            Err(found) => render(Err(found)),
        };
        write!(all, "=== {name}\n{shown}\n").unwrap();
    }
    for name in NAMES {
        write!(all, "=== load {name:?}\n{}\n", render(load(name).map(drop))).unwrap();
    }
    golden::check("sim/machine/tests/golden/config_messages.txt", &all);
}
