//! The kernel suite on random memory hierarchies leaves the same memory on all of them.

use super::drawn::{Machine, machine, memory};
use rand::SeedableRng;
use rand_pcg::Pcg32;
use std::hash::{DefaultHasher, Hash, Hasher};
use wave_machine::gpu::{self, RunOptions};
use wave_study::launch::{self, Job, Size};

/// Number of random machines.
const MACHINES: usize = 12;

/// Kernels whose results come in an order that atomics decide, so that memory may differ. Their launch files
/// check the results.
const IN_ANY_ORDER: &[&str] = &["bfs", "compact"];

/// Memory sizes that the suite needs.
const ROOM: &[&str] = &["device_memory_bytes=8388608", "core.local_memory_bytes=65536"];

/// Hash of device memory after the kernel's launches. Asserts that the results are right.
fn run(machine: &Machine, job: &Job) -> u64 {
    let config = &machine.config;
    let mut memory = job.memory.clone();
    memory.resize(config.device_memory_bytes as usize, 0);
    let mut gpu = gpu::Machine::new(config.clone(), job.program.clone(), memory);
    let options = RunOptions { max_cycles: Some(20_000_000), ..RunOptions::UNBOUNDED };
    for step in &job.steps {
        gpu.run(step, &options, None, &mut |_| {})
            .unwrap_or_else(|e| panic!("{}: {e:?}\n{}", job.name, machine.arguments()));
    }
    let memory = gpu.into_memory();
    let verification = job.verify(&memory);
    assert!(verification.is_ok(), "{}: {verification}\n{}", job.name, machine.arguments());
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
    let draw = || machine(&mut random, "tiny", ROOM, &[memory]);
    let mut machines = std::iter::repeat_with(draw).flatten();
    let first = machines.next().expect("one after the other");
    let expected: Vec<u64> = jobs.iter().map(|job| run(&first, job)).collect();
    let machines: Vec<Machine> = machines.take(MACHINES).collect();
    // Slices that are a power of two, and others.
    let powers = machines.iter().filter(|machine| machine.config.l2.slices.is_power_of_two()).count();
    assert!(powers > 3 && machines.len() - powers > 3, "{powers} of {}", machines.len());
    for machine in machines {
        for (job, expected) in jobs.iter().zip(&expected) {
            assert_eq!(run(&machine, job), *expected, "{} {}", job.name, machine.arguments());
        }
    }
}
