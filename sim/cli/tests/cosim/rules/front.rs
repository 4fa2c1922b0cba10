//! Rules P, R, F and D: residency, fetch, decode.

use super::{Rule, rule, times};

pub(super) const RULES: &[Rule] = &[
    rule(
        "P1",
        "results read in the cycle after their write, a full load/store queue",
        || {
            "mov_sr r2, sr_lane_id\nmov_imm r9, 32\nimul r2, r2, r9\niadd r3, r2, r1\niadd r4, r3, r2\niadd r5, r4, r3\nimul r6, r5, r4\n\
             local_store_u32 r2, r3\nlocal_store_u32 r2, r4\nlocal_store_u32 r2, r5\nlocal_store_u32 r2, r6\n\
             iadd r7, r6, r6\niadd r8, r7, r6"
                .to_owned()
        },
        Some(("core.lsu.queue_entries", |c| c.core.lsu.queue_entries = 1, "execute")),
        &[138],
    )
    .threads(32),
    rule(
        "R1",
        "more workgroups than fit, in their order",
        || "mov_sr r2, sr_workgroup_id_x\niadd r3, r2, r1".to_owned(),
        Some(("dispatcher.latency_cycles", |c| c.dispatcher.latency_cycles += 1, "packet")),
        &[159],
    )
    .grid(9),
    rule(
        "R2",
        "partial waves, slots taken lowest first, registers that begin with 0",
        || {
            "iadd r3, r2, r1\nmov_sr r2, sr_thread_id_x\niadd r4, r3, r2\nlocal_load_u32 r5, r8\nlocal_store_u32 r8, r4\n\
             local_load_u32 r6, r8"
                .to_owned()
        },
        Some(("core.local_poison", |c| c.core.local_poison ^= 1, "retire")),
        &[127, 160],
    )
    .threads(13)
    .grid(5),
    rule(
        "R3",
        "waves that end while their loads are on the way, and slots that are used again",
        || "mov_sr r2, sr_thread_id_x\nshl r3, r2, r1\ndevice_load_u32 r4, r3\ndevice_load_u32 r5, r2\ndevice_store_u32 r2, r2".to_owned(),
        None,
        &[128],
    )
    .threads(16)
    .grid(9),
    rule(
        "F1",
        "waves that take turns at the fetch port, with full buffers",
        || times(24, "nop"),
        Some(("core.fetch.buffer_entries", |c| c.core.fetch.buffer_entries += 1, "fetch")),
        &[112, 117],
    )
    .threads(32),
    rule(
        "F2",
        "groups cut off by the end of the code",
        || times(5, "nop"),
        Some(("core.fetch.words", |c| c.core.fetch.words = 4, "decode")),
        &[115],
    ),
    rule(
        "F3",
        "groups that hit",
        || times(12, "nop"),
        Some(("core.fetch.icache_latency_cycles", |c| c.core.fetch.icache_latency_cycles += 1, "decode")),
        &[],
    ),
    rule(
        "F4",
        "code of more lines than the instruction cache has, twice",
        || {
            let body = times(700, "nop");
            format!("mov_imm r3, 1\nmov_imm r4, 0\nloop\n{body}\nicmp_ge p1, r4, r3\niadd r4, r4, r3\nbreak p1\nendloop")
        },
        Some(("core.fetch.icache_ways", |c| c.core.fetch.icache_ways = 4, "fetch")),
        &[114, 116],
    )
    .threads(16),
    rule(
        "F5",
        "code that ends without a halt, at the end of a group and inside one",
        || "icmp_eq p1, r0, r1\nif p1\nhalt\nendif\nnop\ncall 24\nnop".to_owned(),
        None,
        &[115],
    ),
    rule(
        "F6",
        "branches back while a group is on its way",
        || {
            "mov_imm r3, 3\nmov_imm r4, 0\nmov_imm r5, 1\nloop\niadd r4, r4, r5\nicmp_ge p1, r4, r3\nbreak p1\nendloop\n\
             mov_imm r6, 9\nmov_imm r7, 8"
                .to_owned()
        },
        Some(("core.fetch.icache_latency_cycles", |c| c.core.fetch.icache_latency_cycles = 4, "decode")),
        &[],
    )
    .threads(16),
    rule(
        "D1",
        "groups of two instructions, which issue from the next cycle on",
        || times(9, "not r2, r2"),
        Some(("core.fetch.words", |c| c.core.fetch.words = 1, "decode")),
        &[],
    ),
    rule(
        "D2",
        "instructions of two words across two groups, also behind a branch",
        || {
            "nop\nmov_imm r2, 1\nmov_imm r3, 2\nicmp_eq p1, r2, r3\nloop\niadd r4, r2, r3\nbreak p1\nicmp_lt p1, r2, r3\n\
             endloop\nmov_imm r5, 7\niadd r6, r5, r4"
                .to_owned()
        },
        Some(("core.fetch.words", |c| c.core.fetch.words = 4, "decode")),
        &[118],
    ),
];
