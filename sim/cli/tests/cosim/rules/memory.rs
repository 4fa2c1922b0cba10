//! Rules L: load/store unit, local memory, L1.

use super::{Rule, rule};

pub(super) const RULES: &[Rule] = &[
    rule(
        "L1",
        "a queue that works on its head only, and an access outside its memory",
        || "mov_imm r2, 64\ndevice_load_u32 r3, r2\nlocal_load_u32 r4, r2\nlocal_store_u32 r2, r4\natomic_add r5, r2, r1, .device\nmov_imm r6, 2\natomic_add r5, r6, r1, .device".to_owned(),
        None,
        &[140],
    ),
    rule(
        "L2",
        "conflicts, broadcasts and atomics in the banks of local memory",
        || "mov_sr r2, sr_lane_id\nmov_imm r3, 32\nimul r4, r2, r3\nlocal_load_u32 r5, r4\nlocal_load_u32 r6, r3\nlocal_atomic_add r7, r3, r2\nlocal_store_u64 r4, r4".to_owned(),
        Some(("core.local.banks", |c| c.core.local.banks = 16, "access")),
        &[141],
    ),
    rule(
        "L3",
        "loads, stores and atomics of local memory",
        || "mov_sr r2, sr_lane_id\nlocal_store_u32 r2, r1\nlocal_load_u32 r3, r2\nmov_imm r4, 8\nlocal_atomic_add r5, r4, r2\nlocal_atomic_max r4, r2".to_owned(),
        Some(("core.local.latency_cycles", |c| c.core.local.latency_cycles += 1, "write-back")),
        &[139],
    ),
    rule(
        "L4",
        "accesses of several lines, and across their ends",
        || "mov_sr r2, sr_lane_id\nmov_imm r3, 30\nimul r4, r2, r3\ndevice_load_u32 r5, r4\ndevice_load_u64 r6, r4\ndevice_store_u32 r4, r2\ndevice_load_u128 r8, r3".to_owned(),
        None,
        &[137],
    ),
    rule(
        "L5",
        "atomics of several lanes on one word, and compare-and-swap",
        || "mov_sr r2, sr_lane_id\nmov_imm r3, 12\nand r4, r2, r1\nshl r4, r4, r2\nand r4, r4, r3\natomic_add r5, r4, r2, .device\natomic_cas r6, r4, r5, r2, .device\natomic_add r7, r3, r2, .workgroup\natomic_cas r8, r3, r7, r2, .workgroup".to_owned(),
        None,
        &[144, 145],
    ),
    rule(
        "L6",
        "accesses that the L1 refuses",
        || "mov_sr r2, sr_thread_id_x\nmov_imm r3, 128\nimul r4, r2, r3\nand r4, r4, r8\niadd r4, r4, r2\nmov_imm r5, 36\nimul r5, r2, r5\ndevice_load_u32 r6, r5\ndevice_load_u32 r7, r5".to_owned(),
        Some(("core.l1.mshrs", |c| c.core.l1.mshrs = 2, "packet")),
        &[],
    )
    .threads(16),
    rule(
        "L7",
        "more loads than pending entries; more complete loads than return entries",
        || {
            let pile: String =
                (4..13).map(|n| format!("iadd r3, r1, r1\nlocal_load_u64 r{}, r2\n", 2 * n)).collect();
            let lines: String = (0..4).map(|n| format!("mov_imm r{}, {}\n", 26 + n, 64 * n)).collect();
            let loads: String =
                (0..8).map(|n| format!("device_load_u32 r{}, r{}\n", 8 + n, 26 + n % 4)).collect();
            format!("{lines}{loads}{pile}")
        },
        Some(("core.lsu.pending_entries", |c| c.core.lsu.pending_entries = 5, "access")),
        &[136, 170],
    )
    .threads(256),
    rule(
        "L8",
        "hits, misses and stores of the L1",
        || "mov_imm r2, 64\ndevice_load_u32 r3, r2\ndevice_load_u32 r4, r2\niadd r5, r4, r3\ndevice_load_u32 r6, r2\ndevice_store_u32 r2, r6\ndevice_load_u32 r7, r2".to_owned(),
        Some(("core.l1.hit_latency_cycles", |c| c.core.l1.hit_latency_cycles += 1, "write-back")),
        &[152],
    ),
];
