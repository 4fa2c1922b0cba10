//! Rules B of docs/pipeline.md: control, barriers, fences.

use crate::machine::*;
use wave_machine::config::{Config, DivergenceMode, WritePolicy};
use wave_machine::memory::RequestKind;

fn branching(latency: u32) -> Config {
    let mut config = machine();
    config.core.branch_latency_cycles = latency;
    config
}

#[test]
fn b1_the_shadow_ends_after_the_branch_latency() {
    for latency in [1, 2, 7] {
        for control in ["loop", "if !p1", "wait", "fence_acquire .wave", "fence_release .system"] {
            let t = run(&branching(latency), &format!("a: {control}\nb: nop\nhalt"));
            assert_eq!(t.after("a", "b", Issue), u64::from(latency), "{control}");
        }
    }
}

#[test]
fn b1_a_wave_does_not_fetch_in_its_shadow() {
    for latency in [1, 2, 7] {
        let mut config = branching(latency);
        config.core.fetch.words = 4;
        config.core.fetch.buffer_entries = 4;
        // The buffer is empty when the fence has issued.
        let t = run(&config, "nop\nnop\nnop\na: wait\nb: nop\nhalt");
        assert_eq!(t.after("a", "b", Fetch), u64::from(latency));
        // A group in flight is still decoded: F 0, D 3, F 3, I 4, D 6.
        config.core.fetch.buffer_entries = 8;
        config.core.fetch.icache_latency_cycles = 3;
        let t = run(&config, "a: wait\nnop\nnop\nnop\nb: nop\nhalt");
        assert_eq!(t.after("a", "b", Decode), 2);
    }
}

#[test]
fn b1_a_fault_of_a_control_instruction_has_the_cycle_of_its_issue() {
    for latency in [1, 4] {
        let config = branching(latency);
        // One call too many. It faults where it issues, although it would act a cycle later.
        assert_eq!(bench(&config).fault("x: call x\nhalt", Issue), 0);
        // A barrier in divergence (B4).
        let barrier = "mov_sr r1, sr_lane_id\nicmp_eq p1, r1, r2\nif p1\nbarrier\nendif\nhalt";
        assert_eq!(bench(&config).fault(barrier, Issue), 0);
    }
}

#[test]
fn b2_redirects_are_at_endloop_call_and_return() {
    for latency in [1, 3] {
        let config = branching(latency);
        let shadow = u64::from(latency);
        let t = run(
            &config,
            "mov_imm r1, 1\nloop\na: iadd r2, r2, r1\nicmp_gt p1, r2, r1\nbreak p1\nb: endloop\nc: nop\nhalt",
        );
        // One jump back takes fetch, decode and issue. Then the loop ends.
        let (a, b) = (t.all(0, "a", Issue), t.all(0, "b", Issue));
        assert_eq!((a.len(), b.len()), (2, 2));
        assert_eq!(a[1] - b[0], shadow + 2);
        assert_eq!(t.at("c", Issue) - b[1], shadow);
        assert_eq!(t.report.core.taken_redirects, 1);
        let t = run(&config, "a: call x\nb: halt\nx: nop\nc: return");
        assert_eq!(t.after("a", "x", Issue), shadow + 2);
        assert_eq!(t.after("c", "b", Issue), shadow + 2);
        assert_eq!(t.report.core.taken_redirects, 2);
    }
}

#[test]
fn b3_walk_squashes_and_jump_skips() {
    for latency in [1, 2, 4] {
        for nops in [1, 5] {
            let mut config = branching(latency);
            let (shadow, words) = (u64::from(latency), nops as u64);
            let body = format!("a: if p1\n{}b: endif\nhalt", "nop\n".repeat(nops));
            let t = run(&config, &body);
            assert_eq!(t.after("a", "b", Issue), shadow + words);
            // The endif is squashed too: no lane is active when it restores them.
            assert_eq!(t.report.core.squashed_instructions, words + 1);
            config.core.divergence = DivergenceMode::Jump;
            let t = run(&config, &body);
            assert_eq!(t.after("a", "b", Issue), shadow + 2);
            assert_eq!((t.report.core.squashed_instructions, t.report.core.taken_redirects), (1, 1));
        }
    }
}

#[test]
fn b3_nested_constructs_are_counted() {
    let body = "a: if p1\nif p2\nelse\nendif\nloop\nendloop\nelse\nb: nop\nendif\nhalt";
    let mut config = branching(3);
    // In walk mode the five nested instructions are squashed, each with its shadow. The else takes effect.
    let t = run(&config, body);
    assert_eq!(t.after("a", "b", Issue), 3 + 5 * 3 + 3);
    config.core.divergence = DivergenceMode::Jump;
    let t = run(&config, body);
    assert_eq!(t.after("a", "b", Issue), 3 + 2 + 3);
    // From a break to the endloop, past the endif of another construct.
    let body = "loop\nif !p1\na: break !p1\nnop\nendif\nnop\nb: endloop\nhalt";
    config.core.divergence = DivergenceMode::Walk;
    let t = run(&config, body);
    // The endif takes effect although no lane returns, so it has its shadow.
    assert_eq!(t.after("a", "b", Issue), 3 + 1 + 3 + 1);
}

#[test]
fn b4_a_barrier_waits_for_the_waves_own_accesses() {
    let config = machine();
    for access in [
        "local_store_u32 r2, r3",
        "local_atomic_add r2, r3",
        "local_load_u32 r1, r2",
        "device_load_u32 r1, r2",
    ] {
        let t = run(&config, &format!("a: {access}\nb: barrier\nhalt"));
        // What retires in a cycle is seen in the next.
        assert_eq!(t.after("a", "b", Issue), t.after("a", "a", Retire) + 1, "{access}");
    }
    // A device store is performed when the L1 accepts it: entry 2, start 3, access 4.
    let t = run(&config, "a: device_store_u32 r2, r3\nb: barrier\nhalt");
    assert_eq!(t.after("a", "b", Issue), 5);
}

#[test]
fn b4_b5_accesses_count_as_at_the_end_of_the_cycle_before() {
    // The access ends in cycle `end`: a store in its only pass, or in its access, and a load with its row. The
    // instruction that waits for it comes to the head of the buffer before, in or after this cycle.
    for (access, end, waits) in [
        ("local_store_u32 r2, r3", 3, ["barrier", "fence_acquire .workgroup", "fence_release .device"]),
        ("device_store_u32 r2, r3", 4, ["barrier", "fence_acquire .device", "fence_release .workgroup"]),
        ("local_load_u32 r1, r2", 9, ["barrier", "fence_release .workgroup", "wait"]),
    ] {
        for wait in waits {
            for nops in 0..12 {
                let t = run(&machine(), &format!("a: {access}\n{}b: {wait}\nhalt", "nop\n".repeat(nops)));
                assert_eq!(t.after("a", "a", Retire), end, "{access}");
                let expected = (1 + nops as u64).max(end + 1);
                assert_eq!(t.after("a", "b", Issue), expected, "{access}, {nops} nops, {wait}");
            }
        }
    }
}

#[test]
fn b4_the_last_wave_releases_all() {
    for latency in [1, 2, 4, 7] {
        let config = branching(latency);
        let t = bench(&config).waves(3).run("nop\na: barrier\nb: nop\nhalt");
        let last = [0, 1, 2].map(|slot| t.of(slot, "a", Issue)).into_iter().max().unwrap();
        let next = last + u64::from(latency);
        let mut issues = [0, 1, 2].map(|slot| t.of(slot, "b", Issue));
        issues.sort_unstable();
        assert_eq!(issues, [next, next + 1, next + 2]);
        // The last wave ends without reaching the barrier.
        let t = bench(&config).waves(2).run(
            "mov_sr r1, sr_wave_id\nicmp_eq p1, r1, r2\n@!p1 idiv r3, r2, r2\n@!p1 mov r3, r3\nc: @!p1 halt
            a: barrier\nb: nop\nhalt",
        );
        assert_eq!(t.of(0, "b", Issue), t.of(1, "c", Issue).max(t.of(0, "a", Issue)) + u64::from(latency));
        assert!(t.of(1, "c", Issue) > t.of(0, "a", Issue), "the barrier was there first");
        // It ends with the end mark, which acts in the cycle after its issue too.
        let t = bench(&config).waves(2).run(
            "mov_sr r1, sr_wave_id\nicmp_eq p1, r1, r2\n@!p1 idiv r3, r2, r2\n@!p1 mov r3, r3\nif p1\na: barrier\nb: nop
            endif",
        );
        let end = t.issues.iter().find(|(_, _, e)| e.slot == 1 && e.word == t.end).expect("it ends").2.cycle;
        assert!(end > t.all(0, "a", Issue)[0], "the barrier was there first");
        assert_eq!(t.all(0, "b", Issue), [end + u64::from(latency)]);
    }
}

#[test]
fn b4_a_wave_fetches_at_the_barrier_and_not_in_the_shadow_behind_it() {
    for latency in [1, 2, 4] {
        let mut config = branching(latency);
        config.core.fetch.words = 4;
        config.core.fetch.buffer_entries = 4;
        // The barrier is the last of the first group, so the next is fetched from the cycle after its issue on. The three
        // waves issue it one after the other.
        let t = bench(&config).waves(3).run("nop\nnop\nnop\na: barrier\nb: nop\nhalt");
        let mut waves = [0, 1, 2].map(|slot| (t.of(slot, "a", Issue), slot));
        waves.sort_unstable();
        let [(first, _), (_, second), (last, third)] = waves;
        assert_eq!([waves[1].0, last], [first + 1, first + 2]);
        // The first wave waits at the barrier. The second waits there too in the cycle in which the last barrier issues.
        // The third is let go in the next cycle, and in a shadow with the others.
        assert_eq!(t.of(waves[0].1, "b", Fetch), first + 1);
        assert_eq!(t.of(second, "b", Fetch), last);
        assert_eq!(t.of(third, "b", Fetch), last + u64::from(latency));
        // The group of the second is decoded in the shadow, and issues when the shadow has ended.
        assert_eq!(t.of(second, "b", Decode), last + 1);
    }
}

/// Cycles from the issue of `a`, two before it enters the load/store unit, to the issue of `b`.
fn after_access(config: &Config, a: &str, b: &str) -> u64 {
    let t = run(config, &format!("a: {a}\nb: {b}\nhalt"));
    t.after("a", "b", Issue)
}

#[test]
fn b5_fences_wait_for_what_their_scope_says() {
    let mut config = machine();
    let store = "local_atomic_add r2, r3"; // eight passes: performed eight cycles after its entry
    let load = "local_load_u32 r1, r2"; // one pass, the latency of five, and written a cycle after that
    // The fence sees it in the next cycle.
    let (after_atomic, after_row) = (Some(8 + 1), Some(1 + 5 + 1 + 1));
    for (fence, after_store, after_load) in [
        ("wait", None, after_row),
        ("fence_acquire .wave", None, None),
        ("fence_release .wave", None, None),
        ("fence_acquire .workgroup", after_atomic, after_row),
        ("fence_release .workgroup", after_atomic, after_row),
        ("fence_acquire .device", after_atomic, after_row),
        ("fence_release .device", after_atomic, after_row),
    ] {
        for (access, expected) in [(store, after_store), (load, after_load)] {
            let t = run(&config, &format!("a: {access}\nb: {fence}\nhalt"));
            let issue = expected.map_or(1, |after| 2 + after);
            assert_eq!(t.after("a", "b", Issue), issue, "{access}, {fence}");
        }
    }
    // An atomic that returns a value counts as a load.
    assert_eq!(after_access(&config, "local_atomic_add r1, r2, r3", "wait"), 2 + 8 + 5 + 1 + 1);
    // Releases of device and system scope also wait for the acknowledgement of a store, which crosses the
    // interconnect twice.
    let store = "device_store_u32 r2, r3";
    // The store starts at 3 and is accepted at 4.
    for (fence, after) in [("wait", 1), ("fence_acquire .device", 5), ("fence_acq_rel .workgroup", 5)] {
        assert_eq!(after_access(&config, store, fence), after, "{fence}");
    }
    for fence in ["fence_release .device", "fence_acq_rel .device"] {
        for latency in [3, 8] {
            config.interconnect.latency_cycles = latency;
            assert_eq!(after_access(&config, store, fence), 1 + acknowledged(&config, 4), "{fence}");
        }
    }
}

/// The cycle in which the core takes the L2's acknowledgement of a store of one sector, which the L1 accepts in cycle
/// `accepted`: the packet leaves in the next cycle (M15), its bytes hold the port, it crosses the interconnect and is
/// performed in the L2. The empty reply crosses the interconnect, and the response is ready in the cycle after it (M13).
fn acknowledged(config: &Config, accepted: u64) -> u64 {
    let packet = (8 + config.core.l1.sector_bytes).div_ceil(config.interconnect.port_bytes_per_cycle) - 1;
    let wires = 2 * config.interconnect.latency_cycles;
    accepted + u64::from(1 + packet + wires + config.l2.hit_latency_cycles + 1)
}

#[test]
fn b5_the_next_wave_of_a_slot_waits_for_the_acknowledgements_too() {
    let mut config = machine();
    config.core.max_workgroups = 1;
    config.dispatcher.latency_cycles = 1;
    config.interconnect.latency_cycles = 40;
    let release = after_access(&config, "device_store_u32 r2, r3", "fence_release .device");
    let t = bench(&config).groups(2).run("b: fence_release .device\na: device_store_u32 r2, r3\nhalt");
    assert_eq!(t.all(0, "b", Issue)[1] - t.all(0, "a", Issue)[0], release);
}

#[test]
fn b5_a_release_waits_for_what_other_waves_of_the_core_stored_before_it() {
    let mut config = machine();
    let program = "mov_sr r4, sr_wave_id\nn: icmp_eq p1, r4, r5\na: @p1 device_store_u32 r2, r3\n\
                   barrier\nb: fence_release .device\nc: nop\nhalt";
    let mut after_store = |latency| {
        config.interconnect.latency_cycles = latency;
        let t = bench(&config).waves(2).run(program);
        // Both waves wait for the one store, because the barrier orders it before both fences.
        let store = t.of(0, "a", Issue);
        assert_eq!(t.of(0, "b", Issue).abs_diff(t.of(1, "b", Issue)), 1);
        t.of(1, "b", Issue) - store
    };
    assert_eq!(after_store(8), after_store(3) + 10);
}

#[test]
fn b6_a_release_of_system_scope_waits_for_memory() {
    let mut config = machine();
    let cost = |config: &Config, before: &str| {
        let t = run(config, &format!("a: {before}\nb: fence_release .system\nc: nop\nhalt"));
        (t.after("a", "b", Issue), t.report.memory.l2)
    };
    // Nothing is dirty: one packet to each slice, one per cycle, from the cycle on in which the fence is the next
    // instruction. A slice begins in the cycle after it has taken the packet, and answers a cycle later after a hit
    // latency (M31). The fence passes in the cycle after the last answer.
    let (clean, l2) = cost(&config, "nop");
    assert_eq!((l2.releases, l2.released_sectors), (u64::from(config.l2.slices), 0));
    let wires = 2 * config.interconnect.latency_cycles;
    assert_eq!(clean, u64::from(1 + config.l2.slices - 1 + wires + 2 + config.l2.hit_latency_cycles + 1));
    config.interconnect.latency_cycles += 5;
    assert_eq!(cost(&config, "nop").0, clean + 10);
    config.l2.hit_latency_cycles += 7;
    assert_eq!(cost(&config, "nop").0, clean + 17);
    // With a dirty line, also for its write to memory. The release at the end of the kernel then has nothing
    // to write.
    let (dirty, l2) = cost(&config, "device_store_u32 r2, r3");
    assert_eq!(l2.released_sectors, 1);
    config.dram.t_cwl += 3;
    assert_eq!(cost(&config, "device_store_u32 r2, r3").0, dirty + 3);
    assert!(dirty > clean + 17 + u64::from(config.dram.t_rcd));
}

#[test]
fn b6_the_packets_of_a_release_leave_from_the_cycle_on_in_which_its_round_is_over() {
    let config = machine();
    let slices = u64::from(config.l2.slices);
    let release = |before: &str| {
        let t = run(&config, &format!("a: {before}\nb: fence_release .system\nhalt"));
        t.packets(RequestKind::Release)
            .iter()
            .take(slices as usize)
            .map(|p| p - t.at("a", Issue))
            .collect::<Vec<_>>()
    };
    let branch = u64::from(config.core.branch_latency_cycles);
    for (before, first) in [
        // Nothing to wait for: it is the next instruction from 0 on.
        ("nop", 1),
        // It is not reached in a shadow.
        ("wait", branch),
        // The local store is performed at 3, and the load written at 9.
        ("local_store_u32 r2, r3", 4),
        ("local_load_u32 r1, r2", 10),
        // The round is over in the cycle after the acknowledgement.
        ("device_store_u32 r2, r3", acknowledged(&config, 4) + 1),
    ] {
        assert_eq!(release(before), (first..first + slices).collect::<Vec<_>>(), "{before}");
    }
}

#[test]
fn b6_rounds_begin_and_end_a_cycle_after_what_they_wait_for() {
    let mut config = machine();
    config.core.divergence = DivergenceMode::Jump;
    config.core.schedulers = 2;
    config.core.lsu.queue_entries = 2;
    config.interconnect.port_bytes_per_cycle = 1024;
    // The loads leave time for the code. Then wave 1 stores to a line in every cycle, with one store of wave 0 among
    // them. Wave 0 releases at once, and wave 2 while the round of wave 0 runs.
    let warm: String =
        (0..3).map(|n| format!("mov_imm r9, {}\ndevice_load_u32 r8, r9\nwait\n", 1024 * n)).collect();
    let stores: String = (0..12).map(|n| format!("s{n}: device_store_u32 r5, r3\n")).collect();
    let t = bench(&config).waves(3).run(&format!(
        "mov_sr r4, sr_wave_id\nmov_sr r5, sr_lane_id\nmov_imm r6, 7\nshl r5, r5, r6\nmov_imm r6, 1\n\
         icmp_eq p1, r4, r2\nicmp_eq p2, r4, r6\nicmp_gt p3, r4, r6\n{warm}barrier\n\
         if p2\n{stores}endif\nif p1\na: device_store_u32 r2, r3\nb: fence_release .device\nendif\n\
         if p3\nidiv r9, r6, r6\nc: mov r9, r9\nd: fence_release .device\nendif\nhalt"
    ));
    let only = |slot, label, stage| t.all(slot, label, stage)[0];
    let store = only(0, "a", Retire);
    // In every cycle a line is accepted, before and after the store of wave 0.
    let ends: Vec<u64> = (0..12).map(|n| t.all(1, &format!("s{n}"), Retire)[0]).collect();
    let gaps: Vec<u64> = ends.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps.iter().filter(|&&gap| gap == 8).count(), 10, "{gaps:?}");
    assert!(gaps.contains(&9) && ends[0] < store, "{gaps:?}");
    // The round begins in the cycle after the store. What is accepted in that cycle joins the other epoch.
    let over = acknowledged(&config, store) + 1;
    assert_eq!(only(0, "b", Issue), over);
    // The fence of wave 2 is reached meanwhile. The next round begins when this one is over, and closes the epoch of
    // the stores up to the cycle before.
    assert!(only(2, "c", Issue) > store && only(2, "c", Issue) + 1 < over);
    assert!(ends[11] > over + 1, "there are stores in that cycle");
    assert_eq!(only(2, "d", Issue), acknowledged(&config, over - 1) + 1);
}

#[test]
fn b6_a_release_that_is_squashed_passes_nothing_on() {
    let mut config = machine();
    config.interconnect.latency_cycles = 20;
    let alone = after_access(&config, "device_store_u32 r2, r3", "fence_release .device");
    // The first fence waits and is then squashed. The store after it is left to the second fence.
    let t = run(
        &config,
        "icmp_ne p1, r1, r1\ndevice_store_u32 r2, r3\n@p1 fence_release .device\na: device_store_u32 r2, r3\n\
         b: fence_release .device\nhalt",
    );
    assert_eq!(t.after("a", "b", Issue), alone);
}

#[test]
fn b6_a_release_of_an_l1_that_writes_back_sends_its_dirty_lines() {
    let mut config = machine();
    config.core.l1.write_policy = WritePolicy::WriteBack;
    let line = config.core.l1.line_bytes;
    // The store has completed long before the fence. One dirty line per lane, or one for all lanes.
    let cost = |config: &Config, shift: u32, fence: &str| {
        let body = format!(
            "mov_sr r4, sr_lane_id\nmov_imm r6, {shift}\nshl r4, r4, r6\ndevice_store_u32 r4, r3\nidiv r6, r6, r3\n\
             nop\niadd r6, r6, r6\na: nop\nb: {fence}\nc: nop\nhalt"
        );
        let t = run(config, &body);
        (t.after("a", "b", Issue), t.report)
    };
    let (one, report) = cost(&config, 2, "fence_release .device");
    assert_eq!((report.l1.write_backs, report.l1.stores), (1, 1));
    // Packets of one sector each, one after the other through the core's port.
    let packet = (8 + config.core.l1.sector_bytes).div_ceil(config.interconnect.port_bytes_per_cycle);
    let (eight, report) = cost(&config, line.trailing_zeros(), "fence_release .device");
    assert_eq!(report.l1.write_backs, 8);
    assert_eq!(eight, one + 7 * u64::from(packet.max(2)));
    config.interconnect.latency_cycles += 5;
    assert_eq!(cost(&config, 2, "fence_release .device").0, one + 10);
    // A release of workgroup scope costs nothing. The end of the kernel writes the lines back.
    let (none, report) = cost(&config, line.trailing_zeros(), "fence_release .workgroup");
    assert_eq!((none, report.l1.write_backs), (1, 8));
    config.core.l1.write_policy = WritePolicy::WriteThrough;
    let (_, through) = cost(&config, line.trailing_zeros(), "fence_release .workgroup");
    assert!(
        report.release_cycles > through.release_cycles && report.running_cycles() <= through.running_cycles()
    );
}

#[test]
fn b6_an_l1_that_writes_back_sends_its_first_line_in_the_cycle_after_the_begin_of_the_round() {
    let mut config = machine();
    config.core.l1.write_policy = WritePolicy::WriteBack;
    let t = run(&config, "a: device_store_u32 r2, r3\nb: fence_release .device\nhalt");
    // The store ends in its access at 4. The fence is reached at 5, where the round begins. The line leaves at 6 and is
    // acknowledged like a store that is accepted at 5.
    assert_eq!(t.packets(RequestKind::Write), [t.at("a", Issue) + 6]);
    assert_eq!(t.after("a", "b", Issue), acknowledged(&config, 5) + 1);
}

#[test]
fn b5_a_release_does_not_wait_for_later_stores_of_others() {
    let mut config = machine();
    config.interconnect.latency_cycles = 20;
    // Wave 0 keeps storing. Wave 1 releases in between.
    let stores = "device_store_u32 r2, r3\n".repeat(120);
    let slow = "idiv r6, r6, r3\n".repeat(2);
    let program = format!(
        "mov_sr r4, sr_wave_id\nicmp_ne p1, r4, r5\nif p1\n{slow}nop\nb: fence_release .device\nelse\na: {stores}z: nop\n\
         endif\nhalt"
    );
    let t = bench(&config).waves(2).run(&program);
    let [first, fence, last] = [t.of(0, "a", Issue), t.of(1, "b", Issue), t.of(0, "z", Issue)];
    assert!(fence > first + 40, "it waits for the stores before it: {first}, {fence}, {last}");
    assert!(fence < last, "and for a round, not for all that follow: {first}, {fence}, {last}");
}

#[test]
fn b5_an_acquire_of_a_wide_scope_invalidates_the_l1() {
    for (fence, hits) in [
        ("fence_acquire .wave", 1),
        ("fence_acquire .workgroup", 1),
        ("fence_release .device", 1),
        ("fence_acquire .device", 0),
        ("fence_acq_rel .system", 0),
    ] {
        let t = run(&machine(), &format!("device_load_u32 r1, r2\n{fence}\ndevice_load_u32 r1, r2\nhalt"));
        assert_eq!(t.report.l1.hits, hits, "{fence}");
    }
}

#[test]
fn b5_an_acquire_invalidates_in_the_cycle_after_its_issue() {
    for (scope, invalidates) in [("workgroup", false), ("device", true), ("system", true)] {
        let t = run(&machine(), &format!("nop\na: fence_acquire .{scope}\nhalt"));
        let expected = if invalidates { vec![t.at("a", Issue) + 1] } else { vec![] };
        assert_eq!(t.invalidations, expected, "{scope}");
    }
    // Wave 1 accesses a line in every cycle. It hits up to the cycle in which the acquire of wave 0 issues, and not in
    // the next: the invalidation comes before the access.
    for nops in 4..8 {
        let mut config = machine();
        config.core.divergence = DivergenceMode::Jump;
        config.core.schedulers = 2;
        let loads: String = (0..10).map(|n| format!("l{n}: device_load_u32 r{}, r2\n", 8 + n)).collect();
        let t = bench(&config).waves(2).run(&format!(
            "mov_sr r4, sr_wave_id\nicmp_eq p1, r4, r2\nmov_imm r5, 1024\ndevice_load_u32 r6, r2\nwait\n\
             device_load_u32 r6, r5\nwait\nbarrier\nif p1\n{}a: fence_acquire .device\nelse\n{loads}endif\nhalt",
            "nop\n".repeat(5 + nops)
        ));
        let fence = t.all(0, "a", Issue)[0];
        let accesses: Vec<u64> = (0..10).map(|n| t.all(1, &format!("l{n}"), Access)[0] + 1).collect();
        assert!(accesses.contains(&fence) && accesses.contains(&(fence + 1)), "{fence} {accesses:?}");
        let hits = accesses.iter().filter(|&&at| at <= fence).count();
        assert_eq!(t.report.l1.hits, hits as u64, "{nops}");
    }
}
