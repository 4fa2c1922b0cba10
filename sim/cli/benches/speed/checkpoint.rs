//! Checkpoints: size and time half-way in a kernel of the suite, which has its data in memory and in the caches.

use std::time::Instant;
use wave_machine::config;
use wave_machine::gpu::{Machine, RunOptions, Stop};
use wave_study::checkpoint::{Checkpoint, Identity};
use wave_study::launch::{self, Size};

const KERNEL: &str = "sgemm";
/// The fastest of so many counts.
const TURNS: usize = 5;

pub(crate) fn part() {
    for preset in ["gpu.ron", "large.ron"] {
        let config = config::load(preset).expect("a preset");
        let job = launch::load(KERNEL, Size::Full).expect("a kernel of the suite");
        let mut memory = vec![0; config.device_memory_bytes as usize];
        memory[..job.memory.len()].copy_from_slice(&job.memory);
        let identity = Identity::of(&config, &job.program, &job.steps, &memory);
        let new = || Machine::new(config.clone(), job.program.clone(), memory.clone());
        let options = RunOptions::UNBOUNDED;
        let cycles = new().run(&job.steps[0], &options, None, &mut |_| {}).expect("it ends").cycles;
        let mut machine = new();
        machine.begin(&job.steps[0], &options).expect("it begins");
        assert!(matches!(machine.advance(cycles / 2, None), Ok(Stop::Cycle)), "it is half-way");

        let mut file = Vec::new();
        let saved = milliseconds(|| {
            let snapshot = machine.snapshot();
            file = Checkpoint { ended: Vec::new(), snapshot, observers: Vec::new() }.encode(identity);
        });
        let to = tempfile::NamedTempFile::new().expect("a folder for a file");
        let written = milliseconds(|| {
            std::fs::write(to.path(), &file).expect("a file can be written");
            to.as_file().sync_all().expect("the disk takes it");
        });
        let mut other = new();
        let restored = milliseconds(|| {
            let checkpoint = Checkpoint::decode(&file, identity).expect("it is intact");
            other.restore_with(&checkpoint.snapshot, &options).expect("it fits");
        });
        let [file, state, device] =
            [file.len(), machine.snapshot().bytes(), memory.len()].map(|bytes| bytes as f64 / 1e6);
        println!("{preset}, {KERNEL} in cycle {} of {cycles}:", cycles / 2);
        println!(
            "  a checkpoint has {file:.1} MB; its state {state:.1} MB, of which device memory {device:.1} MB"
        );
        println!(
            "  saved in {saved:.0} ms, written to disk in {written:.0} ms, read back in {restored:.0} ms"
        );
    }
}

/// Time of the fastest call.
fn milliseconds(mut act: impl FnMut()) -> f64 {
    let times = (0..TURNS).map(|_| {
        let start = Instant::now();
        act();
        start.elapsed().as_secs_f64() * 1e3
    });
    times.fold(f64::INFINITY, f64::min)
}
