//! Scaling: time and memory per core for machines of 1 to 128 cores, and a grid of a million workgroups.

use crate::host;
use crate::run::{BUSY, fastest, launch_of, run_job, simulate};
use wave_isa::program::Launch;
use wave_machine::config::{self, Config};
use wave_machine::gpu::RunOptions;
use wave_study::launch::{self, Size};

/// A machine with this many cores of large.ron, and an L2 slice and a channel per four cores.
fn machine(cores: u32) -> Config {
    let mut config = config::load("large.ron").expect("a preset");
    config.cores = cores;
    config.l2.slices = (cores / 4).max(1);
    config.dram.channels = (cores / 4).max(1);
    config
}

/// Bytes of simulated storage, per core and in all slices.
fn data_bytes(config: &Config) -> (u64, u64) {
    let core = &config.core;
    let of_core = core.register_file_bytes + core.local_memory_bytes + core.l1.bytes;
    (u64::from(of_core), u64::from(config.l2.slices) * u64::from(config.l2.slice_bytes))
}

pub(crate) fn part() {
    println!(
        "{:>6} {:>14} {:>16} {:>22}",
        "cores", "core-cycles", "ns a core-cycle", "MB beyond data a core"
    );
    let mut costs = Vec::new();
    for cores in [1, 2, 4, 8, 16, 32, 64, 128] {
        let config = machine(cores);
        let (program, launch) = launch_of(BUSY, cores * 8, &[(3, 4096 / cores)]);
        let run = || {
            simulate(&config, &program, std::slice::from_ref(&launch), vec![0; 4096], &RunOptions::UNBOUNDED)
                .0
        };
        let timed = fastest(3, run);
        let core_cycles = timed.cycles * u64::from(cores);
        let cost = timed.seconds * 1e9 / core_cycles as f64;
        let (of_core, of_slices) = data_bytes(&config);
        let data = of_core * u64::from(cores) + of_slices;
        let beyond = (timed.bytes as f64 - data as f64) / 1e6 / f64::from(cores);
        println!("{cores:>6} {core_cycles:>14} {cost:>16.1} {beyond:>22.3}");
        costs.push(cost);
    }
    let (least, most) = costs.iter().fold((f64::MAX, 0.0_f64), |(a, b), &cost| (a.min(cost), b.max(cost)));
    println!("dearest core-cycle over cheapest: {:.2}", most / least);
    million();
    resident();
}

/// Host memory that the largest preset takes.
fn resident() {
    let config = config::load("large.ron").expect("a preset");
    let job = launch::load("vector_add", Size::Full).expect("a kernel of the suite");
    host::forget_resident();
    let before = host::most_resident();
    run_job(&config, &job, &RunOptions::UNBOUNDED);
    if let (Some(before), Some(after)) = (before, host::most_resident()) {
        let own = job.memory.len() as u64;
        println!(
            "vector_add on large.ron: {:.1} MB resident beyond the kernel's own {:.1} MB",
            after.saturating_sub(before + own) as f64 / 1e6,
            own as f64 / 1e6
        );
    }
}

/// A grid with more workgroups than can be held at once.
fn million() {
    let config = config::load("gpu.ron").expect("a preset");
    let (program, launch) = launch_of(BUSY, 1, &[(3, 1)]);
    let options = RunOptions { max_cycles: Some(1000), ..RunOptions::UNBOUNDED };
    let run = |workgroups| {
        let launch = Launch { grid: [workgroups, 1, 1], ..launch.clone() };
        simulate(&config, &program, &[launch], vec![0; 4096], &options).0
    };
    let (few, many) = (fastest(3, || run(1000)), fastest(3, || run(1_000_000)));
    println!(
        "the first 1000 cycles of a grid on gpu.ron: {:.1} ms and {:.1} MB for 1,000 workgroups, {:.1} ms and {:.1} MB for 1,000,000",
        few.seconds * 1e3,
        few.bytes as f64 / 1e6,
        many.seconds * 1e3,
        many.bytes as f64 / 1e6
    );
}
