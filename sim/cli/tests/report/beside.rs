//! What a report shows beside the run: an earlier run, and what parameters are worth.

use super::page::{Page, Table, table, text};
use super::run::report_in;
use super::scratch::Scratch;
use serde_json::Value;

const KERNEL: &str = "spmv --size small --config gpu";

fn tables(page: &Page) -> Vec<Table> {
    page.some("table.beside").into_iter().map(table).collect()
}

#[test]
fn the_baseline_is_beside_the_run() {
    let scratch = Scratch::new();
    let earlier = scratch.out(&format!("{KERNEL} --set core.l1.mshrs=2 --format json"));
    scratch.write("old.json", earlier.as_bytes());
    let before: Value = serde_json::from_str(&earlier).unwrap();
    let reported = report_in(scratch, &format!("{KERNEL} --baseline old.json"));
    let section = reported.page.one("#baseline");
    let statistics = |run: &Value| run["runs"][0]["total"]["statistics"].clone();
    let (old, new) = (statistics(&before), statistics(&reported.json));
    let cycles = [&old, &new].map(|all| all["kernel.cycles"].as_f64().unwrap());
    let words = text(section);
    assert!(words.contains("core.l1.mshrs=2") && words.contains("another machine"), "{words}");
    let percent = format!("{:+.1} %", 100.0 * (cycles[1] / cycles[0] - 1.0));
    assert!(words.contains(&percent), "{percent}: {words}");
    // The differences of the account sum to the difference of the cycles, but for what is rounded and left out.
    let tables = tables(&reported.page);
    let number = |cell: &str| cell.replace(',', "").parse::<f64>().unwrap();
    let sum: f64 = tables[0].rows.iter().map(|row| number(tables[0].of(row, "difference"))).sum();
    let expected = cycles[1] - cycles[0];
    assert!((sum - expected).abs() <= 0.01 * cycles[0] + tables[0].rows.len() as f64, "{sum}, {expected}");
    let hits = |all: &Value| {
        let of = |name: &str| all[format!("l1.{name}")].as_f64().unwrap();
        100.0 * of("hits") / (of("hits") + of("mshr_hits") + of("sector_misses") + of("misses"))
    };
    let row = tables[1].rows.iter().find(|row| row[0].starts_with("L1 hits")).unwrap();
    assert_eq!(row[3], format!("{:+.1} points", hits(&new) - hits(&old)));
}

#[test]
fn parameters_are_beside_the_run() {
    let scratch = Scratch::new();
    let words = format!("sensitivity {KERNEL} --within core.l1 --within interconnect --format json");
    let found = scratch.out(&words);
    scratch.write("worth.json", found.as_bytes());
    let reported = report_in(scratch, &format!("{KERNEL} --sensitivity worth.json"));
    let words = text(reported.page.one("#parameters"));
    assert!(!words.contains("another run"), "{words}");
    let found: Value = serde_json::from_str(&found).unwrap();
    let tables = tables(&reported.page);
    let first = &found["parameters"][0];
    assert_eq!(tables[0].rows[0][0], first["key"].as_str().unwrap());
    let change = 100.0 * first["halved"]["change"].as_f64().unwrap();
    assert_eq!(tables[0].rows[0][3], format!("{change:+.1} %"));
    assert!(tables[1].rows.len() > 2, "{words}");
    // On another machine it says so.
    let other = report_in(reported.scratch, &format!("{KERNEL} --set cores=2 --sensitivity worth.json"));
    assert!(text(other.page.one("#parameters")).contains("another run"));
}

#[test]
fn a_report_without_them_has_no_such_sections() {
    let scratch = Scratch::new();
    let page = report_in(scratch, "saxpy --size small --config gpu").page;
    assert!(page.all("#baseline").is_empty() && page.all("#parameters").is_empty());
}

#[test]
fn wrong_files_are_errors_before_the_run() {
    let scratch = Scratch::with(&[("empty.json", "{}")]);
    let of_saxpy = scratch.out("saxpy --size small --format json");
    scratch.write("saxpy.json", of_saxpy.as_bytes());
    for (words, part) in [
        ("--report r.html --baseline empty.json", "`empty.json` is no result of wave-sim"),
        ("--report r.html --baseline missing.json", "cannot read `missing.json`"),
        ("--report r.html --baseline saxpy.json", "`saxpy` has nothing of what is to run"),
        ("--report r.html --sensitivity saxpy.json", "`saxpy.json` is no result of wave-sim sensitivity"),
        ("--baseline saxpy.json", "--report"),
    ] {
        let ran = scratch.run(&format!("{KERNEL} {words}"));
        assert_eq!(ran.code, 2, "{words}: {}", ran.err);
        assert!(ran.err.contains(part), "{words}: {}", ran.err);
        assert!(!scratch.path("r.html").exists());
    }
}
