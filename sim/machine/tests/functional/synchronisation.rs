//! Waves that wait for one another get on as on the cores, in any order that their program asks for; and if none can,
//! the run says so.

use super::{Kernel, kernel, tiny, word};
use wave_machine::core::occupancy::Occupancy;
use wave_machine::core::report::WaitsFor;
use wave_machine::functional::{ExecutionError, Standstill};

/// Places for workgroups of this kernel on the whole machine.
fn places(kernel: &Kernel) -> u32 {
    let config = tiny();
    config.cores * Occupancy::of(&config, &kernel.launch).expect("it fits").workgroups
}

fn standstill(kernel: &Kernel) -> Standstill {
    match kernel.run(&tiny(), &mut [0; 4096]) {
        Err(ExecutionError::NoProgress(standstill)) => *standstill,
        other => panic!("{other:?}"),
    }
}

/// Each wave of the grid waits until the one before it has passed a token on: from the last to the first.
#[test]
fn a_token_goes_from_the_last_wave_to_the_first() {
    for (groups, threads) in [(1, 32), (4, 8), (3, 16)] {
        let waves = groups * threads / 8;
        let ring = kernel(
            &format!(
                "mov_sr r1, sr_workgroup_id_x
                mov_sr r2, sr_num_waves
                mov_sr r3, sr_wave_id
                imad r1, r1, r2, r3
                mov_imm r2, {}
                isub r1, r2, r1
                mov_imm r2, 64
                loop
                    device_load_u32 r4, r2
                    ucmp_eq p1, r4, r1
                    break p1
                endloop
                mov_imm r5, 1
                iadd r1, r1, r5
                device_store_u32 r2, r1
                halt",
                waves - 1
            ),
            groups,
            threads,
        );
        let mut memory = vec![0; 4096];
        ring.run(&tiny(), &mut memory).unwrap();
        assert_eq!(word(&memory, 64), waves);
    }
}

/// A lock taken with exchanges that leave it as it is while another holds it, around a counter in memory.
const LOCKED: &str = "
    mov_imm r1, 64
    mov_imm r2, 1
    mov_imm r3, 0
    mov_imm r8, 0
    mov_imm r9, 20
    mov_sr r10, sr_lane_id
    icmp_eq p2, r10, r3
    if p2
    loop
        loop
            atomic_exchange r4, r1, r2, .device
            icmp_eq p1, r4, r3
            break p1
        endloop
        device_load_u32 r5, r1
        mov_imm r6, 68
        device_load_u32 r5, r6
        BETWEEN
        iadd r5, r5, r2
        device_store_u32 r6, r5
        atomic_exchange r4, r1, r3, .device
        iadd r8, r8, r2
        icmp_ge p1, r8, r9
        break p1
    endloop
    endif
    halt";

#[test]
fn a_lock_keeps_waves_apart() {
    // So much between load and store that a turn ends there.
    for between in ["", "mov_imm r7, 3000\nloop\nisub r7, r7, r2\nicmp_eq p1, r7, r3\nbreak p1\nendloop"] {
        let kernel = kernel(&LOCKED.replace("BETWEEN", between), 6, 16);
        let mut memory = vec![0; 4096];
        kernel.run(&tiny(), &mut memory).unwrap();
        assert_eq!((word(&memory, 64), word(&memory, 68)), (0, 6 * 2 * 20));
    }
}

/// A barrier of the whole grid, ten times, with an atomic counter that all poll.
const GRID_BARRIER: &str = "
    mov_sr r1, sr_thread_id_x
    mov_imm r2, 0
    mov_imm r3, 1
    mov_imm r4, 128
    mov_imm r5, 0
    mov_sr r6, sr_grid_size_x
    mov_imm r9, 10
    icmp_eq p2, r1, r2
    loop
        iadd r5, r5, r6
        if p2
            atomic_add r4, r3, .device
            loop
                device_load_u32 r7, r4
                ucmp_ge p1, r7, r5
                break p1
            endloop
        endif
        barrier
        isub r9, r9, r3
        icmp_eq p1, r9, r2
        break p1
    endloop
    halt";

#[test]
fn as_many_workgroups_as_the_machine_holds_meet_and_one_more_does_not() {
    let places = places(&kernel(GRID_BARRIER, 1, 16));
    assert!(places > 2, "{places}");
    let mut memory = vec![0; 4096];
    kernel(GRID_BARRIER, places, 16).run(&tiny(), &mut memory).unwrap();
    assert_eq!(word(&memory, 128), 10 * places);

    let standstill = standstill(&kernel(GRID_BARRIER, places + 1, 16));
    assert_eq!(standstill.workgroups, (0, u64::from(places) + 1));
    assert_eq!(standstill.waves.len(), 2 * places as usize);
    for wave in &standstill.waves {
        match wave.wave {
            0 => assert_eq!(wave.waits_for, WaitsFor::Turn),
            _ => assert_eq!(wave.waits_for, WaitsFor::Barrier(vec![0])),
        }
    }
    assert_eq!(standstill.doing.len(), places as usize);
    assert!(
        standstill.doing.iter().all(|d| d.reads.len() == 1 && d.reads[0].1 == 128 && d.writes.is_empty())
    );
}

#[test]
fn waves_that_repeat_for_ever_are_found() {
    // An endless loop without memory; one behind which others wait; a poll of local memory; two waves that each hold
    // what the other wants; a loop around a loop.
    let deadlock = "
        mov_sr r1, sr_wave_id
        mov_imm r2, 2
        shl r3, r1, r2
        mov_imm r4, 4
        xor r5, r3, r4
        mov_imm r6, 1
        atomic_exchange r7, r3, r6, .device
        barrier
        mov_imm r8, 0
        loop
            atomic_cas r7, r5, r8, r6, .device
            icmp_eq p1, r7, r8
            break p1
        endloop";
    let nested = "
        mov_imm r1, 0
        mov_imm r2, 1
        loop
            mov_imm r3, 5
            loop
                isub r3, r3, r2
                icmp_eq p1, r3, r1
                break p1
            endloop
            local_load_u32 r4, r1
            icmp_eq p1, r4, r2
            break p1
        endloop";
    for body in [
        "loop\nnop\nendloop",
        "mov_sr r1, sr_wave_id\nmov_imm r2, 1\nicmp_eq p1, r1, r2\nif p1\nloop\nnop\nendloop\nendif\nbarrier",
        "mov_imm r1, 8\nloop\nlocal_load_u32 r2, r1\nicmp_eq p1, r2, r1\nbreak p1\nendloop",
        deadlock,
        nested,
    ] {
        let standstill = standstill(&kernel(body, 1, 16));
        assert_eq!(standstill.workgroups, (0, 1), "{body}");
        assert_eq!(standstill.waves.len(), 2, "{body}");
    }
}

/// What ends by itself is no standstill, however long nothing is written.
#[test]
fn a_loop_that_counts_comes_to_its_end() {
    let body = "
        mov_imm r1, 0
        mov_imm r2, 1
        mov_imm r3, 50000
        mov_imm r6, 0
        loop
            iadd r1, r1, r2
            device_load_u32 r4, r6
            icmp_ge p1, r1, r3
            break p1
        endloop
        device_store_u32 r6, r1
        halt";
    let mut memory = vec![0; 4096];
    kernel(body, 3, 16).run(&tiny(), &mut memory).unwrap();
    assert_eq!(word(&memory, 0), 50000);
}

/// A wave goes round the same registers while only a matrix fragment changes: no standstill.
#[test]
fn a_loop_that_changes_a_fragment_is_no_standstill() {
    let body = "
        mov_imm r1, 0
        mov_imm r2, 1.0
        mov_imm r3, 4
        mov_sr r9, sr_lane_id
        mov_imm r4, 64
        imul r5, r9, r4
        mov_imm r10, 16
        mov_imm r6, 2000.0
        loop
            mma_store_c r5, r10, f0
            local_load_u32 r7, r5
            fcmp_ge p1, r7, r6
            break p1
            local_store_u32 r5, r2
            mma_load_a f0, r5, r10
            mma_load_b f0, r5, r10
            mma_compute f0, f0, f0
            local_store_u32 r5, r1
            mov r7, r1
        endloop
        device_store_u32 r1, r7
        halt";
    let mut config = tiny();
    config.capabilities.mma = true;
    let mut kernel = kernel(body, 1, 1);
    kernel.launch.local_memory_bytes = 1024;
    let mut memory = vec![0; 4096];
    kernel.run(&config, &mut memory).unwrap();
    assert_eq!(f32::from_bits(word(&memory, 0)), 2000.0);
}

#[test]
fn ended_waves_release_a_barrier_and_local_memory_begins_poisoned() {
    let body = "
        mov_sr r1, sr_wave_id
        mov_imm r2, 0
        mov_imm r3, 2
        icmp_eq p1, r1, r2
        @!p1 halt
        barrier
        mov_sr r4, sr_lane_id
        shl r4, r4, r3
        local_load_u32 r5, r4
        device_store_u32 r4, r5
        local_store_u32 r4, r1
        halt";
    let mut config = tiny();
    config.core.local_poison = 0xC3;
    let mut memory = vec![0; 4096];
    let report = kernel(body, 3, 24).run(&config, &mut memory).unwrap();
    assert_eq!((report.counters.barriers, report.counters.workgroups), (3, 3));
    assert_eq!(word(&memory, 28), 0xC3C3_C3C3);
}
