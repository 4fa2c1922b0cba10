//! What the retirement trace costs: runs that write it in the binary form beside runs without. One thread simulates; the
//! records are made by another one, as on the command line.

use crate::run::{Timed, fastest, run_job};
use std::time::Instant;
use wave_machine::config::{self, Config};
use wave_machine::gpu::{Machine, RunOptions};
use wave_observe::trace::recorder::header;
use wave_observe::trace::{Form, How, Recorder, Window, Writer};
use wave_study::launch::{self, Job, Size};

const TURNS: usize = 5;
const KERNELS: [&str; 4] = ["sgemm", "histogram", "nbody", "spmv"];
/// Most times the seconds that a run with a trace is to take.
const GOAL: f64 = 2.0;

/// Runs a job, and completes the trace of it.
fn traced(config: &Config, job: &Job) -> Timed {
    let file = tempfile::tempfile().expect("a temporary file");
    let mut gpu = Machine::new(config.clone(), job.program.clone(), job.memory.clone());
    let mut timed = Timed { seconds: 0.0, instructions: 0, cycles: 0, bytes: 0 };
    let start = Instant::now();
    let writer =
        Writer::new(std::io::BufWriter::new(file), Form::Binary, &header(config)).expect("its header");
    let sinks: Vec<(String, Box<dyn wave_observe::trace::Sink>)> =
        vec![("trace".to_owned(), Box::new(writer))];
    let mut recorder = Recorder::new(config, sinks, Window::ALL).apart();
    for launch in &job.steps {
        recorder.start(&job.program, launch, gpu.now());
        let report =
            gpu.run(launch, &RunOptions::UNBOUNDED, Some(&mut recorder), &mut |_| ()).expect("it ends");
        timed.cycles += report.cycles;
    }
    let recorded = recorder.finish(How::Complete, gpu.now(), "").expect("the file takes it");
    timed.seconds = start.elapsed().as_secs_f64();
    timed.instructions = recorded.records;
    timed
}

pub(crate) fn part() {
    let config = config::load("gpu").expect("a preset");
    println!("| kernel | records | seconds without | with | times (goal {GOAL}) |");
    println!("|---|---|---|---|---|");
    for name in KERNELS {
        let job = launch::load(name, Size::Full).expect("a kernel of the suite");
        let without = fastest(TURNS, || run_job(&config, &job, &RunOptions::UNBOUNDED));
        let with = fastest(TURNS, || traced(&config, &job));
        assert!(with.instructions > 0, "{name}: the trace has records");
        println!(
            "| {name} | {} | {:.3} | {:.3} | {:.2} |",
            with.instructions,
            without.seconds,
            with.seconds,
            with.seconds / without.seconds
        );
    }
}
