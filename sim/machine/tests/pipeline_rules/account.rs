//! Rule I7 of docs/pipeline.md: the use of each issue slot, counted by hand.

use crate::machine::*;
use wave_isa::ExecClass;
use wave_machine::config::{Config, IssuePolicy};
use wave_machine::stats::SlotUse::{self, *};

/// Runs one wave and compares the issue slots that are lost between its first and last issue with `expected`.
/// Slots before the first and after the last issue are accounted for here.
#[track_caller]
fn assert_charged(config: &Config, body: &str, expected: &[(SlotUse, u64)]) {
    let t = run(config, body);
    let first = t.issues.first().expect("it issues").2.cycle;
    let last = t.issues.last().expect("it issues").2.cycle;
    let arrival = u64::from(config.dispatcher.latency_cycles);
    let before = [
        (NO_CODE, first - arrival),
        (Empty, arrival + t.report.running_cycles() - 1 - last),
        (Release, t.report.release_cycles),
    ];
    for &slot_use in SlotUse::ALL.iter().filter(|&&u| u != Issued && u != Squashed) {
        let sum = before.iter().chain(expected).filter(|(u, _)| *u == slot_use).map(|(_, n)| n).sum::<u64>();
        assert_eq!(t.slots(slot_use), sum, "{slot_use:?} in {body}");
    }
}

/// [`SlotUse::Fetch`]: the plain name means the stage here.
const NO_CODE: SlotUse = SlotUse::Fetch;

#[test]
fn i7_nothing_but_instructions_where_nothing_waits() {
    assert_charged(&machine(), "iadd r1, r2, r3\nfadd r4, r2, r3\nnop\nhalt", &[]);
}

#[test]
fn i7_scoreboard() {
    for latency in [1, 2, 7] {
        let wait = u64::from(latency) + 1;
        let config = with_int_latency(latency);
        assert_charged(&config, "iadd r1, r2, r3\niadd r4, r1, r1\nhalt", &[(Scoreboard, wait)]);
        assert_charged(&config, "icmp_eq p1, r2, r3\n@p1 nop\nhalt", &[(Scoreboard, wait)]);
    }
}

#[test]
fn i7_memory() {
    for latency in [1, 5] {
        let mut config = machine();
        config.core.local.latency_cycles = latency;
        // Execution at 2, performed at 3, complete after the latency, written a cycle later.
        let wait = 3 + u64::from(latency) + 1 - 1;
        assert_charged(&config, "local_load_u32 r1, r2\niadd r4, r1, r1\nhalt", &[(Memory, wait)]);
    }
}

#[test]
fn i7_operand() {
    // Rows of the same bank take one more cycle each.
    assert_charged(&machine(), "iadd r1, r4, r8\nnop\nhalt", &[(Operand, 1)]);
    assert_charged(&machine(), "bfi r1, r4, r8, r12, r16\nnop\nhalt", &[(Operand, 3)]);
}

#[test]
fn i7_unit() {
    let mut config = machine();
    config.core.registers.collectors = 1;
    set_class(&mut config, ExecClass::IntDiv, 16, 8);
    // The collector waits for the unit after its last read: at 1, and from 3 to 9.
    let body = "idiv r1, r2, r3\nidiv r4, r2, r3\nidiv r5, r2, r3\nhalt";
    assert_charged(&config, body, &[(Unit, 1 + 7)]);
    // Two results for one write port: dispatch of the second is delayed by a cycle.
    let mut config = machine();
    config.core.registers.collectors = 1;
    config.core.registers.write_ports = 1;
    set_class(&mut config, ExecClass::Fp32, 4, 1);
    set_class(&mut config, ExecClass::Int, 2, 1);
    // fadd: X 2, W 6. iadd: I 2, O 3. X 4 would collide at W 6, so it is X 5. The third instruction issues in
    // that cycle.
    let body = "fadd r1, r2, r3\niadd r4, r2, r3\niadd r5, r2, r3\nhalt";
    assert_charged(&config, body, &[(Unit, 1 + 2)]);
}

#[test]
fn i7_lsu() {
    let mut config = machine();
    config.core.registers.collectors = 1;
    config.core.lsu.queue_entries = 1;
    // All lanes add to one word, in eight passes from 3 to 10. The second instruction has its operands at 3,
    // is first tried at 4 and enters at 11, in the cycle after the first has left the queue. The third issues in
    // that cycle.
    let body = "local_atomic_add r2, r3\nlocal_atomic_add r2, r3\nlocal_store_u32 r2, r3\nhalt";
    assert_charged(&config, body, &[(Unit, 2), (Lsu, 7)]);
}

#[test]
fn i7_fence() {
    // The store executes at 2 and is performed at 3. The fence sees it from 4 on and issues; its shadow counts as
    // branch.
    let branch = u64::from(machine().core.branch_latency_cycles) - 1;
    for fence in ["fence_release .workgroup", "fence_acq_rel workgroup"] {
        let body = format!("local_store_u32 r2, r3\n{fence}\nhalt");
        assert_charged(&machine(), &body, &[(Fence, 3), (Branch, branch)]);
    }
    // The load is complete five cycles after 3 and written at 9. The wait sees it from 10 on.
    assert_charged(&machine(), "local_load_u32 r1, r2\nwait\nhalt", &[(Fence, 9), (Branch, branch)]);
    assert_charged(&machine(), "local_store_u32 r2, r3\nbarrier\nhalt", &[(Fence, 3), (Branch, branch)]);
}

#[test]
fn i7_branch() {
    for latency in [1, 2, 7] {
        let mut config = machine();
        config.core.branch_latency_cycles = latency;
        let wait = u64::from(latency) - 1;
        assert_charged(&config, "loop\nbreak !p1\nendloop\nhalt", &[(Branch, 3 * wait)]);
        assert_charged(&config, "wait\nfence_acquire .wave\nhalt", &[(Branch, 2 * wait)]);
    }
}

#[test]
fn i7_fetch() {
    for latency in [1, 4] {
        let mut config = machine();
        config.core.fetch.words = 4;
        config.core.fetch.buffer_entries = 4;
        config.core.fetch.icache_latency_cycles = latency;
        // The fourth issue makes room from the next cycle on, in which the next group is requested. It is decoded
        // after the latency and issues a cycle later.
        let wait = 1 + u64::from(latency);
        assert_charged(&config, "nop\nnop\nnop\nnop\nnop\nhalt", &[(SlotUse::Fetch, wait)]);
    }
}

#[test]
fn i7_barrier() {
    for latency in [1, 2, 4] {
        let mut config = machine();
        config.core.schedulers = 4;
        config.core.branch_latency_cycles = latency;
        let t = bench(&config).waves(5).run("nop\nnop\nnop\nnop\na: barrier\nhalt");
        // Scheduler 0 has two waves. Its second wave is the last to arrive.
        let issue = |slot| t.of(slot, "a", Issue);
        let last = issue(0).max(issue(4));
        // The other waves are at the barrier up to and including this cycle: all leave it in the next.
        let waiting: u64 = [1, 2, 3].map(|slot| last - issue(slot)).iter().sum();
        assert_eq!(t.slots(Barrier), waiting);
        assert!(waiting > 6);
        // From the next cycle on they are in a shadow, until the branch latency after the last barrier.
        assert_eq!(t.slots(Branch), 4 * u64::from(latency - 1));
    }
}

#[test]
fn i7_wave_limit() {
    let mut config = machine();
    for width in [1, 2, 4] {
        config.core.issue.width = width;
        let t = run(&config, "nop\nnop\nnop\nnop\nhalt");
        // The halt ends the wave in the cycle after its issue. From then on there is no wave.
        assert_eq!(t.slots(WaveLimit), u64::from(width - 1) * 5, "{width}");
    }
    // A ready wave is outside the active set while the wave in the set waits for an execution unit.
    config.core.issue.width = 1;
    config.core.issue.policy = IssuePolicy::TwoLevel;
    config.core.issue.two_level_active = 1;
    let t = bench(&config).waves(2).run("barrier\na: idiv r1, r2, r2\nb: iadd r3, r1, r1\nhalt");
    let first = t.issue_order("a")[0].1;
    assert_eq!(t.slots(WaveLimit), t.of(first, "b", Issue) - t.of(first, "a", Issue) - 1);
}

#[test]
fn i7_empty() {
    for latency in [1, 9] {
        let mut config = machine();
        config.dispatcher.latency_cycles = latency;
        let t = run(&config, "nop\na: halt");
        // Before the arrival of the workgroup. The wave ends in the cycle after the halt, and its slot is free. The
        // message takes the latency, and the cycle in which it arrives counts too.
        let empty = 2 * u64::from(latency) + 1;
        assert_eq!(t.slots(Empty), empty);
        // A scheduler that never has a wave.
        config.core.schedulers = 2;
        let t = run(&config, "nop\na: halt");
        assert_eq!(t.slots(Empty), empty + t.report.running_cycles());
    }
}

#[test]
fn i7_the_first_reason_that_some_wave_has() {
    let mut config = machine();
    config.core.issue.policy = IssuePolicy::Oldest;
    // Both waves wait for a division, and one also for a load. The first reason in the order of I7 counts.
    let t = bench(&config).waves(2).run(
        "mov_sr r1, sr_wave_id\nicmp_eq p1, r1, r2\nbarrier\na: @p1 idiv r4, r2, r3\nb: @!p1 local_load_u32 r5, r2
        c: @p1 iadd r6, r4, r4\nd: @!p1 iadd r6, r5, r5\nhalt",
    );
    assert!(t.slots(Scoreboard) > t.slots(Memory), "{} {}", t.slots(Scoreboard), t.slots(Memory));
    assert_eq!(t.slots(Memory), 0);
}
