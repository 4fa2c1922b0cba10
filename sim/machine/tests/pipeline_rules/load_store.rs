//! Rules L of docs/pipeline.md: load/store unit.

use crate::machine::*;
use wave_machine::config::Config;
use wave_machine::core::probe::StageEvent;

/// Runs a kernel with r1 = lane, r2 = 4 * lane, r3 = 0, r4 = 32 * lane, r5 = 128 * lane, r6 = 8 * lane, r7 =
/// 16 * lane.
fn lanes(config: &Config, body: &str) -> Trace {
    run(
        config,
        &format!(
            "mov_sr r1, sr_lane_id\nmov_imm r8, 2\nshl r2, r1, r8\nmov_imm r8, 5\nshl r4, r1, r8\nmov_imm r8, 7
            shl r5, r1, r8\nmov_imm r8, 3\nshl r6, r1, r8\nmov_imm r8, 4\nshl r7, r1, r8\nmov_imm r8, 16
            {body}\nhalt"
        ),
    )
}

/// Cycles from the entry into the load/store unit to retirement.
fn duration(config: &Config, instruction: &str) -> u64 {
    let t = lanes(config, &format!("nop\na: {instruction}"));
    t.at("a", Retire) - t.at("a", Execute)
}

#[test]
fn l1_the_head_starts_in_the_cycle_after_its_entry() {
    assert_eq!(duration(&machine(), "local_store_u32 r2, r1"), 1);
}

#[test]
fn l1_the_next_starts_after_the_head_is_finished() {
    let t =
        lanes(&machine(), "a: local_store_u32 r4, r1\nb: local_store_u32 r2, r1\nc: device_store_u32 r2, r1");
    let entry = t.at("a", Execute);
    // Eight passes, then one pass, then one line access.
    assert_eq!(["a", "b", "c"].map(|l| t.at(l, Retire) - entry), [8, 9, 10]);
}

#[test]
fn l2_passes_are_the_words_of_the_fullest_bank() {
    // 8, 4 and 2 banks. Word addresses by lane: lane, 2 lane, 4 lane, 8 lane, and one word for all lanes.
    for (banks, passes) in [(8, [1, 2, 4, 8, 1]), (4, [2, 4, 8, 8, 1]), (2, [4, 8, 8, 8, 1])] {
        let mut config = machine();
        config.core.local.banks = banks;
        for (address, passes) in ["r2", "r6", "r7", "r4", "r3"].iter().zip(passes) {
            assert_eq!(
                duration(&config, &format!("local_store_u32 {address}, r1")),
                passes,
                "{address}, {banks}"
            );
        }
    }
    // Two words per lane; then bytes and halfwords that share words.
    assert_eq!(duration(&machine(), "local_store_u64 r6, r16"), 2);
    assert_eq!(duration(&machine(), "local_store_u8 r1, r16"), 1);
    assert_eq!(duration(&machine(), "local_store_u16 r1, r16"), 1);
    // Lanes access bytes 0 to 7 and up to three more: words 0, 1 and 2.
    assert_eq!(duration(&machine(), "local_store_u32 r1, r16"), 1);
    // Atomics on the same word take one pass each. Atomics in different banks share a pass.
    assert_eq!(duration(&machine(), "local_atomic_add r3, r1"), 8);
    assert_eq!(duration(&machine(), "local_atomic_add r2, r1"), 1);
    assert_eq!(duration(&machine(), "local_atomic_add r4, r1"), 8);
}

#[test]
fn l2_wide_banks_serve_two_registers_a_pass() {
    let mut wide = machine();
    wide.core.local.bank_bytes = 8;
    // 8 bytes per lane at a distance of 8 bytes: one bank per lane. At 4 bytes half as many banks, at 16
    // bytes two lanes per bank.
    assert_eq!(duration(&wide, "local_store_u64 r6, r16"), 1);
    assert_eq!(duration(&wide, "local_store_u32 r2, r1"), 1);
    assert_eq!(duration(&wide, "local_store_u32 r7, r1"), 2);
    // Lanes that share an 8-byte word share its pass, unless they are atomics.
    assert_eq!(duration(&wide, "local_atomic_add r2, r1"), 2);
}

#[test]
fn l2_a_tile_is_four_accesses() {
    // One tile for all lanes: each row of four words takes one pass, wherever it lies.
    assert_eq!(duration(&machine(), "mma_store_c r3, r8, f0"), 4);
    // Tiles 128 bytes apart: every lane uses the same four banks, eight words each.
    assert_eq!(duration(&machine(), "mma_store_c r5, r8, f0"), 4 * 8);
}

#[test]
fn l3_a_local_load_is_complete_after_the_latency() {
    for latency in [1, 5, 12] {
        let mut config = machine();
        config.core.local.latency_cycles = latency;
        let latency = u64::from(latency);
        assert_eq!(duration(&config, "local_load_u32 r9, r2"), 1 + latency);
        assert_eq!(duration(&config, "local_load_u32 r9, r4"), 8 + latency);
        assert_eq!(duration(&config, "local_load_u64 r10, r6"), 2 + latency + 1);
        assert_eq!(duration(&config, "local_atomic_add r9, r3, r1"), 8 + latency);
        assert_eq!(duration(&config, "mma_load_a f0, r3, r8"), 4 + latency);
        assert_eq!(duration(&config, "mma_load_b f0, r3, r8"), 4 + latency);
        // Instructions without a result retire when they are performed.
        assert_eq!(duration(&config, "local_store_u32 r4, r1"), 8);
        assert_eq!(duration(&config, "local_atomic_add r3, r1"), 8);
        assert_eq!(duration(&config, "mma_store_c r3, r8, f0"), 4);
    }
}

/// Number of L1 accesses of an instruction.
fn accesses(instruction: &str) -> u64 {
    lanes(&machine(), instruction).report.core.line_accesses
}

#[test]
fn l4_each_line_touched_is_one_access() {
    assert_eq!(accesses("device_load_u32 r9, r2"), 1);
    assert_eq!(accesses("device_load_u32 r9, r3"), 1);
    // Eight lanes of 32 bytes touch two lines of 128 bytes; eight lanes of 128 bytes touch eight.
    assert_eq!(accesses("device_load_u32 r9, r4"), 2);
    assert_eq!(accesses("device_store_u32 r4, r1"), 2);
    assert_eq!(accesses("device_load_u32 r9, r5"), 8);
    assert_eq!(accesses("device_load_u128 r12, r7"), 1);
    // Bytes 124 to 131 span two lines.
    assert_eq!(accesses("mov_imm r9, 124\ndevice_load_u64 r10, r9"), 2);
    assert_eq!(accesses("mov_imm r9, 124\ndevice_load_u32 r10, r9"), 1);
    assert_eq!(accesses("icmp_eq p1, r1, r3\n@p1 device_load_u32 r9, r5"), 1);
}

#[test]
fn l5_a_packet_has_one_operation_a_word() {
    for scope in ["workgroup", "device"] {
        assert_eq!(accesses(&format!("atomic_add r2, r1, .{scope}")), 1);
        assert_eq!(accesses(&format!("atomic_add r3, r1, .{scope}")), 8);
        assert_eq!(accesses(&format!("atomic_add r4, r1, .{scope}")), 2);
        assert_eq!(accesses(&format!("atomic_cas r2, r1, r1, .{scope}")), 8);
    }
    // Four words with two lanes each.
    assert_eq!(accesses("mov_imm r9, 12\nand r9, r2, r9\natomic_add r9, r1, .device"), 2);
}

/// Cycles from execution to retirement of a second load of the same lines, which hits.
fn hit(config: &Config, address: &str) -> u64 {
    let t = lanes(config, &format!("device_load_u32 r9, {address}\nwait\na: device_load_u32 r9, {address}"));
    t.at("a", Retire) - t.at("a", Execute)
}

#[test]
fn l6_one_l1_access_a_cycle() {
    for latency in [1, 4, 16] {
        let mut config = machine();
        config.core.l1.hit_latency_cycles = latency;
        let latency = u64::from(latency);
        // Counted from the cycle in which the head starts.
        assert_eq!(hit(&config, "r2"), 1 + latency);
        assert_eq!(hit(&config, "r4"), 2 + latency);
        assert_eq!(hit(&config, "r5"), 8 + latency);
    }
}

#[test]
fn l7_a_load_needs_a_pending_entry_until_its_last_response() {
    for latency in [4, 16] {
        for (entries, second) in [(1, latency), (2, 1), (32, 1)] {
            let mut config = machine();
            config.core.l1.hit_latency_cycles = latency as u32;
            config.core.lsu.pending_entries = entries;
            let load = "device_load_u32";
            let t = lanes(
                &config,
                &format!("{load} r9, r2\nwait\na: {load} r9, r2\nb: {load} r10, r2\nc: {load} r11, r2"),
            );
            let entry = t.at("a", Execute);
            assert_eq!(t.at("a", Retire) - entry, 1 + latency);
            assert_eq!(t.at("b", Retire) - entry, 1 + second + latency, "{entries}");
            // A store needs no pending entry.
            let t =
                lanes(&config, &format!("{load} r9, r2\nwait\na: {load} r9, r2\nb: device_store_u32 r5, r1"));
            assert!(t.at("b", Retire) < t.at("a", Retire) || latency < 10);
        }
    }
}

/// Two-row loads and unit results alternate on one write port, so that complete loads accumulate.
#[test]
fn l7_complete_loads_are_bounded_by_return_entries() {
    for (pending, extra) in [(1, 56), (3, 56), (3, 5)] {
        let mut config = machine();
        config.core.max_waves = 32;
        config.core.register_file_bytes = 32 * 32 * WIDTH * 4;
        config.core.registers.write_ports = 1;
        config.core.lsu.pending_entries = pending;
        config.core.lsu.extra_return_entries = extra;
        let body: String =
            (4..16).map(|n| format!("local_load_u64 r{}, r0\niadd r2, r1, r1\n", 2 * n)).collect();
        let t = bench(&config).waves(32).run(&format!("{body}halt"));
        let is_load = |e: &&StageEvent| e.word.is_multiple_of(3) && e.word < 36;
        let at = |cycle: u64, stage| {
            t.events.iter().filter(is_load).filter(|e| e.cycle == cycle && e.stage == stage).count()
        };
        let most = (pending + extra + config.core.lsu.queue_entries) as usize;
        let (mut inside, mut given_back, mut taken) = (0, 0, 0);
        for cycle in t.events[0].cycle..=t.events[t.events.len() - 1].cycle {
            let (left, entered) = (at(cycle, Retire), at(cycle, Execute));
            // A freed entry is used in the same cycle: the head starts and frees a queue entry, which the
            // next load with its operands takes.
            if inside == most && left > 0 {
                given_back += left;
                taken += entered;
            }
            inside += entered;
            inside -= left;
            assert!(inside <= most, "{inside} loads in cycle {cycle}");
        }
        assert!(
            given_back > 50 && taken * 10 > given_back * 9,
            "{taken} of {given_back}, {pending} pending, {extra} more"
        );
    }
}

#[test]
fn l8_a_store_retires_with_its_last_access() {
    assert_eq!(duration(&machine(), "device_store_u32 r2, r1"), 1);
    assert_eq!(duration(&machine(), "atomic_add r2, r1, .device"), 1);
    // The two lines are one cycle apart: a port sends a packet of a header and up to four sectors in one
    // cycle.
    for interconnect in [1, 3, 20] {
        let mut config = machine();
        config.interconnect.latency_cycles = interconnect;
        config.interconnect.port_bytes_per_cycle = 1024;
        assert_eq!(duration(&config, "device_store_u32 r4, r1"), 2);
        assert_eq!(duration(&config, "device_store_u32 r5, r1"), 8);
    }
}

#[test]
fn l8_a_load_is_complete_with_its_last_response() {
    // All accesses miss and the lines arrive in turn. The last one counts, and each crosses the interconnect
    // twice.
    let miss = |interconnect, address: &str| {
        let mut config = machine();
        config.interconnect.latency_cycles = interconnect;
        duration(&config, &format!("device_load_u32 r9, {address}"))
    };
    for address in ["r2", "r5"] {
        assert_eq!(miss(8, address), miss(3, address) + 10);
    }
    assert!(miss(3, "r5") > miss(3, "r2"));
}
