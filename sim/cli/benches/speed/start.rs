//! Start-up time: the program with a kernel that does almost nothing.

use std::process::{Command, Stdio};
use std::time::Instant;

const KERNEL: &str = "\
.kernel nothing
.registers 4
.workgroup_size 32, 1, 1
    halt
.end
";
const TURNS: usize = 21;

pub(crate) fn part() {
    let folder = tempfile::tempdir().expect("a folder for a kernel");
    let kernel = folder.path().join("nothing.wave");
    std::fs::write(&kernel, KERNEL).expect("a kernel can be written");
    let mut times: Vec<f64> = (0..TURNS)
        .map(|_| {
            let start = Instant::now();
            let mut program = Command::new(env!("CARGO_BIN_EXE_wave-sim"));
            program.args(["--config", "gpu.ron", "--grid", "1"]).arg(&kernel);
            let ended = program.stdout(Stdio::null()).stderr(Stdio::null()).status();
            assert!(ended.is_ok_and(|status| status.success()), "it runs");
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!(
        "wave-sim --config gpu.ron with an empty kernel, from start to end: {:.1} ms (median of {TURNS}, from {:.1} to {:.1})",
        times[TURNS / 2],
        times[0],
        times[TURNS - 1]
    );
}
