//! Rules P and R of docs/pipeline.md: order of the stages, schedulers, arrival and end of workgroups.

use crate::machine::*;
use wave_isa::ExecClass;

#[test]
fn p1_consumers_come_before_producers() {
    for latency in [1, 2, 7] {
        let t = run(&with_int_latency(latency), "a: iadd r1, r2, r3\nb: iadd r4, r1, r1\nhalt");
        let latency = u64::from(latency);
        // One stage per cycle. The consumer issues in the cycle of the producer's write-back.
        assert_eq!(t.at("a", Decode) - t.at("a", Fetch), 1);
        assert_eq!(t.at("a", Issue) - t.at("a", Decode), 1);
        assert_eq!(t.steps("a", "a"), [0, 1, 2, 2 + latency]);
        assert_eq!(t.steps("a", "b")[0], 2 + latency);
    }
}

#[test]
fn p2_slot_s_belongs_to_scheduler_s_mod_schedulers() {
    let mut config = machine();
    config.core.schedulers = 2;
    set_class(&mut config, ExecClass::Int, 2, 4);
    let t = bench(&config).waves(4).run("a: iadd r1, r2, r3\nhalt");
    let start = t.of(1, "a", Fetch);
    let stage = |stage| [0, 1, 2, 3].map(|slot| t.of(slot, "a", stage) - start);
    // Each scheduler has its own fetch port, issue slot and integer unit. When the line comes, each serves the lowest slot
    // that waits for it (F4).
    assert_eq!(stage(Fetch), [0, 0, 1, 1]);
    assert_eq!(stage(Issue), [2, 2, 3, 3]);
    assert_eq!(stage(Execute), [4, 4, 8, 8]);
}

#[test]
fn p2_schedulers_work_in_ascending_order() {
    let mut config = machine();
    config.core.schedulers = 4;
    let t = bench(&config).waves(4).run("a: nop\nhalt");
    assert_eq!(t.issue_order("a")[..4], [(0, 0), (0, 1), (0, 2), (0, 3)]);
}

#[test]
fn r1_a_workgroup_takes_the_latency_to_its_core() {
    for latency in [1, 3, 8] {
        for per_cycle in [1, 2] {
            let mut config = machine();
            config.dispatcher.latency_cycles = latency;
            config.dispatcher.workgroups_per_cycle = per_cycle;
            config.core.schedulers = 2;
            config.core.max_workgroups = 2;
            // The first two workgroups miss in the instruction cache and halt in the same cycle. They end in the next
            // (R3), and their messages and the workgroups in their place take the latency each.
            let t = bench(&config).groups(4).run("a: nop\nb: halt");
            let end = t.all(0, "b", Issue)[0] + 1;
            assert_eq!(t.all(1, "b", Issue)[0] + 1, end);
            let arrival = end + 2 * u64::from(latency);
            assert_eq!(t.all(0, "a", Fetch)[1], arrival);
            assert_eq!(t.all(1, "a", Fetch)[1], arrival + u64::from(per_cycle == 1));
        }
    }
}

#[test]
fn r1_the_first_workgroup_goes_launch_cycles_after_the_launch() {
    let run = |launch_cycles| {
        let mut config = machine();
        config.dispatcher.launch_cycles = launch_cycles;
        let t = bench(&config).groups(2).run("a: nop\nhalt");
        (t.all(0, "a", Fetch)[0], t.report.cycles)
    };
    let (first, cycles) = run(0);
    for launch_cycles in [1, 700] {
        let later = u64::from(launch_cycles);
        assert_eq!(run(launch_cycles), (first + later, cycles + later));
    }
}

#[test]
fn r1_cores_take_turns() {
    let mut config = machine();
    config.cores = 3;
    config.core.max_workgroups = 2;
    let t = bench(&config).groups(6).run("a: nop\nhalt");
    let core = |group: u32| t.issues.iter().find(|(id, _, _)| id[0] == group).expect("it ran").2.core;
    assert_eq!([0, 1, 2, 3, 4, 5].map(core), [0, 1, 2, 0, 1, 2]);
}

#[test]
fn r2_waves_take_the_lowest_slots_that_registers_allow() {
    let mut config = machine();
    config.core.schedulers = 2;
    // Each scheduler's share has room for two waves of 32 registers.
    config.core.register_file_bytes = 2 * (2 * 32 * WIDTH * 4) + 2 * 100;
    let t = bench(&config).waves(2).groups(3).run("a: nop\nhalt");
    let mut slots: Vec<_> =
        t.issues.iter().filter(|(_, _, e)| e.word == 0).map(|&(id, wave, e)| (id[0], wave, e.slot)).collect();
    slots.sort_unstable();
    assert_eq!(slots, [(0, 0, 0), (0, 1, 1), (1, 0, 2), (1, 1, 3), (2, 0, 0), (2, 1, 1)]);
    assert_eq!(t.report.occupancy.workgroups, 2);
}

#[test]
fn r2_a_wave_finds_registers_of_zero_its_arguments_and_poisoned_local_memory() {
    let mut config = machine();
    config.core.max_workgroups = 1;
    config.core.local_poison = 0xA5;
    let t = bench(&config).groups(2).with(3, 7).run(
        "mov_sr r1, sr_workgroup_id_x
        mov_imm r2, 16
        imul r1, r1, r2
        mov_imm r2, 4
        device_store_u32 r1, r9
        iadd r1, r1, r2
        device_store_u32 r1, r3
        iadd r1, r1, r2
        mov_imm r4, 0
        local_load_u32 r5, r4
        device_store_u32 r1, r5
        iadd r1, r1, r2
        if p1
        mov_imm r10, 1
        endif
        device_store_u32 r1, r10
        mov_imm r9, 1
        mov_imm r3, 1
        local_store_u32 r4, r9
        icmp_eq p1, r9, r9
        halt",
    );
    let words: Vec<u32> =
        t.memory[..32].chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
    assert_eq!(words, [0, 7, 0xA5A5_A5A5, 0, 0, 7, 0xA5A5_A5A5, 0]);
}

#[test]
fn r3_a_slot_is_free_when_nothing_of_its_wave_is_in_flight() {
    for latency in [1, 4] {
        let mut config = machine();
        config.dispatcher.latency_cycles = latency;
        config.core.max_workgroups = 1;
        // The slot is free in the cycle after the later of both. Then the message and the next workgroup take the
        // latency each.
        let next = 1 + 2 * u64::from(latency);
        // The division completes after the wave's last instruction.
        let t = bench(&config).groups(2).run("a: idiv r1, r2, r3\nb: halt");
        assert_eq!(t.all(0, "a", Fetch)[1], t.all(0, "a", Retire)[0] + next);
        // Nothing is in flight after the last instruction, or after the end mark.
        for halt in ["b: halt", "b: @!p1 halt", "b: nop"] {
            let t = bench(&config).groups(2).run(&format!("a: nop\n{halt}"));
            let end = t.all(0, "b", Issue)[0] + u64::from(halt == "b: nop");
            assert_eq!(t.all(0, "a", Fetch)[1], end + next, "{halt}");
        }
        // A store is over for the slot when the L1 has accepted it.
        let t = bench(&config).groups(2).run("a: device_store_u32 r1, r2\nb: halt");
        assert_eq!(t.all(0, "a", Fetch)[1], t.all(0, "a", Retire)[0] + next);
        // A workgroup ends with its last wave.
        let t = bench(&config).groups(2).waves(3).run("a: nop\nb: halt");
        let end = [0, 1, 2].map(|slot| t.all(slot, "b", Issue)[0]).into_iter().max();
        let start = [0, 1, 2].map(|slot| t.all(slot, "a", Fetch)[1]).into_iter().min();
        assert_eq!(start, end.map(|end| end + next));
    }
}

#[test]
fn r3_an_instruction_that_retires_about_the_end_of_its_wave() {
    for latency in 1..=6 {
        for nops in 0..6 {
            let mut config = with_int_latency(latency);
            config.core.max_workgroups = 1;
            let t =
                bench(&config).groups(2).run(&format!("a: iadd r1, r2, r3\n{}b: halt", "nop\n".repeat(nops)));
            // Relative to the issue of a, the halt issues at 1 + nops, and a retires at 2 + latency, before or after it.
            // The slot is free in the cycle after both: what retires in the cycle in which the wave ends is still in
            // flight for it.
            let [retire, halt] = [t.all(0, "a", Retire)[0], t.all(0, "b", Issue)[0]];
            let free = retire.max(halt) + 1;
            let next = 2 * u64::from(config.dispatcher.latency_cycles);
            assert_eq!(t.all(0, "a", Fetch)[1], free + next, "{latency} {nops}");
            // A wave counts as resident from the cycle after its arrival until the one in which its slot is freed.
            let arrivals = [u64::from(config.dispatcher.latency_cycles), free + next];
            let frees = [free, t.all(0, "a", Retire)[1].max(t.all(0, "b", Issue)[1]) + 1];
            let resident: u64 = frees.iter().zip(arrivals).map(|(free, arrival)| free - arrival).sum();
            assert_eq!(t.report.core.resident_wave_cycles, resident, "{latency} {nops}");
        }
    }
}

#[test]
fn r3_the_grid_is_done_when_the_last_message_is_back() {
    for latency in [1, 4] {
        let mut config = machine();
        config.dispatcher.latency_cycles = latency;
        // The wave ends in the cycle after the halt, or after the end mark, and the message takes the latency.
        let t = run(&config, "a: nop\nb: halt");
        assert_eq!(t.report.running_cycles(), t.at("b", Issue) + 1 + u64::from(latency) + 1);
        let t = run(&config, "a: nop\nb: nop");
        assert_eq!(t.report.running_cycles(), t.end_mark() + 1 + u64::from(latency) + 1);
    }
}
