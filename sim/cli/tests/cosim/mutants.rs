//! Each bug planted in the RTL (`BUG(n)` in its sources) is found by the program that rtl-tests/README.md
//! names. One executable of the small core contains all bugs, and `+bug=n` enables one.

use crate::bench::{Case, SMALL_WAVES, executable};
use crate::rules;
use crate::suite::suite;
use wave_testing::{golden, planted};
use wave_verify::rtl::{self, Disagreement, Mode, Variant};

/// Bugs that need more waves than the small core has. On the full core, the program of a rule finds them
/// (`rules::the_program_of_each_rule_finds_its_bugs`).
const OF_MANY_WAVES: &[u32] = &[170];

/// Long and short random programs that look for a bug.
const RANDOM: (u64, u64) = (60, 400);

/// The assertion of the RTL that has failed, if one has ended the run.
pub(crate) fn assertion(why: &Disagreement) -> Option<&str> {
    let Disagreement::Broken(what) = why else { return None };
    what.lines().find_map(|line| Some(line.split_once("Assertion failed in ")?.1.split_once(": ")?.1))
}

#[test]
fn the_list_has_every_bug_of_the_sources() {
    let found = planted::in_sources(&rtl::directory().join("rtl"));
    let listed: Vec<u32> = planted::CORE.iter().map(|&(number, _)| number).collect();
    assert_eq!(found, listed);
    assert!(OF_MANY_WAVES.iter().all(|&bug| rules::finds(bug)));
}

#[test]
#[ignore = "builds another executable, which takes minutes: --ignored"]
fn every_planted_bug_is_found() {
    let variant = Variant { bugs: true, waves: Some(SMALL_WAVES), ..Variant::default() };
    let Some(core) = executable(&variant) else { return };
    let cases = suite(&core, RANDOM.0, RANDOM.1);
    let mut table = "| bug | what it does | found by | cycle | at |\n|---|---|---|---|---|\n".to_owned();
    let (mut survivors, mut needed) = (Vec::new(), Vec::new());
    let bugs = planted::UNITS.iter().chain(planted::CORE);
    for &(number, what) in bugs.filter(|(number, _)| !OF_MANY_WAVES.contains(number)) {
        let argument = format!("+bug={number}");
        let differs = |(name, case): &(String, Case)| {
            match case.run_with(&core, Mode::Cycle, &[&argument]) {
                // Both sides have given up alike: that is no difference.
                Ok(_) | Err(Disagreement::Limit(_)) => None,
                Err(difference) => Some((name.clone(), difference)),
            }
        };
        let Some((programs, (name, why))) =
            (1..).zip(&cases).find_map(|(nth, case)| Some((nth, differs(case)?)))
        else {
            survivors.push(number);
            continue;
        };
        needed.push(programs);
        let (cycle, stage) = match why {
            Disagreement::Differs { cycle, stage, .. } => (cycle.to_string(), stage.to_owned()),
            Disagreement::Broken(_) => {
                let what = assertion(&why).map(|what| format!("assertion: {what}"));
                (String::new(), what.unwrap_or("no sense in its records".to_owned()))
            }
            why => panic!("{number}, {name}: {why}"),
        };
        table += &format!("| {number} | {what} | {name} | {cycle} | {stage} |\n");
    }
    needed.sort_unstable();
    table += &format!(
        "\nOf {} programs, in this order, half of these bugs need at most {}, and the last one {}.\n",
        cases.len(),
        needed[needed.len() / 2],
        needed[needed.len() - 1]
    );
    println!("{table}");
    assert!(survivors.is_empty(), "bugs that nothing found: {survivors:?}");
    golden::check_part("rtl-tests/README.md", "planted bugs", &table);
}
