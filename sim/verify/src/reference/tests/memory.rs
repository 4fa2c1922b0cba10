use super::Bench;

#[test]
fn widths_are_little_endian_and_narrow_loads_extend_with_zero() {
    let mut bench = Bench::new(
        "device_load_u8 r10, r1
         device_load_u16.uncached r11, r1
         device_load_u32.streaming r12, r1
         device_load_u64 r14, r1
         device_load_u128 r16, r1
         device_store_u128 r2, r16
         device_store_u64 r3, r14
         device_store_u16 r4, r12
         device_store_u8 r5, r12",
    )
    .registers(&[(1, 3), (2, 101), (3, 201), (4, 301), (5, 401)]);
    bench.launch.workgroup = [1, 1, 1];
    for n in 0..32 {
        bench.memory[n] = 0x80 + n as u8;
    }
    let ran = bench.run();
    assert_eq!((ran.r(0, 10), ran.r(0, 11), ran.r(0, 12)), (0x83, 0x8483, 0x8685_8483));
    assert_eq!((ran.r(0, 14), ran.r(0, 15)), (0x8685_8483, 0x8A89_8887));
    assert_eq!(ran.row(19)[0], 0x9291_908F);
    assert_eq!(
        ran.memory[100..118],
        [
            0, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8A, 0x8B, 0x8C, 0x8D, 0x8E, 0x8F, 0x90, 0x91,
            0x92, 0
        ]
    );
    assert_eq!(ran.memory[200..210], [0, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8A, 0]);
    assert_eq!(ran.memory[300..304], [0, 0x83, 0x84, 0]);
    assert_eq!(ran.memory[400..403], [0, 0x83, 0]);
}

#[test]
fn local_memory_starts_poisoned_for_each_workgroup() {
    let mut bench = Bench::new(
        "local_load_u64 r10, r1
         local_store_u8 r2, r2
         local_load_u16 r12, r1
         local_load_u8 r13, r2
         local_load_u32 r14, r1",
    )
    .registers(&[(1, 248), (2, 249)]);
    bench.launch.grid = [2, 1, 1];
    let ran = bench.run();
    for wave in ran.waves {
        assert_eq!(wave.lanes[7].registers[10..15], [0xCDCD_CDCD, 0xCDCD_CDCD, 0xF9CD, 0xF9, 0xCDCD_F9CD]);
    }
}

#[test]
fn the_highest_lane_wins_a_store() {
    let ran = Bench::with_lanes(0b0011_1111, 0, "@p1 device_store_u32 r62, r60").run();
    assert_eq!(ran.word(0), 5);
    // Lane n stores the byte n at address n, over the four bytes stored by lower lanes.
    let ran = Bench::with_lanes(0, 0, "device_store_u32 r60, r60").run();
    assert_eq!(ran.memory[..12], [0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0]);
}

#[test]
fn atomics_act_in_lane_order_and_return_the_old_value() {
    let ran = Bench::with_lanes(0, 0, "atomic_add r5, r62, r60, .device").run();
    assert_eq!(ran.row(5), [0, 0, 1, 3, 6, 10, 15, 21]);
    assert_eq!(ran.word(0), 28);

    let cases: &[(&str, u32, u32)] = &[
        ("atomic_sub r5, r1, r2 .system", 7, 5),
        ("atomic_min r5, r1, r2 .wave", 0xFFFF_FFFF, 2),
        ("atomic_max r5, r1, r2 .workgroup", 0x8000_0000, 0x8000_0000),
        ("atomic_and r5, r1, r2 .device", 0b0111, 0b0010),
        ("atomic_or r5, r1, r2 .device", 0b0101, 0b0111),
        ("atomic_xor r5, r1, r2 .device", 0b0111, 0b0101),
        ("atomic_exchange r5, r1, r2 .device", 9, 2),
        ("atomic_cas r5, r1, r2, r3 .device", 2, 77),
        ("atomic_cas r5, r1, r2, r3 .device", 3, 3),
    ];
    for &(text, before, after) in cases {
        for (text, local) in [(text.to_owned(), false), (format!("local_{text}"), true)] {
            let text = if local { text.split(" .").next().unwrap_or("").to_owned() } else { text };
            let mut bench = Bench::new(&format!(
                "device_load_u32 r9, r1\nlocal_store_u32 r1, r9\n{text}\nlocal_load_u32 r10, r1\ndevice_load_u32 r11, r1"
            ))
            .registers(&[(1, 8), (2, 2), (3, 77)]);
            bench.launch.workgroup = [1, 1, 1];
            bench.memory[8..12].copy_from_slice(&before.to_le_bytes());
            let ran = bench.run();
            let (here, there) = if local { (10, 11) } else { (11, 10) };
            assert_eq!((ran.r(0, 5), ran.r(0, here), ran.r(0, there)), (before, after, before), "{text}");
        }
    }
}

#[test]
fn an_atomic_without_destination_leaves_r0_alone() {
    let ran = Bench::with_lanes(0, 0, "mov_imm r0, 123\natomic_add r62, r61, .device").run();
    assert_eq!((ran.row(0), ran.word(0)), (vec![123; 8], 8));
}

#[test]
fn matrix_tiles_are_each_lanes_own() {
    // A: row i = (4i+1 … 4i+4), rows 20 bytes apart; B = 2 × identity, then C += A × B twice.
    let mut body = String::from("mov_imm r1, 1.0\nmov_imm r2, 0\nmov_imm r3, 4\nmov_imm r4, 2.0\n");
    for i in 0..4 {
        for j in 0..4 {
            let value = f64::from(4 * i + j + 1);
            body += &format!(
                "mov_imm r2, {}\nmov_imm r5, {value:.1}\nlocal_store_u32 r2, r5\n",
                20 * i + 4 * j + 1
            );
            let b = if i == j { "2.0" } else { "0.0" };
            body +=
                &format!("mov_imm r2, {}\nmov_imm r5, {b}\nlocal_store_u32 r2, r5\n", 100 + 16 * i + 4 * j);
        }
    }
    body += "mov_imm r1, 1\nmov_imm r2, 20\nmma_load_a f3, r1, r2
             mov_imm r1, 100\nmov_imm r2, 16\nmma_load_b f7, r1, r2
             mma_compute f3, f7, f1\nmma_compute f3, f7, f1
             mov_imm r1, 180\nmov_imm r2, 16\nmma_store_c r1, r2, f1
             mov_imm r1, 216\nlocal_load_u32 r10, r1";
    let mut bench = Bench::new(&body);
    bench.launch.workgroup = [2, 1, 1];
    let ran = bench.run();
    // C[2][1] = 2 × 2 × A[2][1]
    assert_eq!(ran.row(10)[..2], [40f32.to_bits(); 2]);
    let lane = &ran.waves[0].lanes[1];
    assert_eq!(lane.a[3][1], [5f32, 6.0, 7.0, 8.0].map(f32::to_bits));
    assert_eq!(lane.b[7][2], [0f32, 0.0, 2.0, 0.0].map(f32::to_bits));
    assert_eq!(lane.a[0], [[0; 4]; 4]);
    assert_eq!(ran.waves[0].lanes[2].a[3], [[0; 4]; 4], "a lane that does not exist takes no part");
}

#[test]
fn a_matrix_product_adds_in_order_of_k_with_canonical_nan() {
    // A row (2^24, 1, 1, inf) times a B column (1, 1, 1, 0): 2^24 + 1 + 1 stays 2^24, then NaN.
    let mut body = String::new();
    for (n, value) in [0x4B80_0000u32, 0x3F80_0000, 0x3F80_0000, 0x7F80_0000].into_iter().enumerate() {
        body += &format!("mov_imm r1, {}\nmov_imm r2, {value}\nlocal_store_u32 r1, r2\n", 4 * n);
        let b = if n < 3 { "1.0" } else { "0.0" };
        body += &format!("mov_imm r1, {}\nmov_imm r2, {b}\nlocal_store_u32 r1, r2\n", 64 + 16 * n);
        let a_without_infinity = if n < 3 { value } else { 0 };
        body += &format!(
            "mov_imm r1, {}\nmov_imm r2, {a_without_infinity}\nlocal_store_u32 r1, r2\n",
            16 + 4 * n
        );
    }
    body += "mov_imm r1, 0\nmov_imm r2, 16\nmma_load_a f0, r1, r2
             mov_imm r1, 64\nmma_load_b f0, r1, r2\nmma_compute f0, f0, f0";
    let mut bench = Bench::new(&body);
    bench.launch.workgroup = [1, 1, 1];
    let ran = bench.run();
    let c = ran.waves[0].lanes[0].c[0];
    assert_eq!((c[0][0], c[1][0]), (0x7FC0_0000, 0x4B80_0000));
}
