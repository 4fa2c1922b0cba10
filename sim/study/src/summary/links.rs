//! The links of the interconnect with their names, for reports.

use petgraph::graph::EdgeIndex;
use serde::Serialize;
use wave_machine::config::Config;
use wave_machine::config::network::Network;
use wave_machine::gpu::KernelReport;
use wave_machine::memory::LinkCounters;
use wave_observe::figures::percent;

/// The use of a link.
#[derive(Serialize)]
pub(crate) struct LinkUse {
    /// `requests` or `replies`.
    pub network: &'static str,
    /// Its ends: "core0 → slice1".
    pub link: String,
    /// Packets that took it.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Cycles for which it was held.
    pub busy_cycles: u64,
    /// Cycles for which packets waited for their turn or for a credit.
    pub stall_cycles: u64,
    /// Busy cycles in percent of all cycles.
    pub utilization: f64,
}

/// The links of a report: requests first, each network in the order of the graph; empty for a crossbar.
pub(super) fn links(report: &KernelReport, config: &Config) -> Vec<LinkUse> {
    if report.links.is_empty() {
        return Vec::new();
    }
    let network = Network::new(config);
    let count = network.graph.edge_count();
    let one = |(i, link): (usize, &LinkCounters)| LinkUse {
        network: if i < count { "requests" } else { "replies" },
        link: network.link_name(EdgeIndex::new(i % count)),
        packets: link.packets,
        bytes: link.bytes,
        busy_cycles: link.busy_cycles,
        stall_cycles: link.stall_cycles,
        utilization: percent(link.busy_cycles, report.cycles),
    };
    report.links.iter().enumerate().map(one).collect()
}
