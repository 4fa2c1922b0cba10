//! Labels of the classic shapes for relaxed accesses with release and acquire fences, copied from the
//! literature (RC11: Lahav et al., PLDI 2017; names of the shapes: Alglave, Maranget and Tautschnig, TOPLAS
//! 2014); and rules of docs/memory-model.md that the classic shapes do not cover.

use super::{parsed, test, variant};
use crate::litmus::candidates::allowed_outcomes;
use crate::litmus::test::Test;
use crate::litmus::variant::{Scenario, Variant};

fn allows(test: &Test, variant: &Variant) -> bool {
    allowed_outcomes(&Scenario::new(test, variant)).iter().any(|outcome| test.is_weak(outcome))
}

/// `test words: allowed|forbidden`, a line each.
fn check(table: &str) {
    let mut wrong = String::new();
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (what, label) = line.split_once(": ").unwrap();
        let (name, words) = what.split_once(' ').unwrap();
        let test = test(name);
        let found = if allows(&test, &variant(&test, words)) { "allowed" } else { "forbidden" };
        if found != label {
            wrong += &format!("{what}: {found}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn coherence_needs_no_fence() {
    check(
        "CoRR apart: forbidden
         CoWR apart: forbidden
         CoRW1 apart: forbidden
         CoRW2 apart: forbidden
         CoWW apart: forbidden
         CoRR-hints apart: forbidden
         LB-data apart: forbidden",
    );
}

#[test]
fn classic_shapes_without_fences_are_allowed() {
    check(
        "MP apart plain unfenced: allowed
         MP apart atomic unfenced device: allowed
         SB apart unfenced: allowed
         LB apart plain unfenced: allowed
         LB apart atomic unfenced device: allowed
         R apart unfenced: allowed
         S apart plain unfenced: allowed
         2+2W apart unfenced: allowed
         WRC apart plain unfenced: allowed
         WWC apart plain unfenced: allowed
         RWC apart unfenced: allowed
         ISA2 apart plain unfenced: allowed
         Z6 apart unfenced: allowed
         IRIW apart unfenced: allowed",
    );
}

#[test]
fn release_and_acquire_fences_forbid_what_they_forbid_in_c11_and_no_more() {
    check(
        "MP apart plain fenced device: forbidden
         MP apart atomic fenced device: forbidden
         MP apart plain release_only device: allowed
         MP apart plain acquire_only device: allowed
         MP-chain apart fenced device: forbidden
         SB apart fenced device: allowed
         SB-rmw apart fenced device: forbidden
         SB-rmw apart unfenced device: allowed
         LB apart plain fenced device: forbidden
         LB apart atomic fenced device: forbidden
         R apart fenced device: allowed
         S apart plain fenced device: forbidden
         S apart plain release_only device: allowed
         2+2W apart fenced device: allowed
         WRC apart plain fenced device: forbidden
         WRC apart atomic fenced device: forbidden
         WWC apart plain fenced device: forbidden
         RWC apart fenced device: allowed
         ISA2 apart plain fenced device: forbidden
         ISA2 apart atomic fenced system: forbidden
         Z6 apart fenced device: allowed
         IRIW apart fenced device: allowed",
    );
}

#[test]
fn scopes_synchronise_if_they_include_each_other() {
    check(
        "MP one_workgroup plain fenced wave: allowed
         MP one_workgroup plain fenced workgroup: forbidden
         MP one_workgroup plain fenced device: forbidden
         MP one_core plain fenced workgroup: allowed
         MP one_core plain fenced device: forbidden
         MP apart plain fenced workgroup: allowed
         MP apart plain fenced system: forbidden
         MP one_wave plain unfenced: forbidden
         MP-local one_workgroup plain fenced workgroup: forbidden
         MP-local one_workgroup plain fenced wave: allowed
         WRC A+B|C plain fenced device: forbidden
         WRC A+B|C plain fenced workgroup: allowed
         ISA2 A|B+C plain fenced workgroup: allowed
         ISA2 A|B+C plain fenced device: forbidden
         BARRIER-release A+B|C plain fenced device: forbidden
         BARRIER-release A+B|C plain fenced workgroup: allowed
         BARRIER-release apart plain fenced device: allowed
         MP-barrier one_workgroup: forbidden
         MP-barrier one_core: allowed
         BARRIER one_workgroup: forbidden",
    );
}

#[test]
fn atomics_are_atomic_within_their_scope() {
    check(
        "ADD one_workgroup wave: allowed
         ADD one_workgroup workgroup: forbidden
         ADD one_core workgroup: allowed
         ADD one_core device: forbidden
         ADD apart workgroup: allowed
         ADD apart device: forbidden
         CAS apart workgroup: allowed
         CAS apart device: forbidden
         CAS-fails apart wave: forbidden
         LOCK apart fenced device: forbidden
         LOCK apart unfenced device: allowed
         LOCK apart fenced workgroup: allowed
         LOCK one_workgroup fenced workgroup: forbidden",
    );
}

/// Happens-before crosses scopes (H5). Both fences of a pair have to include the other's wave (S2).
#[test]
fn scopes_may_differ_on_the_way() {
    let chain = |first: &str, second: &str, third: &str, fourth: &str| {
        let text = format!(
            "test T\nlocation x\nlocation y\nlocation z\n\
             thread A\n store x, 1\n fence.{first} release\n store y, 1\n\
             thread B\n r0 = load y\n fence.{second} acquire\n fence.{third} release\n store z, 1\n\
             thread C\n r0 = load z\n fence.{fourth} acquire\n r1 = load x\n\
             weak B.r0 = 1, C.r0 = 1, C.r1 = 0\n"
        );
        let test = parsed(&text);
        allows(&test, &variant(&test, "A+B|C"))
    };
    assert!(!chain("workgroup", "workgroup", "device", "device"));
    assert!(!chain("workgroup", "device", "system", "device"));
    assert!(!chain("device", "workgroup", "device", "system"));
    assert!(chain("wave", "device", "device", "device"));
    assert!(chain("workgroup", "workgroup", "device", "workgroup"));
    assert!(chain("workgroup", "workgroup", "workgroup", "device"));
}

/// A release sequence continues through atomics, not through plain stores (H2).
#[test]
fn a_plain_store_ends_a_release_sequence() {
    let label = |middle: &str| {
        let text = format!(
            "test T\nlocation x\nlocation y\n\
             thread A\n store x, 1\n fence.device release\n exchange.device y, 1\n\
             thread B\n {middle}\n\
             thread C\n r0 = load y\n fence.device acquire\n r1 = load x\n\
             weak C.r0 = 2, C.r1 = 0\n"
        );
        let test = parsed(&text);
        allows(&test, &variant(&test, "apart"))
    };
    assert!(label("store y, 2"));
    // Without A's exchange before it, the sum is 1. With it, the message has arrived.
    assert!(!label("r0 = add.device y, 1"));
    assert!(!label("r0 = add.wave y, 1"));
    assert!(label("r0 = exchange.device y, 2"), "an exchange may come before A's");
}

/// Values must come from somewhere (A3), but a load that nothing depends on may be overtaken.
#[test]
fn dependencies_forbid_values_from_nowhere_only() {
    let label = |a: &str, b: &str| {
        let text = format!(
            "test T\nlocation x\nlocation y\nthread A\n r0 = load x\n {a}\nthread B\n r0 = load y\n {b}\n\
             weak A.r0 = 1, B.r0 = 1\n"
        );
        let test = parsed(&text);
        allows(&test, &variant(&test, "apart"))
    };
    assert!(label("store y, 1", "store x, 1"));
    assert!(label("store y, r0", "store x, 1"));
    assert!(!label("store y, r0", "store x, r0"));
    assert!(!label("store y, 1 dep r0", "store x, r0 ^ r0 + 1"));
    assert!(!label("when r0 = 1\n store y, 1\n end", "store x, 1 dep r0"));
    assert!(label("when r0 = 1\n store y, 1\n end", "store x, 1"));
}

#[test]
fn whole_sets_of_outcomes() {
    let outcomes = |test: &Test, words: &str| -> Vec<String> {
        let found = allowed_outcomes(&Scenario::new(test, &variant(test, words)));
        found.iter().map(|outcome| test.outcome_text(outcome)).collect()
    };
    let mp = test("MP");
    assert_eq!(
        outcomes(&mp, "apart plain fenced device"),
        ["B.r0=0 B.r1=0", "B.r0=0 B.r1=1", "B.r0=1 B.r1=1"]
    );
    // Lanes of one wave alternate: A stores x, B loads y, A stores y, B loads x.
    assert_eq!(outcomes(&mp, "one_wave plain unfenced"), ["B.r0=0 B.r1=1"]);
    assert_eq!(outcomes(&test("ADD"), "apart device"), ["A.r0=0 B.r0=1 x=2", "A.r0=1 B.r0=0 x=2"]);
}
