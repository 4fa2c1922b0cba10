//! The kernel suite on every topology of the interconnect: correct results, and the same report with idle
//! cycles skipped or visited.

use wave_machine::config::{Arbitration, Config, Edge, Topology, from_text};
use wave_machine::gpu::{KernelReport, Machine, RunOptions};
use wave_study::launch::{self, Job, Size};

fn machine(topology: Topology) -> Config {
    let text = "(cores: 4, device_memory_bytes: 8_388_608, l2: (slices: 4), dram: (channels: 2))";
    let (mut config, _) = from_text("topologies.ron", text).unwrap_or_else(|errors| panic!("{}", errors[0]));
    config.interconnect.topology = topology;
    config.interconnect.mesh_columns = 3;
    config.interconnect.link_credits = 1;
    config.interconnect.arbitration = Arbitration::Oldest;
    // A ring of slices, with a core at each.
    let edge = |from: String, to: String, dateline| Edge {
        from,
        to,
        both_ways: true,
        latency_cycles: 3,
        bytes_per_cycle: 16,
        dateline,
    };
    let spokes = (0..4).map(|i| edge(format!("core{i}"), format!("slice{i}"), false));
    let rim = (0..4).map(|i| edge(format!("slice{i}"), format!("slice{}", (i + 1) % 4), i == 3));
    config.interconnect.edges = spokes.chain(rim).collect();
    let found = config.check();
    assert!(found.is_empty(), "{found:?}");
    config
}

fn run(config: &Config, job: &Job, every_cycle: bool) -> (Vec<KernelReport>, Vec<u8>) {
    let mut memory = job.memory.clone();
    memory.resize(config.device_memory_bytes as usize, 0);
    let mut gpu = Machine::new(config.clone(), job.program.clone(), memory);
    let options = RunOptions { every_cycle, max_cycles: Some(500_000), ..RunOptions::UNBOUNDED };
    let one =
        |step| gpu.run(step, &options, None, &mut |_| {}).unwrap_or_else(|e| panic!("{}: {e:?}", job.name));
    let reports = job.steps.iter().map(one).collect();
    (reports, gpu.into_memory())
}

#[test]
fn every_kernel_is_right_on_every_topology_and_skipping_changes_nothing() {
    for topology in [Topology::Ring, Topology::Mesh, Topology::Edges] {
        let config = machine(topology);
        for (i, name) in launch::suite().enumerate() {
            let job =
                launch::load(name, Size::Small).unwrap_or_else(|errors| panic!("{name}: {}", errors[0]));
            let (reports, memory) = run(&config, &job, false);
            let verification = job.verify(&memory);
            assert!(verification.is_ok(), "{name}, {topology:?}: {verification}");
            assert!(reports.iter().all(|report| report.links.iter().any(|link| link.packets > 0)), "{name}");
            // Every third kernel, as visiting every cycle takes its time.
            if i % 3 == topology as usize % 3 {
                assert_eq!(run(&config, &job, true).0, reports, "{name}, {topology:?}");
            }
        }
    }
}
