//! Tells in which fields two records of one step differ: which lane of which row, in words.

use super::packet;
use super::step::{ISSUE_FIELDS, Record, Stage, Step, instruction, row_name, sent_rows};
use std::fmt::Write;
use wave_isa::program::Program;
use wave_isa::{Inst, Op};

/// Most fields that are named; of further ones the number is.
const NAMED: usize = 8;

/// Names of the fields of an issue.
const ISSUE: [&str; ISSUE_FIELDS] = [
    "whether it retires at once",
    "number of words",
    "first word",
    "second word",
    "active lanes",
    "lanes that take part",
    "wave",
    "workgroup x",
    "workgroup y",
    "workgroup z",
    "word at which the wave goes on",
    "whether the wave ends",
];

/// What a comparison knows of the code.
#[derive(Debug, Clone, Copy)]
pub(super) struct Code<'a> {
    /// The program.
    pub program: &'a Program,
    /// First word of the kernel.
    pub base: u32,
    /// Lanes of a wave.
    pub width: usize,
}

impl Code<'_> {
    /// A record in a line.
    pub(super) fn line(&self, record: &Record) -> String {
        record.describe(self.program, self.base, self.width)
    }

    fn instruction(&self, word: u32) -> Option<Inst> {
        instruction(self.program, self.base, word)
    }

    /// For each record that only one side has and whose counterpart only the other side has: the fields that differ.
    pub(super) fn pairs(&self, ours: &[Record], theirs: &[Record]) -> String {
        let mut text = String::new();
        let mut left: Vec<&Record> = theirs.iter().collect();
        for mine in ours {
            let Some(place) = left.iter().position(|its| is_counterpart(mine, its)) else { continue };
            let its = left.remove(place);
            match mine.step {
                Step::Packet => {
                    list(&mut text, "packet", packet::differences(&mine.fields, &its.fields));
                }
                Step::Stage(stage) => {
                    let of = format!("{} of slot {} #{}", stage.name(), mine.slot, mine.sequence);
                    let inst = self.instruction(mine.word);
                    let name = |field| self.field_name(stage, inst.as_ref(), field);
                    list(&mut text, &of, fields(&mine.fields, &its.fields, name));
                }
            }
        }
        text
    }

    /// What a field of a step is called.
    fn field_name(&self, stage: Stage, inst: Option<&Inst>, field: usize) -> String {
        if stage == Stage::Issue {
            return ISSUE.get(field).map_or_else(|| format!("field {field}"), |name| (*name).to_owned());
        }
        let (row, lane) = (field / self.width, field % self.width);
        match (stage, row) {
            (Stage::Access, 0) => format!("address of lane {lane}"),
            (Stage::Retire, _) if writes_a_predicate(inst) => {
                format!("lanes of {}", row_name(stage, inst, row))
            }
            (Stage::Access, _) => format!("lane {lane} of row {row} that it sends"),
            _ => format!("lane {lane} of {}", row_name(stage, inst, row)),
        }
    }

    /// The fields in which the effects of an instruction differ: those of its issue, of its access and of its
    /// retirement, one after the other.
    pub(super) fn effects(&self, word: u32, ours: &[u32], theirs: &[u32]) -> String {
        let inst = self.instruction(word);
        let accessed = self.fields_of_access(inst.map(|inst| inst.op));
        let name = |field: usize| match field.checked_sub(ISSUE_FIELDS) {
            None => self.field_name(Stage::Issue, inst.as_ref(), field),
            Some(field) if field < accessed => self.field_name(Stage::Access, inst.as_ref(), field),
            Some(field) => self.field_name(Stage::Retire, inst.as_ref(), field - accessed),
        };
        let mut text = String::new();
        list(&mut text, "", fields(ours, theirs, name));
        if ours.len() != theirs.len() {
            _ = writeln!(
                text,
                "  its effects are {} words on the simulator, and {} on the other side: an access or a result is missing",
                ours.len(),
                theirs.len()
            );
        }
        text
    }

    /// The stage of the effect at a place in the effects of an instruction.
    pub(super) fn stage_of_effect(&self, word: u32, place: usize) -> Stage {
        let accessed = self.fields_of_access(self.instruction(word).map(|inst| inst.op));
        match place.checked_sub(ISSUE_FIELDS) {
            None => Stage::Issue,
            Some(field) if field < accessed => Stage::Access,
            Some(_) => Stage::Retire,
        }
    }

    fn fields_of_access(&self, op: Option<Op>) -> usize {
        let memory = op.filter(|op| op.memory().is_some());
        memory.map_or(0, |op| (1 + sent_rows(op)) * self.width)
    }
}

/// True if both are the same step of the same instruction, or both packets.
pub(super) fn is_counterpart(one: &Record, other: &Record) -> bool {
    let key = |record: &Record| (record.cycle, record.step, record.slot, record.sequence);
    key(one) == key(other) && !one.fields.is_empty()
}

fn writes_a_predicate(inst: Option<&Inst>) -> bool {
    inst.is_some_and(|inst| inst.destination(1).is_none() && inst.predicate_destination().is_some())
}

/// The fields that differ: name, and both values.
fn fields(ours: &[u32], theirs: &[u32], name: impl Fn(usize) -> String) -> Vec<(String, String, String)> {
    let differ = ours.iter().zip(theirs).enumerate().filter(|(_, (mine, its))| mine != its);
    differ.map(|(field, (mine, its))| (name(field), format!("0x{mine:x}"), format!("0x{its:x}"))).collect()
}

/// Adds a line for each field that differs.
fn list(text: &mut String, of: &str, all: Vec<(String, String, String)>) {
    let comma = if of.is_empty() { "" } else { ", " };
    let more = all.len().saturating_sub(NAMED);
    for (name, mine, its) in all.into_iter().take(NAMED) {
        _ = writeln!(text, "  {of}{comma}{name}: simulator {mine}, other side {its}");
    }
    if more > 0 {
        _ = writeln!(text, "  … and {more} more");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wave_isa::program::assemble;

    const KERNEL: &str = ".kernel k\n.registers 16\ndevice_store_u64 r2, r4\niadd r4, r2, r1\nhalt\n.end";

    fn record(stage: Stage, word: u32, fields: &[u32]) -> Record {
        let step = Step::Stage(stage);
        Record { cycle: 7, step, slot: 1, sequence: 2, word, fields: fields.to_vec() }
    }

    #[test]
    fn lanes_and_rows_that_differ_are_named() {
        let (program, _) = assemble(KERNEL, "k.wave").unwrap();
        let code = Code { program: &program, base: 0, width: 2 };
        let add = program.code.len() as u32 - 3;
        let pairs = |stage, word, one: &[u32], other: &[u32]| {
            code.pairs(&[record(stage, word, one)], &[record(stage, word, other)])
        };
        assert_eq!(
            pairs(Stage::Retire, add, &[1, 2], &[1, 3]),
            "  retire of slot 1 #2, lane 1 of r4: simulator 0x2, other side 0x3\n"
        );
        let text = pairs(Stage::Access, 0, &[8, 16, 1, 2, 3, 4], &[8, 24, 1, 2, 9, 4]);
        assert_eq!(
            text,
            "  access of slot 1 #2, address of lane 1: simulator 0x10, other side 0x18\n  \
             access of slot 1 #2, lane 0 of row 2 that it sends: simulator 0x3, other side 0x9\n"
        );
        // Steps of different instructions are not held against each other.
        let other = Record { sequence: 3, ..record(Stage::Retire, add, &[1, 3]) };
        assert_eq!(code.pairs(&[record(Stage::Retire, add, &[1, 2])], &[other]), "");
        let many = [1; 20];
        assert!(pairs(Stage::Access, 0, &[0; 20], &many).ends_with("… and 12 more\n"));
    }

    #[test]
    fn effects_that_differ_are_named() {
        let (program, _) = assemble(KERNEL, "k.wave").unwrap();
        let code = Code { program: &program, base: 0, width: 2 };
        let ours = vec![0; ISSUE_FIELDS + 6];
        for (place, stage, name) in [
            (5, Stage::Issue, "lanes that take part"),
            (ISSUE_FIELDS + 1, Stage::Access, "address of lane 1"),
            (ISSUE_FIELDS + 4, Stage::Access, "lane 0 of row 2 that it sends"),
        ] {
            let mut theirs = ours.clone();
            theirs[place] = 5;
            assert_eq!(code.effects(0, &ours, &theirs), format!("  {name}: simulator 0x0, other side 0x5\n"));
            assert_eq!(code.stage_of_effect(0, place), stage);
        }
        assert!(code.effects(0, &ours, &ours[1..]).contains("is missing"));
    }
}
