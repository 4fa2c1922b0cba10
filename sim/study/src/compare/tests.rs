//! Comparisons of made-up runs, whose sums are known.

use super::*;
use crate::launch::Size;
use crate::results::Machine;

fn run(kernel: &str, clock: u32, cycles: u64, slots: [u64; 3]) -> Measured {
    let machine = Machine {
        name: "gpu".into(),
        hash: "1".into(),
        cores: 1,
        wave_width: 32,
        core_clock_mhz: clock,
        set: Vec::new(),
    };
    let statistics = [
        ("kernel.cycles", cycles),
        ("issue.issued", slots[0]),
        ("issue.memory", slots[1]),
        ("issue.fetch", slots[2]),
        ("l1.hits", 3),
        ("l1.mshr_hits", 0),
        ("l1.sector_misses", 0),
        ("l1.misses", 1),
    ];
    Measured {
        kernel: kernel.into(),
        machine,
        outcome: "verified".into(),
        message: None,
        data: None,
        figures: [("figure.ipc".to_owned(), 0.5)].into_iter().collect(),
        statistics: statistics.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    }
}

fn two() -> Comparison {
    let stopped = Measured { outcome: "stopped".into(), ..run("b", 1000, 7, [1, 1, 1]) };
    Comparison::of_machines(vec![
        ("old".into(), vec![run("a", 1000, 100, [100, 80, 20]), run("b", 1000, 50, [50, 50, 0])]),
        ("new".into(), vec![run("a", 1000, 130, [100, 150, 10]), stopped, run("c", 1000, 5, [1, 0, 0])]),
    ])
}

#[test]
fn the_account_sums_to_the_cycles() {
    let run = run("a", 1000, 130, [100, 150, 10]);
    let account = account(&run);
    assert_eq!(account, [("issued", 50.0), ("memory", 75.0), ("fetch", 5.0)]);
}

#[test]
fn other_data_are_found() {
    let mut comparison = two();
    assert_eq!(comparison.of_other_data().count(), 0, "nothing is known of them");
    let data = |size| Some(Data { size, seed: None });
    let runs = &mut comparison.rows[0].runs;
    runs[0].as_mut().unwrap().data = data(Size::Full);
    runs[1].as_mut().unwrap().data = data(Size::Full);
    assert_eq!(comparison.of_other_data().count(), 0);
    comparison.rows[0].runs[1].as_mut().unwrap().data = data(Size::Small);
    let found: Vec<_> = comparison.of_other_data().map(|(pair, data)| (pair.name, data[1].size)).collect();
    assert_eq!(found, [("a", Size::Small)]);
}

#[test]
fn runs_are_matched_by_kernel() {
    let comparison = two();
    let names: Vec<&str> = comparison.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert!(comparison.rows[2].runs[0].is_none());
    assert_eq!(comparison.pairs().count(), 2);
    // `b` has not ended, and `c` has no baseline.
    assert_eq!(comparison.geometric_mean(1), Some((1.3, 1)));
}

#[test]
fn what_costs_more_is_found() {
    let comparison = two();
    let names = |fraction| -> Vec<String> {
        comparison.above(fraction).iter().map(|(pair, _)| pair.name.to_owned()).collect()
    };
    assert_eq!(names(0.29), ["a", "b"]);
    assert_eq!(names(0.31), ["b"], "what does not end any more is above everything");
}

#[test]
fn with_other_clocks_time_counts() {
    let comparison = Comparison::of_machines(vec![
        ("slow".into(), vec![run("a", 1000, 100, [1, 1, 1])]),
        ("fast".into(), vec![run("a", 2000, 150, [1, 1, 1])]),
    ]);
    assert!(comparison.has_clocks());
    assert!(comparison.above(0.0).is_empty(), "0.075 us are less than 0.1");
    let (mean, _) = comparison.geometric_mean(1).unwrap();
    assert!((mean - 0.75).abs() < 1e-12);
}

#[test]
fn the_text_says_what_differs_most_first() {
    let text = text::text(&two(), true);
    let order = |words: &[&str]| {
        let mut from = 0;
        for word in words {
            from += text[from..].find(word).unwrap_or_else(|| panic!("no {word} in\n{text}"));
        }
    };
    order(&[
        "cycles",
        "+30.0 %",
        "geometric mean",
        "1.300",
        "memory",
        "+35",
        "fetch",
        "-5",
        "issued",
        "0",
        "L1 hits",
    ]);
}

#[test]
fn tables_have_every_number() {
    let comparison = two();
    let csv = tables::csv(&comparison).unwrap();
    assert!(csv.contains("\na,new,cycles.memory,75,40,35\n"), "{csv}");
    assert!(csv.contains("\nc,new,kernel.cycles,5,,\n"), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&tables::json(&comparison)).unwrap();
    assert_eq!(json["kernels"][0]["runs"][1]["change"].as_f64().map(|x| (x * 1e6).round()), Some(300_000.0));
    assert!(json["kernels"][2]["runs"][0].is_null());
}
