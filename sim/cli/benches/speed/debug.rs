//! The debugger: a step backwards after more than ten million cycles, and snapshots of two machines.

use std::time::{Duration, Instant};
use wave_isa::program::{Launch, assemble};
use wave_machine::config::{Config, load_with_settings};
use wave_machine::gpu::{Machine, RunOptions, Stop};
use wave_study::launch::{self, Size};
use wave_study::timeline::{Condition, Stopped, Timeline};

/// A workgroup on every core counts to a million.
const KERNEL: &str = "\
.kernel long
.registers 8
.workgroup_size 64, 1, 1
    mov_imm r0, 1000000
    mov_imm r1, 1
    mov_imm r2, 0
    loop
        isub    r0, r0, r1
        icmp_eq p0, r0, r2
        break   p0
    endloop
    halt
.end
";
/// The position from which steps go backwards.
const FAR: u64 = 10_000_000;
const STEPS: usize = 21;

pub(crate) fn part() {
    back();
    for config in ["gpu", "large"] {
        snapshots(config);
    }
}

fn config(name: &str) -> Config {
    load_with_settings(name, &[]).unwrap_or_else(|wrong| panic!("{name}: {wrong:?}")).0
}

fn median(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort();
    let ms = |time: &Duration| time.as_secs_f64() * 1e3;
    (ms(&times[times.len() / 2]), times.last().map_or(0.0, ms))
}

/// Goes far, and then one step back, several times, by a cycle and by an instruction.
fn back() {
    let config = config("gpu");
    let (program, _) = assemble(KERNEL, "long.wave").expect("it assembles");
    let launch = Launch::of(&program, 0, [config.cores, 1, 1]);
    let memory = vec![0; config.device_memory_bytes as usize];
    let mut timeline = Timeline::new(config, program, memory, vec![launch], &RunOptions::UNBOUNDED, 1 << 30)
        .expect("the kernel runs");
    let start = Instant::now();
    assert!(timeline.seek(FAR, &mut |_| true));
    assert_eq!(timeline.now(), FAR, "the kernel takes more than {FAR} cycles");
    let there = start.elapsed().as_secs_f64();
    let (count, bytes) = timeline.history();
    println!(
        "gpu.ron, to cycle {FAR}: {there:.1} s ({:.2} million cycles/s); {count} snapshots, {} MiB",
        FAR as f64 / there / 1e6,
        bytes >> 20
    );
    let issue = [Condition::Issues((0, 0))];
    let mut turns = |name: &str, conditions: &[Condition], back: u64| {
        let times: Vec<Duration> = (0..STEPS)
            .map(|_| {
                let (now, start) = (timeline.now(), Instant::now());
                let limit = if back > 0 { now - back } else { 0 };
                let stopped = timeline.backward(conditions, limit, &mut |_| true);
                assert!(matches!(stopped, Stopped::Hit(_) | Stopped::There) && timeline.now() < now);
                start.elapsed()
            })
            .collect();
        let (median, most) = median(times);
        println!("{name}: {median:.1} ms (median of {STEPS}), at most {most:.1} ms");
    };
    turns("reverse-step", &[], 1);
    turns("reverse-stepi", &issue, 0);
}

/// Snapshots of a machine half-way through a kernel of the suite.
fn snapshots(name: &str) {
    const KERNEL: &str = "sgemm";
    let config = config(name);
    let job = launch::load(KERNEL, Size::Full).expect("the suite has it");
    let mut memory = job.memory.clone();
    memory.resize(config.device_memory_bytes as usize, 0);
    let run = |until: u64| {
        let mut machine = Machine::new(config.clone(), job.program.clone(), memory.clone());
        machine.begin(&job.steps[0], &RunOptions::UNBOUNDED).expect("it runs");
        let stop = machine.advance(until, None).expect("it runs");
        (machine, stop)
    };
    let (_, Stop::Ended(report)) = run(u64::MAX) else { panic!("{KERNEL} has an end") };
    let (mut machine, _) = run(report.cycles / 2);
    let mut bytes = 0;
    let mut saves = Vec::new();
    let mut restores = Vec::new();
    for _ in 0..STEPS {
        let start = Instant::now();
        let snapshot = machine.snapshot();
        saves.push(start.elapsed());
        bytes = snapshot.bytes();
        let start = Instant::now();
        machine.restore(&snapshot).expect("it fits");
        restores.push(start.elapsed());
    }
    let device = config.device_memory_bytes >> 20;
    println!(
        "{name}.ron, {KERNEL} half-way: snapshot {:.1} ms, restore {:.1} ms (medians of {STEPS}), {:.1} MiB, of which device memory {device}",
        median(saves).0,
        median(restores).0,
        bytes as f64 / f64::from(1 << 20)
    );
}
