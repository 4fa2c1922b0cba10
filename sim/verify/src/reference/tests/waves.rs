use super::Bench;

/// Lanes 0 to 7 hold 10 to 17 in r1; p1 is 0b0111_1010.
fn wave(body: &str) -> super::Ran {
    Bench::with_lanes(0b0111_1010, 0b0000_1000, &format!("mov_imm r2, 10\niadd r1, r60, r2\n{body}")).run()
}

#[test]
fn shuffles_read_any_lane_and_0_outside_the_wave() {
    let ran = wave(
        "mov_imm r3, 9
         isub r3, r3, r60
         wave_shuffle r10, r1, r3
         mov_imm r4, 2
         wave_shuffle_up r11, r1, r4
         wave_shuffle_down r12, r1, r4
         wave_shuffle_xor r13, r1, r4
         mov_imm r5, -3
         wave_shuffle_up r14, r1, r5
         mov_imm r6, 8
         wave_shuffle_xor r15, r1, r6
         @p1 wave_shuffle_up r16, r1, r61",
    );
    assert_eq!(ran.row(10), [0, 0, 17, 16, 15, 14, 13, 12]);
    assert_eq!(ran.row(11), [0, 0, 10, 11, 12, 13, 14, 15]);
    assert_eq!(ran.row(12), [12, 13, 14, 15, 16, 17, 0, 0]);
    assert_eq!(ran.row(13), [12, 13, 10, 11, 16, 17, 14, 15]);
    assert_eq!(ran.row(14), [13, 14, 15, 16, 17, 0, 0, 0]);
    assert_eq!(ran.row(15), [0; 8]);
    // A source lane that does not participate provides its register.
    assert_eq!(ran.row(16), [0, 10, 0, 12, 13, 14, 15, 0]);
}

#[test]
fn a_shuffle_onto_its_own_source_reads_first() {
    let ran = wave("wave_shuffle_up r1, r1, r61");
    assert_eq!(ran.row(1), [0, 10, 11, 12, 13, 14, 15, 16]);
}

#[test]
fn a_broadcast_takes_the_index_of_the_lowest_participating_lane() {
    let ran = wave("@p1 wave_broadcast r10, r1, r60\nmov_imm r3, 8\nwave_broadcast r11, r1, r3");
    // The lowest participating lane is 1, whose index is 1.
    assert_eq!(ran.row(10), [0, 11, 0, 11, 11, 11, 11, 0]);
    assert_eq!(ran.row(11), [0; 8]);
}

#[test]
fn votes_count_participating_lanes_only() {
    let ran = wave(
        "wave_ballot r10, p1
         @p1 wave_ballot r11, p2
         @p1 wave_any p3, p2
         @p2 wave_all p0, p1
         wave_all p2, p1",
    );
    assert_eq!(ran.row(10), [0b0111_1010; 8]);
    assert_eq!(ran.row(11), [0, 8, 0, 8, 8, 8, 8, 0]);
    assert_eq!(ran.mask(3), 0b0111_1010);
    assert_eq!(ran.mask(0), 0b0000_1000);
    assert_eq!(ran.mask(2), 0);
}

#[test]
fn a_ballot_of_64_lanes_takes_two_registers() {
    let body = "mov_sr r1, sr_lane_id\nmov_imm r2, 33\nucmp_ge p1, r1, r2\nwave_ballot r10, p1";
    let mut bench = Bench::new(body);
    bench.machine.wave_width = 64;
    bench.launch.workgroup = [60, 1, 1];
    let ran = bench.run();
    assert_eq!((ran.r(0, 10), ran.r(0, 11)), (0, 0x0FFF_FFFE));
}

#[test]
fn scans_and_reductions() {
    let ran = wave(
        "@p1 wave_prefix_sum r10, r1
         @p1 wave_reduce_add r11, r1
         @p1 wave_reduce_min r12, r1
         @p1 wave_reduce_max r13, r1
         @p1 wave_reduce_and r14, r1
         @p1 wave_reduce_or r15, r1
         @p1 wave_reduce_xor r16, r1
         wave_reduce_add r17, r1",
    );
    // Lanes 1, 3, 4, 5, 6 hold 11, 13, 14, 15, 16.
    assert_eq!(ran.row(10), [0, 0, 0, 11, 24, 38, 53, 0]);
    for (register, value) in [(11, 69), (12, 11), (13, 16), (14, 0), (15, 31), (16, 11 ^ 13 ^ 14 ^ 15 ^ 16)] {
        assert_eq!(ran.row(register), [0, value, 0, value, value, value, value, 0], "r{register}");
    }
    assert_eq!(ran.row(17), [108; 8]);
}

#[test]
fn minimum_and_maximum_of_a_wave_are_unsigned() {
    let ran = wave("mov_imm r3, 11\nisub r3, r1, r3\nwave_reduce_max r10, r3\nwave_reduce_min r11, r3");
    assert_eq!((ran.r(0, 10), ran.r(0, 11)), (0xFFFF_FFFF, 0));
}

#[test]
fn surplus_lanes_take_no_part_but_have_the_arguments() {
    let mut bench = Bench::new(
        "wave_ballot r10, p1
         wave_reduce_add r11, r1
         mov_imm r2, 7
         wave_shuffle r12, r1, r2",
    )
    .registers(&[(1, 5)]);
    bench.launch.workgroup = [3, 1, 1];
    let ran = bench.run();
    assert_eq!(ran.row(11), [15, 15, 15, 0, 0, 0, 0, 0]);
    assert_eq!(ran.row(12), [5, 5, 5, 0, 0, 0, 0, 0]);
    assert_eq!(ran.r(4, 2), 0);
}
