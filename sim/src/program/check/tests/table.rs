//! Small kernels with the exact diagnostics. Each announces its own: see [`expect`].

use super::{CheckOptions, expect};

fn default(instructions: &str) {
    expect(instructions, &CheckOptions::default());
}

/// The first `count` registers are launch arguments of unknown use; here all 0.
fn arguments(count: u8) -> CheckOptions {
    let initial_registers = Some((0..count).map(|r| (r, 0)).collect());
    CheckOptions { initial_registers, ..CheckOptions::default() }
}

#[test]
fn structure() {
    default(
        "if p1              ;E this `if` is never closed
         halt",
    );
    default(
        "loop               ;E this `loop` is never closed
         break p1",
    );
    default(
        "loop
         endif              ;E `endif` without `if`
         break p1
         endloop",
    );
    default(
        "if p1
         loop               ;E this `loop` is still open at the `else` of line 6
         else
         endif",
    );
    default(
        "if p1
         continue p1        ;E `continue` outside a loop
         else
         else               ;E a second `else` of one `if`
         endif",
    );
}

#[test]
fn nesting_of_one_function() {
    let nested = |depth: usize, last: &str| {
        let mut text = "mov_imm r1, 1\nicmp_eq p1, r1, r1\n".to_owned();
        (1..depth).for_each(|_| text.push_str("if p1\n"));
        text.push_str(&format!("if p1 {last}\n"));
        (0..depth).for_each(|_| text.push_str("endif\n"));
        text
    };
    default(&nested(32, ""));
    default(&nested(33, ";E `if` and `loop` nest 33 deep here"));
    let shallow = CheckOptions { divergence_depth: 2, ..CheckOptions::default() };
    expect(&nested(3, ";E `if` and `loop` nest 3 deep here"), &shallow);
}

#[test]
fn nesting_across_calls() {
    let shallow = CheckOptions { divergence_depth: 2, ..CheckOptions::default() };
    expect(
        "mov_imm r1, 1
         icmp_eq p1, r1, r1
         if p1
         call f
         endif
         halt
      f: if p1
         if p1              ;E `if` and `loop` nest 3 deep here, counting what its callers have open
         endif
         endif
         return",
        &shallow,
    );
}

#[test]
fn call_depth() {
    let chain = |length: usize, last: &str| {
        let mut text = String::new();
        for f in 0..length {
            let call = if f + 1 == length { last } else { "" };
            text.push_str(&format!("f{f}: call f{} {call}\n", f + 1));
            text.push_str(if f == 0 { "halt\n" } else { "return\n" });
        }
        text + &format!("f{length}: return")
    };
    default(&chain(8, ""));
    default(&chain(9, ";E calls nest 9 deep here"));
    let report = expect(&chain(3, ""), &CheckOptions::default());
    assert_eq!((report.summary.max_call_depth, report.summary.functions), (3, 3));
}

#[test]
fn recursion() {
    default(
        "   call f
            halt
         f: nop
            call f          ;E a recursive call of the function at line 6 that never returns
            return",
    );
    default(
        "   mov_imm r1, 5
            mov_imm r2, 1
            call f
            halt
         f: icmp_gt p1, r1, r2
            if p1
            isub r1, r1, r2
            call f          ;W a recursive call of the function at line 8
            endif
            return",
    );
}

#[test]
fn functions() {
    // A return at the kernel's own level ends lanes and may stand anywhere.
    default(
        "mov_sr r1, sr_lane_id
         icmp_eq p1, r1, r0
         if p1
         return
         endif
         halt",
    );
    default(
        "   call f
            halt
         f: if p1           ;W p1 is read, but nothing has written it: it is 0
            endif
            return",
    );
    default(
        "   mov_imm r1, 1
            icmp_eq p1, r1, r1
            call f
            halt
         f: if p1
            return          ;E `return` inside an `if` or `loop` of line 8, in the function at line 8, which line 6 calls
            endif
            return",
    );
    default(
        "   call f
            halt
            if p1           ;W this instruction is never reached
         f: nop
            endif           ;E `endif` acts on an `if` or `loop` outside the function at line 7, which line 4 calls
            return          ;E `return` inside an `if` or `loop`, in the function at line 7, which line 4 calls
         ",
    );
    default(
        "   call f
            nop             ;W the kernel runs on into the function that line 4 calls
         f: return",
    );
    default(
        "   call f
            halt
         f: nop             ;W the function at line 6, which line 4 calls, runs past the end of the kernel, which ends the whole wave",
    );
    default(
        ".word 0x3F000070, 2  ;E illegal instruction: call target 0x2 is not an instruction of this kernel
         halt",
    );
    default(
        "call 0x4           ;E illegal instruction: call target 0x4 is not an instruction of this kernel
         halt",
    );
}

#[test]
fn unreachable() {
    default(
        "halt
         mov_imm r1, 1      ;W these 3 instructions, to line 7, are never reached
         device_store_u32 r1, r1
         halt",
    );
    // What only closes the text is no dead code; neither are the markers of a live `if`.
    default(
        "icmp_eq p1, r0, r0
         if p1
         halt
         else
         halt
         endif
         halt",
    );
    default(
        "icmp_eq p1, r0, r0
         if p1
         halt
         nop                ;W this instruction is never reached
         else
         return
         endif",
    );
    default(
        "loop               ;W this loop never ends: no `break`, `halt` or `return` leaves it
         nop
         endloop
         nop
         halt",
    );
    default(
        "icmp_eq p1, r0, r0
         loop
         @p1 halt
         endloop",
    );
    default(
        "icmp_eq p1, r0, r0
         loop               ;W this loop never ends: no `break`, `halt` or `return` leaves it
         loop
         break p1
         endloop
         endloop",
    );
    default(
        "   icmp_eq p1, r0, r0
            loop
            call f
            endloop
         f: @p1 halt
            return",
    );
    // An illegal instruction in dead code does nothing: no second message.
    default(
        "halt
         .word 0xFF000000   ;W these 2 instructions, to line 6, are never reached
         nop",
    );
}

#[test]
fn unwritten_registers() {
    // r0 and r1 are taken for arguments; r3 is written by one side only.
    let report = expect(
        "mov_sr r2, sr_workgroup_id_x
         icmp_lt p1, r2, r1
         if p1
         iadd r3, r2, r0
         endif
         device_store_u32 r2, r3   ;W r3 may be read before it is written: it is 0 on some path
         halt",
        &CheckOptions::default(),
    );
    assert_eq!(report.summary.assumed_arguments, [0, 1]);
    expect("iadd r2, r0, r1", &arguments(2));
    expect("iadd r2, r0, r1         ;W r1 is read, but nothing has written it: it is 0", &arguments(1));
    // An argument that a loop updates, below one that is certain.
    let report = expect(
        "loop
         iadd r0, r0, r1
         icmp_lt p0, r0, r1
         break !p0
         endloop
         device_store_u32 r0, r1",
        &CheckOptions::default(),
    );
    assert_eq!(report.summary.assumed_arguments, [0, 1]);
    // An accumulator that nobody set.
    default(
        "mov_imm r1, 0
         loop
         iadd r2, r2, r0          ;W r2 may be read before it is written: it is 0 on some path
         iadd r1, r1, r0
         icmp_ge p1, r1, r0
         break p1
         endloop
         device_store_u32 r1, r2",
    );
    // Rows of a wide operand.
    expect(
        "mov_imm r1, 0
         device_load_u64 r2, r1
         device_store_u128 r1, r2  ;W r4 is read, but nothing has written it: it is 0;W r5 is read, but nothing has written it: it is 0",
        &arguments(0),
    );
    default("atomic_add r0, r1 .device");
    expect(
        "mov_imm r1, 64
         local_atomic_add r1, r1
         iadd r2, r0, r1          ;W r0 is read, but nothing has written it: it is 0",
        &arguments(0),
    );
    default(
        "mma_compute f0, f1, f2    ;W A fragment f0 is read, but nothing has written it: it is 0;W B fragment f1 is read, but nothing has written it: it is 0
         mma_store_c r0, r1, f2",
    );
}

#[test]
fn registers_written_under_a_predicate() {
    // Both values of p1 write r2.
    default(
        "icmp_lt p1, r0, r1
         @p1 mov r2, r0
         @!p1 mov r2, r1
         device_store_u32 r0, r2",
    );
    // The store happens where the load did.
    default(
        "icmp_lt p1, r0, r1
         @p1 device_load_u32 r2, r0
         @p1 device_store_u32 r1, r2",
    );
    default(
        "icmp_lt p1, r0, r1
         if p1
         device_load_u32 r2, r0
         endif
         nop
         if p1
         device_store_u32 r1, r2
         else
         device_store_u32 r1, r2  ;W r2 may be read before it is written: it is 0 on some path
         endif",
    );
    // A new value of p1 says nothing of the old one.
    default(
        "icmp_lt p1, r0, r1
         @p1 device_load_u32 r2, r0
         icmp_gt p1, r0, r1
         @p1 device_store_u32 r1, r2  ;W r2 may be read before it is written: it is 0 on some path",
    );
    default(
        "icmp_lt p1, r0, r1
         @p1 mov r2, r0
         @p1 icmp_gt p1, r0, r1
         @!p1 mov r2, r1
         device_store_u32 r0, r2     ;W r2 may be read before it is written: it is 0 on some path",
    );
    // Lanes that go on past a halt or a break have the other value.
    default(
        "icmp_ge p1, r0, r1
         @!p1 mov r2, r0
         @p1 halt
         device_store_u32 r0, r2",
    );
    default(
        "icmp_ge p1, r0, r1
         loop
         @p1 mov r2, r0
         break p1
         endloop
         device_store_u32 r0, r2",
    );
    // Lanes that stay in the loop do not have r3 but never read it.
    default(
        "mov_imm r2, 0
         loop
         iadd r2, r2, r0
         icmp_ge p1, r2, r1
         @p1 mov r3, r2
         break p1
         endloop
         device_store_u32 r0, r3",
    );
    // Lanes that stay do read it here.
    default(
        "mov_imm r2, 0
         loop
         iadd r2, r2, r0
         icmp_ge p1, r2, r1
         @p1 mov r3, r2
         break p1
         device_store_u32 r0, r3     ;W r3 may be read before it is written: it is 0 on some path
         endloop",
    );
    // The function gives p1 another value.
    default(
        "   icmp_lt p1, r0, r1
            @p1 mov r2, r0
            call f
            @!p1 mov r2, r1
            device_store_u32 r0, r2  ;W r2 may be read before it is written: it is 0 on some path
            halt
         f: icmp_gt p1, r0, r1
            return",
    );
    default(
        "@!p1 mov r2, r0     ;W p1 is read, but nothing has written it: it is 0
         device_store_u32 r0, r2    ;W r2 may be read before it is written: it is 0 on some path",
    );
}

#[test]
fn registers_written_by_functions() {
    default(
        "   call f
            device_store_u32 r0, r2
            halt
         f: mov r2, r0
            return",
    );
    // r3 is written behind the first call only.
    default(
        "   call f
            mov_imm r3, 4
            call f
            device_store_u32 r0, r2
            device_store_u32 r0, r3
            halt
         f: mov r2, r0
            return",
    );
    default(
        "   icmp_lt p1, r0, r1
            call f
            device_store_u32 r0, r2  ;W r2 may be read before it is written: it is 0 on some path
            @p1 device_store_u32 r0, r3  ;W r3 may be read before it is written: it is 0 on some path
            halt
         f: if p1
            mov r2, r0
            endif
            @p1 mov r3, r0
            return",
    );
}

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
    // The waves differ, the lanes of each do not; 64 threads are two waves.
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
    // Lanes that have ended do not count.
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
    // A loop that all lanes leave together, with a divergent `if` beside the barrier.
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
    // A lane that may have ended is not masked off: not certain.
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
    // Known values that a guard mixes.
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
    // A uniform guard leaves the difference that was there.
    default(
        "mov_sr r2, sr_lane_id
         icmp_lt p2, r0, r1
         @p2 mov_imm r2, 1
         icmp_lt p1, r2, r0
         if p1
         barrier            ;W this barrier is in the `if` of line 8, which may part the lanes of a wave
         endif",
    );
    // Values written by one side of a divergent if differ afterwards; those that nobody wrote do not.
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
    // The same by a guard, and through loads, atomics and lane exchanges.
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
    // The counter is the same in all lanes that are left, but not in those that have left.
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
    // Lanes that continued do not have the new r2 in the next round.
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
    // A value that differs from the second round on.
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
    // A break that a guard narrows.
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
    // Break under a divergent if, though its own predicate is the same in all lanes.
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
    // Lanes that continue do not see the break behind it.
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
    // A function's results: r2 is as its call has it, r3 differs.
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
    // What a function writes under a divergent call.
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
    // y is 0 or 1, so that no wave is parted.
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
    // Without a size only lanes are known.
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

/// The most live registers, and the source line.
fn live(instructions: &str) -> (u32, String) {
    let report = expect(instructions, &CheckOptions::default());
    (report.summary.max_live_registers, report.summary.max_live_at.unwrap_or_default())
}

#[test]
fn register_pressure() {
    // r0 and r1 in, r2 and r3 live together with r1.
    let straight = "iadd r2, r0, r1
         iadd r3, r0, r1
         iadd r4, r2, r3
         iadd r4, r4, r1
         device_store_u32 r1, r4";
    assert_eq!(live(straight), (3, "line 4".to_owned()));
    // The else side waits for r2 and r3 while the other needs r0, r1, r4.
    let sides = |condition: &str| {
        format!(
            "mov_imm r2, 2
             mov_imm r3, 3
             mov_sr r4, {condition}
             icmp_lt p1, r4, r0
             if p1
             mov r4, r0
             mov r5, r0
             mov r6, r0
             iadd r4, r5, r6
             device_store_u32 r0, r4
             else
             device_store_u32 r2, r3
             endif"
        )
    };
    assert_eq!(live(&sides("sr_workgroup_id_x")), (4, "line 6".to_owned()));
    assert_eq!(live(&sides("sr_lane_id")), (5, "line 11".to_owned()));
    // A guarded write does not free the register: lanes outside keep r2.
    let guarded = "mov_imm r2, 2
         icmp_lt p1, r0, r1
         mov r3, r1
         @p1 mov r2, r0
         device_store_u32 r3, r2";
    assert_eq!(live(guarded), (3, "line 4".to_owned()));
    // A pair, read and written: r0, r2, r3, and for a moment r4, r5.
    let wide = "device_load_u64 r2, r0
         device_load_u64 r4, r0
         device_store_u64 r0, r2
         device_store_u64 r0, r4";
    assert_eq!(live(wide), (5, "line 5".to_owned()));
}

#[test]
fn register_pressure_across_calls() {
    // Behind the first call r4 is needed, behind the second r5 and r6: never all in the function.
    let calls = "   mov_imm r4, 4
            call f
            device_store_u32 r0, r4
            mov_imm r5, 5
            mov_imm r6, 6
            call f
            device_store_u32 r5, r6
            halt
         f: mov r7, r0
            mov r8, r0
            device_store_u32 r7, r8
            return";
    // In the function: r0, r4, r5, r6, r7, r8, as it does not know its caller.
    assert_eq!(live(calls), (6, "line 13".to_owned()));
    // What the code behind the second call needs is not needed before the first.
    let before = "   mov_imm r2, 2
            mov_imm r3, 3
            mov_imm r7, 7
            mov_imm r8, 8
            iadd r2, r2, r3
            iadd r7, r7, r8
            device_store_u32 r2, r7
            call f
            mov_imm r5, 5
            mov_imm r6, 6
            call f
            device_store_u32 r5, r6
            halt
         f: device_store_u32 r0, r0
            return";
    assert_eq!(live(before), (5, "line 7".to_owned()));
    // A caller's waiting lanes: r2, r3 while the function has r0, r7, r8.
    let waiting = "   mov_imm r2, 2
            mov_imm r3, 3
            mov_sr r4, sr_lane_id
            icmp_lt p1, r4, r0
            if p1
            call f
            else
            device_store_u32 r2, r3
            endif
            halt
         f: mov r7, r0
            mov r8, r0
            mov r9, r0
            iadd r7, r7, r9
            device_store_u32 r7, r8
            return";
    assert_eq!(live(waiting), (5, "line 15".to_owned()));
}
