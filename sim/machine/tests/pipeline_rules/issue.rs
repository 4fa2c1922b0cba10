//! Rules I1 to I6 of docs/pipeline.md: issue slots, readiness, policies, scoreboard, squashing.

use crate::machine::*;
use wave_isa::ExecClass;
use wave_machine::config::{Config, IssuePolicy};
use wave_machine::stats::SlotUse;

/// Three waves that become ready in the same cycle, after a barrier.
const TOGETHER: &str = "nop\nbarrier\na: nop\nb: nop\nc: nop\nhalt";

#[test]
fn i1_each_issue_slot_takes_another_wave() {
    let table: [&[(u64, usize)]; 4] = [
        &[(0, 0), (1, 1), (2, 2), (3, 0)],
        &[(0, 0), (0, 1), (1, 2), (1, 0), (2, 1), (2, 2)],
        &[(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)],
        // The fourth slot has no fourth wave to issue from.
        &[(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)],
    ];
    for (width, expected) in (1..).zip(table) {
        let mut config = machine();
        config.core.issue.width = width;
        let t = bench(&config).waves(3).run(TOGETHER);
        let last = t.issue_order("a")[0].1;
        // Turns continue after the wave that was last at the barrier.
        let order: Vec<_> = t.issue_order("a").iter().map(|&(c, slot)| (c, (slot + 3 - last) % 3)).collect();
        assert_eq!(order[..expected.len()], *expected, "{width}");
    }
}

#[test]
fn i2_an_instruction_needs_a_free_collector() {
    for (collectors, next) in [(1, 2), (2, 1)] {
        let mut config = machine();
        config.core.registers.collectors = collectors;
        let t = run(&config, "a: iadd r1, r2, r3\nb: iadd r4, r2, r3\nc: iadd r5, r2, r3\nhalt");
        assert_eq!(t.steps("a", "b")[..3], [next, next + 1, next + 2]);
        assert_eq!(t.after("a", "c", Issue), 2 * next);
        // A squashed instruction needs a collector too. An instruction that bypasses the collectors does not.
        let t = run(
            &config,
            "a: iadd r1, r2, r3\n@p1 b: iadd r4, r2, r3\nhalt".replace("@p1 b:", "b: @p1").as_str(),
        );
        assert_eq!(t.after("a", "b", Issue), next);
        let t = run(&config, "a: iadd r1, r2, r3\nb: nop\nhalt");
        assert_eq!(t.after("a", "b", Issue), 1);
    }
}

#[test]
fn i2_predicates_are_hazards_as_guard_operand_and_destination() {
    for latency in [1, 2, 7] {
        for (b, waits) in [
            ("@p1 iadd r4, r2, r3", true),
            ("@!p1 nop", true),
            ("select r4, p1, r2, r3", true),
            ("icmp_eq p1, r2, r3", true),
            ("wave_any p2, p1", true),
            ("break p1", true),
            ("icmp_eq p2, r2, r3", false),
            ("@p3 iadd r4, r2, r3", false),
        ] {
            let t = run(
                &with_int_latency(latency),
                &format!("loop\na: icmp_eq p1, r2, r3\nb: {b}\nbreak p0\nhalt"),
            );
            let expected = if waits { u64::from(latency) + 2 } else { 1 };
            assert_eq!(t.after("a", "b", Issue), expected, "{b}");
        }
    }
}

fn order(policy: IssuePolicy) -> Vec<usize> {
    let mut config = machine();
    config.core.issue.policy = policy;
    config.core.issue.two_level_active = 2;
    let t = bench(&config).waves(3).run(TOGETHER);
    t.issue_order("a").iter().map(|&(_, slot)| slot).collect()
}

#[test]
fn i3_lrr_goes_round() {
    let order = order(IssuePolicy::Lrr);
    assert!(order.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 3), "{order:?}");
}

#[test]
fn i3_gto_stays_with_a_wave_then_takes_the_oldest() {
    let order = order(IssuePolicy::Gto);
    // First the wave that was last at the barrier, then by age.
    let last = order[0];
    assert_ne!(last, 0, "it is not the oldest, else `oldest` would give the same order");
    let rest = [0, 1, 2].into_iter().filter(|&slot| slot != last);
    let expected: Vec<usize> = [last].into_iter().chain(rest).flat_map(|slot| [slot; 4]).collect();
    assert_eq!(order, expected);
}

#[test]
fn i3_oldest_takes_the_oldest() {
    assert_eq!(order(IssuePolicy::Oldest), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
}

#[test]
fn i3_age_is_the_order_of_arrival_not_the_slot() {
    let mut config = machine();
    config.core.issue.policy = IssuePolicy::Oldest;
    config.core.max_workgroups = 2;
    // Workgroup 0 ends at once, and workgroup 2 takes its slot 0. The older workgroup 1 in slot 1 has a long
    // sequence of instructions that never wait. All code lies in one line of the instruction cache.
    let nops = "nop\n".repeat(24);
    let t = bench(&config).groups(3).run(&format!(
        "m: mov_sr r1, sr_workgroup_id_x\nn: icmp_eq p1, r1, r2\n@p1 halt\na: nop\n{nops}b: halt"
    ));
    assert!(t.all(0, "n", Decode)[1] < t.of(1, "b", Issue), "both are there");
    assert_eq!(t.of(1, "b", Issue) - t.of(1, "a", Issue), 25);
    assert_eq!(t.all(0, "m", Issue)[1], t.of(1, "b", Issue) + 1);
}

#[test]
fn i3_two_level_takes_turns_in_the_active_set_only() {
    // The last wave at the barrier stays in the set, and the older of the others joins it. The third wave
    // enters when one of them ends.
    let order = order(IssuePolicy::TwoLevel);
    let (first, second) = (order[0], order[1]);
    let third = 3 - first - second;
    assert_eq!(order[..7], [first, second, first, second, first, second, first]);
    assert_eq!(order[8..].iter().filter(|&&slot| slot == third).count() + usize::from(order[7] == third), 4);
    assert!(!order[..7].contains(&third));
}

#[test]
fn i3_two_level_replaces_a_wave_that_waits_for_a_load() {
    let mut config = machine();
    config.core.issue.policy = IssuePolicy::TwoLevel;
    config.core.issue.two_level_active = 1;
    let t =
        bench(&config).waves(2).run("barrier\na: local_load_u32 r1, r2\nb: iadd r3, r1, r1\nc: nop\nhalt");
    let first = t.issue_order("a")[0].1;
    let cycles = |slot| t.of(slot, "a", Issue) - t.of(first, "a", Issue);
    // The active set is updated in the cycle after the load issued, because the next instruction needs its
    // register.
    assert_eq!([cycles(first), cycles(1 - first)], [0, 1]);
    config.core.issue.two_level_active = 2;
    let t = bench(&config).waves(2).run("barrier\na: idiv r1, r2, r2\nb: iadd r3, r1, r1\nc: nop\nhalt");
    assert_eq!(t.of(0, "a", Issue).abs_diff(t.of(1, "a", Issue)), 1);
    // A wave that waits for an execution unit stays in the active set.
    config.core.issue.two_level_active = 1;
    let t = bench(&config).waves(2).run("barrier\na: idiv r1, r2, r2\nb: iadd r3, r1, r1\nc: nop\nhalt");
    let first = t.issue_order("a")[0].1;
    assert!(t.of(1 - first, "a", Issue) > t.of(first, "b", Issue));
}

#[test]
fn i4_one_instruction_of_a_wave_reads_operands_at_a_time() {
    let t = run(&machine(), "a: iadd r1, r2, r3\nb: iadd r4, r2, r6\nc: iadd r5, r2, r3\nhalt");
    assert_eq!(t.steps("a", "a")[..3], [0, 1, 2]);
    assert_eq!(t.steps("a", "b")[..3], [1, 3, 4]);
    assert_eq!(t.steps("a", "c")[..3], [3, 4, 5]);
    // The rule also holds for the next instruction if it has no operands or bypasses the collectors.
    let t = run(&machine(), "a: iadd r4, r2, r6\nb: nop\nc: mov_imm r1, 1\nhalt");
    assert_eq!([t.after("a", "b", Issue), t.after("a", "c", Issue)], [2, 3]);
}

/// Cycles from the issue of a to the issue of b, and to the retirement of a.
fn pair(config: &Config, a: &str, b: &str) -> (u64, u64) {
    let t = run(config, &format!("mov_imm r16, 64\na: {a}\nb: {b}\nhalt"));
    (t.after("a", "b", Issue), t.after("a", "a", Retire))
}

#[test]
fn i5_a_destination_is_outstanding_until_the_retirement() {
    for latency in [1, 2, 7] {
        let config = with_int_latency(latency);
        for b in [
            "iadd r4, r1, r2",
            "iadd r4, r2, r1",
            "iadd r1, r2, r3",
            "local_store_u32 r2, r1",
            "mov_imm r1, 0",
        ] {
            let (issue, retire) = pair(&config, "iadd r1, r2, r3", b);
            assert_eq!((issue, retire), (u64::from(latency) + 2, u64::from(latency) + 2), "{b}");
        }
        // A source is no hazard after it has been read.
        assert_eq!(pair(&config, "iadd r1, r2, r3", "iadd r2, r4, r5").0, 1);
    }
    // All rows of a load are outstanding until the last is written.
    for b in ["mov r8, r4", "mov r8, r5", "mov r4, r8", "mov r5, r8"] {
        let (issue, retire) = pair(&machine(), "local_load_u64 r4, r2", b);
        assert_eq!(issue, retire, "{b}");
    }
    assert_eq!(pair(&machine(), "local_load_u64 r4, r2", "mov r8, r6").0, 1);
    assert_eq!(
        pair(&machine(), "dadd r4, r2, r2", "mov r8, r5").0,
        pair(&machine(), "dadd r4, r2, r2", "nop").1
    );
}

#[test]
fn i5_fragments_are_hazards() {
    for (a, b, waits) in [
        ("mma_compute f0, f0, f0", "mma_compute f1, f1, f0", true),
        ("mma_compute f0, f0, f0", "mma_compute f0, f0, f1", false),
        ("mma_compute f0, f0, f0", "mma_store_c r2, r16, f0", true),
        ("mma_load_a f0, r2, r16", "mma_compute f0, f1, f1", true),
        ("mma_load_b f1, r2, r16", "mma_compute f0, f1, f1", true),
        ("mma_load_b f1, r2, r16", "mma_compute f1, f0, f1", false),
        ("mma_load_a f0, r2, r16", "mma_load_a f0, r2, r16", true),
        ("mma_store_c r2, r16, f0", "mma_compute f0, f0, f0", true),
    ] {
        let (issue, retire) = pair(&machine(), a, b);
        assert_eq!(issue, if waits { retire } else { 1 }, "{a}; {b}");
    }
}

#[test]
fn i5_a_fragment_that_a_waiting_multiplication_reads_is_closed_to_writers() {
    let mut config = machine();
    set_class(&mut config, ExecClass::Mma, 8, 40);
    let body = |c: &str| format!("a: mma_compute f0, f0, f0\nb: mma_compute f1, f2, f1\nc: {c}\nhalt");
    for (c, waits) in [
        ("mma_load_a f1, r2, r16", true),
        ("mma_load_b f2, r2, r16", true),
        ("mma_load_a f2, r2, r16", false),
        ("mma_load_b f1, r2, r16", false),
        // It only reads them, like b.
        ("mma_compute f1, f2, f3", false),
    ] {
        let t = bench(&config).with(16, 64).run(&body(c));
        assert_eq!(t.at("b", Execute), t.at("a", Execute) + 40);
        let expected = if waits { t.at("b", Execute) } else { t.at("b", Issue) + 1 };
        assert_eq!(t.at("c", Issue), expected, "{c}");
    }
}

#[test]
fn i5_a_fragment_stays_closed_until_the_last_multiplication_that_reads_it_has_left() {
    let mut config = machine();
    set_class(&mut config, ExecClass::Mma, 8, 40);
    // When b leaves its collector, both c and d still wait there to read fragment 1 of A.
    let body = "a: mma_compute f0, f0, f0\nb: mma_compute f1, f1, f1\nc: mma_compute f1, f2, f2\n\
                d: mma_compute f1, f3, f3\ne: mma_load_a f1, r2, r16\nhalt";
    let t = bench(&config).with(16, 64).run(body);
    assert_eq!(["b", "c", "d"].map(|l| t.at(l, Execute) - t.at("a", Execute)), [40, 80, 120]);
    assert_eq!(t.at("e", Issue), t.at("d", Execute));
}

#[test]
fn i6_a_squashed_instruction_takes_its_slot_and_ends() {
    let t = run(
        &machine(),
        "a: nop\nb: @p1 idiv r1, r2, r3\nc: @p1 device_load_u32 r4, r2\nd: iadd r5, r1, r4\nhalt",
    );
    assert_eq!(["b", "c", "d"].map(|l| t.after("a", l, Issue)), [1, 2, 3]);
    assert_eq!(["b", "c"].map(|l| t.after("a", l, Retire)), [1, 2]);
    assert!(t.all(0, "b", Execute).is_empty());
    assert_eq!((t.slots(SlotUse::Squashed), t.slots(SlotUse::Issued)), (2, 3));
    // A false guard does not squash a control instruction: it executes and has its shadow.
    let mut config = machine();
    config.core.branch_latency_cycles = 5;
    let t = run(&config, "loop\na: @p1 break p1\nb: nop\nhalt");
    assert_eq!((t.after("a", "b", Issue), t.slots(SlotUse::Squashed)), (5, 0));
}

#[test]
fn i6_the_guard_is_read_at_issue() {
    let t = run(
        &machine(),
        "icmp_eq p1, r2, r2\na: @p1 idiv r1, r2, r3\nb: icmp_ne p1, r2, r2\nmov_imm r6, 3\nc: @!p1 nop
        mov_imm r4, 9\nd: @p1 mov_imm r4, 1\ndevice_store_u32 r2, r4\nhalt",
    );
    assert_eq!(t.slots(SlotUse::Squashed), 1);
    assert_eq!(t.memory[..4], [9, 0, 0, 0]);
    assert!(!t.all(0, "a", Execute).is_empty());
}
