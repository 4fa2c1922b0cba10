//! The reports of both sides of a comparison: one record for each step of each instruction.

use std::fmt::Write;
use wave_isa::program::{Program, disassemble_inst};
use wave_isa::table::{AccessKind, AtomicOp};
use wave_isa::{Inst, Op};
use wave_machine::clock::Cycle;
pub use wave_machine::core::stage::Stage;

/// Sequence numbers of records count modulo this.
pub(crate) const SEQUENCES: u64 = 1 << 16;

/// A step. The records of a cycle are compared as sorted lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record {
    /// Cycle of the run.
    pub cycle: Cycle,
    /// The stage.
    pub stage: Stage,
    /// Wave slot.
    pub slot: u32,
    /// Position in the wave's issue order modulo `SEQUENCES`; 0 for fetch and decode.
    pub sequence: u32,
    /// Word of the kernel.
    pub word: u32,
    /// Contents of the step, in order.
    ///
    /// - issue: done at issue, number of words, word0, word1, active lanes, effective lanes, wave, workgroup
    ///   x, y, z, word at which the wave continues (0 if it ends), whether it ends
    /// - access: address of each lane, then each row that is sent; 0 in lanes that do not participate
    /// - retire: rows of the destination registers, 0 in lanes that do not participate; or lanes of the
    ///   predicate
    /// - otherwise empty
    pub fields: Vec<u32>,
}

/// Number of fields of an issue.
pub(crate) const ISSUE_FIELDS: usize = 12;

/// Number of rows that a memory instruction sends.
pub(crate) fn sent_rows(op: Op) -> usize {
    op.memory().map_or(0, |memory| match memory.kind {
        AccessKind::Load | AccessKind::Tile => 0,
        AccessKind::Store => usize::from(memory.bytes).div_ceil(4),
        AccessKind::Atomic(AtomicOp::Cas) => 2,
        AccessKind::Atomic(_) => 1,
    })
}

/// Rows of `width` words, with 0 in lanes outside of `mask`.
pub(super) fn masked(rows: &[u32], width: usize, mask: u64) -> impl Iterator<Item = u32> {
    rows.iter().enumerate().map(move |(i, &word)| if mask >> (i % width) & 1 != 0 { word } else { 0 })
}

impl Record {
    /// A line of a report: `cycle 57  issue       slot 3  #12  0x0040  iadd r4, r2, r1  …`.
    pub fn describe(&self, program: &Program, base: u32) -> String {
        let word = (base + self.word) as usize;
        let text = match program.code.get(word..).map(Inst::decode) {
            Some(Ok(inst)) => disassemble_inst(&inst, &Default::default()),
            Some(Err(_)) => "(not an instruction, or the end)".to_owned(),
            None => "(end)".to_owned(),
        };
        let mut line = format!(
            "cycle {:<6} {:<12} slot {:<2} #{:<4} 0x{:04x}  {text}",
            self.cycle,
            self.stage.name(),
            self.slot,
            self.sequence,
            word * 4,
        );
        match (self.stage, self.fields.as_slice()) {
            (_, []) => {}
            (Stage::Issue, [done, _, _, _, active, lanes, wave, x, y, z, next, ends]) => {
                _ = write!(
                    line,
                    "  active {active:02x} effective {lanes:02x} wave {wave} of ({x}, {y}, {z})"
                );
                _ = match ends {
                    0 => write!(line, " next word {next}"),
                    _ => write!(line, " ends"),
                };
                if *done != 0 {
                    line.push_str(" done");
                }
            }
            (_, fields) => {
                let words: Vec<String> = fields.iter().map(|w| format!("{w:x}")).collect();
                _ = write!(line, "  [{}]", words.join(" "));
            }
        }
        line
    }
}
