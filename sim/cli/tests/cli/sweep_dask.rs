//! `wave-sim sweep --backend dask`, where `python3` can import `distributed`:
//!
//!     python3 -m venv target/dask && target/dask/bin/pip install distributed cryptography
//!     PATH=$PWD/target/dask/bin:$PATH cargo test -p wave-sim --test cli dask

use super::scratch::Scratch;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SWEEP: &str = "sweep --config tiny --size small --set cores=1..4 --set core.l1.bytes=4KiB,8KiB,16KiB,32KiB reduction bfs --jobs 2";

/// True if there is no Dask here, which is said.
fn skipped() -> bool {
    let there = Command::new("python3")
        .args(["-c", "import distributed, cryptography"])
        .stderr(Stdio::null())
        .status();
    let skipped = !there.is_ok_and(|status| status.success());
    if skipped {
        eprintln!(
            "skipped: python3 cannot import `distributed` and `cryptography`; the head of the file says how to install it"
        );
    }
    skipped
}

/// Knocks at the ports of a process and of those below it, as somebody who has no certificate of the cluster.
const OUTSIDER: &str = include_str!("outsider.py");

fn outputs(scratch: &Scratch) -> Vec<Vec<u8>> {
    ["sweep.csv", "sweep.parquet", "sweep.html"].iter().map(|file| scratch.read(file)).collect()
}

/// Results in the store.
fn results(scratch: &Scratch) -> usize {
    let folders = std::fs::read_dir(scratch.path("sweep-results")).into_iter().flatten();
    let folders = folders.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let files =
        folders.flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()));
    files.filter(|file| file.extension().is_some_and(|extension| extension == "json")).count()
}

/// The processes that run points in this folder, with their parents.
fn workers(folder: &Path) -> Vec<(u32, u32)> {
    let of = |process: u32| {
        let place = PathBuf::from(format!("/proc/{process}"));
        let words = std::fs::read(place.join("cmdline")).ok()?;
        let inside = std::fs::read_link(place.join("cwd")).ok()? == folder;
        let stat = std::fs::read_to_string(place.join("stat")).ok()?;
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        let is_worker = words.split(|&byte| byte == 0).any(|word| word == b"--worker");
        (inside && is_worker).then_some((process, parent))
    };
    let processes = std::fs::read_dir("/proc").unwrap();
    processes.filter_map(|entry| of(entry.ok()?.file_name().to_str()?.parse().ok()?)).collect()
}

#[test]
fn workers_of_dask_give_the_same_bytes_also_when_one_is_killed() {
    if skipped() {
        return;
    }
    let local = Scratch::new();
    local.out(SWEEP);
    let scratch = Scratch::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_wave-sim"));
    command.current_dir(scratch.path(".")).args(SWEEP.split_whitespace()).args(["--backend", "dask"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let folder = scratch.path(".").canonicalize().unwrap();
    let start = Instant::now();
    while results(&scratch) < 4 {
        assert!(start.elapsed() < Duration::from_secs(200), "{} results", results(&scratch));
        std::thread::sleep(Duration::from_millis(5));
    }
    let (orphan, worker) = workers(&folder)[0];
    assert!(Command::new("kill").args(["-KILL", &worker.to_string()]).status().unwrap().success());
    assert!(child.wait().unwrap().success());
    assert_eq!((results(&scratch), outputs(&scratch)), (32, outputs(&local)));
    assert!(workers(&folder).iter().all(|(process, _)| *process != orphan), "it has ended with its worker");
}

#[test]
fn a_scheduler_that_is_not_there_is_an_error() {
    if skipped() {
        return;
    }
    let scratch = Scratch::new();
    let ran = scratch.run(&format!("{SWEEP} --backend dask --scheduler tcp://127.0.0.1:9"));
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("there is no Dask scheduler at `tcp://127.0.0.1:9`"), "{}", ran.err);
    assert!(ran.err.contains("32 runs did not run; what is done is in `sweep-results`"), "{}", ran.err);
}

/// No other user of the host can have the scheduler or a worker do anything, and there is no page.
#[test]
fn the_cluster_on_this_host_answers_nobody_without_its_certificate() {
    if skipped() {
        return;
    }
    let scratch = Scratch::new();
    // As a module of the working folder would be taken for that of Python.
    scratch.write("json.py", b"raise SystemExit(9)\n");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wave-sim"));
    command.current_dir(scratch.path(".")).args(SWEEP.split_whitespace()).args(["--backend", "dask"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while results(&scratch) < 1 {
        assert!(start.elapsed() < Duration::from_secs(200), "no result");
        std::thread::sleep(Duration::from_millis(5));
    }
    // A cluster whose work is done would close: so nothing goes on meanwhile.
    let folder = scratch.path(".").canonicalize().unwrap();
    let workers = workers(&folder);
    let signal = |name: &str| {
        for (process, _) in &workers {
            assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
        }
    };
    signal("-STOP");
    let knocked = Command::new("python3").args(["-c", OUTSIDER, &child.id().to_string()]).output().unwrap();
    signal("-CONT");
    let why = String::from_utf8_lossy(&knocked.stderr);
    let found: serde_json::Value = serde_json::from_slice(&knocked.stdout).expect(&why);
    // The scheduler, two workers, and who watches over each.
    assert_eq!(found, serde_json::json!({"ports": 5, "answers": []}), "{why}");
    assert!(child.wait().unwrap().success());
}

/// A scheduler that takes anybody's code is used, and said to be one.
#[test]
fn a_scheduler_without_encryption_is_warned_of() {
    if skipped() {
        return;
    }
    let scratch = Scratch::new();
    let mut children = Vec::new();
    let mut start = |words: &str| {
        let mut command = Command::new("python3");
        command.current_dir(scratch.path(".")).args(["-m"]).args(words.split_whitespace());
        children.push(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    };
    const FLAGS: &str = "--host 127.0.0.1 --dashboard-address 127.0.0.1:0 --scheduler-file dask.json";
    start(&format!("distributed.cli.dask_scheduler --port 0 {FLAGS}"));
    let waits = Instant::now();
    while !scratch.path("dask.json").is_file() {
        assert!(waits.elapsed() < Duration::from_secs(100), "no scheduler");
        std::thread::sleep(Duration::from_millis(20));
    }
    start(&format!("distributed.cli.dask_worker --nthreads 1 --no-nanny {FLAGS}"));
    let ran = scratch
        .run("sweep --config tiny --size small --set cores=1,2 saxpy --backend dask --scheduler dask.json");
    for mut child in children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("warning: --scheduler: `tcp://127.0.0.1:"), "{}", ran.err);
    assert!(ran.err.contains("is not encrypted"), "{}", ran.err);
}
