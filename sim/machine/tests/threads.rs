//! The number of threads changes nothing: reports, memory, faults and traces are the same, with idle cycles
//! skipped or visited.

use std::io;
use std::sync::{Arc, Mutex};
use wave_isa::program::assemble;
use wave_machine::config;
use wave_machine::gpu::{KernelReport, Machine, RunError, RunOptions};
use wave_observe::trace::recorder::header;
use wave_observe::trace::{Form, How, Recorder, Window, Writer};
use wave_study::launch::{self, Job, Size};

/// Outcome of a run: a report or an error for each step, and device memory.
type Left = (Vec<Result<KernelReport, RunError>>, Vec<u8>);

fn run(machine: &str, job: &Job, options: RunOptions) -> Left {
    let config = config::load(machine).expect("a preset");
    let mut gpu = Machine::new(config.clone(), job.program.clone(), job.memory.clone());
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
        // Only some kernels, because visiting every cycle is slow.
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

/// Every workgroup faults, on all cores at nearly the same time.
fn faulty() -> Job {
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
    job
}

#[test]
fn the_first_fault_is_the_same() {
    let job = faulty();
    let (alone, _) = run("gpu.ron", &job, threads(1));
    assert!(matches!(alone[0], Err(RunError::Fault(_))), "{alone:?}");
    for count in [2, 4] {
        assert_eq!(run("gpu.ron", &job, threads(count)).0, alone, "{count} threads");
    }
}

/// An output buffer that can be read after the run.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The retirement trace of a run, and its error. A run on several threads uses one more thread, which builds
/// the records.
fn traced(job: &Job, options: RunOptions) -> (Vec<u8>, Option<RunError>) {
    let config = config::load("gpu.ron").expect("a preset");
    let file = Shared::default();
    let writer = Writer::new(file.clone(), Form::Binary, &header(&config)).unwrap();
    let mut recorder = Recorder::new(&config, vec![(String::new(), Box::new(writer))], Window::ALL);
    if options.threads > 1 {
        recorder = recorder.apart();
    }
    let mut gpu = Machine::new(config.clone(), job.program.clone(), job.memory.clone());
    let (mut end, mut error) = (0, None);
    for step in &job.steps {
        let start = gpu.now();
        recorder.start(&job.program, step, start);
        match gpu.run(step, &options, Some(&mut recorder), &mut |_| {}) {
            Ok(report) => end = start + report.running_cycles(),
            Err(why) => {
                end = match &why {
                    RunError::Fault(fault) => fault.cycle.unwrap(),
                    RunError::CycleLimit(stuck) => start + stuck.cycle,
                    other => panic!("{other:?}"),
                };
                error = Some(why);
                break;
            }
        }
    }
    recorder.finish(if error.is_none() { How::Complete } else { How::Stopped }, end, "").unwrap();
    (std::mem::take(&mut file.0.lock().unwrap()), error)
}

#[test]
fn the_retirement_trace_is_the_same() {
    for name in ["sgemm", "reduction", "bfs", "histogram"] {
        let job = launch::load(name, Size::Small).expect("a kernel of the suite");
        let alone = traced(&job, threads(1));
        assert!(alone.0.len() > 100_000 && alone.1.is_none(), "{name}: {} bytes", alone.0.len());
        for count in [2, 3, 4] {
            assert!(traced(&job, threads(count)) == alone, "{name} on {count} threads");
        }
        assert!(traced(&job, RunOptions { every_cycle: true, ..threads(3) }) == alone, "{name}, every cycle");
        // Other threads may simulate past the limit, but nothing after it may appear in the trace.
        let some = |options| RunOptions { max_cycles: Some(1500), ..options };
        let cut = traced(&job, some(threads(1)));
        assert!(cut.1.is_some(), "{name}");
        assert!(traced(&job, some(threads(4))) == cut, "{name}, cut");
    }
}

#[test]
fn the_trace_of_a_fault_is_the_same() {
    let job = faulty();
    let alone = traced(&job, threads(1));
    assert!(matches!(alone.1, Some(RunError::Fault(_))), "{:?}", alone.1);
    for count in [2, 4] {
        assert!(traced(&job, threads(count)) == alone, "{count} threads");
    }
}

/// Looks at whether a launch can still end watch a part of it, and change nothing.
#[test]
fn looks_change_nothing() {
    for name in ["spmv", "bitonic_sort", "histogram", "dot_f64"] {
        let job = launch::load(name, Size::Small).expect("a kernel of the suite");
        let plain = run("gpu.ron", &job, threads(1));
        for after in [100, 333, 1000] {
            let looking = RunOptions { looks_after: Some(after), ..threads(1) };
            assert!(run("gpu.ron", &job, looking) == plain, "{name}, looks after {after} cycles");
            let looking = RunOptions { looks_after: Some(after), ..threads(3) };
            assert!(run("gpu.ron", &job, looking) == plain, "{name}, looks after {after} cycles, 3 threads");
        }
    }
}
