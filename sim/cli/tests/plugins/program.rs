//! The program that has the plug-ins, run as its user runs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The example of this crate that is `sim/plugins/src/main.rs`.
fn program() -> PathBuf {
    example("plugins")
}

/// An example of this crate. `cargo test` builds it, unless tests are selected by name: then `cargo build --example`
/// does.
fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().expect("this test has a path");
    let folder = tests.parent().and_then(Path::parent).expect("it is in target/PROFILE/deps");
    let program = folder.join("examples").join(name);
    let built = |file: &Path| file.metadata().and_then(|data| data.modified()).expect("it is a file");
    assert!(program.is_file(), "`cargo build --workspace --example {name}` builds {}", program.display());
    // One that is older than the command line would be another one's.
    let command = Path::new(env!("CARGO_BIN_EXE_wave-sim"));
    let age = built(command).duration_since(built(&program)).unwrap_or_default();
    assert!(age.as_secs() < 3600, "`cargo build --workspace --example {name}` builds it again");
    program
}

fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/kernels")
}

fn output(words: &[&str]) -> Output {
    output_in(&kernels(), words)
}

fn output_in(folder: &Path, words: &[&str]) -> Output {
    Command::new(program()).args(words).current_dir(folder).env("NO_COLOR", "1").output().expect("it runs")
}

/// Standard output of a run that ends well.
fn text(words: &[&str]) -> String {
    let output = output(words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// The message about wrong input.
fn refused(words: &[&str]) -> String {
    let output = output(words);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr).expect("text")
}

/// Cycles and counters of a run, by name.
struct Run(serde_json::Value);

impl Run {
    fn of(kernel: &str, settings: &[&str]) -> Run {
        let mut words =
            vec!["--config", "gpu.ron", "--format", "json", "--size", "small", kernel, "--set", "cores=2"];
        settings.iter().for_each(|setting| words.extend(["--set", setting]));
        let document: serde_json::Value = serde_json::from_str(&text(&words)).expect("JSON");
        Run(document)
    }

    fn count(&self, name: &str) -> f64 {
        fn find(value: &serde_json::Value, name: &str) -> Option<f64> {
            match value {
                serde_json::Value::Object(map) => map
                    .get(name)
                    .and_then(|value| value.as_f64())
                    .or_else(|| map.values().find_map(|v| find(v, name))),
                serde_json::Value::Array(list) => list.iter().find_map(|value| find(value, name)),
                _ => None,
            }
        }
        find(&self.0, name).unwrap_or_else(|| panic!("no `{name}` in {}", self.0))
    }
}

/// Cycles of a kernel with some settings over those with others.
fn ratio(kernel: &str, both: &[&str], before: &str, after: &str) -> f64 {
    let cycles = |setting| Run::of(kernel, &[both, &[setting]].concat()).count("kernel.cycles");
    let (before, after) = (cycles(before), cycles(after));
    println!("{kernel} {both:?}: {before} cycles, {after} with the plug-in, ratio {:.3}", after / before);
    after / before
}

#[test]
fn each_idea_has_its_effect_where_it_should_and_none_where_it_should_not() {
    let small_l1 = ["core.l1.bytes=16KiB", "core.schedulers=1"];
    let (gto, ccws) = ("core.issue.policy=gto", "core.issue.policy=ccws");
    assert!(ratio("gemv_rows.ron", &small_l1, gto, ccws) < 0.9);
    assert!((0.97..1.03).contains(&ratio("saxpy", &small_l1, gto, ccws)));

    // What misses beside the stream of 2048 lines are lines of the table.
    let (lru, ship) = ("core.l1.replacement=lru", "core.l1.replacement=ship");
    let small = ["core.l1.bytes=4KiB"];
    let table =
        |setting| Run::of("hot_table.ron", &[&small[..], &[setting]].concat()).count("l1.misses") - 2048.0;
    println!("misses of the table: lru {}, ship {}", table(lru), table(ship));
    assert!(table(ship) >= 0.0 && table(ship) < 0.2 * table(lru));
    assert!(ratio("hot_table.ron", &small, lru, ship) < 0.95);
    assert!((0.97..1.03).contains(&ratio("saxpy", &small, lru, ship)));

    let (none, stride) = ("core.l1.prefetcher=none", "core.l1.prefetcher=stride");
    let few = ["core.max_waves=4", "core.max_workgroups=1"];
    assert!(ratio("hot_table.ron", &few, none, stride) < 0.9);
    assert!((0.97..1.03).contains(&ratio("pointer_chase", &[], none, stride)));

    let (none, victim) = ("core.l1.path=none", "core.l1.path=victim_cache");
    let direct = ["core.l1.ways=1", "core.l1.bytes=16KiB", few[0], few[1], "victim_cache.lines=64"];
    assert!(ratio("pairs.ron", &direct, none, victim) < 0.9);
    assert!((0.97..1.03).contains(&ratio("saxpy", &direct[..2], none, victim)));
}

#[test]
fn the_program_knows_its_plug_ins_everywhere() {
    assert!(text(&["config", "explain", "ccws.gain"]).contains("plugins.ccws.gain"));
    let policies = text(&["config", "explain", "core.issue.policy"]);
    assert!(policies.contains("two_level") && policies.contains("CCWS, MICRO 2012"), "{policies}");
    assert!(text(&["config", "show", "tiny.ron", "--set", "stride.degree=7"]).contains("degree: 7"));
    assert!(text(&["config", "schema"]).contains("victim_tags"));
    assert!(text(&["stats", "ccws"]).contains("ccws.lost_locality"));
    let machine = ["--config", "tiny.ron", "--size", "small", "saxpy"];
    let stats = text(&[&machine[..], &["--stats", "--set", "core.l1.prefetcher=stride"]].concat());
    assert!(stats.contains("stride.steps") && stats.contains("verified"), "{stats}");

    let folder = TempDir::new().expect("a folder");
    let store = folder.path().join("store");
    let store = store.to_str().expect("a path");
    let axes = ["--set", "core.issue.policy=gto,ccws", "--set", "ccws.gain=1,4", "--store", store];
    let words = [&["sweep", "--config", "tiny.ron", "--size", "small", "saxpy"][..], &axes].concat();
    let sweep = output_in(folder.path(), &words);
    let sweep = String::from_utf8(sweep.stdout).expect("text");
    assert!(sweep.contains("ccws"), "{sweep}");
    let page = folder.path().join("run.html");
    let words = ["--set", "core.l1.replacement=ship", "--report", page.to_str().expect("a path")];
    text(&[&machine[..], &words].concat());
    assert!(std::fs::read_to_string(&page).expect("the page").contains("ship.predicted_dead"));
}

#[test]
fn a_checkpoint_goes_on_with_the_plug_in_only() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("run.ckpt");
    let file = file.to_str().expect("a path");
    let machine = ["--config", "tiny.ron", "--size", "small", "saxpy", "--set", "core.l1.path=victim_cache"];
    let machine =
        [&machine[..], &["--set", "core.l1.bytes=1KiB", "--set", "core.l1.ways=1", "--stats"]].concat();
    let whole = text(&machine);
    let stopped = output(
        &[&machine[..], &["--checkpoint", file, "--checkpoint-every", "500", "--max-cycles", "2000"]]
            .concat(),
    );
    assert_eq!(stopped.status.code(), Some(3), "{}", String::from_utf8_lossy(&stopped.stderr));
    let resumed = [&machine[..], &["--resume", file]].concat();
    assert_eq!(text(&resumed), whole);
    // The program without the plug-ins says what is missing.
    let plain = Command::new(env!("CARGO_BIN_EXE_wave-sim")).args(&resumed).output().expect("it runs");
    let message = String::from_utf8_lossy(&plain.stderr).into_owned();
    assert_eq!(plain.status.code(), Some(2), "{message}");
    assert!(message.contains("victim_cache"), "{message}");
}

#[test]
fn an_observer_writes_its_text_and_its_counters() {
    let machine =
        ["--config", "tiny.ron", "--size", "small", "spmv", "--observe", "reuse", "--set", "reuse.lines=64"];
    let shown = text(&[&machine[..], &["--stats"]].concat());
    assert!(shown.contains("\nspmv: reuse\ndistance_from,distance_to,accesses\n0,0,"), "{shown}");
    assert!(shown.contains("reuse.near") && shown.contains("verified"), "{shown}");
    let threads = text(&[&machine[..], &["--stats", "--threads", "1"]].concat());
    assert_eq!(text(&[&machine[..], &["--stats", "--threads", "2"]].concat()), threads);
    assert_eq!(shown, threads);

    let folder = TempDir::new().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let file = format!("reuse={}", at("{kernel}.csv"));
    let words = ["--config", "tiny.ron", "--size", "small", "--observe", &file, "saxpy", "spmv"];
    let two = text(&[&words[..], &["--set", "reuse.lines=64"]].concat());
    assert!(!two.contains("distance_from"), "{two}");
    let table = std::fs::read_to_string(at("spmv.csv")).expect("the table");
    assert!(shown.contains(&table) && Path::new(&at("saxpy.csv")).is_file(), "{table}");

    let json = text(&[&machine[..], &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["runs"][0]["observers"][0]["text"], table);
    let run = Run(json);
    let near: f64 = table.lines().skip(1).filter(|row| !row.contains(",,")).map(last).sum();
    assert!(run.count("reuse.near") == near && near > 0.0 && run.count("reuse.accesses") > near);

    // One run knows the hits of all sizes: those of a sweep agree.
    let (store, table_name) = (at("store"), at("sweep"));
    let words = ["sweep", "--config", "tiny.ron", "--size", "small", "spmv", "--set", "reuse.enabled=1"];
    let words =
        [&words[..], &["--set", "reuse.lines=8,64", "--store", &store, "--out", &table_name]].concat();
    let swept = output_in(folder.path(), &words);
    assert!(swept.status.success(), "{}", String::from_utf8_lossy(&swept.stderr));
    let csv = std::fs::read_to_string(at("sweep.csv")).expect("the table");
    let column = csv.lines().next().expect("a heading").split(',').position(|name| name == "reuse.near");
    let column = column.unwrap_or_else(|| panic!("{csv}"));
    let swept: Vec<&str> = csv.lines().skip(1).filter_map(|row| row.split(',').nth(column)).collect();
    let below_8 = table.lines().skip(1).take_while(|row| !row.starts_with("8,")).map(last).sum::<f64>();
    assert_eq!(swept, [below_8.to_string(), near.to_string()], "{csv}");

    let page = at("run.html");
    text(&[&machine[..], &["--report", &page]].concat());
    assert!(std::fs::read_to_string(&page).expect("the page").contains("reuse.near"));
}

/// The number at the end of a row.
fn last(row: &str) -> f64 {
    row.rsplit(',').next().and_then(|field| field.parse().ok()).unwrap_or_else(|| panic!("{row}"))
}

#[test]
fn a_checkpoint_has_what_an_observer_has_seen() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("run.ckpt");
    let file = file.to_str().expect("a path");
    let machine = ["--config", "tiny.ron", "--size", "small", "bfs", "--stats", "--observe", "reuse"];
    let whole = text(&machine);
    let stopped = ["--checkpoint", file, "--checkpoint-every", "1700", "--max-cycles", "4000"];
    let stopped = output(&[&machine[..], &stopped].concat());
    assert_eq!(stopped.status.code(), Some(3), "{}", String::from_utf8_lossy(&stopped.stderr));
    assert_eq!(text(&[&machine[..], &["--resume", file]].concat()), whole);
    // A run without the observer is another one.
    let message = refused(&[&machine[..6], &["--resume", file]].concat());
    assert!(message.contains("is a checkpoint of another machine"), "{message}");
}

#[test]
fn an_observer_that_breaks_its_contract_is_named() {
    for (name, why) in [
        ("in_event", "it has seen enough"),
        ("in_begin", "it does not like launches"),
        ("miscounts", "1 counters are declared, and 2 are given"),
    ] {
        for threads in ["1", "2"] {
            let words = ["--size", "small", "--threads", threads, "saxpy", "--observe", name];
            let output = Command::new(example("faulty_observers")).args(words).output().expect("it runs");
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{message}");
            let named = format!("the plug-in `{name}`, an observer, has panicked: {why}");
            assert!(message.contains(&named), "{message}");
        }
    }
}

#[test]
fn wrong_observers_are_one_clear_error() {
    let machine = ["--config", "tiny.ron", "--size", "small", "saxpy"];
    let with = |words: &[&str]| refused(&[&machine[..], words].concat());
    for (words, part) in [
        (&["--observe", "resue"][..], "no observer is registered as `resue`"),
        (&["--observe", "resue"], "did you mean `reuse`?"),
        (&["--observe", "ccws"], "`ccws` is a warp scheduler, and no observer"),
        (&["--observe", "reuse="], "a file needs a name"),
        (&["--observe", "reuse", "--observe", "reuse=a.csv"], "`reuse` is named twice"),
        (&["--observe", "reuse=no/such/folder.csv"], "there is no folder `no/such`"),
        (&["--observe", "reuse=a.csv", "spmv"], "'a-{kernel}.csv'"),
        (&["--observe", "reuse", "--functional"], "--functional has no timing, and --observe needs it"),
        (&["--set", "reuse.enabled=1", "--functional"], "the observer `reuse` watches all of it"),
        (&["--set", "reuse.enabled=1", "--sample"], "set plugins.reuse.enabled to 0"),
        (&["--set", "reuse.enabled=2"], "`plugins.reuse.enabled` is 2: it must be an integer from 0 to 1"),
    ] {
        let message = with(words);
        assert!(message.contains(part), "{words:?}: {message}");
    }
    let plain = Command::new(env!("CARGO_BIN_EXE_wave-sim")).args(["saxpy", "--observe", "reuse"]).output();
    let plain = plain.expect("it runs");
    let message = String::from_utf8_lossy(&plain.stderr).into_owned();
    assert_eq!(plain.status.code(), Some(2), "{message}");
    assert!(message.contains("a program with observers registers them: docs/plugins.md"), "{message}");
}

#[test]
fn wrong_names_and_values_are_one_clear_error() {
    let message = refused(&["--config", "gpu.ron", "--set", "core.issue.policy=ccsw", "saxpy"]);
    assert!(message.contains("did you mean `ccws`?"), "{message}");
    let message = refused(&["--config", "gpu.ron", "--set", "ccws.gain=65", "saxpy"]);
    assert!(message.contains("`plugins.ccws.gain` is 65: it must be an integer from 1 to 64"), "{message}");
    let message = refused(&["--config", "gpu.ron", "--set", "ccws.gian=6", "saxpy"]);
    assert!(message.contains("plugins.ccws.gain"), "{message}");
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("machine.ron");
    for (text, part) in [
        ("(plugins: (ccws: (gian: 3)))", "`plugins.ccws` has no key `gian`"),
        ("(plugins: (cwcs: (gain: 3)))", "did you mean `ccws`?"),
        ("(plugins: (ccws: (gain: many)))", "`plugins.ccws.gain` is many"),
        ("(plugins: (ccws: (gain: 99)))", "from 1 to 64"),
        ("(core: (issue: (policy: \"ccws\")))", "without quotes"),
    ] {
        std::fs::write(&file, text).expect("the file");
        let message = refused(&["--config", file.to_str().expect("a path"), "saxpy"]);
        assert!(message.contains(part), "{text}: {message}");
    }
    std::fs::write(&file, "(core: (issue: (policy: ccws)), plugins: (ccws: (gain: 5, decay: 3)))")
        .expect("the file");
    let shown = text(&["config", "show", file.to_str().expect("a path")]);
    assert!(
        shown.contains("gain: 5") && shown.contains("decay: 3") && shown.contains("base_score: 100"),
        "{shown}"
    );
}
