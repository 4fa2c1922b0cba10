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
    // What faults does so when it starts.
    for access in ["local_store_u32 r2, r1", "device_load_u32 r1, r2"] {
        let config = machine();
        let far = bench(&config).with(2, 1 << 20);
        assert_eq!(far.fault(&format!("{access}\nnop\nhalt"), Execute), 1, "{access}");
    }
}

#[test]
fn l1_the_next_starts_after_the_head_is_finished() {
    let t =
        lanes(&machine(), "a: local_store_u32 r4, r1\nb: local_store_u32 r2, r1\nc: device_store_u32 r2, r1");
    let entry = t.at("a", Execute);
    // Eight passes, then one pass. The line of the store is in the latch after its start, and accessed a cycle later.
    assert_eq!(["a", "b", "c"].map(|l| t.at(l, Access) - entry), [1, 9, 10]);
    assert_eq!(["a", "b", "c"].map(|l| t.at(l, Retire) - entry), [8, 9, 11]);
}

/// Cycles from the entry of `a` into the load/store unit to start and retirement of each instruction.
fn starts_and_ends<const N: usize>(t: &Trace, labels: [&str; N]) -> [[u64; N]; 2] {
    [Access, Retire].map(|stage| labels.map(|l| t.at(l, stage) - t.at("a", Execute)))
}

#[test]
fn l1_the_next_starts_while_the_last_access_is_tried() {
    let mut config = machine();
    config.interconnect.port_bytes_per_cycle = 1024;
    // cycle                  0  1  2  3  4  5  6  7  8  9  10 11
    // a: store of 8 lines    X  s  1  2  3  4  5  6  7  8            s: start; n: access n is tried and accepted
    // b: local store            X                       s
    // c: store of 1 line           X                       s  1
    // d: local store                  X                       s
    let t = lanes(
        &config,
        "a: device_store_u32 r5, r1\nb: local_store_u32 r2, r1\nc: device_store_u32 r2, r1\nd: local_store_u32 r2, r1",
    );
    assert_eq!(starts_and_ends(&t, ["a", "b", "c", "d"]), [[1, 9, 10, 11], [9, 9, 11, 11]]);
    // Two stores: the first access of the second is tried right behind the last of the first.
    let t =
        lanes(&config, "a: device_store_u32 r5, r1\nb: device_store_u32 r5, r1\nc: local_store_u32 r2, r1");
    assert_eq!(starts_and_ends(&t, ["a", "b", "c"]), [[1, 9, 17], [9, 17, 17]]);
}

#[test]
fn l1_the_next_start_while_the_last_access_is_refused() {
    let mut config = machine();
    config.core.l1.hit_latency_cycles = 16;
    config.core.lsu.pending_entries = 1;
    // a hits at 2 and has its response at 18. Until then b has no pending entry, and is refused in the latch. c passes
    // it. d starts when c is finished, but its line has to wait for the latch, which b leaves at 18.
    //
    // cycle                  0  1  2  3  4  ..  10 11 12 ..  18 19
    // a: load                X  s  1                         |  W
    // b: load                   X  s  -  -  ..  -  -  -  ..  1        -: refused
    // c: local, 8 passes           X  s     ..  *
    // d: store of 1 line              X            s             1
    // e: local store                     X                       s
    let t = lanes(
        &config,
        "device_load_u32 r9, r2\nwait\na: device_load_u32 r9, r2\nb: device_load_u32 r10, r2\nc: local_store_u32 r4, r1\n\
         d: device_store_u32 r2, r1\ne: local_store_u32 r2, r1",
    );
    let expected = [[1, 2, 3, 11, 19], [19, 18 + 16 + 1, 10, 19, 19]];
    assert_eq!(starts_and_ends(&t, ["a", "b", "c", "d", "e"]), expected);
    // Where the L1 refuses, it is the same: the only MSHR is taken by a until its line is there, and b needs it.
    let mut config = machine();
    config.core.l1.mshrs = 1;
    let t = lanes(
        &config,
        "mov_imm r9, 512\nmov_imm r10, 1024\ndevice_load_u32 r11, r10\nwait\na: device_load_u32 r10, r2\n\
         b: device_load_u32 r11, r9\nc: local_store_u32 r4, r1\nd: local_store_u32 r2, r1\n\
         e: device_store_u32 r2, r1\nf: local_store_u32 r2, r1",
    );
    let [starts, ends] = starts_and_ends(&t, ["a", "b", "c", "d", "e", "f"]);
    assert_eq!(starts[..5], [1, 2, 3, 11, 12]);
    assert_eq!(ends[2..4], [10, 11]);
    // The response is ready in the cycle after the reply (M13), and the row is written in the next. The reply frees the
    // MSHR, so b is accepted two cycles before the write-back of a. In that cycle the store goes to the latch.
    let accepted = ends[0] - 2;
    assert!(accepted > 40, "{accepted}");
    assert_eq!([ends[4], starts[5], ends[5]], [accepted + 1; 3]);
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
        // Passes, latency, and one cycle a row.
        assert_eq!(duration(&config, "local_load_u32 r9, r2"), 1 + latency + 1);
        assert_eq!(duration(&config, "local_load_u32 r9, r4"), 8 + latency + 1);
        assert_eq!(duration(&config, "local_load_u64 r10, r6"), 2 + latency + 2);
        assert_eq!(duration(&config, "local_atomic_add r9, r3, r1"), 8 + latency + 1);
        // A tile retires when it is complete.
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
        // The head starts at 1, and its lines are accessed from 2 on. The last is complete after the latency, and the row
        // is written a cycle later.
        for (address, lines) in [("r2", 1), ("r4", 2), ("r5", 8)] {
            assert_eq!(hit(&config, address), 1 + lines + latency + 1, "{address}");
        }
    }
}

/// With n banks of tags, n lines in a row are accessed in one cycle, and as many responses are taken.
#[test]
fn l6_several_lines_a_cycle() {
    for (tags, hit_latency) in [(1, 4), (2, 4), (4, 1), (4, 16), (16, 4)] {
        let mut config = machine();
        config.core.l1.hit_latency_cycles = hit_latency;
        config.core.l1.tag_banks = tags;
        for (address, lines) in [("r2", 1u64), ("r4", 2), ("r5", 8)] {
            let groups = lines.div_ceil(tags.into());
            assert_eq!(hit(&config, address), 1 + groups + u64::from(hit_latency) + 1, "{address}, {tags}");
        }
        // The next instruction follows the last group.
        config.interconnect.port_bytes_per_cycle = 1024;
        config.interconnect.queue_entries = 16;
        let t = lanes(&config, "a: device_store_u32 r5, r16\nb: device_store_u32 r5, r16");
        let groups = 8u64.div_ceil(tags.into());
        assert_eq!(t.at("b", Retire) - t.at("a", Retire), groups, "{tags}");
    }
}

/// A group of lines whose first are taken goes on where the L1 refused.
#[test]
fn l6_a_refused_line_is_tried_again_with_those_behind_it() {
    let mut config = machine();
    config.core.l1.tag_banks = 4;
    config.interconnect.port_bytes_per_cycle = 1024;
    // Room for two requests. They are taken at 2. The first leaves at 3, and each later line follows a cycle after.
    config.interconnect.queue_entries = 2;
    let t = lanes(&config, "a: device_store_u32 r5, r1\nb: local_store_u32 r2, r1");
    assert_eq!(t.at("a", Retire) - t.at("a", Execute), 3 + 6);
    // The first line of the second group finds room.
    assert_eq!(t.report.l1.fails_outgoing, 5);
}

#[test]
fn l9_loads_read_the_banks_one_after_the_other() {
    // Lanes 4, 8, 16, 32 and 128 bytes apart, and all at one word. The last two have several lines, which come first.
    for (banks, passes) in [(0, [1, 1, 1, 1, 1, 1]), (32, [1, 1, 1, 2, 8, 1]), (4, [2, 4, 8, 8, 8, 1])] {
        let mut config = machine();
        config.core.l1.banks = banks;
        config.core.l1.tag_banks = 8;
        for (address, passes) in ["r2", "r6", "r7", "r4", "r5", "r3"].iter().zip(passes) {
            let load = |register| format!("device_load_u32 r{register}, {address}\n");
            let text = format!("{}wait\na: {}b: {}c: {}", load(9), load(10), load(11), load(12));
            let t = lanes(&config, &text);
            let latency = u64::from(config.core.l1.hit_latency_cycles);
            let ends = ["a", "b", "c"].map(|l| t.at(l, Retire) - t.at("a", Execute));
            // Accessed at 2, complete after the latency, then the passes, and the row a cycle after the last.
            let first = 2 + latency + (passes - 1) + 1;
            assert_eq!(ends, [first, first + passes, first + 2 * passes], "{address}, {banks} banks");
            assert_eq!(t.report.core.l1_passes, if banks == 0 { 0 } else { 4 * passes }, "{address}");
        }
        // Stores and atomics do not wait for the banks.
        assert_eq!(duration(&config, "device_store_u32 r2, r1"), 2);
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
            // Accessed at 2, complete after the latency, written a cycle later. The second has its access one cycle behind
            // the first, or in the cycle of the response to the first.
            assert_eq!(t.at("a", Retire) - entry, 2 + latency + 1);
            assert_eq!(t.at("b", Retire) - entry, 2 + second + latency + 1, "{entries}");
            // A store needs no pending entry.
            let t =
                lanes(&config, &format!("{load} r9, r2\nwait\na: {load} r9, r2\nb: device_store_u32 r5, r1"));
            assert!(t.at("b", Retire) < t.at("a", Retire) || latency < 10);
        }
    }
}

#[test]
fn l7_a_return_entry_is_taken_in_the_cycle_in_which_it_is_given_back() {
    let mut config = machine();
    config.core.lsu.pending_entries = 1;
    config.core.lsu.extra_return_entries = 0;
    // One pass or two, complete five cycles later, and one cycle for each of the rows. In the cycle of the last the next
    // load starts.
    for (load, address, passes, rows) in [("local_load_u32", "r2", 1, 1), ("local_load_u64", "r6", 2, 2)] {
        let t = lanes(
            &config,
            &format!("a: {load} r10, {address}\nb: {load} r12, {address}\nc: {load} r14, {address}"),
        );
        let cycles = passes - 1 + 5 + rows;
        let starts = [1, 1 + cycles, 1 + 2 * cycles];
        let ends = starts.map(|start| start + cycles);
        assert_eq!(starts_and_ends(&t, ["a", "b", "c"]), [starts, ends], "{load}");
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
            // A freed entry is used in the same cycle: the head starts and leaves the queue. Its place is free in the
            // next cycle, in which the next load with its operands takes it.
            if inside == most && left > 0 {
                given_back += left;
                taken += at(cycle + 1, Execute);
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
    // The start, and the access a cycle later.
    assert_eq!(duration(&machine(), "device_store_u32 r2, r1"), 2);
    assert_eq!(duration(&machine(), "atomic_add r2, r1, .device"), 2);
    // The two lines are one cycle apart: a port sends a packet of a header and up to four sectors in one
    // cycle.
    for interconnect in [1, 3, 20] {
        let mut config = machine();
        config.interconnect.latency_cycles = interconnect;
        config.interconnect.port_bytes_per_cycle = 1024;
        assert_eq!(duration(&config, "device_store_u32 r4, r1"), 1 + 2);
        assert_eq!(duration(&config, "device_store_u32 r5, r1"), 1 + 8);
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

#[test]
fn l8_a_load_that_hits_in_the_l2() {
    for (latency, l2) in [(1, 7), (3, 24), (8, 30)] {
        let mut config = machine();
        config.interconnect.latency_cycles = latency;
        config.l2.hit_latency_cycles = l2;
        let load = "device_load_u32 r9, r2";
        let t = lanes(&config, &format!("{load}\nfence_acquire .device\na: {load}"));
        // Accessed at 2. Rule M14: the request leaves in the next cycle and crosses the interconnect; the reply, with one
        // sector, comes back, and the response is there a cycle later. The row is written in the cycle after that.
        let reply = (8 + config.core.l1.sector_bytes).div_ceil(config.interconnect.port_bytes_per_cycle) - 1;
        let response = 1 + latency + l2 + reply + latency + 1;
        assert_eq!(t.at("a", Retire) - t.at("a", Execute), 2 + u64::from(response) + 1);
    }
}
