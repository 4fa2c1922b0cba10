//! Every figure, on several machines.

use super::*;

fn tiny() -> Config {
    crate::config::load("tiny.ron").unwrap()
}

fn check(config: &Config, topic: Topic) {
    let section = topic.measure(config, &mut ()).unwrap();
    assert!(section.holds(), "{}", text::section(&section));
    assert!(!section.figures.is_empty());
}

#[test]
fn every_load_of_the_chase_takes_the_expected_cycles() {
    check(&tiny(), Topic::Latency);
}
