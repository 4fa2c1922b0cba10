//! The kernel being checked: its instructions, and how messages name them.

use super::CheckOptions;
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::program::dis::{Labels, disassemble_inst};
use crate::program::structure::Structure;
use crate::program::{Kernel, Program};
use crate::{DecodeError, Inst, Op, WORD_BYTES};

/// A finding at an instruction.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// The instruction, an index into [`Structure::slots`].
    pub slot: usize,
    pub severity: Severity,
    pub message: String,
    pub hint: Option<String>,
}

impl Finding {
    pub(super) fn error(slot: usize, message: impl Into<String>) -> Finding {
        Finding { slot, severity: Severity::Error, message: message.into(), hint: None }
    }

    pub(super) fn warning(slot: usize, message: impl Into<String>) -> Finding {
        Finding { severity: Severity::Warning, ..Finding::error(slot, message) }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Finding {
        self.hint = Some(hint.into());
        self
    }
}

/// One kernel's code, scanned and decoded, including all that makes an instruction illegal.
pub(super) struct Code<'a> {
    pub program: &'a Program,
    pub kernel: &'a Kernel,
    pub options: &'a CheckOptions,
    /// General registers of a lane.
    pub registers: u32,
    pub structure: Structure,
    /// Per slot of the structure. Registers, capabilities and call targets can make an instruction illegal
    /// too.
    pub insts: Vec<Result<Inst, DecodeError>>,
}

impl<'a> Code<'a> {
    /// Scans the kernel. Its words must lie in the program's code.
    pub(super) fn new(program: &'a Program, kernel: &'a Kernel, options: &'a CheckOptions) -> Code<'a> {
        let words = &program.code[kernel.code.start as usize..kernel.code.end as usize];
        let mut code = Code {
            program,
            kernel,
            options,
            registers: options.registers.unwrap_or(kernel.registers),
            structure: Structure::scan(words),
            insts: Vec::new(),
        };
        code.insts = code.structure.slots.iter().map(|slot| code.legal(slot.inst?)).collect();
        code
    }

    fn legal(&self, inst: Inst) -> Result<Inst, DecodeError> {
        let registers = self.registers.try_into().unwrap_or(u16::MAX);
        inst.check_registers(registers, self.options.wave_width as usize)?;
        if inst.op.needs_f64() && !self.options.f64 {
            return Err(DecodeError::Capability("CAP_F64"));
        }
        if inst.op.needs_mma() && !self.options.mma {
            return Err(DecodeError::Capability("CAP_MMA"));
        }
        if inst.op == Op::Call && self.slot_at(inst.imm).is_none() {
            return Err(DecodeError::CallTarget(inst.imm));
        }
        Ok(inst)
    }

    /// The instruction that starts at a byte offset of the code section.
    pub(crate) fn slot_at(&self, offset: u32) -> Option<usize> {
        let word = (offset / WORD_BYTES).checked_sub(self.kernel.code.start)?;
        let aligned = offset.is_multiple_of(WORD_BYTES);
        self.structure.slot_of_word.get(word as usize).copied().flatten().filter(|_| aligned)
    }

    /// The instruction, if it is legal.
    pub(super) fn inst(&self, slot: usize) -> Option<&Inst> {
        self.insts[slot].as_ref().ok()
    }

    /// The instruction's operation, if it is legal.
    pub(super) fn op(&self, slot: usize) -> Option<Op> {
        self.inst(slot).map(|inst| inst.op)
    }

    /// The first instruction of a legal call's callee.
    pub(super) fn callee(&self, slot: usize) -> Option<usize> {
        self.inst(slot).filter(|inst| inst.op == Op::Call).and_then(|inst| self.slot_at(inst.imm))
    }

    /// Word of the code section at which the instruction starts.
    fn word(&self, slot: usize) -> u32 {
        self.kernel.code.start + self.structure.slots[slot].word
    }

    /// Byte offset in the code section.
    pub(super) fn pc(&self, slot: usize) -> u32 {
        self.word(slot) * WORD_BYTES
    }

    /// How a message refers to another instruction: "line 12", or "pc 0x0010" without source.
    pub(super) fn at(&self, slot: usize) -> String {
        match self.line(slot) {
            Some(line) => format!("line {line}"),
            None => format!("pc {:#06x}", self.pc(slot)),
        }
    }

    fn line(&self, slot: usize) -> Option<u32> {
        let lines = &self.program.source.as_ref()?.lines;
        lines.get(self.word(slot) as usize).copied().filter(|&line| line > 0)
    }

    /// The instruction as assembly text.
    pub(super) fn text(&self, slot: usize) -> String {
        match &self.structure.slots[slot].inst {
            Ok(inst) => disassemble_inst(inst, &Labels::new()),
            Err(_) => format!(".word {:#010x}", self.program.code[self.word(slot) as usize]),
        }
    }

    /// Place of the instruction in the source, without the labels in front of it.
    pub(super) fn place(&self, slot: usize) -> Option<Place> {
        let source = self.program.source.as_ref()?;
        let (line, text) = source.line_of_word(self.word(slot))?;
        let code = text.split([';', '#']).next().unwrap_or(text);
        let mut statement = code;
        while let Some((label, rest)) = statement.split_once(':') {
            let is_label = label.trim().chars().all(|c| c.is_alphanumeric() || "_.$".contains(c));
            if !is_label || rest.trim().is_empty() {
                break;
            }
            statement = rest;
        }
        let blanks = statement.len() - statement.trim_start().len();
        let before = &code[..code.len() - statement.len() + blanks];
        Some(Place {
            file: source.file.clone(),
            line,
            column: before.chars().count() as u32 + 1,
            length: statement.trim().chars().count().max(1) as u32,
            text: text.to_owned(),
        })
    }

    /// The finding as a message with its place. Without source the message names kernel, pc and instruction.
    pub(super) fn diagnostic(&self, finding: Finding) -> Diagnostic {
        let place = self.place(finding.slot);
        let message = match place {
            Some(_) => finding.message,
            None => {
                let (name, pc, text) = (&self.kernel.name, self.pc(finding.slot), self.text(finding.slot));
                format!("kernel `{name}`, pc {pc:#06x}, `{text}`: {}", finding.message)
            }
        };
        Diagnostic { severity: finding.severity, message, place, hint: finding.hint }
    }
}
