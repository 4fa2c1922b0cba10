//! `wave-sim sweep`: plans, processes, the store and the tables.

use super::scratch::{ADD, Ran, Scratch};
use std::collections::HashMap;

/// A sweep of a few small runs.
const SMALL: &str =
    "sweep --config tiny --size small --set core.l1.bytes=4KiB,8KiB --set machine.cores=1..2 saxpy scan";
const OUTPUTS: [&str; 3] = ["sweep.csv", "sweep.parquet", "sweep.html"];

/// The rows of a table in CSV, by the names of the columns. No value in these tests has a comma or a line break.
fn rows(scratch: &Scratch, file: &str) -> Vec<HashMap<String, String>> {
    let text = String::from_utf8(scratch.read(file)).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        let values: Vec<&str> = line.split(',').collect();
        assert_eq!(values.len(), names.len(), "{line}");
        names.iter().zip(values).map(|(name, value)| ((*name).to_owned(), value.to_owned())).collect()
    };
    lines.map(row).collect()
}

fn outputs(scratch: &Scratch) -> Vec<Vec<u8>> {
    OUTPUTS.iter().map(|file| scratch.read(file)).collect()
}

/// How many runs the last line says there were.
fn ran(ran: &Ran) -> String {
    let line =
        ran.err.lines().find(|line| line.starts_with("host: ")).unwrap_or_else(|| panic!("{}", ran.err));
    line["host: ".len()..].split(';').next().unwrap().to_owned()
}

fn succeeds(scratch: &Scratch, arguments: &str) -> Ran {
    let ran = scratch.run(arguments);
    assert_eq!(ran.code, 0, "{arguments}: {}{}", ran.out, ran.err);
    ran
}

/// The errors of a command that must fail as wrong input.
fn refused(scratch: &Scratch, arguments: &str) -> String {
    let ran = scratch.run(arguments);
    assert_eq!(ran.code, 2, "{arguments}: {}{}", ran.out, ran.err);
    ran.err
}

#[test]
fn each_row_is_what_the_same_run_alone_measures() {
    let scratch = Scratch::new();
    succeeds(&scratch, SMALL);
    let rows = rows(&scratch, "sweep.csv");
    assert_eq!(rows.len(), 8);
    for row in &rows {
        let (bytes, cores, kernel) = (&row["core.l1.bytes"], &row["cores"], &row["kernel"]);
        let alone = format!(
            "{kernel} --config tiny --size small --set core.l1.bytes={bytes} --set cores={cores} --format json"
        );
        let document: serde_json::Value = serde_json::from_str(&scratch.out(&alone)).unwrap();
        let total = &document["runs"][0]["total"];
        assert_eq!(row["outcome"], document["runs"][0]["outcome"].as_str().unwrap(), "{alone}");
        assert_eq!(row["config"], document["config"]["hash"].as_str().unwrap(), "{alone}");
        for (name, value) in
            total["statistics"].as_object().unwrap().iter().chain(total["figures"].as_object().unwrap())
        {
            assert_eq!(row[name].parse::<f64>().unwrap(), value.as_f64().unwrap(), "{name} of {alone}");
        }
        assert_eq!(row["cycles"], total["statistics"]["kernel.cycles"].to_string());
    }
    let order: Vec<String> = rows
        .iter()
        .map(|r| format!("{} {} {} {}", r["point"], r["core.l1.bytes"], r["cores"], r["kernel"]))
        .collect();
    assert_eq!(order[..3], ["1 4096 1 saxpy", "1 4096 1 scan", "2 4096 2 saxpy"]);
}

#[test]
fn the_tables_have_the_same_bytes_with_one_process_or_two_and_nothing_runs_twice() {
    let scratch = Scratch::new();
    let first = succeeds(&scratch, &format!("{SMALL} --jobs 1"));
    let alone = outputs(&scratch);
    assert_eq!(ran(&first), "8 of 8 runs ran, 0 were in sweep-results");
    let again = succeeds(&scratch, &format!("{SMALL} --jobs 2"));
    assert_eq!(
        (ran(&again).as_str(), outputs(&scratch)),
        ("0 of 8 runs ran, 8 were in sweep-results", alone.clone())
    );
    let both = succeeds(&scratch, &format!("{SMALL} --jobs 2 --store other"));
    assert_eq!((ran(&both).as_str(), outputs(&scratch)), ("8 of 8 runs ran, 0 were in other", alone));
    assert_eq!((&first.out, &first.out), (&again.out, &both.out));
    // A greater sweep takes what there is.
    let more = SMALL.replace("1..2", "1..3");
    assert_eq!(ran(&succeeds(&scratch, &more)), "4 of 12 runs ran, 8 were in sweep-results");
}

#[test]
fn machines_that_cannot_be_are_listed_with_their_reason() {
    let scratch = Scratch::new();
    let ran = succeeds(
        &scratch,
        "sweep --config tiny --size small --set core.l1.bytes=8KiB,12KiB --set cores=0,1 saxpy",
    );
    for part in [
        "3, no such machine:",
        "  core.l1.bytes=8192 cores=0 and 1 more: `cores` is 0: it must be an integer from 1 to",
        "  core.l1.bytes=12288 cores=1: `core.l1.bytes` is 12288, ",
        "must be a power of two",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let text = String::from_utf8(scratch.read("sweep.csv")).unwrap();
    assert_eq!(text.lines().filter(|line| line.contains(",invalid,")).count(), 3, "{text}");
    assert_eq!(text.lines().filter(|line| line.contains(",verified,")).count(), 1, "{text}");
    // Twenty points of one reason are one line, or a line each.
    let many = "sweep --config tiny --size small --set core.l1.bytes=5000..5019 --set cores=1,2 saxpy";
    let folded = scratch.run(many);
    assert!(
        folded.out.contains("core.l1.bytes=5000 cores=1 and 39 more: `core.l1.bytes` is 5000"),
        "{}",
        folded.out
    );
    assert_eq!(folded.out.matches("power of two").count(), 1, "{}", folded.out);
    let all = scratch.run(&format!("{many} --list-all"));
    assert_eq!(all.out.matches("power of two").count(), 40, "{}", all.out);
    let none = scratch.run("sweep --config tiny --size small --set cores=0,100000 saxpy");
    assert_eq!(none.code, 2, "{}", none.out);
}

#[test]
fn a_kernel_that_does_not_fit_a_machine_is_a_row_with_its_reason() {
    let scratch = Scratch::new();
    let ran = succeeds(&scratch, "sweep --config tiny --size small --set core.max_waves=16,32 saxpy");
    let rows = String::from_utf8(scratch.read("sweep.csv")).unwrap();
    assert_eq!(rows.lines().filter(|line| line.contains(",refused,")).count(), 1, "{rows}\n{}", ran.out);
    assert!(ran.out.contains("the kernel cannot run there:"), "{}", ran.out);
}

#[test]
fn a_plan_and_flags_mean_the_same() {
    let plan = r#"(
        config: "tiny.ron",
        axes: {"core.l1.bytes": ["4KiB", 8192], "cores": "1..2"},
        kernels: ["saxpy", "scan"],
        size: small,
    )"#;
    let scratch = Scratch::with(&[("plan.ron", plan)]);
    succeeds(&scratch, SMALL);
    let flags = outputs(&scratch);
    let same = succeeds(&scratch, "sweep --plan plan.ron");
    assert_eq!((ran(&same).as_str(), outputs(&scratch)), ("0 of 8 runs ran, 8 were in sweep-results", flags));
    let sampled =
        succeeds(&scratch, "sweep --plan plan.ron --latin-hypercube 2 --where cores*core.l1.bytes>4096 scan");
    assert!(sampled.out.contains("2 parameters, "), "{}", sampled.out);
    assert_eq!(ran(&sampled).split(' ').next(), Some("0"), "all of them have run: {}", sampled.err);
}

/// What decides a result is what it is named by, not where it lies.
#[test]
fn a_changed_kernel_runs_again_and_a_moved_one_does_not() {
    let scratch = Scratch::with(&[("add.wave", ADD), ("moved.wave", ADD)]);
    let sweep = |file: &str, more: &str| {
        ran(&succeeds(
            &scratch,
            &format!("sweep --config tiny --set cores=1,2 {file} --set-reg 1:256 {more}"),
        ))
    };
    assert_eq!(sweep("add.wave", ""), "2 of 2 runs ran, 0 were in sweep-results");
    assert_eq!(sweep("moved.wave", ""), "0 of 2 runs ran, 2 were in sweep-results");
    assert_eq!(sweep("add.wave", "--fill-iota 0:u32:16"), "2 of 2 runs ran, 0 were in sweep-results");
    assert_eq!(sweep("add.wave", "--grid 2"), "2 of 2 runs ran, 0 were in sweep-results");
    assert_eq!(sweep("add.wave", "--max-cycles 100000"), "2 of 2 runs ran, 0 were in sweep-results");
    scratch.write("add.wave", ADD.replace("mov_imm r4, 2", "mov_imm r4, 3").as_bytes());
    assert_eq!(sweep("add.wave", ""), "2 of 2 runs ran, 0 were in sweep-results");
}

/// Each seed is a run of its own, with the cycles that a run with this seed has.
#[test]
fn seeds_are_runs_of_their_own() {
    let scratch = Scratch::new();
    let swept = succeeds(&scratch, "sweep --config tiny --size small --seeds 1..3 bfs");
    assert_eq!(ran(&swept), "3 of 3 runs ran, 0 were in sweep-results");
    let rows = rows(&scratch, "sweep.csv");
    let results: std::collections::HashSet<&String> = rows.iter().map(|row| &row["result"]).collect();
    assert_eq!((rows.len(), results.len()), (3, 3));
    for row in &rows {
        let alone =
            scratch.out(&format!("bfs --config tiny --size small --seed {} --format json", row["seed"]));
        let document: serde_json::Value = serde_json::from_str(&alone).unwrap();
        let cycles = &document["runs"][0]["total"]["statistics"]["kernel.cycles"];
        assert_eq!(row["cycles"], cycles.to_string(), "seed {}", row["seed"]);
    }
}

/// Files of the store.
fn results(scratch: &Scratch) -> Vec<std::path::PathBuf> {
    let Ok(folders) = std::fs::read_dir(scratch.path("sweep-results")) else { return Vec::new() };
    let folders = folders.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut files: Vec<_> = folders
        .flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()))
        .collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files
}

#[test]
fn a_damaged_result_is_said_and_runs_again() {
    let scratch = Scratch::new();
    succeeds(&scratch, SMALL);
    let whole = outputs(&scratch);
    let files = results(&scratch);
    assert_eq!(files.len(), 8);
    let text = std::fs::read(&files[3]).unwrap();
    std::fs::write(&files[3], &text[..text.len() / 2]).unwrap();
    std::fs::copy(&files[0], &files[5]).unwrap();
    let again = succeeds(&scratch, SMALL);
    assert_eq!(ran(&again), "2 of 8 runs ran, 6 were in sweep-results");
    assert_eq!(again.err.matches("; it runs again").count(), 2, "{}", again.err);
    assert!(again.err.contains("is damaged: its checksum is another"), "{}", again.err);
    assert_eq!(outputs(&scratch), whole);
}

#[test]
fn a_store_that_cannot_be_used_is_an_error() {
    let scratch = Scratch::new();
    succeeds(&scratch, SMALL);
    let manifest = "sweep-results/sweep-store.json";
    let text = String::from_utf8(scratch.read(manifest)).unwrap();
    scratch.write(manifest, text.replace("0.1.0", "0.0.9").as_bytes());
    let files = results(&scratch);
    let err = refused(&scratch, SMALL);
    assert!(err.contains("are those of wave-sim 0.0.9") && err.contains("name another folder"), "{err}");
    assert_eq!(results(&scratch), files, "what is there is kept");
    assert!(refused(&scratch, &format!("{SMALL} --store .")).contains("none of them is `sweep-store.json`"));
    assert!(refused(&scratch, &format!("{SMALL} --store sweep.csv")).contains("--store: cannot"));
}

/// As on a full disk: some results cannot be written. Those that can are kept.
#[test]
fn a_result_that_cannot_be_written_is_an_error_and_the_others_are_kept() {
    let scratch = Scratch::new();
    succeeds(&scratch, SMALL);
    let whole = outputs(&scratch);
    let files = results(&scratch);
    for file in &OUTPUTS {
        std::fs::remove_file(scratch.path(file)).unwrap();
    }
    let folder = files[7].parent().unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    std::fs::write(folder, "").unwrap();
    let err = refused(&scratch, SMALL);
    assert!(err.contains("--store: cannot write `") && err.contains("the same command goes on"), "{err}");
    assert!(OUTPUTS.iter().all(|file| !scratch.path(file).exists()), "no table by halves");
    std::fs::remove_file(folder).unwrap();
    succeeds(&scratch, SMALL);
    assert_eq!(outputs(&scratch), whole);
}

#[test]
fn wrong_input_gets_one_clear_error() {
    let plan = "(axes: {\"cores\": [1, 2]}, kernel: [\"saxpy\"])";
    let scratch =
        Scratch::with(&[("plan.ron", plan), ("add.wave", ADD), ("bad.wave", ".kernel k\n nonsense\n.end\n")]);
    for (arguments, parts) in [
        ("sweep", vec!["the sweep has no kernel"]),
        (
            "sweep --set core.l1.byts=1,2 saxpy",
            vec!["there is no parameter `core.l1.byts`", "did you mean", "--set:1:1"],
        ),
        ("sweep --set cores=64..8*2 saxpy", vec!["the range `64..8*2` is empty", "--set:1:7"]),
        ("sweep --set cores=1..9+0 saxpy", vec!["its step is 0"]),
        ("sweep --set cores=1,x saxpy", vec!["`x` is no integer"]),
        (
            "sweep --set core.issue.policy=gto,gtoo saxpy",
            vec!["`core.issue.policy` is gtoo", "did you mean `gto`"],
        ),
        (
            "sweep --set cores=1 --set cores=2,3 saxpy",
            vec!["`cores` has one value in a --set, and several in another"],
        ),
        ("sweep --set cores=1,2 saxpi", vec!["`saxpi` is no file", "did you mean"]),
        ("sweep --set cores=1,2 bad.wave", vec!["bad.wave:2"]),
        (
            "sweep --set cores=1,2 --where corse>1 saxpy",
            vec!["`corse` is not known here", "did you mean `cores`"],
        ),
        ("sweep --set cores=1,2 --where cores>4 saxpy", vec!["no point of the plan fulfils its constraints"]),
        ("sweep --set cores=1,2 --seeds 3..1 saxpy", vec!["the range `3..1` is empty", "--seeds:1:1"]),
        ("sweep --set cores=1,2 --seeds 1,2 add.wave", vec!["seeds are for launch files"]),
        ("sweep --set cores=1,2 --grid 2 saxpy", vec!["--grid is for a kernel file"]),
        ("sweep --set cores=1,2 --sample-seed 3 saxpy", vec!["--sample-seed is for a sample"]),
        ("sweep --set cores=1,2 --scheduler x saxpy", vec!["is for --backend dask"]),
        ("sweep --set cores=1,2 --out no/where saxpy", vec!["there is no folder `no`"]),
        ("sweep --set cores=1,2 --random 0 saxpy", vec!["0 is not in"]),
        ("sweep --plan plan.ron", vec!["there is no key `kernel` here", "plan.ron:1:27"]),
        ("sweep --plan none.ron", vec!["cannot read the plan `none.ron`"]),
        ("sweep --config none --set cores=1,2 saxpy", vec!["no preset of that name"]),
        (
            "sweep --set cores=1..1000 --set l2.slices=1..1000 saxpy",
            vec!["the plan means 1,000,000 runs", "--yes runs them all"],
        ),
        (
            "sweep --yes --set cores=1..10000 --set l2.slices=1..10000 saxpy",
            vec!["means 100000000 points", "take a sample"],
        ),
    ] {
        let err = refused(&scratch, arguments);
        for part in parts {
            assert!(err.contains(part), "{arguments}: no {part} in {err}");
        }
    }
    assert!(!scratch.path("sweep-results").exists() && !scratch.path("sweep.csv").exists());
}

/// A fault is a result. It makes the exit code, and is listed.
#[test]
fn runs_that_do_not_end_are_rows_too() {
    let wild = ADD.replace("device_load_u32 r5, r4", "mov_imm r4, 0xFFFFFFF0\n    device_load_u32 r5, r4");
    let scratch = Scratch::with(&[("wild.wave", &wild)]);
    let ran = scratch.run("sweep --config tiny --set cores=1,2 wild.wave");
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("2, it did not end:\n  wild at cores=1: "), "{}", ran.out);
    assert!(ran.out.contains("\n  wild at cores=2: "), "{}", ran.out);
    let again = scratch.run("sweep --config tiny --set cores=1,2 wild.wave");
    assert_eq!((again.code, again.out), (3, ran.out));
}

#[cfg(unix)]
mod killed {
    use super::super::signals::{self, signalled};
    use super::*;
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    /// A sweep that takes some seconds.
    const LONG: &str = "sweep --config tiny --size small --set cores=1..4 --set core.l1.bytes=4KiB,8KiB,16KiB,32KiB reduction bfs --jobs 2";

    fn start(scratch: &Scratch, run: &str) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wave-sim"));
        command.current_dir(scratch.path(".")).args(run.split_whitespace());
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Waits until the store has so many results.
    fn await_results(scratch: &Scratch, count: usize) {
        let start = Instant::now();
        while results(scratch).len() < count {
            assert!(start.elapsed() < Duration::from_secs(120), "{} results", results(scratch).len());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Processes whose parent is this one.
    fn children(of: u32) -> Vec<u32> {
        let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let process: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let status = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
            let parent = status.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()?;
            (parent == of).then_some(process)
        });
        processes.collect()
    }

    fn is_alive(process: u32) -> bool {
        std::fs::read_to_string(format!("/proc/{process}/stat"))
            .is_ok_and(|stat| !stat.rsplit_once(')').unwrap().1.trim_start().starts_with('Z'))
    }

    fn kill(process: u32) {
        assert!(Command::new("kill").args(["-KILL", &process.to_string()]).status().unwrap().success());
    }

    /// The bytes of the tables of a run that nothing disturbs.
    fn undisturbed() -> Vec<Vec<u8>> {
        let scratch = Scratch::new();
        succeeds(&scratch, LONG);
        outputs(&scratch)
    }

    #[test]
    fn a_killed_sweep_goes_on_and_leaves_no_process() {
        let scratch = Scratch::new();
        let mut child = start(&scratch, LONG);
        await_results(&scratch, 5);
        let workers = children(child.id());
        kill(child.id());
        child.wait().unwrap();
        assert_eq!(workers.len(), 2);
        let start = Instant::now();
        while workers.iter().any(|&worker| is_alive(worker)) {
            assert!(start.elapsed() < Duration::from_secs(20), "a worker outlives the sweep");
            std::thread::sleep(Duration::from_millis(20));
        }
        let done = results(&scratch).len();
        assert!((5..32).contains(&done), "{done}");
        let rest = succeeds(&scratch, LONG);
        assert_eq!(ran(&rest), format!("{} of 32 runs ran, {done} were in sweep-results", 32 - done));
        assert_eq!(outputs(&scratch), undisturbed());
    }

    #[test]
    fn a_killed_worker_loses_nothing() {
        let scratch = Scratch::new();
        let mut child = start(&scratch, LONG);
        await_results(&scratch, 4);
        kill(children(child.id())[0]);
        assert!(child.wait().unwrap().success());
        assert_eq!(results(&scratch).len(), 32);
        assert_eq!(outputs(&scratch), undisturbed());
    }

    #[test]
    fn a_signal_keeps_what_is_done() {
        let scratch = Scratch::new();
        // Enough for the time until the signal.
        let run = LONG.replace("1..4", "1..8").replace("--size small", "--size full");
        let child = signals::start(&scratch, &run);
        await_results(&scratch, 1);
        let ran = signalled(child, &run, "TERM");
        assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
        assert!(ran.err.contains("did not run; what is done is in `sweep-results`"), "{}", ran.err);
        assert!(OUTPUTS.iter().all(|file| !scratch.path(file).exists()));
    }
}
