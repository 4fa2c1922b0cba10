//! Speed without a clock: callgrind counts the host instructions that simulating each kernel of the suite takes, and each count is
//! held against a budget. The counts are those of this profile on x86-64 and say nothing of seconds; what makes one grow makes the
//! simulator slower. A count far below its budget fails too: such a budget would let the next slow-down pass. `UPDATE=1` writes new
//! budgets.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use wave_study::launch;

/// Accepted ratio of count to budget. Other compiler versions generate other code.
const MOST: f64 = 1.12;
const LEAST: f64 = 0.80;
/// The function whose instructions are counted, as a pattern that fits both symbol manglings of Rust.
const COUNTED: &str = "*wave_machine::gpu::machine::Machine*::run";
const HEAD: &str = "# Host instructions of simulating each kernel (small, gpu.ron, one thread), in the profile of the tests.\n";

fn budgets_file() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/golden/host_instructions.txt"].iter().collect()
}

/// Host instructions executed in `Machine::run`.
fn count(kernel: &str) -> u64 {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(format!("--toggle-collect={COUNTED}")).args([env!("CARGO_BIN_EXE_wave-sim"), kernel]);
    valgrind.args(["--config", "gpu.ron", "--size", "small", "--threads", "1"]);
    let output = valgrind.stdout(Stdio::null()).output().expect("valgrind runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{kernel}: {said}");
    collected(&said).unwrap_or_else(|why| panic!("{kernel}: {why}: {said}"))
}

/// The count in callgrind's output.
fn collected(said: &str) -> Result<u64, String> {
    let count =
        said.lines().find_map(|line| line.split("Collected : ").nth(1)).ok_or("callgrind says no count")?;
    match count.trim().parse() {
        Ok(0) => Err(format!("no symbol of the program matches {COUNTED}")),
        Ok(count) => Ok(count),
        Err(error) => Err(format!("{count}: {error}")),
    }
}

/// Budget of each kernel. Every line states one, except comments.
fn budgets(text: &str) -> Result<BTreeMap<&str, u64>, String> {
    let mut budgets = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let budget = line.split_once(' ').and_then(|(kernel, count)| Some((kernel, count.parse().ok()?)));
        match budget {
            Some((kernel, budget)) if budget > 0 && budgets.insert(kernel, budget).is_none() => {}
            _ => return Err(format!("`{line}` states no budget")),
        }
    }
    Ok(budgets)
}

/// Counts that violate their budgets, as messages.
fn objections(counts: &BTreeMap<&str, u64>, budgets: &BTreeMap<&str, u64>) -> Vec<String> {
    if counts.is_empty() || !counts.keys().eq(budgets.keys()) {
        return vec!["the budgets are those of other kernels than the suite has: UPDATE=1".to_owned()];
    }
    let objection = |(kernel, &count): (&&str, &u64)| {
        let of_budget = count as f64 / budgets[kernel] as f64;
        let says = match of_budget {
            of if of > MOST => "above the budget",
            of if of < LEAST => "so far below it that the budget is out of date: UPDATE=1",
            _ => return None,
        };
        Some(format!("{kernel} takes {count}, {of_budget:.2} of {}: {says}", budgets[kernel]))
    };
    counts.iter().filter_map(objection).collect()
}

#[test]
fn each_kernel_takes_the_host_instructions_of_its_budget() {
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
    let counts: BTreeMap<&str, u64> = counts.into_inner().unwrap();
    if std::env::var_os("UPDATE").is_some() {
        let mut text = HEAD.to_owned();
        counts.iter().for_each(|(kernel, count)| writeln!(text, "{kernel} {count}").unwrap());
        return std::fs::write(budgets_file(), text).expect("the budgets can be written");
    }
    let stated = std::fs::read_to_string(budgets_file()).expect("the budgets can be read");
    let budgets = budgets(&stated).unwrap_or_else(|why| panic!("{}: {why}", budgets_file().display()));
    let wrong = objections(&counts, &budgets);
    assert!(wrong.is_empty(), "host instructions:\n{}", wrong.join("\n"));
    let sum = |of: &BTreeMap<&str, u64>| of.values().sum::<u64>() as f64;
    println!("{:.2} of the budget, over all kernels", sum(&counts) / sum(&budgets));
}

#[test]
fn a_count_of_nothing_is_an_error() {
    assert_eq!(collected("==1== Collected : 4711\n"), Ok(4711));
    assert!(collected("==1== Collected : 0\n").is_err_and(|why| why.contains("no symbol")));
    assert!(collected("==1== Collected :\n").is_err());
    assert!(collected("").is_err());
}

#[test]
fn a_budget_of_nothing_is_an_error() {
    assert_eq!(budgets("# head\na 1\nb 22\n"), Ok(BTreeMap::from([("a", 1), ("b", 22)])));
    for wrong in ["a 0", "a", "a x", "", "a 1\na 2"] {
        assert!(budgets(&format!("{wrong}\n")).is_err(), "{wrong}");
    }
}

#[test]
fn counts_are_held_against_their_budgets_from_both_sides() {
    let of = |count| BTreeMap::from([("a", count)]);
    let wrong = |count| objections(&of(count), &of(1000)).concat();
    assert_eq!(wrong(800) + &wrong(1000) + &wrong(1120), "");
    assert!(wrong(1121).contains("above"));
    assert!(wrong(799).contains("UPDATE=1"));
    assert!(!objections(&of(1000), &BTreeMap::from([("b", 1000)])).is_empty(), "another kernel");
    assert!(!objections(&BTreeMap::new(), &BTreeMap::new()).is_empty(), "no kernel");
}
