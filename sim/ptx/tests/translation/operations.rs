//! Programs with every operation of the table.

use std::fmt::Write;
use wave_isa::operand::Role;
use wave_isa::program::{Program, assemble};
use wave_isa::table::TABLE;
use wave_isa::{ExecClass, Inst, Scope};

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
    text += "    loop\n        if p1\n            @p2 break !p3\n            continue p2\n        else\n            call f\n        \
             endif\n        call g\n    endloop\n    @p1 halt\n    halt\nf:\n    call g\n    return\ng:\n    iadd r1, r2, r3\n    \
             return\n.end\n";
    let (program, _) = assemble(&text, "every.wave").unwrap_or_else(|errors| panic!("{errors:?}"));
    program
}
