//! Memory, atomics, wave operations, registers and launches.

use super::{Bench, word};

#[test]
fn compare_and_swap_adds() {
    // The published assembler encodes the instruction with the opcode of atomic_add, and adds a second word
    // that is then executed as an instruction.
    let mut bench = Bench::new("mov_imm r2, 7\nmov_imm r3, 9\natomic_cas r4, r0, r2, r3, .device\nhalt");
    bench.threads = 1;
    bench.memory[0] = 7;
    bench.deviate([14, 0, 0, 0, 0, 0, 0, 0], [9, 0, 0, 0, 0, 0, 0, 0]);
    let bench = Bench::per_lane(
        "mov_imm r4, 8
         local_store_u32 r4, r3
         @p1 local_atomic_cas r5, r4, r3, r2
         nop
         local_load_u32 r10, r4",
    );
    bench.deviate([20; 8], [1; 8]);
}

#[test]
fn misaligned_atomics_are_accepted() {
    let bench = Bench::new("mov_imm r1, 2\natomic_add r1, r1, .device\nhalt");
    assert_eq!(bench.peer().0, Ok(()));
    assert!(bench.ours().0.is_err_and(|e| e.contains("no multiple of 4")));
}

#[test]
fn an_access_outside_memory_leaves_the_lanes_before_it_stored() {
    let bench =
        Bench::new("mov_sr r1, sr_lane_id\nmov_imm r2, 252\niadd r1, r1, r2\ndevice_store_u8 r1, r2\nhalt");
    let ((peer, peer_memory), (ours, our_memory)) = (bench.peer(), bench.ours());
    assert!(peer.is_err() && ours.is_err());
    assert_eq!((word(&peer_memory, 252), word(&our_memory, 252)), (0xFCFC_FCFC, 0));
}

#[test]
fn shuffle_distances_do_not_wrap() {
    let bench = Bench::per_lane("mov_imm r4, -3\nwave_shuffle_up r10, r1, r4");
    bench.deviate([0; 8], [3, 4, 5, 6, 7, 0, 0, 0]);
    // The sum overflows, which stops a build with overflow checks.
    let bench = Bench::per_lane("mov_imm r4, -3\nwave_shuffle_down r10, r1, r4");
    assert_eq!(bench.ours().0, Ok(()));
    let (peer, memory) = bench.peer();
    assert!(peer == Err("panic".into()) || word(&memory, 16) == 1);
}

#[test]
fn ballots_of_64_lanes_lose_the_high_half() {
    let mut bench = Bench::new(
        "mov_imm r11, 77
         mov_imm r2, 40
         mov_sr r1, sr_lane_id
         ucmp_lt p1, r2, r1
         wave_ballot r10, p1
         device_store_u64 r0, r10
         halt",
    );
    (bench.wave_width, bench.threads) = (64, 64);
    bench.deviate([0, 77, 0, 0, 0, 0, 0, 0], [0, 0xFFFF_FE00, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn registers_past_the_declared_ones_read_0_and_take_nothing() {
    let mut bench = Bench::per_lane("mov_imm r9, 5\nmov r10, r9");
    bench.text = bench.text.replace("r30", "r7").replace("r31", "r6").replace("r10", "r5");
    bench.text = bench.text.replace(".registers 32", ".registers 8");
    let (peer, memory) = bench.peer();
    assert_eq!((peer, word(&memory, 0)), (Ok(()), 0));
    assert!(bench.ours().0.is_err_and(|e| e.contains("r9")));
}

#[test]
fn more_than_32_registers_cannot_be_named() {
    let bench = Bench::new("mov_imm r32, 1\nhalt");
    assert!(bench.peer().0.is_err());
    let mut bench = Bench::new("mov_imm r255, 1\nhalt");
    bench.text = bench.text.replace(".registers 32", ".registers 256");
    assert!(bench.peer().0.is_err());
    assert!(wave_isa::program::assemble(&bench.text, "test.wave").is_ok());
}

#[test]
fn f64_works_without_the_capability() {
    let mut bench = Bench::new("dadd r4, r2, r6\nhalt");
    bench.f64 = false;
    assert_eq!(bench.peer().0, Ok(()));
    assert!(bench.ours().0.is_err_and(|e| e.contains("CAP_F64")));
}

#[test]
fn the_size_in_the_kernel_wins_over_the_launch() {
    // Instruction set, section 10: the size in the kernel is the default of a launch.
    let mut bench = Bench::per_lane("mov_imm r10, 5");
    bench.text = bench.text.replace(".registers 32", ".registers 32\n.workgroup_size 2, 1, 1");
    bench.deviate([5, 5, 0, 0, 0, 0, 0, 0], [5; 8]);
}

#[test]
fn special_registers_of_the_matrix_unit_are_unknown() {
    let bench = Bench::per_lane("mov_sr r10, sr_mma_supported");
    assert!(bench.peer().0.is_err());
    assert_eq!(bench.ours().0, Ok(()));
}
