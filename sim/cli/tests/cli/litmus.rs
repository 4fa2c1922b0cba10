//! `wave-sim litmus` and its page.

use super::golden;
use super::scratch::Scratch;
use wave_machine::config;
use wave_study::litmus::{Campaign, SUITE, parse, report};

/// Store buffering that claims an outcome to be observable where it never is: two lanes of a wave.
const NEVER_SEEN: &str = "\
test never
location x
thread A
    store x, 1
thread B
    r0 = load x
weak B.r0 = 2
seen one_wave
";

#[test]
fn a_stale_read_through_the_l1_is_seen_and_fences_end_it() {
    let scratch = Scratch::new();
    let text = scratch.out("litmus MP --config tiny --runs 100 --only apart,plain");
    let lines = |words: &str| text.lines().filter(|line| line.contains(words)).collect::<Vec<_>>().join("\n");
    let weak = "B.r0=1 B.r1=0";
    assert!(lines("apart plain unfenced").contains(weak), "{text}");
    assert!(lines("apart plain fenced workgroup").contains("allowed"), "{text}");
    assert!(!lines("apart plain fenced device").contains(weak), "{text}");
    assert!(!text.contains("forbidden"), "{text}");
    let verdict = text.lines().next_back().unwrap();
    assert!(verdict.starts_with("tiny keeps the memory model: "), "{verdict}");
    assert!(verdict.ends_with(", 0 with an outcome that is not"), "{verdict}");
}

#[test]
fn a_weak_outcome_that_has_to_be_seen_and_is_not_ends_with_1() {
    let scratch = Scratch::with(&[("never.litmus", NEVER_SEEN)]);
    let ran = scratch.run("litmus never.litmus --config tiny --runs 3");
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("`never`, one_wave: the weak outcome"), "{}", ran.err);
    let verdict = "tiny keeps the memory model, but misses 1 weak outcome that the tests expect: ";
    assert!(ran.out.lines().next_back().unwrap().starts_with(verdict), "{}", ran.out);
}

#[test]
fn forms_agree_with_each_other() {
    // Without required outcomes, so that no more runs are made than requested.
    let file = SUITE.iter().find(|b| b.name == "SB").unwrap().text;
    let scratch = Scratch::with(&[("sb.litmus", file.split("seen").next().unwrap())]);
    let command = "litmus sb.litmus --config tiny --runs 20 --seed 3 --only apart,unfenced";
    let json: serde_json::Value =
        serde_json::from_str(&scratch.out(&format!("{command} --format json"))).unwrap();
    let test = &json["tests"][0];
    assert_eq!((test["name"].as_str(), json["seed"].as_u64()), (Some("SB"), Some(3)));
    assert_eq!(test["observables"], serde_json::json!(["A.r0", "B.r0"]));
    let outcomes = test["variants"][0]["outcomes"].as_array().unwrap();
    let text = scratch.out(command);
    assert_eq!(text.lines().count(), 2 + outcomes.len());
    let mut runs = 0;
    for outcome in outcomes {
        let count = outcome["count"].as_u64().unwrap();
        runs += count;
        let values = &outcome["values"];
        let label = outcome["label"].as_str().unwrap();
        assert!(
            text.contains(&format!("A.r0={} B.r0={}  {count} × {label}", values[0], values[1])),
            "{text}"
        );
    }
    assert_eq!(runs, 20);
    let markdown = scratch.out(&format!("{command} --format markdown"));
    let weak = outcomes.iter().find(|o| o["weak"] == true).map_or(0, |o| o["count"].as_u64().unwrap());
    assert!(
        markdown.contains(&format!("| SB | `A.r0=0 B.r0=0` | apart | plain | allowed, {weak}/20 |")),
        "{markdown}"
    );
}

#[test]
fn wrong_input_is_located() {
    let scratch = Scratch::with(&[("bad.litmus", "test T\nlocation x\nthread A\n    stoer x, 1\n")]);
    for (arguments, part) in [
        ("litmus bad.litmus", "bad.litmus:4:5"),
        ("litmus IRIV", "did you mean `iriw`?"),
        ("litmus none.litmus", "`none.litmus` is no litmus test and no file"),
        ("litmus MP --only aparte", "--only: no variant"),
        ("litmus MP --runs 0", "0 is not in 1..=1000000"),
        ("litmus MP --config none.ron", "none.ron"),
    ] {
        let ran = scratch.run(arguments);
        assert_eq!(ran.code, 2, "{arguments}: {}", ran.err);
        assert!(ran.err.contains(part), "{arguments}: {}", ran.err);
        assert_eq!(ran.out, "", "{arguments}");
    }
}

/// Rows of a table without the counts in its cells.
fn labels(table: &str) -> Vec<String> {
    let cell = |cell: &str| cell.split(", ").next().unwrap_or("").trim().to_owned();
    let rows = table.lines().filter(|line| line.starts_with("| "));
    rows.map(|row| row.split('|').map(cell).collect::<Vec<_>>().join("|")).collect()
}

/// The labels of the page's table are those of the checker. The counts come from one version; none of them
/// may be of a forbidden outcome.
#[test]
fn the_table_in_the_book_has_every_test_and_the_right_labels() {
    let page = std::fs::read_to_string(golden::root().join("docs/litmus.md")).unwrap();
    let table = page.split("<!-- table -->").nth(1).expect("the place of the table");
    let config = config::load("gpu").unwrap();
    let campaign = Campaign { config: &config, runs: 0, seed: 1, only: &[], stop: None };
    let reports: Vec<_> =
        SUITE.iter().map(|b| campaign.run(parse(b.text, b.name).unwrap(), &mut |_, _| {}).unwrap()).collect();
    let fresh = report::markdown(&reports);
    assert_eq!(labels(table), labels(&fresh), "`wave-sim litmus --format markdown` prints the table");
    for cell in table.split('|').map(str::trim).filter(|cell| cell.starts_with("forbidden")) {
        assert!(cell.starts_with("forbidden, 0/"), "{cell}");
    }
}
