//! Each bug planted in the RTL (`BUG(n)` in its sources) is found by the program that rtl-tests/README.md
//! names. One executable of the small core contains all bugs, and `+bug=n` enables one.

use crate::bench::{Case, SMALL_WAVES, executable};
use crate::rules;
use crate::suite::{random_suite, suite};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use wave_testing::{golden, planted};
use wave_verify::rtl::{self, Disagreement, Mode, Variant};

/// Bugs that need more waves than the small core has. On the full core, the program of a rule finds them
/// (`rules::the_program_of_each_rule_finds_its_bugs`).
const OF_MANY_WAVES: &[u32] = &[170];

/// Environment variable with the numbers of the bugs to look for, separated by commas; else all, for the page.
const BUGS: &str = "WAVE_SIM_BUGS";

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

/// How a core with a bug differs from the simulator in a program: a row of the table, but for the bug. None if it does not.
fn finds(core: &Path, bug: u32, (name, case): &(String, Case)) -> Option<String> {
    let argument = format!("+bug={bug}");
    match case.run_with(core, Mode::Cycle, &[&argument]) {
        // Both sides have given up alike: that is no difference.
        Ok(_) | Err(Disagreement::Limit(_)) => None,
        Err(Disagreement::Differs { cycle, stage, .. }) => Some(format!("{name} | {cycle} | {stage}")),
        Err(why @ Disagreement::Broken(_)) => {
            let what = assertion(&why).map(|what| format!("assertion: {what}"));
            Some(format!("{name} | | {}", what.unwrap_or("no sense in its records".to_owned())))
        }
        Err(why) => panic!("{bug}, {name}: {why}"),
    }
}

/// The first of these programs that finds a bug, counted from 1 on, and how.
pub(crate) fn first_that_finds(core: &Path, bug: u32, cases: &[(String, Case)]) -> Option<(usize, String)> {
    (1..).zip(cases).find_map(|(nth, case)| Some((nth, finds(core, bug, case)?)))
}

/// Bugs that are looked for at the same time.
const THREADS: usize = 2;

/// What `look` says of each of these bugs, in their order.
pub(crate) fn of_each<T: Send>(bugs: &[u32], look: &(dyn Fn(u32) -> T + Sync)) -> Vec<T> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&bug) = bugs.get(place) else { break };
                    let result = look(bug);
                    results.lock().expect("no panic").insert(place, result);
                }
            });
        }
    });
    results.into_inner().expect("no panic").into_values().collect()
}

#[test]
#[ignore = "builds another executable, which takes minutes: --ignored"]
fn every_planted_bug_is_found() {
    let variant = Variant { bugs: true, waves: Some(SMALL_WAVES), ..Variant::default() };
    let Some(core) = executable(&variant) else { return };
    let cases = suite(&core);
    let random = LazyLock::new(|| random_suite(&core, RANDOM.0, RANDOM.1));
    let asked: Option<Vec<u32>> = std::env::var(BUGS)
        .ok()
        .map(|list| list.split(',').map(|number| number.parse().expect("numbers of bugs")).collect());
    let bugs: Vec<(u32, &str)> = planted::UNITS
        .iter()
        .chain(planted::CORE)
        .filter(|(number, _)| {
            !OF_MANY_WAVES.contains(number) && asked.as_ref().is_none_or(|few| few.contains(number))
        })
        .copied()
        .collect();
    assert!(!bugs.is_empty(), "{BUGS} names no bug");
    let numbers: Vec<u32> = bugs.iter().map(|(number, _)| *number).collect();
    let rows = of_each(&numbers, &|bug| {
        let row = first_that_finds(&core, bug, &cases).or_else(|| {
            let (nth, row) = first_that_finds(&core, bug, &random)?;
            Some((cases.len() + nth, row))
        });
        println!("{bug} {row:?}");
        row
    });
    let mut table = "| bug | what it does | found by | cycle | at |\n|---|---|---|---|---|\n".to_owned();
    let (mut survivors, mut needed) = (Vec::new(), Vec::new());
    for (&(number, what), row) in bugs.iter().zip(rows) {
        match row {
            Some((programs, row)) => {
                needed.push(programs);
                table += &format!("| {number} | {what} | {row} |\n");
            }
            None => survivors.push(number),
        }
    }
    needed.sort_unstable();
    if let Some(last) = needed.last() {
        let half = needed[needed.len() / 2];
        table += &format!(
            "\nOf {} programs, in this order, half of these bugs need at most {half}, and the last one {last}.\n",
            cases.len()
        );
    }
    println!("{table}");
    if asked.is_none() {
        golden::check_part("rtl-tests/README.md", "planted bugs", &table);
    }
    assert!(survivors.is_empty(), "bugs that nothing found: {survivors:?}");
}
