//! Rules I and B: issue, branches, barriers, fences.

use super::{Rule, rule, times};
use wave_machine::config::{DivergenceMode, IssuePolicy};

pub(super) const RULES: &[Rule] = &[
    rule(
        "I1",
        "several waves that are ready in one cycle",
        || times(12, "nop"),
        Some(("core.issue.width", |c| c.core.issue.width = 2, "issue")),
        &[],
    )
    .threads(32),
    rule(
        "I2",
        "no collector free, operands and destinations outstanding",
        || {
            "idiv r2, r0, r1\nidiv r3, r0, r1\nidiv r4, r0, r1\niadd r5, r0, r1\niadd r6, r5, r2\nicmp_lt p1, r5, r6\n\
             @p1 iadd r2, r6, r3"
                .to_owned()
        },
        Some(("core.registers.collectors", |c| c.core.registers.collectors = 4, "issue")),
        &[108, 110],
    )
    .threads(24),
    rule(
        "I3",
        "waves in turn",
        || times(12, "nop"),
        Some(("core.issue.policy", |c| c.core.issue.policy = IssuePolicy::Gto, "issue")),
        &[102],
    )
    .threads(32),
    rule(
        "I4",
        "operands in one bank, a second instruction of the wave behind them",
        || "imad r2, r4, r8, r12\niadd r3, r0, r1\nimad r5, r4, r8, r12\niadd r8, r0, r1".to_owned(),
        Some(("core.registers.banks", |c| c.core.registers.banks = 8, "operand read")),
        &[131],
    ),
    rule(
        "I5",
        "results read and written again at once",
        || "imul r2, r0, r1\niadd r3, r2, r1\nimul r2, r3, r3\nimul r2, r1, r1\niadd r4, r2, r2".to_owned(),
        None,
        &[109],
    ),
    rule(
        "I6",
        "guards that no lane, some lanes and all lanes pass",
        || {
            "mov_sr r2, sr_lane_id\nicmp_lt p1, r2, r1\nicmp_lt p2, r1, r2\nicmp_eq p3, r2, r2\n@p1 iadd r3, r2, r0\n\
             @!p1 iadd r3, r2, r1\n@p2 iadd r4, r2, r0\n@!p3 iadd r5, r2, r2\n@p2 break p1\n@p3 nop\n@!p3 nop\nloop\n\
             @!p3 break p3\n@p3 break p3\nendloop"
                .to_owned()
        },
        None,
        &[103],
    ),
    rule(
        "I8",
        "an endif without its if behind a load and a store, while another wave goes on",
        || {
            format!(
                "mov_sr r2, sr_wave_id\nmov_imm r3, 64\nicmp_eq p1, r2, r4\ndevice_load_u32 r5, r3\nif !p1\n{}\nendif\n\
                 local_store_u32 r3, r2\nendif",
                times(12, "nop")
            )
        },
        None,
        &[263],
    )
    .threads(16),
    rule(
        "B1",
        "shadows that redirect and that do not",
        || {
            "mov_imm r3, 2\nmov_imm r4, 0\nmov_imm r5, 1\nicmp_eq p2, r3, r5\nif p2\nnop\nelse\nnop\nendif\nloop\niadd r4, r4, r5\n\
             icmp_ge p1, r4, r3\nbreak p1\nendloop\nwait"
                .to_owned()
        },
        Some(("core.branch_latency_cycles", |c| c.core.branch_latency_cycles += 1, "issue")),
        &[101],
    )
    .threads(16),
    rule(
        "B2",
        "loops that go back, calls and returns",
        || {
            "mov_imm r3, 2\nmov_imm r4, 0\nmov_imm r5, 1\nloop\niadd r4, r4, r5\nicmp_ge p1, r4, r3\nbreak p1\nendloop\n\
             icmp_eq p2, r3, r5\nif !p2\ncall 72\nnop\nendif\nhalt\nnop\nnop\niadd r6, r5, r4\nreturn"
                .to_owned()
        },
        Some(("core.branch_latency_cycles", |c| c.core.branch_latency_cycles += 1, "issue")),
        &[],
    ),
    rule(
        "B3",
        "regions that no lane enters, constructs inside them",
        || {
            "mov_sr r2, sr_lane_id\nicmp_lt p1, r2, r2\nif p1\niadd r3, r2, r2\nif p1\nloop\nbreak p1\nendloop\nelse\nnop\nendif\n\
             iadd r4, r2, r2\nelse\niadd r5, r2, r2\nendif"
                .to_owned()
        },
        Some(("core.divergence", |c| c.core.divergence = DivergenceMode::Jump, "issue")),
        &[123],
    ),
    rule(
        "B4",
        "barriers behind accesses, and behind waves that have ended",
        || {
            "mov_sr r2, sr_wave_id\nmov_imm r3, 4\nimul r4, r2, r3\nlocal_store_u32 r4, r2\nbarrier\nlocal_load_u32 r5, r4\n\
             icmp_eq p1, r2, r1\n@p1 halt\nbarrier\nlocal_load_u32 r6, r4\nbarrier\nmov_sr r7, sr_lane_id\nicmp_lt p2, r7, r3\n@p2 halt\nbarrier"
                .to_owned()
        },
        Some(("core.branch_latency_cycles", |c| c.core.branch_latency_cycles += 1, "issue")),
        &[111],
    )
    .threads(64),
    rule(
        "B5",
        "fences of each scope and waits behind loads and stores",
        || {
            "mov_sr r2, sr_thread_id_x\nshl r3, r2, r1\ndevice_load_u32 r4, r2\nwait\ndevice_store_u32 r3, r2\nfence_release .workgroup\n\
             device_load_u32 r5, r3\nfence_acquire .device\ndevice_load_u32 r6, r3\nfence_acq_rel .wave\nfence_acq_rel .system\n\
             device_load_u32 r7, r3"
                .to_owned()
        },
        Some(("core.branch_latency_cycles", |c| c.core.branch_latency_cycles += 1, "issue")),
        &[106, 107],
    )
    .threads(16),
    rule(
        "B6",
        "releases of several waves, with stores before and after them",
        || {
            "mov_sr r2, sr_thread_id_x\nshl r3, r2, r1\ndevice_store_u32 r3, r2\nfence_release .device\ndevice_store_u32 r2, r3\n\
             device_store_u32 r3, r3\nfence_release .device\nfence_release .system\ndevice_store_u32 r2, r2\nfence_acq_rel .device"
                .to_owned()
        },
        None,
        &[155, 156],
    )
    .threads(32),
];
