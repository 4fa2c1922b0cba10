//! Rules O, X and W of docs/pipeline.md: operand read, dispatch, execution units, write-back.

use crate::machine::*;
use wave_isa::ExecClass;
use wave_machine::config::Config;

/// Cycles from issue to the last operand read.
fn reads(config: &Config, instruction: &str) -> u64 {
    let t = run(config, &format!("a: {instruction}\nhalt"));
    t.after("a", "a", Operands)
}

#[test]
fn o1_a_bank_reads_one_row_a_cycle() {
    let mut config = machine();
    for (banks, cycles) in [(1, [1, 2, 2, 3, 1, 4]), (2, [1, 1, 2, 2, 1, 2]), (4, [1, 1, 2, 1, 1, 1])] {
        config.core.registers.banks = banks;
        config.core.registers.write_ports = banks;
        for (instruction, cycles) in [
            "mov r1, r2",
            "iadd r1, r2, r3",
            "iadd r1, r4, r8",
            "fma r1, r2, r3, r4",
            "fma r1, r4, r4, r4", // named three times, read once
            "bfi r1, r2, r3, r4, r5",
        ]
        .iter()
        .zip(cycles)
        {
            assert_eq!(reads(&config, instruction), cycles, "{instruction}, {banks} banks");
        }
    }
    // A store reads all rows of its value.
    assert_eq!(reads(&machine(), "device_store_u128 r4, r8"), 2);
}

#[test]
fn o1_the_bank_depends_on_the_wave_slot() {
    for (schedulers, expected) in [(1, [1, 1, 1, 1, 2]), (2, [1, 1, 1, 1, 1])] {
        let mut config = machine();
        config.core.schedulers = schedulers;
        config.core.issue.width = 8;
        // Slots 0 and 4 of one scheduler share a bank, and the older collector is served first. With two
        // schedulers, slots 0 and 4 are waves 0 and 2 of scheduler 0.
        let t = bench(&config).waves(5).run("barrier\na: mov r1, r4\nhalt");
        let mut reads = [0, 1, 2, 3, 4].map(|slot| t.of(slot, "a", Operands) - t.of(slot, "a", Issue));
        reads.sort_unstable();
        assert_eq!(reads, expected, "{schedulers}");
    }
    // Two waves in slots 0 and 1: r5 of one wave is in the same bank as r4 of the other.
    let mut config = machine();
    config.core.issue.width = 2;
    for (first, second, cycles) in [(4, 4, [1, 1]), (5, 4, [1, 2]), (4, 7, [1, 2])] {
        let t = bench(&config).waves(2).run(&format!(
            "mov_sr r1, sr_wave_id\nicmp_eq p1, r1, r2\nif p1\nbarrier\na: mov r1, r{first}\nelse\nbarrier
            b: mov r1, r{second}\nendif\nhalt"
        ));
        // Wave 0 runs the first branch and wave 1 the other. Both reach their instruction in the same cycle.
        let reads = |slot, label| t.all(slot, label, Operands).first().copied();
        let (a, b) = (reads(0, "a").unwrap(), reads(1, "b").unwrap());
        if t.all(0, "a", Issue) == t.all(1, "b", Issue) {
            let issue = t.all(0, "a", Issue)[0];
            let mut found = [a - issue, b - issue];
            found.sort_unstable();
            assert_eq!(found, cycles, "r{first}, r{second}");
        } else {
            panic!("the waves are not together");
        }
    }
}

#[test]
fn o2_an_instruction_that_waits_keeps_its_operands() {
    let t = run(
        &machine(),
        "mov_imm r3, 5\nmov_imm r4, 60\nmov_imm r5, 100\nidiv r6, r4, r3\na: idiv r7, r5, r3\nb: fadd r5, r9, r9
        device_store_u32 r2, r7\nhalt",
    );
    assert!(t.at("b", Retire) < t.at("a", Execute), "the source is written while the division waits");
    assert_eq!(t.memory[..4], [20, 0, 0, 0]);
}

#[test]
fn o3_an_instruction_without_operands_has_them_in_the_next_cycle() {
    for instruction in ["mov_imm r1, 7", "mov_sr r1, sr_lane_id", "mma_compute f0, f0, f0", "wave_any p1, p2"]
    {
        let t = run(&machine(), &format!("a: {instruction}\nhalt"));
        assert_eq!(t.steps("a", "a")[..3], [0, 1, 2], "{instruction}");
    }
}

#[test]
fn x1_an_instruction_leaves_from_the_cycle_after_its_last_read_on() {
    let t = run(&machine(), "a: iadd r1, r4, r8\nhalt");
    assert_eq!(t.steps("a", "a")[..3], [0, 2, 3]);
    // The collector is free for an issue in the same cycle.
    let mut config = machine();
    config.core.registers.collectors = 1;
    let t = run(&config, "a: iadd r1, r4, r8\nb: iadd r5, r2, r3\nhalt");
    assert_eq!(t.at("b", Issue), t.at("a", Execute));
}

#[test]
fn x1_the_oldest_goes_first_and_units_do_not_wait_for_each_other() {
    let mut config = machine();
    config.core.issue.width = 3;
    let t = bench(&config).waves(3).run("barrier\na: fadd r1, r2, r2\nb: iadd r4, r2, r2\nhalt");
    // All three issue in the same cycle. Each unit takes one instruction per cycle, in issue order.
    let order: Vec<usize> = t.issue_order("a")[..3].iter().map(|&(_, slot)| slot).collect();
    let start = t.of(order[0], "a", Issue);
    for stage in [Issue, Operands] {
        assert!(order.iter().all(|&slot| t.of(slot, "a", stage) == start + u64::from(stage == Operands)));
    }
    assert_eq!([0, 1, 2].map(|n| t.of(order[n], "a", Execute) - start), [2, 3, 4]);
    assert_eq!([0, 1, 2].map(|n| t.of(order[n], "b", Execute) - start), [3, 4, 5]);
}

#[test]
fn x2_interval_and_latency() {
    for latency in [1, 2, 7] {
        for passes in [1, 2, 4] {
            for lanes in [1, 4, 5, 8, 32] {
                let mut config = machine();
                set_class(&mut config, ExecClass::Fp32, latency, passes);
                config.core.units.iter_mut().find(|u| u.name == "fp32").unwrap().lanes = lanes;
                let n = u64::from(passes * WIDTH.div_ceil(lanes));
                let t = run(&config, "a: fadd r1, r2, r3\nb: fadd r4, r2, r3\nc: iadd r6, r2, r3\nhalt");
                let written = 2 + u64::from(latency) + n - 1;
                assert_eq!(t.after("a", "a", Retire), written);
                assert_eq!(t.after("a", "b", Execute), (2 + n).max(3));
                assert_eq!(t.after("a", "b", Retire), written + n);
                // The other unit is not delayed.
                assert_eq!(t.after("a", "c", Execute), 4);
            }
        }
    }
}

/// Two results that would be written in the same cycle. Returns the cycles from the issue of the first to
/// execution and write of the second.
fn collision(write_ports: u32, second: &str) -> [u64; 2] {
    let mut config = machine();
    config.core.registers.write_ports = write_ports;
    set_class(&mut config, ExecClass::Fp32, 3, 1);
    let t = run(&config, &format!("a: fadd r1, r2, r3\nb: {second}\nhalt"));
    assert_eq!(t.after("a", "a", Retire), 5);
    [t.after("a", "b", Execute), t.after("a", "b", Retire)]
}

#[test]
fn x3_a_result_waits_for_its_write_ports() {
    // The integer addition would be written in the same cycle as the floating-point one.
    assert_eq!(collision(2, "iadd r4, r2, r3"), [3, 5]);
    assert_eq!(collision(1, "iadd r4, r2, r3"), [4, 6]);
    // Each bank writes one row per cycle.
    assert_eq!(collision(2, "iadd r5, r2, r3"), [4, 6]);
    // A predicate needs no write port.
    assert_eq!(collision(1, "icmp_eq p1, r2, r3"), [3, 5]);
}

#[test]
fn x3_row_i_is_written_i_cycles_after_the_first() {
    let mut config = machine();
    set_class(&mut config, ExecClass::Fp64, 4, 1);
    set_class(&mut config, ExecClass::Int, 3, 1);
    let t = run(&config, "a: dadd r4, r2, r2\nhalt");
    // Two rows: 2 + 4 cycles, and one more for the second.
    assert_eq!(t.after("a", "a", Retire), 7);
    // The port is reserved for the second row too, so an addition cannot be written at 6 or 7.
    config.core.registers.write_ports = 1;
    let t = run(&config, "a: dadd r4, r2, r2\nb: iadd r10, r2, r3\nhalt");
    assert_eq!([t.after("a", "b", Execute), t.after("a", "b", Retire)], [5, 8]);
    // Only those cycles are reserved: a result written before both rows is not delayed.
    set_class(&mut config, ExecClass::Int, 2, 1);
    let t = run(&config, "a: dadd r4, r2, r2\nb: iadd r10, r2, r3\nhalt");
    assert_eq!([t.after("a", "b", Execute), t.after("a", "b", Retire)], [3, 5]);
}

#[test]
fn x4_one_memory_instruction_a_cycle_and_schedulers_take_turns() {
    let mut config = machine();
    config.core.schedulers = 2;
    config.core.branch_latency_cycles = 3;
    let t =
        bench(&config).waves(2).run("barrier\na: local_store_u32 r2, r3\nb: local_store_u32 r2, r3\nhalt");
    let start = t.of(0, "a", Issue).min(t.of(1, "a", Issue));
    assert_eq!(t.of(0, "a", Issue), t.of(1, "a", Issue));
    let entry = |slot, label| t.of(slot, label, Execute) - start;
    assert_eq!([entry(0, "a"), entry(1, "a"), entry(0, "b"), entry(1, "b")], [2, 3, 4, 5]);
}

#[test]
fn x4_the_queue_has_its_entries() {
    for entries in [1, 2, 3] {
        let mut config = machine();
        config.core.lsu.queue_entries = entries;
        // Each takes eight passes, the first from cycle 3 on, so the head leaves at 10. Its place is free from 11 on.
        let atomic = "local_atomic_add r2, r3\n";
        let t = run(&config, &format!("a: {atomic}b: {atomic}c: {atomic}d: {atomic}halt"));
        let entry = ["a", "b", "c", "d"].map(|l| t.after("a", l, Execute));
        let expected = match entries {
            // Each starts in the cycle after its entry: passes from 3, 12, 21.
            1 => [2, 11, 20, 29],
            // The next starts while the queue takes another: passes from 3, 11, 19.
            2 => [2, 3, 11, 19],
            _ => [2, 3, 4, 11],
        };
        assert_eq!(entry, expected);
    }
}

#[test]
fn x4_what_leaves_the_queue_makes_room_in_the_next_cycle() {
    let mut config = machine();
    config.core.lsu.queue_entries = 1;
    config.interconnect.port_bytes_per_cycle = 1024;
    for (store, lines) in [
        // One pass, in the cycle of the start.
        ("local_store_u32 r2, r3", 1),
        // Its only line goes to the latch in the cycle of the start, whatever the L1 does.
        ("device_store_u32 r2, r3", 1),
        // Eight lines go to the latch one by one.
        ("device_store_u32 r9, r3", 8),
    ] {
        let t = run(
            &config,
            &format!(
                "mov_sr r8, sr_lane_id\nmov_imm r9, 7\nshl r9, r8, r9\na: {store}\nb: {store}\nc: {store}\nhalt"
            ),
        );
        // Entry, start one cycle later, `lines` cycles as the head, and room in the cycle after that.
        let distance = 1 + lines;
        assert_eq!(t.at("b", Execute) - t.at("a", Execute), distance, "{store}");
        assert_eq!(t.at("c", Execute) - t.at("b", Execute), distance, "{store}");
    }
    // With two entries, one is filled while the other is emptied.
    config.core.lsu.queue_entries = 2;
    let store = "local_store_u32 r2, r3";
    let t = run(&config, &format!("a: {store}\nb: {store}\nc: {store}\nd: {store}\nhalt"));
    assert_eq!(["a", "b", "c", "d"].map(|l| t.after("a", l, Execute)), [2, 3, 4, 5]);
}

#[test]
fn w1_a_waiting_instruction_issues_in_the_cycle_of_the_write() {
    let mut config = machine();
    set_class(&mut config, ExecClass::Fp64, 4, 1);
    // A two-row result releases its consumers with the last row, whichever row they need. They read the new
    // value.
    let t = run(
        &config,
        "mov_imm r3, 0x3FF00000\na: dadd r4, r2, r2\nb: mov r8, r4\nc: mov r8, r5\ndevice_store_u32 r2, r8\nhalt",
    );
    assert_eq!(t.after("a", "a", Retire), 7);
    assert_eq!(t.after("a", "b", Issue), 7);
    // Upper word of 1.0 + 1.0.
    assert_eq!(t.memory[..4], 0x4000_0000u32.to_le_bytes());
}

#[test]
fn w2_loads_write_one_row_a_cycle() {
    for (load, rows) in [("u8", 1), ("u32", 1), ("u64", 2)] {
        let t = run(&machine(), &format!("a: local_load_{load} r4, r2\nhalt"));
        // Complete at 3 + 5. The first row is written in the next cycle.
        assert_eq!(t.after("a", "a", Retire), 9 + rows - 1, "{load}");
    }
    let t = run(
        &machine(),
        "device_load_u128 r4, r2\nwait\na: device_load_u128 r8, r2\nb: device_load_u32 r12, r2\nhalt",
    );
    // It starts at 3 and accesses the L1 at 4.
    let complete = 4 + u64::from(machine().core.l1.hit_latency_cycles);
    assert_eq!(t.after("a", "a", Retire), complete + 4);
    // The next load waits for its turn in the queue, although it is complete one cycle after the first.
    assert_eq!(t.after("a", "b", Retire), complete + 5);
}

#[test]
fn w2_a_load_writes_its_first_row_in_the_cycle_after_it_is_complete() {
    for latency in [1, 5, 12] {
        let mut config = machine();
        config.core.local.latency_cycles = latency;
        config.core.l1.hit_latency_cycles = latency;
        let latency = u64::from(latency);
        for (space, performed) in [("local", 3), ("device", 4)] {
            let load = format!("{space}_load_u64 r4, r2");
            let t = run(&config, &format!("{load}\nwait\na: {load}\nb: iadd r8, r4, r5\nhalt"));
            let complete = performed + latency;
            assert_eq!(t.after("a", "a", WriteBack), complete + 1, "{space}");
            // Two rows. What waits for them issues in the cycle of the last.
            assert_eq!(t.after("a", "a", Retire), complete + 2, "{space}");
            assert_eq!(t.after("a", "b", Issue), complete + 2, "{space}");
        }
    }
}

#[test]
fn w2_loads_take_the_ports_that_results_leave() {
    for (ports, register, expected) in [(1, 5, 10), (2, 5, 9), (2, 8, 10)] {
        let mut config = machine();
        config.core.registers.write_ports = ports;
        set_class(&mut config, ExecClass::Fp32, 6, 1);
        // The load is complete at 8 and could be written at 9. The addition, dispatched at 3, is written at 9.
        let t = run(&config, &format!("a: local_load_u32 r4, r2\nb: fadd r{register}, r2, r3\nhalt"));
        assert_eq!(t.after("a", "b", Retire), 9);
        assert_eq!(t.after("a", "a", Retire), expected, "{ports} ports, r{register}");
    }
}

#[test]
fn w2_local_results_come_before_those_of_the_l1() {
    let mut config = machine();
    config.core.l1.hit_latency_cycles = 9;
    // The first load starts at 3 and accesses the L1 at 4: the hit is complete at 13. The local load starts at 4 and is
    // complete at 4 + latency. Each is written in the next cycle, or behind the other.
    for (latency, expected) in [(8, [14, 13]), (9, [15, 14]), (10, [14, 15])] {
        config.core.local.latency_cycles = latency;
        let t = run(
            &config,
            "device_load_u32 r1, r2\nwait\na: device_load_u32 r4, r2\nb: local_load_u32 r5, r2\nhalt",
        );
        assert_eq!([t.after("a", "a", Retire), t.after("a", "b", Retire)], expected, "{latency}");
    }
}

#[test]
fn the_fragments_that_an_observer_sees_are_those_of_the_wave() {
    // The lanes of a wave fill 64 bytes with its number plus 1, and all of them load these as their tiles.
    let body = "mov_sr r1, sr_wave_id\nmov_imm r2, 64\nimul r3, r1, r2\nmov_imm r4, 1\niadd r5, r1, r4\n\
                cvt_f32_u32 r6, r5\nmov r7, r6\nmov_sr r8, sr_lane_id\nmov_imm r9, 8\nimul r10, r8, r9\n\
                iadd r10, r10, r3\nlocal_store_u64 r10, r6\nmov_imm r11, 16\na: mma_load_a f2, r3, r11\n\
                b: mma_load_b f1, r3, r11\nc: mma_compute f2, f1, f5\nd: mma_store_c r3, r11, f5\nhalt";
    let t = bench(&machine()).waves(4).run(body);
    assert_eq!(t.fragments.len(), 4 * 4);
    for (event, rows) in &t.fragments {
        let value = event.slot as f32 + 1.0;
        let loaded = [t.word("a"), t.word("b")].contains(&event.word);
        let expected = if loaded { value } else { 4.0 * value * value };
        assert_eq!(rows.len(), 16 * WIDTH as usize);
        assert!(rows.iter().all(|&bits| f32::from_bits(bits) == expected), "{event:?}: {rows:x?}");
    }
}
