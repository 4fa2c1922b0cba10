use super::{Bench, Order, Stop};

/// Instructions of `Bench::with_lanes` before the body.
const PREAMBLE: u64 = 12;

#[test]
fn if_else_endif() {
    let ran = Bench::with_lanes(
        0b0000_1111,
        0b0011_0011,
        "if p1
           mov_imm r1, 10
           if !p2
             mov_imm r2, 20
           else
             mov_imm r2, 21
           endif
           mov_imm r3, 30
         else
           mov_imm r1, 11
         endif
         mov_imm r4, 40",
    )
    .run();
    assert_eq!(ran.row(1), [10, 10, 10, 10, 11, 11, 11, 11]);
    assert_eq!(ran.row(2), [21, 21, 20, 20, 0, 0, 0, 0]);
    assert_eq!(ran.row(3), [30, 30, 30, 30, 0, 0, 0, 0]);
    assert_eq!(ran.row(4), [40; 8]);
    assert_eq!(ran.instructions, PREAMBLE + 12);
}

#[test]
fn what_no_lane_reaches_does_nothing_and_does_not_count() {
    let ran = Bench::with_lanes(
        0,
        0xFF,
        "if p1
           mov_imm r1, 1
           if p2          ; counted up, and down at its endif
             mov_imm r1, 2
           else
             mov_imm r1, 3
           endif
           loop
             break p2
           endloop
           barrier
           halt
           call sub
           .word 0xFFFFFFFF
         else
           mov_imm r2, 5
         endif
         halt
         sub: mov_imm r3, 7
         return",
    )
    .run();
    assert_eq!((ran.r(0, 1), ran.r(0, 2), ran.r(0, 3)), (0, 5, 0));
    // if, mov_imm, endif, halt. The else has an effect, but no lane was active before it.
    assert_eq!(ran.instructions, PREAMBLE + 4);
}

#[test]
fn an_else_without_lanes_falls_through_to_its_endif() {
    let ran =
        Bench::with_lanes(0xFF, 0, "if p1\nmov_imm r1, 1\nelse\nmov_imm r1, 2\nendif\nmov_imm r2, 3").run();
    assert_eq!((ran.row(1), ran.row(2)), (vec![1; 8], vec![3; 8]));
    // if, mov_imm, else, mov_imm. The endif reactivates the lanes.
    assert_eq!(ran.instructions, PREAMBLE + 4);
}

#[test]
fn loops_break_and_continue_lane_by_lane() {
    // Lane n runs n + 1 times; odd iterations skip the second sum.
    let ran = Bench::with_lanes(
        0,
        0,
        "loop
           iadd r1, r1, r61
           and r2, r1, r61
           icmp_eq p1, r2, r61
           icmp_gt p2, r1, r60
           iadd r3, r3, r61
           break p2
           continue p1
           iadd r4, r4, r61
         endloop
         mov_imm r5, 1",
    )
    .run();
    assert_eq!(ran.row(3), [1, 2, 3, 4, 5, 6, 7, 8]);
    // Of iterations 1 to n, the even ones reach r4.
    assert_eq!(ran.row(4), [0, 0, 1, 1, 2, 2, 3, 3]);
    assert_eq!(ran.row(5), [1; 8]);
}

#[test]
fn lanes_that_break_in_an_if_stay_off_at_its_endif() {
    let ran = Bench::with_lanes(
        0b0000_0111,
        0b0000_0010,
        "loop
           if p1
             break p2
             mov_imm r1, 1
           endif
           iadd r2, r2, r61
           icmp_eq p3, r61, r61
           break p3
         endloop
         iadd r3, r3, r61",
    )
    .run();
    assert_eq!(ran.row(1), [1, 0, 1, 0, 0, 0, 0, 0]);
    assert_eq!(ran.row(2), [1, 0, 1, 1, 1, 1, 1, 1]);
    assert_eq!(ran.row(3), [1; 8]);
}

#[test]
fn guards_narrow_break_continue_and_halt() {
    let ran = Bench::with_lanes(
        0b0000_1111,
        0b0101_0101,
        "loop
           @p2 break p1
           iadd r1, r1, r61
           @!p1 halt
           break !p2
         endloop
         mov_imm r2, 1",
    );
    // Lanes 0 and 2 break at once, 4 to 7 halt in the first iteration, 1 and 3 leave after it.
    let ran = ran.run();
    assert_eq!(ran.row(1), [0, 1, 0, 1, 1, 1, 1, 1]);
    assert_eq!(ran.row(2), [1, 1, 1, 1, 0, 0, 0, 0]);
}

#[test]
fn guards_keep_registers_and_squash_what_no_lane_takes_part_in() {
    let ran = Bench::with_lanes(
        0b0000_1111,
        0,
        "@p1 mov_imm r1, 1
         @!p1 mov_imm r2, 2
         @!p0 mov_imm r3, 3
         @p2 mov_imm r4, 4
         @p2 icmp_eq p3, r61, r61
         @p1 icmp_eq p0, r61, r61
         @p2 barrier
         @p2 nop",
    )
    .run();
    assert_eq!(ran.row(1), [1, 1, 1, 1, 0, 0, 0, 0]);
    assert_eq!(ran.row(2), [0, 0, 0, 0, 2, 2, 2, 2]);
    assert_eq!((ran.row(3), ran.row(4)), (vec![3; 8], vec![0; 8]));
    assert_eq!((ran.mask(3), ran.mask(0)), (0, 0x0F));
    // Four of the eight are squashed.
    assert_eq!(ran.instructions, PREAMBLE + 4);
}

#[test]
fn calls_return_and_a_return_outside_halts() {
    let ran = Bench::with_lanes(
        0b0000_0011,
        0,
        "call outer
         mov_imm r1, 1
         if p1
           return
           mov_imm r2, 9
         endif
         mov_imm r3, 3
         halt
         outer:
           iadd r5, r5, r61
           call inner
           iadd r5, r5, r61
         return
         inner:
           iadd r6, r6, r61
         return",
    )
    .run();
    assert_eq!((ran.row(1), ran.row(5), ran.row(6)), (vec![1; 8], vec![2; 8], vec![1; 8]));
    assert_eq!(ran.row(2), [0; 8]);
    assert_eq!(ran.row(3), [0, 0, 3, 3, 3, 3, 3, 3]);
}

#[test]
fn halted_lanes_stay_off_and_the_last_one_ends_the_wave() {
    let ran = Bench::with_lanes(0b0000_0001, 0, "@p1 halt\nmov_imm r1, 1\n@!p1 halt\nmov_imm r1, 2").run();
    assert_eq!(ran.row(1), [0, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(ran.instructions, PREAMBLE + 3);
}

#[test]
fn running_past_the_end_halts_the_wave_also_in_an_open_if() {
    let ran = Bench::with_lanes(0b0000_0001, 0, "if p1\nmov_imm r1, 1").run();
    assert_eq!(ran.row(1), [1, 0, 0, 0, 0, 0, 0, 0]);
    let ran = Bench::with_lanes(0, 0, "if p1\nmov_imm r1, 1\nloop\nendif\nelse").run();
    assert_eq!(ran.row(1), [0; 8]);
}

#[test]
fn a_second_else_leaves_the_wave_without_lanes_until_endif() {
    let ran = Bench::with_lanes(
        0b0000_0011,
        0,
        "if p1\nelse\nmov_imm r1, 1\nelse\nmov_imm r1, 2\nendif\nmov_imm r2, 3",
    )
    .run();
    assert_eq!(ran.row(1), [0, 0, 1, 1, 1, 1, 1, 1]);
    assert_eq!(ran.row(2), [3; 8]);
}

/// Wave w stores at slot w and reads slot 1 - w after a barrier.
const EXCHANGE: &str = "mov_sr r1, sr_wave_id
     mov_imm r2, 2
     shl r3, r1, r2
     iadd r4, r1, r2
     local_store_u32 r3, r4
     barrier
     mov_imm r5, 4
     xor r6, r3, r5
     local_load_u32 r7, r6";

#[test]
fn barriers_order_waves_in_every_order_of_turns() {
    for order in [Order::RoundRobin(u32::MAX), Order::RoundRobin(1), Order::Random(1), Order::Random(2)] {
        let mut bench = Bench::new(EXCHANGE);
        bench.launch.workgroup = [12, 1, 1];
        bench.order = order;
        let ran = bench.run();
        assert_eq!(ran.waves[0].lanes[0].registers[7], 3);
        assert_eq!(ran.waves[1].lanes[3].registers[7], 2);
        // Lanes 4 to 7 of the second wave do not exist.
        assert_eq!(ran.waves[1].lanes[4].registers[7], 0);
    }
}

#[test]
fn a_race_shows_in_the_order_of_turns() {
    let racy = EXCHANGE.replace("barrier", "nop");
    let result = |order| {
        let mut bench = Bench::new(&racy);
        bench.launch.workgroup = [16, 1, 1];
        bench.order = order;
        bench.run().waves[0].lanes[0].registers[7]
    };
    assert_eq!(result(Order::RoundRobin(u32::MAX)), 0xCDCD_CDCD);
    assert_eq!(result(Order::RoundRobin(1)), 3);
}

#[test]
fn a_barrier_does_not_wait_for_waves_that_ended_or_lanes_that_halted() {
    let mut bench = Bench::new(
        "mov_sr r1, sr_wave_id
         mov_sr r2, sr_lane_id
         mov_imm r3, 1
         icmp_eq p1, r1, r3
         @p1 halt
         icmp_eq p2, r2, r3
         @p2 halt
         barrier
         mov_imm r4, 1",
    );
    bench.launch.workgroup = [24, 1, 1];
    let ran = bench.run();
    let lanes = |wave: usize| -> Vec<u32> { ran.waves[wave].lanes.iter().map(|l| l.registers[4]).collect() };
    assert_eq!(lanes(0), [1, 0, 1, 1, 1, 1, 1, 1]);
    assert_eq!(lanes(1), [0; 8]);
    assert_eq!(lanes(2), [1, 0, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn a_kernel_that_never_ends_meets_the_limit() {
    let stop = Bench::new("loop\nnop\nendloop").try_run().map(|_| ()).expect_err("it never ends");
    assert_eq!(stop, Stop::InstructionLimit(20_000));
}
