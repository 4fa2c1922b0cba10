//! Planted coherence bugs. A machine with the bug is modelled by the real one running a kernel with a weaker
//! instruction. An acquire that does not invalidate becomes an acquire of workgroup scope, a release that
//! does not wait becomes one of workgroup scope, and so does an atomic performed in the L1. The labels are
//! those of the original kernel.

use super::{test, variant};
use crate::litmus::candidates::allowed_outcomes;
use crate::litmus::run::run;
use crate::litmus::test::Action;
use crate::litmus::variant::Scenario;
use wave_isa::special::Scope;
use wave_machine::config::{self, Config};

/// Enough slices for stores to overtake one another.
fn machine() -> Config {
    config::load("gpu").unwrap()
}

/// Number of runs of a variant with a forbidden outcome, if `plant` changes what is executed.
fn forbidden(name: &str, words: &str, runs: u32, plant: impl Fn(&mut Action)) -> u64 {
    let test = test(name);
    let variant = variant(&test, words);
    let meant = Scenario::new(&test, &variant);
    let mut executed = meant.clone();
    executed.threads.iter_mut().flat_map(|t| &mut t.body).for_each(|s| plant(&mut s.action));
    let allowed = allowed_outcomes(&meant);
    let counts = run(&executed, &machine(), runs, 1, None).unwrap().unwrap();
    counts.iter().filter(|(outcome, _)| !allowed.contains(*outcome)).map(|(_, count)| count).sum()
}

fn acquire_that_does_not_invalidate(action: &mut Action) {
    if let Action::Fence { acquire: true, release: false, scope } = action {
        *scope = Some(Scope::Workgroup);
    }
}

fn release_that_does_not_wait(action: &mut Action) {
    if let Action::Fence { release: true, acquire, scope } = action {
        // An acquire, if the fence is one as well, stays intact.
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

/// Runs of each. The rarest of the bugs shows in one of 150.
const RUNS: u32 = 1000;

/// A test, its variant, and the planted bug.
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
