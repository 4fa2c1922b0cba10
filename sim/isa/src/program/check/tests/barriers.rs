//! Barriers that all lanes of a wave reach, and others.

use super::{CheckOptions, default, expect};

#[test]
fn barriers_where_all_lanes_come_by() {
    // Uniform conditions: the workgroup, an argument, a value loaded from one address, a vote.
    default(
        "mov_sr r2, sr_workgroup_id_x
         icmp_lt p1, r2, r0
         if p1
         barrier
         endif
         device_load_u32 r3, r1
         icmp_lt p1, r3, r0
         if p1
         barrier
         endif
         mov_sr r4, sr_thread_id_x
         icmp_lt p1, r4, r0
         wave_any p2, p1
         if p2
         barrier
         endif
         wave_reduce_add r5, r4
         wave_shuffle r6, r4, r2
         icmp_lt p1, r5, r6
         if p1
         barrier
         endif",
    );
    // The waves differ, but not the lanes of a wave; 64 threads are two waves.
    default(
        "mov_sr r1, sr_wave_id
         mov_imm r2, 1
         icmp_lt p1, r1, r2
         if p1
         barrier
         endif
         mov_sr r1, sr_thread_id_x
         mov_imm r2, 32
         icmp_lt p1, r1, r2
         if p1
         barrier
         endif",
    );
    // Ended lanes do not count.
    default(
        "mov_sr r1, sr_thread_id_x
         icmp_ge p1, r1, r0
         @p1 halt
         barrier
         if p1
         halt
         endif
         barrier",
    );
    // A loop that all lanes leave together, and a divergent `if` beside the barrier.
    default(
        "mov_sr r1, sr_lane_id
         icmp_lt p1, r1, r0
         mov_imm r2, 0
         mov_imm r3, 1
         loop
         if p1
         local_store_u32 r1, r2
         endif
         barrier
         iadd r2, r2, r3
         icmp_ge p2, r2, r0
         break p2
         endloop",
    );
    // A guarded barrier is executed for the whole wave.
    default(
        "mov_sr r1, sr_lane_id
         icmp_lt p1, r1, r0
         @p1 barrier",
    );
}

#[test]
fn barriers_in_divergent_ifs() {
    default(
        "mov_sr r1, sr_lane_id
         icmp_lt p1, r1, r0
         if p1
         else
         barrier            ;W this barrier is in the `if` of line 6, which may part the lanes of a wave
         endif",
    );
    default(
        "mov_sr r1, sr_thread_id_x
         mov_imm r2, 33
         icmp_lt p1, r1, r2
         if !p1
         nop
         else
         barrier            ;E this barrier is reached by lane 0 of wave 1 without lanes 1 to 31
         endif",
    );
    default(
        "mov_sr r1, sr_lane_id
         mov_imm r2, 1
         and r3, r1, r2
         icmp_eq p1, r3, r2
         if p1
         barrier            ;E this barrier is reached by lanes 1, 3, 5, … of wave 0 without lanes 0, 2, 4, …
         endif",
    );
    // A lane that may have ended is not masked off, so nothing is certain.
    default(
        "mov_sr r1, sr_lane_id
         mov_imm r2, 1
         icmp_lt p1, r1, r2
         @!p1 halt
         if p1
         barrier            ;W this barrier is in the `if` of line 8, which may part the lanes of a wave
         endif",
    );
    default(
        "mov_sr r1, sr_lane_id
         mov_imm r2, 1
         icmp_lt p1, r1, r2
         if p1
         halt
         endif
         if !p1
         barrier            ;W this barrier is in the `if` of line 10, which may part the lanes of a wave
         endif",
    );
    // Known values merged by a guard.
    default(
        "mov_sr r1, sr_lane_id
         mov_imm r2, 4
         icmp_lt p1, r1, r2
         @p1 mov_imm r2, 5
         mov_imm r3, 5
         icmp_eq p1, r2, r3
         if p1
         barrier            ;E this barrier is reached by lanes 0 to 3 of wave 0 without lanes 4 to 31
         endif",
    );
    // A uniform guard keeps the earlier difference.
    default(
        "mov_sr r2, sr_lane_id
         icmp_lt p2, r0, r1
         @p2 mov_imm r2, 1
         icmp_lt p1, r2, r0
         if p1
         barrier            ;W this barrier is in the `if` of line 8, which may part the lanes of a wave
         endif",
    );
    // Values written on one side of a divergent `if` differ afterwards; others do not.
    default(
        "mov_sr r1, sr_lane_id
         icmp_lt p1, r1, r0
         mov_imm r2, 0
         mov_imm r3, 0
         if p1
         mov_imm r2, 1
         endif
         icmp_lt p2, r3, r0
         if p2
         barrier
         endif
         icmp_lt p2, r2, r0
         if p2
         barrier            ;W this barrier is in the `if` of line 16, which may part the lanes of a wave
         endif",
    );
    // Likewise by a guard, and through loads, atomics and lane exchanges.
    for different in [
        "@p1 mov_imm r2, 1",
        "device_load_u32 r2, r1",
        "local_atomic_add r2, r0, r0",
        "wave_prefix_sum r2, r0",
        "wave_shuffle_up r2, r0, r0",
        "wave_shuffle r2, r0, r1",
        "select r2, p1, r0, r1",
        "@p1 wave_reduce_add r2, r0",
        "@p1 wave_ballot r2, p0",
    ] {
        default(&format!(
            "mov_sr r1, sr_lane_id
             icmp_lt p1, r1, r0
             mov_imm r2, 0
             icmp_eq p0, r2, r2
             {different}
             icmp_lt p2, r2, r0
             if p2
             barrier        ;W this barrier is in the `if` of line 10, which may part the lanes of a wave
             endif
             device_store_u32 r2, r0"
        ));
    }
}

#[test]
fn barriers_in_divergent_loops() {
    default(
        "mov_sr r1, sr_lane_id
         loop
         barrier            ;W this barrier is in a loop that lanes of a wave may leave at different times, by the `break` of line 9
         iadd r1, r1, r0
         icmp_ge p1, r1, r0
         break p1
         endloop
         barrier",
    );
    // The counter is uniform among lanes in the loop, but not among those that have left.
    default(
        "mov_sr r1, sr_lane_id
         mov_imm r2, 0
         loop
         iadd r2, r2, r0
         icmp_ge p1, r2, r1
         break p1
         endloop
         icmp_lt p2, r2, r0
         if p2
         barrier            ;W this barrier is in the `if` of line 12, which may part the lanes of a wave
         endif",
    );
    // Lanes that continued lack the new r2 in the next iteration.
    default(
        "mov_sr r1, sr_lane_id
         icmp_lt p1, r1, r0
         icmp_eq p3, r0, r0
         mov_imm r2, 0
         loop
         icmp_lt p2, r2, r0
         if p2
         barrier            ;W this barrier is in the `if` of line 10, which may part the lanes of a wave
         endif
         continue p1
         mov_imm r2, 1
         @p3 halt
         endloop",
    );
    // A value that differs from the second iteration on.
    default(
        "mov_sr r1, sr_lane_id
         mov r2, r0
         icmp_eq p3, r0, r0
         icmp_lt p2, r2, r0
         loop
         icmp_lt p2, r2, r0
         if p2
         barrier            ;W this barrier is in the `if` of line 10, which may part the lanes of a wave
         endif
         iadd r2, r0, r1
         break p3
         endloop",
    );
    // A break narrowed by a guard.
    default(
        "mov_sr r1, sr_lane_id
         icmp_lt p1, r1, r0
         icmp_eq p2, r0, r0
         loop
         @p1 break p2
         barrier            ;W this barrier is in a loop that lanes of a wave may leave at different times, by the `break` of line 8
         break p2
         endloop",
    );
    // A break under a divergent `if`, although its own predicate is uniform.
    default(
        "mov_sr r1, sr_lane_id
         icmp_lt p1, r1, r0
         icmp_eq p2, r0, r0
         loop
         if p1
         break p2
         endif
         barrier            ;W this barrier is in a loop that lanes of a wave may leave at different times, by the `break` of line 9
         break p2
         endloop",
    );
    default(
        "mov_sr r1, sr_lane_id
         icmp_lt p1, r1, r0
         icmp_eq p2, r0, r0
         loop
         barrier
         continue p1
         barrier            ;W lanes may miss this barrier, with the `continue` of line 9
         @p2 halt
         endloop",
    );
    // Lanes that continue do not reach the break behind it.
    default(
        "mov_sr r1, sr_lane_id
         icmp_lt p1, r1, r0
         icmp_eq p2, r0, r0
         loop
         barrier            ;W this barrier is in a loop that lanes of a wave may leave at different times, by the `break` of line 10
         continue p1
         break p2
         endloop",
    );
}

#[test]
fn barriers_in_functions() {
    default(
        "   mov_sr r1, sr_lane_id
            icmp_lt p1, r1, r0
            call f
            if p1
            call g
            endif
            halt
         f: barrier
            return
         g: nop
            call h
            return
         h: barrier         ;W this barrier is in a function that line 14 calls where lanes of a wave may be masked off
            return",
    );
    // Results of a function: r2 depends on the call, r3 differs.
    default(
        "   mov_imm r2, 0
            call f
            icmp_lt p1, r2, r0
            if p1
            barrier
            endif
            icmp_lt p1, r3, r0
            if p1
            barrier         ;W this barrier is in the `if` of line 11, which may part the lanes of a wave
            endif
            halt
         f: mov_sr r3, sr_lane_id
            return",
    );
    // Writes of a function under a divergent call.
    default(
        "   mov_sr r1, sr_lane_id
            icmp_lt p1, r1, r0
            mov r2, r0
            if p1
            call f
            endif
            icmp_lt p1, r2, r0
            if p1
            barrier         ;W this barrier is in the `if` of line 11, which may part the lanes of a wave
            endif
            halt
         f: mov_imm r2, 1
            return",
    );
    default(
        "   mov_sr r1, sr_lane_id
            icmp_lt p1, r1, r0
            if p1
            call f
            endif
            halt
         f: @!p1 halt       ;W `halt` in a function that line 7 calls where lanes may wait
            return",
    );
}

#[test]
fn threads_of_a_workgroup() {
    // y is 0 or 1, so no wave diverges.
    let block = CheckOptions { wave_width: 16, workgroup: Some([4, 2, 4]), ..CheckOptions::default() };
    expect(
        "mov_sr r1, sr_thread_id_y
         mov_imm r2, 2
         icmp_ge p1, r1, r2
         if p1
         barrier
         endif
         mov_sr r1, sr_thread_id_z
         icmp_ge p1, r1, r2
         if p1
         barrier
         endif
         mov_imm r2, 3
         icmp_ge p1, r1, r2
         if p1
         barrier            ;E this barrier is reached by lanes 8 to 15 of wave 1 without lanes 0 to 7
         endif",
        &block,
    );
    // Without a size only lane numbers are known.
    let unknown = CheckOptions { workgroup: Some([0; 3]), ..CheckOptions::default() };
    expect(
        "mov_sr r1, sr_thread_id_x
         mov_imm r2, 32
         icmp_lt p1, r1, r2
         if p1
         barrier            ;W this barrier is in the `if` of line 7, which may part the lanes of a wave
         endif
         mov_sr r1, sr_lane_id
         icmp_lt p1, r1, r2
         if p1
         barrier
         endif",
        &unknown,
    );
}
