//! Faults: what a kernel must not do, where it did it, and the report for the user.

use super::Program;
use super::dis::instruction_text;
use crate::diagnostic::{Diagnostic, Place};
use crate::number::ranges;
use crate::table::Space;
use crate::{DecodeError, WORD_BYTES};
use std::fmt;

/// What went wrong. A fault ends the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The words at the pc are no instruction, or one that is illegal in this kernel or on this machine.
    IllegalInstruction(DecodeError),
    /// A load, store, atomic or matrix tile touches a byte outside of its memory. No lane of the instruction
    /// has an effect.
    OutOfBounds {
        /// Which memory.
        space: Space,
        /// First byte of the access in the lowest faulting lane; for a matrix tile, of its first row outside.
        address: u32,
        /// Bytes of that access; for a matrix tile, of one row.
        bytes: u32,
        /// Bytes of the memory: of the device, or of the workgroup's local memory.
        size: u64,
    },
    /// An atomic at an address that is not a multiple of 4. Takes precedence if the lane is also outside of
    /// its memory. If lanes fault differently, the lowest lane decides.
    MisalignedAtomic {
        /// Which memory.
        space: Space,
        /// Address in the lowest faulting lane.
        address: u32,
    },
    /// `else`, `endif`, `break`, `continue` or `endloop` without its `if` or `loop`.
    DivergenceUnderflow,
    /// An `if` or a `loop` with the divergence stack full.
    DivergenceOverflow {
        /// Frames of the stack.
        depth: u32,
    },
    /// A `call` with the call stack full.
    CallOverflow {
        /// Frames of the stack.
        depth: u32,
    },
    /// A `return` at a different divergence depth than its call.
    ReturnDepth,
    /// A `barrier` that not all live lanes of the wave reach together.
    BarrierInDivergence,
}

impl FaultKind {
    /// A hint, if there is more to say than the message does.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            FaultKind::IllegalInstruction(DecodeError::Register { .. }) => {
                Some("raise `.registers` in the kernel, or use a lower register")
            }
            FaultKind::IllegalInstruction(DecodeError::Guard(_)) => {
                Some("put the predicate into the instruction, as in `if p1` or `if !p1`")
            }
            FaultKind::IllegalInstruction(DecodeError::Capability(_)) => {
                Some("choose a configuration whose capabilities include it")
            }
            FaultKind::IllegalInstruction(_) => None,
            FaultKind::OutOfBounds { space: Space::Local, .. } => {
                Some("local memory is what `.local_memory` or the launch gives; a lane may need a guard")
            }
            FaultKind::OutOfBounds { space: Space::Device, .. } => {
                Some("check the buffer's offset and size, and guard the lanes past the last element")
            }
            FaultKind::MisalignedAtomic { .. } => Some("atomics work on 32-bit words at multiples of 4"),
            FaultKind::DivergenceUnderflow => {
                Some("each else and endif needs an open if, each break, continue and endloop an open loop")
            }
            FaultKind::DivergenceOverflow { .. } => {
                Some("nest fewer ifs and loops, or end them before calls")
            }
            FaultKind::CallOverflow { .. } => Some("recursion has to end before the call stack does"),
            FaultKind::ReturnDepth => Some("end every if and loop of a subroutine before its return"),
            FaultKind::BarrierInDivergence => {
                Some("move the barrier out of the if or loop, or make the condition the same in all lanes")
            }
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            FaultKind::IllegalInstruction(why) => write!(f, "illegal instruction: {why}"),
            FaultKind::OutOfBounds { space, address, bytes, size } => write!(
                f,
                "an access of {bytes} {} at {} address 0x{address:x} is outside its memory of {size} bytes",
                if bytes == 1 { "byte" } else { "bytes" },
                name(space)
            ),
            FaultKind::MisalignedAtomic { space, address } => {
                write!(f, "an atomic at {} address 0x{address:x}, which is no multiple of 4", name(space))
            }
            FaultKind::DivergenceUnderflow => write!(f, "the if or loop that this belongs to is not open"),
            FaultKind::DivergenceOverflow { depth } => {
                write!(f, "more than {depth} nested ifs and loops: the divergence stack is full")
            }
            FaultKind::CallOverflow { depth } => {
                write!(f, "more than {depth} nested calls: the call stack is full")
            }
            FaultKind::ReturnDepth => {
                write!(f, "a return with other ifs and loops open than at the call")
            }
            FaultKind::BarrierInDivergence => {
                write!(f, "a barrier that only some of the wave's live lanes reach")
            }
        }
    }
}

fn name(space: Space) -> &'static str {
    match space {
        Space::Local => "local",
        Space::Device => "device",
    }
}

/// A fault and its location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// Index into [`Program::kernels`].
    pub kernel: usize,
    /// The workgroup's position in the grid, x, y, z.
    pub workgroup: [u32; 3],
    /// The wave's index in its workgroup.
    pub wave: u32,
    /// Faulting lanes: for a memory access those whose own access is wrong, else the active lanes.
    pub lanes: u64,
    /// Byte offset of the instruction in the code section.
    pub pc: u32,
    /// Core cycle; `None` for a machine without timing.
    pub cycle: Option<u64>,
}

impl Fault {
    /// The report: the message with the location in the grid, the source line if the program has one, and the
    /// disassembled instruction.
    pub fn diagnostic(&self, program: &Program) -> Diagnostic {
        let word = self.pc / WORD_BYTES;
        let trap = program.module.as_ref().and_then(|module| module.trap_of_word(word));
        let trap = trap.filter(|_| self.is_trap());
        let what = trap.map_or_else(|| self.kind.to_string(), |reason| format!("trap: {reason}"));
        let mut message = format!("{what} {}", self.place());
        if let Some(kernel) = program.kernels.get(self.kernel).filter(|k| !k.name.is_empty()) {
            message = format!("kernel `{}`: {message}", kernel.name);
        }
        if let Some(place) = program.module_place(self.pc) {
            message += &format!("\n  in {place}");
        }
        if let Some(text) = instruction_text(program, word) {
            message += &format!("\n  at pc 0x{:x}: {text}", self.pc);
        }
        let mut report = Diagnostic::error(message);
        if let Some(source) = &program.source
            && let Some((line, text)) = source.line_of_word(word)
        {
            let trimmed = text.trim_end();
            let indent = trimmed.len() - trimmed.trim_start().len();
            report = report.at(Place {
                file: source.file.clone(),
                line,
                column: trimmed[..indent].chars().count() as u32 + 1,
                length: trimmed[indent..].chars().count().max(1) as u32,
                text: text.to_owned(),
            });
        }
        match self.kind.hint().filter(|_| trap.is_none()) {
            Some(hint) => report.hint(hint),
            None => report,
        }
    }

    /// True if it is a store with which compiled code says that it traps: no memory has the last byte.
    pub fn is_trap(&self) -> bool {
        matches!(self.kind, FaultKind::OutOfBounds { space: Space::Device, address: u32::MAX, .. })
    }

    /// Where it happened, in brackets.
    fn place(&self) -> String {
        let [x, y, z] = self.workgroup;
        let mut text =
            format!("(workgroup {x},{y},{z}, wave {}, {}, pc 0x{:x}", self.wave, Lanes(self.lanes), self.pc);
        if let Some(cycle) = self.cycle {
            text += &format!(", cycle {cycle}");
        }
        text + ")"
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.place())
    }
}

impl std::error::Error for Fault {}

/// A lane mask in words: `lane 3`, `lanes 0-7 and 12`.
struct Lanes(u64);

impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match ranges(self.0).split_last() {
            None => write!(f, "no lanes"),
            Some((last, [])) if self.0.count_ones() == 1 => write!(f, "lane {last}"),
            Some((last, [])) => write!(f, "lanes {last}"),
            Some((last, rest)) => write!(f, "lanes {} and {last}", rest.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Kernel, SourceMap};

    #[test]
    fn lanes_are_told_as_ranges() {
        let text = |mask| Lanes(mask).to_string();
        assert_eq!(text(0), "no lanes");
        assert_eq!(text(1 << 5), "lane 5");
        assert_eq!(text(0xFF), "lanes 0-7");
        assert_eq!(text(0x10FF | 1 << 63), "lanes 0-7, 12 and 63");
        assert_eq!(text(u64::MAX), "lanes 0-63");
    }

    #[test]
    fn the_report_has_kernel_place_cycle_line_and_hint() {
        let source = SourceMap {
            file: "kernel.wave".into(),
            text: ".kernel k\n  barrier ; here\n.end\n".into(),
            lines: vec![2],
        };
        let kernel = Kernel {
            name: "k".into(),
            registers: 4,
            local_memory_bytes: 0,
            workgroup_size: [8, 1, 1],
            code: 0..1,
            parameters: None,
            private: None,
            bindings: Vec::new(),
        };
        let program =
            Program { code: vec![0x3F00_00A0], kernels: vec![kernel], source: Some(source), module: None };
        let fault = Fault {
            kind: FaultKind::BarrierInDivergence,
            kernel: 0,
            workgroup: [1, 2, 3],
            wave: 4,
            lanes: 0b1011,
            pc: 0,
            cycle: Some(77),
        };
        let report = fault.diagnostic(&program).render(false);
        for part in [
            "kernel `k`",
            "only some of the wave's live lanes",
            "workgroup 1,2,3, wave 4, lanes 0-1 and 3, pc 0x0, cycle 77",
            "at pc 0x0: barrier",
            "kernel.wave:2:3",
            "barrier ; here",
            "help: move the barrier out",
        ] {
            assert!(report.contains(part), "no {part:?} in:\n{report}");
        }
    }
}
