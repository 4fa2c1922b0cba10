//! Threads: the largest machine with all wave slots in use, and kernels of the suite.

use crate::run::{BUSY, Timed, fastest, launch_of, mean, run_job, simulate};
use std::thread::available_parallelism;
use wave_machine::config;
use wave_machine::gpu::RunOptions;
use wave_study::launch::{self, Size};

const TURNS: usize = 3;
const KERNELS: [&str; 6] = ["sgemm", "nbody", "saxpy", "bfs", "pointer_chase", "alu_loop"];

pub(crate) fn part() {
    let most = available_parallelism().map_or(1, usize::from).clamp(2, 4);
    println!("times as fast as one thread");
    print!("{:<16} {:<8} {:>10}", "kernel", "machine", "seconds");
    (2..=most).for_each(|threads| print!(" {threads:>10}"));
    println!();
    let config = config::load("large.ron").expect("a preset");
    // Each core holds 64 waves: eight workgroups.
    let (program, launch) = launch_of(BUSY, config.cores * 8, &[(3, 40)]);
    let busy = |threads| {
        let options = RunOptions { threads, ..RunOptions::UNBOUNDED };
        simulate(&config, &program, std::slice::from_ref(&launch), vec![0; 4096], &options).0
    };
    row("every slot taken", "large", most, busy);
    let mut ratios = vec![Vec::new(); most - 1];
    for machine in ["large", "gpu"] {
        let config = config::load(machine).expect("a preset");
        for name in KERNELS {
            let job = launch::load(name, Size::Full).expect("a kernel of the suite");
            let run = |threads| run_job(&config, &job, &RunOptions { threads, ..RunOptions::UNBOUNDED });
            let here = row(name, machine, most, run);
            ratios.iter_mut().zip(here).for_each(|(all, ratio)| all.push(ratio));
        }
    }
    print!("{:<36}", "geometric mean of the suite's");
    ratios.iter().for_each(|ratios| print!(" {:>10.2}", mean(ratios)));
    println!();
}

/// Prints the speed-up of each number of threads over one thread, and returns it.
fn row(name: &str, machine: &str, most: usize, run: impl Fn(usize) -> Timed) -> Vec<f64> {
    let alone = fastest(TURNS, || run(1)).seconds;
    print!("{name:<16} {machine:<8} {alone:>10.3}");
    let ratios: Vec<f64> =
        (2..=most).map(|threads| alone / fastest(TURNS, || run(threads)).seconds).collect();
    ratios.iter().for_each(|ratio| print!(" {ratio:>10.2}"));
    println!();
    ratios
}
