//! The numbers of the RTL equal those of `configs/rtl.ron`, and its sources pass lint.

use crate::bench::{config, root};
use std::collections::BTreeMap;
use std::process::Command;
use wave_isa::ExecClass;
use wave_machine::config::{DivergenceMode, IssuePolicy};
use wave_verify::rtl;

/// The parameters of `wave_core_pkg.sv` that follow the configuration, by name.
fn parameters() -> BTreeMap<String, u32> {
    let text = std::fs::read_to_string(root().join("rtl-tests/rtl/wave_core_pkg.sv")).expect("the package");
    let (head, _) =
        text.split_once("  // A result is written that many cycles").expect("where the numbers end");
    let waves = head.lines().find_map(|l| l.strip_prefix("`define WAVE_MAX_WAVES ")).expect("a default");
    let value = |text: &str| match text.trim() {
        "`WAVE_MAX_WAVES" => waves.parse().expect("a number"),
        other => other.rsplit('d').next().and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{other}")),
    };
    let lines = head.lines().filter_map(|l| l.trim().strip_prefix("localparam ")?.strip_suffix(';'));
    lines
        .map(|l| {
            let (name, number) = l.split_once(" = ").expect("a value");
            (name.split(' ').next_back().expect("a name").to_owned(), value(number))
        })
        .collect()
}

#[test]
fn the_numbers_are_those_of_the_configuration() {
    let config = config();
    let core = &config.core;
    let mut expected = BTreeMap::from(
        [
            ("WAVE_WIDTH", core.wave_width),
            ("MAX_REGISTERS", core.max_registers),
            ("REGISTER_FILE_BYTES", core.register_file_bytes),
            ("LOCAL_MEMORY_BYTES", core.local_memory_bytes),
            ("MAX_WORKGROUPS", core.max_workgroups),
            ("MAX_WAVES", core.max_waves),
            ("DIVERGENCE_DEPTH", core.divergence_depth),
            ("CALL_DEPTH", core.call_depth),
            ("BRANCH_LATENCY_CYCLES", core.branch_latency_cycles),
            ("LOCAL_POISON", u32::from(core.local_poison)),
            ("FETCH_WORDS", core.fetch.words),
            ("FETCH_BUFFER_ENTRIES", core.fetch.buffer_entries),
            ("FETCH_ICACHE_BYTES", core.fetch.icache_bytes),
            ("FETCH_ICACHE_LINE_BYTES", core.fetch.icache_line_bytes),
            ("FETCH_ICACHE_WAYS", core.fetch.icache_ways),
            ("FETCH_ICACHE_LATENCY_CYCLES", core.fetch.icache_latency_cycles),
            ("FETCH_ICACHE_MSHRS", core.fetch.icache_mshrs),
            ("REGISTERS_BANKS", core.registers.banks),
            ("REGISTERS_COLLECTORS", core.registers.collectors),
            ("REGISTERS_WRITE_PORTS", core.registers.write_ports),
            ("LSU_QUEUE_ENTRIES", core.lsu.queue_entries),
            ("LSU_PENDING_ENTRIES", core.lsu.pending_entries),
            ("LSU_EXTRA_RETURN_ENTRIES", core.lsu.extra_return_entries),
            ("LOCAL_BANKS", core.local.banks),
            ("LOCAL_LATENCY_CYCLES", core.local.latency_cycles),
            ("L1_BYTES", core.l1.bytes),
            ("L1_LINE_BYTES", core.l1.line_bytes),
            ("L1_SECTOR_BYTES", core.l1.sector_bytes),
            ("L1_WAYS", core.l1.ways),
            ("L1_HIT_LATENCY_CYCLES", core.l1.hit_latency_cycles),
            ("L1_MSHRS", core.l1.mshrs),
            ("L1_MSHR_MERGES", core.l1.mshr_merges),
            ("DISPATCHER_WORKGROUPS_PER_CYCLE", config.dispatcher.workgroups_per_cycle),
            ("DISPATCHER_LATENCY_CYCLES", config.dispatcher.latency_cycles),
            ("INTERCONNECT_PORT_BYTES_PER_CYCLE", config.interconnect.port_bytes_per_cycle),
            ("INTERCONNECT_QUEUE_ENTRIES", config.interconnect.queue_entries),
        ]
        .map(|(name, value)| (name.to_owned(), value)),
    );
    for unit in &core.units {
        expected.insert(format!("UNIT_{}_LANES", unit.name.to_uppercase()), unit.lanes);
        for class in &unit.classes {
            let name = class.class.name().to_uppercase();
            expected.insert(format!("{name}_LATENCY_CYCLES"), class.latency_cycles);
            expected.insert(format!("{name}_PASSES"), class.passes);
        }
    }
    assert_eq!(parameters(), expected);
    // Fixed properties of the RTL, without a parameter.
    assert_eq!((core.schedulers, core.issue.width, config.cores), (1, 1, 1));
    assert_eq!((core.issue.policy, core.divergence), (IssuePolicy::Lrr, DivergenceMode::Walk));
    assert_eq!(core.l1.sector_bytes, core.l1.line_bytes);
    assert!(!config.capabilities.f64 && !config.capabilities.mma);
    let served: Vec<ExecClass> = core.units.iter().flat_map(|u| &u.classes).map(|c| c.class).collect();
    assert_eq!(served.len(), 9, "unit_of and latency_of in execute.sv know these: {served:?}");
}

/// Those with planted bugs: builds of the core look at the others, and a warning ends them.
#[test]
fn the_sources_are_clean_under_lint() {
    if rtl::skipped() {
        return;
    }
    let model = rtl::wave_core(&rtl::directory(), &rtl::Variant::default()).expect("the sources");
    let sources = model.sources.iter().filter(|f| f.extension().is_some_and(|e| e != "cpp"));
    let output = Command::new("verilator")
        .args(["--lint-only", "-Wall", "-DBUGS", "--top-module", &model.top])
        .args(model.includes.iter().map(|i| format!("-I{}", i.display())))
        .args(sources)
        .output()
        .unwrap_or_else(|e| panic!("Verilator: {e}; {}", rtl::INSTALL));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
}

/// An `always_comb` that does not assign a variable on all paths is a lint error.
#[test]
fn lint_finds_a_latch() {
    if rtl::skipped() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("latch.sv");
    let text = "module latch(input logic a, b, output logic c);\n  always_comb if (a) c = b;\nendmodule\n";
    std::fs::write(&file, text).expect("a file");
    let output =
        Command::new("verilator").args(["--lint-only", "-Wall"]).arg(&file).output().expect("Verilator");
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("LATCH"));
}

/// Numbers of the package for which the modules are not written, and a word of the message that refuses each.
const REFUSED: &[(&str, u32, &str)] = &[
    ("BRANCH_LATENCY_CYCLES", 1, "BRANCH_LATENCY_CYCLES"),
    ("FETCH_WORDS", 4, "FETCH_WORDS"),
    ("FETCH_BUFFER_ENTRIES", 6, "FETCH_BUFFER_ENTRIES"),
    ("FETCH_ICACHE_LINE_BYTES", 16, "FETCH_ICACHE_LINE_BYTES"),
    ("FETCH_ICACHE_BYTES", 1536, "FETCH_ICACHE_BYTES"),
    ("FETCH_ICACHE_WAYS", 1, "FETCH_ICACHE_WAYS"),
    ("FETCH_ICACHE_LATENCY_CYCLES", 0, "latencies"),
    ("REGISTERS_BANKS", 3, "REGISTERS_BANKS"),
    ("REGISTERS_COLLECTORS", 1, "REGISTERS_COLLECTORS"),
    ("REGISTERS_WRITE_PORTS", 2, "REGISTERS_WRITE_PORTS"),
    ("LSU_QUEUE_ENTRIES", 3, "LSU_QUEUE_ENTRIES"),
    ("LSU_PENDING_ENTRIES", 8, "LSU_EXTRA_RETURN_ENTRIES"),
    ("LOCAL_BANKS", 6, "LOCAL_BANKS"),
    ("L1_SECTOR_BYTES", 16, "L1_SECTOR_BYTES"),
    ("L1_BYTES", 1536, "L1_BYTES"),
    ("L1_WAYS", 1, "L1_WAYS"),
    ("L1_MSHRS", 1, "L1_MSHRS"),
    ("L1_MSHR_MERGES", 1, "L1_MSHR_MERGES"),
    ("MAX_WORKGROUPS", 1, "MAX_WORKGROUPS"),
    ("DISPATCHER_WORKGROUPS_PER_CYCLE", 2, "DISPATCHER_WORKGROUPS_PER_CYCLE"),
];

/// A core of such numbers would differ from the simulator in its first program.
#[test]
fn numbers_that_the_modules_are_not_written_for_do_not_elaborate() {
    if rtl::skipped() {
        return;
    }
    let package =
        std::fs::read_to_string(root().join("rtl-tests/rtl/wave_core_pkg.sv")).expect("the package");
    let rtl = root().join("rtl-tests/rtl");
    let directory = tempfile::tempdir().expect("a directory");
    let changed = directory.path().join("wave_core_pkg.sv");
    let lint = |package: &str| {
        std::fs::write(&changed, package).expect("a file");
        let output = Command::new("verilator")
            .args(["--lint-only", "--top-module", "parameters"])
            .args([&rtl.join("wave_isa_pkg.sv"), &changed, &rtl.join("parameters.sv")])
            .output()
            .unwrap_or_else(|e| panic!("Verilator: {e}; {}", rtl::INSTALL));
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(lint(&package), (true, String::new()));
    for &(name, number, message) in REFUSED {
        let start = format!("  localparam int {name} = ");
        let (before, rest) = package.split_once(&start).unwrap_or_else(|| panic!("{name} is no number"));
        let (_, after) = rest.split_once(';').expect("its end");
        let (passes, said) = lint(&format!("{before}{start}{number};{after}"));
        assert!(!passes && said.contains(message), "{name} = {number}: {said}");
    }
}
