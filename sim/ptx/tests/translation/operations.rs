//! Programs with every operation of the table.

use crate::meaning::case_of;
use std::fmt::Write;
use wave_isa::operand::Role;
use wave_isa::program::{Program, assemble};
use wave_isa::table::TABLE;
use wave_isa::{ExecClass, Field, Inst, Op, Scope};
use wave_verify::generate::Case;

/// Control flow of every kind.
const CONTROL: &str = "
    loop
        if p1
            @p2 break !p3
            continue p2
        else
            call f
        endif
        call g
    endloop
    @p1 halt
    halt
f:
    call g
    return
g:
    iadd r1, r2, r3
    return
.end
";

/// The beginning of a kernel that loads its operands into r8 to r14, and has its place for results in r4.
const GRID: &str = "
.kernel grid
.registers 32
    mov_sr  r0, sr_workgroup_id_x
    mov_sr  r1, sr_workgroup_size_x
    mov_sr  r2, sr_thread_id_x
    imad    r0, r0, r1, r2
    mov_imm r1, 32
    imul    r3, r0, r1
    device_load_u128 r8, r3
    mov_imm r1, 16
    iadd    r3, r3, r1
    device_load_u128 r12, r3
    mov_imm r1, STRIDE
    imul    r4, r0, r1
    mov_imm r1, 32768
    iadd    r4, r4, r1
    mov_imm r5, 8
    mov_imm r6, 1
    mov_imm r7, 0
    and     r1, r10, r6
    ucmp_eq p1, r1, r6
    ucmp_lt p3, r8, r10
";

/// A kernel with every operation, each with and without a guard where it takes one. It is not meant to run.
pub(crate) fn every_operation() -> Program {
    let mut text = String::from(".kernel every\n.registers 64\n.local_memory 1024\n");
    let mut count = 0;
    for info in TABLE {
        if info.class == ExecClass::Control {
            continue;
        }
        for scope in Scope::ALL {
            let mut inst = Inst::new(info.op);
            inst.scope = *scope;
            inst.imm = 0x3FC0_0000;
            // Numbers for the fields that are registers of up to four words, predicates, fragments or special ones.
            for (i, operand) in info.operands.iter().enumerate() {
                let value = match operand.role {
                    Role::PredDst | Role::PredSrc | Role::PredSrcNeg => 1 + i % 3,
                    Role::FragA | Role::FragB | Role::FragC => i,
                    Role::Special => *scope as usize * 5,
                    _ => 4 + 8 * i,
                };
                inst.set_field(operand.field, value as u8);
            }
            for guard in ["", "@p2 ", "@!p3 "] {
                let line = wave_isa::program::disassemble_inst(&inst, &wave_isa::program::dis::Labels::new());
                _ = writeln!(text, "    {guard}{line}");
                count += 1;
            }
            if !info.operands.iter().any(|operand| matches!(operand.role, Role::Scope | Role::Special)) {
                break;
            }
        }
    }
    assert!(count > 600, "{count} instructions");
    text += CONTROL;
    let (program, _) = assemble(&text, "every.wave").unwrap_or_else(|errors| panic!("{errors:?}"));
    program
}

/// Values that are special for an operation: integers, f32, two f16 or bf16, halves of f64.
const SPECIAL: [u32; 32] = [
    0,
    1,
    2,
    5,
    31,
    32,
    33,
    u32::MAX,
    0x8000_0000,
    0x7FFF_FFFF,
    0x3F80_0000,
    0xBF80_0000,
    0x3F00_0000,
    0x3FC0_0000,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0x7F81_2345,
    0xFFC0_0001,
    0x0000_0003,
    0x0080_0000,
    0x7F7F_FFFF,
    0x3F8C_CCCD,
    0x4F00_0000,
    0xCF00_0001,
    0x4F7F_FFFF,
    0x3C00_3C01,
    0x7C01_FBFF,
    0x7FF0_0000,
    0x3FF0_0000,
    0x4033_0001,
    0xC2F7_0A3D,
];

/// Every operation that computes, alone and across lanes, on every pair of special values. Each result goes to memory;
/// half of the operations have a guard.
pub(crate) fn grid() -> Case {
    let classes = [
        ExecClass::Control,
        ExecClass::Sync,
        ExecClass::Mma,
        ExecClass::LocalMemory,
        ExecClass::DeviceMemory,
    ];
    let mut text = String::from(GRID);
    let mut results = 0;
    for info in TABLE
        .iter()
        .filter(|info| !classes.contains(&info.class) && info.op != Op::Nop && info.op != Op::MovSr)
    {
        let mut inst = Inst::new(info.op);
        inst.imm = 0x1234_5678;
        for operand in info.operands {
            let value = match (operand.role, operand.field) {
                (Role::PredDst, _) => 2,
                (Role::PredSrc | Role::PredSrcNeg, _) => 3,
                (_, Field::Rd) => 16,
                (_, Field::Rs1) => 8,
                (_, Field::Rs2) => 10,
                (_, Field::Rs3) => 12,
                _ => 14,
            };
            inst.set_field(operand.field, value);
        }
        for guard in ["", "@!p1 "] {
            let line = wave_isa::program::disassemble_inst(&inst, &wave_isa::program::dis::Labels::new());
            text += "    mov r16, r7\n    mov r17, r7\n    ucmp_ne p2, r7, r7\n";
            _ = writeln!(text, "    {guard}{line}");
            if inst.predicate_destination().is_some() {
                text += "    select r16, p2, r6, r7\n";
            }
            text += "    device_store_u64 r4, r16\n    iadd r4, r4, r5\n";
            results += 1;
        }
    }
    assert!(results > 200, "{results} results");
    text += "    halt\n.end\n";
    let text = text.replace("STRIDE", &(8 * results).to_string());
    let threads = SPECIAL.len() * SPECIAL.len();
    let value = |i: usize| SPECIAL[i % SPECIAL.len()];
    let mut memory: Vec<u32> = (0..threads)
        .flat_map(|thread| {
            let (i, j) = (thread / SPECIAL.len(), thread % SPECIAL.len());
            let (k, l) = (7 * i + 3 * j, i + 5 * j);
            [value(i + j), value(l), value(j), value(k + 1), value(k), value(l + 2), value(l), 0]
        })
        .collect();
    memory.resize(memory.len() + threads * 2 * results, 0);
    case_of(&text, threads as u32 / 128, 128, memory)
}
