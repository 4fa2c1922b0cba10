//! The reports of both sides of a comparison: one record for each step of each instruction, and one for each packet that
//! leaves the core.

use super::packet;
use std::fmt::Write;
use wave_isa::program::{Program, disassemble_inst};
use wave_isa::table::{AccessKind, AtomicOp};
use wave_isa::{Inst, Op};
use wave_machine::clock::Cycle;
pub use wave_machine::core::stage::Stage;

/// Sequence numbers of records count modulo this.
pub(crate) const SEQUENCES: u64 = 1 << 16;

/// What a record tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// An instruction reaches a stage.
    Stage(Stage),
    /// A packet leaves the core through its memory port.
    Packet,
}

impl Step {
    /// Position in the order in which the parts of a core work in a cycle (rule P1): consumers first. The port comes
    /// last.
    pub fn turn(self) -> usize {
        match self {
            Step::Stage(stage) => stage.turn(),
            Step::Packet => Stage::Fetch.turn() + 1,
        }
    }

    /// Its name for readers.
    pub const fn name(self) -> &'static str {
        match self {
            Step::Stage(stage) => stage.name(),
            Step::Packet => "packet",
        }
    }
}

/// A step of an instruction, or a packet. The records of a cycle are compared as sorted lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record {
    /// Cycle of the run.
    pub cycle: Cycle,
    /// What it tells.
    pub step: Step,
    /// Wave slot; 0 for a packet.
    pub slot: u32,
    /// Position in the wave's issue order modulo `SEQUENCES`; 0 for fetch, decode and a packet.
    pub sequence: u32,
    /// Word of the kernel; 0 for a packet.
    pub word: u32,
    /// Contents of the step, in order.
    ///
    /// - issue: done at issue, number of words, word0, word1, active lanes, effective lanes, wave, workgroup
    ///   x, y, z, word at which the wave continues (0 if it ends), whether it ends
    /// - access: address of each lane, then each row that is sent; 0 in lanes that do not participate
    /// - retire: rows of the destination registers, 0 in lanes that do not participate; or lanes of the
    ///   predicate
    /// - packet: kind, whether it is for code, line, byte mask, atomic operation, swap value, cache hint, then the words of
    ///   the line; 0 in what means nothing in a packet of its kind
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

/// The instruction at a word of the kernel that begins at word `base`, if there is one.
pub(super) fn instruction(program: &Program, base: u32, word: u32) -> Option<Inst> {
    Inst::decode(program.code.get((base + word) as usize..)?).ok()
}

/// The place of a word of the kernel in the code, and its instruction: `0x0040  iadd r4, r2, r1`.
pub(super) fn place(program: &Program, base: u32, word: u32) -> String {
    let word = base + word;
    let text = match program.code.get(word as usize..).map(Inst::decode) {
        Some(Ok(inst)) => disassemble_inst(&inst, &Default::default()),
        Some(Err(_)) => "(not an instruction, or the end)".to_owned(),
        None => "(end)".to_owned(),
    };
    format!("0x{:04x}  {text}", u64::from(word) * 4)
}

impl Record {
    /// A line of a report: `cycle 57  issue       slot 3  #12  0x0040  iadd r4, r2, r1  …`. `width`: lanes of a wave.
    pub fn describe(&self, program: &Program, base: u32, width: usize) -> String {
        let mut line = format!("cycle {:<6} {:<12} ", self.cycle, self.step.name());
        let Step::Stage(stage) = self.step else { return line + &packet::describe(&self.fields) };
        _ = write!(line, "slot {:<2} #{:<4} {}", self.slot, self.sequence, place(program, base, self.word));
        let inst = instruction(program, base, self.word);
        match (stage, self.fields.as_slice()) {
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
                for (row, words) in fields.chunks(width).enumerate() {
                    let words: Vec<String> = words.iter().map(|w| format!("{w:x}")).collect();
                    _ = write!(line, "  {} [{}]", row_name(stage, inst.as_ref(), row), words.join(" "));
                }
            }
        }
        line
    }
}

/// What a row of an access or a retirement is called.
pub(super) fn row_name(stage: Stage, inst: Option<&Inst>, row: usize) -> String {
    match stage {
        Stage::Access if row == 0 => "at".to_owned(),
        Stage::Access => match inst.map_or(0, |inst| sent_rows(inst.op)) {
            0 | 1 => "sends".to_owned(),
            _ => format!("sends {row}"),
        },
        _ => match inst.map(|inst| (inst.destination(1), inst.predicate_destination())) {
            Some((Some((first, _)), _)) => format!("r{}", usize::from(first) + row),
            Some((None, Some(predicate))) => format!("p{predicate}"),
            _ => "result".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wave_isa::program::assemble;

    fn describe(line: &str, stage: Stage, fields: Vec<u32>) -> String {
        let text = format!(".kernel k\n.registers 16\n{line}\nhalt\n.end");
        let (program, _) = assemble(&text, "k.wave").unwrap();
        let record = Record { cycle: 7, step: Step::Stage(stage), slot: 1, sequence: 2, word: 0, fields };
        let text = record.describe(&program, 0, 2);
        text.split_once("0x0000  ").map(|(_, told)| told.to_owned()).unwrap_or(text)
    }

    #[test]
    fn rows_have_the_names_of_what_they_hold() {
        let load = "device_load_u64 r4, r2";
        assert_eq!(describe(load, Stage::Access, vec![0x10, 0x20]), format!("{load}  at [10 20]"));
        let retired = describe(load, Stage::Retire, vec![1, 2, 3, 4]);
        assert_eq!(retired, format!("{load}  r4 [1 2]  r5 [3 4]"));
        let store = "device_store_u64 r2, r4";
        let sent = describe(store, Stage::Access, vec![8, 16, 1, 2, 3, 4]);
        assert_eq!(sent, format!("{store}  at [8 10]  sends 1 [1 2]  sends 2 [3 4]"));
        assert!(describe("icmp_lt p2, r1, r2", Stage::Retire, vec![3]).ends_with("  p2 [3]"));
    }
}
