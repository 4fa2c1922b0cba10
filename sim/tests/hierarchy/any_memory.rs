//! The kernel suite on random memory hierarchies leaves the same memory on all of them.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use std::hash::{DefaultHasher, Hash, Hasher};
use wave_sim::config::{Arbitration, Config, DramPolicy, Replacement, Topology, WritePolicy, load};
use wave_sim::gpu::{Gpu, RunOptions};
use wave_sim::launch::{self, Job, Size};

/// Machines that are drawn.
const MACHINES: u64 = 20;

/// Kernels that put their results in an order that atomics decide, which any order of accesses may change: their own
/// launch file says what is right.
const IN_ANY_ORDER: &[&str] = &["bfs", "compact"];

/// One of some values.
fn of<T: Copy>(random: &mut Pcg32, values: &[T]) -> T {
    values[random.random_range(0..values.len())]
}

/// A machine whose parameters of the hierarchy are drawn; nothing if they do not go together.
fn drawn(random: &mut Pcg32) -> Option<Config> {
    let mut config = load("tiny.ron").unwrap_or_else(|errors| panic!("{}", errors[0]));
    config.device_memory_bytes = 8 << 20;
    config.core.local_memory_bytes = 64 << 10;
    config.cores = random.random_range(1..=4);
    let l1 = &mut config.core.l1;
    l1.line_bytes = of(random, &[32, 64, 128]);
    l1.sector_bytes = of(random, &[16, 32, 64, 128]);
    l1.ways = random.random_range(1..=8);
    l1.bytes = l1.line_bytes * l1.ways * of(random, &[1, 2, 8, 32]);
    l1.hit_latency_cycles = random.random_range(1..=40);
    l1.replacement = of(random, &[Replacement::Lru, Replacement::Plru, Replacement::Random]);
    l1.write_policy = of(random, &[WritePolicy::WriteThrough, WritePolicy::WriteBack]);
    l1.mshrs = random.random_range(1..=16);
    l1.mshr_merges = random.random_range(1..=8);
    config.core.local.banks = of(random, &[1, 4, 8, 32]);
    config.core.local.bank_bytes = of(random, &[4, 8]);
    config.core.local.latency_cycles = random.random_range(1..=30);
    config.core.lsu.queue_entries = random.random_range(1..=8);
    config.core.lsu.pending_entries = random.random_range(1..=32);
    let network = &mut config.interconnect;
    network.latency_cycles = random.random_range(1..=20);
    network.port_bytes_per_cycle = random.random_range(1..=64);
    network.queue_entries = random.random_range(1..=8);
    network.topology = of(random, &[Topology::Crossbar, Topology::Ring, Topology::Mesh]);
    network.arbitration = of(random, &[Arbitration::RoundRobin, Arbitration::Oldest]);
    network.link_latency_cycles = random.random_range(1..=5);
    network.link_bytes_per_cycle = random.random_range(1..=64);
    network.link_credits = random.random_range(1..=8);
    network.mesh_columns = random.random_range(1..=4);
    let (line, l2) = (config.core.l1.line_bytes, &mut config.l2);
    l2.slices = of(random, &[1, 2, 4, 8]);
    l2.ways = random.random_range(1..=8);
    l2.slice_bytes = line * l2.ways * of(random, &[1, 4, 64]);
    l2.hit_latency_cycles = random.random_range(1..=40);
    l2.replacement = of(random, &[Replacement::Lru, Replacement::Plru, Replacement::Random]);
    l2.mshrs = random.random_range(1..=16);
    l2.mshr_merges = random.random_range(1..=8);
    l2.queue_entries = random.random_range(1..=8);
    let dram = &mut config.dram;
    dram.channels = of(random, &[1, 2, 4]);
    dram.banks = of(random, &[1, 4, 16]);
    dram.bank_groups = of(random, &[1, 2, 4]);
    dram.row_bytes = of(random, &[128, 1024, 4096]);
    dram.clock_mhz = random.random_range(200..=4000);
    dram.burst_bytes = of(random, &[16, 32, 64]);
    dram.queue_entries = random.random_range(1..=32);
    dram.policy = of(random, &[DramPolicy::FrFcfs, DramPolicy::Fcfs]);
    for timing in
        [&mut dram.t_rcd, &mut dram.t_rp, &mut dram.t_cl, &mut dram.t_cwl, &mut dram.t_rtp, &mut dram.t_wr]
    {
        *timing = random.random_range(1..=40);
    }
    dram.t_refi = of(random, &[0, 900, 4000]);
    dram.t_ras = dram.t_rcd + random.random_range(0..=30);
    dram.t_rc = dram.t_ras + dram.t_rp;
    config.check().is_empty().then_some(config)
}

/// A hash of device memory after a kernel's launches, which are right by what its launch file says.
fn run(config: &Config, job: &Job) -> u64 {
    let mut memory = job.memory.clone();
    memory.resize(config.device_memory_bytes as usize, 0);
    let mut gpu = Gpu::new(config, &job.program, memory);
    let options = RunOptions { max_cycles: Some(20_000_000), ..RunOptions::UNBOUNDED };
    for step in &job.steps {
        gpu.run(step, &options, None, &mut |_| {})
            .unwrap_or_else(|e| panic!("{}: {e:?}\n{config:?}", job.name));
    }
    let memory = gpu.into_memory();
    let verification = job.verify(&memory);
    assert!(verification.is_ok(), "{}: {verification}\n{config:?}", job.name);
    let mut hasher = DefaultHasher::new();
    if !IN_ANY_ORDER.contains(&job.name.as_str()) {
        memory.hash(&mut hasher);
    }
    hasher.finish()
}

#[test]
fn no_memory_hierarchy_changes_the_results_of_the_suite() {
    let jobs: Vec<Job> = launch::suite()
        .map(|name| launch::load(name, Size::Small).unwrap_or_else(|errors| panic!("{name}: {}", errors[0])))
        .collect();
    let mut random = Pcg32::seed_from_u64(3);
    let mut machines = std::iter::repeat_with(|| drawn(&mut random)).flatten();
    let Some(first) = machines.next() else { return };
    let expected: Vec<u64> = jobs.iter().map(|job| run(&first, job)).collect();
    for config in machines.take(MACHINES as usize) {
        for (job, expected) in jobs.iter().zip(&expected) {
            assert_eq!(run(&config, job), *expected, "{} on {config:?}", job.name);
        }
    }
}
