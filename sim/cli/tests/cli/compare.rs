//! `wave-sim compare` and `sensitivity`: columns, what differs, the baseline, and the exit code.

use super::scratch::Scratch;
use serde_json::Value;
use std::process::Command;

/// A launch of `saxpy` of the suite that is stored as a result.
fn stored(scratch: &Scratch, file: &str, more: &str) -> String {
    let document = scratch.out(&format!("saxpy --size small --format json {more}"));
    scratch.write(file, document.as_bytes());
    document
}

#[test]
fn machines_are_columns_and_the_first_is_the_baseline() {
    let scratch = Scratch::new();
    let words =
        "compare saxpy --size small --config gpu.ron --config t4.ron --with core.max_waves=8 --format json";
    let document: Value = serde_json::from_str(&scratch.out(words)).unwrap();
    let columns: Vec<&str> =
        document["columns"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(columns, ["gpu", "gpu core.max_waves=8", "t4", "t4 core.max_waves=8"]);
    assert_eq!(document["cost"], "microseconds", "the clocks differ");
    let runs = document["kernels"][0]["runs"].as_array().unwrap();
    assert_eq!(runs[0]["change"], 0.0);
    for run in runs {
        let cycles = run["statistics"]["kernel.cycles"].as_f64().unwrap();
        let account: f64 =
            run["account"].as_object().unwrap().values().map(|part| part.as_f64().unwrap()).sum();
        assert!((account - cycles).abs() < 1e-6 * cycles, "{account} of {cycles}");
        assert_eq!(run["outcome"], "verified");
    }
    // The same as the machine alone says.
    let alone: Value =
        serde_json::from_str(&scratch.out("saxpy --size small --config t4.ron --format json")).unwrap();
    assert_eq!(runs[2]["statistics"], alone["runs"][0]["total"]["statistics"]);
}

#[test]
fn kernels_are_columns_on_one_machine() {
    let text = Scratch::new().out("compare --size small softmax wgsl/softmax");
    let head = text.lines().find(|line| line.starts_with("kernel")).unwrap();
    assert_eq!(head.split_whitespace().collect::<Vec<_>>(), ["kernel", "softmax", "wgsl/softmax"]);
}

#[test]
fn what_takes_longer_than_the_baseline_ends_with_1() {
    let scratch = Scratch::new();
    stored(&scratch, "before.json", "");
    let slower = "compare --baseline before.json saxpy --size small --set core.l1.mshrs=1";
    let ran = scratch.run(&format!("{slower} --fail-above 2%"));
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(
        ran.err.contains("more cycles in `gpu` than in `before`; --fail-above allows 2 %"),
        "{}",
        ran.err
    );
    assert_eq!(scratch.run(&format!("{slower} --fail-above 10000%")).code, 0);
    assert_eq!(scratch.run("compare --baseline before.json --size small --fail-above 0%").code, 0);
    // Nothing to compare is no success.
    let ran = scratch.run("compare --baseline before.json reduction --size small --fail-above 0%");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("no kernel has ended in the first column"), "{}", ran.err);
}

#[test]
fn stored_results_need_no_run() {
    let scratch = Scratch::new();
    stored(&scratch, "a.json", "");
    stored(&scratch, "b.json", "--set core.l1.mshrs=1");
    let csv = scratch.out("compare a.json b.json --format csv");
    let cycles = |column: &str| {
        let row =
            csv.lines().find(|line| line.starts_with(&format!("saxpy,{column},kernel.cycles,"))).unwrap();
        row.split(',').skip(3).map(str::to_owned).collect::<Vec<_>>()
    };
    let (a, b) = (cycles("a"), cycles("b"));
    assert_eq!((a[0].as_str(), a[2].as_str()), (a[1].as_str(), "0"));
    let number = |text: &str| text.parse::<i64>().unwrap();
    assert_eq!(number(&b[2]), number(&b[0]) - number(&a[0]));
    assert!(number(&b[2]) > 0, "one miss at a time hides less latency");
}

#[test]
fn a_baseline_lies_in_a_commit() {
    let scratch = Scratch::new();
    stored(&scratch, "before.json", "");
    let git = |words: &str| {
        let mut command = Command::new("git");
        command.current_dir(scratch.path("")).args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        assert!(
            command.args(words.split(' ')).output().expect("git is there").status.success(),
            "git {words}"
        );
    };
    git("init -q");
    git("add before.json");
    git("commit -qm before");
    std::fs::remove_file(scratch.path("before.json")).unwrap();
    let text = scratch.out("compare --baseline HEAD:before.json saxpy --size small --fail-above 0");
    assert!(text.contains("HEAD:before.json"), "{text}");
    let ran = scratch.run("compare --baseline HEAD:other.json saxpy --size small");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("git cannot show `HEAD:other.json`"), "{}", ran.err);
}

#[test]
fn other_data_are_said() {
    let scratch = Scratch::new();
    stored(&scratch, "small.json", "");
    stored(&scratch, "seed.json", "--seed 7");
    let said = |words: &str| scratch.run(words).err;
    let full = said("compare --baseline small.json saxpy");
    assert!(
        full.contains("`saxpy` has other data in `gpu` than in `small`: --size full and --size small"),
        "{full}"
    );
    let seed = said("compare small.json seed.json");
    assert!(seed.contains("--size small --seed 7 and --size small"), "{seed}");
    assert!(!said("compare --baseline small.json saxpy --size small").contains("other data"));
}

#[test]
fn wrong_comparisons_are_errors() {
    let scratch =
        Scratch::with(&[("text.json", "{}"), ("old.json", r#"{"schema": 0, "config": {}, "runs": []}"#)]);
    let cases = [
        ("compare saxpy --size small", "nothing to compare it with"),
        ("compare text.json", "`text.json` is no result of wave-sim"),
        ("compare old.json", "`old.json` is no result of wave-sim"),
        ("compare missing.json", "cannot read `missing.json`"),
        ("compare saxpy --config gpu.ron --with core.l1.byte=1KiB", "core.l1.byte"),
        ("compare saxpy --fail-above much", "`much` is no percentage"),
        ("compare saxpi softmax", "`saxpi` is no file"),
    ];
    for (words, message) in cases {
        let ran = scratch.run(words);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{words}: {}", ran.err);
        assert!(ran.err.contains(message), "{words}: {}", ran.err);
    }
}

#[test]
fn parameters_have_the_effect_that_setting_them_has() {
    let scratch = Scratch::new();
    let found: Value = serde_json::from_str(
        &scratch
            .out("sensitivity saxpy --size small --within core.l1.mshrs --within core_clock --format json"),
    )
    .unwrap();
    let parameters = found["parameters"].as_array().unwrap();
    let of = |key: &str| parameters.iter().find(|parameter| parameter["key"] == key).unwrap();
    let alone = |setting: &str| -> u64 {
        let words = format!("saxpy --size small --format json --set {setting}");
        let document: Value = serde_json::from_str(&scratch.out(&words)).unwrap();
        document["runs"][0]["total"]["statistics"]["kernel.cycles"].as_u64().unwrap()
    };
    let mshrs = of("core.l1.mshrs");
    let half = mshrs["value"].as_u64().unwrap() / 2;
    assert_eq!(mshrs["halved"]["value"], half);
    assert_eq!(mshrs["halved"]["cycles"], alone(&format!("core.l1.mshrs={half}")));
    // The time of a run with another clock, in cycles of this one.
    let clock = of("core_clock_mhz");
    let (now, twice) = (clock["value"].as_u64().unwrap(), clock["doubled"]["value"].as_u64().unwrap());
    assert_eq!(clock["doubled"]["cycles"], alone(&format!("core_clock_mhz={twice}")) * now / twice);
    let ran = scratch.run("sensitivity saxpy --within core.l3");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("no parameter begins with `core.l3`"), "{}", ran.err);
    assert_eq!(scratch.run("sensitivity nothing").code, 2);
}
