//! The interconnect graph: rejected edges, routes, the drawing. Also memory parts.

use super::*;
use crate::config::dot;
use crate::config::network::{Network, Station};
use crate::config::routes::Routes;

/// A configuration with these links: from, to, both ways, latency in cycles.
fn with_edges(cores: u32, slices: u32, edges: &[(&str, &str, bool, u32)]) -> String {
    let edge = |&(from, to, both_ways, latency): &(&str, &str, bool, u32)| {
        format!(
            "        (from: {from:?}, to: {to:?}, both_ways: {both_ways}, latency_cycles: {latency}, \
             bytes_per_cycle: 32, dateline: false),\n"
        )
    };
    let edges: String = edges.iter().map(edge).collect();
    format!(
        "(\n    cores: {cores},\n    l2: (slices: {slices}),\n    dram: (channels: 1),\n    interconnect: (\n        \
         topology: edges,\n        edges: [\n{edges}        ],\n    ),\n)\n"
    )
}

fn refused(cores: u32, slices: u32, edges: &[(&str, &str, bool, u32)]) -> Vec<String> {
    errors(from_text("x.ron", &with_edges(cores, slices, edges)))
}

#[test]
fn a_graph_without_a_route_names_both_ends() {
    let found = refused(2, 1, &[("core0", "r", true, 1), ("core1", "r", false, 1), ("r", "slice0", true, 1)]);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].contains("no way for replies from `slice0` to `core1`"), "{}", found[0]);
    assert!(found[0].contains("`interconnect.edges`") && found[0].contains("x.ron:7:9"), "{}", found[0]);
    let found = refused(2, 1, &[("core0", "slice0", true, 1)]);
    assert_eq!(found.len(), 2, "requests and replies: {found:#?}");
    assert!(found[0].contains("no way for requests from `core1` to `slice0`"), "{}", found[0]);
}

#[test]
fn links_that_wait_for_one_another_are_named() {
    let ring = [
        ("core0", "slice0", false, 1),
        ("slice0", "core1", false, 1),
        ("core1", "slice1", false, 1),
        ("slice1", "core0", false, 1),
    ];
    let found = refused(2, 2, &ring);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[0].contains("`interconnect.edges["), "{}", found[0]);
    for (from, to, _, _) in ring {
        assert!(found[0].contains(&format!("{from} → {to}")), "{}", found[0]);
    }
    // The same stations as a line with links both ways have no cycle.
    let line = [("core0", "slice0", true, 1), ("slice0", "core1", true, 1), ("core1", "slice1", true, 1)];
    assert_eq!(refused(2, 2, &line), [""; 0]);
}

#[test]
fn ends_that_are_not_there_are_located() {
    let found = refused(
        1,
        1,
        &[
            ("core0", "slice1", true, 1),
            ("core1", "slice0", true, 1),
            ("", "x", true, 1),
            ("x", "x", true, 1),
        ],
    );
    let says = |part: &str| assert!(found.iter().any(|e| e.contains(part)), "{part}: {found:#?}");
    says("`interconnect.edges[0].to` is \"slice1\" and `l2.slices` is 1");
    says("`interconnect.edges[1].from` is \"core1\" and `cores` is 1");
    says("`interconnect.edges[2].from` is empty");
    says("`interconnect.edges[3].from` and `interconnect.edges[3].to` are both \"x\"");
    assert_eq!(found.len(), 4, "{found:#?}");
}

/// Names of the routers on a request's route.
fn way(config: &Config, core: usize, slice: usize) -> Vec<String> {
    let network = Network::new(config);
    let routes = Routes::of_requests(&network);
    let links = routes.walk(&network, slice, network.cores()[core]);
    links
        .map(|channel| network.graph[network.graph.edge_endpoints(channel.link).unwrap().1].to_string())
        .collect()
}

#[test]
fn routes_are_shortest_and_a_mesh_goes_along_the_row_first() {
    // From core 0 to slice 1: a direct link of 9 cycles, and a route of 2 + 3 + 3 cycles.
    let text = with_edges(
        1,
        2,
        &[
            ("core0", "slice1", true, 9),
            ("core0", "a", true, 2),
            ("a", "slice0", true, 3),
            ("slice0", "slice1", true, 3),
        ],
    );
    let (config, _) = from_text("x.ron", &text).unwrap();
    assert_eq!(way(&config, 0, 1), ["a", "slice0", "slice1"]);
    assert_eq!(way(&config, 0, 0), ["a", "slice0"]);

    // Rows of four: core0 core1 core2 slice0 / core3 core4 slice1 core5 / core6 slice2 core7 core8 / slice3 …
    let (mesh, _) = from_text(
        "x.ron",
        "(cores: 9, l2: (slices: 4), dram: (channels: 1), interconnect: (topology: mesh, mesh_columns: 4))",
    )
    .unwrap();
    assert_eq!(way(&mesh, 0, 1), ["core1", "core2", "slice1"]);
    assert_eq!(way(&mesh, 0, 2), ["core1", "core4", "slice2"]);
    assert_eq!(way(&mesh, 8, 3), ["core7", "slice2", "core6", "slice3"]);
    let network = Network::new(&mesh);
    let fillers = network.graph.node_weights().filter(|station| matches!(station, Station::Router(_)));
    assert_eq!(fillers.count(), 3, "13 stations in rows of four");

    // A ring of eight: core0 core1 core2 slice0 core3 core4 core5 slice1. The opposite side is reached
    // clockwise.
    let (ring, _) = from_text(
        "x.ron",
        "(cores: 6, l2: (slices: 2), dram: (channels: 1), interconnect: (topology: ring))",
    )
    .unwrap();
    assert_eq!(way(&ring, 0, 1), ["slice1"]);
    assert_eq!(way(&ring, 3, 1), ["core4", "core5", "slice1"]);
    assert_eq!(way(&ring, 0, 0), ["core1", "core2", "slice0"]);
}

#[test]
fn every_preset_s_cores_and_slices_fit_a_ring_and_a_mesh() {
    for preset in PRESETS {
        for topology in [Topology::Ring, Topology::Mesh] {
            let mut config = load(preset.file).unwrap();
            config.interconnect.topology = topology;
            assert!(
                config.check().iter().all(|d| d.severity < wave_isa::diagnostic::Severity::Error),
                "{}",
                preset.file
            );
        }
    }
}

#[test]
fn the_drawing_has_every_router_and_every_link_once() {
    for topology in ["crossbar", "ring", "mesh"] {
        let text = format!(
            "(name: \"a \\\"b\\\"\", cores: 5, l2: (slices: 2), dram: (channels: 2), interconnect: (topology: {topology}, mesh_columns: 4))"
        );
        let (config, _) = from_text("x.ron", &text).unwrap();
        let drawing = dot(&config);
        assert!(drawing.starts_with("digraph machine {\n") && drawing.ends_with("}\n"));
        assert!(drawing.contains("label = \"a \\\"b\\\": 5 cores"), "{drawing}");
        let network = Network::new(&config);
        for station in network.graph.node_weights() {
            assert_eq!(drawing.matches(&format!("    \"{station}\" [shape")).count(), 1, "{drawing}");
        }
        let links = drawing.lines().filter(|line| line.contains(" -> ") && line.contains("B/cycle"));
        let lines = links.count();
        // All links lead both ways.
        assert_eq!(2 * lines, network.graph.edge_count(), "{drawing}");
        assert!(drawing.contains("\"slice1\" -> \"channel1\""), "{drawing}");
        assert_eq!(drawing.matches("\"dispatcher\" -> \"core").count(), 5, "{drawing}");
        assert!(!drawing.contains("bank"), "{drawing}");
        // An L3 stands between slices and channels.
        let (config, _) =
            from_text("x.ron", &text.replace("l2: (", "l3: (bank_bytes: 65536), l2: (")).unwrap();
        let drawing = dot(&config);
        for line in ["\"slice1\" -> \"bank1\"", "\"bank1\" -> \"channel1\""] {
            assert_eq!(drawing.matches(line).count(), 1, "{drawing}");
        }
        assert!(!drawing.contains("\"slice1\" -> \"channel1\""), "{drawing}");
    }
}

#[test]
fn a_part_stands_between_a_file_and_its_base() {
    for part in PARTS {
        let (config, warnings) =
            from_text("x.ron", &format!("(base: \"large.ron\", dram: (part: {:?}, t_faw: 40))", part.file))
                .unwrap();
        assert_eq!(warnings, []);
        let large = load("large").unwrap();
        assert_eq!((config.dram.channels, config.dram.t_faw), (large.dram.channels, 40));
        assert_ne!(config.dram.t_rcd, large.dram.t_rcd, "{}", part.file);
        assert_eq!(config.dram.burst_clocks(), 2);
    }
    let bandwidth = |part: &str| {
        let (config, _) = from_text("x.ron", &format!("(dram: (part: {part:?}))")).unwrap();
        let d = config.dram;
        d.bus_bits * d.transfers_per_clock * d.clock_mhz / 8
    };
    assert_eq!(["gddr6", "hbm2e.ron", "lpddr5"].map(bandwidth), [28_000, 25_600, 12_800]);
}

#[test]
fn what_is_wrong_with_a_part_is_located() {
    let found = errors(from_text("x.ron", "(\n    dram: (part: \"gddr7.ron\"),\n)\n"));
    assert!(found[0].contains("no memory part of that name") && found[0].contains("x.ron:2:18"), "{found:?}");
    assert!(found[0].contains("did you mean `gddr6.ron`?"), "{found:?}");
    // A contradiction between the file and its memory part names both places.
    let found = errors(from_text("x.ron", "(dram: (part: \"lpddr5.ron\", t_ras: 14))"));
    assert!(
        found[0].contains("`dram.t_ras` is 14 and `dram.t_rcd` is 15") && found[0].contains("lpddr5.ron"),
        "{found:?}"
    );
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    file("mine.ron", "(dram: (t_cl: 33))");
    assert_eq!(load(&file("a.ron", "(dram: (part: \"mine.ron\"))")).unwrap().dram.t_cl, 33);
    file("more.ron", "(dram: (t_cl: 33), cores: 4)");
    let found = errors(load_with_warnings(&file("b.ron", "(dram: (part: \"more.ron\"))")));
    assert!(found[0].contains("not `cores`") && found[0].contains("more.ron:1:27"), "{found:?}");
    file("again.ron", "(dram: (part: \"gddr6.ron\"))");
    let found = errors(load_with_warnings(&file("c.ron", "(dram: (part: \"again.ron\"))")));
    assert!(found[0].contains("not `dram.part`"), "{found:?}");
}
