//! Rules O, X and W: operands, units, write-back.

use super::{Rule, class, rule, unit};
use wave_isa::ExecClass;
use wave_machine::config::Unit;

pub(super) const RULES: &[Rule] = &[
    rule(
        "O1",
        "rows of one bank, of several waves at once",
        || "imad r2, r4, r8, r12\nimad r3, r5, r9, r13\nfma r6, r4, r8, r4\nbfi r7, r4, r8, r12, r16".to_owned(),
        Some(("core.registers.banks", |c| c.core.registers.banks = 8, "operand read")),
        &[129],
    )
    .threads(32),
    rule(
        "O2",
        "a register overwritten while an instruction that has read it waits for its unit",
        || "mov_imm r2, 900\nmov_imm r3, 7\nidiv r4, r2, r3\nidiv r5, r2, r3\nmov r2, r1\nmov r3, r0\niadd r6, r5, r4".to_owned(),
        Some(("int_div passes", |c| class(c, ExecClass::IntDiv).passes = 1, "execute")),
        &[],
    ),
    rule(
        "O3",
        "instructions without register operands",
        || "mov_imm r2, 5\nmov_sr r3, sr_lane_id\nmov_imm r4, 6\nwave_ballot r5, p1".to_owned(),
        Some(("int latency_cycles", |c| class(c, ExecClass::Int).latency_cycles += 1, "write-back")),
        &[],
    ),
    rule(
        "X1",
        "an instruction that waits for its unit, which another class keeps",
        || "idiv r2, r0, r1\nfdiv r3, r0, r1\niadd r4, r0, r1".to_owned(),
        Some((
            "a unit of its own for fp32_div",
            |c| {
                let unit = unit(c, ExecClass::Fp32Div);
                let place = unit.classes.iter().position(|c| c.class == ExecClass::Fp32Div);
                let classes = vec![unit.classes.remove(place.expect("the class"))];
                let lanes = unit.lanes;
                c.core.units.push(Unit { name: "fdiv".to_owned(), lanes, classes });
            },
            "execute",
        )),
        &[],
    ),
    rule(
        "X2",
        "units that are busy for an interval",
        || "fsin r2, r0\nfcos r3, r0\nfdiv r4, r0, r1\nfsqrt r5, r1\nidiv r6, r0, r1\nimod r7, r0, r1".to_owned(),
        Some(("fp32_div passes", |c| class(c, ExecClass::Fp32Div).passes -= 1, "execute")),
        &[132],
    )
    .threads(16),
    rule(
        "X3",
        "results of different latencies in one cycle",
        || "imul r2, r0, r1\niadd r3, r0, r1\nfadd r4, r0, r1\nimul r5, r0, r1\niadd r6, r0, r1\nicmp_eq p1, r0, r1\niadd r7, r1, r1".to_owned(),
        Some(("core.registers.write_ports", |c| c.core.registers.write_ports = 2, "execute")),
        &[133],
    )
    .threads(32),
    rule(
        "X4",
        "a memory instruction of each collector",
        || "mov_sr r2, sr_lane_id\nmov_imm r9, 32\nimul r2, r2, r9\nlocal_store_u32 r2, r2\nlocal_load_u32 r3, r2\nlocal_load_u32 r4, r2\nlocal_store_u32 r2, r2".to_owned(),
        Some(("core.lsu.queue_entries", |c| c.core.lsu.queue_entries = 4, "execute")),
        &[138],
    )
    .threads(32),
    rule(
        "W1",
        "results of each class",
        || "iadd r2, r0, r1\nimul r3, r2, r1\ncvt_f32_i32 r4, r3\nfadd r5, r4, r4\nicmp_lt p1, r2, r3\nhadd r6, r4, r5\nwave_reduce_add r7, r2".to_owned(),
        Some(("int latency_cycles", |c| class(c, ExecClass::Int).latency_cycles += 1, "write-back")),
        &[],
    ),
    rule(
        "W2",
        "loads that wait for a write port",
        || "mov_sr r2, sr_lane_id\nlocal_load_u64 r4, r2\niadd r6, r2, r1\niadd r7, r2, r1\nlocal_load_u32 r8, r2\nlocal_load_u64 r10, r2\niadd r9, r2, r1".to_owned(),
        Some(("core.registers.write_ports", |c| c.core.registers.write_ports = 2, "retire")),
        &[135],
    )
    .threads(32),
];
