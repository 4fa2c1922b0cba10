//! `wave-sim sweep --backend dask`, where `python3` can import `distributed`:
//!
//!     python3 -m venv target/dask && target/dask/bin/pip install distributed
//!     PATH=$PWD/target/dask/bin:$PATH cargo test -p wave-sim --test cli dask

use super::scratch::Scratch;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SWEEP: &str = "sweep --config tiny --size small --set cores=1..4 --set core.l1.bytes=4KiB,8KiB,16KiB,32KiB reduction bfs --jobs 2";

/// True if there is no Dask here, which is said.
fn skipped() -> bool {
    let there = Command::new("python3").args(["-c", "import distributed"]).stderr(Stdio::null()).status();
    let skipped = !there.is_ok_and(|status| status.success());
    if skipped {
        eprintln!(
            "skipped: python3 cannot import `distributed`; the head of the file says how to install it"
        );
    }
    skipped
}

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
