//! Results without timing beside the reference functional emulator `wave-emu` 0.1.2, on the kernels that both run with
//! the same work: its seconds over ours. Every result of ours is verified.

use crate::emulator::{SGEMM, emulator_seconds};
use crate::run::{Timed, fastest, mean};
use std::time::Instant;
use wave_machine::config::{self, Config};
use wave_machine::functional::{self, Limits};
use wave_study::launch::{self, Job, Size, Verification};

const TURNS: usize = 5;
/// What the ratios are to be: the geometric mean, and each.
const GOAL: (f64, f64) = (2.0, 1.0);

/// Runs a job without timing and checks its result.
fn run_job(config: &Config, job: &Job) -> Timed {
    let mut memory = job.memory.clone();
    let mut timed = Timed { seconds: 0.0, instructions: 0, cycles: 0, bytes: 0 };
    let start = Instant::now();
    for launch in &job.steps {
        let limits = Limits::default();
        let report = functional::run(config, &job.program, launch, &mut memory, &limits, &mut |_| ())
            .expect("it ends");
        timed.instructions += report.counters.wave_instructions;
    }
    timed.seconds = start.elapsed().as_secs_f64();
    assert!(matches!(job.verify(&memory), Verification::Passed { .. }), "{} is verified", job.name);
    timed
}

pub(crate) fn part() {
    let config = config::load("gpu").expect("a preset");
    println!("| kernel | wave instructions | ours, M/s | wave-emu, M/s | ratio |");
    println!("|---|---|---|---|---|");
    let mut ratios = Vec::new();
    let mut left_out = Vec::new();
    for name in launch::suite().chain([SGEMM]) {
        let job = launch::load(name, Size::Full).expect("a kernel of the suite");
        let ours = fastest(TURNS, || run_job(&config, &job));
        let (theirs, ratio) = match emulator_seconds(&config, &job, ours.instructions) {
            Ok(seconds) => {
                let ratio = seconds / ours.seconds;
                ratios.push(ratio);
                let rate = ours.instructions as f64 / seconds / 1e6;
                (format!("{rate:.1}"), format!("{ratio:.2}"))
            }
            Err(reason) => {
                left_out.push((job.name.clone(), reason));
                ("-".to_owned(), "-".to_owned())
            }
        };
        println!("| {} | {} | {:.1} | {theirs} | {ratio} |", job.name, ours.instructions, ours.rate());
    }
    let least = ratios.iter().copied().fold(f64::MAX, f64::min);
    println!(
        "\ngeometric mean of the ratio to wave-emu: {:.2} (goal {}); least {least:.2} (goal {})",
        mean(&ratios),
        GOAL.0,
        GOAL.1
    );
    println!("\nKernels that wave-emu does not run:");
    left_out.iter().for_each(|(name, reason)| println!("{name:<16} {reason}"));
}
