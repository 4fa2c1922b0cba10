//! Which changes are made, and how their effects are ranked.

use super::*;
use crate::results::Machine;
use std::convert::Infallible;

/// A machine whose cycles are a known function of three parameters.
fn measured(config: &Config) -> Measured {
    let l1 = &config.core.l1;
    let cycles = 1000 + 64_000 / u64::from(l1.mshrs) + 3 * u64::from(l1.hit_latency_cycles);
    Measured {
        kernel: "k".into(),
        machine: Machine {
            name: config.name.clone(),
            hash: String::new(),
            cores: config.cores,
            wave_width: 32,
            core_clock_mhz: 1000,
            set: Vec::new(),
        },
        outcome: "ended".into(),
        message: None,
        data: None,
        // An MSHR has an area, a latency has none.
        figures: [(AREA.to_owned(), 10.0 + 0.01 * f64::from(l1.mshrs))].into_iter().collect(),
        statistics: [("kernel.cycles".to_owned(), cycles)].into_iter().collect(),
    }
}

fn sensitivity(within: &[&str]) -> (Sensitivity, usize) {
    let config = wave_machine::config::load("gpu.ron").unwrap();
    let within: Vec<String> = within.iter().map(|part| (*part).to_owned()).collect();
    let mut runs = 0;
    let found = Sensitivity::measure(&config, &within, |config, _| {
        runs += 1;
        Ok::<_, Infallible>(measured(config))
    });
    (found.unwrap(), runs)
}

#[test]
fn the_largest_effect_is_first() {
    let (found, runs) = sensitivity(&[]);
    let names: Vec<&str> = found.parameters.iter().map(|parameter| parameter.key.as_str()).collect();
    assert_eq!(names[..2], ["core.l1.mshrs", "core.l1.hit_latency_cycles"]);
    assert_eq!(found.parameters[2].weight(found.cycles), 0.0, "nothing else has one");
    assert!(names.len() > 60 && runs > 60, "{} parameters, {runs} runs", names.len());
    // More MSHRs and a shorter latency save.
    let savings: Vec<(&str, u64)> = found.savings().iter().map(|saving| (saving.key, saving.then)).collect();
    let for_area: Vec<&str> = found.savings_for_area().iter().map(|saving| saving.key).collect();
    assert_eq!(for_area, ["core.l1.hit_latency_cycles", "core.l1.mshrs"], "what needs no area is first");
    let mshrs = found.savings()[0];
    let grown = 0.01 * found.parameters[0].now as f64;
    assert!((mshrs.area_mm2 - grown).abs() < 1e-9 && (mshrs.per_mm2() - mshrs.saved / grown).abs() < 1e-9);
    let now = |number: usize| found.parameters[number].now;
    assert_eq!(savings, [("core.l1.mshrs", 2 * now(0)), ("core.l1.hit_latency_cycles", now(1) / 2)]);
}

#[test]
fn only_what_is_asked_for_is_tried() {
    let (found, runs) = sensitivity(&["core.l1."]);
    assert!(found.parameters.iter().all(|parameter| parameter.key.starts_with("core.l1.")));
    assert!(runs > 5 && runs < 40, "{runs}");
}

#[test]
fn what_is_no_machine_says_why() {
    let (found, _) = sensitivity(&["core.wave_width", "core.l1."]);
    let refused: Vec<&Effect> = found
        .parameters
        .iter()
        .flat_map(|p| p.effects.iter().flatten())
        .filter(|e| e.cycles.is_err())
        .collect();
    assert!(
        !refused.is_empty()
            && refused.iter().all(|effect| effect.cycles.as_ref().is_err_and(|why| !why.is_empty()))
    );
    let text = report::text(&found);
    assert!(text.contains("\nNot run:\n") && text.contains("core.l1.mshrs"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&found.document()).unwrap();
    assert_eq!(Sensitivity::read(&found.document(), "a.json"), Ok(found));
    assert_eq!(json["parameters"][0]["key"], "core.l1.mshrs");
    assert!(json["parameters"][0]["doubled"]["change"].as_f64().unwrap() < 0.0);
}
