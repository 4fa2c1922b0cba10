//! Planted coherence bugs. A machine with the bug is the real one running a kernel in which the instruction
//! that would be wrong stands for the right one: an acquire that does not invalidate is an acquire of
//! workgroup scope, a release that does not wait one of workgroup scope, an atomic performed in the L1 one of
//! workgroup scope. The labels are those of the kernel that was meant.

use super::{test, variant};
use crate::config::{self, Config};
use crate::isa::special::Scope;
use crate::litmus::candidates::allowed_outcomes;
use crate::litmus::run::run;
use crate::litmus::test::Action;
use crate::litmus::variant::Scenario;

/// Enough slices for stores to overtake each other.
fn machine() -> Config {
    config::load("gpu").unwrap()
}

/// How many runs of a variant of a test come out as forbidden, if `plant` changes what is executed.
fn forbidden(name: &str, words: &str, runs: u32, plant: impl Fn(&mut Action)) -> u64 {
    let test = test(name);
    let variant = variant(&test, words);
    let meant = Scenario::new(&test, &variant);
    let mut executed = meant.clone();
    executed.threads.iter_mut().flat_map(|t| &mut t.body).for_each(|s| plant(&mut s.action));
    let allowed = allowed_outcomes(&meant);
    let counts = run(&executed, &machine(), runs, 1).unwrap().unwrap();
    counts.iter().filter(|(outcome, _)| !allowed.contains(*outcome)).map(|(_, count)| count).sum()
}

fn acquire_that_does_not_invalidate(action: &mut Action) {
    if let Action::Fence { acquire: true, release: false, scope } = action {
        *scope = Some(Scope::Workgroup);
    }
}

fn release_that_does_not_wait(action: &mut Action) {
    if let Action::Fence { release: true, acquire, scope } = action {
        // What it acquires, it still does.
        if !*acquire {
            *scope = Some(Scope::Workgroup);
        }
    }
}

fn atomic_in_the_l1(action: &mut Action) {
    if let Action::Atomic { scope, .. } = action {
        *scope = Some(Scope::Workgroup);
    }
}

/// Runs of each; the rarest of the bugs shows in one of 150.
const RUNS: u32 = 1000;

/// A test, its variant, and what is wrong with the machine.
type Planted = (&'static str, &'static str, fn(&mut Action));

const PLANTED: [Planted; 4] = [
    ("MP", "apart plain fenced device", acquire_that_does_not_invalidate),
    ("MP", "apart plain fenced device", release_that_does_not_wait),
    ("ADD", "apart device", atomic_in_the_l1),
    ("LOCK", "apart fenced device", atomic_in_the_l1),
];

#[test]
fn planted_bugs_make_forbidden_outcomes_appear() {
    for (i, (name, words, plant)) in PLANTED.into_iter().enumerate() {
        let seen = forbidden(name, words, RUNS, plant);
        assert!(seen > 0, "planted bug {i}, {name} {words}: no forbidden outcome");
    }
}

#[test]
fn without_them_nothing_forbidden_appears() {
    for (name, words, _) in PLANTED {
        assert_eq!(forbidden(name, words, RUNS, |_| ()), 0, "{name} {words}");
    }
}
