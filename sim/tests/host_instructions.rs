//! Speed without a clock: the host instructions for simulating each kernel of the suite, counted by
//! callgrind, against a budget. The counts hold for this profile on x86-64 and say nothing about seconds, but
//! what makes one grow makes the simulator slower. `UPDATE=1` rewrites the budgets.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use wave_sim::launch;

/// A kernel may take so much more than its budget: other compilers make other instructions of the same source.
const TOLERANCE: f64 = 1.12;
const HEAD: &str = "# Host instructions of simulating each kernel (small, gpu.ron, one thread), in the profile of the tests.\n";

fn budgets_file() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/golden/host_instructions.txt"].iter().collect()
}

/// Instructions between the entry of `Gpu::run` and its end.
fn count(kernel: &str) -> u64 {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.args(["--toggle-collect=wave_sim::gpu::Gpu*::run*", env!("CARGO_BIN_EXE_wave-sim"), kernel]);
    valgrind.args(["--config", "gpu.ron", "--size", "small", "--threads", "1"]);
    let output = valgrind.stdout(Stdio::null()).output().expect("valgrind runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{kernel}: {said}");
    let collected = said.lines().find_map(|line| line.split("Collected : ").nth(1));
    collected.and_then(|count| count.trim().parse().ok()).unwrap_or_else(|| panic!("{kernel}: {said}"))
}

#[test]
fn no_kernel_takes_more_host_instructions_than_its_budget() {
    if std::env::var_os("WAVE_SIM_SKIP_CALLGRIND").is_some()
        || !cfg!(all(target_arch = "x86_64", target_os = "linux"))
    {
        return;
    }
    let found = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    assert!(
        found.is_ok_and(|status| status.success()),
        "valgrind is missing: sudo apt-get install -y valgrind, or WAVE_SIM_SKIP_CALLGRIND=1 to go without"
    );
    let kernels = Mutex::new(launch::suite());
    let counts = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(kernel) = kernels.lock().unwrap().next() else { return };
                    let instructions = count(kernel);
                    counts.lock().unwrap().insert(kernel, instructions);
                }
            });
        }
    });
    let counts = counts.into_inner().unwrap();
    let line =
        |text: &mut String, (kernel, count): (&&str, &u64)| writeln!(text, "{kernel} {count}").unwrap();
    let mut text = HEAD.to_owned();
    counts.iter().for_each(|entry| line(&mut text, entry));
    if std::env::var_os("UPDATE").is_some() {
        return std::fs::write(budgets_file(), text).expect("the budgets can be written");
    }
    let stated = std::fs::read_to_string(budgets_file()).expect("the budgets can be read");
    let budgets: BTreeMap<&str, u64> = stated
        .lines()
        .filter_map(|line| line.split_once(' ').filter(|(name, _)| *name != "#"))
        .map(|(kernel, count)| (kernel, count.parse().expect("a number")))
        .collect();
    assert!(counts.keys().eq(budgets.keys()), "the suite has other kernels than the budgets: UPDATE=1");
    let over = counts.iter().filter(|(kernel, count)| **count as f64 > budgets[**kernel] as f64 * TOLERANCE);
    let over: Vec<_> = over.map(|(kernel, count)| (kernel, count, budgets[*kernel])).collect();
    assert!(over.is_empty(), "kernel, host instructions, budget: {over:?}");
    let sum = |of: &mut dyn Iterator<Item = u64>| of.sum::<u64>() as f64;
    println!(
        "{:.2} of the budget, over all kernels",
        sum(&mut counts.values().copied()) / sum(&mut budgets.values().copied())
    );
}
