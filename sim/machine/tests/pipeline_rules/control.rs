//! Rules B of docs/pipeline.md: control, barriers, fences.

use crate::machine::*;
use wave_machine::config::{Config, DivergenceMode, WritePolicy};

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
        assert_eq!(t.after("a", "b", Issue), t.after("a", "a", Retire), "{access}");
    }
    // A device store is performed when the L1 accepts it.
    let t = run(&config, "a: device_store_u32 r2, r3\nb: barrier\nhalt");
    assert_eq!(t.after("a", "b", Issue), 3);
}

#[test]
fn b4_the_last_wave_releases_all() {
    for latency in [1, 2, 7] {
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
    let load = "local_load_u32 r1, r2"; // written back after one pass and the latency of five
    for (fence, after_store, after_load) in [
        ("wait", None, Some(6)),
        ("fence_acquire .wave", None, None),
        ("fence_release .wave", None, None),
        ("fence_acquire .workgroup", Some(8), Some(6)),
        ("fence_release .workgroup", Some(8), Some(6)),
        ("fence_acquire .device", Some(8), Some(6)),
        ("fence_release .device", Some(8), Some(6)),
    ] {
        for (access, expected) in [(store, after_store), (load, after_load)] {
            let t = run(&config, &format!("a: {access}\nb: {fence}\nhalt"));
            let issue = expected.map_or(1, |after| 2 + after);
            assert_eq!(t.after("a", "b", Issue), issue, "{access}, {fence}");
        }
    }
    // An atomic that returns a value counts as a load.
    assert_eq!(after_access(&config, "local_atomic_add r1, r2, r3", "wait"), 2 + 8 + 5);
    // Releases of device and system scope also wait for the acknowledgement of a store, which crosses the
    // interconnect twice.
    let store = "device_store_u32 r2, r3";
    for (fence, after) in [("wait", 1), ("fence_acquire .device", 3), ("fence_acq_rel .workgroup", 3)] {
        assert_eq!(after_access(&config, store, fence), after, "{fence}");
    }
    for fence in ["fence_release .device", "fence_acq_rel .device"] {
        config.interconnect.latency_cycles = 3;
        let near = after_access(&config, store, fence);
        config.interconnect.latency_cycles = 8;
        assert_eq!(after_access(&config, store, fence), near + 10, "{fence}");
        assert!(near > 3 + 6);
    }
}

#[test]
fn b5_the_next_wave_of_a_slot_waits_for_the_acknowledgements_too() {
    let mut config = machine();
    config.core.max_workgroups = 1;
    config.dispatcher.latency_cycles = 1;
    config.interconnect.latency_cycles = 40;
    let acknowledged = after_access(&config, "device_store_u32 r2, r3", "fence_release .device");
    let t = bench(&config).groups(2).run("b: fence_release .device\na: device_store_u32 r2, r3\nhalt");
    assert_eq!(t.all(0, "b", Issue)[1] - t.all(0, "a", Issue)[0], acknowledged);
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
    // Nothing is dirty: one packet to each slice, one per cycle, each answered after a hit latency.
    let (clean, l2) = cost(&config, "nop");
    assert_eq!((l2.releases, l2.released_sectors), (u64::from(config.l2.slices), 0));
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
