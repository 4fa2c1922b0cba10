//! Words that are no instruction, or that are illegal in this kernel or on this machine.

use super::code::{Code, Finding};
use crate::{DecodeError, Inst, MAX_REGISTERS, Op, WORD_BYTES};

/// Illegal instructions that a lane can reach. Unreachable ones do nothing, since they may be data.
pub(super) fn encoding(code: &Code, reachable: &[bool]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (slot, inst) in code.insts.iter().enumerate() {
        let Err(error) = inst else { continue };
        if reachable[slot] {
            let finding = Finding::error(slot, format!("illegal instruction: {error}"));
            findings.push(Finding { hint: hint(code, slot, *error), ..finding });
        }
    }
    findings
}

fn hint(code: &Code, slot: usize, error: DecodeError) -> Option<String> {
    let inst: Option<Inst> = code.structure.slots[slot].inst.ok();
    match error {
        DecodeError::Register { last, .. } if usize::from(last) >= MAX_REGISTERS => {
            Some("a register pair or quadruple has to end at r255 or below".into())
        }
        DecodeError::Register { .. } => {
            let highest =
                code.structure.slots.iter().filter_map(|slot| highest(&slot.inst.ok()?, code)).max()?;
            Some(format!("this kernel needs {} registers, or lower ones in this instruction", highest + 1))
        }
        DecodeError::Guard(Op::If) => {
            Some("put the predicate into the instruction: `if p1`, `if !p1`".into())
        }
        DecodeError::Guard(_) => Some("put it into an `if` with that predicate".into()),
        DecodeError::Capability(_) => Some("choose a configuration that has it".into()),
        DecodeError::CallTarget(target) => {
            let inside = inst.is_some()
                && target.is_multiple_of(WORD_BYTES)
                && code.kernel.code.contains(&(target / WORD_BYTES));
            inside.then(|| "it leads into the second word of an instruction".into())
        }
        _ => None,
    }
}

/// The highest general register that an instruction touches.
pub(super) fn highest(inst: &Inst, code: &Code) -> Option<u16> {
    let rows = inst.sources().chain(inst.destination(code.options.wave_width as usize));
    rows.map(|(first, rows)| u16::from(first) + u16::from(rows) - 1).max()
}
