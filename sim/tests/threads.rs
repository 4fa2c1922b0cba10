//! Threads change nothing: reports, memory and faults are the same for any number, with idle cycles skipped or not.

use wave_sim::config;
use wave_sim::gpu::{Gpu, KernelReport, RunError, RunOptions};
use wave_sim::launch::{self, Job, Size};
use wave_sim::program::assemble;

/// What a run leaves behind: a report or why there is none for each step, and device memory.
type Left = (Vec<Result<KernelReport, RunError>>, Vec<u8>);

fn run(machine: &str, job: &Job, options: RunOptions) -> Left {
    let config = config::load(machine).expect("a preset");
    let mut gpu = Gpu::new(&config, &job.program, job.memory.clone());
    let reports = job.steps.iter().map(|step| gpu.run(step, &options, None, &mut |_| {})).collect();
    (reports, gpu.into_memory())
}

fn threads(threads: usize) -> RunOptions {
    RunOptions { threads, ..RunOptions::UNBOUNDED }
}

#[test]
fn every_kernel_of_the_suite_leaves_the_same_whatever_the_number_of_threads() {
    for (i, name) in launch::suite().enumerate() {
        let job = launch::load(name, Size::Small).expect("a kernel of the suite");
        let alone = run("gpu.ron", &job, threads(1));
        for count in [2, 3, 4] {
            assert!(run("gpu.ron", &job, threads(count)) == alone, "{name} on {count} threads");
        }
        // Some of them, as visiting every cycle takes its time.
        if i % 8 == 0 {
            let visiting = run("gpu.ron", &job, RunOptions { every_cycle: true, ..threads(3) });
            assert!(visiting == alone, "{name}, every cycle");
        }
    }
}

#[test]
fn a_machine_of_many_cores_leaves_the_same() {
    let job = launch::load("reduction", Size::Small).expect("a kernel of the suite");
    let alone = run("large.ron", &job, threads(1));
    for count in [2, 3, 4] {
        assert!(run("large.ron", &job, threads(count)) == alone, "{count} threads");
    }
}

#[test]
fn the_first_fault_is_the_same() {
    // Every workgroup faults, all cores at about the same time.
    let mut job = launch::load("vector_add", Size::Small).expect("a kernel of the suite");
    let text = "\
.kernel vector_add
.registers 8
.workgroup_size 256, 1, 1
    mov_sr r1, sr_workgroup_id_x
    mov_imm r2, 0xfffffff0
    device_load_u32 r3, r2
    halt
.end
";
    job.program = assemble(text, "fault.wave").expect("it assembles").0;
    let (alone, _) = run("gpu.ron", &job, threads(1));
    assert!(matches!(alone[0], Err(RunError::Fault(_))), "{alone:?}");
    for count in [2, 4] {
        assert_eq!(run("gpu.ron", &job, threads(count)).0, alone, "{count} threads");
    }
}
