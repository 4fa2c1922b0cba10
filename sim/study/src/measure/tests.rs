//! Every figure on several machines, and detection of a wrong figure.

use super::*;
use wave_machine::config::{DramPolicy, Lsu, Registers, ReplacementPolicy, Topology, WritePolicy};

fn preset(name: &str) -> Config {
    wave_machine::config::load(name).unwrap()
}

/// tiny.ron with other delays and sizes, which exercise all parameters of the formulas.
fn variations() -> Vec<Config> {
    let numbers = [
        // L1 hit, L2 hit, wire, port, core MHz, memory MHz, tRCD, tCL, tRP, tREFI
        [1, 1, 1, 8, 1000, 1000, 24, 24, 24, 3333],
        [9, 17, 5, 24, 1700, 901, 13, 31, 40, 0],
        [31, 3, 2, 128, 640, 3200, 50, 7, 11, 1200],
        [2, 40, 20, 40, 2000, 1250, 18, 18, 18, 5000],
    ];
    let vary = |[l1, l2, wire, port, core, memory, rcd, cl, rp, refi]: [u32; 10]| {
        let mut config = preset("tiny.ron");
        config.core.l1.hit_latency_cycles = l1;
        config.l2.hit_latency_cycles = l2;
        config.interconnect.latency_cycles = wire;
        config.interconnect.port_bytes_per_cycle = port;
        config.core_clock_mhz = core;
        let dram = &mut config.dram;
        (dram.clock_mhz, dram.t_rcd, dram.t_cl, dram.t_rp, dram.t_refi) = (memory, rcd, cl, rp, refi);
        dram.t_rc = dram.t_ras + rp;
        config
    };
    let mut all: Vec<Config> = numbers.into_iter().map(vary).collect();
    // Other lines, sectors, ways and channels.
    all[0].core.l1.line_bytes = 128;
    // An L3, and a narrow one behind several slices.
    (all[1].l3.bank_bytes, all[1].l3.hit_latency_cycles) = (64 << 10, 23);
    (all[3].l3.bank_bytes, all[3].l3.bytes_per_cycle) = (32 << 10, 5);
    all[1].core.l1.sector_bytes = 64;
    all[2].core.l1.ways = 4;
    (all[0].l2.slices, all[0].dram.channels) = (6, 3);
    (all[2].l2.slices, all[2].dram.channels) = (12, 12);
    (all[3].l2.slices, all[3].dram.channels) = (4, 2);
    for config in &all {
        let errors: Vec<_> = config.check().into_iter().map(|d| d.message).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
    all
}

fn measured(config: &Config, topic: Topic) -> Section {
    topic.measure(config, &mut ()).unwrap_or_else(|why| panic!("{why}"))
}

#[track_caller]
fn holds(config: &Config, topic: Topic) {
    let section = measured(config, topic);
    assert!(section.holds(), "{}\n{config:?}", text::section(&section));
    assert!(section.figures.iter().any(|figure| figure.expected.is_some()));
}

#[test]
fn every_load_of_a_chase_takes_the_expected_cycles() {
    holds(&preset("tiny.ron"), Topic::Latency);
    for config in variations() {
        holds(&config, Topic::Latency);
    }
    // The default machine, with an L2 of 128 KB so that the test takes a second.
    let mut config = preset("gpu.ron");
    config.l2.slice_bytes = 16 << 10;
    config.core.l1.bytes = 16 << 10;
    holds(&config, Topic::Latency);
}

/// tiny.ron with links between routers, some narrower than the ports.
fn networks() -> Vec<Config> {
    let topologies = [(Topology::Ring, 1), (Topology::Mesh, 2), (Topology::Mesh, 3)];
    let network = |(topology, latency)| {
        let mut config = preset("tiny.ron");
        config.interconnect.topology = topology;
        config.interconnect.link_latency_cycles = latency;
        config.interconnect.link_bytes_per_cycle = 16 >> (latency - 1);
        config.interconnect.mesh_columns = latency;
        config.l2.slices = 4;
        assert!(config.check().is_empty(), "{:?}", config.check());
        config
    };
    topologies.into_iter().map(network).collect()
}

#[test]
fn links_between_routers_are_part_of_the_way() {
    let networks = networks();
    for config in &networks {
        holds(config, Topic::Latency);
    }
    holds(&networks[1], Topic::Bandwidth);
    holds(&networks[0], Topic::Atomics);
}

#[test]
fn an_l1_that_writes_back_other_replacements_and_wide_banks_are_known() {
    let mut config = preset("tiny.ron");
    config.core.l1.write_policy = WritePolicy::WriteBack;
    config.core.l1.replacement = ReplacementPolicy::Plru;
    config.l2.replacement = ReplacementPolicy::Random;
    config.core.local.bank_bytes = 8;
    assert!(config.check().is_empty(), "{:?}", config.check());
    for topic in Topic::ALL {
        holds(&config, topic);
    }
}

#[test]
fn mshrs_that_are_all_in_use_give_what_littles_law_says() {
    // The bound is exact to the cycle: a line in flight for one cycle more or less would change it by 8 %.
    for config in [preset("rtl.ron"), variations().swap_remove(1)] {
        let section = measured(&config, Topic::Bandwidth);
        let figure = section.figures.iter().rfind(|f| f.what.starts_with("L2, read")).unwrap();
        assert!(figure.note.starts_with("core.l1.mshrs"), "{}", figure.note);
        let part = figure.measured / figure.expected.unwrap();
        assert!((0.97..1.001).contains(&part), "{}", text::section(&section));
    }
}

#[test]
fn a_machine_that_is_a_cycle_off_is_seen() {
    // Measured on one machine, expected for another that differs by one in one parameter.
    let machine = preset("tiny.ron");
    let changes: [fn(&mut Config); 8] = [
        |c| c.core.l1.hit_latency_cycles += 1,
        |c| c.l2.hit_latency_cycles += 1,
        |c| c.interconnect.latency_cycles += 1,
        |c| c.interconnect.port_bytes_per_cycle /= 2,
        |c| c.dram.t_rcd += 1,
        |c| c.dram.t_cl += 1,
        |c| c.dram.t_rp += 1,
        |c| c.dram.t_rfc += 4,
    ];
    assert!(latency::measure_against(&machine, &machine, &mut ()).unwrap().holds());
    for (i, change) in changes.iter().enumerate() {
        let mut other = machine.clone();
        change(&mut other);
        let section = latency::measure_against(&machine, &other, &mut ()).unwrap();
        assert!(!section.holds(), "change {i} is not seen\n{}", text::section(&section));
    }
}

#[test]
fn streams_and_atomics_reach_the_configured_rates() {
    holds(&preset("tiny.ron"), Topic::Bandwidth);
    holds(&preset("tiny.ron"), Topic::Atomics);
    for config in variations().into_iter().chain([preset("rtl.ron")]) {
        holds(&config, Topic::Bandwidth);
        holds(&config, Topic::Atomics);
    }
}

#[test]
fn a_machine_with_enough_under_way_is_compared_within_a_percent() {
    // Raise those resources of tiny.ron that are too small to keep its ports and buses busy.
    let mut config = preset("tiny.ron");
    config.core.l1.mshrs = 64;
    config.core.l1.mshr_merges = 8;
    config.core.lsu = Lsu { queue_entries: 8, pending_entries: 64, extra_return_entries: 56 };
    config.core.registers = Registers { banks: 8, collectors: 8, write_ports: 4 };
    config.core.issue.width = 2;
    config.core.fetch.words = 8;
    config.core.fetch.buffer_entries = 16;
    config.core.fetch.icache_bytes = 4096;
    (config.l2.mshrs, config.l2.mshr_merges, config.l2.queue_entries) = (64, 8, 8);
    config.l2.slice_bytes = 32 << 10;
    (config.dram.queue_entries, config.dram.clock_mhz) = (64, 500);
    (config.dram.banks, config.dram.bank_groups, config.dram.row_bytes) = (16, 4, 2048);
    (config.interconnect.queue_entries, config.interconnect.port_bytes_per_cycle) = (8, 24);
    assert!(config.check().is_empty(), "{:?}", config.check());
    let section = measured(&config, Topic::Bandwidth);
    assert!(section.holds(), "{}", text::section(&section));
    for level in ["local memory", "L1", "L2", "memory"] {
        let reads = section.figures.iter().filter(|f| f.what.starts_with(&format!("{level}, read")));
        let within = reads.filter(|f| matches!(f.rule, Rule::WithinPercent(_))).count();
        assert!(within > 0, "{level}\n{}", text::section(&section));
    }
}

#[test]
fn rows_of_one_bank_follow_each_other_as_the_rules_say() {
    holds(&preset("tiny.ron"), Topic::Dram);
    let mut config = preset("tiny.ron");
    (config.dram.t_refi, config.dram.policy) = (1000, DramPolicy::Fcfs);
    holds(&config, Topic::Dram);
}

#[test]
fn figures_that_are_off_do_not_hold() {
    let figure = |measured, rule| Figure {
        what: String::new(),
        measured,
        expected: Some(100.0),
        unit: "cycles",
        rule,
        off: 0,
        note: String::new(),
    };
    assert!(figure(100.0, Rule::Exact).holds());
    assert!(!figure(101.0, Rule::Exact).holds());
    assert!(!Figure { off: 1, ..figure(100.0, Rule::Exact) }.holds());
    assert!(figure(99.1, Rule::WithinPercent(1.0)).holds());
    assert!(!figure(98.9, Rule::WithinPercent(1.0)).holds());
    assert!(!figure(101.1, Rule::WithinPercent(1.0)).holds());
    assert!(figure(5.0, Rule::AtMost).holds());
    assert!(!figure(102.0, Rule::AtMost).holds());
}

#[test]
fn a_plot_has_its_lines_and_names() {
    let section = measured(&preset("tiny.ron"), Topic::Latency);
    let svg = section.plots[0].svg();
    assert_eq!(svg.matches("<polyline").count(), 3);
    assert_eq!(svg.matches("<circle").count(), latency::footprints(&preset("tiny.ron")).len());
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn a_plot_of_bars_has_one_for_each_point_above_its_name() {
    let series = |name: &str, points| plot::Series { name: name.to_owned(), points };
    let plot = Plot {
        name: "bars",
        title: "Bars".to_owned(),
        x: "",
        y: "%",
        series: vec![
            series("one", vec![(1.0, 5.0), (2.0, 10.0)]),
            series("two", vec![(1.0, 0.0), (2.0, 2.0)]),
        ],
        names: vec!["left".to_owned(), "right".to_owned()],
        marks: Vec::new(),
        levels: Vec::new(),
    };
    let svg = plot.svg();
    // The background, four bars and two of the legend.
    assert_eq!((svg.matches("<rect").count(), svg.matches("<polyline").count()), (7, 0));
    // A quarter and three quarters of the way from 64 to 600, and all of the height from 44 to 348.
    assert!(svg.contains("<text x=\"198.0\" y=\"364.0\" text-anchor=\"middle\">left</text>"), "{svg}");
    assert!(svg.contains("y=\"44.0\" width=\"93.8\" height=\"304.0\""), "{svg}");
}
