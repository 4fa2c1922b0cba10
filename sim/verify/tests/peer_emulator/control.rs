//! Control flow, barriers, calls and the ends of kernels.

use super::Bench;

#[test]
fn halt_in_a_branch_ends_the_whole_wave() {
    // Instruction set, section 5: participating lanes end for good, the others continue.
    let bench = Bench::per_lane("mov_imm r10, 5\nif p1\nhalt\nendif");
    bench.deviate([0; 8], [0, 0, 0, 0, 5, 5, 5, 5]);
    // The same if no lane is active.
    let bench = Bench::per_lane("mov_imm r10, 5\nicmp_lt p2, r2, r2\nif p2\nhalt\nendif");
    bench.deviate([0; 8], [5; 8]);
}

#[test]
fn return_outside_a_call_ends_the_whole_wave() {
    let bench = Bench::per_lane("mov_imm r10, 5\nif p1\nreturn\nendif");
    bench.deviate([0; 8], [0, 0, 0, 0, 5, 5, 5, 5]);
}

#[test]
fn halted_lanes_come_back_at_endif() {
    let bench = Bench::per_lane("mov_imm r10, 5\nicmp_eq p2, r1, r2\nif p1\n@p2 halt\nendif\nmov_imm r10, 6");
    bench.deviate([6; 8], [6, 0, 6, 6, 6, 6, 6, 6]);
}

#[test]
fn lanes_that_break_inside_an_if_come_back_at_its_endif() {
    let bench = Bench::per_lane(
        "loop
           icmp_eq p2, r2, r2
           if p1
             break p2
           endif
           iadd r10, r10, r2
           break p2
         endloop",
    );
    bench.deviate([1; 8], [0, 0, 0, 0, 1, 1, 1, 1]);
}

#[test]
fn lanes_that_continue_are_lost_and_the_others_sent_to_the_head() {
    // Lanes 0 to 3 skip the end of the body. The reference continues without them, and skips the end of the
    // body for the other lanes too, so no lane finishes the loop of lanes 0 to 3.
    let bench = Bench::per_lane(
        "mov_imm r5, 2
         loop
           iadd r4, r4, r2
           icmp_ge p3, r4, r5
           break p3
           continue p1
           iadd r10, r10, r2
         endloop",
    );
    assert!(bench.peer().0.is_err_and(|e| e.contains("instruction limit")));
    let (ours, memory) = bench.ours();
    assert_eq!((ours, [0, 12, 16, 28].map(|at| super::word(&memory, at))), (Ok(()), [0, 0, 1, 1]));
}

#[test]
fn a_guarded_break_does_not_take() {
    let bench = Bench::per_lane(
        "loop
           icmp_eq p2, r2, r2
           @p1 break p2
           iadd r10, r10, r2
           break p2
         endloop",
    );
    bench.deviate([1; 8], [0, 0, 0, 0, 1, 1, 1, 1]);
}

#[test]
fn calls_and_barriers_act_without_active_lanes() {
    // Wave 1 has ended, and wave 0 has no active lane at the barrier.
    let mut bench = Bench::per_lane(
        "mov_sr r4, sr_wave_id
         icmp_eq p2, r4, r2
         @p2 halt
         if p2
           barrier
         endif",
    );
    bench.threads = 16;
    assert!(bench.peer().0.is_err_and(|e| e.contains("deadlock")));
    assert_eq!(bench.ours().0, Ok(()));
    // A recursion that no lane needs.
    let bench = Bench::per_lane("icmp_ne p2, r2, r2\nagain: if p2\ncall again\nendif");
    assert!(bench.peer().0.is_err_and(|e| e.contains("overflow")));
    assert_eq!(bench.ours().0, Ok(()));
}

#[test]
fn a_barrier_waits_for_waves_that_have_ended() {
    let mut bench = Bench::per_lane("mov_sr r4, sr_wave_id\nicmp_eq p2, r4, r2\n@p2 halt\nbarrier");
    bench.threads = 16;
    assert!(bench.peer().0.is_err_and(|e| e.contains("deadlock")));
    assert_eq!(bench.ours().0, Ok(()));
}

#[test]
fn a_barrier_in_divergence_is_accepted() {
    let bench = Bench::per_lane("if p1\nbarrier\nendif");
    assert_eq!(bench.peer().0, Ok(()));
    assert!(bench.ours().0.is_err_and(|e| e.contains("a barrier that only some")));
}

#[test]
fn running_past_the_end_is_an_error() {
    let bench = Bench::new("nop");
    assert!(bench.peer().0.is_err());
    assert_eq!(bench.ours().0, Ok(()));
}

#[test]
fn a_kernel_runs_on_into_the_next() {
    let mut bench = Bench::new("mov_imm r1, 7\ndevice_store_u32 r0, r1");
    bench.text += ".kernel second\n.registers 32\nmov_imm r1, 8\ndevice_store_u32 r0, r1\nhalt\n.end\n";
    bench.deviate([8, 0, 0, 0, 0, 0, 0, 0], [7, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn calls_of_a_later_kernel_go_astray() {
    let mut bench = Bench::new("nop\nnop\nnop\nhalt");
    bench.text += ".kernel second\n.registers 32\ncall sub\nhalt\nsub: mov_imm r1, 8\ndevice_store_u32 r0, r1\nreturn\n.end\n";
    let (peer, memory) = bench.peer_kernel(1);
    assert!(peer.is_err() || super::word(&memory, 0) == 0, "{peer:?}");
    let (ours, memory) = bench.ours_kernel(1);
    assert_eq!((ours, super::word(&memory, 0)), (Ok(()), 8));
}

#[test]
fn a_return_at_another_depth_is_accepted() {
    let bench = Bench::per_lane("call sub\nendif\nmov_imm r10, 3\nhalt\nsub: if p1\nreturn\nendif");
    assert_eq!(bench.peer().0, Ok(()));
    assert!(bench.ours().0.is_err_and(|e| e.contains("a return with other ifs")));
}

#[test]
fn guards_on_p0_and_on_branches_are_dropped_or_accepted() {
    let bench = Bench::per_lane("@p0 mov_imm r10, 5");
    let (peer, memory) = bench.peer();
    assert_eq!((peer, super::word(&memory, 0)), (Ok(()), 5), "unconditional, although p0 is false");
    assert_eq!(bench.ours(), (Ok(()), memory), "as its bits say, with a warning of the assembler");

    let bench = Bench::per_lane("@p1 if p1\nendif");
    assert_eq!(bench.peer().0, Ok(()));
    assert!(bench.ours().0.is_err_and(|e| e.contains("guard")));
}

#[test]
fn negated_branch_predicates_are_unknown() {
    let bench = Bench::per_lane("if !p1\nmov_imm r10, 5\nendif");
    assert!(bench.peer().0.is_err());
    assert_eq!(bench.ours().0, Ok(()));
}
