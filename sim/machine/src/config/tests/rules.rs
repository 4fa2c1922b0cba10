//! Each check accepts the last valid value and rejects the first invalid one.

use super::super::rules::RULES;
use super::*;
use wave_isa::diagnostic::Severity;

/// Keys and values.
type Changes = &'static [(&'static str, &'static str)];

/// For each rule, a barely valid and a barely invalid configuration, as changes of gpu.ron.
const EDGES: &[(&str, Changes, Changes)] = &[
    ("device_memory_bytes", &[("device_memory_bytes", "65664")], &[("device_memory_bytes", "65665")]),
    ("core.max_waves", &[("core.max_waves", "36")], &[("core.max_waves", "34")]),
    (
        "core.max_workgroup_size",
        &[("core.max_workgroup_size", "1024"), ("core.max_waves", "32")],
        &[("core.max_workgroup_size", "1025"), ("core.max_waves", "32")],
    ),
    (
        "core.max_registers",
        &[("core.register_file_bytes", "131072")],
        &[("core.register_file_bytes", "131068")],
    ),
    (
        "core.local_memory_bytes",
        &[("core.local_memory_bytes", "65664")],
        &[("core.local_memory_bytes", "65668")],
    ),
    (
        "core.fetch.buffer_entries",
        &[("core.fetch.buffer_entries", "4")],
        &[("core.fetch.buffer_entries", "3")],
    ),
    (
        "core.fetch.icache_line_bytes",
        &[("core.fetch.words", "4"), ("core.fetch.icache_line_bytes", "16")],
        &[("core.fetch.words", "8"), ("core.fetch.icache_line_bytes", "16")],
    ),
    (
        "core.fetch.icache_line_bytes",
        &[("core.fetch.icache_line_bytes", "64"), ("core.l1.line_bytes", "64")],
        &[("core.fetch.icache_line_bytes", "128"), ("core.l1.line_bytes", "64")],
    ),
    ("core.fetch.icache_bytes", &[("core.fetch.icache_ways", "8")], &[("core.fetch.icache_ways", "6")]),
    (
        "core.issue.width",
        &[("core.issue.width", "8")],
        &[("core.issue.width", "8"), ("core.schedulers", "8")],
    ),
    (
        "core.issue.two_level_active",
        &[("core.issue.policy", "two_level"), ("core.issue.width", "4")],
        &[("core.issue.policy", "two_level"), ("core.issue.width", "5")],
    ),
    (
        "core.registers.write_ports",
        &[("core.registers.write_ports", "4")],
        &[("core.registers.write_ports", "5")],
    ),
    (
        "core.l1.sector_bytes",
        &[
            ("core.l1.sector_bytes", "64"),
            ("core.l1.line_bytes", "64"),
            ("core.fetch.icache_line_bytes", "64"),
        ],
        &[
            ("core.l1.sector_bytes", "128"),
            ("core.l1.line_bytes", "64"),
            ("core.fetch.icache_line_bytes", "64"),
        ],
    ),
    ("core.l1.bytes", &[("core.l1.bytes", "1024")], &[("core.l1.bytes", "3072")]),
    (
        "core.l1.unified",
        &[
            ("core.l1.unified", "true"),
            ("core.l1.bytes", "131072"),
            ("core.l1.ways", "16"),
            ("core.local_memory_bytes", "122880"),
        ],
        &[
            ("core.l1.unified", "true"),
            ("core.l1.bytes", "131072"),
            ("core.l1.ways", "16"),
            ("core.local_memory_bytes", "131072"),
        ],
    ),
    (
        "core.l1.unified",
        &[
            ("core.l1.unified", "true"),
            ("core.l1.bytes", "131072"),
            ("core.l1.ways", "16"),
            ("core.l1.replacement", "fifo"),
        ],
        &[
            ("core.l1.unified", "true"),
            ("core.l1.bytes", "131072"),
            ("core.l1.ways", "16"),
            ("core.l1.replacement", "plru"),
        ],
    ),
    ("core.l1.banks", &[("core.l1.banks", "32")], &[("core.l1.banks", "24")]),
    ("l2.partitions", &[("l2.partitions", "8")], &[("l2.partitions", "16")]),
    ("l2.slice_bytes", &[("l2.slice_bytes", "2048")], &[("l2.slice_bytes", "1024")]),
    (
        "core.l1.replacement",
        &[("core.l1.replacement", "plru"), ("core.l1.ways", "8")],
        &[("core.l1.replacement", "plru"), ("core.l1.ways", "12"), ("core.l1.bytes", "98304")],
    ),
    (
        "l2.replacement",
        &[("l2.replacement", "plru"), ("l2.ways", "8")],
        &[("l2.replacement", "plru"), ("l2.ways", "12"), ("l2.slice_bytes", "196608")],
    ),
    (
        "l3.bank_bytes",
        &[("l3.bank_bytes", "4096"), ("l3.ways", "16")],
        &[("l3.bank_bytes", "6144"), ("l3.ways", "16")],
    ),
    (
        "l3.replacement",
        &[("l3.replacement", "plru"), ("l3.ways", "8")],
        &[("l3.replacement", "plru"), ("l3.ways", "12")],
    ),
    ("dram.channels", &[("dram.channels", "8")], &[("dram.channels", "16")]),
    ("dram.bank_groups", &[("dram.bank_groups", "16")], &[("dram.bank_groups", "32")]),
    ("dram.row_bytes", &[("dram.row_bytes", "128")], &[("dram.row_bytes", "64")]),
    (
        "dram.burst_bytes",
        &[
            ("dram.burst_bytes", "64"),
            ("core.l1.line_bytes", "64"),
            ("core.fetch.icache_line_bytes", "64"),
            ("dram.bus_bits", "32"),
        ],
        &[
            ("dram.burst_bytes", "128"),
            ("core.l1.line_bytes", "64"),
            ("core.fetch.icache_line_bytes", "64"),
            ("dram.bus_bits", "64"),
        ],
    ),
    ("dram.burst_bytes", &[("dram.burst_bytes", "16")], &[("dram.burst_bytes", "8")]),
    ("dram.t_ccd_s", &[("dram.t_ccd_s", "2")], &[("dram.t_ccd_s", "1")]),
    (
        "dram.drain_high",
        &[("dram.drain_high", "16"), ("dram.drain_low", "15")],
        &[("dram.drain_high", "16"), ("dram.drain_low", "16")],
    ),
    ("dram.t_ras", &[("dram.t_ras", "24")], &[("dram.t_ras", "23")]),
    ("dram.t_rc", &[("dram.t_rc", "76")], &[("dram.t_rc", "75")]),
    ("dram.t_rrd_l", &[("dram.t_rrd_l", "7")], &[("dram.t_rrd_l", "6")]),
    ("dram.t_ccd_l", &[("dram.t_ccd_l", "2")], &[("dram.t_ccd_l", "1")]),
    ("dram.t_wtr_l", &[("dram.t_wtr_l", "9")], &[("dram.t_wtr_l", "8")]),
    ("dram.t_faw", &[("dram.t_faw", "7")], &[("dram.t_faw", "6")]),
    ("dram.t_refi", &[("dram.t_refi", "311")], &[("dram.t_refi", "310")]),
];

#[test]
fn each_rule_has_its_edge() {
    let first_keys: Vec<&str> = RULES.iter().map(|rule| rule.keys[0]).collect();
    let tested: Vec<&str> = EDGES.iter().map(|(key, _, _)| *key).collect();
    assert_eq!(tested, first_keys, "every rule has one row here, in its order");
    for ((key, right, wrong), rule) in EDGES.iter().zip(RULES) {
        let found = |values| match from_text("x.ron", &stating(values)) {
            Ok((_, found)) | Err(found) => found.iter().map(Diagnostic::to_string).collect::<Vec<_>>(),
        };
        assert_eq!(found(right), [""; 0], "{key}");
        let found = found(wrong);
        assert_eq!(found.len(), 1, "{key}: {found:#?}");
        let severity = if rule.severity == Severity::Error { "error" } else { "warning" };
        assert!(found[0].starts_with(&format!("{severity}: `{key}` is ")), "{}", found[0]);
        assert!(rule.keys.iter().all(|key| found[0].contains(&format!("`{key}` is "))), "{}", found[0]);
    }
}

/// The minimum values required by section 8 of the instruction set.
#[test]
fn the_minima_of_the_instruction_set_are_kept() {
    let minima = [
        ("core.max_registers", 64),
        ("core.register_file_bytes", 16_384),
        ("core.local_memory_bytes", 16_384),
        ("core.max_workgroup_size", 256),
        ("core.max_workgroups", 1),
        ("core.max_waves", 4),
        ("core.call_depth", 8),
        ("core.divergence_depth", 32),
    ];
    for (key, least) in minima {
        let range = format!("error: `{key}` is {}: it must be ", least - 1);
        let found = errors(from_text("x.ron", &stating(&[(key, &(least - 1).to_string())])));
        assert!(found.iter().any(|e| e.starts_with(&range)), "{key}: {found:#?}");
        let found = errors(from_text("x.ron", &stating(&[(key, &least.to_string())])));
        assert!(found.iter().all(|e| !e.contains("it must be ")), "{key}: {found:#?}");
    }
    // All minima together are a valid machine.
    let mut values: Vec<(&str, String)> = minima.iter().map(|&(key, v)| (key, v.to_string())).collect();
    values.extend([("core.wave_width", "64".into()), ("core.schedulers", "1".into())]);
    let values: Vec<(&str, &str)> = values.iter().map(|(key, v)| (*key, v.as_str())).collect();
    assert_eq!(errors(from_text("x.ron", &stating(&values))), [""; 0]);
}

#[test]
fn a_narrow_wave_is_a_warning_and_a_wide_one_an_error() {
    for (lanes, warned) in [("1", true), ("2", true), ("4", true)] {
        let (config, warnings) = from_text("x.ron", &stating(&[("core.wave_width", lanes)])).unwrap();
        assert_eq!(config.core.wave_width.to_string(), lanes);
        assert_eq!(!warnings.is_empty(), warned);
    }
    let fits = [("core.wave_width", "8"), ("core.max_workgroup_size", "256")];
    assert_eq!(from_text("x.ron", &stating(&fits)).unwrap().1, []);
    assert_eq!(errors(from_text("x.ron", &stating(&[("core.wave_width", "128")]))).len(), 1);
    assert_eq!(errors(from_text("x.ron", &stating(&[("core.wave_width", "0")]))).len(), 1);
}

#[test]
fn a_configuration_changed_after_loading_can_be_checked() {
    let mut config = Config::example();
    assert_eq!(config.check(), []);
    config.core.wave_width = 0;
    config.core.l1.ways = 0;
    config.core.l1.line_bytes = 0;
    config.core.schedulers = 0;
    config.core.local.banks = 0;
    config.dram.channels = 0;
    config.core.max_registers = u32::MAX;
    config.l2.ways = u32::MAX;
    config.device_memory_bytes = u64::MAX;
    let found = config.check();
    assert_eq!(found.len(), 9, "{found:#?}");
    assert!(found.iter().all(|d| d.place.is_none() && d.message.contains("must be")));
}

#[test]
fn classes_may_be_left_out_only_with_their_capability() {
    let units = |classes: &[&str]| {
        let classes: String =
            classes.iter().map(|c| format!("(class: {c}, latency_cycles: 1, passes: 1), ")).collect();
        format!("[(name: \"all\", lanes: 32, classes: [{classes}])]")
    };
    let base = ["int", "int_mul", "int_div", "fp32", "fp32_div", "fp16", "convert", "sfu", "wave"];
    let with = |f64: &str, mma: &str, more: &[&str]| {
        let units = units(&[&base, more].concat());
        let values = [("capabilities.f64", f64), ("capabilities.mma", mma), ("core.units", &units)];
        errors(from_text("x.ron", &stating(&values)))
    };
    assert_eq!(with("false", "false", &[]), [""; 0]);
    assert_eq!(with("false", "false", &["mma", "fp64"]), [""; 0]);
    assert_eq!(with("true", "true", &["mma", "fp64", "fp64_div"]), [""; 0]);
    assert!(with("true", "false", &["fp64"])[0].contains("serves the class `fp64_div`"));
    assert!(with("false", "true", &[])[0].contains("serves the class `mma`"));
    assert!(with("false", "false", &["int"])[0].contains("`int` is served twice"));
    for class in ["local_memory", "device_memory", "control", "sync"] {
        assert!(with("false", "false", &[class])[0].contains("no unit may serve"), "{class}");
    }
}
