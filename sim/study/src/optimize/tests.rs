//! Scores of made-up runs, and what a search counts as its best.

use super::*;
use crate::results::{AREA, ENERGY, Machine, POWER};

fn run(cycles: u64, joules: f64, mm2: f64) -> Measured {
    Measured {
        kernel: "k".into(),
        machine: Machine {
            name: "m".into(),
            hash: String::new(),
            cores: 1,
            wave_width: 32,
            core_clock_mhz: 1000,
            set: Vec::new(),
        },
        outcome: "verified".into(),
        message: None,
        data: None,
        figures: [(ENERGY, joules), (POWER, 2.0), (AREA, mm2)]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        statistics: [("kernel.cycles".to_owned(), cycles)].into_iter().collect(),
    }
}

fn goal(objective: &str, limits: &[&str]) -> Goal {
    let limits = limits.iter().map(|text| Limit::parse(text).unwrap()).collect();
    Goal { objective: Quantity::named(objective).unwrap(), limits }
}

#[test]
fn quantities_have_their_units() {
    let measured = run(3000, 2e-6, 10.0);
    let value = |name: &str| Quantity::named(name).unwrap().of(&measured).unwrap();
    // 3,000 cycles at 1,000 MHz are 3 µs.
    let expected = [
        ("cycles", 3000.0),
        ("time", 3.0),
        ("energy", 2.0),
        ("power", 2.0),
        ("area", 10.0),
        ("energy-delay", 6.0),
        ("energy-delay2", 18.0),
        ("area-delay", 30.0),
    ];
    assert_eq!(expected.len(), QUANTITIES.len());
    for (name, wanted) in expected {
        assert!((value(name) - wanted).abs() < 1e-9, "{name}: {}", value(name));
    }
}

#[test]
fn several_runs_count_by_their_geometric_mean() {
    let runs = [run(1000, 1.0, 10.0), run(4000, 1.0, 10.0)];
    let score = goal("cycles", &[]).score(&runs);
    assert!((score.value.unwrap() - 2000.0).abs() < 1e-6 && score.is_good());
    let stopped = Measured { outcome: "stopped".into(), ..run(7, 1.0, 10.0) };
    let score = goal("cycles", &[]).score(&[runs[0].clone(), stopped]);
    assert_eq!((score.value, score.is_good()), (None, false));
    assert!(!goal("cycles", &[]).score(&[]).is_good(), "without a run there is no value");
}

#[test]
fn a_limit_holds_for_each_run() {
    let limited = goal("cycles", &["area=10", "time=2"]);
    assert!(limited.score(&[run(2000, 1.0, 10.0)]).is_good(), "a limit may be met");
    let over = limited.score(&[run(1000, 1.0, 10.0), run(3000, 1.0, 10.0)]);
    assert!((over.excess - 0.5).abs() < 1e-9 && !over.is_good(), "{over:?}");
    assert!((limited.excess_of_area(15.0) - 0.5).abs() < 1e-9);
    assert!(goal("cycles", &["time=2"]).excess_of_area(1e9) < 0.0, "time is not of the machine alone");
}

#[test]
fn the_best_is_the_least_that_keeps_to_the_limits() {
    let limited = goal("cycles", &["area=10"]);
    let tried = |name: &str, runs: Vec<Measured>| Tried {
        values: vec![name.to_owned()],
        score: limited.score(&runs),
        runs,
    };
    let search = Searched {
        method: "random",
        seed: 1,
        passed_over: 0,
        tried: vec![
            tried("large", vec![run(10, 1.0, 11.0)]),
            tried("slow", vec![run(30, 1.0, 9.0)]),
            tried("good", vec![run(20, 1.0, 10.0)]),
            tried("as good", vec![run(20, 1.0, 9.0)]),
        ],
    };
    let best = |points: usize| search.best_of(points).map(|tried| tried.values[0].as_str());
    assert_eq!([best(1), best(2), best(4)], [None, Some("slow"), Some("good")]);
}

#[test]
fn wrong_limits_are_errors() {
    for (text, part) in [
        ("area", "there is no `=`"),
        ("aera=4", "did you mean `area`?"),
        ("area=0", "no positive number of mm2"),
        ("area=4mm2", "no positive number of mm2"),
    ] {
        let error = Limit::parse(text).unwrap_err().message;
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn random_points_lie_on_the_axes_and_follow_from_the_seed() {
    let base = wave_machine::config::load("gpu.ron").unwrap();
    let mut draft = crate::sweep::Draft::default();
    draft.kernels.push("saxpy".into());
    draft.set("core.l1.mshrs=8..64*2");
    draft.set("core.issue.policy=lrr,gto");
    let plan = crate::sweep::Plan::new(&draft, &base).unwrap();
    let points = |seed: u64| -> Vec<Vec<u64>> {
        let mut search = RandomSearch::new(&plan.axes, seed);
        (0..200).map(|_| search.next_point()).collect()
    };
    let all = points(1);
    let distinct: std::collections::HashSet<_> = all.iter().collect();
    assert_eq!(distinct.len() as u64, plan.combinations(), "all of 8 come in 200");
    assert!(all == points(1) && all != points(2));
    assert_eq!(plan.axes.iter().map(|axis| axis.is_ordered()).collect::<Vec<_>>(), [true, false]);
}
