//! `wave-sim optimize`: what it finds is what a sweep of all points has, whatever the number of threads.
//!
//! Searches with Optuna are tested where `python3` can import it:
//!
//!     python3 -m venv target/optuna && target/optuna/bin/pip install optuna
//!     PATH=$PWD/target/optuna/bin:$PATH cargo test -p wave-sim --test cli optimize

use super::scratch::Scratch;
use serde_json::Value;
use std::process::{Command, Stdio};

const AXES: &str = "--config tiny --size small --set cores=1..4 --set core.l1.mshrs=1,2,4 --set core.issue.policy=lrr,gto saxpy scan";

fn document(scratch: &Scratch, flags: &str) -> Value {
    serde_json::from_str(&scratch.out(&format!("optimize {AXES} --format json {flags}"))).unwrap()
}

/// The least geometric mean of a column over the kernels of a point, among points that `keep`, of a sweep of all points.
fn least(scratch: &Scratch, column: &str, keep: impl Fn(f64) -> bool) -> f64 {
    scratch.out(&format!("sweep {AXES} --out all"));
    let text = String::from_utf8(scratch.read("all.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let at = |name: &str| names.iter().position(|other| *other == name).unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    assert_eq!(rows.len(), 48, "24 points of two kernels");
    let number = |row: &[&str], name: &str| row[at(name)].parse::<f64>().unwrap();
    let points = rows.chunks(2).filter(|pair| keep(number(&pair[0], "area_mm2")));
    let means = points.map(|pair| (number(&pair[0], column) * number(&pair[1], column)).sqrt());
    means.fold(f64::INFINITY, f64::min)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b
}

#[test]
fn all_points_at_random_give_the_best_of_a_sweep() {
    let scratch = Scratch::new();
    let found = document(&scratch, "--method random --points 1000");
    let search = &found["searches"][0];
    assert_eq!(search["points"].as_array().unwrap().len(), 24, "each once");
    assert!(close(search["best"]["value"].as_f64().unwrap(), least(&scratch, "cycles", |_| true)));
    // With a limit between the areas of machines.
    let areas: Vec<f64> = search["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| point["runs"][0]["mm2"].as_f64().unwrap())
        .collect();
    let (least_area, most_area) = areas.iter().fold((f64::MAX, 0.0_f64), |(a, b), &x| (a.min(x), b.max(x)));
    let limit = (least_area + most_area) / 2.0;
    let limited = document(&scratch, &format!("--method random --points 1000 --at-most area={limit}"));
    let search = &limited["searches"][0];
    let ran = search["points"].as_array().unwrap().len() as u64;
    assert!(ran > 0 && ran < 24 && ran + search["passed_over"].as_u64().unwrap() == 24, "{ran}");
    assert!(close(
        search["best"]["value"].as_f64().unwrap(),
        least(&scratch, "cycles", |area| area <= limit)
    ));
    assert!(search["best"]["runs"][0]["mm2"].as_f64().unwrap() <= limit);
}

/// The default needs nothing but this program.
#[test]
fn evolution_finds_the_best_of_a_sweep_without_other_programs() {
    let scratch = Scratch::new();
    let flags = "--points 24 --seed 2 --minimize energy-delay";
    let found = document(&scratch, flags);
    let search = &found["searches"][0];
    assert_eq!((search["method"].as_str(), search["points"].as_array().unwrap().len()), (Some("evolve"), 24));
    let all = document(&scratch, "--method random --points 1000 --minimize energy-delay");
    assert_eq!(search["best"]["value"], all["searches"][0]["best"]["value"]);
    // No program on the path: a search that starts Python fails.
    let words = format!("optimize {AXES} --points 6 --format json");
    let run = |method: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wave-sim"));
        command
            .current_dir(scratch.path("."))
            .env("PATH", "")
            .args(words.split_whitespace())
            .args(["--method", method]);
        command.output().unwrap().status.code()
    };
    assert_eq!((run("evolve"), run("tpe")), (Some(0), Some(2)));
    let first = document(&scratch, "--points 9 --seed 4 --against-random");
    assert_eq!(document(&Scratch::new(), "--points 9 --seed 4 --against-random --jobs 3"), first);
}

#[test]
fn threads_and_what_is_stored_change_nothing() {
    let flags = "--method random --points 9 --minimize energy-delay --seed 5";
    let scratch = Scratch::new();
    let first = document(&scratch, &format!("{flags} --jobs 1"));
    assert_eq!(document(&scratch, &format!("{flags} --jobs 1")), first, "from the store");
    assert_eq!(document(&Scratch::new(), &format!("{flags} --jobs 3")), first);
    let other = document(&scratch, &flags.replace("--seed 5", "--seed 6"));
    assert_ne!(other["searches"][0]["points"], first["searches"][0]["points"]);
}

#[test]
fn the_text_has_the_configuration_and_the_best() {
    let scratch = Scratch::new();
    let flags = "--method random --points 12 --repeat 2 --minimize area-delay --at-most power=1000";
    let found = document(&scratch, flags);
    let text = scratch.out(&format!("optimize {AXES} {flags}"));
    assert!(text.starts_with("saxpy, scan on tiny"), "{text}");
    for part in ["mean power at most 1000 W", "the configuration", "random (seed 1)", "random (seed 2)"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let searches = found["searches"].as_array().unwrap();
    let value = |search: &&Value| search["best"]["value"].as_f64().unwrap();
    let best = searches.iter().min_by(|a, b| value(a).total_cmp(&value(b))).unwrap();
    let set = best["best"]["set"].as_object().unwrap();
    let mut settings = set.iter().map(|(key, value)| format!("{key}={}", value.as_str().unwrap()));
    let lines: Vec<&str> = text.lines().collect();
    let base = lines.iter().position(|line| line.ends_with("the configuration")).unwrap();
    assert!(settings.all(|setting| lines[base + 1].contains(&setting)), "{text}");
}

#[test]
fn wrong_words_are_errors() {
    let scratch = Scratch::new();
    for (words, part) in [
        ("optimize saxpy --method random", "no parameter is free"),
        ("optimize saxpy --set cores=1..4 --minimize cycle", "did you mean `cycles`?"),
        ("optimize saxpy --set cores=1..4 --at-most area=x", "`x` is no positive number of mm2"),
        ("optimize saxpy --set cores=1..4 --points 0", "0 is not in 1.."),
        ("optimize nothing --set cores=1..4 --method random", "`nothing` is no"),
    ] {
        let ran = scratch.run(words);
        assert_eq!(ran.code, 2, "{words}: {}", ran.err);
        assert!(ran.err.contains(part), "{words}: {}", ran.err);
    }
    let ran = scratch.run(&format!("optimize {AXES} --method random --points 3 --at-most area=0.001"));
    assert_eq!(ran.code, 2);
    assert!(ran.out.contains("No point keeps to the limits."), "{}", ran.out);
}

#[test]
fn optuna_finds_the_best_of_all_points() {
    let there = Command::new("python3").args(["-c", "import optuna"]).stderr(Stdio::null()).status();
    let scratch = Scratch::new();
    if !there.is_ok_and(|status| status.success()) {
        eprintln!("skipped: python3 cannot import `optuna`; the head of the file says how to install it");
        let ran = scratch.run(&format!("optimize {AXES} --method tpe --points 4"));
        assert!(ran.code == 2 && ran.err.contains("--method tpe: "), "{}", ran.err);
        return;
    }
    let found = document(&scratch, "--method tpe --points 24 --seed 3 --against-random");
    let searches = found["searches"].as_array().unwrap();
    let names: Vec<&str> = searches.iter().map(|search| search["method"].as_str().unwrap()).collect();
    assert_eq!(names, ["tpe", "random"]);
    let best = least(&scratch, "cycles", |_| true);
    assert!(close(searches[0]["best"]["value"].as_f64().unwrap(), best), "all of 24 points");
    assert_eq!(
        document(&Scratch::new(), "--method tpe --points 24 --seed 3 --against-random --jobs 2"),
        found
    );
    let limits = "--method tpe --points 10 --seed 3 --at-most area=10 --at-most power=0.000001";
    let limited = scratch.run(&format!("optimize {AXES} --format json {limits}"));
    let found: Value = serde_json::from_str(&limited.out).unwrap();
    assert_eq!((limited.code, &found["searches"][0]["best"]), (2, &Value::Null));
}
